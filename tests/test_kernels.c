/* SPDX-License-Identifier: MIT
 *
 * A kernel is tested by existing: every kernel x variant x operation x alpha and beta x awkward matrix x
 * number of threads x instruction set that this processor has. */
#include <string.h>

#include "trial.h"

/* Under ThreadSanitizer everything takes some thirty times as long, and races depend neither on types nor
 * on scalars nor on instruction sets: there a test takes one of each, the smaller matrices, and few
 * threads. */
#ifdef __SANITIZE_THREAD__
#define VARIANTS (1u << VARIANT_f64_i32)
#define ENTRIES_MOST 8000
#define PAIRS 2
#define ISA_FIRST ISA_generic
#define ISA_LAST ISA_generic
static const int threads_tried[] = {2, 7};
#else
#define ISA_FIRST 0
#define ISA_LAST (ISA_COUNT - 1)
#define VARIANTS (trial_brief() ? TWO_VARIANTS : MOST_VARIANTS)
#define ENTRIES_MOST (trial_brief() ? (int64_t)20000 : INT64_MAX)
#define PAIRS SCALARS
static const int threads_tried[] = {1, 2, 7, 64};
#endif
#define THREADS_TRIED (int)(sizeof threads_tried / sizeof threads_tried[0])

/* Of scalars: all of them in double precision, real and complex, and where there is time. */
static int pairs(const struct trial *t)
{
    const int is_double = t->A.value == HEDDLE_F64 || t->A.value == HEDDLE_C64;
    return trial_slow() || (is_double && !trial_brief()) ? PAIRS : 2;
}

/* Large matrices are for f32 and f64: rarer types are cut where these are. */
static int small_enough(const struct awkward *w, int variant)
{
    const int64_t most = variant < REAL_VARIANTS || trial_slow() ? ENTRIES_MOST : 20000;
    int64_t entries = 0;
    for (int64_t i = 0; i < w->rows; i++)
        entries += w->length(i, w->rows, w->cols);
    return entries <= most;
}

enum { ALL, HALF };

/* Runs `body` for each kernel x matrix x variant x op; HALF: a variant meets half of the matrices, unless
 * there is time. */
static void for_variants(unsigned variants, int share, int exact, void (*body)(struct trial *t))
{
    for (int m = 0; m < awkward_count; m++)
        for (int variant = 0; variant < VARIANT_COUNT; variant++)
            for (int op = HEDDLE_N; op <= (int)trial_last_op(variant); op++) {
                const struct device device = {.threads = 3, .isa = cpu_this()->isa};
                struct trial t = {.name = "cpu", .device = device};
                if (!(variants & VARIANTS & 1u << variant) || !small_enough(&awkward[m], variant) ||
                    (share == HALF && !trial_has_turn(variant, m)))
                    continue;
                trial_new(&t, &awkward[m], variant, (heddle_op)op, exact);
                for (int k = 0; k < kernel_count(); k++) {
                    t.kernel = kernel_at(k)->name;
                    t.device = device;
                    if (awkward_wants(t.kernel) && kernel_has(kernel_at(k), t.A.value))
                        body(&t);
                }
                trial_free(&t);
            }
}

/* For what depends on types no more than by their size, real or complex. */
static unsigned few_variants(void)
{
    return trial_slow() ? ALL_VARIANTS : trial_brief() ? TWO_VARIANTS : TWO_VARIANTS | 1u << VARIANT_c64_i32;
}

/* Where rows are cut depends on threads, and on no type: unless there is time, or they are few, f64 meets the
 * one half of their numbers and other types meet the other. */
static int meets_threads(const struct trial *t, int i)
{
    return THREADS_TRIED <= 2 || trial_has_turn(t->A.value == HEDDLE_F64, i);
}

/* What is left over of a row depends on instruction sets: those but the best one meet one number. */
static void on_all_devices(struct trial *t)
{
    for (int i = 0; i < THREADS_TRIED; i++)
        for (int isa = ISA_FIRST; meets_threads(t, i) && isa <= (int)ISA_LAST; isa++) {
            const int is_best = isa == (int)cpu_this()->isa, is_more = i >= THREADS_TRIED / 2;
            t->device = (struct device){.threads = threads_tried[i], .isa = (enum isa)isa};
            if (isa_runs((enum isa)isa) && (is_best || is_more || trial_slow()))
                trial_products(t, 1, pairs(t));
        }
}

TEST(every_kernel_is_exact_on_small_integers)
{
    for_variants(ALL_VARIANTS, ALL, 1, on_all_devices);
}

static void within_bounds(struct trial *t)
{
    trial_products(t, 0, 3);
}

TEST(every_kernel_is_within_the_error_bound_on_random_data)
{
    if (trial_brief())
        SKIP("other values lie at the same addresses");
    for_variants(ALL_VARIANTS, HALF, 0, within_bounds);
}

static void all_options(struct trial *t)
{
    trial_options(t, pairs(t));
}

TEST(every_option_of_every_kernel_gives_the_same_product)
{
    for_variants(few_variants(), HALF, 1, all_options);
}

static void other_storage(struct trial *t)
{
    trial_other_storage(t, 3);
}

TEST(a_matrix_stored_by_columns_or_as_coordinates_gives_the_same_product)
{
    for_variants(few_variants(), HALF, 1, other_storage);
}

TEST(repeatable_kernels_give_bitwise_the_same_result_again)
{
    for_variants(ALL_VARIANTS, HALF, 0, trial_repeatable);
}

/* y full of NaN must not show through where beta = 0. */
static void y_not_read(struct trial *t)
{
    struct bound *b = trial_bind(t);
    for (int i = 0; b && i < SCALARS; i++) {
        const struct scalars pair = trial_scalars(t, i);
        if (pair.beta != 0)
            continue;
        trial_multiply(t, b, pair);
        CHECK_THAT(trial_wrong(t, pair, 1) == 0, "%s, '%s': NaN in y survives beta = 0", t->kernel,
                   t->matrix);
    }
    bound_free(b);
}

TEST(beta_zero_does_not_read_y)
{
    for_variants(few_variants(), HALF, 1, y_not_read);
}

TEST(alpha_zero_reads_neither_matrix_nor_x)
{
    for_variants(few_variants(), HALF, 1, trial_inputs_not_read);
    struct view poisoned = {.format = HEDDLE_CSR,
                            .csr = {.rows = 3,
                                    .cols = 3,
                                    .nnz = 5,
                                    .value = HEDDLE_F64,
                                    .offset = HEDDLE_I32,
                                    .row_ptr = (void *)(uintptr_t)4,
                                    .col = (void *)(uintptr_t)4,
                                    .val = (void *)(uintptr_t)8}};
    double y[3] = {1, 2, 3};
    const char *ran;
    CHECK_OK(immediate_run(&(struct device){.threads = 2, .isa = ISA_generic}, &poisoned, HEDDLE_N,
                           (struct scalars){.beta = 2}, (void *)(uintptr_t)8, y, &(struct room){0}, &ran));
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 6);
    CHECK(strcmp(ran, "scale") == 0);
}

TEST(nan_and_inf_show_exactly_where_they_are_touched)
{
    for_variants(ALL_VARIANTS, HALF, 1, trial_specials);
}

static void unaligned(struct trial *t)
{
    trial_unaligned(t, 2);
}

TEST(arrays_need_no_more_than_the_alignment_of_an_element_and_nothing_behind_them)
{
    for_variants(ALL_VARIANTS, HALF, 1, unaligned);
}

TEST(a_corrupted_result_is_noticed)
{
    struct trial t = {.kernel = "cpu_csr", .device = {.threads = 2, .isa = ISA_generic}};
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 0);
    struct bound *b = trial_bind(&t);
    trial_multiply(&t, b, (struct scalars){.alpha = 1});
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 0);
    double *y = (double *)t.got + GUARD;
    y[100] *= 1 + 1e-12;
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 1);
    y[-1] = 0.123;
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 2);
    bound_free(b);
    trial_free(&t);
}

TEST(every_kernel_tells_about_itself)
{
    CHECK(kernel_count() == KERNEL_COUNT);
    for (int i = 0; i < kernel_count(); i++) {
        heddle_kernel_desc d;
        CHECK_OK(kernel_describe(i, &d));
        CHECK(kernel_by_name(d.name) == kernel_at(i));
        CHECK((int)kernel_at(i)->id == i);
        CHECK(format_by_name(d.format) >= 0 && d.ops[0] && d.source[0] &&
              strcmp(d.device, device_kind_name(kernel_at(i)->device)) == 0);
    }
    CHECK(strcmp(kernel_by_name("cpu_csr")->name, "cpu_csr") == 0 &&
          kernel_by_name("cpu_csr")->device == DEVICE_cpu);
    CHECK(kernel_by_name("csr_naive")->device == DEVICE_gpu);
    CHECK(kernel_by_name("cpu_nothing") == NULL && kernel_at(-1) == NULL && kernel_at(KERNEL_COUNT) == NULL);
    heddle_kernel_desc d;
    CHECK_FAILS(kernel_describe(KERNEL_COUNT, &d), HEDDLE_BAD_ARGUMENT, "no kernel number");
    CHECK_STATUS(kernel_describe(0, NULL), HEDDLE_BAD_ARGUMENT);
}
