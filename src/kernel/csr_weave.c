/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, with nothing prepared, for any matrix.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014); that the
 *            last of several blocks finishes what they share is an old trick of reductions.
 * Balance    a block owns a group of neighbouring rows, so many that their entries fill its threads at the mean row length: it
 *            finds them without a search.  It takes their entries tile by tile, whatever their lengths, and then sums each row
 *            by 1, 4 or 8 lanes, a long one by a whole wave.  Very short rows, and those of small matrices, are summed where
 *            they are read.  A group that holds too many entries for one block is only listed, and a second kernel, of a few
 *            blocks, deals the listed entries out in equal pieces; most matrices list nothing, and it leaves at once.  Rows
 *            that are cut between pieces are put together by whichever block comes last; no block waits for another.
 * Memory     val and col are streamed past the caches, each once and coalesced, with up to 8 loads a thread under way; x
 *            is gathered in the order of storage.
 * Wins       short rows of similar length, tiny matrices.
 * Loses      skewed rows: those too long for their lanes, but not for a block, are summed one after another; and against
 *            formats that store fewer bytes or put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */

/* What launch tells the device half in product.fact: the first group; rows of a group; entries of a tile; entries that a
 * group may have, and of a piece, 2^SHIFT; how many groups may be listed at most, and how many pieces they may have. */
enum { WEAVE_BEGIN, WEAVE_HEIGHT, WEAVE_TILE, WEAVE_LIMIT, WEAVE_SHIFT, WEAVE_GROUPS, WEAVE_PIECES };

/* counters: what is listed so far, the groups in the upper and their pieces in the lower half; blocks that are through with
 * the list; and for each listed group how many of its pieces are done. */
enum { WEAVE_LISTED, WEAVE_THROUGH = 2, WEAVE_DONE = 4 };

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define LONG 24 /* entries that a lane sums at most before the wave helps */

/* A listed group, and the first of its pieces in the order of the list. */
struct listed {
    int32_t group, piece;
};

/* The list, and the sums of cut rows: of the row that was open when piece i began, and of the one that is open at its end. */
struct space {
    struct listed *list;
    real *opened, *left;
};

DEVICE struct space space_of(const struct product *p)
{
    real *sums = (real *)((struct listed *)p->workspace + p->fact[WEAVE_GROUPS]);
    const struct space s = {(struct listed *)p->workspace, sums, sums + p->fact[WEAVE_PIECES]};
    return s;
}

DEVICE int64_t offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

/* ------------------------------------------------------------------ a tile of products ------------------------- */

/* The products of n entries that begin at `from`, into the tile, by the `width` threads of the block. */
DEVICE void stage(const struct product *p, real *tile, int64_t from, int n, const int width, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x;
    for (int first = simt_thread_id(); first < n; first += width * under_way) {
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + first;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + first;
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = simt_stream_if(first + i * width < n, col + i * width);
            v[i] = simt_stream_if(first + i * width < n, val + i * width);
        }
        for (int i = 0; i < under_way; i++)
            if (first + i * width < n)
                tile[first + i * width] = v[i] * simt_readonly(x + c[i]);
    }
}

/* The entries [begin, end) of the tile, one row, as shares of its lanes.  A wave sums long rows together. */
DEVICE real from_tile(const real *tile, int begin, int end, int lane, const int lanes)
{
    const int is_long = end - begin > LONG * lanes;
    uint64_t todo = simt_ballot(is_long && lane == 0);
    real sum = 0;
    if (!is_long)
        for (int k = begin + lane; k < end; k += lanes)
            sum += tile[k];
    for (; todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1, from = simt_shfl(begin, owner, WAVE), to = simt_shfl(end, owner, WAVE);
        real share = 0;
        for (int k = from + simt_lane(); k < to; k += WAVE)
            share += tile[k];
        share = wave_sum(share, WAVE);
        if (simt_lane() == owner)
            sum = share;
    }
    return sum;
}

/* The sum over n entries that begin at `from`, as far as they lie in the row [begin, end), counted from there: in its first
 * lane. */
DEVICE real row_sum(const struct product *p, real *tile, int64_t from, int n, int begin, int end, int lane, const int lanes,
                    const int width, const int under_way)
{
    const int size = (int)p->fact[WEAVE_TILE];
    real sum = 0;
    for (int done = 0; done < n; done += size) {
        const int here = n - done < size ? n - done : size;
        if (done > 0)
            simt_sync();
        stage(p, tile, from + done, here, width, under_way);
        simt_sync();
        sum += from_tile(tile, begin > done ? begin - done : 0, end - done < here ? end - done : here, lane, lanes);
    }
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* ------------------------------------------------------------------ groups of rows ----------------------------- */

/* Puts the group on the list if it has too many entries; all of its rows are then left alone but those without any. */
DEVICE int enlisted(const struct product *p, int64_t group, int64_t first, int64_t last, int64_t row, int lane, int empty)
{
    if (last - first <= p->fact[WEAVE_LIMIT])
        return 0;
    if (simt_thread_id() == 0) {
        const int shift = (int)p->fact[WEAVE_SHIFT];
        const int64_t pieces = ((last - 1) >> shift) - (first >> shift) + 1;
        const uint64_t more = ((uint64_t)1 << 32) + (uint64_t)pieces;
        const uint64_t before = simt_atomic_add((uint64_t *)(p->counters + WEAVE_LISTED), more);
        const struct listed entry = {(int32_t)group, (int32_t)before};
        ((struct listed *)p->workspace)[before >> 32] = entry;
    }
    if (lane == 0 && row < p->rows && empty)
        store((real *)p->y + row, scalar(p->alpha), 0, scalar(p->beta));
    return 1;
}

DEVICE void staged(const struct product *p, real *tile, const int lanes, const int width)
{
    const int height = width / lanes, lane = simt_thread_id() % lanes;
    const int64_t group = p->fact[WEAVE_BEGIN] + simt_block_id(), row = group * height + simt_thread_id() / lanes;
    const int64_t first = offset(p, group * height), last = offset(p, (group + 1) * height);
    const int64_t begin = offset(p, row), end = offset(p, row + 1);
    if (enlisted(p, group, first, last, row, lane, begin == end))
        return;
    const int n = (int)(last - first), from = (int)(begin - first), to = (int)(end - first);
    const real sum = row_sum(p, tile, first, n, from, to, lane, lanes, width, 8);
    if (lane == 0 && row < p->rows)
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

/* `lanes` lanes a row read its entries in rounds of 4 each; rows with more than LONG a lane are read by the wave. */
DEVICE real read_row(const struct product *p, int64_t from, int n, int lane, const int lanes)
{
    const real *RESTRICT x = (const real *)p->x;
    real sum = 0;
    for (int k = lane; k < n; k += 4 * lanes) {
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + k;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + k;
        idx c[4];
        real v[4];
        for (int i = 0; i < 4; i++) {
            c[i] = k + i * lanes < n ? simt_readonly(col + i * lanes) : 0;
            v[i] = k + i * lanes < n ? simt_readonly(val + i * lanes) : 0;
        }
        for (int i = 0; i < 4; i++)
            sum += k + i * lanes < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    return sum;
}

DEVICE void direct(const struct product *p, const int lanes, const int width)
{
    const int height = width / lanes, lane = simt_thread_id() % lanes;
    const int64_t group = p->fact[WEAVE_BEGIN] + simt_block_id(), row = group * height + simt_thread_id() / lanes;
    const int64_t first = offset(p, group * height), last = offset(p, (group + 1) * height);
    const int64_t begin = offset(p, row), end = offset(p, row + 1);
    if (enlisted(p, group, first, last, row, lane, begin == end))
        return;
    const int n = (int)(end - begin), is_long = n > LONG * lanes;
    real sum = read_row(p, begin, is_long ? 0 : n, lane, lanes);
    for (uint64_t todo = simt_ballot(is_long && lane == 0); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1;
        const real share = read_row(p, simt_shfl(begin, owner, WAVE), simt_shfl(n, owner, WAVE), simt_lane(), WAVE);
        const real whole = wave_sum(share, WAVE);
        if (simt_lane() == owner)
            sum = whole;
    }
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < p->rows)
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

/* A block a row. */
DEVICE void by_block(const struct product *p, const int width)
{
    const int64_t row = p->fact[WEAVE_BEGIN] + simt_block_id(), begin = offset(p, row), end = offset(p, row + 1);
    const real *RESTRICT x = (const real *)p->x;
    real sum = 0;
    if (enlisted(p, row, begin, end, row, simt_thread_id(), 0))
        return;
    const int n = (int)(end - begin);
    for (int k = simt_thread_id(); k < n; k += 8 * width) {
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin + k;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin + k;
        idx c[8];
        real v[8];
        for (int i = 0; i < 8; i++) {
            c[i] = simt_stream_if(k + i * width < n, col + i * width);
            v[i] = simt_stream_if(k + i * width < n, val + i * width);
        }
        for (int i = 0; i < 8; i++)
            sum += k + i * width < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    sum = block_sum(sum);
    if (simt_thread_id() == 0)
        store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

/* Blocks on a multiprocessor: as many as do not make the compiler spill, for f32_i32 and the others. */
#define EACH(small, large) (sizeof(real) + sizeof(off) == 8 ? small : large)

KERNEL_RESIDENT(csr_weave1_direct, 128, 12)(struct product p)
{
    direct(&p, 1, 128);
}
KERNEL_RESIDENT(csr_weave8_direct, 128, 10)(struct product p)
{
    direct(&p, 8, 128);
}
KERNEL_RESIDENT(csr_weave32_direct, 128, 10)(struct product p)
{
    direct(&p, 32, 128);
}
KERNEL_RESIDENT(csr_weave1, 64, EACH(24, 18))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    staged(&p, tile, 1, 64);
}
KERNEL_RESIDENT(csr_weave4, 256, EACH(6, 4))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    staged(&p, tile, 4, 256);
}
KERNEL_RESIDENT(csr_weave8, 256, EACH(6, 4))(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    staged(&p, tile, 8, 256);
}
KERNEL_RESIDENT(csr_weave_block, 256, 4)(struct product p)
{
    by_block(&p, 256);
}

/* ------------------------------------------------------------------ what is listed ----------------------------- */

#define PIECE_WIDTH 256

/* Every piece of the group has left its sums: rows that lie in more than one are put together, each by a wave.  Its pieces are
 * `shown` to `shown` + those of the group; entries are cut at multiples of 2^shift. */
DEVICE void join(const struct product *p, const struct space *s, int64_t shown, int64_t row, int64_t begin, int64_t end)
{
    const int shift = (int)p->fact[WEAVE_SHIFT];
    for (uint64_t todo = simt_ballot(begin < end && begin >> shift != (end - 1) >> shift); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1;
        const int64_t first = shown + (simt_shfl(begin, owner, WAVE) >> shift);
        const int64_t last = shown + ((simt_shfl(end, owner, WAVE) - 1) >> shift);
        real sum = 0;
        for (int64_t i = first + 1 + simt_lane(); i <= last; i += WAVE)
            sum += simt_fresh(s->opened + i);
        sum = wave_sum(sum, WAVE);
        if (simt_lane() == owner)
            store((real *)p->y + row, scalar(p->alpha), sum + simt_fresh(s->left + first), scalar(p->beta));
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

/* Piece `piece` of the list, which belongs to entry `at` of it. */
DEVICE void one_piece(const struct product *p, real *tile, const struct space *s, int64_t at, int64_t piece)
{
    const int shift = (int)p->fact[WEAVE_SHIFT], height = (int)p->fact[WEAVE_HEIGHT];
    const struct listed entry = {simt_fresh(&s->list[at].group), simt_fresh(&s->list[at].piece)};
    const int64_t row = (int64_t)entry.group * height + simt_thread_id(), past = (int64_t)(entry.group + 1) * height;
    const int64_t first = offset(p, (int64_t)entry.group * height), last = offset(p, past);
    const int64_t begin = simt_thread_id() < height ? offset(p, row) : last;
    const int64_t end = simt_thread_id() < height ? offset(p, row + 1) : last;
    const int64_t shown = entry.piece - (first >> shift), cut = piece - shown; /* cut: the piece lies at cut << shift */
    const int64_t low = first > cut << shift ? first : cut << shift;
    const int64_t high = last < (cut + 1) << shift ? last : (cut + 1) << shift;
    const int begin_here = (int)(begin < low ? 0 : begin > high ? high - low : begin - low);
    const int end_here = (int)(end < low ? 0 : end > high ? high - low : end - low);
    const real sum = row_sum(p, tile, low, (int)(high - low), begin_here, end_here, 0, 1, PIECE_WIDTH, 4);
    if (begin < end && begin < high && end > low) {
        if (begin < low)
            s->opened[piece] = sum;
        else if (end > high)
            s->left[piece] = sum;
        else
            store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
    }
    if (comes_last(p->counters + WEAVE_DONE + at, (int32_t)(((last - 1) >> shift) - (first >> shift) + 1)))
        join(p, s, shown, row, begin, end);
    simt_sync();
}

/* The entry of the list that a piece belongs to: the last that begins at or before it. */
DEVICE int64_t entry_of(const struct listed *list, int64_t entries, int64_t piece)
{
    int64_t low = 0, high = entries;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (simt_fresh(&list[middle].piece) <= piece)
            low = middle;
        else
            high = middle;
    }
    return low;
}

KERNEL_RESIDENT(csr_weave_listed, PIECE_WIDTH, 4)(struct product p)
{
    SHARED_DYNAMIC(real, tile);
    const uint64_t listed = simt_fresh((const uint64_t *)(p.counters + WEAVE_LISTED));
    const int64_t entries = (int64_t)(listed >> 32), pieces = (int64_t)(listed & 0xffffffff);
    if (listed == 0)
        return;
    const struct space s = space_of(&p);
    for (int64_t piece = simt_block_id(); piece < pieces; piece += simt_grid_size())
        one_piece(&p, tile, &s, entry_of(s.list, entries, piece), piece);
    if (comes_last(p.counters + WEAVE_THROUGH, simt_grid_size()) && simt_thread_id() == 0)
        *(uint64_t *)(p.counters + WEAVE_LISTED) = 0;
}

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
static const struct way {
    const char *entry;
    int lanes, block, staged;
} ways[] = {
    {NULL, 0, 0, 0},
    {"csr_weave1_direct", 1, 128, 0},
    {"csr_weave1", 1, 64, 1},
    {"csr_weave4", 4, 256, 1},
    {"csr_weave8", 8, 256, 1},
    {"csr_weave8_direct", 8, 128, 0},
    {"csr_weave32_direct", 32, 128, 0},
    {"csr_weave_block", 256, 256, 0},
};
enum { AUTO, DIRECT_1, STAGED_1, STAGED_4, STAGED_8, DIRECT_8, DIRECT_32, BLOCK };

static const char *const words[] = {"auto", "1d", "1", "4", "8", "8d", "32d", "block"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1_direct", "csr_weave1",         "csr_weave4",      "csr_weave8",
                                      "csr_weave8_direct", "csr_weave32_direct", "csr_weave_block", "csr_weave_listed",
                                      NULL};

/* Small matrices are a matter of latency: many lanes a row, and nothing staged.  Measured on an H200. */
#define SMALL 100000
#define SMALL_LONG_ROWS 1000000
static const struct way *way_of(const struct work *w)
{
    const double mean = (double)w->product.nnz / (double)w->product.rows;
    const int64_t nnz = w->product.nnz;
    if (w->option[0])
        return &ways[w->option[0]];
    return &ways[mean > 300                            ? BLOCK
                 : mean > 40                           ? nnz < SMALL_LONG_ROWS ? DIRECT_32 : STAGED_8
                 : nnz < SMALL                         ? DIRECT_8
                 : mean > 12                           ? STAGED_4
                 : mean > 4                            ? STAGED_1
                                                       : DIRECT_1];
}

/* So many entries may be left to one block before it is what all others wait for; a matrix with no more is done in one
 * launch. */
#define LIMIT_LEAST 16384
static int64_t limit_of(const struct work *w)
{
    return w->product.nnz <= LIMIT_LEAST ? LIMIT_LEAST : 32 * way_of(w)->block;
}

#define SHIFT 12 /* a piece of what is listed: 4096 entries */

static int64_t listed_groups(const struct work *w)
{
    return w->product.nnz / limit_of(w) + 1;
}

static int64_t listed_pieces(const struct work *w)
{
    return (w->product.nnz >> SHIFT) + 2 * listed_groups(w);
}

static int64_t workspace(const struct work *w)
{
    return listed_groups(w) * 8 + 2 * listed_pieces(w) * (int64_t)type_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return (WEAVE_DONE + listed_groups(w)) * (int64_t)sizeof(int32_t);
}

/* A tile has room for what the rows of a block hold on average, and a quarter more. */
#define TILE_LEAST 256
#define TILE_MOST 2560
#define TILE_LISTED 1024
static int64_t tile_of(const struct work *w, int64_t height)
{
    const int64_t tile = (int64_t)((double)w->product.nnz / (double)w->product.rows * (double)height * 1.25) + 63;
    return tile < TILE_LEAST ? TILE_LEAST : tile > TILE_MOST ? TILE_MOST : tile & ~(int64_t)31;
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t height = way->block / way->lanes, groups = (w->product.rows + height - 1) / height;
    const int64_t threads = UINT32_MAX / way->block, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    int64_t *fact = told.product.fact;
    fact[WEAVE_HEIGHT] = height;
    fact[WEAVE_TILE] = tile_of(w, height);
    fact[WEAVE_LIMIT] = limit_of(w);
    fact[WEAVE_SHIFT] = SHIFT;
    fact[WEAVE_GROUPS] = listed_groups(w);
    fact[WEAVE_PIECES] = listed_pieces(w);
    for (int64_t begin = 0; begin < groups; begin += most) {
        fact[WEAVE_BEGIN] = begin;
        TRY(gpu_run(&told, way->entry, groups - begin < most ? groups - begin : most, way->block,
                    way->staged ? fact[WEAVE_TILE] * (int64_t)type_size(w->value) : 0));
    }
    if (w->product.nnz <= fact[WEAVE_LIMIT])
        goto done;
    fact[WEAVE_TILE] = TILE_LISTED;
    TRY(gpu_run(&told, "csr_weave_listed", 4 * (int64_t)info->multiprocessors, 256,
                TILE_LISTED * (int64_t)type_size(w->value)));
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
