/* SPDX-License-Identifier: MIT
 *
 * peer_eigen.c: Eigen, a library of headers: what is opened is bench/peers/eigen.cpp, which CMake compiles
 * for this machine where the headers are (cmake/heddle-eigen.cmake).  Row-major sparse times dense on the
 * caller's arrays; the transpose as a user writes it, on the same storage, or from a copy that is made as
 * preparation. */
#include <stdio.h>

#include "bench/peers/peer.h"
#include "subject/describe.h"

enum { EIGEN_N, EIGEN_T, EIGEN_T_COPY, EIGEN_H, EIGEN_H_COPY }; /* as eigen.cpp has them */

static struct {
    void *(*new)(int64_t rows, int64_t cols, int64_t nnz, const int *ptr, const int *col, const void *val,
                 int type, int op, int threads, int vectors, int by_rows);
    int (*run)(void *peer, const void *x, void *y);
    void (*free)(void *peer);
    int (*version)(void);
} call;

static const struct peer_symbol symbols[] = {{"peer_new", &call.new, 0},
                                             {"peer_run", &call.run, 0},
                                             {"peer_free", &call.free, 0},
                                             {"peer_version", &call.version, 0},
                                             {0}};

static heddle_status open_it(const struct peer_library *l, void **handle, const struct device *d,
                             char version[16])
{
    int number = call.version();
    (void)l, (void)d;
    *handle = NULL;
    snprintf(version, 16, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    return HEDDLE_OK;
}

static heddle_status suits(const struct peer *p)
{
    return p->row->number == EIGEN_T_COPY && p->op == HEDDLE_N
             ? fail(HEDDLE_NOT_SUPPORTED, "eigen: csr_copy is a copy of the transpose: for T and H alone")
             : HEDDLE_OK;
}

static heddle_status bind(struct peer *p)
{
    const struct csr *A = &p->A;
    int op = p->op == HEDDLE_N ? EIGEN_N : p->op == HEDDLE_T ? p->row->number : p->row->number + 2;
    if (A->offset != HEDDLE_I32)
        return fail(HEDDLE_NOT_SUPPORTED,
                    "eigen: its integers have 32 bits here, the offsets of this matrix 64");
    p->state = call.new(A->rows, A->cols, A->nnz, A->row_ptr, A->col, A->val, type_place(A->value), op,
                        p->device->threads, vectors_count(p->vectors), p->vectors.layout == HEDDLE_ROW_MAJOR);
    return p->state ? HEDDLE_OK : fail(HEDDLE_NO_MEMORY, "eigen: not enough memory for its matrix");
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    if (p->scalars.alpha != 1 || p->scalars.beta != 0)
        return fail(HEDDLE_NOT_SUPPORTED, "eigen: it is measured as y = A x");
    return call.run(p->state, x, y) == 0 ? HEDDLE_OK
                                         : fail(HEDDLE_NOT_SUPPORTED, "eigen: the product failed");
}

static void release(struct peer *p)
{
    if (p->state)
        call.free(p->state);
    p->state = NULL;
}

static const char *const files[] = {"libheddle_eigen.so", NULL};

const struct peer_library peer_eigen = {.files = files,
                                        .symbols = symbols,
                                        .types = "f32 f64 c32 c64",
                                        .open = open_it,
                                        .suits = suits,
                                        .bind = bind,
                                        .run = run,
                                        .release = release};
