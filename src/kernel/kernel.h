/* SPDX-License-Identifier: MIT
 *
 * kernel.h: what an algorithm tells about itself, and the table of all of them.  docs/adding-a-kernel.md
 * shows how a page is written. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/text.h"
#include "run/launch.h"

/* Operations, relative to the storage. */
enum { OPS_N = 1, OPS_T = 2 };

enum kernel_id {
#define KERNEL(name, device, numbers) KERNEL_##name,
#include "kernel/kernels.def"
#undef KERNEL
    KERNEL_COUNT
};

struct kernel {
    const char *name;
    enum kernel_id id;
    enum format_id format;
    int ops; /* OPS_N | OPS_T */
    enum device_kind device;
    const char *source; /* where the algorithm comes from */
    const struct option
        *options; /* NULL: those of the format, with which a table here begins where there are any */
    int many;     /* takes any number of vectors at once, and steps between their entries (product.vectors) */
    int repeatable; /* bitwise the same result every run, for the same device and options */
    const char *const
        *entries; /* gpu: the KERNELs of the device half, ended by NULL; NULL: one, with the page's name */

    /* HEDDLE_NO_KERNEL, with the reason, where the kernel cannot run with these options on this device;
     * NULL: it always can.  Knows sizes and dimensions, no arrays. */
    heddle_status (*applies)(const struct work *w);
    /* Into how many parts the work is cut; NULL: as many as the device has threads. */
    int64_t (*parts)(const struct work *w);
    /* Bytes that launch needs in product.workspace; NULL: none.  Knows sizes and dimensions, no arrays. */
    int64_t (*workspace)(const struct work *w);
    /* Bytes of product.counters, likewise: 0 at first, and every launch leaves them 0. */
    int64_t (*counters)(const struct work *w);
    /* What the kernel derives from the pattern (not the values, which may change) once, for all products:
     * how many bytes it holds in product.prepared (from sizes and dimensions alone), and the derivation,
     * which may also leave numbers in product.fact, allocate for a while, and wait.  Of immediate products
     * only the one from CSR on a GPU prepares, once a matrix (struct look).  NULL: it derives nothing; no
     * bytes. */
    int64_t (*held)(const struct work *w);
    heddle_status (*prepare)(struct work *w);
    /* Runs the product; neither allocates nor waits for anything but the product itself. */
    heddle_status (*launch)(const struct work *w);
    /* Bytes that one product moves between memory and the processor; knows sizes and dimensions, no
     * arrays. */
    double (*cost)(const struct work *w, const struct stored *s);
};

int kernel_count(void);
const struct kernel *kernel_at(int number);
const struct kernel *kernel_by_name(const char *name);          /* NULL when there is none */
int kernel_has(const struct kernel *kernel, heddle_type value); /* pages for values of this type */
/* What heddle_kernel_info tells; the texts live as long as the library. */
heddle_status kernel_describe(int number, heddle_kernel_desc *desc);

/* "cpu_sell:slice=16" to a kernel and a value for each of its options; HEDDLE_BAD_ARGUMENT says what would
 * be valid. `kernel_spell` writes the kernel back with all of its options. */
heddle_status kernel_parse(const struct kernel **kernel, int64_t option[OPTIONS_MOST], const char *spec);
void kernel_spell(char *text, size_t size, const struct kernel *kernel, const int64_t option[OPTIONS_MOST]);
const struct option *kernel_options(const struct kernel *kernel); /* never NULL */

/* The product of a kernel with a stored matrix (its arrays may be missing as long as nothing is launched),
 * complete up to vectors, scalars and workspace.  `option` may be NULL: the initial values. */
struct work work_for(const struct kernel *kernel, const struct device *device, const struct stored *s,
                     int transposed, const int64_t *option);
int64_t work_workspace(const struct work *w);
int64_t work_counters(const struct work *w);
int64_t work_held(const struct work *w);
/* HEDDLE_NO_KERNEL, with the reason: a kernel of another kind of device, or without values of this type; one
 * whose options do not fit. */
heddle_status kernel_suits(const struct kernel *kernel, const struct device *device, heddle_type value);
heddle_status work_applies(const struct work *w);

/* For the host half of CPU pages: runs the device half on the threads of the device. */
heddle_status cpu_launch(const struct work *w);

/* Finds every entry of a kernel ahead, so that no later launch loads or allocates anything; nothing to do
 * for a CPU. */
heddle_status kernel_load(const struct device *device, const struct kernel *kernel, enum variant variant);

/* A part of a CPU kernel leaves one `struct carry` (run/cpu_page.h) behind where rows are shared between
 * parts. */
#define CARRY_BYTES 64

/* What most kernels move: the arrays of the format once, x once, y once or (beta) twice. */
double cost_of_streams(const struct work *w, const struct stored *s);
/* The same for a kernel that adds every entry to y in memory: y is written first, and an addition moves a
 * cache sector of 32 bytes there and back unless its neighbours are in the cache; half of them are taken
 * to be. */
double cost_of_additions(const struct work *w, const struct stored *s);

#endif
