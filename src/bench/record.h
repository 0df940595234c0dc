/* SPDX-License-Identifier: MIT
 *
 * record.h: measurements as JSON, one object a line, for programs that come later.  What was not measured
 * is null. */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "bench/bench.h"
#include "bench/limits.h"
#include "subject/describe.h"

void record_matrix(struct json *j, const struct description *d);
void record_run(struct json *j, const struct run *r);
void record_limit(struct json *j, const struct device *device, const struct limit *l);

void record_machine(struct json *j); /* the part that other outputs share: the machine with its device */

#endif
