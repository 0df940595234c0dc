/* SPDX-License-Identifier: MIT
 *
 * The contract of the public header, what comes after the first product: new values, plans, files,
 * statistics, failures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "small.h"

/* ---- new values under the same pattern ---- */

/* An uneven matrix of 60 x 50 as arrays of the host; values are small integers, so that every order of
 * addition is exact. */
struct pattern {
    int32_t row_ptr[61], row[400], col[400];
    double f64[2][400]; /* the values of before, and the new ones */
    float f32[2][400];
    int32_t nnz;
};

static void pattern_make(struct pattern *q)
{
    q->nnz = 0;
    for (int32_t i = 0; i < 60; i++) {
        q->row_ptr[i] = q->nnz;
        for (int32_t j = 0; j < (i == 7 ? 45 : i % 9 == 0 ? 0 : 3 + i % 4); j++, q->nnz++) {
            q->row[q->nnz] = i;
            q->col[q->nnz] = (i + j * (i == 7 ? 1 : 7)) % 50;
            for (int k = 0; k < 2; k++)
                q->f32[k][q->nnz] = (float)(q->f64[k][q->nnz] = (k ? 5 - q->nnz % 13 : 1 + q->nnz % 11));
        }
    }
    q->row_ptr[60] = q->nnz;
}

/* The pattern with one set of values; as CSC it is the transpose that the same arrays describe. */
static heddle_matrix *pattern_matrix(heddle *h, const struct pattern *q, heddle_format format,
                                     heddle_type type, const void *v)
{
    heddle_matrix *A = NULL;
    heddle_csr_desc csr = {.rows = 60,
                           .cols = 50,
                           .nnz = q->nnz,
                           .row_ptr = q->row_ptr,
                           .col = q->col,
                           .val = v,
                           .types.value = type};
    heddle_csc_desc csc = {.rows = 50,
                           .cols = 60,
                           .nnz = q->nnz,
                           .col_ptr = q->row_ptr,
                           .row = q->col,
                           .val = v,
                           .types.value = type};
    heddle_coo_desc coo = {
        .rows = 60, .cols = 50, .nnz = q->nnz, .row = q->row, .col = q->col, .val = v, .types.value = type};
    CHECK_OK(format == HEDDLE_CSR   ? heddle_csr(&A, h, &csr)
             : format == HEDDLE_CSC ? heddle_csc(&A, h, &csc)
                                    : heddle_coo(&A, h, &coo));
    return A;
}

static const void *pattern_values(const struct pattern *q, heddle_type type, int set)
{
    return type == HEDDLE_F64 ? (const void *)q->f64[set] : q->f32[set];
}

/* Products of the plan and, with the values of `set`, of a new matrix. */
static int same_products(heddle *h, heddle_plan *p, const struct pattern *q, heddle_format format,
                         heddle_type type, int set, heddle_op op)
{
    double x64[60], y64[2][60] = {{0}};
    float x32[60], y32[2][60] = {{0}};
    heddle_matrix *A = pattern_matrix(h, q, format, type, pattern_values(q, type, set));
    for (int i = 0; i < 60; i++)
        x32[i] = (float)(x64[i] = 1 + i % 5);
    const void *x = type == HEDDLE_F64 ? (const void *)x64 : x32;
    CHECK_OK(heddle_plan_mv(p, op, NULL, x, NULL, type == HEDDLE_F64 ? (void *)y64[0] : y32[0]));
    CHECK_OK(heddle_mv(h, op, NULL, A, x, NULL, type == HEDDLE_F64 ? (void *)y64[1] : y32[1]));
    heddle_matrix_free(A);
    return memcmp(y64[0], y64[1], sizeof y64[0]) == 0 && memcmp(y32[0], y32[1], sizeof y32[0]) == 0;
}

/* One kernel with the old values, the new, and the old again. */
static void update_kernel(heddle *h, const struct pattern *q, const char *kernel, heddle_format format,
                          heddle_type type)
{
    heddle_matrix *A = pattern_matrix(h, q, format, type, pattern_values(q, type, 0));
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op = (heddle_op)(op + 1)) {
        heddle_plan *p;
        heddle_plan_desc before, after;
        heddle_status status = heddle_plan_create(
            &p, h, A,
            &(heddle_plan_options){.ops = op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T, .kernel = kernel});
        if (status == HEDDLE_NO_KERNEL)
            continue;
        CHECK_OK(status);
        CHECK_OK(heddle_plan_info(p, op, &before));
        for (int set = 1; set >= 0; set--) {
            CHECK_OK(heddle_plan_update_values(p, pattern_values(q, type, set)));
            int64_t live = mem_live();
            CHECK_OK(heddle_plan_update_values(p, pattern_values(q, type, set)));
            CHECK_THAT(mem_live() == live, "%s, format %d, op %d: an update allocates", kernel, format, op);
            CHECK_THAT(same_products(h, p, q, format, type, set, op),
                       "%s, format %d, op %d, type %d, values %d", kernel, format, op, type, set);
        }
        CHECK_OK(heddle_plan_info(p, op, &after));
        /* of the host, which the device has to keep */
        int64_t values = q->nnz * (type == HEDDLE_F64 ? 8 : 4);
        CHECK(strcmp(before.kernel, after.kernel) == 0);
        CHECK(after.bytes == before.bytes || after.bytes == before.bytes + values);
        heddle_plan_free(p);
    }
    heddle_matrix_free(A);
}

TEST(a_plan_takes_new_values_whatever_it_has_made_of_the_old)
{
    static const struct {
        const char *device, *kind;
        heddle_type first, last;
    } runs[] = {{"cpu", "cpu", HEDDLE_F32, HEDDLE_F64},
                {"emu:wave=32", "gpu", HEDDLE_F32, HEDDLE_F32},
                {"emu:wave=64", "gpu", HEDDLE_F64, HEDDLE_F64}};
    struct pattern q;
    heddle_kernel_desc k;
    pattern_make(&q);
    for (int i = 0; i < 3; i++) {
        heddle *h = open_cpu(runs[i].device);
        for (heddle_type type = runs[i].first; type <= runs[i].last; type = (heddle_type)(type + 1))
            for (int n = 0; n < heddle_kernel_count(); n++) {
                CHECK_OK(heddle_kernel_info(n, &k));
                EACH_FORMAT(f) /* of CSC, which is the CSR of the transpose, the CPU is enough */
                if (strcmp(k.device, runs[i].kind) == 0 && (f != HEDDLE_CSC || i == 0))
                    update_kernel(h, &q, k.name, f, type);
            }
        heddle_close(h);
    }
}

/* A matrix takes new values where Heddle has a copy of the old ones: the next products are with them. */
TEST(a_matrix_takes_new_values)
{
    static const char *const devices[] = {"cpu", "emu:wave=32", "emu:wave=64"};
    for (int i = 0; i < 3; i++)
        EACH_FORMAT(format)
        {
            heddle *h = open_cpu(devices[i]);
            heddle_matrix *A = make_from(h, format, 1);
            double other[5], y[2][3];
            CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y[0]));
            for (int k = 0; k < 5; k++)
                other[k] = -2 * (format == HEDDLE_CSC ? csc_val : val)[k];
            CHECK_OK(heddle_update_values(h, A, other));
            memset(other, 0x55, sizeof other); /* they need not stay */
            CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y[1]));
            for (int k = 0; k < 3; k++)
                CHECK_THAT(y[1][k] == -2 * y[0][k], "%s, format %d, row %d: %g, %g", devices[i], (int)format,
                           k, y[0][k], y[1][k]);
            CHECK_FAILS(heddle_update_values(h, A, NULL), HEDDLE_BAD_ARGUMENT, "val is NULL");
            CHECK_FAILS(heddle_update_values(h, A, (const char *)val + 1), HEDDLE_BAD_ARGUMENT, "aligned");
            CHECK_FAILS(heddle_update_values(h, NULL, val), HEDDLE_BAD_ARGUMENT, "NULL");
            heddle_matrix_free(A);
            heddle_close(h);
        }
    heddle *h = open_cpu("cpu"), *gpu = open_cpu("emu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    CHECK_FAILS(heddle_update_values(h, A, csc_val), HEDDLE_BAD_ARGUMENT, "borrowed");
    CHECK_FAILS(heddle_update_values(gpu, A, csc_val), HEDDLE_BAD_ARGUMENT, "another device");
    heddle_matrix_free(A);
    A = make(gpu, HEDDLE_CSR);
    CHECK_FAILS(heddle_update_values(gpu, A, (const void *)64), HEDDLE_BAD_ARGUMENT,
                "neither of the device nor of the host");
    heddle_matrix_free(A);
    heddle_close(gpu);
    heddle_close(h);
}

TEST(values_that_cannot_be_taken_are_refused)
{
    heddle *h = open_cpu("emu"), *cpu = open_cpu("cpu");
    heddle_matrix *A = make(h, HEDDLE_CSR), *B = make(cpu, HEDDLE_CSR);
    heddle_plan *p;
    double y[3];
    CHECK_STATUS(heddle_plan_update_values(NULL, val), HEDDLE_BAD_ARGUMENT);
    CHECK_OK(heddle_plan_create(&p, h, A, &(heddle_plan_options){.memory_limit = -1}));
    CHECK_FAILS(heddle_plan_update_values(p, NULL), HEDDLE_BAD_ARGUMENT, "val is NULL");
    CHECK_FAILS(heddle_plan_update_values(p, (const char *)val + 1), HEDDLE_BAD_ARGUMENT, "aligned");
    CHECK_FAILS(heddle_plan_update_values(p, (const void *)64), HEDDLE_BAD_ARGUMENT,
                "neither of the device nor of the host");
    CHECK_FAILS(heddle_plan_update_values(p, csc_val), HEDDLE_NO_MEMORY, "give them on the device");
    CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, x_n, NULL, y));
    CHECK(y[0] == 7 && y[2] == 31);
    heddle_plan_free(p);
    CHECK_OK(heddle_plan_create(&p, cpu, B, &(heddle_plan_options){.memory_limit = -1}));
    CHECK_OK(heddle_plan_update_values(p, csc_val)); /* borrowed: nothing to hold */
    CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, x_n, NULL, y));
    CHECK(y[0] == 10 && y[1] == 0 && y[2] == 4 * 4 + 2 * 1 + 5 * 2);
    heddle_plan_free(p);
    heddle_matrix_free(A);
    heddle_matrix_free(B);
    heddle_close(h);
    heddle_close(cpu);
}

TEST(plans_serve_what_they_were_made_for_and_describe_themselves)
{
    heddle *h = open_cpu("cpu");
    heddle_plan *p;
    heddle_plan_desc d;
    double y[4];
    EACH_FORMAT(f)
    {
        heddle_matrix *A = make(h, f);
        CHECK_OK(heddle_plan_create(&p, h, A, NULL));
        CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, x_n, NULL, y));
        CHECK(y[0] == 7 && y[1] == 0 && y[2] == 31);
        CHECK_OK(heddle_plan_info(p, HEDDLE_N, &d));
        CHECK(d.kernel[0] && d.format[0] && d.bytes >= 0 && d.break_even >= -1);
        CHECK(strcmp(heddle_last_kernel(h), d.kernel) == 0);
        CHECK_FAILS(heddle_plan_mv(p, HEDDLE_T, NULL, x_t, NULL, y), HEDDLE_BAD_ARGUMENT,
                    "was not made for T");
        CHECK_STATUS(heddle_plan_info(p, HEDDLE_T, &d), HEDDLE_BAD_ARGUMENT);
        heddle_plan_free(p);
        CHECK(strcmp(heddle_last_kernel(h), "") == 0); /* the name was the plan's */
        CHECK_OK(
            heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = HEDDLE_PLAN_T, .deterministic = 1}));
        CHECK_OK(heddle_plan_mv(p, HEDDLE_H, NULL, x_t, NULL, y));
        CHECK(y[0] == 13 && y[1] == 16 && y[2] == 2 && y[3] == 20);
        CHECK_OK(heddle_plan_info(p, HEDDLE_T, &d));
        CHECK(d.deterministic);
        heddle_plan_free(p);
        heddle_matrix_free(A);
    }
    heddle_matrix *A = make(h, HEDDLE_CSR);
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = 8}), HEDDLE_BAD_ARGUMENT,
                "ops is 8");
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.expected_products = -1}),
                HEDDLE_BAD_ARGUMENT, "negative");
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.memory_limit = -2}), HEDDLE_BAD_ARGUMENT,
                "negative");
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.kernel = "no_such"}),
                HEDDLE_BAD_ARGUMENT, "no_such");
    CHECK_STATUS(heddle_plan_create(NULL, h, A, NULL), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_plan_mv(NULL, HEDDLE_N, NULL, x_n, NULL, y), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_plan_info(NULL, HEDDLE_N, &d), HEDDLE_BAD_ARGUMENT);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(kernels_are_listed)
{
    heddle_kernel_desc d;
    int seen = 0;
    for (int i = 0; i < heddle_kernel_count(); i++) {
        CHECK_OK(heddle_kernel_info(i, &d));
        CHECK(d.name[0] && d.format[0] && d.ops[0] && d.device[0] && d.source[0] && d.options);
        seen += strcmp(d.name, "cpu_csr") == 0 || strcmp(d.name, "cpu_csr_t") == 0 ||
                strcmp(d.name, "cpu_sell") == 0;
    }
    CHECK(seen == 3);
    CHECK_STATUS(heddle_kernel_info(-1, &d), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_kernel_info(heddle_kernel_count(), &d), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_kernel_info(0, NULL), HEDDLE_BAD_ARGUMENT);
}

TEST(matrices_travel_through_files_and_keep_their_product)
{
    static const char *const names[] = {"a.mtx", "a.mtx.gz", "a.rb", "a.hdl"};
    heddle *h = open_cpu("cpu");
    EACH_FORMAT(f)
    for (int i = 0; i < 4; i++) {
        heddle_matrix *A = make(h, f), *B;
        const char *path = test_path(names[i]);
        CHECK_OK(heddle_write(h, A, path));
        CHECK_OK(heddle_read(&B, h, path, NULL));
        check_product(h, B);
        heddle_matrix_free(A);
        heddle_matrix_free(B);
        CHECK_OK(heddle_read(&B, h, path, &(heddle_read_options){.value = HEDDLE_F32, .trust = 1}));
        heddle_matrix_desc d;
        CHECK_OK(heddle_matrix_info(B, &d));
        CHECK(d.types.value == HEDDLE_F32);
        heddle_matrix_free(B);
    }
    heddle_matrix *A;
    CHECK_FAILS(heddle_read(&A, h, test_path("absent.mtx"), NULL), HEDDLE_FILE_ERROR, "absent.mtx");
    CHECK(A == NULL);
    CHECK_STATUS(heddle_read(&A, h, NULL, NULL), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_read(NULL, h, "x", NULL), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_read(&A, h, "x", &(heddle_read_options){.value = HEDDLE_I32}), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_write(h, NULL, "x.mtx"), HEDDLE_BAD_ARGUMENT);
    heddle_close(h);
}

TEST(a_damaged_binary_file_is_found_at_its_first_use_unless_it_is_trusted)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A = make(h, HEDDLE_CSR);
    const char *path = test_path("damaged.hdl");
    double y[3] = {1, 2, 3};
    CHECK_OK(heddle_write(h, A, path));
    heddle_matrix_free(A);
    FILE *file = fopen(path, "r+b");
    fseek(file, -64, SEEK_END);
    for (int i = 0; i < 64; i++)
        fputc(0x5a, file);
    fclose(file);
    heddle_status status = heddle_read(&A, h, path, NULL);
    CHECK_OK(status);
    if (status != HEDDLE_OK)
        return;
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x_n, NULL, y), HEDDLE_BAD_FILE, "damaged.hdl");
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_FILE, "damaged.hdl");
    CHECK(y[0] == 1 && y[2] == 3);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(vectors_travel_through_files)
{
    double x[] = {1.5, -2, 1e300, 0.1}, *y = NULL;
    float *z = NULL;
    int64_t n = -1;
    const char *path = test_path("x.mtx");
    CHECK_OK(heddle_write_vector(x, 4, HEDDLE_F64, path));
    CHECK_OK(heddle_read_vector((void **)&y, &n, HEDDLE_F64, path));
    CHECK(n == 4 && y && memcmp(x, y, sizeof x) == 0);
    heddle_free(y);
    CHECK_OK(heddle_write_vector((float[]){1, 2}, 2, HEDDLE_F32, test_path("z.txt")));
    CHECK_OK(heddle_read_vector((void **)&z, &n, HEDDLE_F32, test_path("z.txt")));
    CHECK(n == 2 && z && z[1] == 2);
    heddle_free(z);
    CHECK_STATUS(heddle_read_vector(NULL, &n, HEDDLE_F64, path), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_read_vector((void **)&y, &n, HEDDLE_I32, path), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_write_vector(NULL, 4, HEDDLE_F64, path), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_write_vector(x, -1, HEDDLE_F64, path), HEDDLE_BAD_ARGUMENT);
}

TEST(statistics_of_all_formats_agree)
{
    heddle *h = open_cpu("cpu");
    EACH_FORMAT(f)
    {
        heddle_matrix *A = make(h, f);
        heddle_stats s;
        int64_t bytes = 0, sell = 0;
        CHECK_OK(heddle_statistics(h, A, &s));
        CHECK(s.rows == 3 && s.cols == 4 && s.row.longest == 3 && s.row.empty == 1 && s.col.longest == 2);
        CHECK(s.lower_bandwidth == 2 && s.upper_bandwidth == 2 && s.distinct_values == 5);
        CHECK_OK(heddle_format_bytes(h, A, "csr", &bytes));
        CHECK(bytes == 16 + 60);
        CHECK_OK(heddle_format_bytes(h, A, "sell", &sell));
        CHECK(sell >= 60 / 2);
        CHECK_FAILS(heddle_format_bytes(h, A, "paper", &bytes), HEDDLE_BAD_ARGUMENT, "paper");
        CHECK_STATUS(heddle_statistics(h, A, NULL), HEDDLE_BAD_ARGUMENT);
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

TEST(generated_matrices_are_ready_to_use_and_bad_specs_are_refused)
{
    heddle *h = open_cpu("cpu");
    heddle_matrix *A;
    heddle_matrix_desc d;
    CHECK_OK(heddle_generate(&A, h, "grid3d:n=5", HEDDLE_TYPE_DEFAULT));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.rows == 125 && d.cols == 125 && d.types.value == HEDDLE_F64);
    CHECK_OK(heddle_check(h, A));
    heddle_matrix_free(A);
    CHECK_FAILS(heddle_generate(&A, h, "cube:n=5", HEDDLE_F64), HEDDLE_BAD_ARGUMENT, "cube");
    CHECK(A == NULL);
    CHECK_STATUS(heddle_generate(&A, h, NULL, HEDDLE_F64), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(heddle_generate(&A, h, "grid3d", HEDDLE_I64), HEDDLE_BAD_ARGUMENT);
    heddle_close(h);
}

TEST(the_library_says_what_it_is)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR,
             HEDDLE_VERSION_PATCH);
    CHECK(strcmp(heddle_version(), version) == 0);
    CHECK(strstr(heddle_build_info(), "threads: ") && strstr(heddle_build_info(), "compiler: "));
}

static heddle_status whole_life(void *argument)
{
    heddle_status status = HEDDLE_OK;
    heddle *h = NULL;
    heddle_matrix *A = NULL, *B = NULL, *C = NULL;
    heddle_plan *p = NULL;
    heddle_stats stats;
    double y[4];
    heddle_csr_desc csr = csr_desc();
    heddle_coo_desc coo = coo_desc();
    csr.copy = coo.copy = 1;
    if ((status = heddle_open(&h, "cpu:threads=2")) || (status = heddle_csr(&A, h, &csr)) ||
        (status = heddle_coo(&B, h, &coo)) || (status = heddle_convert(&C, h, A, HEDDLE_CSC)) ||
        (status = heddle_mv(h, HEDDLE_N, NULL, C, x_n, NULL, y)) ||
        (status = heddle_statistics(h, B, &stats)) ||
        (status = heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = 3})) ||
        (status = heddle_plan_mv(p, HEDDLE_T, NULL, x_t, NULL, y)))
        (void)argument;
    heddle_plan_free(p);
    heddle_matrix_free(A);
    heddle_matrix_free(B);
    heddle_matrix_free(C);
    heddle_close(h);
    return status;
}

TEST(every_allocation_may_fail)
{
    CHECK(test_every_allocation(whole_life, NULL) > 20);
}
