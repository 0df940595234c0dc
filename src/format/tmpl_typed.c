/* SPDX-License-Identifier: MIT
 *
 * Templates: hashes of all rows, in parallel; the first row of each hash, which is its template, in a
 * table; then window by window the rows by template, each compared with its template entry by entry: rows
 * that only have the same hash go to the rest. */
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "format/format.h"

/* What a row of a window without a template has instead of the place of its list. */
#define NO_LIST ((uint32_t)TMPL_OFFSETS)
#define ROW_BITS ((uint32_t)TMPL_WINDOW - 1)

/* What the slices of a window take, or all windows before it. */
struct tally {
    int64_t slices, lengths, rest, entries; /* lengths: of all slices; rest: rows, and their entries */
};

struct inspection {
    const struct csr *A;
    int64_t height, windows;
    int valued;          /* rows of a template have the same values */
    uint64_t *hash;      /* size rows; 0: too long for a template */
    int32_t *first;      /* size rows: the first row with the same hash; -1: none, or too few rows have it */
    int32_t *list;       /* size rows: where the list of a template stands, for its first row */
    uint32_t *key;       /* size rows: within each window, list << TMPL_WINDOW_BITS | row, ascending */
    struct tally *tally; /* size windows+1 */
    int64_t distinct, offsets;
    struct stored *s; /* to be filled */
};

static int64_t length_of(const struct csr *A, int64_t i)
{
    return (int64_t)((const off *)A->row_ptr)[i + 1] - ((const off *)A->row_ptr)[i];
}

static const int32_t *columns_of(const struct csr *A, int64_t i)
{
    return A->col + ((const off *)A->row_ptr)[i];
}

static struct tmpl_bits bits_of(const struct csr *A, int64_t i, int64_t k)
{
    struct tmpl_bits bits = {0, 0};
    memcpy(&bits, (const elem *)A->val + ((const off *)A->row_ptr)[i] + k, sizeof(elem));
    return bits;
}

static int has_same_value(const struct csr *A, int64_t i, int64_t j, int64_t k)
{
    const struct tmpl_bits of_i = bits_of(A, i, k), of_j = bits_of(A, j, k);
    return of_i.low == of_j.low && of_i.high == of_j.high;
}

static int64_t window_rows(const struct inspection *t, int64_t window)
{
    int64_t left = t->A->rows - window * TMPL_WINDOW;
    return left < TMPL_WINDOW ? left : TMPL_WINDOW;
}

static void hash_window(void *argument, int window)
{
    struct inspection *t = argument;
    int64_t begin = (int64_t)window * TMPL_WINDOW, end = begin + window_rows(t, window);
    for (int64_t i = begin; i < end; i++) {
        int64_t n = length_of(t->A, i);
        const int32_t *col = n > 0 ? columns_of(t->A, i) : NULL;
        uint64_t hash = 0;
        for (int64_t k = 0; k < n && n <= TMPL_LONGEST; k++) {
            uint64_t spread = TMPL_SPREAD(k, (int64_t)col[k] - i);
            hash += TMPL_MIX(spread);
            if (t->valued) {
                const struct tmpl_bits bits = bits_of(t->A, i, k);
                uint64_t valued = TMPL_SPREAD_VALUE(k, bits);
                hash += TMPL_MIX(valued);
            }
        }
        t->hash[i] = n > TMPL_LONGEST ? 0 : hash | 1;
    }
}

/* ------------------------------ the templates ------------------------------ */

struct place {
    uint64_t hash; /* 0: free */
    int32_t first, rows;
};

static struct place *find_place(struct place *table, int64_t mask, uint64_t hash)
{
    int64_t i = (int64_t)(hash >> 32) & mask;
    while (table[i].hash && table[i].hash != hash)
        i = (i + 1) & mask;
    return &table[i];
}

/* The first row of every hash, and where its list will stand if enough rows have it. */
static heddle_status find_templates(struct inspection *t)
{
    heddle_status status;
    int64_t rows = t->A->rows, most = rows < TMPL_DISTINCT ? rows : TMPL_DISTINCT, size = 16;
    struct place *table = NULL;
    while (size < 4 * most)
        size *= 2;
    TRY(NEW_ZEROED(table, size));
    for (int64_t i = 0; i < rows; i++) {
        struct place *p = t->hash[i] ? find_place(table, size - 1, t->hash[i]) : NULL;
        if (!p)
            continue;
        if (!p->hash) {
            *p = (struct place){.hash = t->hash[i], .first = (int32_t)i};
            TRY(tmpl_few(++t->distinct, 0));
        }
        p->rows += p->rows < TMPL_LEAST(t->height);
    }
    for (int64_t i = 0; i < rows; i++) {
        const struct place *p = t->hash[i] ? find_place(table, size - 1, t->hash[i]) : NULL;
        t->first[i] = p && p->rows >= TMPL_LEAST(t->height) ? p->first : -1;
        t->list[i] = -1;
        if (t->first[i] == i && t->offsets <= TMPL_OFFSETS) {
            int64_t n = length_of(t->A, i);
            t->list[i] = (int32_t)t->offsets;
            t->offsets += n > 0 ? n : 1;
        } else if (t->first[i] == i) {
            t->offsets += length_of(t->A, i);
        }
    }
    TRY(tmpl_few(t->distinct, t->offsets));
done:
    mem_free(table);
    return status;
}

/* ------------------------------ the windows ------------------------------ */

static int has_template(const struct inspection *t, int64_t i, int64_t first)
{
    const struct csr *A = t->A;
    int64_t n = length_of(A, i);
    if (n != length_of(A, first))
        return 0;
    for (int64_t k = 0; k < n; k++)
        if ((int64_t)columns_of(A, i)[k] - i != (int64_t)columns_of(A, first)[k] - first ||
            (t->valued && !has_same_value(A, i, first, k)))
            return 0;
    return 1;
}

/* Stable by ten bits of the list's place. */
#define DIGITS 1024
static void sort_by(uint32_t *to, const uint32_t *from, int64_t n, int shift)
{
    int32_t begin[DIGITS + 1] = {0};
    for (int64_t i = 0; i < n; i++)
        begin[(from[i] >> shift) % DIGITS + 1]++;
    for (int d = 0; d < DIGITS; d++)
        begin[d + 1] += begin[d];
    for (int64_t i = 0; i < n; i++)
        to[begin[(from[i] >> shift) % DIGITS]++] = from[i];
}

/* Rows with one list, from `i` on, of the n of a window: those that come into slices are first. */
struct run {
    int64_t end, kept;
};
static struct run run_at(const struct inspection *t, const uint32_t *key, int64_t n, int64_t i,
                         int64_t length)
{
    struct run r = {i, 0};
    while (r.end < n && key[r.end] >> TMPL_WINDOW_BITS == key[i] >> TMPL_WINDOW_BITS)
        r.end++;
    int64_t rows = r.end - i, left = rows % t->height;
    r.kept = key[i] >> TMPL_WINDOW_BITS == NO_LIST        ? 0
           : left >= TMPL_LEAST(t->height) || length == 0 ? rows
                                                          : rows - left;
    return r;
}

static void count_window(void *argument, int window)
{
    struct inspection *t = argument;
    int64_t begin = (int64_t)window * TMPL_WINDOW, n = window_rows(t, window);
    uint32_t *key = t->key + begin, other[TMPL_WINDOW];
    struct tally sum = {0};
    for (int64_t r = 0; r < n; r++) {
        int64_t first = t->first[begin + r];
        int good = first >= 0 && (first == begin + r || has_template(t, begin + r, first));
        key[r] = (good ? (uint32_t)t->list[first] : NO_LIST) << TMPL_WINDOW_BITS | (uint32_t)r;
    }
    sort_by(other, key, n, TMPL_WINDOW_BITS);
    sort_by(key, other, n, TMPL_WINDOW_BITS + 10);
    for (int64_t i = 0; i < n;) {
        int64_t length = length_of(t->A, begin + (key[i] & ROW_BITS));
        struct run r = run_at(t, key, n, i, length);
        int64_t slices = (r.kept + t->height - 1) / t->height;
        sum.slices += slices;
        sum.lengths += slices * length;
        for (i += r.kept; i < r.end; i++) {
            sum.rest++;
            sum.entries += length_of(t->A, begin + (key[i] & ROW_BITS));
        }
    }
    t->tally[window + 1] = sum;
}

/* The slice of `rows` rows. */
static void put_slice(const struct inspection *t, struct tally at, const uint32_t *key, int64_t rows,
                      int64_t window, int64_t length)
{
    uint32_t *slice = (uint32_t *)t->s->array[TMPL_SLICE] + TMPL_MEMBERS * at.slices;
    uint16_t *row = (uint16_t *)t->s->array[TMPL_ROW] + t->height * at.slices;
    slice[TMPL_AT_VAL] = (uint32_t)at.lengths;
    slice[TMPL_AT_OFFSET] = key[0] >> TMPL_WINDOW_BITS;
    slice[TMPL_AT_WINDOW] = (uint32_t)(window * TMPL_WINDOW);
    slice[TMPL_AT_LENGTH] = (uint32_t)length;
    for (int64_t r = 0; r < t->height; r++)
        row[r] = (uint16_t)(r < rows ? key[r] & ROW_BITS : TMPL_OFF | (key[0] & ROW_BITS));
}

static void put_window(void *argument, int window)
{
    struct inspection *t = argument;
    int64_t begin = (int64_t)window * TMPL_WINDOW, n = window_rows(t, window);
    const uint32_t *key = t->key + begin;
    int32_t *rest_row = t->s->array[TMPL_REST_ROW];
    int64_t *rest_ptr = t->s->array[TMPL_REST_PTR];
    struct tally at = t->tally[window];
    for (int64_t i = 0; i < n;) {
        int64_t length = length_of(t->A, begin + (key[i] & ROW_BITS));
        struct run r = run_at(t, key, n, i, length);
        for (int64_t k = 0; k < r.kept; k += t->height) {
            put_slice(t, at, key + i + k, r.kept - k < t->height ? r.kept - k : t->height, window, length);
            at.slices++;
            at.lengths += length;
        }
        for (i += r.kept; i < r.end; i++) {
            int64_t row = begin + (key[i] & ROW_BITS);
            rest_row[at.rest] = (int32_t)row;
            at.entries += length_of(t->A, row);
            rest_ptr[++at.rest] = at.entries;
        }
    }
}

static void put_lists(const struct inspection *t)
{
    int32_t *offset = t->s->array[TMPL_OFFSET];
    elem *value = t->valued ? t->s->array[TMPL_VAL] : NULL;
    for (int64_t i = 0; i < t->A->rows; i++) {
        int64_t at = t->list[i], n = length_of(t->A, i);
        if (at < 0)
            continue;
        offset[at] = 0; /* what a template without entries has */
        if (value)
            value[at] = 0;
        for (int64_t k = 0; k < n; k++)
            offset[at + k] = (int32_t)((int64_t)columns_of(t->A, i)[k] - i);
        if (n > 0 && value)
            memcpy(value + at, (const elem *)t->A->val + ((const off *)t->A->row_ptr)[i],
                   (size_t)n * sizeof(elem));
    }
}

static heddle_status inspect(struct counted *c, const struct csr *A, int64_t height, int valued,
                             struct stored *s)
{
    heddle_status status;
    struct inspection t = {.A = A,
                           .height = height,
                           .valued = valued,
                           .s = s,
                           .windows = (A->rows + TMPL_WINDOW - 1) / TMPL_WINDOW};
    struct tally *sum;
    TRY(NEW(t.hash, A->rows));
    TRY(NEW(t.first, A->rows));
    TRY(NEW(t.list, A->rows));
    TRY(NEW(t.key, A->rows));
    TRY(NEW_ZEROED(t.tally, t.windows + 1));
    parts_run((int)t.windows, hash_window, &t);
    TRY(find_templates(&t));
    parts_run((int)t.windows, count_window, &t);
    sum = t.tally;
    for (int64_t w = 0; w < t.windows; w++, sum++) {
        sum[1].slices += sum->slices;
        sum[1].lengths += sum->lengths;
        sum[1].rest += sum->rest;
        sum[1].entries += sum->entries;
    }
    *c = (struct counted){.positions = sum->lengths * height,
                          .slices = sum->slices,
                          .offsets = t.offsets,
                          .rest_rows = sum->rest,
                          .rest = sum->entries};
    if (s) {
        ((int64_t *)s->array[TMPL_REST_PTR])[0] = 0;
        parts_run((int)t.windows, put_window, &t);
        put_lists(&t);
    }
done:
    mem_free(t.hash);
    mem_free(t.first);
    mem_free(t.list);
    mem_free(t.key);
    mem_free(t.tally);
    return status;
}

/* ------------------------------ values ------------------------------ */

#define PARTS 64

/* Both directions of a copy between a CSR and the format. */
struct copy {
    const struct csr *A;
    const struct stored *s;
    int valued;
};

static void fill_part(void *argument, int part)
{
    const struct copy *c = argument;
    const struct stored *s = c->s;
    int64_t height = s->dim[TMPL_HEIGHT],
            end = c->valued ? 0 : part_begin(s->dim[TMPL_SLICES], part + 1, PARTS);
    for (int64_t i = part_begin(s->dim[TMPL_SLICES], part, PARTS); i < end; i++) {
        const uint32_t *slice = (const uint32_t *)s->array[TMPL_SLICE] + TMPL_MEMBERS * i;
        const uint16_t *row = (const uint16_t *)s->array[TMPL_ROW] + height * i;
        elem *to = (elem *)s->array[TMPL_VAL] + height * slice[TMPL_AT_VAL];
        for (uint32_t k = 0; k < slice[TMPL_AT_LENGTH]; k++)
            for (int64_t r = 0; r < height; r++) {
                int64_t from = ((const off *)c->A->row_ptr)[slice[TMPL_AT_WINDOW] + (row[r] & ROW_BITS)];
                *to++ = row[r] & TMPL_OFF ? 0 : ((const elem *)c->A->val)[from + k];
            }
    }
    const int32_t *rest_row = s->array[TMPL_REST_ROW];
    const int64_t *rest_ptr = s->array[TMPL_REST_PTR];
    for (int64_t i = part_begin(s->dim[TMPL_REST], part, PARTS);
         i < part_begin(s->dim[TMPL_REST], part + 1, PARTS); i++) {
        int64_t from = ((const off *)c->A->row_ptr)[rest_row[i]], n = rest_ptr[i + 1] - rest_ptr[i];
        if (n > 0) {
            memcpy((int32_t *)s->array[TMPL_REST_COL] + rest_ptr[i], c->A->col + from,
                   (size_t)n * sizeof(int32_t));
            memcpy((elem *)s->array[TMPL_REST_VAL] + rest_ptr[i], (const elem *)c->A->val + from,
                   (size_t)n * sizeof(elem));
        }
    }
}

static void fill(struct stored *s, const struct csr *A, int valued)
{
    parts_run(PARTS, fill_part, &(struct copy){A, s, valued});
}

static void restore_part(void *argument, int part)
{
    const struct copy *c = argument;
    const struct stored *s = c->s;
    const off *row_ptr = c->A->row_ptr;
    int64_t height = s->dim[TMPL_HEIGHT], end = part_begin(s->dim[TMPL_SLICES], part + 1, PARTS);
    for (int64_t i = part_begin(s->dim[TMPL_SLICES], part, PARTS); i < end; i++) {
        const uint32_t *slice = (const uint32_t *)s->array[TMPL_SLICE] + TMPL_MEMBERS * i;
        const uint16_t *place = (const uint16_t *)s->array[TMPL_ROW] + height * i;
        const int32_t *offset = (const int32_t *)s->array[TMPL_OFFSET] + slice[TMPL_AT_OFFSET];
        for (int64_t r = 0; r < height && !(place[r] & TMPL_OFF); r++) {
            int32_t row = (int32_t)slice[TMPL_AT_WINDOW] + place[r];
            for (int64_t k = 0; k < slice[TMPL_AT_LENGTH]; k++) {
                c->A->col[row_ptr[row] + k] = row + offset[k];
                int64_t at = c->valued ? slice[TMPL_AT_OFFSET] + k : height * (slice[TMPL_AT_VAL] + k) + r;
                ((elem *)c->A->val)[row_ptr[row] + k] = ((const elem *)s->array[TMPL_VAL])[at];
            }
        }
    }
    const int32_t *rest_row = s->array[TMPL_REST_ROW];
    const int64_t *rest_ptr = s->array[TMPL_REST_PTR];
    for (int64_t i = part_begin(s->dim[TMPL_REST], part, PARTS);
         i < part_begin(s->dim[TMPL_REST], part + 1, PARTS); i++) {
        int64_t to = row_ptr[rest_row[i]], n = rest_ptr[i + 1] - rest_ptr[i];
        if (n > 0) {
            memcpy(c->A->col + to, (const int32_t *)s->array[TMPL_REST_COL] + rest_ptr[i],
                   (size_t)n * sizeof(int32_t));
            memcpy((elem *)c->A->val + to, (const elem *)s->array[TMPL_REST_VAL] + rest_ptr[i],
                   (size_t)n * sizeof(elem));
        }
    }
}

/* Lengths of all rows first, which make offsets. */
static void restore(struct csr *A, const struct stored *s, int valued)
{
    off *row_ptr = A->row_ptr;
    int64_t height = s->dim[TMPL_HEIGHT];
    const int64_t *rest_ptr = s->array[TMPL_REST_PTR];
    memset(row_ptr, 0, (size_t)(A->rows + 1) * sizeof *row_ptr);
    for (int64_t i = 0; i < s->dim[TMPL_SLICES]; i++) {
        const uint32_t *slice = (const uint32_t *)s->array[TMPL_SLICE] + TMPL_MEMBERS * i;
        const uint16_t *place = (const uint16_t *)s->array[TMPL_ROW] + height * i;
        for (int64_t r = 0; r < height && !(place[r] & TMPL_OFF); r++)
            row_ptr[slice[TMPL_AT_WINDOW] + place[r] + 1] = (off)slice[TMPL_AT_LENGTH];
    }
    for (int64_t i = 0; i < s->dim[TMPL_REST]; i++)
        row_ptr[((const int32_t *)s->array[TMPL_REST_ROW])[i] + 1] = (off)(rest_ptr[i + 1] - rest_ptr[i]);
    for (int64_t i = 0; i < A->rows; i++)
        row_ptr[i + 1] += row_ptr[i];
    parts_run(PARTS, restore_part, &(struct copy){A, s, valued});
}

const struct tmpl_functions TYPED(tmpl_functions) = {.inspect = inspect, .fill = fill, .restore = restore};
