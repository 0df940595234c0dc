/* SPDX-License-Identifier: MIT */
#include "bench/proof.h"

#include <string.h>

#include "base/memory.h"
#include "subject/fill.h"

enum { SEED_X, SEED_Y };

static heddle_status host_new(void **p, int64_t bytes)
{
    return (*p = mem_alloc(bytes, 1)) ? HEDDLE_OK : HEDDLE_NO_MEMORY;
}

/* The pattern of A, where it lies, with values of another array there. */
static heddle_status matrix_with(heddle_matrix **B, heddle *h, const heddle_matrix *A, const void *val)
{
    const struct csr *csr = &A->view.csr;
    heddle_csr_desc desc = {
        .rows = csr->rows,
        .cols = csr->cols,
        .nnz = csr->nnz,
        .row_ptr = csr->row_ptr,
        .col = csr->col,
        .val = val,
        .types = {value_type(csr->value), csr->offset, HEDDLE_I32, vector_type(csr->value)},
        .where = h->device.kind == DEVICE_gpu ? HEDDLE_ON_DEVICE : HEDDLE_ON_HOST};
    return heddle_csr(B, h, &desc);
}

/* On a GPU the host's values are needed no longer once the reference is there. */
static heddle_status onto_device(const struct proof *p, void **there, void *here, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    *there = here;
    if (p->device->kind != DEVICE_gpu)
        return HEDDLE_OK;
    TRY(device_alloc(p->device, there, bytes));
    if (bytes > 0)
        TRY(device_copy(p->device, *there, here, bytes));
    TRY(device_sync(p->device));
done:
    return status;
}

heddle_status proof_new(struct proof *p, heddle *h, const heddle_matrix *A, const struct csr *csr,
                        heddle_op op, struct vector_group vectors, struct scalars s)
{
    heddle_status status = HEDDLE_OK;
    const int64_t value = (int64_t)type_size(csr->value), size = (int64_t)vector_size(csr->value);
    const int64_t x_count = (op == HEDDLE_N ? csr->cols : csr->rows) * vectors_count(vectors);
    const int64_t y_count = (op == HEDDLE_N ? csr->rows : csr->cols) * vectors_count(vectors);
    struct csr whole = *csr;
    *p = (struct proof){
        .device = &h->device, .scalars = s, .x_bytes = x_count * size, .y_bytes = y_count * size};
    whole.val = NULL;
    TRY(host_new(&whole.val, csr->nnz * value));
    TRY(host_new(&p->x, p->x_bytes));
    TRY(host_new(&p->y0, p->y_bytes));
    TRY(host_new(&p->y, p->y_bytes));
    exact_values(whole.val, csr);
    exact_vector(p->x, csr, x_count, SEED_X);
    if (s.beta != 0)
        exact_vector(p->y0, csr, y_count, SEED_Y);
    else
        fill_nan(p->y0, vector_type(csr->value), y_count);
    TRY(references_new(&p->references, &(struct equation){&whole, op, s.alpha, s.beta, p->x, p->y0, NULL},
                       vectors, reference_exact));
    status = onto_device(p, &p->val_there, whole.val, csr->nnz * value);
    if (p->val_there == whole.val)
        whole.val = NULL;
    TRY(status);
    TRY(onto_device(p, &p->x_there, p->x, p->x_bytes));
    TRY(onto_device(p, &p->y_there, p->y, p->y_bytes));
    TRY(matrix_with(&p->A, h, A, p->val_there));
done:
    mem_free(whole.val);
    if (status != HEDDLE_OK)
        proof_free(p);
    return status;
}

void proof_free(struct proof *p)
{
    const int gpu = p->device && p->device->kind == DEVICE_gpu;
    heddle_matrix_free(p->A);
    if (gpu) {
        device_free(p->device, p->val_there);
        device_free(p->device, p->x_there);
        device_free(p->device, p->y_there);
    } else {
        mem_free(p->val_there);
    }
    mem_free(p->x);
    mem_free(p->y0);
    mem_free(p->y);
    references_free(&p->references);
    *p = (struct proof){0};
}

heddle_status proof_of(const struct proof *p, struct candidate *c, struct verdict *v, char text[VERDICT_TEXT])
{
    heddle_status status = HEDDLE_OK;
    *v = (struct verdict){.passed = 1};
    text[0] = 0;
    if (c->fixed)
        return HEDDLE_OK;
    TRY(candidate_use(c, p->A));
    if (p->y_bytes > 0) {
        TRY(device_copy(p->device, p->y_there, p->y0, p->y_bytes));
        TRY(device_sync(p->device));
    }
    TRY(candidate_run(c, p->scalars, p->x_there, p->y_there));
    TRY(device_sync(p->device));
    if (p->y_bytes > 0 && p->y_there != p->y)
        TRY(device_read(p->device, p->y, p->y_there, p->y_bytes));
    references_judge(v, text, &p->references, p->y);
done:
    return status;
}
