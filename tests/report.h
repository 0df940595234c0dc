/* SPDX-License-Identifier: MIT
 *
 * report.h: records for the tests of reports, and how they are read. */
#ifndef TESTS_REPORT_H
#define TESTS_REPORT_H

#include "report/report.h"
#include "test.h"

/* Of a matrix m, and a run on it. */
#define SIZES_OF_M "\"rows\":100,\"cols\":100,\"nnz\":500"
#define ABOUT_M                                                                                              \
    "\"schema\":1,\"record\":\"run\",\"version\":\"0.1.0\",\"device\":\"GPU\",\"matrix\":\"m\","             \
    "\"origin\":\"gen:m\","
#define RUN_OF_M(kernel, ms)                                                                                 \
    "{" ABOUT_M SIZES_OF_M ",\"date\":\"2026-01-01T00:00:00Z\",\"kernel\":\"" kernel                         \
    "\",\"op\":\"N\",\"value\":\"f64\",\"warm_ms\":" ms ",\"verified\":true}\n"

/* Reads a text as a file and finishes. */
static inline void read_lines(struct records *r, const char *text)
{
    *r = (struct records){0};
    CHECK_OK(records_read(r, test_file("r.jsonl", text)));
    CHECK_OK(records_finish(r));
}

#endif
