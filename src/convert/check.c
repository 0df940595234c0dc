/* SPDX-License-Identifier: MIT
 *
 * check: is a matrix on the device valid?
 *
 * Computes   the first row whose end is before its beginning; the first entry whose column (COO: row or
 *            column) is outside the matrix; then, on the host, the same text as csr_validate and
 *            coo_validate.
 * Balance    a thread a row, or a thread an entry.
 * Memory     every offset and every index once, coalesced.  Nothing else is read, whatever is in them.
 * Order      a minimum: the same every run.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* Bad ones are rare: the atomic is for them alone.  The workspace holds the smallest so far. */
DEVICE void found(const struct product *p, int64_t position)
{
    simt_atomic_min((int64_t *)p->workspace, position);
}

KERNEL(check_offsets)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size())
        if (simt_readonly(row_ptr + i) > simt_readonly(row_ptr + i + 1))
            found(&p, i);
}

/* A negative index is a large unsigned one: one comparison finds both kinds. */
DEVICE int outside(const idx *index, int64_t n)
{
    return (int64_t)(uint32_t)simt_readonly(index) >= n;
}

KERNEL(check_columns)(struct product p)
{
    const idx *col = (const idx *)p.array[CSR_COL];
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        if (outside(col + k, p.cols))
            found(&p, k);
}

KERNEL(check_entries)(struct product p)
{
    const idx *row = (const idx *)p.array[COO_ROW], *col = (const idx *)p.array[COO_COL];
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        if (outside(row + k, p.rows) || outside(col + k, p.cols))
            found(&p, k);
}

#else
#include <inttypes.h>

#include "convert/service.h"

/* Runs one of the kernels above; *first is INT64_MAX when all is well. */
static heddle_status search(struct work *w, const char *entry, int64_t items, int64_t *first)
{
    heddle_status status;
    *first = INT64_MAX;
    TRY(device_copy(w->device, w->product.workspace, first, sizeof *first));
    TRY(gpu_run_over(w, entry, items));
    TRY(device_read(w->device, first, w->product.workspace, sizeof *first));
done:
    return status;
}

static heddle_status offset_at(const struct device *d, int64_t *offset, const struct csr *A, int64_t i)
{
    int32_t narrow = 0;
    int64_t wide = 0;
    heddle_status status = A->offset == HEDDLE_I64
                             ? device_read(d, &wide, (const int64_t *)A->row_ptr + i, sizeof wide)
                             : device_read(d, &narrow, (const int32_t *)A->row_ptr + i, sizeof narrow);
    *offset = A->offset == HEDDLE_I64 ? wide : narrow;
    return status;
}

/* The row of entry k, by bisection: a read from the device for each step, which only bad matrices have to
 * wait for. */
static heddle_status row_of(const struct device *d, int64_t *row, const struct csr *A, int64_t k)
{
    heddle_status status = HEDDLE_OK;
    int64_t low = 0, high = A->rows, begin;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        TRY(offset_at(d, &begin, A, middle));
        if (begin <= k)
            low = middle + 1;
        else
            high = middle;
    }
    *row = low - 1;
done:
    return status;
}

static heddle_status bad_offset(const struct device *d, const struct csr *A, int64_t i)
{
    heddle_status status;
    int64_t begin, end;
    TRY(offset_at(d, &begin, A, i));
    TRY(offset_at(d, &end, A, i + 1));
    TRY(fail(HEDDLE_BAD_MATRIX,
             "row_ptr[%" PRId64 "] = %" PRId64 " is less than row_ptr[%" PRId64 "] = %" PRId64, i + 1, end, i,
             begin));
done:
    return status;
}

static heddle_status bad_column(const struct device *d, const struct csr *A, int64_t k)
{
    heddle_status status;
    int64_t row;
    int32_t col;
    TRY(row_of(d, &row, A, k));
    TRY(device_read(d, &col, A->col + k, sizeof col));
    TRY(fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 ", in row %" PRId64 ", has column %d, outside 0..%" PRId64,
             k, row, col, A->cols - 1));
done:
    return status;
}

/* Offsets first, then columns, as on the host. */
static heddle_status check_csr(struct work *w, const struct csr *A)
{
    heddle_status status;
    int64_t end, first;
    TRY(offset_at(w->device, &end, A, 0));
    if (end != 0)
        TRY(fail(HEDDLE_BAD_MATRIX, "row_ptr[0] is %" PRId64 ", not 0", end));
    TRY(search(w, "check_offsets", A->rows, &first));
    if (first != INT64_MAX)
        TRY(bad_offset(w->device, A, first));
    TRY(offset_at(w->device, &end, A, A->rows));
    if (end != A->nnz)
        TRY(fail(HEDDLE_BAD_MATRIX, "row_ptr[%" PRId64 "] is %" PRId64 ", but there are %" PRId64 " entries",
                 A->rows, end, A->nnz));
    TRY(search(w, "check_columns", A->nnz, &first));
    if (first != INT64_MAX)
        TRY(bad_column(w->device, A, first));
done:
    return status;
}

heddle_status gpu_csr_validate(const struct device *d, const struct csr *A)
{
    heddle_status status;
    struct work w = {
        .page = "check", .device = d, .variant = variant_of(HEDDLE_F32, A->offset), .value = A->value};
    w.product =
        (struct product){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .array = {A->row_ptr, A->col}};
    TRY(device_alloc(d, &w.product.workspace, sizeof(int64_t)));
    status = check_csr(&w, A);
    device_free(d, w.product.workspace);
done:
    return status;
}

static heddle_status bad_entry(const struct device *d, const struct coo *A, int64_t k)
{
    heddle_status status;
    int32_t row, col;
    TRY(device_read(d, &row, A->row + k, sizeof row));
    TRY(device_read(d, &col, A->col + k, sizeof col));
    if ((uint32_t)row >= (uint64_t)A->rows)
        TRY(fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 " has row %d, outside 0..%" PRId64, k, row,
                 A->rows - 1));
    TRY(fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 ", in row %d, has column %d, outside 0..%" PRId64, k, row,
             col, A->cols - 1));
done:
    return status;
}

heddle_status gpu_coo_validate(const struct device *d, const struct coo *A)
{
    heddle_status status;
    int64_t first;
    struct work w = {
        .page = "check", .device = d, .variant = variant_of(HEDDLE_F32, HEDDLE_I32), .value = A->value};
    w.product = (struct product){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .array = {A->row, A->col}};
    TRY(device_alloc(d, &w.product.workspace, sizeof(int64_t)));
    status = search(&w, "check_entries", A->nnz, &first);
    device_free(d, w.product.workspace);
    if (status == HEDDLE_OK && first != INT64_MAX)
        status = bad_entry(d, A, first);
done:
    return status;
}
#endif
