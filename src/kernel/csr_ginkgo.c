/* SPDX-License-Identifier: MIT
 *
 * csr_ginkgo: csr_classical or csr_balance, whichever a rule says.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     ginkgo-race-2020 Alg. 3: balanced for matrices with more than a million entries or a row of
 *            more than 1,024; on AMD GPUs a hundred million and 768.  Device code and launch parameters
 *            are those of the two pages.
 * Balance    see csr_balance and csr_classical.
 * Memory     likewise.
 * Wins       a matrix of which nothing is known, where nothing may be tried.
 * Loses      large matrices of even rows on NVIDIA GPUs, for which the rule takes csr_balance.
 * Order      not repeatable where csr_balance is chosen and has rows that several waves share.
 */
#include "kernel/balance.h"
#include "kernel/classical.h"

#ifdef HEDDLE_DEVICE

KERNEL(csr_ginkgo_classical1)(struct product p)
{
    classical(&p, 1);
}

KERNEL(csr_ginkgo_classical4)(struct product p)
{
    classical(&p, CLASSICAL_ROWS);
}

BALANCE_KERNELS(csr_ginkgo, csr_ginkgo_balance)

#else

enum { AUTOMATIC, CLASSICAL, BALANCE };
static const char *const ways[] = {"auto", "classical", "balance"};
static const struct option options[] = {
    {"way", AUTOMATIC, WORDS(ways)},
    {0},
};

/* The first of product.fact that neither header uses: which way was taken. */
#define WAY 3

static const char *const entries[] = {"csr_ginkgo_classical1", "csr_ginkgo_classical4", "csr_ginkgo_balance",
                                      "csr_ginkgo_scale",      "csr_ginkgo_starts",     NULL};

enum { BALANCED = 2 }; /* where those of BALANCE_KERNELS begin */

static int64_t held(const struct work *w)
{
    return w->option[0] == CLASSICAL ? 0 : balance_held(w, 0);
}

/* The rows are looked at only where the number of entries does not decide. */
static heddle_status choose(struct work *w)
{
    heddle_status status = HEDDLE_OK;
    int amd = gpu_arch(w->device->gpu)->amd;
    int64_t nnz_limit = amd ? 100000000 : 1000000, row_limit = amd ? 768 : 1024;
    int64_t *fact = w->product.fact, balance = w->option[0] == BALANCE;
    if (w->option[0] == AUTOMATIC) {
        balance = w->product.nnz > nnz_limit;
        if (!balance)
            TRY(classical_longest(w));
        balance |= fact[CLASSICAL_LONGEST] > row_limit;
    }
    fact[WAY] = balance ? BALANCE : CLASSICAL;
done:
    return status;
}

static heddle_status prepare(struct work *w)
{
    heddle_status status;
    TRY(choose(w));
    TRY(w->product.fact[WAY] == BALANCE ? balance_prepare(w, entries + BALANCED, 0, BALANCE_FULL)
                                        : classical_prepare(w, 0, 0));
done:
    return status;
}

static heddle_status launch(const struct work *w)
{
    return w->product.fact[WAY] == BALANCE ? balance_launch(w, entries + BALANCED)
                                           : classical_launch(w, entries[0], entries[1]);
}

const struct kernel csr_ginkgo = {
    .name = "csr_ginkgo",
    .id = KERNEL_csr_ginkgo,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ginkgo-race-2020 Alg. 3",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .held = held,
    .prepare = prepare,
    .launch = launch,
    .cost = balance_cost,
};
#endif
