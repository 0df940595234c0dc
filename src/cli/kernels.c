/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct choices {
    int json;
};

static const struct cli_option options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct choices, json), NULL, "as JSON"},
    {0}};

static const struct column columns[] = {{"kernel", 0, 0},     {"device", 0, 0},  {"format", 0, 0}, {"op", 0, 0},
                                        {"repeatable", 0, 0}, {"options", 0, 0}, {"source", 0, 0}, {0}};

static heddle_status as_json(struct session *s)
{
    struct json j = {0};
    heddle_kernel_desc k;
    json_object(&j, NULL);
    json_array(&j, "kernels");
    for (int i = 0; i < heddle_kernel_count() && heddle_kernel_info(i, &k) == HEDDLE_OK; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", k.name);
        json_string(&j, "device", k.device);
        json_string(&j, "format", k.format);
        json_string(&j, "ops", k.ops);
        json_bool(&j, "repeatable", k.repeatable);
        json_string(&j, "options", k.options);
        json_string(&j, "source", k.source);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return out_json(s, &j);
}

static heddle_status run(struct session *s, void *into)
{
    const struct choices *c = into;
    struct table t;
    heddle_kernel_desc k;
    if (c->json)
        return as_json(s);
    table_begin(&t, columns);
    for (int i = 0; i < heddle_kernel_count() && heddle_kernel_info(i, &k) == HEDDLE_OK; i++)
        table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s\t%s", k.name, k.device, k.format, k.ops, k.repeatable ? "yes" : "no",
                  k.options, k.source);
    table_end(&t, s);
    return HEDDLE_OK;
}

const struct page page_kernels = {
    .usage = "[--json]",
    .details = "Each kernel computes the operations in the column op on its storage format.  repeatable: bitwise the\n"
               "same result every run.  Options, shown with their defaults, follow the name after a colon:\n"
               "cpu_sell:slice=8,window=512.  Two more names are taken wherever a kernel is: auto (what heddle_mv\n"
               "runs, with no set-up) and plan (what a plan chooses and prepares).\n"
               "\n"
               "Examples:\n"
               "  heddle kernels\n"
               "  heddle kernels --json\n",
    .option = options, .least = 0, .most = 0, .size = sizeof(struct choices), .run = run};
