/* SPDX-License-Identifier: MIT
 *
 * csr_to_bundle: bundles of rows with the same columns from CSR.
 *
 * Computes   the arrays that layout.h describes.  Every row is compared with the one before; the bundles of a
 *            window are sorted by their rows and length; slices are counted and written, then columns and
 *            values.
 * Balance    a few lanes a row where entries are read, a block a window to sort, as many threads as a slice
 *            is high to copy.
 * Memory     columns are read twice, values once.
 * Order      bitwise the arrays that src/format makes: keys are unique, everything else integers and copies.
 */
#define KEYS 8192 /* that are sorted: a power of two */
#define SHARE (KEYS / WINDOW_BLOCK)

/* Behind the arrays of the source: for every row, is it as the one before (in the same window), its lowest
 * and its highest column; the sorted keys; and what windows take.  Arrays of the result follow where they are
 * written. */
enum { SAME = 3, LOW, HIGH, KEY, TOTALS };
enum { TO_COL = SAME, TO_VAL = LOW };

/* What a window takes, each an array of windows+1: slices, and places in units of the height. */
enum { SLICES, VALS, COLS, TALLIES };

/* Dimensions, beside those of the format. */
enum { LANES = 1, WINDOWS };

#include "convert/windows.h"

#ifdef HEDDLE_DEVICE

#define PLACE_BITS 13

KERNEL(csr_to_bundle_rows)(struct product p)
{
    const idx *col = (const idx *)p.array[CSR_COL];
    const int lanes = (int)p.dim[LANES], lane = simt_lane() & (lanes - 1);
    for (int64_t i = simt_global_id() / lanes; i < p.rows; i += simt_global_size() / lanes) {
        const struct row r = row_at(&p, i), before = row_at(&p, i == 0 ? 0 : i - 1);
        int32_t differs = i % BUNDLE_WINDOW == 0 || r.n != before.n, low = INT32_MAX, high = 0;
        for (int64_t k = lane; k < r.n; k += lanes) {
            const int32_t c = simt_readonly(col + r.begin + k);
            low = c < low ? c : low;
            high = c > high ? c : high;
            if (!differs)
                differs = c != simt_readonly(col + before.begin + k);
        }
        differs = wave_max_int(differs, lanes);
        low = -wave_max_int(-low, lanes);
        high = wave_max_int(high, lanes);
        if (lane == 0) {
            ((int32_t *)p.array[SAME])[i] = !differs;
            ((int32_t *)p.array[LOW])[i] = low;
            ((int32_t *)p.array[HIGH])[i] = high;
        }
    }
}

/* ------------------------------ windows ------------------------------ */

/* Of n rows that are the same, cut as layout_bundle does it, the bundle that begins with row j; 0: none does.
 * */
DEVICE int bundle_at(int j, int n)
{
    const int fours = n > 6 ? (n - 3) / 4 : n == 4, left = n - 4 * fours, at = j - 4 * fours;
    if (at < 0)
        return j % 4 == 0 ? 4 : 0;
    if (left <= 4)
        return at == 0 ? left : 0;
    return at == 0 ? 3 : at == 3 ? left - 3 : 0;
}

/* Rows [from, to) of a window: the key of a bundle at its first row, none elsewhere. */
DEVICE void find_keys(const struct product *p, uint32_t *key, const unsigned char *same, int64_t first, int n)
{
    const int from = simt_thread_id() * SHARE, to = from + SHARE < n ? from + SHARE : n;
    int begin = from < n ? from : 0, end = 0;
    while (begin > 0 && same[begin])
        begin--;
    for (int r = from; r < to; r++) {
        begin = same[r] ? begin : r;
        if (r == from || begin == r)
            for (end = r + 1; end < n && same[end];)
                end++;
        const int rows = bundle_at(r - begin, end - begin);
        if (rows > 0) {
            const int64_t length = row_at(p, first + r).n;
            key[r] = BUNDLE_KEY(rows, length, r);
        } else {
            key[r] = UINT32_MAX;
        }
    }
}

/* The slices that begin within a thread's share of n sorted keys: what they take, and written from `at` on
 * unless `write` is 0. */
DEVICE struct tally do_share(const struct product *p, const uint32_t *key, int n, int64_t first,
                             struct tally at, const int write)
{
    const int per = (int)p->dim[BUNDLE_HEIGHT] / BUNDLE_LANES, from = simt_thread_id() * SHARE,
              to = from + SHARE < n ? from + SHARE : n;
    int begin = 0, end = 0;
    SIMT_ROLLED
    for (int i = from; i < to; i++) {
        const uint32_t rows = key[i] >> 26;
        if (i == from || i >= end) {
            begin = search_key(key, i, rows << 26);
            end = i + search_key(key + i, n - i, (rows + 1) << 26);
        }
        if ((i - begin) % per != 0)
            continue;
        int32_t low = INT32_MAX, high = 0;
        int64_t longest = 0;
        for (int b = 0; b < per; b++) {
            const int is_bundle = i + b < end;
            const int64_t row = is_bundle ? first + (key[i + b] & ((1u << PLACE_BITS) - 1)) : -1;
            const int64_t length = is_bundle ? row_at(p, row).n : 0;
            const int32_t row_low =
                is_bundle ? simt_readonly((const int32_t *)p->array[LOW] + row) : INT32_MAX;
            const int32_t row_high = is_bundle ? simt_readonly((const int32_t *)p->array[HIGH] + row) : 0;
            longest = length > longest ? length : longest;
            low = row_low < low ? row_low : low;
            high = row_high > high ? row_high : high;
            if (write) {
                int32_t *to_row = (int32_t *)p->workspace + 2 * (per * at.of[SLICES] + b);
                to_row[0] = (int32_t)row;
                to_row[1] = (int32_t)length;
            }
        }
        const int64_t steps = BUNDLE_STEPS(longest);
        const int narrow = longest == 0 || (int64_t)high - low < 65536;
        if (write) {
            uint32_t *slice = (uint32_t *)p->prepared + BUNDLE_MEMBERS * at.of[SLICES];
            slice[BUNDLE_AT_VAL] = (uint32_t)at.of[VALS];
            slice[BUNDLE_AT_COL] = (uint32_t)at.of[COLS];
            slice[BUNDLE_AT_BASE] = (uint32_t)(longest == 0 ? 0 : narrow ? low : -1);
            slice[BUNDLE_AT_SHAPE] = (uint32_t)(steps << 3 | rows);
        }
        at.of[SLICES]++;
        at.of[VALS] += steps * rows;
        at.of[COLS] += steps * (narrow ? 1 : 2);
    }
    return at;
}

DEVICE int window_rows(const struct product *p, int64_t first)
{
    return p->rows - first < BUNDLE_WINDOW ? (int)(p->rows - first) : BUNDLE_WINDOW;
}

KERNEL_RESIDENT(csr_to_bundle_windows, WINDOW_BLOCK, 2)(struct product p)
{
    SHARED(uint32_t, key, KEYS);
    SHARED(unsigned char, same, BUNDLE_WINDOW);
    for (int64_t window = simt_block_id(); window < p.dim[WINDOWS]; window += simt_grid_size()) {
        const int64_t first = window * BUNDLE_WINDOW;
        const int n = window_rows(&p, first);
        uint32_t *keys = (uint32_t *)p.array[KEY] + first;
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            same[i] = (unsigned char)simt_readonly((const int32_t *)p.array[SAME] + first + i);
        simt_sync();
        find_keys(&p, key, same, first, n);
        sort_keys(key, n);
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            keys[i] = key[i];
        const int count = search_key(key, n, UINT32_MAX);
        tally_leave(&p, window, do_share(&p, key, count, first, tally_none(), 0));
        simt_sync();
    }
}

KERNEL_RESIDENT(csr_to_bundle_slices, WINDOW_BLOCK, 2)(struct product p)
{
    SHARED(uint32_t, key, KEYS);
    for (int64_t window = simt_block_id(); window < p.dim[WINDOWS]; window += simt_grid_size()) {
        const int64_t first = window * BUNDLE_WINDOW;
        const int n = window_rows(&p, first);
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            key[i] = simt_readonly((const uint32_t *)p.array[KEY] + first + i);
        simt_sync();
        const int count = search_key(key, n, UINT32_MAX);
        const struct tally mine = do_share(&p, key, count, first, tally_none(), 0);
        do_share(&p, key, count, first, tally_before(&p, window, mine), 1);
        simt_sync();
    }
}

/* ------------------------------ values ------------------------------ */

/* So many threads a slice as it is high; dim[LANES] is the number of slices. */
KERNEL(csr_to_bundle_fill)(struct product p)
{
    const idx *from_col = (const idx *)p.array[CSR_COL];
    const elem *from_val = (const elem *)p.array[CSR_VAL];
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    const int64_t height = p.dim[BUNDLE_HEIGHT];
    for (int64_t t = simt_global_id(); t < p.dim[BUNDLE_SLICES] * height; t += simt_global_size()) {
        const uint32_t *slice = (const uint32_t *)p.prepared + t / height * BUNDLE_MEMBERS;
        const int32_t *record = (const int32_t *)p.workspace + 2 * (t / BUNDLE_LANES),
                      base = (int32_t)simt_readonly(slice + BUNDLE_AT_BASE);
        const int32_t row = simt_readonly(record), n = simt_readonly(record + 1);
        const uint32_t shape = simt_readonly(slice + BUNDLE_AT_SHAPE), rows = shape & 7, steps = shape >> 3;
        const int64_t lane = t % height, col_at = simt_readonly(slice + BUNDLE_AT_COL) * height,
                      val_at = simt_readonly(slice + BUNDLE_AT_VAL) * height;
        for (int64_t step = 0; step < steps; step++) {
            const int64_t j = BUNDLE_LANES * step + lane % BUNDLE_LANES, at = step * height + lane;
            const int is_entry = j < n;
            const idx col = is_entry ? simt_readonly(from_col + simt_readonly(row_ptr + row) + j)
                          : base < 0 ? 0
                                     : base;
            if (base < 0)
                ((idx *)((uint16_t *)p.array[TO_COL] + col_at))[at] = col;
            else
                ((uint16_t *)p.array[TO_COL])[col_at + at] = (uint16_t)(col - base);
            for (uint32_t r = 0; r < rows; r++)
                ((elem *)p.array[TO_VAL])[val_at + (step * rows + r) * height + lane] =
                    is_entry ? simt_readonly(from_val + simt_readonly(row_ptr + row + r) + j) : 0;
        }
    }
}

#else

/* What is found of a matrix, on the device. */
struct found {
    void *same, *low, *high, *key, *totals;
};

static void clear(const struct device *d, struct found *f)
{
    device_free(d, f->same);
    device_free(d, f->low);
    device_free(d, f->high);
    device_free(d, f->key);
    device_free(d, f->totals);
}

static struct work work_of(const struct device *d, const struct csr *A, int64_t height)
{
    struct work w = work_moving("csr_to_bundle", d, A);
    w.product.dim[BUNDLE_HEIGHT] = height;
    return w;
}

static heddle_status inspect(struct work *w, struct found *f, int64_t total[TALLIES], const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = w->device;
    heddle_lengths lengths;
    int64_t windows = (A->rows + BUNDLE_WINDOW - 1) / BUNDLE_WINDOW;
    if (A->nnz > BUNDLE_MOST) {
        TRY(gpu_row_lengths(d, &lengths, A));
        TRY(bundle_fits(lengths.longest));
    }
    TRY(device_alloc(d, &f->same, A->rows * (int64_t)sizeof(int32_t)));
    TRY(device_alloc(d, &f->low, A->rows * (int64_t)sizeof(int32_t)));
    TRY(device_alloc(d, &f->high, A->rows * (int64_t)sizeof(int32_t)));
    TRY(device_alloc(d, &f->key, A->rows * (int64_t)sizeof(uint32_t)));
    w->product.array[SAME] = f->same;
    w->product.array[LOW] = f->low;
    w->product.array[HIGH] = f->high;
    w->product.array[KEY] = f->key;
    w->product.dim[LANES] = lanes_for(d, A->rows, A->nnz);
    w->product.dim[WINDOWS] = windows;
    TRY(gpu_run_over(w, "csr_to_bundle_rows", A->rows * w->product.dim[LANES]));
    TRY(count_windows(w, "csr_to_bundle_windows", total, &f->totals));
done:
    return status;
}

heddle_status gpu_bundle_count(const struct device *d, struct counted *c, const struct csr *A, int64_t height)
{
    heddle_status status = HEDDLE_OK;
    struct found f = {0};
    int64_t total[TALLIES] = {0};
    struct work w = work_of(d, A, height);
    if (A->rows > 0)
        TRY(inspect(&w, &f, total, A));
    *c = (struct counted){
        .positions = total[VALS] * height, .words = total[COLS] * height, .slices = total[SLICES]};
done:
    clear(d, &f);
    return status;
}

heddle_status gpu_csr_to_bundle_values(const struct device *d, struct stored *s, const struct csr *A)
{
    struct work w = work_of(d, A, s->dim[BUNDLE_HEIGHT]);
    w.product.dim[BUNDLE_SLICES] = s->dim[BUNDLE_SLICES];
    w.product.prepared = s->array[BUNDLE_SLICE];
    w.product.workspace = s->array[BUNDLE_ROW];
    w.product.array[TO_COL] = s->array[BUNDLE_COL];
    w.product.array[TO_VAL] = s->array[BUNDLE_VAL];
    return gpu_run_over(&w, "csr_to_bundle_fill", s->dim[BUNDLE_SLICES] * s->dim[BUNDLE_HEIGHT]);
}

heddle_status gpu_csr_to_bundle(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct found f = {0};
    int64_t total[TALLIES];
    struct work w = work_of(d, A, s->dim[BUNDLE_HEIGHT]);
    if (A->rows == 0)
        return HEDDLE_OK;
    TRY(inspect(&w, &f, total, A));
    w.product.prepared = s->array[BUNDLE_SLICE];
    w.product.workspace = s->array[BUNDLE_ROW];
    TRY(run_windows(&w, "csr_to_bundle_slices"));
    TRY(gpu_csr_to_bundle_values(d, s, A));
    TRY(device_sync(d));
done:
    clear(d, &f);
    return status;
}
#endif
