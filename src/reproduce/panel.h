/* SPDX-License-Identifier: MIT
 *
 * panel.h: the runs of one experiment, device and type as a table: a series a row, a matrix a column. */
#ifndef REPRODUCE_PANEL_H
#define REPRODUCE_PANEL_H

#include "reproduce/reproduce.h"

#define LABEL_TEXT 64

struct panel {
    const struct reproduction *r;
    const struct experiment *e;
    const char *type;
    int64_t device, other; /* numbers of strings; other: the second of two devices, or -1 */
    int gpu, cold;
    int series;
    const struct series *row;     /* size series */
    char (*label)[LABEL_TEXT];    /* size series: with the kernel where it is a substitute of a CPU's */
    struct subject_list subjects; /* of the group */
    int64_t columns;
    int64_t *matrix;                  /* size columns: numbers of record_matrix, in the order of the group */
    int64_t *subject;                 /* size columns: places in subjects */
    char (*name)[LABEL_TEXT];         /* size columns */
    const struct record_run **cell;   /* size series * columns; NULL where there is no record */
    const struct record_run **others; /* the same for the other device */
    int measured;                     /* cells with a time */
};

heddle_status panel_new(struct panel *p, const struct reproduction *r, const struct experiment *e,
                        const char *type, int64_t device, int64_t other);
void panel_free(struct panel *p);

/* Milliseconds of a series on a matrix, with what WHOLE adds; NAN where nothing was measured. */
double panel_ms(const struct panel *p, int series, int64_t column);
/* What the experiment shows of it: GFLOP/s, a ratio, bytes, ... */
double panel_value(const struct panel *p, int series, int64_t column);
double panel_x(const struct panel *p, int64_t column);
/* Is the matrix of this size, as hola-spmv-2017 divides them? */
int panel_is_of_size(const struct panel *p, int64_t column, enum size_class size);
/* A statistic of a series over the matrices of a size; *count of them have it. */
double panel_statistic(const struct panel *p, int series, enum size_class size, enum statistic what,
                       int *count);
/* Why a series has no times at all: the reason of its first record; NULL when there is one or it has
 * times. */
const char *panel_reason(const struct panel *p, int series);

/* Devices that have runs of an experiment, in the order of the records: at most `most` into device;
 * returns how many. */
int panel_devices(int64_t *device, int most, const struct reproduction *r, const struct experiment *e);
/* What the values are, for an axis. */
const char *panel_value_name(const struct panel *p);

/* An experiment on its way to its page. */
struct showing {
    struct reproduction *r;
    const struct experiment *e;
    struct text page; /* Markdown */
    int drawings;
};

/* draw.c: draws a panel into a file of its own, which the page then shows; `first`: it is of the first
 * device. */
heddle_status reproduce_draw(struct showing *w, const struct panel *p, int first);
/* A file in the folder of the experiments: "name.ending". */
heddle_status reproduce_write(const struct reproduction *r, const char *name, const char *ending,
                              const struct text *t);

#endif
