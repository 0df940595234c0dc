/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/thread.h"
#include "format/format.h"

/* No group crosses a multiple of this many rows, so that each stretch can be looked at alone.  Groups of 2
 * to 7, 10 and 12 rows, which is what nodes have, fit without a remainder. */
#define STRETCH 420

/* A stretch is the unit of work; threads take equal numbers of them, and count first where each will
 * write. */
struct job {
    const struct csr *A;
    struct stored *s;                       /* NULL while counting */
    struct group_count count[THREADS_MOST]; /* of each thread's stretches */
};

static int same_columns(const struct csr *A, int64_t i, int64_t j)
{
    const off *row_ptr = A->row_ptr;
    off n = row_ptr[i + 1] - row_ptr[i];
    if (n != row_ptr[j + 1] - row_ptr[j])
        return 0;
    return n == 0 || memcmp(A->col + row_ptr[i], A->col + row_ptr[j], (size_t)n * sizeof *A->col) == 0;
}

/* The values of a bundle in the order of layout.h; returns the place behind them. */
static elem *put_bundle(elem *to, const elem *val, int64_t n, int rows)
{
    for (int64_t k = 0; k < n; k += GROUP_CHUNK) {
        int64_t columns = n - k < GROUP_CHUNK ? n - k : GROUP_CHUNK;
        for (int r = 0; r < rows; r++, to += columns)
            memcpy(to, val + r * n + k, (size_t)columns * sizeof *to);
    }
    return to;
}

/* Writes group g, which is rows [first, end). */
static void put_group(const struct stored *s, const struct csr *A, struct group_count at, int64_t first,
                      int64_t end)
{
    const off *row_ptr = A->row_ptr;
    const elem *val = (const elem *)A->val + row_ptr[first];
    elem *to = (elem *)s->array[GROUP_VAL] + row_ptr[first];
    int64_t n = (int64_t)row_ptr[first + 1] - row_ptr[first];
    ((int32_t *)s->array[GROUP_FIRST])[at.groups] = (int32_t)first;
    ((int64_t *)s->array[GROUP_VAL_PTR])[at.groups] = row_ptr[first];
    ((int64_t *)s->array[GROUP_COL_PTR])[at.groups] = at.columns;
    if (n > 0)
        memcpy((int32_t *)s->array[GROUP_COL] + at.columns, A->col + row_ptr[first],
               (size_t)n * sizeof *A->col);
    for (int rows; first < end && n > 0; first += rows, val += rows * n) {
        rows = layout_bundle((int)(end - first));
        to = put_bundle(to, val, n, rows);
    }
}

/* The groups of rows [begin, end), which are whole stretches; written from `at` on unless s is NULL.
 * Returns at, moved on. */
static struct group_count groups_within(const struct csr *A, int64_t begin, int64_t end,
                                        const struct stored *s, struct group_count at)
{
    const off *row_ptr = A->row_ptr;
    for (int64_t first = begin, next; first < end; first = next) {
        for (next = first + 1; next < end && next % STRETCH != 0 && same_columns(A, next - 1, next);)
            next++;
        if (s)
            put_group(s, A, at, first, next);
        at.groups++;
        at.columns += (int64_t)row_ptr[first + 1] - row_ptr[first];
    }
    return at;
}

static void look_at_stretches(void *argument, const struct team *team)
{
    struct job *job = argument;
    int64_t rows = job->A->rows, stretches = (rows + STRETCH - 1) / STRETCH;
    int64_t begin = STRETCH * part_begin(stretches, team->thread, team->threads);
    int64_t end = STRETCH * part_begin(stretches, team->thread + 1, team->threads);
    struct group_count before = {0, 0};
    end = end < rows ? end : rows;
    job->count[team->thread] = groups_within(job->A, begin, end, NULL, before);
    if (!job->s)
        return;
    team_barrier(team);
    for (int t = 0; t < team->thread; t++) {
        before.groups += job->count[t].groups;
        before.columns += job->count[t].columns;
    }
    groups_within(job->A, begin, end, job->s, before);
}

static struct group_count run(struct stored *s, const struct csr *A)
{
    struct job job = {.A = A, .s = s};
    struct group_count sum = {0, 0};
    team_run(threads_default(), look_at_stretches, &job);
    for (int t = 0; t < THREADS_MOST; t++) {
        sum.groups += job.count[t].groups;
        sum.columns += job.count[t].columns;
    }
    return sum;
}

static struct group_count count(const struct csr *A)
{
    return run(NULL, A);
}

static void fill(struct stored *s, const struct csr *A)
{
    struct group_count end = run(s, A);
    ((int32_t *)s->array[GROUP_FIRST])[end.groups] = (int32_t)A->rows;
    ((int64_t *)s->array[GROUP_VAL_PTR])[end.groups] = A->nnz;
    ((int64_t *)s->array[GROUP_COL_PTR])[end.groups] = end.columns;
}

const struct group_functions TYPED(group_functions) = {.count = count, .fill = fill};
