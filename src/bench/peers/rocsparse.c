/* SPDX-License-Identifier: MIT
 *
 * peer_rocsparse.c: AMD's rocSPARSE, from ROCm 6 on: one function, rocsparse_spmv, in three stages. */
#include <stdio.h>

#include "base/memory.h"
#include "bench/peers/peer.h"

enum {
    INDEX_I32 = 2,
    INDEX_I64 = 3,
    TYPE_F32 = 151,
    TYPE_F64 = 152,
    TYPE_C32 = 154,
    TYPE_C64 = 155,
    OPERATION_NONE = 111,
    OPERATION_TRANSPOSE = 112,
    OPERATION_ADJOINT = 113,
    STAGE_BUFFER_SIZE = 1,
    STAGE_PREPROCESS = 2,
    STAGE_COMPUTE = 3
};

static struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*version)(void *handle, int *version);
    int (*set_stream)(void *handle, void *stream);
    int (*csr)(void **mat, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *col, void *val,
               int ptr_type, int col_type, int base, int type);
    int (*coo)(void **mat, int64_t rows, int64_t cols, int64_t nnz, void *row, void *col, void *val,
               int index_type, int base, int type);
    int (*free_mat)(const void *mat);
    int (*vector)(void **vec, int64_t size, void *val, int type);
    int (*set_values)(void *vec, void *val);
    int (*free_vector)(const void *vec);
    int (*spmv)(void *handle, int op, const void *alpha, const void *mat, const void *x, const void *beta,
                void *y, int type, int alg, int stage, size_t *bytes, void *buffer);
    const char *(*status_name)(int status);
} call;

static const struct peer_symbol symbols[] = {{"rocsparse_create_handle", &call.create, 0},
                                             {"rocsparse_destroy_handle", &call.destroy, 0},
                                             {"rocsparse_get_version", &call.version, 0},
                                             {"rocsparse_set_stream", &call.set_stream, 0},
                                             {"rocsparse_create_csr_descr", &call.csr, 0},
                                             {"rocsparse_create_coo_descr", &call.coo, 0},
                                             {"rocsparse_destroy_spmat_descr", &call.free_mat, 0},
                                             {"rocsparse_create_dnvec_descr", &call.vector, 0},
                                             {"rocsparse_dnvec_set_values", &call.set_values, 0},
                                             {"rocsparse_destroy_dnvec_descr", &call.free_vector, 0},
                                             {"rocsparse_spmv", &call.spmv, 0},
                                             {"rocsparse_get_status_name", &call.status_name, 1},
                                             {0}};

struct roc {
    void *mat, *x, *y;
    const void *x_now;
    void *y_now;
    int type, op;
};

static heddle_status failed(const char *what, int code)
{
    char number[32];
    const char *name = call.status_name ? call.status_name(code) : NULL;
    snprintf(number, sizeof number, "status %d", code);
    return fail(HEDDLE_NOT_SUPPORTED, "rocsparse: %s: %s", what, name ? name : number);
}

#define TRY_CALL(member, what, ...)                                                                          \
    do {                                                                                                     \
        int code_ = call.member(__VA_ARGS__);                                                                \
        if (code_)                                                                                           \
            TRY(failed(what, code_));                                                                        \
    } while (0)

static heddle_status open_it(const struct peer_library *l, void **handle, const struct device *d,
                             char version[16])
{
    heddle_status status = HEDDLE_OK;
    int number = 0;
    (void)l;
    *handle = NULL;
    TRY_CALL(create, "rocsparse_create_handle", handle);
    TRY_CALL(version, "rocsparse_get_version", *handle, &number);
    TRY_CALL(set_stream, "rocsparse_set_stream", *handle, d->stream);
    snprintf(version, 16, "%d", number);
done:
    if (status != HEDDLE_OK && *handle) {
        call.destroy(*handle);
        *handle = NULL;
    }
    return status;
}

static void close_it(const struct peer_library *l, void *handle)
{
    (void)l;
    call.destroy(handle);
}

static heddle_status describe(struct peer *p, struct roc *r)
{
    heddle_status status = HEDDLE_OK;
    const struct csr *A = &p->A;
    const struct peer_arrays *a = &p->arrays;
    int offset = a->offset == HEDDLE_I64 ? INDEX_I64 : INDEX_I32;
    if (p->row->format == PEER_coo)
        TRY_CALL(coo, "rocsparse_create_coo_descr", &r->mat, A->rows, A->cols, A->nnz, a->row, a->index,
                 a->val, INDEX_I32, 0, r->type);
    else
        TRY_CALL(csr, "rocsparse_create_csr_descr", &r->mat, A->rows, A->cols, A->nnz, a->ptr, a->index,
                 a->val, offset, INDEX_I32, 0, r->type);
    TRY_CALL(vector, "rocsparse_create_dnvec_descr", &r->x, p->x_count, p->stand_in_x, r->type);
    TRY_CALL(vector, "rocsparse_create_dnvec_descr", &r->y, p->y_count, p->stand_in_y, r->type);
    r->x_now = p->stand_in_x;
    r->y_now = p->stand_in_y;
done:
    return status;
}

static heddle_status stage(struct peer *p, int number, size_t *bytes, const char *what)
{
    heddle_status status = HEDDLE_OK;
    const struct roc *r = p->state;
    TRY_CALL(spmv, what, p->handle, r->op, peer_alpha(p), r->mat, r->x, peer_beta(p), r->y, r->type,
             p->row->number, number, bytes, number == STAGE_BUFFER_SIZE ? NULL : p->workspace);
done:
    return status;
}

static heddle_status bind(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    struct roc *r = NULL;
    size_t bytes = 0;
    TRY(NEW_ZEROED(r, 1));
    p->state = r;
    r->type = p->A.value == HEDDLE_F32 ? TYPE_F32
            : p->A.value == HEDDLE_F64 ? TYPE_F64
            : p->A.value == HEDDLE_C32 ? TYPE_C32
                                       : TYPE_C64;
    r->op = OPERATION_NONE + (int)p->op;
    TRY_CALL(set_stream, "rocsparse_set_stream", p->handle, p->device->stream);
    TRY(describe(p, r));
    TRY(stage(p, STAGE_BUFFER_SIZE, &bytes, "rocsparse_spmv (buffer size)"));
    p->workspace_bytes = (int64_t)bytes;
    TRY(device_alloc(p->device, &p->workspace, p->workspace_bytes));
done:
    return status;
}

static heddle_status prepare(struct peer *p)
{
    size_t bytes = (size_t)p->workspace_bytes;
    return stage(p, STAGE_PREPROCESS, &bytes, "rocsparse_spmv (preprocess)");
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    heddle_status status = HEDDLE_OK;
    struct roc *r = p->state;
    size_t bytes = (size_t)p->workspace_bytes;
    if (x != r->x_now)
        TRY_CALL(set_values, "rocsparse_dnvec_set_values", r->x, (void *)(uintptr_t)x);
    if (y != r->y_now)
        TRY_CALL(set_values, "rocsparse_dnvec_set_values", r->y, y);
    r->x_now = x;
    r->y_now = y;
    TRY(stage(p, STAGE_COMPUTE, &bytes, "rocsparse_spmv"));
done:
    return status;
}

static void release(struct peer *p)
{
    struct roc *r = p->state;
    if (!r)
        return;
    if (r->mat)
        call.free_mat(r->mat);
    if (r->x)
        call.free_vector(r->x);
    if (r->y)
        call.free_vector(r->y);
    mem_free(r);
    p->state = NULL;
}

static const char *const files[] = {"librocsparse.so.1", "librocsparse.so.0", "librocsparse.so", NULL};
static const char *const folders[] = {"/opt/rocm/lib", "/opt/rocm/lib64", NULL};

const struct peer_library peer_rocsparse = {.files = files,
                                            .folders = folders,
                                            .symbols = symbols,
                                            .types = "f32 f64 c32 c64",
                                            .open = open_it,
                                            .close = close_it,
                                            .bind = bind,
                                            .prepare = prepare,
                                            .run = run,
                                            .release = release};
