/* SPDX-License-Identifier: MIT
 *
 * Records: what the reader takes and what it leaves out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "report.h"

/* ------------------------------------------------------------------ JSON */

static heddle_status read_text(struct json_tree *t, const char *text)
{
    static char copy[4096];
    snprintf(copy, sizeof copy, "%s", text);
    return json_read(t, copy);
}

TEST(json_is_read_back_as_it_was_written)
{
    struct json_tree t = {0};
    CHECK_OK(read_text(
        &t,
        " {\"a\" : [1, -2.5e3, true, null], \"b\":{\"c\":\"x\\n\\u00e9\\ud83d\\ude00\\\"\"}, \"n\":null} "));
    const struct json_value *root = &t.value[0], *a = json_member(&t, root, "a");
    CHECK(root->kind == JSON_OBJECT && root->count == 3);
    CHECK(a && a->kind == JSON_ARRAY && a->count == 4);
    CHECK(a && t.value[t.value[a->first].next].number == -2500);
    const char *c = json_member_text(&t, json_member(&t, root, "b"), "c");
    CHECK_THAT(c && strcmp(c, "x\n\xc3\xa9\xf0\x9f\x98\x80\"") == 0, "%s", c ? c : "(none)");
    CHECK(json_member(&t, root, "n") == NULL);
    CHECK(json_member_number(&t, root, "missing", 7) == 7);
    json_tree_free(&t);
}

TEST(broken_json_is_refused_with_its_column)
{
    static const char *const broken[] = {"",         "{",   "[1,]",   "{\"a\":}", "{\"a\" 1}",   "{a:1}",
                                         "[1 2]",    "nul", "\"open", "\"\\x\"",  "\"\\u12g4\"", "01",
                                         "0x10",     "-",   "+1",     "NaN",      "1 2",         "{\"a\":1,}",
                                         "[\"\t\"]", "\"\\"};
    struct json_tree t = {0};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CHECK_FAILS(read_text(&t, broken[i]), HEDDLE_BAD_FILE, "column ");
    CHECK_FAILS(read_text(&t, "{\"a\":1,\"a\":2}"), HEDDLE_BAD_FILE, "\"a\" stands twice");
    char deep[400];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    CHECK_FAILS(read_text(&t, deep), HEDDLE_BAD_FILE, "too deep");
    json_tree_free(&t);
}

/* ------------------------------------------------------------------ lines */

#define WHAT ABOUT_M SIZES_OF_M
#define WHAT_A WHAT ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\""

static int warned(const struct records *r, const char *words)
{
    return r->warnings.data && strstr(r->warnings.data, words) != NULL;
}

TEST(a_good_line_becomes_a_run)
{
    struct records r;
    read_lines(&r, "\xef\xbb\xbf" RUN_OF_M("a", "0.5") "\r\n\n" RUN_OF_M("b", "0.25"));
    CHECK(r.runs == 2 && r.plottable == 2 && r.matrices == 1 && r.warning_count == 0);
    CHECK_THAT(r.warning_count == 0, "%s", r.warnings.data);
    CHECK(r.run[0].warm_ms == 0.5 && isnan(r.run[0].cold_ms));
    CHECK(strcmp(record_text(&r, r.run[1].kernel), "b") == 0);
    CHECK(strcmp(record_text(&r, r.run[1].offset), "i32") == 0);
    records_free(&r);
}

TEST(lines_that_were_cut_down_by_hand_are_runs_too)
{
    struct records r;
    read_lines(&r, "{\"device\":\"NVIDIA H200\",\"matrix\":\"m\"," SIZES_OF_M
                   ",\"kernel\":\"auto\",\"op\":\"N\",\"value\":\"f32\","
                   "\"warm_ms\":0.1,\"of_floor\":0.5,\"verified\":true,\"something\":{\"new\":[1]}}\n");
    CHECK(r.plottable == 1 && r.warning_count == 0);
    CHECK(fabs(r.run[0].floor_ms - 0.05) < 1e-12);
    records_free(&r);
}

TEST(processors_are_known_by_model_threads_and_instructions)
{
    struct records r;
    read_lines(&r,
               "{\"device\":\"cpu\",\"threads\":2,\"isa\":\"avx2\",\"machine\":{\"cpu\":\"Xeon\"},"
               "\"matrix\":\"m\"," SIZES_OF_M
               ",\"kernel\":\"auto\",\"op\":\"N\",\"value\":\"f32\",\"warm_ms\":0.1,\"verified\":true}\n");
    CHECK(r.plottable == 1 && strcmp(record_text(&r, r.run[0].device), "Xeon, 2 threads, avx2") == 0);
    records_free(&r);
}

TEST(each_wrong_line_is_named_and_left_out)
{
    static const struct {
        const char *line, *words;
    } wrong[] = {
        {"{\"schema\":1,\"record\":\"run\"", "broken: column"},
        {"[1,2]", "no JSON object"},
        {"{\"schema\":2,\"record\":\"run\"}", "schema 2 is later than this heddle knows (1)"},
        {"{\"schema\":\"x\",\"record\":\"run\"}", "\"schema\" is not a number"},
        {"{\"ms\":{\"scipy\":1}}", "not a record"},
        {"{\"schema\":1,\"record\":\"novel\"}", "kind 'novel'"},
        {"{" WHAT_A ",\"warm_ms\":1,\"verified\":false,\"wrong\":\"row 3\"}", "not verified: row 3"},
        {"{" WHAT_A ",\"warm_ms\":1}", "\"verified\" is missing"},
        {"{" WHAT_A ",\"warm_ms\":0,\"verified\":true}", "\"warm_ms\" is not above 0"},
        {"{" WHAT_A ",\"warm_ms\":-1,\"verified\":true}", "\"warm_ms\" is not above 0"},
        {"{" WHAT_A ",\"verified\":true}", "\"warm_ms\" is missing"},
        {"{" WHAT_A ",\"warm_ms\":1e999,\"verified\":true}", "\"warm_ms\""},
        {"{" WHAT_A ",\"warm_ms\":1,\"cold_ms\":0,\"verified\":true}", "\"cold_ms\""},
        {"{" WHAT_A ",\"warm_ms\":1,\"convert_ms\":-1,\"verified\":true}", "\"convert_ms\""},
        {"{" WHAT_A ",\"warm_ms\":1,\"error\":2,\"verified\":true}", "\"error\" is above 1"},
        {"{" WHAT_A ",\"warm_ms\":1,\"gflops\":3,\"verified\":true}", "\"gflops\" is not 2 nnz"},
        {"{" WHAT ",\"kernel\":\"a\",\"op\":\"Q\",\"value\":\"f64\",\"warm_ms\":1,\"verified\":true}",
         "\"op\""},
        {"{" WHAT ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f80\",\"warm_ms\":1,\"verified\":true}",
         "\"value\""},
        {"{" WHAT ",\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":1,\"verified\":true}",
         "\"kernel\" is missing"},
        {"{" WHAT_A ",\"skipped\":\"no\",\"verified\":true}", "\"skipped\" and yet"},
        {"{" ABOUT_M "\"rows\":1.5,\"cols\":1,\"nnz\":1,\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\","
         "\"warm_ms\":1,\"verified\":true}",
         "\"rows\" is not a whole number"},
        {"{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"h\",\"origin\":\"gen:h\"," SIZES_OF_M
         ",\"histogram\":[1,2]}",
         "counts other rows"},
        {"{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"p\",\"origin\":\"gen:p\"," SIZES_OF_M
         ",\"picture\":{\"rows\":2,\"cols\":2,\"count\":[1]}}",
         "\"picture\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[2048];
        struct records r;
        snprintf(text, sizeof text, RUN_OF_M("good", "1") "%s\n" RUN_OF_M("also", "2"), wrong[i].line);
        read_lines(&r, text);
        CHECK_THAT(r.plottable == 2, "%s: %lld runs", wrong[i].line, (long long)r.plottable);
        CHECK_THAT(r.warning_count == 1, "%s: %lld warnings", wrong[i].line, (long long)r.warning_count);
        CHECK_THAT(warned(&r, "r.jsonl:2: ") && warned(&r, wrong[i].words), "'%s' does not say '%s'",
                   r.warnings.data, wrong[i].words);
        records_free(&r);
    }
}

TEST(a_zero_byte_is_a_broken_line)
{
    struct records r = {0};
    const char *path = test_path("zero.jsonl");
    FILE *file = fopen(path, "w");
    fwrite("{\"a\":\0 1}\n", 1, 10, file);
    fputs(RUN_OF_M("good", "1"), file);
    fclose(file);
    CHECK_OK(records_read(&r, path));
    CHECK_OK(records_finish(&r));
    CHECK(r.plottable == 1 && warned(&r, ":1: not a record: the line holds a zero byte"));
    records_free(&r);
}

TEST(a_later_measurement_takes_the_place_of_an_earlier_one)
{
    struct records r;
    read_lines(&r,
               "{" WHAT_A ",\"date\":\"2026-02-01T00:00:00Z\",\"warm_ms\":3,\"verified\":true}\n" RUN_OF_M(
                   "a", "1") /* of January */
               "{" WHAT ",\"date\":\"2026-03-01T00:00:00Z\",\"kernel\":\"a\",\"op\":\"T\","
               "\"value\":\"f64\",\"warm_ms\":4,\"verified\":true}\n");
    CHECK(r.plottable == 2 && r.warning_count == 0 && r.measured_again == 1);
    CHECK(r.run[0].warm_ms == 3 && r.run[1].warm_ms == 4);
    records_free(&r);
}

TEST(the_same_file_twice_changes_nothing)
{
    struct records r;
    read_lines(&r, RUN_OF_M("a", "1") RUN_OF_M("b", "2") RUN_OF_M("a", "1") RUN_OF_M("b", "2"));
    CHECK(r.plottable == 2 && r.warning_count == 0 && r.measured_again == 0);
    records_free(&r);
}

TEST(lines_that_contradict_each_other_are_both_left_out)
{
    struct records r;
    read_lines(&r, RUN_OF_M("a", "1") RUN_OF_M("b", "2") RUN_OF_M("a", "1.5"));
    CHECK(r.plottable == 1 && strcmp(record_text(&r, r.run[0].kernel), "b") == 0);
    CHECK(r.warning_count == 1 && warned(&r, "r.jsonl:3: contradictory: the same run as ") &&
          warned(&r, "r.jsonl:1, with other times"));
    records_free(&r);
}

TEST(a_later_measurement_ends_a_contradiction)
{
    struct records r;
    read_lines(&r, RUN_OF_M("a", "1") RUN_OF_M(
                       "a", "1.5") "{" WHAT_A
                                   ",\"date\":\"2026-02-01T00:00:00Z\",\"warm_ms\":3,\"verified\":true}\n");
    CHECK(r.plottable == 1 && r.run[0].warm_ms == 3 && r.warning_count == 1);
    records_free(&r);
}

TEST(an_origin_stands_for_one_matrix)
{
    struct records r;
    read_lines(&r, RUN_OF_M("a", "1") "{" ABOUT_M "\"rows\":100,\"cols\":100,\"nnz\":501,\"kernel\":\"b\","
                                      "\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":1,\"verified\":true}\n");
    CHECK(r.plottable == 1 &&
          warned(&r, "gen:m is 100 x 100 with 501 nonzeros here, but 100 x 100 with 500 at "));
    records_free(&r);
}

TEST(a_generated_matrix_is_not_the_file_of_its_name)
{
    struct records r;
#define MATRIX_FROM(origin, longest)                                                                         \
    "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"" origin "\"," SIZES_OF_M             \
    ",\"row\":{\"longest\":" longest "}}\n"
#define RUN_FROM(origin, ms)                                                                                 \
    "{\"device\":\"GPU\",\"matrix\":\"m\",\"origin\":\"" origin "\"," SIZES_OF_M                             \
    ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\","                                                      \
    "\"date\":\"2026-01-01T00:00:00Z\",\"warm_ms\":" ms ",\"verified\":true}\n"
    read_lines(&r, MATRIX_FROM("set:paper/m", "6") RUN_FROM("set:paper/m", "1") MATRIX_FROM("here/m.mtx", "9")
                       RUN_FROM("here/m.mtx", "2") RUN_FROM("there/m.mtx.xz", "2")
                           RUN_FROM("transpose:gen:m", "1"));
    CHECK(r.warning_count == 0 && r.matrices == 2 && r.plottable == 2);
    CHECK(strcmp(record_text(&r, r.matrix[0].name), "m (generated)") == 0 &&
          r.matrix[0].stat[STAT_row_longest] == 6);
    CHECK(strcmp(record_text(&r, r.matrix[1].name), "m") == 0 && r.matrix[1].stat[STAT_row_longest] == 9);
    CHECK(r.run[0].matrix == 0 && r.run[0].warm_ms == 1 && r.run[1].matrix == 1 && r.run[1].warm_ms == 2);
    records_free(&r);
}

TEST(skipped_runs_are_kept_with_their_reason_and_not_plotted)
{
    struct records r;
    read_lines(
        &r,
        RUN_OF_M("a", "1") "{" WHAT ",\"kernel\":\"ell\","
                           "\"op\":\"N\",\"value\":\"f64\",\"verified\":false,\"skipped\":\"too long\"}\n");
    CHECK(r.runs == 2 && r.plottable == 1 && r.warning_count == 0);
    CHECK(strcmp(record_text(&r, r.run[1].skipped), "too long") == 0);
    records_free(&r);
}

TEST(a_picture_is_kept_as_letters_and_counts_of_empty_cells)
{
    struct records r;
    read_lines(&r, "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES_OF_M
                   ",\"histogram\":[0,0,0,100],"
                   "\"row\":{\"shortest\":4,\"longest\":6,\"empty\":0,\"mean\":5,\"deviation\":0.5},"
                   "\"picture\":{\"rows\":2,\"cols\":4,\"count\":[7,0,0,0,0,0,1,7]}}\n" RUN_OF_M("a", "1"));
    CHECK(r.matrices == 1 && r.matrix[0].described && r.matrix[0].stat[STAT_row_mean] == 5 &&
          r.matrix[0].bins == 4);
    CHECK_THAT(r.matrix[0].picture && strcmp(r.matrix[0].picture, "z5Rz") == 0, "%s", r.matrix[0].picture);
    records_free(&r);
}

TEST(two_descriptions_of_a_matrix_must_agree)
{
    struct records r;
#define DESCRIBED(longest)                                                                                   \
    "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES_OF_M                  \
    ",\"row\":{\"longest\":" longest "}}\n"
    read_lines(&r, DESCRIBED("6.12345678") DESCRIBED("6.1235") RUN_OF_M("a", "1") DESCRIBED("6.13"));
    CHECK(r.warning_count == 1 && warned(&r, "r.jsonl:4: contradictory: other statistics of m than at"));
    records_free(&r);
}

TEST(a_file_that_is_not_there_is_an_error)
{
    struct records r = {0};
    CHECK_FAILS(records_read(&r, "/nowhere/x.jsonl"), HEDDLE_FILE_ERROR, "/nowhere/x.jsonl: cannot be read");
    records_free(&r);
}

TEST(warnings_are_counted_even_when_they_are_too_many_to_keep)
{
    struct records r = {0};
    const char *path = test_path("many.jsonl");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 3 * WARNINGS_KEPT; i++)
        fputs("{]\n", file);
    fclose(file);
    CHECK_OK(records_read(&r, path));
    CHECK(r.warning_count == 3 * WARNINGS_KEPT && r.warnings.size < 100000);
    records_free(&r);
}

TEST(names_are_found_again_however_many_there_are)
{
    struct names n = {0};
    char name[16];
    int64_t number;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3000; i++) {
            snprintf(name, sizeof name, "n%d", i);
            CHECK_OK(names_add(&n, name, &number));
            CHECK(number == i);
        }
    CHECK(n.count == 3000 && strcmp(n.item[2999], "n2999") == 0);
    names_free(&n);
}
