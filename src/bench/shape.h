/* SPDX-License-Identifier: MIT
 *
 * shape.h: what a matrix looks like, small enough for a record: how long its rows are and where its
 * entries lie. */
#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

#include "matrix/matrix.h"

#define SHAPE_BINS 33 /* rows of 0, 1, 2..3, 4..7, ... entries: bin b > 0 begins at 2^(b-1) */
#define SHAPE_SIDE 64

struct shape {
    int bins; /* up to the longest row's */
    int64_t histogram[SHAPE_BINS];
    int rows, cols; /* of the picture: SHAPE_SIDE, or fewer where the matrix has fewer */
    int64_t picture[SHAPE_SIDE * SHAPE_SIDE]; /* entries in each cell, row by row: rows * cols of them */
};

heddle_status shape_of(struct shape *s, const struct csr *A);

#endif
