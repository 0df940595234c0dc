/* SPDX-License-Identifier: MIT
 *
 * What the shell's completion asks: lists that live in .def files, one word a line.  Not for people, so
 * not listed. */
#include <string.h>

#include "bench/peers/peer.h"
#include "cli/cli.h"
#include "reproduce/experiments.h"

static void list_commands(struct session *s)
{
    for (const struct command *c = commands; c->name; c++)
        if (c->what)
            out(s, "%s\n", c->name);
}

static void list_kernels(struct session *s)
{
    heddle_kernel_desc k;
    out(s, "all\nauto\nauto:deterministic=1\n"
           "plan\nplan:deterministic=1\nplan:cache=cold\nplan:cache=warm\nplan:values=fixed\n");
    for (int i = 0; i < heddle_kernel_count() && heddle_kernel_info(i, &k) == HEDDLE_OK; i++)
        out(s, "%s\n", k.name);
}

static void list_families(struct session *s)
{
    for (int i = 0; i < family_count(); i++)
        out(s, "%s\n", family_at(i)->name);
}

static void list_sets(struct session *s)
{
    for (int i = 0; i < set_count(); i++)
        out(s, "set:%s\n", set_at(i)->name);
}

static void list_members(struct session *s)
{
    for (int i = 0; i < set_count(); i++)
        for (int m = 0; m < set_at(i)->count; m++)
            out(s, "set:%s/%s\n", set_at(i)->name, set_at(i)->member[m].name);
}

static void list_devices(struct session *s)
{
    heddle_device_desc d;
    out(s, "auto\n");
    for (int i = 0; i < heddle_device_count() && heddle_device_info(i, &d) == HEDDLE_OK; i++)
        out(s, "%s\n", d.name);
}

static void list_peers(struct session *s)
{
    out(s, "all\n");
    for (int i = 0; i < PEER_LIBRARIES; i++)
        out(s, "%s\n", peer_library_name((enum peer_library_id)i));
    for (const struct peer_row *r = peer_rows; r->name; r++)
        out(s, "%s:%s\n", peer_library_name(r->library), r->name);
}

static void list_experiments(struct session *s)
{
    out(s, "all\n");
    for (const struct experiment *e = experiments; e->name; e++)
        out(s, "%s\n", e->name);
}

static const struct {
    const char *name;
    void (*list)(struct session *s);
} lists[] = {{"commands", list_commands}, {"kernels", list_kernels},        {"families", list_families},
             {"sets", list_sets},         {"members", list_members},        {"devices", list_devices},
             {"peers", list_peers},       {"experiments", list_experiments}};

static void list_options(struct session *s, const struct cli_option *o)
{
    for (; o && o->name; o++)
        out(s, "--%s%s\n", o->name, o->argument ? "=" : "");
}

/* heddle complete LIST, or heddle complete options COMMAND. */
static heddle_status run(struct session *s, void *into)
{
    (void)into;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(lists[i].name, s->operand[0]) == 0) {
            lists[i].list(s);
            return HEDDLE_OK;
        }
    const struct command *c = s->operands > 1 ? command_by_name(s->operand[1]) : NULL;
    if (strcmp(s->operand[0], "options") != 0 || !c)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "complete knows commands, kernels, families, sets, members, devices, peers, "
                    "experiments and options COMMAND");
    list_options(s, c->page->option);
    list_options(s, common_options);
    return HEDDLE_OK;
}

const struct page page_complete = {
    .usage = "LIST",
    .details =
        "Words for the shell's completion: commands, kernels, families, sets, members, devices, peers,\n"
        "experiments, options COMMAND.\n",
    .least = 1,
    .most = 2,
    .size = 1,
    .run = run};
