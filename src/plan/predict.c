/* SPDX-License-Identifier: MIT
 *
 * predict.c: what a kernel will cost, from sizes and row lengths alone, so that plans try the right ones first.
 *
 * Its own account is the bytes that it moves (kernel.h).  What else takes time is counted in bytes that the device could move
 * meanwhile: instructions that go with every entry and every row, launches, and the longest row where few lanes have to go
 * through it while the others wait.  Only the order of candidates and rough ratios come from here; the clock decides. */
#include "plan/run.h"

/* A product waits so long for one load, and takes so long to launch, in bytes a multiprocessor: its share of the bandwidth
 * times 120 ns (loads are several at a time) and 2 us. */
#define STEP_BYTES 4096
#define LAUNCH_BYTES 65536

/* Fitted to bench/results/2026-11-15-h200-catalogue.jsonl by bench/plans.py, which also tells how well they do.  A kernel
 * without a row has nothing but its bytes, and so is tried early. */
static const struct effort {
    double entry, row; /* bytes */
    int launches;
    int lanes; /* that share the longest row; -n: as many as do the mean row in n rounds; 0: rows are not the unit of work */
} efforts[KERNEL_COUNT] = {
    [KERNEL_csr_weave] = {3, 0, 1, 0},
    [KERNEL_csr_naive] = {0, 0, 1, 1},
    [KERNEL_csr_vector] = {1, 10, 1, -8},
    [KERNEL_csr_classical] = {7, 2, 1, 32},
    [KERNEL_csr_balance] = {7, 12, 2, 0},
    [KERNEL_csr_ginkgo] = {7, 12, 2, 0},
    [KERNEL_csr_adaptive] = {0.5, 0, 1, 0},
    [KERNEL_csr_merge] = {6, 23, 3, 0},
    [KERNEL_csr_hola] = {3.5, 7, 2, 0},
    [KERNEL_csr5] = {1.5, 1, 2, 0},
    [KERNEL_csr_naive_t] = {0, 0, 2, 1},
    [KERNEL_csr_hola_t] = {3.5, 7, 2, 0},
    [KERNEL_coo_atomic] = {0, 0, 2, 0},
    [KERNEL_coo_balance] = {5, 2, 2, 0},
    [KERNEL_ell] = {0, 0, 1, 4},
    [KERNEL_ellr] = {0, 4, 1, 4},
    [KERNEL_ell_groups] = {1, 8, 1, 16},
    [KERNEL_sell] = {0, 12, 1, 4},
    [KERNEL_hyb] = {0, 0, 2, 0},
    [KERNEL_csr_halfwarp] = {3, 60, 1, 16},
};

/* The lanes that share a row. */
static double lanes_of(const struct effort *e, double mean, double wave)
{
    double lanes = e->lanes > 0 ? e->lanes : mean / -e->lanes;
    return lanes < 1 ? 1 : lanes < wave ? lanes : wave;
}

double predict(const struct work *w, const struct stored *s, const heddle_lengths *rows)
{
    const struct effort *e = &efforts[w->kernel->id];
    double cost = w->kernel->cost(w, s);
    if (w->device->kind == DEVICE_cpu)
        return cost;
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    if (rows && e->lanes) {
        double steps = (double)rows->longest / lanes_of(e, rows->mean, info->wave);
        double waits = steps * STEP_BYTES * info->multiprocessors;
        cost = cost > waits ? cost : waits;
    }
    double launches = e->launches * (double)LAUNCH_BYTES * info->multiprocessors;
    return cost + e->entry * (double)s->nnz + e->row * (double)s->rows + launches;
}
