/* SPDX-License-Identifier: MIT
 *
 * launch.h: how the host half of a GPU page starts its device half, and what suits the architecture that
 * it runs on. */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include "run/work.h"

/* What suits an architecture: one table, in launch.c, for all kernels.  The emulator with waves of 64
 * lanes stands for AMD. */
struct arch {
    const char *begins; /* what its name begins with */
    int amd;            /* the papers' rules for AMD hold */
    int block;    /* threads, up to 256: enough to fill a multiprocessor with few blocks, few enough to leave
                   * early */
    int waves;    /* resident on a multiprocessor at most */
    int cores;    /* of a multiprocessor: what the papers count threads by */
    int sigma[4]; /* csr5: the numbers of its rule (format/csr5.c) */
};
const struct arch *gpu_arch(const struct gpu *gpu);
int64_t gpu_threads(const struct gpu *gpu); /* that are resident at most */

/* For the host half of GPU pages: launches KERNEL(entry) of the page with w->product, on the device's
 * stream, and does not wait.  gpu_run_over takes as many threads as there are items, in blocks of the size
 * that suits the architecture; a grid has its limits, so kernels step through their items by
 * simt_global_size(). */
heddle_status gpu_run(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared);
/* So many blocks of so many threads, or as many as a grid may have. */
int64_t gpu_grid(const struct work *w, int64_t blocks, int64_t block);
heddle_status gpu_run_over(const struct work *w, const char *entry, int64_t items);
/* gpu_run_over with no more threads than are resident, for items that are less work than a thread's
 * beginning and end. */
heddle_status gpu_run_filling(const struct work *w, const char *entry, int64_t items);

struct launch {
    const char *entry;
    int64_t grid; /* 0: nothing is launched */
    int block;
    int64_t shared; /* bytes */
};
/* What the two above launch. */
struct launch gpu_over(const struct work *w, const char *entry, int64_t items);
struct launch gpu_filling(const struct work *w, const char *entry, int64_t items);
/* gpu_filling for a kernel that scales y; nothing where beta is 1. */
struct launch gpu_scaling(const struct work *w, const char *entry, int64_t items);
/* Two kernels, the second of which says simt_after_previous, so that it may come to the device while the
 * first still runs.  For the host they are about one launch. */
heddle_status gpu_run_pair(const struct work *w, struct launch first, struct launch second);
/* As many launches as it takes where a grid is too small for all blocks: product.first is the number of the
 * first block of each launch. */
heddle_status gpu_run_blocks(const struct work *w, struct launch all);
/* The same as a pair with `ahead`. */
heddle_status gpu_run_blocks_behind(const struct work *w, struct launch ahead, struct launch all);
/* gpu_run_over without a loop, which makes for shorter kernels: `lanes` threads (a power of two) for each
 * row from product.first on, and where a grid is too small for all rows, as many launches as it takes. */
heddle_status gpu_run_rows(const struct work *w, const char *entry, int64_t lanes);
/* The same as a pair with `ahead`. */
heddle_status gpu_run_rows_behind(const struct work *w, struct launch ahead, const char *entry,
                                  int64_t lanes);

#endif
