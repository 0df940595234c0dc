/* SPDX-License-Identifier: MIT
 *
 * verify.h: is y right?  Two questions, for rounding and wrong sums look alike in a long row of f32:
 *
 * Numbers of all bits (reference_new) against a compensated product on the host.  Each row has an error
 * bound of its own,
 *
 *     |y_i - ref_i| <= min(gamma(k), 4 sqrt(k) u) * (|alpha| sum |a_ij| |x_j| + |beta| |y0_i|)
 *
 * with gamma(k) = k u / (1 - k u), k = n_i + 2, n_i the entries of the row and u the unit roundoff of y's
 * type.  Every order of summation, fused or not, stays below the first; below the second stay those whose
 * roundings are independent (Higham and Mary 2019), at seven standard deviations.
 *
 * A complex y is judged by its parts.  Each is a real sum, of two products an entry (Re: a_re x_re and
 * -a_im x_im), and alpha brings the two sums together: the same bound with k = 2 n_i + 4, over the
 * magnitudes of all products that enter this part.  Inf and NaN go from one part to the other in ways that
 * depend on the order of operations: where one belongs into an entry, either part may have it, and none
 * may elsewhere.  Values are what is stored, however coarse: what was rounded into 16 bits before is not the
 * product's error, and u is that of y.
 *
 * Integers (reference_exact), chosen so that sums are exact in any order: here every bit of y must be
 * right, so that no dropped, doubled or misplaced entry hides, however long its row.  A reference is made
 * once and judges many results. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "matrix/matrix.h"

/* y = alpha op(A) x + beta y0.  y0 is read where beta is not 0, A and x where alpha is not 0. */
struct equation {
    const struct csr *A;
    heddle_op op;
    double _Complex alpha, beta; /* numbers that the type of A's vectors can hold */
    const void *x, *y0;          /* of the type of A's vectors */
    const struct csr
        *transposed; /* of A, its values as they are, where the caller has it; NULL: it is made */
};

struct reference {
    int64_t n;        /* entries of y */
    heddle_type type; /* of y */
    int parts;        /* of an entry: 2 where it is complex */
    /* Size n * parts, the parts of an entry side by side. */
    double *high, *low; /* their sum is the part, right to about 106 bits; NaN or infinite in `high` alone */
    double *bound;      /* INFINITY where an overflow on the way makes any result right; 0 of exact sums */
};

/* Fills r; A must be valid.  T and H need memory for a transposed copy of A while it runs. */
heddle_status reference_new(struct reference *r, const struct equation *p);
void reference_free(struct reference *r);
/* Its arrays, for the files of this folder; reference_free gives back what there is after a failure. */
heddle_status reference_alloc(struct reference *r, const struct equation *p);

/* Values in the place of A's (size A->nnz, of its type) and vectors to go with them (size n; another
 * `seed`, other numbers): whole numbers, none of them 0, that depend on their position alone.  Values are
 * up to 8 in size with random signs; the numbers of a vector are as large as the types and A->nnz permit
 * (exact_largest): within aligned groups of so many no two are alike, and the first is like no other.
 * Complex ones have an imaginary part that is drawn in the same way from other numbers, never 0 either. */
void exact_values(void *val, const struct csr *A);
void exact_vector(void *x, const struct csr *A, int64_t n, uint64_t seed);
int64_t exact_largest(const struct csr *A);
/* Fills r for such a matrix, x and y0; alpha and beta are whole numbers, each part at most 2 in size. */
heddle_status reference_exact(struct reference *r, const struct equation *p);

struct verdict {
    int passed;
    double error;     /* largest |y - ref| / bound; INFINITY for a row that has the wrong NaN or infinity */
    int64_t bad_rows; /* rows over their bound */
    int64_t first;    /* the first of them, -1 when there is none */
    double _Complex got, expected; /* of that row */
    double bound;                  /* of the worse part */
};

/* Compares all of y with r.  Never fails: what is wrong with y is in the verdict. */
void reference_judge(struct verdict *v, const struct reference *r, const void *y);

/* "row 17 is 3.5, not 3.25 (bound 4.4e-16; 2 of 100 rows are wrong)", or "" when it passed. */
#define VERDICT_TEXT 256
char *verdict_text(char buffer[VERDICT_TEXT], const struct verdict *v, const struct reference *r);

#endif
