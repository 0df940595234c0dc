/* SPDX-License-Identifier: MIT
 *
 * coo: the row of every entry is written out; columns and values are those of the source. */
#include "format/format.h"
#include "matrix/typed.h"

/* Rows serve as they are where they are given; without entries there are none, and NULL is as good. */
static int has_rows(const struct source *A)
{
    return A->row || A->csr.nnz == 0;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    (void)option;
    s->bytes[COO_ROW] = A->csr.nnz * (int64_t)sizeof(int32_t);
    s->bytes[COO_COL] = A->csr.nnz * (int64_t)sizeof(int32_t);
    s->bytes[COO_VAL] = A->csr.nnz * (int64_t)type_size(A->csr.value);
    s->borrowed = 1u << COO_COL | 1u << COO_VAL | (has_rows(A) ? 1u << COO_ROW : 0);
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    if (has_rows(A))
        s->array[COO_ROW] = (void *)A->row;
    else
        functions_of(&A->csr)->expand_rows(s->array[COO_ROW], &A->csr);
    s->array[COO_COL] = A->csr.col;
    s->array[COO_VAL] = A->csr.val;
    return HEDDLE_OK;
}

const struct format coo_format = {
    .name = "coo",
    .array = {"row", "col", "val"},
    .size = size,
    .fill = fill,
};
