/* SPDX-License-Identifier: MIT
 *
 * timer.h: the one clock of the project. */
#ifndef BASE_TIMER_H
#define BASE_TIMER_H

#include <time.h>

/* Milliseconds since some fixed moment; never goes back. */
static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

#endif
