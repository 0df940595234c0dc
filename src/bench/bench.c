/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "bench/quiet.h"
#include "bench/stage.h"
#include "subject/fill.h"

const struct rule bench_warm = {.spread = 0.02, .least = 10, .most = 1000, .limit_ms = 500};
const struct rule bench_cold = {.spread = 0.05, .least = 3, .most = 7, .limit_ms = 500};
const struct rule bench_cold_gpu = {.spread = 0.02, .least = 11, .most = 41, .limit_ms = 500};

static int stopped(const struct bench *b)
{
    return b->stop && *b->stop;
}

static heddle_status stage_vectors(struct stage *s, int64_t x_bytes)
{
    heddle_status status = HEDDLE_OK;
    void *x = NULL, *y = NULL;
    const int adds = s->base.op != HEDDLE_N && probe_has_calls(&s->b->probe); /* an emulator has no caches */
    s->y_places = adds && stage_y_bytes(s) < Y_SPREADS ? Y_PLACES : 1;
    TRY(device_alloc(s->base.device, &x, x_bytes));
    s->x_there = x;
    TRY(device_alloc(s->base.device, &y, stage_y_bytes(s) + (s->y_places - 1) * Y_STEP));
    s->y_there = s->y_first = y;
done:
    return status;
}

static heddle_status ready_operation(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    const struct csr *A = &s->csr;
    int n = s->base.op == HEDDLE_N;
    const int64_t vectors = vectors_count(s->base.vectors);
    int64_t x_size = vectors * (n ? A->cols : A->rows), y_size = vectors * (n ? A->rows : A->cols);
    const heddle_type vector = vector_type(A->value);
    const int64_t x_bytes = x_size * (int64_t)type_size(vector);
    TRY((s->x = mem_alloc(x_size, type_size(vector))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    TRY((s->y = mem_alloc(y_size, type_size(vector))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    fill_random(s->x, vector, x_size);
    if (type_size(A->value) == 2) /* a peer may take x in the type of the values */
        fill_rounded(s->x, vector, A->value, x_size);
    s->y_numbers = y_size;
    TRY(references_new(&s->references, &(struct equation){.A = A, .op = s->base.op, .alpha = 1, .x = s->x},
                       s->base.vectors, reference_new));
    TRY(proof_new(&s->proof, s->b->h, s->A, A, s->base.op, s->base.vectors, (struct scalars){.alpha = 1}));
    s->y_places = 1;
    TRY(stopwatch_new(&s->watch, s->base.device));
    if (s->base.device->kind == DEVICE_gpu) {
        TRY(stage_vectors(s, x_bytes));
        TRY(device_copy(s->base.device, s->x_there, s->x, x_bytes));
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
    references_free(&s->references);
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
    for (int i = 0; i < b->op_count * bench_vectors(b) && !left; i++) {
        r.op = b->op[i / bench_vectors(b)];
        r.vectors = b->vectors[i % bench_vectors(b)];
        left = bench_has(r.value, r.op) && !all_known(b, &r);
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
        TRY(stage_absorb(s, ready_operation(s), 0));
    for (int k = 0; k < s->b->kernels.count && !stopped(s->b); k++) {
        struct run r = s->base;
        r.kernel = s->b->kernels.name[k];
        if (known(s->b, &r))
            continue;
        if (s->b->events.begins)
            s->b->events.begins(s->b->events.argument, &r);
        TRY(stage_run(s, &r));
    }
done:
    if (!skipped_before)
        s->skip[0] = 0;
    leave_operation(s);
    return status;
}

/* A, x and y once each, and y once more if beta is not 0 (it is 0 here). */
static double product_bytes(const struct csr *A, struct vector_group vectors)
{
    double value = (double)type_size(A->value), vector = (double)vector_size(A->value);
    double rows = (double)A->rows, cols = (double)A->cols;
    return (rows + 1) * (double)type_size(A->offset) + (double)A->nnz * (4 + value) +
           (rows + cols) * vector * vectors_count(vectors);
}

static int64_t cache_of(const struct device *d)
{
    return d->kind == DEVICE_gpu ? gpu_info_of(d->gpu)->cache : cpu_this()->cache;
}

/* A, its values once more as whole numbers, another copy in the format of a kernel, and of the largest
 * number of vectors x, y and the reference twice over. */
static heddle_status within_limit(const struct stage *s)
{
    char need_text[NUMBER_TEXT], limit_text[NUMBER_TEXT];
    int most = 1;
    for (int i = 0; i < s->b->vectors_listed; i++)
        most = vectors_count(s->b->vectors[i]) > most ? vectors_count(s->b->vectors[i]) : most;
    double need = 2 * (double)csr_bytes(&s->csr) + (double)s->csr.nnz * (double)type_size(s->csr.value) +
                  64.0 * most * (double)(s->csr.rows + s->csr.cols),
           limit = (double)s->b->memory_limit;
    if (limit <= 0 || need <= limit)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_MEMORY, "the matrix needs about %s; the limit is %s", text_bytes(need_text, need),
                text_bytes(limit_text, limit));
}

static heddle_status ready_type(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    s->csr = s->loaded.csr;
    s->csr.value = s->base.value;
    TRY(within_limit(s));
    TRY(values_as(&s->csr, &s->loaded.csr, s->base.value));
    TRY(matrix_of(&s->A, s->b->h, &s->csr));
    s->base.offset = s->csr.offset;
    s->floors = (struct floors){.probe = &s->b->probe, .launch_ms = s->base.launch_ms};
done:
    return status;
}

/* What is known of the time before anything is measured. */
static void expect(struct stage *s)
{
    s->base.bytes = product_bytes(&s->csr, s->base.vectors);
    s->base.fits_cache = s->base.bytes < (double)cache_of(s->base.device);
    s->base.fits_cache &= !gpu_is_emulated(s->base.device->gpu);
    s->base.floor_ms = floor_ms(&s->floors, s->base.bytes);
}

static heddle_status bench_type(struct stage *s)
{
    heddle_status status = HEDDLE_OK;
    int skipped_before = s->skip[0] != 0;
    if (s->b->events.known && type_known(s->b, &s->base))
        return HEDDLE_OK;
    if (!skipped_before)
        TRY(stage_absorb(s, ready_type(s), 0));
    for (int i = 0; i < s->b->op_count * bench_vectors(s->b); i++) {
        s->base.op = s->b->op[i / bench_vectors(s->b)];
        s->base.vectors = s->b->vectors[i % bench_vectors(s->b)];
        if (!s->skip[0])
            expect(s);
        if (bench_has(s->base.value, s->base.op))
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
    TRY(subject_load_widest(&s->loaded, s->base.subject));
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

int64_t bench_runs(const struct bench *b)
{
    int64_t pairs = 0;
    for (int t = 0; t < b->type_count; t++)
        for (int o = 0; o < b->op_count; o++)
            pairs += bench_has(b->type[t], b->op[o]);
    return pairs * bench_vectors(b) * b->kernels.count;
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
    b->unreadable +=
        status == HEDDLE_BAD_FILE || status == HEDDLE_FILE_ERROR || status == HEDDLE_BAD_ARGUMENT;
    TRY(stage_absorb(s, status, b->keep_going));
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

/* The device stays current meanwhile, as it is in a program that uses the vendor's runtime: kernels and
 * peers alike are spared the switch. */
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
