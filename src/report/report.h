/* SPDX-License-Identifier: MIT
 *
 * report.h: records made visible: one page that needs nothing else, or drawings. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/records.h"

/* The version of the drawing library inside this command, NULL when it was built without one; then
 * report_page fails and says what to install. */
const char *report_drawing(void);

/* The whole page: template, style, drawing library, script and records. */
heddle_status report_page(struct text *page, const struct records *r);

/* What drawings show; NULL stands for what most runs have, N for the operation, and for the baseline the
 * first of those below that has runs. */
struct figure_choice {
    const char *device, *value, *op;
    const char *baseline; /* auto, csr_vector, cpu_csr, or else the kernel with most runs */
    int cold;
};

/* The drawings in the order of their files; each is an SVG of its own that can be read on light and dark
 * grounds. */
struct figure {
    const char *name; /* of the file, without .svg */
    const char *what;
    heddle_status (*draw)(struct text *svg, const struct records *r, const struct figure_choice *choice);
};
extern const struct figure figures[]; /* ends in a row without a name */

/* Fills in what was left open; fails when no run has what was asked for, and names what there is. */
heddle_status figure_choose(struct figure_choice *choice, const struct records *r);

#endif
