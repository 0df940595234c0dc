/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct choices {
    const char *json;
};

static const struct cli_option options[] = {
    {"json", 0, OPTION_JSON, offsetof(struct choices, json), "FILE", JSON_WHAT}, {0}};

static const struct column columns[] = {{"device", 0, 0},
                                        {"what", 0, 0},
                                        {"arch", 0, 0},
                                        {"units", 1, 0},
                                        {"memory", 1, 0},
                                        {"cache", 1, 0},
                                        {0}};

static heddle_status as_json(struct session *s)
{
    struct json j = {0};
    heddle_device_desc d;
    json_object(&j, NULL);
    json_array(&j, "devices");
    for (int i = 0; i < heddle_device_count() && heddle_device_info(i, &d) == HEDDLE_OK; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", d.name);
        json_string(&j, "description", d.description);
        json_string(&j, "arch", d.arch);
        json_int(&j, "units", d.units);
        json_int(&j, "memory", d.memory);
        json_int(&j, "cache", d.cache);
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
    heddle_device_desc d;
    char memory[NUMBER_TEXT], cache[NUMBER_TEXT];
    if (c->json)
        return as_json(s);
    table_begin(&t, columns);
    for (int i = 0; i < heddle_device_count() && heddle_device_info(i, &d) == HEDDLE_OK; i++)
        table_add(&t, "%s\t%s\t%s\t%d\t%s\t%s", d.name, d.description, d.arch, d.units,
                  text_bytes(memory, (double)d.memory), d.cache ? text_bytes(cache, (double)d.cache) : "?");
    table_end(&t, s);
    return HEDDLE_OK;
}

const struct page page_devices = {
    .usage = "[--json [FILE]]",
    .details =
        "The names in the first column are what --device takes.  Options follow a colon:\n"
        "cpu:threads=4,isa=generic uses four threads and no wider instructions;\n"
        "emu:wave=64,seed=7 runs GPU kernels on the CPU, 64 lanes a wave, with every rule of a GPU checked.\n"
        "\n"
        "Examples:\n"
        "  heddle devices\n"
        "  heddle bench set:smoke --device cpu:threads=1\n",
    .option = options,
    .least = 0,
    .most = 0,
    .size = sizeof(struct choices),
    .run = run};
