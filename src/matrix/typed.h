/* SPDX-License-Identifier: MIT
 *
 * typed.h: the functions of src/matrix that exist once per variant, as a table per variant.  typed.c defines them;
 * matrix.c picks the table by the types of a matrix. */
#ifndef MATRIX_TYPED_H
#define MATRIX_TYPED_H

#include "matrix/matrix.h"

struct matrix_functions {
    int64_t (*row_at)(const struct csr *A, int64_t k);
    heddle_status (*validate)(const struct csr *A);
    heddle_status (*from_coo)(struct csr *B, const struct coo *A); /* B is allocated */
    void (*expand_rows)(int32_t *row, const struct csr *A);
    heddle_status (*sort)(struct csr *A);
    heddle_status (*sum_repeats)(struct csr *A);
    int (*is_sorted)(const struct csr *A);
    heddle_status (*row_statistics)(heddle_stats *stats, const struct csr *A);
    void (*symmetry)(heddle_stats *stats, const struct csr *A, const struct csr *T); /* both with sorted rows */
};

extern const struct matrix_functions *const matrix_functions[VARIANT_COUNT];

static inline const struct matrix_functions *functions_of(const struct csr *A)
{
    return matrix_functions[variant_of(A->value, A->offset)];
}

#endif
