/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/thread.h"
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
        job->y[i] *= job->beta;
}

#define ENTRIES_PER_THREAD 16384

static void scale(void *y, int64_t n, double beta, int threads)
{
    struct job job = {y, n, (real)beta};
    int64_t useful = 1 + n / ENTRIES_PER_THREAD;
    if (job.beta != 1)
        team_run(useful < threads ? (int)useful : threads, scale_part, &job);
}

const struct run_functions TYPED(run_functions) = {.scale = scale};
