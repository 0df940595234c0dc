/* SPDX-License-Identifier: MIT
 *
 * test_io.h: what the tests of files share. */
#ifndef TESTS_TEST_IO_H
#define TESTS_TEST_IO_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/io.h"
#include "io/tuning.h"
#include "test.h"

#define UNUSED __attribute__((unused))

/* A file of any bytes. */
UNUSED static const char *bytes_file(const char *name, const void *data, size_t size)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}

/* The whole file, to be freed; *size may be NULL. */
UNUSED static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        abort();
    size_t n = (size_t)ftell(file);
    char *data = malloc(n + 1);
    rewind(file);
    if (!data || fread(data, 1, n, file) != n)
        abort();
    fclose(file);
    data[n] = 0;
    if (size)
        *size = n;
    return data;
}

UNUSED static const char *gzip_file(const char *name, const void *data, size_t size)
{
    const char *path = test_path(name);
    gzFile file = gzopen(path, "wb");
    if (!file || gzwrite(file, data, (unsigned)size) != (int)size || gzclose(file) != Z_OK)
        abort();
    return path;
}

UNUSED static int file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* "2x3: 0,0=1 0,2=2.5 1,1=-3": a matrix in words, entries in the order in which they are stored. */
UNUSED static const char *words(const struct csr *A)
{
    static char text[4096];
    int n = snprintf(text, sizeof text, "%lldx%lld:", (long long)A->rows, (long long)A->cols);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1) && n < (int)sizeof text - 64; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %lld,%d=%g", (long long)i, A->col[k],
                          (double)value_at(A->val, A->value, k));
    return text;
}

UNUSED static void check_matrix(const char *path, const char *expected, const char *file, int line)
{
    struct file_matrix F;
    heddle_status status = file_read(&F, path, 0);
    if (!test_status(status, HEDDLE_OK, file, line, path))
        return;
    const char *got = words(&F.csr);
    test_check(strcmp(got, expected) == 0, file, line, "%s is '%s', not '%s'", path, got, expected);
    test_status(csr_validate(&F.csr), HEDDLE_OK, file, line, "csr_validate");
    file_matrix_free(&F);
}

/* Reading the file gives this matrix. */
#define CHECK_MATRIX(path, expected) check_matrix((path), (expected), __FILE__, __LINE__)

/* Reading fails with this status and these words, and leaves nothing behind. */
UNUSED static void check_refused(const char *path, heddle_status expected, const char *text, const char *file,
                                 int line)
{
    struct file_matrix F;
    int64_t live = mem_live();
    heddle_status status = file_read(&F, path, 0);
    test_fails(status, expected, text, file, line, path);
    test_check(mem_live() == live, file, line, "%s: refusing it leaks", path);
    test_check(!strchr(heddle_last_error(), '\n'), file, line, "the error is not one line");
    if (status == HEDDLE_OK)
        file_matrix_free(&F);
}

#define CHECK_REFUSED(path, expected, text) check_refused((path), (expected), (text), __FILE__, __LINE__)

UNUSED static int same_matrix(const struct csr *A, const struct csr *B)
{
    if (A->rows != B->rows || A->cols != B->cols || A->nnz != B->nnz || A->value != B->value ||
        A->offset != B->offset)
        return 0;
    return memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * type_size(A->offset)) == 0 &&
           memcmp(A->col, B->col, (size_t)A->nnz * 4) == 0 &&
           memcmp(A->val, B->val, (size_t)A->nnz * type_size(A->value)) == 0;
}

/* A small matrix with all kinds of values and an empty row. */
UNUSED static heddle_status some_matrix(struct csr *A, int64_t rows, int64_t cols, heddle_type value)
{
    uint64_t state = 7;
    heddle_status status = csr_new(A, rows, cols, rows > 1 ? (rows - 1) * 3 : rows * 3, value, HEDDLE_I32);
    if (status != HEDDLE_OK)
        return status;
    int32_t *row_ptr = A->row_ptr, k = 0;
    for (int64_t i = 0; i < rows; i++) {
        row_ptr[i] = k;
        for (int j = 0; j < 3 && i != 1; j++, k++) {
            uint64_t bits = test_random(&state);
            A->col[k] = (int32_t)((i * 7 + j * (cols / 3 + 1)) % cols);
            double v = bits % 5 == 0 ? (double)(int64_t)(bits >> 40)
                                     : (double)(int64_t)bits / (double)(1 + (bits >> (bits % 50)));
            if (value == HEDDLE_F64)
                ((double *)A->val)[k] = v;
            else
                ((float *)A->val)[k] = (float)v;
        }
    }
    row_ptr[rows] = k;
    return HEDDLE_OK;
}

#endif
