/* SPDX-License-Identifier: MIT
 *
 * A plan never loses: by a clock of the test's own, what it keeps is ahead of the immediate product, for the
 * mix of products that the caller has stated, by more than the times spread; else it is the immediate
 * product. */
#include <math.h>
#include <string.h>

#include "heddle.h"
#include "plan/run.h"
#include "test.h"

/* What products take: those of heddle_mv's kernel and of one other; all others far longer. */
static struct {
    double immediate[2], other[2]; /* ms: warm, cold */
    double jitter;                 /* share of the time, up or down from one product to the next */
    double later;                  /* what the other takes more once it has been measured ten times */
    int products;
} clock_says;

static const char *other = "tmpl:";
static heddle_type other_value = HEDDLE_F64;

static double say(const struct bound_info *b, int cold)
{
    const char *kernel = b->kernel;
    static const double swing[] = {0, 1, -1, 0.5, -0.5, 1, -1};
    double wave = 1 + clock_says.jitter * swing[clock_says.products++ % 7];
    if (strncmp(kernel, "csr_weave", 9) == 0 && b->value == HEDDLE_F64)
        return clock_says.immediate[cold] * wave;
    if (strncmp(kernel, other, strlen(other)) != 0 || b->value != other_value)
        return 1000;
    clock_says.other[0] += clock_says.products == 10 ? clock_says.later : 0;
    return clock_says.other[cold] * wave;
}

/* Is the plan the other kernel? */
static int values_fixed;
static int keeps_other(heddle_cache cache, double warm, double cold, double jitter)
{
    heddle *h;
    heddle_matrix *A;
    heddle_plan *p;
    heddle_plan_desc d = {0};
    clock_says.immediate[0] = clock_says.immediate[1] = 10;
    clock_says.other[0] = warm;
    clock_says.other[1] = cold;
    clock_says.jitter = jitter;
    clock_says.products = 0;
    measure_with(say);
    CHECK_OK(heddle_open(&h, "emu:wave=32,seed=3"));
    CHECK_OK(heddle_generate(&A, h, "grid2d:n=40", HEDDLE_F64));
    CHECK_OK(heddle_plan_create(
        &p, h, A,
        &(heddle_plan_options){.expected_products = 10000000, .cache = cache, .values_fixed = values_fixed}));
    CHECK_OK(heddle_plan_info(p, HEDDLE_N, &d));
    heddle_matrix_desc A_desc;
    CHECK_OK(heddle_matrix_info(A, &A_desc));
    CHECK_STATUS(heddle_plan_update_values(p, A_desc.val), values_fixed ? HEDDLE_BAD_ARGUMENT : HEDDLE_OK);
    CHECK(d.product_ms <= d.immediate_ms && d.break_even >= 0);
    CHECK_THAT(strncmp(d.kernel, other, strlen(other)) == 0 || strncmp(d.kernel, "csr_weave", 9) == 0, "%s",
               d.kernel);
    heddle_plan_free(p);
    heddle_matrix_free(A);
    heddle_close(h);
    measure_with(NULL);
    return strncmp(d.kernel, other, strlen(other)) == 0 && d.value == value_type(other_value);
}

TEST(what_is_faster_in_the_cache_and_out_of_it_is_kept)
{
    CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 9, 9, 0));
    CHECK(keeps_other(HEDDLE_CACHE_WARM, 9, 9, 0));
    CHECK(keeps_other(HEDDLE_CACHE_COLD, 9, 9, 0));
}

TEST(what_is_as_fast_or_slower_is_not)
{
    CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 10, 10, 0));
    CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 11, 11, 0));
}

TEST(the_mean_decides_unless_the_caller_knows)
{
    CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 5, 20, 0));
    CHECK(keeps_other(HEDDLE_CACHE_WARM, 5, 20, 0));
    CHECK(!keeps_other(HEDDLE_CACHE_COLD, 5, 20, 0));
    CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 14, 4, 0));
    CHECK(!keeps_other(HEDDLE_CACHE_WARM, 14, 4, 0));
    CHECK(keeps_other(HEDDLE_CACHE_COLD, 14, 4, 0));
}

TEST(a_lead_within_the_spread_is_none)
{
    CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 9.8, 9.8, 0));
    CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 9.8, 9.8, 0.1));
    CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 5, 5, 0.1));
}

TEST(who_only_once_was_ahead_does_not_stay_so)
{
    clock_says.later = 8;
    CHECK(!keeps_other(HEDDLE_CACHE_WARM, 5, 5, 0));
    clock_says.later = 0;
    CHECK(keeps_other(HEDDLE_CACHE_WARM, 5, 5, 0));
}

/* However fast it would be: a plan looks at values only where the caller says that they stay. */
TEST(a_storage_that_knows_values_is_for_fixed_ones_alone)
{
    other = "tmplv:";
    CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 1, 1, 0));
    values_fixed = 1;
    CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 1, 1, 0));
    values_fixed = 0;
    other = "tmpl:";
}

/* All of this matrix are numbers of f32, too. */
TEST(narrower_values_are_for_fixed_ones_alone)
{
    static const char *const kernels[] = {"csr_weave", "tmpl:", "sell:"};
    other_value = F32_F64;
    for (int i = 0; i < 3; i++) {
        other = kernels[i];
        CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 1, 1, 0));
        values_fixed = 1;
        CHECK(keeps_other(HEDDLE_CACHE_UNKNOWN, 1, 1, 0));
        CHECK(!keeps_other(HEDDLE_CACHE_UNKNOWN, 11, 11, 0));
        values_fixed = 0;
    }
    other_value = HEDDLE_F64;
    other = "tmpl:";
}

TEST(a_storage_that_knows_values_is_refused_by_name_unless_they_are_fixed)
{
    heddle *h;
    heddle_matrix *A;
    heddle_plan *p;
    CHECK_OK(heddle_open(&h, "emu"));
    CHECK_OK(heddle_generate(&A, h, "grid2d:n=40", HEDDLE_F64));
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.kernel = "tmplv"}), HEDDLE_NO_KERNEL,
                "fixed");
    CHECK_OK(heddle_plan_create(&p, h, A, &(heddle_plan_options){.kernel = "tmplv", .values_fixed = 1}));
    heddle_plan_free(p);
    heddle_matrix_free(A);
    heddle_close(h);
}

TEST(an_unknown_cache_is_refused)
{
    heddle *h;
    heddle_matrix *A;
    heddle_plan *p;
    CHECK_OK(heddle_open(&h, "cpu"));
    CHECK_OK(heddle_generate(&A, h, "grid2d:n=4", HEDDLE_F64));
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.cache = (heddle_cache)3}),
                HEDDLE_BAD_ARGUMENT, "cache is 3");
    CHECK_FAILS(heddle_plan_create(&p, h, A, &(heddle_plan_options){.cache = (heddle_cache)-1}),
                HEDDLE_BAD_ARGUMENT, "cache is -1");
    heddle_matrix_free(A);
    heddle_close(h);
}
