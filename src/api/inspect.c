/* SPDX-License-Identifier: MIT
 *
 * inspect.c: what a matrix is: its description, its validity, its statistics, its other formats. */
#include <string.h>

#include "api/api.h"
#include "base/memory.h"

heddle_status matrix_ready(const heddle_matrix *A)
{
    /* the note that it was looked at is not part of its value */
    heddle_matrix *file = (heddle_matrix *)(uintptr_t)A;
    heddle_status status = HEDDLE_OK;
    if (!atomic_load(&file->unchecked))
        return HEDDLE_OK;
    pthread_mutex_lock(&file->lock);
    if (atomic_load(&file->unchecked)) {
        status = file_matrix_check(&file->file, file->path);
        if (status == HEDDLE_OK)
            atomic_store(&file->unchecked, 0);
    }
    pthread_mutex_unlock(&file->lock);
    return status;
}

heddle_status usable(const heddle_matrix *A)
{
    return A ? matrix_ready(A) : fail(HEDDLE_BAD_ARGUMENT, "the matrix is NULL");
}

heddle_status heddle_matrix_info(const heddle_matrix *A, heddle_matrix_desc *desc)
{
    if (!A || !desc)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL", A ? "desc" : "the matrix");
    const struct view *v = &A->view;
    int coo = v->format == HEDDLE_COO;
    *desc = (heddle_matrix_desc){
        .rows = view_rows(v),
        .cols = view_cols(v),
        .nnz = view_nnz(v),
        .format = v->format,
        .types = {value_type(view_value(v)), coo ? offset_for(v->coo.nnz) : v->csr.offset, HEDDLE_I32,
                  vector_type(view_value(v))},
        .copied = A->owned.csr.row_ptr || A->owned.coo.row || A->file.copied || A->placed[0],
        .sorted_now = A->sorted_now,
        .bytes = coo ? coo_bytes(&v->coo) : csr_bytes(&v->csr),
        .look_bytes = v->look.bytes,
        .look_ms = v->look.ms,
        .ptr = coo ? NULL : v->csr.row_ptr,
        .index = coo ? v->coo.col : v->csr.col,
        .row = coo ? v->coo.row : NULL,
        .val = coo ? v->coo.val : v->csr.val,
    };
    return HEDDLE_OK;
}

/* What looks at A: the handle's own device where A lies on it, so that threads with handles of their own
 * share nothing but A; else the one that A was made on. */
static const struct device *eyes(const heddle *h, const heddle_matrix *A)
{
    return h->shared && A->shared && gpu_same(h->device.gpu, A->device.gpu) ? &h->device : &A->device;
}

heddle_status matrix_check(const heddle *h, const heddle_matrix *A)
{
    heddle_status status = usable(A);
    if (status != HEDDLE_OK)
        return status;
    if (A->view.format == HEDDLE_COO)
        return device_coo_validate(eyes(h, A), &A->view.coo);
    status = device_csr_validate(eyes(h, A), &A->view.csr);
    if (status == HEDDLE_BAD_MATRIX && A->view.format == HEDDLE_CSC)
        return fail_in(status, "CSC, where rows and columns change places");
    return status;
}

heddle_status heddle_check(heddle *h, const heddle_matrix *A)
{
    RETURN_ALONE(h, matrix_check(h, A));
}

heddle_status matrix_as_csr(struct csr *csr, struct csr *made, const heddle *h, const heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    struct view host, fetched = {0};
    *made = (struct csr){0};
    TRY(matrix_on_host(&host, &fetched, eyes(h, A), A));
    if (host.format == HEDDLE_COO) {
        TRY(csr_from_coo(made, &host.coo));
    } else if (host.format == HEDDLE_CSC) {
        TRY(csr_transpose(made, &host.csr));
    } else if (A->device.kind == DEVICE_gpu) { /* what was fetched is CSR as it is */
        *made = fetched.csr;
        fetched.csr = (struct csr){0};
    }
    *csr = made->row_ptr ? *made : host.csr;
done:
    view_free(&fetched);
    return status;
}

static heddle_status statistics(const heddle *h, const heddle_matrix *A, heddle_stats *stats)
{
    heddle_status status = HEDDLE_OK;
    struct csr csr, made = {0};
    TRY(matrix_check(h, A));
    TRY(matrix_as_csr(&csr, &made, h, A));
    TRY(csr_statistics(stats, &csr));
done:
    csr_free(&made);
    return status;
}

heddle_status heddle_statistics(heddle *h, const heddle_matrix *A, heddle_stats *stats)
{
    if (!stats)
        return fail(HEDDLE_BAD_ARGUMENT, "stats is NULL");
    RETURN_ALONE(h, statistics(h, A, stats));
}

static heddle_status convert(heddle_matrix **out, heddle *h, const heddle_matrix *A, heddle_format format)
{
    heddle_status status = HEDDLE_OK;
    heddle_matrix *B = NULL;
    struct csr csr, made = {0};
    struct view host, fetched = {0};
    TRY(matrix_check(h, A));
    TRY(matrix_new(&B));
    B->view.format = format;
    if (format == HEDDLE_CSC && A->view.format == HEDDLE_CSC) {
        TRY(matrix_on_host(&host, &fetched, eyes(h, A), A));
        TRY(csr_retype(&B->owned.csr, &host.csr, host.csr.value, host.csr.offset));
    } else {
        TRY(matrix_as_csr(&csr, &made, h, A));
        if (format == HEDDLE_COO)
            TRY(coo_from_csr(&B->owned.coo, &csr));
        else if (format == HEDDLE_CSC)
            TRY(csr_transpose(&B->owned.csr, &csr));
        else
            TRY(csr_retype(&B->owned.csr, &csr, csr.value, csr.offset));
    }
    B->view.csr = B->owned.csr;
    B->view.coo = B->owned.coo;
    TRY(matrix_place(B, h));
    TRY(matrix_done(out, h, B));
    B = NULL;
done:
    heddle_matrix_free(B);
    csr_free(&made);
    view_free(&fetched);
    return status;
}

heddle_status heddle_convert(heddle_matrix **B, heddle *h, const heddle_matrix *A, heddle_format format)
{
    if (!B)
        return fail(HEDDLE_BAD_ARGUMENT, "the new matrix' pointer is NULL");
    *B = NULL;
    if ((unsigned)format > HEDDLE_COO)
        return fail(HEDDLE_BAD_ARGUMENT, "%d is not a format: HEDDLE_CSR, HEDDLE_CSC or HEDDLE_COO",
                    (int)format);
    RETURN_ALONE(h, convert(B, h, A, format));
}
