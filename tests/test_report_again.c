/* SPDX-License-Identifier: MIT
 *
 * Measurements that were taken again: the latest counts, and the earlier ones are kept for those who ask
 * for a version or day. */
#include <string.h>

#include "report.h"

/* A run of kernel a on a day of 2026. */
#define SIZES "\"rows\":10,\"cols\":10,\"nnz\":1000000"
#define AT(day, version, rest)                                                                               \
    "{\"schema\":1,\"record\":\"run\",\"version\":\"" version "\",\"date\":\"2026-" day                      \
    "T00:00:00Z\",\"device\":\"GPU\","                                                                       \
    "\"matrix\":\"m\",\"origin\":\"gen:m\"," SIZES ",\"kernel\":\"a\",\"op\":\"N\",\"value\":\"f64\"," rest  \
    "}\n"
#define RUN(day, version, ms) AT(day, version, "\"warm_ms\":" ms ",\"verified\":true")
#define SKIPPED(day) AT(day, "0.1.0", "\"skipped\":\"no memory\",\"verified\":false")

TEST(of_a_measurement_taken_again_the_latest_counts_and_the_earlier_ones_are_kept)
{
    static const char *const orders[] = {
        RUN("01-01", "0.1.0", "3") RUN("02-01", "0.2.0", "2") RUN("03-01", "0.2.0", "1"),
        RUN("03-01", "0.2.0", "1") RUN("02-01", "0.2.0", "2") RUN("01-01", "0.1.0", "3"),
        RUN("02-01", "0.2.0", "2") RUN("03-01", "0.2.0", "1") RUN("01-01", "0.1.0", "3")};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        struct records r;
        read_lines(&r, orders[o]);
        CHECK(r.runs == 1 && r.plottable == 1 && r.run[0].warm_ms == 1 && r.measured_again == 2);
        CHECK(r.earlier_runs == 2 && r.earlier[0].warm_ms + r.earlier[1].warm_ms == 5);
        for (int i = 0; i < 2 && r.earlier_runs == 2; i++)
            CHECK(strcmp(record_text(&r, r.earlier[i].version),
                         r.earlier[i].warm_ms == 3 ? "0.1.0" : "0.2.0") == 0);
        records_free(&r);
    }
}

TEST(a_line_that_stands_twice_is_not_an_earlier_measurement)
{
    struct records r;
    read_lines(&r, RUN("01-01", "0.1.0", "3") RUN("01-01", "0.1.0", "3"));
    CHECK(r.runs == 1 && r.earlier_runs == 0);
    records_free(&r);
}

TEST(what_was_skipped_or_contradicts_itself_is_not_kept)
{
    struct records r;
    read_lines(&r, SKIPPED("01-01") RUN("02-01", "0.1.0", "3") SKIPPED("03-01"));
    CHECK(r.runs == 1 && r.run[0].warm_ms == 3 && r.earlier_runs == 0);
    records_free(&r);
    read_lines(&r, RUN("01-01", "0.1.0", "3") RUN("01-01", "0.1.0", "4") RUN("02-01", "0.1.0", "2"));
    CHECK(r.runs == 1 && r.run[0].warm_ms == 2 && r.earlier_runs == 0 && r.warning_count == 1);
    records_free(&r);
}

TEST(the_page_holds_the_earlier_ones_behind_those_that_count)
{
    struct records r;
    struct text page = {0};
    read_lines(&r, RUN("02-01", "0.2.0", "0.125") RUN("01-01", "0.1.0", "0.25"));
    if (report_drawing()) {
        CHECK_OK(report_page(&page, &r));
        CHECK(strstr(page.data, "\"warm_ms\":[0.125,0.25]") != NULL);
    }
    text_free(&page);
    records_free(&r);
}

static heddle_status read_again(void *path)
{
    struct records r = {0};
    heddle_status status = records_read(&r, path);
    if (status == HEDDLE_OK)
        status = records_finish(&r);
    records_free(&r);
    return status;
}

TEST(every_allocation_may_fail)
{
    char path[512];
    snprintf(path, sizeof path, "%s",
             test_file("memory.jsonl", RUN("01-01", "0.1.0", "3") RUN("02-01", "0.2.0", "2")));
    CHECK(test_every_allocation(read_again, path) > 5);
}
