/* SPDX-License-Identifier: MIT
 *
 * Plans choose, prepare, measure, and keep within what they were told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "test.h"

static const struct device device = {.threads = 2, .isa = ISA_generic};

/* The awkward matrix with this name, as a view of double precision. */
static struct view view_of(const char *name)
{
    struct view v = {.format = HEDDLE_CSR};
    for (int i = 0; i < awkward_count; i++)
        if (strcmp(awkward[i].name, name) == 0)
            CHECK_OK(awkward_make(&v.csr, &awkward[i], HEDDLE_F64, HEDDLE_I32));
    CHECK(v.csr.row_ptr != NULL);
    return v;
}

/* A band matrix that is large enough for preparation to pay: n rows, 16 entries each. */
static struct view band(int64_t n)
{
    struct view v = {.format = HEDDLE_CSR};
    CHECK_OK(csr_new(&v.csr, n, n, 16 * n, HEDDLE_F64, HEDDLE_I32));
    for (int64_t i = 0; i <= n; i++)
        ((int32_t *)v.csr.row_ptr)[i] = (int32_t)(16 * i);
    for (int64_t k = 0; k < 16 * n; k++) {
        v.csr.col[k] = (int32_t)((k / 16 + k % 16) % n);
        ((double *)v.csr.val)[k] = (double)(k % 5);
    }
    return v;
}

static heddle_status choose(struct bound **b, heddle_plan_desc *desc, const struct view *A, heddle_op op,
                            heddle_plan_options options)
{
    return plan_choose(b, desc, &device, A, op, &options);
}

/* Does the bound kernel compute op(A) x? */
static int multiplies(struct bound *b, const struct view *A, heddle_op op)
{
    int64_t rows = A->csr.rows, cols = A->csr.cols, n_x = op == HEDDLE_N ? cols : rows,
            n_y = op == HEDDLE_N ? rows : cols;
    double *x = mem_alloc(n_x, sizeof *x), *y = mem_alloc(n_y, sizeof *y);
    struct exact *want = mem_alloc(n_y, sizeof *want);
    for (int64_t i = 0; i < n_x; i++)
        x[i] = (double)(i % 7) - 3;
    CHECK_OK(bound_run(b, (struct scalars){.alpha = 1}, x, y));
    awkward_reference(want, &A->csr, op != HEDDLE_N, x);
    int good = 1;
    for (int64_t i = 0; i < n_y; i++)
        good &= y[i] == (double)want[i].sum;
    mem_free(x);
    mem_free(y);
    mem_free(want);
    return good;
}

static const char *immediate_kernel(const struct view *A, heddle_op op)
{
    const char *ran = "nothing";
    struct room room = immediate_room(&device, A);
    int64_t most = A->csr.rows > A->csr.cols ? A->csr.rows : A->csr.cols;
    void *x = mem_zeroed(most, 8), *y = mem_zeroed(most, 8);
    room.workspace = mem_alloc(room.workspace_bytes, 1);
    CHECK_OK(immediate_run(&device, A, op, (struct scalars){.alpha = 1}, x, y, &room, &ran));
    mem_free(room.workspace);
    mem_free(x);
    mem_free(y);
    return ran;
}

TEST(the_immediate_product_takes_the_kernel_that_balances)
{
    static const struct {
        const char *matrix, *n, *t;
    } expected[] = {
        {"even rows", "cpu_csr", "cpu_csr_t"},
        {"huge row in the middle", "cpu_merge", "cpu_csr_t"},
        {"1 x 5000, full", "cpu_merge", "cpu_csr_t"},
        {"huge last row", "cpu_merge", "cpu_csr_t"},
        {"long runs of empty rows", "cpu_csr", "cpu_csr_t"},
        {"no entries", "scale", "scale"},
        {"0 x 0", "scale", "scale"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct view A = view_of(expected[i].matrix);
        CHECK_THAT(strcmp(immediate_kernel(&A, HEDDLE_N), expected[i].n) == 0, "N of '%s' ran %s",
                   expected[i].matrix, immediate_kernel(&A, HEDDLE_N));
        CHECK_THAT(strcmp(immediate_kernel(&A, HEDDLE_H), expected[i].t) == 0, "H of '%s' ran %s",
                   expected[i].matrix, immediate_kernel(&A, HEDDLE_H));
        csr_free(&A.csr);
    }
}

TEST(a_matrix_stored_by_columns_swaps_the_kernels)
{
    struct view A = view_of("even rows");
    A.format = HEDDLE_CSC;
    CHECK(strcmp(immediate_kernel(&A, HEDDLE_N), "cpu_csr_t") == 0);
    CHECK(strcmp(immediate_kernel(&A, HEDDLE_T), "cpu_csr") == 0);
    csr_free(&A.csr);
}

TEST(too_little_workspace_is_refused_and_y_stays)
{
    struct view A = view_of("even rows");
    double *x = mem_zeroed(2048, sizeof *x), *y = mem_zeroed(2048, sizeof *y);
    const char *ran = NULL;
    y[5] = 42;
    CHECK_FAILS(
        immediate_run(&device, &A, HEDDLE_T, (struct scalars){.alpha = 1}, x, y, &(struct room){0}, &ran),
        HEDDLE_NO_WORKSPACE, "cpu_csr_t");
    CHECK(y[5] == 42 && ran == NULL);
    mem_free(x);
    mem_free(y);
    csr_free(&A.csr);
}

TEST(the_workspace_of_a_transposed_product_is_bounded_by_the_matrix)
{
    struct view A = view_of("last column of a wide matrix");
    CHECK(immediate_room(&(struct device){.threads = 64, .isa = ISA_generic}, &A).workspace_bytes <
          64 * 1024);
    csr_free(&A.csr);
}

TEST(few_expected_products_prepare_nothing)
{
    struct view A = band(20000);
    for (int op = HEDDLE_N; op <= HEDDLE_H; op++) {
        struct bound *b;
        heddle_plan_desc d;
        CHECK_OK(choose(&b, &d, &A, (heddle_op)op, (heddle_plan_options){.expected_products = 1}));
        CHECK(strcmp(d.format, "csr") == 0 && d.prepare_ms == 0 && d.break_even == 0 && d.product_ms == 0);
        CHECK(multiplies(b, &A, (heddle_op)op));
        bound_free(b);
    }
    csr_free(&A.csr);
}

TEST(many_expected_products_never_end_slower_than_the_immediate_product)
{
    struct view A = band(100000);
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
        struct bound *b;
        heddle_plan_desc d;
        CHECK_OK(choose(&b, &d, &A, (heddle_op)op, (heddle_plan_options){.expected_products = 1000000000}));
        CHECK(d.product_ms > 0 && d.immediate_ms > 0 && d.product_ms <= d.immediate_ms);
        CHECK((d.break_even == 0) == (d.prepare_ms == 0));
        CHECK(d.break_even >= 0 && d.break_even <= 1000000000 && d.deterministic == 1);
        CHECK(multiplies(b, &A, (heddle_op)op));
        bound_free(b);
    }
    csr_free(&A.csr);
}

TEST(a_plan_keeps_within_its_memory_limit)
{
    static const int64_t limits[] = {-1, 1, 5000, 100000, 10000000, 1000000000};
    struct view A = band(50000);
    for (int i = 0; i < 6; i++)
        for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
            struct bound *b;
            heddle_plan_desc d;
            heddle_status status =
                choose(&b, &d, &A, (heddle_op)op, (heddle_plan_options){.memory_limit = limits[i]});
            CHECK(status == HEDDLE_OK || (op == HEDDLE_T && status == HEDDLE_NO_KERNEL && b == NULL));
            if (status == HEDDLE_OK)
                CHECK(d.bytes <= (limits[i] < 0 ? 0 : limits[i]));
            else
                CHECK(strstr(heddle_last_error(), "cpu_csr_t") != NULL);
            bound_free(b);
        }
    csr_free(&A.csr);
}

/* The immediate product is the first; what was made has times, what was not only what it was thought to
 * take. */
TEST(a_plan_tells_what_it_was_made_among)
{
    struct view A = band(50000);
    struct bound *b;
    heddle_plan_desc d;
    int made = 0, is_among = 0;
    CHECK_OK(choose(&b, &d, &A, HEDDLE_N, (heddle_plan_options){.memory_limit = 1000000000}));
    const struct tries *t = bound_tries(b);
    CHECK(t && t->count > 2 && isnan(t->of[0].predicted_ms) && t->of[0].product_ms > 0);
    for (int i = 0; t && i < t->count; i++) {
        const struct tried *of = &t->of[i];
        CHECK_THAT(of->kernel[0] && of->bytes >= 0 && (i == 0 || of->predicted_ms > 0), "%s", of->kernel);
        CHECK_THAT(isnan(of->product_ms) ? isnan(of->prepare_ms) : of->product_ms > 0 && of->prepare_ms >= 0,
                   "%s takes %g ms, and %g to be prepared", of->kernel, of->product_ms, of->prepare_ms);
        made += !isnan(of->product_ms);
        is_among |= strcmp(of->kernel, d.kernel) == 0 && of->product_ms > 0 && of->bytes == d.bytes;
    }
    CHECK_THAT(made > 1 && is_among, "%d made; %s is not among them", made, d.kernel);
    bound_free(b);
    csr_free(&A.csr);
}

TEST(a_kernel_by_name_is_taken_as_told)
{
    struct view A = view_of("even rows");
    struct bound *b;
    heddle_plan_desc d;
    CHECK_OK(choose(&b, &d, &A, HEDDLE_N,
                    (heddle_plan_options){.kernel = "cpu_sell:slice=16,window=64", .deterministic = 1}));
    CHECK(strcmp(d.kernel, "cpu_sell:slice=16,window=64") == 0 && strcmp(d.format, "sell") == 0 &&
          !d.transposed);
    CHECK(d.bytes > 0 && d.prepare_ms > 0 && d.product_ms > 0 && d.break_even != 0);
    CHECK(multiplies(b, &A, HEDDLE_N));
    bound_free(b);
    CHECK_OK(choose(&b, &d, &A, HEDDLE_T, (heddle_plan_options){.kernel = "cpu_csr"}));
    CHECK(strcmp(d.kernel, "cpu_csr") == 0 && d.transposed == 1 && d.bytes > 0);
    CHECK(multiplies(b, &A, HEDDLE_T));
    bound_free(b);
    CHECK_FAILS(
        choose(&b, &d, &A, HEDDLE_N, (heddle_plan_options){.kernel = "cpu_sell", .memory_limit = 100}),
        HEDDLE_NO_MEMORY, "100 are allowed");
    CHECK(b == NULL);
    csr_free(&A.csr);
}

TEST(what_a_kernel_cannot_do_is_refused_with_the_reason)
{
    struct view A = view_of("even rows"), wide = view_of("1 x 5000, full");
    struct bound *b;
    CHECK_FAILS(bound_new(&b, &device, "cpu_csr_t", &A, HEDDLE_N), HEDDLE_NO_KERNEL, "only");
    CHECK_FAILS(bound_new(&b, &device, "cpu_group", &A, HEDDLE_N), HEDDLE_NO_KERNEL, "do not share");
    CHECK_FAILS(bound_new(&b, &device, "cpu_warp", &A, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "cpu_sell");
    CHECK_FAILS(bound_new(&b, &device, "cpu_sell:slice=5", &A, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "8 16 32");
    CHECK_FAILS(bound_new(&b, &device, "cpu_sell:height=8", &A, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "height");
    CHECK_FAILS(bound_new(&b, &device, "cpu_csr:slice=8", &A, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "slice");
    CHECK(b == NULL);
    csr_free(&A.csr);
    csr_free(&wide.csr);
}

/* An arrow: one full row, one entry in all others; as ELL it would take n * n places. */
TEST(padding_over_the_limit_is_refused_without_building_it)
{
    int64_t n = 200000;
    struct view A = {.format = HEDDLE_CSR};
    struct bound *b;
    CHECK_OK(csr_new(&A.csr, n, n, 2 * n - 1, HEDDLE_F64, HEDDLE_I32));
    for (int64_t i = 0; i <= n; i++)
        ((int32_t *)A.csr.row_ptr)[i] = (int32_t)(i < 1 ? 0 : n + i - 1);
    for (int64_t k = 0; k < 2 * n - 1; k++) {
        A.csr.col[k] = (int32_t)(k < n ? k : k - n + 1);
        ((double *)A.csr.val)[k] = 1;
    }
    CHECK_FAILS(bound_new(&b, &device, "cpu_ell", &A, HEDDLE_N), HEDDLE_NO_KERNEL, "pad");
    CHECK(b == NULL);
    CHECK_OK(bound_new(&b, &device, "cpu_sell", &A, HEDDLE_N));
    CHECK(multiplies(b, &A, HEDDLE_N));
    bound_free(b);
    csr_free(&A.csr);
}

TEST(a_preparation_meets_a_bad_index_and_says_where)
{
    struct view A = view_of("even rows");
    struct bound *b;
    A.csr.col[77] = 5000;
    CHECK_STATUS(bound_new(&b, &device, "cpu_sell", &A, HEDDLE_N), HEDDLE_BAD_MATRIX);
    CHECK_STATUS(bound_new(&b, &device, "cpu_csr", &A, HEDDLE_T), HEDDLE_BAD_MATRIX);
    CHECK(b == NULL);
    csr_free(&A.csr);
}

TEST(a_description_tells_what_is_held_and_moved)
{
    struct view A = view_of("even rows");
    struct bound *b;
    struct bound_info info;
    CHECK_OK(bound_new(&b, &device, "cpu_csr", &A, HEDDLE_N));
    bound_describe(b, &info);
    CHECK(info.bytes == 0 && info.convert_ms == 0 && info.prepare_ms == 0 && !info.transposed &&
          info.repeatable);
    CHECK(info.cost == 2049 * 4 + 2048 * 7 * 12 + 2 * 2048 * 8);
    bound_free(b);
    CHECK_OK(bound_new(&b, &device, "cpu_sell", &A, HEDDLE_N));
    bound_describe(b, &info);
    CHECK(info.bytes > 2048 * 7 * 10 && info.bytes < 2048 * 7 * 12 && info.convert_ms > 0);
    CHECK(strcmp(info.kernel, "cpu_sell:slice=8,window=512") == 0);
    bound_free(b);
    csr_free(&A.csr);
}

TEST(every_format_knows_its_size_without_being_built)
{
    for (int m = 0; m < awkward_count; m++)
        for (int f = 0; f < FORMAT_COUNT; f++) {
            struct source source = {.row = NULL};
            struct stored s;
            CHECK_OK(awkward_make(&source.csr, &awkward[m], HEDDLE_F32, HEDDLE_I64));
            heddle_status status = stored_size(&s, (enum format_id)f, &source, NULL);
            CHECK(status == HEDDLE_OK || status == HEDDLE_NO_KERNEL);
            if (status == HEDDLE_OK) {
                int64_t before = stored_bytes(&s);
                CHECK_OK(stored_build(&s, &source));
                CHECK_THAT(stored_bytes(&s) == before, "%s of '%s'", s.format->name, awkward[m].name);
                stored_free(&s);
            }
            csr_free(&source.csr);
        }
}

/* Rows of 2, 0, 5, 1, 3 and 1 entries begin at the entries 0, 2, 7, 8 and 11: lanes of four entries have
 * the flags 0 and 2; 3; 0 and 3. */
TEST(the_only_tile_of_a_small_csr5_is_as_worked_out_by_hand)
{
    int32_t row_ptr[] = {0, 2, 2, 7, 8, 11, 12}, col[] = {1, 4, 0, 1, 2, 3, 5, 3, 0, 2, 4, 5};
    double val[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct source source = {.csr = {6, 6, 12, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val}};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_csr5, &source, NULL));
    CHECK(s.dim[CSR5_OMEGA] == 32 && s.dim[CSR5_SIGMA] == 4 && s.dim[CSR5_TILES] == 1 &&
          s.dim[CSR5_EMPTY_ROWS] == 1);
    CHECK_OK(stored_build(&s, &source));
    const uint32_t *tile_ptr = s.array[CSR5_TILE_PTR], *d = s.array[CSR5_DESCRIPTOR],
                   *empty = s.array[CSR5_EMPTY];
    const int32_t *offset = s.array[CSR5_EMPTY_OFFSET], *to_col = s.array[CSR5_COL];
    const double *to_val = s.array[CSR5_VAL];
    CHECK(tile_ptr[0] == CSR5_GAPS && tile_ptr[1] == 6 && empty[0] == 1u << 1);
    CHECK(d[0] == CSR5_DESCRIBE(5, 0, 0) && d[1] == CSR5_DESCRIBE(8, 2, 0) &&
          d[2] == CSR5_DESCRIBE(9, 3, 29));
    CHECK(d[3] == CSR5_DESCRIBE(0, 5, 28) && d[31] == CSR5_DESCRIBE(0, 5, 0));
    CHECK(CSR5_FLAGS(d[2]) == 9 && CSR5_Y_OFFSET(d[2]) == 3 && CSR5_SEG_OFFSET(d[2]) == 29);
    CHECK(offset[0] == 0 && offset[1] == 2 && offset[2] == 3 && offset[3] == 4 && offset[4] == 5 &&
          offset[5] == 0);
    for (int k = 0; k < 128; k++) {
        CHECK(to_col[k % 4 * 32 + k / 4] == (k < 12 ? col[k] : 0));
        CHECK(to_val[k % 4 * 32 + k / 4] == (k < 12 ? k + 1 : 0));
    }
    stored_free(&s);
}

static int64_t sigma_for(int64_t rows, int64_t nnz, const int *rule, int64_t option)
{
    struct source source = {
        .csr = {rows, 10, nnz, HEDDLE_F64, HEDDLE_I32, NULL, NULL, NULL}, .longest = 1, .sigma = rule};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_csr5, &source, &option));
    return s.dim[CSR5_SIGMA];
}

TEST(the_tiles_of_csr5_grow_with_the_rows_by_the_rule_of_the_device)
{
    static const int amd[] = {4, 7, 256, 4};
    CHECK(sigma_for(100, 100, NULL, 0) == 4 && sigma_for(100, 499, NULL, 0) == 4 &&
          sigma_for(100, 500, NULL, 0) == 8);
    CHECK(sigma_for(100, 900, NULL, 0) == 16 && sigma_for(100, 20000, NULL, 0) == 16 &&
          sigma_for(100, 25700, NULL, 0) == 8);
    CHECK(sigma_for(100, 700, amd, 0) == 8 && sigma_for(100, 20000, amd, 0) == 8 &&
          sigma_for(100, 25700, amd, 0) == 4);
    CHECK(sigma_for(100, 25700, amd, 16) == 16);
}

/* Everything that a plan and a bound kernel allocate, failing once. */
struct request {
    const struct view *A;
    const char *kernel;
    heddle_op op;
};

static heddle_status bind_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_status status = bound_new(&b, &device, r->kernel, r->A, r->op);
    bound_free(b);
    return status;
}

static heddle_status plan_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_plan_desc d;
    heddle_status status = choose(&b, &d, r->A, r->op, (heddle_plan_options){.kernel = r->kernel});
    CHECK((b != NULL) == (status == HEDDLE_OK));
    bound_free(b);
    return status;
}

TEST(every_allocation_may_fail)
{
    struct view A = view_of("rows in threes");
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
        for (int k = 0; k < kernel_count(); k++) {
            struct request r = {&A, kernel_at(k)->name, (heddle_op)op};
            struct bound *b;
            heddle_status status = bound_new(&b, &device, r.kernel, r.A, r.op);
            bound_free(b);
            if (status == HEDDLE_OK) {
                CHECK(test_every_allocation(bind_once, &r) > 1);
                CHECK(test_every_allocation(plan_once, &r) > 1);
            }
        }
        for (int n = 0; n < 24; n++) { /* a plan passes over what it has no memory for */
            int64_t live = mem_live();
            mem_fail_after(n);
            CHECK_OK(plan_once(&(struct request){&A, NULL, (heddle_op)op}));
            mem_fail_after(-1);
            CHECK(mem_live() == live);
        }
    }
    csr_free(&A.csr);
}
