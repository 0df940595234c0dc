/* SPDX-License-Identifier: MIT
 *
 * device.h: what products run on, with its memory and its time: the same for a CPU (its own memory,
 * everything done when a call returns) and a GPU (its driver's memory, everything in the order of the
 * device's stream). */
#ifndef RUN_DEVICE_H
#define RUN_DEVICE_H

#include "base/cpu.h"
#include "gpu/gpu.h"
#include "matrix/matrix.h"

/* Where a kernel runs: rows of kernels.def name one of these, perhaps with _real behind it. */
enum device_kind { DEVICE_cpu, DEVICE_gpu, DEVICE_KINDS };

/* What products run on.  On a GPU every array of a matrix, x, y and the workspace lie in the memory of
 * `gpu`; host code above the driver table never follows such a pointer. */
struct device {
    enum device_kind kind;
    int threads;     /* cpu: how many */
    enum isa isa;    /* cpu: the widest instruction set that kernels may use */
    struct gpu *gpu; /* gpu: an open device (any vendor, or the emulator) */
    void *stream;    /* gpu: the vendor's own handle; NULL: the default stream */
};

const char *device_kind_name(enum device_kind kind);

/* NULL after a failure, and for 0 bytes on a GPU; device_free takes NULL. */
heddle_status device_alloc(const struct device *d, void **p, int64_t bytes);
void device_free(const struct device *d, void *p);
/* Either side may be host memory; host memory must stay as it is until device_sync. */
heddle_status device_copy(const struct device *d, void *to, const void *from, int64_t bytes);
heddle_status device_fill(const struct device *d, void *p, int byte, int64_t bytes);
heddle_status device_sync(const struct device *d);
/* To host memory, which has it when the call returns. */
heddle_status device_read(const struct device *d, void *to, const void *from, int64_t bytes);

/* Between the two a GPU is the current device of this thread: for calls to its vendor's libraries, and so
 * that many calls in a row need not switch each time.  Nothing happens on a CPU. */
heddle_status device_enter(const struct device *d, void **before);
void device_leave(const struct device *d, void *before);

/* A matrix whose arrays lie in the memory of the device. */
/* Sizes and types of `shape` */
heddle_status device_csr_new(const struct device *d, struct csr *A, const struct csr *shape);
void device_csr_free(const struct device *d, struct csr *A);
/* B on the device, A in host memory; and the reverse, where csr_free frees B.  Both wait. */
heddle_status device_csr_upload(const struct device *d, struct csr *B, const struct csr *A);
heddle_status device_csr_download(const struct device *d, struct csr *B, const struct csr *A);

/* now_ms, but standing still while binaries of the device are loaded, which is done once for all who need
 * them. */
double device_clock(const struct device *d);

/* Between start and stop: what the device was given to do, or on a CPU the time that went by. */
struct stopwatch {
    const struct device *device;
    double start;
    struct gpu_event *from, *to; /* gpu only */
};
heddle_status stopwatch_new(struct stopwatch *w, const struct device *d);
void stopwatch_free(struct stopwatch *w); /* takes a zeroed one as well */
heddle_status stopwatch_start(struct stopwatch *w);
heddle_status stopwatch_stop(struct stopwatch *w, double *ms); /* waits */

#endif
