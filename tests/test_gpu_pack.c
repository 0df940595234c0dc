/* SPDX-License-Identifier: MIT
 *
 * Packs of device binaries: what went in comes out, and a pack that has changed is refused. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#ifdef HEDDLE_HAVE_LZMA
#include <lzma.h>
#endif

#include "base/memory.h"
#include "base/thread.h"
#include "gpu/pack.h"
#include "test.h"

enum { MADE_MOST = 4096 };

/* A pack that is made here. */
struct made {
    struct gpu_pack from;
    unsigned char data[MADE_MOST];
};

/* What cksum says of them. */
#define LINE "2648632822 3 one__f64_i32\n"
#define DIRECTORY LINE "3395858690 11 two__f64_i32\n4294967295 0 none__f64_i32\n"
#define ONE "one"
#define TWO "and\0two!\n\1\2"
enum { AT_ONE = sizeof DIRECTORY - 1, AT_TWO = AT_ONE + sizeof ONE - 1, RAW = AT_TWO + sizeof TWO - 1 };
static const struct {
    char directory[AT_ONE], one[AT_TWO - AT_ONE], two[RAW - AT_TWO];
} contents = {DIRECTORY, ONE, TWO};

static int64_t compressed(unsigned char *to, const char *how)
{
    if (strcmp(how, "gzip") == 0) {
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)&contents,
                      .avail_in = RAW,
                      .next_out = to,
                      .avail_out = 2048};
        CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
        deflateEnd(&z);
        return (int64_t)z.total_out;
    }
#ifdef HEDDLE_HAVE_LZMA
    if (strcmp(how, "xz") == 0) {
        size_t made = 0;
        CHECK(lzma_easy_buffer_encode(9, LZMA_CHECK_CRC32, NULL, (const uint8_t *)&contents, RAW, to, &made,
                                      2048) == LZMA_OK);
        return (int64_t)made;
    }
#endif
    memcpy(to, &contents, RAW);
    return RAW;
}

static void make(struct made *m, const char *how, int64_t raw, int64_t directory)
{
    int head = snprintf((char *)m->data, 100, "heddle-pack %s %lld %lld\n", how, (long long)raw,
                        (long long)directory);
    int64_t size = head + compressed(m->data + head, how);
    m->from = (struct gpu_pack){"cuda", "sm_90", "sm_90", m->data, m->data + size};
}

static void make_good(struct made *m, const char *how)
{
    make(m, how, RAW, (int64_t)strlen(DIRECTORY));
}

static const char *const hows[] = {"none", "gzip",
#ifdef HEDDLE_HAVE_LZMA
                                   "xz",
#endif
                                   NULL};

static int holds(struct pack *pack, const char *name, const char *bytes, int64_t length)
{
    char *data = NULL;
    int64_t size = -1;
    heddle_status status = pack_take(pack, &data, &size, name);
    int same = status == HEDDLE_OK && data && size == length && memcmp(data, bytes, (size_t)length) == 0 &&
               data[size] == 0;
    mem_free(data);
    return same;
}

TEST(what_is_packed_comes_out_in_any_order)
{
    for (int i = 0; hows[i]; i++)
        for (int backwards = 0; backwards < 2; backwards++) {
            struct made m;
            struct pack *pack = NULL, *again = NULL;
            char *data = NULL;
            int64_t size = -1, live = mem_live();
            make_good(&m, hows[i]);
            CHECK_OK(pack_open(&pack, &m.from));
            CHECK_OK(pack_open(&again, &m.from));
            CHECK_THAT(pack && pack == again, "%s: opened twice", hows[i]);
            CHECK(strcmp(pack_name(pack, 1), "two__f64_i32") == 0 && !pack_name(pack, 3));
            CHECK_THAT(!backwards || holds(pack, "two__f64_i32", TWO, 11), "%s: two, first", hows[i]);
            CHECK_THAT(holds(pack, "one__f64_i32", ONE, 3), "%s: one", hows[i]);
            pack_close(again);
            CHECK_THAT(holds(pack, "two__f64_i32", TWO, 11), "%s: two", hows[i]);
            CHECK_THAT(holds(pack, "none__f64_i32", "", 0), "%s: an empty one", hows[i]);
            CHECK_OK(pack_take(pack, &data, &size, "three__f64_i32"));
            CHECK(!data && size == 0);
            pack_close(pack);
            pack_close(NULL);
            CHECK_THAT(mem_live() == live, "%s: %lld allocations are left", hows[i],
                       (long long)(mem_live() - live));
        }
}

/* Everything is taken, with the status of the first failure. */
static heddle_status take_all(void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct pack *pack = NULL;
    char *data = NULL;
    int64_t size;
    TRY(pack_open(&pack, argument));
    for (int i = 0; pack_name(pack, i); i++) {
        TRY(pack_take(pack, &data, &size, pack_name(pack, i)));
        mem_free(data);
        data = NULL;
    }
done:
    pack_close(pack);
    return status;
}

TEST(a_changed_byte_is_noticed_or_does_not_matter)
{
    for (int i = 0; hows[i]; i++) {
        struct made m;
        make_good(&m, hows[i]);
        int64_t size = m.from.end - m.from.begin;
        int noticed = 0;
        for (int64_t at = 0; at < size; at++) {
            m.data[at] ^= 0x11;
            heddle_status status = take_all(&m.from);
            CHECK_THAT(status == HEDDLE_OK || status == HEDDLE_INTERNAL, "%s, byte %lld: %d", hows[i],
                       (long long)at, (int)status);
            noticed += status == HEDDLE_INTERNAL;
            m.data[at] ^= 0x11;
        }
        CHECK_THAT(noticed > size / 3, "%s: %d of %lld", hows[i], noticed, (long long)size);
        CHECK_OK(take_all(&m.from));
    }
}

TEST(a_damaged_pack_says_what_is_wrong_and_what_to_do)
{
    struct made m;
    for (int i = 0; hows[i]; i++) {
        make_good(&m, hows[i]);
        m.from.end -= m.from.end - m.from.begin > 120 ? 60 : 20;
        CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "for sm_90 inside the library are damaged");
        CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL,
                    "install it again, or give files in HEDDLE_MODULE_DIR");
    }
    make_good(&m, "none");
    m.data[m.from.end - m.from.begin - RAW + AT_TWO] ^= 1;
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "two__f64_i32 has changed");
    make(&m, "lz4", RAW, 20);
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "packed by lz4, which this library cannot read");
    make(&m, "none", RAW, RAW + 1);
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "its first line");
    make(&m, "none", RAW, (int64_t)strlen(LINE)); /* more binaries than its directory has */
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "its directory");
    make(&m, "none", RAW, RAW);
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "its directory");
    m.from.end = m.from.begin;
    CHECK_FAILS(take_all(&m.from), HEDDLE_INTERNAL, "its first line");
}

TEST(every_failed_allocation_leaves_no_pack_open)
{
    for (int i = 0; hows[i]; i++) {
        struct made m;
        make_good(&m, hows[i]);
        CHECK(test_every_allocation(take_all, &m.from) > 4);
    }
}

static void take_part(void *argument, int part)
{
    (void)part;
    if (take_all(argument) != HEDDLE_OK)
        abort();
}

TEST(threads_share_a_pack)
{
    for (int i = 0; hows[i]; i++) {
        struct made m;
        make_good(&m, hows[i]);
        parts_run(64, take_part, &m.from);
    }
}

/* Where the build leaves what it packs: machine code as .cubin or .co, PTX under the name of its target. */
static void path_of(char path[1024], const struct gpu_pack *from, const char *name)
{
    const char *target = from->target;
    const char *ending = strncmp(target, "sm_", 3) == 0      ? ".cubin"
                       : strncmp(target, "compute_", 8) == 0 ? ".ptx"
                       : strncmp(target, "gfx", 3) == 0      ? ".co"
                                                             : "";
    snprintf(path, 1024, "%s/%s.%s%s", DEVICE_DIR, name, target, ending);
}

TEST(every_embedded_binary_is_what_the_compiler_made)
{
    for (const struct gpu_pack *from = gpu_packs; from->driver; from++) {
        struct pack *pack = NULL;
        int wrong = 0;
        CHECK_OK(pack_open(&pack, from));
        for (int i = 0; pack && pack_name(pack, i); i++) {
            char path[1024], *data = NULL;
            int64_t size = -1, at = 0;
            path_of(path, from, pack_name(pack, i));
            FILE *file = fopen(path, "rb");
            CHECK_THAT(file != NULL, "%s is not there", path);
            CHECK_OK(pack_take(pack, &data, &size, pack_name(pack, i)));
            while (file && at < size && fgetc(file) == (unsigned char)data[at])
                at++;
            wrong += !file || at != size || fgetc(file) != EOF;
            if (file)
                fclose(file);
            mem_free(data);
        }
        CHECK_THAT(pack && wrong == 0, "%s: %d differ", from->target, wrong);
        pack_close(pack);
    }
}
