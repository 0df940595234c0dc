/* SPDX-License-Identifier: MIT
 *
 * checksum.h: a 64-bit sum that notices every change of a single word and, but for one in 2^64, any other
 * damage.  It is no defence against someone who changes a file on purpose.
 *
 * The bytes are cut into blocks of CHECKSUM_BLOCK; a block is read as little-endian 64-bit words (zeros
 * fill the last one), word i goes to lane i mod 4, and a lane takes a word w by
 *
 *     lane = rotate((lane ^ w) * odd, 29)
 *
 * which is one-to-one in w.  The lanes and the length are folded into the sum of the block in the same
 * way, and the sums of the blocks, in order, into the sum of the whole.  Blocks are independent: that is
 * what makes it parallel. */
#ifndef IO_CHECKSUM_H
#define IO_CHECKSUM_H

#include "base/status.h"

#define CHECKSUM_BLOCK ((int64_t)1 << 20)

/* Continues `seed`, the sum of what came before. */
heddle_status checksum(uint64_t *sum, uint64_t seed, const void *data, int64_t size);
/* The same for something smaller than a block, which cannot fail. */
uint64_t checksum_small(uint64_t seed, const void *data, int64_t size);

#endif
