/* SPDX-License-Identifier: MIT
 *
 * predict.c: what a kernel will cost, from sizes and row lengths alone, so that plans try the right ones
 * first.
 *
 * Its own account is the bytes that it moves (kernel.h).  What else takes time is counted in bytes that
 * the device could move meanwhile: instructions that go with every entry and every row, the start, and the
 * longest row where few lanes have to go through it while the others wait.  Only the order of candidates
 * and rough ratios come from here; the clock decides. */
#include "plan/run.h"

/* A product waits so long for one load, and does so much in a microsecond, in bytes a multiprocessor: its
 * share of an H200's bandwidth times 125 ns (loads are several at a time) and 1 us. */
#define STEP_BYTES 4096
#define MICROSECOND_BYTES 32768

/* Where so many lanes share a row they are a block, and rows of more entries than this are cut into
 * pieces. */
#define BLOCK_LANES 64
#define PIECE 8192

/* What no product starts in less than, in us: that of a kernel without a row below, which so is tried
 * early. */
#define LEAST_START 2.5

/* Fitted by bench/plans.py --fit --write to bench/results/2026-11-15-h200-paper.jsonl.xz and to records of
 * 92 real matrices; it tells how well they do. */
static const struct effort {
    double start;      /* us, launches included */
    double entry, row; /* bytes */
    int lanes; /* that share the longest row; -n: as many as do the mean row in n rounds; 0: rows are not
                * the unit of work */
} efforts[KERNEL_COUNT] = {
    [KERNEL_csr_weave] = {2.8, 8, 10, 128},
    [KERNEL_csr_naive] = {2.8, 0, 10, 4},
    [KERNEL_csr_vector] = {3, 3, 18, 32},
    [KERNEL_csr_classical] = {2.6, 6, 60, 64},
    [KERNEL_csr_balance] = {3.7, 10, 16, 512},
    [KERNEL_csr_ginkgo] = {2.8, 10, 16, 256},
    [KERNEL_csr_adaptive] = {2.9, 3, 8, 512},
    [KERNEL_csr_merge] = {4.9, 8.5, 26, 0},
    [KERNEL_csr_hola] = {4.9, 6, 6, 0},
    [KERNEL_csr5] = {4.8, 3, 10, 0},
    [KERNEL_csr_naive_t] = {4.2, 0, 0, 4},
    [KERNEL_csr_hola_t] = {4.6, 0, 0, 0},
    [KERNEL_coo_atomic] = {3.9, 0, 0, 0},
    [KERNEL_coo_balance] = {5, 4.5, 8, 0},
    [KERNEL_ell] = {3, 2.5, 0, 2},
    [KERNEL_ellr] = {2.6, 3.5, 0, 2},
    [KERNEL_ell_groups] = {4, 4.5, 0, 0},
    [KERNEL_sell] = {3.2, 1, 24, 4},
    [KERNEL_tmpl] = {3, 0.5, 8, 0},
    [KERNEL_bundle] = {3.2, 1, 8, 4},
    [KERNEL_tmplv] = {3, 0.5, 8, 0},
    [KERNEL_hyb] = {4.3, 1.5, 20, 0},
    [KERNEL_csr_halfwarp] = {3.5, 5, 32, 16},
    [KERNEL_coo_fixed] = {6.5, 0, 0, 0},
    [KERNEL_csr_weft] = {4.6, 0, 0, 128},
    [KERNEL_csr_mm] = {2.8, 8, 10,
                       128}, /* these two are no candidates: one vector is csr_weave's and csr_weft's */
    [KERNEL_csr_mm_t] = {4.6, 0, 0, 128},
    [KERNEL_csr_fixed_t] = {9.4, 4.5, 126, 0},
};

/* Loads, one behind the other, that the longest row takes. */
static double steps_of(const struct effort *e, const heddle_lengths *rows, double wave)
{
    double longest = (double)rows->longest, lanes = e->lanes > 0 ? e->lanes : rows->mean / -e->lanes;
    if (e->lanes < 0)
        lanes = lanes < 1 ? 1 : lanes < wave ? lanes : wave;
    return (e->lanes >= BLOCK_LANES && longest > PIECE ? PIECE : longest) / lanes;
}

double predict(const struct work *w, const struct stored *s, const heddle_lengths *rows)
{
    const struct effort *e = &efforts[w->kernel->id];
    double cost = w->kernel->cost(w, s);
    if (w->device->kind == DEVICE_cpu)
        return cost;
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    double each = info->multiprocessors, start = e->start > 0 ? e->start : LEAST_START;
    double steps = rows && e->lanes ? steps_of(e, rows, info->wave) : 0;
    return cost + e->entry * (double)s->nnz + e->row * (double)s->rows +
           (steps * STEP_BYTES + start * MICROSECOND_BYTES) * each;
}
