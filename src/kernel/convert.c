/* SPDX-License-Identifier: MIT */
#include "kernel/convert.h"

#include "kernel/service.h"
#include "matrix/typed.h"

heddle_status device_csr_validate(const struct device *d, const struct csr *A)
{
    return d->kind == DEVICE_gpu ? gpu_csr_validate(d, A) : csr_validate(A);
}

heddle_status device_coo_validate(const struct device *d, const struct coo *A)
{
    return d->kind == DEVICE_gpu ? gpu_coo_validate(d, A) : coo_validate(A);
}

heddle_status device_row_lengths(const struct device *d, heddle_lengths *lengths, const struct csr *A)
{
    if (d->kind == DEVICE_gpu)
        return gpu_row_lengths(d, lengths, A);
    functions_of(A)->lengths(lengths, A);
    return HEDDLE_OK;
}

heddle_status device_csr_from_coo(const struct device *d, struct csr *B, const struct coo *A)
{
    heddle_status status = HEDDLE_OK;
    if (d->kind == DEVICE_cpu)
        return csr_from_coo(B, A);
    TRY(device_csr_new(d, B, &(struct csr){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .value = A->value,
                                           .offset = offset_for(A->nnz)}));
    TRY(gpu_coo_to_csr(d, B, A->row));
    TRY(device_copy(d, B->col, A->col, A->nnz * (int64_t)sizeof *A->col));
    TRY(device_copy(d, B->val, A->val, A->nnz * (int64_t)type_size(A->value)));
done:
    if (status != HEDDLE_OK)
        device_csr_free(d, B);
    return status;
}

heddle_status device_csr_transpose(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status;
    if (d->kind == DEVICE_cpu)
        return csr_transpose(B, A);
    TRY(device_csr_new(d, B, &(struct csr){.rows = A->cols, .cols = A->rows, .nnz = A->nnz, .value = A->value,
                                           .offset = A->offset}));
    TRY(gpu_csr_transpose(d, B, A));
done:
    if (status != HEDDLE_OK)
        device_csr_free(d, B);
    return status;
}

/* ------------------------------------------------------------------ formats ------------------------------------ */

static heddle_status fill_coo(const struct device *d, struct stored *s, const struct source *A)
{
    s->array[COO_COL] = A->csr.col;
    s->array[COO_VAL] = A->csr.val;
    return gpu_csr_to_coo(d, s->array[COO_ROW], &A->csr);
}

static heddle_status fill_ell(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_ell(d, s, &A->csr);
}

static heddle_status fill_csr5(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_csr5(d, s, &A->csr);
}

/* How a GPU fills the arrays of a format; a source whose arrays serve as they are needs no such function. */
typedef heddle_status gpu_fill(const struct device *d, struct stored *s, const struct source *A);
static gpu_fill *const fills[FORMAT_COUNT] = {
    [FORMAT_coo] = fill_coo,
    [FORMAT_ell] = fill_ell,
    [FORMAT_ellr] = fill_ell,
    [FORMAT_csr5] = fill_csr5,
};

/* Formats that ask for lengths of rows would look at row_ptr: they are told.  So they are for which device they are. */
static int asks_for_lengths(enum format_id id)
{
    return id == FORMAT_ell || id == FORMAT_ellr || id == FORMAT_csr5;
}

heddle_status device_stored_size(const struct device *d, struct stored *s, enum format_id id, const struct source *A,
                                 const int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    heddle_lengths lengths;
    struct source told = *A;
    if (d->kind == DEVICE_gpu && id != FORMAT_csr && !fills[id])
        return fail(HEDDLE_NO_KERNEL, "GPUs have no conversion to %s", format_at(id)->name);
    if (d->kind == DEVICE_gpu && asks_for_lengths(id) && A->csr.nnz > 0) {
        TRY(device_row_lengths(d, &lengths, &A->csr));
        told.longest = lengths.longest;
        told.empty = lengths.empty;
    }
    if (d->kind == DEVICE_gpu) {
        told.omega = gpu_info_of(d->gpu)->wave;
        told.sigma = gpu_arch(d->gpu)->sigma;
    }
    TRY(stored_size(s, id, &told, option));
done:
    return status;
}

/* Then there is nothing to fill: pointers are passed on. */
static int borrows_all(const struct stored *s)
{
    int i = 0;
    while (s->format->array[i] && s->borrowed >> i & 1)
        i++;
    return !s->format->array[i];
}

heddle_status device_stored_build(const struct device *d, struct stored *s, const struct source *A)
{
    heddle_status status = HEDDLE_OK;
    if (d->kind == DEVICE_cpu || borrows_all(s))
        return stored_build(s, A);
    for (int i = 0; s->format->array[i]; i++)
        if (!(s->borrowed >> i & 1))
            TRY(device_alloc(d, &s->array[i], s->bytes[i]));
    TRY(fills[format_by_name(s->format->name)](d, s, A));
done:
    if (status != HEDDLE_OK)
        device_stored_free(d, s);
    return status;
}

void device_stored_free(const struct device *d, struct stored *s)
{
    for (int i = 0; i < FORMAT_ARRAYS; i++) {
        if (!(s->borrowed >> i & 1))
            device_free(d, s->array[i]);
        s->array[i] = NULL;
    }
}
