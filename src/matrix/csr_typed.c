/* SPDX-License-Identifier: MIT
 *
 * csr_typed.c: what is asked of a CSR matrix as it stands: where a row begins, whether it is valid,
 * whether it is sorted; and the sum of repeats, which changes it in place. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "matrix/typed.h"

int64_t TYPED(row_at)(const struct csr *A, int64_t k)
{
    const off *row_ptr = A->row_ptr;
    int64_t low = 0, high = A->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (row_ptr[middle] < k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- validation ---- */

struct search {
    const struct csr *A;
    int64_t first_bad[PARTS]; /* per part; INT64_MAX: none */
};

static int64_t smallest(const struct search *s)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < PARTS; i++)
        least = s->first_bad[i] < least ? s->first_bad[i] : least;
    return least;
}

static void bad_offset(void *argument, int part)
{
    struct search *s = argument;
    const off *row_ptr = s->A->row_ptr;
    int64_t i = part_begin(s->A->rows, part, PARTS), end = part_begin(s->A->rows, part + 1, PARTS);
    while (i < end && row_ptr[i] <= row_ptr[i + 1])
        i++;
    s->first_bad[part] = i < end ? i : INT64_MAX;
}

static void bad_column(void *argument, int part)
{
    struct search *s = argument;
    int64_t k = part_begin(s->A->nnz, part, PARTS), end = part_begin(s->A->nnz, part + 1, PARTS);
    /* A negative column is a large unsigned one: one comparison finds both kinds. */
    while (k < end && (uint32_t)s->A->col[k] < (uint64_t)s->A->cols)
        k++;
    s->first_bad[part] = k < end ? k : INT64_MAX;
}

static heddle_status validate(const struct csr *A)
{
    const off *row_ptr = A->row_ptr;
    struct search s = {.A = A};
    if (row_ptr[0] != 0)
        return fail(HEDDLE_BAD_MATRIX, "row_ptr[0] is %" PRId64 ", not 0", (int64_t)row_ptr[0]);
    parts_run(PARTS, bad_offset, &s);
    int64_t i = smallest(&s);
    if (i != INT64_MAX)
        return fail(HEDDLE_BAD_MATRIX,
                    "row_ptr[%" PRId64 "] = %" PRId64 " is less than row_ptr[%" PRId64 "] = %" PRId64, i + 1,
                    (int64_t)row_ptr[i + 1], i, (int64_t)row_ptr[i]);
    if (row_ptr[A->rows] != A->nnz)
        return fail(HEDDLE_BAD_MATRIX,
                    "row_ptr[%" PRId64 "] is %" PRId64 ", but there are %" PRId64 " entries", A->rows,
                    (int64_t)row_ptr[A->rows], A->nnz);
    parts_run(PARTS, bad_column, &s);
    int64_t k = smallest(&s);
    if (k != INT64_MAX)
        return fail(HEDDLE_BAD_MATRIX,
                    "entry %" PRId64 ", in row %" PRId64 ", has column %d, outside 0..%" PRId64, k,
                    TYPED(row_at)(A, k + 1) - 1, A->col[k], A->cols - 1);
    return HEDDLE_OK;
}

/* ---- order ---- */

struct order_search {
    const struct csr *A;
    atomic_int repeats, descends;
};

static void look_at_order(void *argument, int part)
{
    struct order_search *s = argument;
    const off *row_ptr = s->A->row_ptr;
    const int32_t *col = s->A->col;
    int repeats = 0;
    for (int64_t i = part_row(s->A, part), end = part_row(s->A, part + 1); i < end; i++)
        for (int64_t k = row_ptr[i] + 1; k < row_ptr[i + 1]; k++) {
            if (col[k] < col[k - 1]) {
                atomic_store(&s->descends, 1);
                return;
            }
            repeats |= col[k] == col[k - 1];
        }
    if (repeats)
        atomic_store(&s->repeats, 1);
}

static enum order find_order(const struct csr *A)
{
    struct order_search s = {.A = A};
    parts_run(PARTS, look_at_order, &s);
    return s.descends ? ORDER_NONE : s.repeats ? ORDER_REPEATS : ORDER_STRICT;
}

/* ---- sum of repeats ---- */

struct squeeze {
    struct csr *A;
    int64_t first[PARTS + 1]; /* row with which each part begins */
    int64_t begin[PARTS + 1]; /* entry with which each part began before anything moved */
    int64_t kept[PARTS];      /* entries that are left of it */
    int64_t down[PARTS];      /* by how much the part moves down */
};

/* Squeezes each row against the front of the part.  Row offsets are rewritten as if nothing before the
 * part had changed. */
static void squeeze_part(void *argument, int part)
{
    struct squeeze *s = argument;
    off *row_ptr = s->A->row_ptr;
    int32_t *col = s->A->col;
    elem *val = s->A->val;
    int64_t out = s->begin[part], k = out;
    for (int64_t i = s->first[part]; i < s->first[part + 1]; i++) {
        /* The end of the last row is the begin of the next part, which that part is rewriting at this
         * moment. */
        int64_t end = i + 1 < s->first[part + 1] ? row_ptr[i + 1] : s->begin[part + 1], row_begin = out;
        real sum = 0;
        row_ptr[i] = (off)out;
        for (; k < end; k++) {
            if (out > row_begin && col[out - 1] == col[k]) {
                sum += widen(val[k]);
                val[out - 1] = narrow(sum);
            } else {
                sum = widen(val[k]);
                col[out] = col[k];
                val[out++] = val[k];
            }
        }
    }
    s->kept[part] = out - s->begin[part];
}

static void shift_offsets(void *argument, int part)
{
    struct squeeze *s = argument;
    off *row_ptr = s->A->row_ptr;
    for (int64_t i = s->first[part]; i < s->first[part + 1]; i++)
        row_ptr[i] = (off)(row_ptr[i] - s->down[part]);
}

static heddle_status sum_repeats(struct csr *A)
{
    struct squeeze s = {.A = A};
    off *row_ptr = A->row_ptr;
    elem *val = A->val;
    int64_t out = 0;
    for (int part = 0; part <= PARTS; part++) {
        s.first[part] = part_row(A, part);
        s.begin[part] = row_ptr[s.first[part]];
    }
    parts_run(PARTS, squeeze_part, &s);
    for (int part = 0; part < PARTS;
         part++) { /* in order: a part never moves over one that has not moved yet */
        s.down[part] = s.begin[part] - out;
        memmove(A->col + out, A->col + s.begin[part], (size_t)s.kept[part] * sizeof *A->col);
        memmove(val + out, val + s.begin[part], (size_t)s.kept[part] * sizeof *val);
        out += s.kept[part];
    }
    parts_run(PARTS, shift_offsets, &s);
    row_ptr[A->rows] = (off)out;
    A->nnz = out;
    return HEDDLE_OK;
}

const struct matrix_functions TYPED(matrix_functions) = {
    .row_at = TYPED(row_at),
    .validate = validate,
    .from_coo = TYPED(from_coo),
    .from_sorted = TYPED(from_sorted),
    .expand_rows = TYPED(expand_rows),
    .sum_repeats = sum_repeats,
    .order = find_order,
    .lengths = TYPED(lengths),
    .positions = TYPED(positions),
    .symmetry = TYPED(symmetry),
    .distinct = TYPED(distinct),
};
