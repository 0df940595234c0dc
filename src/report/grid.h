/* SPDX-License-Identifier: MIT
 *
 * grid.h: a table of numbers, a series a row and a column a matrix, and the kinds of charts that are drawn
 * from it. */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "report/svg.h"

struct grid_series {
    const char *label, *colour;
    int broken; /* someone else's: drawn with a broken line or an open dot */
};

struct grid {
    const char *title, *note; /* above the chart */
    int series;
    int64_t columns;
    const struct grid_series *head; /* size series */
    const char *const *name;        /* size columns */
    const double *x;                /* size columns: where a column stands on an axis */
    const double *value;            /* size series * columns, row by row; NAN where there is none */
    const char *x_label, *y_label;
    enum tick_text x_text, y_text;
    int linear;  /* values start at 0; else their axis is logarithmic */
    double mark; /* a line at this value; NAN for none */
};

/* Kinds of charts. */
struct grid_kind {
    const char *name;
    void (*draw)(struct chart *c, const struct grid *g); /* of a grid that has a value */
};
extern const struct grid_kind grid_rows;   /* a line for each column, a dot for each series on it */
extern const struct grid_kind grid_points; /* a dot for each number, over x */
extern const struct grid_kind grid_lines;  /* the numbers of a series joined, over x */
/* geometric means of neighbouring columns joined, with a band of their deviation */
extern const struct grid_kind grid_trend;
/* numbers are times: the share of columns within a factor of the best series */
extern const struct grid_kind grid_profile;
extern const struct grid_kind grid_bars; /* a bar for each number, grouped by columns */
/* a bar for each column, the numbers of its series behind each other */
extern const struct grid_kind grid_stack;

/* A whole drawing; one of a grid without any value says so. */
void grid_draw(struct text *svg, const struct grid *g, const struct grid_kind *kind);

static inline double grid_at(const struct grid *g, int series, int64_t column)
{
    return g->value[series * g->columns + column];
}

/* The share of columns (of those that any series has) on which a series needs at most `factor` times the
 * least. */
double grid_within(const struct grid *g, int series, double factor);

#endif
