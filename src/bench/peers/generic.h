/* SPDX-License-Identifier: MIT
 *
 * peer_generic.h: cuSPARSE's generic interface, which hipSPARSE has under its own names: handles,
 * descriptions of matrices and vectors, and cusparseSpMV, or cusparseSpMM of several vectors, in three
 * steps.  peer_generic.c works on a table of its calls; peer_cusparse.c and peer_hipsparse.c fill one
 * each.  Types and numbers are those of the libraries' documentation; the two agree on every one used
 * here. */
#ifndef BENCH_PEERS_GENERIC_H
#define BENCH_PEERS_GENERIC_H

#include "bench/peers/peer.h"

#define GENERIC_SPMV_ARGUMENTS                                                                               \
    void *handle, int op, const void *alpha, const void *mat, const void *x, const void *beta, void *y,      \
        int type, int alg
#define GENERIC_SPMM_ARGUMENTS                                                                               \
    void *handle, int op, int op_x, const void *alpha, const void *mat, const void *x, const void *beta,     \
        void *y, int type, int alg

/* CALL(member, symbol without the library's name, optional, arguments) */
#define GENERIC_CALLS(CALL)                                                                                  \
    CALL(create, Create, 0, (void **handle))                                                                 \
    CALL(destroy, Destroy, 0, (void *handle))                                                                \
    CALL(version, GetVersion, 0, (void *handle, int *version))                                               \
    CALL(set_stream, SetStream, 0, (void *handle, void *stream))                                             \
    CALL(csr, CreateCsr, 0,                                                                                  \
         (void **mat, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *col, void *val,              \
          int ptr_type, int col_type, int base, int type))                                                   \
    CALL(coo, CreateCoo, 0,                                                                                  \
         (void **mat, int64_t rows, int64_t cols, int64_t nnz, void *row, void *col, void *val,              \
          int index_type, int base, int type))                                                               \
    CALL(sell, CreateSlicedEll, 1,                                                                           \
         (void **mat, int64_t rows, int64_t cols, int64_t nnz, int64_t stored, int64_t slice, void *ptr,     \
          void *col, void *val, int ptr_type, int col_type, int base, int type))                             \
    CALL(bsr, CreateBsr, 1,                                                                                  \
         (void **mat, int64_t rows, int64_t cols, int64_t blocks, int64_t row_block, int64_t col_block,      \
          void *ptr, void *col, void *val, int ptr_type, int col_type, int base, int type, int order))       \
    CALL(free_mat, DestroySpMat, 0, (const void *mat))                                                       \
    CALL(vector, CreateDnVec, 0, (void **vec, int64_t size, void *val, int type))                            \
    CALL(set_values, DnVecSetValues, 0, (void *vec, void *val))                                              \
    CALL(free_vector, DestroyDnVec, 0, (const void *vec))                                                    \
    CALL(buffer_size, SpMV_bufferSize, 0, (GENERIC_SPMV_ARGUMENTS, size_t * bytes))                          \
    CALL(preprocess, SpMV_preprocess, 1, (GENERIC_SPMV_ARGUMENTS, void *buffer))                             \
    CALL(spmv, SpMV, 0, (GENERIC_SPMV_ARGUMENTS, void *buffer))                                              \
    CALL(dense, CreateDnMat, 1,                                                                              \
         (void **mat, int64_t rows, int64_t cols, int64_t ld, void *val, int type, int order))               \
    CALL(set_dense, DnMatSetValues, 1, (void *mat, void *val))                                               \
    CALL(free_dense, DestroyDnMat, 1, (const void *mat))                                                     \
    CALL(mm_buffer_size, SpMM_bufferSize, 1, (GENERIC_SPMM_ARGUMENTS, size_t * bytes))                       \
    CALL(mm_preprocess, SpMM_preprocess, 1, (GENERIC_SPMM_ARGUMENTS, void *buffer))                          \
    CALL(spmm, SpMM, 1, (GENERIC_SPMM_ARGUMENTS, void *buffer))                                              \
    CALL(op_buffer_size, SpMVOp_bufferSize, 1,                                                               \
         (void *handle, int op, const void *mat, const void *x, const void *y, void *z, int type,            \
          size_t *bytes))                                                                                    \
    CALL(op_descr, SpMVOp_createDescr, 1,                                                                    \
         (void *handle, void **descr, int op, const void *mat, const void *x, const void *y, void *z,        \
          int type, void *buffer))                                                                           \
    CALL(op_plan, SpMVOp_createPlan, 1,                                                                      \
         (void *handle, void *descr, void **plan, const void *lto, size_t bytes))                            \
    CALL(op_run, SpMVOp, 1,                                                                                  \
         (void *handle, void *plan, const void *alpha, const void *beta, const void *x, const void *y,       \
          void *z))                                                                                          \
    CALL(op_free_plan, SpMVOp_destroyPlan, 1, (void *plan))                                                  \
    CALL(op_free_descr, SpMVOp_destroyDescr, 1, (void *descr))

struct generic_calls {
#define CALL(member, symbol, optional, arguments) int(*member) arguments;
    GENERIC_CALLS(CALL)
#undef CALL
    const char *(*error_name)(int status); /* optional */
    const char *library;                   /* "cusparse", for messages */
    int op_oldest, op_newest; /* versions whose SpMVOp takes the arguments above: it came and changed with
                               * them */
};

/* The functions of struct peer_library, whose `calls` is a table as above. */
heddle_status generic_open(const struct peer_library *l, void **handle, const struct device *d,
                           char version[16]);
void generic_close(const struct peer_library *l, void *handle);
heddle_status generic_suits(const struct peer *p);
heddle_status generic_bind(struct peer *p);
heddle_status generic_prepare(struct peer *p);
heddle_status generic_run(struct peer *p, const void *x, void *y);
void generic_release(struct peer *p);

#endif
