/* SPDX-License-Identifier: MIT
 *
 * thread.h: all parallel work goes through here.  The workers are a pool of Heddle's own, for all handles
 * of the process: made when they are first needed, asleep when there is nothing to do, and made anew in a
 * child after fork.
 *
 * Work is always cut into `parts`, a number that the caller fixes; how many threads take the parts may
 * vary, the result may not.  That is how results stay the same for any number of threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdint.h>

#define THREADS_MOST 4096

struct team {
    int thread;        /* 0 <= thread < threads */
    int threads;       /* as many as really run, at most what was asked for */
    struct crew *crew; /* thread.c's: what they have in common; NULL in a team of one */
};

typedef void team_work(void *argument, const struct team *team);

/* Runs work(argument, team) on up to `threads` threads, the caller's among them, and returns when all are
 * done.  Fewer run where others have the workers, or the system grants no more; calls from inside run with
 * a team of one. */
void team_run(int threads, team_work *work, void *argument);
/* Waits for the others of the team.  Every thread of the team must come by equally often. */
void team_barrier(const struct team *team);

/* Runs work(argument, part) once for each part of `parts`, on as many threads as there are by default; the
 * next free thread takes the next part.  For work whose parts do not depend on each other. */
typedef void part_work(void *argument, int part);
void parts_run(int parts, part_work *work, void *argument);

int threads_default(void); /* OMP_NUM_THREADS, or the processors that this process may run on */

/* The part `i` of `n` items cut into `parts`: [part_begin(n, i, parts), part_begin(n, i + 1, parts)). */
static inline int64_t part_begin(int64_t n, int64_t i, int64_t parts)
{
    return n / parts * i + (n % parts < i ? n % parts : i);
}

#endif
