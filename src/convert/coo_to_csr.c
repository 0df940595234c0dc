/* SPDX-License-Identifier: MIT
 *
 * coo_to_csr: where each row begins.
 *
 * Computes   row_ptr of a COO matrix that is sorted by rows; columns and values of CSR are those of COO.
 * Balance    a thread an offset, which looks up the first entry of its row or a later one by bisection.
 * Memory     row in caches, as neighbours take nearly the same way; row_ptr is written once, coalesced.
 * Order      bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

KERNEL(coo_to_csr)(struct product p)
{
    const idx *row = (const idx *)p.array[COO_ROW];
    off *row_ptr = (off *)p.y;
    for (int64_t i = simt_global_id(); i <= p.rows; i += simt_global_size()) {
        int64_t low = 0, high = p.nnz;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (simt_readonly(row + middle) < i)
                low = middle + 1;
            else
                high = middle;
        }
        row_ptr[i] = (off)low;
    }
}

#else
#include "convert/service.h"

heddle_status gpu_coo_to_csr(const struct device *d, struct csr *B, const int32_t *row)
{
    struct work w = {
        .page = "coo_to_csr", .device = d, .variant = variant_of(HEDDLE_F32, B->offset), .value = B->value};
    w.product =
        (struct product){.rows = B->rows, .cols = B->cols, .nnz = B->nnz, .array = {row}, .y = B->row_ptr};
    return gpu_run_over(&w, "coo_to_csr", B->rows + 1);
}
#endif
