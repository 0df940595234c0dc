/* SPDX-License-Identifier: MIT */
#include "gpu/pack.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#ifdef HEDDLE_HAVE_LZMA
#include <lzma.h>
#endif

#include "base/memory.h"

#define NAME_SIZE 160 /* of "page__variant" */

struct binary {
    char name[NAME_SIZE];
    int64_t offset, size; /* in `raw` */
    uint32_t sum;         /* as cksum has it */
};

struct pack {
    const struct gpu_pack *from;
    struct pack *next;
    int users;
    const struct unpacker *unpacker;
    void *state; /* of the decoder; NULL: not started, or all is unpacked */
    char *raw;   /* size bytes, of which `ready` are unpacked */
    int64_t bytes, ready;
    int entries;
    struct binary *entry; /* size entries */
};

/* All that are open.  One lock is enough: what it guards is over in milliseconds, and happens once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pack *packs;

static heddle_status damaged(const struct gpu_pack *from, const char *what)
{
    return fail(HEDDLE_INTERNAL,
                "the device binaries for %s inside the library are damaged (%s): install it again, or give "
                "files in HEDDLE_MODULE_DIR",
                from->target, what);
}

/* -------------------------------------------------------- unpackers to unpack ----------------- */

/* start: makes p->state for `size` bytes; unpack: fills `out`, 0 if it cannot; stop: frees the state. */
struct unpacker {
    const char *name;
    heddle_status (*start)(struct pack *p, const unsigned char *data, int64_t size);
    int (*unpack)(struct pack *p, char *out, int64_t size);
    void (*stop)(struct pack *p);
};

/* Keeps what a library unpacks with, unless it did not start: all that it can lack is memory. */
static heddle_status started(struct pack *p, void *z, int good)
{
    if (!good) {
        mem_free(z);
        return fail(HEDDLE_NO_MEMORY, "no memory to unpack device binaries");
    }
    p->state = z;
    return HEDDLE_OK;
}

static heddle_status start_gzip(struct pack *p, const unsigned char *data, int64_t size)
{
    z_stream *z = NULL;
    if (NEW_ZEROED(z, 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    z->next_in = (unsigned char *)(uintptr_t)data;
    z->avail_in = (unsigned)size;
    return started(p, z, inflateInit2(z, 15 + 16) == Z_OK); /* the largest window, gzip's framing */
}

static int unpack_gzip(struct pack *p, char *out, int64_t size)
{
    z_stream *z = p->state;
    z->next_out = (unsigned char *)out;
    z->avail_out = (unsigned)size;
    inflate(z, Z_SYNC_FLUSH);
    return z->avail_out == 0;
}

static void stop_gzip(struct pack *p)
{
    inflateEnd(p->state);
    mem_free(p->state);
}

#ifdef HEDDLE_HAVE_LZMA
static heddle_status start_xz(struct pack *p, const unsigned char *data, int64_t size)
{
    lzma_stream *z = NULL;
    if (NEW(z, 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    *z = (lzma_stream)LZMA_STREAM_INIT;
    z->next_in = data;
    z->avail_in = (size_t)size;
    return started(p, z, lzma_stream_decoder(z, UINT64_MAX, 0) == LZMA_OK);
}

static int unpack_xz(struct pack *p, char *out, int64_t size)
{
    lzma_stream *z = p->state;
    lzma_ret code = LZMA_OK;
    z->next_out = (uint8_t *)out;
    z->avail_out = (size_t)size;
    while (code == LZMA_OK && z->avail_out > 0)
        code = lzma_code(z, LZMA_FINISH);
    return z->avail_out == 0;
}

static void stop_xz(struct pack *p)
{
    lzma_end(p->state);
    mem_free(p->state);
}
#endif

/* Not packed: the state says where the rest is. */
static heddle_status start_none(struct pack *p, const unsigned char *data, int64_t size)
{
    if (size != p->bytes)
        return damaged(p->from, "its length");
    p->state = (void *)(uintptr_t)data;
    return HEDDLE_OK;
}

static int unpack_none(struct pack *p, char *out, int64_t size)
{
    memcpy(out, (const unsigned char *)p->state + p->ready, (size_t)size);
    return 1;
}

static void stop_none(struct pack *p)
{
    (void)p;
}

static const struct unpacker unpackers[] = {
    {"gzip", start_gzip, unpack_gzip, stop_gzip},
#ifdef HEDDLE_HAVE_LZMA
    {"xz", start_xz, unpack_xz, stop_xz},
#endif
    {"none", start_none, unpack_none, stop_none},
};
enum { UNPACKERS = sizeof unpackers / sizeof unpackers[0] };

static void stop(struct pack *p)
{
    if (p->state)
        p->unpacker->stop(p);
    p->state = NULL;
}

/* What is before `end` is unpacked afterwards.  A decoder that has failed is not asked again. */
static heddle_status unpack_to(struct pack *p, int64_t end)
{
    if (end <= p->ready)
        return HEDDLE_OK;
    if (!p->state || !p->unpacker->unpack(p, p->raw + p->ready, end - p->ready)) {
        stop(p);
        return damaged(p->from, "it does not unpack");
    }
    p->ready = end;
    if (p->ready == p->bytes)
        stop(p);
    return HEDDLE_OK;
}

/* -------------------------------------------------------- reading ----------------------------- */

/* The sum of POSIX's cksum: a CRC of 32 bits, highest bit first, over the bytes and their number. */
static uint32_t cksum(const char *data, int64_t size)
{
    uint32_t table[256], sum = 0;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i << 24;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] << 1 ^ (table[i] >> 31 ? UINT32_C(0x04C11DB7) : 0);
    }
    for (int64_t i = 0; i < size; i++)
        sum = sum << 8 ^ table[sum >> 24 ^ (unsigned char)data[i]];
    for (int64_t n = size; n > 0; n >>= 8)
        sum = sum << 8 ^ table[sum >> 24 ^ (n & 255)];
    return ~sum;
}

/* The first line, at most a hundred characters of it, says what follows; the rest starts at *data. */
static heddle_status read_head(struct pack *p, int64_t *directory, const unsigned char **data)
{
    char line[101] = "", how[16] = "";
    long long bytes = -1, size = -1;
    for (int i = 0; i < 100 && p->from->begin + i < p->from->end && p->from->begin[i] != '\n'; i++)
        line[i] = (char)p->from->begin[i];
    *data = p->from->begin + strlen(line) + 1;
    if (sscanf(line, "heddle-pack %15s %lld %lld", how, &bytes, &size) != 3 || size < 0 || size > bytes ||
        bytes > INT32_MAX || *data > p->from->end)
        return damaged(p->from, "its first line");
    for (int i = 0; i < UNPACKERS; i++)
        if (strcmp(unpackers[i].name, how) == 0)
            p->unpacker = &unpackers[i];
    if (!p->unpacker)
        return fail(HEDDLE_INTERNAL,
                    "the device binaries for %s are packed by %s, which this library cannot read",
                    p->from->target, how);
    p->bytes = bytes;
    *directory = size;
    return HEDDLE_OK;
}

/* Lines "SUM SIZE NAME", as many as there are binaries behind them. */
static heddle_status read_directory(struct pack *p, int64_t size)
{
    heddle_status status = HEDDLE_OK;
    int64_t offset = size;
    int lines = 0;
    TRY(unpack_to(p, size));
    for (int64_t i = 0; i < size; i++)
        lines += p->raw[i] == '\n';
    TRY(NEW_ZEROED(p->entry, lines + 1));
    p->raw[size] = 0; /* the first binary comes there, but not yet */
    for (const char *line = p->raw, *end = p->raw + size; p->entries < lines;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        struct binary *e = &p->entry[p->entries++];
        unsigned long sum;
        long long bytes;
        if (sscanf(line, "%lu %lld %159s", &sum, &bytes, e->name) != 3 || bytes < 0 ||
            bytes > p->bytes - offset)
            TRY(damaged(p->from, "its directory"));
        e->sum = (uint32_t)sum;
        e->size = bytes;
        e->offset = offset;
        offset += bytes;
    }
    if (offset != p->bytes)
        TRY(damaged(p->from, "its directory"));
done:
    return status;
}

static void free_pack(struct pack *p)
{
    if (!p)
        return;
    stop(p);
    mem_free(p->raw);
    mem_free(p->entry);
    mem_free(p);
}

static heddle_status new_pack(struct pack **pack, const struct gpu_pack *from)
{
    heddle_status status = HEDDLE_OK;
    int64_t directory = 0;
    const unsigned char *data;
    struct pack *p = NULL;
    TRY(NEW_ZEROED(p, 1));
    p->from = from;
    TRY(read_head(p, &directory, &data));
    TRY(NEW(p->raw, p->bytes + 1));
    TRY(p->unpacker->start(p, data, from->end - data));
    TRY(read_directory(p, directory));
    *pack = p;
    p = NULL;
done:
    free_pack(p);
    return status;
}

/* -------------------------------------------------------- open, take, close ------------------- */

heddle_status pack_open(struct pack **pack, const struct gpu_pack *from)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&lock);
    struct pack *p = packs;
    while (p && p->from != from)
        p = p->next;
    if (!p) {
        TRY(new_pack(&p, from));
        p->next = packs;
        packs = p;
    }
    p->users++;
    *pack = p;
done:
    pthread_mutex_unlock(&lock);
    return status;
}

void pack_close(struct pack *pack)
{
    if (!pack)
        return;
    pthread_mutex_lock(&lock);
    if (--pack->users == 0) {
        struct pack **at = &packs;
        while (*at != pack)
            at = &(*at)->next;
        *at = pack->next;
        free_pack(pack);
    }
    pthread_mutex_unlock(&lock);
}

const char *pack_name(const struct pack *pack, int i)
{
    return i < pack->entries ? pack->entry[i].name : NULL;
}

static heddle_status take(struct pack *p, char **data, int64_t *size, const struct binary *e)
{
    heddle_status status = HEDDLE_OK;
    const char *raw = p->raw + e->offset;
    char what[NAME_SIZE + 16];
    TRY(unpack_to(p, e->offset + e->size));
    if (cksum(raw, e->size) != e->sum) {
        snprintf(what, sizeof what, "%s has changed", e->name);
        TRY(damaged(p->from, what));
    }
    *size = e->size;
    TRY(NEW(*data, *size + 1));
    memcpy(*data, raw, (size_t)*size);
    (*data)[*size] = 0;
done:
    return status;
}

heddle_status pack_take(struct pack *pack, char **data, int64_t *size, const char *name)
{
    heddle_status status = HEDDLE_OK;
    *data = NULL;
    *size = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < pack->entries; i++)
        if (strcmp(pack->entry[i].name, name) == 0) {
            status = take(pack, data, size, &pack->entry[i]);
            break;
        }
    pthread_mutex_unlock(&lock);
    return status;
}
