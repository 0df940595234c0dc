/* SPDX-License-Identifier: MIT
 *
 * Reports: the drawings and the page that are made of records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report.h"
#include "report/cases.h"
#include "report/parts.h"
#include "report/svg.h"

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
    read_lines(&r, RUN_OF_M("a", "1") RUN_OF_M("cusparse:csr_alg1:preprocess=0", "2"));
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
    read_lines(&r, RUN_OF_M("a<b>&c", "1"));
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
    read_lines(&r, RUN_OF_M("</script><b>", "1"));
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
             "%s{]\n{\"schema\":1,\"record\":\"matrix\",\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES_OF_M
             ",\"picture\":{\"rows\":1,\"cols\":2,\"count\":[1,0]}}\n{\"schema\":1,\"record\":\"other\"}\n",
             some_runs());
    char path[512];
    snprintf(path, sizeof path, "%s", test_file("memory.jsonl", text));
    CHECK(test_every_allocation(whole_way, path) > 50);
}
