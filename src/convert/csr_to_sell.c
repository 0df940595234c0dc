/* SPDX-License-Identifier: MIT
 *
 * csr_to_sell: sliced ELL from CSR.
 *
 * Computes   the arrays that layout.h describes: first the order of the rows, then what every slice needs,
 *            then the arrays.
 * Balance    a wave a window for the order, a thread a row for everything else; entries of a row beyond
 *            the first SHARE are dealt out to the wave, so that one long row is no one's fate.
 * Memory     the order needs row_ptr alone, and little more where the rows of a window are in order
 *            already.  Spans and arrays are csr_naive's way of reading; the arrays are written coalesced.
 * Order      bitwise the arrays that src/format makes: the sort is stable, everything else integers and
 *            copies.
 */
#define WAVES 4      /* of a block that sorts */
#define LONGEST 1024 /* rows this long and longer count as equal in the sort, as in sell_typed.c */
#define BUCKETS (LONGEST + 1)
#define BLOCK 256 /* threads that look at slices: a multiple of every height */
#define SLICES 32 /* of a block, at most */

/* What the workspace holds, as int32_t. */
enum { MOVED, TOO_LONG, FINDINGS };

/* Behind the arrays of the source stand those of the result; the order (NULL: that of the matrix) is
 * p.prepared. */
enum { TO_SLICE_PTR = 3, TO_COL_PTR, TO_BASE, TO_FULL, TO_LENGTH };
enum { TO_COL = TO_FULL, TO_VAL };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

DEVICE int bucket_at(const struct product *p, int64_t i)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t n = (int64_t)simt_readonly(row_ptr + i + 1) - simt_readonly(row_ptr + i);
    return n < LONGEST ? LONGEST - (int)n : 0; /* the longest come first */
}

/* The lanes of the wave whose key, of 11 bits, is one's own. */
DEVICE uint64_t lanes_alike(int key)
{
    uint64_t alike = simt_ballot(1);
    for (int bit = 0; bit < 11; bit++) {
        const uint64_t set = simt_ballot(key >> bit & 1);
        alike &= key >> bit & 1 ? set : ~set;
    }
    return alike;
}

/* count[b] = where bucket b begins. */
DEVICE void count_window(const struct product *p, int32_t *count, int64_t first, int64_t n)
{
    int32_t before = 0;
    SIMT_ROLLED
    for (int b = simt_lane(); b < BUCKETS; b += WAVE)
        count[b] = 0;
    simt_wave_sync();
    SIMT_ROLLED
    for (int64_t i = simt_lane(); i < n; i += WAVE)
        simt_atomic_add(count + bucket_at(p, first + i), 1);
    simt_wave_sync();
    SIMT_ROLLED
    for (int from = 0; from < BUCKETS; from += WAVE) {
        const int b = from + simt_lane();
        const int32_t v = b < BUCKETS ? count[b] : 0, sum = wave_scan_int(v, WAVE);
        if (b < BUCKETS)
            count[b] = before + sum - v;
        before += simt_shfl(sum, WAVE - 1, WAVE);
    }
    simt_wave_sync();
}

/* A wave of rows after the other, so that equal ones keep their order. */
DEVICE void place_window(const struct product *p, int32_t *count, idx *order, int64_t first, int64_t n)
{
    SIMT_ROLLED
    for (int64_t from = 0; from < n; from += WAVE) {
        const int64_t i = from + simt_lane();
        const int bucket = i < n ? bucket_at(p, first + i) : BUCKETS;
        const uint64_t alike = lanes_alike(bucket);
        const int rank = simt_popc(alike & simt_lanes_below());
        const int32_t place = i < n ? count[bucket] + rank : 0;
        simt_wave_sync();
        if (i < n) {
            order[first + place] = (idx)(first + i);
            if (rank == 0)
                count[bucket] += simt_popc(alike);
        }
        simt_wave_sync();
    }
}

KERNEL_WAVES(csr_to_sell_order, WAVES)(struct product p)
{
    SHARED(int32_t, counts, WAVES * BUCKETS);
    int32_t *count = counts + simt_wave_id() * BUCKETS;
    idx *order = (idx *)p.prepared;
    const int64_t window = p.dim[SELL_WINDOW];
    for (int64_t first = simt_global_id() / WAVE * window; first < p.rows;
         first += simt_global_size() / WAVE * window) {
        const int64_t n = p.rows - first < window ? p.rows - first : window;
        int moved = 0;
        SIMT_ROLLED
        for (int64_t i = 1 + simt_lane(); i < n; i += WAVE)
            moved |= bucket_at(&p, first + i) < bucket_at(&p, first + i - 1);
        if (simt_any(moved)) {
            count_window(&p, count, first, n);
            place_window(&p, count, order, first, n);
            if (simt_lane() == 0)
                simt_atomic_or((int32_t *)p.workspace + MOVED, 1);
        } else {
            SIMT_ROLLED
            for (int64_t i = simt_lane(); i < n; i += WAVE)
                order[first + i] = (idx)(first + i);
        }
    }
}

/* The row at a place, and where its entries stand; empty behind the last row. */
struct row {
    int64_t begin, n;
};
DEVICE struct row row_at(const struct product *p, int64_t place)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *order = (const idx *)p->prepared;
    struct row r = {0, 0};
    if (place < p->rows) {
        const int64_t i = order ? simt_readonly(order + place) : place;
        r.begin = simt_readonly(row_ptr + i);
        r.n = (int64_t)simt_readonly(row_ptr + i + 1) - r.begin;
    }
    return r;
}

/* So many entries of a row its own thread does, at most. */
#define SHARE 256

struct span {
    int32_t low, high;
};
/* Entries from, from + step, ... below `end` of col, which may be no array at all where there are none. */
DEVICE struct span span_of(struct span s, const idx *col, int64_t from, int64_t end, int step)
{
    for (int64_t j = from; j < end; j += step) {
        const int32_t c = simt_readonly(col + j);
        s.low = c < s.low ? c : s.low;
        s.high = c > s.high ? c : s.high;
    }
    return s;
}

/* The columns of every lane's row: the whole wave comes. */
DEVICE struct span row_span(const idx *col, struct row r)
{
    const struct span none = {INT32_MAX, 0};
    struct span mine = span_of(none, col, r.begin, r.begin + (r.n < SHARE ? r.n : SHARE), 1);
    for (uint64_t many = simt_ballot(r.n > SHARE); many; many &= many - 1) {
        const int from = simt_ffs(many) - 1;
        const int64_t begin = simt_shfl(r.begin, from, WAVE), n = simt_shfl(r.n, from, WAVE);
        const struct span part = span_of(none, col, begin + SHARE + simt_lane(), begin + n, WAVE);
        const int32_t low = -wave_max_int(-part.low, WAVE), high = wave_max_int(part.high, WAVE);
        if (simt_lane() == from) {
            mine.low = low < mine.low ? low : mine.low;
            mine.high = high > mine.high ? high : mine.high;
        }
    }
    return mine;
}

/* Width and column words go to the slice's own place in slice_ptr and col_ptr, where a scan turns them
 * into offsets. */
DEVICE void write_slice(const struct product *p, int64_t slice, int64_t longest, int64_t shortest,
                        struct span span)
{
    const int64_t height = p->dim[SELL_HEIGHT];
    const int narrow = longest == 0 || (int64_t)span.high - span.low < 65536;
    int64_t *slice_ptr = (int64_t *)p->array[TO_SLICE_PTR], *col_ptr = (int64_t *)p->array[TO_COL_PTR];
    ((int32_t *)p->array[TO_BASE])[slice] = !narrow ? -1 : longest == 0 ? 0 : span.low;
    ((int32_t *)p->array[TO_FULL])[slice] = (int32_t)(shortest > INT32_MAX ? INT32_MAX : shortest);
    slice_ptr[slice + 1] = longest * height;
    col_ptr[slice + 1] = longest * height * (narrow ? 1 : 2);
    if (slice == 0)
        slice_ptr[0] = col_ptr[0] = 0;
    if (longest > INT32_MAX)
        simt_atomic_or((int32_t *)p->workspace + TOO_LONG, 1);
}

KERNEL_BOUND(csr_to_sell_plan, BLOCK)(struct product p)
{
    SHARED(int64_t, longest, SLICES);
    SHARED(int64_t, shortest, SLICES);
    SHARED(int32_t, low, SLICES);
    SHARED(int32_t, high, SLICES);
    const int height = (int)p.dim[SELL_HEIGHT], t = simt_thread_id(), s = t / height;
    const int64_t places = p.dim[SELL_SLICES] * height;
    for (int64_t first = (int64_t)simt_block_id() * BLOCK; first < places;
         first += (int64_t)simt_grid_size() * BLOCK) {
        const int64_t place = first + t;
        const struct row r = row_at(&p, place);
        if (t < SLICES) {
            longest[t] = 0;
            shortest[t] = INT64_MAX;
            low[t] = INT32_MAX;
            high[t] = 0;
        }
        simt_sync();
        const struct span span = row_span((const idx *)p.array[CSR_COL], r);
        if (place < places) {
            ((int32_t *)p.array[TO_LENGTH])[place] = (int32_t)r.n;
            simt_atomic_max(longest + s, r.n);
            simt_atomic_min(shortest + s, r.n);
            simt_atomic_min(low + s, span.low);
            simt_atomic_max(high + s, span.high);
        }
        simt_sync();
        if (t < BLOCK / height && first / height + t < p.dim[SELL_SLICES]) {
            const struct span whole = {low[t], high[t]};
            write_slice(&p, first / height + t, longest[t], shortest[t], whole);
        }
        simt_sync();
    }
}

/* Where a row goes to. */
struct target {
    elem *val;
    uint16_t *col;
    int32_t base;
    int height;
};
DEVICE void copy_entries(const struct product *p, struct target to, int64_t begin, int64_t from, int64_t n,
                         int step)
{
    const idx *col = (const idx *)p->array[CSR_COL];
    const elem *val = (const elem *)p->array[CSR_VAL];
    for (int64_t j = from; j < n; j += step) {
        const idx c = simt_readonly(col + begin + j);
        to.val[j * to.height] = simt_readonly(val + begin + j);
        if (to.base < 0)
            ((idx *)to.col)[j * to.height] = c;
        else
            to.col[j * to.height] = (uint16_t)(c - to.base);
    }
}

DEVICE struct target target_at(const struct product *p, int64_t place)
{
    const int height = (int)p->dim[SELL_HEIGHT];
    const int64_t slice = place / height, r = place % height;
    const int32_t base = simt_readonly((const int32_t *)p->array[TO_BASE] + slice);
    const int64_t words =
        simt_readonly((const int64_t *)p->array[TO_COL_PTR] + slice) + r * (base < 0 ? 2 : 1);
    const struct target to = {(elem *)p->array[TO_VAL] +
                                  simt_readonly((const int64_t *)p->array[TO_SLICE_PTR] + slice) + r,
                              (uint16_t *)p->array[TO_COL] + words, base, height};
    return to;
}

/* Padding is there already: all arrays are zero.  The loop is the wave's. */
KERNEL(csr_to_sell_fill)(struct product p)
{
    for (int64_t first = simt_global_id() - simt_lane(); first < p.rows; first += simt_global_size()) {
        const int64_t place = first + simt_lane();
        const struct row r = row_at(&p, place);
        if (r.n > 0)
            copy_entries(&p, target_at(&p, place), r.begin, 0, r.n < SHARE ? r.n : SHARE, 1);
        for (uint64_t many = simt_ballot(r.n > SHARE); many; many &= many - 1) {
            const int from = simt_ffs(many) - 1;
            const int64_t begin = simt_shfl(r.begin, from, WAVE), n = simt_shfl(r.n, from, WAVE);
            copy_entries(&p, target_at(&p, first + from), begin, SHARE + simt_lane(), n, WAVE);
        }
    }
}

#else
#include "convert/service.h"

static struct work work_of(const struct device *d, const struct csr *A, const struct stored *s)
{
    struct work w = work_moving("csr_to_sell", d, A);
    for (int i = SELL_HEIGHT; i <= SELL_SLICES; i++)
        w.product.dim[i] = s->dim[i];
    for (int i = SELL_SLICE_PTR; i <= SELL_LENGTH; i++)
        w.product.array[TO_SLICE_PTR + i - SELL_SLICE_PTR] = s->array[i];
    return w;
}

/* Order, then everything that a slice needs; `order` may be NULL, and stays as it is where nothing is
 * sorted. */
static heddle_status plan(struct work *w, const struct stored *s, void *order, int32_t finding[FINDINGS])
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = w->device;
    int64_t window = s->dim[SELL_WINDOW], slices = s->dim[SELL_SLICES],
            windows = (w->product.rows + window - 1) / window, bytes = FINDINGS * (int64_t)sizeof *finding;
    const int sorters = WAVES * gpu_info_of(d->gpu)->wave;
    finding[MOVED] = finding[TOO_LONG] = 0;
    if (w->product.rows == 0) {
        TRY(device_fill(d, s->array[SELL_SLICE_PTR], 0, sizeof(int64_t)));
        TRY(device_fill(d, s->array[SELL_COL_PTR], 0, sizeof(int64_t)));
        return HEDDLE_OK;
    }
    TRY(device_alloc(d, &w->product.workspace, bytes));
    TRY(device_fill(d, w->product.workspace, 0, bytes));
    w->product.prepared = order;
    if (order)
        TRY(gpu_run(w, "csr_to_sell_order", gpu_grid(w, (windows + WAVES - 1) / WAVES, sorters), sorters, 0));
    TRY(gpu_run(w, "csr_to_sell_plan", gpu_grid(w, (slices * s->dim[SELL_HEIGHT] + BLOCK - 1) / BLOCK, BLOCK),
                BLOCK, 0));
    TRY(gpu_scan(d, s->array[SELL_SLICE_PTR], slices + 1));
    TRY(gpu_scan(d, s->array[SELL_COL_PTR], slices + 1));
    TRY(device_read(d, finding, w->product.workspace, bytes));
done:
    device_free(d, w->product.workspace);
    w->product.workspace = NULL;
    return status;
}

static heddle_status read_total(const struct device *d, int64_t *total, const struct stored *s, int array)
{
    return device_read(d, total, (const int64_t *)s->array[array] + s->dim[SELL_SLICES], sizeof *total);
}

/* `s` has its dimensions and the sizes of its small arrays. */
static heddle_status count(const struct device *d, struct counted *c, struct stored *s, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int32_t finding[FINDINGS];
    void *order = NULL;
    for (int i = SELL_SLICE_PTR; i <= SELL_LENGTH; i++)
        TRY(device_alloc(d, &s->array[i], s->bytes[i]));
    if (s->dim[SELL_WINDOW] > 1)
        TRY(device_alloc(d, &order, A->rows * (int64_t)sizeof(int32_t)));
    struct work w = work_of(d, A, s);
    TRY(plan(&w, s, order, finding));
    if (finding[TOO_LONG])
        TRY(fail(HEDDLE_NO_KERNEL,
                 "sell counts the entries of a row in 32 bits, and one row has more: use a csr kernel"));
    TRY(read_total(d, &c->positions, s, SELL_SLICE_PTR));
    TRY(read_total(d, &c->words, s, SELL_COL_PTR));
    c->sorted = finding[MOVED];
done:
    device_free(d, order);
    for (int i = SELL_SLICE_PTR; i <= SELL_LENGTH; i++)
        device_free(d, s->array[i]);
    return status;
}

heddle_status gpu_sell_count(const struct device *d, struct counted *c, const struct csr *A, int64_t height,
                             int64_t window)
{
    int64_t option[OPTIONS_MOST] = {height, window};
    struct stored s;
    *c = (struct counted){0};
    /* The dimensions and the small arrays do not depend on what is counted. */
    heddle_status status = stored_size(&s, FORMAT_sell, &(struct source){.csr = *A, .counted = c}, option);
    return status == HEDDLE_OK ? count(d, c, &s, A) : status;
}

heddle_status gpu_csr_to_sell(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status;
    int32_t finding[FINDINGS];
    struct work w = work_of(d, A, s);
    TRY(plan(&w, s, s->array[SELL_ROW], finding));
    TRY(device_fill(d, s->array[SELL_COL], 0, s->bytes[SELL_COL]));
    TRY(device_fill(d, s->array[SELL_VAL], 0, s->bytes[SELL_VAL]));
    w.product.array[TO_COL] = s->array[SELL_COL];
    w.product.array[TO_VAL] = s->array[SELL_VAL];
    TRY(gpu_run_over(&w, "csr_to_sell_fill", A->rows));
done:
    return status;
}
#endif
