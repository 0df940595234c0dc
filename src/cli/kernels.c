/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/cli.h"
#include "gpu/module.h"
#include "kernel/kernel.h"

struct choices {
    const char *json;
    int options, resources;
};

static const struct cli_option options[] = {
    {"options", 0, OPTION_FLAG, offsetof(struct choices, options), NULL,
     "every option with the values that it takes"},
    {"resources", 0, OPTION_FLAG, offsetof(struct choices, resources), NULL,
     "what the compilers said about GPU kernels"},
    {"json", 0, OPTION_JSON, offsetof(struct choices, json), "FILE", JSON_WHAT},
    {0}};

static const struct column columns[] = {{"kernel", 0, 0},  {"device", 0, 0}, {"format", 0, 0},
                                        {"op", 0, 0},      {"types", 0, 0},  {"repeatable", 0, 0},
                                        {"options", 0, 0}, {"source", 0, 0}, {0}};

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
        json_string(&j, "types", k.types);
        json_bool(&j, "repeatable", k.repeatable);
        json_string(&j, "options", k.options);
        json_string(&j, "source", k.source);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return out_json(s, &j);
}

static heddle_status list(struct session *s, const char *json)
{
    struct table t;
    heddle_kernel_desc k;
    if (json)
        return as_json(s);
    table_begin(&t, columns);
    for (int i = 0; i < heddle_kernel_count() && heddle_kernel_info(i, &k) == HEDDLE_OK; i++)
        table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", k.name, k.device, k.format, k.ops, k.types,
                  k.repeatable ? "yes" : "no", k.options, k.source);
    table_end(&t, s);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ options */

static const struct column option_columns[] = {
    {"kernel", 0, 0}, {"option", 0, 0}, {"default", 0, 0}, {"values", 0, 0}, {0}};

static void options_as_json(struct json *j, const struct kernel *k)
{
    char text[OPTION_SPELLED];
    for (const struct option *o = kernel_options(k); o->name; o++) {
        json_object(j, NULL);
        json_string(j, "kernel", k->name);
        json_string(j, "option", o->name);
        option_spell(text, o, o->initial);
        json_string(j, "default", text);
        json_array(j, "values");
        for (int i = 0; i < o->count; i++) {
            option_spell(text, o, o->value[i]);
            json_string(j, NULL, text);
        }
        json_end_array(j);
        json_end_object(j);
    }
}

static void options_as_rows(struct table *t, const struct kernel *k)
{
    char text[OPTION_SPELLED];
    for (const struct option *o = kernel_options(k); o->name; o++) {
        struct text values = {0};
        for (int i = 0; i < o->count; i++) {
            option_spell(text, o, o->value[i]);
            text_add(&values, "%s%s", i ? " " : "", text);
        }
        option_spell(text, o, o->initial);
        table_add(t, "%s\t%s\t%s\t%s", k->name, o->name, text, values.failed ? "?" : values.data);
        text_free(&values);
    }
}

static heddle_status list_options(struct session *s, const char *json)
{
    struct json j = {0};
    struct table t;
    if (json) {
        json_object(&j, NULL);
        json_array(&j, "options");
        for (int i = 0; i < kernel_count(); i++)
            options_as_json(&j, kernel_at(i));
        json_end_array(&j);
        json_end_object(&j);
        return out_json(s, &j);
    }
    table_begin(&t, option_columns);
    for (int i = 0; i < kernel_count(); i++)
        options_as_rows(&t, kernel_at(i));
    table_end(&t, s);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ resources */

static const struct column resource_columns[] = {
    {"kernel", 0, 0}, {"variant", 0, 0}, {"target", 0, 0},  {"registers", 1, 0},
    {"shared", 1, 0}, {"spills", 1, 0},  {"atomics", 0, 0}, {0}};

/* What a compiler does not tell is -1. */
static const char *told(char text[NUMBER_TEXT], int value)
{
    snprintf(text, NUMBER_TEXT, value < 0 ? "?" : "%d", value);
    return text;
}

static void told_json(struct json *j, const char *name, int value)
{
    if (value < 0)
        json_string(j, name, NULL);
    else
        json_int(j, name, value);
}

static heddle_status resources_as_json(struct session *s)
{
    struct json j = {0};
    json_object(&j, NULL);
    json_array(&j, "resources");
    for (const struct gpu_resource *r = gpu_resources; r->kernel; r++) {
        json_object(&j, NULL);
        json_string(&j, "kernel", r->kernel);
        json_string(&j, "variant", r->variant);
        json_string(&j, "target", r->target);
        told_json(&j, "registers", r->registers);
        told_json(&j, "shared", r->shared);
        told_json(&j, "spills", r->spills);
        json_string(&j, "atomics", r->atomics);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return out_json(s, &j);
}

static heddle_status list_resources(struct session *s, const char *json)
{
    struct table t;
    char registers[NUMBER_TEXT], shared[NUMBER_TEXT], spills[NUMBER_TEXT];
    if (json)
        return resources_as_json(s);
    if (gpu_resource_count() == 0) {
        out(s, "This build has no device code: no compiler for GPUs was there, or none was wanted\n"
               "(HEDDLE_CUDA_COMPILER and HEDDLE_HIP_COMPILER in CMake).  The emulator runs GPU kernels\n"
               "without it.\n");
        return HEDDLE_OK;
    }
    table_begin(&t, resource_columns);
    for (const struct gpu_resource *r = gpu_resources; r->kernel; r++)
        table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s%s\t%s", r->kernel, r->variant, r->target,
                  told(registers, r->registers), told(shared, r->shared), r->spills > 0 ? RED : "",
                  told(spills, r->spills), r->atomics);
    table_end(&t, s);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ command */

static heddle_status run(struct session *s, void *into)
{
    const struct choices *c = into;
    if (c->options && c->resources)
        return fail(HEDDLE_BAD_ARGUMENT, "--options and --resources are two tables: ask for one at a time");
    return c->options   ? list_options(s, c->json)
         : c->resources ? list_resources(s, c->json)
                        : list(s, c->json);
}

const struct page page_kernels = {
    .usage = "[--options | --resources] [--json [FILE]]",
    .details =
        "Each kernel computes the operations in the column op on its storage format, with numbers of these\n"
        "types; a kernel of T computes H of complex ones, too.  repeatable: bitwise the same result every\n"
        "run.  Options, shown with their defaults, follow the name after a colon:\n"
        "cpu_sell:slice=8,window=512.  Two more names are taken wherever a kernel is: auto (what heddle_mv\n"
        "runs, with no set-up) and plan (what a plan chooses and prepares).\n"
        "\n"
        "--resources: registers a thread, bytes of static shared memory a block, bytes a thread that did\n"
        "not fit into registers, and how floating-point numbers are added to memory: by an instruction\n"
        "(hardware), by a loop of compare-and-swap, or both.  ?: PTX is compiled where it runs, so nobody\n"
        "has said yet.\n"
        "\n"
        "Examples:\n"
        "  heddle kernels\n"
        "  heddle kernels --options\n"
        "  heddle kernels --resources --json\n",
    .option = options,
    .least = 0,
    .most = 0,
    .size = sizeof(struct choices),
    .run = run};
