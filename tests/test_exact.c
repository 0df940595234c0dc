/* SPDX-License-Identifier: MIT
 *
 * One entry dropped, doubled, misplaced or wrongly conjugated in a row of 10 to 10 million entries, every
 * type of numbers, N, T and H: integers find it always.  With HEDDLE_TABLE=1 it prints what the two halves
 * of verification find. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "test.h"
#include "trial.h"
#include "verify/verify.h"

#define LONGEST 10000000
#define LANES 32

/* A matrix whose row (column, for T) 1 has an entry at every place; 0 and 2 have one each. */
struct long_row {
    struct csr A;
    heddle_op op;
    int64_t n;
    void *x;
};

static const heddle_type types[] = {HEDDLE_F32, HEDDLE_F64,  HEDDLE_C32, HEDDLE_C64,
                                    HEDDLE_F16, HEDDLE_BF16, F32_F64};
#define TYPES 7

static heddle_op last_op(heddle_type type)
{
    return is_complex(type) ? HEDDLE_H : HEDDLE_T;
}

static void row_new(struct long_row *r, int64_t n, heddle_type type, heddle_op op)
{
    *r = (struct long_row){.op = op, .n = n};
    CHECK_OK(csr_new(&r->A, op == HEDDLE_N ? 3 : n, op == HEDDLE_N ? n : 3, n + 2, type, HEDDLE_I64));
    int64_t *ptr = r->A.row_ptr;
    ptr[0] = 0;
    if (op == HEDDLE_N) {
        ptr[1] = 1, ptr[2] = n + 1, ptr[3] = n + 2;
        r->A.col[0] = 3, r->A.col[n + 1] = 4;
        for (int64_t k = 0; k < n; k++)
            r->A.col[1 + k] = (int32_t)k;
    } else {
        r->A.col[0] = 0, r->A.col[n + 1] = 2;
        for (int64_t i = 0; i < n; i++) {
            r->A.col[1 + i] = 1;
            ptr[i + 1] = i + 2;
        }
        ptr[n] = n + 2;
    }
    r->x = mem_alloc(n, vector_size(type));
}

static void row_free(struct long_row *r)
{
    csr_free(&r->A);
    mem_free(r->x);
}

static double _Complex positive(uint64_t *state)
{
    double _Complex v;
    RE(v) = 0.5 + (double)(test_random(state) >> 11) * 0x1p-54;
    IM(v) = 0.5 + (double)(test_random(state) >> 11) * 0x1p-54;
    return v;
}

/* Numbers of all bits, values and x positive: the worst of rounding. */
static void set_reals(struct long_row *r)
{
    uint64_t state = 5;
    for (int64_t k = 0; k < r->A.nnz; k++)
        value_put(r->A.val, r->A.value, k, positive(&state));
    for (int64_t i = 0; i < r->n; i++)
        value_put(r->x, vector_type(r->A.value), i, positive(&state));
}

static void set_integers(struct long_row *r)
{
    exact_values(r->A.val, &r->A);
    exact_vector(r->x, &r->A, r->n, 0);
}

enum plant { NOTHING, DROPPED, DOUBLED, OTHER_ROW, OTHER_COLUMN, COLUMN_0, CONJUGATED, PLANTS };
static const char *const plant_name[PLANTS] = {"nothing",         "dropped",   "doubled",   "in another row",
                                               "with the next x", "with x[0]", "conjugated"};

/* In the arithmetic of y's type: sums and products of floats, rounded to float, are right in double
 * before. */
static double _Complex rounded(const struct long_row *r, double _Complex v)
{
    c64 y;
    value_put(&y, vector_type(r->A.value), 0, v);
    return value_at(&y, vector_type(r->A.value), 0);
}

/* Each part of a product by two roundings of its own; `other` conjugates where the operation does not. */
static double _Complex term(const struct long_row *r, int64_t k, int64_t i, int other)
{
    double _Complex a = value_at(r->A.val, r->A.value, k), x = value_at(r->x, vector_type(r->A.value), i), p,
                    q;
    if ((r->op == HEDDLE_H) != other)
        IM(a) = -IM(a);
    RE(p) = RE(a) * RE(x), IM(p) = RE(a) * IM(x);
    RE(q) = -IM(a) * IM(x), IM(q) = IM(a) * RE(x);
    return rounded(r, rounded(r, p) + rounded(r, q));
}

/* y as a kernel of LANES lanes would compute it, with the entry `at` of the long row wrong. */
static void multiply(double _Complex y[3], const struct long_row *r, enum plant plant, int64_t at)
{
    const int n = r->op == HEDDLE_N;
    double _Complex lane[LANES] = {0};
    for (int64_t k = 0; k < r->n; k++)
        if (k != at || plant == NOTHING || plant == DOUBLED || plant == CONJUGATED)
            lane[k % LANES] = rounded(r, lane[k % LANES] + term(r, 1 + k, k, k == at && plant == CONJUGATED));
    if (plant == DOUBLED || plant == OTHER_COLUMN || plant == COLUMN_0)
        lane[at % LANES] = rounded(r, lane[at % LANES] + term(r, 1 + at,
                                                              plant == DOUBLED    ? at
                                                              : plant == COLUMN_0 ? 0
                                                                                  : at ^ 1,
                                                              0));
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            lane[i] = rounded(r, lane[i] + lane[i + step]);
    y[0] = term(r, 0, n ? 3 : 0, 0);
    y[1] = lane[0];
    y[2] = term(r, 1 + r->n, n ? 4 : r->n - 1, 0);
    if (plant == OTHER_ROW)
        y[2] = rounded(r, y[2] + term(r, 1 + at, at, 0));
}

static int passes(const struct long_row *r, const struct reference *reference, enum plant plant, int64_t at)
{
    double _Complex y[3];
    c64 narrow[3];
    struct verdict v;
    multiply(y, r, plant, at);
    for (int i = 0; i < 3; i++)
        value_put(narrow, vector_type(r->A.value), i, y[i]);
    reference_judge(&v, reference, narrow);
    return v.passed;
}

/* How many of the places in the row an error is found at, by one half of verification. */
static int found(const struct long_row *r, const struct reference *reference, enum plant plant,
                 const int64_t *place, int places)
{
    int count = 0;
    for (int i = 0; i < places; i++)
        count += !passes(r, reference, plant, place[i]);
    return count;
}

#define PLACES 3

static void try_row(int64_t n, heddle_type type, heddle_op op)
{
    struct long_row r;
    struct reference rounding, exact;
    /* never 0: dropped there, x[0] in its place is no error */
    const int64_t place[PLACES] = {n - 1, n / 2 + 1, 1 + n / 7};
    const int places = n < LONGEST ? PLACES : 1, plants = is_complex(type) ? PLANTS : CONJUGATED;
    const char op_name = "NTH"[op];
    int by_rounding[PLANTS] = {0}, by_integers[PLANTS] = {0};
    row_new(&r, n, type, op);
    struct equation p = {.A = &r.A, .op = op, .alpha = 1, .x = r.x};
    set_reals(&r);
    CHECK_OK(reference_new(&rounding, &p));
    for (int plant = NOTHING; plant < plants; plant++)
        by_rounding[plant] = found(&r, &rounding, (enum plant)plant, place, places);
    set_integers(&r);
    CHECK_OK(reference_exact(&exact, &p));
    for (int plant = NOTHING; plant < plants; plant++) {
        by_integers[plant] = found(&r, &exact, (enum plant)plant, place, places);
        CHECK_THAT(by_integers[plant] == (plant == NOTHING ? 0 : places),
                   "%s in a row of %lld, %s %c: found at %d of %d places", plant_name[plant], (long long)n,
                   value_name(type), op_name, by_integers[plant], places);
        if (getenv("HEDDLE_TABLE"))
            printf("%9lld  %s %c  %-15s  %d of %d  %d of %d\n", (long long)n, value_name(type), op_name,
                   plant_name[plant], by_rounding[plant], places, by_integers[plant], places);
    }
    CHECK_THAT(by_rounding[NOTHING] == 0, "a right row of %lld, %s %c, is called wrong", (long long)n,
               value_name(type), op_name);
    reference_free(&rounding);
    reference_free(&exact);
    row_free(&r);
}

/* Of real numbers alone, and T, which verifies the same sums, only where there is time. */
static int64_t longest(int t, heddle_op op)
{
    const int has_time = trial_slow() || getenv("HEDDLE_TABLE");
    return t >= 2 ? LONGEST / 100 : op == HEDDLE_N || has_time ? LONGEST : LONGEST / 10;
}

TEST(one_wrong_entry_is_found_in_a_row_of_any_length)
{
    if (getenv("HEDDLE_TABLE"))
        printf("      row           planted          by the bound  by integers\n");
    for (int t = 0; t < TYPES; t++)
        for (heddle_op op = HEDDLE_N; op <= last_op(types[t]); op++)
            for (int64_t n = 10; n <= longest(t, op); n *= 10)
                try_row(n, types[t], op);
}

/* The largest partial sum of the longest row: from either end, and of every other entry. */
TEST(no_partial_sum_of_ten_million_terms_is_rounded_in_f32)
{
    struct long_row r;
    row_new(&r, LONGEST, HEDDLE_F32, HEDDLE_N);
    set_integers(&r);
    double forth = 0, odd = 0, largest = 0, sizes = 0;
    for (int64_t k = 0; k < r.n; k++) {
        double t = (double)term(&r, 1 + k, k, 0);
        forth += t;
        odd += k % 2 ? t : 0;
        sizes += fabs(t);
        largest = fmax(largest, fmax(fabs(forth), fabs(odd)));
    }
    /* back: the sum less forth */
    CHECK_THAT(2 * largest < 0x1p24 && sizes > 0x1p24, "the largest partial sum is %.0f", largest);
    row_free(&r);
}

TEST(no_number_is_zero_and_neighbours_are_never_alike)
{
    for (int t = 0; t < 2 * TYPES; t++) /* the real parts, then the imaginary ones */
        for (int64_t n = 1; n <= 1000000; n = n * 9 + 1) {
            struct long_row r;
            const heddle_type type = types[t / 2], vector = vector_type(type);
            if (t % 2 && !is_complex(type))
                continue;
            row_new(&r, n < 5 ? 5 : n, type, HEDDLE_N);
            set_integers(&r);
            const int64_t largest = exact_largest(&r.A);
            unsigned char *seen = mem_zeroed(largest + 2, 1);
            for (int64_t k = 0; k < r.A.nnz; k++) {
                const double _Complex both = value_at(r.A.val, type, k);
                const double a = t % 2 ? IM(both) : RE(both);
                CHECK(a == rint(a) && fabs(a) >= 1 && fabs(a) <= 8);
            }
            for (int64_t j = 0; j < r.n; j++) {
                const double _Complex both = value_at(r.x, vector, j);
                const double x = t % 2 ? IM(both) : RE(both);
                int64_t size = (int64_t)fabs(x);
                CHECK(x == rint(x) && size >= 1 && size <= largest + (j == 0));
                for (int64_t i = 0; j % largest == 0 && i < largest + 2; i++)
                    seen[i] = 0;
                CHECK_THAT(!seen[size <= largest ? size : 0]++, "%lld of %lld", (long long)j, (long long)r.n);
            }
            mem_free(seen);
            row_free(&r);
        }
}

TEST(columns_far_apart_are_seldom_alike_even_for_the_longest_row_of_f32)
{
    enum { pairs = 100000 };
    struct long_row r;
    uint64_t state = 11;
    int alike = 0;
    row_new(&r, LONGEST, HEDDLE_F32, HEDDLE_N);
    set_integers(&r);
    for (int i = 0; i < pairs; i++) {
        const int64_t a = (int64_t)(test_random(&state) % LONGEST),
                      b = (int64_t)(test_random(&state) % LONGEST);
        alike += a != b && ((float *)r.x)[a] == ((float *)r.x)[b];
    }
    CHECK_THAT(alike < pairs / 200, "%d of %d", alike, pairs);
    row_free(&r);
}

TEST(scalars_and_y_are_part_of_the_exact_result)
{
    struct long_row r;
    struct reference reference;
    struct verdict v;
    row_new(&r, 1000, HEDDLE_F32, HEDDLE_N);
    set_integers(&r);
    float y0[3], y[3];
    double _Complex product[3];
    exact_vector(y0, &r.A, 3, 1);
    multiply(product, &r, NOTHING, 0);
    CHECK_OK(reference_exact(&reference,
                             &(struct equation){.A = &r.A, .alpha = -1, .beta = 2, .x = r.x, .y0 = y0}));
    for (int i = 0; i < 3; i++)
        y[i] = -(float)product[i] + 2 * y0[i];
    reference_judge(&v, &reference, y);
    CHECK(v.passed && v.error == 0);
    y[2] += 1;
    reference_judge(&v, &reference, y);
    CHECK(!v.passed && v.first == 2 && v.error == INFINITY);
    reference_free(&reference);
    row_free(&r);
}

TEST(complex_scalars_are_part_of_the_exact_result)
{
    struct long_row r;
    struct reference reference;
    struct verdict v;
    row_new(&r, 1000, HEDDLE_C32, HEDDLE_H);
    set_integers(&r);
    c32 y0[3], y[3];
    double _Complex product[3], alpha = -1, beta = 2;
    IM(alpha) = 1, IM(beta) = -1;
    exact_vector(y0, &r.A, 3, 1);
    multiply(product, &r, NOTHING, 0);
    CHECK_OK(reference_exact(
        &reference,
        &(struct equation){.A = &r.A, .op = HEDDLE_H, .alpha = alpha, .beta = beta, .x = r.x, .y0 = y0}));
    for (int i = 0; i < 3; i++)
        y[i] = (c32)(alpha * product[i] + beta * y0[i]);
    reference_judge(&v, &reference, y);
    CHECK(v.passed && v.error == 0);
    IM(y[2]) += 1;
    reference_judge(&v, &reference, y);
    CHECK(!v.passed && v.first == 2 && v.bad_rows == 1);
    reference_free(&reference);
    row_free(&r);
}

static heddle_status reference_of(void *argument)
{
    struct reference r;
    heddle_status status = reference_exact(&r, argument);
    reference_free(&r);
    return status;
}

TEST(an_exact_reference_survives_every_failing_allocation)
{
    struct long_row r;
    row_new(&r, 10, HEDDLE_F64, HEDDLE_T);
    set_integers(&r);
    CHECK(test_every_allocation(reference_of,
                                &(struct equation){.A = &r.A, .op = HEDDLE_T, .alpha = 1, .x = r.x}) > 3);
    row_free(&r);
}

/* Of 100,000 entries gamma would let 600 go, and all of 17 million. */
TEST(the_bound_grows_with_the_root_of_the_length)
{
    struct long_row r;
    struct reference reference;
    struct verdict v;
    double _Complex y[3];
    row_new(&r, 100000, HEDDLE_F32, HEDDLE_N);
    set_reals(&r);
    multiply(y, &r, NOTHING, 0);
    CHECK_OK(reference_new(&reference, &(struct equation){.A = &r.A, .alpha = 1, .x = r.x}));
    reference_judge(&v, &reference, (float[]){(float)y[0], (float)(y[1] * (1 - 3e-5)), (float)y[2]});
    CHECK(v.passed && v.error > 0.1);
    reference_judge(&v, &reference, (float[]){(float)y[0], (float)(y[1] * (1 - 2e-4)), (float)y[2]});
    CHECK(!v.passed && v.first == 1);
    reference_free(&reference);
    row_free(&r);
}
