/* SPDX-License-Identifier: MIT
 *
 * matrix.c: matrices from the caller's arrays. */
#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "base/thread.h"

/* ---- life ---- */

heddle_status matrix_new(heddle_matrix **A)
{
    heddle_status status = NEW_ZEROED(*A, 1);
    if (status == HEDDLE_OK)
        pthread_mutex_init(&(*A)->lock, NULL);
    return status;
}

heddle_status matrix_done(heddle_matrix **out, heddle *h, heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    TRY(look_new(&A->view.look, &h->device, &A->view));
    TRY(handle_reserve(h, A));
    *out = A;
done:
    return status;
}

void heddle_matrix_free(heddle_matrix *A)
{
    if (!A)
        return;
    look_free(&A->view.look, &A->device);
    view_free(&A->owned);
    file_matrix_free(&A->file);
    for (int i = 0; i < 3; i++)
        device_free(&A->device, A->placed[i]);
    gpu_leave(A->shared);
    mem_free(A->path);
    pthread_mutex_destroy(&A->lock);
    mem_free(A);
}

/* ---- arrays of the caller ---- */

/* What the three descriptions have in common: compressed (ptr, index) or coordinates (row, index). */
struct arrays {
    int64_t rows, cols, nnz; /* of what is stored: for CSC those of the transpose */
    const void *ptr, *row, *index, *val;
    heddle_types types;
    int base, copy;
    heddle_where where;
    const char *ptr_name, *row_name, *index_name;
    void *fetched[4]; /* copies on the host of arrays of the device that must change */
};

/* Afterwards types->value says of what type vectors are, too (matrix/variant.h). */
static heddle_status check_types(heddle_types *types)
{
    types->value = types->value ? types->value : HEDDLE_F64;
    types->offset = types->offset ? types->offset : HEDDLE_I32;
    types->index = types->index ? types->index : HEDDLE_I32;
    types->vector = types->vector ? types->vector : vector_type(types->value);
    if (types->value > HEDDLE_C64 || !value_name(types->value))
        return fail(
            HEDDLE_BAD_ARGUMENT,
            "types.value is %d: values are HEDDLE_F32, HEDDLE_F64, HEDDLE_F16, HEDDLE_BF16, HEDDLE_C32 or "
            "HEDDLE_C64",
            (int)types->value);
    if (types->value == HEDDLE_F32 && types->vector == HEDDLE_F64)
        types->value = F32_F64;
    if (types->vector != vector_type(types->value))
        return fail(
            HEDDLE_BAD_ARGUMENT,
            "types.vector is %d: vectors are of the type of the values, HEDDLE_F32 for 16-bit values, and "
            "may be HEDDLE_F64 for HEDDLE_F32",
            (int)types->vector);
    if (types->offset != HEDDLE_I32 && types->offset != HEDDLE_I64)
        return fail(HEDDLE_BAD_ARGUMENT, "types.offset is %d: offsets are HEDDLE_I32 or HEDDLE_I64",
                    (int)types->offset);
    if (types->index != HEDDLE_I32 && types->index != HEDDLE_I64)
        return fail(HEDDLE_BAD_ARGUMENT, "types.index is %d: indices are HEDDLE_I32 or HEDDLE_I64",
                    (int)types->index);
    return HEDDLE_OK;
}

static int64_t integer_at(const void *array, heddle_type type, int64_t i)
{
    return type == HEDDLE_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* Any C compiler assumes that an array is aligned to its elements: x86 forgives what vector loads and ARM
 * do not. */
static heddle_status check_alignment(const struct arrays *a, const heddle *h)
{
    const struct {
        const void *at;
        const char *name;
        uintptr_t size;
    } arrays[] = {{a->ptr, a->ptr_name, type_size(a->types.offset)},
                  {a->row, a->row_name, type_size(a->types.index)},
                  {a->index, a->index_name, type_size(a->types.index)},
                  {a->val, "val", alignment_of(h, a->types.value)}};
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)arrays[i].at % arrays[i].size)
            return fail(HEDDLE_BAD_ARGUMENT, "%s is not aligned to its elements of %d bytes", arrays[i].name,
                        (int)arrays[i].size);
    return HEDDLE_OK;
}

static int must_copy(const struct arrays *a)
{
    return a->copy || a->base || a->types.index == HEDDLE_I64;
}

/* The last offset, wherever it lies. */
static heddle_status last_offset(int64_t *last, const struct arrays *a, const heddle *h)
{
    int64_t size = (int64_t)type_size(a->types.offset);
    void *copy = NULL;
    if (a->where == HEDDLE_ON_HOST) {
        *last = integer_at(a->ptr, a->types.offset, a->rows);
        return HEDDLE_OK;
    }
    heddle_status status = fetch(&copy, &h->device, (const char *)a->ptr + a->rows * size, size);
    if (status == HEDDLE_OK)
        *last = integer_at(copy, a->types.offset, 0);
    mem_free(copy);
    return status;
}

static heddle_status check_last(const struct arrays *a, const heddle *h)
{
    int64_t last = 0;
    heddle_status status = last_offset(&last, a, h);
    if (status == HEDDLE_OK && (last < a->base || last - a->base != a->nnz))
        return fail(HEDDLE_BAD_ARGUMENT, "%s[%" PRId64 "] is %" PRId64 ", but nnz is %" PRId64 "%s",
                    a->ptr_name, a->rows, last, a->nnz, a->base ? " (base 1: one more is expected)" : "");
    return status;
}

/* Offsets that stay on the device are looked at there, the last one, too: it is not waited for before. */
static int is_looked_at(const struct arrays *a)
{
    return a->where == HEDDLE_ON_DEVICE && !must_copy(a) && a->nnz > 0;
}

static heddle_status check_arrays(struct arrays *a, const heddle *h)
{
    static const int64_t nothing; /* the offsets of a matrix without rows, where the caller gave none */
    heddle_status status = check_types(&a->types);
    if (status != HEDDLE_OK)
        return status;
    if (a->base != 0 && a->base != 1)
        return fail(HEDDLE_BAD_ARGUMENT, "base is %d: 0 or 1", a->base);
    if (a->where != HEDDLE_ON_HOST && (a->where != HEDDLE_ON_DEVICE || !h->shared))
        return fail(HEDDLE_BAD_ARGUMENT, "the arrays of a matrix on the CPU lie on the host");
    if (a->rows < 0 || a->cols < 0 || a->nnz < 0 || a->rows >= INDEX_LIMIT || a->cols >= INDEX_LIMIT)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "the sizes %" PRId64 ", %" PRId64 " with %" PRId64
                    " entries: none is negative, and rows and cols stay below 2^31",
                    a->rows, a->cols, a->nnz);
    if (a->nnz > 0 && (a->rows == 0 || a->cols == 0))
        return fail(HEDDLE_BAD_ARGUMENT, "%" PRId64 " entries in a matrix without rows or columns", a->nnz);
    if (a->nnz > 0 && (!a->index || !a->val || (a->row_name && !a->row)))
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL, but there are %" PRId64 " entries",
                    !a->index ? a->index_name
                    : !a->val ? "val"
                              : a->row_name,
                    a->nnz);
    if ((status = check_alignment(a, h)) != HEDDLE_OK)
        return status;
    if (!a->ptr_name)
        return HEDDLE_OK;
    if (!a->ptr && a->rows == 0) {
        a->ptr = &nothing;
        a->base = 0;
        a->where = HEDDLE_ON_HOST;
    }
    if (!a->ptr)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL", a->ptr_name);
    return is_looked_at(a) ? HEDDLE_OK : check_last(a, h);
}

/* A copy with the base taken off and indices narrowed.  Cut into parts as products are, each thread copies
 * what it will later read, so that on machines with several memories each page lies near its reader. */
struct narrowing {
    const struct arrays *a;
    void *ptr;
    int32_t *row, *index;
    void *val;
    atomic_llong unfit; /* an entry whose index does not fit 32 bits; -1: none */
};

static void narrow(int32_t *to, const void *from, heddle_type type, int base, int64_t begin, int64_t end,
                   atomic_llong *unfit)
{
    for (int64_t k = begin; k < end; k++) {
        int64_t index = integer_at(from, type, k);
        if (index < (int64_t)INT32_MIN + base || index > (int64_t)INT32_MAX + base) {
            atomic_store(unfit, k);
            index = base;
        }
        to[k] = (int32_t)(index - base);
    }
}

static void copy_part(void *argument, const struct team *team)
{
    struct narrowing *n = argument;
    const struct arrays *a = n->a;
    int64_t begin = part_begin(a->nnz, team->thread, team->threads),
            end = part_begin(a->nnz, team->thread + 1, team->threads);
    size_t size = type_size(a->types.value);
    narrow(n->index, a->index, a->types.index, a->base, begin, end, &n->unfit);
    if (n->row)
        narrow(n->row, a->row, a->types.index, a->base, begin, end, &n->unfit);
    if (end > begin)
        memcpy((char *)n->val + (size_t)begin * size, (const char *)a->val + (size_t)begin * size,
               (size_t)(end - begin) * size);
    if (!n->ptr)
        return;
    begin = part_begin(a->rows + 1, team->thread, team->threads);
    end = part_begin(a->rows + 1, team->thread + 1, team->threads);
    for (int64_t i = begin; i < end; i++) {
        int64_t offset = integer_at(a->ptr, a->types.offset, i),
                based = offset < a->base ? -1 : offset - a->base;
        if (a->types.offset == HEDDLE_I64)
            ((int64_t *)n->ptr)[i] = based; /* what is below the base stays wrong: heddle_check finds it */
        else
            ((int32_t *)n->ptr)[i] = (int32_t)based;
    }
}

static heddle_status copy_arrays(struct narrowing *n, const heddle *h)
{
    n->unfit = -1;
    team_run(h->device.threads, copy_part, n);
    int64_t k = n->unfit;
    if (k >= 0)
        return fail(HEDDLE_BAD_MATRIX, "entry %" PRId64 " has an index that does not fit 32 bits", k);
    return HEDDLE_OK;
}

/* Arrays of the device that must change (another base, narrower indices, another order) come to the host
 * first. */
static heddle_status fetch_arrays(struct arrays *a, const heddle *h)
{
    heddle_status status = HEDDLE_OK;
    const void **array[4] = {&a->ptr, &a->row, &a->index, &a->val};
    int64_t index = a->nnz * (int64_t)type_size(a->types.index);
    int64_t bytes[4] = {(a->rows + 1) * (int64_t)type_size(a->types.offset), index, index,
                        a->nnz * (int64_t)type_size(a->types.value)};
    for (int i = 0; i < 4; i++)
        if (*array[i]) {
            TRY(fetch(&a->fetched[i], &h->device, *array[i], bytes[i]));
            *array[i] = a->fetched[i];
        }
    a->where = HEDDLE_ON_HOST;
done:
    return status;
}

static void forget_fetched(struct arrays *a)
{
    for (int i = 0; i < 4; i++)
        mem_free(a->fetched[i]);
}

/* ---- compressed rows and columns ---- */

/* The arrays of A's view go where the handle computes; what lies there already is borrowed. */
static heddle_status matrix_settle(heddle_matrix *A, heddle *h, heddle_where where)
{
    if (where == HEDDLE_ON_HOST)
        return matrix_place(A, h);
    A->shared = gpu_use(h->shared);
    A->device = (struct device){.kind = DEVICE_gpu, .gpu = h->shared->gpu};
    return HEDDLE_OK;
}

/* The answer to a missing pointer: the matrix' own, or `other`. */
static heddle_status nothing_made(heddle_matrix **out, const char *other)
{
    if (out)
        *out = NULL;
    return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL", out ? other : "the matrix' pointer");
}

static heddle_status create_compressed(heddle_matrix **out, heddle *h, struct arrays *a, heddle_format format)
{
    heddle_status status = HEDDLE_OK;
    heddle_matrix *A = NULL;
    TRY(check_arrays(a, h));
    if (a->where == HEDDLE_ON_DEVICE && must_copy(a))
        TRY(fetch_arrays(a, h));
    TRY(matrix_new(&A));
    A->view.format = format;
    if (must_copy(a)) {
        struct csr *own = &A->owned.csr;
        TRY(csr_new(own, a->rows, a->cols, a->nnz, a->types.value, a->types.offset));
        struct narrowing n = {.a = a, .ptr = own->row_ptr, .index = own->col, .val = own->val};
        TRY(copy_arrays(&n, h));
        A->view.csr = *own;
    } else {
        A->view.csr = (struct csr){.rows = a->rows,
                                   .cols = a->cols,
                                   .nnz = a->nnz,
                                   .value = a->types.value,
                                   .offset = a->types.offset,
                                   .row_ptr = (void *)(uintptr_t)a->ptr,
                                   .col = (int32_t *)(uintptr_t)a->index,
                                   .val = (void *)(uintptr_t)a->val};
    }
    TRY(matrix_settle(A, h, a->where));
    TRY(matrix_done(out, h, A));
    if (A->view.look.bad && is_looked_at(a) && (status = check_last(a, h)) != HEDDLE_OK)
        *out = NULL;
    else
        A = NULL;
done:
    heddle_matrix_free(A);
    forget_fetched(a);
    return status;
}

heddle_status heddle_csr(heddle_matrix **A, heddle *h, const heddle_csr_desc *d)
{
    if (!A || !d)
        return nothing_made(A, "desc");
    struct arrays a = {.rows = d->rows,
                       .cols = d->cols,
                       .nnz = d->nnz,
                       .ptr = d->row_ptr,
                       .index = d->col,
                       .val = d->val,
                       .types = d->types,
                       .base = d->base,
                       .copy = d->copy,
                       .where = d->where,
                       .ptr_name = "row_ptr",
                       .index_name = "col"};
    *A = NULL;
    RETURN_ALONE(h, create_compressed(A, h, &a, HEDDLE_CSR));
}

heddle_status heddle_csc(heddle_matrix **A, heddle *h, const heddle_csc_desc *d)
{
    if (!A || !d)
        return nothing_made(A, "desc");
    struct arrays a = {.rows = d->cols,
                       .cols = d->rows,
                       .nnz = d->nnz,
                       .ptr = d->col_ptr,
                       .index = d->row,
                       .val = d->val,
                       .types = d->types,
                       .base = d->base,
                       .copy = d->copy,
                       .where = d->where,
                       .ptr_name = "col_ptr",
                       .index_name = "row"};
    *A = NULL;
    RETURN_ALONE(h, create_compressed(A, h, &a, HEDDLE_CSC));
}

/* ---- coordinates ---- */

/* Sorts by rows; the arrays of A are read and left alone. */
static heddle_status sort_coo(struct coo *sorted, const struct coo *A)
{
    heddle_status status = HEDDLE_OK;
    struct csr csr = {0};
    TRY(coo_validate(A));
    TRY(csr_from_coo(&csr, A));
    TRY(coo_from_csr(sorted, &csr));
done:
    csr_free(&csr);
    return status;
}

static int32_t no_row;

static heddle_status create_coo(heddle_matrix **out, heddle *h, struct arrays *a)
{
    heddle_status status = HEDDLE_OK;
    heddle_matrix *A = NULL;
    struct coo given = {a->rows,
                        a->cols,
                        a->nnz,
                        HEDDLE_F64,
                        (int32_t *)(uintptr_t)a->row,
                        (int32_t *)(uintptr_t)a->index,
                        (void *)(uintptr_t)a->val},
               sorted = {0};
    TRY(check_arrays(a, h));
    if (a->where == HEDDLE_ON_DEVICE) { /* whether it is sorted is found out on the host */
        TRY(fetch_arrays(a, h));
        given.row = a->fetched[1], given.col = a->fetched[2], given.val = a->fetched[3];
    }
    given.value = a->types.value;
    /* a matrix without entries still has coordinates, as far as everyone below is concerned */
    if (!given.row)
        given.row = &no_row;
    TRY(matrix_new(&A));
    A->view.format = HEDDLE_COO;
    if (must_copy(a)) {
        struct coo *own = &A->owned.coo;
        TRY(coo_new(own, a->rows, a->cols, a->nnz, a->types.value));
        struct narrowing n = {.a = a, .row = own->row, .index = own->col, .val = own->val};
        TRY(copy_arrays(&n, h));
        given = *own;
    }
    if (!coo_is_sorted(&given)) {
        TRY(sort_coo(&sorted, &given));
        coo_free(&A->owned.coo);
        given = A->owned.coo = sorted;
        A->sorted_now = 1;
    }
    A->view.coo = given;
    TRY(matrix_settle(A, h, HEDDLE_ON_HOST));
    TRY(matrix_done(out, h, A));
    A = NULL;
done:
    heddle_matrix_free(A);
    forget_fetched(a);
    return status;
}

heddle_status heddle_coo(heddle_matrix **A, heddle *h, const heddle_coo_desc *d)
{
    if (!A || !d)
        return nothing_made(A, "desc");
    struct arrays a = {.rows = d->rows,
                       .cols = d->cols,
                       .nnz = d->nnz,
                       .row = d->row,
                       .index = d->col,
                       .val = d->val,
                       .types = d->types,
                       .base = d->base,
                       .copy = d->copy,
                       .where = d->where,
                       .row_name = "row",
                       .index_name = "col"};
    *A = NULL;
    RETURN_ALONE(h, create_coo(A, h, &a));
}
