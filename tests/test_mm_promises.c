/* SPDX-License-Identifier: MIT
 *
 * Several vectors at once: what heddle_mm promises beside the numbers (those are test_mm.c's). */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "small.h"

TEST(one_vector_is_heddle_mv_to_the_last_bit)
{
    static const char *const devices[] = {"cpu:threads=3", "emu"};
    for (int i = 0; i < 2; i++) {
        heddle *h = open_cpu(devices[i]);
        heddle_matrix *A;
        double x[1000], x3[3000], want[1000], y[1000], y2[2000];
        CHECK_OK(heddle_generate(&A, h, "random:rows=1000,cols=1000,mean=9", HEDDLE_F64));
        for (int j = 0; j < 1000; j++)
            x[j] = x3[3 * j] = 1 / (3. + j);
        CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, want));
        CHECK_OK(heddle_mm(h, HEDDLE_N, NULL, A, 1, HEDDLE_COLUMN_MAJOR, x, 0, NULL, y, 0));
        CHECK(memcmp(y, want, sizeof y) == 0);
        CHECK_OK(heddle_mm(h, HEDDLE_N, NULL, A, 1, HEDDLE_ROW_MAJOR, x3, 3, NULL, y2, 2));
        for (int j = 0; j < 1000; j++)
            y[j] = y2[2 * j];
        CHECK(memcmp(y, want, sizeof y) == 0);
        heddle_matrix_free(A);
        heddle_close(h);
    }
}

/* The 3 x 4 matrix with two vectors, the second of which is the first times ten. */
static const double X_n[] = {1, 10, 2, 20, 3, 30, 4, 40};

static int small_is_right(const double *Y)
{
    return Y[0] == 7 && Y[1] == 70 && Y[2] == 0 && Y[3] == 0 && Y[4] == 31 && Y[5] == 310;
}

TEST(every_format_takes_several_vectors)
{
    static const char *const devices[] = {"cpu", "emu:wave=32", "emu:wave=64"};
    for (int i = 0; i < 3; i++)
        EACH_FORMAT(f)
        {
            heddle *h = open_cpu(devices[i]);
            heddle_matrix *A = make(h, f);
            double Y[6] = {0}, Z[8] = {0};
            const double X_t[] = {1, -1, 9, -9, 4, -4};
            CHECK_OK(heddle_mm(h, HEDDLE_N, NULL, A, 2, HEDDLE_ROW_MAJOR, X_n, 2, NULL, Y, 2));
            CHECK(small_is_right(Y));
            for (heddle_op op = HEDDLE_T; op <= HEDDLE_H; op = (heddle_op)(op + 1)) {
                CHECK_OK(heddle_mm(h, op, NULL, A, 2, HEDDLE_ROW_MAJOR, X_t, 2, NULL, Z, 2));
                CHECK(Z[0] == 13 && Z[1] == -13 && Z[2] == 16 && Z[4] == 2 && Z[7] == -20);
            }
            CHECK(strlen(heddle_last_kernel(h)) > 3);
            heddle_matrix_free(A);
            heddle_close(h);
        }
}

TEST(wrong_arguments_are_named)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    double Y[32] = {0};
    void *odd = (char *)Y + 1;
#define MM(vectors, layout, X, ldx, Y, ldy)                                                                  \
    heddle_mm(h, HEDDLE_N, NULL, A, vectors, layout, X, ldx, NULL, Y, ldy)
    CHECK_FAILS(MM(-1, HEDDLE_ROW_MAJOR, X_n, 2, Y, 2), HEDDLE_BAD_ARGUMENT, "number of vectors is -1");
    CHECK_FAILS(MM(2, (heddle_layout)7, X_n, 2, Y, 2), HEDDLE_BAD_ARGUMENT, "7 is not a layout");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, X_n, 1, Y, 2), HEDDLE_BAD_ARGUMENT,
                "ldx is 1, but a row of X has 2 numbers");
    CHECK_FAILS(MM(2, HEDDLE_COLUMN_MAJOR, X_n, 4, Y, 2), HEDDLE_BAD_ARGUMENT,
                "ldy is 2, but a column of Y has 3 numbers");
    CHECK_FAILS(MM(2, HEDDLE_COLUMN_MAJOR, X_n, -4, Y, 3), HEDDLE_BAD_ARGUMENT, "ldx is -4");
    CHECK_FAILS(MM(2, HEDDLE_COLUMN_MAJOR, X_n, INT64_MAX, Y, 3), HEDDLE_BAD_ARGUMENT, "beyond any memory");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, NULL, 2, Y, 2), HEDDLE_BAD_ARGUMENT, "X is NULL, but has 8 numbers");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, X_n, 2, NULL, 2), HEDDLE_BAD_ARGUMENT,
                "Y is NULL, but has 6 numbers");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, X_n, 2, odd, 2), HEDDLE_BAD_ARGUMENT, "Y is not aligned");
    CHECK_FAILS(heddle_mm(h, (heddle_op)9, NULL, A, 2, HEDDLE_ROW_MAJOR, X_n, 2, NULL, Y, 2),
                HEDDLE_BAD_ARGUMENT, "9 is not an operation");
    CHECK_FAILS(heddle_mm(h, HEDDLE_N, NULL, NULL, 2, HEDDLE_ROW_MAJOR, X_n, 2, NULL, Y, 2),
                HEDDLE_BAD_ARGUMENT, "NULL");
    CHECK_FAILS(heddle_reserve_mm(h, A, -2), HEDDLE_BAD_ARGUMENT, "-2");
    CHECK_FAILS(heddle_plan_mm(NULL, HEDDLE_N, NULL, 2, HEDDLE_ROW_MAJOR, X_n, 2, NULL, Y, 2),
                HEDDLE_BAD_ARGUMENT, "the plan is NULL");
    CHECK_OK(MM(0, HEDDLE_ROW_MAJOR, NULL, 0, NULL, 0));
    for (int i = 0; i < 32; i++)
        CHECK(Y[i] == 0);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(x_and_y_may_be_columns_of_one_array_but_not_overlap)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    double both[4 * 5] = {0}, Y[6];
    for (int i = 0; i < 8; i++)
        both[i / 2 * 5 + i % 2] = X_n[i];
    CHECK_OK(MM(2, HEDDLE_ROW_MAJOR, both, 5, both + 2, 5));
    for (int i = 0; i < 6; i++)
        Y[i] = both[i / 2 * 5 + 2 + i % 2];
    CHECK(small_is_right(Y));
    CHECK_OK(MM(2, HEDDLE_ROW_MAJOR, both, 5, both + 3, 5)); /* up to the end of a row */
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, both, 5, both + 1, 5), HEDDLE_BAD_ARGUMENT, "overlap");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, both, 5, both + 4, 5), HEDDLE_BAD_ARGUMENT, "overlap");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, both, 5, both + 2, 4), HEDDLE_BAD_ARGUMENT, "overlap");
    CHECK_FAILS(MM(2, HEDDLE_ROW_MAJOR, both + 3, 5, both + 2, 5), HEDDLE_BAD_ARGUMENT, "overlap");
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(alpha_zero_reads_nothing_and_nan_stays_in_its_vector_and_row)
{
    static const char *const devices[] = {"cpu", "emu:wave=32", "emu:wave=64"};
    for (int d = 0; d < 3; d++)
        for (int layout = 0; layout < 2; layout++) {
            heddle *h = open_cpu(devices[d]);
            heddle_matrix *A = make(h, HEDDLE_CSR);
            const int64_t k = 5, j_step = layout ? k : 1, v_step = layout ? 1 : 4;
            double X[20], Y[15], zero = 0, two = 2;
            for (int i = 0; i < 20; i++)
                X[i] = 1;
            for (int i = 0; i < 15; i++)
                Y[i] = 1;
            X[1 * j_step + 3 * v_step] = NAN; /* column 1 is in row 2 alone */
            CHECK_OK(heddle_mm(h, HEDDLE_N, &zero, A, k, (heddle_layout)layout, X, 0, &two, Y, 0));
            for (int i = 0; i < 15; i++)
                CHECK(Y[i] == 2);
            CHECK_OK(heddle_mm(h, HEDDLE_N, NULL, A, k, (heddle_layout)layout, X, 0, NULL, Y, 0));
            CHECK(strstr(heddle_last_kernel(h), "csr_mm")); /* all at once */
            for (int v = 0; v < k; v++)
                for (int i = 0; i < 3; i++) {
                    const double got = Y[layout ? i * k + v : i + 3 * v], want[] = {3, 0, 12};
                    CHECK_THAT(i == 2 && v == 3 ? isnan(got) : got == want[i], "%d %d: %g", i, v, got);
                }
            heddle_matrix_free(A);
            heddle_close(h);
        }
}

/* Lanes that have no vector of a row are there as well, and must not add what they make of nothing. */
TEST(an_infinite_entry_stays_in_its_row)
{
    static const char *const devices[] = {"cpu", "emu:wave=32", "emu:wave=64"};
    const int32_t offset[] = {0, 2}, column[] = {0, 1};
    const double value[] = {INFINITY, 1};
    double X[33], Y[66];
    for (int i = 0; i < 33; i++)
        X[i] = 2;
    for (int d = 0; d < 3; d++) {
        heddle *h = open_cpu(devices[d]);
        heddle_matrix *A;
        CHECK_OK(heddle_csr(&A, h,
                            &(heddle_csr_desc){.rows = 1,
                                               .cols = 2,
                                               .nnz = 2,
                                               .row_ptr = offset,
                                               .col = column,
                                               .val = value,
                                               .types = {.value = HEDDLE_F64}}));
        for (int k = 1; k <= 33; k++) {
            CHECK_OK(heddle_mm(h, HEDDLE_T, NULL, A, k, HEDDLE_ROW_MAJOR, X, 0, NULL, Y, 0));
            for (int v = 0; v < k; v++)
                CHECK_THAT(Y[v] == INFINITY && Y[k + v] == 2, "%s, %d vectors: %g, %g", devices[d], k, Y[v],
                           Y[k + v]);
        }
        heddle_matrix_free(A);
        heddle_close(h);
    }
}
