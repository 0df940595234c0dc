/* SPDX-License-Identifier: MIT
 *
 * look.h: row blocks, which is what a look at the row offsets makes of them: pieces of the matrix with
 * about equal work, one for a block of threads.  look.c finds them; csr_weave and csr_adaptive multiply by
 * them. */
#ifndef CONVERT_LOOK_H
#define CONVERT_LOOK_H

#include <stdint.h>

/* The rows from `row` on with the entries from `begin` on, up to those of the next row block; one more
 * ends the last. */
struct row_block {
    int64_t begin;
    int32_t row;
    int32_t work; /* above 0: whole rows, 1 + log2 of the lanes that sum one; ONE_ROW; below: -1 - the
                   * number of the piece */
} __attribute__((aligned(16)));

#define ONE_ROW 0

/* Threads of a block that has a row block of immediate products. */
#define LOOK_THREADS 256
/* Such blocks that a multiprocessor should hold. */
#define LOOK_RESIDENT 6
/* Rows and entries of such a row block, but for a quarter more that its last row may have. */
#define LOOK_WINDOW_MOST (8 * LOOK_THREADS)

/* What kernels of the immediate product are told of a look, in product.fact: row blocks; the entries of a
 * tile and of a piece; the longest row; are the offsets bad; what columns are like; where in
 * product.prepared hot columns stand, 0: there are none; and one that is a kernel's own. */
enum { LOOK_BLOCKS, LOOK_TILE, LOOK_PIECE, LOOK_LONGEST, LOOK_BAD, LOOK_COLUMNS, LOOK_HOT, LOOK_OWN };

/* What columns are like, a byte each, in shares of 255: of entries those whose column comes again in the
 * cache of their block, and those with their predecessor's column or one close to it; of rows those whose
 * next has the same column in its middle, and those whose next has the next one there.  And two bytes, in
 * shares of 65536: entries of the most crowded cache line of y. */
enum columns { COLUMNS_CACHED, COLUMNS_CLOSE, COLUMNS_ALIKE, COLUMNS_NEXT, COLUMNS_CROWDED };

/* Columns with at least 1 of HOT_SHARE entries; one that is not there is -1. */
#define HOT_SHARE 64
#define HOT_MOST 4

/* csr_weft's cache of y: its places, and how many row blocks a block of threads has that sets one up, at
 * most. */
#define CACHE_PLACES(real_bytes) (16384 / (int)(real_bytes))
#define TOGETHER_MOST(real_bytes) (32 / (int)(real_bytes))

/* Row blocks for each block of threads, `most` at most and at least one, so that they are full rounds of
 * `held`, which the device holds at once. */
#define TOGETHER_ROUNDS(blocks, held, most) (((blocks) > 0 ? (blocks)-1 : 0) / ((held) * (most)) + 1)
#define TOGETHER(blocks, held, most)                                                                         \
    (((blocks) > 0 ? (blocks)-1 : 0) / (TOGETHER_ROUNDS(blocks, held, most) * (held)) + 1)

/* What the kernels of the look leave for the host: of the offsets, and of a sample of the columns, where
 * each player leaves the last ones for itself and the host adds them up. */
enum {
    LOOKED_BLOCKS,
    LOOKED_LONGEST,
    LOOKED_BAD,
    LOOKED_CROWDED, /* as COLUMNS_CROWDED */
    LOOKED_HOT,     /* columns */
    LOOKED_SAMPLED = LOOKED_HOT + HOT_MOST,
    LOOKED_ENTRIES = LOOKED_SAMPLED, /* of the sample, and of these what COLUMNS_... says */
    LOOKED_CACHED,
    LOOKED_CLOSE,
    LOOKED_ROWS, /* likewise */
    LOOKED_ALIKE,
    LOOKED_NEXT,
    LOOKED_RESULTS,
    SAMPLED_RESULTS = LOOKED_RESULTS - LOOKED_SAMPLED
};

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* The block has the sum of one row, or of a piece of one.  Pieces leave it in the workspace, and whoever
 * comes last adds them up, in the order of their numbers; pieces, of `size` entries, are counted at the
 * place of a row's first, which the offsets tell. */
DEVICE void store_one_row(const struct product *p, struct row_block mine, real sum, int64_t size)
{
    SHARED(int32_t, arrived, 1);
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    real *const part = (real *)p->workspace;
    if (mine.work == ONE_ROW) {
        if (simt_thread_id() == 0)
            store_sum(p, mine.row, sum);
        return;
    }
    const int64_t piece = -1 - mine.work, first = piece - (mine.begin - row_ptr[0]) / size;
    const int64_t pieces = (row_ptr[1] - row_ptr[0] + size - 1) / size;
    if (simt_thread_id() == 0) {
        part[piece] = sum;
        simt_fence();
        *arrived = simt_atomic_add(p->counters + first, 1);
    }
    simt_sync();
    if (*arrived != pieces - 1)
        return;
    simt_fence();
    sum = 0;
    for (int64_t i = simt_thread_id(); i < pieces; i += simt_block_size())
        sum += part[first + i];
    sum = block_sum(sum);
    if (simt_thread_id() == 0) {
        p->counters[first] = 0;
        store_sum(p, mine.row, sum);
    }
}

#else
#include "run/launch.h"

/* How a matrix is to be cut.  Rows and entries count alike, so that empty rows count, too, and a row
 * belongs to the window in which it begins by this count.  A row block has at most `capacity` rows and
 * entries, more than the window so that the last row may be longer, unless it is one row.  A row of more
 * than `whole` entries is cut into pieces of `piece`; they are numbered through the whole matrix. */
struct row_cut {
    int64_t window, capacity, whole, piece;
    int64_t threads; /* of a block: decides how many lanes sum a row */
    int delays; /* 1: the lanes of a row have it alone, however long it is, so that the longest delays them */
    int columns; /* 1: a sample of the columns is looked at, too */
};

/* What the look found: LOOKED_... */
struct looked {
    int64_t result[LOOKED_RESULTS];
    int64_t hot_at; /* where in product.prepared the hot columns stand, HOT_MOST of 8 bytes */
};

/* Bytes that row blocks of w's matrix take, scratch memory included, and how many pieces there are at
 * most. */
int64_t look_bytes(const struct work *w, struct row_cut cut);
int64_t look_pieces(const struct work *w, struct row_cut cut);
/* Row blocks of w's matrix into product.prepared, which has look_bytes; waits. */
heddle_status gpu_look(struct looked *looked, const struct work *w, struct row_cut cut);

/* The look that serves both immediate products, csr_weave and csr_weft: what they hold, and their
 * `prepare`. */
struct row_cut look_cut(const struct work *w);
int64_t look_held(const struct work *w);
heddle_status look_prepare(struct work *w);
double look_share(const struct work *w, enum columns what);
heddle_status look_refused(void);            /* BAD_MATRIX: the offsets are bad */
int64_t look_together(const struct work *w); /* row blocks for a block of threads that has a cache */

int64_t look_at_once(const struct work *w); /* blocks of threads with a cache that the device holds, about */

#endif
#endif
