/* SPDX-License-Identifier: MIT */
#include "subject/describe.h"

#include <math.h>
#include <stdio.h>

const heddle_type types_known[TYPES_MOST] = {HEDDLE_F32, HEDDLE_F64,  HEDDLE_C32, HEDDLE_C64,
                                             HEDDLE_F16, HEDDLE_BF16, F32_F64};

int type_place(heddle_type type)
{
    int i = 0;
    while (i < TYPES_MOST - 1 && types_known[i] != type)
        i++;
    return i;
}

const char *op_name(heddle_op op)
{
    return op == HEDDLE_N ? "N" : op == HEDDLE_T ? "T" : "H";
}

const char *layout_name(heddle_layout layout)
{
    return layout == HEDDLE_ROW_MAJOR ? "rows" : "columns";
}

const char *product_name(char text[PRODUCT_NAME], heddle_op op, struct vector_group vectors)
{
    const int count = vectors_count(vectors);
    if (count == 1)
        return op_name(op);
    snprintf(text, PRODUCT_NAME, "%s %d %s", op_name(op), count, layout_name(vectors.layout));
    return text;
}

const char *type_name(heddle_type type)
{
    const char *name = value_name(type);
    return name ? name : type == HEDDLE_I32 ? "i32" : "i64";
}

void record_lengths(struct json *j, const char *key, const heddle_lengths *l)
{
    json_object(j, key);
    json_int(j, "shortest", l->shortest);
    json_int(j, "longest", l->longest);
    json_int(j, "empty", l->empty);
    json_real(j, "mean", l->mean);
    json_real(j, "deviation", l->deviation);
    json_end_object(j);
}

void record_statistics(struct json *j, const heddle_stats *stats)
{
    json_int(j, "rows", stats->rows);
    json_int(j, "cols", stats->cols);
    json_int(j, "nnz", stats->nnz);
    record_lengths(j, "row", &stats->row);
    record_lengths(j, "col", &stats->col);
    json_int(j, "lower_bandwidth", stats->lower_bandwidth);
    json_int(j, "upper_bandwidth", stats->upper_bandwidth);
    json_int(j, "diagonal", stats->diagonal);
    json_int(j, "repeats", stats->repeats);
    json_bool(j, "sorted", stats->sorted);
    json_real(j, "pattern_symmetry", stats->pattern_symmetry);
    json_real(j, "numeric_symmetry", stats->numeric_symmetry);
    json_real(j, "numeric_skew", stats->numeric_skew);
    json_real(j, "hermitian_symmetry", stats->hermitian_symmetry);
    json_int(j, "distinct_values", stats->distinct_values);
    json_bool(j, "distinct_values_more", stats->distinct_values > 65536);
}

void record_published(struct json *j, const struct subject *subject)
{
    const struct set_member *m = subject->member;
    if (!m || !m->published.where) {
        json_string(j, "published", NULL);
        return;
    }
    json_object(j, "published");
    json_string(j, "where", m->published.where);
    json_int(j, "rows", m->published.rows);
    json_int(j, "cols", m->published.cols);
    json_int(j, "nnz", m->published.nnz);
    json_real(j, "longest", m->published.longest > 0 ? (double)m->published.longest : NAN);
    json_real(j, "deviation", m->published.deviation >= 0 ? m->published.deviation : NAN);
    json_end_object(j);
}
