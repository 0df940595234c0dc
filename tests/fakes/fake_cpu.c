/* SPDX-License-Identifier: MIT
 *
 * fake_cpu.c: as much of oneMKL, ArmPL and librsb as Heddle calls, in one library. */
#include "fake_sparse.h"

#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "fake_product.h"

#define EXPORT __attribute__((visibility("default"))) int
#define VISIBLE(...) __attribute__((visibility("default"))) __VA_ARGS__

const struct fake_device fake_device = {"Fake", "none"};
static struct fake_sparse_state state;

VISIBLE(struct fake_sparse_state *fake_sparse(void));
struct fake_sparse_state *fake_sparse(void)
{
    return &state;
}

static void *keep(int64_t rows, int64_t cols, const int *ptr, const int *col, const void *val, int type)
{
    struct matrix *m = malloc(sizeof *m);
    *m = (struct matrix){.format = CSR,
                         .rows = rows,
                         .cols = cols,
                         .nnz = ptr[rows],
                         .ptr = ptr,
                         .col = col,
                         .val = val,
                         .type = type};
    state.matrices++;
    return m;
}

static int drop(void *mat)
{
    free(mat);
    state.matrices--;
    return 0;
}

static int product(const struct matrix *m, int t, double _Complex alpha, double _Complex beta, const void *x,
                   void *y)
{
    struct vector from = {t ? m->rows : m->cols, (void *)(uintptr_t)x, m->type},
                  to = {t ? m->cols : m->rows, y, m->type};
    state.products++;
    return multiply(m, t, alpha, beta, &from, &to) ? 0 : 1;
}

/* ------------------------------------------------------------------ oneMKL */

struct description {
    int type, mode, diag;
};

EXPORT mkl_sparse_s_create_csr(void **mat, int base, int rows, int cols, int *begin, int *end, int *col,
                               float *val)
{
    ENTER(mkl_sparse_s_create_csr);
    if (base != 0 || end != begin + 1)
        return 3;
    *mat = keep(rows, cols, begin, col, val, 0);
    return 0;
}
EXPORT mkl_sparse_d_create_csr(void **mat, int base, int rows, int cols, int *begin, int *end, int *col,
                               double *val)
{
    ENTER(mkl_sparse_d_create_csr);
    if (base != 0 || end != begin + 1)
        return 3;
    *mat = keep(rows, cols, begin, col, val, 1);
    return 0;
}
EXPORT mkl_sparse_set_mv_hint(void *mat, int op, struct description d, int calls)
{
    (void)mat;
    return (op != 10 && op != 11) || d.type != 20 || calls < 1 ? 3 : 0;
}
EXPORT mkl_sparse_optimize(void *mat)
{
    (void)mat;
    ENTER(mkl_sparse_optimize);
    state.prepared++;
    return 0;
}
EXPORT mkl_sparse_s_mv(int op, float alpha, const void *mat, struct description d, const float *x, float beta,
                       float *y)
{
    return d.type != 20 ? 3 : product(mat, op == 11, alpha, beta, x, y);
}
EXPORT mkl_sparse_d_mv(int op, double alpha, const void *mat, struct description d, const double *x,
                       double beta, double *y)
{
    return d.type != 20 ? 3 : product(mat, op == 11, alpha, beta, x, y);
}
EXPORT mkl_sparse_destroy(void *mat)
{
    return drop(mat);
}

/* ------------------------------------------------------------------ ArmPL */

EXPORT armpl_spmat_create_csr_s(void **mat, int rows, int cols, const int *ptr, const int *col,
                                const float *val, int flags)
{
    *mat = keep(rows, cols, ptr, col, val, 0);
    return flags != 3;
}
EXPORT armpl_spmat_create_csr_d(void **mat, int rows, int cols, const int *ptr, const int *col,
                                const double *val, int flags)
{
    *mat = keep(rows, cols, ptr, col, val, 1);
    return flags != 3;
}
EXPORT armpl_spmat_hint(void *mat, int which, int value)
{
    (void)mat;
    return !(which == 60 && (value == 300 || value == 310)) && !(which == 80 && value == 420);
}
EXPORT armpl_spmv_optimize(void *mat)
{
    (void)mat;
    ENTER(armpl_spmv_optimize);
    state.prepared++;
    return 0;
}
EXPORT armpl_spmv_exec_s(int op, float alpha, void *mat, const float *x, float beta, float *y)
{
    return product(mat, op == 310, alpha, beta, x, y);
}
EXPORT armpl_spmv_exec_d(int op, double alpha, void *mat, const double *x, double beta, double *y)
{
    return product(mat, op == 310, alpha, beta, x, y);
}
EXPORT armpl_spmat_destroy(void *mat)
{
    return drop(mat);
}

/* ------------------------------------------------------------------ librsb */

EXPORT rsb_lib_init(void *options)
{
    (void)options;
    ENTER(rsb_lib_init);
    state.handles++;
    return 0;
}
EXPORT rsb_lib_exit(void *options)
{
    (void)options;
    state.handles--;
    return 0;
}
EXPORT rsb_lib_set_opt(int option, const void *value)
{
    (void)value;
    return option != 9;
}
VISIBLE(void *rsb_mtx_alloc_from_csr_const(const void *val, const int *ptr, const int *col, int nnz,
                                           char type, int rows, int cols, int row_block, int col_block,
                                           int flags, int *error));
void *rsb_mtx_alloc_from_csr_const(const void *val, const int *ptr, const int *col, int nnz, char type,
                                   int rows, int cols, int row_block, int col_block, int flags, int *error)
{
    (void)nnz, (void)row_block, (void)col_block, (void)flags;
    *error = fake_enter("rsb_mtx_alloc_from_csr_const");
    return *error ? NULL
                  : keep(rows, cols, ptr, col, val,
                         type == 'S'   ? R_32F
                         : type == 'D' ? R_64F
                         : type == 'C' ? C_32F
                                       : C_64F);
}
EXPORT rsb_tune_spmm(void **mat, double *factor, int *threads, int rounds, double seconds, int op,
                     const void *alpha, const void *other, int columns, int order, const void *b, int ldb,
                     const void *beta, void *c, int ldc)
{
    (void)factor, (void)threads, (void)rounds, (void)op, (void)alpha, (void)other, (void)order, (void)b,
        (void)ldb, (void)beta;
    (void)c, (void)ldc;
    ENTER(rsb_tune_spmm);
    state.prepared++;
    return !*mat || columns != 1 || seconds <= 0;
}
EXPORT rsb_spmv(int op, const void *alpha, const void *mat, const void *x, int x_step, const void *beta,
                void *y, int y_step)
{
    const struct matrix *m = mat;
    return x_step != 1 || y_step != 1 ? 1
                                      : product(m,
                                                op == 'N'   ? 0
                                                : op == 'T' ? 1
                                                            : 2,
                                                value(alpha, m->type, 0), value(beta, m->type, 0), x, y);
}
VISIBLE(void *rsb_mtx_free(void *mat));
void *rsb_mtx_free(void *mat)
{
    drop(mat);
    return NULL;
}
EXPORT rsb_strerror_r(int error, char *text, size_t size)
{
    snprintf(text, size, "fake error %d", error);
    return 0;
}
