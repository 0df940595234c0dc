/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "bench/floor.h"
#include "bench/proof.h"
#include "bench/quiet.h"
#include "subject/fill.h"

const struct rule bench_warm = {.spread = 0.02, .least = 10, .most = 1000, .limit_ms = 500};
const struct rule bench_cold = {.spread = 0.05, .least = 3, .most = 7, .limit_ms = 500};
const struct rule bench_cold_gpu = {.spread = 0.02, .least = 11, .most = 41, .limit_ms = 500};

/* Products that are shorter are timed in batches of about this length.  On a GPU that waits for work, a product begins some
 * microseconds after the clock: a batch of a millisecond makes that less than half a percent. */
#define BATCH_MS 0.05
#define BATCH_GPU_MS 1.0
#define BATCH_MOST 1000

/* What is in memory while one matrix is at work: each level adds its part and takes it away again.  Once `skip` is set,
 * everything below is reported as skipped for that reason. */
struct stage {
    struct bench *b;
    struct run base; /* what all runs of the level have in common */
    struct loaded loaded;
    struct csr csr;   /* of the type at work; borrows all but the values */
    heddle_matrix *A;
    void *x, *y;       /* on the host */
    void *x_there, *y_there; /* where the products run: the same on the CPU */
    char *y_first;           /* on a GPU: the first of the places where y may begin */
    int y_places;
    struct stopwatch watch;
    struct reference reference;
    struct proof proof;
    struct floors floors; /* of the type at work */
    int64_t used_rows, used_cols;
    char skip[SKIP_TEXT];
};

/* Turns a failure that concerns this matrix alone into a reason to skip. */
static heddle_status absorb(struct stage *s, heddle_status status, int any)
{
    if (status == HEDDLE_OK)
        return HEDDLE_OK;
    if (!any && status != HEDDLE_NO_KERNEL && status != HEDDLE_NO_MEMORY && status != HEDDLE_NOT_SUPPORTED)
        return status;
    snprintf(s->skip, sizeof s->skip, "%s", heddle_last_error());
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ one run */

struct timed {
    struct candidate *candidate;
    struct stage *stage;
    int batch;
    double last_ms; /* of the products that were timed alone */
    uint32_t turn;
};

static heddle_status product(struct timed *t)
{
    return candidate_run(t->candidate, (struct scalars){1, 0}, t->stage->x_there, t->stage->y_there);
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

/* Of launches that are all alike, one after another, every other one (of two kernels, two of four) starts 0.8 us later, or none
 * does (H200; probably by its place in the driver's ring of launches): of 41 samples 4.5 and 5.3 us in turn, and the median was
 * either.  So up to three products go before the flush, another number each time, and about a quarter of the samples is slow. */
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
#define CALLS_MS 20    /* of products, about */
#define CALL_PASSES 5

/* What a call costs the host: several in a row without waiting, the shortest of a few passes.  The first wakes the device, and
 * is not counted.  Who wants a product's time soon waits no longer for this. */
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

/* Additions to a small y are as fast as its cache lines are spread over the slices of a GPU's L2, which the
 * address decides in no way that anybody tells: cuSPARSE's Aᵀx took 34 to 57 us on an H200 with the 8 KB of dense2's y, and the
 * 16 KB of f64 46 or, at 2 of 25 places, 84.  So that no figure hangs on what else was allocated, y is tried at several places. */
#define Y_PLACES 6
#define Y_STEP (9 * 512)
#define Y_SPREADS (1 << 20) /* bytes: a larger one begins at a page, where any program's would */

static int64_t y_bytes(const struct stage *s)
{
    return s->reference.n * (int64_t)type_size(s->base.value);
}

/* y of NaN, where the products will write it: what they leave out shows. */
static heddle_status poison(struct stage *s)
{
    fill_nan(s->y, s->base.value, s->reference.n);
    if (s->y_there == s->y || s->reference.n == 0)
        return HEDDLE_OK;
    heddle_status status = device_fill(s->base.device, s->y_first, 0xff, y_bytes(s) + (s->y_places - 1) * Y_STEP);
    return status != HEDDLE_OK ? status : device_sync(s->base.device);
}

static heddle_status bring_back(struct stage *s)
{
    if (s->y_there == s->y || s->reference.n == 0)
        return HEDDLE_OK;
    return device_read(s->base.device, s->y, s->y_there, y_bytes(s));
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
    int64_t vectors = n ? s->used_cols + s->csr.rows : s->used_rows + s->csr.cols;
    return c->read + (double)vectors * (double)type_size(s->base.value);
}

/* What the emulator takes says nothing of any GPU: its runs have times, to see that something goes on, and no rates. */
static void rate(struct stage *s, struct run *r, const struct candidate *c)
{
    double ms = gpu_is_emulated(r->device->gpu) ? NAN : r->warm.median_ms;
    r->own_bytes = own_bytes(s, c);
    r->own_floor_ms = floor_beside_ms(&s->floors, r->own_bytes, ms);
    r->of_own_floor = r->own_floor_ms / ms;
    if (r->own_bytes > 0) /* faster a byte than the product was: its own floor was not disturbed, so CSR's should not be */
        r->floor_ms = floor_beside_ms(&s->floors, r->bytes, ms * r->bytes / r->own_bytes);
    r->of_floor = r->floor_ms / ms;
    r->gflops = 2 * (double)r->nnz / (ms * 1e6);
    r->gbs = r->bytes / (ms * 1e6);
}

/* Rounding first, then whole numbers, with which the candidate is left. */
static heddle_status verify(struct stage *s, struct candidate *c, struct run *r)
{
    struct verdict exact;
    heddle_status status = bring_back(s);
    if (status != HEDDLE_OK)
        return status;
    reference_judge(&r->verdict, &s->reference, s->y);
    verdict_text(r->wrong, &r->verdict, &s->reference);
    if (!r->verdict.passed)
        return HEDDLE_OK;
    status = proof_of(&s->proof, c, &exact, r->wrong);
    if (status == HEDDLE_OK && !exact.passed)
        r->verdict = exact;
    return status;
}

static heddle_status run_candidate(struct stage *s, struct run *r)
{
    heddle_status status = HEDDLE_OK;
    struct candidate candidate = {0};
    struct timed timed = {.candidate = &candidate, .stage = s, .batch = 1};
    s->y_there = s->y_first ? s->y_first : s->y_there;
    char before[SKIP_TEXT];
    memcpy(before, s->skip, sizeof before);
    if (!s->skip[0])
        TRY(absorb(s, candidate_new(&candidate, s->b->h, s->A, r->op, r->kernel), 0));
    if (!s->skip[0]) {
        struct quiet before_it = quiet_now();
        TRY(absorb(s, take_times(r, &timed), 0)); /* another library may refuse even a product that it has prepared */
        r->others = quiet_others(&before_it);
    }
    if (!s->skip[0])
        TRY(absorb(s, verify(s, &candidate, r), 0));
    if (s->skip[0]) {
        memcpy(r->skipped, s->skip, sizeof r->skipped);
        r->cold = r->warm = (struct timing){0};
        r->verdict = (struct verdict){0};
        r->wrong[0] = 0;
    } else {
        rate(s, r, &candidate);
        r->made = &candidate;
    }
    if (s->b->events.ran)
        TRY(s->b->events.ran(s->b->events.argument, r));
done:
    memcpy(s->skip, before, sizeof before);
    candidate_free(&candidate);
    return status;
}

/* ------------------------------------------------------------------ levels: operation, type, matrix */

static int stopped(const struct bench *b)
{
    return b->stop && *b->stop;
}

static heddle_status vectors_new(struct stage *s, int64_t x_bytes)
{
    heddle_status status = HEDDLE_OK;
    void *x = NULL, *y = NULL;
    const int adds = s->base.op == HEDDLE_T && probe_has_calls(&s->b->probe); /* an emulator has no caches */
    s->y_places = adds && y_bytes(s) < Y_SPREADS ? Y_PLACES : 1;
    TRY(device_alloc(s->base.device, &x, x_bytes));
    s->x_there = x;
    TRY(device_alloc(s->base.device, &y, y_bytes(s) + (s->y_places - 1) * Y_STEP));
    s->y_there = s->y_first = y;
done:
    return status;
}

static heddle_status ready_operation(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    const struct csr *A = &s->csr;
    int n = s->base.op == HEDDLE_N;
    int64_t x_size = n ? A->cols : A->rows, y_size = n ? A->rows : A->cols;
    TRY((s->x = mem_alloc(x_size, type_size(A->value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    TRY((s->y = mem_alloc(y_size, type_size(A->value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    fill_random(s->x, A->value, x_size);
    TRY(reference_new(&s->reference, &(struct equation){.A = A, .op = s->base.op, .alpha = 1, .x = s->x}));
    TRY(proof_new(&s->proof, s->b->h, s->A, A, s->base.op, (struct scalars){1, 0}));
    s->y_places = 1;
    TRY(stopwatch_new(&s->watch, s->base.device));
    if (s->base.device->kind == DEVICE_gpu) {
        TRY(vectors_new(s, x_size * (int64_t)type_size(A->value)));
        TRY(device_copy(s->base.device, s->x_there, s->x, x_size * (int64_t)type_size(A->value)));
        TRY(device_sync(s->base.device));
    } else {
        s->x_there = s->x;
        s->y_there = s->y;
    }
done:
    return status;
}

static void leave_operation(struct stage *s)
{
    if (s->base.device->kind == DEVICE_gpu) {
        device_free(s->base.device, s->x_there);
        device_free(s->base.device, s->y_first);
    }
    stopwatch_free(&s->watch);
    reference_free(&s->reference);
    proof_free(&s->proof);
    mem_free(s->x);
    mem_free(s->y);
    s->x = s->y = s->x_there = s->y_there = NULL;
    s->y_first = NULL;
}

static int known(const struct bench *b, const struct run *r)
{
    return b->events.known && b->events.known(b->events.argument, r);
}

/* Is every kernel's run of this matrix, type and operation there already? */
static int all_known(const struct bench *b, const struct run *base)
{
    struct run r = *base;
    int left = 0;
    for (int k = 0; k < b->kernels.count && !left; k++) {
        r.kernel = b->kernels.name[k];
        left = !known(b, &r);
    }
    return !left;
}

static int type_known(const struct bench *b, const struct run *base)
{
    struct run r = *base;
    int left = 0;
    for (int i = 0; i < b->op_count && !left; i++) {
        r.op = b->op[i];
        left = !all_known(b, &r);
    }
    return !left;
}

static int subject_known(const struct bench *b, const struct run *base)
{
    struct run r = *base;
    int left = b->events.known == NULL;
    for (int i = 0; i < b->type_count && !left; i++) {
        r.value = b->type[i];
        left = !type_known(b, &r);
    }
    return !left;
}

static heddle_status bench_operation(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    int skipped_before = s->skip[0] != 0;
    if (s->b->events.known && all_known(s->b, &s->base))
        return HEDDLE_OK;
    if (!skipped_before)
        TRY(absorb(s, ready_operation(s), 0));
    for (int k = 0; k < s->b->kernels.count && !stopped(s->b); k++) {
        struct run r = s->base;
        r.kernel = s->b->kernels.name[k];
        if (known(s->b, &r))
            continue;
        if (s->b->events.begins)
            s->b->events.begins(s->b->events.argument, &r);
        TRY(run_candidate(s, &r));
    }
done:
    if (!skipped_before)
        s->skip[0] = 0;
    leave_operation(s);
    return status;
}

/* A, x and y once each, and y once more if beta is not 0 (it is 0 here). */
static double product_bytes(const struct csr *A)
{
    double value = (double)type_size(A->value), rows = (double)A->rows, cols = (double)A->cols;
    return (rows + 1) * (double)type_size(A->offset) + (double)A->nnz * (4 + value) + (rows + cols) * value;
}

static int64_t cache_of(const struct device *d)
{
    return d->kind == DEVICE_gpu ? gpu_info_of(d->gpu)->cache : cpu_this()->cache;
}

/* A, its values once more as whole numbers, another copy in the format of a kernel, and x, y and the reference twice over. */
static heddle_status within_limit(const struct stage *s)
{
    char need_text[NUMBER_TEXT], limit_text[NUMBER_TEXT];
    double need = 2 * (double)csr_bytes(&s->csr) + (double)s->csr.nnz * (double)type_size(s->csr.value) +
                  64 * (double)(s->csr.rows + s->csr.cols), limit = (double)s->b->memory_limit;
    if (limit <= 0 || need <= limit)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_MEMORY, "the matrix needs about %s; the limit is %s", text_bytes(need_text, need),
                text_bytes(limit_text, limit));
}

static heddle_status ready_type(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    heddle_type value = s->base.value;
    s->csr = s->loaded.csr;
    s->csr.value = value;
    TRY(within_limit(s));
    if (value != s->loaded.csr.value) {
        s->csr.val = NULL;
        TRY((s->csr.val = mem_alloc(s->csr.nnz, type_size(value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
        fill_converted(s->csr.val, value, s->loaded.csr.val, s->loaded.csr.value, s->csr.nnz);
    }
    TRY(matrix_of(&s->A, s->b->h, &s->csr));
    s->base.offset = s->csr.offset;
    s->base.bytes = product_bytes(&s->csr);
    s->base.fits_cache = s->base.bytes < (double)cache_of(s->base.device);
    s->base.fits_cache &= !gpu_is_emulated(s->base.device->gpu);
    s->floors = (struct floors){.probe = &s->b->probe, .launch_ms = s->base.launch_ms};
    s->base.floor_ms = floor_ms(&s->floors, s->base.bytes);
done:
    return status;
}

static heddle_status bench_type(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    int skipped_before = s->skip[0] != 0;
    if (s->b->events.known && type_known(s->b, &s->base))
        return HEDDLE_OK;
    if (!skipped_before)
        TRY(absorb(s, ready_type(s), 0));
    for (int i = 0; i < s->b->op_count; i++) {
        s->base.op = s->b->op[i];
        TRY(bench_operation(s));
    }
done:
    if (!skipped_before)
        s->skip[0] = 0;
    heddle_matrix_free(s->A);
    s->A = NULL;
    if (s->csr.val != s->loaded.csr.val)
        mem_free(s->csr.val);
    s->csr = (struct csr){0};
    return status;
}

static heddle_status describe(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    struct description *d = NULL;
    TRY(NEW_ZEROED(d, 1)); /* the picture is large for a stack */
    d->subject = s->base.subject;
    d->value = s->loaded.csr.value;
    d->offset = s->loaded.csr.offset;
    TRY(csr_statistics(&d->stats, &s->loaded.csr));
    TRY(shape_of(&d->shape, &s->loaded.csr));
    s->base.row = d->stats.row;
    if (!known(s->b, &s->base))
        TRY(s->b->events.described(s->b->events.argument, d));
done:
    mem_free(d);
    return status;
}

static heddle_status ready_matrix(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    TRY(subject_load(&s->loaded, s->base.subject, HEDDLE_F64));
    s->base.rows = s->loaded.csr.rows;
    s->base.cols = s->loaded.csr.cols;
    s->base.nnz = s->loaded.csr.nnz;
    if (s->b->events.described)
        TRY(describe(s));
    TRY(floor_used(&s->loaded.csr, &s->used_rows, &s->used_cols));
    s->base.read_gbs = gpu_is_emulated(s->base.device->gpu) ? NAN : probe_read_gbs(&s->b->probe);
    s->base.launch_ms = probe_launch_ms(&s->b->probe);
    s->base.bare_call_us = probe_call_us(&s->b->probe);
done:
    return status;
}

static heddle_status bench_all(struct bench *b, const struct subject *subject)
{
    heddle_status status = HEDDLE_OK;
    struct stage *s = NULL;
    TRY(NEW_ZEROED(s, 1));
    s->b = b;
    s->base = (struct run){.subject = subject, .device = &b->h->device};
    if (subject_known(b, &s->base))
        goto done;
    if (b->events.begins)
        b->events.begins(b->events.argument, &s->base);
    status = ready_matrix(s);
    b->unreadable += status == HEDDLE_BAD_FILE || status == HEDDLE_FILE_ERROR || status == HEDDLE_BAD_ARGUMENT;
    TRY(absorb(s, status, b->keep_going));
    for (int i = 0; i < b->type_count && !stopped(b); i++) {
        s->base.value = b->type[i];
        TRY(bench_type(s));
    }
done:
    if (s)
        loaded_free(&s->loaded);
    mem_free(s);
    return status;
}

/* The device stays current meanwhile, as it is in a program that uses the vendor's runtime: kernels and peers alike are spared
 * the switch. */
heddle_status bench_subject(struct bench *b, const struct subject *subject)
{
    void *before;
    heddle_status status = device_enter(&b->h->device, &before);
    if (status != HEDDLE_OK)
        return status;
    status = bench_all(b, subject);
    device_leave(&b->h->device, before);
    return status;
}
