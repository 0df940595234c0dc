/* SPDX-License-Identifier: MIT
 *
 * csr_to_ell: ELL and ELL-R from CSR.
 *
 * Computes   the arrays that layout.h describes, padding (column -1, value 0) included.
 * Balance    a thread a row; all write equally much.
 * Memory     col and val of the result are written once, coalesced.  Reading is csr_naive's: lanes are a
 *            row apart, what a lane needs next is in the line that it has just read.
 * Order      bitwise the arrays that src/format makes.
 */
#include "format/layout.h"

/* Behind the arrays of the source stand those of the result. */
enum { TO_COL = CSR_VAL + 1, TO_VAL, TO_LENGTH };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

KERNEL(csr_to_ell)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    const idx *col = (const idx *)p.array[CSR_COL];
    const elem *val = (const elem *)p.array[CSR_VAL];
    idx *to_col = (idx *)p.array[TO_COL], *to_length = (idx *)p.array[TO_LENGTH];
    elem *to_val = (elem *)p.array[TO_VAL];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const int64_t begin = simt_readonly(row_ptr + i), length = simt_readonly(row_ptr + i + 1) - begin;
        for (int64_t j = 0; j < p.dim[ELL_WIDTH]; j++) {
            to_col[j * p.rows + i] = j < length ? simt_readonly(col + begin + j) : -1;
            to_val[j * p.rows + i] = j < length ? simt_readonly(val + begin + j) : 0;
        }
        if (to_length)
            to_length[i] = (idx)length;
    }
}

#else
#include "convert/service.h"

heddle_status gpu_csr_to_ell(const struct device *d, struct stored *s, const struct csr *A)
{
    struct work w = work_moving("csr_to_ell", d, A);
    w.product.dim[ELL_WIDTH] = s->dim[ELL_WIDTH];
    w.product.array[TO_COL] = s->array[ELL_COL];
    w.product.array[TO_VAL] = s->array[ELL_VAL];
    if (s->format == format_at(FORMAT_ellr))
        w.product.array[TO_LENGTH] = s->array[ELLR_LENGTH];
    return gpu_run_over(&w, "csr_to_ell", A->rows);
}
#endif
