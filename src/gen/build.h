/* SPDX-License-Identifier: MIT
 *
 * build.h: from a rule for one row to a matrix.  A family states how long row i is and where its entries
 * stand; build() does the rest in parallel.  A rule sees only the row's number and constant data, so the
 * matrix is the same for any number of threads. */
#ifndef GEN_BUILD_H
#define GEN_BUILD_H

#include "matrix/matrix.h"

struct maker {
    int64_t rows, cols;
    uint64_t seed;
    heddle_type value;
    const void *self; /* what the family's functions get */

    /* Entries of a row.  Exact when at_most is 0; else an upper bound, itself never above at_most. */
    int64_t (*length)(const void *self, int64_t row);
    int64_t at_most;
    /* Writes the columns of a row, ascending and distinct, and returns how many: `length` where that is
     * exact. */
    int64_t (*place)(const void *self, int64_t row, int64_t length, int32_t *col);
    /* The value of an entry in units of 1/1024, so that f32 holds it exactly; NULL: weight_random. */
    int32_t (*weight)(const struct maker *m, int64_t row, int64_t col);
    int full; /* 1: instead of that, as many bits as the type has, the last one set; the same for (i,j) and
               * (j,i) */
};

heddle_status build(struct csr *A, const struct maker *m);
/* Other values, of a complex type: both parts as weight_random makes them, from seed, row and column. */
void make_complex(struct csr *A, uint64_t seed);

/* Values in [-1, 1] without 0, from seed, row and column; the second one is the same for (i,j) and (j,i). */
int32_t weight_random(const struct maker *m, int64_t row, int64_t col);
int32_t weight_symmetric(const struct maker *m, int64_t row, int64_t col);

/* Three steps from rough wishes to the columns of a row.
 * sort_columns: ascending. */
void sort_columns(int32_t *col, int64_t count);
/* settle: ascending wishes, which may coincide, become distinct and stay within [0, cols), moving no
 * further than needed to make room; count <= cols. */
void settle(int32_t *col, int64_t count, int64_t cols);
/* insert_fixed: `count` ascending distinct columns of [0, cols - fixed) become those of [0, cols) without
 * the `fixed` ascending columns in `at`, and these are put in; col has room for all. */
void insert_fixed(int32_t *col, int64_t count, const int32_t *at, int64_t fixed);
/* Wishes beyond an end are reflected back into [0, cols). */
int32_t reflect(int64_t col, int64_t cols);

#endif
