/* SPDX-License-Identifier: MIT
 *
 * csr16: CSR with rows padded to whole units of 16 entries (SpMV4GPU in ellpack-r-2011), so that every row
 * begins at a boundary that a half-wave reads at once. */
#include <string.h>

#include "format/format.h"

static int64_t units_of(const struct csr *A, int64_t i)
{
    return (csr_offset(A, i + 1) - csr_offset(A, i) + CSR16_UNIT - 1) / CSR16_UNIT;
}

static int64_t count(const struct csr *A)
{
    int64_t units = 0;
    for (int64_t i = 0; i < A->rows; i++)
        units += units_of(A, i);
    return CSR16_UNIT * units;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    int64_t positions = A->csr.nnz == 0 ? 0 : A->counted ? A->counted->positions : count(&A->csr);
    (void)option;
    if (positions / CSR16_UNIT > INT32_MAX - CSR16_UNIT) /* kernels count a little beyond the end */
        return fail(HEDDLE_NO_KERNEL,
                    "csr16 counts units of %d entries in 32 bits, and there are more: use a csr kernel",
                    CSR16_UNIT);
    s->bytes[CSR16_FIRST] = (A->csr.rows + 1) * (int64_t)sizeof(int32_t);
    s->bytes[CSR16_COL] = positions * (int64_t)sizeof(int32_t);
    s->bytes[CSR16_VAL] = positions * (int64_t)type_size(A->csr.value);
    return padding_allowed("csr16", &A->csr, positions);
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    const struct csr *C = &A->csr;
    int64_t value = (int64_t)type_size(C->value), at = 0;
    int32_t *first = s->array[CSR16_FIRST], *col = s->array[CSR16_COL];
    char *val = s->array[CSR16_VAL];
    memset(col, -1, (size_t)s->bytes[CSR16_COL]);
    memset(val, 0, (size_t)s->bytes[CSR16_VAL]);
    for (int64_t i = 0; i < C->rows; i++) {
        int64_t begin = csr_offset(C, i), n = csr_offset(C, i + 1) - begin;
        first[i] = (int32_t)at;
        if (n > 0) {
            memcpy(col + CSR16_UNIT * at, C->col + begin, (size_t)n * sizeof *col);
            memcpy(val + CSR16_UNIT * at * value, (const char *)C->val + begin * value, (size_t)(n * value));
        }
        at += units_of(C, i);
    }
    first[C->rows] = (int32_t)at;
    return HEDDLE_OK;
}

const struct format csr16_format = {
    .name = "csr16",
    .array = {"first", "col", "val"},
    .size = size,
    .fill = fill,
};
