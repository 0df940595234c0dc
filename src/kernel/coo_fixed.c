/* SPDX-License-Identifier: MIT
 *
 * coo_fixed: products with a COO matrix as it is, repeatable bit by bit.
 *
 * Computes   y = alpha A x + beta y  or  y = alpha Aᵀ x + beta y,  A in COO.
 * Source     Heddle's own; fixed.h says how additions in any order give one result (after Demmel and
 *            Nguyen 2015).
 * Balance    a thread an entry, in strides of the grid.
 * Memory     row, col and val are read twice, by two kernels, coalesced; x is gathered.  A term is an
 *            atomic maximum and one (f32) or two (f64) additions of integers; a third kernel reads the
 *            sums and stores y.
 * Wins       a product with COO that must be the same every run, the first few times: a plan makes CSR once.
 * Loses      long rows (N) and long columns (T), whose additions queue up; whenever the order does not
 *            matter.
 * Order      none is needed: bitwise repeatable.
 */
#include "kernel/fixed.h"
#ifdef HEDDLE_DEVICE

/* Transposed, rows and columns change places. */
DEVICE void deal_terms(const struct product *p, const int adds)
{
    const idx *RESTRICT to = (const idx *)p->array[p->transposed ? COO_COL : COO_ROW];
    const idx *RESTRICT from = (const idx *)p->array[p->transposed ? COO_ROW : COO_COL];
    const elem *RESTRICT val = (const elem *)p->array[COO_VAL];
    const real *RESTRICT x = (const real *)p->x;
    const struct fixed f = fixed_of(p);
    for (int64_t k = simt_global_id(); k < p->nnz; k += simt_global_size()) {
        const real product = term(p, simt_stream(val + k), simt_readonly(x + simt_stream(from + k)));
        if (adds)
            fixed_add(&f, simt_stream(to + k), product);
        else
            fixed_note(&f, simt_stream(to + k), product);
    }
}

FIXED_KERNELS(coo_fixed)

#else

static const char *const entries[] = {"coo_fixed_note", "coo_fixed_add", "coo_fixed_end", NULL};

static heddle_status launch(const struct work *w)
{
    int block = gpu_arch(w->device->gpu)->block;
    int64_t blocks = (w->product.nnz + block - 1) / block,
            most = gpu_info_of(w->device->gpu)->multiprocessors * (int64_t)64;
    return fixed_launch(w, entries, blocks < most ? blocks : most, block);
}

const struct kernel coo_fixed = {
    .name = "coo_fixed",
    .id = KERNEL_coo_fixed,
    .format = FORMAT_coo,
    .ops = OPS_N | OPS_T,
    .device = DEVICE_gpu,
    .source = "Heddle; sums after Demmel and Nguyen 2015",
    .repeatable = 1,
    .entries = entries,
    .counters = fixed_counters,
    .launch = launch,
    .cost = fixed_cost,
};
#endif
