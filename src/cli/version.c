/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/cli.h"
#include "report/report.h"

static heddle_status run(struct session *s, void *into)
{
    (void)into;
    const char *built = heddle_build_info();
    out(s, "heddle %s\n%s%s", heddle_version(), built, text_ends(built, "\n") ? "" : "\n");
    out(s, "reports: %s%s\n", report_drawing() ? "d3 " : "drawings only, no d3",
        report_drawing() ? report_drawing() : "");
    return HEDDLE_OK;
}

const struct page page_version = {
    .usage = "",
    .details = "The version of the library and what was built into it: compiler, threads, compression,\n"
               "instruction sets.\n",
    .least = 0,
    .most = 0,
    .size = 1,
    .run = run};
