/* SPDX-License-Identifier: MIT
 *
 * group: neighbouring rows with the same columns have them stored once.  Matrices of systems with several
 * unknowns a node (three displacements, seven of a shell, a colour of three) are made of such rows, in
 * whatever order and with whatever alignment: nothing is padded. */
#include "format/format.h"

/* Below this mean number of rows a group there is nothing to gain. */
#define SHARING_LEAST 1.25

static const struct group_functions *typed(const struct csr *A)
{
    return group_functions[moved_variant(A->value, A->offset)];
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    const struct csr *C = &A->csr;
    (void)option;
    struct group_count count = typed(C)->count(C);
    if (count.columns > 0 && (double)C->nnz < SHARING_LEAST * (double)count.columns)
        return fail(HEDDLE_NO_KERNEL,
                    "neighbouring rows do not share their columns: %.2f rows a group, at least %.2f pay",
                    (double)C->nnz / (double)count.columns, SHARING_LEAST);
    s->dim[GROUP_COUNT] = count.groups;
    s->dim[GROUP_COLUMNS] = count.columns;
    s->bytes[GROUP_FIRST] = (count.groups + 1) * (int64_t)sizeof(int32_t);
    s->bytes[GROUP_VAL_PTR] = s->bytes[GROUP_COL_PTR] = (count.groups + 1) * (int64_t)sizeof(int64_t);
    s->bytes[GROUP_COL] = count.columns * (int64_t)sizeof(int32_t);
    s->bytes[GROUP_VAL] = C->nnz * (int64_t)type_size(C->value);
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    typed(&A->csr)->fill(s, &A->csr);
    return HEDDLE_OK;
}

const struct format group_format = {
    .name = "group",
    .array = {"first", "val_ptr", "col_ptr", "col", "val"},
    .dim = {"groups", "columns"},
    .size = size,
    .fill = fill,
};

MOVED_TABLE(group_functions);
