/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "base/thread.h"
#include "format/format.h"

struct job {
    const struct csr *A;
    int64_t width;
    int32_t *col;
    elem *val;
    _Atomic int64_t longest;
};

/* Each thread finds the longest of its rows; the largest of those wins, in whatever order they come. */
static void find_width(void *argument, const struct team *team)
{
    struct job *job = argument;
    const off *row_ptr = job->A->row_ptr;
    int64_t end = part_begin(job->A->rows, team->thread + 1, team->threads), longest = 0;
    for (int64_t i = part_begin(job->A->rows, team->thread, team->threads); i < end; i++) {
        int64_t length = (int64_t)row_ptr[i + 1] - row_ptr[i];
        longest = length > longest ? length : longest;
    }
    int64_t seen = atomic_load(&job->longest);
    while (seen < longest && !atomic_compare_exchange_weak(&job->longest, &seen, longest))
        continue;
}

static int64_t width(const struct csr *A)
{
    struct job job = {.A = A};
    team_run(threads_default(), find_width, &job);
    return atomic_load(&job.longest);
}

/* Rows in blocks, so that the `width` streams that are written stay within the reach of the caches. */
#define BLOCK 256

static void fill_rows(void *argument, const struct team *team)
{
    struct job *job = argument;
    const struct csr *A = job->A;
    const off *row_ptr = A->row_ptr;
    const elem *val = A->val;
    int64_t begin = part_begin(A->rows, team->thread, team->threads);
    int64_t end = part_begin(A->rows, team->thread + 1, team->threads);
    for (int64_t block = begin; block < end; block += BLOCK) {
        int64_t last = block + BLOCK < end ? block + BLOCK : end;
        for (int64_t j = 0; j < job->width; j++)
            for (int64_t i = block; i < last; i++) {
                int64_t k = (int64_t)row_ptr[i] + j, place = j * A->rows + i;
                int real_entry = k < (int64_t)row_ptr[i + 1];
                job->col[place] = real_entry ? A->col[k] : -1;
                job->val[place] = real_entry ? val[k] : 0;
            }
    }
}

static void fill(struct stored *s, const struct csr *A)
{
    struct job job = {.A = A, .width = s->dim[ELL_WIDTH], .col = s->array[ELL_COL], .val = s->array[ELL_VAL]};
    team_run(threads_default(), fill_rows, &job);
}

const struct ell_functions TYPED(ell_functions) = {.width = width, .fill = fill};
