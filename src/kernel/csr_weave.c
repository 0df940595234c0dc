/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, with nothing prepared, for any matrix.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014), equal
 *            shares with a scan over open rows are as in csr_merge and csr5; that the last of several blocks finishes what
 *            they share is an old trick of reductions.
 * Balance    a block owns a group of neighbouring rows, so many that their entries fill its threads at the mean row length: it
 *            finds them without a search.  Then it looks whether all of them are short.  If so, each is summed by the same
 *            few lanes, where it is read or from products that are staged in shared memory first.  If not, the entries of the
 *            group are staged strip by strip and dealt out to the threads in equal shares, whatever the rows.  A group that
 *            has too many entries for one block is listed in pieces, and a second kernel, of a few blocks, takes them; most
 *            matrices list nothing, and it leaves at once.  It is launched behind the first, so that it is there when that
 *            ends.  Rows that are cut between pieces are put together by whichever block comes last; no block waits for
 *            another.  Small matrices are done in one launch: rows too long for their lanes are taken by the block.
 * Memory     val and col are streamed past the caches where they are staged, each once and coalesced, with up to 8 loads a
 *            thread under way; x is gathered in the order of storage.
 * Wins       rows of similar length, short ones above all; tiny matrices.
 * Loses      skewed rows, where a block has few entries for all that it does, and against formats that store fewer bytes or
 *            put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */

/* What launch tells the device half in product.fact: the first group, rows of a group, entries of a tile, entries that a group
 * may have before it is cut, and how many the list of pieces and the sums of cut rows have room for. */
enum { WEAVE_BEGIN, WEAVE_HEIGHT, WEAVE_TILE, WEAVE_LIMIT, WEAVE_LIST, WEAVE_SUMS };

/* counters: pieces listed; blocks that are through with them; then for each cut group how many of its pieces are done. */
enum { WEAVE_LISTED, WEAVE_THROUGH, WEAVE_DONE };

/* Entries of a piece of a cut group. */
#define PIECE 1024

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define MOST 256  /* rows of a group, threads of a block */
#define LONG 16   /* entries a lane, in rows that are read directly; more make a group uneven */
#define STAGED 32 /* likewise where products are staged */
#define FEW 4     /* loads a thread has under way in the uneven path */

/* A piece of a cut group: from its first entry on, or the next PIECE, ... */
struct piece {
    int32_t group, number;
};

/* The list of pieces, and the sums of cut rows: of the row that was open when a piece began, and of the one that is open at
 * its end. */
struct space {
    struct piece *list;
    int32_t *done;
    real *opened, *left;
};

DEVICE struct space space_of(const struct product *p)
{
    struct piece *list = (struct piece *)p->workspace;
    real *sums = (real *)(list + p->fact[WEAVE_LIST]);
    const struct space s = {list, p->counters + WEAVE_DONE, sums, sums + p->fact[WEAVE_SUMS]};
    return s;
}

DEVICE off offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE int32_t pieces_of(int64_t entries)
{
    return (int32_t)((entries + PIECE - 1) / PIECE);
}

DEVICE void put(const struct product *p, int64_t row, real sum)
{
    store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

/* ------------------------------------------------------------------ products ----------------------------------- */

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

/* ------------------------------------------------------------------ uneven groups ------------------------------ */

/* A strip: up to PIECE entries of neighbouring rows, and where those of its rows that have some begin: row `which[i]` of the
 * group at start[i].  If its first row began before, or its last goes on after, their sums are edges, left for another. */
enum { FIRST_CUT = 1, LAST_CUT = 2 };

struct strip {
    int32_t start[MOST + 1];
    int16_t which[MOST];
    real edge[2];
    real of_wave[MOST / 32];
    int32_t ends[MOST / 32];
};

DEVICE int clipped(off at, off low, int n)
{
    return at < low ? 0 : at - low > n ? n : (int)(at - low);
}

/* Finds the rows of a strip of n entries from `low` on, among `height` from `row` on, and returns how many there are. */
DEVICE int find_rows(const struct product *p, struct strip *s, int64_t row, int height, off low, int n)
{
    const int t = simt_thread_id() < height ? simt_thread_id() : height;
    const int begin = clipped(offset(p, row + t), low, n);
    const int end = t < height ? clipped(offset(p, row + t + 1), low, n) : begin;
    const uint64_t filled = simt_ballot(begin < end);
    int place = simt_popc(filled & simt_lanes_below()), rows = 0;
    if (simt_lane() == 0)
        s->ends[simt_wave_id()] = simt_popc(filled);
    simt_sync();
    SIMT_ROLLED for (int w = 0; w < simt_waves(); w++)
    {
        place += w < simt_wave_id() ? s->ends[w] : 0;
        rows += s->ends[w];
    }
    if (begin < end) {
        s->start[place] = begin;
        s->which[place] = (int16_t)t;
    }
    if (simt_thread_id() == 0)
        s->start[rows] = n;
    return rows;
}

DEVICE void finished(const struct product *p, struct strip *s, int64_t row, int cut, int i, real sum)
{
    if (i == 0 && cut & FIRST_CUT)
        s->edge[0] = sum;
    else
        put(p, row + s->which[i], sum);
}

/* Sums the strip, whose products are in the tile.  A thread takes a few entries that lie side by side, an odd number of them:
 * neighbours then meet different banks.  Rows that end within a share are finished there; what is open at its end is handed
 * on, first within the wave and then from wave to wave; `carry` is what the first row brings along. */
DEVICE void sum_rows(const struct product *p, const real *tile, struct strip *s, int64_t row, int rows, int n, int cut,
                     real carry)
{
    const int each = ((n + simt_block_size() - 1) / simt_block_size()) | 1;
    const int from = simt_thread_id() * each, to = from + each < n ? from + each : n;
    int i = 0, crossed = 0; /* i: the last row that begins before `from`, or the first */
    SIMT_ROLLED for (int step = rows > 32 ? MOST / 2 : 16; step > 0; step /= 2)
        if (i + step < rows && s->start[i + step] < from)
            i += step;
    const int first = i;
    int next = s->start[i + 1];
    real sum = 0, head = 0;
    SIMT_ROLLED for (int k = from; k < to; k++)
    {
        if (k == next) {
            if (crossed)
                finished(p, s, row, 0, i, sum);
            else
                head = sum;
            crossed = 1;
            sum = 0;
            next = s->start[++i + 1];
        }
        sum += tile[k];
    }
    /* Sums of the open row, from the last lane on in which one ended. */
    const uint64_t crossings = simt_ballot(crossed), here = crossings & (simt_lanes_below() << 1 | 1);
    const int origin = here ? 63 - simt_clz(here) : 0;
    for (int by = 1; by < WAVE; by *= 2) {
        const real below = simt_shfl_up(sum, by, WAVE);
        if (simt_lane() - by >= origin)
            sum += below;
    }
    const real before = simt_shfl_up(sum, 1, WAVE);
    if (simt_lane() == WAVE - 1) {
        s->of_wave[simt_wave_id()] = sum;
        s->ends[simt_wave_id()] = crossings != 0;
    }
    simt_sync();
    real open = carry;
    SIMT_ROLLED for (int w = 0; w < simt_wave_id(); w++)
        open = s->ends[w] ? s->of_wave[w] : open + s->of_wave[w];
    if (simt_thread_id() == simt_block_size() - 1) {
        const real last = crossings ? sum : open + sum;
        if (cut & LAST_CUT && !(rows == 1 && cut & FIRST_CUT))
            s->edge[1] = last;
        else
            finished(p, s, row, cut, rows - 1, last);
    }
    if (crossed) {
        if (simt_lane() > 0)
            open = crossings & simt_lanes_below() ? before : open + before;
        finished(p, s, row, cut, first, open + head);
    }
}

/* Rows without entries, which no strip has. */
DEVICE void put_empty(const struct product *p, int64_t row, int height)
{
    const int64_t mine = row + simt_thread_id();
    if (simt_thread_id() < height && mine < p->rows && offset(p, mine) == offset(p, mine + 1))
        put(p, mine, 0);
}

/* A group that one block takes, strip by strip. */
DEVICE void whole(const struct product *p, real *tile, int64_t row, const int height, off first, int n, const int width)
{
    SHARED(struct strip, s, 1);
    real carry = 0;
    for (int done = 0; done < n; done += FEW * width) {
        const int here = n - done < FEW * width ? n - done : FEW * width;
        stage(p, tile, first + done, here, width, FEW);
        const int rows = find_rows(p, s, row, height, first + done, here);
        simt_sync();
        const int cut = offset(p, row + s->which[rows - 1] + 1) > first + done + here ? LAST_CUT : 0;
        sum_rows(p, tile, s, row, rows, here, cut, carry);
        simt_sync();
        carry = cut ? s->edge[1] : 0;
    }
    put_empty(p, row, height);
}

/* A group that has too many entries for one block is left over, listed piece by piece. */
DEVICE void leave(const struct product *p, int64_t group, off entries)
{
    const struct space s = space_of(p);
    const int32_t pieces = pieces_of(entries);
    if (simt_wave_id() == 0) {
        const int32_t mine = simt_lane() == 0 ? simt_atomic_add(p->counters + WEAVE_LISTED, pieces) : 0;
        const int32_t at = simt_shfl(mine, 0, WAVE);
        for (int32_t i = simt_lane(); i < pieces; i += WAVE) {
            const struct piece piece = {(int32_t)group, i};
            s.list[at + i] = piece;
        }
    }
}

/* A group of `height` rows that are not all short. */
DEVICE void uneven(const struct product *p, real *tile, int64_t group, const int height, const int width)
{
    const int64_t row = group * height;
    const off first = offset(p, row), n = offset(p, row + height) - first;
    if (n > p->fact[WEAVE_LIMIT])
        leave(p, group, n);
    else
        whole(p, tile, row, height, first, (int)n, width);
}

/* ------------------------------------------------------------------ even groups -------------------------------- */

DEVICE void staged(const struct product *p, real *tile, int64_t group, const int lanes, const int width, const int under_way)
{
    const int height = width / lanes, lane = simt_thread_id() % lanes;
    const int64_t row = group * height + simt_thread_id() / lanes;
    const off first = offset(p, group * height), last = offset(p, (group + 1) * height);
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (simt_sync_any(last - first > p->fact[WEAVE_TILE] || end - begin > STAGED * lanes)) {
        uneven(p, tile, group, height, width);
        return;
    }
    stage(p, tile, first, (int)(last - first), width, under_way);
    simt_sync();
    real sum = 0;
    for (int k = (int)(begin - first) + lane; k < (int)(end - first); k += lanes)
        sum += tile[k];
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < p->rows)
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

DEVICE void direct(const struct product *p, real *tile, int64_t group, const int lanes, const int width, const int under_way)
{
    const int height = width / lanes, lane = simt_thread_id() % lanes;
    const int64_t row = group * height + simt_thread_id() / lanes;
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (simt_sync_any(end - begin > LONG * lanes)) {
        uneven(p, tile, group, height, width);
        return;
    }
    real sum = share(p, begin, (int)(end - begin), lane, lanes, under_way);
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < p->rows)
        put(p, row, sum);
}

/* Is a row short enough for a block?  Else it is left over. */
DEVICE int fits(const struct product *p, int64_t row)
{
    const off n = offset(p, row + 1) - offset(p, row);
    if (n > p->fact[WEAVE_LIMIT])
        leave(p, row, n);
    return n <= p->fact[WEAVE_LIMIT];
}

/* A block a row. */
DEVICE void by_block(const struct product *p, int64_t row, const int width)
{
    const off begin = offset(p, row), end = offset(p, row + 1);
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

/* A small matrix, in one launch: rows that are long for their lanes are taken by the block, one after another. */
KERNEL_BOUND(csr_weave_alone, 128)(struct product p)
{
    enum { LANES = 8, HEIGHT = 128 / LANES, MANY = 256 };
    const int64_t group = p.fact[WEAVE_BEGIN] + simt_block_id(), row = group * HEIGHT + simt_thread_id() / LANES;
    const int lane = simt_thread_id() % LANES;
    const off begin = offset(&p, row), end = offset(&p, row + 1);
    const int n = end - begin > MANY ? 0 : (int)(end - begin);
    real sum = share(&p, begin, n, lane, LANES, 4);
    for (int by = LANES / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < p.rows && end - begin <= MANY)
        put(&p, row, sum);
    if (!simt_sync_any(end - begin > MANY))
        return;
    for (int64_t i = group * HEIGHT; i < (group + 1) * HEIGHT; i++)
        if (offset(&p, i + 1) - offset(&p, i) > MANY)
            by_block(&p, i, 128);
}

/* Blocks of so many threads on a multiprocessor: as many as there is room for, or a few less where 64-bit offsets take
 * registers. */
#define FULL(width) (sizeof(off) == 4 ? 2048 / (width) : 1536 / (width))

/* Every way is a kernel. */
#define WAY(name, width, blocks, taken)                              \
    KERNEL_RESIDENT(name, width, blocks)(struct product p)           \
    {                                                                \
        SHARED_DYNAMIC(real, tile);                                  \
        const int64_t group = p.fact[WEAVE_BEGIN] + simt_block_id(); \
        simt_let_next();                                             \
        taken;                                                       \
    }

WAY(csr_weave1_direct, 256, FULL(256), direct(&p, tile, group, 1, 256, 4))
WAY(csr_weave1_deep, 128, 12, direct(&p, tile, group, 1, 128, 8))
WAY(csr_weave32_direct, 128, FULL(128), direct(&p, tile, group, 32, 128, 4))
WAY(csr_weave2, 256, FULL(256), staged(&p, tile, group, 2, 256, 4))
WAY(csr_weave4, 256, 6, staged(&p, tile, group, 4, 256, 8))
WAY(csr_weave8, 128, sizeof(real) == 4 ? FULL(128) : 12, staged(&p, tile, group, 8, 128, sizeof(real) == 4 ? 4 : 8))

KERNEL_RESIDENT(csr_weave_block, 256, 6)(struct product p)
{
    const int64_t row = p.fact[WEAVE_BEGIN] + simt_block_id();
    simt_let_next();
    if (fits(&p, row))
        by_block(&p, row, 256);
}

/* ------------------------------------------------------------------ cut groups --------------------------------- */

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

/* Every piece of the group has left its edges: rows that lie in more than one are put together, each by a wave.  All threads
 * come. */
DEVICE void join(const struct product *p, const struct space *s, int64_t row, int height, off first, int64_t base)
{
    const int t = simt_thread_id() < height ? simt_thread_id() : height;
    const off begin = offset(p, row + t) - first, end = t < height ? offset(p, row + t + 1) - first : begin;
    for (uint64_t todo = simt_ballot(begin < end && begin / PIECE != (end - 1) / PIECE); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1;
        const int64_t from = base + simt_shfl(begin, owner, WAVE) / PIECE;
        const int64_t to = base + (simt_shfl(end, owner, WAVE) - 1) / PIECE;
        real sum = 0;
        for (int64_t i = from + 1 + simt_lane(); i <= to; i += WAVE)
            sum += simt_fresh(s->opened + i);
        sum = wave_sum(sum, WAVE);
        if (simt_lane() == owner)
            put(p, row + t, simt_fresh(s->left + from) + sum);
    }
}

/* A piece of a group.  A cut group has an entry whose number is a multiple of PIECE: which one tells it from all others. */
DEVICE void part(const struct product *p, real *tile, struct strip *strip, struct piece piece)
{
    const struct space s = space_of(p);
    const int height = (int)p->fact[WEAVE_HEIGHT];
    const int64_t row = (int64_t)piece.group * height;
    const off first = offset(p, row), last = offset(p, row + height);
    const off low = first + (off)piece.number * PIECE;
    const int n = last - low > PIECE ? PIECE : (int)(last - low);
    const int64_t slot = pieces_of(first), base = first / PIECE + slot;
    simt_sync();
    stage(p, tile, low, n, MOST, FEW);
    const int rows = find_rows(p, strip, row, height, low, n);
    simt_sync();
    const int cut = (offset(p, row + strip->which[0]) < low ? FIRST_CUT : 0) |
                    (offset(p, row + strip->which[rows - 1] + 1) > low + n ? LAST_CUT : 0);
    sum_rows(p, tile, strip, row, rows, n, cut, 0);
    if (piece.number == 0)
        put_empty(p, row, height);
    simt_sync();
    if (simt_thread_id() == 0) {
        s.opened[base + piece.number] = strip->edge[0];
        s.left[base + piece.number] = strip->edge[1];
    }
    if (comes_last(s.done + slot, pieces_of(last - first)))
        join(p, &s, row, height, first, base);
}

KERNEL_RESIDENT(csr_weave_cut, MOST, 4)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    SHARED(struct strip, strip, 1);
    simt_after_previous();
    const int32_t listed = simt_fresh(p.counters + WEAVE_LISTED);
    if (listed == 0)
        return;
    for (int32_t i = simt_block_id(); i < listed; i += simt_grid_size()) {
        const struct piece *entry = (const struct piece *)p.workspace + i;
        const struct piece piece = {simt_fresh(&entry->group), simt_fresh(&entry->number)};
        part(&p, tile, strip, piece);
    }
    if (comes_last(p.counters + WEAVE_THROUGH, simt_grid_size()) && simt_thread_id() == 0)
        p.counters[WEAVE_LISTED] = 0;
}

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
static const struct way {
    const char *entry;
    int lanes, block, staged;
} ways[] = {
    {NULL, 0, 0, 0},
    {"csr_weave1_direct", 1, 256, 0},
    {"csr_weave1_deep", 1, 128, 0},
    {"csr_weave2", 2, 256, 1},
    {"csr_weave4", 4, 256, 1},
    {"csr_weave8", 8, 128, 1},
    {"csr_weave32_direct", 32, 128, 0},
    {"csr_weave_block", 256, 256, 0},
    {"csr_weave_alone", 8, 128, 0},
};
enum { AUTO, DIRECT_1, DEEP_1, STAGED_2, STAGED_4, STAGED_8, DIRECT_32, BLOCK, ALONE };

static const char *const words[] = {"auto", "1", "1deep", "2", "4", "8", "32", "block", "alone"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1_direct", "csr_weave1_deep", "csr_weave2",         "csr_weave4",
                                      "csr_weave8",        "csr_weave32_direct", "csr_weave_block", "csr_weave_alone",
                                      "csr_weave_cut",     NULL};

/* Small matrices are a matter of latency: one launch, many lanes a row, nothing staged.  Measured on an H200. */
#define SMALL 131072
#define SMALL_LONG_ROWS 1000000
static const struct way *way_of(const struct work *w)
{
    const double mean = (double)w->product.nnz / (double)w->product.rows;
    const int64_t nnz = w->product.nnz;
    const int single = w->value == HEDDLE_F32;
    if (w->option[0])
        return &ways[w->option[0]];
    return &ways[nnz <= SMALL  ? ALONE
                 : mean > 300  ? BLOCK
                 : mean > 40   ? nnz < SMALL_LONG_ROWS ? DIRECT_32 : STAGED_8
                 : mean > 12   ? single && nnz >= SMALL_LONG_ROWS ? STAGED_2 : STAGED_4
                 : mean > 4.5  ? DEEP_1
                               : DIRECT_1];
}

static int64_t height_of(const struct way *way)
{
    return way->block / way->lanes;
}

static int64_t groups_of(const struct work *w)
{
    const int64_t height = height_of(way_of(w));
    return (w->product.rows + height - 1) / height;
}

/* Only groups with more than a piece are cut, so each has at most twice as many pieces as fit. */
static int64_t list_of(const struct work *w)
{
    return 2 * (w->product.nnz / PIECE) + 1;
}

static int64_t workspace(const struct work *w)
{
    return list_of(w) * 8 + 2 * (list_of(w) + 2) * (int64_t)type_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return (WEAVE_DONE + w->product.nnz / PIECE + 2) * (int64_t)sizeof(int32_t);
}

/* A tile has room for what the rows of a block hold on average, and a quarter more, and for what a strip has. */
#define STRIP 4 /* entries a thread */
#define TILE_MOST 3072
static int64_t tile_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t least = STRIP * way->block, usual = w->product.nnz / w->product.rows * height_of(way) * 5 / 4 + 63;
    return !way->staged || usual < least ? least : usual > TILE_MOST ? TILE_MOST : usual & ~(int64_t)31;
}

/* What one block may take so that the others do not wait for it: a strip takes it some 6 us, and the whole product some 6 us
 * for every million entries, so a share of them; but at least two pieces, and four times what its rows hold on average, if
 * that is not too much. */
#define LIMIT_LEAST (2 * PIECE)
#define LIMIT_USUAL (16 * PIECE)
#define LIMIT_SHARE 4096
static int64_t limit_of(const struct work *w)
{
    const int64_t mean = w->product.nnz / w->product.rows + 1, share = w->product.nnz / LIMIT_SHARE;
    const int64_t usual = mean > LIMIT_USUAL / 4 / height_of(way_of(w)) ? LIMIT_USUAL : 4 * mean * height_of(way_of(w));
    const int64_t most = share > usual ? share : usual;
    return most > LIMIT_LEAST ? most : LIMIT_LEAST;
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t groups = groups_of(w), bytes = (int64_t)type_size(w->value);
    const int64_t threads = UINT32_MAX / way->block, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    int64_t *fact = told.product.fact;
    fact[WEAVE_HEIGHT] = height_of(way);
    fact[WEAVE_TILE] = tile_of(w);
    fact[WEAVE_LIMIT] = limit_of(w);
    fact[WEAVE_LIST] = list_of(w);
    fact[WEAVE_SUMS] = list_of(w) + 2;
    for (int64_t begin = 0; begin < groups; begin += most) {
        fact[WEAVE_BEGIN] = begin;
        TRY(gpu_run(&told, way->entry, groups - begin < most ? groups - begin : most, way->block,
                    way->lanes < way->block ? fact[WEAVE_TILE] * bytes : 0));
    }
    if (way == &ways[ALONE])
        goto done;
    TRY(gpu_run_behind(&told, "csr_weave_cut", 4 * (int64_t)info->multiprocessors, 256, PIECE * bytes));
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
