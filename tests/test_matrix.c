/* SPDX-License-Identifier: MIT
 *
 * Host matrices: validation, conversion, order, repeats, statistics; in all four variants, against the
 * obvious way. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "matrix/matrix.h"

static const struct {
    heddle_type value, offset;
} types[] = {
    {HEDDLE_F32, HEDDLE_I32}, {HEDDLE_F64, HEDDLE_I32}, {HEDDLE_F32, HEDDLE_I64}, {HEDDLE_F64, HEDDLE_I64}};

#define EACH_TYPE(t) for (int t = 0; t < 4; t++)

static void set_value(void *val, heddle_type type, int64_t k, double v)
{
    if (type == HEDDLE_F64)
        ((double *)val)[k] = v;
    else
        ((float *)val)[k] = (float)v;
}

/* nnz random positions, unsorted and with repeats, small integer values. */
static struct coo random_coo(int64_t rows, int64_t cols, int64_t nnz, heddle_type value, uint64_t seed)
{
    struct coo A;
    CHECK_OK(coo_new(&A, rows, cols, nnz, value));
    for (int64_t k = 0; k < nnz; k++) {
        A.row[k] = (int32_t)(test_random(&seed) % (uint64_t)rows);
        A.col[k] = (int32_t)(test_random(&seed) % (uint64_t)cols);
        set_value(A.val, value, k, (double)(test_random(&seed) % 17) - 8);
    }
    return A;
}

static struct csr random_csr(int64_t rows, int64_t cols, int64_t nnz, int t, uint64_t seed)
{
    struct coo C = random_coo(rows, cols, nnz, types[t].value, seed);
    struct csr A, B;
    CHECK_OK(csr_from_coo(&A, &C));
    CHECK_OK(csr_retype(&B, &A, types[t].value, types[t].offset));
    csr_free(&A);
    coo_free(&C);
    return B;
}

static int same_csr(const struct csr *A, const struct csr *B)
{
    if (A->rows != B->rows || A->cols != B->cols || A->nnz != B->nnz)
        return 0;
    for (int64_t i = 0; i <= A->rows; i++)
        if (csr_offset(A, i) != csr_offset(B, i))
            return 0;
    for (int64_t k = 0; k < A->nnz; k++)
        if (A->col[k] != B->col[k] || value_at(A->val, A->value, k) != value_at(B->val, B->value, k))
            return 0;
    return 1;
}

TEST(sizes_that_make_no_sense_are_refused)
{
    struct csr A;
    struct coo C;
    CHECK_FAILS(csr_new(&A, -1, 1, 0, HEDDLE_F64, HEDDLE_I32), HEDDLE_BAD_ARGUMENT, "negative");
    CHECK_FAILS(csr_new(&A, INDEX_LIMIT, 1, 0, HEDDLE_F64, HEDDLE_I32), HEDDLE_BAD_ARGUMENT, "below 2^31");
    CHECK_FAILS(csr_new(&A, 0, 5, 3, HEDDLE_F64, HEDDLE_I32), HEDDLE_BAD_ARGUMENT,
                "3 entries in a matrix of 0 x 5");
    CHECK_FAILS(csr_new(&A, 5, 5, INDEX_LIMIT, HEDDLE_F64, HEDDLE_I32), HEDDLE_BAD_ARGUMENT,
                "64-bit offsets");
    CHECK_FAILS(coo_new(&C, 5, -5, 0, HEDDLE_F64), HEDDLE_BAD_ARGUMENT, "negative");
    CHECK(offset_for(INT32_MAX) == HEDDLE_I32 && offset_for(INDEX_LIMIT) == HEDDLE_I64);
}

TEST(coordinates_become_rows_in_the_order_in_which_they_stand)
{
    struct coo A = random_coo(37, 50, 4000, HEDDLE_F64, 1);
    struct csr B;
    for (int64_t k = 0; k < A.nnz; k++)
        set_value(A.val, A.value, k, (double)k);
    CHECK_OK(csr_from_coo(&B, &A));
    CHECK_OK(csr_validate(&B));
    for (int64_t i = 0; i < B.rows; i++)
        for (int64_t k = csr_offset(&B, i); k < csr_offset(&B, i + 1); k++) {
            int64_t from = (int64_t)value_at(B.val, B.value, k);
            CHECK(A.row[from] == i && A.col[from] == B.col[k]);
            CHECK(k == csr_offset(&B, i) || (double)value_at(B.val, B.value, k - 1) < (double)from);
        }
    csr_free(&B);
    coo_free(&A);
}

TEST(rows_and_coordinates_convert_into_each_other)
{
    EACH_TYPE(t)
    {
        struct csr A = random_csr(5000, 300, 20000, t, 2), B;
        struct coo C;
        CHECK_OK(coo_from_csr(&C, &A));
        CHECK(coo_is_sorted(&C));
        CHECK_OK(coo_validate(&C));
        CHECK_OK(csr_from_coo(&B, &C));
        CHECK(same_csr(&A, &B));
        csr_free(&A);
        csr_free(&B);
        coo_free(&C);
    }
}

TEST(a_transposition_exchanges_rows_and_columns_and_sorts)
{
    EACH_TYPE(t)
    {
        struct csr A = random_csr(200, 3000, 9000, t, 3), T, back;
        CHECK_OK(csr_transpose(&T, &A));
        CHECK_OK(csr_validate(&T));
        CHECK(T.rows == A.cols && T.cols == A.rows && T.nnz == A.nnz);
        CHECK_OK(csr_transpose(&back, &T));
        CHECK_OK(csr_sort(&A));
        CHECK(same_csr(&A, &back)); /* stable both ways: the same as sorting each row */
        csr_free(&A);
        csr_free(&T);
        csr_free(&back);
    }
}

TEST(rows_without_entries_and_matrices_without_rows_convert)
{
    static const int64_t sizes[][3] = {{0, 0, 0}, {0, 7, 0},      {7, 0, 0},     {1, 1, 0},
                                       {1, 1, 1}, {100000, 3, 1}, {3, 100000, 2}};
    EACH_TYPE(t)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct csr A = {0}, T, back;
        struct coo C;
        CHECK_OK(csr_new(&A, sizes[i][0], sizes[i][1], 0, types[t].value, types[t].offset));
        memset(A.row_ptr, 0, (size_t)(A.rows + 1) * type_size(A.offset));
        if (sizes[i][2]) {
            csr_free(&A);
            A = random_csr(sizes[i][0], sizes[i][1], sizes[i][2], t, 4);
        }
        CHECK_OK(csr_validate(&A));
        CHECK_OK(csr_sort(&A));
        CHECK_OK(csr_transpose(&T, &A));
        CHECK_OK(csr_validate(&T));
        CHECK_OK(csr_transpose(&back, &T));
        CHECK(same_csr(&A, &back));
        CHECK_OK(coo_from_csr(&C, &A));
        heddle_stats stats;
        CHECK_OK(csr_statistics(&stats, &A));
        CHECK(stats.nnz == A.nnz && stats.row.longest <= A.nnz);
        csr_free(&A);
        csr_free(&T);
        csr_free(&back);
        coo_free(&C);
    }
}

TEST(validation_names_the_first_bad_position)
{
    EACH_TYPE(t)
    {
        struct csr A = random_csr(100, 100, 3000, t, 5);
        int32_t kept = A.col[1234];
        CHECK_OK(csr_validate(&A));
        A.col[1234] = 100;
        A.col[2000] = -5;
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "entry 1234, in row");
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "has column 100, outside 0..99");
        A.col[1234] = kept;
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "has column -5");
        A.col[2000] = 0;
        int64_t old = csr_offset(&A, 50);
        if (A.offset == HEDDLE_I64)
            ((int64_t *)A.row_ptr)[50] = INT64_MAX;
        else
            ((int32_t *)A.row_ptr)[50] = INT32_MAX;
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "row_ptr[51] =");
        if (A.offset == HEDDLE_I64)
            ((int64_t *)A.row_ptr)[50] = old, ((int64_t *)A.row_ptr)[0] = 1;
        else
            ((int32_t *)A.row_ptr)[50] = (int32_t)old, ((int32_t *)A.row_ptr)[0] = 1;
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "row_ptr[0] is 1, not 0");
        memset(A.row_ptr, 0, type_size(A.offset));
        A.nnz--;
        CHECK_FAILS(csr_validate(&A), HEDDLE_BAD_MATRIX, "row_ptr[100] is 3000, but there are 2999 entries");
        A.cols = -1;
        CHECK_STATUS(csr_validate(&A), HEDDLE_BAD_ARGUMENT);
        csr_free(&A);
    }
}

TEST(coordinates_out_of_range_are_named)
{
    struct coo A = random_coo(10, 20, 500, HEDDLE_F32, 6);
    CHECK_OK(coo_validate(&A));
    A.col[77] = 20;
    CHECK_FAILS(coo_validate(&A), HEDDLE_BAD_MATRIX, "entry 77, in row");
    A.row[70] = -1;
    CHECK_FAILS(coo_validate(&A), HEDDLE_BAD_MATRIX, "entry 70 has row -1, outside 0..9");
    A.rows = -1;
    CHECK_STATUS(coo_validate(&A), HEDDLE_BAD_ARGUMENT);
    coo_free(&A);
}

TEST(repeats_add_up_and_nothing_else_changes)
{
    enum { R = 200 }; /* rows: several for each of the parts */
    EACH_TYPE(t)
    {
        struct csr A = random_csr(R, 30, 25000, t, 7); /* far more entries than places */
        double sum[R][30] = {{0}};
        for (int64_t i = 0; i < R; i++)
            for (int64_t k = csr_offset(&A, i); k < csr_offset(&A, i + 1); k++)
                sum[i][A.col[k]] += value_at(A.val, A.value, k);
        CHECK(!csr_is_sorted(&A));
        CHECK_OK(csr_sort(&A));
        CHECK(!csr_is_sorted(&A));
        CHECK_OK(csr_sum_repeats(&A));
        CHECK(csr_is_sorted(&A));
        CHECK_OK(csr_validate(&A));
        CHECK(A.nnz <= R * 30);
        for (int64_t i = 0; i < R; i++)
            for (int64_t k = csr_offset(&A, i); k < csr_offset(&A, i + 1); k++)
                CHECK(value_at(A.val, A.value, k) == sum[i][A.col[k]]);
        int64_t nnz = A.nnz;
        CHECK_OK(csr_sum_repeats(&A));
        CHECK(A.nnz == nnz);
        csr_free(&A);
    }
}

TEST(the_row_of_an_entry_is_found_across_empty_rows)
{
    EACH_TYPE(t)
    {
        struct csr A = random_csr(3000, 10, 1000, t, 8);
        for (int64_t k = 0; k <= A.nnz; k++) {
            int64_t i = csr_row_at(&A, k);
            CHECK(csr_offset(&A, i) >= k && (i == 0 || csr_offset(&A, i - 1) < k));
        }
        csr_free(&A);
    }
}

TEST(other_types_hold_the_same_numbers)
{
    EACH_TYPE(from)
    EACH_TYPE(to)
    {
        struct csr A = random_csr(90, 80, 700, from, 9), B;
        CHECK_OK(csr_retype(&B, &A, types[to].value, types[to].offset));
        CHECK(B.value == types[to].value && B.offset == types[to].offset);
        CHECK(same_csr(&A, &B));
        CHECK(csr_bytes(&B) == 91 * (int64_t)type_size(B.offset) + 700 * (int64_t)(4 + type_size(B.value)));
        csr_free(&A);
        csr_free(&B);
    }
    struct coo C = random_coo(9, 9, 10, HEDDLE_F32, 1);
    CHECK(coo_bytes(&C) == 120);
    coo_free(&C);
    CHECK(strcmp(variant_name(variant_of(HEDDLE_F64, HEDDLE_I64)), "f64_o64") == 0);
}

TEST(statistics_agree_with_counting_by_hand)
{
    /* [ 2 . 1 . ]   one empty row, one entry with its mirror image, one with the opposite sign,
     * [ . . . . ]   one without a partner
     * [ 1 . 3 5 ]
     * [ . . -5 . ] */
    int32_t row_ptr[] = {0, 2, 2, 5, 6}, col[] = {0, 2, 0, 2, 3, 2};
    double val[] = {2, 1, 1, 3, 5, -5};
    struct csr A = {4, 4, 6, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val};
    heddle_stats s;
    CHECK_OK(csr_statistics(&s, &A));
    CHECK(s.rows == 4 && s.cols == 4 && s.nnz == 6 && s.sorted && s.repeats == 0);
    CHECK(s.row.shortest == 0 && s.row.longest == 3 && s.row.empty == 1 && s.row.mean == 1.5);
    CHECK(fabs(s.row.deviation - sqrt(1.25)) < 1e-14);
    CHECK(s.col.shortest == 0 && s.col.longest == 3 && s.col.empty == 1);
    CHECK(s.lower_bandwidth == 2 && s.upper_bandwidth == 2 && s.diagonal == 2);
    CHECK(s.pattern_symmetry == 1 && s.numeric_symmetry == 0.5 && s.numeric_skew == 0.5);
    CHECK(s.distinct_values == 5);
    val[0] = -0.0;
    col[4] = 1; /* now row 2 is 0, 2, 1: not sorted, and 5 and -5 have lost their partners */
    CHECK_OK(csr_statistics(&s, &A));
    CHECK(!s.sorted && s.pattern_symmetry == 0.5 && s.diagonal == 2 && s.lower_bandwidth == 2);
    col[3] = 0; /* a repeat */
    CHECK_OK(csr_statistics(&s, &A));
    CHECK(s.repeats == 1 && s.diagonal == 1);
    static int32_t nothing[1001];
    struct csr tall = {1000, 5, 0, HEDDLE_F64, HEDDLE_I32, nothing, NULL, NULL};
    CHECK_OK(csr_statistics(&s, &tall));
    CHECK(s.row.empty == 1000 && s.col.empty == 5 && s.pattern_symmetry == 0 && s.distinct_values == 0);
    struct csr full = {2,  3, 5, HEDDLE_F64, HEDDLE_I32, (int32_t[]){0, 2, 5}, (int32_t[]){0, 1, 0, 1, 2},
                       val};
    CHECK_OK(csr_statistics(&s, &full));
    CHECK(s.row.shortest == 2 && s.row.longest == 3 && s.col.shortest == 1 && s.col.longest == 2);
}

TEST(distinct_values_are_counted_up_to_the_limit)
{
    EACH_TYPE(t)
    for (int64_t distinct = 65535; distinct <= 65538; distinct++) {
        struct csr A = random_csr(500, 500, 200000, t, 10);
        heddle_stats s;
        for (int64_t k = 0; k < A.nnz; k++)
            set_value(A.val, A.value, k, (double)(k % distinct));
        CHECK_OK(csr_statistics(&s, &A));
        CHECK(s.distinct_values == (distinct < 65537 ? distinct : 65537));
        csr_free(&A);
    }
}

static heddle_status everything(void *argument)
{
    heddle_status status = HEDDLE_OK;
    const struct coo *C = argument;
    struct csr A = {0}, T = {0}, B = {0};
    struct coo D = {0};
    heddle_stats stats;
    TRY(csr_from_coo(&A, C));
    TRY(csr_transpose(&T, &A));
    TRY(csr_retype(&B, &A, HEDDLE_F32, HEDDLE_I64));
    TRY(coo_from_csr(&D, &A));
    TRY(csr_statistics(&stats, &A));
    TRY(csr_sort(&A));
    TRY(csr_sum_repeats(&A));
done:
    csr_free(&A);
    csr_free(&T);
    csr_free(&B);
    coo_free(&D);
    return status;
}

TEST(every_allocation_may_fail)
{
    struct coo C = random_coo(300, 300, 2000, HEDDLE_F64, 11);
    CHECK(test_every_allocation(everything, &C) > 20);
    coo_free(&C);
}
