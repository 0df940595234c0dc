/* SPDX-License-Identifier: MIT
 *
 * PETSc's binary matrices: every width that a build of PETSc may write, and every way in which such a file
 * can be broken. */
#include "test_io.h"

/* A file in the making: big-endian numbers, one after the other. */
struct bytes {
    unsigned char data[1024];
    size_t size;
};

static void put(struct bytes *b, uint64_t n, int width)
{
    for (int i = width - 1; i >= 0; i--)
        b->data[b->size++] = (unsigned char)(n >> (8 * i));
}

static void put_value(struct bytes *b, double v, int width)
{
    float single = (float)v;
    uint64_t bits = 0;
    uint32_t narrow;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&bits, &v, sizeof bits);
    put(b, width == 4 ? narrow : bits, width);
}

/* The 2 x 3 matrix of the tests; header[] replaces class id and sizes where it is not NULL. */
#define SMALL_WORDS "2x3: 0,2=2.5 0,0=1 1,1=-3"
static struct bytes small(int whole, int value, const int64_t *header)
{
    static const int64_t usual[] = {1211216, 2, 3, 3};
    static const int64_t pattern[] = {2, 1, 2, 0, 1};
    static const double values[] = {2.5, 1, -3};
    struct bytes b = {.size = 0};
    for (int i = 0; i < 4; i++)
        put(&b, (uint64_t)(header ? header : usual)[i], whole);
    for (int i = 0; i < 5; i++)
        put(&b, (uint64_t)pattern[i], whole);
    for (int i = 0; i < 3; i++)
        put_value(&b, values[i], value);
    return b;
}

static const char *file_of(const char *name, const struct bytes *b)
{
    return bytes_file(name, b->data, b->size);
}

TEST(every_width_of_numbers_is_read_whatever_the_name)
{
    for (int whole = 4; whole <= 8; whole += 4)
        for (int value = 4; value <= 8; value += 4) {
            struct bytes b = small(whole, value, NULL);
            CHECK_MATRIX(file_of("a.petsc", &b), SMALL_WORDS);
            CHECK_MATRIX(file_of("a.dat", &b), SMALL_WORDS);
            CHECK_MATRIX(gzip_file("a.petsc.gz", b.data, b.size), SMALL_WORDS);
        }
}

TEST(what_stands_behind_the_matrix_is_not_read)
{
    /* A vector, as ksp ex10 expects one; the first and the last class. */
    static const uint64_t classes[] = {1211214, 1211211, 1211299};
    for (int i = 0; i < 12; i++) {
        const int whole = i % 2 ? 4 : 8, value = i / 2 % 2 ? 4 : 8;
        struct bytes b = small(whole, value, NULL);
        put(&b, classes[i / 4], whole);
        put(&b, 2, whole);
        put_value(&b, 1, value);
        put_value(&b, 2, value);
        CHECK_MATRIX(file_of("a.petsc", &b), SMALL_WORDS);
        CHECK_MATRIX(gzip_file("a.petsc.gz", b.data, b.size), SMALL_WORDS);
    }
}

TEST(values_come_in_the_type_asked_for)
{
    for (int value = 4; value <= 8; value += 4) {
        struct bytes b = small(4, value, NULL);
        struct file_matrix F;
        if (!CHECK_OK(file_read(&F, file_of("a.petsc", &b), HEDDLE_F32)))
            continue;
        CHECK(F.csr.value == HEDDLE_F32 && ((float *)F.csr.val)[0] == 2.5f && ((float *)F.csr.val)[2] == -3);
        file_matrix_free(&F);
    }
}

TEST(complex_and_dense_matrices_are_named)
{
    struct bytes b = small(4, 8, NULL);
    for (int i = 0; i < 3; i++)
        put_value(&b, 0.5, 8);
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_NOT_SUPPORTED, "complex");
    b = small(4, 8, (const int64_t[]){1211216, 2, 3, -1});
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_NOT_SUPPORTED, "a dense matrix of PETSc");
}

TEST(impossible_sizes_are_refused)
{
    static const int64_t headers[][4] = {
        {1211216, -1, 3, 3},        {1211216, 2, -3, 3},        {1211216, 2, 3, -2},
        {1211216, 0, 3, 3},         {1211216, 2, 0, 3},         {1211216, INT64_C(1) << 31, 3, 3},
        {1211216, 2, INT64_MAX, 3}, {1211216, 2, 3, INT64_MAX}, {1211216, INT64_MIN, 3, 3}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct bytes b = small(8, 8, headers[i]);
        CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "impossible sizes in the header");
    }
}

TEST(lengths_and_columns_are_checked)
{
    struct bytes b = small(4, 8, NULL);
    b.data[4 * 4 + 3] = 9;
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "row 0 has 9 entries, and 3 are left of 3");
    b.data[4 * 4 + 3] = 1;
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "rows have 2 entries in all, the header says 3");
    b.data[4 * 4] = 0xff;
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "row 0 has -");
    b = small(4, 8, NULL);
    b.data[8 * 4 + 3] = 3;
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "entry 2: column 3 is outside 0..2");
    b.data[8 * 4] = 0x80;
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "entry 2: column -");
}

TEST(a_file_cut_off_anywhere_is_refused)
{
    for (int whole = 4; whole <= 8; whole += 4)
        for (int packed = 0; packed < 2; packed++) {
            struct bytes b = small(whole, 8, NULL);
            size_t all = b.size;
            for (size_t size = (size_t)whole; size < all; size++) {
                if (size == all - 12)
                    continue; /* three values of single precision */
                const char *path =
                    packed ? gzip_file("a.petsc.gz", b.data, size) : bytes_file("a.petsc", b.data, size);
                CHECK_REFUSED(path, HEDDLE_BAD_FILE, "a.petsc");
            }
        }
}

TEST(small_files_that_announce_much_are_refused_before_memory_is_taken)
{
    struct bytes b = small(8, 8, (const int64_t[]){1211216, 1000, 1000, INT64_C(1) << 50});
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_BAD_FILE, "take more");
    CHECK_REFUSED(gzip_file("a.petsc.gz", b.data, b.size), HEDDLE_NO_MEMORY, "what it holds takes");
    b = small(8, 8, (const int64_t[]){1211216, 0, INT32_MAX, 0});
    CHECK_REFUSED(file_of("a.petsc", &b), HEDDLE_NO_MEMORY, "what it holds takes");
}

TEST(what_is_written_is_what_petsc_reads)
{
    int32_t row_ptr[] = {0, 2, 3}, col[] = {2, 0, 1};
    double val[] = {2.5, 1, -3};
    struct csr A = {2, 3, 3, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val};
    for (int whole = 4; whole <= 8; whole += 4) {
        const char *path = test_path(whole == 4 ? "a.petsc" : "a.petsc64");
        struct bytes b = small(whole, 8, NULL);
        size_t size;
        if (!CHECK_OK(file_write(&A, path)))
            continue;
        char *data = slurp(path, &size);
        CHECK(size == b.size && memcmp(data, b.data, size) == 0);
        free(data);
    }
}

TEST(more_entries_than_32_bits_count_need_the_other_format)
{
    struct csr A = {.rows = 1, .cols = 1, .nnz = INT64_C(1) << 31, .value = HEDDLE_F64, .offset = HEDDLE_I64};
    CHECK_FAILS(file_write(&A, test_path("large.petsc")), HEDDLE_NOT_SUPPORTED, "write .petsc64");
    CHECK(!file_exists(test_path("large.petsc")));
}
