/* SPDX-License-Identifier: MIT
 *
 * Compression: every piece of text becomes a gzip member of its own, and a gzip file is any number of
 * members.  So pieces compress in parallel, for less than a percent of size. */
#define _GNU_SOURCE /* realpath, F_DUPFD_CLOEXEC */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/decode.h"
#include "io/tuning.h"

#define PRINT_SIZE 1024
#define WAVE 16 /* pieces that are formatted before they are written out in turn */

static heddle_status sink_fail(const struct sink *s, const char *what)
{
    return fail(HEDDLE_FILE_ERROR, "%.400s: cannot %s: %s", s->path, what, strerror(errno));
}

/* ------------------------------------------------------------------ temporary files */

#define WATCHED 16 /* sinks that are open at a time; the temporary file of one more would outlive a signal */

/* Who takes a name out of here, the sink that closes or the handler of a signal, has it for itself. */
static _Atomic(char *) temporaries[WATCHED];

static int watch(char *temporary)
{
    for (int i = 0; i < WATCHED; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&temporaries[i], &none, temporary))
            return 1;
    }
    return 0;
}

/* The name is in nobody else's hands afterwards; 0 when a handler has it, and the process is about to end. */
static int unwatch(char *temporary)
{
    for (int i = 0; i < WATCHED; i++) {
        char *mine = temporary;
        if (atomic_compare_exchange_strong(&temporaries[i], &mine, NULL))
            return 1;
    }
    return 0;
}

void sinks_abandon(void)
{
    for (int i = 0; i < WATCHED; i++) {
        char *temporary = atomic_exchange(&temporaries[i], NULL);
        if (temporary)
            unlink(temporary);
    }
}

/* In the same folder, or the rename would not be atomic; O_EXCL, so that neither a file nor a link that
 * stands there is touched.  `old` is what is to be replaced, NULL when there is nothing. */
static heddle_status open_temporary(struct sink *s, const struct stat *old)
{
    static atomic_uint serial; /* tells apart files that one process writes at the same time */
    size_t size = strlen(s->target) + 48;
    if (NEW(s->temporary, (int64_t)size) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(s->temporary, size, "%s.%ld-%u.part", s->target, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        s->file = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->file >= 0 || errno != EEXIST)
            break;
    }
    if (s->file < 0)
        return sink_fail(s, "create the file");
    s->watched = watch(s->temporary);
    if (!old)
        return HEDDLE_OK;
    int owner = fchown(s->file, old->st_uid, old->st_gid); /* before the mode, which it may change */
    if (fchmod(s->file, old->st_mode & (owner == 0 ? 07777 : 0777)) != 0)
        return sink_fail(s, "keep the mode of the file");
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ where a path leads */

#define LINKS_MOST 40 /* as many as Linux follows */

/* Is this one of the process' own descriptors under a name, such as /dev/stdout?  Its number, else -1. */
static int own_descriptor(const char *path)
{
    char folder[PATH_MAX], own[PATH_MAX], parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || !slash[1] || strspn(slash + 1, "0123456789") != strlen(slash + 1))
        return -1;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    if (!realpath(parent, folder) || !realpath("/proc/self/fd", own) || strcmp(folder, own) != 0)
        return -1;
    return atoi(slash + 1);
}

/* Follows the path as long as it is a link, whether there is a file at its end or not. */
static heddle_status follow(struct sink *s, int *descriptor)
{
    char path[PATH_MAX], link[PATH_MAX];
    struct stat info;
    size_t n = strlen(s->path);
    if (n >= sizeof path) {
        errno = ENAMETOOLONG;
        return sink_fail(s, "open the file");
    }
    memcpy(path, s->path, n + 1);
    for (int links = 0;
         (*descriptor = own_descriptor(path)) < 0 && lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
         links++) {
        ssize_t size = readlink(path, link, sizeof link - 1);
        const char *slash = strrchr(path, '/');
        int folder = size > 0 && link[0] != '/' && slash ? (int)(slash + 1 - path) : 0;
        if (links == LINKS_MOST)
            errno = ELOOP;
        if (size < 0 || links == LINKS_MOST || folder + size >= (ssize_t)sizeof path)
            return sink_fail(s, "follow the link");
        memcpy(path + folder, link, (size_t)size);
        path[folder + size] = 0;
    }
    if (NEW(s->target, (int64_t)strlen(path) + 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    memcpy(s->target, path, strlen(path) + 1);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ a file */

heddle_status sink_open(struct sink *s, const char *path, int gzip)
{
    heddle_status status = HEDDLE_OK;
    struct stat info;
    int descriptor = -1;
    *s = (struct sink){.path = path, .file = -1, .gzip = gzip};
    TRY(follow(s, &descriptor));
    int there = stat(s->target, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        TRY(sink_fail(s, "put the file in its place"));
    }
    if (descriptor < 0 && there && S_ISREG(info.st_mode) && access(s->target, W_OK) != 0)
        TRY(sink_fail(s, "write")); /* a rename would get past its mode */
    if (descriptor < 0 && (!there || S_ISREG(info.st_mode))) {
        TRY(open_temporary(s, there ? &info : NULL));
    } else {
        s->file =
            descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : open(s->target, O_WRONLY | O_CLOEXEC);
        if (s->file < 0)
            TRY(sink_fail(s, "open the file"));
    }
done:
    return status == HEDDLE_OK ? status : sink_close(s, status);
}

heddle_status sink_close(struct sink *s, heddle_status status)
{
    if (s->file >= 0 && s->temporary && status == HEDDLE_OK && fsync(s->file) != 0)
        status = sink_fail(s, "write");
    if (s->file >= 0 && close(s->file) != 0 && status == HEDDLE_OK)
        status = sink_fail(s, "write");
    if (s->file >= 0 && s->temporary && status == HEDDLE_OK && rename(s->temporary, s->target) != 0)
        status = sink_fail(s, "put the file in its place");
    if (s->file >= 0 && s->temporary && status != HEDDLE_OK)
        unlink(s->temporary);
    if (!s->watched || unwatch(s->temporary))
        mem_free(s->temporary);
    mem_free(s->target);
    *s = (struct sink){.file = -1};
    return status;
}

/* ------------------------------------------------------------------ contents */

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
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
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
        w->piece[i].status =
            compress_piece(w->piece[i].text, w->piece[i].size, &w->piece[i].packed, &w->piece[i].packed_size);
}

/* Writes the pieces in their order and lets go of what was packed. */
static heddle_status put_wave(struct sink *s, struct wave *w, int64_t pieces)
{
    heddle_status status = HEDDLE_OK;
    for (int64_t i = 0; i < pieces; i++) {
        /* its text is in another thread */
        if (status == HEDDLE_OK && w->piece[i].status != HEDDLE_OK)
            status = fail(w->piece[i].status, "%s: no memory to compress it", s->path);
        if (status == HEDDLE_OK)
            status = w->gzip ? put(s, w->piece[i].packed, w->piece[i].packed_size)
                             : put(s, w->piece[i].text, w->piece[i].size);
        mem_free(w->piece[i].packed);
    }
    return status;
}

heddle_status sink_items(struct sink *s, int64_t count, int64_t item_size, sink_formatter *formatter,
                         const void *argument)
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
