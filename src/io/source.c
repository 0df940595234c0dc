/* SPDX-License-Identifier: MIT
 *
 * Two ways for a text, one interface.  In place: blocks are cut from the mapped file, nothing is copied (but for a
 * last line without a newline).  Streamed: block n lies in one buffer with the beginning of a line behind its last
 * newline; that beginning is copied to the other buffer and the decoder fills up the rest, which gives block n + 1.
 * source_ahead may do so while block n is still being parsed, since it only reads the part of it that the parser does
 * not own. */
#define _GNU_SOURCE /* memrchr */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/number.h"
#include "io/tuning.h"

heddle_status source_fail(const struct source *s, heddle_status status, int64_t line, const char *format, ...)
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

/* A pipe or a device has no size and cannot be mapped: all of it goes to memory. */
static heddle_status read_all(struct source *s, int file, const char *path)
{
    int64_t capacity = 1 << 16;
    char *data = mem_alloc(capacity, 1), *more;
    s->held = HELD_ALLOCATED;
    s->data = data;
    if (!data)
        return HEDDLE_NO_MEMORY;
    for (;;) {
        if (s->size == capacity) {
            if (!(more = mem_resize(data, capacity, 2 * capacity, 1)))
                return HEDDLE_NO_MEMORY;
            s->data = data = more;
            capacity *= 2;
        }
        ssize_t n = read(file, data + s->size, (size_t)(capacity - s->size));
        if (n == 0)
            return HEDDLE_OK;
        if (n < 0 && errno != EINTR)
            return fail(HEDDLE_FILE_ERROR, "%s: cannot read: %s", path, strerror(errno));
        s->size += n > 0 ? n : 0;
    }
}

/* Regular files are mapped: a file larger than memory can still be read, and pages come in parallel. */
static heddle_status load(struct source *s, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(file, &info) != 0)
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot read: %s", path, strerror(errno)));
    if (S_ISDIR(info.st_mode))
        TRY(fail(HEDDLE_FILE_ERROR, "%s: is a directory, not a file", path));
    if (!S_ISREG(info.st_mode)) {
        TRY(read_all(s, file, path));
    } else if (info.st_size > 0) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (map == MAP_FAILED)
            TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot map: %s", path, strerror(errno)));
        s->data = map;
        s->size = info.st_size;
        s->held = HELD_MAPPED;
    }
    if (s->size == 0)
        status = fail(HEDDLE_BAD_FILE, "%s: the file is empty", path);
done:
    close(file);
    return status;
}

/* The packing is opened, the archive entered; what remains is where the text comes from. */
static heddle_status begin(struct source *s, const char *path)
{
    heddle_status status = HEDDLE_OK;
    size_t n = strlen(path) + 1;
    TRY(NEW(s->name, (int64_t)n));
    memcpy(s->name, path, n);
    s->decoder = (struct decoder){.name = s->name, .data = s->data, .size = s->size};
    s->member_left = -1;
    TRY(decoder_start(&s->decoder));
    TRY(tar_enter(s, path));
    s->decoder.name = s->name;
    if (decoder_plain(&s->decoder)) {
        s->text = s->data + s->decoder.at;
        int64_t left = s->size - s->decoder.at;
        if (s->member_left > left)
            TRY(source_fail(s, HEDDLE_BAD_FILE, 0, "the archive is cut off inside this member"));
        s->text_end = s->text + (s->member_left >= 0 ? s->member_left : left);
        return HEDDLE_OK;
    }
    s->capacity = io_tuning.block;
    s->present = 1; /* the first block goes to buffer 0, behind the empty rest of buffer 1 */
    for (int i = 0; i < 2; i++)
        TRY(NEW(s->buffer[i], s->capacity + 1)); /* and one byte for a missing newline */
done:
    return status;
}

/* A failure leaves nothing open: the caller closes only what was opened. */
heddle_status source_open(struct source *s, const char *path)
{
    heddle_status status;
    *s = (struct source){.held = HELD_BORROWED};
    TRY(load(s, path));
    TRY(begin(s, path));
done:
    if (status != HEDDLE_OK)
        source_close(s);
    return status;
}

heddle_status source_memory(struct source *s, const char *name, const void *data, int64_t size)
{
    *s = (struct source){.held = HELD_BORROWED, .data = data, .size = size};
    heddle_status status = size > 0 ? begin(s, name) : fail(HEDDLE_BAD_FILE, "%s: the file is empty", name);
    if (status != HEDDLE_OK)
        source_close(s);
    return status;
}

void source_close(struct source *s)
{
    decoder_stop(&s->decoder);
    if (s->held == HELD_MAPPED)
        munmap((void *)(uintptr_t)s->data, (size_t)s->size);
    else if (s->held == HELD_ALLOCATED)
        mem_free((void *)(uintptr_t)s->data);
    mem_free(s->buffer[0]);
    mem_free(s->buffer[1]);
    mem_free(s->tail);
    mem_free(s->name);
    *s = (struct source){.held = HELD_BORROWED};
}

/* The next block of text in memory: about io_tuning.block bytes, up to a line's end. */
static heddle_status next_in_place(struct source *s)
{
    int64_t left = s->text_end - s->text, size = left < io_tuning.block ? left : io_tuning.block;
    s->at = s->end = s->text;
    if (left == 0)
        return HEDDLE_OK;
    const char *newline = memrchr(s->text, '\n', (size_t)size);
    if (!newline)
        newline = memchr(s->text + size, '\n', (size_t)(left - size));
    if (newline) {
        s->end = s->text = newline + 1;
        return HEDDLE_OK;
    }
    if (!(s->tail = mem_alloc(left + 1, 1)))
        return HEDDLE_NO_MEMORY;
    memcpy(s->tail, s->text, (size_t)left);
    s->tail[left] = '\n';
    s->at = s->tail;
    s->end = s->tail + left + 1;
    s->text = s->text_end;
    return HEDDLE_OK;
}

/* Bytes of the contents: those of the member in an archive. */
static heddle_status read_contents(struct source *s, char *out, int64_t capacity, int64_t *got)
{
    int64_t wanted = s->member_left >= 0 && s->member_left < capacity ? s->member_left : capacity;
    heddle_status status = decoder_read(&s->decoder, out, wanted, got);
    if (status != HEDDLE_OK || s->member_left < 0)
        return status;
    s->member_left -= *got;
    return *got < wanted ? source_fail(s, HEDDLE_BAD_FILE, 0, "the archive is cut off inside this member") : HEDDLE_OK;
}

/* Fills the buffer that is not present: the unfinished line of the present one, then what the decoder gives. */
static heddle_status fill_other(struct source *s)
{
    int from = s->present, to = 1 - from;
    int64_t rest = s->filled[from] - s->whole[from], got = 0;
    memcpy(s->buffer[to], s->buffer[from] + s->whole[from], (size_t)rest);
    s->filled[to] = s->whole[to] = 0;
    if (rest < s->capacity) {
        heddle_status status = read_contents(s, s->buffer[to] + rest, s->capacity - rest, &got);
        if (status != HEDDLE_OK)
            return status;
    }
    int64_t filled = rest + got;
    if (filled < s->capacity) { /* the end: the last line may lack its newline */
        if (filled > 0 && s->buffer[to][filled - 1] != '\n')
            s->buffer[to][filled++] = '\n';
        s->whole[to] = filled;
    } else {
        const char *newline = memrchr(s->buffer[to], '\n', (size_t)filled);
        if (!newline)
            return source_fail(s, HEDDLE_BAD_FILE, 0, "a line is longer than %lld bytes: this is no matrix file",
                               (long long)s->capacity);
        s->whole[to] = newline + 1 - s->buffer[to];
    }
    s->filled[to] = filled;
    return HEDDLE_OK;
}

/* The text of an error is kept beside it: by the time it is reported, the thread may have failed at something else. */
void source_ahead(struct source *s)
{
    if (s->text || s->ahead)
        return;
    s->ahead_status = fill_other(s);
    if (s->ahead_status != HEDDLE_OK)
        snprintf(s->ahead_text, sizeof s->ahead_text, "%.*s", SOURCE_TEXT - 1, heddle_last_error());
    s->ahead = 1;
}

heddle_status source_block(struct source *s)
{
    if (s->at < s->end)
        return HEDDLE_OK;
    if (s->text)
        return next_in_place(s);
    source_ahead(s);
    s->ahead = 0;
    if (s->ahead_status != HEDDLE_OK)
        return fail(s->ahead_status, "%s", s->ahead_text);
    s->present = 1 - s->present;
    s->at = s->buffer[s->present];
    s->end = s->at + s->whole[s->present];
    return HEDDLE_OK;
}

heddle_status source_line(struct source *s, const char **line, int64_t *size)
{
    heddle_status status = source_block(s);
    *line = NULL;
    *size = 0;
    if (status != HEDDLE_OK || s->at == s->end)
        return status;
    const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at)); /* there is one: see the top of source.h */
    *line = s->at;
    *size = newline - s->at;
    s->at = newline + 1;
    s->line++;
    return HEDDLE_OK;
}

int64_t source_left(const struct source *s)
{
    return s->text ? s->end - s->at + (s->text_end - s->text) : -1;
}
