/* SPDX-License-Identifier: MIT
 *
 * One run of a bench: a candidate is made, timed with and without its matrix in the caches, and verified. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "bench/quiet.h"
#include "bench/stage.h"
#include "subject/fill.h"

/* Products that are shorter are timed in batches of about this length.  On a GPU that waits for work, a
 * product begins some microseconds after the clock: a batch of a millisecond makes that less than half a
 * percent. */
#define BATCH_MS 0.05
#define BATCH_GPU_MS 1.0
#define BATCH_MOST 1000

heddle_status stage_absorb(struct stage *s, heddle_status status, int any)
{
    if (status == HEDDLE_OK)
        return HEDDLE_OK;
    if (!any && status != HEDDLE_NO_KERNEL && status != HEDDLE_NO_MEMORY && status != HEDDLE_NOT_SUPPORTED)
        return status;
    snprintf(s->skip, sizeof s->skip, "%s", heddle_last_error());
    return HEDDLE_OK;
}

struct timed {
    struct candidate *candidate;
    struct stage *stage;
    int batch;
    double last_ms; /* of the products that were timed alone */
    uint32_t turn;
};

static heddle_status product(struct timed *t)
{
    return candidate_run(t->candidate, (struct scalars){.alpha = 1}, t->stage->x_there, t->stage->y_there);
}

static heddle_status several(struct timed *t, int batch, double *ms)
{
    heddle_status status = HEDDLE_OK;
    TRY(stopwatch_start(&t->stage->watch));
    for (int i = 0; i < batch; i++)
        TRY(product(t));
    TRY(stopwatch_stop(&t->stage->watch, ms));
    *ms /= batch;
done:
    return status;
}

/* After the time is taken: a time under throttling is told as a negative one. */
static heddle_status judged(const struct timed *t, heddle_status status, double *ms)
{
    if (status == HEDDLE_OK && clocks_slowed(&t->stage->b->clocks))
        *ms = -*ms;
    return status;
}

static heddle_status warm_once(void *argument, double *ms)
{
    struct timed *t = argument;
    return judged(t, several(t, t->batch, ms), ms);
}

/* Of launches that are all alike, one after another, every other one (of two kernels, two of four) starts
 * 0.8 us later, or none does (H200; probably by its place in the driver's ring of launches): of 41 samples
 * 4.5 and 5.3 us in turn, and the median was either.  So up to three products go before the flush, another
 * number each time, and about a quarter of the samples is slow. */
#define SHORT_MS 0.1

static heddle_status move_on(struct timed *t)
{
    heddle_status status = HEDDLE_OK;
    if (t->last_ms > SHORT_MS || !probe_has_calls(&t->stage->b->probe))
        return HEDDLE_OK;
    t->turn = t->turn * 1664525 + 1013904223;
    for (uint32_t i = t->turn >> 30; i > 0; i--)
        TRY(product(t));
done:
    return status;
}

static heddle_status cold_once(void *argument, double *ms)
{
    struct timed *t = argument;
    heddle_status status = HEDDLE_OK;
    TRY(move_on(t));
    probe_flush(&t->stage->b->probe);
    TRY(several(t, 1, ms));
    t->last_ms = *ms;
done:
    return judged(t, status, ms);
}

#define CALLS_MOST 100 /* at a time: a driver that has too many launches before it makes the caller wait */
#define CALLS_LEAST 6
#define CALLS_MS 20 /* of products, about */
#define CALL_PASSES 5

/* What a call costs the host: several in a row without waiting, the shortest of a few passes.  The first
 * wakes the device, and is not counted.  Who wants a product's time soon waits no longer for this. */
static heddle_status take_calls(struct run *r, struct timed *t)
{
    heddle_status status = HEDDLE_OK;
    const double limit = fmin(CALLS_MS, t->stage->b->warm.limit_ms), start = now_ms();
    double each = limit / r->warm.median_ms, best = INFINITY;
    int calls = each > CALLS_MOST ? CALLS_MOST : each < CALLS_LEAST ? CALLS_LEAST : (int)each;
    r->call_us = NAN;
    if (!probe_has_calls(&t->stage->b->probe))
        return HEDDLE_OK;
    for (int pass = 0; pass < CALL_PASSES && (pass == 0 || now_ms() - start < CALL_PASSES * limit); pass++) {
        TRY(product(t));
        double begin = now_ms();
        for (int i = 1; i < calls; i++)
            TRY(product(t));
        best = fmin(best, (now_ms() - begin) / (calls - 1));
        TRY(device_sync(r->device));
    }
    r->call_us = 1e3 * best;
done:
    return status;
}

static void flush_before(void *argument)
{
    const struct timed *t = argument;
    if (probe_has_calls(&t->stage->b->probe)) /* an emulated launch does not queue up, and has no caches */
        probe_flush(&t->stage->b->probe);
}

static heddle_status product_of(void *argument)
{
    return product(argument);
}

int64_t stage_y_bytes(const struct stage *s)
{
    return s->y_numbers * (int64_t)vector_size(s->base.value);
}

/* y of NaN, where the products will write it: what they leave out shows. */
static heddle_status poison(struct stage *s)
{
    fill_nan(s->y, vector_type(s->base.value), s->y_numbers);
    if (s->y_there == s->y || s->y_numbers == 0)
        return HEDDLE_OK;
    heddle_status status =
        device_fill(s->base.device, s->y_first, 0xff, stage_y_bytes(s) + (s->y_places - 1) * Y_STEP);
    return status != HEDDLE_OK ? status : device_sync(s->base.device);
}

static heddle_status bring_back(struct stage *s)
{
    if (s->y_there == s->y || s->y_numbers == 0)
        return HEDDLE_OK;
    return device_read(s->base.device, s->y, s->y_there, stage_y_bytes(s));
}

/* At the place where the product is fastest, y stays for the rest of the run. */
static heddle_status take_cold(struct run *r, struct timed *t)
{
    heddle_status status = HEDDLE_OK;
    struct stage *s = t->stage;
    struct rule rule = s->b->cold;
    char *best = s->y_first;
    if (s->y_places == 1)
        return measure(&r->cold, &rule, cold_once, t);
    rule.limit_ms /= s->y_places;
    for (int i = 0; i < s->y_places; i++) {
        struct timing here;
        s->y_there = s->y_first + i * Y_STEP;
        TRY(measure(&here, &rule, cold_once, t));
        if (i == 0 || here.median_ms < r->cold.median_ms) {
            r->cold = here;
            best = s->y_there;
        }
    }
    s->y_there = best;
done:
    return status;
}

/* Cold first, then warm: the last product stands in y when the verdict is passed. */
static heddle_status take_times(struct run *r, struct timed *t)
{
    heddle_status status = HEDDLE_OK;
    const struct bench *b = t->stage->b;
    struct rule warm = b->warm;
    double once, length = t->stage->base.device->kind == DEVICE_gpu ? BATCH_GPU_MS : BATCH_MS;
    TRY(poison(t->stage));
    TRY(several(t, 1, &once));
    t->last_ms = once;
    if (b->cold.most > 0)
        TRY(take_cold(r, t));
    TRY(several(t, 1, &once));
    t->batch = once < length / BATCH_MOST ? BATCH_MOST : (int)ceil(length / once);
    warm.limit_ms /= t->batch; /* samples are per product */
    TRY(measure(&r->warm, &warm, warm_once, t));
    r->core_mhz = clocks_core_mhz(&b->clocks);
    r->memory_mhz = clocks_memory_mhz(&b->clocks);
    TRY(take_calls(r, t));
    if (b->launches && !t->candidate->peer)
        TRY(launches_take(&r->launches, r->device, flush_before, product_of, t));
done:
    return status;
}

/* The matrix as the candidate stores it, what is used of x, and y. */
static double own_bytes(const struct stage *s, const struct candidate *c)
{
    int n = s->base.op == HEDDLE_N;
    int64_t numbers = n ? s->used_cols + s->csr.rows : s->used_rows + s->csr.cols;
    return c->read + (double)numbers * vectors_count(s->base.vectors) * (double)vector_size(s->base.value);
}

/* What the emulator takes says nothing of any GPU: its runs have times, to see that something goes on, and
 * no rates. */
static void set_rates(struct stage *s, struct run *r, const struct candidate *c)
{
    double ms = gpu_is_emulated(r->device->gpu) ? NAN : r->warm.median_ms;
    r->own_bytes = own_bytes(s, c);
    r->own_floor_ms = floor_beside_ms(&s->floors, r->own_bytes, ms);
    r->of_own_floor = r->own_floor_ms / ms;
    /* faster a byte than the product was: its own floor was not disturbed, so CSR's should not be */
    if (r->own_bytes > 0)
        r->floor_ms = floor_beside_ms(&s->floors, r->bytes, ms * r->bytes / r->own_bytes);
    r->of_floor = r->floor_ms / ms;
    r->gflops = (is_complex(r->value) ? 8 : 2) * (double)r->nnz * vectors_count(r->vectors) / (ms * 1e6);
    r->gbs = r->bytes / (ms * 1e6);
}

/* Rounding first, then whole numbers, with which the candidate is left. */
static heddle_status verify(struct stage *s, struct candidate *c, struct run *r)
{
    struct verdict exact;
    heddle_status status = bring_back(s);
    if (status != HEDDLE_OK)
        return status;
    references_judge(&r->verdict, r->wrong, &s->references, s->y);
    if (!r->verdict.passed)
        return HEDDLE_OK;
    status = proof_of(&s->proof, c, &exact, r->wrong);
    if (status == HEDDLE_OK && !exact.passed)
        r->verdict = exact;
    return status;
}

heddle_status stage_run(struct stage *s, struct run *r)
{
    heddle_status status = HEDDLE_OK;
    struct candidate candidate = {0};
    struct timed timed = {.candidate = &candidate, .stage = s, .batch = 1};
    s->y_there = s->y_first ? s->y_first : s->y_there;
    char before[SKIP_TEXT];
    memcpy(before, s->skip, sizeof before);
    if (!s->skip[0])
        TRY(stage_absorb(s, candidate_new(&candidate, s->b->h, s->A, r->op, r->vectors, r->kernel), 0));
    if (!s->skip[0]) {
        struct quiet before_it = quiet_now();
        /* another library may refuse even a product that it has prepared */
        TRY(stage_absorb(s, take_times(r, &timed), 0));
        r->others = quiet_others(&before_it);
    }
    if (!s->skip[0])
        TRY(stage_absorb(s, verify(s, &candidate, r), 0));
    if (s->skip[0]) {
        memcpy(r->skipped, s->skip, sizeof r->skipped);
        r->cold = r->warm = (struct timing){0};
        r->verdict = (struct verdict){0};
        r->wrong[0] = 0;
    } else {
        set_rates(s, r, &candidate);
        r->made = &candidate;
    }
    if (s->b->events.ran)
        TRY(s->b->events.ran(s->b->events.argument, r));
done:
    memcpy(s->skip, before, sizeof before);
    candidate_free(&candidate);
    return status;
}
