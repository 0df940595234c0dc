/* SPDX-License-Identifier: MIT
 *
 * cli.h: what the commands share.  A command is one file and one row of commands.def: it states its
 * options in a table, gets them parsed, writes to a text that reaches standard output when the command has
 * succeeded, and returns a status. main.c alone prints errors and decides the exit status. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>

#include "matrix/vectors.h"
#include "subject/subject.h"
#include "terminal/terminal.h"

enum { EXIT_GOOD = 0, EXIT_WRONG = 1, EXIT_BAD = 2 }; /* a result is wrong; bad usage or input */

/* ------------------------------------------------------------------ options */

#define WORDS_MOST 64

struct words { /* of an option that may be given more than once */
    int count;
    const char *item[WORDS_MOST];
};

enum option_kind {
    OPTION_FLAG,  /* int, set to 1 */
    OPTION_TEXT,  /* const char *, the last one counts */
    OPTION_LIST,  /* struct words */
    OPTION_REAL,  /* double */
    OPTION_COUNT, /* int64_t, at least 1 */
    OPTION_JSON   /* const char *: "-", or a file that ends in .json or .jsonl; the same in every command */
};

#define JSON_WHAT "JSON, one object a line, to standard output or to a FILE.json or .jsonl"

struct cli_option {
    const char *name; /* "output": --output FILE or --output=FILE */
    char letter;      /* 'o': -o FILE; 0 when there is none */
    enum option_kind kind;
    size_t at;            /* where its value stands in the command's own structure */
    const char *argument; /* "FILE", NULL for a flag */
    const char *what;     /* for --help */
};

/* How a command is called and what it does; one in each command's file. */
struct page {
    const char *usage;               /* "MATRIX [--json]" */
    const char *details;             /* paragraphs and examples for --help */
    const struct cli_option *option; /* ends in a row without a name; NULL when there are none */
    int least, most;                 /* operands */
    size_t size;                     /* of the structure that options are stored in, zeroed at first */
    heddle_status (*run)(struct session *s, void *options);
    int keeps_records; /* the file of --json grows while it runs; 0: the whole output goes there at the end */
};

struct command {      /* a row of commands.def */
    const char *name; /* "info" */
    const char *what; /* one line for the list of commands; NULL: not listed */
    const struct page *page;
};

extern const struct command commands[]; /* ends in a row without a name */
const struct command *command_by_name(const char *name);

/* Sorts the arguments into options and operands; *help is set when --help is among them. */
heddle_status options_parse(struct session *s, void *into, int argc, char **argv, int *help);
extern const struct cli_option common_options[]; /* of every command */

/* ------------------------------------------------------------------ what several commands do */

/* The one matrix that `text` stands for: a set of several is refused. */
heddle_status one_subject(struct subject_list *list, const char *text);
heddle_status type_choice(const char *text, heddle_type *type); /* f32, f64, c32, ... */
heddle_status op_choice(const char *text, heddle_op *op);       /* N, T, H */
/* What --vectors 1,8 and --layout rows,columns stand for, `preset` being the layouts that are taken where
 * none is given: a single vector has none.  At most `most`; *count is 0 where --vectors is not given. */
heddle_status vectors_choice(const struct words *numbers, const struct words *layouts, const char *preset,
                             struct vector_group *list, int most, int *count);
#define VECTORS_MOST 1024
#define VECTORS_WHAT "how many vectors are multiplied at once (1)"
#define TYPES_WHAT "f32|f64|c32|c64|f16|bf16|f32v64"
/* Each of the words in "f32,f64". */
heddle_status each_word(const char *text, heddle_status (*visit)(void *argument, const char *word),
                        void *argument);
/* "a.mtx: 8,000 x 8,000, 53,600 nonzeros, 1.2 MB in 0.1 s" after a matrix was written. */
void told_written(struct session *s, const char *path, const struct csr *A, double ms);

#endif
