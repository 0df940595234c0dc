/* SPDX-License-Identifier: MIT
 *
 * Block n lies in one buffer with the beginning of a line behind its last newline; that beginning is
 * copied to the other buffer and the decoder fills up the rest, which gives block n + 1.  source_ahead may
 * do so while block n is still being parsed, since it only reads the part of it that the parser does not
 * own. */
#define _GNU_SOURCE /* memrchr */
#include "io/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/number.h"
#include "io/tuning.h"

#define LINE_MOST (INT64_C(1) << 30) /* of a text that is not packed: all of a vector may stand on one line */

heddle_status source_fail(const struct text_source *s, heddle_status status, int64_t line, const char *format,
                          ...)
{
    char text[2 * SOURCE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0)
        return fail(status, "%.400s:%lld: %s", s->name, (long long)line, text);
    return fail(status, "%.400s: %s", s->name, text);
}

const char *quote(char out[QUOTE_SIZE], const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    int n = 0;
    out[n++] = '\'';
    for (; from < to && !is_blank(*from) && *from != '\n'; from++) {
        if (n == QUOTE_SIZE - 5) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        out[n++] = *from >= 32 && *from < 127 ? *from : '?';
    }
    if (n == 1)
        return "the end of the line";
    out[n++] = '\'';
    out[n] = 0;
    return out;
}

heddle_status source_affords(const struct text_source *s, double bytes)
{
    return input_affords(&s->input, s->name, bytes);
}

/* Bytes of text that are in no buffer yet; -1: nobody knows. */
static int64_t unread(const struct text_source *s)
{
    if (!decoder_plain(&s->decoder))
        return -1;
    return s->member_left >= 0 ? s->member_left : s->input.size - s->decoder.at;
}

/* The packing is opened, the archive entered; what remains is where the text goes. */
static heddle_status begin(struct text_source *s, const char *path)
{
    heddle_status status = HEDDLE_OK;
    size_t n = strlen(path) + 1;
    TRY(NEW(s->name, (int64_t)n));
    memcpy(s->name, path, n);
    s->decoder = (struct decoder){.name = s->name, .input = &s->input};
    s->member_left = -1;
    TRY(decoder_start(&s->decoder));
    TRY(tar_enter(s, path));
    s->decoder.name = s->name;
    int64_t left = unread(s), room = left >= 0 && left < io_tuning.block ? left + 1 : io_tuning.block;
    if (left > s->input.size - s->decoder.at)
        TRY(source_fail(s, HEDDLE_BAD_FILE, 0, "the archive is cut off inside this member"));
    s->present = 1; /* the first block goes to buffer 0, behind the empty rest of buffer 1 */
    for (int i = 0; i < 2; i++) {
        TRY(NEW(s->buffer[i], room + 1));
        s->room[i] = room;
    }
done:
    return status;
}

heddle_status source_take(struct text_source *s, const char *path, struct input *in)
{
    *s = (struct text_source){.input = *in};
    heddle_status status = begin(s, path);
    if (status != HEDDLE_OK)
        source_close(s);
    return status;
}

/* A failure leaves nothing open: the caller closes only what was opened. */
heddle_status source_open(struct text_source *s, const char *path, int large)
{
    struct input in;
    heddle_status status = input_open(&in, path, large);
    return status == HEDDLE_OK ? source_take(s, path, &in) : status;
}

heddle_status source_memory(struct text_source *s, const char *name, const void *data, int64_t size)
{
    struct input in;
    heddle_status status = input_memory(&in, name, data, size);
    return status == HEDDLE_OK ? source_take(s, name, &in) : status;
}

void source_close(struct text_source *s)
{
    decoder_stop(&s->decoder);
    input_close(&s->input);
    mem_free(s->buffer[0]);
    mem_free(s->buffer[1]);
    mem_free(s->name);
    *s = (struct text_source){.input = {.file = -1}};
}

/* Bytes of the contents: those of the member in an archive. */
static heddle_status read_contents(struct text_source *s, char *out, int64_t capacity, int64_t *got)
{
    int64_t wanted = s->member_left >= 0 && s->member_left < capacity ? s->member_left : capacity;
    heddle_status status = decoder_read(&s->decoder, out, wanted, got);
    if (status != HEDDLE_OK || s->member_left < 0)
        return status;
    s->member_left -= *got;
    return *got < wanted ? source_fail(s, HEDDLE_BAD_FILE, 0, "the archive is cut off inside this member")
                         : HEDDLE_OK;
}

/* More room in a buffer that holds `filled` bytes without a newline. */
static heddle_status grow(struct text_source *s, int i, int64_t filled, int64_t room)
{
    if (!decoder_plain(&s->decoder) || room > LINE_MOST)
        return source_fail(s, HEDDLE_BAD_FILE, 0, "a line is longer than %lld bytes: this is no matrix file",
                           (long long)filled);
    char *more = mem_resize(s->buffer[i], filled, room + 1, 1);
    if (!more)
        return HEDDLE_NO_MEMORY;
    s->buffer[i] = more;
    s->room[i] = room;
    return HEDDLE_OK;
}

/* Fills the buffer that is not present: the unfinished line of the present one, then what the decoder
 * gives, until there is a whole line. */
static heddle_status fill_other(struct text_source *s)
{
    heddle_status status = HEDDLE_OK;
    int from = s->present, to = 1 - from;
    int64_t filled = s->filled[from] - s->whole[from], got = 0;
    const char *newline = NULL;
    s->filled[to] = s->whole[to] = 0;
    if (filled >= s->room[to])
        TRY(grow(s, to, 0, s->room[from]));
    memcpy(s->buffer[to], s->buffer[from] + s->whole[from], (size_t)filled);
    for (;;) {
        TRY(read_contents(s, s->buffer[to] + filled, s->room[to] - filled, &got));
        filled += got;
        if (filled < s->room[to]) { /* the end: the last line may lack its newline */
            if (filled > 0 && s->buffer[to][filled - 1] != '\n')
                s->buffer[to][filled++] = '\n';
            s->whole[to] = filled;
            break;
        }
        if ((newline = memrchr(s->buffer[to], '\n', (size_t)filled))) {
            s->whole[to] = newline + 1 - s->buffer[to];
            break;
        }
        TRY(grow(s, to, filled, 2 * s->room[to]));
    }
    s->filled[to] = filled;
done:
    return status;
}

/* The text of an error is kept beside it: by the time it is reported, the thread may have failed at
 * something else. */
void source_ahead(struct text_source *s)
{
    if (s->ahead)
        return;
    s->ahead_status = fill_other(s);
    if (s->ahead_status != HEDDLE_OK)
        snprintf(s->ahead_text, sizeof s->ahead_text, "%.1000s", heddle_last_error());
    s->ahead = 1;
}

heddle_status source_block(struct text_source *s)
{
    if (s->at < s->end)
        return HEDDLE_OK;
    source_ahead(s);
    s->ahead = 0;
    if (s->ahead_status != HEDDLE_OK)
        return fail(s->ahead_status, "%s", s->ahead_text);
    s->present = 1 - s->present;
    s->at = s->buffer[s->present];
    s->end = s->at + s->whole[s->present];
    return HEDDLE_OK;
}

heddle_status source_line(struct text_source *s, const char **line, int64_t *size)
{
    heddle_status status = source_block(s);
    *line = NULL;
    *size = 0;
    if (status != HEDDLE_OK || s->at == s->end)
        return status;
    /* there is one: see the top of source.h */
    const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
    *line = s->at;
    *size = newline - s->at;
    s->at = newline + 1;
    s->line++;
    return HEDDLE_OK;
}

int64_t source_left(const struct text_source *s)
{
    int64_t left = unread(s);
    return left < 0 ? -1 : left + s->end - s->at + s->filled[s->present] - s->whole[s->present];
}
