/* SPDX-License-Identifier: MIT
 *
 * csr_to_hyb: where HYB splits, and its COO part.  Its ELL part is csr_to_ell's.
 *
 * Computes   the length at a place of the order by length, from counts of lengths in BINS bins, finer and
 *            finer; how many entries stand behind the first `width` of their row; row, column and value of
 *            those.
 * Balance    a thread a row to count, a thread an entry to copy, which looks its row up by bisection.
 * Memory     counting reads row_ptr once for each level of bins, one level where no row is longer than BINS.
 * Order      bitwise the arrays that src/format makes.
 */
#define BINS 1024
#define BIN_BITS 10

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

DEVICE int64_t length_of(const struct product *p, int64_t i)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    return (int64_t)simt_readonly(row_ptr + i + 1) - simt_readonly(row_ptr + i);
}

/* Rows by the BIN_BITS bits of their length above the lowest dim[0], where the bits above those are
 * dim[1]. */
KERNEL(csr_to_hyb_lengths)(struct product p)
{
    SHARED(int32_t, count, BINS);
    for (int b = simt_thread_id(); b < BINS; b += simt_block_size())
        count[b] = 0;
    simt_sync();
    SIMT_ROLLED
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const int64_t n = length_of(&p, i) >> p.dim[0];
        if (n >> BIN_BITS == p.dim[1])
            simt_atomic_add(count + (n & (BINS - 1)), 1);
    }
    simt_sync();
    for (int b = simt_thread_id(); b < BINS; b += simt_block_size())
        if (count[b] > 0)
            simt_atomic_add((int32_t *)p.workspace + b, count[b]);
}

/* How many entries of row i are left; a scan makes offsets of them. */
KERNEL(csr_to_hyb_left)(struct product p)
{
    int64_t *left = (int64_t *)p.workspace;
    SIMT_ROLLED
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const int64_t n = length_of(&p, i) - p.dim[HYB_WIDTH];
        left[i + 1] = n > 0 ? n : 0;
        if (i == 0)
            left[0] = 0;
    }
}

KERNEL(csr_to_hyb_rest)(struct product p)
{
    const int64_t *left = (const int64_t *)p.workspace;
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    enum { TO_ROW = CSR_VAL + 1, TO_COL, TO_VAL };
    SIMT_ROLLED
    for (int64_t k = simt_global_id(); k < p.dim[HYB_REST]; k += simt_global_size()) {
        int64_t low = 0, high = p.rows;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (simt_readonly(left + middle + 1) <= k)
                low = middle + 1;
            else
                high = middle;
        }
        const int64_t from =
            simt_readonly(row_ptr + low) + p.dim[HYB_WIDTH] + (k - simt_readonly(left + low));
        ((idx *)p.array[TO_ROW])[k] = (idx)low;
        ((idx *)p.array[TO_COL])[k] = simt_readonly((const idx *)p.array[CSR_COL] + from);
        ((elem *)p.array[TO_VAL])[k] = simt_readonly((const elem *)p.array[CSR_VAL] + from);
    }
}

#else
#include "convert/service.h"

/* A few blocks a multiprocessor, as each adds its bins to those of all. */
static heddle_status count_bins(struct work *w, int32_t count[BINS])
{
    heddle_status status;
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    int64_t grid = (w->product.rows + BINS - 1) / BINS, most = 4 * (int64_t)info->multiprocessors;
    TRY(device_fill(w->device, w->product.workspace, 0, BINS * sizeof *count));
    TRY(gpu_run(w, "csr_to_hyb_lengths", grid < most ? grid : most, gpu_arch(w->device->gpu)->block, 0));
    TRY(device_read(w->device, count, w->product.workspace, BINS * sizeof *count));
done:
    return status;
}

/* The length of the row at the place `rank` of the order by length: each level finds BIN_BITS more of its
 * bits. */
static heddle_status find_length(const struct device *d, int64_t *length, const struct csr *A, int64_t rank)
{
    heddle_status status;
    heddle_lengths lengths;
    int32_t count[BINS];
    int64_t shift = 0;
    struct work w = work_moving("csr_to_hyb", d, A);
    *length = 0;
    TRY(gpu_row_lengths(d, &lengths, A));
    TRY(device_alloc(d, &w.product.workspace, BINS * sizeof *count));
    while (lengths.longest >> shift >= BINS)
        shift += BIN_BITS;
    for (; shift >= 0; shift -= BIN_BITS) {
        int bin = 0;
        w.product.dim[0] = shift;
        w.product.dim[1] = *length;
        TRY(count_bins(&w, count));
        while (bin < BINS - 1 && rank >= count[bin])
            rank -= count[bin++];
        *length = *length << BIN_BITS | bin;
    }
done:
    device_free(d, w.product.workspace);
    return status;
}

/* `left` is of rows+1 numbers. */
static heddle_status find_left(struct work *w, int64_t width)
{
    heddle_status status;
    TRY(device_alloc(w->device, &w->product.workspace, (w->product.rows + 1) * (int64_t)sizeof(int64_t)));
    w->product.dim[HYB_WIDTH] = width;
    TRY(gpu_run_over(w, "csr_to_hyb_left", w->product.rows));
    TRY(gpu_scan(w->device, w->product.workspace, w->product.rows + 1));
done:
    return status;
}

heddle_status gpu_hyb_count(const struct device *d, struct counted *c, const struct csr *A,
                            const int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    struct work w = work_moving("csr_to_hyb", d, A);
    int64_t length;
    *c = (struct counted){0};
    if (A->nnz == 0)
        return HEDDLE_OK;
    TRY(find_length(d, &length, A, hyb_rank(A, option)));
    c->width = hyb_width(A, option, length);
    TRY(find_left(&w, c->width));
    TRY(device_read(d, &c->rest, (const int64_t *)w.product.workspace + A->rows, sizeof c->rest));
done:
    device_free(d, w.product.workspace);
    return status;
}

heddle_status gpu_csr_to_hyb(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status;
    struct work w = work_moving("csr_to_hyb", d, A);
    TRY(gpu_csr_to_ell(d, s, A));
    if (s->dim[HYB_REST] == 0)
        return HEDDLE_OK;
    TRY(find_left(&w, s->dim[HYB_WIDTH]));
    w.product.dim[HYB_REST] = s->dim[HYB_REST];
    for (int i = HYB_REST_ROW; i <= HYB_REST_VAL; i++)
        w.product.array[CSR_VAL + 1 + i - HYB_REST_ROW] = s->array[i];
    TRY(gpu_run_over(&w, "csr_to_hyb_rest", s->dim[HYB_REST]));
    TRY(device_sync(d));
done:
    device_free(d, w.product.workspace);
    return status;
}
#endif
