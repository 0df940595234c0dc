/* SPDX-License-Identifier: MIT
 *
 * terminal.h: what a command tells the person who called it: text that reaches standard output when the
 * command has succeeded, tables, a progress bar, and files. */
#ifndef TERMINAL_TERMINAL_H
#define TERMINAL_TERMINAL_H

#include "base/json.h"
#include "base/text.h"

/* ------------------------------------------------------------------ session */

struct command;

struct session {
    const struct command *command; /* that runs (cli.h) */
    int operands;
    const char **operand; /* size operands */
    int quiet;
    int colour;       /* standard output is a terminal that wants it */
    int progress;     /* standard error is a terminal, and nobody asked for quiet */
    int wrong;        /* a result is wrong: exit status 1 */
    const char *json; /* what --json was given, "-" for standard output; NULL: it was not */
    int drawn;        /* a progress bar stands on the terminal */
    struct text out;  /* goes to standard output */
};

#define out(s, ...) text_add(&(s)->out, __VA_ARGS__)
/* Writes what has been put out so far; HEDDLE_FILE_ERROR when standard output does not take it. */
heddle_status out_flush(struct session *s);
heddle_status out_json(struct session *s, struct json *j); /* the value on a line of its own; frees j */

/* A bar on the terminal, overwritten by the next and wiped by progress_clear; nothing when not on a
 * terminal. */
void progress(struct session *s, int64_t done, int64_t total, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void progress_clear(struct session *s);

/* ------------------------------------------------------------------ tables */

#define COLUMNS_MOST 20

struct column {
    const char *title;
    int right; /* numbers stand to the right */
    int width; /* at least */
};

/* A cell that begins with one of these is coloured on a terminal; out_flush knows which sequences that
 * are, so that no others get through.  PLAIN ends a colour. */
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
/* "a\tb\tc" */
void table_add(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_head(struct table *t, struct session *s); /* with the widths known so far */
void table_rows(struct table *t, struct session *s); /* the rows added since the last call */
void table_end(struct table *t, struct session *s);  /* widths by contents, head, rows; frees */
void table_free(struct table *t);

/* ------------------------------------------------------------------ files */

/* A whole file at once, which appears under its name when it is complete. */
heddle_status output_text(const char *path, const struct text *t);

/* Records: a file that grows line by line under its own name, so that a killed run loses nothing.  Only
 * its last line can be incomplete, and the next run cuts that off. */
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
void output_drop(struct output_file *f); /* removes it if it was not there before and holds nothing;
                                          * nothing after a commit */

/* SIGINT, SIGTERM and SIGHUP remove temporary files before they end the command. */
void ends_by_signal(int number);
void heed_signals(void);

#endif
