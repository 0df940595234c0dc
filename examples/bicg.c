/* SPDX-License-Identifier: MIT
 *
 * bicg: biconjugate gradients, A x = b for a matrix that is not symmetric.
 *
 *     bicg [DEVICE [N [MOST_STEPS]]]           bicg cpu 300
 *
 * Each step multiplies by A and by its transpose.  A is stored once, in the program's own arrays, which
 * Heddle borrows; one plan serves both operations and makes a transpose only if that pays.
 *
 * The problem: heat that spreads and is carried along by a wind, -u_xx - u_yy + 20 u_x + 10 u_y = f on the
 * unit square with u = 0 around it, on N x N points, differences taken upwind.  The method is Fletcher's
 * (1976).  The solution u = x (1-x) y (1-y) is put in, and the program ends with 1 unless it comes out
 * again. */
#include "example.h"

#define TOLERANCE 1e-10

struct csr {
    int64_t rows, nnz;
    int32_t *row_ptr; /* size rows+1 */
    int32_t *col;     /* size nnz */
    double *val;      /* size nnz */
};

static void put(struct csr *A, int64_t col, double val)
{
    A->col[A->nnz] = (int32_t)col;
    A->val[A->nnz++] = val;
}

/* Point (i, j) is row i*n + j; a neighbour outside the square has u = 0 and so no entry. */
static struct csr heat_in_the_wind(int64_t n)
{
    double h = 1.0 / (double)(n + 1), wind_x = 20 * h, wind_y = 10 * h; /* all of it times h^2 */
    struct csr A = {.rows = n * n};
    A.row_ptr = zeros(A.rows + 1, sizeof *A.row_ptr);
    A.col = zeros(5 * A.rows, sizeof *A.col);
    A.val = zeros(5 * A.rows, sizeof *A.val);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t here = i * n + j;
            /* where the wind comes from weighs more: A is not symmetric */
            if (i > 0)
                put(&A, here - n, -1 - wind_y);
            if (j > 0)
                put(&A, here - 1, -1 - wind_x);
            put(&A, here, 4 + wind_x + wind_y);
            if (j < n - 1)
                put(&A, here + 1, -1);
            if (i < n - 1)
                put(&A, here + n, -1);
            A.row_ptr[here + 1] = (int32_t)A.nnz;
        }
    return A;
}

/* Solves A x = b from x = 0; returns the steps it took, at most `most`.  What belongs to the transposed
 * system has an s after its name: its residual rs is begun with r, and its solution nobody needs. */
static int solve(heddle_plan *A, int64_t n, const double *b, double *x, int most)
{
    double *r = zeros(n, sizeof *r), *p = zeros(n, sizeof *p), *q = zeros(n, sizeof *q);
    double *rs = zeros(n, sizeof *rs), *ps = zeros(n, sizeof *ps), *qs = zeros(n, sizeof *qs);
    double *all[] = {r, p, rs, ps};
    for (int k = 0; k < 4; k++)
        memcpy(all[k], b, (size_t)n * sizeof *b);
    double rho = dot(n, rs, r), enough = TOLERANCE * norm(n, b);
    int step = 0;
    for (; step < most && norm(n, r) > enough && rho != 0; step++) {
        must(heddle_plan_mv(A, HEDDLE_N, NULL, p, NULL, q));   /* q  = A  p  */
        must(heddle_plan_mv(A, HEDDLE_T, NULL, ps, NULL, qs)); /* qs = Aᵀ ps */
        double alpha = rho / dot(n, ps, q), before = rho;
        add(n, alpha, p, x);
        add(n, -alpha, q, r);
        add(n, -alpha, qs, rs);
        rho = dot(n, rs, r);
        add_scaled(n, r, rho / before, p);
        add_scaled(n, rs, rho / before, ps);
    }
    double *used[] = {r, p, q, rs, ps, qs};
    for (int k = 0; k < 6; k++)
        free(used[k]);
    return step;
}

static void tell(heddle_plan *plan, heddle_op op, const char *what)
{
    heddle_plan_desc chosen;
    must(heddle_plan_info(plan, op, &chosen));
    printf("%s by %s%s, %.3f ms to prepare, %" PRId64 " bytes held\n", what, chosen.kernel,
           chosen.transposed ? " on a transpose of its own" : "", chosen.prepare_ms, chosen.bytes);
}

int main(int argc, char **argv)
{
    int64_t side = atoi(argument(argc, argv, 2, "100"));
    int most = atoi(argument(argc, argv, 3, "2000"));
    if (side < 1 || side > 20000) { /* so that 5 N^2 entries have 32-bit offsets */
        fprintf(stderr, "N is the points of a side, 1 to 20000\n");
        return 2;
    }
    heddle *h;
    must(heddle_open(&h, argument(argc, argv, 1, "auto")));
    struct csr mine = heat_in_the_wind(side);
    int64_t n = mine.rows;
    heddle_matrix *A; /* borrows the arrays: they stay as they are until heddle_matrix_free */
    must(heddle_csr(&A, h,
                    &(heddle_csr_desc){.rows = n,
                                       .cols = n,
                                       .nnz = mine.nnz,
                                       .row_ptr = mine.row_ptr,
                                       .col = mine.col,
                                       .val = mine.val}));
    heddle_plan *plan;
    must(heddle_plan_create(
        &plan, h, A, &(heddle_plan_options){.expected_products = 300, .ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T}));
    printf("%" PRId64 " unknowns, %" PRId64 " entries\n", n, mine.nnz);
    tell(plan, HEDDLE_N, "A x ");
    tell(plan, HEDDLE_T, "A'x ");

    double *u = zeros(n, sizeof *u), *b = zeros(n, sizeof *b), *x = zeros(n, sizeof *x),
           *r = zeros(n, sizeof *r);
    for (int64_t i = 0; i < n; i++) {
        double s = (double)(i % side + 1) / (double)(side + 1),
               t = (double)(i / side + 1) / (double)(side + 1);
        u[i] = s * (1 - s) * t * (1 - t);
    }
    must(heddle_plan_mv(plan, HEDDLE_N, NULL, u, NULL, b));
    int steps = solve(plan, n, b, x, most);

    double minus = -1, plus = 1;
    memcpy(r, b, (size_t)n * sizeof *r);
    must(heddle_mv(h, HEDDLE_N, &minus, A, x, &plus, r)); /* r = b - A x */
    double residual = norm(n, r) / norm(n, b);
    add(n, -1, u, x);
    printf("steps %d\nresidual %.2e\nerror %.2e\n", steps, residual, norm(n, x) / norm(n, u));

    free(r);
    free(x);
    free(b);
    free(u);
    heddle_plan_free(plan);
    heddle_matrix_free(A);
    free(mine.val);
    free(mine.col);
    free(mine.row_ptr);
    heddle_close(h);
    return !(residual < 10 * TOLERANCE);
}
