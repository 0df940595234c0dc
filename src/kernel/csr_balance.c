/* SPDX-License-Identifier: MIT
 *
 * csr_balance: entries dealt out evenly to waves, whatever the rows look like.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     ginkgo-race-2020 section 3.2, load-balancing CSR; its number of waves follows section 3.1
 *            (option over: threads a core, 0 for the paper's table).  There every sum is added atomically
 *            to a y that was scaled before.  Here rows of up to `whole` entries stay with one wave and are
 *            stored; whole=0 cuts wherever a share ends, as the paper does.
 * Balance    entries, and rows, which cost their write; to within one row of `whole` entries.  Where
 *            shares begin is looked up once, and held.
 * Memory     col and val are streamed, coalesced, four loads of each under way a lane; row_ptr once,
 *            coalesced; x is gathered; y is stored, a wave's rows together.  Atomics only where a row has
 *            more than one wave.
 * Wins       uneven rows, many empty ones.
 * Loses      even rows: the scan of each round costs more than csr_vector's tree; tiny matrices with a
 *            long row, a launch more.
 * Order      within a wave fixed; long rows in that of arrival: not repeatable.
 */
#include "kernel/balance.h"
#ifdef HEDDLE_DEVICE

BALANCE_KERNELS(csr_balance, csr_balance)

#else

enum { OVER, WHOLE };
static const struct option options[] = {
    {"over", 0, VALUES(0, 2, 8, 32, 128)},
    {"whole", BALANCE_FULL, VALUES(0, BALANCE_FULL)},
    {0},
};

static const char *const entries[] = {"csr_balance", "csr_balance_scale", "csr_balance_starts", NULL};

static int64_t held(const struct work *w)
{
    return balance_held(w, w->option[OVER]);
}

static heddle_status prepare(struct work *w)
{
    return balance_prepare(w, entries, w->option[OVER], w->option[WHOLE]);
}

static heddle_status launch(const struct work *w)
{
    return balance_launch(w, entries);
}

const struct kernel csr_balance = {
    .name = "csr_balance",
    .id = KERNEL_csr_balance,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ginkgo-race-2020 section 3.2",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .held = held,
    .prepare = prepare,
    .launch = launch,
    .cost = balance_cost,
};
#endif
