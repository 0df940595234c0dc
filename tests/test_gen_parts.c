/* SPDX-License-Identifier: MIT
 *
 * What families are made of: row-length profiles, integer functions, permutations, the placing of columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gen/build.h"
#include "gen/profile.h"
#include "gen/random.h"
#include "test.h"

/* -------------------------------------------------------- profiles ---------------------------- */

struct found {
    int64_t total, longest, shortest, empty, longest_count;
    double deviation;
};

static struct found lengths_of(const struct profile *p, int64_t rows)
{
    struct found f = {.shortest = INT64_MAX};
    double squares = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t n = profile_length(p, i);
        f.total += n;
        f.longest_count = n > f.longest ? 1 : f.longest_count + (n == f.longest);
        f.longest = n > f.longest ? n : f.longest;
        f.shortest = n < f.shortest ? n : f.shortest;
        f.empty += n == 0;
        squares += (double)n * (double)n;
    }
    double mean = (double)f.total / (double)rows;
    f.deviation = sqrt(fmax(0, squares / (double)rows - mean * mean));
    return f;
}

/* Mean and variance of a Poisson number are equal, for the exact kind (up to 64) and for the normal one. */
TEST(poisson_numbers_have_the_mean_and_the_variance_that_they_should)
{
    static const double means[] = {0, 0.05, 1, 3.9, 4.1, 17, 63.5, 64.5, 1000};
    for (int m = 0; m < 9; m++) {
        struct poisson p = poisson_for((int64_t)(means[m] * 65536));
        double sum = 0, squares = 0, n = 40000;
        for (int64_t i = 0; i < 40000; i++) {
            struct random r = random_for(7, i);
            double draw = (double)random_poisson(&r, &p);
            sum += draw;
            squares += draw * draw;
        }
        double mean = sum / n, variance = squares / n - mean * mean;
        CHECK_THAT(fabs(mean - means[m]) <= 0.02 * sqrt(means[m]) + 1e-3 * means[m], "%g: mean %g", means[m],
                   mean);
        CHECK_THAT(fabs(variance - means[m]) < 0.04 * means[m] + 1e-3, "%g: variance %g", means[m], variance);
    }
}

TEST(a_profile_meets_total_and_longest_exactly_and_the_deviation_nearly)
{
    static const struct profile_wish wishes[] = {
        {1000, 6000, 1, 40, 40, 0, 300, SHAPE_NORMAL, 0, 1, 1, 1},
        {1000, 6000, 1, 40, 40, 0, 300, SHAPE_EXPONENTIAL, 0, 1, 3, 1},
        {99999, 5000000, 3, 81, 81, 0, 1500, SHAPE_NORMAL, 0, 3, 3, 1},
        {99999, 500000, 0, 2000, 2000, 0, 2500, SHAPE_EXPONENTIAL, 0, 1, 1, 1},
        {99999, 500000, 1, 5000, 5000, 0, 5000, SHAPE_POWER, 250, 1, 1, 1},
        {480, 17087, 0, 36, 36, 0, 49, SHAPE_NORMAL, 0, 12, 12, 1},
        {5000, 50000, 0, 10000, 0, 0, 700, SHAPE_NORMAL, 0, 1, 1, 1},
        {1000000, 40000000, 0, 100, 100, 0, 4000, SHAPE_NORMAL, 0, 1, 16, 1},
    };
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        const struct profile_wish *w = &wishes[i];
        struct profile p;
        if (!CHECK_OK(profile_new(&p, w)))
            continue;
        struct found f = lengths_of(&p, w->rows);
        double wanted = (double)w->deviation / 100;
        CHECK_THAT(f.total == w->nnz, "wish %zu: total %lld", i, (long long)f.total);
        CHECK_THAT(w->longest == 0 || f.longest == w->longest, "wish %zu: longest %lld", i,
                   (long long)f.longest);
        CHECK_THAT(f.shortest >= w->shortest && f.longest <= w->most, "wish %zu: bounds", i);
        CHECK_THAT(fabs(f.deviation - wanted) <= 0.05 * wanted, "wish %zu: deviation %g, not %g", i,
                   f.deviation, wanted);
        profile_free(&p);
    }
}

TEST(a_profile_without_wishes_is_as_even_as_whole_numbers_allow)
{
    struct profile p;
    struct profile_wish w = {
        .rows = 777, .nnz = 5000, .most = 90, .deviation = -1, .multiple = 1, .group = 1};
    CHECK_OK(profile_new(&p, &w));
    struct found f = lengths_of(&p, 777);
    CHECK(f.total == 5000 && f.shortest == 6 && f.longest == 7);
    profile_free(&p);
}

TEST(a_power_law_starts_at_the_shortest_length_and_is_cut_at_the_longest)
{
    struct profile p;
    struct profile_wish w = {
        .rows = 100000, .nnz = 310000, .shortest = 1, .most = 4700, .longest = 4700, .deviation = -1};
    w.shape = SHAPE_POWER, w.exponent = 210, w.multiple = 1, w.group = 1;
    CHECK_OK(profile_new(&p, &w));
    struct found f = lengths_of(&p, 100000);
    CHECK(f.total == 310000 && f.shortest == 1 && f.longest == 4700);
    CHECK_THAT(f.longest_count <= 20, "%lld rows are longest", (long long)f.longest_count);
    profile_free(&p);
}

TEST(empty_rows_of_a_profile_are_as_many_as_asked_for)
{
    struct profile p;
    struct profile_wish w = {
        .rows = 1000, .nnz = 3000, .shortest = 1, .most = 500, .empty = 900, .deviation = 2000};
    w.shape = SHAPE_EXPONENTIAL, w.multiple = 1, w.group = 1;
    CHECK_OK(profile_new(&p, &w));
    struct found f = lengths_of(&p, 1000);
    CHECK_THAT(f.total == 3000 && f.empty == 900, "total %lld, empty %lld", (long long)f.total,
               (long long)f.empty);
    profile_free(&p);
}

TEST(random_wishes_are_met_or_refused)
{
    uint64_t state = 3;
    for (int round = 0; round < 400; round++) {
        struct profile_wish w = {.rows = 1 + (int64_t)(test_random(&state) % 300), .multiple = 1, .group = 1};
        w.shortest = (int64_t)(test_random(&state) % 4);
        w.most = w.shortest + (int64_t)(test_random(&state) % 60);
        w.nnz = w.rows * w.shortest +
                (int64_t)(test_random(&state) % (uint64_t)(w.rows * (w.most - w.shortest) + 1));
        w.longest = test_random(&state) % 2 ? w.most : 0;
        w.deviation = (int64_t)(test_random(&state) % 3000) - 1000;
        w.shape = (enum profile_shape)(test_random(&state) % 3);
        w.exponent = 110 + (int64_t)(test_random(&state) % 400);
        w.multiple += (int64_t)(test_random(&state) % 4);
        w.group += (int64_t)(test_random(&state) % 4);
        struct profile p;
        int fits = w.longest == 0 || w.nnz >= (w.rows - 1) * w.shortest + w.longest;
        CHECK_STATUS(profile_new(&p, &w), fits ? HEDDLE_OK : HEDDLE_BAD_ARGUMENT);
        if (fits) {
            struct found f = lengths_of(&p, w.rows);
            CHECK_THAT(f.total == w.nnz && f.shortest >= w.shortest && f.longest <= w.most, "round %d",
                       round);
            CHECK_THAT(w.longest == 0 || f.longest == w.longest, "round %d", round);
        }
        profile_free(&p);
    }
}

TEST(impossible_wishes_are_refused)
{
    struct profile p;
    struct profile_wish w = {.rows = 10, .nnz = 101, .most = 10, .deviation = -1, .multiple = 1, .group = 1};
    CHECK_FAILS(profile_new(&p, &w), HEDDLE_BAD_ARGUMENT, "101 entries do not fit 10 rows");
    w.nnz = -1;
    CHECK_STATUS(profile_new(&p, &w), HEDDLE_BAD_ARGUMENT);
    w.nnz = 50, w.longest = 11;
    CHECK_FAILS(profile_new(&p, &w), HEDDLE_BAD_ARGUMENT, "contradict");
}

/* -------------------------------------------------------- integer functions ------------------- */

TEST(permutations_are_permutations_and_can_be_undone)
{
    for (int64_t n = 1; n < 300; n += n < 20 ? 1 : 37) {
        struct permutation p = permutation_for(9, n);
        char seen[300] = {0};
        for (int64_t i = 0; i < n; i++) {
            int64_t j = permute(&p, i);
            CHECK_THAT(j >= 0 && j < n && !seen[j] && unpermute(&p, j) == i, "n %lld, i %lld", (long long)n,
                       (long long)i);
            seen[j >= 0 && j < n ? j : 0] = 1;
        }
    }
}

TEST(partners_are_mutual)
{
    for (int64_t n = 1; n < 200; n += 13)
        for (int64_t i = 0; i < n; i++) {
            int64_t j = pair_of(4, i, n);
            CHECK_THAT(j >= 0 && j < n && pair_of(4, j, n) == i, "n %lld, i %lld", (long long)n,
                       (long long)i);
        }
}

TEST(a_permutation_leaves_little_in_order)
{
    struct permutation p = permutation_for(1, 10000);
    int64_t neighbours = 0, fixed = 0;
    for (int64_t i = 0; i + 1 < 10000; i++) {
        neighbours += llabs(permute(&p, i) - permute(&p, i + 1)) <= 10;
        fixed += permute(&p, i) == i;
    }
    CHECK_THAT(neighbours < 60 && fixed < 10, "%lld neighbours stay near, %lld do not move",
               (long long)neighbours, (long long)fixed);
}

TEST(roots_are_exact)
{
    for (int64_t r = 0; r < 2000; r++) {
        CHECK(root2((uint64_t)(r * r)) == r && (r == 0 || root2((uint64_t)(r * r - 1)) == r - 1));
        CHECK(root3(r * r * r) == r && (r == 0 || root3(r * r * r - 1) == r - 1));
    }
    CHECK(root2(UINT64_MAX) == 0xffffffff);
}

TEST(logarithms_powers_and_sines_agree_with_the_real_ones)
{
    for (uint64_t x = 1; x < (uint64_t)1 << 62; x += 1 + x / 7)
        CHECK_THAT(fabs((double)log2_fixed(x) / (double)ONE - log2((double)x)) < 1e-6, "log2 of %llu",
                   (unsigned long long)x);
    for (double x = -20; x < 37; x += 0.37) {
        double wanted = exp2(floor(x * (double)ONE) / (double)ONE);
        CHECK_THAT(fabs((double)exp2_fixed((int64_t)floor(x * (double)ONE)) / (double)ONE - wanted) <
                       1e-6 * wanted + 2e-7,
                   "2^%g", x);
    }
    CHECK(exp2_fixed(-40 * ONE) == 0 && exp2_fixed(60 * ONE) == (int64_t)1 << 62);
    for (double t = -1.5; t < 1.5; t += 0.013)
        CHECK_THAT(fabs((double)sine((int64_t)floor(t * (double)ONE)) / (double)ONE -
                        sin(2 * 3.14159265358979 * t)) < 2e-6,
                   "sine of %g turns", t);
}

/* -------------------------------------------------------- placing ----------------------------- */

TEST(columns_are_sorted_whatever_their_order_was)
{
    uint64_t state = 5;
    static int32_t col[5000];
    for (int kind = 0; kind < 6; kind++)
        for (int64_t count = 0; count <= 5000; count += 1 + count / 2) {
            int64_t sum = 0;
            for (int64_t k = 0; k < count; k++) {
                int32_t saw = (int32_t)(k < count / 2 ? k : count - k);
                col[k] = kind == 0 ? (int32_t)k
                       : kind == 1 ? (int32_t)(count - k)
                       : kind == 2 ? 7
                       : kind == 3 ? saw
                                   : (int32_t)(test_random(&state) % (kind == 4 ? 3u : 1u << 30));
                sum += col[k];
            }
            sort_columns(col, count);
            for (int64_t k = 0; k < count; k++) {
                sum -= col[k];
                CHECK_THAT(k == 0 || col[k - 1] <= col[k], "kind %d, count %lld", kind, (long long)count);
            }
            CHECK(sum == 0);
        }
}

TEST(settled_columns_are_distinct_and_within_the_matrix)
{
    uint64_t state = 8;
    int32_t col[64];
    for (int round = 0; round < 2000; round++) {
        int64_t cols = 1 + (int64_t)(test_random(&state) % 64);
        int64_t count = (int64_t)(test_random(&state) % (uint64_t)(cols + 1));
        for (int64_t k = 0; k < count; k++)
            col[k] = (int32_t)(test_random(&state) % (uint64_t)cols);
        sort_columns(col, count);
        settle(col, count, cols);
        for (int64_t k = 0; k < count; k++)
            CHECK_THAT(col[k] >= 0 && col[k] < cols && (k == 0 || col[k - 1] < col[k]), "round %d", round);
    }
}

TEST(settling_leaves_distinct_columns_alone)
{
    int32_t col[] = {0, 4, 5, 9};
    settle(col, 4, 10);
    CHECK(col[0] == 0 && col[1] == 4 && col[2] == 5 && col[3] == 9);
}

TEST(fixed_columns_are_put_between_the_others)
{
    int32_t col[8] = {0, 1, 4, 5}, fixed[] = {1, 5, 6, 9};
    static const int32_t wanted[] = {0, 1, 2, 5, 6, 7, 8, 9};
    insert_fixed(col, 4, fixed, 4);
    CHECK(memcmp(col, wanted, sizeof wanted) == 0);
}

TEST(reflection_stays_within_the_matrix)
{
    for (int64_t cols = 1; cols < 9; cols++)
        for (int64_t at = -50; at < 50; at++) {
            int32_t col = reflect(at, cols);
            CHECK_THAT(col >= 0 && col < cols && (at < 0 || at >= cols || col == at), "%lld of %lld",
                       (long long)at, (long long)cols);
        }
}
