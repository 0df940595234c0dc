/* SPDX-License-Identifier: MIT
 *
 * verify.h: is y right?  A compensated product on the host is the oracle, and each row has an error bound of its own:
 *
 *     |y_i - ref_i| <= gamma(n_i + 2) * (|alpha| sum |a_ij| |x_j| + |beta| |y0_i|),    gamma(k) = k u / (1 - k u)
 *
 * with n_i the entries of the row and u the unit roundoff of y's type.  Every order of summation, fused or not, stays
 * below it; a dropped, doubled or misplaced entry does not.  A reference is made once and judges many results. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "matrix/matrix.h"

/* y = alpha op(A) x + beta y0.  y0 is read where beta is not 0, A and x where alpha is not 0. */
struct equation {
    const struct csr *A;
    heddle_op op;
    double alpha, beta; /* numbers that A's value type can hold */
    const void *x, *y0; /* of A's value type */
};

struct reference {
    int64_t n; /* entries of y */
    heddle_type value;
    double *high, *low; /* size n: their sum is the entry, right to about 106 bits; NaN or infinite in `high` alone */
    double *bound;      /* size n: INFINITY where an overflow on the way makes any result right */
};

/* Fills r; A must be valid.  T needs memory for a transposed copy of A while it runs. */
heddle_status reference_new(struct reference *r, const struct equation *p);
void reference_free(struct reference *r);

struct verdict {
    int passed;
    double error;     /* largest |y - ref| / bound; INFINITY for a row that has the wrong NaN or infinity */
    int64_t bad_rows; /* rows over their bound */
    int64_t first;    /* the first of them, -1 when there is none */
    double got, expected, bound; /* of that row */
};

/* Compares all of y with r.  Never fails: what is wrong with y is in the verdict. */
void reference_judge(struct verdict *v, const struct reference *r, const void *y);

/* "row 17 is 3.5, not 3.25 (1.2e+15 times its bound; 2 of 100 rows are wrong)", or "" when it passed. */
#define VERDICT_TEXT 192
char *verdict_text(char buffer[VERDICT_TEXT], const struct verdict *v, const struct reference *r);

#endif
