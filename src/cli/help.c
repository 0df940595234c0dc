/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static void list_commands(struct session *s)
{
    out(s, "heddle %s: sparse matrix times vector\n\n", heddle_version());
    for (const struct command *c = commands; c->name; c++)
        if (c->what)
            out(s, "  heddle %-9s  %s\n", c->name, c->what);
    out(s,
        "\n"
        "A MATRIX is a file (.mtx, .rb, .petsc, each also .gz or .xz; .tar.gz; .hdl), - for standard input,\n"
        "gen:FAMILY:key=value,..., set:SET, set:SET/MEMBER, set:DIRECTORY or set:DIRECTORY/MEMBER.\n"
        "'heddle COMMAND --help' tells more, with examples; start with:\n"
        "\n"
        "  heddle gen grid3d:n=100 -o a.mtx\n"
        "  heddle info a.mtx\n"
        "  heddle bench a.mtx\n");
}

static void list_options(struct session *s, const struct cli_option *o)
{
    char left[64];
    for (; o && o->name; o++) {
        int size = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                             : snprintf(left, sizeof left, "    --%s", o->name);
        if (o->argument)
            snprintf(left + size, sizeof left - (size_t)size, o->kind == OPTION_JSON ? " [%s]" : " %s",
                     o->argument);
        out(s, "  %-26s  %s\n", left, o->what);
    }
}

static heddle_status run(struct session *s, void *into)
{
    (void)into;
    if (s->operands == 0) {
        list_commands(s);
        return HEDDLE_OK;
    }
    const struct command *c = command_by_name(s->operand[0]);
    if (!c)
        return fail(HEDDLE_BAD_ARGUMENT, "there is no command '%s' (heddle help lists them)", s->operand[0]);
    out(s, "heddle %s %s\n\n%s\nOptions:\n", c->name, c->page->usage, c->page->details);
    list_options(s, c->page->option);
    list_options(s, common_options);
    return HEDDLE_OK;
}

const struct page page_help = {.usage = "[COMMAND]",
                               .details = "Lists the commands, or tells how one of them is used.\n",
                               .least = 0,
                               .most = 1,
                               .size = 1,
                               .run = run};
