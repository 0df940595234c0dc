/* SPDX-License-Identifier: MIT
 *
 * cli.h: what the commands share.  A command is one file and one row of commands.def: it states its options in a table,
 * gets them parsed, writes to a text that reaches standard output when the command has succeeded, and returns a status.
 * main.c alone prints errors and decides the exit status. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>

#include "base/json.h"
#include "base/text.h"
#include "bench/subject.h"
#include "bench/versus.h"

enum { EXIT_GOOD = 0, EXIT_WRONG = 1, EXIT_BAD = 2 }; /* a result is wrong; bad usage or input */

/* ------------------------------------------------------------------ options */

#define WORDS_MOST 64

struct words { /* of an option that may be given more than once */
    int count;
    const char *item[WORDS_MOST];
};

enum option_kind {
    OPTION_FLAG, /* int, set to 1 */
    OPTION_TEXT, /* const char *, the last one counts */
    OPTION_LIST, /* struct words */
    OPTION_REAL, /* double */
    OPTION_COUNT, /* int64_t, at least 1 */
    OPTION_JSON  /* const char *: "-", or a file that ends in .json or .jsonl; the same in every command */
};

#define JSON_WHAT "JSON, one object a line, to standard output or to a FILE.json or .jsonl"

struct cli_option {
    const char *name;     /* "output": --output FILE or --output=FILE */
    char letter;          /* 'o': -o FILE; 0 when there is none */
    enum option_kind kind;
    size_t at;            /* where its value stands in the command's own structure */
    const char *argument; /* "FILE", NULL for a flag */
    const char *what;     /* for --help */
};

struct session;

/* How a command is called and what it does; one in each command's file. */
struct page {
    const char *usage;    /* "MATRIX [--json]" */
    const char *details;  /* paragraphs and examples for --help */
    const struct cli_option *option; /* ends in a row without a name; NULL when there are none */
    int least, most;      /* operands */
    size_t size;          /* of the structure that options are stored in, zeroed at first */
    heddle_status (*run)(struct session *s, void *options);
    int keeps_records;    /* the file of --json grows while it runs; 0: the whole output goes there at the end */
};

struct command { /* a row of commands.def */
    const char *name; /* "info" */
    const char *what; /* one line for the list of commands; NULL: not listed */
    const struct page *page;
};

extern const struct command commands[]; /* ends in a row without a name */
const struct command *command_by_name(const char *name);

/* Sorts the arguments into options and operands; *help is set when --help is among them. */
heddle_status options_parse(struct session *s, void *into, int argc, char **argv, int *help);
extern const struct cli_option common_options[]; /* of every command */

/* ------------------------------------------------------------------ session */

struct session {
    const struct command *command;
    int operands;
    const char **operand; /* size operands */
    int quiet;
    int colour;   /* standard output is a terminal that wants it */
    int progress; /* standard error is a terminal, and nobody asked for quiet */
    int wrong;    /* a result is wrong: exit status 1 */
    const char *json; /* what --json was given, "-" for standard output; NULL: it was not */
    int drawn;    /* a progress bar stands on the terminal */
    struct text out; /* goes to standard output */
};

#define out(s, ...) text_add(&(s)->out, __VA_ARGS__)
/* Writes what has been put out so far; HEDDLE_FILE_ERROR when standard output does not take it. */
heddle_status out_flush(struct session *s);
heddle_status out_json(struct session *s, struct json *j); /* the value on a line of its own; frees j */

/* A bar on the terminal, overwritten by the next and wiped by progress_clear; nothing when not on a terminal. */
void progress(struct session *s, int64_t done, int64_t total, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void progress_clear(struct session *s);

/* ------------------------------------------------------------------ tables */

#define COLUMNS_MOST 16

struct column {
    const char *title;
    int right; /* numbers stand to the right */
    int width; /* at least */
};

/* A cell that begins with one of these is coloured on a terminal; out_flush knows which sequences that are, so that no others
 * get through.  PLAIN ends a colour. */
#define GREEN "\1"
#define RED "\2"
#define DIM "\3"
#define PLAIN "\4"

struct table {
    const struct column *column; /* ends in a column without a title */
    int width[COLUMNS_MOST];
    struct text cells; /* cells end in a tab, rows in a line end */
};

void table_begin(struct table *t, const struct column *column);
void table_add(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3))); /* "a\tb\tc" */
void table_head(struct table *t, struct session *s); /* with the widths known so far */
void table_rows(struct table *t, struct session *s); /* the rows added since the last call */
void table_end(struct table *t, struct session *s);  /* widths by contents, head, rows; frees */
void table_free(struct table *t);

/* ------------------------------------------------------------------ what several commands do */

/* The one matrix that `text` stands for: a set of several is refused. */
heddle_status one_subject(struct subject_list *list, const char *text);
heddle_status type_choice(const char *text, heddle_type *type); /* f32, f64 */
heddle_status op_choice(const char *text, heddle_op *op);       /* N, T */
/* Each of the words in "f32,f64". */
heddle_status each_word(const char *text, heddle_status (*visit)(void *argument, const char *word), void *argument);
/* "a.mtx: 8,000 x 8,000, 53,600 nonzeros, 1.2 MB in 0.1 s" after a matrix was written. */
void told_written(struct session *s, const char *path, const struct csr *A, double ms);

/* What `v` has gathered, as a table; `cold` says which times these are. */
heddle_status versus_told(struct session *s, struct versus *v, int cold);

/* A whole file at once, which appears under its name when it is complete. */
heddle_status output_text(const char *path, const struct text *t);

/* Records: a file that grows line by line under its own name, so that a killed run loses nothing.  Only its last line can be
 * incomplete, and the next run cuts that off. */
struct output_file {
    const char *path; /* borrowed */
    int file;         /* open when path is not NULL */
    int regular;      /* else a pipe or a device, of which nothing can be taken back */
    int64_t size;     /* up to the end of the last line */
    int created, lines;
};
/* Opens it, creates it if need be, and keeps `keep` bytes of what it holds. */
heddle_status output_grow(struct output_file *f, const char *path, int64_t keep);
heddle_status output_line(struct output_file *f, const char *line);
heddle_status output_commit(struct output_file *f);
void output_drop(struct output_file *f); /* removes it if it was not there before and holds nothing; nothing after a commit */

/* SIGINT, SIGTERM and SIGHUP remove temporary files before they end the command. */
void ends_by_signal(int number);
void heed_signals(void);

#endif
