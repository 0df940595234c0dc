/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "bench/quiet.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/timer.h"

#define SHORT_S 0.05 /* the system counts in hundredths of a second */

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* user nice system idle iowait irq softirq steal, in ticks; steal is what other guests took. */
static double busy_seconds(void)
{
    unsigned long long t[8] = {0};
    FILE *f = fopen("/proc/stat", "r");
    int n = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
                       &t[5], &t[6], &t[7])
              : 0;
    if (f)
        fclose(f);
    return n < 7 ? NAN : (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
}

struct quiet quiet_now(void)
{
    struct rusage usage;
    struct quiet q = {.wall = now_ms() / 1e3, .busy = busy_seconds()};
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        q.own = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return q;
}

double quiet_others(const struct quiet *since)
{
    struct quiet now = quiet_now();
    double wall = now.wall - since->wall;
    return wall < SHORT_S ? NAN : fmax(0, (now.busy - since->busy - (now.own - since->own)) / wall);
}
