/* SPDX-License-Identifier: MIT
 *
 * benching.h: what the files of `heddle bench` share. */
#ifndef CLI_BENCHING_H
#define CLI_BENCHING_H

#include "bench/bench.h"
#include "bench/past.h"
#include "bench/record.h"
#include "cli/cli.h"

/* A geometric mean on its way. */
struct mean {
    double logs;
    int count;
};

struct benching {
    struct session *s;
    struct bench bench;
    struct subject_list list;
    struct table table;
    struct output_file file;
    int to_file, to_stdout; /* where records go */
    struct past past;       /* what the file held before */
    int64_t done, total, verified, wrong, skipped, cached, kept; /* kept: of done, those that were there before */
    double begin;           /* of the first run */
    struct mean gflops, of_floor, plan_gain;
    struct mean call_us, bare_call_us; /* of `auto` on a GPU */
    struct versus versus; /* filled when there are peers */
    int peers;
    struct run last_auto; /* kernel NULL: none yet */
};

/* bench.c: writes a record to where records go, and frees it; the device and its bandwidth, as the first line of a table. */
heddle_status benching_keep(struct benching *k, struct json *j);
void benching_device(struct benching *k);

/* bench_limits.c: the whole of `heddle bench --limits`. */
heddle_status benching_limits(struct benching *k);

/* bench_past.c: the argument is a struct benching.  Is the run (kernel NULL: the description of the matrix) in the file? */
int benching_known(void *argument, const struct run *r);
/* Counts what need not be measured again, so that totals and the comparison are those of the whole. */
heddle_status benching_take_over(struct benching *k);

#endif
