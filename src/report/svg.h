/* SPDX-License-Identifier: MIT
 *
 * svg.h: charts as SVG text.  Colours are of middle brightness and the ground is left open, so that a
 * drawing can be read on a light page and on a dark one. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/text.h"

struct axis {
    double low, high; /* of the data */
    double from, to;  /* of the drawing, where low and high stand */
    int log;
};

double axis_at(const struct axis *a, double value);
/* Widens [low, high] so that it holds value; an axis that is all zero holds nothing yet. */
void axis_hold(struct axis *a, double value);
/* Makes room at both ends: to the next 1, 2 or 5 on a logarithmic axis. */
void axis_round(struct axis *a);

struct chart {
    struct text *svg;
    double width, height;
    struct axis x, y;
};

enum tick_text { TICK_PLAIN, TICK_TIMES, TICK_PERCENT, TICK_COUNT }; /* 5, 5x, 5 %, 5k */
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* The head of the drawing: a title, a line below it, and the same for screen readers. */
void chart_begin(struct chart *c, const char *title, const char *note);
/* Ticks, lines of the grid and the label below. */
void chart_x(struct chart *c, const char *label, enum tick_text text);
/* Likewise; the label stands over the axis */
void chart_y(struct chart *c, const char *label, enum tick_text text);
void chart_end(struct chart *c);

void svg_text(struct text *svg, double x, double y, enum anchor anchor, const char *colour,
              const char *words);
void svg_line(struct text *svg, double x1, double y1, double x2, double y2, const char *style);

/* Names with their dots, in lines from the left: zeroed but for the width and the base line of the first
 * one. */
struct svg_legend {
    double width, top; /* top moves on to the last line */
    double x;
};
void svg_legend_add(struct text *svg, struct svg_legend *l, const char *name, const char *colour);

#define INK "#767c85"  /* words */
#define RULE "#8d949e" /* lines, drawn faintly */

/* Moves positions apart until they are `gap` from each other and within [low, high]; `order` lists them
 * from low to high. */
void spread_labels(double *at, const int *order, int count, double gap, double low, double high);

#endif
