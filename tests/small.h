/* SPDX-License-Identifier: MIT
 *
 * small.h: a matrix of 3 x 4 in three formats, its descriptions and its products, for tests of the public
 * header. */
#ifndef TESTS_SMALL_H
#define TESTS_SMALL_H

#include <math.h>
#include <string.h>

#include "test.h"

/* [ 1 . 2 . ]
 * [ . . . . ]
 * [ 3 4 . 5 ]   with columns out of order in row 2, as CSR, CSC and COO */
static int32_t row_ptr[] = {0, 2, 2, 5}, col[] = {0, 2, 3, 0, 1};
static double val[] = {1, 2, 5, 3, 4};
static int32_t col_ptr[] = {0, 2, 3, 4, 5}, csc_row[] = {0, 2, 2, 0, 2};
static double csc_val[] = {1, 3, 4, 2, 5};
static int32_t coo_row[] = {2, 0, 2, 0, 2}, coo_col[] = {3, 0, 0, 2, 1};
static double coo_val[] = {5, 1, 3, 2, 4};

static inline heddle_csr_desc csr_desc(void)
{
    return (heddle_csr_desc){.rows = 3, .cols = 4, .nnz = 5, .row_ptr = row_ptr, .col = col, .val = val};
}

static inline heddle_csc_desc csc_desc(void)
{
    return (heddle_csc_desc){
        .rows = 3, .cols = 4, .nnz = 5, .col_ptr = col_ptr, .row = csc_row, .val = csc_val};
}

static inline heddle_coo_desc coo_desc(void)
{
    return (heddle_coo_desc){.rows = 3, .cols = 4, .nnz = 5, .row = coo_row, .col = coo_col, .val = coo_val};
}

static inline heddle *open_cpu(const char *device)
{
    heddle *h;
    CHECK_OK(heddle_open(&h, device));
    return h;
}

/* The matrix above in one of the three formats. */
static inline heddle_matrix *make_from(heddle *h, heddle_format format, int copy)
{
    heddle_matrix *A = NULL;
    heddle_csr_desc csr = csr_desc();
    heddle_csc_desc csc = csc_desc();
    heddle_coo_desc coo = coo_desc();
    csr.copy = csc.copy = coo.copy = copy;
    CHECK_OK(format == HEDDLE_CSR   ? heddle_csr(&A, h, &csr)
             : format == HEDDLE_CSC ? heddle_csc(&A, h, &csc)
                                    : heddle_coo(&A, h, &coo));
    return A;
}

static inline heddle_matrix *make(heddle *h, heddle_format format)
{
    return make_from(h, format, 0);
}

#define EACH_FORMAT(f) for (heddle_format f = HEDDLE_CSR; f <= HEDDLE_COO; f = (heddle_format)(f + 1))

/* y of N must be (7, 0, 31) and y of T (13, 16, 2, 20) for these. */
static const double x_n[] = {1, 2, 3, 4}, x_t[] = {1, 9, 4};

static inline void check_product(heddle *h, heddle_matrix *A)
{
    double y[4] = {NAN, NAN, NAN, NAN};
    CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y));
    CHECK_THAT(y[0] == 7 && y[1] == 0 && y[2] == 31, "%g %g %g", y[0], y[1], y[2]);
    CHECK(isnan(y[3]));
    for (heddle_op op = HEDDLE_T; op <= HEDDLE_H; op = (heddle_op)(op + 1)) {
        memset(y, 0xff, sizeof y);
        CHECK_OK(heddle_mv(h, op, NULL, A, x_t, NULL, y));
        CHECK_THAT(y[0] == 13 && y[1] == 16 && y[2] == 2 && y[3] == 20, "%g %g %g %g", y[0], y[1], y[2],
                   y[3]);
    }
}

#endif
