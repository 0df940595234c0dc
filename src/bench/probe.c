/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "bench/probe.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/environment.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/timer.h"
#include "convert/service.h"
#include "gpu/module.h"

#define SMALLEST (256 << 20) /* bytes of the buffer, unless memory is short */
#define CPU_CACHES 8         /* the buffer is so many times the last-level cache */
#define GPU_CACHES 32 /* whose replacement keeps some of what a sweep of a few caches would throw out */
#define PASSES 8
#define PASS_MS 0.1  /* about, at least */
#define LIMIT_MS 250 /* for all passes */

/* Far larger than the last-level cache, and never more than an eighth of the memory; HEDDLE_PROBE_MB,
 * which tests set whose times nobody reads, has its own say. */
static int64_t buffer_bytes(int64_t cache, int64_t memory, int caches)
{
    const char *asked = environment("HEDDLE_PROBE_MB");
    int64_t megabytes;
    if (asked && parse_int(asked, &megabytes) == HEDDLE_OK && megabytes > 0 && megabytes <= 1 << 20)
        return megabytes << 20;
    int64_t bytes = caches * cache > SMALLEST ? caches * cache : SMALLEST;
    return memory > 0 && bytes > memory / 8 ? memory / 8 : bytes;
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

/* On a GPU 256 MiB, or four caches where that is more.  The product that is timed next waits in the stream
 * behind it, so that the host's part of starting it costs no time. */
static int64_t flush_bytes(const struct probe *p)
{
    int64_t caches = 4 * gpu_info_of(p->device.gpu)->cache, bytes = caches > SMALLEST ? caches : SMALLEST;
    return bytes < p->words * 8 ? bytes : p->words * 8;
}

void probe_flush(struct probe *p)
{
    if (p->device.kind == DEVICE_gpu)
        device_fill(&p->device, p->buffer, ++p->flushes & 255, flush_bytes(p));
    else
        team_run(p->threads, flush_part, p);
}

static void read_part(void *argument, const struct team *team)
{
    struct probe *p = argument;
    int64_t begin = part_begin(p->part, team->thread, team->threads);
    int64_t end = part_begin(p->part, team->thread + 1, team->threads);
    p->sums[8 * team->thread] = p->loop(p->data + p->first + begin, end - begin); /* a cache line each */
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

/* The shortest pass, in milliseconds.  Short work is repeated within a pass, so that the clock can tell;
 * on a busy machine, where threads wait for each other, the limit ends it. */
static double shortest(struct probe *p, team_work *work, int threads, int passes)
{
    double begin = now_ms(), best = one_pass(p, work, threads, 1);
    int batch = best < PASS_MS ? (int)(PASS_MS / (best + 1e-4)) + 1 : 1;
    for (int i = 0; i < passes && now_ms() - begin < LIMIT_MS; i++)
        best = fmin(best, one_pass(p, work, threads, batch));
    return best;
}

/* The shortest time to read `part` words again and again: every loop has a try, the fastest one some more. */
static double shortest_read(struct probe *p, int threads)
{
    read_loop *const *loops = read_loops(p->device.isa), *best = loops[0];
    double least = INFINITY;
    for (int i = 0; i < READ_LOOPS; i++) {
        p->loop = loops[i];
        double ms = shortest(p, read_part, threads, 1);
        if (ms < least) {
            least = ms;
            best = p->loop;
        }
    }
    p->loop = best;
    return fmin(least, shortest(p, read_part, threads, PASSES));
}

/* The loop that reads memory fastest: each reads another piece of the buffer, so that none finds what
 * another left in the cache. */
static read_loop *fastest_from_memory(struct probe *p)
{
    read_loop *const *loops = read_loops(p->device.isa), *best = loops[0];
    double least = INFINITY;
    p->part = p->words / READ_LOOPS;
    for (int i = 0; i < READ_LOOPS; i++) {
        p->loop = loops[i];
        p->first = i * p->part;
        double ms = one_pass(p, read_part, p->threads, 1);
        if (ms < least) {
            least = ms;
            best = p->loop;
        }
    }
    p->first = 0;
    return best;
}

static double cpu_read_ms(struct probe *p)
{
    if (!p->from_memory)
        p->from_memory = fastest_from_memory(p);
    p->loop = p->from_memory;
    p->part = p->words;
    return shortest(p, read_part, p->threads, PASSES);
}

/* ---- GPU: the same by its own clock ---- */

/* The shortest of a few batches of reads of `bytes`; infinite if the device fails, which the products will
 * then report. */
static double shortest_on_gpu(struct probe *p, int64_t bytes, int batch)
{
    double begin = now_ms(), best = INFINITY, ms;
    for (int pass = 0; pass < PASSES && (pass == 0 || now_ms() - begin < LIMIT_MS);
         pass++) { /* an emulated one takes long */
        heddle_status status = stopwatch_start(&p->watch);
        for (int i = 0; i < batch && status == HEDDLE_OK; i++)
            status = gpu_read_all(&p->device, p->buffer, bytes);
        if (status != HEDDLE_OK || stopwatch_stop(&p->watch, &ms) != HEDDLE_OK)
            return INFINITY;
        best = ms / batch < best ? ms / batch : best;
    }
    return best;
}

#define GPU_BATCH 20 /* launches that follow each other, for what is shorter than the clock can tell */

static heddle_status new_on_gpu(struct probe *p)
{
    heddle_status status = HEDDLE_OK;
    const struct gpu_info *info = gpu_info_of(p->device.gpu);
    int emulated = gpu_is_emulated(p->device.gpu); /* its memory and cache are the host's */
    p->words = buffer_bytes(info->cache, info->memory, emulated ? CPU_CACHES : GPU_CACHES) / 8;
    TRY(stopwatch_new(&p->watch, &p->device));
    TRY(device_alloc(&p->device, &p->buffer, p->words * 8));
    TRY(device_fill(&p->device, p->buffer, 0, p->words * 8));
done:
    return status;
}

static heddle_status new_on_cpu(struct probe *p)
{
    heddle_status status = HEDDLE_OK;
    p->threads = p->device.threads;
    p->words = buffer_bytes(cpu_this()->cache, cpu_this()->memory, CPU_CACHES) / 8;
    TRY(NEW(p->data, p->words));
#ifdef MADV_HUGEPAGE
    /* A hint, as the arrays of formats have it. */
    uintptr_t page = 4096, begin = ((uintptr_t)p->data + page - 1) / page * page;
    madvise((void *)begin, (size_t)(p->words * 8 - (int64_t)page) / page * page, MADV_HUGEPAGE);
#endif
    TRY(NEW_ZEROED(p->sums, 8 * (int64_t)p->threads));
    team_run(p->threads, touch_part, p);
done:
    return status;
}

heddle_status probe_new(struct probe *p, const struct device *device)
{
    *p = (struct probe){.device = *device};
    heddle_status status = device->kind == DEVICE_gpu ? new_on_gpu(p) : new_on_cpu(p);
    if (status != HEDDLE_OK)
        probe_free(p);
    return status;
}

void probe_free(struct probe *p)
{
    stopwatch_free(&p->watch);
    device_free(&p->device, p->buffer);
    mem_free(p->data);
    mem_free(p->sums);
    *p = (struct probe){0};
}

/* What memory can do does not change within a run: what came out lower was disturbed. */
double probe_read_gbs(struct probe *p)
{
    double ms = p->device.kind == DEVICE_gpu ? shortest_on_gpu(p, p->words * 8, 1) : cpu_read_ms(p);
    p->most_gbs = fmax(p->most_gbs, (double)p->words * 8 / (ms * 1e6));
    return p->most_gbs;
}

double probe_launch_ms(struct probe *p)
{
    return p->device.kind == DEVICE_gpu ? shortest_on_gpu(p, 0, GPU_BATCH)
                                        : shortest(p, nothing, p->threads, PASSES);
}

int probe_has_calls(const struct probe *p)
{
    return p->device.kind == DEVICE_gpu && gpu_driver_of(p->device.gpu)->launches_ms;
}

#define CALLS 100 /* fewer than any driver keeps waiting */

double probe_call_us(struct probe *p)
{
    const struct product nothing_to_read = {0};
    struct gpu *gpu = p->device.gpu;
    struct gpu_function *empty;
    double best = INFINITY, ms;
    if (!probe_has_calls(p) ||
        gpu_kernel(gpu, &empty, "read_all", variant_of(HEDDLE_F32, HEDDLE_I32), "read_all") != HEDDLE_OK)
        return NAN;
    for (int pass = 0; pass < PASSES; pass++) {
        if (gpu_driver_of(gpu)->launches_ms(gpu, &ms, empty, &nothing_to_read, CALLS, p->device.stream) !=
                HEDDLE_OK ||
            device_sync(&p->device) != HEDDLE_OK)
            return NAN;
        best = ms / CALLS < best ? ms / CALLS : best;
    }
    return 1e3 * best;
}

/* Below, one thread may be faster than all of them, which have to be started and wait for each other. */
#define FEW_BYTES (4 << 20)

double probe_again_ms(struct probe *p, double bytes)
{
    double words = bytes / 8;
    if (words > (double)p->words)
        return bytes / (probe_read_gbs(p) * 1e6);
    p->part = (int64_t)words + 1 < p->words ? (int64_t)words + 1 : p->words;
    if (p->device.kind == DEVICE_gpu)
        return shortest_on_gpu(p, p->part * 8, GPU_BATCH);
    double all = shortest_read(p, p->threads);
    return p->threads > 1 && bytes < FEW_BYTES ? fmin(all, shortest_read(p, 1)) : all;
}
