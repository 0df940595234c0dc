/* SPDX-License-Identifier: MIT
 *
 * Arrays at the edge of what a description allows: not aligned, not there, with numbers at the ends of
 * their types.  The sanitizers watch what a result does not show. */
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/text.h"
#include "test.h"

#define MISALIGNED(array) ((const void *)((const char *)(array) + 1))

TEST(arrays_that_are_not_aligned_to_their_elements_are_refused_by_name)
{
    static const int32_t row_ptr[4] = {0, 1, 1, 1}, col[4] = {0}, row[4] = {0};
    static const int64_t wide_ptr[4] = {0, 1, 1, 1}, wide[4] = {0};
    static const double val[4] = {1};
    static const float narrow[4] = {1};
    heddle *h;
    heddle_matrix *A;
    CHECK_OK(heddle_open(&h, "cpu"));
    const heddle_csr_desc csr = {.rows = 2, .cols = 2, .nnz = 1, .row_ptr = row_ptr, .col = col, .val = val};
    heddle_csr_desc d = csr;
    d.row_ptr = MISALIGNED(row_ptr);
    CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT,
                "row_ptr is not aligned to its elements of 4 bytes");
    CHECK(A == NULL);
    d.row_ptr = (const char *)wide_ptr + 4;
    d.types.offset = HEDDLE_I64;
    CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT,
                "row_ptr is not aligned to its elements of 8 bytes");
    for (int copy = 0; copy < 2; copy++) {
        d = csr;
        d.copy = copy;
        d.col = MISALIGNED(col);
        CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT,
                    "col is not aligned to its elements of 4 bytes");
        d = csr;
        d.copy = copy;
        d.val = (const char *)val + 4;
        CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT,
                    "val is not aligned to its elements of 8 bytes");
        d.val = (const char *)narrow + 4; /* but four bytes are enough for these */
        d.types.value = HEDDLE_F32;
        if (CHECK_OK(heddle_csr(&A, h, &d)))
            heddle_matrix_free(A);
    }
    CHECK_FAILS(
        heddle_csc(
            &A, h,
            &(heddle_csc_desc){
                .rows = 2, .cols = 2, .nnz = 1, .col_ptr = MISALIGNED(row_ptr), .row = row, .val = val}),
        HEDDLE_BAD_ARGUMENT, "col_ptr is not aligned");
    CHECK_FAILS(
        heddle_csc(
            &A, h,
            &(heddle_csc_desc){
                .rows = 2, .cols = 2, .nnz = 1, .col_ptr = row_ptr, .row = MISALIGNED(row), .val = val}),
        HEDDLE_BAD_ARGUMENT, "row is not aligned");
    CHECK_FAILS(
        heddle_coo(&A, h,
                   &(heddle_coo_desc){
                       .rows = 2, .cols = 2, .nnz = 1, .row = MISALIGNED(row), .col = col, .val = val}),
        HEDDLE_BAD_ARGUMENT, "row is not aligned");
    CHECK_FAILS(heddle_coo(&A, h,
                           &(heddle_coo_desc){.rows = 2,
                                              .cols = 2,
                                              .nnz = 1,
                                              .row = (const char *)wide + 4,
                                              .col = wide,
                                              .val = val,
                                              .types.index = HEDDLE_I64}),
                HEDDLE_BAD_ARGUMENT, "row is not aligned to its elements of 8 bytes");
    heddle_close(h);
}

TEST(indices_and_offsets_at_the_ends_of_their_types_are_bad_and_nothing_else)
{
    heddle *h;
    heddle_matrix *A;
    const double val[2] = {1, 1};
    const int64_t ends[] = {
        INT64_MIN, INT64_MIN + 1, INT32_MIN, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX, -1, 0};
    CHECK_OK(heddle_open(&h, "cpu:threads=2"));
    for (int base = 0; base < 2; base++)
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            int64_t col[2] = {base, ends[i]}, ptr[3] = {base, base + 1, base + 2},
                    bad_ptr[3] = {base, ends[i], base + 2};
            int32_t narrow_ptr[3] = {base, ends[i] < 0 ? INT32_MIN : INT32_MAX, base + 2},
                    narrow[2] = {base, base};
            heddle_csr_desc d = {.rows = 2,
                                 .cols = 2,
                                 .nnz = 2,
                                 .row_ptr = ptr,
                                 .col = col,
                                 .val = val,
                                 .base = base,
                                 .copy = 1,
                                 .types = {.offset = HEDDLE_I64, .index = HEDDLE_I64}};
            heddle_status status = heddle_csr(&A, h, &d);
            if (status == HEDDLE_OK)
                status = heddle_check(h, A);
            CHECK_THAT(status == (base == 0 && ends[i] == 0 ? HEDDLE_OK : HEDDLE_BAD_MATRIX),
                       "base %d, column %lld: %s", base, (long long)ends[i], heddle_status_name(status));
            heddle_matrix_free(A);
            d.col = narrow;
            d.types.index = HEDDLE_I32;
            d.row_ptr = bad_ptr;
            if (CHECK_OK(heddle_csr(&A, h, &d)))
                CHECK_STATUS(heddle_check(h, A), base == 0 && ends[i] == 0 ? HEDDLE_OK : HEDDLE_BAD_MATRIX);
            heddle_matrix_free(A);
            d.row_ptr = narrow_ptr;
            d.types.offset = HEDDLE_I32;
            if (CHECK_OK(heddle_csr(&A, h, &d)))
                CHECK_STATUS(heddle_check(h, A), HEDDLE_BAD_MATRIX);
            heddle_matrix_free(A);
            d.row_ptr = (int64_t[]){base, base, ends[i]};
            d.types.offset = HEDDLE_I64;
            CHECK_FAILS(heddle_csr(&A, h, &d), HEDDLE_BAD_ARGUMENT, "but nnz is 2");
        }
    heddle_close(h);
}

/* A matrix without entries needs no arrays for them, and nobody computes with pointers to nothing. */
TEST(a_matrix_without_entries_goes_everywhere_without_arrays)
{
    static const char *const devices[] = {"cpu", "emu"};
    static const char *const kernels[2][3] = {{"cpu_sell", "cpu_csr", NULL}, {"sell", "csr_naive", NULL}};
    static const int32_t row_ptr[6] = {0};
    double y[5], x[7] = {1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < 2; i++) {
        heddle *h;
        heddle_matrix *A, *B;
        heddle_plan *p;
        heddle_stats stats;
        CHECK_OK(heddle_open(&h, devices[i]));
        CHECK_OK(heddle_csr(&A, h, &(heddle_csr_desc){.rows = 5, .cols = 7, .row_ptr = row_ptr}));
        for (int format = 0; format < 3; format++) {
            if (CHECK_OK(heddle_convert(&B, h, A, (heddle_format)format)))
                CHECK_OK(heddle_check(h, B));
            heddle_matrix_free(B);
        }
        CHECK_OK(heddle_statistics(h, A, &stats));
        for (int k = 0; kernels[i][k]; k++)
            if (CHECK_OK(heddle_plan_create(&p, h, A, &(heddle_plan_options){.kernel = kernels[i][k]}))) {
                memset(y, 0xff, sizeof y);
                CHECK_OK(heddle_plan_mv(p, HEDDLE_N, NULL, x, NULL, y));
                for (int row = 0; row < 5; row++)
                    CHECK(y[row] == 0);
                heddle_plan_free(p);
            }
        heddle_matrix_free(A);
        heddle_close(h);
    }
}

/* ------------------------------------------------------------------ texts that others made */

TEST(an_error_never_holds_what_a_terminal_would_obey)
{
    heddle *h;
    heddle_matrix *A;
    CHECK_OK(heddle_open(&h, "cpu"));
    CHECK_FAILS(heddle_read(&A, h, "none\033[2J\n\r\x7f.mtx", NULL), HEDDLE_FILE_ERROR,
                "none\\x1b[2J\\x0a\\x0d\\x7f.mtx: cannot open");
    CHECK_FAILS(heddle_read(&A, h,
                            "\x9b"
                            "2J \xc2\x9b\xff \xc3\xa4.mtx",
                            NULL),
                HEDDLE_FILE_ERROR, "\\x9b2J \\xc2\\x9b\\xff \xc3\xa4.mtx: cannot open");
    heddle_close(h);
}

TEST(printable_texts_are_cut_between_letters_and_keep_what_may_stay)
{
    char out[16];
    CHECK(text_printable(out, sizeof out, "a\tb\nc\1", "\n\t\1") == 6 && strcmp(out, "a\tb\nc\1") == 0);
    CHECK(text_printable(out, 5, "abc\xc3\xa4", "") == 3 && strcmp(out, "abc") == 0);
    CHECK(text_printable(out, 6, "abc\xc3\xa4", "") == 5);
    CHECK(text_printable(out, 4, "\033", "") == 0 && text_printable(out, 5, "\033", "") == 4);
}

TEST(json_strings_hold_nothing_that_a_terminal_would_obey)
{
    struct json j = {0};
    json_string(&j, NULL, "\033[2J\x7f\xc2\x9b\xc3\xa4\"");
    CHECK_THAT(strcmp(j.text.data, "\"\\u001b[2J\\u007f\\u009b\xc3\xa4\\\"\"") == 0, "%s", j.text.data);
    json_free(&j);
}

TEST(a_member_that_stands_twice_is_found_wherever_it_stands)
{
    struct json_tree t = {0};
    struct text text = {0};
    text_add(&text, "{\"inner\":{\"b\":1,\"a\":2},\"list\":[{\"b\":1},{\"b\":2}]");
    for (int i = 0; i < 3000; i++)
        text_add(&text, ",\"m%d\":%d", i * 7919 % 3000, i);
    text_add(&text, "}");
    CHECK_OK(json_read(&t, text.data));
    CHECK(json_member_number(&t, t.value, "m5", -1) >= 0 &&
          json_member_number(&t, t.value, "m3000", -1) == -1);
    json_tree_free(&t);
    text_free(&text);
    text_add(&text, "{\"inner\":{\"b\":1,\"a\":2}");
    for (int i = 0; i < 3000; i++)
        text_add(&text, ",\"m%d\":%d", i * 7919 % 3000, i);
    text_add(&text, ",\"m1234\":0}");
    CHECK_FAILS(json_read(&t, text.data), HEDDLE_BAD_FILE, "the member \"m1234\" stands twice");
    json_tree_free(&t);
    text_free(&text);
    char nested[] = "{\"a\":{\"x\":1,\"y\":2,\"x\":3},\"b\":1}";
    CHECK_FAILS(json_read(&t, nested), HEDDLE_BAD_FILE, "the member \"x\" stands twice");
    json_tree_free(&t);
}
