/* SPDX-License-Identifier: MIT
 *
 * source.h: a text as a sequence of lines, or of blocks of whole lines, whatever the file is packed in.
 *
 * Blocks always end in a newline (one is put after a last line that has none), so that parsers need no
 * other bound.  Text goes through two buffers, one parsed while the other is filled: what is parsed is
 * Heddle's own copy, which nobody changes between two looks at it. */
#ifndef IO_SOURCE_H
#define IO_SOURCE_H

#include "io/decode.h"

#define SOURCE_TEXT 256

struct text_source {
    char *name;         /* for messages: the path, and "path(member)" for an archive */
    struct input input; /* the file as it lies on disk */
    struct decoder decoder;
    int64_t member_left; /* bytes of the archive's member that are not read yet; -1: not an archive */

    const char *at, *end; /* what is left of the present block */
    int64_t line;         /* number of the line that begins at `at`, less one */

    char *buffer[2];             /* the present block and the next one */
    int64_t room[2];             /* bytes that each can hold, and one more for a missing newline */
    int64_t filled[2], whole[2]; /* bytes in each, and how many of them are whole lines */
    int present;                 /* which of the two `at` points into */
    int ahead;                   /* the other one is filled already, with this result: */
    heddle_status ahead_status;
    char ahead_text[4 * SOURCE_TEXT];
};

/* Opens a file and, in an archive, finds the matrix.  An empty file is HEDDLE_BAD_FILE. */
heddle_status source_open(struct text_source *s, const char *path, int large);
/* The same for a file that is open already and becomes the source's, whatever the result. */
heddle_status source_take(struct text_source *s, const char *path, struct input *in);
/* The same for a file that lies in memory and outlives the source. */
heddle_status source_memory(struct text_source *s, const char *name, const void *data, int64_t size);
void source_close(struct text_source *s);

/* Makes sure that [at, end) is not empty, unless the text is at its end.  The block before becomes
 * invalid. */
heddle_status source_block(struct text_source *s);
/* Fills the next block while other threads still work on the present one. */
void source_ahead(struct text_source *s);
/* Takes one line, without its newline; *line is NULL at the end of the text. */
heddle_status source_line(struct text_source *s, const char **line, int64_t *size);

/* Bytes of text from `at` on, while no block was filled ahead; -1 when nobody knows, because they are
 * packed. */
int64_t source_left(const struct text_source *s);
/* HEDDLE_NO_MEMORY when what the text describes takes so many bytes that this must be a mistake or malice. */
heddle_status source_affords(const struct text_source *s, double bytes);

/* Keeps "name:line: text"; the line is left out when it is 0. */
heddle_status source_fail(const struct text_source *s, heddle_status status, int64_t line, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Makes a part of a text fit for a message: short, printable, "'...'" or "the end of the line". */
#define QUOTE_SIZE 48
const char *quote(char out[QUOTE_SIZE], const char *from, const char *to);

/* tar.c: if the contents are a tar archive, leaves the decoder at the matrix in it, with member_left and
 * name set. */
heddle_status tar_enter(struct text_source *s, const char *path);

#endif
