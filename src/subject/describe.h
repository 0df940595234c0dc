/* SPDX-License-Identifier: MIT
 *
 * describe.h: a matrix as JSON, the same in `heddle info` and in the records of a bench. */
#ifndef SUBJECT_DESCRIBE_H
#define SUBJECT_DESCRIBE_H

#include "base/json.h"
#include "matrix/vectors.h"
#include "subject/subject.h"

/* Every record carries "schema"; a field keeps its meaning within a schema. */
#define RECORD_SCHEMA 1

void record_lengths(struct json *j, const char *key, const heddle_lengths *l);
void record_statistics(struct json *j, const heddle_stats *stats);
/* Null unless its set has it from a paper */
void record_published(struct json *j, const struct subject *subject);

/* All types of values, as a matrix keeps them (matrix/variant.h): f32, f64, c32, c64, f16, bf16, f32v64. */
#define TYPES_MOST 7
extern const heddle_type types_known[TYPES_MOST];
int type_place(heddle_type type); /* among them */

const char *op_name(heddle_op op); /* "N" */
/* The same of one vector, "N 8 rows" of several; `text` is room for it. */
#define PRODUCT_NAME 32
const char *product_name(char text[PRODUCT_NAME], heddle_op op, struct vector_group vectors);
const char *layout_name(heddle_layout layout); /* "rows", "columns" */
const char *type_name(heddle_type type);       /* "f64", "f32v64", "i32" */

#endif
