/* SPDX-License-Identifier: MIT
 *
 * The command `heddle`: finds the command, parses its options, runs it, and is the only place that prints
 * an error and chooses the exit status. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/memory.h"
#include "cli/cli.h"

#define COMMAND(name, what) extern const struct page page_##name;
#include "cli/commands.def"
#undef COMMAND

const struct command commands[] = {
#define COMMAND(name, what) {#name, what, &page_##name},
#include "cli/commands.def"
#undef COMMAND
    {0}};

const struct command *command_by_name(const char *name)
{
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static heddle_status no_command(const char *name)
{
    const char *names[WORDS_MOST];
    int count = 0;
    for (; commands[count].what; count++)
        names[count] = commands[count].name;
    const char *near = nearest(name, names, count);
    return near ? fail(HEDDLE_BAD_ARGUMENT, "there is no command '%s'; did you mean '%s'?", name, near)
                : fail(HEDDLE_BAD_ARGUMENT, "there is no command '%s' (heddle help lists them)", name);
}

/* `heddle --help` and friends are commands in another spelling. */
static const char *spelled(const char *word)
{
    static const char *const other[][2] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (strcmp(word, other[i][0]) == 0)
            return other[i][1];
    return word;
}

static int terminal(int descriptor)
{
    const char *kind = environment("TERM");
    return isatty(descriptor) && !(kind && strcmp(kind, "dumb") == 0);
}

static heddle_status run_command(struct session *s, int argc, char **argv)
{
    heddle_status status = HEDDLE_OK;
    void *options = NULL;
    int help = 0;
    TRY((options = mem_zeroed((int64_t)s->command->page->size, 1)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    TRY(NEW(s->operand, argc + 1));
    TRY(options_parse(s, options, argc, argv, &help));
    s->progress = terminal(STDERR_FILENO) && !s->quiet;
    if (help) {
        s->operand[0] = s->command->name;
        s->operands = 1;
        s->command = command_by_name("help");
    }
    TRY(s->command->page->run(s, options));
    progress_clear(s);
    if (s->json && strcmp(s->json, "-") != 0 && !s->command->page->keeps_records)
        TRY(output_text(s->json, &s->out));
    else
        TRY(out_flush(s));
done:
    progress_clear(s);
    mem_free(s->operand);
    mem_free(options);
    text_free(&s->out);
    return status;
}

int main(int argc, char **argv)
{
    const char *no_colour = environment("NO_COLOR"), *name = argc > 1 ? spelled(argv[1]) : "help";
    struct session s = {.command = command_by_name(name)};
    heed_signals();
    s.colour = terminal(STDOUT_FILENO) && !(no_colour && no_colour[0]);
    heddle_status status =
        s.command ? run_command(&s, argc > 1 ? argc - 2 : 0, argv + (argc > 1 ? 2 : 1)) : no_command(name);
    if (status != HEDDLE_OK) {
        const char *text = heddle_last_error();
        fprintf(stderr, "heddle: %s\n", text[0] ? text : heddle_status_text(status));
        return EXIT_BAD;
    }
    return argc < 2 ? EXIT_BAD : s.wrong ? EXIT_WRONG : EXIT_GOOD;
}
