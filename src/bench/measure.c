/* SPDX-License-Identifier: MIT */
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples and sums them up; quartiles are samples, without interpolation, and the median of an
 * even number is the mean of the middle two. */
static struct timing summary(double *sample, int n)
{
    qsort(sample, (size_t)n, sizeof *sample, by_size);
    struct timing t = {.least_ms = sample[0], .repetitions = n};
    t.median_ms = (sample[(n - 1) / 2] + sample[n / 2]) / 2;
    if (t.median_ms > 0)
        t.spread = (sample[(3 * (n - 1) + 2) / 4] - sample[(n - 1) / 4]) / t.median_ms;
    return t;
}

heddle_status measure(struct timing *t, const struct rule *rule, measured *once, void *argument)
{
    heddle_status status = HEDDLE_OK;
    double *sample = NULL, *slow = NULL, spent = 0, ms = 0;
    int next_look = rule->least, n = 0, dropped = 0;
    *t = (struct timing){0};
    TRY(NEW(sample, rule->most));
    TRY(NEW(slow, rule->most));
    while (n < rule->most && dropped < rule->most && (n + dropped == 0 || spent < rule->limit_ms)) {
        TRY(once(argument, &ms));
        spent += fabs(ms);
        if (signbit(ms)) {
            slow[dropped++] = -ms;
            continue;
        }
        sample[n++] = ms;
        if (n >= next_look) { /* looking sorts: do it at growing distances */
            if (summary(sample, n).spread <= rule->spread)
                break;
            next_look = n + n / 4 + 1;
        }
    }
    *t = n > 0 ? summary(sample, n) : summary(slow, dropped);
    t->dropped = n > 0 ? dropped : 0;
done:
    mem_free(sample);
    mem_free(slow);
    return status;
}
