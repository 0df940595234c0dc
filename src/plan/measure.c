/* SPDX-License-Identifier: MIT
 *
 * measure.c: how long a product of a bound kernel takes, for plans to decide by. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "convert/service.h"
#include "plan/run.h"

/* Measuring stops after this many products or this time. */
#define MEASURE_RUNS 6
#define MEASURE_MS 200

/* Every byte of x: 0.7 in single and 0.0005 in double precision.  Kernels need not add zeros, so x must not be zero. */
#define X_BYTE 0x3f

/* A cache holds nothing of A any more when so many times its size was read, and never held much of what is that large. */
#define FLUSH_CACHES 4
#define FLUSH_LEAST ((int64_t)256 << 20)
#define FLUSH_EMULATED ((int64_t)64 << 10) /* there is no such cache: only the way is the same */

/* Whether A is still in the cache when the next product comes is up to the caller, and decides between kernels: on a GPU both
 * cases are measured.  Without the memory for it, only the one. */
static heddle_status flush_new(struct vectors *v, const struct device *d, const struct view *A)
{
    if (d->kind == DEVICE_cpu)
        return HEDDLE_OK;
    int64_t cache = gpu_info_of(d->gpu)->cache, each = (int64_t)(sizeof(int32_t) + type_size(view_value(A)));
    int emulated = strcmp(gpu_driver_of(d->gpu)->name, "emu") == 0;
    v->flush_bytes = FLUSH_CACHES * cache > FLUSH_LEAST ? FLUSH_CACHES * cache : FLUSH_LEAST;
    if (!emulated && view_nnz(A) > 2 * v->flush_bytes / each)
        return HEDDLE_OK;
    v->flush_bytes = emulated ? FLUSH_EMULATED : v->flush_bytes;
    heddle_status status = device_alloc(d, &v->flush, v->flush_bytes);
    if (status == HEDDLE_OK)
        return device_fill(d, v->flush, 0, v->flush_bytes);
    return status == HEDDLE_NO_MEMORY ? HEDDLE_OK : status;
}

heddle_status vectors_new(struct vectors *v, const struct device *d, const struct view *A)
{
    heddle_status status;
    int64_t most = view_rows(A) > view_cols(A) ? view_rows(A) : view_cols(A);
    int64_t bytes = most * (int64_t)type_size(view_value(A));
    TRY(stopwatch_new(&v->watch, d));
    TRY(device_alloc(d, &v->x, bytes));
    TRY(device_fill(d, v->x, X_BYTE, bytes));
    TRY(device_alloc(d, &v->y, bytes));
    TRY(device_fill(d, v->y, 0, bytes));
    TRY(flush_new(v, d, A));
done:
    return status;
}

void vectors_free(struct vectors *v, const struct device *d)
{
    stopwatch_free(&v->watch);
    device_free(d, v->x);
    device_free(d, v->y);
    device_free(d, v->flush);
    *v = (struct vectors){0};
}

heddle_status bound_measure(double *ms, struct bound *b, struct vectors *v, double hopeless)
{
    heddle_status status = HEDDLE_OK;
    double begin = now_ms(), best[2] = {INFINITY, INFINITY};
    for (int i = 0; i <= MEASURE_RUNS && (i < 3 || now_ms() - begin < MEASURE_MS); i++) {
        int cold = v->flush && i % 2;
        if (cold)
            TRY(gpu_read_all(v->watch.device, v->flush, v->flush_bytes));
        TRY(stopwatch_start(&v->watch));
        TRY(bound_run(b, (struct scalars){1, 0}, v->x, v->y));
        TRY(stopwatch_stop(&v->watch, ms));
        if (i == 1 && *ms > hopeless)
            goto done;
        if (i > 0 && *ms < best[cold])
            best[cold] = *ms;
    }
    *ms = v->flush ? (best[0] + best[1]) / 2 : best[0];
done:
    return status;
}
