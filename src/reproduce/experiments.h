/* SPDX-License-Identifier: MIT
 *
 * experiments.h: the rows of experiments.def as tables, and the matrices of a group. */
#ifndef REPRODUCE_EXPERIMENTS_H
#define REPRODUCE_EXPERIMENTS_H

#include "report/grid.h"
#include "subject/subject.h"

enum experiment_group { NAIVE, TABLE1, ALL, COMMON, PARTS, SWEEP, EMPTY, GROUPS };
enum { WHOLE = 1, HOST = 2 }; /* how a series is timed */
enum size_class { ANY, SMALL, LARGE, SIZE_CLASSES };
enum statistic { LEAST, MOST, MEAN, HARMONIC, BETTER, BEST, AVERAGE, STATISTICS };

struct series {
    const char *list, *label, *gpu, *cpu;
    heddle_op op;
    int how, versus;
};

/* What a chart shows of a run. */
enum shown { SHOW_GFLOPS, SHOW_GFLOPS3, SHOW_MS, SHOW_RATIO, SHOW_BYTES, SHOW_LAUNCHES, SHOW_DEVICES };
enum over { OVER_NNZ, OVER_DENSEST, OVER_SIGMA };
enum reduced { AS_IT_IS, WEIGHTED, CORRELATED };

struct drawn_as {
    const struct grid_kind *kind; /* NULL: a table without a drawing */
    enum shown shown;
    enum over over;
    enum reduced reduced;
    int cold;           /* flushed caches, whatever is asked for */
    int by_size;        /* statistics of small and of large matrices apart */
    int statistics;     /* of the matrices: Table I */
    const char *driver; /* whose panels are drawn: "cuda" for all but AMD's, "hip" for AMD's; NULL: all */
};

struct experiment {
    const char *name, *paper, *where, *what;
    enum experiment_group group;
    const char *list, *types;
    const struct drawn_as *look;
    const char *comment;
};

extern const struct experiment experiments[]; /* ends in a row without a name */
int experiment_count(void);
/* The number of an experiment; HEDDLE_BAD_ARGUMENT with what to do for a name that there is not. */
heddle_status experiment_by_name(const char *name, int *number);
/* The series of an experiment, *count of them. */
const struct series *experiment_series(const struct experiment *e, int *count);
int experiment_has_type(const struct experiment *e, heddle_type type);

/* What the paper says, or NAN. */
double experiment_claim(const struct experiment *e, int series, const char *type, enum size_class size,
                        enum statistic what);
/* The paper's number for the matrix of this origin; NAN when its table has none. */
double experiment_published(const struct experiment *e, int series, const char *type, const char *origin);

/* The matrices of a group with at most `most` nonzeros (0: any).  Where too few are left, small ones take
 * their place, and *instead is set. */
heddle_status group_subjects(struct subject_list *list, enum experiment_group group, int64_t most,
                             int *instead);

#endif
