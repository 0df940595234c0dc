/* SPDX-License-Identifier: MIT */
#include "bench/probe.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/timer.h"

#define LANES 32           /* running sums of the read loop: enough independent vectors to keep many loads in flight */
#define SMALLEST (256 << 20) /* bytes of the buffer, unless memory is short */
#define PASSES 5
#define AGAIN_WORDS (1 << 18) /* 2 MB: what a pass reads at least, so that the clock can tell */

/* Far larger than the last-level cache, and never more than an eighth of the memory. */
static int64_t buffer_bytes(void)
{
    const struct cpu *cpu = cpu_this();
    int64_t bytes = 8 * cpu->cache > SMALLEST ? 8 * cpu->cache : SMALLEST;
    return cpu->memory > 0 && bytes > cpu->memory / 8 ? cpu->memory / 8 : bytes;
}

static void write_part(const struct probe *p, int64_t words, const struct team *team)
{
    int64_t end = part_begin(words, team->thread + 1, team->threads);
    for (int64_t i = part_begin(words, team->thread, team->threads); i < end; i++)
        p->data[i] = (uint64_t)i;
}

static void touch_part(void *argument, const struct team *team)
{
    const struct probe *p = argument;
    write_part(p, p->words, team);
}

/* Half of the buffer is at least four caches. */
static void flush_part(void *argument, const struct team *team)
{
    const struct probe *p = argument;
    write_part(p, p->words / 2, team);
}

void probe_flush(struct probe *p)
{
    team_run(p->threads, flush_part, p);
}

/* Integer sums, because compilers vectorise them without leave to reorder. */
static uint64_t read_words(const uint64_t *data, int64_t n)
{
    uint64_t sum[LANES] = {0}, total = 0;
    for (int64_t i = 0; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += data[i + lane];
    for (int lane = 0; lane < LANES; lane++)
        total += sum[lane];
    return total;
}

static void read_part(void *argument, const struct team *team)
{
    struct probe *p = argument;
    int64_t begin = part_begin(p->part, team->thread, team->threads);
    int64_t end = part_begin(p->part, team->thread + 1, team->threads);
    p->sums[8 * team->thread] = read_words(p->data + begin, end - begin); /* a cache line each */
}

static void nothing(void *argument, const struct team *team)
{
    (void)argument, (void)team;
}

/* The shortest of several passes, in milliseconds; each pass repeats the work `batch` times. */
static double shortest(struct probe *p, team_work *work, int threads, int passes, int batch)
{
    double best = 0;
    for (int i = 0; i < passes; i++) {
        double begin = now_ms();
        for (int repeat = 0; repeat < batch; repeat++)
            team_run(threads, work, p);
        double ms = (now_ms() - begin) / batch;
        if (i == 0 || ms < best)
            best = ms;
    }
    return best;
}

heddle_status probe_new(struct probe *p, int threads)
{
    heddle_status status = HEDDLE_OK;
    *p = (struct probe){.threads = threads, .words = buffer_bytes() / 8};
    TRY(NEW(p->data, p->words));
    TRY(NEW_ZEROED(p->sums, 8 * (int64_t)threads));
    team_run(threads, touch_part, p);
done:
    if (status != HEDDLE_OK)
        probe_free(p);
    return status;
}

void probe_free(struct probe *p)
{
    mem_free(p->data);
    mem_free(p->sums);
    *p = (struct probe){0};
}

double probe_read_gbs(struct probe *p)
{
    p->part = p->words;
    return (double)p->words * 8 / (shortest(p, read_part, p->threads, PASSES, 1) * 1e6);
}

double probe_launch_ms(struct probe *p)
{
    return shortest(p, nothing, p->threads, 20 * PASSES, 1);
}

double probe_again_ms(struct probe *p, double bytes)
{
    double words = bytes / 8;
    p->part = words < (double)p->words ? (int64_t)words + 1 : p->words;
    int batch = p->part < AGAIN_WORDS ? (int)(AGAIN_WORDS / p->part) : 1;
    double all = shortest(p, read_part, p->threads, 2 * PASSES, batch);
    double one = shortest(p, read_part, 1, 2 * PASSES, batch);
    return all < one ? all : one;
}
