/* SPDX-License-Identifier: MIT
 *
 * hyb: the first entries of every row in ELL, what is left of longer rows in COO.  How many are the first
 * is what the option `split` decides, always by the length of the row at some place of the order by
 * length:
 *   twothirds  the longest of the two thirds of the rows that have the fewest entries (Bell and Garland in
 *              ellpack-r-2011);
 *   percent    behind n % of the rows (hybrid{n} in ginkgo-race-2020 section 3.4);
 *   limit      the same, but not more than a ten-thousandth of the number of rows (hybridlimit{n}, there);
 *   minimal    where the arrays are smallest (hybridminstorage, there). */
#include <string.h>

#include "format/format.h"

enum { TWO_THIRDS, PERCENT, LIMIT, MINIMAL };
static const char *const splits[] = {"twothirds", "percent", "limit", "minimal"};

enum { SPLIT, N };
static const struct option options[] = {
    [SPLIT] = {"split", LIMIT, WORDS(splits)},
    [N] = {"n", 33, VALUES(0, 25, 33, 50, 66, 75, 80, 100)},
    {0},
};

/* One more column of ELL costs a value and a column a row, and saves a value, a column and a row for every
 * longer row: it pays as long as more than (value + index) / (value + 2 index) of the rows are longer. */
int64_t hyb_rank(const struct csr *A, const int64_t *option)
{
    int64_t index = sizeof(int32_t), value = (int64_t)type_size(A->value), rank;
    if (option[SPLIT] == TWO_THIRDS)
        rank = 2 * A->rows / 3 - 1;
    else if (option[SPLIT] == MINIMAL)
        rank = A->rows * index / (value + 2 * index);
    else
        rank = A->rows * option[N] / 100;
    return rank < 0 ? 0 : rank < A->rows ? rank : A->rows - 1;
}

#define LIMIT_ROWS 10000
int64_t hyb_width(const struct csr *A, const int64_t *option, int64_t length)
{
    int64_t most = option[SPLIT] == LIMIT ? A->rows / LIMIT_ROWS : ELL_WIDTH_MOST;
    return length < most ? length : most;
}

static int64_t length_of(const struct csr *A, int64_t i)
{
    return csr_offset(A, i + 1) - csr_offset(A, i);
}

/* How many rows have at most `length` entries? */
static int64_t rows_within(const struct csr *A, int64_t length)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->rows; i++)
        count += length_of(A, i) <= length;
    return count;
}

/* The length of the row at the place `rank` of the order by length, by bisection. */
static int64_t length_at(const struct csr *A, int64_t rank)
{
    int64_t low = 0, high = ell_functions[moved_variant(A->value, A->offset)]->width(A);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (rows_within(A, middle) > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void count(struct counted *c, const struct csr *A, const int64_t *option)
{
    c->width = hyb_width(A, option, length_at(A, hyb_rank(A, option)));
    c->rest = 0;
    for (int64_t i = 0; i < A->rows; i++)
        c->rest += length_of(A, i) > c->width ? length_of(A, i) - c->width : 0;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    struct counted c = {0};
    int64_t value = (int64_t)type_size(A->csr.value), index = sizeof(int32_t), positions;
    heddle_status status;
    if (A->counted)
        c = *A->counted;
    else if (A->csr.nnz > 0)
        count(&c, &A->csr, option);
    if (__builtin_mul_overflow(c.width, A->csr.rows, &positions))
        positions = INT64_MAX;
    status = padding_allowed("hyb", &A->csr, positions < INT64_MAX - c.rest ? positions + c.rest : INT64_MAX);
    if (status != HEDDLE_OK)
        return status;
    s->dim[HYB_WIDTH] = c.width;
    s->dim[HYB_REST] = c.rest;
    s->bytes[HYB_COL] = positions * index;
    s->bytes[HYB_VAL] = positions * value;
    s->bytes[HYB_REST_ROW] = s->bytes[HYB_REST_COL] = c.rest * index;
    s->bytes[HYB_REST_VAL] = c.rest * value;
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    const struct csr *C = &A->csr;
    int64_t width = s->dim[HYB_WIDTH], value = (int64_t)type_size(C->value), at = 0;
    int32_t *row = s->array[HYB_REST_ROW], *col = s->array[HYB_REST_COL];
    ell_functions[moved_variant(C->value, C->offset)]->fill(s, C);
    for (int64_t i = 0; i < C->rows; i++) {
        int64_t from = csr_offset(C, i) + width, n = csr_offset(C, i + 1) - from;
        if (n <= 0)
            continue;
        for (int64_t j = 0; j < n; j++)
            row[at + j] = (int32_t)i;
        memcpy(col + at, C->col + from, (size_t)n * sizeof *col);
        memcpy((char *)s->array[HYB_REST_VAL] + at * value, (const char *)C->val + from * value,
               (size_t)(n * value));
        at += n;
    }
    return HEDDLE_OK;
}

const struct format hyb_format = {
    .name = "hyb",
    .array = {"col", "val", "rest_row", "rest_col", "rest_val"},
    .dim = {"width", "rest"},
    .options = options,
    .size = size,
    .fill = fill,
};
