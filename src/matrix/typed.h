/* SPDX-License-Identifier: MIT
 *
 * typed.h: the functions of src/matrix that exist once per variant, as a table per variant.  typed.c
 * defines them; matrix.c picks the table by the types of a matrix. */
#ifndef MATRIX_TYPED_H
#define MATRIX_TYPED_H

#include "matrix/matrix.h"

/* How the columns stand in the rows of a matrix. */
enum order {
    ORDER_NONE,
    ORDER_REPEATS /* ascending, with repeats */,
    ORDER_STRICT /* ascending, each column once */
};

struct matrix_functions {
    int64_t (*row_at)(const struct csr *A, int64_t k);
    heddle_status (*validate)(const struct csr *A);
    heddle_status (*from_coo)(struct csr *B, const struct coo *A); /* B is allocated */
    void (*from_sorted)(struct csr *B, const struct coo *A);       /* the same, A sorted by rows */
    void (*expand_rows)(int32_t *row, const struct csr *A);
    heddle_status (*sum_repeats)(struct csr *A);
    enum order (*order)(const struct csr *A);
    void (*lengths)(heddle_lengths *lengths, const struct csr *A);
    void (*positions)(heddle_stats *stats, const struct csr *A); /* bandwidths, diagonal; rows sorted */
    /* both with sorted rows */
    void (*symmetry)(heddle_stats *stats, const struct csr *A, const struct csr *T);
    heddle_status (*distinct)(int64_t *count, const struct csr *A);
};

extern const struct matrix_functions *const matrix_functions[VARIANT_COUNT];

static inline const struct matrix_functions *functions_of(const struct csr *A)
{
    return matrix_functions[variant_of(A->value, A->offset)];
}

#ifdef VARIANT_NAME /* inside a typed source */
#include "base/thread.h"

extern const struct matrix_functions TYPED(matrix_functions);
heddle_status TYPED(from_coo)(struct csr *B, const struct coo *A);
void TYPED(from_sorted)(struct csr *B, const struct coo *A);
void TYPED(expand_rows)(int32_t *row, const struct csr *A);
void TYPED(lengths)(heddle_lengths *lengths, const struct csr *A);
void TYPED(positions)(heddle_stats *stats, const struct csr *A);
void TYPED(symmetry)(heddle_stats *stats, const struct csr *A, const struct csr *T);
heddle_status TYPED(distinct)(int64_t *count, const struct csr *A);
int64_t TYPED(row_at)(const struct csr *A, int64_t k);

/* Matrices are cut into this many parts of rows with about equally many entries, however many threads
 * there are, so that sums over parts come out the same everywhere. */
#define PARTS 64

/* Part `part` of A holds the rows [part_row(A, part), part_row(A, part + 1)).  Rows count as one entry
 * more than they have, so that empty ones are shared out as well. */
static inline int64_t part_row(const struct csr *A, int part)
{
    const off *row_ptr = (const off *)A->row_ptr;
    int64_t wanted = part_begin(A->nnz + A->rows, part, PARTS), low = 0, high = A->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (row_ptr[middle] + middle < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#endif

#endif
