/* SPDX-License-Identifier: MIT
 *
 * look: cuts a matrix into row blocks, pieces of about equal work.
 *
 * Computes   row blocks (look.h) from the row offsets alone.  Rows are cut where rows plus entries pass
 *            multiples of a window, all cuts at once; where the last row of a window is too long for the
 *            block it leaves it, and if it is much too long it is cut into pieces.
 * Balance    the cuts are found by binary search, a thread a window; then a wave has the rows of a window.
 * Memory     every offset once, coalesced, and 16 bytes a row block.
 * Order      integers: the same every run.
 *
 * Offsets may be anything: what is read and written stays within the arrays, and `bad` tells that they do
 * not ascend from 0 to nnz.  Three launches follow one another, and nothing is waited for but what they
 * found. */
#include "convert/look.h"

/* What the kernels are given: dimensions, and facts, of which the first ones tell where scratch memory
 * begins in product.prepared. */
enum { WINDOW, CAPACITY, THREADS, WINDOWS };
enum { CUTS_AT, COUNTS_AT, GROUPS_AT, RESULT_AT, SCRATCH_PARTS, WHOLE = SCRATCH_PARTS, PIECE, DELAYS };

/* Windows of a block of threads: one thread more finds where the last of them ends. */
#define GROUP 255

#ifdef HEDDLE_DEVICE

/* The scratch memory: the first row of each window; what the windows of the same group before it make, and
 * what the groups before its own make, both as a `made`; the results. */
DEVICE char *scratch(const struct product *p, int what)
{
    return (char *)p->prepared + p->fact[what];
}

/* There is room for so many row blocks. */
DEVICE int64_t blocks_most(const struct product *p)
{
    return 2 * p->dim[WINDOWS] + p->nnz / p->fact[PIECE];
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

/* The first row before which rows and entries come to at least `count`; p->rows where there is none. */
DEVICE int64_t row_at(const struct product *p, int64_t count)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    int64_t low = 0, high = p->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (row_ptr[middle] + middle < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A window has the rows that begin in it: [first, end), none where a long row passes over it.  All but the
 * last are sure to fit into a block.  If the last one does not, it is taken out: the others are [first,
 * head). */
struct window {
    int64_t first, head, end;
    int64_t begin, alone, finish; /* the entries of `first`, `head` and `end` */
    int64_t pieces;               /* of the last row where it is long, else 0 */
    int64_t blocks;
};

DEVICE struct window window_of(const struct product *p, int64_t first, int64_t end)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t piece = p->fact[PIECE];
    struct window w;
    w.first = first;
    w.end = w.head = end;
    w.begin = row_ptr[first];
    w.finish = w.alone = row_ptr[end];
    w.pieces = w.blocks = 0;
    if (first >= end)
        return w;
    if (w.finish - w.begin + end - first > p->dim[CAPACITY])
        w.alone = row_ptr[--w.head];
    if (w.begin < 0 || w.alone < w.begin || w.finish < w.alone || w.finish > p->nnz)
        return w; /* bad, as look_write will find */
    if (w.finish - w.alone > p->fact[WHOLE])
        w.pieces = (w.finish - w.alone + piece - 1) / piece;
    w.blocks = (w.head > w.first) + (w.pieces ? w.pieces : w.end > w.head);
    return w;
}

KERNEL_BOUND(look_count, GROUP + 1)(struct product p)
{
    SHARED(int32_t, cut, GROUP + 1);
    int32_t *const cuts = (int32_t *)scratch(&p, CUTS_AT);
    const int64_t windows = p.dim[WINDOWS];
    for (int64_t group = simt_block_id(); group * GROUP < windows; group += simt_grid_size()) {
        const int64_t i = group * GROUP + simt_thread_id();
        int64_t total, mine = 0;
        cut[simt_thread_id()] = (int32_t)row_at(&p, i * p.dim[WINDOW]);
        simt_sync();
        if (i < windows ? simt_thread_id() < GROUP : i == windows) /* nobody else has it */
            cuts[i] = cut[simt_thread_id()];
        if (i < windows && simt_thread_id() < GROUP) {
            const struct window w = window_of(&p, cut[simt_thread_id()], cut[simt_thread_id() + 1]);
            mine = made(w.blocks, w.pieces);
        }
        const int64_t before = block_scan_before_long(mine, &total);
        if (i < windows && simt_thread_id() < GROUP)
            ((int64_t *)scratch(&p, COUNTS_AT))[i] = before;
        if (simt_thread_id() == 0)
            ((int64_t *)scratch(&p, GROUPS_AT))[group] = total;
        simt_sync();
    }
}

/* Each group's number becomes the sum of those before; one block. */
KERNEL_UP_TO(look_scan, 1024)(struct product p)
{
    const int64_t groups = (p.dim[WINDOWS] + GROUP - 1) / GROUP;
    int64_t *const count = (int64_t *)scratch(&p, GROUPS_AT), *const result =
                                                                  (int64_t *)scratch(&p, RESULT_AT);
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    int64_t before = 0;
    for (int64_t first = 0; first < groups; first += simt_block_size()) {
        const int64_t i = first + simt_thread_id();
        int64_t total, sum = block_scan_before_long(i < groups ? count[i] : 0, &total);
        if (i < groups)
            count[i] = before + sum;
        before += total;
    }
    if (simt_thread_id() < LOOKED_RESULTS)
        result[simt_thread_id()] = simt_thread_id() < LOOKED_HOT ? 0 : -1;
    simt_sync();
    if (simt_thread_id() == 0) {
        result[LOOKED_BLOCKS] = blocks_of(before);
        result[LOOKED_PIECES] = pieces_of(before);
        result[LOOKED_LAST] = row_ptr[p.rows];
        result[LOOKED_BAD] =
            row_ptr[0] != 0 || row_ptr[p.rows] != p.nnz || blocks_of(before) > blocks_most(&p);
    }
}

/* How many lanes should sum a row, as the log2?  Rows are done in rounds; each costs something for itself,
 * for the exchange between lanes and for the length of its rows, and the longest row, if it has no more
 * lanes than others, delays one of them.  The weights are rough counts of instructions. */
DEVICE int steps_for(int rows, int entries, int longest, int threads)
{
    const int mean = entries / rows;
    int best = 0, least = INT32_MAX;
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

DEVICE void put_block(const struct product *p, int64_t number, int64_t begin, int64_t row, int64_t work)
{
    const struct row_block b = {begin, (int32_t)row, (int32_t)work};
    if (number <= blocks_most(p))
        ((struct row_block *)p->prepared)[number] = b;
}

/* A wave a window: its lanes look at the rows together, and write the pieces of a long one. */
DEVICE void write_window(const struct product *p, const struct window *w, int64_t block, int64_t piece,
                         int64_t *longest, int *bad)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t rows = w->head - w->first, last = w->head;
    int64_t here = 0;
    for (int64_t i = w->first + simt_lane(); i < w->end; i += WAVE) {
        const int64_t begin = row_ptr[i], length = row_ptr[i + 1] - begin;
        *bad |= begin < 0 || length < 0 || length > p->nnz - begin;
        *longest = length > *longest ? length : *longest;
        here = i < w->head && length > here ? length : here;
    }
    here = wave_max_long(here, WAVE);
    if (w->blocks == 0)
        return;
    if (simt_lane() == 0 && rows > 0)
        put_block(p, block, w->begin, w->first,
                  rows == 1 ? ONE_ROW
                            : 1 + steps_for((int)rows, (int)(w->alone - w->begin),
                                            p->fact[DELAYS] ? (int)here : 0, (int)p->dim[THREADS]));
    block += rows > 0;
    if (simt_lane() == 0 && w->end > last && w->pieces == 0)
        put_block(p, block, w->alone, last, ONE_ROW);
    for (int64_t i = simt_lane(); i < w->pieces; i += WAVE)
        put_block(p, block + i, w->alone + i * p->fact[PIECE], last, -1 - (piece + i));
}

KERNEL(look_write)(struct product p)
{
    const int64_t windows = p.dim[WINDOWS];
    const int32_t *const cut = (const int32_t *)scratch(&p, CUTS_AT);
    int64_t *const result = (int64_t *)scratch(&p, RESULT_AT), longest = 0;
    int bad = 0;
    for (int64_t i = simt_global_id() / WAVE; i < windows; i += simt_global_size() / WAVE) {
        const int64_t *const count = (const int64_t *)scratch(&p, COUNTS_AT), *const group =
                                                                                  (const int64_t *)scratch(
                                                                                      &p, GROUPS_AT);
        const int64_t before = count[i] + group[i / GROUP];
        const struct window w = window_of(&p, cut[i], cut[i + 1]);
        bad |= w.first > w.end || (i == 0 && w.first > 0) || (i == windows - 1 && w.end < p.rows);
        write_window(&p, &w, blocks_of(before), pieces_of(before), &longest, &bad);
    }
    longest = block_max_long(longest);
    bad = block_max_int(bad);
    if (simt_thread_id() == 0 && longest > simt_atomic_load(result + LOOKED_LONGEST))
        simt_atomic_max(result + LOOKED_LONGEST, longest);
    if (simt_thread_id() == 0 && bad)
        simt_atomic_or(result + LOOKED_BAD, (int64_t)1);
    if (simt_global_id() == 0)
        put_block(&p, result[LOOKED_BLOCKS], p.nnz, p.rows, ONE_ROW);
}

#else

static int64_t windows_of(const struct work *w, struct row_cut cut)
{
    return (w->product.nnz + w->product.rows + cut.window - 1) / cut.window;
}

/* At most: a window makes two blocks, a long row one more for every piece. */
static int64_t blocks_most(const struct work *w, struct row_cut cut)
{
    return 2 * windows_of(w, cut) + w->product.nnz / cut.piece;
}

/* A row that is cut has one piece that is not full. */
int64_t look_pieces(const struct work *w, struct row_cut cut)
{
    return w->product.nnz / cut.piece + w->product.nnz / cut.whole;
}

/* Where each part of scratch memory begins, behind the row blocks; returns where the last ends. */
static int64_t lay_out(int64_t at[], const struct work *w, struct row_cut cut)
{
    const int64_t windows = windows_of(w, cut), groups = (windows + GROUP - 1) / GROUP;
    at[RESULT_AT] = (blocks_most(w, cut) + 1) * (int64_t)sizeof(struct row_block);
    at[COUNTS_AT] = at[RESULT_AT] + LOOKED_RESULTS * (int64_t)sizeof(int64_t);
    at[GROUPS_AT] = at[COUNTS_AT] + windows * (int64_t)sizeof(int64_t);
    at[CUTS_AT] = at[GROUPS_AT] + groups * (int64_t)sizeof(int64_t);
    return at[CUTS_AT] + (windows + 1) * (int64_t)sizeof(int32_t);
}

int64_t look_bytes(const struct work *w, struct row_cut cut)
{
    int64_t at[SCRATCH_PARTS];
    return lay_out(at, w, cut);
}

heddle_status gpu_look(struct looked *looked, const struct work *w, struct row_cut cut)
{
    heddle_status status;
    struct work q = *w;
    const int64_t windows = windows_of(w, cut), groups = (windows + GROUP - 1) / GROUP;
    q.page = "look";
    q.variant = vector_variant(w->variant);
    q.product.dim[WINDOW] = cut.window;
    q.product.dim[CAPACITY] = cut.capacity;
    q.product.dim[THREADS] = cut.threads;
    q.product.dim[WINDOWS] = windows;
    lay_out(q.product.fact, w, cut);
    q.product.fact[WHOLE] = cut.whole;
    q.product.fact[PIECE] = cut.piece;
    q.product.fact[DELAYS] = cut.delays;
    TRY(gpu_run(&q, "look_count", gpu_grid(w, groups, GROUP + 1), GROUP + 1, 0));
    TRY(gpu_run(&q, "look_scan", 1, groups <= 256 ? 256 : 1024, 0));
    TRY(gpu_run_over(&q, "look_write", windows * gpu_info_of(w->device->gpu)->wave));
    if (cut.columns)
        TRY(gpu_look_columns(w, q.product.fact[RESULT_AT], blocks_most(w, cut)));
    looked->results_at = q.product.fact[RESULT_AT];
    TRY(device_read(w->device, looked->result, (char *)w->product.prepared + looked->results_at,
                    sizeof looked->result));
done:
    return status;
}

/* -------------------------------------------------------- for immediate products -------------- */

/* Row blocks of at most LOOK_WINDOW_MOST rows and entries, as many as the device holds at once, or up to
 * ROUNDS times as many where each has still WINDOW_LEAST.  The capacity has room for a last row that is
 * not much longer than others; a tile holds it.  Measured on an H200: more rounds, and blocks of 128
 * threads, are 1 to 3 % slower; a round that is not full costs as much as one that is. */
#define WINDOW_LEAST (3 * LOOK_THREADS)
#define ROUNDS 4
#define WHOLE_PIECES 2 /* of a row that is not cut */
struct row_cut look_cut(const struct work *w)
{
    const struct product *p = &w->product;
    const int64_t held = LOOK_RESIDENT * gpu_info_of(w->device->gpu)->multiprocessors, all = p->nnz + p->rows;
    const int64_t fit = all / (held * WINDOW_LEAST), rounds = fit < 1 ? 1 : fit < ROUNDS ? fit : ROUNDS;
    const int64_t even = all / (rounds * held), share = even + even / 32 + 1; /* not one block too many */
    const int64_t window = share < WINDOW_LEAST     ? WINDOW_LEAST
                         : share < LOOK_WINDOW_MOST ? share
                                                    : LOOK_WINDOW_MOST;
    const int64_t slack = p->rows ? 2 * (p->nnz / p->rows) : 0;
    return (struct row_cut){.window = window,
                            .whole = WHOLE_PIECES * window,
                            .piece = window,
                            .threads = LOOK_THREADS,
                            .capacity = window + (slack < 32           ? 32
                                                  : slack < window / 4 ? slack
                                                                       : window / 4),
                            .columns = 1};
}

int64_t look_held(const struct work *w)
{
    return look_bytes(w, look_cut(w));
}

static int64_t byte_of(enum columns what, int64_t part, int64_t all)
{
    return (all > 0 ? 255 * part / all : 0) << 8 * what;
}

heddle_status look_prepare(struct work *w)
{
    struct looked looked = {{0}, 0};
    const struct row_cut cut = look_cut(w);
    heddle_status status = gpu_look(&looked, w, cut);
    const int64_t *result = looked.result;
    int64_t *fact = w->product.fact;
    fact[LOOK_BLOCKS] = result[LOOKED_BLOCKS];
    fact[LOOK_TILE] = cut.capacity;
    fact[LOOK_PIECE] = cut.piece;
    fact[LOOK_LONGEST] = result[LOOKED_LONGEST];
    fact[LOOK_BAD] = result[LOOKED_BAD];
    fact[LOOK_COLUMNS] = byte_of(COLUMNS_CACHED, result[LOOKED_CACHED], result[LOOKED_ENTRIES]) |
                         byte_of(COLUMNS_CLOSE, result[LOOKED_CLOSE], result[LOOKED_ENTRIES]) |
                         byte_of(COLUMNS_ALIKE, result[LOOKED_ALIKE], result[LOOKED_ROWS]) |
                         byte_of(COLUMNS_NEXT, result[LOOKED_NEXT], result[LOOKED_ROWS]) |
                         result[LOOKED_CROWDED] << 8 * COLUMNS_CROWDED;
    fact[LOOK_HOT] = result[LOOKED_HOT] >= 0 ? looked.results_at + LOOKED_HOT * (int64_t)sizeof(int64_t) : 0;
    return status;
}

double look_share(const struct work *w, enum columns what)
{
    const int64_t bits = w->product.fact[LOOK_COLUMNS] >> 8 * what;
    return what == COLUMNS_CROWDED ? (double)(bits & 0xffff) / 65536 : (double)(bits & 0xff) / 255;
}

int64_t look_together(const struct work *w)
{
    const int64_t blocks = w->product.fact[LOOK_BLOCKS];
    return blocks == 0 ? 1 : TOGETHER(blocks, look_at_once(w), TOGETHER_MOST(vector_size(w->value)));
}

heddle_status look_refused(void)
{
    return fail(HEDDLE_BAD_MATRIX,
                "the offsets of the rows do not ascend from 0 to the number of entries: heddle_check tells "
                "where");
}
#endif
