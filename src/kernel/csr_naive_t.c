/* SPDX-License-Identifier: MIT
 *
 * csr_naive_t: the transposed product, one thread a row, by atomic additions.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR (or  y = alpha A x + beta y,  A in CSC).
 * Source     naive-spmv-2016 Alg. 2 and section V.  A small kernel scales y first.  With cas=1 additions
 *            are compare-and-swap loops, the paper's Alg. 3 for double precision, which GPUs of its time
 *            could not add atomically.
 * Balance    as csr_naive: a row is a thread's work.
 * Memory     val and col as in csr_naive, a few entries at a time; x is read once, coalesced.  Every entry
 *            is an addition to y in L2, whose result nobody waits for; with cas=1 everybody does, and
 *            again when another thread was faster.
 * Wins       no preparation, no second copy of A: the first few products with Aᵀ.
 * Loses      columns with many entries, whose additions queue up; many products: a plan transposes once.
 * Order      that of arrival: not repeatable.
 */

/* Are rows long, on average?  Then more entries are read ahead. */
#define HAS_LONG_ROWS(p) ((p)->nnz / 32 >= (p)->rows)

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* Threads that wait for the end of this kernel all begin at once, and where rows have the same columns
 * they meet at every addition (H200: dense2 takes 7 % longer).  With long rows the microsecond of an early
 * start is not worth that. */
KERNEL(csr_naive_t_scale)(struct product p)
{
    if (!HAS_LONG_ROWS(&p))
        simt_let_next();
    scale_all((real *)p.y, p.cols, beta_of(&p));
}

DEVICE void add(real *to, real value, const int cas)
{
    if (cas)
        simt_atomic_add_cas(to, value);
    else
        simt_atomic_add(to, value);
}

/* Compilers keep loads behind additions that stand before them, so `ahead` entries are read first and
 * added then.  f32: four are faster than two on most matrices (H200: 1.3 times on 80 entries a row), but
 * not where all rows have the same columns: dense2 takes a quarter longer.  Scaling writes y alone: all
 * else may be read while it still goes on. */
#define AHEAD (sizeof(real) == 4 ? 2 : 4)
#define AHEAD_LONG (sizeof(real) == 4 ? 2 : 8)
#define AHEAD_MOST 8
DEVICE void add_row(const struct product *p, const int cas, const int ahead)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const real *RESTRICT val = (const real *)p->array[CSR_VAL];
    const real *RESTRICT x = (const real *)p->x;
    real *y = (real *)p->y;
    const int64_t i = p->first + simt_global_id();
    if (i >= p->rows)
        return;
    const off end = simt_readonly(row_ptr + i + 1);
    const real alpha = alpha_of(p), xi = alpha * simt_readonly(x + i);
    off k = simt_readonly(row_ptr + i);
    if (adds_nothing(alpha))
        return;
    simt_after_previous();
    SIMT_ROLLED
    for (; end - k >= ahead; k += ahead) {
        idx c[AHEAD_MOST];
        real v[AHEAD_MOST];
        for (int j = 0; j < ahead; j++) {
            c[j] = simt_readonly(col + k + j);
            v[j] = simt_readonly(val + k + j);
        }
        for (int j = 0; j < ahead; j++)
            add(y + c[j], v[j] * xi, cas);
    }
    SIMT_ROLLED
    for (; k < end; k++)
        add(y + simt_readonly(col + k), simt_readonly(val + k) * xi, cas);
}

KERNEL(csr_naive_t)(struct product p)
{
    add_row(&p, 0, AHEAD);
}

KERNEL(csr_naive_t_long)(struct product p)
{
    add_row(&p, 0, AHEAD_LONG);
}

KERNEL(csr_naive_t_cas)(struct product p)
{
    add_row(&p, 1, AHEAD);
}

#else
#include "kernel/kernel.h"

static const struct option options[] = {
    {"cas", 0, VALUES(0, 1)},
    {0},
};

enum { USUAL, LONG, CAS, SCALE };
static const char *const entries[] = {"csr_naive_t", "csr_naive_t_long", "csr_naive_t_cas",
                                      "csr_naive_t_scale", NULL};

static heddle_status launch(const struct work *w)
{
    const char *entry = entries[w->option[0] ? CAS : HAS_LONG_ROWS(&w->product) ? LONG : USUAL];
    return gpu_run_rows_behind(w, gpu_scaling(w, entries[SCALE], w->product.cols), entry, 1);
}

const struct kernel csr_naive_t = {
    .name = "csr_naive_t",
    .id = KERNEL_csr_naive_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "naive-spmv-2016 Alg. 2 and 3",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
