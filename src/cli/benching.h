/* SPDX-License-Identifier: MIT
 *
 * benching.h: what the files of `heddle bench` share. */
#ifndef CLI_BENCHING_H
#define CLI_BENCHING_H

#include "bench/bench.h"
#include "bench/past.h"
#include "bench/quiet.h"
#include "bench/record.h"
#include "bench/versus.h"
#include "cli/cli.h"

/* A geometric mean on its way. */
struct mean {
    double logs;
    int count;
};

/* What determinism costs one product: the same choice without and with it. */
struct price {
    const struct subject *subject;
    const char *choice; /* "auto", "plan" */
    heddle_type value;
    heddle_op op;
    struct vector_group vectors;
    double ms[2]; /* usual, deterministic; 0: not known */
    char ran[2][64];
};

/* --brief: what a matrix's line tells; times in ms, 0 where there is none. */
struct brief {
    double automatic, plan, best; /* best: of the kernels that were named, by themselves or by `all` */
    char kernel[CANDIDATE_NAME];  /* the best one */
    int64_t nnz;
    int verified, wrong; /* runs, of any type and operation */
};

struct benching {
    struct session *s;
    struct bench bench;
    struct subject_list list;
    struct table table;
    struct output_file file;
    int to_file, to_stdout;                                      /* where records go */
    struct past past;                                            /* what the file held before */
    int64_t done, total, verified, wrong, skipped, cached, kept; /* kept: of done, those that were there
                                                                  * before */
    double begin;                                                /* of the first run */
    struct quiet quiet;                                          /* what the machine did until then */
    int64_t times, scattered; /* of warm products; those with a wide spread */
    struct mean gflops, of_floor, plan_gain, best_gain;
    struct mean call_us, bare_call_us; /* of `auto` on a GPU */
    struct versus versus;              /* filled when there are peers */
    int peers;
    struct price *price; /* filled when there are twins: choices that are asked to be deterministic */
    int64_t prices, price_capacity;
    int twins;
    struct brief *brief;  /* size list.count + 1; NULL unless --brief */
    int headed;           /* the line above the table is written */
    struct run last_auto; /* kernel NULL: none yet */
};

/* What other commands that measure need of bench.c. */
extern volatile sig_atomic_t benching_interrupted; /* by the user: end in good order */
void benching_heed_interrupts(void);

/* bench_told.c: what is heard from the bench and told; arguments are a struct benching. */
void benching_table(struct benching *k);
heddle_status benching_keep(struct benching *k, struct json *j); /* a record to where records go; frees j */
heddle_status benching_described(void *argument, const struct description *d);
void benching_begins(void *argument, const struct run *r);
heddle_status benching_ran(void *argument, const struct run *r);
void benching_summary(struct benching *k);
/* "3 min left, ", by the runs so far; "" before enough of them are done. */
const char *benching_time_left(const struct benching *k, char text[32]);
void benching_device(struct benching *k); /* puts out the version and the device */

/* The line and the titles above the table, once there is something to show: a single matrix that cannot be
 * read leaves no output. */
void benching_head(struct benching *k);
void mean_add(struct mean *m, double value); /* passes over what is not above 0 */

/* bench_brief.c: begins before the first run, hears of every run (`ms` 0: it is not verified), and puts a
 * matrix's line out. */
heddle_status benching_brief_begin(struct benching *k);
void benching_brief_add(struct benching *k, const struct run *r, double ms);
void benching_brief_row(struct benching *k, int64_t number);

/* bench_noise.c: a warning where the machine was not quiet. */
#define SCATTERED 0.1 /* quartiles are further apart than this share of the median */
void benching_noise(struct benching *k);

/* bench_limits.c: the whole of `heddle bench --limits`. */
heddle_status benching_limits(struct benching *k);

/* bench_price.c: notes a time of a run, whose kernel need not be of interest, and tells what was noted. */
heddle_status benching_price(struct benching *k, const struct run *r, double ms);
void benching_prices_told(struct benching *k);

/* bench_past.c: opens the file that records go to; what it holds is known afterwards, unless all is to be
 * measured again. */
heddle_status benching_records(struct benching *k, const char *path, int fresh);
/* The argument is a struct benching.  Is the run (kernel NULL: the description of the matrix) in the file? */
int benching_known(void *argument, const struct run *r);
/* Counts what need not be measured again, so that totals and the comparison are those of the whole. */
heddle_status benching_take_over(struct benching *k);

/* versus.c: what `v` has gathered, as a table; `cold` says which times these are. */
heddle_status versus_told(struct session *s, struct versus *v, int cold);

#endif
