/* SPDX-License-Identifier: MIT
 *
 * source.h: a text as a sequence of lines, or of blocks of whole lines, whatever the file is packed in.
 *
 * Blocks always end in a newline (one is put after a last line that has none), so that parsers need no other bound.
 * Text that lies in memory as it is (a plain file, which is mapped; a member of a plain .tar) is handed out in place;
 * decompressed text goes through two buffers, one parsed while the other is filled. */
#ifndef IO_SOURCE_H
#define IO_SOURCE_H

#include "io/decode.h"

#define SOURCE_TEXT 256

struct source {
    char *name;            /* for messages: the path, and "path(member)" for an archive */
    const char *data;      /* the file as it lies on disk */
    int64_t size;
    enum { HELD_MAPPED, HELD_ALLOCATED, HELD_BORROWED } held;
    struct decoder decoder;
    int64_t member_left;   /* bytes of the archive's member that are not read yet; -1: not an archive */

    const char *at, *end;  /* what is left of the present block */
    int64_t line;          /* number of the line that begins at `at`, less one */

    const char *text, *text_end; /* text in memory that is not handed out yet; NULL when it streams */
    char *buffer[2];       /* the present block of a stream and the next one, `capacity` bytes each */
    int64_t capacity, filled[2], whole[2]; /* bytes in each, and how many of them are whole lines */
    int present;           /* which of the two `at` points into */
    int ahead;             /* the other one is filled already, with this result: */
    heddle_status ahead_status;
    char ahead_text[SOURCE_TEXT];
    char *tail;            /* a last line without newline, with one */
};

/* Opens a file and, in an archive, finds the matrix.  An empty file is HEDDLE_BAD_FILE. */
heddle_status source_open(struct source *s, const char *path);
/* The same for a file that lies in memory and outlives the source. */
heddle_status source_memory(struct source *s, const char *name, const void *data, int64_t size);
void source_close(struct source *s);

/* Makes sure that [at, end) is not empty, unless the text is at its end.  The block before becomes invalid. */
heddle_status source_block(struct source *s);
/* Decompresses the next block while another thread still works on the present one; does nothing where that is useless. */
void source_ahead(struct source *s);
/* Takes one line, without its newline; *line is NULL at the end of the text. */
heddle_status source_line(struct source *s, const char **line, int64_t *size);

/* At least 0: bytes of text that are known to follow; -1: unknown. */
int64_t source_left(const struct source *s);

/* Keeps "name:line: text"; the line is left out when it is 0. */
heddle_status source_fail(const struct source *s, heddle_status status, int64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Makes a part of a text fit for a message: short, printable, "'...'" or "the end of the line". */
#define QUOTE_SIZE 48
const char *quote(char out[QUOTE_SIZE], const char *from, const char *to);

/* tar.c: if the contents are a tar archive, leaves the decoder at the matrix in it, with member_left and name set. */
heddle_status tar_enter(struct source *s, const char *path);

#endif
