/* SPDX-License-Identifier: MIT
 *
 * Files of complex matrices, and of values of other types than float and double. */
#include <math.h>

#include "io/market.h"
#include "test_io.h"

#define KIND(format, symmetry) "%%MatrixMarket matrix " format " complex " symmetry "\n"

/* The matrix as dense text, row by row, "1+2i 0 3-1i;". */
static const char *dense(const struct csr *A)
{
    static char text[1024];
    int n = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t j = 0; j < A->cols; j++) {
            double _Complex sum = 0;
            for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++)
                if (A->col[k] == j)
                    sum += value_at(A->val, A->value, k);
            n += IM(sum) == 0 ? snprintf(text + n, sizeof text - (size_t)n, "%g ", RE(sum))
                              : snprintf(text + n, sizeof text - (size_t)n, "%g%+gi ", RE(sum), IM(sum));
        }
        text[n - 1] = ';';
    }
    text[n] = 0;
    return text;
}

static void reads(const char *path, heddle_type asked, heddle_type value, const char *expected)
{
    struct file_matrix F;
    if (!CHECK_OK(file_read(&F, path, asked)))
        return;
    CHECK(F.csr.value == value);
    CHECK_THAT(strcmp(dense(&F.csr), expected) == 0, "%s, not %s", dense(&F.csr), expected);
    file_matrix_free(&F);
}

TEST(complex_market_files_are_read)
{
    const char *two =
        test_file("a.mtx", KIND("coordinate", "general") "2 2 3\n1 1 1 2\n2 1 -3e0 .5\n2 2 4 0\n");
    reads(two, 0, HEDDLE_C64, "1+2i 0;-3+0.5i 4;");
    reads(two, HEDDLE_C32, HEDDLE_C32, "1+2i 0;-3+0.5i 4;");
    reads(test_file("a.mtx", KIND("coordinate", "symmetric") "2 2 2\n1 1 1 2\n2 1 3 4\n"), 0, HEDDLE_C64,
          "1+2i 3+4i;3+4i 0;");
    reads(test_file("a.mtx", KIND("coordinate", "skew-symmetric") "2 2 1\n2 1 3 4\n"), 0, HEDDLE_C64,
          "0 -3-4i;3+4i 0;");
    reads(test_file("a.mtx", KIND("coordinate", "hermitian") "2 2 2\n1 1 1 0\n2 1 3 4\n"), 0, HEDDLE_C64,
          "1 3-4i;3+4i 0;");
    reads(test_file("a.mtx", KIND("array", "hermitian") "2 2\n1 0\n3 4\n2 -0\n"), 0, HEDDLE_C64,
          "1 3-4i;3+4i 2;");
    reads(test_file("a.mtx", KIND("array", "general") "1 2\n1 0\n3 4\n"), 0, HEDDLE_C64, "1 3+4i;");
}

TEST(infinite_parts_stay_by_themselves)
{
    struct file_matrix F;
    if (!CHECK_OK(file_read(&F, test_file("a.mtx", KIND("coordinate", "hermitian") "2 2 1\n2 1 1 inf\n"), 0)))
        return;
    const double _Complex low = value_at(F.csr.val, F.csr.value, 1),
                          high = value_at(F.csr.val, F.csr.value, 0);
    CHECK(RE(low) == 1 && IM(low) == INFINITY);
    CHECK(RE(high) == 1 && IM(high) == -INFINITY);
    file_matrix_free(&F);
}

TEST(real_files_are_read_as_any_type)
{
    const char *path = test_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 3 3\n"
                                          "1 1 1.0009765625\n1 2 65520\n1 3 1e-8\n");
    reads(path, HEDDLE_C64, HEDDLE_C64, "1.00098 65520 1e-08;");
    reads(path, HEDDLE_F16, HEDDLE_F16, "1.00098 inf 0;"); /* 65520 is the first that rounds to infinity */
    reads(path, HEDDLE_BF16, HEDDLE_BF16, "1 65536 1.00117e-08;");
    reads(path, F32_F64, F32_F64, "1.00098 65520 1e-08;");
}

TEST(complex_files_are_not_read_as_real)
{
    const char *path = test_file("a.mtx", KIND("coordinate", "general") "1 1 1\n1 1 1 2\n");
    struct file_matrix F;
    CHECK_FAILS(file_read(&F, path, HEDDLE_F64), HEDDLE_NOT_SUPPORTED,
                "complex: read it as c64 or c32, not as f64");
    CHECK_OK(file_read(&F, path, 0));
    const char *hdl = test_path("a.hdl");
    CHECK_OK(file_write(&F.csr, hdl));
    CHECK_FAILS(file_write(&F.csr, test_path("a.petsc")), HEDDLE_NOT_SUPPORTED, "complex");
    file_matrix_free(&F);
    CHECK_FAILS(file_read(&F, hdl, HEDDLE_F32), HEDDLE_NOT_SUPPORTED, "imaginary");
    reads(hdl, 0, HEDDLE_C64, "1+2i;");
    reads(hdl, HEDDLE_C32, HEDDLE_C32, "1+2i;");
}

TEST(diagonals_of_hermitian_files_are_real)
{
    struct file_matrix F;
    CHECK_FAILS(
        file_read(&F, test_file("a.mtx", KIND("coordinate", "hermitian") "2 2 2\n2 1 1 1\n2 2 1 3\n"), 0),
        HEDDLE_BAD_FILE, "a.mtx:4: entry (2, 2) on the diagonal of a hermitian file is not real");
    CHECK_FAILS(file_read(&F, test_file("a.mtx", KIND("array", "hermitian") "1 1\n1 3\n"), 0),
                HEDDLE_BAD_FILE, "a.mtx:3: entry (1, 1)");
    CHECK_FAILS(file_read(&F,
                          test_file("a.rb", "title\n3 1 1 1 0\ncha 1 1 1 0\n(2I3)(1I3)(2E9.2)\n  1  2\n  1\n"
                                            " 1.00E+00 2.00E+00\n"),
                          0),
                HEDDLE_BAD_FILE, "hermitian");
}

TEST(complex_boeing_files_are_read)
{
    const char *head = "title\n4 1 1 2 0\n%s 2 2 2 0\n(3I3)(2I3)(2E9.2)\n  1  3  3\n  1  2\n"
                       " 1.00E+00 0.00E+00\n 3.00E+00 4.00E+00\n";
    static const struct {
        const char *type, *expected;
    } cases[] = {{"cua", "1 0;3+4i 0;"}, {"csa", "1 3+4i;3+4i 0;"}, {"cha", "1 3-4i;3+4i 0;"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, head, cases[i].type);
        reads(test_file("a.rb", text), 0, HEDDLE_C64, cases[i].expected);
    }
}

/* Awkward numbers of each type come back bit by bit, through each kind of file that holds them. */
TEST(what_is_written_is_read_again)
{
    static const heddle_type types[] = {HEDDLE_C32, HEDDLE_C64, HEDDLE_F16, HEDDLE_BF16, F32_F64};
    static const double part[] = {0.1, -0.0, 1e300, 1e-45, INFINITY, -3, 65504, 6e-8};
    static const char *const endings[] = {"a.mtx", "a.mtx.gz", "a.rb", "a.hdl"};
    enum { N = 8 };
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        struct csr A;
        struct file_matrix F;
        CHECK_OK(csr_new(&A, N, N, N, types[t], HEDDLE_I32));
        for (int i = 0; i < N; i++) {
            ((int32_t *)A.row_ptr)[i] = A.col[i] = i;
            value_put(A.val, types[t], i, complex_of(part[i], part[N - 1 - i]));
        }
        ((int32_t *)A.row_ptr)[N] = N;
        for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
            const char *path = test_path(endings[e]);
            CHECK_OK(file_write(&A, path));
            if (!CHECK_OK(file_read(&F, path, types[t])))
                continue;
            CHECK_THAT(F.csr.value == types[t] && memcmp(F.csr.val, A.val, N * type_size(types[t])) == 0,
                       "%s as %s", value_name(types[t]), endings[e]);
            file_matrix_free(&F);
        }
        csr_free(&A);
    }
}

TEST(complex_vectors_are_read_and_written)
{
    static const c64 x[3] = {1, -0.5, 0};
    c64 z[3];
    memcpy(z, x, sizeof z);
    IM(z[0]) = 0.1, IM(z[2]) = INFINITY;
    static const char *const endings[] = {"v.mtx", "v.txt", "v.txt.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        void *back;
        int64_t n;
        CHECK_OK(vector_write(z, 3, HEDDLE_C64, test_path(endings[i])));
        if (CHECK_OK(vector_read(&back, &n, HEDDLE_C64, test_path(endings[i]))))
            CHECK_THAT(n == 3 && memcmp(back, z, sizeof z) == 0, "%s", endings[i]);
        mem_free(back);
    }
    void *none;
    int64_t n;
    CHECK_FAILS(vector_read(&none, &n, HEDDLE_C32, test_file("v.txt", "1 2\n3\n")), HEDDLE_BAD_FILE,
                "v.txt:2: the line ends");
    CHECK_FAILS(vector_read(&none, &n, HEDDLE_F64, test_path("v.mtx")), HEDDLE_NOT_SUPPORTED, "complex");
}
