/* SPDX-License-Identifier: MIT
 *
 * measure.h: repeat until it is known well enough.  A measurement ends when the middle half of its
 * repetitions lies close enough together, and no later than the largest number of repetitions or the time
 * limit allow. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "base/status.h"

struct rule {
    double spread;   /* good enough: (third quartile - first quartile) / median */
    int least, most; /* repetitions, 1 <= least <= most */
    double limit_ms; /* of all repetitions together; `least` may exceed it by one repetition at most */
};

struct timing {
    double median_ms, least_ms;
    double spread;   /* as in the rule; 0 for one repetition */
    int repetitions; /* 0: not measured */
    int dropped;     /* repetitions that did not count */
};

/* Does it once and tells how long that took: as a negative number if the device was slowed down meanwhile.
 * Such repetitions do not count, unless all were like that. */
typedef heddle_status measured(void *argument, double *ms);

heddle_status measure(struct timing *t, const struct rule *rule, measured *once, void *argument);

#endif
