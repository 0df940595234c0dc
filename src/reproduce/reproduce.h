/* SPDX-License-Identifier: MIT
 *
 * reproduce.h: experiments of the papers, shown from records: tables, drawings, and a page for each. */
#ifndef REPRODUCE_REPRODUCE_H
#define REPRODUCE_REPRODUCE_H

#include "report/records.h"
#include "reproduce/experiments.h"
#include "terminal/terminal.h"

#define EXPERIMENTS_MOST 64

struct reproduction {
    struct session *s;
    const char *output;           /* the folder of drawings and pages */
    const char *types;            /* "f32,f64": only these; NULL: all */
    int cold;                     /* times with flushed caches in all figures */
    int chosen[EXPERIMENTS_MOST]; /* by number */
    int64_t most;                 /* nonzeros; 0: no limit */
    int group_instead[GROUPS];    /* small matrices took the place of its own */
    struct records records;
};

/* Is this type among those asked for? */
int reproduce_has_type(const struct reproduction *r, const char *type);

/* Tables, drawings and pages of the chosen experiments, from the records. */
heddle_status reproduce_show(struct reproduction *r);

#endif
