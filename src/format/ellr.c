/* SPDX-License-Identifier: MIT
 *
 * ellr: ELL with the length of every row (ellpack-r-2011 section 4).  Padding is stored like ELL's, for
 * the shape of the arrays, but no kernel needs to look at it. */
#include "format/format.h"

static const struct ell_functions *typed(const struct csr *A)
{
    return ell_functions[moved_variant(A->value, A->offset)];
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    heddle_status status = ell_width(&s->dim[ELLR_WIDTH], "ellr", A);
    (void)option;
    if (status != HEDDLE_OK)
        return status;
    int64_t positions = s->dim[ELLR_WIDTH] * A->csr.rows;
    s->bytes[ELLR_COL] = positions * (int64_t)sizeof(int32_t);
    s->bytes[ELLR_VAL] = positions * (int64_t)type_size(A->csr.value);
    s->bytes[ELLR_LENGTH] = A->csr.rows * (int64_t)sizeof(int32_t);
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    int32_t *length = s->array[ELLR_LENGTH];
    typed(&A->csr)->fill(s, &A->csr);
    for (int64_t i = 0; i < A->csr.rows; i++)
        length[i] = (int32_t)(csr_offset(&A->csr, i + 1) - csr_offset(&A->csr, i));
    return HEDDLE_OK;
}

const struct format ellr_format = {
    .name = "ellr",
    .array = {"col", "val", "length"},
    .dim = {"width"},
    .size = size,
    .fill = fill,
};
