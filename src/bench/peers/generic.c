/* SPDX-License-Identifier: MIT */
#include "bench/peers/generic.h"

#include <stdio.h>

#include "base/memory.h"

enum {
    INDEX_32I = 2,
    INDEX_64I = 3,
    INDEX_BASE_ZERO = 0,
    REAL_32F = 0, /* of cudaDataType and hipDataType */
    REAL_64F = 1,
    REAL_16F = 2,
    COMPLEX_32F = 4,
    COMPLEX_64F = 5,
    REAL_16BF = 14,
    ORDER_COL = 1,
    ORDER_ROW = 2, /* also of the blocks of BSR */
};

/* What bind makes. */
struct generic {
    void *mat, *x, *y; /* x and y: vectors, or dense matrices of several */
    const void *x_now;
    void *y_now;
    void *descr, *plan;          /* of SpMVOp */
    int value, x_type, type, op; /* type: of y and of the sums */
    void *x_own;                 /* on the device: x in 16 bits */
};

static int data_type(heddle_type type)
{
    switch ((int)type) {
    case HEDDLE_F32:
    case F32_F64:
        return REAL_32F;
    case HEDDLE_C32:
        return COMPLEX_32F;
    case HEDDLE_C64:
        return COMPLEX_64F;
    case HEDDLE_F16:
        return REAL_16F;
    case HEDDLE_BF16:
        return REAL_16BF;
    default:
        return REAL_64F;
    }
}

static const struct generic_calls *calls_of(const struct peer *p)
{
    return p->library->calls;
}

/* The library's name of its status; a copy is kept by fail. */
static heddle_status failed(const struct generic_calls *call, const char *what, int code)
{
    char number[32];
    const char *name = call->error_name ? call->error_name(code) : NULL;
    snprintf(number, sizeof number, "status %d", code);
    return fail(HEDDLE_NOT_SUPPORTED, "%s: %s%s: %s", call->library, call->library, what,
                name ? name : number);
}

/* TRY of a call of the library, which the caller has as `call`. */
#define TRY_CALL(member, what, ...)                                                                          \
    do {                                                                                                     \
        int code_ = call->member(__VA_ARGS__);                                                               \
        if (code_)                                                                                           \
            TRY(failed(call, what, code_));                                                                  \
    } while (0)

heddle_status generic_open(const struct peer_library *l, void **handle, const struct device *d,
                           char version[16])
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = l->calls;
    int number = 0;
    *handle = NULL;
    TRY_CALL(create, "Create", handle);
    TRY_CALL(version, "GetVersion", *handle, &number);
    TRY_CALL(set_stream, "SetStream", *handle, d->stream);
    snprintf(version, 16, "%d", number);
done:
    if (status != HEDDLE_OK && *handle) {
        call->destroy(*handle);
        *handle = NULL;
    }
    return status;
}

void generic_close(const struct peer_library *l, void *handle)
{
    const struct generic_calls *call = l->calls;
    call->destroy(handle);
}

static int index_type(heddle_type type)
{
    return type == HEDDLE_I64 ? INDEX_64I : INDEX_32I;
}

static heddle_status describe_matrix(struct peer *p, struct generic *g)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    const struct peer_arrays *a = &p->arrays;
    const struct csr *A = &p->A;
    int offset = index_type(a->offset);
    switch (p->row->format) {
    case PEER_csr:
        TRY_CALL(csr, "CreateCsr", &g->mat, A->rows, A->cols, A->nnz, a->ptr, a->index, a->val, offset,
                 INDEX_32I, INDEX_BASE_ZERO, g->value);
        break;
    case PEER_coo:
        TRY_CALL(coo, "CreateCoo", &g->mat, A->rows, A->cols, A->nnz, a->row, a->index, a->val, INDEX_32I,
                 INDEX_BASE_ZERO, g->value);
        break;
    case PEER_sell:
        if (!call->sell)
            return fail(HEDDLE_NOT_SUPPORTED, "%s: this version has no sliced ELL", call->library);
        TRY_CALL(sell, "CreateSlicedEll", &g->mat, A->rows, A->cols, A->nnz, a->stored, a->slice, a->ptr,
                 a->index, a->val, offset, INDEX_32I, INDEX_BASE_ZERO, g->value);
        break;
    case PEER_bsr:
        if (!call->bsr)
            return fail(HEDDLE_NOT_SUPPORTED, "%s: this version has no BSR", call->library);
        TRY_CALL(bsr, "CreateBsr", &g->mat, A->rows / a->block, A->cols / a->block, a->blocks, a->block,
                 a->block, a->ptr, a->index, a->val, offset, INDEX_32I, INDEX_BASE_ZERO, g->value, ORDER_ROW);
        break;
    }
done:
    return status;
}

/* ------------------------------------------------------------------ SpMVOp: z = alpha op(A) x + beta y,
 * here with y = z */

static int is_op(const struct peer *p)
{
    return p->row->number < 0;
}

static heddle_status op_there(const struct peer *p)
{
    const struct generic_calls *call = calls_of(p);
    int version = 0;
    if (!call->op_run || !call->op_descr || !call->op_plan || !call->op_free_plan || !call->op_free_descr ||
        !call->op_buffer_size)
        return fail(HEDDLE_NOT_SUPPORTED, "%s: this version has no SpMVOp", call->library);
    call->version(p->handle, &version);
    if (version < call->op_oldest || version > call->op_newest)
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: the SpMVOp of version %d takes other arguments than that of %d to %d", call->library,
                    version, call->op_oldest, call->op_newest);
    return HEDDLE_OK;
}

static heddle_status op_bind(struct peer *p, struct generic *g)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    size_t bytes = 0;
    TRY_CALL(op_buffer_size, "SpMVOp_bufferSize", p->handle, g->op, g->mat, g->x, g->y, g->y, g->type,
             &bytes);
    p->workspace_bytes = (int64_t)bytes;
    TRY(device_alloc(p->device, &p->workspace, p->workspace_bytes));
    TRY_CALL(op_descr, "SpMVOp_createDescr", p->handle, &g->descr, g->op, g->mat, g->x, g->y, g->y, g->type,
             p->workspace);
    TRY_CALL(op_plan, "SpMVOp_createPlan", p->handle, g->descr, &g->plan, NULL, 0);
done:
    return status;
}

/* ------------------------------------------------------------------ SpMV, and SpMM of several vectors */

static int is_mm(const struct peer *p)
{
    return p->row->vectors == PEER_several;
}

static heddle_status mm_there(const struct peer *p)
{
    const struct generic_calls *call = calls_of(p);
    if (!call->dense || !call->set_dense || !call->free_dense || !call->mm_buffer_size || !call->spmm)
        return fail(HEDDLE_NOT_SUPPORTED, "%s: this version has no SpMM", call->library);
    return HEDDLE_OK;
}

/* All numbers of X. */
static int64_t x_numbers(const struct peer *p)
{
    return p->x_count * vectors_count(p->vectors);
}

static heddle_status describe_side(struct peer *p, void **side, int64_t n, void *at, int type)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    const int64_t count = vectors_count(p->vectors);
    const int by_rows = p->vectors.layout == HEDDLE_ROW_MAJOR;
    if (is_mm(p))
        TRY_CALL(dense, "CreateDnMat", side, n, count, by_rows ? count : n, at, type,
                 by_rows ? ORDER_ROW : ORDER_COL);
    else
        TRY_CALL(vector, "CreateDnVec", side, n, at, type);
done:
    return status;
}

static heddle_status set_side(struct peer *p, void *side, const void *at)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    if (is_mm(p))
        TRY_CALL(set_dense, "DnMatSetValues", side, (void *)(uintptr_t)at);
    else
        TRY_CALL(set_values, "DnVecSetValues", side, (void *)(uintptr_t)at);
done:
    return status;
}

/* BSR is not transposed: the library would say so for each matrix, and print a line beside. */
heddle_status generic_suits(const struct peer *p)
{
    if (p->row->format == PEER_bsr && p->op != HEDDLE_N)
        return fail(HEDDLE_NO_KERNEL, "%s: SpMV computes only A x of a matrix in BSR", calls_of(p)->library);
    return is_op(p) ? op_there(p) : is_mm(p) ? mm_there(p) : HEDDLE_OK;
}

/* Vectors need an address; the real ones are set before the first product. */
static heddle_status describe_vectors(struct peer *p, struct generic *g)
{
    heddle_status status = HEDDLE_OK;
    if (g->x_type != g->type) {
        TRY(device_alloc(p->device, &g->x_own, x_numbers(p) * 2));
        TRY(device_fill(p->device, g->x_own, 0, x_numbers(p) * 2));
    }
    TRY(describe_side(p, &g->x, p->x_count, g->x_own ? g->x_own : p->stand_in_x, g->x_type));
    TRY(describe_side(p, &g->y, p->y_count, p->stand_in_y, g->type));
    g->y_now = p->stand_in_y;
done:
    return status;
}

heddle_status generic_bind(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    struct generic *g = NULL;
    size_t bytes = 0;
    TRY(NEW_ZEROED(g, 1));
    p->state = g;
    g->value = data_type(p->A.value);
    g->type = data_type(vector_type(p->A.value));
    g->x_type = type_size(p->A.value) == 2 ? g->value : g->type;
    g->op = (int)p->op; /* 0: A, 1: its transpose, 2: its adjoint */
    TRY_CALL(set_stream, "SetStream", p->handle, p->device->stream);
    TRY(describe_matrix(p, g));
    TRY(describe_vectors(p, g));
    if (is_op(p))
        return op_bind(p, g);
    if (is_mm(p))
        TRY_CALL(mm_buffer_size, "SpMM_bufferSize", p->handle, g->op, 0, peer_alpha(p), g->mat, g->x,
                 peer_beta(p), g->y, g->type, p->row->number, &bytes);
    else
        TRY_CALL(buffer_size, "SpMV_bufferSize", p->handle, g->op, peer_alpha(p), g->mat, g->x, peer_beta(p),
                 g->y, g->type, p->row->number, &bytes);
    p->workspace_bytes = (int64_t)bytes;
    TRY(device_alloc(p->device, &p->workspace, p->workspace_bytes));
done:
    return status;
}

/* Formats without a preparation of their own may refuse the call: then there is nothing to prepare. */
heddle_status generic_prepare(struct peer *p)
{
    const struct generic_calls *call = calls_of(p);
    const struct generic *g = p->state;
    int code;
    if (is_op(p) || !(is_mm(p) ? call->mm_preprocess != NULL : call->preprocess != NULL))
        return HEDDLE_OK;
    if (is_mm(p))
        code = call->mm_preprocess(p->handle, g->op, 0, peer_alpha(p), g->mat, g->x, peer_beta(p), g->y,
                                   g->type, p->row->number, p->workspace);
    else
        code = call->preprocess(p->handle, g->op, peer_alpha(p), g->mat, g->x, peer_beta(p), g->y, g->type,
                                p->row->number, p->workspace);
    return code && p->row->preprocess ? failed(call, is_mm(p) ? "SpMM_preprocess" : "SpMV_preprocess", code)
                                      : HEDDLE_OK;
}

/* x in 16 bits, made when another x comes: a bench has few, and their numbers stay. */
static heddle_status round_x(struct peer *p, const struct generic *g, const void *x)
{
    heddle_status status = HEDDLE_OK;
    float *wide = NULL;
    uint16_t *narrow = NULL;
    const int64_t count = x_numbers(p);
    if (count == 0)
        return HEDDLE_OK;
    TRY(NEW(wide, count));
    TRY(NEW(narrow, count));
    TRY(device_read(p->device, wide, x, count * (int64_t)sizeof *wide));
    for (int64_t i = 0; i < count; i++)
        value_put(narrow, p->A.value, i, wide[i]);
    TRY(device_copy(p->device, g->x_own, narrow, count * 2));
    TRY(device_sync(p->device));
done:
    mem_free(narrow);
    mem_free(wide);
    return status;
}

static heddle_status set_vectors(struct peer *p, struct generic *g, const void *x, void *y)
{
    heddle_status status = HEDDLE_OK;
    if (x != g->x_now)
        TRY(g->x_own ? round_x(p, g, x) : set_side(p, g->x, x));
    if (y != g->y_now)
        TRY(set_side(p, g->y, y));
    g->x_now = x == p->stand_in_x ? NULL : x; /* that goes, and the next x may come to lie where it lay */
    g->y_now = y;
done:
    return status;
}

heddle_status generic_run(struct peer *p, const void *x, void *y)
{
    heddle_status status = HEDDLE_OK;
    const struct generic_calls *call = calls_of(p);
    struct generic *g = p->state;
    if (x != g->x_now || y != g->y_now)
        TRY(set_vectors(p, g, x, y));
    if (is_op(p))
        TRY_CALL(op_run, "SpMVOp", p->handle, g->plan, peer_alpha(p), peer_beta(p), g->x, g->y, g->y);
    else if (is_mm(p))
        TRY_CALL(spmm, "SpMM", p->handle, g->op, 0, peer_alpha(p), g->mat, g->x, peer_beta(p), g->y, g->type,
                 p->row->number, p->workspace);
    else
        TRY_CALL(spmv, "SpMV", p->handle, g->op, peer_alpha(p), g->mat, g->x, peer_beta(p), g->y, g->type,
                 p->row->number, p->workspace);
done:
    return status;
}

void generic_release(struct peer *p)
{
    const struct generic_calls *call = calls_of(p);
    struct generic *g = p->state;
    if (!g)
        return;
    if (g->plan)
        call->op_free_plan(g->plan);
    if (g->descr)
        call->op_free_descr(g->descr);
    if (g->mat)
        call->free_mat(g->mat);
    if (g->x)
        (is_mm(p) ? call->free_dense : call->free_vector)(g->x);
    if (g->y)
        (is_mm(p) ? call->free_dense : call->free_vector)(g->y);
    device_free(p->device, g->x_own);
    mem_free(g);
    p->state = NULL;
}
