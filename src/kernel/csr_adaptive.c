/* SPDX-License-Identifier: MIT
 *
 * csr_adaptive: blocks of whole rows, staged in shared memory.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     CSR-adaptive, Greathouse and Daga 2014, as analysed in hola-spmv-2017 section 2.1.  Row blocks are found once.
 *            There a greedy pass, row after row, packs them; here rows are cut where rows plus entries pass multiples of a
 *            window, all cuts at once, and where the last row of a window is too long for the block it leaves it.
 * Balance    a block of threads has one of three kinds of work, about equally much of it (capacity = threads x npt):
 *            - stream: rows whose number plus entries is at most the capacity; counting rows as well bounds runs of empty
 *              ones.  One lane sums a row, or 2, 4, ... up to a wave, as the lengths of this very block suggest;
 *            - vector: one row, up to LONG times the capacity, summed by the whole block;
 *            - long: a piece of a longer row.  Its sum goes to the workspace, and a second kernel, launched only where there
 *              are such rows, adds the pieces up.  Nobody waits for anybody.
 * Memory     col and val are streamed, coalesced whatever the rows look like, up to npt of each in flight a thread, beside the
 *            offsets of the rows; x is gathered.  Products go through shared memory, with a gap every 128 bytes so that rows
 *            of 4, 8 or 16 entries do not all begin in the same bank.  y is written coalesced.  16 bytes a row block are held.
 * Wins       short rows of any mixture of lengths, for the second and later products.
 * Loses      even rows, where one thread a row of a padded format needs neither barrier nor shared memory; a single product.
 * Order      fixed by the row blocks: bitwise repeatable, for the same options and device.
 */

/* What is held: blocks + 1 row blocks (the last one only ends the one before), and at fact[LONG_AT], counted in row blocks,
 * longs + 1 long rows.  Row block b has the rows from `row` on and the entries from `begin` on, up to those of b + 1. */
enum { BLOCKS, LONGS, LONG_AT };

#define VECTOR 0 /* row_block.work: above, 1 + log2 of the lanes that sum a row; below, -1 - the number of the piece */

/* The dimensions that the kernels of `prepare` are given. */
enum { WINDOW, CAPACITY, THREADS, WINDOWS };

/* A row longer than this many capacities is cut into pieces of one capacity. */
#define LONG 4

/* What a window contributes, counted and then summed up: the workspace of `prepare` has WINDOWS + 1 of each. */
enum { OF_BLOCKS, OF_PIECES, OF_LONGS, COUNTS };

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

struct row_block {
    int64_t begin;
    int32_t row, work;
};

struct long_row {
    int64_t first, row; /* its first piece; the next long row's ends it */
};

/* ------------------------------------------------------------------ prepare ------------------------------------ */

/* The first row before which rows and entries come to at least `weight`; p->rows where there is none. */
DEVICE int64_t row_at(const struct product *p, int64_t weight)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    int64_t low = 0, high = p->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (row_ptr[middle] + middle < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A window has the rows that begin in it: [first, end), none where a long row passes over it.  All but the last are sure to
 * fit into a block.  If the last one does not, it is taken out: the others are [first, head). */
struct window {
    int64_t first, head, end;
    int64_t begin, alone, finish; /* the entries of `first`, `head` and `end` */
    int64_t pieces;               /* of the last row where it is long, else 0 */
    int64_t blocks;
};

DEVICE struct window window_at(const struct product *p, int64_t number)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t capacity = p->dim[CAPACITY];
    struct window w;
    w.first = row_at(p, number * p->dim[WINDOW]);
    w.end = w.head = row_at(p, (number + 1) * p->dim[WINDOW]);
    w.begin = row_ptr[w.first];
    w.finish = w.alone = row_ptr[w.end];
    w.pieces = 0;
    if (w.finish - w.begin + w.end - w.first > capacity)
        w.alone = row_ptr[--w.head];
    if (w.finish - w.alone > LONG * capacity)
        w.pieces = (w.finish - w.alone + capacity - 1) / capacity;
    w.blocks = (w.head > w.first) + (w.pieces ? w.pieces : w.end > w.head);
    return w;
}

KERNEL(csr_adaptive_count)(struct product p)
{
    int64_t *count = (int64_t *)p.workspace;
    const int64_t windows = p.dim[WINDOWS];
    for (int64_t i = simt_global_id(); i < windows; i += simt_global_size()) {
        const struct window w = window_at(&p, i);
        count[OF_BLOCKS * (windows + 1) + i] = w.blocks;
        count[OF_PIECES * (windows + 1) + i] = w.pieces;
        count[OF_LONGS * (windows + 1) + i] = w.pieces > 0;
    }
}

/* Each count becomes the sum of those before; a block of threads a kind.  Windows are few: less than a thousandth of rows and
 * entries. */
KERNEL_UP_TO(csr_adaptive_scan, 1024)(struct product p)
{
    const int64_t windows = p.dim[WINDOWS];
    int64_t *count = (int64_t *)p.workspace + simt_block_id() * (windows + 1);
    int64_t before = 0;
    for (int64_t first = 0; first <= windows; first += simt_block_size()) {
        const int64_t i = first + simt_thread_id();
        int64_t total, sum = block_scan_before_long(i < windows ? count[i] : 0, &total);
        if (i <= windows)
            count[i] = before + sum;
        before += total;
    }
}

/* How many lanes should sum a row, as the log2?  Rows are done in rounds; each costs something for itself, for the exchange
 * between lanes and for the length of its rows, and the longest row delays one of them.  The weights are rough counts of
 * instructions. */
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

/* Where the blocks, pieces and long rows of a window, or of all windows, begin. */
struct place {
    int64_t block, piece, longs;
};

DEVICE struct place place_of(const struct product *p, int64_t number)
{
    const int64_t *count = (const int64_t *)p->workspace, next = p->dim[WINDOWS] + 1;
    const struct place at = {count[OF_BLOCKS * next + number], count[OF_PIECES * next + number],
                             count[OF_LONGS * next + number]};
    return at;
}

DEVICE void put_block(const struct product *p, int64_t number, int64_t begin, int64_t row, int64_t work)
{
    const struct row_block b = {begin, (int32_t)row, (int32_t)work};
    ((struct row_block *)p->prepared)[number] = b;
}

DEVICE void put_long(const struct product *p, int64_t number, int64_t first, int64_t row)
{
    const struct long_row l = {first, row};
    ((struct long_row *)((struct row_block *)p->prepared + p->fact[LONG_AT]))[number] = l;
}

/* A wave a window: its lanes look for the longest row together, and write the pieces of a long one. */
DEVICE void write_window(const struct product *p, const struct window *w, struct place at)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t rows = w->head - w->first, last = w->head, entries = w->alone - w->begin;
    int64_t longest = 0;
    for (int64_t i = w->first + simt_lane(); i < w->head; i += WAVE) {
        const int64_t length = row_ptr[i + 1] - row_ptr[i];
        longest = length > longest ? length : longest;
    }
    longest = wave_max_long(longest, WAVE);
    if (simt_lane() == 0 && rows > 0)
        put_block(p, at.block, w->begin, w->first,
                  rows == 1 ? VECTOR : 1 + steps_for((int)rows, (int)entries, (int)longest, (int)p->dim[THREADS]));
    at.block += rows > 0;
    if (simt_lane() == 0 && w->end > last && w->pieces == 0)
        put_block(p, at.block, w->alone, last, VECTOR);
    if (simt_lane() == 0 && w->pieces > 0)
        put_long(p, at.longs, at.piece, last);
    for (int64_t i = simt_lane(); i < w->pieces; i += WAVE)
        put_block(p, at.block + i, w->alone + i * p->dim[CAPACITY], last, -1 - (at.piece + i));
}

KERNEL(csr_adaptive_write)(struct product p)
{
    const int64_t windows = p.dim[WINDOWS];
    for (int64_t i = simt_global_id() / WAVE; i < windows; i += simt_global_size() / WAVE) {
        const struct window w = window_at(&p, i);
        write_window(&p, &w, place_of(&p, i));
    }
    if (simt_global_id() == 0) {
        const struct place end = place_of(&p, windows);
        put_block(&p, end.block, p.nnz, p.rows, VECTOR);
        put_long(&p, end.longs, end.piece, p.rows);
    }
}

/* ------------------------------------------------------------------ the product -------------------------------- */

#define NPT_MOST 8

/* Product k of a block stands here: one place in every 128 bytes (all banks once) stays free. */
DEVICE int slot(int k)
{
    return k + (int)((unsigned)k / (128 / sizeof(real)));
}

DEVICE int at_most(int i, int most)
{
    return i < most ? i : most;
}

/* Products of the entries thread, thread + threads, ... from `begin` on, npt of them.  Behind the end, which must be behind the
 * beginning, the last one is repeated: loads without conditions are all under way at once, col and val before the first x. */
DEVICE void multiply(real *product, const struct product *p, int64_t begin, int entries, const int threads, const int npt)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
    const real *RESTRICT x = (const real *)p->x;
    idx c[NPT_MOST];
    for (int i = 0; i < npt; i++) {
        const int k = at_most(simt_thread_id() + i * threads, entries - 1);
        c[i] = simt_stream(col + k);
        product[i] = simt_stream(val + k);
    }
    for (int i = 0; i < npt; i++)
        product[i] *= simt_readonly(x + c[i]);
}

/* Every thread of the wave stays until the last row of the block is done, as in csr_vector. */
DEVICE void sum_rows(const struct product *p, struct row_block mine, int rows, const real *staged, const uint16_t *offset)
{
    real *RESTRICT y = (real *)p->y + mine.row;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    const int shift = mine.work - 1, lanes = 1 << shift, lane = simt_lane() & (lanes - 1);
    for (int first = 0; first < rows; first += simt_block_size() >> shift) {
        const int row = first + (simt_thread_id() >> shift);
        real sum = 0;
        if (row < rows) {
            int k = offset[row] + lane;
            for (int left = (offset[row + 1] - k + lanes - 1) >> shift; left > 0; left--, k += lanes)
                sum += staged[slot(k)];
        }
        for (int by = lanes / 2; by > 0; by /= 2)
            sum += simt_shfl_xor(sum, by, WAVE);
        if (lane == 0 && row < rows)
            store(y + row, alpha, sum, beta);
    }
}

/* Offsets within a block fit into 16 bits.  The first two of a thread travel with its entries; more are rare. */
DEVICE void stream(const struct product *p, struct row_block mine, struct row_block next, real *staged, const int threads,
                   const int npt)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    uint16_t *offset = (uint16_t *)(staged + slot(threads * npt));
    const int entries = (int)(next.begin - mine.begin), rows = next.row - mine.row, thread = simt_thread_id();
    const off one = simt_readonly(row_ptr + at_most(thread, rows));
    const off two = simt_readonly(row_ptr + at_most(thread + threads, rows));
    if (entries > 0) {
        real product[NPT_MOST];
        multiply(product, p, mine.begin, entries, threads, npt);
        for (int i = 0; i < npt; i++)
            staged[slot(thread) + i * slot(threads)] = product[i];
    }
    if (thread <= rows)
        offset[thread] = (uint16_t)(one - mine.begin);
    if (thread + threads <= rows)
        offset[thread + threads] = (uint16_t)(two - mine.begin);
    for (int i = thread + 2 * threads; i <= rows; i += threads)
        offset[i] = (uint16_t)(simt_readonly(row_ptr + i) - mine.begin);
    simt_sync();
    sum_rows(p, mine, rows, staged, offset);
}

/* A row, or a piece of one, by the whole block. */
DEVICE void one_row(const struct product *p, struct row_block mine, struct row_block next, const int threads, const int npt)
{
    real product[NPT_MOST], sum = 0;
    for (int64_t begin = mine.begin; begin < next.begin; begin += threads * npt) {
        const int64_t left = next.begin - begin;
        const int entries = left < threads * npt ? (int)left : threads * npt;
        multiply(product, p, begin, entries, threads, npt);
        for (int i = 0; i < npt; i++)
            sum += simt_thread_id() + i * threads < entries ? product[i] : 0;
    }
    sum = block_sum(sum);
    if (simt_thread_id() == 0 && mine.work == VECTOR)
        store((real *)p->y + mine.row, scalar(p->alpha), sum, scalar(p->beta));
    else if (simt_thread_id() == 0)
        ((real *)p->workspace)[-1 - mine.work] = sum;
}

DEVICE void row_blocks(const struct product *p, const int threads, const int npt)
{
    SHARED_DYNAMIC(real, staged);
    const struct row_block *RESTRICT block = (const struct row_block *)p->prepared;
    for (int64_t b = simt_block_id(); b < p->fact[BLOCKS]; b += simt_grid_size()) {
        const struct row_block mine = block[b], next = block[b + 1];
        if (b >= simt_grid_size())
            simt_sync(); /* the block before has been summed */
        if (mine.work > 0)
            stream(p, mine, next, staged, threads, npt);
        else
            one_row(p, mine, next, threads, npt);
    }
}

/* A kernel per shape, so that loads are unrolled and stand at constant distances. */
KERNEL_BOUND(csr_adaptive_128x4, 128)(struct product p)
{
    row_blocks(&p, 128, 4);
}
KERNEL_BOUND(csr_adaptive_128x8, 128)(struct product p)
{
    row_blocks(&p, 128, 8);
}
KERNEL_BOUND(csr_adaptive_256x4, 256)(struct product p)
{
    row_blocks(&p, 256, 4);
}
KERNEL_BOUND(csr_adaptive_256x8, 256)(struct product p)
{
    row_blocks(&p, 256, 8);
}
KERNEL_BOUND(csr_adaptive_512x4, 512)(struct product p)
{
    row_blocks(&p, 512, 4);
}
KERNEL_BOUND(csr_adaptive_512x8, 512)(struct product p)
{
    row_blocks(&p, 512, 8);
}

/* The sums of the pieces of a long row: a block a row. */
KERNEL(csr_adaptive_long)(struct product p)
{
    const struct long_row *row = (const struct long_row *)((const struct row_block *)p.prepared + p.fact[LONG_AT]);
    const real *piece = (const real *)p.workspace;
    for (int64_t i = simt_block_id(); i < p.fact[LONGS]; i += simt_grid_size()) {
        real sum = 0;
        for (int64_t k = row[i].first + simt_thread_id(); k < row[i + 1].first; k += simt_block_size())
            sum += piece[k];
        sum = block_sum(sum);
        if (simt_thread_id() == 0)
            store((real *)p.y + row[i].row, scalar(p.alpha), sum, scalar(p.beta));
    }
}

#else
#include "kernel/device.h"

static const struct option options[] = {
    {"threads", 256, VALUES(128, 256, 512)},
    {"npt", 0, VALUES(0, 4, 8)},
    {0},
};
enum { OPTION_THREADS, OPTION_NPT };

static const char *const entries[] = {
    "csr_adaptive_128x4", "csr_adaptive_128x8", "csr_adaptive_256x4", "csr_adaptive_256x8", "csr_adaptive_512x4",
    "csr_adaptive_512x8", "csr_adaptive_long",  "csr_adaptive_count", "csr_adaptive_scan",  "csr_adaptive_write", NULL,
};

#define ROW_BLOCK_BYTES 16 /* and a long row has as many */

/* Automatic: 8; on AMD, whose multiprocessors have less shared memory, 4, which with 256 threads is the original's block. */
static int64_t npt_of(const struct work *w)
{
    return w->option[OPTION_NPT] ? w->option[OPTION_NPT] : gpu_arch(w->device->gpu)->amd ? 4 : 8;
}

static int64_t capacity_of(const struct work *w)
{
    return w->option[OPTION_THREADS] * npt_of(w);
}

/* So much smaller than the capacity that the last row of a window, if it is not much longer than others, fits into the block;
 * and smaller where there would be too few blocks for the device. */
#define BLOCKS_EACH 4 /* a multiprocessor */
static int64_t window_of(const struct work *w)
{
    const struct product *p = &w->product;
    int64_t capacity = capacity_of(w), slack = p->rows ? 4 * (p->nnz / p->rows) : 0;
    int64_t share = (p->nnz + p->rows) / (BLOCKS_EACH * gpu_info_of(w->device->gpu)->multiprocessors);
    slack = slack < 32 ? 32 : slack > capacity / 4 ? capacity / 4 : slack;
    if (share > capacity - slack)
        return capacity - slack;
    return share > w->option[OPTION_THREADS] ? share : w->option[OPTION_THREADS];
}

static int64_t windows_of(const struct work *w)
{
    return (w->product.nnz + w->product.rows + window_of(w) - 1) / window_of(w);
}

/* At most: a window makes two blocks, a long row one more for every capacity of entries. */
static int64_t blocks_most(const struct work *w)
{
    return 2 * windows_of(w) + w->product.nnz / capacity_of(w);
}

static int64_t longs_most(const struct work *w)
{
    return w->product.nnz / (LONG * capacity_of(w));
}

static int64_t held(const struct work *w)
{
    return (blocks_most(w) + 1 + longs_most(w) + 1) * ROW_BLOCK_BYTES;
}

static int64_t workspace(const struct work *w)
{
    return (w->product.nnz / capacity_of(w) + longs_most(w)) * (int64_t)type_size(w->value);
}

/* The blocks of threads that the grid may have; threads come round to the rest. */
static int64_t grid_of(const struct work *w, int64_t blocks, int64_t threads)
{
    int64_t most = UINT32_MAX / threads, limit = gpu_info_of(w->device->gpu)->grid;
    most = limit < most ? limit : most;
    return blocks < most ? blocks : most;
}

static heddle_status prepare(struct work *w)
{
    heddle_status status;
    struct work q = *w;
    int64_t windows = windows_of(w), bytes = COUNTS * (windows + 1) * (int64_t)sizeof(int64_t), total[COUNTS];
    q.product.workspace = NULL;
    q.product.dim[WINDOW] = window_of(w);
    q.product.dim[CAPACITY] = capacity_of(w);
    q.product.dim[THREADS] = w->option[OPTION_THREADS];
    q.product.dim[WINDOWS] = windows;
    q.product.fact[LONG_AT] = w->product.fact[LONG_AT] = blocks_most(w) + 1;
    TRY(device_alloc(w->device, &q.product.workspace, bytes));
    TRY(gpu_run_over(&q, "csr_adaptive_count", windows));
    TRY(gpu_run(&q, "csr_adaptive_scan", COUNTS, windows < 1024 ? 256 : 1024, 0));
    TRY(gpu_run_over(&q, "csr_adaptive_write", windows * gpu_info_of(w->device->gpu)->wave));
    for (int i = 0; i < COUNTS; i++)
        TRY(device_read(w->device, &total[i], (int64_t *)q.product.workspace + i * (windows + 1) + windows, sizeof total[i]));
    w->product.fact[BLOCKS] = total[OF_BLOCKS];
    w->product.fact[LONGS] = total[OF_LONGS];
done:
    device_free(w->device, q.product.workspace);
    return status;
}

/* Shared memory: the products with their gaps, and an offset a row. */
static heddle_status launch(const struct work *w)
{
    heddle_status status;
    int64_t threads = w->option[OPTION_THREADS], capacity = capacity_of(w), value = (int64_t)type_size(w->value);
    int64_t shared = capacity * value + capacity * value / 128 * value + (capacity + 1) * (int64_t)sizeof(uint16_t);
    int entry = (threads == 128 ? 0 : threads == 256 ? 2 : 4) + (npt_of(w) == 8);
    TRY(gpu_run(w, entries[entry], grid_of(w, w->product.fact[BLOCKS], threads), (int)threads, shared));
    if (w->product.fact[LONGS] > 0)
        TRY(gpu_run(w, "csr_adaptive_long", grid_of(w, w->product.fact[LONGS], 256), 256, 0));
done:
    return status;
}

static double cost(const struct work *w, const struct stored *s)
{
    return cost_of_streams(w, s) + (double)(windows_of(w) * ROW_BLOCK_BYTES);
}

const struct kernel csr_adaptive = {
    .name = "csr_adaptive",
    .id = KERNEL_csr_adaptive,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "CSR-adaptive, Greathouse and Daga 2014; hola-spmv-2017 section 2.1",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .workspace = workspace,
    .held = held,
    .prepare = prepare,
    .launch = launch,
    .cost = cost,
};
#endif
