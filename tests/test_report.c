/* SPDX-License-Identifier: MIT
 *
 * Reports: what the reader takes and what it leaves out, the page, the drawings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "report/cases.h"
#include "report/parts.h"
#include "report/report.h"
#include "report/svg.h"
#include "test.h"

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

#define SIZES "\"rows\":100,\"cols\":100,\"nnz\":500"
#define RUN_OF_M                                                                                             \
    "\"schema\":1,\"record\":\"run\",\"version\":\"0.1.0\",\"device\":\"GPU\",\"matrix\":\"m\","             \
    "\"origin\":\"gen:m\","
#define WHAT RUN_OF_M SIZES
#define WHAT_A WHAT ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\""
#define RUN(kernel, ms)                                                                                      \
    "{" WHAT ",\"date\":\"2026-01-01T00:00:00Z\",\"kernel\":\"" kernel                                       \
    "\",\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":" ms ",\"verified\":true}\n"

/* Reads a text as a file and finishes. */
static void read_lines(struct records *r, const char *text)
{
    *r = (struct records){0};
    CHECK_OK(records_read(r, test_file("r.jsonl", text)));
    CHECK_OK(records_finish(r));
}

static int warned(const struct records *r, const char *words)
{
    return r->warnings.data && strstr(r->warnings.data, words) != NULL;
}

TEST(a_good_line_becomes_a_run)
{
    struct records r;
    read_lines(&r, "\xef\xbb\xbf" RUN("a", "0.5") "\r\n\n" RUN("b", "0.25"));
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
    read_lines(&r, "{\"device\":\"NVIDIA H200\",\"matrix\":\"m\"," SIZES
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
               "\"matrix\":\"m\"," SIZES
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
        {"{" WHAT ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f16\",\"warm_ms\":1,\"verified\":true}",
         "\"value\""},
        {"{" WHAT ",\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":1,\"verified\":true}",
         "\"kernel\" is missing"},
        {"{" WHAT_A ",\"skipped\":\"no\",\"verified\":true}", "\"skipped\" and yet"},
        {"{" RUN_OF_M "\"rows\":1.5,\"cols\":1,\"nnz\":1,\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\","
         "\"warm_ms\":1,\"verified\":true}",
         "\"rows\" is not a whole number"},
        {"{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"h\",\"origin\":\"gen:h\"," SIZES
         ",\"histogram\":[1,2]}",
         "counts other rows"},
        {"{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"p\",\"origin\":\"gen:p\"," SIZES
         ",\"picture\":{\"rows\":2,\"cols\":2,\"count\":[1]}}",
         "\"picture\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[2048];
        struct records r;
        snprintf(text, sizeof text, RUN("good", "1") "%s\n" RUN("also", "2"), wrong[i].line);
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
    fputs(RUN("good", "1"), file);
    fclose(file);
    CHECK_OK(records_read(&r, path));
    CHECK_OK(records_finish(&r));
    CHECK(r.plottable == 1 && warned(&r, ":1: not a record: the line holds a zero byte"));
    records_free(&r);
}

TEST(a_later_measurement_takes_the_place_of_an_earlier_one)
{
    struct records r;
    read_lines(&r, "{" WHAT_A ",\"date\":\"2026-02-01T00:00:00Z\",\"warm_ms\":3,\"verified\":true}\n" RUN(
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
    read_lines(&r, RUN("a", "1") RUN("b", "2") RUN("a", "1") RUN("b", "2"));
    CHECK(r.plottable == 2 && r.warning_count == 0 && r.measured_again == 0);
    records_free(&r);
}

TEST(lines_that_contradict_each_other_are_both_left_out)
{
    struct records r;
    read_lines(&r, RUN("a", "1") RUN("b", "2") RUN("a", "1.5"));
    CHECK(r.plottable == 1 && strcmp(record_text(&r, r.run[0].kernel), "b") == 0);
    CHECK(r.warning_count == 1 && warned(&r, "r.jsonl:3: contradictory: the same run as ") &&
          warned(&r, "r.jsonl:1, with other times"));
    records_free(&r);
}

TEST(a_later_measurement_ends_a_contradiction)
{
    struct records r;
    read_lines(&r,
               RUN("a", "1")
                   RUN("a", "1.5") "{" WHAT_A
                                   ",\"date\":\"2026-02-01T00:00:00Z\",\"warm_ms\":3,\"verified\":true}\n");
    CHECK(r.plottable == 1 && r.run[0].warm_ms == 3 && r.warning_count == 1);
    records_free(&r);
}

TEST(an_origin_stands_for_one_matrix)
{
    struct records r;
    read_lines(&r, RUN("a", "1") "{" RUN_OF_M "\"rows\":100,\"cols\":100,\"nnz\":501,\"kernel\":\"b\","
                                 "\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":1,\"verified\":true}\n");
    CHECK(r.plottable == 1 &&
          warned(&r, "gen:m is 100 x 100 with 501 nonzeros here, but 100 x 100 with 500 at "));
    records_free(&r);
}

TEST(a_generated_matrix_is_not_the_file_of_its_name)
{
    struct records r;
#define MATRIX_FROM(origin, longest)                                                                         \
    "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"" origin "\"," SIZES                  \
    ",\"row\":{\"longest\":" longest "}}\n"
#define RUN_FROM(origin, ms)                                                                                 \
    "{\"device\":\"GPU\",\"matrix\":\"m\",\"origin\":\"" origin "\"," SIZES                                  \
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
    read_lines(&r,
               RUN("a", "1") "{" WHAT ",\"kernel\":\"ell\","
                             "\"op\":\"N\",\"value\":\"f64\",\"verified\":false,\"skipped\":\"too long\"}\n");
    CHECK(r.runs == 2 && r.plottable == 1 && r.warning_count == 0);
    CHECK(strcmp(record_text(&r, r.run[1].skipped), "too long") == 0);
    records_free(&r);
}

TEST(a_picture_is_kept_as_letters_and_counts_of_empty_cells)
{
    struct records r;
    read_lines(&r, "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES
                   ",\"histogram\":[0,0,0,100],"
                   "\"row\":{\"shortest\":4,\"longest\":6,\"empty\":0,\"mean\":5,\"deviation\":0.5},"
                   "\"picture\":{\"rows\":2,\"cols\":4,\"count\":[7,0,0,0,0,0,1,7]}}\n" RUN("a", "1"));
    CHECK(r.matrices == 1 && r.matrix[0].described && r.matrix[0].stat[STAT_row_mean] == 5 &&
          r.matrix[0].bins == 4);
    CHECK_THAT(r.matrix[0].picture && strcmp(r.matrix[0].picture, "z5Rz") == 0, "%s", r.matrix[0].picture);
    records_free(&r);
}

TEST(two_descriptions_of_a_matrix_must_agree)
{
    struct records r;
#define DESCRIBED(longest)                                                                                   \
    "{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES                       \
    ",\"row\":{\"longest\":" longest "}}\n"
    read_lines(&r, DESCRIBED("6.12345678") DESCRIBED("6.1235") RUN("a", "1") DESCRIBED("6.13"));
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

/* ------------------------------------------------------------------ drawings */

/* Three matrices, three kernels; ell does not take the third. */
static const char *some_runs(void)
{
    static char text[8192];
    int size = 0;
    static const double ms[3][3] = {{1, 2, 4}, {2, 1, 8}, {1.5, 3, -1}};
    static const char *const kernel[] = {"auto", "csr_vector", "ell"};
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            if (ms[k][m] > 0)
                size += snprintf(
                    text + size, sizeof text - (size_t)size,
                    "{\"schema\":1,\"record\":\"run\",\"device\":\"GPU\",\"matrix\":\"m%d\",\"rows\":10,"
                    "\"cols\":10,\"nnz\":%d,\"kernel\":\"%s\",\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":%g,"
                    "\"floor_ms\":0.5,\"verified\":true}\n",
                    m, 1000 << (4 * m), kernel[k], ms[k][m]);
    return text;
}

TEST(what_is_not_chosen_is_what_most_runs_have)
{
    struct records r;
    struct figure_choice c = {0};
    read_lines(&r, some_runs());
    CHECK_OK(figure_choose(&c, &r));
    CHECK(strcmp(c.device, "GPU") == 0 && strcmp(c.value, "f64") == 0 && strcmp(c.op, "N") == 0 &&
          strcmp(c.baseline, "auto") == 0);
    c = (struct figure_choice){.device = "Other"};
    CHECK_FAILS(figure_choose(&c, &r), HEDDLE_BAD_ARGUMENT, "the records hold devices 'GPU'");
    c = (struct figure_choice){.baseline = "nobody"};
    CHECK_FAILS(figure_choose(&c, &r), HEDDLE_BAD_ARGUMENT, "the baseline nobody has no run on GPU");
    c = (struct figure_choice){.cold = 1};
    CHECK_FAILS(figure_choose(&c, &r), HEDDLE_BAD_ARGUMENT, "and a cold time");
    records_free(&r);
}

TEST(cases_hold_every_time_in_its_place)
{
    struct records r;
    struct cases cases;
    struct figure_choice c = {0};
    read_lines(&r, some_runs());
    CHECK_OK(figure_choose(&c, &r));
    CHECK_OK(cases_new(&cases, &r, &c));
    CHECK(cases.kernels == 3 && cases.matrices == 3 && cases.baseline == 0);
    CHECK(cases.ms[0] == 1 && cases.ms[4] == 1 && cases.ms[5] == 8 && isnan(cases.ms[8]));
    CHECK(cases.best[0] == 1 && cases.best[1] == 1 && cases.best[2] == 4 && cases.floor[0] == 0.5);
    CHECK(strcmp(cases.colour[0], "#d97a1e") == 0 && strcmp(cases.colour[1], cases.colour[2]) != 0);
    cases_free(&cases);
    records_free(&r);
}

TEST(libraries_of_others_are_known_by_their_name)
{
    CHECK(kernel_is_peer("cusparse:csr_alg1") && kernel_is_peer("scipy") && kernel_is_peer("eigen_copy"));
    CHECK(!kernel_is_peer("csr_vector") && !kernel_is_peer("cpu_sell:slice=8") &&
          !kernel_is_peer("cusparsely"));
}

/* Tags open and close in good order, and attributes are quoted. */
static int well_formed(const char *svg)
{
    char open[64][16];
    int depth = 0;
    for (const char *at = strchr(svg, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        if (!end)
            return 0;
        char name[16] = "";
        int closes = at[1] == '/';
        size_t size = strcspn(at + 1 + closes, " />\n");
        snprintf(name, sizeof name, "%.*s", (int)(size < 15 ? size : 15), at + 1 + closes);
        if (closes && (depth == 0 || strcmp(open[--depth], name) != 0))
            return 0;
        if (!closes && end[-1] != '/' && depth < 64)
            snprintf(open[depth++], sizeof open[0], "%s", name);
    }
    return depth == 0;
}

TEST(every_figure_is_a_drawing_that_names_its_kernels)
{
    struct records r;
    struct figure_choice c = {0};
    read_lines(&r, some_runs());
    CHECK_OK(figure_choose(&c, &r));
    for (const struct figure *f = figures; f->name; f++) {
        struct text svg = {0};
        CHECK_OK(f->draw(&svg, &r, &c));
        CHECK_THAT(svg.data && strncmp(svg.data, "<svg xmlns=", 11) == 0, "%s is no SVG", f->name);
        CHECK_THAT(well_formed(svg.data), "%s is not well-formed", f->name);
        CHECK_THAT(!strstr(svg.data, "nan") && !strstr(svg.data, "inf"), "%s holds numbers that are none",
                   f->name);
        CHECK_THAT(strstr(svg.data, ">csr_vector<") && strstr(svg.data, "3 matrices"),
                   "%s does not say what it shows", f->name);
        text_free(&svg);
    }
    records_free(&r);
}

TEST(rows_leave_room_for_the_longest_name)
{
    struct records r;
    struct figure_choice c = {0};
    struct text svg = {0};
    static const char name[] = "cusparse:csr_alg1:preprocess=0";
    read_lines(&r, RUN("a", "1") RUN("cusparse:csr_alg1:preprocess=0", "2"));
    CHECK_OK(figure_choose(&c, &r));
    CHECK_OK(figures[3].draw(&svg, &r, &c));
    const char *at = svg.data ? strstr(svg.data, name) : NULL;
    while (at && at > svg.data && strncmp(at, "<text x=\"", 9) != 0)
        at--;
    CHECK(at && strtod(at + 9, NULL) > 6.5 * (double)(sizeof name - 1)); /* it ends there */
    text_free(&svg);
    records_free(&r);
}

TEST(one_run_alone_can_be_drawn)
{
    struct records r;
    struct figure_choice c = {0};
    read_lines(&r, RUN("a<b>&c", "1"));
    CHECK_OK(figure_choose(&c, &r));
    for (const struct figure *f = figures; f->name; f++) {
        struct text svg = {0};
        CHECK_OK(f->draw(&svg, &r, &c));
        CHECK_THAT(svg.data && well_formed(svg.data) && !strstr(svg.data, "nan") && !strstr(svg.data, "inf"),
                   "%s", f->name);
        CHECK_THAT(svg.data && strstr(svg.data, "a&lt;b&gt;&amp;c"), "%s does not escape the name", f->name);
        text_free(&svg);
    }
    records_free(&r);
}

TEST(labels_move_apart_and_stay_inside)
{
    double at[] = {10, 10, 10, 95};
    const int order[] = {0, 1, 2, 3};
    spread_labels(at, order, 4, 15, 0, 100);
    CHECK(at[0] == 10 && at[1] == 25 && at[2] == 40 && at[3] == 95);
    double low[] = {98, 99, 100};
    const int three[] = {0, 1, 2};
    spread_labels(low, three, 3, 15, 0, 100);
    CHECK(low[2] == 100 && low[1] == 85 && low[0] == 70);
}

/* ------------------------------------------------------------------ the page */

TEST(the_page_holds_template_style_script_and_records)
{
    struct records r;
    struct text page = {0};
    read_lines(&r, RUN("</script><b>", "1"));
    heddle_status status = report_page(&page, &r);
    if (!report_drawing()) {
        CHECK(status == HEDDLE_NOT_SUPPORTED && strstr(heddle_last_error(), "node-d3"));
    } else {
        CHECK_OK(status);
        CHECK(page.data && strstr(page.data, "<!doctype html>") == page.data && strstr(page.data, "</html>"));
        CHECK(page.data && strstr(page.data, "\\u003c/script>\\u003cb>") &&
              !strstr(page.data, "</script><b>"));
        CHECK_THAT(page.data && !strstr(page.data, "@@"), "a mark of the template is left");
        CHECK(page.data && !strstr(page.data, "src=\"http") && !strstr(page.data, "href=\"http"));
    }
    text_free(&page);
    records_free(&r);
}

TEST(parts_that_are_not_there_are_empty)
{
    CHECK(report_part("nothing").size == 0 && report_part("template").size > 500 &&
          report_part("script").size > 10000);
}

/* ------------------------------------------------------------------ memory */

static heddle_status whole_way(void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct records r = {0};
    struct figure_choice c = {0};
    struct text out = {0};
    TRY(records_read(&r, argument));
    TRY(records_finish(&r));
    TRY(figure_choose(&c, &r));
    for (const struct figure *f = figures; f->name; f++) {
        text_free(&out);
        TRY(f->draw(&out, &r, &c));
    }
    text_free(&out);
    if (report_drawing())
        TRY(report_page(&out, &r));
done:
    text_free(&out);
    records_free(&r);
    return status;
}

TEST(every_allocation_may_fail)
{
    char text[9000];
    snprintf(text, sizeof text,
             "%s{]\n{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES
             ",\"picture\":{\"rows\":1,\"cols\":2,\"count\":[1,0]}}\n{\"schema\":1,\"record\":\"other\"}\n",
             some_runs());
    char path[512];
    snprintf(path, sizeof path, "%s", test_file("memory.jsonl", text));
    CHECK(test_every_allocation(whole_way, path) > 50);
}
