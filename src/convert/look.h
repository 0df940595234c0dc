/* SPDX-License-Identifier: MIT
 *
 * look.h: row blocks, which is what a look at the row offsets makes of them: pieces of the matrix with about equal work, one for
 * a block of threads.  look.c finds them; csr_weave and csr_adaptive multiply by them. */
#ifndef CONVERT_LOOK_H
#define CONVERT_LOOK_H

#include <stdint.h>

/* The rows from `row` on with the entries from `begin` on, up to those of the next row block; one more ends the last. */
struct row_block {
    int64_t begin;
    int32_t row;
    int32_t work; /* above 0: whole rows, 1 + log2 of the lanes that sum one; ONE_ROW; below: -1 - the number of the piece */
} __attribute__((aligned(16)));

#define ONE_ROW 0

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* The block has the sum of one row, or of a piece of one.  Pieces leave it in the workspace, and whoever comes last adds them
 * up, in the order of their numbers; pieces, of `size` entries, are counted at the place of a row's first, which the offsets
 * tell. */
DEVICE void store_one_row(const struct product *p, struct row_block mine, real sum, int64_t size)
{
    SHARED(int32_t, arrived, 1);
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    real *const part = (real *)p->workspace;
    if (mine.work == ONE_ROW) {
        if (simt_thread_id() == 0)
            store((real *)p->y + mine.row, scalar(p->alpha), sum, scalar(p->beta));
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
        sum += simt_fresh(part + first + i);
    sum = block_sum(sum);
    if (simt_thread_id() == 0) {
        p->counters[first] = 0;
        store((real *)p->y + mine.row, scalar(p->alpha), sum, scalar(p->beta));
    }
}

#else
#include "run/launch.h"

/* How a matrix is to be cut.  Rows and entries count alike, so that empty rows count, too, and a row belongs to the window in
 * which it begins by this count.  A row block has at most `capacity` rows and entries, more than the window so that the last row
 * may be longer, unless it is one row.  A row of more than `whole` entries is cut into pieces of `piece`; they are numbered
 * through the whole matrix. */
struct row_cut {
    int64_t window, capacity, whole, piece;
    int64_t threads; /* of a block: decides how many lanes sum a row */
    int delays;      /* 1: the lanes of a row have it alone, however long it is, so that the longest delays them */
};

/* What the look found. */
struct looked {
    int64_t blocks, pieces;
    int64_t longest; /* entries of a row */
    int64_t last;    /* the last offset */
    int64_t bad;     /* not 0: the offsets do not ascend from 0 to nnz, and there are no row blocks */
};

/* Bytes that row blocks of w's matrix take, scratch memory included, and how many pieces there are at most. */
int64_t look_bytes(const struct work *w, struct row_cut cut);
int64_t look_pieces(const struct work *w, struct row_cut cut);
/* Row blocks of w's matrix into product.prepared, which has look_bytes; waits. */
heddle_status gpu_look(struct looked *looked, const struct work *w, struct row_cut cut);

#endif
#endif
