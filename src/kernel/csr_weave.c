/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, in one launch, for any matrix.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014); that the
 *            last of several blocks finishes what they share is an old trick of reductions.  New is that nothing has to be
 *            known about the matrix but its sizes, and that nothing but the product is launched.
 * Balance    a block owns a few neighbouring rows, so many that their entries fill its threads at the mean row length, and
 *            finds them without a search.  It takes their entries tile by tile, whatever their lengths, and then sums rows
 *            by 1, 4 or 8 lanes each, long ones by a whole wave.  Rows that hold more than LIMIT pieces of 2^shift entries
 *            are left alone; for those there are further blocks, strewn among the others, one a piece.  Such a block looks up
 *            the rows that its piece lies in, and leaves at once if their owner does them.  Rows that are cut by the
 *            end of a piece are put together by whichever block of these rows comes last; no block waits for another.
 * Memory     val and col are streamed past the caches, each once and coalesced, with 8 loads a thread under way; x is gathered in the
 *            order of storage.  Sums of cut rows pass through the workspace.
 * Wins       almost everywhere; most where rows are short or very uneven, or the matrix is small.
 * Loses      against formats that store fewer bytes or put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"
#endif

/* What launch tells the device half in product.fact: groups of rows; rounds of 2^EVERY blocks, of which the first takes a
 * piece and the others a group each; the size of a piece, 2^SHIFT, and of a tile; groups an entry, a double. */
enum { WEAVE_GROUPS, WEAVE_ROUNDS, WEAVE_EVERY, WEAVE_SHIFT, WEAVE_TILE, WEAVE_RATIO };

/* Row blocks with more entries than so many pieces are left to the pieces. */
#define LIMIT 2

#ifdef HEDDLE_DEVICE

/* Loads of a thread that are under way together, and entries a lane may have to sum before the wave helps. */
#define UNDER_WAY 8
#define LONG 24

/* The matrix, and where this thread stands in it: it is lane `lane` of the `lanes` that sum the row [begin, end), one of the
 * rows of its block.  Positions are counted from the first entry that the block looks at. */
struct strand {
    const idx *RESTRICT col;
    const real *RESTRICT val, *RESTRICT x;
    real *tile;
    int size, lanes, lane; /* size: of the tile */
    int begin, end;
};

/* The products of n entries into the tile.  Threads behind the end repeat the last entry, so that no load depends on a
 * condition. */
DEVICE void stage(const struct strand *s, int64_t from, int n)
{
    const int width = simt_block_size();
    for (int first = simt_thread_id(); first < n; first += width * UNDER_WAY) {
        idx c[UNDER_WAY];
        real v[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            const int k = first + i * width < n ? first + i * width : n - 1;
            c[i] = simt_stream(s->col + from + k);
            v[i] = simt_stream(s->val + from + k);
        }
        for (int i = 0; i < UNDER_WAY; i++)
            v[i] *= simt_readonly(s->x + c[i]);
        for (int i = 0; i < UNDER_WAY; i++)
            if (first + i * width < n)
                s->tile[first + i * width] = v[i];
    }
}

/* What the tile holds of the row, [begin, end) of it, as shares of the row's lanes.  A wave sums long rows together. */
DEVICE real from_tile(const struct strand *s, int begin, int end)
{
    const int is_long = end - begin > LONG * s->lanes;
    uint64_t todo = simt_ballot(is_long && s->lane == 0);
    real sum = 0;
    if (!is_long)
        for (int k = begin + s->lane; k < end; k += s->lanes)
            sum += s->tile[k];
    while (todo) {
        const int owner = simt_ffs(todo) - 1, from = simt_shfl(begin, owner, WAVE), to = simt_shfl(end, owner, WAVE);
        real share = 0;
        for (int k = from + simt_lane(); k < to; k += WAVE)
            share += s->tile[k];
        share = wave_sum(share, WAVE);
        if (simt_lane() == owner)
            sum = share;
        todo &= todo - 1;
    }
    return sum;
}

/* The sum of the row over the n entries that begin at `from`, in its first lane. */
DEVICE real row_sum(const struct strand *s, int64_t from, int n)
{
    real sum = 0;
    for (int done = 0; done < n; done += s->size) {
        const int here = n - done < s->size ? n - done : s->size;
        if (done > 0)
            simt_sync();
        stage(s, from + done, here);
        simt_sync();
        const int begin = s->begin - done, end = s->end - done;
        sum += from_tile(s, begin > 0 ? begin : 0, end < here ? end : here);
    }
    for (int by = s->lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* The same where a row has the whole block: nothing is staged. */
DEVICE real row_sum_of_block(const struct strand *s, int64_t from, int n)
{
    const int width = simt_block_size();
    real sum = 0;
    for (int first = simt_thread_id(); first < n; first += width * UNDER_WAY) {
        idx c[UNDER_WAY];
        real v[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            const int k = first + i * width < n ? first + i * width : n - 1;
            c[i] = simt_stream(s->col + from + k);
            v[i] = simt_stream(s->val + from + k);
        }
        for (int i = 0; i < UNDER_WAY; i++)
            v[i] *= simt_readonly(s->x + c[i]);
        for (int i = 0; i < UNDER_WAY; i++)
            sum += first + i * width < n ? v[i] : 0;
    }
    return block_sum(sum);
}

/* A row of at most `most` entries a lane, read without staging; valid in every lane.  Lanes behind the end repeat the last
 * entry; an empty row takes the one before it, or the first of all. */
DEVICE real row_sum_direct(const struct strand *s, int64_t from, const int most)
{
    const idx *RESTRICT col = s->col + from;
    const real *RESTRICT val = s->val + from;
    const int least = from > 0 ? -1 : 0;
    real sum = 0, v[4];
    idx c[4];
    for (int i = 0; i < most; i++) {
        int k = s->begin + s->lane + i * s->lanes;
        k = k < s->end ? k : s->end - 1;
        k = k > least ? k : least;
        c[i] = simt_readonly(col + k);
        v[i] = simt_readonly(val + k);
    }
    for (int i = 0; i < most; i++)
        v[i] *= simt_readonly(s->x + c[i]);
    for (int i = 0; i < most; i++)
        sum += s->begin + s->lane + i * s->lanes < s->end ? v[i] : 0;
    for (int by = s->lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* The last group of `height` rows that begins at or before entry `at`.  All waves do the same; where rows are of similar
 * lengths a first look finds it. */
DEVICE int64_t group_of(const struct product *p, int height, int64_t at)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    int64_t low = 0, high = p->fact[WEAVE_GROUPS];
    double ratio;
    __builtin_memcpy(&ratio, &p->fact[WEAVE_RATIO], sizeof ratio);
    const int64_t first = (int64_t)((double)at * ratio) - WAVE / 2;
    if (first > 0 && first + WAVE < high) {
        const uint64_t before = simt_ballot((int64_t)simt_readonly(row_ptr + (first + simt_lane()) * height) <= at);
        const int n = simt_popc(before);
        if (n > 0 && n < WAVE)
            return first + n - 1;
        low = n ? first + WAVE - 1 : 0;
        high = n ? high : first;
    }
    while (high - low > 1) {
        const int64_t step = (high - low + WAVE - 1) / WAVE, i = low + simt_lane() * step;
        const uint64_t before = simt_ballot(i < high && (int64_t)simt_readonly(row_ptr + (i < high ? i : low) * height) <= at);
        low += (simt_popc(before) - 1) * step;
        high = low + step < high ? low + step : high;
    }
    return low;
}

/* Where sums of cut rows pass: of the row that was open when piece i began, and of the one that is open when it ends. */
struct passing {
    real *opened, *left;
};

/* Every block of these rows has left its sums: rows that lie in more than one piece are put together, each by a wave. */
DEVICE void join(const struct product *p, const struct strand *s, const struct passing *through, int64_t row, int64_t begin,
                 int64_t end)
{
    const int shift = (int)p->fact[WEAVE_SHIFT];
    uint64_t todo = simt_ballot(s->lane == 0 && begin < end && begin >> shift != (end - 1) >> shift);
    while (todo) {
        const int owner = simt_ffs(todo) - 1;
        const int64_t first = simt_shfl(begin, owner, WAVE) >> shift, last = (simt_shfl(end, owner, WAVE) - 1) >> shift;
        real sum = 0;
        for (int64_t i = first + 1 + simt_lane(); i <= last; i += WAVE)
            sum += simt_fresh(through->opened + i);
        sum = wave_sum(sum, WAVE);
        if (simt_lane() == owner)
            store((real *)p->y + row, scalar(p->alpha), sum + simt_fresh(through->left + first), scalar(p->beta));
        todo &= todo - 1;
    }
}

/* Counts the blocks that are through with their piece of the rows [first, last); true in all threads of the last one. */
DEVICE int comes_last(const struct product *p, int64_t first, int64_t last)
{
    SHARED(int32_t, turn, 1);
    const int shift = (int)p->fact[WEAVE_SHIFT];
    int32_t *counter = p->counters + (first >> shift) + 1; /* that piece lies in these rows alone */
    simt_fence();
    simt_sync();
    if (simt_thread_id() == 0) {
        *turn = simt_atomic_add(counter, 1);
        if (*turn == (int32_t)(((last - 1) >> shift) - (first >> shift)))
            *counter = 0;
    }
    simt_sync();
    simt_fence();
    return *turn == (int32_t)(((last - 1) >> shift) - (first >> shift));
}

/* The rows of a group: all of them where the block owns it (piece < 0), or what lies in a piece of a group that is too large for
 * its owner. */
DEVICE void rows_of(const struct product *p, struct strand *s, int64_t group, int64_t piece, const int direct, const int whole)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int shift = (int)p->fact[WEAVE_SHIFT], height = simt_block_size() / s->lanes, owned = piece < 0;
    const int64_t row = group * height + simt_thread_id() / s->lanes, past = (group + 1) * height;
    const int64_t begin = row_ptr[row < p->rows ? row : p->rows], end = row_ptr[row + 1 < p->rows ? row + 1 : p->rows];
    const int64_t first = row_ptr[group * height], last = row_ptr[past < p->rows ? past : p->rows];
    const int large = last - first > (int64_t)LIMIT << shift, mine = s->lane == 0 && row < p->rows;
    int64_t low = first, high = last;
    real sum = 0;
    if (owned == large) {
        if (owned && mine && begin == end)
            store((real *)p->y + row, scalar(p->alpha), 0, scalar(p->beta));
        return;
    }
    if (!owned) {
        low = first > piece << shift ? first : piece << shift;
        high = last < (piece + 1) << shift ? last : (piece + 1) << shift;
    }
    s->begin = (int)(begin < low ? 0 : begin > high ? high - low : begin - low);
    s->end = (int)(end < low ? 0 : end > high ? high - low : end - low);
    if (direct && owned && block_max_int(s->end - s->begin) <= direct * s->lanes)
        sum = row_sum_direct(s, first, direct);
    else if (whole)
        sum = row_sum_of_block(s, low, (int)(high - low));
    else
        sum = row_sum(s, low, (int)(high - low));
    if (mine && begin >= low && end <= high && (owned || begin < end))
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
    if (owned)
        return;
    const struct passing through = {(real *)p->workspace, (real *)p->workspace + (p->nnz >> shift) + 1};
    if (mine && begin < low && end > low)
        through.opened[piece] = sum;
    else if (mine && begin >= low && begin < high && end > high)
        through.left[piece] = sum;
    if (comes_last(p, first, last))
        join(p, s, &through, row, begin, end);
    simt_sync();
}

/* Block by block.  `direct` entries a lane are read without staging where no row of the group has more; `whole`: the block has
 * one row. */
DEVICE void weave(const struct product *p, real *tile, const int lanes, const int direct, const int whole)
{
    const int every = (int)p->fact[WEAVE_EVERY], shift = (int)p->fact[WEAVE_SHIFT], height = simt_block_size() / lanes;
    struct strand s = {(const idx *)p->array[CSR_COL], (const real *)p->array[CSR_VAL], (const real *)p->x, tile,
                       (int)p->fact[WEAVE_TILE], lanes, simt_thread_id() % lanes, 0, 0};
    for (int64_t task = simt_block_id(); task < p->fact[WEAVE_ROUNDS] << every; task += simt_grid_size()) {
        const int64_t round = task >> every;
        int64_t group = task - round - 1, last = group, piece = -1;
        if (round << every == task) {
            const int64_t past = (round + 1) << shift;
            if (round << shift >= p->nnz)
                continue;
            piece = round;
            group = group_of(p, height, round << shift);
            last = group_of(p, height, (past < p->nnz ? past : p->nnz) - 1);
        }
        for (; group < p->fact[WEAVE_GROUPS] && group <= last; group = group < last ? last : last + 1) {
            if (task >= simt_grid_size())
                simt_sync();
            rows_of(p, &s, group, piece, direct, whole);
        }
    }
}

KERNEL(csr_weave1_direct)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 1, 4, 0);
}
KERNEL_BOUND(csr_weave1, 64)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 1, 0, 0);
}
KERNEL_BOUND(csr_weave4, 256)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 4, 0, 0);
}
KERNEL_BOUND(csr_weave8, 256)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 8, 0, 0);
}
KERNEL_BOUND(csr_weave8_direct, 128)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 8, 4, 0);
}
KERNEL_BOUND(csr_weave32_direct, 128)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 32, 4, 0);
}
KERNEL_BOUND(csr_weave_row, 256)(struct product p)
{
    weave(&p, 0, simt_block_size(), 0, 1);
}

#else
#include <string.h>

#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and 0 the one for the mean row length. */
static const struct way {
    const char *entry;
    int lanes, block;
} ways[] = {
    {NULL, 0, 0},
    {"csr_weave1_direct", 1, 128},
    {"csr_weave1", 1, 64},
    {"csr_weave4", 4, 256},
    {"csr_weave8", 8, 256},
    {"csr_weave8_direct", 8, 128},
    {"csr_weave32_direct", 32, 128},
    {"csr_weave_row", 256, 256},
};

static const char *const words[] = {"auto", "1d", "1", "4", "8", "8d", "32d", "row"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1_direct",  "csr_weave1",    "csr_weave4", "csr_weave8", "csr_weave8_direct",
                                      "csr_weave32_direct", "csr_weave_row", NULL};

/* Small matrices are a matter of latency: as many lanes as the mean row has entries, and nothing staged.  Measured on an H200. */
#define SMALL 100000
#define SMALL_LONG_ROWS 1000000
static const struct way *way_of(const struct work *w)
{
    const double mean = (double)w->product.nnz / (double)w->product.rows;
    if (w->option[0])
        return &ways[w->option[0]];
    if (mean > 300)
        return &ways[7];
    if (mean > 40)
        return &ways[w->product.nnz < SMALL_LONG_ROWS ? 6 : 4];
    if (w->product.nnz < SMALL)
        return &ways[5];
    return &ways[mean > 12 ? 3 : mean > 3 ? 2 : 1];
}

/* Pieces of 2^shift entries: few enough not to disturb even matrices, small enough that one is not waited for. */
static int shift_of(const struct work *w)
{
    int shift = 10;
    while (shift < 13 && w->product.nnz >> shift > 2048)
        shift++;
    return shift;
}

static int64_t pieces_of(const struct work *w)
{
    return (w->product.nnz >> shift_of(w)) + 1;
}

static int64_t workspace(const struct work *w)
{
    return 2 * pieces_of(w) * (int64_t)type_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return (pieces_of(w) + 1) * (int64_t)sizeof(int32_t);
}

/* A tile has room for what the rows of a block hold on average, and a quarter more. */
#define TILE_LEAST 256
#define TILE_MOST 2560
static heddle_status launch(const struct work *w)
{
    const struct way *way = way_of(w);
    struct work told = *w;
    const int64_t height = way->block / way->lanes, groups = (w->product.rows + height - 1) / height, pieces = pieces_of(w);
    const double mean = (double)w->product.nnz / (double)w->product.rows, ratio = (double)groups / (double)w->product.nnz;
    int64_t every = 1;
    while (((int64_t)1 << (every + 1)) - 1 <= groups / pieces)
        every++;
    const int64_t others = ((int64_t)1 << every) - 1, enough = (groups + others - 1) / others;
    const int64_t rounds = enough > pieces ? enough : pieces;
    int64_t tile = (int64_t)(mean * (double)height * 1.25) + 63, most = gpu_info_of(w->device->gpu)->grid;
    tile = tile < TILE_LEAST ? TILE_LEAST : tile > TILE_MOST ? TILE_MOST : tile & ~(int64_t)31;
    told.product.fact[WEAVE_GROUPS] = groups;
    told.product.fact[WEAVE_ROUNDS] = rounds;
    told.product.fact[WEAVE_EVERY] = every;
    told.product.fact[WEAVE_SHIFT] = shift_of(w);
    told.product.fact[WEAVE_TILE] = tile;
    memcpy(&told.product.fact[WEAVE_RATIO], &ratio, sizeof ratio);
    most = most < UINT32_MAX / way->block ? most : UINT32_MAX / way->block;
    return gpu_run(&told, way->entry, rounds << every < most ? rounds << every : most, way->block,
                   way->lanes < way->block ? tile * (int64_t)type_size(w->value) : 0);
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
