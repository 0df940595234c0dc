/* SPDX-License-Identifier: MIT
 *
 * record.h: measurements as JSON, one object a line, for programs that come later.  Every record carries "schema"; a field
 * keeps its meaning within a schema.  What was not measured is null. */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "base/json.h"
#include "bench/bench.h"
#include "bench/limits.h"

void record_matrix(struct json *j, const struct description *d);
void record_run(struct json *j, const struct run *r);
void record_limit(struct json *j, const struct device *device, const struct limit *l);

/* Parts that other outputs share: the statistics, and the machine with its device. */
void record_statistics(struct json *j, const heddle_stats *stats);
void record_published(struct json *j, const struct subject *subject);
void record_machine(struct json *j);

const char *op_name(heddle_op op);       /* "N" */
const char *type_name(heddle_type type); /* "f64", "i32" */

#endif
