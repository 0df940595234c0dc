/* SPDX-License-Identifier: MIT */
#include "gen/build.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/thread.h"
#include "gen/random.h"

#define COMPLEX_PARTS 64

/* Rows are handed out in chunks, as rows of very different lengths come in stretches. */
struct pass {
    const struct maker *m;
    struct csr *A;
    int32_t *length;  /* size rows */
    int32_t *scratch; /* size threads * at_most; NULL when lengths are exact */
    int64_t chunk;
    atomic_llong next; /* the first row that nobody has taken */
    /* What is done with a row; scratch: the thread's own. */
    void (*visit)(const struct pass *pass, int64_t row, int32_t *scratch);
};

static void measure_row(const struct pass *pass, int64_t row, int32_t *scratch)
{
    const struct maker *m = pass->m;
    int64_t length = m->length(m->self, row);
    pass->length[row] = (int32_t)(scratch ? m->place(m->self, row, length, scratch) : length);
}

/* In (-1, 1): an odd number over 2^53, or 2^24, so that it is exact and no shorter type holds it.  Those of
 * 16 bits are the latter, rounded. */
static double full_value(const struct maker *m, int64_t row, int64_t col)
{
    uint64_t word = row < col ? hash2(~m->seed, row, col) : hash2(~m->seed, col, row);
    double size = m->value == HEDDLE_F64 || m->value == HEDDLE_C64
                    ? (double)(word >> 11 | 1) / ((uint64_t)1 << 53)
                    : (double)(word >> 40 | 1) / (1 << 24);
    return word & 1 ? size : -size;
}

static void fill_row(const struct pass *pass, int64_t row, int32_t *scratch)
{
    const struct maker *m = pass->m;
    int64_t begin = csr_offset(pass->A, row), length = pass->length[row];
    int32_t *col = pass->A->col + begin;
    if (scratch) { /* placing may need more room than what remains of it */
        m->place(m->self, row, m->length(m->self, row), scratch);
        for (int64_t k = 0; k < length; k++)
            col[k] = scratch[k];
    } else {
        m->place(m->self, row, length, col);
    }
    int32_t (*weight)(const struct maker *, int64_t, int64_t) = m->weight ? m->weight : weight_random;
    for (int64_t k = 0; k < length; k++)
        value_put(pass->A->val, m->value, begin + k,
                  m->full ? full_value(m, row, col[k]) : (double)weight(m, row, col[k]) / 1024);
}

static void visit_rows(void *argument, const struct team *team)
{
    struct pass *pass = argument;
    const struct maker *m = pass->m;
    int32_t *scratch = pass->scratch ? pass->scratch + team->thread * m->at_most : NULL;
    for (;;) {
        int64_t row = atomic_fetch_add(&pass->next, pass->chunk);
        if (row >= m->rows)
            return;
        int64_t end = row + pass->chunk < m->rows ? row + pass->chunk : m->rows;
        for (; row < end; row++)
            pass->visit(pass, row, scratch);
    }
}

static void visit_all(struct pass *pass, int threads,
                      void (*visit)(const struct pass *pass, int64_t row, int32_t *scratch))
{
    pass->visit = visit;
    atomic_init(&pass->next, 0);
    team_run(threads, visit_rows, pass);
}

/* Offsets from lengths: one pass over memory, not worth threads. */
static void set_offsets(struct csr *A, const int32_t *length)
{
    int64_t sum = 0;
    for (int64_t i = 0; i <= A->rows; i++) {
        if (A->offset == HEDDLE_I64)
            ((int64_t *)A->row_ptr)[i] = sum;
        else
            ((int32_t *)A->row_ptr)[i] = (int32_t)sum;
        sum += i < A->rows ? length[i] : 0;
    }
}

heddle_status build(struct csr *A, const struct maker *m)
{
    heddle_status status = HEDDLE_OK;
    int threads = threads_default();
    struct pass pass = {.m = m, .A = A, .chunk = 1 + m->rows / 64 / threads};
    int64_t nnz = 0;
    *A = (struct csr){0};
    if (pass.chunk > 4096)
        pass.chunk = 4096;
    TRY(NEW(pass.length, m->rows));
    if (m->at_most > 0)
        TRY(NEW(pass.scratch, m->at_most * threads));
    visit_all(&pass, threads, measure_row);
    for (int64_t i = 0; i < m->rows; i++)
        nnz += pass.length[i];
    TRY(csr_new(A, m->rows, m->cols, nnz, m->value, offset_for(nnz)));
    set_offsets(A, pass.length);
    visit_all(&pass, threads, fill_row);
done:
    mem_free(pass.length);
    mem_free(pass.scratch);
    return status;
}

/* The word's upper bits choose the size, 1 to 1024, and its lowest the sign. */
static int32_t weight_of(uint64_t word)
{
    int32_t size = (int32_t)(word >> 54) + 1;
    return word & 1 ? size : -size;
}

int32_t weight_random(const struct maker *m, int64_t row, int64_t col)
{
    return weight_of(hash2(~m->seed, row, col));
}

int32_t weight_symmetric(const struct maker *m, int64_t row, int64_t col)
{
    return row < col ? weight_of(hash2(~m->seed, row, col)) : weight_of(hash2(~m->seed, col, row));
}

/* -------------------------------------------------------- complex values ---------------------- */

struct complex_values {
    struct csr *A;
    uint64_t seed;
};

static void complex_part(void *argument, int part)
{
    const struct complex_values *c = argument;
    const struct maker real = {.seed = c->seed}, imaginary = {.seed = hash1(c->seed, 1)};
    struct csr *A = c->A;
    const int64_t end =
        part + 1 < COMPLEX_PARTS ? csr_row_at(A, part_begin(A->nnz, part + 1, COMPLEX_PARTS)) : A->rows;
    for (int64_t i = part > 0 ? csr_row_at(A, part_begin(A->nnz, part, COMPLEX_PARTS)) : 0; i < end; i++)
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            double _Complex value = (double)weight_random(&real, i, A->col[k]) / 1024;
            IM(value) = (double)weight_random(&imaginary, i, A->col[k]) / 1024;
            value_put(A->val, A->value, k, value);
        }
}

void make_complex(struct csr *A, uint64_t seed)
{
    parts_run(COMPLEX_PARTS, complex_part, &(struct complex_values){A, seed});
}

/* -------------------------------------------------------- columns of a row -------------------- */

static void sort_by_insertion(int32_t *col, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t key = col[i];
        int64_t j = i;
        for (; j > 0 && col[j - 1] > key; j--)
            col[j] = col[j - 1];
        col[j] = key;
    }
}

static void sift_down(int32_t *col, int64_t i, int64_t count)
{
    int32_t key = col[i];
    for (int64_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && col[child + 1] > col[child];
        if (col[child] <= key)
            break;
        col[i] = col[child];
    }
    col[i] = key;
}

static void sort_by_heap(int32_t *col, int64_t count)
{
    for (int64_t i = count / 2; i-- > 0;)
        sift_down(col, i, count);
    for (int64_t end = count - 1; end > 0; end--) {
        int32_t top = col[0];
        col[0] = col[end];
        col[end] = top;
        sift_down(col, 0, end);
    }
}

/* Everything before the result is <= everything from it on; both parts have at least one of count >= 2
 * items. */
static int64_t partition(int32_t *col, int64_t count)
{
    int32_t a = col[0], b = col[count / 2], c = col[count - 1];
    int32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    int64_t i = -1, j = count;
    for (;;) {
        do
            i++;
        while (col[i] < pivot);
        do
            j--;
        while (col[j] > pivot);
        if (i >= j)
            return j + 1 < count ? j + 1 : count - 1;
        int32_t swap = col[i];
        col[i] = col[j];
        col[j] = swap;
    }
}

/* Quicksort that turns to heapsort when its depth shows that the pivots are bad: n log n for any input. */
static void sort_to_depth(int32_t *col, int64_t count, int depth)
{
    while (count > 32) {
        if (depth-- == 0) {
            sort_by_heap(col, count);
            return;
        }
        int64_t split = partition(col, count);
        sort_to_depth(col, split, depth);
        col += split;
        count -= split;
    }
    sort_by_insertion(col, count);
}

void sort_columns(int32_t *col, int64_t count)
{
    sort_to_depth(col, count, 2 * bits_below(count < 1 ? 1 : count));
}

void settle(int32_t *col, int64_t count, int64_t cols)
{
    int64_t least = 0, most = cols - count;
    for (int64_t k = 0; k < count; k++, least++) {
        least = col[k] > least ? col[k] : least;
        col[k] = (int32_t)(least < cols ? least : cols - 1);
    }
    for (int64_t k = count; k-- > 0;) {
        int64_t limit = k + 1 < count ? col[k + 1] - 1 : most + k;
        if (col[k] <= limit)
            continue;
        col[k] = (int32_t)limit;
    }
}

void insert_fixed(int32_t *col, int64_t count, const int32_t *at, int64_t fixed)
{
    /* From the right: an entry moves past all fixed columns that come to stand before it. */
    int64_t out = count + fixed;
    while (fixed > 0) {
        if (count > 0 && col[count - 1] + fixed > at[fixed - 1]) {
            col[--out] = col[count - 1] + (int32_t)fixed;
            count--;
        } else {
            col[--out] = at[--fixed];
        }
    }
}

int32_t reflect(int64_t col, int64_t cols)
{
    if (col < 0)
        col = -col;
    if (col >= cols) {
        col %= 2 * cols;
        if (col >= cols)
            col = 2 * cols - 1 - col;
    }
    return (int32_t)col;
}
