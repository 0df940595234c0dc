/* SPDX-License-Identifier: MIT
 *
 * Compression: every piece of text becomes a gzip member of its own, and a gzip file is any number of members.  So
 * pieces compress in parallel, for less than a percent of size. */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/tuning.h"

#define PRINT_SIZE 1024
#define WAVE 16 /* pieces that are formatted before they are written out in turn */

static heddle_status sink_fail(const struct sink *s, const char *what)
{
    return fail(HEDDLE_FILE_ERROR, "%s: cannot %s: %s", s->path, what, strerror(errno));
}

/* In the same folder, or the rename would not be atomic; created with the permissions that the file is to have. */
static heddle_status open_temporary(struct sink *s)
{
    static atomic_uint serial; /* tells apart files that one process writes at the same time */
    size_t size = strlen(s->path) + 48;
    if (NEW(s->temporary, (int64_t)size) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(s->temporary, size, "%s.%ld-%u.part", s->path, (long)getpid(), atomic_fetch_add(&serial, 1));
        s->file = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->file >= 0)
            return HEDDLE_OK;
        if (errno != EEXIST)
            break;
    }
    heddle_status status = sink_fail(s, "create the file");
    mem_free(s->temporary);
    s->temporary = NULL;
    return status;
}

heddle_status sink_open(struct sink *s, const char *path, int gzip)
{
    struct stat info;
    *s = (struct sink){.path = path, .file = -1, .gzip = gzip};
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return open_temporary(s);
    s->file = open(path, O_WRONLY | O_CLOEXEC);
    return s->file >= 0 ? HEDDLE_OK : sink_fail(s, "open the file");
}

heddle_status sink_close(struct sink *s, heddle_status status)
{
    if (s->file >= 0 && close(s->file) != 0 && status == HEDDLE_OK)
        status = sink_fail(s, "write");
    if (s->temporary && status == HEDDLE_OK && rename(s->temporary, s->path) != 0)
        status = sink_fail(s, "put the file in its place");
    if (s->temporary && status != HEDDLE_OK)
        unlink(s->temporary);
    mem_free(s->temporary);
    *s = (struct sink){.file = -1};
    return status;
}

/* All of it, or an error: a write may be interrupted or short. */
static heddle_status put(struct sink *s, const char *data, int64_t size)
{
    while (size > 0) {
        ssize_t n = write(s->file, data, (size_t)(size < 1 << 30 ? size : 1 << 30));
        if (n < 0 && errno != EINTR)
            return sink_fail(s, "write");
        data += n > 0 ? n : 0;
        size -= n > 0 ? n : 0;
    }
    return HEDDLE_OK;
}

/* One gzip member; *packed is allocated. */
static heddle_status compress_piece(const char *data, int64_t size, char **packed, int64_t *packed_size)
{
    z_stream z = {0};
    *packed = NULL;
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return fail(HEDDLE_NO_MEMORY, "zlib cannot be started");
    uLong bound = deflateBound(&z, (uLong)size);
    heddle_status status = NEW(*packed, (int64_t)bound);
    if (status == HEDDLE_OK) {
        z.next_in = (Bytef *)(uintptr_t)data; /* zlib only reads it */
        z.avail_in = (uInt)size;
        z.next_out = (Bytef *)*packed;
        z.avail_out = (uInt)bound;
        deflate(&z, Z_FINISH); /* finishes in one call: the bound is the room that it needs */
        *packed_size = (int64_t)z.total_out;
    }
    deflateEnd(&z);
    return status;
}

heddle_status sink_write(struct sink *s, const void *data, int64_t size)
{
    char *packed = NULL;
    int64_t packed_size = 0;
    if (!s->gzip)
        return put(s, data, size);
    heddle_status status = compress_piece(data, size, &packed, &packed_size);
    if (status == HEDDLE_OK)
        status = put(s, packed, packed_size);
    mem_free(packed);
    return status;
}

heddle_status sink_print(struct sink *s, const char *format, ...)
{
    char text[PRINT_SIZE];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sink_write(s, text, n);
}

/* A wave of pieces: piece i of it is item (first + i * io_tuning.items) and those behind. */
struct wave {
    sink_formatter *formatter;
    const void *argument;
    int64_t first, count;
    int gzip;
    struct {
        char *text, *packed;
        int64_t size, packed_size;
        heddle_status status;
    } piece[WAVE];
};

/* Runs on any thread: errors are kept in the piece. */
static void format_piece(void *argument, int64_t i)
{
    struct wave *w = argument;
    int64_t first = w->first + i * io_tuning.items, last = first + io_tuning.items;
    w->piece[i].size = w->formatter(w->argument, first, last < w->count ? last : w->count, w->piece[i].text);
    if (w->gzip)
        w->piece[i].status = compress_piece(w->piece[i].text, w->piece[i].size, &w->piece[i].packed, &w->piece[i].packed_size);
}

/* Writes the pieces in their order and lets go of what was packed. */
static heddle_status put_wave(struct sink *s, struct wave *w, int64_t pieces)
{
    heddle_status status = HEDDLE_OK;
    for (int64_t i = 0; i < pieces; i++) {
        if (status == HEDDLE_OK && w->piece[i].status != HEDDLE_OK)
            status = fail(w->piece[i].status, "%s: no memory to compress it", s->path); /* its text is in another thread */
        if (status == HEDDLE_OK)
            status = w->gzip ? put(s, w->piece[i].packed, w->piece[i].packed_size) : put(s, w->piece[i].text, w->piece[i].size);
        mem_free(w->piece[i].packed);
        w->piece[i].packed = NULL;
    }
    return status;
}

heddle_status sink_items(struct sink *s, int64_t count, int64_t item_size, sink_formatter *formatter, const void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct wave w = {.formatter = formatter, .argument = argument, .count = count, .gzip = s->gzip};
    int64_t all = count / io_tuning.items + (count % io_tuning.items > 0), pieces = all < WAVE ? all : WAVE;
    for (int64_t i = 0; i < pieces; i++)
        TRY(NEW(w.piece[i].text, io_tuning.items * item_size));
    for (; w.first < count; w.first += pieces * io_tuning.items) {
        int64_t left = (count - w.first + io_tuning.items - 1) / io_tuning.items;
        io_parallel(left < pieces ? left : pieces, format_piece, NULL, &w);
        TRY(put_wave(s, &w, left < pieces ? left : pieces));
    }
done:
    for (int64_t i = 0; i < pieces; i++)
        mem_free(w.piece[i].text);
    return status;
}
