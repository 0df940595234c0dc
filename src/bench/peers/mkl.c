/* SPDX-License-Identifier: MIT
 *
 * peer_mkl.c: Intel's oneMKL, its inspector and executor.  The preparation is mkl_sparse_optimize with the
 * hint of many products; without it the product runs on the CSR arrays as they are.  Integers are 32-bit
 * (the LP64 interface, libmkl_rt's default). */
#include <stdio.h>

#include "base/memory.h"
#include "bench/peers/peer.h"

enum { OPERATION_N = 10, OPERATION_T = 11, GENERAL = 20, LOWER = 40, NON_UNIT = 50, MANY = 1000 };

struct description { /* passed by value, as the interface has it */
    int type, mode, diag;
};
static const struct description general = {GENERAL, LOWER, NON_UNIT};

static struct {
    int (*csr_s)(void **mat, int base, int rows, int cols, int *begin, int *end, int *col, float *val);
    int (*csr_d)(void **mat, int base, int rows, int cols, int *begin, int *end, int *col, double *val);
    int (*hint)(void *mat, int op, struct description d, int calls);
    int (*optimize)(void *mat);
    int (*mv_s)(int op, float alpha, const void *mat, struct description d, const float *x, float beta,
                float *y);
    int (*mv_d)(int op, double alpha, const void *mat, struct description d, const double *x, double beta,
                double *y);
    int (*destroy)(void *mat);
    void (*threads)(int count);
} call;

static const struct peer_symbol symbols[] = {{"mkl_sparse_s_create_csr", &call.csr_s, 0},
                                             {"mkl_sparse_d_create_csr", &call.csr_d, 0},
                                             {"mkl_sparse_set_mv_hint", &call.hint, 0},
                                             {"mkl_sparse_optimize", &call.optimize, 0},
                                             {"mkl_sparse_s_mv", &call.mv_s, 0},
                                             {"mkl_sparse_d_mv", &call.mv_d, 0},
                                             {"mkl_sparse_destroy", &call.destroy, 0},
                                             {"MKL_Set_Num_Threads", &call.threads, 1},
                                             {0}};

static heddle_status told(const struct peer *p, const char *what, int code)
{
    static const char *const names[] = {"",
                                        "SPARSE_STATUS_NOT_INITIALIZED",
                                        "SPARSE_STATUS_ALLOC_FAILED",
                                        "SPARSE_STATUS_INVALID_VALUE",
                                        "SPARSE_STATUS_EXECUTION_FAILED",
                                        "SPARSE_STATUS_INTERNAL_ERROR",
                                        "SPARSE_STATUS_NOT_SUPPORTED"};
    return code == 0 ? HEDDLE_OK
                     : peer_failed(p, what, code > 0 && code <= 6 ? names[code] : "an unknown status");
}

static int op(const struct peer *p)
{
    return p->op == HEDDLE_N ? OPERATION_N : OPERATION_T;
}

static heddle_status bind(struct peer *p)
{
    const struct csr *A = &p->A;
    int *ptr = A->row_ptr;
    if (A->offset != HEDDLE_I32)
        return fail(HEDDLE_NOT_SUPPORTED, "mkl: its integers have 32 bits, the offsets of this matrix 64");
    if (call.threads)
        call.threads(p->device->threads);
    return told(p, "mkl_sparse_create_csr",
                A->value == HEDDLE_F32
                    ? call.csr_s(&p->state, 0, (int)A->rows, (int)A->cols, ptr, ptr + 1, A->col, A->val)
                    : call.csr_d(&p->state, 0, (int)A->rows, (int)A->cols, ptr, ptr + 1, A->col, A->val));
}

static heddle_status prepare(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    TRY(told(p, "mkl_sparse_set_mv_hint", call.hint(p->state, op(p), general, MANY)));
    TRY(told(p, "mkl_sparse_optimize", call.optimize(p->state)));
done:
    return status;
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    return told(
        p, "mkl_sparse_mv",
        p->A.value == HEDDLE_F32
            ? call.mv_s(op(p), (float)p->scalars.alpha, p->state, general, x, (float)p->scalars.beta, y)
            : call.mv_d(op(p), (double)p->scalars.alpha, p->state, general, x, (double)p->scalars.beta, y));
}

static void release(struct peer *p)
{
    if (p->state)
        call.destroy(p->state);
    p->state = NULL;
}

static const char *const files[] = {"libmkl_rt.so.2", "libmkl_rt.so", NULL};
static const char *const folders[] = {"/opt/intel/oneapi/mkl/latest/lib",
                                      "/opt/intel/oneapi/mkl/latest/lib/intel64", NULL};

const struct peer_library peer_mkl = {.files = files,
                                      .folders = folders,
                                      .symbols = symbols,
                                      .types = "f32 f64",
                                      .bind = bind,
                                      .prepare = prepare,
                                      .run = run,
                                      .release = release};
