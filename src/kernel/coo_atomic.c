/* SPDX-License-Identifier: MIT
 *
 * coo_atomic: one thread an entry, by atomic additions.
 *
 * Computes   y = alpha A x + beta y  or  y = alpha Aᵀ x + beta y,  A in COO.
 * Source     COO in ellpack-r-2011 (section 3.1) in its plainest form: no sums within a wave.  A small
 *            kernel scales y first.
 * Balance    perfect, whatever the rows look like: an entry is a thread's work.
 * Memory     row, col and val are read once, in order, coalesced and streamed; x is gathered.  Every entry
 *            is an addition to y; entries of a row are neighbours, so that the lanes of a wave add to the
 *            same place and queue up there.
 * Wins       transposed, where columns are short or scattered; a tiny matrix; one that comes as COO and is
 *            multiplied once.
 * Loses      long rows (N), long columns (T): coo_balance adds up within the wave first.
 * Order      that of arrival: not repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

KERNEL(coo_atomic_scale)(struct product p)
{
    scale_all((real *)p.y, p.transposed ? p.cols : p.rows, beta_of(&p));
}

/* Transposed, rows and columns change places. */
KERNEL(coo_atomic)(struct product p)
{
    const idx *RESTRICT to = (const idx *)p.array[p.transposed ? COO_COL : COO_ROW];
    const idx *RESTRICT from = (const idx *)p.array[p.transposed ? COO_ROW : COO_COL];
    const real *RESTRICT val = (const real *)p.array[COO_VAL];
    const real *RESTRICT x = (const real *)p.x;
    real *y = (real *)p.y;
    const real alpha = alpha_of(&p);
    simt_after_previous();
    if (alpha == 0)
        return;
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        simt_atomic_add(y + simt_stream(to + k),
                        simt_stream(val + k) * (alpha * simt_readonly(x + simt_stream(from + k))));
}

#else
#include "kernel/kernel.h"

static const char *const entries[] = {"coo_atomic", "coo_atomic_scale", NULL};

static heddle_status launch(const struct work *w)
{
    const int64_t n = w->product.transposed ? w->product.cols : w->product.rows;
    return gpu_run_pair(w, gpu_scaling(w, "coo_atomic_scale", n), gpu_over(w, "coo_atomic", w->product.nnz));
}

const struct kernel coo_atomic = {
    .name = "coo_atomic",
    .id = KERNEL_coo_atomic,
    .format = FORMAT_coo,
    .ops = OPS_N | OPS_T,
    .device = DEVICE_gpu,
    .source = "COO in ellpack-r-2011",
    .repeatable = 0,
    .entries = entries,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
