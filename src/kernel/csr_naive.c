/* SPDX-License-Identifier: MIT
 *
 * csr_naive: one thread a row.
 *
 * Computes   y = alpha A x + beta y,  A in CSR (or  y = alpha Aᵀ x + beta y,  A in CSC).
 * Source     naive-spmv-2016 Alg. 1 and section IV: the serial loop, its rows dealt out to threads.
 * Balance    a row is a thread's work.  The lanes of a wave wait for its longest row; the scheduler evens
 *            out the waves as long as there are many more of them than fit at once.
 * Memory     lanes are one row length apart in val and col.  What a lane will read next lies in the cache
 *            line that it has just read, so these loads go through L1 and stay there; rows of one entry
 *            are coalesced, and each further entry costs a wave one more line.  Once a row is longer than
 *            a line, up to 2048 threads compete for L1.
 * Wins       rows of up to about four entries, all alike: nothing is idle and nothing has to be added up
 *            across lanes.
 * Loses      long rows (L1 thrashes) and rows of different lengths (lanes idle): csr_vector.
 * Order      that of storage: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

KERNEL(csr_naive)(struct product p)
{
    const off *RESTRICT row_ptr = (const off *)p.array[CSR_ROW_PTR];
    const idx *RESTRICT col = (const idx *)p.array[CSR_COL];
    const real *RESTRICT val = (const real *)p.array[CSR_VAL];
    const real *RESTRICT x = (const real *)p.x;
    const int64_t i = p.first + simt_global_id();
    if (i >= p.rows)
        return;
    const off end = simt_readonly(row_ptr + i + 1);
    real sum = 0;
    for (off k = simt_readonly(row_ptr + i); k < end; k++)
        sum += simt_readonly(val + k) * simt_readonly(x + simt_readonly(col + k));
    store_sum(&p, i, sum);
}

#else
#include "kernel/kernel.h"

static heddle_status launch(const struct work *w)
{
    return gpu_run_rows(w, "csr_naive", 1);
}

/* A lane reads a row by itself: of rows up to a sector long it uses all that it fetches before the next
 * lane needs the place; every further entry takes the caches about three times their share. */
#define SHORT 8
static double cost(const struct work *w, const struct stored *s)
{
    const int64_t further = s->nnz - SHORT * s->rows;
    return cost_of_streams(w, s) + (further > 0 ? 24.0 * (double)further : 0);
}

const struct kernel csr_naive = {
    .name = "csr_naive",
    .id = KERNEL_csr_naive,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "naive-spmv-2016 Alg. 1",
    .repeatable = 1,
    .launch = launch,
    .cost = cost,
};
#endif
