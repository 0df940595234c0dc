/* SPDX-License-Identifier: MIT
 *
 * ellr: one thread a row of a padded matrix, as far as the row goes.
 *
 * Computes   y = alpha A x + beta y,  A in ELL-R.
 * Source     ELLPACK-R, ellpack-r-2011 section 4.
 * Balance    a row is a thread's work; the lanes of a wave wait for its longest row, not for the longest of the matrix.
 * Memory     as ell, coalesced and streamed, without the padding; the length of each row is read in exchange.  There is no
 *            branch in the loop.
 * Wins       rows of nearly equal length, or of different lengths where neighbours are alike.
 * Loses      one long row makes the arrays huge, although nobody reads them; the format refuses that.
 * Order      that of storage: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"

KERNEL(ellr)(struct product p)
{
    const idx *RESTRICT col = (const idx *)p.array[ELLR_COL], *RESTRICT length = (const idx *)p.array[ELLR_LENGTH];
    const real *RESTRICT val = (const real *)p.array[ELLR_VAL];
    const real *RESTRICT x = (const real *)p.x;
    real *RESTRICT y = (real *)p.y;
    const real alpha = scalar(p.alpha), beta = scalar(p.beta);
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const idx n = simt_readonly(length + i);
        int64_t place = i;
        real sum = 0;
        for (idx j = 0; j < n; j++, place += p.rows)
            sum += simt_stream(val + place) * simt_readonly(x + simt_stream(col + place));
        store(y + i, alpha, sum, beta);
    }
}

#else
#include "kernel/kernel.h"

static heddle_status launch(const struct work *w)
{
    return gpu_run_over(w, "ellr", w->product.rows);
}

/* The padding is never read. */
static double cost(const struct work *w, const struct stored *s)
{
    double padding = (double)(s->rows * s->dim[ELLR_WIDTH] - s->nnz);
    return cost_of_streams(w, s) - padding * (double)(sizeof(int32_t) + type_size(s->value));
}

const struct kernel ellr = {
    .name = "ellr",
    .id = KERNEL_ellr,
    .format = FORMAT_ellr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ELLPACK-R, ellpack-r-2011 section 4",
    .repeatable = 1,
    .launch = launch,
    .cost = cost,
};
#endif
