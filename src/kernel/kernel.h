/* SPDX-License-Identifier: MIT
 *
 * kernel.h: what an algorithm tells about itself, and the table of all of them.  docs/adding-a-kernel.md shows how a page
 * is written. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/cpu.h"
#include "base/text.h"
#include "format/format.h"
#include "gpu/gpu.h"
#include "kernel/product.h"

/* Where a kernel runs: rows of kernels.def name one of these, or cpu_real, which is a cpu. */
enum device_kind { DEVICE_cpu, DEVICE_gpu, DEVICE_KINDS };

/* What products run on.  On a GPU every array of a matrix, x, y and the workspace lie in the memory of `gpu`; host code
 * above the driver table never follows such a pointer. */
struct device {
    enum device_kind kind;
    int threads;     /* cpu: how many */
    enum isa isa;    /* cpu: the widest instruction set that kernels may use */
    struct gpu *gpu; /* gpu: an open device (any vendor, or the emulator) */
    void *stream;    /* gpu: the vendor's own handle; NULL: the default stream */
};

/* Operations, relative to the storage. */
enum { OPS_N = 1, OPS_T = 2 };

enum kernel_id {
#define KERNEL(name, device) KERNEL_##name,
#include "kernel/kernels.def"
#undef KERNEL
    KERNEL_COUNT
};

/* One product on its way to a kernel. */
struct work {
    const struct kernel *kernel;  /* NULL on the way to a service (service.h) */
    const char *page;             /* its name */
    const struct device *device;
    enum variant variant;
    heddle_type value;
    int64_t option[OPTIONS_MOST]; /* of the kernel, in the order of its table */
    struct product product;
};

struct kernel {
    const char *name;
    enum kernel_id id;
    enum format_id format;
    int ops;                      /* OPS_N | OPS_T */
    enum device_kind device;
    const char *source;           /* where the algorithm comes from */
    const struct option *options; /* NULL: those of the format, with which a table here begins where there are any */
    int repeatable;               /* bitwise the same result every run, for the same device and options */
    const char *const *entries;   /* gpu: the KERNELs of the device half, ended by NULL; NULL: one, with the page's name */

    /* HEDDLE_NO_KERNEL, with the reason, where the kernel cannot run with these options on this device; NULL: it always can.
     * Knows sizes and dimensions, no arrays. */
    heddle_status (*applies)(const struct work *w);
    /* Into how many parts the work is cut; NULL: as many as the device has threads. */
    int64_t (*parts)(const struct work *w);
    /* Bytes that launch needs in product.workspace; NULL: none.  Knows sizes and dimensions, no arrays. */
    int64_t (*workspace)(const struct work *w);
    /* Bytes of product.counters, likewise: 0 at first, and every launch leaves them 0. */
    int64_t (*counters)(const struct work *w);
    /* What the kernel derives from the pattern (not the values, which may change) once, for all products: how many bytes it
     * holds in product.prepared (from sizes and dimensions alone), and the derivation, which may also leave numbers in
     * product.fact, allocate for a while, and wait.
     * Of immediate products only the one from CSR on a GPU prepares, once a matrix (struct look).  NULL: it derives nothing; no
     * bytes. */
    int64_t (*held)(const struct work *w);
    heddle_status (*prepare)(struct work *w);
    /* Runs the product; neither allocates nor waits for anything but the product itself. */
    heddle_status (*launch)(const struct work *w);
    /* Bytes that one product moves between memory and the processor; knows sizes and dimensions, no arrays. */
    double (*cost)(const struct work *w, const struct stored *s);
};

int kernel_count(void);
const struct kernel *kernel_at(int number);
const struct kernel *kernel_by_name(const char *name); /* NULL when there is none */
/* What heddle_kernel_info tells; the texts live as long as the library. */
heddle_status kernel_describe(int number, heddle_kernel_desc *desc);
const char *device_kind_name(enum device_kind kind);

/* "cpu_sell:slice=16" to a kernel and a value for each of its options; HEDDLE_BAD_ARGUMENT says what would be valid.
 * `kernel_spell` writes the kernel back with all of its options. */
heddle_status kernel_parse(const struct kernel **kernel, int64_t option[OPTIONS_MOST], const char *spec);
void kernel_spell(char *text, size_t size, const struct kernel *kernel, const int64_t option[OPTIONS_MOST]);
const struct option *kernel_options(const struct kernel *kernel); /* never NULL */

/* The product of a kernel with a stored matrix (its arrays may be missing as long as nothing is launched), complete up
 * to vectors, scalars and workspace.  `option` may be NULL: the initial values. */
struct work work_for(const struct kernel *kernel, const struct device *device, const struct stored *s, int transposed,
                     const int64_t *option);
int64_t work_workspace(const struct work *w);
int64_t work_counters(const struct work *w);
int64_t work_held(const struct work *w);
/* HEDDLE_NO_KERNEL, with the reason: a kernel of another kind of device; one whose options do not fit. */
heddle_status kernel_suits(const struct kernel *kernel, const struct device *device);
heddle_status work_applies(const struct work *w);

/* Kernels read their scalars as `real`. */
void scalar_put(unsigned char bytes[SCALAR_BYTES], heddle_type type, double value);
double scalar_get(const unsigned char bytes[SCALAR_BYTES], heddle_type type);

/* For the host half of CPU pages: runs the device half on the threads of the device. */
heddle_status cpu_launch(const struct work *w);

/* What suits an architecture: one table, in gpu.c, for all kernels.  The emulator with waves of 64 lanes stands for AMD. */
struct arch {
    const char *begins; /* what its name begins with */
    int amd;            /* the papers' rules for AMD hold */
    int block;          /* threads, up to 256: enough to fill a multiprocessor with few blocks, few enough to leave early */
    int waves;          /* resident on a multiprocessor at most */
    int cores;          /* of a multiprocessor: what the papers count threads by */
    int sigma[4];       /* csr5: the numbers of its rule (format/csr5.c) */
};
const struct arch *gpu_arch(const struct gpu *gpu);
int64_t gpu_threads(const struct gpu *gpu); /* that are resident at most */

/* For the host half of GPU pages (gpu.c): launches KERNEL(entry) of the page with w->product, on the device's stream, and
 * does not wait.  gpu_run_over takes as many threads as there are items, in blocks of the size that suits the
 * architecture; a grid has its limits, so kernels step through their items by simt_global_size(). */
heddle_status gpu_run(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared);
/* While KERNEL(entry) runs, so many bytes of a multiprocessor's own memory should be shared memory, and the rest cache; 0: as the
 * driver thinks.  A wish, for all launches to come. */
heddle_status gpu_prefer_shared(const struct work *w, const char *entry, int64_t bytes);
/* Two kernels, the second of which says simt_after_previous, so that it may come to the device while the first still runs.  For
 * the host they are about one launch. */
struct launch {
    const char *entry;
    int64_t grid; /* at least 1 */
    int block;
};
heddle_status gpu_run_pair(const struct work *w, struct launch first, struct launch second);
heddle_status gpu_run_over(const struct work *w, const char *entry, int64_t items);
/* gpu_run_over with no more threads than are resident, for items that are less work than a thread's beginning and end. */
heddle_status gpu_run_filling(const struct work *w, const char *entry, int64_t items);
/* gpu_run_over without a loop, which makes for shorter kernels: `lanes` threads (a power of two) for each row from product.first on,
 * and where a grid is too small for all rows, as many launches as it takes. */
heddle_status gpu_run_rows(const struct work *w, const char *entry, int64_t lanes);
/* The same as a pair with gpu_run_filling, which goes ahead; there are items and rows. */
heddle_status gpu_run_rows_behind(const struct work *w, const char *filler, int64_t items, const char *entry, int64_t lanes);

/* Finds every entry of a kernel ahead, so that no later launch loads or allocates anything; nothing to do for a CPU. */
heddle_status kernel_load(const struct device *device, const struct kernel *kernel, enum variant variant);

/* A part of a CPU kernel leaves one `struct carry` (cpu.h) behind where rows are shared between parts. */
#define CARRY_BYTES 64

/* What most kernels move: the arrays of the format once, x once, y once or (beta) twice. */
double cost_of_streams(const struct work *w, const struct stored *s);
/* The same for a kernel that adds every entry to y in memory: y is written first, and an addition moves a cache sector of 32
 * bytes there and back unless its neighbours are in the cache; half of them are taken to be. */
double cost_of_additions(const struct work *w, const struct stored *s);

#endif
