/* SPDX-License-Identifier: MIT
 *
 * ell: one thread a row of a padded matrix.
 *
 * Computes   y = alpha A x + beta y,  A in ELL.
 * Source     ellpack-r-2011 section 3.3, with padding that is recognised by its column (-1).
 * Balance    a row is a thread's work, and all rows have the same number of places.
 * Memory     entry j of all rows stands together: lanes read neighbouring col and val, coalesced and streamed; x is gathered.
 *            The columns of padding are read like all others, its values are not.
 * Wins       rows of equal length: no load is wasted and nothing has to be added up across lanes.
 * Loses      one long row pads all others; the format refuses what would take over four times the entries.
 * Order      that of storage: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"

KERNEL(ell)(struct product p)
{
    const idx *RESTRICT col = (const idx *)p.array[ELL_COL];
    const real *RESTRICT val = (const real *)p.array[ELL_VAL];
    const real *RESTRICT x = (const real *)p.x;
    real *RESTRICT y = (real *)p.y;
    const real alpha = scalar(p.alpha), beta = scalar(p.beta);
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        real sum = 0;
        for (int64_t j = 0, place = i; j < p.dim[ELL_WIDTH]; j++, place += p.rows) {
            const idx c = simt_stream(col + place);
            if (c >= 0) /* padding never meets x, which may hold Inf */
                sum += simt_stream(val + place) * simt_readonly(x + c);
        }
        store(y + i, alpha, sum, beta);
    }
}

#else
#include "kernel/kernel.h"

static heddle_status launch(const struct work *w)
{
    return gpu_run_over(w, "ell", w->product.rows);
}

const struct kernel ell = {
    .name = "ell",
    .id = KERNEL_ell,
    .format = FORMAT_ell,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ellpack-r-2011 section 3.3",
    .repeatable = 1,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
