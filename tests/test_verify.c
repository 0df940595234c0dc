/* SPDX-License-Identifier: MIT
 *
 * The judge is judged: right results pass in any order of summation, and each kind of damage is found. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "test.h"
#include "verify/verify.h"

#define ROWS 5
#define COLS 4

/* 5 x 4: a row of one entry, an empty row, a full row, a row of stored zeros, a row that cancels. */
static int32_t offsets[ROWS + 1] = {0, 1, 1, 5, 7, 9};
static int32_t columns[9] = {2, 0, 1, 2, 3, 1, 3, 0, 1};
static double values[9] = {1, 1, 2, 3, 4, 0, 0, 1e16, -1e16};
static double ones[COLS] = {1, 1, 1, 1};

static struct csr small(void)
{
    return (struct csr){.rows = ROWS,
                        .cols = COLS,
                        .nnz = 9,
                        .value = HEDDLE_F64,
                        .offset = HEDDLE_I32,
                        .row_ptr = offsets,
                        .col = columns,
                        .val = values};
}

static struct verdict judged(const struct equation *p, const void *y)
{
    struct reference r;
    struct verdict v = {0};
    if (CHECK_OK(reference_new(&r, p))) {
        reference_judge(&v, &r, y);
        reference_free(&r);
    }
    return v;
}

/* The verdict on y = A x with x all ones. */
static struct verdict of_small(const double y[ROWS])
{
    struct csr A = small();
    return judged(&(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1, .x = ones}, y);
}

TEST(a_right_result_passes_with_no_error)
{
    struct verdict v = of_small((double[]){1, 0, 10, 0, 0});
    CHECK(v.passed && v.error == 0 && v.bad_rows == 0 && v.first == -1);
}

TEST(one_ulp_passes_and_two_fail_in_a_row_of_one_entry)
{
    double y[ROWS] = {1 + DBL_EPSILON, 0, 10, 0, 0}; /* gamma(3) is 1.5 ulp */
    CHECK(of_small(y).passed);
    y[0] = 1 + 2 * DBL_EPSILON;
    struct verdict v = of_small(y);
    CHECK(!v.passed && v.first == 0 && v.bad_rows == 1 && v.error > 1 && v.error < 2);
    CHECK(RE(v.got) == y[0] && v.expected == 1);
}

TEST(anything_but_zero_fails_in_an_empty_row)
{
    CHECK(of_small((double[]){1, -0.0, 10, 0, 0}).passed);
    CHECK(of_small((double[]){1, 0x1p-1074, 10, 0, 0}).first == 1);
}

TEST(anything_but_zero_fails_in_a_row_of_stored_zeros)
{
    CHECK(of_small((double[]){1, 0, 10, 0x1p-1074, 0}).first == 3);
}

TEST(cancellation_is_allowed_its_rounding_and_no_more)
{
    CHECK(of_small((double[]){1, 0, 10, 0, 2}).passed); /* one ulp of 1e16 */
    CHECK(of_small((double[]){1, 0, 10, 0, 20}).first == 4);
}

TEST(a_dropped_entry_a_doubled_entry_and_swapped_rows_fail)
{
    CHECK(of_small((double[]){1, 0, 6, 0, 0}).first == 2);
    CHECK(of_small((double[]){1, 0, 14, 0, 0}).first == 2);
    struct verdict v = of_small((double[]){10, 0, 1, 0, 0});
    CHECK(v.first == 0 && v.bad_rows == 2);
}

TEST(a_nan_or_infinity_out_of_nowhere_fails)
{
    CHECK(of_small((double[]){1, NAN, 10, 0, 0}).first == 1);
    CHECK(of_small((double[]){1, 0, NAN, 0, 0}).error == INFINITY);
    CHECK(of_small((double[]){1, 0, INFINITY, 0, 0}).first == 2);
}

TEST(nan_and_infinity_must_be_in_exactly_the_rows_that_touch_them)
{
    struct csr A = small();
    double x[COLS] = {1, 1, 1, INFINITY}; /* meets 4 in row 2 and a stored zero in row 3 */
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = -2, .x = x};
    CHECK(judged(&p, (double[]){-2, 0, -INFINITY, NAN, 0}).passed);
    CHECK(judged(&p, (double[]){-2, 0, INFINITY, NAN, 0}).first == 2);
    CHECK(judged(&p, (double[]){-2, 0, -DBL_MAX, NAN, 0}).first == 2);
    CHECK(judged(&p, (double[]){-2, 0, -INFINITY, 0, 0}).first == 3);
    CHECK(judged(&p, (double[]){NAN, 0, -INFINITY, NAN, 0}).first == 0);
}

TEST(opposite_infinities_make_nan)
{
    struct csr A = small();
    double x[COLS] = {INFINITY, 1, 1, -INFINITY};
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
    CHECK(judged(&p, (double[]){1, 0, NAN, NAN, INFINITY}).passed);
    CHECK(judged(&p, (double[]){1, 0, INFINITY, NAN, INFINITY}).first == 2);
}

TEST(beta_zero_ignores_y_and_alpha_zero_ignores_a_and_x)
{
    struct csr A = small();
    double nans[ROWS] = {NAN, NAN, NAN, NAN, NAN}, y0[ROWS] = {1, 2, 3, 4, 5};
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = ones, .y0 = nans};
    CHECK(judged(&p, (double[]){1, 0, 10, 0, 0}).passed);
    p = (struct equation){.A = &A, .op = HEDDLE_N, .alpha = 0, .beta = 2, .x = nans, .y0 = y0};
    CHECK(judged(&p, (double[]){2, 4, 6, 8, 10}).passed);
    CHECK(judged(&p, (double[]){2, 4, 6, 8, 0}).first == 4);
}

TEST(beta_y_is_part_of_the_result_and_of_the_bound)
{
    struct csr A = small();
    double y0[ROWS] = {1, 2, 3, 4, 5};
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 3, .beta = -2, .x = ones, .y0 = y0};
    CHECK(judged(&p, (double[]){1, -4, 24, -8, -10}).passed);
    CHECK(judged(&p, (double[]){3, -4, 24, -8, -10}).first == 0); /* beta forgotten in one row */
    CHECK(judged(&p, (double[]){1, -4 - 4 * DBL_EPSILON * 4, 24, -8, -10}).first == 1);
}

TEST(a_transposed_result_is_judged_by_columns)
{
    struct csr A = small();
    double x[ROWS] = {1, 1, 1, 1, 0};
    struct equation p = {.A = &A, .op = HEDDLE_T, .alpha = 1, .x = x};
    CHECK(judged(&p, (double[]){1, 2, 4, 4}).passed);
    CHECK(judged(&p, (double[]){1, 2, 4, 4.000001}).first == 3);
    CHECK(judged(&p, (double[]){2, 1, 4, 4}).bad_rows == 2);
}

TEST(single_precision_has_its_own_roundoff)
{
    float val[9], x[COLS] = {1, 1, 1, 1};
    for (int k = 0; k < 9; k++)
        val[k] = (float)values[k];
    struct csr A = small();
    A.value = HEDDLE_F32;
    A.val = val;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
    CHECK(judged(&p, (float[]){1 + FLT_EPSILON, 0, 10, 0, 0}).passed);
    CHECK(judged(&p, (float[]){1 + 2 * FLT_EPSILON, 0, 10, 0, 0}).first == 0);
}

static double _Complex number(double re, double im)
{
    double _Complex v;
    RE(v) = re, IM(v) = im;
    return v;
}

/* The small matrix with values a + (a + 1) i, the last row 1 + 2 i and its opposite; x is all 1 + 2 i. */
static struct verdict of_complex(heddle_op op, const double _Complex *y)
{
    double _Complex val[9], x[ROWS];
    for (int k = 0; k < 9; k++)
        val[k] = k < 7 ? number(values[k], values[k] + 1) : number(k < 8 ? 1 : -1, k < 8 ? 2 : -2);
    for (int i = 0; i < ROWS; i++)
        x[i] = number(1, 2);
    struct csr A = small();
    A.value = HEDDLE_C64;
    A.val = val;
    return judged(&(struct equation){.A = &A, .op = op, .alpha = 1, .x = x}, y);
}

TEST(parts_of_complex_numbers_are_judged_each_by_its_bound)
{
    /* rows: (1 + 2i) s with s = 1+2i, 0, 10+14i, 0+2i and 0 */
    double _Complex y[ROWS] = {number(-3, 4), 0, number(-18, 34), number(-4, 2), 0};
    CHECK(of_complex(HEDDLE_N, y).passed && of_complex(HEDDLE_N, y).error == 0);
    for (int part = 0; part < 2; part++) { /* what rounding may do to one part, and what it may not */
        double _Complex near[ROWS], far[ROWS];
        memcpy(near, y, sizeof y), memcpy(far, y, sizeof y);
        *((double *)&near[2] + part) *= 1 + DBL_EPSILON;
        *((double *)&far[2] + part) *= 1 + 1e-13;
        CHECK(of_complex(HEDDLE_N, near).passed && of_complex(HEDDLE_N, far).first == 2);
    }
    y[2] = number(34, -18); /* parts are not exchanged */
    CHECK(of_complex(HEDDLE_N, y).first == 2);
    y[2] = number(NAN, 34);
    CHECK(of_complex(HEDDLE_N, y).first == 2);
}

TEST(a_transpose_conjugates_nothing_and_an_adjoint_everything)
{
    const double _Complex s[COLS] = {number(2, 4), number(1, 2), number(4, 6), number(4, 6)};
    double _Complex t[COLS], h[COLS];
    for (int j = 0; j < COLS; j++) {
        t[j] = s[j] * number(1, 2);
        h[j] = number(RE(s[j]), -IM(s[j])) * number(1, 2);
    }
    CHECK(of_complex(HEDDLE_T, t).passed && of_complex(HEDDLE_H, h).passed);
    CHECK(of_complex(HEDDLE_T, h).first == 0 && of_complex(HEDDLE_T, h).bad_rows == 4);
    CHECK(of_complex(HEDDLE_H, t).first == 0 && of_complex(HEDDLE_H, t).bad_rows == 4);
}

TEST(nan_and_infinity_may_be_in_either_part_of_a_complex_entry_and_nowhere_else)
{
    double _Complex val[9], x[COLS] = {1, 1, 1, number(INFINITY, 0)};
    for (int k = 0; k < 9; k++)
        val[k] = values[k];
    struct csr A = small();
    A.value = HEDDLE_C64;
    A.val = val;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = number(0, 1), .x = x};
    double _Complex y[ROWS] = {number(0, 1), 0, number(NAN, INFINITY), number(NAN, NAN), 0};
    CHECK(judged(&p, y).passed);
    y[2] = number(0, INFINITY);
    y[3] = number(NAN, 0);
    CHECK(judged(&p, y).passed);
    y[2] = number(0, 10);
    CHECK(judged(&p, y).first == 2);
    y[2] = number(INFINITY, 0);
    y[0] = number(NAN, 1);
    CHECK(judged(&p, y).first == 0 && judged(&p, y).bad_rows == 1);
}

/* y = alpha A x + beta y0 in plain complex arithmetic, and with one part of a factor turned. */
TEST(complex_factors_are_part_of_the_result)
{
    double _Complex val[9], x[COLS], y0[ROWS], y[ROWS], alpha = number(-1.5, 0.75), beta = number(0.5, -2);
    for (int k = 0; k < 9; k++)
        val[k] = number(values[k % 7], k);
    for (int j = 0; j < COLS; j++)
        x[j] = number(1 + j, 2 - j);
    struct csr A = small();
    A.value = HEDDLE_C64;
    A.val = val;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = alpha, .beta = beta, .x = x, .y0 = y0};
    for (int wrong = 0; wrong < 3; wrong++) {
        const double _Complex a = wrong == 1 ? number(RE(alpha), -IM(alpha)) : alpha,
                              b = wrong == 2 ? number(RE(beta), -IM(beta)) : beta;
        for (int i = 0; i < ROWS; i++) {
            double _Complex sum = 0;
            for (int k = offsets[i]; k < offsets[i + 1]; k++)
                sum += val[k] * x[columns[k]];
            y0[i] = number(3 - i, 1 + i);
            y[i] = a * sum + b * y0[i];
        }
        const struct verdict v = judged(&p, y);
        CHECK_THAT(v.passed == !wrong && v.bad_rows == (wrong == 2 ? ROWS
                                                        : wrong    ? 4
                                                                   : 0),
                   "%d: %d rows", wrong, (int)v.bad_rows);
    }
}

TEST(a_part_that_overflows_excuses_both_parts_of_its_row)
{
    c32 val[9], x[COLS] = {1, 1, 1, 1}, y[ROWS] = {1, 0, 0, 0, 0};
    for (int k = 0; k < 9; k++)
        val[k] = (c32)values[k];
    RE(val[1]) = RE(val[2]) = FLT_MAX;
    struct csr A = small();
    A.value = HEDDLE_C32;
    A.val = val;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
    RE(y[2]) = INFINITY, IM(y[2]) = NAN;
    CHECK(judged(&p, y).passed);
    RE(y[0]) = 2;
    CHECK(judged(&p, y).first == 0);
}

/* Values are what is stored: the bound is that of sums in the vectors' type. */
TEST(coarse_values_have_the_bound_of_their_vectors)
{
    static const heddle_type types[] = {HEDDLE_F16, HEDDLE_BF16, F32_F64};
    for (int t = 0; t < 3; t++) {
        c64 val[9], x[COLS], y[ROWS];
        const heddle_type vector = vector_type(types[t]);
        const double u = vector == HEDDLE_F64 ? DBL_EPSILON : FLT_EPSILON;
        double sum = 0;
        for (int k = 0; k < 9; k++) {
            value_put(val, types[t], k, k < 7 ? values[k] / 3 : values[k] / 1e14); /* needs rounding */
            sum += k > 0 && k < 5 ? (double)value_at(val, types[t], k) : 0;
        }
        for (int j = 0; j < COLS; j++)
            value_put(x, vector, j, 1);
        struct csr A = small();
        A.value = types[t];
        A.val = val;
        struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
        const double right[ROWS] = {(double)value_at(val, types[t], 0), 0, sum, 0, 0};
        for (int i = 0; i < ROWS; i++)
            value_put(y, vector, i, right[i]);
        CHECK(judged(&p, y).passed);
        value_put(y, vector, 2, sum * (1 + u));
        CHECK(judged(&p, y).passed);
        value_put(y, vector, 2, sum * (1 + 8 * u));
        CHECK_THAT(judged(&p, y).first == 2, "type %d", (int)types[t]);
        value_put(y, vector, 2, 10.0 / 3); /* as if values had never been rounded */
        CHECK_THAT(judged(&p, y).first == 2, "type %d", (int)types[t]);
    }
}

TEST(an_overflow_on_the_way_excuses_its_row_only)
{
    double val[9];
    memcpy(val, values, sizeof val);
    val[1] = val[2] = DBL_MAX;
    val[3] = -DBL_MAX;
    struct csr A = small();
    A.val = val;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = ones};
    CHECK(judged(&p, (double[]){1, 0, INFINITY, 0, 0}).passed);
    CHECK(judged(&p, (double[]){1, 0, DBL_MAX, 0, 0}).passed);
    CHECK(judged(&p, (double[]){2, 0, DBL_MAX, 0, 0}).first == 0);
    val[2] = val[3] = 0; /* the largest number itself: a rounding may lead past it */
    CHECK(judged(&p, (double[]){1, 0, INFINITY, 0, 0}).passed);
    val[1] = DBL_MAX / 2;
    CHECK(judged(&p, (double[]){1, 0, INFINITY, 0, 0}).first == 2);
}

TEST(the_error_that_is_told_is_the_worst)
{
    enum { N = 20000 }; /* several rows for each of the parts */
    static int32_t row_ptr[N + 1], col[N];
    static double val[N], x[N], y[N];
    for (int i = 0; i < N; i++)
        row_ptr[i] = col[i] = i, val[i] = x[i] = y[i] = 1;
    row_ptr[N] = N;
    struct csr A = {N, N, N, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val};
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
    y[0] = 3;
    const double worst = judged(&p, y).error;
    y[1] = 2, y[N - 1] = 2;
    CHECK(worst > 1 && judged(&p, y).error == worst && judged(&p, y).bad_rows == 3);
}

#define LONG 100000

/* One row of LONG terms that cancel almost completely: only a compensated sum knows the answer. */
TEST(the_reference_is_right_where_plain_sums_are_not)
{
    struct csr A;
    double *x;
    if (!CHECK_OK(csr_new(&A, 1, LONG, LONG, HEDDLE_F64, HEDDLE_I64)) || !CHECK_OK(NEW(x, LONG)))
        return;
    ((int64_t *)A.row_ptr)[0] = 0;
    ((int64_t *)A.row_ptr)[1] = LONG;
    for (int k = 0; k < LONG; k++) {
        A.col[k] = k;
        ((double *)A.val)[k] = k % 2 ? -0.1 - k : 0.1 + k + 1; /* pairs add up to 0 */
        x[k] = 1;
    }
    ((double *)A.val)[LONG - 1] += 0x1p-40;
    struct reference r;
    double exact = 0;
    for (int k = 0; k < LONG; k += 2) /* differences of neighbours are exact */
        exact += ((double *)A.val)[k] + ((double *)A.val)[k + 1];
    if (CHECK_OK(reference_new(&r, &(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x}))) {
        CHECK_THAT(r.high[0] + r.low[0] == exact, "%.17g is not %.17g", r.high[0] + r.low[0], exact);
        reference_free(&r);
    }
    csr_free(&A);
    mem_free(x);
}

/* Each row is 2^-60, and 0 in any other arithmetic than a compensated one; but the last, which is 2^900: what
 * is rounded off may be beyond single precision. */
TEST(the_reference_keeps_what_products_and_sums_round_off)
{
    int32_t ptr[] = {0, 3, 6, 9, 12}, col[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    double val[] = {1 + 0x1p-30, -1,      -0x1p-29, /* times 1 + 2^-30: the product is rounded */
                    1,           0x1p-60, -1,       /* the term is lost in the sum */
                    0x1p-60,     1,       -1,       /* the sum is lost in the term */
                    0x1p990,     0x1p900, -0x1p990};
    double x[] = {1 + 0x1p-30, 1};
    struct csr A = {.rows = 4,
                    .cols = 2,
                    .nnz = 12,
                    .value = HEDDLE_F64,
                    .offset = HEDDLE_I32,
                    .row_ptr = ptr,
                    .col = col,
                    .val = val};
    struct reference r;
    if (CHECK_OK(reference_new(&r, &(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x}))) {
        for (int i = 0; i < 4; i++)
            CHECK_THAT(r.high[i] + r.low[i] == (i < 3 ? 0x1p-60 : 0x1p900), "row %d: %.17g is wrong", i,
                       r.high[i] + r.low[i]);
        reference_free(&r);
    }
}

/* Plain sums in two opposite orders, over random data with repeats, are both within the bound. */
TEST(any_order_of_summation_passes)
{
    enum { rows = 300, cols = 50, width = 40 };
    struct csr A;
    if (!CHECK_OK(csr_new(&A, rows, cols, rows * width, HEDDLE_F32, HEDDLE_I32)))
        return;
    float x[cols], up[rows], down[rows];
    uint64_t state = 1;
    for (int j = 0; j < cols; j++)
        x[j] = (float)((double)(test_random(&state) >> 40) * 0x1p-23 - 1);
    for (int i = 0; i < rows; i++) {
        float *val = (float *)A.val + i * width;
        up[i] = down[i] = 0;
        ((int32_t *)A.row_ptr)[i] = i * width;
        for (int k = 0; k < width; k++) {
            A.col[i * width + k] = (int32_t)(test_random(&state) % cols);
            val[k] = (float)((double)(test_random(&state) >> 40) * 0x1p-23 - 1);
            up[i] += val[k] * x[A.col[i * width + k]];
        }
        for (int k = width - 1; k >= 0; k--)
            down[i] = fmaf(val[k], x[A.col[i * width + k]], down[i]);
    }
    ((int32_t *)A.row_ptr)[rows] = rows * width;
    struct equation p = {.A = &A, .op = HEDDLE_N, .alpha = 1, .x = x};
    CHECK(judged(&p, up).passed && judged(&p, down).passed);
    CHECK(judged(&p, up).error > 0);
    up[rows - 1] += 0.01f;
    CHECK(judged(&p, up).first == rows - 1);
    csr_free(&A);
}

TEST(empty_matrices_have_references_too)
{
    int32_t zero[ROWS + 1] = {0};
    struct csr A = {.rows = ROWS, .cols = 0, .value = HEDDLE_F64, .offset = HEDDLE_I32, .row_ptr = zero};
    CHECK(judged(&(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1}, (double[ROWS]){0}).passed);
    CHECK(judged(&(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1}, (double[ROWS]){0, 1}).first == 1);
    CHECK(judged(&(struct equation){.A = &A, .op = HEDDLE_T, .alpha = 1}, NULL).passed);
}

TEST(a_verdict_of_complex_numbers_names_both_parts)
{
    int32_t ptr[] = {0, 1}, col[] = {0};
    double _Complex a = number(2, -1), x = number(1, 1), y = number(3, 2);
    char text[VERDICT_TEXT];
    struct csr A = {.rows = 1,
                    .cols = 1,
                    .nnz = 1,
                    .value = HEDDLE_C64,
                    .offset = HEDDLE_I32,
                    .row_ptr = ptr,
                    .col = col,
                    .val = &a};
    struct reference r;
    struct verdict v;
    if (!CHECK_OK(reference_new(&r, &(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1, .x = &x})))
        return;
    reference_judge(&v, &r, &y);
    CHECK_THAT(strstr(verdict_text(text, &v, &r), "row 0 is 3+2i, not 3+1i"), "%s", text);
    reference_free(&r);
}

TEST(a_verdict_names_row_value_and_expectation)
{
    struct csr A = small();
    struct reference r;
    struct verdict v;
    char text[VERDICT_TEXT];
    if (!CHECK_OK(reference_new(&r, &(struct equation){.A = &A, .op = HEDDLE_N, .alpha = 1, .x = ones})))
        return;
    reference_judge(&v, &r, (double[]){1, 0, 11, 0, 0});
    CHECK(strstr(verdict_text(text, &v, &r), "row 2 is 11, not 10") && strstr(text, "1 of 5 rows"));
    reference_free(&r);
}

static heddle_status transposed_reference(void *argument)
{
    struct reference r;
    heddle_status status = reference_new(&r, argument);
    reference_free(&r);
    return status;
}

TEST(a_reference_survives_every_failing_allocation)
{
    struct csr A = small();
    double x[ROWS] = {1, 1, 1, 1, 1};
    struct equation p = {.A = &A, .op = HEDDLE_T, .alpha = 1, .x = x};
    CHECK(test_every_allocation(transposed_reference, &p) > 3);
}
