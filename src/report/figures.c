/* SPDX-License-Identifier: MIT
 *
 * The main figures, each drawn from one table of cases: the same as on the page, without a browser. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/cases.h"
#include "report/svg.h"

#define WIDTH 860
#define SHOWN_MOST 12  /* kernels with a label of their own; the others are drawn faintly */
#define FACTOR_MOST 10 /* of the profile's axis */

/* One figure on its way. */
struct drawing {
    const struct records *r;
    const struct figure_choice *choice;
    struct cases cases;
    struct chart chart;
    int *order; /* size kernels: from the best to the worst */
    double *score;
};

static const char *kernel_name(const struct drawing *d, int64_t k)
{
    return record_text(d->r, d->cases.kernel[k]);
}

static double ms_of(const struct drawing *d, int64_t k, int64_t m)
{
    return d->cases.ms[k * d->cases.matrices + m];
}

static double gflops_of(const struct drawing *d, int64_t k, int64_t m)
{
    return 2e-6 * (double)d->r->matrix[d->cases.matrix[m]].nnz / ms_of(d, k, m);
}

/* The share of matrices on which kernel k needs at most `factor` times the best time. */
static double share_within(const struct drawing *d, int64_t k, double factor)
{
    int64_t count = 0;
    for (int64_t m = 0; m < d->cases.matrices; m++)
        count += ms_of(d, k, m) <= d->cases.best[m] * factor; /* never for NAN */
    return (double)count / (double)d->cases.matrices;
}

/* Kernels by the area under their profile, the largest first. */
static void rank(struct drawing *d)
{
    for (int64_t k = 0; k < d->cases.kernels; k++) {
        d->score[k] = 0;
        for (int step = 0; step < 60; step++)
            d->score[k] += share_within(d, k, pow(FACTOR_MOST, step / 59.0));
        int at = (int)k;
        for (; at > 0 && d->score[d->order[at - 1]] < d->score[k]; at--)
            d->order[at] = d->order[at - 1];
        d->order[at] = (int)k;
    }
}

static heddle_status drawing_begin(struct drawing *d, struct text *svg, const struct records *r,
                                   const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    *d = (struct drawing){.r = r, .choice = choice, .chart = {.svg = svg, .width = WIDTH}};
    TRY(cases_new(&d->cases, r, choice));
    TRY(NEW(d->order, d->cases.kernels));
    TRY(NEW(d->score, d->cases.kernels));
    rank(d);
done:
    return status;
}

static heddle_status drawing_end(struct drawing *d, heddle_status status)
{
    if (status == HEDDLE_OK && d->chart.svg->failed)
        status = HEDDLE_NO_MEMORY;
    cases_free(&d->cases);
    mem_free(d->order);
    mem_free(d->score);
    return status;
}

/* The title, and below it what was measured on what. */
static void head(struct drawing *d, const char *title)
{
    struct text note = {0};
    const struct figure_choice *c = d->choice;
    text_add(&note,
             "%s \xc2\xb7 %s \xc2\xb7 %s \xc2\xb7 %s caches \xc2\xb7 %lld matrices \xc2\xb7 %lld kernels",
             c->device, c->value,
             strcmp(c->op, "N") == 0   ? "A x"
             : strcmp(c->op, "T") == 0 ? "A\xe1\xb5\x80 x"
                                       : "A\xe1\xb4\xb4 x",
             c->cold ? "cold" : "warm", (long long)d->cases.matrices, (long long)d->cases.kernels);
    chart_begin(&d->chart, title, note.failed ? "" : note.data);
    text_free(&note);
}

static int shown(const struct drawing *d)
{
    return d->cases.kernels < SHOWN_MOST ? (int)d->cases.kernels : SHOWN_MOST;
}

/* ------------------------------------------------------------------ profile */

/* A stair over the factors: it rises where another matrix comes within reach. */
static void draw_profile_line(struct drawing *d, int64_t k, int faint)
{
    struct text *svg = d->chart.svg;
    const struct axis *x = &d->chart.x, *y = &d->chart.y;
    double last = share_within(d, k, 1);
    text_add(
        svg,
        "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-opacity=\"%s\" stroke-dasharray=\"%s\" "
        "stroke-linejoin=\"round\" d=\"M%.1f,%.1f",
        faint ? RULE : d->cases.colour[k],
        faint              ? "1"
        : d->cases.peer[k] ? "1.3"
                           : "2",
        faint ? ".5" : "1", d->cases.dash[k] ? d->cases.dash[k] : "none", x->from, axis_at(y, last));
    for (double at = x->from + 0.5; at <= x->to; at += 0.5) {
        double share = share_within(d, k, pow(x->high, (at - x->from) / (x->to - x->from)));
        if (share != last)
            text_add(svg, "H%.1fV%.1f", at, axis_at(y, share));
        last = share;
    }
    text_add(svg, "H%.1f\"/>\n", x->to);
}

static heddle_status draw_profile(struct text *svg, const struct records *r,
                                  const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    struct drawing d;
    double at[SHOWN_MOST];
    int by_height[SHOWN_MOST];
    TRY(drawing_begin(&d, svg, r, choice));
    d.chart.height = 460;
    d.chart.x = (struct axis){1, FACTOR_MOST, 60, WIDTH - 190, 1};
    d.chart.y = (struct axis){0, 1, 408, 92, 0};
    head(&d, "Performance profile");
    chart_x(&d.chart, "time at most this many times the best kernel's", TICK_TIMES);
    chart_y(&d.chart, "share of matrices", TICK_PERCENT);
    for (int i = (int)d.cases.kernels - 1; i >= 0; i--)
        draw_profile_line(&d, d.order[i], i >= shown(&d));
    for (int i = 0; i < shown(&d); i++) {
        int place = i;
        at[i] = axis_at(&d.chart.y, share_within(&d, d.order[i], FACTOR_MOST)) + 4;
        for (; place > 0 && at[by_height[place - 1]] > at[i]; place--)
            by_height[place] = by_height[place - 1];
        by_height[place] = i;
    }
    spread_labels(at, by_height, shown(&d), 15, 60, 412);
    for (int i = 0; i < shown(&d); i++)
        svg_text(svg, d.chart.x.to + 10, at[i], ANCHOR_START, d.cases.colour[d.order[i]],
                 kernel_name(&d, d.order[i]));
    chart_end(&d.chart);
done:
    return drawing_end(&d, status);
}

/* ------------------------------------------------------------------ GFLOP/s over nonzeros */

/* Names with their dots, in rows from the left; returns the height taken. */
static double legend(struct drawing *d, double top)
{
    struct svg_legend l = {.width = WIDTH, .top = top};
    for (int i = 0; i < shown(d); i++)
        svg_legend_add(d->chart.svg, &l, kernel_name(d, d->order[i]), d->cases.colour[d->order[i]]);
    return l.top - top + 19;
}

static void draw_points(struct drawing *d, int64_t k)
{
    text_add(d->chart.svg, "<g fill=\"%s\" fill-opacity=\".78\">\n", d->cases.colour[k]);
    for (int64_t m = 0; m < d->cases.matrices; m++)
        if (ms_of(d, k, m) > 0)
            text_add(d->chart.svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
                     axis_at(&d->chart.x, (double)d->r->matrix[d->cases.matrix[m]].nnz),
                     axis_at(&d->chart.y, gflops_of(d, k, m)));
    text_add(d->chart.svg, "</g>\n");
}

/* What the memory would allow: a tick over each matrix. */
static void draw_floor(struct drawing *d)
{
    for (int64_t m = 0; m < d->cases.matrices; m++) {
        double nnz = (double)d->r->matrix[d->cases.matrix[m]].nnz, x = axis_at(&d->chart.x, nnz);
        double limit = 2e-6 * nnz / d->cases.floor[m], y = axis_at(&d->chart.y, limit);
        if (limit > 0 && limit <= d->chart.y.high)
            svg_line(d->chart.svg, x - 4, y, x + 4, y, "stroke=\"" INK "\" stroke-width=\"1.5\"");
    }
}

static heddle_status draw_gflops(struct text *svg, const struct records *r,
                                 const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    struct drawing d;
    TRY(drawing_begin(&d, svg, r, choice));
    d.chart.x = (struct axis){.log = 1};
    d.chart.y = (struct axis){.log = 1};
    for (int64_t m = 0; m < d.cases.matrices; m++) {
        double nnz = (double)r->matrix[d.cases.matrix[m]].nnz;
        axis_hold(&d.chart.x, nnz);
        axis_hold(&d.chart.y, 2e-6 * nnz / d.cases.floor[m]);
        for (int i = 0; i < shown(&d); i++)
            axis_hold(&d.chart.y, gflops_of(&d, d.order[i], m));
    }
    axis_round(&d.chart.x);
    axis_round(&d.chart.y);
    d.chart.height = 540;
    head(&d, "Speed over nonzeros");
    double taken = legend(&d, 74);
    d.chart.x.from = 60;
    d.chart.x.to = WIDTH - 24;
    d.chart.y.from = 488;
    d.chart.y.to = 74 + taken + 22;
    chart_x(&d.chart, "nonzeros", TICK_COUNT);
    chart_y(&d.chart, "GFLOP/s (2 nonzeros over time); short lines: what memory allows", TICK_PLAIN);
    draw_floor(&d);
    for (int i = shown(&d) - 1; i >= 0; i--)
        draw_points(&d, d.order[i]);
    chart_end(&d.chart);
done:
    return drawing_end(&d, status);
}

/* ------------------------------------------------------------------ one row a kernel */

/* The geometric mean of a figure over the matrices that have it. */
static double mean_of(const struct drawing *d, int64_t k,
                      double (*value)(const struct drawing *d, int64_t k, int64_t m), int *count)
{
    double logs = 0;
    *count = 0;
    for (int64_t m = 0; m < d->cases.matrices; m++) {
        double v = value(d, k, m);
        if (v > 0 && isfinite(v)) {
            logs += log(v);
            ++*count;
        }
    }
    return *count ? exp(logs / *count) : NAN;
}

static double speedup_of(const struct drawing *d, int64_t k, int64_t m)
{
    return ms_of(d, d->cases.baseline, m) / ms_of(d, k, m);
}

/* Orders the kernels by a mean, the largest first; those without one stand last. */
static void rank_by(struct drawing *d, double (*value)(const struct drawing *d, int64_t k, int64_t m))
{
    for (int64_t k = 0; k < d->cases.kernels; k++) {
        int count, at = (int)k;
        double mean = mean_of(d, k, value, &count);
        d->score[k] = count ? mean : 0;
        for (; at > 0 && d->score[d->order[at - 1]] < d->score[k]; at--)
            d->order[at] = d->order[at - 1];
        d->order[at] = (int)k;
    }
}

#define ROW 26
#define LETTER 7 /* width, at most, of one in the name of a kernel */

/* Where rows begin: behind the longest name, in the middle at the latest. */
static double rows_left(const struct drawing *d)
{
    double left = 190;
    for (int64_t k = 0; k < d->cases.kernels; k++)
        left = fmax(left, 20 + LETTER * (double)strlen(kernel_name(d, k)));
    return fmin(left, WIDTH / 2.0);
}

/* The name at the left of row i and a mean at its right: "1.52x" or "1.52x of 18". */
static void row_words(struct drawing *d, int i, double y, const char *unit)
{
    char words[64];
    int64_t k = d->order[i];
    int count;
    double mean = mean_of(d, k, unit[0] == ' ' ? gflops_of : speedup_of, &count);
    svg_text(d->chart.svg, d->chart.x.from - 14, y + 4, ANCHOR_END, d->cases.colour[k], kernel_name(d, k));
    if (!count)
        snprintf(words, sizeof words, "no matrix in common");
    else if (count < d->cases.matrices)
        snprintf(words, sizeof words, "%.3g%s on %d of %lld", mean, unit, count,
                 (long long)d->cases.matrices);
    else
        snprintf(words, sizeof words, "%.3g%s", mean, unit);
    svg_text(d->chart.svg, WIDTH - 16, y + 4, ANCHOR_END, INK, words);
}

static heddle_status draw_speedup(struct text *svg, const struct records *r,
                                  const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    struct drawing d;
    char title[160];
    TRY(drawing_begin(&d, svg, r, choice));
    rank_by(&d, speedup_of);
    d.chart.x = (struct axis){.log = 1, .from = rows_left(&d), .to = WIDTH - 150};
    axis_hold(&d.chart.x, 0.8);
    axis_hold(&d.chart.x, 1.25);
    for (int64_t k = 0; k < d.cases.kernels; k++)
        for (int64_t m = 0; m < d.cases.matrices; m++)
            axis_hold(&d.chart.x, speedup_of(&d, k, m));
    axis_round(&d.chart.x);
    d.chart.y = (struct axis){.low = 0, .high = 1, .from = 78 + ROW * (double)d.cases.kernels, .to = 70};
    d.chart.height = d.chart.y.from + 50;
    snprintf(title, sizeof title, "Speed-up over %.80s", choice->baseline);
    head(&d, title);
    chart_x(&d.chart, "times as fast; a dot a matrix, the bar is the geometric mean (right)", TICK_TIMES);
    double one = axis_at(&d.chart.x, 1);
    svg_line(svg, one, d.chart.y.from, one, d.chart.y.to, "stroke=\"" INK "\" stroke-width=\"1.5\"");
    for (int i = 0; i < (int)d.cases.kernels; i++) {
        double y = 78 + ROW * (i + 0.5);
        int64_t k = d.order[i];
        text_add(svg, "<g fill=\"%s\" fill-opacity=\".55\">\n", d.cases.colour[k]);
        for (int64_t m = 0; m < d.cases.matrices; m++)
            if (speedup_of(&d, k, m) > 0)
                text_add(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n",
                         axis_at(&d.chart.x, speedup_of(&d, k, m)), y);
        text_add(svg, "</g>\n");
        if (d.score[k] > 0)
            text_add(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"3\" height=\"18\" rx=\"1.5\" fill=\"%s\"/>\n",
                     axis_at(&d.chart.x, d.score[k]) - 1.5, y - 9, d.cases.colour[k]);
        row_words(&d, i, y, "\xc3\x97");
    }
    chart_end(&d.chart);
done:
    return drawing_end(&d, status);
}

static heddle_status draw_means(struct text *svg, const struct records *r, const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    struct drawing d;
    TRY(drawing_begin(&d, svg, r, choice));
    rank_by(&d, gflops_of);
    d.chart.x = (struct axis){.from = rows_left(&d), .to = WIDTH - 190};
    for (int64_t k = 0; k < d.cases.kernels; k++)
        d.chart.x.high = fmax(d.chart.x.high, d.score[k]);
    axis_round(&d.chart.x);
    d.chart.y = (struct axis){.low = 0, .high = 1, .from = 78 + ROW * (double)d.cases.kernels, .to = 70};
    d.chart.height = d.chart.y.from + 50;
    head(&d, "Geometric mean of GFLOP/s");
    chart_x(&d.chart, "GFLOP/s, geometric mean over the matrices that the kernel takes", TICK_PLAIN);
    for (int i = 0; i < (int)d.cases.kernels; i++) {
        double y = 78 + ROW * (i + 0.5), to = axis_at(&d.chart.x, d.score[d.order[i]]);
        int taken;
        mean_of(&d, d.order[i], gflops_of, &taken);
        text_add(svg, "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" rx=\"2\" fill=\"%s\"%s/>\n",
                 d.chart.x.from, y - 7, fmax(to - d.chart.x.from, 1), d.cases.colour[d.order[i]],
                 taken < d.cases.matrices ? " fill-opacity=\".45\"" : "");
        row_words(&d, i, y, " GFLOP/s");
    }
    chart_end(&d.chart);
done:
    return drawing_end(&d, status);
}

const struct figure figures[] = {
    {"profile", "share of matrices within a factor of the best kernel", draw_profile},
    {"gflops", "GFLOP/s over nonzeros, with what memory allows", draw_gflops},
    {"speedup", "speed-up over the baseline, matrix by matrix", draw_speedup},
    {"means", "geometric means of GFLOP/s", draw_means},
    {0}};
