/* SPDX-License-Identifier: MIT
 *
 * Heddle's own format: mapped, checked, and not to be fooled. */
#include <stddef.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/hdl.h"
#include "test_io.h"

static heddle_status open_and_check(const char *path)
{
    struct file_matrix F;
    heddle_status status = file_read(&F, path, 0);
    if (status != HEDDLE_OK)
        return status;
    status = file_matrix_check(&F, path);
    file_matrix_free(&F);
    return status;
}

TEST(an_hdl_file_is_mapped_and_aligned)
{
    struct csr A, wide;
    struct file_matrix F;
    CHECK_OK(some_matrix(&A, 100, 50, HEDDLE_F32));
    CHECK_OK(csr_retype(&wide, &A, HEDDLE_F32, HEDDLE_I64));
    CHECK_OK(file_write(&wide, test_path("w.hdl")));
    if (CHECK_OK(file_read(&F, test_path("w.hdl"), 0))) {
        CHECK(F.mapped && !F.checked && F.csr.offset == HEDDLE_I64 && same_matrix(&wide, &F.csr));
        CHECK((uintptr_t)F.csr.row_ptr % 64 == 0 && (uintptr_t)F.csr.col % 64 == 0 &&
              (uintptr_t)F.csr.val % 64 == 0);
        CHECK_OK(file_matrix_check(&F, "w.hdl"));
        CHECK_OK(file_matrix_check(&F, "w.hdl"));
        file_matrix_free(&F);
    }
    if (CHECK_OK(file_read(&F, test_path("w.hdl"), HEDDLE_F64))) { /* other values: a copy */
        CHECK(!F.mapped && F.checked && F.csr.value == HEDDLE_F64 && F.csr.offset == HEDDLE_I64);
        CHECK(((double *)F.csr.val)[5] == (double)((float *)A.val)[5]);
        file_matrix_free(&F);
    }
    csr_free(&A);
    csr_free(&wide);
}

TEST(a_flipped_bit_in_any_byte_of_an_hdl_file_is_noticed)
{
    struct csr A;
    size_t size;
    CHECK_OK(some_matrix(&A, 5, 5, HEDDLE_F64));
    CHECK_OK(file_write(&A, test_path("b.hdl")));
    char *data = slurp(test_path("b.hdl"), &size);
    for (size_t bit = 64; bit < size * 8;
         bit += bit % 8 == 7 ? 2 : 9) { /* without its magic it is no .hdl file */
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
        heddle_status status = open_and_check(bytes_file("flip.hdl", data, size));
        CHECK_THAT(status == HEDDLE_BAD_FILE || status == HEDDLE_NOT_SUPPORTED, "bit %zu: %s", bit,
                   heddle_status_name(status));
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t n = 8; n < size; n += 1 + n / 16)
        CHECK_REFUSED(bytes_file("short.hdl", data, n), HEDDLE_BAD_FILE,
                      n < 128 ? "ends inside its header" : "it is cut off");
    data[140] ^= 1;
    CHECK_FAILS(open_and_check(bytes_file("c.hdl", data, size)), HEDDLE_BAD_FILE,
                "c.hdl: the contents are damaged");
    struct file_matrix F; /* other values need the contents at once */
    CHECK_FAILS(file_read(&F, test_path("c.hdl"), HEDDLE_F32), HEDDLE_BAD_FILE, "the contents are damaged");
    free(data);
    csr_free(&A);
}

/* Writes a changed header with a checksum that is right, as a liar would. */
static const char *lie(char *data, size_t size, const struct hdl_header *h)
{
    struct hdl_header liar = *h;
    liar.checksum = checksum_small(HDL_VERSION, &liar, (int64_t)offsetof(struct hdl_header, checksum));
    memcpy(data, &liar, sizeof liar);
    return bytes_file("lie.hdl", data, size);
}

#define LIE(change, status, says)                                                                            \
    do {                                                                                                     \
        struct hdl_header h = honest;                                                                        \
        change;                                                                                              \
        CHECK_REFUSED(lie(data, size, &h), status, says);                                                    \
    } while (0)

TEST(an_hdl_header_that_lies_is_found_out_when_it_is_opened)
{
    struct csr A;
    size_t size;
    CHECK_OK(some_matrix(&A, 5, 5, HEDDLE_F64));
    CHECK_OK(file_write(&A, test_path("b.hdl")));
    char *data = slurp(test_path("b.hdl"), &size);
    struct hdl_header honest;
    memcpy(&honest, data, sizeof honest);
    LIE(h.version = 2, HEDDLE_NOT_SUPPORTED, ".hdl version 2");
    LIE(h.order = 0x04030201, HEDDLE_NOT_SUPPORTED, "little-endian");
    LIE(h.value = 99, HEDDLE_NOT_SUPPORTED, "unknown types 99");
    LIE(h.offset = HEDDLE_F64, HEDDLE_NOT_SUPPORTED, "unknown types");
    LIE(h.rows = -1, HEDDLE_BAD_FILE, "impossible sizes");
    LIE(h.cols = INDEX_LIMIT, HEDDLE_BAD_FILE, "impossible sizes");
    LIE(h.nnz = INT64_MAX, HEDDLE_BAD_FILE, "impossible sizes");
    LIE(h.nnz = INT64_MAX / 16, HEDDLE_BAD_FILE, "section col");
    LIE(h.rows = INDEX_LIMIT - 1, HEDDLE_BAD_FILE,
        "section row_ptr has 24 bytes, the sizes of the matrix ask for 8589934592");
    LIE(h.section[0].at = 64, HEDDLE_BAD_FILE, "section row_ptr at byte 64");
    LIE(h.section[1].at += 4, HEDDLE_BAD_FILE, "section col at byte");
    LIE(h.section[2].at = INT64_MAX - 63, HEDDLE_BAD_FILE, "section val at byte");
    LIE(h.section[2].at = h.section[1].at, HEDDLE_BAD_FILE, "section val at byte");
    LIE(h.file_size++, HEDDLE_BAD_FILE, "it is cut off or was added to");
    /* a header that is right around indices that are wrong */
    struct hdl_header h = honest;
    ((int32_t *)(void *)(data + honest.section[1].at))[0] = 77;
    h.contents = 0;
    int64_t bytes[3] = {honest.section[0].size, honest.section[1].size, honest.section[2].size};
    for (int i = 0; i < 3; i++)
        CHECK_OK(checksum(&h.contents, h.contents, data + honest.section[i].at, bytes[i]));
    CHECK_FAILS(open_and_check(lie(data, size, &h)), HEDDLE_BAD_FILE, "lie.hdl: ");
    free(data);
    csr_free(&A);
}

TEST(a_packed_or_piped_hdl_file_is_refused_with_advice)
{
    struct csr A;
    size_t size;
    CHECK_OK(some_matrix(&A, 5, 5, HEDDLE_F64));
    CHECK_OK(file_write(&A, test_path("b.hdl")));
    char *data = slurp(test_path("b.hdl"), &size);
    CHECK_REFUSED(gzip_file("b.hdl.gz", data, size), HEDDLE_NOT_SUPPORTED, "unpack it first");
    int ends[2];
    char path[64];
    if (pipe(ends) == 0 && write(ends[1], data, size) == (ssize_t)size) {
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        CHECK_REFUSED(path, HEDDLE_NOT_SUPPORTED, "must be a regular file");
        close(ends[0]);
    }
    free(data);
    csr_free(&A);
}

TEST(the_checksum_depends_on_every_byte_and_not_on_threads)
{
    struct io_tuning before = io_tuning;
    size_t size = (size_t)CHECKSUM_BLOCK * 2 + 77;
    char *data = calloc(size, 1);
    uint64_t sum, other;
    CHECK_OK(checksum(&sum, 1, data, (int64_t)size));
    for (int threads = 1; threads <= 4; threads++) {
        io_tuning.threads = threads;
        CHECK_OK(checksum(&other, 1, data, (int64_t)size));
        CHECK(sum == other);
    }
    for (size_t i = 0; i < size; i += 65521) {
        data[i] = 1;
        CHECK_OK(checksum(&other, 1, data, (int64_t)size));
        CHECK(sum != other);
        data[i] = 0;
    }
    CHECK_OK(checksum(&other, 1, data, (int64_t)size - 1));
    CHECK(sum != other);
    CHECK_OK(checksum(&other, 2, data, (int64_t)size));
    CHECK(sum != other);
    free(data);
    io_tuning = before;
}
