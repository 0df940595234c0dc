/* SPDX-License-Identifier: MIT
 *
 * thread.h: all parallel work goes through here.  With OpenMP the workers are OpenMP's; without it (and in the
 * ThreadSanitizer build, which cannot look into libgomp) they are a pool of Heddle's own POSIX threads.
 *
 * Work is always cut into `parts`, a number that the caller fixes; how many threads take the parts may vary, the result
 * may not.  That is how results stay the same for any number of threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdint.h>

#define THREADS_MOST 4096

struct team {
    int thread;  /* 0 <= thread < threads */
    int threads; /* as many as really run, at most what was asked for */
};

typedef void team_work(void *argument, const struct team *team);

/* Runs work(argument, team) on up to `threads` threads and returns when all are done.  Calls from inside run with a team
 * of one. */
void team_run(int threads, team_work *work, void *argument);
/* Waits for the others of the team.  Every thread of the team must come by equally often. */
void team_barrier(const struct team *team);

/* Runs work(argument, part) once for each part of `parts`, on as many threads as there are by default; the next free
 * thread takes the next part.  For work whose parts do not depend on each other. */
typedef void part_work(void *argument, int part);
void parts_run(int parts, part_work *work, void *argument);

int threads_default(void);           /* what OpenMP would use, or the processors this process may run on */
const char *threads_backend(void);   /* "OpenMP 4.5", "POSIX threads" */

/* The part `i` of `n` items cut into `parts`: [part_begin(n, i, parts), part_begin(n, i + 1, parts)). */
static inline int64_t part_begin(int64_t n, int64_t i, int64_t parts)
{
    return n / parts * i + (n % parts < i ? n % parts : i);
}

#endif
