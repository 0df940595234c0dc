/* SPDX-License-Identifier: MIT
 *
 * Packed bytes come through a window, output is asked for in pieces of any size.  Rules that hold for all
 * decoders: a short read means the end and nothing else, and contents that end too early, or with a wrong
 * checksum, are an error before the last piece is handed out. */
#include "io/decode.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

#define PIECE (1 << 30) /* zlib counts bytes in unsigned int */
#define WINDOW (1 << 18)

heddle_status decoder_fill(struct decoder *d)
{
    int64_t left = d->input->size - d->at, n = left < WINDOW ? left : WINDOW;
    if (d->ready > 0 || n == 0)
        return HEDDLE_OK;
    if (!d->window && NEW(d->window, WINDOW) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    heddle_status status = input_read(d->input, d->name, d->at, d->window, n);
    d->used = 0;
    d->ready = status == HEDDLE_OK ? n : 0;
    return status;
}

void decoder_take(struct decoder *d, int64_t n)
{
    d->at += n;
    d->used += n;
    d->ready -= n;
}

/* A file that is not packed at all. */
static heddle_status plain_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    int64_t left = d->input->size - d->at;
    *got = left < capacity ? left : capacity;
    heddle_status status = input_read(d->input, d->name, d->at, out, *got);
    d->at += *got;
    return status;
}

static void gzip_stop(struct decoder *d)
{
    inflateEnd(d->state);
    mem_free(d->state);
}

/* Does the packed data have these n bytes, at most 8, at its present place? */
static heddle_status starts_with(const struct decoder *d, const char *magic, int64_t n, int *yes)
{
    char bytes[8];
    *yes = 0;
    if (d->input->size - d->at < n)
        return HEDDLE_OK;
    heddle_status status = input_read(d->input, d->name, d->at, bytes, n);
    *yes = status == HEDDLE_OK && memcmp(bytes, magic, (size_t)n) == 0;
    return status;
}

/* After the end of one gzip member another may follow, or zeros that pad the file to the size of a tape
 * block. */
static heddle_status gzip_next_member(struct decoder *d)
{
    heddle_status status = HEDDLE_OK;
    int member;
    TRY(starts_with(d, "\x1f\x8b", 2, &member));
    if (member)
        return inflateReset(d->state) == Z_OK ? HEDDLE_OK
                                              : fail(HEDDLE_INTERNAL, "%s: zlib cannot be reset", d->name);
    while (d->at < d->input->size) {
        TRY(decoder_fill(d));
        if (d->window[d->used])
            return fail(HEDDLE_BAD_FILE,
                        "%s: something that is not gzip data follows the gzip data at byte %lld", d->name,
                        (long long)d->at);
        decoder_take(d, 1);
    }
    d->finished = 1;
done:
    return status;
}

/* Inflates until `out` is full or the last member ends.  zlib reports "no progress" (Z_BUF_ERROR) both for
 * a full buffer and for missing input: only the latter, with room left, means that the file is cut off. */
static heddle_status gzip_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    heddle_status status = HEDDLE_OK;
    z_stream *z = d->state;
    for (*got = 0; *got < capacity && !d->finished;) {
        int64_t room = capacity - *got < PIECE ? capacity - *got : PIECE;
        TRY(decoder_fill(d));
        z->next_in = (Bytef *)d->window + d->used;
        z->avail_in = (uInt)d->ready;
        z->next_out = (Bytef *)out + *got;
        z->avail_out = (uInt)room;
        int code = inflate(z, Z_NO_FLUSH);
        decoder_take(d, d->ready - z->avail_in);
        *got += room - z->avail_out;
        if (code == Z_STREAM_END)
            TRY(gzip_next_member(d));
        else if (code == Z_MEM_ERROR)
            return fail(HEDDLE_NO_MEMORY, "%s: zlib has no memory", d->name);
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return fail(HEDDLE_BAD_FILE, "%s: the gzip data is corrupt near byte %lld (%s)", d->name,
                        (long long)d->at, z->msg ? z->msg : "no details");
        else if (d->at == d->input->size && z->avail_out > 0)
            return fail(HEDDLE_BAD_FILE, "%s: the gzip data is cut off: the file ends before its contents do",
                        d->name);
    }
done:
    return status;
}

void *zlib_alloc(void *nothing, unsigned items, unsigned size)
{
    (void)nothing;
    return mem_alloc(items, size);
}

void zlib_free(void *nothing, void *p)
{
    (void)nothing;
    mem_free(p);
}

static heddle_status gzip_start(struct decoder *d)
{
    z_stream *z = NULL;
    if (NEW_ZEROED(z, 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    z->zalloc = zlib_alloc;
    z->zfree = zlib_free;
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
    heddle_status status = HEDDLE_OK;
    int gzip, xz;
    decoder_stop(d);
    d->at = d->finished = 0;
    TRY(starts_with(d, "\x1f\x8b", 2, &gzip));
    TRY(starts_with(d,
                    "\xfd"
                    "7zXZ\0",
                    6, &xz));
    if (gzip || xz)
        return gzip ? gzip_start(d) : xz_start(d);
    d->read = plain_read;
done:
    return status;
}

heddle_status decoder_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    return d->read(d, out, capacity, got);
}

void decoder_stop(struct decoder *d)
{
    if (d->stop)
        d->stop(d);
    mem_free(d->window);
    d->window = NULL;
    d->used = d->ready = 0;
    d->stop = NULL;
    d->state = NULL;
}

int decoder_plain(const struct decoder *d)
{
    return d->read == plain_read;
}
