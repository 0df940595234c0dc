/* SPDX-License-Identifier: MIT
 *
 * quiet.h: was the machine ours alone?  What other programs, and a hypervisor's other guests, took of its
 * processors meanwhile. */
#ifndef BENCH_QUIET_H
#define BENCH_QUIET_H

struct quiet { /* seconds since whenever */
    double wall;
    double busy; /* all processors, idle ones not counted; NaN where the system does not tell */
    double own;  /* this process */
};

struct quiet quiet_now(void);
/* How many processors others kept busy since then; NaN where that is not known, or the time is too short
 * to tell. */
double quiet_others(const struct quiet *since);

#endif
