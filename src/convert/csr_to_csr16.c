/* SPDX-License-Identifier: MIT
 *
 * csr_to_csr16: CSR with rows padded to whole units of 16 entries.
 *
 * Computes   the arrays that layout.h describes, padding (column -1, value 0) included.
 * Balance    a thread a row to count units, a thread a place to copy, which looks its row up by bisection.
 * Memory     everything is read once and written once, coalesced; units pass through 64-bit numbers for
 *            the scan's sake.
 * Order      bitwise the arrays that src/format makes.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* Units of row i; a scan makes offsets of them. */
KERNEL(csr_to_csr16_units)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    int64_t *units = (int64_t *)p.workspace;
    for (int64_t i = simt_global_id(); i <= p.rows; i += simt_global_size()) {
        const int64_t n = i == 0 ? 0 : (int64_t)simt_readonly(row_ptr + i) - simt_readonly(row_ptr + i - 1);
        units[i] = (n + CSR16_UNIT - 1) / CSR16_UNIT;
    }
}

KERNEL(csr_to_csr16_first)(struct product p)
{
    const int64_t *units = (const int64_t *)p.workspace;
    for (int64_t i = simt_global_id(); i <= p.rows; i += simt_global_size())
        ((int32_t *)p.y)[i] = (int32_t)simt_readonly(units + i);
}

/* Padding comes from the last row that begins at or before the place: no empty row does. */
KERNEL(csr_to_csr16_fill)(struct product p)
{
    enum { TO_COL = CSR_VAL + 1, TO_VAL };
    const int64_t *units = (const int64_t *)p.workspace;
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    for (int64_t place = simt_global_id(); place < p.nnz; place += simt_global_size()) {
        int64_t row = 0, high = p.rows;
        while (row < high) {
            const int64_t middle = row + (high - row) / 2;
            if (simt_readonly(units + middle + 1) <= place / CSR16_UNIT)
                row = middle + 1;
            else
                high = middle;
        }
        const int64_t from = simt_readonly(row_ptr + row) + place - CSR16_UNIT * simt_readonly(units + row);
        const int real_entry = from < (int64_t)simt_readonly(row_ptr + row + 1);
        ((idx *)p.array[TO_COL])[place] =
            real_entry ? simt_readonly((const idx *)p.array[CSR_COL] + from) : -1;
        ((elem *)p.array[TO_VAL])[place] =
            real_entry ? simt_readonly((const elem *)p.array[CSR_VAL] + from) : 0;
    }
}

#else
#include "convert/service.h"

static heddle_status find_units(struct work *w)
{
    heddle_status status;
    TRY(device_alloc(w->device, &w->product.workspace, (w->product.rows + 1) * (int64_t)sizeof(int64_t)));
    TRY(gpu_run_over(w, "csr_to_csr16_units", w->product.rows + 1));
    TRY(gpu_scan(w->device, w->product.workspace, w->product.rows + 1));
done:
    return status;
}

heddle_status gpu_csr16_count(const struct device *d, struct counted *c, const struct csr *A)
{
    heddle_status status;
    struct work w = work_moving("csr_to_csr16", d, A);
    TRY(find_units(&w));
    TRY(device_read(d, &c->positions, (const int64_t *)w.product.workspace + A->rows, sizeof c->positions));
    c->positions *= CSR16_UNIT;
done:
    device_free(d, w.product.workspace);
    return status;
}

heddle_status gpu_csr_to_csr16(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status;
    struct work w = work_moving("csr_to_csr16", d, A);
    TRY(find_units(&w));
    w.product.y = s->array[CSR16_FIRST];
    TRY(gpu_run_over(&w, "csr_to_csr16_first", A->rows + 1));
    w.product.nnz = s->bytes[CSR16_COL] / (int64_t)sizeof(int32_t);
    w.product.array[CSR_VAL + 1] = s->array[CSR16_COL];
    w.product.array[CSR_VAL + 2] = s->array[CSR16_VAL];
    TRY(gpu_run_over(&w, "csr_to_csr16_fill", w.product.nnz));
    TRY(device_sync(d));
done:
    device_free(d, w.product.workspace);
    return status;
}
#endif
