/* SPDX-License-Identifier: MIT */
#include "report/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 860
#define LEFT 60
#define RIGHT (WIDTH - 24)
#define HEIGHT 540
#define ROW 22
#define NAMES 190 /* where the names of rows end */

static int is_number(double v)
{
    return isfinite(v) && v > 0;
}

/* The least value of a column, NAN when it has none. */
static double least(const struct grid *g, int64_t c)
{
    double best = NAN;
    for (int s = 0; s < g->series; s++)
        if (is_number(grid_at(g, s, c)) && !(best <= grid_at(g, s, c)))
            best = grid_at(g, s, c);
    return best;
}

double grid_within(const struct grid *g, int series, double factor)
{
    int64_t within = 0, all = 0;
    for (int64_t c = 0; c < g->columns; c++) {
        all += is_number(least(g, c));
        within += grid_at(g, series, c) <= least(g, c) * factor; /* never for NAN */
    }
    return all ? (double)within / (double)all : 0;
}

/* ------------------------------------------------------------------ what the kinds share */

static struct axis values_axis(const struct grid *g)
{
    struct axis a = {.log = !g->linear};
    for (int64_t i = 0; i < g->series * g->columns; i++)
        if (is_number(g->value[i]))
            axis_hold(&a, g->value[i]);
    if (isfinite(g->mark))
        axis_hold(&a, g->mark);
    if (a.high <= 0)
        a.low = a.high = 1;
    if (g->linear)
        a.low = 0;
    axis_round(&a);
    return a;
}

static struct axis places_axis(const struct grid *g)
{
    struct axis a = {.log = 1, .from = LEFT, .to = RIGHT};
    for (int64_t c = 0; c < g->columns; c++)
        if (is_number(g->x[c]) && is_number(least(g, c)))
            axis_hold(&a, g->x[c]);
    if (a.high <= 0)
        a.low = a.high = 1;
    axis_round(&a);
    return a;
}

static int is_empty(const struct grid *g)
{
    for (int64_t i = 0; i < g->series * g->columns; i++)
        if (is_number(g->value[i]))
            return 0;
    return 1;
}

/* Series that have any number at all, for the legend. */
static double legend(struct chart *c, const struct grid *g)
{
    struct svg_legend l = {.width = WIDTH, .top = 74};
    for (int s = 0; s < g->series; s++)
        for (int64_t column = 0; column < g->columns; column++)
            if (is_number(grid_at(g, s, column))) {
                svg_legend_add(c->svg, &l, g->head[s].label, g->head[s].colour);
                break;
            }
    return l.top + 19;
}

/* The frame of a chart with a number on both axes. */
static void frame(struct chart *c, const struct grid *g)
{
    c->height = HEIGHT;
    c->x = places_axis(g);
    c->y = values_axis(g);
    chart_begin(c, g->title, g->note);
    c->y.to = legend(c, g) + 22;
    c->y.from = HEIGHT - 52;
    chart_x(c, g->x_label, g->x_text);
    chart_y(c, g->y_label, g->y_text);
    if (isfinite(g->mark)) {
        double y = axis_at(&c->y, g->mark);
        svg_line(c->svg, c->x.from, y, c->x.to, y, "stroke=\"" INK "\" stroke-width=\"1.5\"");
    }
}

static void draw_dot(struct text *svg, const struct grid_series *s, double x, double y)
{
    text_add(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" %s=\"%s\"/>\n", x, y,
             s->broken ? "fill=\"none\" stroke-width=\"1.6\" stroke" : "fill-opacity=\".8\" fill", s->colour);
}

static void begin_path(struct text *svg, const struct grid_series *s)
{
    text_add(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s stroke-linejoin=\"round\" d=\"",
             s->colour, s->broken ? " stroke-dasharray=\"5 3\"" : "");
}

/* ------------------------------------------------------------------ over a number */

static void draw_points(struct chart *c, const struct grid *g)
{
    frame(c, g);
    for (int s = g->series - 1; s >= 0; s--)
        for (int64_t k = 0; k < g->columns; k++)
            if (is_number(grid_at(g, s, k)) && is_number(g->x[k]))
                draw_dot(c->svg, &g->head[s], axis_at(&c->x, g->x[k]), axis_at(&c->y, grid_at(g, s, k)));
}

static void draw_lines(struct chart *c, const struct grid *g)
{
    frame(c, g);
    for (int s = g->series - 1; s >= 0; s--) {
        const char *step = "M";
        begin_path(c->svg, &g->head[s]);
        for (int64_t k = 0; k < g->columns; k++)
            if (is_number(grid_at(g, s, k))) {
                text_add(c->svg, "%s%.1f,%.1f", step, axis_at(&c->x, g->x[k]),
                         axis_at(&c->y, grid_at(g, s, k)));
                step = "L";
            }
        text_add(c->svg, "\"/>\n");
        for (int64_t k = 0; k < g->columns; k++)
            if (is_number(grid_at(g, s, k)))
                draw_dot(c->svg, &g->head[s], axis_at(&c->x, g->x[k]), axis_at(&c->y, grid_at(g, s, k)));
    }
}

#define STEPS 40       /* places of a trend */
#define REACH 2.2      /* columns within this factor of a place count there */
#define STEP_COLUMNS 3 /* at least */

struct step {
    double mean, factor; /* geometric: of the values, and of their deviation */
    int count;
};

static struct step step_at(const struct grid *g, int s, double place)
{
    struct step step = {NAN, 1, 0};
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < g->columns; k++) {
        double v = grid_at(g, s, k);
        if (!is_number(v) || !is_number(g->x[k]) || fabs(log(g->x[k] / place)) > log(REACH))
            continue;
        sum += log(v);
        squares += log(v) * log(v);
        step.count++;
    }
    if (step.count < STEP_COLUMNS)
        return step;
    double mean = sum / step.count;
    step.mean = exp(mean);
    step.factor = exp(sqrt(fmax(0, squares / step.count - mean * mean)));
    return step;
}

static double within_axis(const struct axis *a, double value)
{
    return axis_at(a, fmin(fmax(value, a->low), a->high));
}

static void draw_trend_of(struct chart *c, const struct grid *g, int s)
{
    struct step step[STEPS];
    double at[STEPS];
    const char *move = "M";
    for (int i = 0; i < STEPS; i++) {
        double place = c->x.low * pow(c->x.high / c->x.low, i / (STEPS - 1.0));
        step[i] = step_at(g, s, place);
        at[i] = axis_at(&c->x, place);
    }
    text_add(c->svg, "<path fill=\"%s\" fill-opacity=\".13\" stroke=\"none\" d=\"", g->head[s].colour);
    for (int i = 0; i < STEPS; i++)
        if (is_number(step[i].mean)) {
            text_add(c->svg, "%s%.1f,%.1f", move, at[i], within_axis(&c->y, step[i].mean * step[i].factor));
            move = "L";
        }
    for (int i = STEPS - 1; i >= 0; i--)
        if (is_number(step[i].mean))
            text_add(c->svg, "L%.1f,%.1f", at[i], within_axis(&c->y, step[i].mean / step[i].factor));
    text_add(c->svg, "\"/>\n");
    begin_path(c->svg, &g->head[s]);
    move = "M";
    for (int i = 0; i < STEPS; i++)
        if (is_number(step[i].mean)) {
            text_add(c->svg, "%s%.1f,%.1f", move, at[i], axis_at(&c->y, step[i].mean));
            move = "L";
        }
    text_add(c->svg, "\"/>\n");
}

static void draw_trend(struct chart *c, const struct grid *g)
{
    frame(c, g);
    for (int s = g->series - 1; s >= 0; s--)
        draw_trend_of(c, g, s);
}

#define FACTOR_MOST 10 /* of a profile's axis */

static void draw_profile(struct chart *c, const struct grid *g)
{
    c->height = HEIGHT;
    c->x = (struct axis){1, FACTOR_MOST, LEFT, RIGHT, 1};
    c->y = (struct axis){.low = 0, .high = 1, .from = HEIGHT - 52};
    chart_begin(c, g->title, g->note);
    c->y.to = legend(c, g) + 22;
    chart_x(c, "time at most this many times that of the fastest", TICK_TIMES);
    chart_y(c, "share of matrices", TICK_PERCENT);
    for (int s = g->series - 1; s >= 0; s--) {
        double last = grid_within(g, s, 1);
        if (grid_within(g, s, INFINITY) <= 0)
            continue;
        begin_path(c->svg, &g->head[s]);
        text_add(c->svg, "M%.1f,%.1f", c->x.from, axis_at(&c->y, last));
        for (double at = c->x.from + 1; at <= c->x.to; at++) {
            double share = grid_within(g, s, pow(FACTOR_MOST, (at - c->x.from) / (c->x.to - c->x.from)));
            if (share > last)
                text_add(c->svg, "H%.1fV%.1f", at, axis_at(&c->y, share));
            last = share;
        }
        text_add(c->svg, "H%.1f\"/>\n", c->x.to);
    }
}

/* ------------------------------------------------------------------ one line a column */

static void row_name(struct chart *c, const struct grid *g, int64_t column, double y)
{
    char short_name[40];
    snprintf(short_name, sizeof short_name, "%.*s%s", strlen(g->name[column]) > 25 ? 22 : 25, g->name[column],
             strlen(g->name[column]) > 25 ? "..." : "");
    svg_text(c->svg, NAMES - 10, y + 4, ANCHOR_END, INK, short_name);
}

/* The frame of a chart whose values run to the right; `rows` lines below each other.  Returns where the
 * first one begins. */
static double rows_frame(struct chart *c, const struct grid *g, struct axis values, double rows)
{
    c->x = values;
    c->x.from = NAMES;
    c->x.to = RIGHT - 30;
    struct text ahead = {
        0}; /* the legend's height is known once it is drawn, and that of the drawing comes first */
    struct chart measured = {.svg = &ahead, .width = WIDTH};
    double top = legend(&measured, g) + 6;
    text_free(&ahead);
    c->y = (struct axis){.low = 0, .high = 1, .from = top + ROW * rows + 4, .to = top};
    c->height = c->y.from + 50;
    chart_begin(c, g->title, g->note);
    legend(c, g);
    chart_x(c, g->y_label, g->y_text);
    if (isfinite(g->mark)) {
        double x = axis_at(&c->x, g->mark);
        svg_line(c->svg, x, c->y.from, x, c->y.to, "stroke=\"" INK "\" stroke-width=\"1.5\"");
    }
    return top;
}

static void draw_rows(struct chart *c, const struct grid *g)
{
    double top = rows_frame(c, g, values_axis(g), (double)g->columns);
    for (int64_t k = 0; k < g->columns; k++) {
        double y = top + ROW * ((double)k + 0.5), low = INFINITY, high = -INFINITY;
        row_name(c, g, k, y);
        for (int s = 0; s < g->series; s++)
            if (is_number(grid_at(g, s, k))) {
                low = fmin(low, axis_at(&c->x, grid_at(g, s, k)));
                high = fmax(high, axis_at(&c->x, grid_at(g, s, k)));
            }
        if (high > low)
            svg_line(c->svg, low, y, high, y, "stroke=\"" RULE "\" stroke-opacity=\".5\"");
        for (int s = g->series - 1; s >= 0; s--)
            if (is_number(grid_at(g, s, k)))
                draw_dot(c->svg, &g->head[s], axis_at(&c->x, grid_at(g, s, k)), y);
    }
}

static void bar(struct chart *c, const char *colour, double from, double to, double y, double height)
{
    text_add(c->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" fill=\"%s\"/>\n",
             from, y - height / 2, fmax(to - from, 1), height, colour);
}

static void draw_bars(struct chart *c, const struct grid *g)
{
    char words[32];
    double y =
        rows_frame(c, g, values_axis(g), (double)(g->columns * g->series) + 0.5 * (double)(g->columns - 1)) +
        ROW / 2.0;
    for (int64_t k = 0; k < g->columns; k++) {
        row_name(c, g, k, y);
        for (int s = 0; s < g->series; s++, y += ROW) {
            double v = grid_at(g, s, k);
            /* what is below 0 has its number alone */
            double end = is_number(v) ? axis_at(&c->x, v) : c->x.from;
            if (!isfinite(v))
                continue;
            if (is_number(v))
                bar(c, g->head[s].colour, c->x.from, end, y, 14);
            snprintf(words, sizeof words, "%.3g", v);
            svg_text(c->svg, end + 6, y + 4, ANCHOR_START, INK, words);
        }
        y += ROW / 2.0;
    }
}

static void draw_stack(struct chart *c, const struct grid *g)
{
    struct axis sums = {.high = 0};
    for (int64_t k = 0; k < g->columns; k++) {
        double sum = 0;
        for (int s = 0; s < g->series; s++)
            sum += is_number(grid_at(g, s, k)) ? grid_at(g, s, k) : 0;
        sums.high = fmax(sums.high, sum);
    }
    axis_round(&sums);
    double top = rows_frame(c, g, sums, (double)g->columns);
    for (int64_t k = 0; k < g->columns; k++) {
        double y = top + ROW * ((double)k + 0.5), sum = 0;
        row_name(c, g, k, y);
        for (int s = 0; s < g->series; s++)
            if (is_number(grid_at(g, s, k))) {
                bar(c, g->head[s].colour, axis_at(&c->x, sum), axis_at(&c->x, sum + grid_at(g, s, k)), y, 14);
                sum += grid_at(g, s, k);
            }
    }
}

void grid_draw(struct text *svg, const struct grid *g, const struct grid_kind *kind)
{
    struct chart c = {.svg = svg, .width = WIDTH, .height = 100};
    if (is_empty(g)) {
        chart_begin(&c, g->title, g->note);
        svg_text(svg, 16, 76, ANCHOR_START, INK, "nothing of it was measured");
    } else {
        kind->draw(&c, g);
    }
    chart_end(&c);
}

const struct grid_kind grid_rows = {"rows", draw_rows}, grid_points = {"points", draw_points},
                       grid_lines = {"lines", draw_lines}, grid_trend = {"trend", draw_trend},
                       grid_profile = {"profile", draw_profile}, grid_bars = {"bars", draw_bars},
                       grid_stack = {"stack", draw_stack};
