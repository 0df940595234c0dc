/* SPDX-License-Identifier: MIT
 *
 * fake_rocsparse.c: as much of librocsparse as Heddle calls, on the host; scripted as fake_sparse.h says. */
#include "fake_sparse.h"

#include <stdlib.h>

#include "fake.h"
#include "fake_product.h"

#define EXPORT __attribute__((visibility("default"))) int
#define VISIBLE(...) __attribute__((visibility("default"))) __VA_ARGS__

enum {
    INVALID_VALUE = 5,
    F32 = 151,
    F64 = 152,
    C32 = 154,
    C64 = 155,
    NONE = 111,
    TRANSPOSE = 112,
    ADJOINT = 113,
    BUFFER_SIZE = 1,
    PREPROCESS = 2,
    COMPUTE = 3
};

const struct fake_device fake_device = {"Fake", "none"};
static struct fake_sparse_state state;

VISIBLE(struct fake_sparse_state *fake_sparse(void));
struct fake_sparse_state *fake_sparse(void)
{
    return &state;
}

/* As fake_product.h has it; -1: there is none. */
static int own(int type)
{
    return type == F32 ? R_32F : type == F64 ? R_64F : type == C32 ? C_32F : type == C64 ? C_64F : -1;
}

EXPORT rocsparse_create_handle(void **handle)
{
    ENTER(rocsparse_create_handle);
    *handle = malloc(1);
    state.handles++;
    return 0;
}
EXPORT rocsparse_destroy_handle(void *handle)
{
    free(handle);
    state.handles--;
    return 0;
}
EXPORT rocsparse_get_version(void *handle, int *version)
{
    (void)handle;
    *version = 400000;
    return 0;
}
EXPORT rocsparse_set_stream(void *handle, void *stream)
{
    (void)handle;
    state.stream = stream;
    return 0;
}
VISIBLE(const char *rocsparse_get_status_name(int status));
const char *rocsparse_get_status_name(int status)
{
    return status == INVALID_VALUE ? "rocsparse_status_invalid_value" : "rocsparse_status_other";
}

static int keep(void **mat, struct matrix what)
{
    struct matrix *m = malloc(sizeof *m);
    *m = what;
    *mat = m;
    state.matrices++;
    return 0;
}

EXPORT rocsparse_create_csr_descr(void **mat, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *col,
                                  void *val, int ptr_type, int col_type, int base, int type)
{
    ENTER(rocsparse_create_csr_descr);
    if (col_type != 2 || base != 0 || own(type) < 0)
        return INVALID_VALUE;
    return keep(mat, (struct matrix){.format = CSR,
                                     .rows = rows,
                                     .cols = cols,
                                     .nnz = nnz,
                                     .ptr = ptr,
                                     .col = col,
                                     .val = val,
                                     .wide = ptr_type == 3,
                                     .type = own(type)});
}
EXPORT rocsparse_create_coo_descr(void **mat, int64_t rows, int64_t cols, int64_t nnz, void *row, void *col,
                                  void *val, int index_type, int base, int type)
{
    if (index_type != 2 || base != 0 || own(type) < 0)
        return INVALID_VALUE;
    return keep(mat, (struct matrix){.format = COO,
                                     .rows = rows,
                                     .cols = cols,
                                     .nnz = nnz,
                                     .row = row,
                                     .col = col,
                                     .val = val,
                                     .type = own(type)});
}
EXPORT rocsparse_destroy_spmat_descr(const void *mat)
{
    free((void *)(uintptr_t)mat);
    state.matrices--;
    return 0;
}
EXPORT rocsparse_create_dnvec_descr(void **vec, int64_t size, void *val, int type)
{
    struct vector *v = malloc(sizeof *v);
    *v = (struct vector){size, val, own(type)};
    *vec = v;
    state.vectors++;
    return 0;
}
EXPORT rocsparse_dnvec_set_values(void *vec, void *val)
{
    ((struct vector *)vec)->val = val;
    return 0;
}
EXPORT rocsparse_destroy_dnvec_descr(const void *vec)
{
    free((void *)(uintptr_t)vec);
    state.vectors--;
    return 0;
}
EXPORT rocsparse_spmv(void *handle, int op, const void *alpha, const void *mat, const void *x,
                      const void *beta, void *y, int type, int alg, int stage, size_t *bytes, void *buffer)
{
    const struct matrix *m = mat;
    (void)handle;
    ENTER(rocsparse_spmv);
    if (op < NONE || op > ADJOINT || own(type) != m->type || stage < BUFFER_SIZE || stage > COMPUTE)
        return INVALID_VALUE;
    if (stage == BUFFER_SIZE)
        *bytes = 32;
    if (stage == PREPROCESS) {
        ((char *)buffer)[31] = 1;
        state.prepared++;
    }
    if (stage != COMPUTE)
        return 0;
    state.alg = alg;
    state.products++;
    return multiply(m, op - NONE, value(alpha, m->type, 0), value(beta, m->type, 0), x, y) ? 0
                                                                                           : INVALID_VALUE;
}
