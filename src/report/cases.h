/* SPDX-License-Identifier: MIT
 *
 * cases.h: the runs of one device, type and operation as a table: a kernel a row, a matrix a column. */
#ifndef REPORT_CASES_H
#define REPORT_CASES_H

#include "report/report.h"

#define KERNEL_COLOUR 8 /* "#rrggbb" */

struct cases {
    int64_t kernels, matrices;
    int64_t *kernel;               /* size kernels: numbers of strings, sorted by name */
    int64_t *matrix;               /* size matrices: numbers of matrices, sorted by nonzeros */
    double *ms;                    /* size kernels * matrices, NAN where nothing was measured */
    double *best;                  /* size matrices: the least of a column */
    double *floor;                 /* size matrices: the time that memory allows at best, NAN if unknown */
    int64_t baseline;              /* row of the baseline, -1 when it has no runs */
    char (*colour)[KERNEL_COLOUR]; /* size kernels */
    const char *
        *dash; /* size kernels: of its line, NULL for a full one; kernels that share a colour differ in it */
    int *peer; /* size kernels: someone else's kernel, drawn with a thin line */
};

heddle_status cases_new(struct cases *c, const struct records *r, const struct figure_choice *choice);
void cases_free(struct cases *c);

/* The colours of series that are no kernels, as often as needed. */
const char *palette_colour(int number);

/* Is it another library's?  Those are named after it: "cusparse:csr_alg1", "scipy". */
int kernel_is_peer(const char *name);

#endif
