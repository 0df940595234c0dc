/* SPDX-License-Identifier: MIT
 *
 * Four lanes keep four multiplications in flight: one alone would wait for the result of the one before. */
#include "io/checksum.h"

#include <string.h>

#include "base/memory.h"
#include "io/tuning.h"

static inline uint64_t mix_word(uint64_t lane, uint64_t word)
{
    uint64_t p = (lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return p << 29 | p >> 35;
}

/* The format is little-endian and so is every machine that it is read on: see hdl.c. */
static inline uint64_t load_word(const char *p, int64_t size)
{
    uint64_t word = 0;
    memcpy(&word, p, (size_t)(size < 8 ? size : 8));
    return word;
}

/* The length goes in as well, so that zeros at the end count. */
static uint64_t block_sum(const char *p, int64_t size)
{
    uint64_t lane[4] = {1, 2, 3, 4};
    int64_t at = 0;
    for (; size - at >= 32; at += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = mix_word(lane[i], load_word(p + at + 8 * i, 8));
    for (int i = 0; at < size; i++, at += 8)
        lane[i] = mix_word(lane[i], load_word(p + at, size - at));
    uint64_t sum = mix_word((uint64_t)size, 0);
    for (int i = 0; i < 4; i++)
        sum = mix_word(sum, lane[i] ^ lane[i] >> 31);
    return sum;
}

struct checksum_parts {
    const char *data;
    int64_t size;
    uint64_t *sum; /* per block */
};

static void checksum_part(void *argument, int64_t block)
{
    struct checksum_parts *s = argument;
    int64_t begin = block * CHECKSUM_BLOCK, left = s->size - begin;
    s->sum[block] = block_sum(s->data + begin, left < CHECKSUM_BLOCK ? left : CHECKSUM_BLOCK);
}

heddle_status checksum(uint64_t *sum, uint64_t seed, const void *data, int64_t size)
{
    struct checksum_parts s = {.data = data, .size = size};
    int64_t blocks = (size + CHECKSUM_BLOCK - 1) / CHECKSUM_BLOCK;
    if (NEW(s.sum, blocks) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    io_parallel(blocks, checksum_part, NULL, &s);
    *sum = mix_word(seed, (uint64_t)size);
    for (int64_t i = 0; i < blocks; i++)
        *sum = mix_word(*sum, s.sum[i]);
    mem_free(s.sum);
    return HEDDLE_OK;
}

uint64_t checksum_small(uint64_t seed, const void *data, int64_t size)
{
    return mix_word(mix_word(seed, (uint64_t)size), block_sum(data, size));
}
