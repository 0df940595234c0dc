/* SPDX-License-Identifier: MIT
 *
 * measure.c: how long a product of a bound kernel takes, for plans to decide by. */
#include <math.h>

#include "base/timer.h"
#include "convert/service.h"
#include "plan/run.h"

/* Measuring stops after this many products or this time; on the emulator, whose times mean nothing, as soon
 * as it can. */
#define RUNS 7 /* the first does not count */
#define RUNS_LEAST 3
#define MEASURE_MS 200

/* Every byte of x: 0.7 in single and 0.0005 in double precision.  Kernels need not add zeros, so x must
 * not be zero. */
#define X_BYTE 0x3f

/* A cache holds nothing of A any more when so many times its size was read, and never held much of what is
 * that large. */
#define FLUSH_CACHES 4
#define FLUSH_LEAST ((int64_t)256 << 20)
#define FLUSH_EMULATED ((int64_t)64 << 10) /* there is no such cache: only the way is the same */

/* Whether A is still in the cache when the next product comes is up to the caller, and decides between
 * kernels: on a GPU both cases are measured.  Without the memory for it, only the one. */
static heddle_status flush_new(struct vectors *v, const struct device *d, const struct view *A)
{
    if (d->kind == DEVICE_cpu)
        return HEDDLE_OK;
    int64_t cache = gpu_info_of(d->gpu)->cache, each = (int64_t)(sizeof(int32_t) + type_size(view_value(A)));
    int emulated = gpu_is_emulated(d->gpu);
    v->flush_bytes = FLUSH_CACHES * cache > FLUSH_LEAST ? FLUSH_CACHES * cache : FLUSH_LEAST;
    if (!emulated && view_nnz(A) > 2 * v->flush_bytes / each)
        return HEDDLE_OK;
    v->flush_bytes = emulated ? FLUSH_EMULATED : v->flush_bytes;
    heddle_status status = device_alloc(d, &v->flush, v->flush_bytes);
    if (status == HEDDLE_OK)
        return device_fill(d, v->flush, 0, v->flush_bytes);
    return status == HEDDLE_NO_MEMORY ? HEDDLE_OK : status;
}

heddle_status vectors_new(struct vectors *v, const struct device *d, const struct view *A, heddle_cache cache)
{
    heddle_status status;
    int64_t most = view_rows(A) > view_cols(A) ? view_rows(A) : view_cols(A);
    int64_t bytes = most * (int64_t)vector_size(view_value(A));
    v->cache = cache;
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

static measure_clock *fake;

void measure_with(measure_clock *clock)
{
    fake = clock;
}

/* One product, by the clock; `cold`: nothing of A is in the cache. */
static heddle_status time_product(double *ms, struct bound *b, struct vectors *v, int cold)
{
    heddle_status status = HEDDLE_OK;
    struct bound_info info;
    if (cold)
        TRY(gpu_read_all(v->watch.device, v->flush, v->flush_bytes));
    TRY(stopwatch_start(&v->watch));
    TRY(bound_run(b, (struct scalars){.alpha = 1}, v->x, v->y));
    TRY(stopwatch_stop(&v->watch, ms));
    bound_describe(b, &info);
    *ms = fake ? fake(&info, cold) : *ms;
done:
    return status;
}

/* Has it been measured often enough, `done` times since `begin`? */
static int enough(const struct vectors *v, int done, int least, int most, double begin)
{
    const int hurries = gpu_is_emulated(v->watch.device->gpu) && !fake;
    return done >= most || (done >= least && (hurries || now_ms() - begin >= MEASURE_MS));
}

/* The share of products that find nothing of A in the cache. */
static double cold_share(const struct vectors *v)
{
    return !v->flush || v->cache == HEDDLE_CACHE_WARM ? 0 : v->cache == HEDDLE_CACHE_COLD ? 1 : 0.5;
}

heddle_status bound_measure(double *ms, struct bound *b, struct vectors *v, double hopeless)
{
    heddle_status status = HEDDLE_OK;
    double begin = now_ms(), best[2] = {INFINITY, INFINITY}, share = cold_share(v);
    for (int i = 0; !enough(v, i, RUNS_LEAST, RUNS, begin); i++) {
        int cold = share > 0 && (share == 1 || i % 2);
        TRY(time_product(ms, b, v, cold));
        if (i == 1 && *ms > hopeless)
            goto done;
        if (i > 0)
            best[cold] = fmin(best[cold], *ms);
    }
    *ms = share == 0 ? best[0] : share == 1 ? best[1] : (best[0] + best[1]) / 2;
done:
    return status;
}

/* -------------------------------------------------------- two beside each other --------------- */

/* So many rounds, unless they take longer than MEASURE_MS; each has a product of either kernel, warm and
 * cold. */
#define ROUNDS 7
#define ROUNDS_LEAST 3

static void sort(double *t, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && t[k] < t[k - 1]; k--) {
            double swap = t[k];
            t[k] = t[k - 1];
            t[k - 1] = swap;
        }
}

/* Median and half the distance of the quartiles. */
static struct timing timing_of(double *t, int n)
{
    sort(t, n);
    return (struct timing){.ms = t[n / 2], .spread = (t[n - 1 - n / 4] - t[n / 4]) / 2};
}

heddle_status bound_compare(struct timing timing[2], struct bound *const b[2], struct vectors *v)
{
    heddle_status status = HEDDLE_OK;
    double begin = now_ms(), share = cold_share(v), t[2][ROUNDS], ms;
    int rounds = 0;
    for (int k = 0; k < 2; k++)
        TRY(time_product(&ms, b[k], v, 0)); /* which loads and warms up */
    for (; !enough(v, rounds, ROUNDS_LEAST, ROUNDS, begin); rounds++)
        for (int i = 0; i < 2; i++) {
            int k = (i + rounds) % 2; /* who is first in a round is second in the next */
            t[k][rounds] = 0;
            if (share > 0) {
                TRY(time_product(&ms, b[k], v, 1));
                t[k][rounds] += share * ms;
            }
            if (share < 1) {
                TRY(time_product(&ms, b[k], v, 0)); /* the one before has left the cache as it should be */
                t[k][rounds] += (1 - share) * ms;
            }
        }
    for (int k = 0; k < 2; k++)
        timing[k] = timing_of(t[k], rounds);
done:
    return status;
}

int timing_is_ahead(const struct timing *of, const struct timing *before)
{
    return of->ms + fmax(of->spread, before->spread) < before->ms;
}
