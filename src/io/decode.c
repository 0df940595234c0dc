/* SPDX-License-Identifier: MIT
 *
 * Packed files lie in memory as a whole (mapped), so a decoder only has to keep its place; output is asked for in
 * pieces of any size.  Rules that hold for all of them: a short read means the end and nothing else, and contents that
 * end too early, or with a wrong checksum, are an error before the last piece is handed out. */
#include "io/decode.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

#define PIECE (1 << 30) /* zlib counts bytes in unsigned int */

/* A file that is not packed at all. */
static heddle_status plain_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    int64_t left = d->size - d->at;
    *got = left < capacity ? left : capacity;
    memcpy(out, d->data + d->at, (size_t)*got);
    d->at += *got;
    return HEDDLE_OK;
}

static void plain_stop(struct decoder *d)
{
    (void)d;
}

static void gzip_stop(struct decoder *d)
{
    inflateEnd(d->state);
    mem_free(d->state);
}

/* Does the packed data have these n bytes at this place? */
static int starts_with(const struct decoder *d, int64_t at, const char *magic, int64_t n)
{
    return d->size - at >= n && memcmp(d->data + at, magic, (size_t)n) == 0;
}

/* After the end of one gzip member another may follow, or zeros that pad the file to the size of a tape block. */
static heddle_status gzip_next_member(struct decoder *d)
{
    if (starts_with(d, d->at, "\x1f\x8b", 2))
        return inflateReset(d->state) == Z_OK
                   ? HEDDLE_OK
                   : fail(HEDDLE_INTERNAL, "%s: zlib cannot be reset", d->name);
    for (; d->at < d->size; d->at++)
        if (d->data[d->at])
            return fail(HEDDLE_BAD_FILE, "%s: something that is not gzip data follows the gzip data at byte %lld", d->name,
                        (long long)d->at);
    d->finished = 1;
    return HEDDLE_OK;
}

/* Inflates until `out` is full or the last member ends.  zlib reports "no progress" (Z_BUF_ERROR) both for a full
 * buffer and for missing input: only the latter, with room left, means that the file is cut off. */
static heddle_status gzip_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    heddle_status status = HEDDLE_OK;
    z_stream *z = d->state;
    for (*got = 0; *got < capacity && !d->finished;) {
        int64_t in = d->size - d->at < PIECE ? d->size - d->at : PIECE;
        int64_t room = capacity - *got < PIECE ? capacity - *got : PIECE;
        z->next_in = (Bytef *)(uintptr_t)(d->data + d->at); /* zlib only reads it, but its type is not const */
        z->avail_in = (uInt)in;
        z->next_out = (Bytef *)out + *got;
        z->avail_out = (uInt)room;
        int code = inflate(z, Z_NO_FLUSH);
        d->at += in - z->avail_in;
        *got += room - z->avail_out;
        if (code == Z_STREAM_END)
            TRY(gzip_next_member(d));
        else if (code == Z_MEM_ERROR)
            return fail(HEDDLE_NO_MEMORY, "%s: zlib has no memory", d->name);
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return fail(HEDDLE_BAD_FILE, "%s: the gzip data is corrupt near byte %lld (%s)", d->name, (long long)d->at,
                        z->msg ? z->msg : "no details");
        else if (d->at == d->size && z->avail_out > 0)
            return fail(HEDDLE_BAD_FILE, "%s: the gzip data is cut off: the file ends before its contents do", d->name);
    }
done:
    return status;
}

static heddle_status gzip_start(struct decoder *d)
{
    z_stream *z = NULL;
    if (NEW_ZEROED(z, 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    if (inflateInit2(z, 15 + 16) != Z_OK) { /* the largest window, gzip framing only */
        mem_free(z);
        return fail(HEDDLE_NO_MEMORY, "%s: zlib cannot be started", d->name);
    }
    d->state = z;
    d->read = gzip_read;
    d->stop = gzip_stop;
    return HEDDLE_OK;
}

/* The magic bytes: 1f 8b for gzip, fd "7zXZ" 00 for xz. */
heddle_status decoder_start(struct decoder *d)
{
    decoder_stop(d);
    d->at = 0;
    d->finished = 0;
    if (starts_with(d, 0, "\x1f\x8b", 2))
        return gzip_start(d);
    if (starts_with(d, 0, "\xfd" "7zXZ\0", 6))
        return xz_start(d);
    d->read = plain_read;
    d->stop = plain_stop;
    return HEDDLE_OK;
}

heddle_status decoder_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    return d->read(d, out, capacity, got);
}

void decoder_stop(struct decoder *d)
{
    if (d->stop)
        d->stop(d);
    d->stop = NULL;
    d->state = NULL;
}

int decoder_plain(const struct decoder *d)
{
    return d->read == plain_read;
}
