/* SPDX-License-Identifier: MIT
 *
 * launches.h: the time of each kernel that a product on a GPU launches. */
#ifndef BENCH_LAUNCHES_H
#define BENCH_LAUNCHES_H

#include "run/device.h"

#define LAUNCHES_MOST 6
#define LAUNCH_NAME 48

struct launches {
    int count; /* 0: not measured */
    char entry[LAUNCHES_MOST][LAUNCH_NAME];
    double ms[LAUNCHES_MOST]; /* each the least of several products */
};

/* `product` runs once; `before` comes first each time and keeps the device busy, so that launches queue up
 * behind it and the time between them is the device's.  Left empty where the device is none or a product
 * has more launches than fit. */
heddle_status launches_take(struct launches *l, const struct device *d, void (*before)(void *),
                            heddle_status (*product)(void *), void *argument);

#endif
