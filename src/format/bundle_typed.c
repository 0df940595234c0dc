/* SPDX-License-Identifier: MIT
 *
 * Bundles: window by window, rows that are the same as the one before; what they are sorted by; slices. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "format/format.h"

#define PLACE_BITS 13
#define NO_KEY UINT32_MAX

/* What the slices of a window take, or of all windows before it; in units of `height` places. */
struct tally {
    int64_t slices, val, col;
};

struct inspection {
    const struct csr *A;
    int64_t height, windows;
    struct tally *tally; /* size windows+1 */
    struct stored *s;    /* to be filled; NULL: counted */
};

static int64_t length_of(const struct csr *A, int64_t i)
{
    return (int64_t)((const off *)A->row_ptr)[i + 1] - ((const off *)A->row_ptr)[i];
}

static const int32_t *columns_of(const struct csr *A, int64_t i)
{
    return A->col + ((const off *)A->row_ptr)[i];
}

static int same_columns(const struct csr *A, int64_t i, int64_t j)
{
    int64_t n = length_of(A, i);
    return n == length_of(A, j) &&
           (n == 0 || memcmp(columns_of(A, i), columns_of(A, j), (size_t)n * sizeof *A->col) == 0);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The keys of a window's bundles, sorted; returns how many there are. */
static int64_t sort_bundles(uint32_t key[BUNDLE_WINDOW], const struct csr *A, int64_t begin, int64_t rows)
{
    int64_t count = 0;
    for (int64_t r = 0, end; r < rows; r = end) {
        for (end = r + 1; end < rows && same_columns(A, begin + end - 1, begin + end);)
            end++;
        for (int64_t at = r, take; at < end; at += take) {
            take = layout_bundle((int)(end - at));
            key[count++] = BUNDLE_KEY(take, length_of(A, begin + at), at);
        }
    }
    qsort(key, (size_t)count, sizeof *key, ascending);
    return count;
}

/* The slice whose bundles are the n keys. */
struct slice {
    int64_t rows, steps;
    int32_t base;
};
static struct slice slice_of(const struct csr *A, const uint32_t *key, int64_t n, int64_t begin)
{
    int64_t longest = 0;
    int32_t low = INT32_MAX, high = 0;
    for (int64_t b = 0; b < n; b++) {
        int64_t i = begin + (key[b] & ((1 << PLACE_BITS) - 1)), length = length_of(A, i);
        longest = length > longest ? length : longest;
        for (int64_t k = 0; k < length; k++) {
            int32_t c = columns_of(A, i)[k];
            low = c < low ? c : low;
            high = c > high ? c : high;
        }
    }
    return (struct slice){.rows = key[0] >> 26,
                          .steps = BUNDLE_STEPS(longest),
                          .base = longest == 0                ? 0
                                : (int64_t)high - low < 65536 ? low
                                                              : -1};
}

static void put_slice(const struct inspection *t, struct tally at, struct slice slice, const uint32_t *key,
                      int64_t n, int64_t begin)
{
    int64_t per = t->height / BUNDLE_LANES;
    uint32_t *to = (uint32_t *)t->s->array[BUNDLE_SLICE] + BUNDLE_MEMBERS * at.slices;
    int32_t *row = (int32_t *)t->s->array[BUNDLE_ROW] + 2 * per * at.slices;
    to[BUNDLE_AT_VAL] = (uint32_t)at.val;
    to[BUNDLE_AT_COL] = (uint32_t)at.col;
    to[BUNDLE_AT_BASE] = (uint32_t)slice.base;
    to[BUNDLE_AT_SHAPE] = (uint32_t)(slice.steps << 3 | slice.rows);
    for (int64_t b = 0; b < per; b++) {
        int64_t i = b < n ? begin + (key[b] & ((1 << PLACE_BITS) - 1)) : -1;
        row[2 * b] = (int32_t)i;
        row[2 * b + 1] = b < n ? (int32_t)length_of(t->A, i) : 0;
    }
}

static void do_window(void *argument, int window)
{
    struct inspection *t = argument;
    int64_t begin = (int64_t)window * BUNDLE_WINDOW, left = t->A->rows - begin,
            per = t->height / BUNDLE_LANES;
    uint32_t key[BUNDLE_WINDOW];
    int64_t count = sort_bundles(key, t->A, begin, left < BUNDLE_WINDOW ? left : BUNDLE_WINDOW);
    struct tally sum = t->s ? t->tally[window] : (struct tally){0};
    for (int64_t i = 0, n; i < count; i += n) {
        for (n = 1; n < per && i + n < count && key[i + n] >> 26 == key[i] >> 26;)
            n++;
        struct slice slice = slice_of(t->A, key + i, n, begin);
        if (t->s)
            put_slice(t, sum, slice, key + i, n, begin);
        sum.slices++;
        sum.val += slice.steps * slice.rows;
        sum.col += slice.steps * (slice.base < 0 ? 2 : 1);
    }
    if (!t->s)
        t->tally[window + 1] = sum;
}

static heddle_status inspect(struct counted *c, const struct csr *A, int64_t height, struct stored *s)
{
    heddle_status status;
    struct inspection t = {
        .A = A, .height = height, .windows = (A->rows + BUNDLE_WINDOW - 1) / BUNDLE_WINDOW};
    struct tally *sum;
    int64_t longest = 0;
    for (int64_t i = 0; A->nnz > BUNDLE_MOST && i < A->rows; i++)
        longest = length_of(A, i) > longest ? length_of(A, i) : longest;
    TRY(bundle_fits(longest));
    TRY(NEW_ZEROED(t.tally, t.windows + 1));
    parts_run((int)t.windows, do_window, &t);
    sum = t.tally;
    for (int64_t w = 0; w < t.windows; w++, sum++) {
        sum[1].slices += sum->slices;
        sum[1].val += sum->val;
        sum[1].col += sum->col;
    }
    *c = (struct counted){.positions = sum->val * height, .words = sum->col * height, .slices = sum->slices};
    t.s = s;
    if (s)
        parts_run((int)t.windows, do_window, &t);
done:
    mem_free(t.tally);
    return status;
}

/* ------------------------------ values ------------------------------ */

#define PARTS 64

/* Both directions of a copy between a CSR and the format. */
struct copy {
    const struct csr *A;
    const struct stored *s;
};

/* A slice as its arrays say. */
struct place {
    const int32_t *row;
    uint16_t *col;
    elem *val;
    int64_t rows, steps;
    int32_t base;
};
static struct place place_of(const struct stored *s, int64_t slice)
{
    int64_t height = s->dim[BUNDLE_HEIGHT];
    const uint32_t *at = (const uint32_t *)s->array[BUNDLE_SLICE] + BUNDLE_MEMBERS * slice;
    return (struct place){.row = (const int32_t *)s->array[BUNDLE_ROW] + 2 * (height / BUNDLE_LANES) * slice,
                          .col = (uint16_t *)s->array[BUNDLE_COL] + height * at[BUNDLE_AT_COL],
                          .val = (elem *)s->array[BUNDLE_VAL] + height * at[BUNDLE_AT_VAL],
                          .rows = at[BUNDLE_AT_SHAPE] & 7,
                          .steps = at[BUNDLE_AT_SHAPE] >> 3,
                          .base = (int32_t)at[BUNDLE_AT_BASE]};
}

static void fill_slice(const struct copy *c, int64_t slice)
{
    const struct place p = place_of(c->s, slice);
    int64_t height = c->s->dim[BUNDLE_HEIGHT];
    for (int64_t step = 0; step < p.steps; step++)
        for (int64_t lane = 0; lane < height; lane++) {
            int64_t row = p.row[2 * (lane / BUNDLE_LANES)], n = p.row[2 * (lane / BUNDLE_LANES) + 1];
            int64_t j = BUNDLE_LANES * step + lane % BUNDLE_LANES;
            int32_t col = j < n ? columns_of(c->A, row)[j] : p.base < 0 ? 0 : p.base;
            if (p.base < 0)
                memcpy(p.col + 2 * (step * height + lane), &col, sizeof col);
            else
                p.col[step * height + lane] = (uint16_t)(col - p.base);
            for (int64_t r = 0; r < p.rows; r++)
                p.val[(step * p.rows + r) * height + lane] =
                    j < n ? ((const elem *)c->A->val)[((const off *)c->A->row_ptr)[row + r] + j] : 0;
        }
}

static void fill_part(void *argument, int part)
{
    const struct copy *c = argument;
    int64_t slices = c->s->dim[BUNDLE_SLICES];
    for (int64_t i = part_begin(slices, part, PARTS); i < part_begin(slices, part + 1, PARTS); i++)
        fill_slice(c, i);
}

static void fill(struct stored *s, const struct csr *A)
{
    parts_run(PARTS, fill_part, &(struct copy){A, s});
}

static void restore_slice(const struct copy *c, int64_t slice)
{
    const struct place p = place_of(c->s, slice);
    int64_t height = c->s->dim[BUNDLE_HEIGHT];
    for (int64_t b = 0; b < height / BUNDLE_LANES; b++)
        for (int64_t j = 0; j < p.row[2 * b + 1]; j++) {
            int64_t at = j / BUNDLE_LANES * height + BUNDLE_LANES * b + j % BUNDLE_LANES;
            int32_t col = p.base;
            if (p.base < 0)
                memcpy(&col, p.col + 2 * at, sizeof col);
            else
                col += p.col[at];
            for (int64_t r = 0; r < p.rows; r++) {
                int64_t to = ((const off *)c->A->row_ptr)[p.row[2 * b] + r] + j;
                c->A->col[to] = col;
                ((elem *)c->A->val)[to] =
                    p.val[(j / BUNDLE_LANES * p.rows + r) * height + BUNDLE_LANES * b + j % BUNDLE_LANES];
            }
        }
}

static void restore_part(void *argument, int part)
{
    const struct copy *c = argument;
    int64_t slices = c->s->dim[BUNDLE_SLICES];
    for (int64_t i = part_begin(slices, part, PARTS); i < part_begin(slices, part + 1, PARTS); i++)
        restore_slice(c, i);
}

/* Lengths of all rows first, which make offsets. */
static void restore(struct csr *A, const struct stored *s)
{
    off *row_ptr = A->row_ptr;
    memset(row_ptr, 0, (size_t)(A->rows + 1) * sizeof *row_ptr);
    for (int64_t i = 0; i < s->dim[BUNDLE_SLICES]; i++) {
        const struct place p = place_of(s, i);
        for (int64_t b = 0; b < s->dim[BUNDLE_HEIGHT] / BUNDLE_LANES; b++)
            for (int64_t r = 0; r < p.rows && p.row[2 * b + 1] > 0; r++)
                row_ptr[p.row[2 * b] + r + 1] = (off)p.row[2 * b + 1];
    }
    for (int64_t i = 0; i < A->rows; i++)
        row_ptr[i + 1] += row_ptr[i];
    parts_run(PARTS, restore_part, &(struct copy){A, s});
}

const struct bundle_functions TYPED(bundle_functions) = {
    .inspect = inspect, .fill = fill, .restore = restore};
