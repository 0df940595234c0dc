/* SPDX-License-Identifier: MIT
 *
 * heddle_set_deterministic: bitwise the same y in whatever order blocks run, right, and with nothing
 * prepared. HEDDLE_TEST_DEVICES="cuda:0" (names between blanks) repeats products there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "subject/fill.h"
#include "subject/subject.h"
#include "trial.h"
#include "verify/verify.h"

#define SEEDS (trial_slow() ? 100 : 20)

/* A small matrix in one of the three formats, with the handle it was made on. */
struct scene {
    heddle *h;
    heddle_matrix *A;
    struct csr csr;
    heddle_op op;
    int64_t n_x, n_y;
    void *x, *y;
    int64_t y_bytes;
};

static void scene_new(struct scene *s, const char *device, const char *spec, heddle_type value,
                      heddle_format format)
{
    heddle_matrix *rows;
    *s = (struct scene){0};
    CHECK_OK(gen_matrix(&s->csr, spec, value));
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(heddle_set_deterministic(s->h, 1));
    CHECK_OK(matrix_of(&rows, s->h, &s->csr));
    s->A = rows;
    if (format != HEDDLE_CSR) {
        CHECK_OK(heddle_convert(&s->A, s->h, rows, format));
        heddle_matrix_free(rows);
    }
}

static void scene_op(struct scene *s, heddle_op op)
{
    mem_free(s->x);
    mem_free(s->y);
    s->op = op;
    s->n_x = op == HEDDLE_N ? s->csr.cols : s->csr.rows;
    s->n_y = op == HEDDLE_N ? s->csr.rows : s->csr.cols;
    s->y_bytes = s->n_y * (int64_t)type_size(s->csr.value);
    s->x = mem_alloc(s->n_x, type_size(s->csr.value));
    s->y = mem_alloc(s->n_y, type_size(s->csr.value));
    fill_random(s->x, s->csr.value, s->n_x);
    fill_nan(s->y, s->csr.value, s->n_y);
}

static void scene_free(struct scene *s)
{
    mem_free(s->x);
    mem_free(s->y);
    heddle_matrix_free(s->A);
    heddle_close(s->h);
    csr_free(&s->csr);
}

static int repeatable_now(const struct scene *s)
{
    char name[64];
    snprintf(name, sizeof name, "%s", heddle_last_kernel(s->h));
    name[strcspn(name, ":")] = 0; /* without its options */
    const struct kernel *k = kernel_by_name(name);
    return k && k->repeatable;
}

/* One product, by heddle_mv or by a kernel that is named: what ran should be repeatable. */
static void product_by(const char *kernel, const struct scene *s, heddle_op op)
{
    const heddle_plan_options options = {.ops = op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T,
                                         .kernel = kernel};
    heddle_plan *p = NULL;
    if (kernel) {
        CHECK_OK(heddle_plan_create(&p, s->h, s->A, &options));
        CHECK_OK(heddle_plan_mv(p, op, NULL, s->x, NULL, s->y));
    } else {
        CHECK_OK(heddle_mv(s->h, op, NULL, s->A, s->x, NULL, s->y));
    }
    CHECK_THAT(repeatable_now(s), "%s ran", heddle_last_kernel(s->h));
    heddle_plan_free(p);
}

/* How many of `seeds` block orders, with waves of the same width, give another y than the first. */
static int different_by(const char *kernel, const char *spec, heddle_type value, heddle_format format,
                        heddle_op op, int seeds)
{
    void *first[2] = {NULL, NULL};
    int count = 0;
    for (int seed = 0; seed < seeds; seed++) {
        struct scene s;
        char device[64];
        int wide = seed % 2;
        snprintf(device, sizeof device, "emu:wave=%d,seed=%d", wide ? 64 : 32, seed + 1);
        scene_new(&s, device, spec, value, format);
        scene_op(&s, op);
        product_by(kernel, &s, op);
        if (first[wide])
            count += memcmp(first[wide], s.y, (size_t)s.y_bytes) != 0;
        else if ((first[wide] = mem_alloc(s.y_bytes, 1)))
            memcpy(first[wide], s.y, (size_t)s.y_bytes);
        scene_free(&s);
    }
    mem_free(first[0]);
    mem_free(first[1]);
    return count;
}

static int different(const char *spec, heddle_type value, heddle_format format, heddle_op op, int seeds)
{
    return different_by(NULL, spec, value, format, op, seeds);
}

/* The last has rows that csr_weave cuts into pieces. */
static const char skewed[] = "powerlaw:n=900,mean=4,longest=400",
                  wide[] = "circuit:n=700,longest=500,dense=2";
static const char cut[] = "circuit:n=6000,longest=5500,dense=4";

TEST(many_orders_of_blocks_give_one_result_n_and_t)
{
    CHECK(different(skewed, HEDDLE_F64, HEDDLE_CSR, HEDDLE_N, SEEDS) == 0);
    CHECK(different(skewed, HEDDLE_F64, HEDDLE_CSR, HEDDLE_T, SEEDS) == 0);
    CHECK(different(wide, HEDDLE_F32, HEDDLE_CSR, HEDDLE_T, SEEDS / 5) == 0);
    CHECK(different(cut, HEDDLE_F64, HEDDLE_CSR, HEDDLE_N, SEEDS) == 0);
    CHECK(different_by("csr_weave:way=blocks", cut, HEDDLE_F64, HEDDLE_CSR, HEDDLE_N, SEEDS) == 0);
}

TEST(so_it_is_for_csc_and_coo)
{
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
        for (int format = HEDDLE_CSC; format <= HEDDLE_COO; format++) {
            CHECK(different(wide, HEDDLE_F64, (heddle_format)format, (heddle_op)op, SEEDS / 10) == 0);
            CHECK(different(skewed, HEDDLE_F32, (heddle_format)format, (heddle_op)op, SEEDS / 10) == 0);
        }
}

/* One matrix on one device, again and again; both operations. */
static void repeats(const char *device, const char *spec, heddle_type value, heddle_format format, int times)
{
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
        struct scene s;
        int differ = 0;
        scene_new(&s, device, spec, value, format);
        scene_op(&s, (heddle_op)op);
        void *first = mem_alloc(s.y_bytes, 1);
        for (int i = 0; i < times; i++) {
            CHECK_OK(heddle_mv(s.h, s.op, NULL, s.A, s.x, NULL, s.y));
            if (i == 0)
                memcpy(first, s.y, (size_t)s.y_bytes);
            differ += memcmp(first, s.y, (size_t)s.y_bytes) != 0;
        }
        CHECK_THAT(differ == 0, "%s: %d of %d results with %s differ, '%s', op %d", device, differ, times,
                   heddle_last_kernel(s.h), spec, op);
        mem_free(first);
        scene_free(&s);
    }
}

/* Large matrices on real devices, whose blocks run in an order of their own. */
TEST(products_that_follow_each_other_are_bitwise_equal)
{
    char text[256];
    const char *asked = getenv("HEDDLE_TEST_DEVICES");
    snprintf(text, sizeof text, "%s", asked ? asked : "emu");
    for (char *save = NULL, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        for (int format = HEDDLE_CSR; format <= HEDDLE_COO; format++) {
            repeats(word, asked ? "rmat:n=131072,degree=16" : skewed, HEDDLE_F64, (heddle_format)format,
                    asked ? 100 : 3);
            repeats(word, asked ? "circuit:n=200000,longest=90000" : wide, HEDDLE_F32, (heddle_format)format,
                    asked ? 100 : 3);
        }
}

/* Else the tests above would show nothing. */
TEST(the_order_of_blocks_changes_what_atomic_additions_give)
{
    float first[900], y[900];
    int differ = 0;
    for (int seed = 1; seed <= 20; seed++) {
        struct scene s;
        heddle_plan *p;
        char device[64];
        snprintf(device, sizeof device, "emu:seed=%d", seed);
        scene_new(&s, device, skewed, HEDDLE_F32, HEDDLE_CSR);
        scene_op(&s, HEDDLE_T);
        CHECK_OK(heddle_plan_create(&p, s.h, s.A,
                                    &(heddle_plan_options){.ops = HEDDLE_PLAN_T, .kernel = "coo_atomic"}));
        CHECK_OK(heddle_plan_mv(p, HEDDLE_T, NULL, s.x, NULL, y));
        if (seed == 1)
            memcpy(first, y, sizeof y);
        differ += memcmp(first, y, sizeof y) != 0;
        heddle_plan_free(p);
        scene_free(&s);
    }
    CHECK(differ > 0);
}

TEST(results_are_within_the_bound_for_every_format_type_and_device)
{
    static const char *const devices[] = {"cpu:threads=2", "emu:wave=32,races=1", "emu:wave=64,races=1"};
    for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
        struct scene s;
        struct reference r;
        struct verdict v;
        char text[VERDICT_TEXT];
        heddle_type value = i % 2 ? HEDDLE_F32 : HEDDLE_F64;
        scene_new(&s, devices[i / 12], skewed, value, (heddle_format)(i / 4 % 3));
        scene_op(&s, i / 2 % 2 ? HEDDLE_T : HEDDLE_N);
        CHECK_OK(heddle_mv(s.h, s.op, NULL, s.A, s.x, NULL, s.y));
        CHECK_OK(reference_new(&r, &(struct equation){.A = &s.csr, .op = s.op, .alpha = 1, .x = s.x}));
        reference_judge(&v, &r, s.y);
        CHECK_THAT(v.passed, "%s, %s: %s", devices[i / 12], heddle_last_kernel(s.h),
                   verdict_text(text, &v, &r));
        reference_free(&r);
        scene_free(&s);
    }
}

/* Columns of a 4 x 7 matrix: huge and tiny terms, cancellation, denormals, infinities, NaN, nothing. */
TEST(sums_of_numbers_at_the_ends_of_the_range_are_right)
{
    enum { COLS = 7 };
    static const int32_t row_ptr[] = {0, 6, 12, 17, 18};
    static const int32_t col[] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 5, 0};
    const double val[] = {1e308, 1e300,     4e-324, INFINITY, INFINITY, NAN,    1e-308, -1e300, 8e-324,
                          1,     -INFINITY, 1,      -1e308,   1,        4e-324, 2,      1,      5e-324};
    const double x[] = {1, 1, 1, 1};
    static const char *const kernels[] = {"csr_fixed_t", "coo_fixed"};
    for (int k = 0; k < 2; k++) {
        heddle *h;
        heddle_matrix *A;
        heddle_plan *p;
        double y[COLS];
        CHECK_OK(heddle_open(&h, "emu"));
        CHECK_OK(
            heddle_csr(&A, h,
                       &(heddle_csr_desc){
                           .rows = 4, .cols = COLS, .nnz = 18, .row_ptr = row_ptr, .col = col, .val = val}));
        CHECK_OK(
            heddle_plan_create(&p, h, A, &(heddle_plan_options){.ops = HEDDLE_PLAN_T, .kernel = kernels[k]}));
        for (int again = 0; again < 2; again++) { /* the state is zero again */
            CHECK_OK(heddle_plan_mv(p, HEDDLE_T, NULL, x, NULL, y));
            CHECK_THAT(fabs(y[0]) < 1e285 && fabs(y[1] - 1) < 1e277, "%s: %g %g", kernels[k], y[0], y[1]);
            CHECK_THAT(y[2] == 4 * 5e-324, "%s: %g", kernels[k], y[2]);
            CHECK(isinf(y[3]) && y[3] > 0 && isnan(y[4]) && isnan(y[5]) && y[6] == 0);
        }
        heddle_plan_free(p);
        heddle_matrix_free(A);
        heddle_close(h);
    }
}

TEST(a_matrix_from_before_must_be_reserved_again)
{
    struct scene s;
    scene_new(&s, "emu", skewed, HEDDLE_F64, HEDDLE_CSR);
    heddle_close(s.h);
    CHECK_OK(heddle_open(&s.h, "emu"));
    CHECK_OK(heddle_reserve(s.h, s.A));
    CHECK_OK(heddle_set_deterministic(s.h, 1));
    scene_op(&s, HEDDLE_T);
    heddle_status before = heddle_mv(s.h, HEDDLE_T, NULL, s.A, s.x, NULL, s.y);
    /* never another kernel */
    CHECK(before == HEDDLE_NO_WORKSPACE || (before == HEDDLE_OK && repeatable_now(&s)));
    CHECK_OK(heddle_reserve(s.h, s.A));
    CHECK_OK(heddle_mv(s.h, HEDDLE_T, NULL, s.A, s.x, NULL, s.y));
    CHECK(repeatable_now(&s));
    CHECK_OK(heddle_set_deterministic(s.h, 0));
    CHECK_OK(heddle_mv(s.h, HEDDLE_T, NULL, s.A, s.x, NULL, s.y));
    CHECK_STATUS(heddle_set_deterministic(NULL, 1), HEDDLE_BAD_ARGUMENT);
    scene_free(&s);
}

static heddle_status body(void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct scene *s = argument;
    heddle *h = NULL;
    TRY(heddle_open(&h, "emu"));
    TRY(heddle_set_deterministic(h, 1));
    TRY(heddle_reserve(h, s->A));
    TRY(heddle_mv(h, HEDDLE_T, NULL, s->A, s->x, NULL, s->y));
done:
    heddle_close(h);
    return status;
}

TEST(every_allocation_may_fail)
{
    struct scene s;
    scene_new(&s, "emu", "grid2d:n=5", HEDDLE_F64, HEDDLE_CSR);
    scene_op(&s, HEDDLE_T);
    CHECK(test_every_allocation(body, &s) > 3);
    scene_free(&s);
}
