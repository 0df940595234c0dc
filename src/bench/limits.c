/* SPDX-License-Identifier: MIT */
#include "bench/limits.h"

#include <math.h>
#include <string.h>

#include "convert/limits.h"

#define MB ((int64_t)1 << 20)

/* What is measured, in this order: additions write to the buffer, launches flush the caches. */
struct limit_row {
    const char *limit, *pattern;
    int64_t span; /* bytes; WHOLE: the probe's buffer, far more than the caches hold */
    enum limit_loop loop;
    enum limit_pattern at;
    int launches; /* of LIMIT_NOTHING: how many in a row */
    int filled;   /* LIMIT_NOTHING: the grid fills the device */
};
#define WHOLE 0
static const struct limit_row rows[] = {
    {.limit = "read", .pattern = "one by one", .span = WHOLE, .loop = LIMIT_READ},
    {.limit = "copy", .pattern = "one by one", .span = WHOLE, .loop = LIMIT_COPY},
    {.limit = "gather", .pattern = "in order", .span = 256 * MB, .loop = LIMIT_GATHER, .at = LIMIT_ORDER},
    {.limit = "gather", .pattern = "random", .span = 4 * MB, .loop = LIMIT_GATHER, .at = LIMIT_RANDOM},
    {.limit = "gather", .pattern = "random", .span = 16 * MB, .loop = LIMIT_GATHER, .at = LIMIT_RANDOM},
    {.limit = "gather", .pattern = "random", .span = 256 * MB, .loop = LIMIT_GATHER, .at = LIMIT_RANDOM},
    {.limit = "add", .pattern = "in order", .span = 16 * MB, .loop = LIMIT_ADD, .at = LIMIT_ORDER},
    {.limit = "add", .pattern = "runs of 32", .span = 16 * MB, .loop = LIMIT_ADD, .at = LIMIT_RUN},
    {.limit = "add", .pattern = "random", .span = 16 * MB, .loop = LIMIT_ADD, .at = LIMIT_RANDOM},
    {.limit = "add", .pattern = "random", .span = 256 * MB, .loop = LIMIT_ADD, .at = LIMIT_RANDOM},
    {.limit = "add", .pattern = "one address", .loop = LIMIT_ADD, .at = LIMIT_ONE},
    {.limit = "launch", .pattern = "one block", .loop = LIMIT_NOTHING, .launches = 1},
    {.limit = "launch", .pattern = "full grid", .loop = LIMIT_NOTHING, .launches = 1, .filled = 1},
    {.limit = "launch", .pattern = "two in a row", .loop = LIMIT_NOTHING, .launches = 2},
};

/* How often, by what runs them: long enough for the clock, and short enough for all of it to take seconds. */
struct sizes {
    int64_t gathers, adds, same; /* same: additions to one address, which queue up */
    int64_t most;                /* bytes that anything may span; a power of two */
};
static const struct sizes gpu_sizes = {64 * MB, 32 * MB, MB, 256 * MB};
static const struct sizes cpu_sizes = {4 * MB, 0, 0, 256 * MB};
static const struct sizes emu_sizes = {1 << 13, 1 << 13, 1 << 10, 1 << 14};

static const struct rule rule = {.spread = 0.02, .least = 3, .most = 15, .limit_ms = 100};

/* What the rows are measured with. */
struct bench_limits {
    struct probe *p;
    struct stopwatch watch;
    struct sizes sizes;
    int emulated;
    char *buffer;   /* the probe's */
    int64_t bytes;  /* of it */
    int32_t *index; /* size sizes.gathers */
    const struct limit_row *row;
    struct limit_work work;
};

static heddle_status run(const struct bench_limits *b)
{
    heddle_status status = HEDDLE_OK;
    int times = b->work.loop == LIMIT_NOTHING ? b->row->launches : 1;
    for (int i = 0; i < times && status == HEDDLE_OK; i++)
        status = limit_run(&b->p->device, &b->work);
    return status;
}

/* Something runs before, so that the device is awake and the host's part of the launch costs no time: the
 * loop itself, or for launches the flush of a cold product. */
static heddle_status once(void *argument, double *ms)
{
    heddle_status status = HEDDLE_OK;
    struct bench_limits *b = argument;
    if (b->work.loop != LIMIT_NOTHING)
        TRY(run(b));
    else if (b->p->device.kind == DEVICE_gpu && !b->emulated)
        probe_flush(b->p);
    TRY(stopwatch_start(&b->watch));
    TRY(run(b));
    TRY(stopwatch_stop(&b->watch, ms));
done:
    return status;
}

/* The work of a row: as many elements as there are bytes, or as the sizes say. */
static void set_work(struct bench_limits *b, struct limit *l)
{
    const struct limit_row *r = b->row;
    int64_t size = l->value ? (int64_t)type_size(l->value) : 1, most = b->sizes.most;
    int64_t span = r->span == WHOLE ? b->bytes : r->span < most ? r->span : most;
    while (r->span != WHOLE && span > b->bytes)
        span /= 2;
    b->work = (struct limit_work){.loop = r->loop,
                                  .value = l->value ? l->value : HEDDLE_F32,
                                  .pattern = r->at,
                                  .span = span / size,
                                  .x = b->buffer,
                                  .y = b->buffer,
                                  .index = b->index};
    if (r->loop == LIMIT_READ)
        b->work.count = span / size;
    else if (r->loop == LIMIT_COPY) {
        b->work.count = span / size / 2;
        b->work.y = b->buffer + b->work.count * size;
    } else if (r->loop == LIMIT_NOTHING)
        b->work.count = r->filled ? limit_blocks(&b->p->device) : 1;
    else
        b->work.count = r->loop == LIMIT_GATHER ? b->sizes.gathers
                      : r->at == LIMIT_ONE      ? b->sizes.same
                                                : b->sizes.adds;
    l->span = r->loop == LIMIT_NOTHING ? 0 : r->at == LIMIT_ONE ? size : span;
    l->count = r->loop == LIMIT_NOTHING ? r->launches : b->work.count;
}

/* A nonzero of CSR is a column and a value; it gathers one entry of x, or adds to one of y. */
static void set_floor(struct limit *l, enum limit_loop loop)
{
    double us = 1e3 * l->timing.median_ms, size = l->value ? (double)type_size(l->value) : 0;
    if (loop == LIMIT_NOTHING) {
        l->figure = l->floor_us = us;
        l->unit = "us";
    } else if (loop == LIMIT_READ || loop == LIMIT_COPY) {
        l->figure = (double)l->count * size * (loop == LIMIT_COPY ? 2 : 1) / (us * 1e3);
        l->unit = "GB/s";
        l->floor_us = loop == LIMIT_COPY ? NAN : 1e3 * (4 + size) / l->figure;
    } else {
        l->figure = (double)l->count / (us * 1e3);
        l->unit = "G/s";
        l->floor_us = 1e3 / l->figure;
    }
}

static heddle_status measure_loop(struct bench_limits *b, heddle_type value, limit_heard *heard,
                                  void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct limit l = {.limit = b->row->limit, .pattern = b->row->pattern, .value = value};
    set_work(b, &l);
    if (b->row->loop == LIMIT_GATHER)
        TRY(limit_indices(&b->p->device, b->index, b->work.count, b->work.span, b->row->at));
    TRY(run(b)); /* loads the binary */
    TRY(measure(&l.timing, &rule, once, b));
    set_floor(&l, b->row->loop);
    TRY(heard(argument, &l));
done:
    return status;
}

/* What every bench measures too: a read in the widest accesses, and launches that follow each other. */
static heddle_status tell_wide_read(struct bench_limits *b, limit_heard *heard, void *argument)
{
    int64_t words = b->p->words;
    b->p->words = b->bytes / 8;
    double gbs = probe_read_gbs(b->p);
    b->p->words = words;
    struct limit l = {.limit = "read",
                      .pattern = "16 bytes at once",
                      .span = b->bytes,
                      .count = b->bytes / 16,
                      .figure = gbs,
                      .unit = "GB/s",
                      .floor_us = NAN};
    l.timing = (struct timing){.median_ms = (double)b->bytes / (gbs * 1e6), .repetitions = 1};
    return heard(argument, &l);
}

static heddle_status tell_many_launches(struct bench_limits *b, limit_heard *heard, void *argument)
{
    double ms = probe_launch_ms(b->p);
    struct limit l = {.limit = "launch",
                      .pattern = "each of many",
                      .count = 1,
                      .figure = 1e3 * ms,
                      .unit = "us",
                      .floor_us = 1e3 * ms};
    l.timing = (struct timing){.median_ms = ms, .repetitions = 1};
    return heard(argument, &l);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define LEAST 4096 /* bytes: below, nothing would be left to measure */

/* Spans and counts within `memory` bytes; spans stay powers of two. */
static void restrain(struct sizes *s, int64_t memory)
{
    while (memory > 0 && s->most > LEAST && s->most > memory)
        s->most /= 2;
    if (memory > 0)
        *s = (struct sizes){lesser(s->gathers, s->most / 4), lesser(s->adds, s->most / 4),
                            lesser(s->same, s->most / 4), s->most};
}

/* CPUs have no atomic additions in their products and no grids. */
static int concerns(const struct bench_limits *b, const struct limit_row *r)
{
    return b->p->device.kind == DEVICE_gpu || (r->loop != LIMIT_ADD && !r->filled);
}

heddle_status limits_measure(struct probe *p, int64_t memory, limit_heard *heard, void *argument)
{
    heddle_status status = HEDDLE_OK;
    int gpu = p->device.kind == DEVICE_gpu, emulated = gpu_is_emulated(p->device.gpu);
    struct bench_limits b = {.p = p,
                             .sizes = emulated ? emu_sizes
                                    : gpu      ? gpu_sizes
                                               : cpu_sizes,
                             .emulated = emulated};
    void *index = NULL;
    restrain(&b.sizes, memory);
    b.buffer = gpu ? p->buffer : (void *)p->data;
    b.bytes = emulated || memory > 0 ? lesser(b.sizes.most, p->words * 8) : p->words * 8 / 64 * 64;
    TRY(stopwatch_new(&b.watch, &p->device));
    TRY(device_alloc(&p->device, &index, b.sizes.gathers * (int64_t)sizeof *b.index));
    b.index = index;
    /* what is read is never negative, and no number slows a CPU down */
    TRY(device_fill(&p->device, b.buffer, 0, b.bytes));
    TRY(tell_wide_read(&b, heard, argument));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b.row = &rows[i];
        int typed = b.row->loop != LIMIT_NOTHING;
        for (int wide = 0; wide <= typed && concerns(&b, b.row); wide++)
            TRY(measure_loop(&b, !typed ? 0 : wide ? HEDDLE_F64 : HEDDLE_F32, heard, argument));
    }
    TRY(tell_many_launches(&b, heard, argument));
done:
    device_sync(&p->device);
    stopwatch_free(&b.watch);
    device_free(&p->device, index);
    return status;
}
