/* SPDX-License-Identifier: MIT
 *
 * The bytes as a .hdl file that a program reads and multiplies with: mapped or copied, as stored or in
 * another type.  No use of it before or after its check may leave the arrays, and what is accepted is
 * multiplied as a plain loop does it. */
#define _GNU_SOURCE /* memfd_create */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/checksum.h"
#include "io/hdl.h"
#include "number.h"

#define SIZE_MOST 2048 /* rows and columns that are multiplied with */

static int64_t offset_at(const heddle_matrix_desc *d, int64_t i)
{
    return d->types.offset == HEDDLE_I64 ? ((const int64_t *)d->ptr)[i] : ((const int32_t *)d->ptr)[i];
}

/* What heddle_check promises, looked at by itself. */
static int is_valid(const heddle_matrix_desc *d)
{
    if (offset_at(d, 0) != 0 || offset_at(d, d->rows) != d->nnz)
        return 0;
    for (int64_t i = 0; i < d->rows; i++)
        if (offset_at(d, i) > offset_at(d, i + 1))
            return 0;
    for (int64_t k = 0; k < d->nnz; k++)
        if (d->index[k] < 0 || d->index[k] >= d->cols)
            return 0;
    return 1;
}

/* y = A 1 or its transpose by a loop; rows with numbers that are none, or sums that may overflow, are not
 * compared. */
static void compare(const heddle_matrix_desc *d, heddle_op op, const void *y)
{
    static number sum[SIZE_MOST];
    static double size[SIZE_MOST];
    int64_t n = op == HEDDLE_N ? d->rows : d->cols;
    memset(sum, 0, sizeof sum);
    memset(size, 0, sizeof size);
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t k = offset_at(d, i); k < offset_at(d, i + 1); k++) {
            int64_t to = op == HEDDLE_N ? i : d->index[k];
            sum[to] += get(d->val, d->types.value, k);
            size[to] += cabs(get(d->val, d->types.value, k));
        }
    int narrow = d->types.vector == HEDDLE_F32 || d->types.vector == HEDDLE_C32;
    double unit = narrow ? 6e-8 : 1.2e-16, largest = narrow ? 1e38 : 1e307,
           smallest = narrow ? 1e-37 : 1e-300;
    for (int64_t i = 0; i < n; i++)
        if (size[i] < largest)
            fuzz_require(cabs(get(y, d->types.vector, i) - sum[i]) <=
                             2 * unit * (double)(d->nnz + 2) * size[i] + smallest,
                         "the product is that of a loop");
}

static void use(heddle *h, heddle_matrix *A, unsigned how)
{
    static number x[SIZE_MOST], y[SIZE_MOST];
    heddle_matrix_desc d;
    heddle_stats stats;
    heddle_matrix *B;
    fuzz_require(heddle_matrix_info(A, &d) == HEDDLE_OK, "a matrix describes itself");
    if (d.rows > SIZE_MOST || d.cols > SIZE_MOST)
        return;
    heddle_op op = how & 1 ? HEDDLE_T : HEDDLE_N;
    for (int i = 0; i < SIZE_MOST; i++)
        put(x, d.types.vector, i, 1);
    heddle_status status = how & 2 ? heddle_statistics(h, A, &stats) : heddle_mv(h, op, NULL, A, x, NULL, y);
    fuzz_require(status == HEDDLE_OK || status == HEDDLE_BAD_FILE,
                 "the first use accepts or refuses the contents");
    fuzz_require((heddle_check(h, A) == HEDDLE_OK) == (status == HEDDLE_OK), "and so does every other");
    if (status != HEDDLE_OK)
        return;
    fuzz_require(is_valid(&d), "what is accepted is valid");
    fuzz_require(heddle_mv(h, op, NULL, A, x, NULL, y) == HEDDLE_OK, "and can be multiplied");
    compare(&d, op, y);
    if (how & 4 && heddle_convert(&B, h, A, how & 8 ? HEDDLE_CSC : HEDDLE_COO) == HEDDLE_OK) {
        fuzz_require(heddle_mv(h, op, NULL, B, x, NULL, y) == HEDDLE_OK,
                     "what was converted can be multiplied");
        compare(&d, op, y);
        heddle_matrix_free(B);
    }
}

static void fuzz_file(heddle *h, const void *data, size_t size, unsigned how)
{
    char path[64];
    heddle_matrix *A;
    heddle_read_options options = {.copy = how >> 4 & 1, .value = how >> 5 & 1 ? HEDDLE_F32 : 0};
    int file = memfd_create("fuzz.hdl", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && write(file, data, size) == (ssize_t)size) {
        heddle_status status = heddle_read(&A, h, path, &options);
        fuzz_require((status == HEDDLE_OK) == (A != NULL), "a matrix is there if it was read");
        if (A && options.copy)
            fuzz_require(ftruncate(file, 0) == 0, "ftruncate"); /* a copy does not mind */
        if (A)
            use(h, A, how);
        heddle_matrix_free(A);
    }
    if (file >= 0)
        close(file);
}

/* Checksums put right, and offsets and indices brought into bounds, since no fuzzer guesses those. */
static void put_right(char *data, size_t size, int contents)
{
    struct hdl_header h;
    memcpy(&h, data, sizeof h);
    memcpy(h.magic, HDL_MAGIC, HDL_MAGIC_SIZE);
    h.version = HDL_VERSION;
    h.order = HDL_ORDER;
    h.file_size = (int64_t)size;
    h.contents = 0;
    for (int i = 0; i < 3; i++) {
        int64_t at = h.section[i].at, n = h.section[i].size;
        if (at < (int64_t)sizeof h || n < 0 || at > (int64_t)size || n > (int64_t)size - at)
            continue;
        if (contents && i == 1 && h.cols > 0 && h.cols < SIZE_MOST)
            for (int64_t k = at; k + 4 <= at + n; k += 4) {
                int32_t col = (int32_t)((unsigned char)data[k] % h.cols);
                memcpy(data + k, &col, 4);
            }
        checksum(&h.contents, h.contents, data + at, n);
    }
    h.checksum = checksum_small(HDL_VERSION, &h, (int64_t)offsetof(struct hdl_header, checksum));
    memcpy(data, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static heddle *h[2];
    if (!h[0])
        for (int i = 0; i < 2; i++)
            fuzz_require(heddle_open(&h[i], i == 0 ? "cpu:threads=1" : "cpu:threads=3") == HEDDLE_OK, "open");
    if (size < sizeof(struct hdl_header) + 1)
        return 0;
    unsigned how = data[size - 1];
    size--;
    fuzz_tune(data, size);
    fuzz_file(h[how >> 6 & 1], data, size, how);
    char *copy = malloc(size);
    if (copy) {
        memcpy(copy, data, size);
        put_right(copy, size, how >> 7);
        fuzz_file(h[how >> 6 & 1], copy, size, how);
    }
    free(copy);
    return 0;
}
