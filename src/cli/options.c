/* SPDX-License-Identifier: MIT
 *
 * One parser for all commands.  Options may stand anywhere, as --name VALUE, --name=VALUE, -o VALUE or
 * -oVALUE; what follows "--" is an operand in any case, and so is "-" alone. */
#include <string.h>

#include "cli/cli.h"
#include "io/tuning.h"

const struct cli_option common_options[] = {
    {"help", 'h', OPTION_FLAG, 0, NULL, "this text"},
    {"quiet", 'q', OPTION_FLAG, 0, NULL, "nothing but results and errors"},
    {"large", 0, OPTION_FLAG, 0, NULL, "also read small files that describe something huge"},
    {0}};

/* What the parser is looking at. */
struct cursor {
    int argc, next;
    char **argv;
    struct session *s;
    void *into;
    int *help;
};

static const struct cli_option *find(const struct cli_option *table, const char *name, size_t size,
                                     char letter)
{
    for (; table && table->name; table++)
        if (letter ? table->letter == letter
                   : strlen(table->name) == size && strncmp(table->name, name, size) == 0)
            return table;
    return NULL;
}

static heddle_status unknown(const struct session *s, const char *word)
{
    const struct cli_option *const tables[] = {s->command->page->option, common_options};
    const char *names[WORDS_MOST];
    char name[SPEC_TEXT] = "";
    int count = 0;
    for (int t = 0; t < 2; t++)
        for (const struct cli_option *o = tables[t]; o && o->name && count < WORDS_MOST; o++)
            names[count++] = o->name;
    size_t size = strcspn(word, "=");
    memcpy(name, word, size < sizeof name ? size : sizeof name - 1);
    const char *near = word[1] == '-' ? nearest(name + 2, names, count) : NULL;
    return near ? fail(HEDDLE_BAD_ARGUMENT, "%s has no option '%s'; did you mean '--%s'?", s->command->name,
                       name, near)
                : fail(HEDDLE_BAD_ARGUMENT, "%s has no option '%s' (heddle %s --help lists them)",
                       s->command->name, name, s->command->name);
}

/* What --json takes for a file: nothing that could be an operand. */
static int is_json_file(const char *word)
{
    return strcmp(word, "-") == 0 || text_ends(word, ".json") || text_ends(word, ".jsonl");
}

static heddle_status store(const struct cli_option *o, void *into, const char *value)
{
    heddle_status status = HEDDLE_OK;
    void *at = (char *)into + o->at;
    struct words *words = at;
    switch (o->kind) {
    case OPTION_FLAG:
        *(int *)at = 1;
        break;
    case OPTION_TEXT:
    case OPTION_JSON:
        *(const char **)at = value;
        break;
    case OPTION_LIST:
        if (words->count == WORDS_MOST)
            return fail(HEDDLE_BAD_ARGUMENT, "--%s is given more than %d times", o->name, WORDS_MOST);
        words->item[words->count++] = value;
        break;
    case OPTION_REAL:
        status = parse_real(value, at);
        break;
    case OPTION_COUNT:
        status = parse_int(value, at);
        if (status == HEDDLE_OK && *(int64_t *)at < 1)
            status = fail(HEDDLE_BAD_ARGUMENT, "%s is not at least 1", value);
    }
    return status == HEDDLE_OK
             ? status
             : fail(HEDDLE_BAD_ARGUMENT, "--%s %s: '%s' is not what it takes", o->name, o->argument, value);
}

/* The value of an option: what stands behind its = or letter, or else the next argument. */
static heddle_status value_of(struct cursor *c, const struct cli_option *o, const char *attached,
                              const char **value)
{
    if (o->kind == OPTION_FLAG)
        return attached
                 ? fail(HEDDLE_BAD_ARGUMENT, "--%s takes no value, but is given '%s'", o->name, attached)
                 : HEDDLE_OK;
    if (o->kind == OPTION_JSON) {
        int follows = !attached && c->next < c->argc && is_json_file(c->argv[c->next]);
        c->s->json = *value = attached ? attached : follows ? c->argv[c->next++] : "-";
        return is_json_file(*value)
                 ? HEDDLE_OK
                 : fail(HEDDLE_BAD_ARGUMENT, "--json=%s: a file of JSON ends in .json or .jsonl", *value);
    }
    *value = attached ? attached : c->next < c->argc ? c->argv[c->next++] : NULL;
    return *value ? HEDDLE_OK
                  : fail(HEDDLE_BAD_ARGUMENT, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
}

static heddle_status one_option(struct cursor *c, const char *word)
{
    int is_long = word[1] == '-';
    const char *name = word + 1 + is_long, *value = NULL;
    size_t size = is_long ? strcspn(name, "=") : 1;
    char letter = is_long ? 0 : *name;
    const struct cli_option *own = find(c->s->command->page->option, name, size, letter);
    const struct cli_option *o = own ? own : find(common_options, name, size, letter);
    if (!o)
        return unknown(c->s, word);
    const char *attached = is_long ? (name[size] ? name + size + 1 : NULL) : name[1] ? name + 1 : NULL;
    heddle_status status = value_of(c, o, attached, &value);
    if (status != HEDDLE_OK)
        return status;
    if (own)
        return store(o, c->into, value);
    int *const into[] = {c->help, &c->s->quiet, &io_tuning.large}; /* in the order of common_options */
    *into[o - common_options] = 1;
    return HEDDLE_OK;
}

static heddle_status count_operands(const struct session *s)
{
    const struct command *c = s->command;
    if (s->operands < c->page->least)
        return fail(HEDDLE_BAD_ARGUMENT, "%s needs more: heddle %s %s", c->name, c->name, c->page->usage);
    if (s->operands > c->page->most)
        return fail(HEDDLE_BAD_ARGUMENT, "%s does not know what to do with '%s': heddle %s %s", c->name,
                    s->operand[c->page->most], c->name, c->page->usage);
    return HEDDLE_OK;
}

heddle_status options_parse(struct session *s, void *into, int argc, char **argv, int *help)
{
    struct cursor c = {argc, 0, argv, s, into, help};
    int only_operands = 0;
    while (c.next < argc) {
        const char *word = argv[c.next++];
        if (only_operands || word[0] != '-' || !word[1]) {
            s->operand[s->operands++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_operands = 1;
        } else {
            heddle_status status = one_option(&c, word);
            if (status != HEDDLE_OK)
                return status;
        }
    }
    return *help ? HEDDLE_OK : count_operands(s);
}
