/* SPDX-License-Identifier: MIT
 *
 * ell: all rows padded to the longest, stored column by column (ellpack-r-2011 section 3.3).  Refused
 * where padding would dominate: one long row is enough for that. */
#include "format/format.h"

static const struct ell_functions *typed(const struct csr *A)
{
    return ell_functions[moved_variant(A->value, A->offset)];
}

heddle_status ell_width(int64_t *width, const char *format, const struct source *A)
{
    int64_t positions;
    *width = A->csr.nnz == 0 ? 0 : A->longest ? A->longest : typed(&A->csr)->width(&A->csr);
    if (__builtin_mul_overflow(*width, A->csr.rows, &positions))
        positions = INT64_MAX;
    if (*width > ELL_WIDTH_MOST)
        return fail(HEDDLE_NO_KERNEL,
                    "%s counts the entries of a row in 32 bits, and one row has more: use a csr kernel",
                    format);
    return padding_allowed(format, &A->csr, positions);
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    heddle_status status = ell_width(&s->dim[ELL_WIDTH], "ell", A);
    (void)option;
    if (status != HEDDLE_OK)
        return status;
    int64_t positions = s->dim[ELL_WIDTH] * A->csr.rows;
    s->bytes[ELL_COL] = positions * (int64_t)sizeof(int32_t);
    s->bytes[ELL_VAL] = positions * (int64_t)type_size(A->csr.value);
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    typed(&A->csr)->fill(s, &A->csr);
    return HEDDLE_OK;
}

const struct format ell_format = {
    .name = "ell",
    .array = {"col", "val"},
    .dim = {"width"},
    .size = size,
    .fill = fill,
};

MOVED_TABLE(ell_functions);
