/* SPDX-License-Identifier: MIT
 *
 * vectors.h: how many vectors a product has, and how they lie: dense, one behind the other (by columns) or
 * their entries side by side (by rows). */
#ifndef MATRIX_VECTORS_H
#define MATRIX_VECTORS_H

#include "heddle.h"

struct vector_group {
    int count;            /* 0 stands for 1, so that a zeroed one is a single vector */
    heddle_layout layout; /* of several */
};
#define ONE_VECTOR ((struct vector_group){0, HEDDLE_COLUMN_MAJOR})

static inline int vectors_count(struct vector_group v)
{
    return v.count > 1 ? v.count : 1;
}

/* 0: the same; the layout of a single vector is none. */
static inline int vectors_order(struct vector_group a, struct vector_group b)
{
    const int x = vectors_count(a), y = vectors_count(b);
    return x != y ? x - y : x == 1 ? 0 : (int)a.layout - (int)b.layout;
}

#endif
