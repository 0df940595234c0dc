/* SPDX-License-Identifier: MIT
 *
 * limits.h: what bounds a product on a device, measured one thing at a time: how fast memory is read and
 * copied, how many entries of x are gathered a second, how many additions y takes, what a launch costs.
 * `heddle bench --limits` tells them. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "bench/measure.h"
#include "bench/probe.h"

/* One limit, measured. */
struct limit {
    const char *limit;    /* "read", "copy", "gather", "add", "launch" */
    const char *pattern;  /* "random" */
    heddle_type value;    /* of the elements; 0 where there are none of one type */
    int64_t span;         /* bytes that are read, gathered from or added to; 0 for a launch */
    int64_t count;        /* elements a repetition, or launches */
    struct timing timing; /* of a repetition */
    double figure;        /* in `unit` */
    const char *unit;     /* "GB/s", "G/s" (gathers, additions), "us" */
    double floor_us;      /* what a million nonzeros take at least, or (launch) any product; NaN where neither
                           * follows */
};

/* Hears of each limit as soon as it is known. */
typedef heddle_status limit_heard(void *argument, const struct limit *l);

/* Measures all that the device has, in seconds.  The emulator runs the same loops over a few kilobytes:
 * that shows that they work, not how fast anything is.  Nothing spans more than `memory` bytes; 0: no
 * limit.  The probe's buffer is written to. */
heddle_status limits_measure(struct probe *p, int64_t memory, limit_heard *heard, void *argument);

#endif
