/* SPDX-License-Identifier: MIT
 *
 * file.c: matrices and vectors from files and families. */
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "gen/gen.h"

/* Which value type (of the library's own, that says vectors, too) do they ask for?  0: the usual one. */
static heddle_status check_value(heddle_type *value, heddle_type vector)
{
    if (*value != HEDDLE_TYPE_DEFAULT && (*value > HEDDLE_C64 || !value_name(*value)))
        return fail(
            HEDDLE_BAD_ARGUMENT,
            "%d is not a type of values: HEDDLE_F32, HEDDLE_F64, HEDDLE_F16, HEDDLE_BF16, HEDDLE_C32 or "
            "HEDDLE_C64",
            (int)*value);
    if (*value == HEDDLE_F32 && vector == HEDDLE_F64)
        *value = F32_F64;
    if (vector != HEDDLE_TYPE_DEFAULT && (*value == HEDDLE_TYPE_DEFAULT || vector_type(*value) != vector))
        return fail(HEDDLE_BAD_ARGUMENT, "%d is no type of vectors for values of this one: see heddle_types",
                    (int)vector);
    return HEDDLE_OK;
}

/* Vectors, which have no 16-bit numbers. */
static heddle_status check_numbers(heddle_type type)
{
    if (type == HEDDLE_TYPE_DEFAULT || type == HEDDLE_F32 || type == HEDDLE_F64 || is_complex(type))
        return HEDDLE_OK;
    return fail(HEDDLE_BAD_ARGUMENT,
                "%d is not a type of vectors: HEDDLE_F32, HEDDLE_F64, HEDDLE_C32 or HEDDLE_C64", (int)type);
}

static heddle_status read_matrix(heddle_matrix **out, heddle *h, const char *path,
                                 const heddle_read_options *given)
{
    heddle_status status = HEDDLE_OK;
    heddle_matrix *A = NULL;
    heddle_read_options options = given ? *given : (heddle_read_options){0};
    TRY(check_value(&options.value, options.vector));
    if (!path)
        return fail(HEDDLE_BAD_ARGUMENT, "path is NULL");
    TRY(matrix_new(&A));
    TRY(NEW(A->path, (int64_t)strlen(path) + 1));
    memcpy(A->path, path, strlen(path) + 1);
    TRY(file_read_as(&A->file, path, &options));
    if (!A->file.mapped) { /* arrays of their own: they become the matrix' */
        A->owned.csr = A->file.csr;
        A->file = (struct file_matrix){.csr = {0}, .checked = 1};
    }
    A->view.csr = A->file.mapped ? A->file.csr : A->owned.csr;
    atomic_store(&A->unchecked, A->file.mapped && !A->file.checked && !options.trust);
    if (h->shared)
        TRY(matrix_ready(A)); /* its first use is the copy to the device */
    TRY(matrix_place(A, h));
    TRY(matrix_done(out, h, A));
    A = NULL;
done:
    heddle_matrix_free(A);
    return status;
}

heddle_status heddle_read(heddle_matrix **A, heddle *h, const char *path, const heddle_read_options *opt)
{
    if (!A)
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix' pointer is NULL");
    *A = NULL;
    RETURN_ALONE(h, read_matrix(A, h, path, opt));
}

static heddle_status write_matrix(const heddle *h, const heddle_matrix *A, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct csr csr, made = {0};
    TRY(matrix_check(h, A));
    if (!path)
        return fail(HEDDLE_BAD_ARGUMENT, "path is NULL");
    TRY(matrix_as_csr(&csr, &made, h, A));
    TRY(file_write(&csr, path));
done:
    csr_free(&made);
    return status;
}

heddle_status heddle_write(heddle *h, const heddle_matrix *A, const char *path)
{
    RETURN_ALONE(h, write_matrix(h, A, path));
}

heddle_status heddle_read_vector(void **x, int64_t *n, heddle_type type, const char *path)
{
    heddle_status status = check_numbers(type);
    if (status != HEDDLE_OK)
        return status;
    if (!x || !n || !path)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL", !x ? "x" : !n ? "n" : "path");
    *x = NULL;
    *n = 0;
    return vector_read(x, n, type ? type : HEDDLE_F64, path);
}

heddle_status heddle_write_vector(const void *x, int64_t n, heddle_type type, const char *path)
{
    heddle_status status = check_numbers(type);
    if (status != HEDDLE_OK)
        return status;
    if ((!x && n > 0) || n < 0 || !path)
        return fail(HEDDLE_BAD_ARGUMENT, "%s",
                    n < 0   ? "n is negative"
                    : !path ? "path is NULL"
                            : "x is NULL");
    return vector_write(x, n, type ? type : HEDDLE_F64, path);
}

void heddle_free(void *x)
{
    mem_free(x);
}

static heddle_status generate(heddle_matrix **out, heddle *h, const char *family, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    heddle_matrix *A = NULL;
    TRY(check_value(&value, HEDDLE_TYPE_DEFAULT));
    if (!family)
        return fail(HEDDLE_BAD_ARGUMENT, "family is NULL");
    TRY(matrix_new(&A));
    TRY(gen_matrix(&A->owned.csr, family, value));
    A->view.csr = A->owned.csr;
    TRY(matrix_place(A, h));
    TRY(matrix_done(out, h, A));
    A = NULL;
done:
    heddle_matrix_free(A);
    return status;
}

heddle_status heddle_generate(heddle_matrix **A, heddle *h, const char *family, heddle_type value)
{
    if (!A)
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix' pointer is NULL");
    *A = NULL;
    RETURN_ALONE(h, generate(A, h, family, value));
}
