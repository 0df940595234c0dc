/* SPDX-License-Identifier: MIT
 *
 * The contract of the public header (design, "awkward input"), through nothing but the public header. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "small.h"

TEST(all_three_formats_give_the_same_product)
{
    heddle *h = open_cpu("auto");
    EACH_FORMAT(f)
    {
        heddle_matrix *A = make(h, f);
        check_product(h, A);
        CHECK(strlen(heddle_last_kernel(h)) > 3);
        CHECK_OK(heddle_check(h, A));
        heddle_matrix_free(A);
    }
    CHECK_OK(heddle_sync(h));
    heddle_close(h);
}

/* Everything that a matrix goes through, on a device where its arrays are copied and vectors of the host
 * are staged. */
static void check_on_gpu(const char *device)
{
    heddle *h = open_cpu(device);
    EACH_FORMAT(f)
    {
        heddle *other = open_cpu(device);
        heddle_matrix *A = make(h, f), *B = NULL;
        heddle_matrix_desc d;
        heddle_stats stats;
        heddle_plan *p = NULL;
        double y[4] = {1, 1, 1, 1}, two = 2;
        check_product(h, A);
        CHECK_OK(heddle_mv(h, HEDDLE_N, &two, A, x_n, &two, y));
        CHECK(y[0] == 16 && y[1] == 2 && y[2] == 64 && y[3] == 1);
        CHECK_OK(heddle_check(h, A));
        CHECK_OK(heddle_matrix_info(A, &d));
        CHECK(d.copied && d.format == f && d.rows == 3);
        CHECK_OK(heddle_statistics(h, A, &stats));
        CHECK(stats.row.longest == 3 && stats.col.longest == 2);
        CHECK_OK(heddle_convert(&B, h, A, HEDDLE_CSC));
        check_product(h, B);
        heddle_matrix_free(B);
        CHECK_OK(heddle_write(h, A, test_path("gpu.hdl")));
        CHECK_OK(heddle_read(&B, h, test_path("gpu.hdl"), NULL));
        check_product(h, B);
        CHECK_OK(heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T}));
        CHECK_OK(heddle_plan_mv(p, HEDDLE_T, NULL, x_t, NULL, y));
        CHECK(y[0] == 13 && y[1] == 16 && y[2] == 2 && y[3] == 20);
        CHECK_FAILS(heddle_mv(other, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_NO_WORKSPACE, "heddle_reserve");
        CHECK_OK(heddle_reserve(other, A));
        check_product(other, A);
        heddle_plan_free(p);
        heddle_matrix_free(B);
        heddle_matrix_free(A);
        heddle_close(other);
    }
    heddle_csr_desc bad = csr_desc();
    int32_t bad_col[] = {0, 2, 4, 0, 1};
    heddle_matrix *A;
    bad.col = bad_col;
    CHECK_OK(heddle_csr(&A, h, &bad));
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, "entry 2, in row 2, has column 4, outside 0..3");
    CHECK_OK(heddle_set_stream(h, NULL));
    CHECK_OK(heddle_sync(h));
    heddle_close(h);
    heddle_matrix_free(A); /* outlives its handle */
}

TEST(a_pointer_to_nowhere_is_refused_by_a_gpu)
{
    heddle *h = open_cpu("emu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    double y[4] = {0};
    void *nowhere = (void *)(uintptr_t)64;
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, nowhere, NULL, y), HEDDLE_BAD_ARGUMENT,
                "x (0x40, 32 bytes) is");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, nowhere), HEDDLE_BAD_ARGUMENT,
                "y (0x40, 24 bytes) is");
    CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y));
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(the_emulator_takes_matrices_and_vectors_of_the_host)
{
    check_on_gpu("emu:wave=32");
    check_on_gpu("emu:wave=64,seed=9");
    heddle *cpu = open_cpu("cpu"), *emu = open_cpu("emu");
    heddle_matrix *A = make(cpu, HEDDLE_CSR);
    double y[3];
    CHECK_FAILS(heddle_mv(emu, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_BAD_ARGUMENT, "another device");
    CHECK_FAILS(heddle_set_stream(cpu, NULL), HEDDLE_BAD_ARGUMENT, "no stream");
    heddle_matrix_free(A);
    heddle_close(cpu);
    heddle_close(emu);
}

TEST(each_format_converts_into_each_other)
{
    heddle *h = open_cpu("cpu");
    EACH_FORMAT(f)
    EACH_FORMAT(g)
    {
        heddle_matrix *A = make(h, f), *B;
        heddle_matrix_desc d;
        CHECK_OK(heddle_convert(&B, h, A, g));
        heddle_matrix_free(A);
        CHECK_OK(heddle_matrix_info(B, &d));
        CHECK(d.format == g && d.rows == 3 && d.cols == 4 && d.nnz == 5 && d.copied &&
              d.types.value == HEDDLE_F64);
        check_product(h, B);
        heddle_matrix_free(B);
    }
    heddle_matrix *A = make(h, HEDDLE_CSR), *B;
    CHECK_FAILS(heddle_convert(&B, h, A, (heddle_format)7), HEDDLE_BAD_ARGUMENT, "7 is not a format");
    CHECK(B == NULL);
    CHECK_STATUS(heddle_convert(NULL, h, A, HEDDLE_CSR), HEDDLE_BAD_ARGUMENT);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(base_one_and_wide_indices_are_copied_and_the_handle_says_so)
{
    heddle *h = open_cpu("cpu:threads=3");
    heddle_matrix *A;
    heddle_matrix_desc d;
    int64_t ptr1[] = {1, 3, 3, 6}, col1[] = {1, 3, 4, 1, 2}, row0[] = {0, 0, 2, 2, 2},
            col0[] = {0, 2, 3, 0, 1};
    heddle_csr_desc csr = {.rows = 3,
                           .cols = 4,
                           .nnz = 5,
                           .row_ptr = ptr1,
                           .col = col1,
                           .val = val,
                           .base = 1,
                           .types = {HEDDLE_F64, HEDDLE_I64, HEDDLE_I64}};
    CHECK_OK(heddle_csr(&A, h, &csr));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.copied && d.types.offset == HEDDLE_I64 && d.types.index == HEDDLE_I32 && d.ptr != ptr1);
    CHECK(((const int64_t *)d.ptr)[0] == 0 && d.index[0] == 0);
    check_product(h, A);
    heddle_matrix_free(A);
    heddle_coo_desc coo = {
        .rows = 3, .cols = 4, .nnz = 5, .row = row0, .col = col0, .val = val, .types = {.index = HEDDLE_I64}};
    CHECK_OK(heddle_coo(&A, h, &coo));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.copied && !d.sorted_now && d.format == HEDDLE_COO && d.ptr == NULL);
    check_product(h, A);
    heddle_matrix_free(A);
    col0[3] = INT64_C(1) << 40;
    CHECK_FAILS(heddle_coo(&A, h, &coo), HEDDLE_BAD_MATRIX, "entry 3 has an index that does not fit 32 bits");
    CHECK(A == NULL);
    heddle_close(h);
}

TEST(borrowed_arrays_are_borrowed_and_unsorted_coordinates_are_sorted)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix_desc d;
    heddle_matrix *A = make(h, HEDDLE_CSR);
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(!d.copied && d.ptr == row_ptr && d.index == col && d.val == val && d.bytes == 16 + 60);
    heddle_matrix_free(A);
    A = make(h, HEDDLE_CSC);
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(!d.copied && d.ptr == col_ptr && d.index == csc_row && d.rows == 3 && d.cols == 4);
    heddle_matrix_free(A);
    A = make(h, HEDDLE_COO);
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.copied && d.sorted_now && d.row[0] == 0 && d.row[4] == 2);
    CHECK(coo_row[0] == 2); /* the caller's own arrays are left alone */
    heddle_matrix_free(A);
    heddle_csr_desc csr = csr_desc();
    csr.copy = 1;
    CHECK_OK(heddle_csr(&A, h, &csr));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.copied && d.ptr != row_ptr);
    check_product(h, A);
    heddle_matrix_free(A);
    CHECK_STATUS(heddle_matrix_info(NULL, &d), HEDDLE_BAD_ARGUMENT);
    heddle_close(h);
}

TEST(beta_zero_overwrites_nan_and_alpha_zero_reads_neither_matrix_nor_x)
{
    heddle *h = open_cpu("cpu");
    double zero = 0, two = 2, one = 1;
    EACH_FORMAT(f)
    {
        heddle_matrix *A = make(h, f);
        double y[4] = {NAN, INFINITY, NAN, NAN}, bad[4] = {NAN, NAN, NAN, INFINITY};
        CHECK_OK(heddle_mv(h, HEDDLE_N, &one, A, x_n, &zero, y));
        CHECK(y[0] == 7 && y[1] == 0 && y[2] == 31);
        CHECK_OK(heddle_mv(h, HEDDLE_N, &zero, A, bad, &two, y));
        CHECK(y[0] == 14 && y[1] == 0 && y[2] == 62);
        CHECK_OK(heddle_mv(h, HEDDLE_N, &two, A, x_n, &two, y));
        CHECK(y[0] == 42 && y[1] == 0 && y[2] == 186);
        y[0] = NAN;
        CHECK_OK(heddle_mv(h, HEDDLE_T, &zero, A, bad, &zero, y));
        CHECK(y[0] == 0 && y[1] == 0 && y[2] == 0 && y[3] == 0);
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

TEST(nan_and_infinity_stay_in_the_rows_that_touch_them)
{
    heddle *h = open_cpu("cpu");
    EACH_FORMAT(f)
    {
        heddle_matrix *A = make(h, f);
        double y[4], x[4] = {1, NAN, 1, 1}, xt[3] = {1, INFINITY, 1};
        CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y));
        CHECK(y[0] == 3 && y[1] == 0 && isnan(y[2]));
        /* row 1 is empty: its infinity touches nothing */
        CHECK_OK(heddle_mv(h, HEDDLE_T, NULL, A, xt, NULL, y));
        CHECK(y[0] == 4 && y[1] == 4 && y[2] == 2 && y[3] == 5);
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

TEST(matrices_without_rows_columns_or_entries_are_valid_with_null_arrays)
{
    heddle *h = open_cpu("cpu");
    static const int64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {5, 5}};
    int32_t zeros[6] = {0};
    double two = 2;
    for (int i = 0; i < 4; i++) {
        int64_t m = sizes[i][0], n = sizes[i][1];
        heddle_matrix *A;
        heddle_csr_desc d = {.rows = m, .cols = n, .row_ptr = m ? zeros : NULL};
        heddle_coo_desc c = {.rows = m, .cols = n};
        for (int coo = 0; coo <= 1; coo++) {
            double y[5] = {1, 1, 1, 1, 1}, x[5] = {1, 1, 1, 1, 1};
            CHECK_OK(coo ? heddle_coo(&A, h, &c) : heddle_csr(&A, h, &d));
            CHECK_OK(heddle_check(h, A));
            CHECK_OK(heddle_mv(h, HEDDLE_N, &two, A, n ? x : NULL, &two, m ? y : NULL));
            for (int k = 0; k < 5; k++)
                CHECK(y[k] == (k < m ? 2 : 1));
            CHECK_OK(heddle_mv(h, HEDDLE_T, NULL, A, m ? x : NULL, NULL, n ? y : NULL));
            for (int k = 0; k < n; k++)
                CHECK(y[k] == 0);
            heddle_plan *p;
            CHECK_OK(
                heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T}));
            CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, n ? x : NULL, NULL, m ? y : NULL));
            heddle_plan_free(p);
            heddle_stats stats;
            CHECK_OK(heddle_statistics(h, A, &stats));
            CHECK(stats.nnz == 0 && stats.row.empty == m);
            heddle_matrix_free(A);
        }
    }
    heddle_close(h);
}

TEST(arguments_that_make_no_sense_are_refused_and_y_stays)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    double buffer[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[3] = {1, 2, 3};
    CHECK_FAILS(heddle_mv(NULL, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_BAD_ARGUMENT, "handle is NULL");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, NULL, x_n, NULL, y), HEDDLE_BAD_ARGUMENT, "matrix is NULL");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, NULL, NULL, y), HEDDLE_BAD_ARGUMENT,
                "x is NULL, but has 4 entries");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, NULL), HEDDLE_BAD_ARGUMENT,
                "y is NULL, but has 3 entries");
    CHECK_FAILS(heddle_mv(h, (heddle_op)5, NULL, A, x_n, NULL, y), HEDDLE_BAD_ARGUMENT,
                "5 is not an operation");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, buffer, NULL, buffer + 3), HEDDLE_BAD_ARGUMENT, "overlap");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, buffer + 2, NULL, buffer), HEDDLE_BAD_ARGUMENT, "overlap");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, (char *)buffer + 4, NULL, y), HEDDLE_BAD_ARGUMENT,
                "x is not aligned");
    CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, buffer + 3, NULL, buffer)); /* neighbours do not overlap */
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 3);
    CHECK_STATUS(heddle_sync(NULL), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_set_debug(NULL, 1), HEDDLE_BAD_ARGUMENT);
    CHECK(strcmp(heddle_last_kernel(NULL), "") == 0);
    CHECK_STATUS(heddle_reserve(h, NULL), HEDDLE_BAD_ARGUMENT);
    heddle_matrix_free(A);
    heddle_close(h);
    heddle_close(NULL);
    heddle_matrix_free(NULL);
    heddle_plan_free(NULL);
    heddle_free(NULL);
}

TEST(descriptions_that_make_no_sense_are_refused_with_the_reason)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A;
    heddle_csr_desc d;
#define BREAK(member, value, words)                                                                          \
    d = csr_desc();                                                                                          \
    d.member = value;                                                                                        \
    A = (heddle_matrix *)h;                                                                                  \
    CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT, words);                                          \
    CHECK(A == NULL)
    BREAK(rows, -1, "negative");
    BREAK(cols, INT64_C(1) << 31, "below 2^31");
    BREAK(nnz, -1, "negative");
    BREAK(nnz, 4, "row_ptr[3] is 5, but nnz is 4");
    BREAK(row_ptr, NULL, "row_ptr is NULL");
    BREAK(col, NULL, "col is NULL");
    BREAK(val, NULL, "val is NULL");
    BREAK(base, 2, "base is 2");
    BREAK(base, 1, "base 1");
    BREAK(where, HEDDLE_ON_DEVICE, "lie on the host");
    BREAK(types.value, HEDDLE_I32, "types.value");
    BREAK(types.offset, HEDDLE_F64, "types.offset");
    BREAK(types.index, (heddle_type)99, "types.index");
    BREAK(cols, 0, "without rows or columns");
#undef BREAK
    heddle_coo_desc c = coo_desc();
    c.row = NULL;
    CHECK_FAILS(heddle_coo(&A, h, &c), HEDDLE_BAD_ARGUMENT, "row is NULL");
    heddle_csc_desc s = csc_desc();
    s.nnz = 6;
    CHECK_FAILS(heddle_csc(&A, h, &s), HEDDLE_BAD_ARGUMENT, "col_ptr[4] is 5, but nnz is 6");
    CHECK_FAILS(heddle_csr(&A, h, NULL), HEDDLE_BAD_ARGUMENT, "desc is NULL");
    CHECK_FAILS(heddle_csc(&A, h, NULL), HEDDLE_BAD_ARGUMENT, "desc is NULL");
    CHECK_FAILS(heddle_coo(&A, h, NULL), HEDDLE_BAD_ARGUMENT, "desc is NULL");
    d = csr_desc();
    CHECK_FAILS(heddle_csr(NULL, h, &d), HEDDLE_BAD_ARGUMENT, "pointer is NULL");
    CHECK_FAILS(heddle_csr(&A, NULL, &d), HEDDLE_BAD_ARGUMENT, "handle is NULL");
    heddle_close(h);
}

TEST(bad_indices_are_found_by_check_by_the_debug_switch_and_by_plans)
{
    heddle *h = open_cpu("cpu");
    int32_t bad_col[] = {0, 2, 4, 0, 1};
    double y[4] = {1, 1, 1, 1};
    heddle_matrix *A;
    heddle_plan *p;
    heddle_csr_desc d = csr_desc();
    d.col = bad_col;
    CHECK_OK(heddle_csr(&A, h, &d));
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, "entry 2, in row 2, has column 4, outside 0..3");
    CHECK_OK(heddle_set_debug(h, 1));
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_BAD_MATRIX, "column 4");
    CHECK(y[0] == 1);
    CHECK_FAILS(heddle_plan_create(&p, h, A, NULL), HEDDLE_BAD_MATRIX, "column 4");
    CHECK(p == NULL);
    heddle_stats stats;
    CHECK_FAILS(heddle_statistics(h, A, &stats), HEDDLE_BAD_MATRIX, "column 4");
    heddle_matrix_free(A);
    heddle_csc_desc s = csc_desc();
    int32_t bad_row[] = {0, 2, 3, 0, 2};
    s.row = bad_row;
    CHECK_OK(heddle_csc(&A, h, &s));
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, "CSC");
    heddle_matrix_free(A);
    heddle_coo_desc c = coo_desc();
    int32_t negative[] = {2, 0, -2, 0, 2};
    c.row = negative;
    CHECK_FAILS(heddle_coo(&A, h, &c), HEDDLE_BAD_MATRIX, "entry 2 has row -2");
    heddle_close(h);
}

TEST(the_environment_can_switch_debugging_on)
{
    setenv("HEDDLE_DEBUG", "1", 1);
    heddle *h = open_cpu("cpu");
    unsetenv("HEDDLE_DEBUG");
    int32_t bad_col[] = {0, 2, 4, 0, 1};
    heddle_csr_desc d = csr_desc();
    heddle_matrix *A;
    double y[3];
    d.col = bad_col;
    CHECK_OK(heddle_csr(&A, h, &d));
    CHECK_STATUS(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_BAD_MATRIX);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(devices_are_listed_and_unknown_ones_refused)
{
    heddle *h;
    heddle_device_desc d;
    CHECK(heddle_device_count() >= 1);
    int cpus = 0;
    for (int i = 0; i < heddle_device_count(); i++) {
        CHECK_OK(heddle_device_info(i, &d));
        CHECK(d.name[0] && d.units >= 1 && d.memory > 0 && d.description[0] && d.arch[0]);
        cpus += strcmp(d.name, "cpu") == 0;
    }
    CHECK(cpus == 1);
    CHECK_STATUS(heddle_device_info(99, &d), HEDDLE_NO_DEVICE);
    CHECK_STATUS(heddle_device_info(0, NULL), HEDDLE_BAD_ARGUMENT);
    CHECK_FAILS(heddle_open(&h, "quantum:0"), HEDDLE_NO_DEVICE, "this machine has: ");
    CHECK_FAILS(heddle_open(&h, "cpux"), HEDDLE_NO_DEVICE, "cpux");
    CHECK_FAILS(heddle_open(&h, "cpu:threads=0"), HEDDLE_BAD_ARGUMENT, "outside 1..4096");
    CHECK_FAILS(heddle_open(&h, "cpu:speed=9"), HEDDLE_BAD_ARGUMENT, "cpu has no 'speed'");
    CHECK_FAILS(heddle_open(&h, "cpu:isa=mmx"), HEDDLE_BAD_ARGUMENT, "isa=mmx");
    CHECK(h == NULL);
    CHECK_STATUS(heddle_open(NULL, "cpu"), HEDDLE_BAD_ARGUMENT);
    CHECK_OK(heddle_open(&h, "cpu:threads=2,isa=generic"));
    heddle_close(h);
    CHECK_OK(heddle_open(&h, NULL));
    heddle_close(h);
}

TEST(another_handle_needs_a_reservation_and_then_works)
{
    heddle *h = open_cpu("cpu:threads=1"), *other = open_cpu("cpu:threads=4");
    heddle_matrix *A;
    CHECK_OK(heddle_generate(&A, h, "grid2d:n=30", HEDDLE_F64));
    double *x = calloc(900, sizeof *x), *y = calloc(900, sizeof *y);
    heddle_status status = heddle_mv(other, HEDDLE_T, NULL, A, x, NULL, y);
    CHECK(status == HEDDLE_OK || status == HEDDLE_NO_WORKSPACE);
    CHECK_OK(heddle_reserve(other, A));
    CHECK_OK(heddle_mv(other, HEDDLE_T, NULL, A, x, NULL, y));
    CHECK_OK(heddle_mv(other, HEDDLE_N, NULL, A, x, NULL, y));
    free(x);
    free(y);
    heddle_matrix_free(A);
    heddle_close(h);
    heddle_close(other);
}

TEST(a_product_never_allocates)
{
    heddle *h = open_cpu("cpu:threads=3");
    heddle_matrix *A;
    CHECK_OK(heddle_generate(&A, h, "random:n=5000", HEDDLE_F32));
    float *x = calloc(5000, sizeof *x), *y = calloc(5000, sizeof *y);
    mem_fail_after(0); /* the next allocation would fail */
    CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y));
    CHECK_OK(heddle_mv(h, HEDDLE_T, NULL, A, x, NULL, y));
    mem_fail_after(-1);
    heddle_plan *p;
    CHECK_OK(heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = 3}));
    mem_fail_after(0);
    CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, x, NULL, y));
    CHECK_OK(heddle_plan_mv(p, HEDDLE_T, NULL, x, NULL, y));
    mem_fail_after(-1);
    heddle_plan_free(p);
    heddle_matrix_free(A);
    heddle_close(h);
    free(x);
    free(y);
}
