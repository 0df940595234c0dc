/* SPDX-License-Identifier: MIT */
#include "run/device.h"

#include <string.h>

#include "base/memory.h"
#include "base/timer.h"

const char *device_kind_name(enum device_kind kind)
{
    static const char *const name[DEVICE_KINDS] = {[DEVICE_cpu] = "cpu", [DEVICE_gpu] = "gpu"};
    return name[kind];
}

static const struct gpu_driver *driver(const struct device *d)
{
    return gpu_driver_of(d->gpu);
}

heddle_status device_alloc(const struct device *d, void **p, int64_t bytes)
{
    *p = NULL;
    if (d->kind == DEVICE_gpu)
        return bytes == 0 ? HEDDLE_OK : driver(d)->alloc(d->gpu, p, bytes);
    *p = mem_alloc(bytes, 1);
    return *p ? HEDDLE_OK : HEDDLE_NO_MEMORY;
}

void device_free(const struct device *d, void *p)
{
    if (d->kind == DEVICE_cpu)
        mem_free(p);
    else if (p)
        driver(d)->release(d->gpu, p);
}

heddle_status device_copy(const struct device *d, void *to, const void *from, int64_t bytes)
{
    if (bytes == 0)
        return HEDDLE_OK;
    if (d->kind == DEVICE_gpu)
        return driver(d)->copy(d->gpu, to, from, bytes, d->stream);
    memcpy(to, from, (size_t)bytes);
    return HEDDLE_OK;
}

heddle_status device_fill(const struct device *d, void *p, int byte, int64_t bytes)
{
    if (bytes == 0)
        return HEDDLE_OK;
    if (d->kind == DEVICE_gpu)
        return driver(d)->fill(d->gpu, p, byte, bytes, d->stream);
    memset(p, byte, (size_t)bytes);
    return HEDDLE_OK;
}

heddle_status device_sync(const struct device *d)
{
    return d->kind == DEVICE_gpu ? driver(d)->sync(d->gpu, d->stream) : HEDDLE_OK;
}

heddle_status device_read(const struct device *d, void *to, const void *from, int64_t bytes)
{
    if (d->kind == DEVICE_gpu)
        return gpu_read(d->gpu, to, from, bytes, d->stream);
    return device_copy(d, to, from, bytes);
}

heddle_status device_enter(const struct device *d, void **before)
{
    *before = NULL;
    return d->kind == DEVICE_gpu ? gpu_hold(d->gpu, before) : HEDDLE_OK;
}

void device_leave(const struct device *d, void *before)
{
    if (d->kind == DEVICE_gpu)
        gpu_let_go(d->gpu, before);
}

/* -------------------------------------------------------- matrices ---------------------------- */

heddle_status device_csr_new(const struct device *d, struct csr *A, const struct csr *shape)
{
    heddle_status status = HEDDLE_OK;
    void *col = NULL;
    *A = *shape;
    A->row_ptr = A->val = A->col = NULL;
    TRY(device_alloc(d, &A->row_ptr, (A->rows + 1) * (int64_t)type_size(A->offset)));
    TRY(device_alloc(d, &col, A->nnz * (int64_t)sizeof *A->col));
    A->col = col;
    TRY(device_alloc(d, &A->val, A->nnz * (int64_t)type_size(A->value)));
done:
    if (status != HEDDLE_OK)
        device_csr_free(d, A);
    return status;
}

void device_csr_free(const struct device *d, struct csr *A)
{
    device_free(d, A->row_ptr);
    device_free(d, A->col);
    device_free(d, A->val);
    *A = (struct csr){0};
}

/* All arrays of A to B, which has room for them; waits. */
static heddle_status copy_arrays(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status;
    TRY(device_copy(d, B->row_ptr, A->row_ptr, (A->rows + 1) * (int64_t)type_size(A->offset)));
    TRY(device_copy(d, B->col, A->col, A->nnz * (int64_t)sizeof *A->col));
    TRY(device_copy(d, B->val, A->val, A->nnz * (int64_t)type_size(A->value)));
    TRY(device_sync(d));
done:
    return status;
}

heddle_status device_csr_upload(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status = device_csr_new(d, B, A);
    if (status == HEDDLE_OK && (status = copy_arrays(d, B, A)) != HEDDLE_OK)
        device_csr_free(d, B);
    return status;
}

heddle_status device_csr_download(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status = csr_new(B, A->rows, A->cols, A->nnz, A->value, A->offset);
    if (status == HEDDLE_OK && (status = copy_arrays(d, B, A)) != HEDDLE_OK)
        csr_free(B);
    return status;
}

/* -------------------------------------------------------- time -------------------------------- */

double device_clock(const struct device *d)
{
    return now_ms() - (d->kind == DEVICE_gpu ? gpu_load_ms(d->gpu) : 0);
}

heddle_status stopwatch_new(struct stopwatch *w, const struct device *d)
{
    heddle_status status = HEDDLE_OK;
    *w = (struct stopwatch){.device = d};
    if (d->kind == DEVICE_cpu)
        return HEDDLE_OK;
    TRY(driver(d)->event_new(d->gpu, &w->from));
    TRY(driver(d)->event_new(d->gpu, &w->to));
done:
    if (status != HEDDLE_OK)
        stopwatch_free(w);
    return status;
}

void stopwatch_free(struct stopwatch *w)
{
    if (w->from)
        driver(w->device)->event_free(w->device->gpu, w->from);
    if (w->to)
        driver(w->device)->event_free(w->device->gpu, w->to);
    w->from = w->to = NULL;
}

heddle_status stopwatch_start(struct stopwatch *w)
{
    const struct device *d = w->device;
    w->start = now_ms();
    return d->kind == DEVICE_gpu ? driver(d)->event_record(d->gpu, w->from, d->stream) : HEDDLE_OK;
}

heddle_status stopwatch_stop(struct stopwatch *w, double *ms)
{
    const struct device *d = w->device;
    *ms = now_ms() - w->start;
    if (d->kind == DEVICE_cpu)
        return HEDDLE_OK;
    heddle_status status = driver(d)->event_record(d->gpu, w->to, d->stream);
    return status == HEDDLE_OK ? driver(d)->event_ms(d->gpu, ms, w->from, w->to) : status;
}
