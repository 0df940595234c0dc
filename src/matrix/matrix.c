/* SPDX-License-Identifier: MIT
 *
 * matrix.c: the functions of matrix.h, over the typed ones. */
#include "matrix/matrix.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "matrix/typed.h"

#define VARIANT(name, elem, real, off, value, offset)                                                        \
    extern const struct matrix_functions matrix_functions__##name;
#include "matrix/variants.def"
#undef VARIANT

const struct matrix_functions *const matrix_functions[VARIANT_COUNT] = {
#define VARIANT(name, elem, real, off, value, offset) [VARIANT_##name] = &matrix_functions__##name,
#include "matrix/variants.def"
#undef VARIANT
};

const char *variant_name(enum variant v)
{
    static const char *const names[] = {
#define VARIANT(name, elem, real, off, value, offset) [VARIANT_##name] = #name,
#include "matrix/variants.def"
#undef VARIANT
    };
    return names[v];
}

static const struct {
    heddle_type value, offset;
} types_of[] = {
#define VARIANT(name, elem, real, off, value, offset) [VARIANT_##name] = {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

enum variant pattern_variant(enum variant v)
{
    return variant_of(HEDDLE_F32, types_of[v].offset);
}

enum variant real_variant(enum variant v)
{
    return variant_of(types_of[v].value, HEDDLE_I32);
}

const char *value_name(heddle_type value)
{
    static const struct {
        heddle_type value;
        const char *name;
    } names[] = {{HEDDLE_F32, "f32"}, {HEDDLE_F64, "f64"},   {HEDDLE_C32, "c32"}, {HEDDLE_C64, "c64"},
                 {HEDDLE_F16, "f16"}, {HEDDLE_BF16, "bf16"}, {F32_F64, "f32v64"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].value == value)
            return names[i].name;
    return NULL;
}

/* ---- making and freeing ---- */

static heddle_status check_sizes(int64_t rows, int64_t cols, int64_t nnz)
{
    if (rows < 0 || cols < 0 || nnz < 0)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "a negative size: %" PRId64 " x %" PRId64 " with %" PRId64 " entries", rows, cols, nnz);
    if (rows >= INDEX_LIMIT || cols >= INDEX_LIMIT)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "%" PRId64 " x %" PRId64 " is too large: rows and columns stay below 2^31", rows, cols);
    if (nnz > 0 && (rows == 0 || cols == 0))
        return fail(HEDDLE_BAD_ARGUMENT, "%" PRId64 " entries in a matrix of %" PRId64 " x %" PRId64, nnz,
                    rows, cols);
    return HEDDLE_OK;
}

heddle_status csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, heddle_type value,
                      heddle_type offset)
{
    heddle_status status = HEDDLE_OK;
    struct csr B = {.rows = rows, .cols = cols, .nnz = nnz, .value = value, .offset = offset};
    *A = (struct csr){0};
    TRY(check_sizes(rows, cols, nnz));
    if (offset == HEDDLE_I32 && offset_for(nnz) != HEDDLE_I32)
        return fail(HEDDLE_BAD_ARGUMENT, "%" PRId64 " entries need 64-bit offsets", nnz);
    TRY((B.row_ptr = mem_alloc(rows + 1, type_size(offset))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    TRY(NEW(B.col, nnz));
    TRY((B.val = mem_alloc(nnz, type_size(value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    *A = B;
done:
    if (status != HEDDLE_OK)
        csr_free(&B);
    return status;
}

heddle_status coo_new(struct coo *A, int64_t rows, int64_t cols, int64_t nnz, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct coo B = {.rows = rows, .cols = cols, .nnz = nnz, .value = value};
    *A = (struct coo){0};
    TRY(check_sizes(rows, cols, nnz));
    TRY(NEW(B.row, nnz));
    TRY(NEW(B.col, nnz));
    TRY((B.val = mem_alloc(nnz, type_size(value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    *A = B;
done:
    if (status != HEDDLE_OK)
        coo_free(&B);
    return status;
}

void csr_free(struct csr *A)
{
    mem_free(A->row_ptr);
    mem_free(A->col);
    mem_free(A->val);
    *A = (struct csr){0};
}

void coo_free(struct coo *A)
{
    mem_free(A->row);
    mem_free(A->col);
    mem_free(A->val);
    *A = (struct coo){0};
}

heddle_type offset_for(int64_t nnz)
{
    return nnz <= INT32_MAX ? HEDDLE_I32 : HEDDLE_I64;
}

int64_t csr_bytes(const struct csr *A)
{
    return (A->rows + 1) * (int64_t)type_size(A->offset) +
           A->nnz * (int64_t)(sizeof *A->col + type_size(A->value));
}

int64_t coo_bytes(const struct coo *A)
{
    return A->nnz * (int64_t)(sizeof *A->row + sizeof *A->col + type_size(A->value));
}

/* ---- asking ---- */

int64_t csr_row_at(const struct csr *A, int64_t k)
{
    return functions_of(A)->row_at(A, k);
}

heddle_status csr_validate(const struct csr *A)
{
    heddle_status status = check_sizes(A->rows, A->cols, A->nnz);
    return status != HEDDLE_OK ? status : functions_of(A)->validate(A);
}

int csr_is_sorted(const struct csr *A)
{
    return functions_of(A)->order(A) == ORDER_STRICT;
}

#define COO_PARTS 64

struct coo_search {
    const struct coo *A;
    int64_t bad[COO_PARTS]; /* the first bad entry of each part, or nnz */
    atomic_int descends;
};

static void bad_entry(void *argument, int part)
{
    struct coo_search *s = argument;
    const struct coo *A = s->A;
    int64_t k = part_begin(A->nnz, part, COO_PARTS), end = part_begin(A->nnz, part + 1, COO_PARTS);
    while (k < end && (uint32_t)A->row[k] < (uint64_t)A->rows && (uint32_t)A->col[k] < (uint64_t)A->cols)
        k++;
    s->bad[part] = k < end ? k : A->nnz;
}

heddle_status coo_validate(const struct coo *A)
{
    struct coo_search s = {.A = A};
    heddle_status status = check_sizes(A->rows, A->cols, A->nnz);
    if (status != HEDDLE_OK)
        return status;
    parts_run(COO_PARTS, bad_entry, &s);
    for (int i = 0; i < COO_PARTS; i++) {
        int64_t k = s.bad[i];
        if (k < A->nnz && (uint32_t)A->row[k] >= (uint64_t)A->rows)
            return fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 " has row %d, outside 0..%" PRId64, k, A->row[k],
                        A->rows - 1);
        if (k < A->nnz)
            return fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 ", in row %d, has column %d, outside 0..%" PRId64,
                        k, A->row[k], A->col[k], A->cols - 1);
    }
    return HEDDLE_OK;
}

static void look_for_descent(void *argument, int part)
{
    struct coo_search *s = argument;
    int64_t k = part_begin(s->A->nnz, part, COO_PARTS), end = part_begin(s->A->nnz, part + 1, COO_PARTS);
    for (k = k > 1 ? k : 1; k < end; k++)
        if (s->A->row[k] < s->A->row[k - 1]) {
            atomic_store(&s->descends, 1);
            return;
        }
}

int coo_is_sorted(const struct coo *A)
{
    struct coo_search s = {.A = A};
    parts_run(COO_PARTS, look_for_descent, &s);
    return !s.descends;
}

/* ---- converting ---- */

heddle_status csr_from_coo(struct csr *B, const struct coo *A)
{
    heddle_status status = HEDDLE_OK;
    TRY(csr_new(B, A->rows, A->cols, A->nnz, A->value, offset_for(A->nnz)));
    if (coo_is_sorted(A))
        functions_of(B)->from_sorted(B, A);
    else
        TRY(functions_of(B)->from_coo(B, A));
done:
    if (status != HEDDLE_OK)
        csr_free(B);
    return status;
}

struct array_copy {
    void *to;
    const void *from;
    int64_t count;
    heddle_type to_type, from_type;
};

static void copy_array_part(void *argument, int part)
{
    const struct array_copy *c = argument;
    int64_t k = part_begin(c->count, part, COO_PARTS), end = part_begin(c->count, part + 1, COO_PARTS);
    size_t size = type_size(c->to_type);
    if (k == end)
        return; /* there may be no array at all */
    if (value_type(c->to_type) == value_type(c->from_type))
        memcpy((char *)c->to + (size_t)k * size, (const char *)c->from + (size_t)k * size,
               (size_t)(end - k) * size);
    else if (value_name(c->to_type))
        for (; k < end; k++)
            value_put(c->to, c->to_type, k, value_at(c->from, c->from_type, k));
    else if (c->to_type == HEDDLE_I32)
        for (; k < end; k++)
            ((int32_t *)c->to)[k] = (int32_t)((const int64_t *)c->from)[k];
    else
        for (; k < end; k++)
            ((int64_t *)c->to)[k] = ((const int32_t *)c->from)[k];
}

/* Copies an array, to another type of the same kind if need be. */
static void copy_array(void *to, heddle_type to_type, const void *from, heddle_type from_type, int64_t count)
{
    parts_run(COO_PARTS, copy_array_part, &(struct array_copy){to, from, count, to_type, from_type});
}

heddle_status coo_from_csr(struct coo *B, const struct csr *A)
{
    heddle_status status = coo_new(B, A->rows, A->cols, A->nnz, A->value);
    if (status != HEDDLE_OK)
        return status;
    functions_of(A)->expand_rows(B->row, A);
    copy_array(B->col, HEDDLE_I32, A->col, HEDDLE_I32, A->nnz);
    copy_array(B->val, A->value, A->val, A->value, A->nnz);
    return HEDDLE_OK;
}

heddle_status csr_transpose_into(struct csr *B, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int32_t *row = NULL;
    TRY(NEW(row, A->nnz));
    functions_of(A)->expand_rows(row, A);
    struct coo mirrored = {A->cols, A->rows, A->nnz, A->value, A->col, row, A->val};
    TRY(functions_of(B)->from_coo(B, &mirrored));
done:
    mem_free(row);
    return status;
}

heddle_status csr_transpose(struct csr *B, const struct csr *A)
{
    heddle_status status = csr_new(B, A->cols, A->rows, A->nnz, A->value, A->offset);
    if (status == HEDDLE_OK && (status = csr_transpose_into(B, A)) != HEDDLE_OK)
        csr_free(B);
    return status;
}

heddle_status csr_retype(struct csr *B, const struct csr *A, heddle_type value, heddle_type offset)
{
    *B = (struct csr){0};
    if (is_complex(A->value) && !is_complex(value))
        return fail(HEDDLE_NOT_SUPPORTED,
                    "complex values do not become %s: their imaginary parts would be lost",
                    value_name(value));
    heddle_status status = csr_new(B, A->rows, A->cols, A->nnz, value, offset);
    if (status != HEDDLE_OK)
        return status;
    copy_array(B->row_ptr, offset, A->row_ptr, A->offset, A->rows + 1);
    copy_array(B->col, HEDDLE_I32, A->col, HEDDLE_I32, A->nnz);
    copy_array(B->val, value, A->val, A->value, A->nnz);
    return HEDDLE_OK;
}

heddle_status csr_sort(struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct csr T = {0}, S = {0};
    if (functions_of(A)->order(A) != ORDER_NONE)
        return HEDDLE_OK;
    TRY(csr_transpose(&T, A));
    TRY(csr_transpose(&S, &T));
    copy_array(A->col, HEDDLE_I32, S.col, HEDDLE_I32, A->nnz); /* row_ptr stays as it is */
    copy_array(A->val, A->value, S.val, A->value, A->nnz);
done:
    csr_free(&T);
    csr_free(&S);
    return status;
}

heddle_status csr_sum_repeats(struct csr *A)
{
    return functions_of(A)->sum_repeats(A);
}

/* ---- statistics ---- */

heddle_status csr_statistics(heddle_stats *stats, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct csr T = {0}, sorted = {0};
    const struct matrix_functions *f = functions_of(A);
    *stats = (heddle_stats){.rows = A->rows, .cols = A->cols, .nnz = A->nnz};
    enum order order = f->order(A);
    stats->sorted = order == ORDER_STRICT;
    TRY(csr_transpose(&T, A));
    if (order == ORDER_NONE)
        TRY(csr_transpose(&sorted, &T));
    const struct csr *S = order == ORDER_NONE ? &sorted : A;
    f->lengths(&stats->row, A);
    f->lengths(&stats->col, &T);
    f->positions(stats, S);
    if (A->rows == A->cols)
        f->symmetry(stats, S, &T);
    TRY(f->distinct(&stats->distinct_values, A));
done:
    csr_free(&T);
    csr_free(&sorted);
    return status;
}
