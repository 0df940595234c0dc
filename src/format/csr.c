/* SPDX-License-Identifier: MIT
 *
 * csr: the matrix itself; every array is borrowed, nothing is built. */
#include "format/format.h"

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    (void)option;
    s->bytes[CSR_ROW_PTR] = (A->csr.rows + 1) * (int64_t)type_size(A->csr.offset);
    s->bytes[CSR_COL] = A->csr.nnz * (int64_t)sizeof(int32_t);
    s->bytes[CSR_VAL] = A->csr.nnz * (int64_t)type_size(A->csr.value);
    s->borrowed = 1u << CSR_ROW_PTR | 1u << CSR_COL | 1u << CSR_VAL;
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    s->array[CSR_ROW_PTR] = A->csr.row_ptr;
    s->array[CSR_COL] = A->csr.col;
    s->array[CSR_VAL] = A->csr.val;
    return HEDDLE_OK;
}

const struct format csr_format = {
    .name = "csr",
    .array = {"row_ptr", "col", "val"},
    .size = size,
    .fill = fill,
};
