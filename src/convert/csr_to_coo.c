/* SPDX-License-Identifier: MIT
 *
 * csr_to_coo: the row of every entry.
 *
 * Computes   row[k] for every entry k of a CSR matrix; columns and values of COO are those of CSR.
 * Balance    a thread an entry, which looks its row up by bisection: whatever the rows look like.
 * Memory     row_ptr in caches, as neighbours take the same way down; row is written once, coalesced.
 * Order      bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

KERNEL(csr_to_coo)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    idx *row = (idx *)p.y;
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        row[k] = (idx)search_above(row_ptr + 1, p.rows, k);
}

#else
#include "convert/service.h"

heddle_status gpu_csr_to_coo(const struct device *d, int32_t *row, const struct csr *A)
{
    struct work w = {
        .page = "csr_to_coo", .device = d, .variant = variant_of(HEDDLE_F32, A->offset), .value = A->value};
    w.product =
        (struct product){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .array = {A->row_ptr}, .y = row};
    return gpu_run_over(&w, "csr_to_coo", A->nnz);
}
#endif
