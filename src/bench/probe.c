/* SPDX-License-Identifier: MIT */
#include "bench/probe.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/timer.h"

#define LANES 32           /* running sums of the read loop: enough independent vectors to keep many loads in flight */
#define SMALLEST (256 << 20) /* bytes of the buffer, unless memory is short */
#define PASSES 8
#define PASS_MS 0.1   /* about, at least */
#define LIMIT_MS 250  /* for all passes */

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

/* The time of `batch` runs, divided by batch. */
static double one_pass(struct probe *p, team_work *work, int threads, int batch)
{
    double begin = now_ms();
    for (int repeat = 0; repeat < batch; repeat++)
        team_run(threads, work, p);
    return (now_ms() - begin) / batch;
}

/* The shortest pass, in milliseconds.  Short work is repeated within a pass, so that the clock can tell; on a busy machine,
 * where threads wait for each other, the limit ends it. */
static double shortest(struct probe *p, team_work *work, int threads)
{
    double begin = now_ms(), best = one_pass(p, work, threads, 1);
    int batch = best < PASS_MS ? (int)(PASS_MS / (best + 1e-4)) + 1 : 1;
    for (int i = 0; i < PASSES && now_ms() - begin < LIMIT_MS; i++) {
        double ms = one_pass(p, work, threads, batch);
        if (ms < best)
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
    return (double)p->words * 8 / (shortest(p, read_part, p->threads) * 1e6);
}

double probe_launch_ms(struct probe *p)
{
    return shortest(p, nothing, p->threads);
}

double probe_again_ms(struct probe *p, double bytes)
{
    double words = bytes / 8;
    p->part = words < (double)p->words ? (int64_t)words + 1 : p->words;
    double all = shortest(p, read_part, p->threads), one = shortest(p, read_part, 1);
    return all < one ? all : one;
}
