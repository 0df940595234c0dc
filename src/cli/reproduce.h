/* SPDX-License-Identifier: MIT
 *
 * reproduce.h: what the files of `heddle reproduce` share. */
#ifndef CLI_REPRODUCE_H
#define CLI_REPRODUCE_H

#include "cli/benching.h"
#include "cli/experiments.h"
#include "report/records.h"

#define EXPERIMENTS_MOST 64

struct reproduce_choices {
    const char *device, *output, *json, *type;
    struct words from, with;
    double time_limit;
    int64_t most;
    int list, cold, fresh;
};

struct reproducing {
    struct session *s;
    const struct reproduce_choices *c;
    int chosen[EXPERIMENTS_MOST]; /* by number */
    int64_t most;                 /* nonzeros; 0: no limit */
    struct benching bench;        /* its list: the matrices of all chosen experiments, each once */
    unsigned *groups;             /* size bench.list.count: a bit for each group that has the matrix */
    int group_instead[GROUPS];    /* small matrices took the place of its own */
    int host;                     /* one core of the host is measured now, not the device */
    struct records records;
};

/* Is this type among those asked for? */
int reproduce_has_type(const struct reproduce_choices *c, const char *type);

/* reproduce_show.c: tables, drawings and pages of the chosen experiments, from the records. */
heddle_status reproduce_show(struct reproducing *r);

#endif
