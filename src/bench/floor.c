/* SPDX-License-Identifier: MIT */
#include "bench/floor.h"

#include <math.h>

#include "base/memory.h"
#include "base/timer.h"

#define TRIES_MS 1000 /* in all, for as many bytes */

static double measured(struct floors *f, double bytes)
{
    double ms = probe_again_ms(f->probe, bytes);
    return f->probe->device.kind == DEVICE_gpu ? fmax(ms, f->launch_ms) : ms;
}

static int find(const struct floors *f, double bytes)
{
    int i = 0;
    while (i < f->count && f->kept[i].bytes != bytes)
        i++;
    return i;
}

double floor_ms(struct floors *f, double bytes)
{
    if (gpu_is_emulated(f->probe->device.gpu) || !(bytes > 0))
        return NAN;
    int i = find(f, bytes);
    if (i < f->count)
        return f->kept[i].ms;
    double ms = measured(f, bytes);
    if (i < FLOORS_KEPT)
        f->kept[f->count++] = (struct floor){.bytes = bytes, .ms = ms};
    return ms;
}

double floor_beside_ms(struct floors *f, double bytes, double ms)
{
    struct floor here = {.bytes = bytes, .ms = floor_ms(f, bytes)};
    int i = find(f, bytes);
    if (i < f->count)
        here = f->kept[i];
    while (here.ms > ms && here.tried_ms < TRIES_MS) {
        const double begin = now_ms();
        here.ms = fmin(here.ms, measured(f, bytes));
        here.tried_ms += now_ms() - begin;
    }
    if (i < f->count)
        f->kept[i] = here;
    return here.ms;
}

heddle_status floor_used(const struct csr *A, int64_t *rows, int64_t *cols)
{
    char *seen = mem_zeroed(A->cols + 1, 1);
    *rows = *cols = 0;
    if (!seen)
        return HEDDLE_NO_MEMORY;
    for (int64_t i = 0; i < A->rows; i++)
        *rows += csr_offset(A, i + 1) > csr_offset(A, i);
    for (int64_t k = 0; k < A->nnz; k++) {
        *cols += !seen[A->col[k]];
        seen[A->col[k]] = 1;
    }
    mem_free(seen);
    return HEDDLE_OK;
}
