/* SPDX-License-Identifier: MIT
 *
 * fake_sparse.c: the generic interface of cuSPARSE (with -DPREFIX=hipsparse: of hipSPARSE) on the host.
 * Where cusparse.h is installed it checks every prototype below. */
#include "fake_sparse.h"

#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "fake_product.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define API(symbol) JOIN(PREFIX, symbol)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#ifdef HAVE_CUSPARSE_H
#include <cusparse.h>
#define STATUS cusparseStatus_t
typedef cusparseHandle_t handle_type;
typedef cusparseSpMatDescr_t mat_type;
typedef cusparseConstSpMatDescr_t const_mat;
typedef cusparseDnVecDescr_t vec_type;
typedef cusparseConstDnVecDescr_t const_vec;
typedef cusparseIndexType_t index_type;
typedef cusparseIndexBase_t base_type;
typedef cusparseOperation_t op_type;
typedef cusparseOrder_t order_type;
typedef cusparseSpMVAlg_t alg_type;
typedef cusparseSpMMAlg_t mm_alg_type;
typedef cusparseDnMatDescr_t dense_type;
typedef cusparseConstDnMatDescr_t const_dense;
typedef cudaDataType data_type;
typedef cudaStream_t stream_type;
#else
#define STATUS int
typedef struct handle *handle_type;
typedef struct mat *mat_type;
typedef const struct mat *const_mat;
typedef struct vec *vec_type;
typedef const struct vec *const_vec;
typedef struct dense *dense_type;
typedef const struct dense *const_dense;
typedef int index_type, base_type, op_type, order_type, alg_type, mm_alg_type, data_type;
typedef void *stream_type;
#endif
#define EXPORT __attribute__((visibility("default"))) STATUS

enum { INVALID_VALUE = 3, NOT_SUPPORTED = 10 };

struct plan {
    const struct matrix *matrix;
    op_type op;
};

const struct fake_device fake_device = {"Fake", "none"};
static struct fake_sparse_state state;

__attribute__((visibility("default"))) struct fake_sparse_state *fake_sparse(void);
__attribute__((visibility("default"))) struct fake_sparse_state *fake_sparse(void)
{
    return &state;
}

#define TRY_SCRIPT(symbol)                                                                                   \
    do {                                                                                                     \
        int prescribed = fake_enter(TEXT(PREFIX) #symbol);                                                   \
        if (prescribed)                                                                                      \
            return (STATUS)prescribed;                                                                       \
    } while (0)

/* ------------------------------------------------------------------ the product */

static STATUS product(const struct matrix *m, int t, const void *alpha, const void *beta,
                      const struct vector *x, const struct vector *y, int type)
{
    if (!m || !x || !y || y->type != type ||
        !multiply(m, t, value(alpha, type, 0), value(beta, type, 0), x, y))
        return (STATUS)INVALID_VALUE;
    if (fake_number("FAKE_SPARSE_WRONG", 0) && y->size > 0)
        add(y, 0, 1);
    state.products++;
    state.format = m->format;
    return (STATUS)0;
}

/* ------------------------------------------------------------------ handles and descriptions */

EXPORT API(Create)(handle_type *handle)
{
    TRY_SCRIPT(Create);
    *handle = malloc(1);
    state.handles++;
    return (STATUS)0;
}
EXPORT API(Destroy)(handle_type handle)
{
    free((void *)handle);
    state.handles--;
    return (STATUS)0;
}
EXPORT API(GetVersion)(handle_type handle, int *version)
{
    (void)handle;
    *version = (int)fake_number("FAKE_SPARSE_VERSION", 12603);
    return (STATUS)0;
}
EXPORT API(SetStream)(handle_type handle, stream_type stream)
{
    (void)handle;
    TRY_SCRIPT(SetStream);
    state.stream = (void *)stream;
    return (STATUS)0;
}
__attribute__((visibility("default"))) const char *API(GetErrorName)(STATUS status)
{
    return status == (STATUS)NOT_SUPPORTED ? "FAKE_STATUS_NOT_SUPPORTED"
         : status == (STATUS)INVALID_VALUE ? "FAKE_STATUS_INVALID_VALUE"
                                           : "FAKE_STATUS_OTHER";
}

static STATUS keep(mat_type *mat, struct matrix what)
{
    struct matrix *m = malloc(sizeof *m);
    *m = what;
    *mat = (mat_type)m;
    state.matrices++;
    return (STATUS)0;
}

EXPORT API(CreateCsr)(mat_type *mat, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *col, void *val,
                      index_type ptr_type, index_type col_type, base_type base, data_type type)
{
    TRY_SCRIPT(CreateCsr);
    if ((int)col_type != 2 || (int)base != 0)
        return (STATUS)INVALID_VALUE;
    return keep(mat, (struct matrix){.format = CSR,
                                     .rows = rows,
                                     .cols = cols,
                                     .nnz = nnz,
                                     .ptr = ptr,
                                     .col = col,
                                     .val = val,
                                     .wide = (int)ptr_type == 3,
                                     .type = (int)type});
}
EXPORT API(CreateCoo)(mat_type *mat, int64_t rows, int64_t cols, int64_t nnz, void *row, void *col, void *val,
                      index_type index, base_type base, data_type type)
{
    TRY_SCRIPT(CreateCoo);
    if ((int)index != 2 || (int)base != 0)
        return (STATUS)INVALID_VALUE;
    return keep(mat, (struct matrix){.format = COO,
                                     .rows = rows,
                                     .cols = cols,
                                     .nnz = nnz,
                                     .row = row,
                                     .col = col,
                                     .val = val,
                                     .type = (int)type});
}
#ifndef FAKE_OLD
EXPORT API(CreateSlicedEll)(mat_type *mat, int64_t rows, int64_t cols, int64_t nnz, int64_t stored,
                            int64_t slice, void *ptr, void *col, void *val, index_type ptr_type,
                            index_type col_type, base_type base, data_type type)
{
    TRY_SCRIPT(CreateSlicedEll);
    if ((int)col_type != 2 || (int)base != 0)
        return (STATUS)INVALID_VALUE;
    return keep(mat, (struct matrix){.format = SELL,
                                     .rows = rows,
                                     .cols = cols,
                                     .nnz = nnz,
                                     .stored = stored,
                                     .slice = slice,
                                     .ptr = ptr,
                                     .col = col,
                                     .val = val,
                                     .wide = (int)ptr_type == 3,
                                     .type = (int)type});
}
EXPORT API(CreateBsr)(mat_type *mat, int64_t rows, int64_t cols, int64_t blocks, int64_t row_block,
                      int64_t col_block, void *ptr, void *col, void *val, index_type ptr_type,
                      index_type col_type, base_type base, data_type type, order_type order)
{
    TRY_SCRIPT(CreateBsr);
    if ((int)col_type != 2 || (int)base != 0 || row_block != col_block || (int)order != 2)
        return (STATUS)INVALID_VALUE;
    return keep(mat, (struct matrix){.format = BSR,
                                     .rows = rows * row_block,
                                     .cols = cols * row_block,
                                     .nnz = blocks,
                                     .block = row_block,
                                     .ptr = ptr,
                                     .col = col,
                                     .val = val,
                                     .wide = (int)ptr_type == 3,
                                     .type = (int)type});
}
#endif
EXPORT API(DestroySpMat)(const_mat mat)
{
    free((void *)(uintptr_t)mat);
    state.matrices--;
    return (STATUS)0;
}
EXPORT API(CreateDnVec)(vec_type *vec, int64_t size, void *val, data_type type)
{
    TRY_SCRIPT(CreateDnVec);
    struct vector *v = malloc(sizeof *v);
    *v = (struct vector){size, val, (int)type};
    *vec = (vec_type)v;
    state.vectors++;
    return (STATUS)0;
}
EXPORT API(DnVecSetValues)(vec_type vec, void *val)
{
    TRY_SCRIPT(DnVecSetValues);
    ((struct vector *)vec)->val = val;
    return (STATUS)0;
}
EXPORT API(DestroyDnVec)(const_vec vec)
{
    free((void *)(uintptr_t)vec);
    state.vectors--;
    return (STATUS)0;
}

/* ------------------------------------------------------------------ SpMV */

/* BSR is not transposed, as by the real one, nor is sliced ELL, so that something is refused. */
EXPORT API(SpMV_bufferSize)(handle_type handle, op_type op, const void *alpha, const_mat mat, const_vec x,
                            const void *beta, vec_type y, data_type type, alg_type alg, size_t *bytes)
{
    const struct matrix *m = (const struct matrix *)mat;
    (void)handle, (void)alpha, (void)x, (void)beta, (void)y, (void)type, (void)alg;
    TRY_SCRIPT(SpMV_bufferSize);
    *bytes = 128;
    if (m->format < SELL || (int)op == 0)
        return (STATUS)0;
    printf(" ** On entry to SpMV_bufferSize(): a message on standard output, as the real one has it\n");
    return (STATUS)NOT_SUPPORTED;
}
EXPORT API(SpMV_preprocess)(handle_type handle, op_type op, const void *alpha, const_mat mat, const_vec x,
                            const void *beta, vec_type y, data_type type, alg_type alg, void *buffer)
{
    (void)handle, (void)op, (void)alpha, (void)mat, (void)x, (void)beta, (void)y, (void)type, (void)alg;
    TRY_SCRIPT(SpMV_preprocess);
    ((char *)buffer)[127] = 1; /* all of the workspace may be used */
    state.prepared++;
    return (STATUS)0;
}
EXPORT API(SpMV)(handle_type handle, op_type op, const void *alpha, const_mat mat, const_vec x,
                 const void *beta, vec_type y, data_type type, alg_type alg, void *buffer)
{
    (void)handle;
    TRY_SCRIPT(SpMV);
    ((char *)buffer)[0] = 1;
    state.alg = (int)alg;
    return product((const struct matrix *)mat, (int)op, alpha, beta, (const struct vector *)x,
                   (const struct vector *)y, (int)type);
}

/* ------------------------------------------------------------------ SpMM */

#ifndef FAKE_OLD
struct vectors_of { /* a dense matrix: its columns */
    int64_t size, count, ld;
    void *val;
    int type, by_rows;
};

EXPORT API(CreateDnMat)(dense_type *mat, int64_t rows, int64_t cols, int64_t ld, void *val, data_type type,
                        order_type order)
{
    TRY_SCRIPT(CreateDnMat);
    if (ld < ((int)order == 2 ? cols : rows))
        return (STATUS)INVALID_VALUE;
    struct vectors_of *v = malloc(sizeof *v);
    *v = (struct vectors_of){rows, cols, ld, val, (int)type, (int)order == 2};
    *mat = (dense_type)v;
    state.vectors++;
    return (STATUS)0;
}
EXPORT API(DnMatSetValues)(dense_type mat, void *val)
{
    TRY_SCRIPT(DnMatSetValues);
    ((struct vectors_of *)mat)->val = val;
    return (STATUS)0;
}
EXPORT API(DestroyDnMat)(const_dense mat)
{
    free((void *)(uintptr_t)mat);
    state.vectors--;
    return (STATUS)0;
}

/* Number i of column v, as a vector of one. */
static struct vector at(const struct vectors_of *m, int64_t i, int64_t v)
{
    static const int64_t sizes[] = {
        [R_32F] = 4, [R_64F] = 8, [R_16F] = 2, [C_32F] = 8, [C_64F] = 16, [R_16BF] = 2};
    const int64_t place = m->by_rows ? i * m->ld + v : i + v * m->ld;
    return (struct vector){1, (char *)m->val + place * sizes[m->type], m->type};
}

/* The third algorithm of COO is not transposed, so that something is refused. */
EXPORT API(SpMM_bufferSize)(handle_type handle, op_type op, op_type op_x, const void *alpha, const_mat mat,
                            const_dense x, const void *beta, dense_type y, data_type type, mm_alg_type alg,
                            size_t *bytes)
{
    (void)handle, (void)alpha, (void)mat, (void)x, (void)beta, (void)y, (void)type;
    TRY_SCRIPT(SpMM_bufferSize);
    *bytes = 128;
    return (STATUS)((int)op_x != 0 || ((int)alg == 3 && (int)op != 0) ? NOT_SUPPORTED : 0);
}
EXPORT API(SpMM_preprocess)(handle_type handle, op_type op, op_type op_x, const void *alpha, const_mat mat,
                            const_dense x, const void *beta, dense_type y, data_type type, mm_alg_type alg,
                            void *buffer)
{
    (void)handle, (void)op, (void)op_x, (void)alpha, (void)mat, (void)x, (void)beta, (void)y, (void)type;
    (void)alg;
    TRY_SCRIPT(SpMM_preprocess);
    ((char *)buffer)[127] = 1;
    state.prepared++;
    return (STATUS)0;
}
EXPORT API(SpMM)(handle_type handle, op_type op, op_type op_x, const void *alpha, const_mat mat,
                 const_dense x, const void *beta, dense_type y, data_type type, mm_alg_type alg, void *buffer)
{
    const struct vectors_of *in = (const struct vectors_of *)x, *to = (const struct vectors_of *)y;
    STATUS status = (STATUS)0;
    (void)handle, (void)op_x;
    TRY_SCRIPT(SpMM);
    ((char *)buffer)[0] = 1;
    state.alg = (int)alg;
    if (in->count != to->count || in->type == R_16F || in->type == R_16BF)
        return (STATUS)NOT_SUPPORTED;
    struct vector one = {in->size, calloc((size_t)in->size + 1, 16), in->type};
    struct vector result = {to->size, calloc((size_t)to->size + 1, 16), to->type};
    for (int64_t v = 0; v < in->count && status == (STATUS)0; v++) {
        for (int64_t i = 0; i < in->size; i++)
            set(&one, i, value(at(in, i, v).val, in->type, 0));
        for (int64_t i = 0; i < to->size; i++)
            set(&result, i, value(at(to, i, v).val, to->type, 0));
        status = product((const struct matrix *)mat, (int)op, alpha, beta, &one, &result, (int)type);
        for (int64_t i = 0; i < to->size; i++) {
            const struct vector place = at(to, i, v);
            set(&place, 0, value(result.val, to->type, i));
        }
    }
    free(one.val);
    free(result.val);
    return status;
}
#endif

/* ------------------------------------------------------------------ SpMVOp, as in CUDA 13.2 */

#ifdef FAKE_SPMVOP
EXPORT API(SpMVOp_bufferSize)(handle_type handle, op_type op, const_mat mat, const_vec x, const_vec y,
                              vec_type z, data_type type, size_t *bytes)
{
    (void)handle, (void)mat, (void)x, (void)y, (void)z, (void)type;
    *bytes = 64;
    return (STATUS)((int)op != 0 ? NOT_SUPPORTED : 0);
}
EXPORT API(SpMVOp_createDescr)(handle_type handle, void **descr, op_type op, const_mat mat, const_vec x,
                               const_vec y, vec_type z, data_type type, void *buffer)
{
    (void)handle, (void)x, (void)y, (void)z, (void)type;
    ((char *)buffer)[63] = 1;
    struct plan *p = malloc(sizeof *p);
    *p = (struct plan){(const struct matrix *)mat, op};
    *descr = p;
    state.plans++;
    return (STATUS)0;
}
EXPORT API(SpMVOp_createPlan)(handle_type handle, void *descr, void **plan, const void *lto, size_t bytes)
{
    (void)handle, (void)lto, (void)bytes;
    TRY_SCRIPT(SpMVOp_createPlan);
    struct plan *p = malloc(sizeof *p);
    *p = *(struct plan *)descr;
    *plan = p;
    state.plans++;
    return (STATUS)0;
}
EXPORT API(SpMVOp)(handle_type handle, void *plan, const void *alpha, const void *beta, const_vec x,
                   const_vec y, vec_type z)
{
    const struct plan *p = plan;
    (void)handle;
    if ((const void *)y != (const void *)z)
        return (STATUS)NOT_SUPPORTED;
    return product(p->matrix, (int)p->op, alpha, beta, (const struct vector *)x, (const struct vector *)z,
                   ((const struct vector *)z)->type);
}
EXPORT API(SpMVOp_destroyPlan)(void *plan)
{
    free(plan);
    state.plans--;
    return (STATUS)0;
}
EXPORT API(SpMVOp_destroyDescr)(void *descr)
{
    free(descr);
    state.plans--;
    return (STATUS)0;
}
#endif
