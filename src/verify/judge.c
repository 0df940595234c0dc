/* SPDX-License-Identifier: MIT
 *
 * A result against its reference, row by row.  Parts are fixed and merged in order, so that the first bad
 * row is the first one for any number of threads. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "base/thread.h"
#include "verify/verify.h"

#define PARTS 64

/* error / bound of one part; INFINITY when NaN or infinity is not where it belongs. */
static double part_error(const struct reference *r, int64_t i, double y)
{
    double high = r->high[i];
    if (isnan(high) || isinf(high))
        return (isnan(high) ? isnan(y) : y == high) ? 0 : INFINITY;
    if (!isfinite(y))
        return INFINITY;
    double error = fabs((y - high) - r->low[i]);
    return error == 0 ? 0 : error / r->bound[i];
}

/* The same of row i, the worse of its parts; *worse tells which. */
static double row_error(const struct reference *r, int64_t i, double _Complex y, int *worse)
{
    const int64_t at = i * r->parts;
    *worse = 0;
    if (r->bound[at] == INFINITY)
        return 0;
    if (r->parts == 1)
        return part_error(r, at, RE(y));
    if (isnan(r->high[at])) /* of both parts, or of none */
        return isfinite(RE(y)) && isfinite(IM(y)) ? INFINITY : 0;
    const double re = part_error(r, at, RE(y)), im = part_error(r, at + 1, IM(y));
    *worse = im > re;
    return fmax(re, im);
}

struct judging {
    const struct reference *r;
    const void *y;
    struct verdict part[PARTS];
};

static void judge_rows(struct verdict *v, const struct reference *r, const void *y, int64_t begin,
                       int64_t end)
{
    *v = (struct verdict){.first = -1};
    for (int64_t i = begin; i < end; i++) {
        int part;
        double _Complex value = value_at(y, r->type, i);
        const double error = row_error(r, i, value, &part);
        if (error > v->error)
            v->error = error;
        if (error <= 1)
            continue;
        if (v->bad_rows++ == 0) {
            v->first = i;
            v->got = value;
            RE(v->expected) = r->high[i * r->parts];
            IM(v->expected) = r->parts == 2 ? r->high[i * r->parts + 1] : 0;
            v->bound = r->bound[i * r->parts + part];
        }
    }
}

static void work(void *argument, const struct team *team)
{
    struct judging *job = argument;
    for (int64_t part = team->thread; part < PARTS; part += team->threads)
        judge_rows(&job->part[part], job->r, job->y, part_begin(job->r->n, part, PARTS),
                   part_begin(job->r->n, part + 1, PARTS));
}

void reference_judge(struct verdict *v, const struct reference *r, const void *y)
{
    struct judging job = {.r = r, .y = y};
    team_run(threads_default(), work, &job);
    *v = (struct verdict){.first = -1};
    for (int i = 0; i < PARTS; i++) {
        struct verdict merged = v->first < 0 ? job.part[i] : *v;
        merged.error = fmax(v->error, job.part[i].error);
        merged.bad_rows = v->bad_rows + job.part[i].bad_rows;
        *v = merged;
    }
    v->passed = v->bad_rows == 0;
}

char *verdict_text(char buffer[VERDICT_TEXT], const struct verdict *v, const struct reference *r)
{
    char got[COMPLEX_TEXT], expected[COMPLEX_TEXT];
    buffer[0] = 0;
    if (!v->passed)
        snprintf(buffer, VERDICT_TEXT, "row %lld is %s, not %s (bound %.3g; %lld of %lld rows are wrong)",
                 (long long)v->first, text_complex(got, v->got, 17), text_complex(expected, v->expected, 17),
                 v->bound, (long long)v->bad_rows, (long long)r->n);
    return buffer;
}
