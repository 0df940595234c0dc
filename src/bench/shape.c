/* SPDX-License-Identifier: MIT */
#include "bench/shape.h"

#include "base/memory.h"
#include "base/thread.h"

#define PARTS 16 /* each counts into a shape of its own; counts add up to the same in any order */

struct job {
    const struct csr *A;
    struct shape *part; /* size PARTS, zeroed */
};

static int bin_of(int64_t length)
{
    int bin = 0;
    for (; length > 0 && bin + 1 < SHAPE_BINS; length >>= 1)
        bin++;
    return bin;
}

static int side(int64_t n)
{
    return n < SHAPE_SIDE ? (int)n : SHAPE_SIDE;
}

static void count_rows(struct shape *s, const struct csr *A, int64_t begin, int64_t end)
{
    int rows = side(A->rows), cols = side(A->cols);
    for (int64_t i = begin; i < end; i++) {
        int64_t *cells = s->picture + i * rows / A->rows * cols;
        int64_t first = csr_offset(A, i), last = csr_offset(A, i + 1);
        s->histogram[bin_of(last - first)]++;
        for (int64_t k = first; k < last; k++)
            cells[(int64_t)A->col[k] * cols / A->cols]++;
    }
}

static void work(void *argument, const struct team *team)
{
    struct job *job = argument;
    for (int64_t part = team->thread; part < PARTS; part += team->threads)
        count_rows(&job->part[part], job->A, part_begin(job->A->rows, part, PARTS),
                   part_begin(job->A->rows, part + 1, PARTS));
}

heddle_status shape_of(struct shape *s, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct job job = {.A = A};
    *s = (struct shape){.rows = side(A->rows), .cols = side(A->cols)};
    TRY(NEW_ZEROED(job.part, PARTS));
    team_run(threads_default(), work, &job);
    for (int part = 0; part < PARTS; part++) {
        for (int b = 0; b < SHAPE_BINS; b++)
            s->histogram[b] += job.part[part].histogram[b];
        for (int c = 0; c < SHAPE_SIDE * SHAPE_SIDE; c++)
            s->picture[c] += job.part[part].picture[c];
    }
    for (int b = 0; b < SHAPE_BINS; b++)
        if (s->histogram[b] > 0)
            s->bins = b + 1;
done:
    mem_free(job.part);
    return status;
}
