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

/* Loads of a thread that are under way together, at most, and entries a lane may have to sum before the wave helps. */
#define UNDER_WAY 8
#define LONG 24

/* The matrix, and where this thread stands in it: it is lane `lane` of the `lanes` that sum the row [begin, end), one of the
 * rows of its block, which has `width` threads.  Positions are counted from the first entry that the block looks at. */
struct strand {
    const idx *RESTRICT col;
    const real *RESTRICT val, *RESTRICT x;
    real *tile;
    int size, width, under_way, lanes, lane; /* size: of the tile */
    int begin, end;
};

/* The products of entries first, first + width, ... below n; those behind the end are 0 and nothing is read for them. */
DEVICE void products(real *v, const struct strand *s, int64_t from, int first, int n)
{
    const idx *RESTRICT col = s->col + from + first;
    const real *RESTRICT val = s->val + from + first;
    idx c[UNDER_WAY];
    for (int i = 0; i < s->under_way; i++) {
        c[i] = simt_stream_if(first + i * s->width < n, col + i * s->width);
        v[i] = simt_stream_if(first + i * s->width < n, val + i * s->width);
    }
    for (int i = 0; i < s->under_way; i++)
        v[i] = first + i * s->width < n ? v[i] * simt_readonly(s->x + c[i]) : 0;
}

/* The products of n entries into the tile. */
DEVICE void stage(const struct strand *s, int64_t from, int n)
{
    for (int first = simt_thread_id(); first < n; first += s->width * s->under_way) {
        real v[UNDER_WAY];
        products(v, s, from, first, n);
        for (int i = 0; i < s->under_way; i++)
            if (first + i * s->width < n)
                s->tile[first + i * s->width] = v[i];
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
    real sum = 0;
    for (int first = simt_thread_id(); first < n; first += s->width * s->under_way) {
        real v[UNDER_WAY];
        products(v, s, from, first, n);
        for (int i = 0; i < s->under_way; i++)
            sum += v[i];
    }
    return block_sum(sum);
}

/* A row of at most `most` entries a lane, read without staging; valid in every lane. */
DEVICE real row_sum_direct(const struct strand *s, int64_t from, const int most)
{
    const idx *RESTRICT col = s->col + from + s->begin + s->lane;
    const real *RESTRICT val = s->val + from + s->begin + s->lane;
    const int n = s->end - s->begin - s->lane;
    real sum = 0, v[4];
    idx c[4];
    for (int i = 0; i < most; i++) {
        c[i] = i * s->lanes < n ? simt_readonly(col + i * s->lanes) : 0;
        v[i] = i * s->lanes < n ? simt_readonly(val + i * s->lanes) : 0;
    }
    for (int i = 0; i < most; i++)
        sum += i * s->lanes < n ? v[i] * simt_readonly(s->x + c[i]) : 0;
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

/* Counts the blocks that are through with their piece of the entries [first, last) of a group; true in all threads of the last
 * one. */
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

DEVICE int64_t offset(const struct product *p, int64_t row)
{
    return ((const off *)p->array[CSR_ROW_PTR])[row < p->rows ? row : p->rows];
}

DEVICE int too_large(const struct product *p, int64_t first, int64_t last)
{
    return last - first > (int64_t)LIMIT << p->fact[WEAVE_SHIFT];
}

/* The rows of a group, by the block that owns it. */
DEVICE void rows_of(const struct product *p, struct strand *s, int64_t group, const int direct, const int whole)
{
    const int height = s->width / s->lanes;
    const int64_t row = group * height + simt_thread_id() / s->lanes;
    const int64_t begin = offset(p, row), end = offset(p, row + 1);
    const int64_t first = offset(p, group * height), last = offset(p, (group + 1) * height);
    const int large = too_large(p, first, last);
    real sum = 0;
    s->begin = (int)(begin - first);
    s->end = (int)(end - first);
    if (large)
        sum = 0; /* only for the rows that have no entries, which no piece meets */
    else if (direct && block_max_int(s->end - s->begin) <= direct * s->lanes)
        sum = row_sum_direct(s, first, direct);
    else if (whole)
        sum = row_sum_of_block(s, first, (int)(last - first));
    else
        sum = row_sum(s, first, (int)(last - first));
    if (s->lane == 0 && row < p->rows && (!large || s->begin == s->end))
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

/* What a piece means to a row: nothing, all of it, its end (and more before), its begin (and more to come). */
enum { NOTHING, ALL, OPENED, LEFT };

/* What lies in a piece of the rows of a group that is too large for its owner. */
DEVICE void piece_of(const struct product *p, struct strand *s, int64_t group, int64_t piece, const int whole)
{
    const int shift = (int)p->fact[WEAVE_SHIFT], height = s->width / s->lanes;
    const int64_t row = group * height + simt_thread_id() / s->lanes;
    int64_t low = offset(p, group * height), high = offset(p, (group + 1) * height), begin = offset(p, row), end = offset(p, row + 1);
    if (!too_large(p, low, high))
        return;
    low = low > piece << shift ? low : piece << shift;
    high = high < (piece + 1) << shift ? high : (piece + 1) << shift;
    const int part = begin == end || begin >= high || end <= low ? NOTHING : begin < low ? OPENED : end > high ? LEFT : ALL;
    s->begin = (int)(begin < low ? 0 : begin > high ? high - low : begin - low);
    s->end = (int)(end < low ? 0 : end > high ? high - low : end - low);
    const real sum = whole ? row_sum_of_block(s, low, (int)(high - low)) : row_sum(s, low, (int)(high - low));
    const struct passing through = {(real *)p->workspace, (real *)p->workspace + (p->nnz >> shift) + 1};
    if (s->lane == 0 && part == ALL)
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
    if (s->lane == 0 && part == OPENED)
        through.opened[piece] = sum;
    if (s->lane == 0 && part == LEFT)
        through.left[piece] = sum;
    if (comes_last(p, offset(p, group * height), offset(p, (group + 1) * height)))
        join(p, s, &through, row, offset(p, row), offset(p, row + 1));
    simt_sync();
}

/* Block by block.  `direct` entries a lane are read without staging where no row of the group has more; `whole`: the block has
 * one row.  The numbers are constants, so that every address is one register and a constant. */
DEVICE void weave(const struct product *p, real *tile, const int width, const int lanes, const int direct, const int whole)
{
    const int every = (int)p->fact[WEAVE_EVERY], shift = (int)p->fact[WEAVE_SHIFT], height = width / lanes;
    struct strand s = {(const idx *)p->array[CSR_COL], (const real *)p->array[CSR_VAL], (const real *)p->x, tile,
                       (int)p->fact[WEAVE_TILE], width, direct ? 4 : UNDER_WAY, lanes, simt_thread_id() % lanes,
                       0, 0};
    for (int64_t task = simt_block_id(); task < p->fact[WEAVE_ROUNDS] << every; task += simt_grid_size()) {
        const int64_t round = task >> every;
        if (task >= simt_grid_size())
            simt_sync();
        if (round << every != task) {
            if (task - round - 1 < p->fact[WEAVE_GROUPS])
                rows_of(p, &s, task - round - 1, direct, whole);
        } else if (round << shift < p->nnz) {
            struct strand few = s; /* fewer loads under way: these blocks must not take registers from the others */
            few.under_way = 4;
            const int64_t past = (round + 1) << shift, end = group_of(p, height, (past < p->nnz ? past : p->nnz) - 1);
            for (int64_t group = group_of(p, height, round << shift); group <= end; group = group < end ? end : end + 1)
                piece_of(p, &few, group, round, whole);
        }
    }
}

/* Blocks on a multiprocessor: as many as do not make the compiler spill, for f32_i32 and the others. */
#define EACH(small, large) (sizeof(real) + sizeof(off) == 8 ? small : large)

KERNEL_RESIDENT(csr_weave1_direct, 128, EACH(9, 8))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 128, 1, 4, 0);
}
KERNEL_RESIDENT(csr_weave1, 64, EACH(20, 18))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 64, 1, 0, 0);
}
KERNEL_RESIDENT(csr_weave4, 256, EACH(5, 4))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 256, 4, 0, 0);
}
KERNEL_RESIDENT(csr_weave8, 256, EACH(5, 4))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 256, 8, 0, 0);
}
KERNEL_RESIDENT(csr_weave8_direct, 128, 8)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 128, 8, 4, 0);
}
KERNEL_RESIDENT(csr_weave32_direct, 128, 8)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    weave(&p, tile, 128, 32, 4, 0);
}
KERNEL_RESIDENT(csr_weave_row, 256, EACH(5, 4))(struct product p)
{
    weave(&p, 0, 256, 256, 0, 1);
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
