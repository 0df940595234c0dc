/* SPDX-License-Identifier: MIT
 *
 * look: cuts a matrix into row blocks, pieces of about equal work.
 *
 * Computes   row blocks (look.h) from the row offsets alone.  Rows are cut where rows plus entries pass
 *            multiples of a window; where the last row of a window is too long for the block it leaves it,
 *            and if it is much too long it is cut into pieces.  Where that is asked for, further blocks
 *            look at a sample of the columns (look_columns.h).
 * Balance    every row tells which windows begin with it; then a thread has a window.
 * Memory     every offset once, coalesced, and 16 bytes a row block; what the host asks for is written
 *            where it reads.
 * Order      integers: the same every run.
 *
 * Offsets may be anything: what is read and written stays within the arrays, and LOOKED_BAD tells that
 * they do not ascend from 0 to nnz.  Two kernels, a pair, follow one another: what each block of the second
 * must know of the windows before its own it counts itself, as long as these are few; where they are many a
 * third kernel between them counts. */
#include "convert/look.h"

#include <string.h>

/* What the kernels are given: dimensions, and facts. */
enum { WINDOW, CAPACITY, THREADS, WINDOWS };
enum { WHOLE, PIECE, DELAYS, CUTTERS, PLAYERS, TOGETHER_NOW, COUNTED, NUMBER_BYTES };

/* Threads of a block: those that cut, each with several rows at a time; those that count, each with a
 * window; those that write, of which a group's have a window, and others look at columns. */
#define CUT_THREADS 256
#define CUT_ROWS 4
#define GROUP 256
#define WRITE_THREADS 512
#define AT_ONCE 4 /* windows that a thread has under way */
#define CUTTERS_MOST 1024
#define FEW_WINDOWS 4096 /* that each block counts itself */
#define PLAYERS_MOST 64
#define RESULTS_MOST (LOOKED_SAMPLED + PLAYERS_MOST * SAMPLED_RESULTS)

#ifdef HEDDLE_DEVICE

/* There is room for so many row blocks. */
DEVICE int64_t blocks_most(const struct product *p)
{
    return 2 * p->dim[WINDOWS] + p->nnz / p->fact[PIECE];
}

/* LOOKED_..., in memory of the host. */
DEVICE int64_t *results_of(const struct product *p)
{
    return (int64_t *)p->y;
}

/* Behind the row blocks are the hot columns, for products, and scratch memory: of each block that cuts the
 * longest row it met; what the windows of each group make, as a `made`; the first row of each window. */
DEVICE int64_t *hot_of(const struct product *p)
{
    return (int64_t *)((struct row_block *)p->prepared + blocks_most(p) + 1);
}

DEVICE int64_t *parts_of(const struct product *p)
{
    return hot_of(p) + HOT_MOST;
}

DEVICE int64_t *totals_of(const struct product *p)
{
    return parts_of(p) + CUTTERS_MOST;
}

DEVICE int64_t group_count(const struct product *p)
{
    return (p->dim[WINDOWS] + GROUP - 1) / GROUP;
}

DEVICE int32_t *cuts_of(const struct product *p)
{
    return (int32_t *)(totals_of(p) + group_count(p));
}

/* Row blocks and pieces, counted in one number: there are fewer than 2^31 of either. */
DEVICE int64_t made(int64_t blocks, int64_t pieces)
{
    return (blocks << 32) + pieces;
}

DEVICE int64_t blocks_of(int64_t m)
{
    return m >> 32;
}

DEVICE int64_t pieces_of(int64_t m)
{
    return m & 0x7fffffff;
}

/* An offset, but from 0 to nnz whatever it is; and that of a row. */
DEVICE off offset_within(const struct product *p, off offset)
{
    const off nnz = (off)p->nnz;
    return offset < 0 ? 0 : offset > nnz ? nnz : offset;
}

DEVICE int64_t safe_offset(const struct product *p, int64_t row)
{
    return offset_within(p, ((const off *)p->array[CSR_ROW_PTR])[row]);
}

#include "convert/look_columns.h"

/* Rows and entries counted together: of 32-bit offsets they are fewer than 2^32. */
#define UNSIGNED_OF(type) u##type
#define UNSIGNED(type) UNSIGNED_OF(type)
typedef UNSIGNED(off) counted;

/* So little more than 1 / window that whole multiples of a window do not come out too small, and counts
 * below 2^50 not too large. */
DEVICE double inverse_of(int64_t window)
{
    return (1 + 0x1p-51) / (double)window;
}

DEVICE counted window_at(counted count, double inverse)
{
    return (counted)((double)count * inverse);
}

/* `row` is the first of the windows from `low` up to `end`.  The wave helps whoever has many.  Where offsets
 * are bad, several rows may say so of one window, and any of them will do. */
DEVICE void cut_at(int32_t *cut, int32_t row, counted low, counted end)
{
    const int many = low < end && end - low >= (counted)WAVE;
    SIMT_ROLLED
    for (simt_lanes left = (simt_lanes)simt_ballot(many); left; left &= left - 1) {
        const int from = simt_ffs(left) - 1;
        const int64_t begin = simt_shfl((int64_t)low, from, WAVE),
                      behind = simt_shfl((int64_t)end, from, WAVE);
        const int32_t of = simt_shfl(row, from, WAVE);
        SIMT_ROLLED
        for (int64_t i = begin + simt_lane(); i < behind; i += WAVE)
            cut[i] = of;
    }
    SIMT_ROLLED
    for (counted i = low; !many && i < end; i++)
        cut[i] = row;
}

/* Row p.rows, which has no entries, begins all windows that are left, so that every one begins somewhere,
 * whatever the offsets are. */
KERNEL_BOUND(look_cut, CUT_THREADS)(struct product p)
{
    const off *RESTRICT row_ptr = (const off *)p.array[CSR_ROW_PTR];
    const double inverse = inverse_of(p.dim[WINDOW]);
    const uint32_t rows = (uint32_t)p.rows;
    const counted windows = (counted)p.dim[WINDOWS];
    off longest = 0;
    int bad = simt_global_id() == 0 && (row_ptr[0] != 0 || row_ptr[rows] != p.nnz);
    simt_let_next();
    for (uint32_t first = (uint32_t)simt_block_id() * CUT_ROWS * CUT_THREADS; first <= rows;
         first += (uint32_t)simt_grid_size() * CUT_ROWS * CUT_THREADS) {
        off found[CUT_ROWS], before[CUT_ROWS];
        for (int j = 0; j < CUT_ROWS; j++) {
            const uint32_t i = first + (uint32_t)(j * CUT_THREADS + simt_thread_id()),
                           row = i < rows ? i : rows;
            found[j] = row_ptr[row];
            before[j] = offset_within(&p, row_ptr[row > 0 ? row - 1 : 0]);
        }
        for (int j = 0; j < CUT_ROWS; j++) {
            const uint32_t i = first + (uint32_t)(j * CUT_THREADS + simt_thread_id());
            const off here = offset_within(&p, found[j]);
            const counted low = i == 0 ? 0 : window_at((counted)before[j] + i - 1, inverse) + 1,
                          end = i < rows  ? window_at((counted)here + i, inverse) + 1
                              : i == rows ? windows + 1
                                          : 0;
            longest = here - before[j] > longest ? here - before[j] : longest;
            bad |= here < before[j] || here != found[j];
            cut_at(cuts_of(&p), (int32_t)i, low, end);
        }
    }
    const int64_t most = block_max_long(bad ? INT64_MAX : longest);
    if (simt_thread_id() == 0)
        parts_of(&p)[simt_block_id()] = most;
}

/* A window has the rows that begin in it: [first, end), none where a long row passes over it.  All but the
 * last are sure to fit into a block.  If the last one does not, it is taken out: the others are [first,
 * head). */
struct window {
    int32_t first, head, end;
    int32_t blocks, pieces;       /* pieces of the last row where it is long, else 0 */
    int64_t begin, alone, finish; /* the entries of `first` and `head`, and behind the last */
};

/* Window i, which has nothing where there is none: what memory says, without a branch, so that a thread can
 * have several under way; then what is made of it. */
DEVICE struct window window_at_hand(const struct product *p, int64_t i)
{
    const int32_t *cut = cuts_of(p);
    const int is_one = i < p->dim[WINDOWS];
    const int32_t first = cut[is_one ? i : 0], end = cut[is_one ? i + 1 : 0];
    const struct window w = {first,
                             is_one && first < end ? end - 1 : first,
                             is_one ? end : first,
                             0,
                             0,
                             safe_offset(p, first),
                             safe_offset(p, end > 0 ? end - 1 : 0),
                             safe_offset(p, end)};
    return w;
}

DEVICE struct window window_made(const struct product *p, struct window w)
{
    const int64_t piece = p->fact[PIECE];
    if (w.first >= w.end || w.alone < w.begin || w.finish < w.alone)
        return w; /* or bad, as look_cut has found */
    if (w.finish - w.begin + w.end - w.first <= p->dim[CAPACITY]) {
        w.head++;
        w.alone = w.finish;
    }
    if (w.finish - w.alone > p->fact[WHOLE])
        w.pieces = (int32_t)((w.finish - w.alone + piece - 1) / piece);
    w.blocks = (w.head > w.first) + (w.pieces ? w.pieces : w.end > w.head);
    return w;
}

DEVICE struct window window_of(const struct product *p, int64_t i)
{
    return window_made(p, window_at_hand(p, i));
}

/* What windows make, where there are too many for everybody to count them (look_write). */
KERNEL_BOUND(look_count, GROUP)(struct product p)
{
    const int64_t groups = group_count(&p);
    simt_let_next();
    for (int64_t group = simt_block_id(); group < groups; group += simt_grid_size()) {
        const struct window w = window_of(&p, group * GROUP + simt_thread_id());
        const int64_t total = block_sum_long(made(w.blocks, w.pieces));
        if (simt_thread_id() == 0)
            totals_of(&p)[group] = total;
    }
}

/* How many lanes should sum a row, as the log2?  Rows are done in rounds; each costs something for itself,
 * for the exchange between lanes and for the length of its rows, and the longest row, if it has no more
 * lanes than others, delays one of them.  The weights are rough counts of instructions. */
DEVICE int steps_for(int rows, int entries, int longest, int threads)
{
    const int mean = entries / rows;
    int best = 0, least = INT32_MAX;
    SIMT_ROLLED
    for (int steps = 0; 1 << steps <= WAVE; steps++) {
        const int rounds = ((rows << steps) + threads - 1) / threads;
        const int cost = rounds * (6 + 4 * steps + (3 * mean >> steps)) + (3 * longest >> steps);
        if (cost < least) {
            least = cost;
            best = steps;
        }
    }
    return best;
}

/* The longest row of each lane's window but for one that is taken out; the wave looks at one window after
 * the other. */
DEVICE int longest_of(const struct product *p, const struct window *w)
{
    int64_t longest = 0;
    SIMT_ROLLED
    for (simt_lanes left = (simt_lanes)simt_ballot(w->head > w->first); left; left &= left - 1) {
        const int from = simt_ffs(left) - 1;
        const int64_t head = simt_shfl(w->head, from, WAVE);
        int64_t here = 0;
        SIMT_ROLLED
        for (int64_t i = simt_shfl(w->first, from, WAVE) + simt_lane(); i < head; i += WAVE) {
            const int64_t length = safe_offset(p, i + 1) - safe_offset(p, i);
            here = length > here ? length : here;
        }
        here = wave_max_long(here, WAVE);
        longest = from == simt_lane() ? here : longest;
    }
    return (int)longest;
}

DEVICE void put_block(const struct product *p, int64_t number, int64_t begin, int64_t row, int64_t work)
{
    const struct row_block b = {begin, (int32_t)row, (int32_t)work};
    if (number >= 0 && number <= blocks_most(p)) /* bad offsets may lead anywhere */
        ((struct row_block *)p->prepared)[number] = b;
}

/* The pieces of one long row, from row block `block` and piece `piece` on, by the whole wave. */
DEVICE void put_pieces(const struct product *p, const struct window *w, int64_t block, int64_t piece,
                       int from)
{
    const int64_t pieces = simt_shfl(w->pieces, from, WAVE), alone = simt_shfl(w->alone, from, WAVE),
                  row = simt_shfl(w->head, from, WAVE);
    block = simt_shfl(block, from, WAVE);
    piece = simt_shfl(piece, from, WAVE);
    SIMT_ROLLED
    for (int64_t i = simt_lane(); i < pieces; i += WAVE)
        put_block(p, block + i, alone + i * p->fact[PIECE], row, -1 - (piece + i));
}

/* The row blocks of each lane's window, `before` being what is made of those before it. */
DEVICE void write_windows(const struct product *p, const struct window *w, int64_t before)
{
    const int longest = p->fact[DELAYS] ? longest_of(p, w) : 0;
    const int64_t rows = w->head - w->first;
    int64_t block = blocks_of(before);
    if (w->blocks > 0 && rows > 0)
        put_block(p, block++, w->begin, w->first,
                  rows == 1
                      ? ONE_ROW
                      : 1 + steps_for((int)rows, (int)(w->alone - w->begin), longest, (int)p->dim[THREADS]));
    if (w->blocks > 0 && w->end > w->head && w->pieces == 0)
        put_block(p, block, w->alone, w->head, ONE_ROW);
    SIMT_ROLLED
    for (simt_lanes left = (simt_lanes)simt_ballot(w->pieces > 0); left; left &= left - 1)
        put_pieces(p, w, block, pieces_of(before), simt_ffs(left) - 1);
}

/* look_cut is done: look_count has waited for it, where there is that. */
DEVICE void after_cut(const struct product *p)
{
    if (!p->fact[COUNTED])
        simt_after_previous();
}

/* What all windows before those of a group make. */
DEVICE int64_t made_before(const struct product *p, int64_t group)
{
    const int64_t *const total = totals_of(p), are_counted = p->fact[COUNTED];
    int64_t ahead = 0;
    if (are_counted)
        simt_after_previous();
    SIMT_ROLLED
    for (int64_t i = simt_thread_id(); are_counted && i < group; i += WRITE_THREADS)
        ahead += total[i];
    SIMT_ROLLED
    for (int64_t i = simt_thread_id(); !are_counted && i < group * GROUP; i += AT_ONCE * WRITE_THREADS) {
        struct window w[AT_ONCE];
        for (int j = 0; j < AT_ONCE; j++)
            w[j] = window_at_hand(p, i + j * WRITE_THREADS < group * GROUP ? i + j * WRITE_THREADS
                                                                           : p->dim[WINDOWS]);
        for (int j = 0; j < AT_ONCE; j++) {
            w[j] = window_made(p, w[j]);
            ahead += made(w[j].blocks, w[j].pieces);
        }
    }
    return block_sum_long(ahead);
}

/* Windows of a group; the last one has the row block that ends all others. */
DEVICE void write_group(const struct product *p, int64_t group, int64_t groups)
{
    int64_t *const result = results_of(p), total;
    const struct window w =
        window_of(p, simt_thread_id() < GROUP ? group * GROUP + simt_thread_id() : p->dim[WINDOWS]);
    const int64_t ahead = made_before(p, group);
    const int64_t before = ahead + block_scan_before_long(made(w.blocks, w.pieces), &total);
    write_windows(p, &w, before);
    if (group == groups - 1 && simt_thread_id() == 0) {
        result[LOOKED_BLOCKS] = blocks_of(ahead + total);
        put_block(p, blocks_of(ahead + total), p->nnz, p->rows, ONE_ROW);
    }
}

/* What those who cut have found. */
DEVICE void tell_longest(const struct product *p)
{
    const int64_t *const part = parts_of(p);
    int64_t *const result = results_of(p), longest = 0;
    SIMT_ROLLED
    for (int64_t i = simt_thread_id(); i < p->fact[CUTTERS]; i += WRITE_THREADS)
        longest = part[i] > longest ? part[i] : longest;
    longest = block_max_long(longest);
    if (simt_thread_id() == 0) {
        result[LOOKED_LONGEST] = longest;
        result[LOOKED_BAD] = longest == INT64_MAX;
    }
}

/* Blocks that write groups; one that tells what was found; and if columns are looked at, one that samples
 * all of them, and players. */
KERNEL_BOUND(look_write, WRITE_THREADS)(struct product p)
{
    const int64_t groups = group_count(&p), players = p.fact[PLAYERS];
    for (int64_t i = simt_block_id(); i < groups + 1 + (players > 0 ? 1 + players : 0);
         i += simt_grid_size()) {
        if (i <= groups)
            after_cut(&p);
        if (i < groups)
            write_group(&p, i, groups);
        else if (i == groups)
            tell_longest(&p);
        else if (i == groups + 1)
            sample_all(&p);
        else
            play_windows(&p, i - groups - 2);
    }
    simt_after_previous(); /* also who has nothing to do with it */
}

#else

_Static_assert(RESULTS_MOST * sizeof(int64_t) <= PINNED_BYTES, "there is room for all results");

static int64_t windows_of(const struct work *w, struct row_cut cut)
{
    return (w->product.nnz + w->product.rows + cut.window - 1) / cut.window;
}

/* At most: a window makes two blocks, a long row one more for every piece. */
static int64_t blocks_most(const struct work *w, struct row_cut cut)
{
    return 2 * windows_of(w, cut) + w->product.nnz / cut.piece;
}

static int64_t hot_at(const struct work *w, struct row_cut cut)
{
    return (blocks_most(w, cut) + 1) * (int64_t)sizeof(struct row_block);
}

/* A row that is cut has one piece that is not full. */
int64_t look_pieces(const struct work *w, struct row_cut cut)
{
    return w->product.nnz / cut.piece + w->product.nnz / cut.whole;
}

int64_t look_bytes(const struct work *w, struct row_cut cut)
{
    const int64_t windows = windows_of(w, cut), groups = (windows + GROUP - 1) / GROUP;
    return hot_at(w, cut) + (HOT_MOST + CUTTERS_MOST + groups) * (int64_t)sizeof(int64_t) +
           (windows + 1) * (int64_t)sizeof(int32_t);
}

/* Windows that blocks of a product with a cache have together (there are about as many row blocks), and how
 * many blocks play that. */
static int64_t together_of(const struct work *w, int64_t windows)
{
    return TOGETHER(windows, look_at_once(w), TOGETHER_MOST(vector_size(w->value)));
}

static int64_t players_of(const struct work *w, int64_t windows)
{
    const int64_t all = (windows + together_of(w, windows) - 1) / together_of(w, windows);
    return all < PLAYERS_MOST ? all : PLAYERS_MOST;
}

heddle_status gpu_look(struct looked *looked, const struct work *w, struct row_cut cut)
{
    heddle_status status;
    struct work q = *w;
    const int64_t windows = windows_of(w, cut), groups = (windows + GROUP - 1) / GROUP,
                  players = cut.columns ? players_of(w, windows) : 0;
    const int64_t cutters = w->product.rows / (CUT_ROWS * CUT_THREADS) + 1;
    int64_t *const result = looked->result, *found;
    void *pinned = NULL;
    TRY(gpu_pinned_take(w->device->gpu, &pinned));
    found = memset(pinned, 0, RESULTS_MOST * sizeof *found);
    q.product.y = pinned;
    q.kernel = NULL;
    q.page = "look";
    q.variant = pattern_variant(w->variant);
    q.product.dim[WINDOW] = cut.window;
    q.product.dim[CAPACITY] = cut.capacity;
    q.product.dim[THREADS] = cut.threads;
    q.product.dim[WINDOWS] = windows;
    q.product.fact[WHOLE] = cut.whole;
    q.product.fact[PIECE] = cut.piece;
    q.product.fact[DELAYS] = cut.delays;
    q.product.fact[CUTTERS] = gpu_grid(w, cutters < CUTTERS_MOST ? cutters : CUTTERS_MOST, CUT_THREADS);
    q.product.fact[PLAYERS] = players;
    q.product.fact[TOGETHER_NOW] = together_of(w, windows);
    q.product.fact[COUNTED] = windows > FEW_WINDOWS;
    q.product.fact[NUMBER_BYTES] = (int64_t)vector_size(w->value);
    const struct launch cutting = {"look_cut", q.product.fact[CUTTERS], CUT_THREADS, 0},
                        counting = {"look_count", gpu_grid(w, groups, GROUP), GROUP, 0},
                        writing = {"look_write",
                                   gpu_grid(w, groups + 1 + (players > 0) + players, WRITE_THREADS),
                                   WRITE_THREADS, 0};
    if (q.product.fact[COUNTED])
        TRY(gpu_run(&q, cutting.entry, cutting.grid, cutting.block, 0));
    TRY(gpu_run_pair(&q, q.product.fact[COUNTED] ? counting : cutting, writing));
    TRY(device_sync(w->device));
    looked->hot_at = hot_at(w, cut);
    memset(result, 0, sizeof looked->result);
    memcpy(result, found, LOOKED_SAMPLED * sizeof *found);
    for (int64_t i = 0; i < players * SAMPLED_RESULTS; i++)
        result[LOOKED_SAMPLED + i % SAMPLED_RESULTS] += found[LOOKED_SAMPLED + i];
done:
    gpu_pinned_give_back(w->device->gpu, pinned);
    return status;
}
#endif
