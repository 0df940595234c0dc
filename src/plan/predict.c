/* SPDX-License-Identifier: MIT
 *
 * predict.c: what a kernel will cost, from sizes and row lengths alone, so that plans try the right ones first.
 *
 * Its own account is the bytes that it moves (kernel.h).  What else takes time is counted in bytes that the device could move
 * meanwhile: instructions that go with every entry and every row, the start, and the longest row where few lanes have to go
 * through it while the others wait.  Only the order of candidates and rough ratios come from here; the clock decides. */
#include "plan/run.h"

/* A product waits so long for one load, and does so much in a microsecond, in bytes a multiprocessor: its share of an H200's
 * bandwidth times 125 ns (loads are several at a time) and 1 us. */
#define STEP_BYTES 4096
#define MICROSECOND_BYTES 32768

/* What no product starts in less than, in us: that of a kernel without a row below, which so is tried early. */
#define LEAST_START 2.5

/* Fitted by bench/plans.py --fit --write to bench/results/2026-11-15-h200-paper.jsonl and to records of 92 real matrices; it
 * tells how well they do. */
static const struct effort {
    double start;      /* us, launches included */
    double entry, row; /* bytes */
    int lanes; /* that share the longest row; -n: as many as do the mean row in n rounds; 0: rows are not the unit of work */
} efforts[KERNEL_COUNT] = {
    [KERNEL_csr_weave] = {3, 8.5, 38, 0},
    [KERNEL_csr_naive] = {2.7, 0.5, 18, 2},
    [KERNEL_csr_vector] = {2.8, 3, 20, -2},
    [KERNEL_csr_classical] = {2.7, 6, 58, 32},
    [KERNEL_csr_balance] = {3.9, 9.5, 18, 0},
    [KERNEL_csr_ginkgo] = {2.9, 10.5, 18, 0},
    [KERNEL_csr_adaptive] = {3, 3, 12, 0},
    [KERNEL_csr_merge] = {5, 8, 22, 0},
    [KERNEL_csr_hola] = {5, 5.5, 6, 0},
    [KERNEL_csr5] = {4.9, 2, 14, 0},
    [KERNEL_csr_naive_t] = {4.4, 0, 0, 2},
    [KERNEL_csr_hola_t] = {4.8, 0, 0, 0},
    [KERNEL_coo_atomic] = {4.1, 0, 0, 0},
    [KERNEL_coo_balance] = {5.2, 3.5, 10, 0},
    [KERNEL_ell] = {3.5, 4, 0, 2},
    [KERNEL_ellr] = {2.9, 5, 0, 2},
    [KERNEL_ell_groups] = {4.1, 4, 0, 0},
    [KERNEL_sell] = {3.5, 2.5, 24, 4},
    [KERNEL_hyb] = {4.4, 1, 18, 0},
    [KERNEL_csr_halfwarp] = {3.6, 4.5, 50, 8},
    [KERNEL_coo_fixed] = {6.7, 0, 0, 0},
    [KERNEL_csr_weft] = {4.9, 0, 0, 0},
    [KERNEL_csr_fixed_t] = {9.7, 1.5, 38, 0},
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
    double start = e->start > 0 ? e->start : LEAST_START;
    return cost + e->entry * (double)s->nnz + e->row * (double)s->rows + start * MICROSECOND_BYTES * info->multiprocessors;
}
