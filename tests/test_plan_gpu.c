/* SPDX-License-Identifier: MIT
 *
 * Plans on GPUs: what runs at once, what is converted on the device, what is checked there, and what is
 * refused; on the emulator, at both wave widths.  HEDDLE_TEST_DEVICES="cuda:0" runs the same on another
 * device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "convert/service.h"
#include "gen/gen.h"
#include "plan/run.h"
#include "trial.h"

/* ---- immediate ---- */

/* Runs the immediate product, or nothing but its error. */
static const char *ran_at_once(const struct device *d, const struct view *A, heddle_op op)
{
    const char *ran = "nothing";
    int64_t n = view_rows(A) > view_cols(A) ? view_rows(A) : view_cols(A);
    struct room room = trial_room_new(d, A);
    void *x = trial_zeros(d, n), *y = trial_zeros(d, n);
    CHECK_OK(immediate_load(d, A));
    CHECK_OK(immediate_run(d, A, op, (struct scalars){.alpha = 1}, x, y, &room, &ran));
    CHECK_OK(device_sync(d));
    device_free(d, x);
    device_free(d, y);
    trial_room_free(d, &room);
    return ran;
}

static void takes_what_balances(const struct device *d)
{
    static const struct {
        const char *matrix, *n, *t;
    } expected[] = {
        {"even rows", "csr_weave", "csr_weft"},
        {"1 x 5000, full", "csr_weave", "csr_weft"},
        {"no entries", "scale", "scale"},
        {"0 x 0", "scale", "scale"},
        {"9 x 0", "scale", "scale"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct trial_pair A;
        trial_pair_new(&A, d, expected[i].matrix);
        const char *n = ran_at_once(d, &A.there, HEDDLE_N), *t = ran_at_once(d, &A.there, HEDDLE_H);
        CHECK_THAT(strcmp(n, expected[i].n) == 0, "N of '%s' ran %s", expected[i].matrix, n);
        CHECK_THAT(strcmp(t, expected[i].t) == 0, "H of '%s' ran %s", expected[i].matrix, t);
        A.there.format = HEDDLE_CSC;
        CHECK(strcmp(ran_at_once(d, &A.there, HEDDLE_T), expected[i].n) == 0);
        CHECK(strcmp(ran_at_once(d, &A.there, HEDDLE_N), expected[i].t) == 0);
        trial_pair_free(&A, d);
    }
}

TEST(the_immediate_product_balances_whatever_it_meets)
{
    trial_on_devices(takes_what_balances);
}

static void immediate_is_right(const struct device *d)
{
    static const char *const names[] = {"even rows",        "tall",           "huge first row",
                                        "repeated columns", "1 x 5000, full", "no entries"};
    for (int i = 0; i < 6; i++) {
        struct trial_pair A;
        trial_pair_new(&A, d, names[i]);
        struct view coo = trial_as_coo(d, &A.there);
        for (int op = HEDDLE_N; op <= HEDDLE_H; op++) {
            CHECK_THAT(trial_wrong_entries(d, &A.there, &A.here, (heddle_op)op, NULL) == 0, "'%s', op %d",
                       names[i], op);
            CHECK_THAT(trial_wrong_entries(d, &coo, &A.here, (heddle_op)op, NULL) == 0, "'%s' as COO, op %d",
                       names[i], op);
        }
        device_free(d, coo.coo.row);
        trial_pair_free(&A, d);
    }
}

TEST(the_immediate_product_is_right_for_every_storage)
{
    trial_on_devices(immediate_is_right);
}

/* Are n words on the device all 0? */
static int all_zero(const struct device *d, const void *p, int64_t n)
{
    uint64_t *here = mem_alloc(n, sizeof *here), any = 0;
    CHECK_OK(device_read(d, here, p, n * 8));
    for (int64_t i = 0; i < n; i++)
        any |= here[i];
    mem_free(here);
    return any == 0;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A handle has one room for all of its matrices: whatever a product leaves in the counters, another one
 * would meet. */
static void leaves_the_counters_as_they_were(const struct device *d)
{
    static const char *const specs[] = {"grid2d:n=70", "dense:rows=3,cols=12000", "arrow:n=9000",
                                        "rmat:n=4096,degree=12"};
    enum { MATRICES = 4, N = 12000 };
    const int times = getenv("HEDDLE_TEST_DEVICES") ? 300 : 2;
    struct csr here[MATRICES];
    struct view there[MATRICES];
    struct room room = {0};
    void *x = trial_zeros(d, N), *y = trial_zeros(d, N);
    double *values = awkward_vector(N, HEDDLE_F64, 3, 1), *first[MATRICES], *got = mem_alloc(N, sizeof *got);
    CHECK_OK(device_copy(d, x, values, N * 8));
    for (int i = 0; i < MATRICES; i++) {
        CHECK_OK(gen_matrix(&here[i], specs[i], HEDDLE_F64));
        there[i] = (struct view){.format = HEDDLE_CSR};
        CHECK_OK(device_csr_upload(d, &there[i].csr, &here[i]));
        CHECK_OK(look_new(&there[i].look, d, &there[i]));
        CHECK_OK(immediate_load(d, &there[i]));
        const struct room more = immediate_room(d, &there[i]);
        room.workspace_bytes = larger(room.workspace_bytes, more.workspace_bytes);
        room.counters_bytes = larger(room.counters_bytes, more.counters_bytes);
        first[i] = mem_alloc(N, sizeof *first[i]);
    }
    const int64_t counters = (room.counters_bytes + 7) / 8;
    room.workspace = trial_zeros(d, (room.workspace_bytes + 7) / 8);
    room.counters = trial_zeros(d, counters);
    int differ = 0, left = 0;
    for (int k = 0; k < times * MATRICES; k++) {
        const char *ran;
        const int i = k % MATRICES;
        CHECK_OK(immediate_run(d, &there[i], HEDDLE_N, (struct scalars){.alpha = 1}, x, y, &room, &ran));
        CHECK_OK(device_read(d, k < MATRICES ? first[i] : got, y, here[i].rows * 8));
        differ += k >= MATRICES && memcmp(first[i], got, (size_t)here[i].rows * 8) != 0;
        left += !all_zero(d, room.counters, counters);
    }
    CHECK_THAT(differ == 0, "%d of %d products differ from the first", differ, times * MATRICES);
    CHECK_THAT(left == 0, "%d of %d products leave something in the counters", left, times * MATRICES);
    for (int i = 0; i < MATRICES; i++) {
        mem_free(first[i]);
        csr_free(&here[i]);
        look_free(&there[i].look, d);
        device_csr_free(d, &there[i].csr);
    }
    mem_free(values);
    mem_free(got);
    device_free(d, x);
    device_free(d, y);
    trial_room_free(d, &room);
}

TEST(a_product_leaves_the_counters_of_a_handle_as_they_were)
{
    trial_on_devices(leaves_the_counters_as_they_were);
}

static void allocates_nothing(const struct device *d)
{
    struct trial_pair A;
    trial_pair_new(&A, d, "even rows");
    struct view views[] = {A.there, trial_as_coo(d, &A.there)};
    struct room rooms[] = {trial_room_new(d, &views[0]), trial_room_new(d, &views[1])};
    struct bound *b;
    void *x = trial_zeros(d, 2048), *y = trial_zeros(d, 2048);
    CHECK_OK(bound_new(&b, d, "ellr", &A.there, HEDDLE_N));
    for (int i = 0; i < 2; i++)
        for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
            for (int alpha = 0; alpha <= 1; alpha++) {
                const char *ran;
                CHECK_OK(immediate_load(d, &views[i]));
                mem_fail_after(0);
                CHECK_OK(immediate_run(d, &views[i], (heddle_op)op,
                                       (struct scalars){.alpha = alpha, .beta = 2}, x, y, &rooms[i], &ran));
                CHECK_OK(bound_run(b, (struct scalars){.alpha = alpha, .beta = 2}, x, y));
                mem_fail_after(-1);
            }
    CHECK_OK(device_sync(d));
    bound_free(b);
    trial_room_free(d, &rooms[0]);
    trial_room_free(d, &rooms[1]);
    device_free(d, x);
    device_free(d, y);
    device_free(d, views[1].coo.row);
    trial_pair_free(&A, d);
}

TEST(a_product_allocates_nothing_once_its_kernels_are_loaded)
{
    trial_on_devices(allocates_nothing);
}

/* Pointers that would end the program if the host followed them. */
static void follows_no_pointer(const struct device *d)
{
    void *nowhere = (void *)(uintptr_t)8;
    struct view A = {.format = HEDDLE_CSR,
                     .csr = {.rows = 300,
                             .cols = 300,
                             .nnz = 900,
                             .value = HEDDLE_F64,
                             .offset = HEDDLE_I32,
                             .row_ptr = nowhere,
                             .col = nowhere,
                             .val = nowhere}};
    static const char *const kernels[] = {"csr_naive", "csr_vector", "csr_naive_t"};
    const char *ran;
    void *y = trial_zeros(d, 300);
    CHECK_OK(immediate_load(d, &A));
    CHECK_OK(
        immediate_run(d, &A, HEDDLE_N, (struct scalars){.beta = 2}, nowhere, y, &(struct room){0}, &ran));
    CHECK(strcmp(ran, "scale") == 0);
    for (int i = 0; i < 3; i++) {
        struct bound *b;
        CHECK_OK(bound_new(&b, d, kernels[i], &A, i < 2 ? HEDDLE_N : HEDDLE_T));
        CHECK_OK(bound_run(b, (struct scalars){0}, nowhere, y));
        bound_free(b);
    }
    CHECK_OK(device_sync(d));
    device_free(d, y);
}

TEST(the_host_follows_no_pointer_of_the_device)
{
    trial_on_devices(follows_no_pointer);
}

/* ---- bound and planned ---- */

static void refuses(const struct device *d)
{
    struct device cpu = {.threads = 2};
    struct trial_pair A;
    struct bound *b;
    int wave = gpu_info_of(d->gpu)->wave;
    trial_pair_new(&A, d, "even rows");
    CHECK_FAILS(bound_new(&b, d, "cpu_csr", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "runs on a cpu");
    CHECK_FAILS(
        bound_new(&b, &cpu, "csr_vector", &(struct view){.format = HEDDLE_CSR, .csr = A.here}, HEDDLE_N),
        HEDDLE_NO_KERNEL, "runs on a gpu");
    CHECK_FAILS(bound_new(&b, d, "csr_naive_t", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "only");
    CHECK_FAILS(bound_new(&b, d, "csr_vector:lanes=3", &A.there, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "0 2 4 8");
    if (wave == 32)
        CHECK_FAILS(bound_new(&b, d, "csr_vector:lanes=64", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "has 32");
    CHECK(b == NULL);
    int32_t bad = 5000;
    CHECK_OK(device_copy(d, A.there.csr.col + 77, &bad, sizeof bad));
    CHECK_FAILS(bound_new(&b, d, "ell", &A.there, HEDDLE_N), HEDDLE_BAD_MATRIX,
                "entry 77, in row 11, has column 5000");
    CHECK_FAILS(bound_new(&b, d, "csr_vector", &A.there, HEDDLE_T), HEDDLE_BAD_MATRIX, "entry 77");
    CHECK(b == NULL);
    trial_pair_free(&A, d);
}

TEST(what_cannot_run_is_refused_with_the_reason)
{
    trial_on_devices(refuses);
}

static void describes(const struct device *d)
{
    struct trial_pair A;
    struct bound *b;
    struct bound_info info;
    trial_pair_new(&A, d, "even rows");
    CHECK_OK(bound_new(&b, d, "csr_vector:lanes=16", &A.there, HEDDLE_N));
    bound_describe(b, &info);
    CHECK(strcmp(info.kernel, "csr_vector:lanes=16") == 0 && info.bytes == 0 && info.convert_ms == 0 &&
          info.repeatable);
    CHECK(trial_wrong_entries(d, &A.there, &A.here, HEDDLE_N, b) == 0);
    bound_free(b);
    CHECK_OK(bound_new(&b, d, "csr_balance", &A.there, HEDDLE_N));
    bound_describe(b, &info);
    CHECK(info.bytes > 0 && info.convert_ms == 0 && info.prepare_ms > 0);
    bound_free(b);
    CHECK_OK(bound_new(&b, d, "ellr", &A.there, HEDDLE_T));
    bound_describe(b, &info);
    CHECK(strcmp(info.format, "ellr") == 0 && info.transposed && info.convert_ms > 0);
    CHECK(info.bytes == 2048 * (7 * 12 + 4));
    CHECK(trial_wrong_entries(d, &A.there, &A.here, HEDDLE_T, b) == 0);
    bound_free(b);
    trial_pair_free(&A, d);
}

TEST(a_bound_kernel_tells_what_it_holds)
{
    trial_on_devices(describes);
}

/* A kernel on a transpose that others shared, then its own, beside one that made it for itself; with other
 * values, too. */
static void adopts(const struct device *d)
{
    static const char *const kernels[] = {"csr_naive", "csr_adaptive", "ellr"};
    struct trial_pair A;
    trial_pair_new(&A, d, "tall");
    struct view views[] = {A.there, trial_as_coo(d, &A.there)};
    for (int i = 0; i < 6; i++) {
        const struct view *v = &views[i / 3];
        struct view turned = {.format = HEDDLE_CSR};
        struct bound *alone, *b;
        struct bound_info want, got;
        CHECK_OK(bound_new(&alone, d, kernels[i % 3], v, HEDDLE_T));
        CHECK_OK(bound_turn(&turned.csr, d, v));
        CHECK_OK(bound_new(&b, d, kernels[i % 3], &turned, HEDDLE_N));
        bound_adopt(b, &turned.csr, v, 5);
        bound_describe(alone, &want);
        bound_describe(b, &got);
        CHECK_THAT(got.transposed && got.bytes == want.bytes && got.convert_ms >= 5 &&
                       bound_refers(b) == bound_refers(alone),
                   "%s holds %lld bytes, not %lld", kernels[i % 3], (long long)got.bytes,
                   (long long)want.bytes);
        CHECK(trial_wrong_entries(d, v, &A.here, HEDDLE_T, b) == 0);
        ((double *)A.here.val)[7] += 3;
        CHECK_OK(device_copy(d, A.there.csr.val, A.here.val, A.here.nnz * 8));
        CHECK_OK(bound_update(b, v));
        CHECK_THAT(trial_wrong_entries(d, v, &A.here, HEDDLE_T, b) == 0, "%s keeps old values",
                   kernels[i % 3]);
        bound_free(alone);
        bound_free(b);
    }
    device_free(d, views[1].coo.row);
    trial_pair_free(&A, d);
}

TEST(a_kernel_may_take_over_a_transpose_that_was_made_for_several)
{
    trial_on_devices(adopts);
}

static void measures_with_something(const struct device *d)
{
    struct trial_pair A;
    struct vectors v = {0};
    double x = 0;
    trial_pair_new(&A, d, "even rows");
    CHECK_OK(vectors_new(&v, d, &A.there, HEDDLE_CACHE_UNKNOWN));
    CHECK_OK(device_read(d, &x, v.x, sizeof x));
    CHECK(x > 1e-6 && x < 1e6);
    vectors_free(&v, d);
    trial_pair_free(&A, d);
}

TEST(plans_do_not_measure_with_zeros)
{
    trial_on_devices(measures_with_something);
}

static void plans(const struct device *d)
{
    static const char *const names[] = {"even rows", "staircase", "tall", "huge first row", "no entries"};
    for (int m = 0; m < 5; m++) {
        struct trial_pair A;
        trial_pair_new(&A, d, names[m]);
        struct view views[] = {A.there, trial_as_coo(d, &A.there)};
        for (int i = 0; i < 12; i += m < 1 ? 1 : 3) {
            heddle_op op = i % 2 ? HEDDLE_T : HEDDLE_N;
            heddle_plan_options o = {.deterministic = i / 2 % 2,
                                     .expected_products = i / 4 % 3 == 2 ? 1
                                                        : m + i < 2      ? 1000000
                                                                         : 100};
            const struct view *v = &views[i / 4 % 3 == 1];
            struct bound *b;
            heddle_plan_desc desc;
            CHECK_OK(plan_choose(&b, &desc, d, v, op, &o));
            CHECK_THAT(b && trial_wrong_entries(d, v, &A.here, op, b) == 0, "'%s', %s for op %d", names[m],
                       desc.kernel, op);
            CHECK_THAT(!o.deterministic || desc.deterministic, "'%s', %s for op %d", names[m], desc.kernel,
                       op);
            CHECK(strncmp(desc.kernel, "cpu_", 4) != 0);
            bound_free(b);
        }
        device_free(d, views[1].coo.row);
        trial_pair_free(&A, d);
    }
}

TEST(a_plan_is_right_and_keeps_what_it_promises)
{
    trial_on_devices(plans);
}

static void keeps_limits(const struct device *d)
{
    struct trial_pair A;
    struct bound *b;
    heddle_plan_desc desc;
    trial_pair_new(&A, d, "even rows");
    CHECK_OK(plan_choose(&b, &desc, d, &A.there, HEDDLE_N, &(heddle_plan_options){.memory_limit = -1}));
    CHECK(desc.bytes == 0);
    bound_free(b);
    CHECK_FAILS(plan_choose(&b, &desc, d, &A.there, HEDDLE_T,
                            &(heddle_plan_options){.memory_limit = -1, .deterministic = 1}),
                HEDDLE_NO_KERNEL, "no deterministic kernel fits");
    CHECK_FAILS(plan_choose(&b, &desc, d, &A.there, HEDDLE_T,
                            &(heddle_plan_options){.kernel = "csr_naive_t", .deterministic = 1}),
                HEDDLE_NO_KERNEL, "not deterministic");
    CHECK_OK(plan_choose(&b, &desc, d, &A.there, HEDDLE_N, &(heddle_plan_options){.kernel = "ell"}));
    CHECK(strcmp(desc.kernel, "ell") == 0 && desc.prepare_ms > 0 && desc.product_ms > 0 &&
          desc.immediate_ms > 0);
    bound_free(b);
    trial_pair_free(&A, d);
}

TEST(a_plan_keeps_within_its_limits)
{
    trial_on_devices(keeps_limits);
}
