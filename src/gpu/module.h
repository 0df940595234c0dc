/* SPDX-License-Identifier: MIT
 *
 * module.h: kernels by name.  The build compiles the device half of each page per variant into binaries
 * for each target and embeds them, a pack for each target (pack.h).  A binary is loaded when one of its
 * kernels is first asked for, and stays until the device is closed.  Many threads may ask at once.
 *
 * With HEDDLE_MODULE_DIR=DIRECTORY in the environment, binaries are read from there instead, under the
 * names that the build gives them in its folder `device` (it makes no fatbins, but nvcc does):
 *     PAGE__VARIANT.sm_90.cubin, PAGE__VARIANT.fatbin, PAGE__VARIANT.ptx   NVIDIA, the first that is there
 *     PAGE__VARIANT.gfx90a.co                                              AMD
 * and what is not there is an error: embedded binaries are then never used. */
#ifndef GPU_MODULE_H
#define GPU_MODULE_H

#include "gpu/gpu.h"
#include "matrix/variant.h"

/* The kernel `kernel` (KERNEL(kernel) in its source) of a page and variant, ready to launch.
 * HEDDLE_NO_KERNEL when there is no binary for the device; the text says which there are.  Not to be
 * called while a stream is being captured, unless the same kernel was asked for before: loading waits for
 * the device. */
heddle_status gpu_kernel(struct gpu *gpu, struct gpu_function **function, const char *page,
                         enum variant variant, const char *kernel);

/* Unloads everything; gpu_close does so. */
void module_forget(struct gpu *gpu);

/* What the compilers said about a kernel; -1 where they say nothing (PTX is compiled on the machine where
 * it runs). */
struct gpu_resource {
    const char *kernel, *variant, *target; /* "csr_vector", "f64_i32", "sm_90" */
    int registers;                         /* a thread (AMD: vector registers) */
    int shared;                            /* static bytes a block */
    int spills; /* bytes a thread in local memory: registers ran out, or an array has no place in them */
    const char
        *atomics; /* floating-point additions to memory: "hardware", "loop" (compare-and-swap), "both", "-" */
};
extern const struct gpu_resource gpu_resources[]; /* generated, for the command only; ends in a NULL kernel */
int gpu_resource_count(void);

#endif
