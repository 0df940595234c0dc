/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, with nothing prepared, for any matrix, in one launch.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014); that the
 *            last of several blocks finishes what they share is an old trick of reductions.
 * Balance    a block owns a group of neighbouring rows, so many that their entries fill its threads at the mean row length: it
 *            finds them without a search.  Short rows are summed by the same few lanes each, where they are read or from
 *            products that are staged in shared memory; a row that is long for its lanes is summed by its wave.  A group
 *            that has too many entries for one block is left to scouts.  These are the first blocks of the launch: they look
 *            through the row offsets for such groups, and take them piece by piece, each scout those that fall to it by where
 *            they lie.  All of them see the same, so nothing is handed over, and no block waits for another.  Rows that are
 *            cut between pieces are put together by whoever comes last.
 * Memory     val and col are streamed past the caches where they are staged, each once and coalesced, with up to 8 loads a
 *            thread under way; x is gathered in the order of storage, and has as much of the first-level cache as tiles can spare.
 * Wins       small matrices, and rows of similar length.
 * Loses      skewed rows, where a block has few entries for all that it does, and against formats that store fewer bytes or
 *            put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */

/* What launch tells the device half in product.fact: the first group of this launch (negative: scouts come
 * first), entries of a tile, entries that a group may have before it is cut, companies of scouts, scouts of each (both powers
 * of two), and groups of a span. */
enum { WEAVE_BEGIN, WEAVE_TILE, WEAVE_LIMIT, WEAVE_COMPANIES, WEAVE_SCOUTS, WEAVE_SPAN };

/* Entries of a piece of a cut group. */
#define PIECE 1024

/* Entries a lane, in rows that are read directly; where there are more, the rows of the block are staged. */
#define LONG 16

/* Spans that a thread of a scout looks at: a bit each. */
#define SPANS 32

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define STAGED 32 /* entries a lane, in rows that are staged; more are summed by the wave */
#define QUEUE 32  /* cut groups that a scout takes before it looks for more */

/* How a way goes about its work, all of it known to the compiler: threads of a block, lanes of a row, rows of a group. */
struct shape {
    int width, lanes, height;
};

DEVICE off offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
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

/* ------------------------------------------------------------------ tiles -------------------------------------- */

/* The products of n entries that begin at `from`, into the tile, by the `width` threads of the block. */
DEVICE void stage(const struct product *p, real *tile, off from, int n, const int width, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    SIMT_ROLLED for (int k = simt_thread_id(); k < n; k += width * under_way)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = simt_stream_if(k + i * width < n, col + k + i * width);
            v[i] = simt_stream_if(k + i * width < n, val + k + i * width);
        }
        for (int i = 0; i < under_way; i++)
            if (k + i * width < n)
                tile[k + i * width] = v[i] * simt_readonly(x + c[i]);
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
    for (int k = is_long ? end : begin + lane; k < end; k += lanes)
        sum += tile[k];
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

/* ------------------------------------------------------------------ groups ------------------------------------- */

/* A group whose products are staged, strip by strip; one strip is usual. */
DEVICE void staged(const struct product *p, real *tile, int64_t group, const struct shape s, const int under_way)
{
    const int size = (int)p->fact[WEAVE_TILE];
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const off first = offset(p, group * s.height), last = offset(p, (group + 1) * s.height);
    const off begin = offset(p, row), end = offset(p, row + 1);
    real sum = 0;
    if (last - first > p->fact[WEAVE_LIMIT])
        return;
    SIMT_ROLLED for (off low = first; low < last; low += size)
    {
        const int n = last - low < size ? (int)(last - low) : size;
        if (low > first)
            simt_sync();
        stage(p, tile, low, n, s.width, under_way);
        simt_sync();
        sum += row_sum(tile, clipped(begin, low, n), clipped(end, low, n), s.lanes);
    }
    if (simt_thread_id() % s.lanes == 0 && row < p->rows)
        put(p, row, sum);
}

/* The share of a lane in a row of n entries that begin at `from`. */
DEVICE real share(const struct product *p, off from, int n, int lane, const int lanes, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    real sum = 0;
    SIMT_ROLLED for (int k = lane; k < n; k += under_way * lanes)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = k + i * lanes < n ? simt_readonly(col + k + i * lanes) : 0;
            v[i] = k + i * lanes < n ? simt_readonly(val + k + i * lanes) : 0;
        }
        for (int i = 0; i < under_way; i++)
            sum += k + i * lanes < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    return sum;
}

/* A group whose rows are read directly, if all of them are short. */
DEVICE void direct(const struct product *p, real *tile, int64_t group, const struct shape s)
{
    const int lane = simt_thread_id() % s.lanes;
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (simt_sync_any(end - begin > LONG * s.lanes)) {
        staged(p, tile, group, s, 4);
        return;
    }
    const real sum = lanes_sum(share(p, begin, (int)(end - begin), lane, s.lanes, 4), s.lanes);
    if (lane == 0 && row < p->rows)
        put(p, row, sum);
}

/* A block a row. */
DEVICE void by_block(const struct product *p, int64_t row, const int width)
{
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (end - begin > p->fact[WEAVE_LIMIT])
        return;
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
    const int n = (int)(end - begin);
    real sum = 0;
    SIMT_ROLLED for (int k = simt_thread_id(); k < n; k += 8 * width)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < 8; i++) {
            c[i] = simt_stream_if(k + i * width < n, col + k + i * width);
            v[i] = simt_stream_if(k + i * width < n, val + k + i * width);
        }
        for (int i = 0; i < 8; i++)
            sum += k + i * width < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    sum = block_sum(sum);
    if (simt_thread_id() == 0)
        put(p, row, sum);
}

/* ------------------------------------------------------------------ pieces of cut groups ----------------------- */

DEVICE int32_t pieces_of(off entries)
{
    return (int32_t)((entries + PIECE - 1) / PIECE);
}

/* A scout keeps the groups that it has found in shared memory.  Where row `ahead` of one begins: read anew wherever it is
 * needed, for registers are dear while products are staged. */
DEVICE off begin_of(const struct product *p, const int32_t *group, int ahead, const int height)
{
    const int64_t row = (int64_t)simt_fresh(group) * height + ahead;
    return simt_again((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

/* The sums of cut rows, two for each piece: of the row that was open when it began, and of the one that is open at its end.
 * A cut group is longer than a piece: how many pieces the entries before it fill tells it from all others. */
enum { OPENED, LEFT };

DEVICE real *edges_of(const struct product *p, off first)
{
    return (real *)p->workspace + 2 * ((int64_t)(first / PIECE) + pieces_of(first));
}

/* Stages piece i of a group, and returns its entries. */
DEVICE int stage_piece(const struct product *p, real *tile, const int32_t *group, int32_t i, const struct shape s)
{
    const off low = begin_of(p, group, 0, s.height) + (off)i * PIECE, rest = begin_of(p, group, s.height, s.height) - low;
    const int n = rest < PIECE ? (int)rest : PIECE;
    simt_sync();
    stage(p, tile, low, n, s.width, 4);
    simt_sync();
    return n;
}

/* Sums the rows of piece i, n entries; those that are cut leave their sums at its edges. */
DEVICE void sum_piece(const struct product *p, const real *tile, const int32_t *group, int32_t i, int n, const struct shape s)
{
    const int ahead = simt_thread_id() / s.lanes < s.height ? simt_thread_id() / s.lanes : s.height;
    const off first = begin_of(p, group, 0, s.height), low = first + (off)i * PIECE;
    const off begin = begin_of(p, group, ahead, s.height);
    const off end = ahead < s.height ? begin_of(p, group, ahead + 1, s.height) : begin;
    const int from = clipped(begin, low, n), to = clipped(end, low, n);
    const real sum = row_sum(tile, from, to, s.lanes);
    const int64_t row = (int64_t)simt_fresh(group) * s.height + ahead;
    if (simt_thread_id() % s.lanes != 0 || ahead == s.height || row >= p->rows)
        return;
    if (from < to && begin < low)
        edges_of(p, first)[2 * (int64_t)i + OPENED] = sum;
    else if (from < to && end > low + n)
        edges_of(p, first)[2 * (int64_t)i + LEFT] = sum;
    else if (from < to || (i == 0 && begin == end))
        put(p, row, sum);
}

/* Every piece of the group has left its edges: the rows that lie in more than one are put together, each by a wave. */
DEVICE void join(const struct product *p, const int32_t *group, const int height)
{
    const int ahead = simt_thread_id() < height ? simt_thread_id() : height, next = ahead < height;
    const off first = begin_of(p, group, 0, height);
    const off begin = begin_of(p, group, ahead, height) - first, end = begin_of(p, group, ahead + next, height) - first;
    const int32_t from = (int32_t)(begin / PIECE), to = begin < end ? (int32_t)((end - 1) / PIECE) : from;
    SIMT_ROLLED for (uint64_t todo = simt_ballot(to > from); todo; todo &= todo - 1)
    {
        const int owner = simt_ffs(todo) - 1;
        const int32_t opens = simt_shfl(from, owner, WAVE), closes = simt_shfl(to, owner, WAVE);
        const real *edges = edges_of(p, first);
        real sum = simt_lane() == 0 ? simt_fresh(edges + 2 * (int64_t)opens + LEFT) : 0;
        SIMT_ROLLED for (int32_t i = opens + 1 + simt_lane(); i <= closes; i += WAVE)
            sum += simt_fresh(edges + 2 * (int64_t)i + OPENED);
        sum = wave_sum(sum, WAVE);
        if (simt_lane() == owner)
            put(p, (int64_t)simt_fresh(group) * height + ahead, sum);
    }
}

/* A thread of the block adds 1 to a counter; true for all where that makes it `all`, and the counter is 0 again. */
DEVICE int comes_last(int32_t *counter, int32_t all)
{
    SHARED(int32_t, turn, 1);
    simt_fence();
    simt_sync();
    if (simt_thread_id() == 0) {
        *turn = simt_atomic_add(counter, 1) + 1;
        if (*turn == all)
            *counter = 0;
    }
    simt_sync();
    simt_fence();
    return *turn == all;
}

/* Piece i of a group. */
DEVICE void take(const struct product *p, real *tile, const int32_t *group, int32_t i, const struct shape s)
{
    const int n = stage_piece(p, tile, group, i, s);
    sum_piece(p, tile, group, i, n, s);
    const off first = begin_of(p, group, 0, s.height), last = begin_of(p, group, s.height, s.height);
    if (comes_last(p->counters + pieces_of(first), pieces_of(last - first)))
        join(p, group, s.height);
}

/* ------------------------------------------------------------------ scouts ------------------------------------- */

/* Scouts go in companies: each has every so manieth span of the matrix, and deals out the pieces that it finds there to its
 * scouts in turn, by where they lie. */
DEVICE int32_t company(const struct product *p)
{
    return simt_block_id() & ((int32_t)p->fact[WEAVE_COMPANIES] - 1);
}

DEVICE int32_t first_of_mine(const struct product *p, off first)
{
    const int32_t scout = simt_block_id() / (int32_t)p->fact[WEAVE_COMPANIES];
    return (scout - (int32_t)(first / PIECE)) & ((int32_t)p->fact[WEAVE_SCOUTS] - 1);
}

/* Is the group cut, and are some of its pieces this scout's? */
DEVICE int is_mine(const struct product *p, int32_t group, const struct shape s)
{
    const off first = offset(p, (int64_t)group * s.height), n = offset(p, (int64_t)(group + 1) * s.height) - first;
    return n > p->fact[WEAVE_LIMIT] && first_of_mine(p, first) < pieces_of(n);
}

/* Which of a thread's spans have more entries than a group may have. */
DEVICE uint32_t heavy_spans(const struct product *p, const struct shape s)
{
    const int64_t rows = p->fact[WEAVE_SPAN] * s.height, step = rows * p->fact[WEAVE_COMPANIES];
    int64_t row = simt_thread_id() * step + company(p) * rows;
    uint32_t heavy = 0;
    SIMT_ROLLED for (int i = 0; i < SPANS && row < p->rows; i += 4)
        for (int j = 0; j < 4; j++, row += step * s.width)
            heavy |= (uint32_t)(offset(p, row + rows) - offset(p, row) > p->fact[WEAVE_LIMIT]) << (i + j);
    return heavy;
}

/* The next group with pieces of this scout's, or -1.  heavy: the thread's spans that are left; seen: groups of the first. */
DEVICE int32_t next_of_mine(const struct product *p, uint32_t *heavy, int32_t *seen, const struct shape s)
{
    const int32_t span = (int32_t)p->fact[WEAVE_SPAN], companies = (int32_t)p->fact[WEAVE_COMPANIES];
    while (*heavy != 0) {
        const int32_t start = (((simt_ffs(*heavy) - 1) * s.width + simt_thread_id()) * companies + company(p)) * span;
        for (; *seen < span; ++*seen)
            if (is_mine(p, start + *seen, s))
                return start + *seen;
        *heavy &= *heavy - 1;
        *seen = 0;
    }
    return -1;
}

/* A scout looks for groups that are too large for one block: at first at spans of neighbouring groups, then into those that
 * have enough entries.  All scouts of a company look at the same. */
DEVICE void scout(const struct product *p, real *tile, const struct shape s)
{
    SHARED(int32_t, queue, QUEUE);
    SHARED(int32_t, queued, 1);
    uint32_t heavy = heavy_spans(p, s);
    int32_t seen = 0;
    while (simt_sync_any(heavy != 0)) {
        if (simt_thread_id() == 0)
            *queued = 0;
        simt_sync();
        const int32_t group = next_of_mine(p, &heavy, &seen, s);
        if (group >= 0) {
            const int32_t at = simt_atomic_add(queued, 1);
            if (at < QUEUE) {
                queue[at] = group;
                seen++;
            }
        }
        simt_sync();
        SIMT_ROLLED for (int i = 0; i < QUEUE && i < simt_fresh(queued); i++)
            SIMT_ROLLED for (int32_t j = first_of_mine(p, begin_of(p, queue + i, 0, s.height));
                 j < pieces_of(begin_of(p, queue + i, s.height, s.height) - begin_of(p, queue + i, 0, s.height));
                 j += (int32_t)p->fact[WEAVE_SCOUTS])
                take(p, tile, queue + i, j, s);
    }
}

/* ------------------------------------------------------------------ ways --------------------------------------- */

/* Blocks of a multiprocessor that has so many threads; fewer where 64-bit offsets take registers. */
#define BLOCKS(threads, width) ((sizeof(off) == 4 ? (threads) : 1024) / (width))

/* Every way is a kernel.  The first blocks are scouts. */
#define WAY(name, blocks, width, lanes, height, taken)                    \
    KERNEL_RESIDENT(name, width, blocks)(struct product p)                \
    {                                                                     \
        SHARED_DYNAMIC(real, tile);                                       \
        const struct shape s = {width, lanes, height};                    \
        const int64_t group = p.fact[WEAVE_BEGIN] + simt_block_id();      \
        if (group < 0)                                                    \
            scout(&p, tile, s);                                           \
        else                                                              \
            taken;                                                        \
    }

WAY(csr_weave1, BLOCKS(2048, 256), 256, 1, 256, direct(&p, tile, group, s))
WAY(csr_weave2, BLOCKS(2048, 256), 256, 2, 128, staged(&p, tile, group, s, 4))
WAY(csr_weave4, BLOCKS(1536, 256), 256, 4, 64, staged(&p, tile, group, s, 8))
#define DEEP (sizeof(real) == 4 ? 4 : 8)
WAY(csr_weave8, BLOCKS(sizeof(real) == 4 ? 2048 : 1536, 128), 128, 8, 16, staged(&p, tile, group, s, DEEP))
WAY(csr_weave8_direct, BLOCKS(2048, 128), 128, 8, 16, direct(&p, tile, group, s))
WAY(csr_weave32, BLOCKS(2048, 128), 128, 32, 4, direct(&p, tile, group, s))
WAY(csr_weave_block, BLOCKS(1536, 256), 256, WAVE, 1, by_block(&p, group, 256))

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
enum where { DIRECTLY, IN_TILES };

static const struct way {
    const char *entry;
    int block, height;
    enum where read;
    /* Shared memory takes cache from x, and more blocks that wait for the same second-level cache only end later.  So a multiprocessor
     * should have this and no more, if so many blocks find room in it; else what the driver thinks.  Measured on an H200. */
    int kilobytes, blocks;
} ways[] = {
    {NULL, 0, 0, DIRECTLY, 0, 0},
    {"csr_weave1", 256, 256, DIRECTLY, 32, 6},
    {"csr_weave2", 256, 128, IN_TILES, 64, 4},
    {"csr_weave4", 256, 64, IN_TILES, 64, 6},
    {"csr_weave8", 128, 16, IN_TILES, 0, 0},
    {"csr_weave8_direct", 128, 16, DIRECTLY, 0, 0},
    {"csr_weave32", 128, 4, DIRECTLY, 0, 0},
    {"csr_weave_block", 256, 1, IN_TILES, 0, 0},
};
enum { AUTO, DIRECT_1, STAGED_2, STAGED_4, STAGED_8, DIRECT_8, DIRECT_32, BLOCK };

static const char *const words[] = {"auto", "1", "2", "4", "8", "8direct", "32", "block"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1",        "csr_weave2",  "csr_weave4",      "csr_weave8",
                                      "csr_weave8_direct", "csr_weave32", "csr_weave_block", NULL};

/* Which way: the first line with at least as many entries, and fewer a row on average; the last is for all others.  Small matrices
 * are a matter of latency and of enough blocks: many lanes a row, few rows a block.  Measured on an H200. */
static const struct rule {
    int64_t nnz;
    double mean;
    int f32, f64;
} rules[] = {
    {131072, 85, BLOCK, BLOCK},
    {131072, 16, DIRECT_32, DIRECT_32},
    {131072, 3, DIRECT_8, DIRECT_8},
    {131072, 1, STAGED_4, STAGED_4},
    {INT64_MAX, 1000, BLOCK, BLOCK},
    {INT64_MAX, 100, DIRECT_32, DIRECT_32},
    {2000000, 40, DIRECT_32, DIRECT_32},
    {INT64_MAX, 40, STAGED_8, STAGED_8},
    {1000000, 30, DIRECT_32, DIRECT_32},
    {262144, 12, STAGED_8, STAGED_8},
    {2000000, 12, STAGED_4, STAGED_4},
    {INT64_MAX, 12, STAGED_2, STAGED_4},
    {262144, 5, STAGED_4, STAGED_4},
    {INT64_MAX, 7.5, STAGED_2, STAGED_2},
    {INT64_MAX, 0, DIRECT_1, DIRECT_1},
};

static const struct way *way_of(const struct work *w)
{
    const struct rule *rule = rules;
    while (rule->mean > 0 && (rule->nnz < w->product.nnz || rule->mean * (double)w->product.rows >= (double)w->product.nnz))
        rule++;
    return &ways[w->option[0] ? w->option[0] : w->value == HEDDLE_F32 ? rule->f32 : rule->f64];
}

static int64_t groups_of(const struct work *w)
{
    const int64_t height = way_of(w)->height;
    return (w->product.rows + height - 1) / height;
}

/* Two sums for each piece: a cut group has more than one piece, and at most one that is not full. */
static int64_t workspace(const struct work *w)
{
    return 2 * (2 * (w->product.nnz / PIECE) + 3) * (int64_t)type_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return (w->product.nnz / PIECE + 2) * (int64_t)sizeof(int32_t);
}

/* A tile has room for a piece and, where products are always staged, for what the rows of a block hold on average, and a
 * quarter more. */
#define TILE_MOST 3072
static int64_t tile_of(const struct work *w)
{
    const int64_t usual = (w->product.nnz / w->product.rows * way_of(w)->height * 5 / 4 + 63) & ~(int64_t)31;
    return way_of(w)->read == DIRECTLY || usual < PIECE ? PIECE : usual > TILE_MOST ? TILE_MOST : usual;
}

/* What one block may take so that the others do not wait for it: a few tiles, or a small share of all; but never less than
 * it reads directly without a look at the limit. */
#define LIMIT_TILES 4
#define LIMIT_SHARE 2048
static int64_t limit_of(const struct work *w)
{
    const int64_t tiles = LIMIT_TILES * tile_of(w), share = w->product.nnz / LIMIT_SHARE, least = LONG * way_of(w)->block;
    const int64_t most = tiles > share ? tiles : share;
    return most > least ? most : least;
}

/* Scouts of so many companies: one for so many entries, but not more than have room on the device together with others. */
#define ENTRIES_OF_SCOUT 1024
static int64_t scouts_of(const struct work *w, int64_t companies)
{
    const int64_t most = companies * gpu_info_of(w->device->gpu)->multiprocessors, enough = w->product.nnz / ENTRIES_OF_SCOUT;
    int64_t scouts = 1;
    while (2 * scouts <= most && 2 * scouts <= enough)
        scouts *= 2;
    return scouts;
}

/* Groups of a span: they have half as many entries as are too many, on average.  In a small matrix there are fewer: to look into a
 * span costs a wait for each of its groups, and few scouts read it. */
#define FEW_ENTRIES 262144
static int64_t span_of(const struct work *w)
{
    const int64_t block = way_of(w)->block, most = SPANS * block; /* of one company */
    const int64_t spans = w->product.nnz <= FEW_ENTRIES ? 8 * block : 2 * w->product.nnz / limit_of(w) + 1;
    return (groups_of(w) - 1) / (spans < most ? spans : most) + 1;
}

#define OTHER_SHARED 1280 /* of a block: a scout's queue, and what the driver keeps */

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t groups = groups_of(w), scouts = scouts_of(w, 4), tile = tile_of(w);
    const int64_t threads = UINT32_MAX / way->block, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    int64_t *fact = told.product.fact;
    const int64_t shared = tile * (int64_t)type_size(w->value), wanted = way->kilobytes * 1024;
    TRY(gpu_prefer_shared(w, way->entry, way->blocks * (shared + OTHER_SHARED) <= wanted ? wanted : 0));
    fact[WEAVE_TILE] = tile;
    fact[WEAVE_LIMIT] = limit_of(w);
    fact[WEAVE_SPAN] = span_of(w);
    fact[WEAVE_SCOUTS] = scouts_of(w, 1);
    fact[WEAVE_COMPANIES] = scouts / fact[WEAVE_SCOUTS];
    for (int64_t begin = -scouts; begin < groups; begin += most) { /* scouts come before the first group */
        fact[WEAVE_BEGIN] = begin;
        TRY(gpu_run(&told, way->entry, groups - begin < most ? groups - begin : most, way->block, shared));
    }
done:
    return status;
}

const struct kernel csr_weave = {
    .name = "csr_weave",
    .id = KERNEL_csr_weave,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .workspace = workspace,
    .counters = counters,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
