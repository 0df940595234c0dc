/* SPDX-License-Identifier: MIT
 *
 * ell: one thread a row of a padded matrix.
 *
 * Computes   y = alpha A x + beta y,  A in ELL.
 * Source     ellpack-r-2011 section 3.3, with padding that is recognised by its column (-1).
 * Balance    a row is a thread's work, and all rows have the same number of places.
 * Memory     entry j of all rows stands together: lanes read neighbouring col and val, coalesced and
 *            streamed; x is gathered.  A thread has eight columns under way, then their values and x.  nvcc
 *            spares registers and lets some of them wait; not so in ell_few, for matrices with too few
 *            rows to hide that.  Of padding only columns are read, and behind the first eight with some in
 *            them not even those.
 * Wins       rows of equal length: no load is wasted and nothing has to be added up across lanes.
 * Loses      one long row pads all others; the format refuses what would take over four times the entries.
 * Order      that of storage: bitwise repeatable.
 */
#include "kernel/ell.h"

#ifdef HEDDLE_DEVICE
/* Blocks on a multiprocessor: short rows are a matter of how many. */
#define RESIDENT (sizeof(real) == 4 ? 8 : 5)

DEVICE void rows_of(const struct product *p)
{
    for (int64_t i = simt_global_id(); i < p->rows; i += simt_global_size())
        store_sum(p, i, ell_sum(p, i, 0, 1));
}

KERNEL_RESIDENT(ell, SIMT_USUAL_BLOCK, RESIDENT)(struct product p)
{
    rows_of(&p);
}

KERNEL_RESIDENT(ell_few, ELL_FEW_THREADS, ELL_FEW_BLOCKS)(struct product p)
{
    rows_of(&p);
}

#else
static const char *const entries[] = {"ell", "ell_few", NULL};

static heddle_status launch(const struct work *w)
{
    return gpu_run_over(w, entries[ell_is_few(w, w->product.rows)], w->product.rows);
}

const struct kernel ell = {
    .name = "ell",
    .id = KERNEL_ell,
    .format = FORMAT_ell,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ellpack-r-2011 section 3.3",
    .repeatable = 1,
    .entries = entries,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
