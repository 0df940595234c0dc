/* SPDX-License-Identifier: MIT
 *
 * The bytes as they are (a gzip or xz stream, a tar archive), and the same bytes as the contents of a gzip
 * file, so that the fuzzer reaches the archive without having to invent compressed data. */
#include <string.h>
#include <zlib.h>

#include "fuzz.h"

static void fuzz_packed(const uint8_t *data, size_t size)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    uLong bound = deflateBound(&z, (uLong)size);
    uint8_t *packed = malloc(bound);
    if (packed) {
        z.next_in = (Bytef *)(uintptr_t)data;
        z.avail_in = (uInt)size;
        z.next_out = packed;
        z.avail_out = (uInt)bound;
        deflate(&z, Z_FINISH);
        fuzz_text("fuzz.tar.gz", packed, z.total_out);
    }
    free(packed);
    deflateEnd(&z);
}

/* A tar header is hard to guess only for its checksum: it is put right where something like a header
 * stands. */
static void fuzz_tar(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);
    if (!copy)
        return;
    memcpy(copy, data, size);
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 0;
        char text[8];
        if (!copy[at] || memcmp(copy + at + 257, "ustar", 5) != 0)
            continue;
        memset(copy + at + 148, ' ', 8);
        for (int i = 0; i < 512; i++)
            sum += copy[at + (size_t)i];
        snprintf(text, sizeof text, "%06o", sum);
        memcpy(copy + at + 148, text, 7);
    }
    fuzz_text("fuzz.tar", copy, size);
    fuzz_packed(copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text("fuzz.bin", data, size);
    fuzz_tar(data, size);
    return 0;
}
