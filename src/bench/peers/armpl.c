/* SPDX-License-Identifier: MIT
 *
 * peer_armpl.c: Arm Performance Libraries.  The preparation is armpl_spmv_optimize with the hint of many
 * products.  Integers are 32-bit (the LP64 libraries), and as many threads run as OpenMP is told to. */
#include <stdio.h>

#include "base/memory.h"
#include "bench/peers/peer.h"

enum {
    CREATE_NOCOPY = 3,
    HINT_OPERATION = 60,
    HINT_INVOCATIONS = 80,
    OPERATION_N = 300,
    OPERATION_T = 310,
    INVOCATIONS_MANY = 420
};

static struct {
    int (*csr_s)(void **mat, int rows, int cols, const int *ptr, const int *col, const float *val, int flags);
    int (*csr_d)(void **mat, int rows, int cols, const int *ptr, const int *col, const double *val,
                 int flags);
    int (*hint)(void *mat, int which, int value);
    int (*optimize)(void *mat);
    int (*mv_s)(int op, float alpha, void *mat, const float *x, float beta, float *y);
    int (*mv_d)(int op, double alpha, void *mat, const double *x, double beta, double *y);
    int (*destroy)(void *mat);
} call;

static const struct peer_symbol symbols[] = {
    {"armpl_spmat_create_csr_s", &call.csr_s, 0}, {"armpl_spmat_create_csr_d", &call.csr_d, 0},
    {"armpl_spmat_hint", &call.hint, 0},          {"armpl_spmv_optimize", &call.optimize, 0},
    {"armpl_spmv_exec_s", &call.mv_s, 0},         {"armpl_spmv_exec_d", &call.mv_d, 0},
    {"armpl_spmat_destroy", &call.destroy, 0},    {0}};

static heddle_status told(const struct peer *p, const char *what, int code)
{
    return code == 0 ? HEDDLE_OK
                     : peer_failed(p, what,
                                   code == 1   ? "ARMPL_STATUS_INPUT_PARAMETER_ERROR"
                                   : code == 2 ? "ARMPL_STATUS_EXECUTION_FAILURE"
                                               : "an unknown status");
}

static int op(const struct peer *p)
{
    return p->op == HEDDLE_N ? OPERATION_N : OPERATION_T;
}

static heddle_status bind(struct peer *p)
{
    const struct csr *A = &p->A;
    if (A->offset != HEDDLE_I32)
        return fail(HEDDLE_NOT_SUPPORTED, "armpl: its integers have 32 bits, the offsets of this matrix 64");
    return told(
        p, "armpl_spmat_create_csr",
        A->value == HEDDLE_F32
            ? call.csr_s(&p->state, (int)A->rows, (int)A->cols, A->row_ptr, A->col, A->val, CREATE_NOCOPY)
            : call.csr_d(&p->state, (int)A->rows, (int)A->cols, A->row_ptr, A->col, A->val, CREATE_NOCOPY));
}

static heddle_status prepare(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    TRY(told(p, "armpl_spmat_hint", call.hint(p->state, HINT_OPERATION, op(p))));
    TRY(told(p, "armpl_spmat_hint", call.hint(p->state, HINT_INVOCATIONS, INVOCATIONS_MANY)));
    TRY(told(p, "armpl_spmv_optimize", call.optimize(p->state)));
done:
    return status;
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    return told(p, "armpl_spmv_exec",
                p->A.value == HEDDLE_F32
                    ? call.mv_s(op(p), (float)p->scalars.alpha, p->state, x, (float)p->scalars.beta, y)
                    : call.mv_d(op(p), (double)p->scalars.alpha, p->state, x, (double)p->scalars.beta, y));
}

static void release(struct peer *p)
{
    if (p->state)
        call.destroy(p->state);
    p->state = NULL;
}

static const char *const files[] = {"libarmpl_lp64_mp.so", "libarmpl_mp.so", "libarmpl_lp64.so",
                                    "libarmpl.so", NULL};
static const char *const folders[] = {"/opt/arm/armpl/lib", NULL};

const struct peer_library peer_armpl = {.files = files,
                                        .folders = folders,
                                        .symbols = symbols,
                                        .types = "f32 f64",
                                        .bind = bind,
                                        .prepare = prepare,
                                        .run = run,
                                        .release = release};
