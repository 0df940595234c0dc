/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "io/market.h"
#include "io/read.h"
#include "test_io.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"

TEST(a_plain_coordinate_file_is_read_in_file_order)
{
    CHECK_MATRIX(test_file("a.mtx", REAL "2 3 4\n1 3 2.5\n2 2 -3\n1 1 1\n1 3 4\n"),
                 "2x3: 0,2=2.5 0,0=1 0,2=4 1,1=-3");
}

TEST(comments_blank_lines_crlf_tabs_and_a_missing_last_newline_do_not_matter)
{
    CHECK_MATRIX(
        test_file(
            "a.mtx",
            "%%matrixmarket\tMATRIX  Coordinate REAL General\r\n% a comment\r\n\r\n  \t\r\n"
            "  2\t3   3 % sizes\r\n%between\r\n\r\n\t1  3\t 2.5  \r\n   % more\n\n+2 2 -3 % here\r\n1 1 1"),
        "2x3: 0,2=2.5 0,0=1 1,1=-3");
    CHECK_MATRIX(test_file("a.mtx", REAL "1 1 1\n1 1 7\n\n% the end\n   "), "1x1: 0,0=7");
}

TEST(numbers_of_rows_may_have_leading_zeros)
{
    CHECK_MATRIX(test_file("a.mtx", REAL "002 3 0001\n000000000000000002 0003 2.5\n"), "2x3: 1,2=2.5");
}

TEST(every_field_is_understood)
{
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix coordinate double general\n1 1 1\n1 1 0x1p2\n"),
                 "1x1: 0,0=4");
    CHECK_MATRIX(
        test_file("a.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 -7\n1 2 2e1\n"),
        "1x2: 0,0=-7 0,1=20");
    CHECK_MATRIX(
        test_file("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2 % x\n"),
        "2x2: 0,1=1 1,0=1");
    CHECK_MATRIX(test_file("a.mtx", REAL "1 3 3\n1 1 inf\n1 2 -Infinity\n1 3 1e-400\n"),
                 "1x3: 0,0=inf 0,1=-inf 0,2=0");
    CHECK_REFUSED(test_file("a.mtx", "%%MatrixMarket matrix array complex general\n1 1\n1.5\n"),
                  HEDDLE_BAD_FILE, "a.mtx:3: expected a number, found the end of the line");
}

TEST(nan_stays_nan)
{
    struct file_matrix F;
    if (CHECK_OK(file_read(&F, test_file("a.mtx", REAL "1 1 1\n1 1 nan\n"), 0))) {
        CHECK(isnan(((double *)F.csr.val)[0]));
        file_matrix_free(&F);
    }
}

TEST(every_symmetry_is_expanded)
{
    CHECK_MATRIX(
        test_file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n"),
        "3x3: 0,0=1 0,1=2 1,0=2 1,2=3 2,1=3");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n"),
                 "2x2: 0,1=-5 1,0=5");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
                 "2x2: 0,1=1 1,0=1");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 3\n"),
                 "2x2: 0,1=3 1,0=3");
}

TEST(a_large_symmetric_matrix_is_expanded_in_parts)
{
    enum { N = 25000 }; /* more entries than one thread expands */
    char *text = malloc(N * 20), *end = text;
    struct file_matrix F;
    end += sprintf(end, "%%%%MatrixMarket matrix coordinate integer symmetric\n%d %d %d\n1 1 1\n", N, N, N);
    for (int i = 2; i <= N; i++)
        end += sprintf(end, "%d %d %d\n", i, i - 1, i % 100);
    if (CHECK_OK(file_read(&F, bytes_file("a.mtx", text, (size_t)(end - text)), 0))) {
        const struct csr *A = &F.csr;
        int64_t wrong = A->nnz != 2 * N - 1;
        for (int64_t i = 0; wrong == 0 && i < N; i++)
            for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
                const int64_t j = A->col[k], low = i > j ? i : j;
                wrong += (i == j ? i != 0 : llabs(i - j) != 1) ||
                         ((double *)A->val)[k] != (i == j ? 1 : (double)((low + 1) % 100));
            }
        CHECK(wrong == 0);
        file_matrix_free(&F);
    }
    free(text);
}

TEST(arrays_run_down_the_columns)
{
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n"),
                 "2x3: 0,0=1 0,1=3 0,2=5 1,0=2 1,1=4 1,2=6");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
                 "3x3: 0,0=1 0,1=2 0,2=3 1,0=2 1,1=4 1,2=5 2,0=3 2,1=5 2,2=6");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
                 "3x3: 0,1=-1 0,2=-2 1,0=1 1,2=-3 2,0=2 2,1=3");
    CHECK_MATRIX(test_file("a.mtx", "%%MatrixMarket matrix array real general\n0 5\n"), "0x5:");
}

TEST(empty_matrices_are_valid)
{
    CHECK_MATRIX(test_file("a.mtx", REAL "0 0 0\n"), "0x0:");
    CHECK_MATRIX(test_file("a.mtx", REAL "3 0 0\n"), "3x0:");
    CHECK_MATRIX(test_file("a.mtx", REAL "3 3 0"), "3x3:");
}

TEST(values_come_in_the_type_asked_for)
{
    struct file_matrix F;
    if (CHECK_OK(file_read(
            &F, test_file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.1\n"),
            HEDDLE_F32))) {
        CHECK(F.csr.value == HEDDLE_F32 && ((float *)F.csr.val)[1] == 0.1f);
        CHECK(F.checked && !F.mapped && F.csr.offset == HEDDLE_I32);
        file_matrix_free(&F);
    }
}

/* A text with everything that makes lines differ. */
static char *long_text(int entries, int bad_line)
{
    size_t capacity = (size_t)entries * 64 + 256, n = 0;
    char *text = malloc(capacity);
    uint64_t state = 3;
    int line = 2;
    n += (size_t)snprintf(text, capacity, "%s50 60 %d\n", REAL, entries);
    for (int k = 0; k < entries;) {
        uint64_t r = test_random(&state);
        line++;
        if (line == bad_line)
            n += (size_t)snprintf(text + n, capacity - n, "1 61 5\n"), k++;
        else if (r % 7 == 0)
            n += (size_t)snprintf(text + n, capacity - n, r % 2 ? "\n" : "  %% comment 1 2 3\r\n");
        else
            n += (size_t)snprintf(text + n, capacity - n, "%s%d %d %.*g%s\n", r % 5 ? "" : "  ",
                                  (int)(r / 8 % 50) + 1, (int)(r / 512 % 60) + 1, (int)(r % 17) + 1,
                                  (double)(int64_t)r / 1e17, r % 3 ? "" : " \r"),
                k++;
    }
    return text;
}

static heddle_status read_string(struct csr *A, const char *text)
{
    struct text_source s;
    heddle_status status = source_memory(&s, "text.mtx", text, (int64_t)strlen(text));
    if (status == HEDDLE_OK) {
        status = read_text(A, &s, 0);
        source_close(&s);
    }
    return status;
}

TEST(where_the_text_is_cut_never_changes_the_result)
{
    struct io_tuning before = io_tuning;
    char *text = long_text(120, -1);
    struct csr whole, A;
    CHECK_OK(read_string(&whole, text));
    for (int64_t chunk = 1; chunk < 200; chunk += 1 + chunk / 40)
        for (int threads = 1; threads <= 4; threads++) {
            io_tuning.chunk = chunk;
            io_tuning.block = chunk * (1 + chunk % 5);
            io_tuning.threads = threads;
            if (CHECK_OK(read_string(&A, text))) {
                CHECK_THAT(same_matrix(&whole, &A), "chunks of %d bytes on %d threads differ", (int)chunk,
                           threads);
                csr_free(&A);
            }
        }
    io_tuning = before;
    csr_free(&whole);
    free(text);
}

TEST(the_first_bad_line_is_named_wherever_the_text_is_cut)
{
    struct io_tuning before = io_tuning;
    for (int bad = 3; bad < 100; bad += 9) {
        char *text = long_text(120, bad), expected[64];
        struct csr A;
        snprintf(expected, sizeof expected, "text.mtx:%d: column 61 is outside 1..60", bad);
        for (int64_t chunk = 1; chunk < 3000; chunk = chunk * 2 + 1) {
            io_tuning.chunk = chunk;
            io_tuning.block = chunk * 3;
            io_tuning.threads = 1 + (int)(chunk % 4);
            CHECK_FAILS(read_string(&A, text), HEDDLE_BAD_FILE, expected);
        }
        free(text);
    }
    io_tuning = before;
}

TEST(arrays_are_cut_anywhere_too)
{
    struct io_tuning before = io_tuning;
    static const char *const kinds[] = {"general", "symmetric", "skew-symmetric"};
    for (int kind = 0; kind < 3; kind++) {
        char text[4096];
        int count = kind == 0 ? 81 : kind == 1 ? 45 : 36;
        int n = snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real %s\n9 9\n", kinds[kind]);
        for (int k = 0; k < count; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%d\n", k);
        struct csr whole, A;
        io_tuning = before;
        CHECK_OK(read_string(&whole, text));
        for (int64_t chunk = 1; chunk < 40; chunk++) {
            io_tuning.chunk = io_tuning.block = chunk;
            if (CHECK_OK(read_string(&A, text))) {
                CHECK(same_matrix(&whole, &A));
                csr_free(&A);
            }
        }
        csr_free(&whole);
    }
    io_tuning = before;
}

static heddle_status read_and_free(void *path)
{
    struct file_matrix F;
    heddle_status status = file_read(&F, path, 0);
    if (status == HEDDLE_OK)
        file_matrix_free(&F);
    return status;
}

TEST(every_allocation_of_reading_may_fail)
{
    struct io_tuning before = io_tuning;
    io_tuning.threads = 1;
    char path[512];
    snprintf(
        path, sizeof path, "%s",
        test_file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n9 9 3\n1 1 1\n2 1 2\n3 2 3"));
    CHECK(test_every_allocation(read_and_free, path) > 5);
    io_tuning = before;
}

TEST(a_matrix_larger_than_memory_is_refused_before_it_is_built)
{
    struct io_tuning before = io_tuning;
    io_tuning.memory = 1 << 20;
    CHECK_REFUSED(test_file("a.mtx", REAL "2147483647 2147483647 1\n5 5 1\n"), HEDDLE_NO_MEMORY,
                  "more than this machine has");
    io_tuning = before;
}

/* Every matrix of a folder beside its index, for machines that have one. */
TEST(the_matrices_of_a_collection_have_the_sizes_that_its_index_gives)
{
    const char *folder = getenv("HEDDLE_MATRICES");
    char path[1024], row[4096], name[256];
    FILE *index;
    if (!folder)
        SKIP("HEDDLE_MATRICES names no folder of matrices");
    snprintf(path, sizeof path, "%s/INDEX.tsv", folder);
    if (!(index = fopen(path, "r")))
        SKIP("there is no %.200s", path);
    while (fgets(row, sizeof row, index)) {
        long long rows, cols, stored, nnz;
        struct file_matrix F;
        if (sscanf(row, "%255s %lld %lld %lld %lld", name, &rows, &cols, &stored, &nnz) != 5)
            continue;
        snprintf(path, sizeof path, "%s/%s.mtx.xz", folder, name);
        if (CHECK_OK(file_read(&F, path, 0))) {
            CHECK(is_complex(F.csr.value) == (strstr(row, "\tcomplex\t") != NULL));
            CHECK_THAT(F.csr.rows == rows && F.csr.cols == cols && F.csr.nnz == nnz,
                       "%s is %lld x %lld with %lld", name, (long long)F.csr.rows, (long long)F.csr.cols,
                       (long long)F.csr.nnz);
            file_matrix_free(&F);
        }
    }
    fclose(index);
}
