/* SPDX-License-Identifier: MIT
 *
 * matrix.h: matrices in host memory.  Plain structures whose owner is whoever made them: *_new allocates
 * all arrays, *_free gives them back and zeroes the structure, and a structure on the stack may borrow
 * arrays from elsewhere.  Everything here is parallel and gives the same result for any number of threads. */
#ifndef MATRIX_MATRIX_H
#define MATRIX_MATRIX_H

#include "base/status.h"
#include "matrix/variant.h"

#define INDEX_LIMIT ((int64_t)1 << 31) /* rows and cols stay below it */

/* Compressed rows.  Columns may be unsorted and may repeat. */
struct csr {
    int64_t rows, cols, nnz;
    heddle_type value, offset; /* one of variants.def (variant.h: also of its vectors), HEDDLE_I32/I64 */
    void *row_ptr;             /* size rows+1: row i is [row_ptr[i], row_ptr[i+1]) */
    int32_t *col;              /* size nnz, 0 <= col[k] < cols */
    void *val;                 /* size nnz */
};

/* Coordinates, in any order unless said otherwise. */
struct coo {
    int64_t rows, cols, nnz;
    heddle_type value;
    int32_t *row; /* size nnz, 0 <= row[k] < rows */
    int32_t *col; /* size nnz, 0 <= col[k] < cols */
    void *val;    /* size nnz */
};

/* Sizes are checked (HEDDLE_BAD_ARGUMENT); arrays are uninitialised, and the structure is empty after a
 * failure. */
heddle_status csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, heddle_type value,
                      heddle_type offset);
heddle_status coo_new(struct coo *A, int64_t rows, int64_t cols, int64_t nnz, heddle_type value);
void csr_free(struct csr *A);
void coo_free(struct coo *A);

/* The narrowest offset type that can count nnz. */
heddle_type offset_for(int64_t nnz);
int64_t csr_bytes(const struct csr *A);
int64_t coo_bytes(const struct coo *A);

static inline double _Complex complex_of(double real_part, double imaginary_part)
{
    double _Complex v; /* no product with I, which would make NaN of 0 Inf */
    RE(v) = real_part;
    IM(v) = imaginary_part;
    return v;
}

/* One offset or value, for code that is not hot. */
static inline int64_t csr_offset(const struct csr *A, int64_t i)
{
    return A->offset == HEDDLE_I64 ? ((const int64_t *)A->row_ptr)[i] : ((const int32_t *)A->row_ptr)[i];
}
static inline double _Complex value_at(const void *val, heddle_type type, int64_t k)
{
    switch ((int)type) {
    case HEDDLE_F32:
    case F32_F64:
        return ((const float *)val)[k];
    case HEDDLE_C32:
        return ((const c32 *)val)[k];
    case HEDDLE_C64:
        return ((const c64 *)val)[k];
    case HEDDLE_F16:
        return f16_widen(((const f16 *)val)[k]);
    case HEDDLE_BF16:
        return bf16_widen(((const bf16 *)val)[k]);
    default:
        return ((const double *)val)[k];
    }
}
/* Rounded to nearest; a real type takes the real part. */
static inline void value_put(void *val, heddle_type type, int64_t k, double _Complex v)
{
    switch ((int)type) {
    case HEDDLE_F32:
    case F32_F64:
        ((float *)val)[k] = (float)v;
        break;
    case HEDDLE_C32:
        ((c32 *)val)[k] = (c32)v;
        break;
    case HEDDLE_C64:
        ((c64 *)val)[k] = v;
        break;
    case HEDDLE_F16:
        ((f16 *)val)[k] = f16_narrow((double)v);
        break;
    case HEDDLE_BF16:
        ((bf16 *)val)[k] = bf16_narrow((double)v);
        break;
    default:
        ((double *)val)[k] = (double)v;
    }
}

/* The first row that begins at or after entry k: rows [0, result) hold all entries before k, as far as
 * whole rows can.  Balanced shares of a matrix are found this way: csr_row_at(A, nnz * part / parts). */
int64_t csr_row_at(const struct csr *A, int64_t k);

/* HEDDLE_OK or HEDDLE_BAD_MATRIX with the first bad position in the text (offsets first, then columns).
 * Never reads outside the arrays, whatever is in them. */
heddle_status csr_validate(const struct csr *A);
heddle_status coo_validate(const struct coo *A);

/* Conversions.  All are stable: entries of a row keep the order in which the source stores them.  Input
 * must be valid. */
heddle_status csr_from_coo(struct csr *B, const struct coo *A); /* linear for any input: no sort by
                                                                 * comparison */
heddle_status coo_from_csr(struct coo *B, const struct csr *A);
heddle_status csr_transpose(struct csr *B, const struct csr *A);      /* rows of B come out sorted */
heddle_status csr_transpose_into(struct csr *B, const struct csr *A); /* B is allocated, in its sizes */
/* Other value or offset type, rounded to nearest; offsets that do not fit fail with HEDDLE_BAD_ARGUMENT,
 * complex values that would become real with HEDDLE_NOT_SUPPORTED. */
heddle_status csr_retype(struct csr *B, const struct csr *A, heddle_type value, heddle_type offset);

/* Values in fewer bytes, with the same vectors: the i-th type for that (0, 1, ...; HEDDLE_TYPE_DEFAULT when
 * there is none left), and n values as such numbers.  0 where one of them is none, or NaN: then `to` is
 * undefined.  It may be NULL for who only asks. */
heddle_type narrower_type(heddle_type value, int i);
int values_narrow(void *to, heddle_type narrower, const void *val, int64_t n);

/* Rows of A sorted by column, in place; repeats keep their order. */
heddle_status csr_sort(struct csr *A);
/* Repeats (in sorted rows) added up in storage order; arrays shrink in place, nnz becomes smaller. */
heddle_status csr_sum_repeats(struct csr *A);
/* Are the columns of every row ascending (strictly, so that there are no repeats)? */
int csr_is_sorted(const struct csr *A);
int coo_is_sorted(const struct coo *A); /* rows ascending; columns do not matter */

/* Needs memory for a transposed copy or two. */
heddle_status csr_statistics(heddle_stats *stats, const struct csr *A);

#endif
