/* SPDX-License-Identifier: MIT
 *
 * Types of numbers through the API: every pair of values and vectors, stored by rows, by columns and as
 * coordinates, on the CPU and on the emulator.  That each kernel has them right is shown in test_kernels.c
 * and test_kernels_gpu.c. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "trial.h"
#include "verify/verify.h"

static const char *const devices[] = {"cpu:threads=3", "emu:wave=32", "emu:wave=64"};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static const heddle_type pairs[][2] = {
    {HEDDLE_F32, HEDDLE_F32}, {HEDDLE_F64, HEDDLE_F64},  {HEDDLE_C32, HEDDLE_C32}, {HEDDLE_C64, HEDDLE_C64},
    {HEDDLE_F16, HEDDLE_F32}, {HEDDLE_BF16, HEDDLE_F32}, {HEDDLE_F32, HEDDLE_F64}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static heddle_type inside(const heddle_type pair[2])
{
    return pair[0] == HEDDLE_F32 && pair[1] == HEDDLE_F64 ? F32_F64 : pair[0];
}

/* ---- 16 bits ---- */

/* What the bits of a number with so many of exponent and fraction stand for. */
static double meaning(unsigned bits, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1,
              field = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const double fraction = (double)(bits & ((1u << fraction_bits) - 1)), sign = bits >> 15 ? -1 : 1;
    if (field == (1 << exponent_bits) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    return sign * ldexp(field ? fraction + ldexp(1, fraction_bits) : fraction,
                        (field ? field : 1) - bias - fraction_bits);
}

static int same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

TEST(sixteen_bits_mean_what_they_should_and_come_back)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        const double half = f16_widen((f16)bits), upper = bf16_widen((bf16)bits);
        CHECK_THAT(same_number(half, meaning(bits, 5, 10)), "f16 %04x is %g", bits, half);
        CHECK_THAT(same_number(upper, meaning(bits, 8, 7)), "bf16 %04x is %g", bits, upper);
        CHECK_THAT(isnan(half) ? isnan(f16_widen(f16_narrow(half))) : f16_narrow(half) == bits, "f16 %04x",
                   bits);
        CHECK_THAT(isnan(upper) ? isnan(bf16_widen(bf16_narrow(upper))) : bf16_narrow(upper) == bits,
                   "bf16 %04x", bits);
    }
}

/* Between two neighbours lies a tie, which goes to the even one; what is a little to its side goes there. */
TEST(numbers_are_rounded_to_the_nearest_of_sixteen_bits)
{
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        const double low = meaning(bits, 5, 10), high = bits == 0x7bff ? 65536 : meaning(bits + 1, 5, 10),
                     tie = (low + high) / 2;
        CHECK_THAT(f16_narrow(tie) == bits + (bits & 1), "the tie above %04x is %04x", bits, f16_narrow(tie));
        CHECK(f16_narrow(nextafter(tie, 0)) == bits && f16_narrow(nextafter(tie, INFINITY)) == bits + 1);
        CHECK(f16_narrow(-tie) == (0x8000 | (bits + (bits & 1))));
    }
    for (unsigned bits = 0; bits < 0x7f80; bits += 7) {
        const double low = meaning(bits, 8, 7), high = bits == 0x7f7f ? 0x1p128 : meaning(bits + 1, 8, 7),
                     tie = low + (high - low) / 2;
        CHECK(bf16_narrow(tie) == bits + (bits & 1));
        CHECK(bf16_narrow(nextafter(tie, 0)) == bits && bf16_narrow(nextafter(tie, INFINITY)) == bits + 1);
    }
    CHECK(f16_narrow(1e300) == 0x7c00 && f16_narrow(-INFINITY) == 0xfc00 && f16_narrow(0x1p-26) == 0);
    CHECK(f16_narrow(0x1p-1074) == 0 && bf16_narrow(-0.0) == 0x8000);
}

/* ---- products ---- */

struct scene {
    heddle *h;
    struct csr A;          /* here */
    heddle_matrix *stored; /* the same for the handle, in a format */
    const char *device, *name;
    const heddle_type *pair;
    heddle_format format;
};

static void scene_store(struct scene *s)
{
    const heddle_types types = {.value = s->pair[0], .offset = s->A.offset, .vector = s->pair[1]};
    struct csr turned;
    struct coo entries;
    if (s->format == HEDDLE_CSR) {
        CHECK_OK(heddle_csr(&s->stored, s->h,
                            &(heddle_csr_desc){.rows = s->A.rows,
                                               .cols = s->A.cols,
                                               .nnz = s->A.nnz,
                                               .row_ptr = s->A.row_ptr,
                                               .col = s->A.col,
                                               .val = s->A.val,
                                               .types = types}));
    } else if (s->format == HEDDLE_CSC) {
        CHECK_OK(csr_transpose(&turned, &s->A));
        CHECK_OK(heddle_csc(&s->stored, s->h,
                            &(heddle_csc_desc){.rows = s->A.rows,
                                               .cols = s->A.cols,
                                               .nnz = s->A.nnz,
                                               .col_ptr = turned.row_ptr,
                                               .row = turned.col,
                                               .val = turned.val,
                                               .types = types,
                                               .copy = 1}));
        csr_free(&turned);
    } else {
        CHECK_OK(coo_from_csr(&entries, &s->A));
        CHECK_OK(heddle_coo(&s->stored, s->h,
                            &(heddle_coo_desc){.rows = s->A.rows,
                                               .cols = s->A.cols,
                                               .nnz = s->A.nnz,
                                               .row = entries.row,
                                               .col = entries.col,
                                               .val = entries.val,
                                               .types = types,
                                               .copy = 1}));
        coo_free(&entries);
    }
}

static void put_scalar(double _Complex *to, heddle_type vector, double _Complex value)
{
    awkward_put(to, vector, 0, is_complex(vector) ? value : (double)value);
}

/* One product by the plan, or (NULL) by the handle; as many entries are wrong. */
static int64_t wrong_entries(const struct scene *s, heddle_op op, heddle_plan *plan)
{
    const heddle_type vector = s->pair[1];
    const int64_t n_x = op == HEDDLE_N ? s->A.cols : s->A.rows, n_y = op == HEDDLE_N ? s->A.rows : s->A.cols;
    void *x = awkward_vector(n_x, vector, 3, 1), *y = awkward_vector(n_y, vector, 4, 1),
         *before = awkward_vector(n_y, vector, 4, 1);
    struct exact *want = mem_alloc(n_y, sizeof *want);
    double _Complex alpha, beta;
    int64_t wrong = 0;
    put_scalar(&alpha, vector, awkward_complex(2, -1));
    put_scalar(&beta, vector, awkward_complex(-1, 3));
    CHECK_OK(plan ? heddle_plan_mv(plan, op, &alpha, x, &beta, y)
                  : heddle_mv(s->h, op, &alpha, s->stored, x, &beta, y));
    awkward_reference(want, &s->A, op, x);
    for (int64_t i = 0; i < n_y; i++)
        wrong +=
            !awkward_good(value_at(y, vector, i), &want[i],
                          (struct awkward_scalars){value_at(&alpha, vector, 0), value_at(&beta, vector, 0)},
                          value_at(before, vector, i), vector, 1);
    mem_free(x);
    mem_free(y);
    mem_free(before);
    mem_free(want);
    return wrong;
}

static void multiply_all(const struct scene *s, const char *how, heddle_plan *plan)
{
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_H; op++)
        CHECK_THAT(wrong_entries(s, op, plan) == 0, "%s, %s of %s, format %d, op %d, by %s", s->device, how,
                   value_name(s->A.value), (int)s->format, (int)op, heddle_last_kernel(s->h));
}

static void new_values(struct scene *s, heddle_plan *plan)
{
    heddle_matrix_desc desc;
    for (int64_t k = 0; k < s->A.nnz; k++)
        awkward_put(s->A.val, s->A.value, k, -value_at(s->A.val, s->A.value, k));
    CHECK_OK(heddle_matrix_info(s->stored, &desc));
    if (s->format == HEDDLE_CSR) { /* the order of the others is not that of s->A */
        CHECK_OK(heddle_plan_update_values(plan, s->A.val));
        multiply_all(s, "new values", plan);
    }
    for (int64_t k = 0; k < s->A.nnz; k++)
        awkward_put(s->A.val, s->A.value, k, -value_at(s->A.val, s->A.value, k));
}

static void try_scene(struct scene *s)
{
    heddle_plan *plan;
    heddle_matrix *again, *held = s->stored;
    heddle_matrix_desc desc;
    CHECK_OK(heddle_matrix_info(s->stored, &desc));
    CHECK(desc.types.value == s->pair[0] && desc.types.vector == s->pair[1]);
    CHECK_OK(heddle_check(s->h, s->stored));
    multiply_all(s, "product", NULL);
    CHECK_OK(heddle_set_deterministic(s->h, 1));
    CHECK_OK(heddle_reserve(s->h, s->stored));
    multiply_all(s, "deterministic product", NULL);
    CHECK_OK(heddle_set_deterministic(s->h, 0));
    CHECK_OK(heddle_convert(&again, s->h, s->stored, s->format == HEDDLE_CSR ? HEDDLE_COO : HEDDLE_CSR));
    s->stored = again;
    multiply_all(s, "converted matrix", NULL);
    heddle_matrix_free(again);
    s->stored = held;
    CHECK_OK(heddle_plan_create(&plan, s->h, s->stored,
                                &(heddle_plan_options){.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T,
                                                       .kernel = s->h->shared ? "sell" : "cpu_sell"}));
    multiply_all(s, "plan", plan);
    new_values(s, plan);
    heddle_plan_free(plan);
}

TEST(every_pair_of_types_multiplies_in_every_format_and_way)
{
    static const char *const matrices[] = {"even rows", "staircase", "full"};
    for (int d = 0; d < DEVICES; d++)
        for (int p = 0; p < PAIRS; p++)
            for (int m = 0; m < 3; m++)
                for (int f = HEDDLE_CSR; f <= HEDDLE_COO; f++) {
                    const struct awkward *w = trial_matrix(matrices[m]);
                    struct scene s = {.device = devices[d], .pair = pairs[p], .format = (heddle_format)f};
                    if (!w || (d > 0 && m > 0))
                        continue;
                    CHECK_OK(awkward_make(&s.A, w, inside(pairs[p]), m == 2 ? HEDDLE_I64 : HEDDLE_I32));
                    CHECK_OK(heddle_open(&s.h, devices[d]));
                    scene_store(&s);
                    if (s.stored)
                        try_scene(&s);
                    heddle_matrix_free(s.stored);
                    heddle_close(s.h);
                    csr_free(&s.A);
                }
}

/* ---- what is refused ---- */

static const int32_t two_rows[] = {0, 1, 2}, two_cols[] = {0, 1};

static heddle_status two_by_two(heddle_matrix **A, heddle *h, heddle_types types, const void *val)
{
    return heddle_csr(A, h,
                      &(heddle_csr_desc){.rows = 2,
                                         .cols = 2,
                                         .nnz = 2,
                                         .row_ptr = two_rows,
                                         .col = two_cols,
                                         .val = val,
                                         .types = types});
}

TEST(other_pairs_of_types_are_refused)
{
    static const heddle_type wrong[][2] = {{HEDDLE_F64, HEDDLE_F32}, {HEDDLE_F16, HEDDLE_F64},
                                           {HEDDLE_F16, HEDDLE_F16}, {HEDDLE_C32, HEDDLE_F32},
                                           {HEDDLE_C32, HEDDLE_C64}, {HEDDLE_F32, HEDDLE_C32},
                                           {HEDDLE_F32, HEDDLE_I32}};
    double val[4] = {1, 2, 3, 4};
    heddle *h;
    heddle_matrix *A;
    CHECK_OK(heddle_open(&h, "cpu"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_FAILS(two_by_two(&A, h, (heddle_types){.value = wrong[i][0], .vector = wrong[i][1]}, val),
                    HEDDLE_BAD_ARGUMENT, "types.vector");
    CHECK_FAILS(two_by_two(&A, h, (heddle_types){.value = HEDDLE_I32}, val), HEDDLE_BAD_ARGUMENT,
                "types.value");
    CHECK_FAILS(two_by_two(&A, h, (heddle_types){.value = F32_F64}, val), HEDDLE_BAD_ARGUMENT, "types.value");
    heddle_close(h);
}

TEST(a_kernel_without_a_type_says_which_it_has)
{
    double val[4] = {1, 2, 3, 4};
    heddle *h;
    heddle_matrix *A;
    heddle_plan *plan;
    CHECK_OK(heddle_open(&h, "emu"));
    CHECK_OK(two_by_two(&A, h, (heddle_types){.value = HEDDLE_C32}, val));
    CHECK_FAILS(heddle_plan_create(&plan, h, A, &(heddle_plan_options){.kernel = "csr_vector"}),
                HEDDLE_NO_KERNEL, "csr_vector has no c32 values: its types are f32 f64");
    heddle_matrix_free(A);
    heddle_close(h);
}

/* A CPU takes complex numbers as C aligns them; a GPU reads them as a whole. */
TEST(complex_numbers_are_aligned_as_the_device_needs_it)
{
    static double val[6] = {1, 2, 3, 4, 5, 6};
    for (int d = 0; d < 2; d++) {
        heddle *h;
        heddle_matrix *A = NULL;
        CHECK_OK(heddle_open(&h, devices[d]));
        const char *at = (const char *)val + ((uintptr_t)val % 16 ? 0 : 8);
        CHECK_STATUS(two_by_two(&A, h, (heddle_types){.value = HEDDLE_C64}, at),
                     d ? HEDDLE_BAD_ARGUMENT : HEDDLE_OK);
        heddle_matrix_free(A);
        heddle_close(h);
    }
}

/* ---- statistics and verification ---- */

TEST(hermitian_and_symmetric_are_told_apart)
{
    static const int32_t ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    const double _Complex val[] = {1, awkward_complex(2, 3), awkward_complex(2, -3), 4};
    heddle *h;
    heddle_matrix *A;
    heddle_stats stats;
    CHECK_OK(heddle_open(&h, "cpu"));
    CHECK_OK(heddle_csr(&A, h,
                        &(heddle_csr_desc){.rows = 2,
                                           .cols = 2,
                                           .nnz = 4,
                                           .row_ptr = ptr,
                                           .col = col,
                                           .val = val,
                                           .types = {.value = HEDDLE_C64}}));
    CHECK_OK(heddle_statistics(h, A, &stats));
    CHECK(stats.hermitian_symmetry == 1 && stats.numeric_symmetry == 0 && stats.numeric_skew == 0);
    CHECK(stats.distinct_values == 4);
    heddle_matrix_free(A);
    heddle_close(h);
}

/* Right to the bound, and a planted error in one part of one entry is found and named. */
TEST(complex_results_are_judged_by_their_parts)
{
    struct csr A;
    CHECK_OK(awkward_make(&A, trial_matrix("even rows"), HEDDLE_C32, HEDDLE_I32));
    awkward_randomise(&A, 5);
    c32 *x = awkward_vector(A.rows, HEDDLE_C32, 3, 0), *y = mem_zeroed(A.cols, sizeof *y);
    for (heddle_op op = HEDDLE_T; op <= HEDDLE_H; op++) {
        struct reference r;
        struct verdict v;
        char text[VERDICT_TEXT];
        struct exact *want = mem_alloc(A.cols, sizeof *want);
        CHECK_OK(reference_new(&r, &(struct equation){.A = &A, .op = op, .alpha = 1, .x = x}));
        awkward_reference(want, &A, op, x);
        for (int64_t i = 0; i < A.cols; i++)
            y[i] = (c32)awkward_complex((double)want[i].sum, (double)want[i].imaginary);
        reference_judge(&v, &r, y);
        CHECK_THAT(v.passed, "op %d: %s", (int)op, verdict_text(text, &v, &r));
        IM(y[77]) += 1e-3f;
        reference_judge(&v, &r, y);
        CHECK(!v.passed && v.bad_rows == 1 && v.first == 77);
        CHECK(strstr(verdict_text(text, &v, &r), "row 77 is") != NULL);
        reference_free(&r);
        mem_free(want);
    }
    mem_free(x);
    mem_free(y);
    csr_free(&A);
}
