/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/thread.h"
#include "convert/service.h"
#include "plan/run.h"

struct job {
    real *y;
    int64_t n;
    real beta;
};

static void scale_part(void *argument, const struct team *team)
{
    const struct job *job = argument;
    int64_t begin = part_begin(job->n, team->thread, team->threads);
    int64_t end = part_begin(job->n, team->thread + 1, team->threads);
    if (job->beta == 0) {
        if (end > begin)
            memset(job->y + begin, 0, (size_t)(end - begin) * sizeof(real));
        return;
    }
    for (int64_t i = begin; i < end; i++)
        job->y[i] = times(job->beta, job->y[i]);
}

#define ENTRIES_PER_THREAD 16384

static void scale(void *y, int64_t n, double _Complex beta, int threads)
{
    struct job job = {y, n, (real)beta};
    int64_t useful = 1 + n / ENTRIES_PER_THREAD;
    if (job.beta != 1)
        team_run(useful < threads ? (int)useful : threads, scale_part, &job);
}

/* ---- several vectors from one layout to another ---- */

struct copying {
    const struct relayout *r;
    real beta;
};

/* Entries of a tile, whose lines stay in the first cache while its vectors pass. */
#define TALL 64

static void relayout_tile(const struct copying *c, int64_t begin, int64_t end)
{
    const struct steps in = c->r->from_step, out = c->r->to_step;
    for (int64_t v = 0; v < c->r->vectors; v++) {
        const real *from = (const real *)c->r->from + v * in.vector;
        real *to = (real *)c->r->to + v * out.vector;
        for (int64_t j = begin; j < end; j++) {
            const real given = c->r->from ? from[j * in.entry] : 0;
            to[j * out.entry] = c->beta == 0 ? given : given + times(c->beta, to[j * out.entry]);
        }
    }
}

static void relayout_part(void *argument, const struct team *team)
{
    const struct copying *c = argument;
    const int64_t end = part_begin(c->r->n, team->thread + 1, team->threads);
    for (int64_t j = part_begin(c->r->n, team->thread, team->threads); j < end; j += TALL)
        relayout_tile(c, j, j + TALL < end ? j + TALL : end);
}

static void relayout(const struct relayout *r, int threads)
{
    struct copying c = {r, (real)r->beta};
    int64_t useful = 1 + r->n / ENTRIES_PER_THREAD * r->vectors;
    if (r->from || c.beta != 1)
        team_run(useful < threads ? (int)useful : threads, relayout_part, &c);
}

const struct run_functions TYPED(run_functions) = {.scale = scale, .relayout = relayout};
