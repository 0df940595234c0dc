/* SPDX-License-Identifier: MIT
 *
 * guarded.h: y in the memory of a device, between guard words.  A product that is given it reaches the
 * device's own y, whatever beta is, and what it writes before or behind y shows. */
#ifndef BENCH_GUARDED_H
#define BENCH_GUARDED_H

#include "run/device.h"

struct guarded {
    const struct device *device;
    char *all; /* guard, y, guard */
    void *y;
    int64_t bytes; /* of y */
};

heddle_status guarded_new(struct guarded *g, const struct device *device, int64_t bytes);
void guarded_free(struct guarded *g); /* takes a zeroed one as well */
/* Makes y what stands in host memory at `from`, and the guards whole. */
heddle_status guarded_set(struct guarded *g, const void *from);
/* Waits and brings y to host memory.  *whole is 0 when a guard was written, and *outside then where, in
 * bytes from the beginning of y: the place that is nearest to y, behind it if there is one. */
heddle_status guarded_get(const struct guarded *g, void *to, int *whole, int64_t *outside);

#endif
