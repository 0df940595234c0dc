/* SPDX-License-Identifier: MIT */
#include "bench/floor.h"

#include <math.h>

#include "base/memory.h"
#include "base/timer.h"

#define TRIES_MS 3000

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
    if (i < FLOORS_KEPT) {
        f->kept[i].bytes = bytes;
        f->kept[i].ms = ms;
        f->count++;
    }
    return ms;
}

double floor_beside_ms(struct floors *f, double bytes, double ms)
{
    double floor = floor_ms(f, bytes), begin = now_ms();
    while (floor > ms && now_ms() - begin < TRIES_MS)
        floor = fmin(floor, measured(f, bytes));
    int i = find(f, bytes);
    if (i < f->count)
        f->kept[i].ms = floor;
    return floor;
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
