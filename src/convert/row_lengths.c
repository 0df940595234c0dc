/* SPDX-License-Identifier: MIT
 *
 * row_lengths: how many entries the rows have.
 *
 * Computes   the shortest and the longest row, the number of empty ones, and the sum of (length - c)² for
 *            a c near the mean, from which the deviation follows without cancellation.
 * Balance    a thread a row; the threads of a block put their findings together before they add them to
 *            those of others.
 * Memory     every offset once (twice, from caches), coalesced; four atomics a block.
 * Order      integers: the same every run.  (The sum would overflow with a row of more than 2^31 entries.)
 */
/* What the workspace holds, as int64_t. */
enum { SHORTEST, LONGEST, EMPTY, SQUARES, FINDINGS };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

KERNEL(row_lengths)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    int64_t *finding = (int64_t *)p.workspace;
    const int64_t centre = p.dim[0];
    int64_t shortest = INT64_MAX, longest = 0, empty = 0, squares = 0;
    SIMT_ROLLED
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        int64_t n = (int64_t)simt_readonly(row_ptr + i + 1) - simt_readonly(row_ptr + i);
        shortest = n < shortest ? n : shortest;
        longest = n > longest ? n : longest;
        empty += n == 0;
        squares += (n - centre) * (n - centre);
    }
    shortest = -block_max_long(-shortest);
    longest = block_max_long(longest);
    empty = block_sum_long(empty);
    squares = block_sum_long(squares);
    if (simt_thread_id() == 0) {
        simt_atomic_min(finding + SHORTEST, shortest);
        simt_atomic_max(finding + LONGEST, longest);
        simt_atomic_add(finding + EMPTY, empty);
        simt_atomic_add(finding + SQUARES, squares);
    }
}

#else
#include <math.h>

#include "convert/service.h"

static heddle_status find(struct work *w, int64_t finding[FINDINGS])
{
    heddle_status status;
    int64_t bytes = FINDINGS * (int64_t)sizeof *finding;
    TRY(device_alloc(w->device, &w->product.workspace, bytes));
    TRY(device_copy(w->device, w->product.workspace, finding, bytes));
    TRY(gpu_run_over(w, "row_lengths", w->product.rows));
    TRY(device_read(w->device, finding, w->product.workspace, bytes));
done:
    device_free(w->device, w->product.workspace);
    return status;
}

heddle_status gpu_row_lengths(const struct device *d, heddle_lengths *lengths, const struct csr *A)
{
    *lengths = (heddle_lengths){0};
    if (A->rows == 0)
        return HEDDLE_OK;
    int64_t finding[FINDINGS] = {[SHORTEST] = INT64_MAX}, centre = A->nnz / A->rows;
    double mean = (double)A->nnz / (double)A->rows, off_centre = (double)(A->nnz % A->rows) / (double)A->rows;
    struct work w = {
        .page = "row_lengths", .device = d, .variant = variant_of(HEDDLE_F32, A->offset), .value = A->value};
    w.product = (struct product){
        .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .dim = {centre}, .array = {A->row_ptr}};
    heddle_status status = find(&w, finding);
    if (status != HEDDLE_OK)
        return status;
    double variance = (double)finding[SQUARES] / (double)A->rows - off_centre * off_centre;
    *lengths = (heddle_lengths){.shortest = finding[SHORTEST],
                                .longest = finding[LONGEST],
                                .empty = finding[EMPTY],
                                .mean = mean,
                                .deviation = variance > 0 ? sqrt(variance) : 0};
    return HEDDLE_OK;
}
#endif
