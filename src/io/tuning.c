/* SPDX-License-Identifier: MIT
 *
 * Blocks of 16 MB are large enough to forget what starting a team costs and small enough that what the
 * counting pass has read is still in the last-level cache when the parsing pass comes.  Chunks are small
 * beside them so that threads end together. */
#include "io/tuning.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/thread.h"

struct io_tuning io_tuning = {.block = 1 << 24, .chunk = 1 << 18, .items = 1 << 14};

struct parallel {
    atomic_llong next; /* the first part that nobody has taken yet */
    int64_t parts;
    void (*work)(void *argument, int64_t part);
    void (*first)(void *argument);
    void *argument;
};

static void take_parts(void *argument, const struct team *team)
{
    struct parallel *p = argument;
    if (team->thread == 0 && p->first)
        p->first(p->argument);
    for (int64_t part; (part = atomic_fetch_add(&p->next, 1)) < p->parts;)
        p->work(p->argument, part);
}

void io_parallel(int64_t parts, void (*work)(void *argument, int64_t part), void (*first)(void *argument),
                 void *argument)
{
    struct parallel p = {.parts = parts, .work = work, .first = first, .argument = argument};
    int64_t threads = io_tuning.threads > 0 ? io_tuning.threads : threads_default();
    int64_t useful = parts + (first != NULL);
    team_run((int)(threads < useful ? threads : useful), take_parts, &p);
}

int io_too_large(double bytes)
{
    double limit = (double)io_tuning.memory;
    if (limit <= 0)
        limit = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return limit > 0 && bytes > limit;
}
