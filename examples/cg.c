/* SPDX-License-Identifier: MIT
 *
 * cg: conjugate gradients, A x = b for a symmetric positive definite A.
 *
 *     cg [DEVICE [MATRIX [MOST_STEPS]]]        cg cpu gen:grid3d:n=100
 *
 * One product a step, hundreds of steps with the same matrix: what plans are for.  The plan is told how
 * many products to expect, measures which kernel will have them done earliest, and says what that cost.
 *
 * The method is Hestenes and Stiefel's (1952).  b is A times ones, so that the solution is known, and the
 * program ends with 1 unless it came close to it. */
#include "example.h"

#define TOLERANCE 1e-10 /* of the residual, relative to b */

/* Solves A x = b from x = 0; returns the steps it took, at most `most`. */
static int solve(heddle_plan *A, int64_t n, const double *b, double *x, int most)
{
    double *r = zeros(n, sizeof *r), *p = zeros(n, sizeof *p), *q = zeros(n, sizeof *q);
    memcpy(r, b, (size_t)n * sizeof *r); /* r = b - A x, and x = 0 */
    memcpy(p, b, (size_t)n * sizeof *p);
    double rr = dot(n, r, r), enough = TOLERANCE * TOLERANCE * rr;
    int step = 0;
    for (; step < most && rr > enough; step++) {
        must(heddle_plan_mv(A, HEDDLE_N, NULL, p, NULL, q)); /* q = A p; NULL, NULL: alpha = 1, beta = 0 */
        double alpha = rr / dot(n, p, q), before = rr;
        add(n, alpha, p, x);
        add(n, -alpha, q, r);
        rr = dot(n, r, r);
        add_scaled(n, r, rr / before, p); /* p = r + beta p */
    }
    free(q);
    free(p);
    free(r);
    return step;
}

int main(int argc, char **argv)
{
    int most = atoi(argument(argc, argv, 3, "2000"));
    heddle *h;
    must(heddle_open(&h, argument(argc, argv, 1, "auto")));
    heddle_matrix *A = matrix_from(h, argument(argc, argv, 2, "gen:grid3d:n=60"), HEDDLE_F64);
    heddle_matrix_desc size;
    must(heddle_matrix_info(A, &size));
    int64_t n = size.rows;
    if (size.cols != n) {
        fprintf(stderr,
                "conjugate gradients need a square matrix, and this one has %" PRId64 " rows and %" PRId64
                " columns\n",
                n, size.cols);
        exit(2);
    }
    printf("%" PRId64 " unknowns, %" PRId64 " entries\n", n, size.nnz);

    heddle_plan *plan;
    must(heddle_plan_create(&plan, h, A, &(heddle_plan_options){.expected_products = 300}));
    heddle_plan_desc chosen;
    must(heddle_plan_info(plan, HEDDLE_N, &chosen));
    printf("kernel %s: %.3f ms to prepare, %" PRId64 " bytes held\n", chosen.kernel, chosen.prepare_ms,
           chosen.bytes);

    double *ones = zeros(n, sizeof *ones), *b = zeros(n, sizeof *b), *x = zeros(n, sizeof *x),
           *r = zeros(n, sizeof *r);
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    must(heddle_mv(h, HEDDLE_N, NULL, A, ones, NULL, b));
    int steps = solve(plan, n, b, x, most);

    /* The residual anew from its definition, r = b - A x: that of the iteration drifts away from it. */
    double minus = -1, plus = 1;
    memcpy(r, b, (size_t)n * sizeof *r);
    must(heddle_mv(h, HEDDLE_N, &minus, A, x, &plus, r));
    double residual = norm(n, r) / norm(n, b);
    add(n, -1, ones, x);
    printf("steps %d\nresidual %.2e\nerror %.2e\n", steps, residual, norm(n, x) / norm(n, ones));

    free(r);
    free(x);
    free(b);
    free(ones);
    heddle_plan_free(plan);
    heddle_matrix_free(A);
    heddle_close(h);
    return !(residual < 10 * TOLERANCE); /* also 1 where it is not a number */
}
