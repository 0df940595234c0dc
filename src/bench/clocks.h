/* SPDX-License-Identifier: MIT
 *
 * clocks.h: does the GPU run as fast as it can?  Asked of NVML, which comes with NVIDIA's driver and is
 * opened at run time; where it is not there, nothing is known and nothing is dropped. */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include "run/device.h"

struct clocks {
    void *library; /* NULL: nothing is known */
    void *device;  /* NVML's handle */
    double asked;  /* when last, by now_ms */
    int slowed;    /* what the answer was */
};

/* Never fails: what cannot be found out stays unknown. */
void clocks_open(struct clocks *c, const struct device *d);
void clocks_close(struct clocks *c);

/* Is it slowed down now, by heat, by its power limit or by the power supply?  0 when unknown.  An answer
 * stands for some milliseconds: asking takes longer than a product, and the reasons last. */
int clocks_slowed(struct clocks *c);
/* Megahertz now; 0 when unknown. */
int clocks_core_mhz(const struct clocks *c);
int clocks_memory_mhz(const struct clocks *c);

#endif
