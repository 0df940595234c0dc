/* SPDX-License-Identifier: MIT
 *
 * weave.h: what csr_weave's two halves tell each other, and what its groups and scouts share: the shape of a block's work, and
 * tiles of products in shared memory. */
#ifndef KERNEL_WEAVE_H
#define KERNEL_WEAVE_H

/* What launch tells the device half.  product.first is the first group of this launch; negative: scouts come first.  product.fact has
 * entries of a tile, entries that a group may have before it is cut, scouts, how many groups fit on the device, how many entries of a
 * group are sent for, how many groups a scout looks at together, the first group whose entries the second-level cache need not
 * keep, and how many entries are a scout's own, or 0 where scouts share what they find. */
enum { WEAVE_TILE, WEAVE_LIMIT, WEAVE_SCOUTS, WEAVE_AHEAD, WEAVE_ENTRIES, WEAVE_SPAN, WEAVE_PASSING, WEAVE_RANGE };

/* Threads that a multiprocessor has at once, on an H200. */
#define RESIDENT 2048

/* Entries of a piece of a cut group. */
#define PIECE 1024

/* Entries a lane, in rows that are read directly; where there are more, the rows of the block are staged. */
#define LONG(lanes) ((lanes) == 1 ? 8 : 16)

/* Places of the list: a cut group has more than two pieces, and at most two that are not full. */
#define PLACES(nnz) (2 * ((nnz) / PIECE) + 2)

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define STAGED 32 /* entries a lane, in rows that are staged; more are summed by the wave */

/* How a way goes about its work, all of it known to the compiler: threads of a block, lanes of a row, rows of a group; has it a tile;
 * and how many entries of a piece a thread has under way. */
struct shape {
    int width, lanes, height, tiled, under_way;
};

DEVICE off offset(const struct product *p, int64_t row, const int passing)
{
    const off *at = (const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows);
    return passing ? simt_stream(at) : simt_readonly(at);
}

/* The same in 32 bits, which do, for there are fewer than 2^31 rows: fewer instructions. */
DEVICE off short_offset(const struct product *p, uint32_t row)
{
    const uint32_t rows = (uint32_t)p->rows;
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < rows ? row : rows));
}

DEVICE void put(const struct product *p, int64_t row, real sum)
{
    store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

DEVICE real lanes_sum(real sum, const int lanes)
{
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* How a lane asks for the entries of a row and for x: as the compiler likes; the same, and the second-level cache need not keep the
 * entries; or all of an entry before its x.  The last is what a small matrix wants, whose values come from memory when x is in the cache. */
enum { EACH_FOR_ITSELF, PASSING, TOGETHER };

/* The share of a lane in a row of n entries that begin at `from`. */
DEVICE real share(const struct product *p, off from, int n, int lane, const int lanes, const int under_way, const int how)
{
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    if (how == PASSING) {
        col = simt_passing(col);
        val = simt_passing(val);
    }
    const int ahead = SIMT_FEW_REGISTERS && sizeof(real) == 8 && (lanes == 1 || lanes == 16); /* x before the first product: measured */
    real sum = 0;
    SIMT_ROLLED for (int k = lane; k < n; k += under_way * lanes)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = k + i * lanes < n ? simt_readonly(col + k + i * lanes) : 0;
            v[i] = k + i * lanes < n ? simt_readonly(val + k + i * lanes) : 0;
        }
        for (int i = 0; how == TOGETHER && i < under_way; i++)
            c[i] = simt_with(c[i], v[i]);
        real g[8];
        for (int i = 0; ahead && i < under_way; i++)
            g[i] = k + i * lanes < n ? simt_readonly(x + c[i]) : 0;
        for (int i = 0; i < under_way; i++)
            sum += k + i * lanes < n ? v[i] * (ahead ? g[i] : simt_readonly(x + c[i])) : 0;
    }
    return sum;
}

/* What a thread of the block has under way: of n entries that begin at `from`, every width-th from k on.  There are 7 predicates, and
 * every entry that may be missing takes one until its x has come; if the batch is `full`, but for a few entries at both ends of all,
 * others are read instead of those that are missing. */
struct batch {
    idx c[8];
    real v[8];
};

DEVICE struct batch batch_at(const struct product *p, off from, int k, int n, const int width, const int under_way, const int full)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    struct batch b;
    for (int i = 0; i < under_way; i++) {
        const int at = k + i * width, last = at < n ? at : n - 1;
        b.c[i] = full ? simt_stream(col + last) : simt_stream_if(has_entry(k, i * width, n), col + at);
        b.v[i] = full ? simt_stream(val + last) : simt_stream_if(has_entry(k, i * width, n), val + at);
    }
    return b;
}

/* The share of a thread of the block in n entries of one row, which begin at `from`. */
DEVICE real block_share(const struct product *p, off from, int n, int thread, const int width, const int under_way, const int full)
{
    const real *RESTRICT x = (const real *)p->x;
    real sum = 0;
    SIMT_ROLLED for (int k = first_entry(from, thread); k < n; k += under_way * width)
    {
        const struct batch b = batch_at(p, from, k, n, width, under_way, full);
        real g[8];
        for (int i = 0; full && i < under_way; i++)
            g[i] = simt_readonly(x + b.c[i]);
        for (int i = 0; i < under_way; i++)
            sum += has_entry(k, i * width, n) ? b.v[i] * (full ? g[i] : simt_readonly(x + b.c[i])) : 0;
    }
    return sum;
}

/* ------------------------------------------------------------------ tiles -------------------------------------- */

/* The products of n entries that begin at `from`, into the tile, by the `width` threads of the block. */
DEVICE void stage(const struct product *p, real *tile, off from, int n, int thread, const int width, const int under_way,
                  const int full)
{
    const real *RESTRICT x = (const real *)p->x;
    SIMT_ROLLED for (int k = first_entry(from, thread); k < n; k += width * under_way)
    {
        const struct batch b = batch_at(p, from, k, n, width, under_way, full);
        real g[8];
        for (int i = 0; i < under_way; i++)
            g[i] = full || has_entry(k, i * width, n) ? simt_readonly(x + b.c[i]) : 0;
        for (int i = 0; i < under_way; i++)
            if (has_entry(k, i * width, n))
                tile[k + i * width] = b.v[i] * g[i];
    }
}

/* Position `at`, counted from `low`, brought to within 0 and n. */
DEVICE int clipped(off at, off low, int n)
{
    return at < low ? 0 : at - low > n ? n : (int)(at - low);
}

/* The sum of entries begin to end of the tile, one's own row, by its lanes; a long row by all lanes of the wave, one such row
 * after another.  The first of the lanes has it in the end. */
DEVICE real row_sum(const real *tile, int begin, int end, const int lanes)
{
    const int lane = simt_thread_id() % lanes, is_long = end - begin > STAGED * lanes;
    real sum = 0;
    SIMT_ROLLED for (int k = is_long ? end : begin + lane; k < end; k += 4 * lanes)
        for (int i = 0; i < 4; i++)
            sum += k + i * lanes < end ? tile[k + i * lanes] : 0;
    sum = lanes_sum(sum, lanes);
    for (uint64_t todo = simt_ballot(is_long && lane == 0); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1, from = simt_shfl(begin, owner, WAVE), to = simt_shfl(end, owner, WAVE);
        real other = 0;
        SIMT_ROLLED for (int k = from + simt_lane(); k < to; k += 2 * WAVE)
            for (int i = 0; i < 2; i++)
                other += k + i * WAVE < to ? tile[k + i * WAVE] : 0;
        other = wave_sum(other, WAVE);
        if (simt_lane() == owner)
            sum = other;
    }
    return sum;
}

#endif
#endif
