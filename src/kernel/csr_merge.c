/* SPDX-License-Identifier: MIT
 *
 * csr_merge: equal shares of rows and entries together, along the merge path.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Merrill and Garland 2016 (SC); compared in hola-spmv-2017.  A product is the merge of two
 *            lists, the ends of the rows and the entries: rows + nnz steps, each of which adds an entry to
 *            its row or finishes a row.  Every block takes a tile of the path, every thread `items` steps
 *            of it.  Two differences: the borders of the tiles are found by the blocks themselves
 *            (search=block), which saves a launch, unless there are so many tiles that a kernel of its own
 *            costs less, as the authors have it (search=kernel); and carries are added without atomics
 *            (carry.h).
 * Balance    perfect, whatever the rows look like: empty ones count, long ones are cut.
 * Memory     val, col and row ends are read once, coalesced, all loads of a tile under way at once;
 *            products and row ends wait in shared memory, finished rows too, so that y is written
 *            coalesced.  x is gathered.
 * Wins       power laws with many entries a row, against kernels that do not balance; every block takes
 *            equally long, and the result is repeatable without preparation.
 * Loses      short rows, even or not, and empty ones: a row's end is a step of the path like an entry;
 *            small matrices (two launches).
 * Order      fixed trees, for the same options and sizes: bitwise repeatable.
 */
#include "kernel/carry.h"

#define BEHIND 2 /* places in shared memory that are read, but not used, behind a tile */
/* A fact that launch sets: the steps of a tile, where a kernel of its own leaves the borders in the
 * workspace, behind the carries; 0: the blocks find them. */
#define SEARCHED 0

#ifdef HEDDLE_DEVICE

#define ITEMS_MOST 9
#define BLOCK_MOST 256
/* So close to the guess the first look of the search begins: what lies between takes one more look. */
#define NEAR 16

/* How many rows end in the first `steps` steps of the path: row i is the step row_end[i] + i.  The whole
 * wave looks at once, at first near where the border would be if all rows were alike, at distances that
 * double, then at equal ones. */
DEVICE int64_t rows_within(const off *row_end, int64_t rows, int64_t nnz, int64_t steps)
{
    const int half = WAVE / 2, lane = simt_lane();
    int64_t low = steps > nnz ? steps - nnz : 0, high = steps < rows ? steps : rows;
    const int64_t guess = (int64_t)((double)steps * ((double)rows / (double)(rows + nnz)));
    const int64_t place =
        lane < half ? guess - ((int64_t)NEAR << (half - 1 - lane)) : guess + ((int64_t)NEAR << (lane - half));
    int within = place < low || (place < high && (int64_t)simt_readonly(row_end + place) + place < steps);
    int count = simt_popc(simt_ballot(within));
    const int64_t below = simt_shfl(place, count > 0 ? count - 1 : 0, WAVE);
    const int64_t above = simt_shfl(place, count < WAVE ? count : WAVE - 1, WAVE);
    low = count > 0 && below >= low ? below + 1 : low;
    high = count < WAVE && above < high ? above : high;
    while (low < high) {
        const int64_t step = (high - low) / WAVE + 1, at = low + (lane + 1) * step - 1;
        within = at < high && (int64_t)simt_readonly(row_end + at) + at < steps;
        count = simt_popc(simt_ballot(within));
        low += count * step;
        high = low + step - 1 < high ? low + step - 1 : high;
    }
    return low;
}

/* A tile: rows [row, row + rows) end in it, and it has the entries [entry, entry + entries). */
struct merge_tile {
    int64_t row, entry;
    int rows, entries;
};

/* Products and, behind them, the ends of the rows, both counted from the tile's first entry, to shared
 * memory.  Loads are not guarded, so that all are under way together: threads without an entry load the
 * last one again. */
DEVICE void load_tile(const struct product *p, const struct merge_tile *t, const int items, real *products,
                      int32_t *row_end)
{
    const off *RESTRICT ends = (const off *)p->array[CSR_ROW_PTR] + 1 + t->row;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const real *RESTRICT val = (const real *)p->array[CSR_VAL];
    const real *RESTRICT x = (const real *)p->x;
    const int thread = simt_thread_id(), threads = simt_block_size();
    const int64_t first = t->entries > 0 ? t->entry : 0;
    const int last = t->entries > 0 ? t->entries - 1 : 0;
    idx c[ITEMS_MOST];
    real v[ITEMS_MOST];
    for (int i = 0; i < items; i++) {
        const int k = i * threads + thread < last ? i * threads + thread : last;
        c[i] = simt_stream(col + first + k);
        v[i] = simt_stream(val + first + k);
    }
    for (int r = thread; r < t->rows; r += threads)
        row_end[r] = (int32_t)(simt_readonly(ends + r) - t->entry);
    if (thread == 0)
        row_end[t->rows] = INT32_MAX; /* of the row that goes on */
    for (int i = 0; i < items; i++)
        v[i] *= simt_readonly(x + c[i]);
    for (int i = 0; i < items; i++)
        if (i * threads + thread < t->entries)
            products[i * threads + thread] = v[i];
}

/* What a thread made of its steps. */
struct walked {
    real finished[ITEMS_MOST]; /* the sum of the row that ended at step i, where bit i of `ended` is set */
    uint32_t ended;
    int row;   /* the first of them, within the tile */
    real open; /* the sum of what comes behind the last one */
};

/* Neither a row's end nor an entry is left behind the last step of the tile.  No branches: the lanes of a
 * wave stand at row ends and entries as it comes, and both loads are cheaper than two ways; one of them
 * may be of what lies behind. */
DEVICE void walk(struct walked *w, const struct merge_tile *t, const int items, const real *products,
                 const int32_t *row_end)
{
    const int total = t->rows + t->entries;
    const int step = simt_thread_id() * items < total ? simt_thread_id() * items : total;
    int low = step > t->entries ? step - t->entries : 0, high = step < t->rows ? step : t->rows;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (row_end[middle] + middle < step)
            low = middle + 1;
        else
            high = middle;
    }
    int k = step - low, row = low;
    int32_t stop = row_end[row];
    w->row = low;
    w->ended = 0;
    w->open = 0;
    for (int i = 0; i < items; i++) {
        const real product = products[k];
        const int32_t next = row_end[row + 1];
        const int ends = k >= stop, adds = !ends && k < t->entries;
        w->finished[i] = w->open;
        w->ended |= (uint32_t)ends << i;
        w->open = ends ? 0 : adds ? w->open + product : w->open;
        stop = ends ? next : stop;
        row += ends;
        k += adds;
    }
}

/* What the threads before this one have added up for the row that it begins in; *out, in the last thread,
 * the same of the whole block.  All threads come; behind the barrier in here nobody needs products and row
 * ends any more. */
DEVICE real carry_in(const struct walked *w, real *out)
{
    SHARED(real, of_wave, BLOCK_MOST / 32);
    SHARED(int, ended_in, BLOCK_MOST / 32);
    const uint64_t ended = simt_ballot(w->ended != 0);
    const real open = wave_run_scan(w->open, ended);
    const real before = simt_shfl_up(open, 1, WAVE);
    if (simt_lane() == WAVE - 1) {
        of_wave[simt_wave_id()] = open;
        ended_in[simt_wave_id()] = ended != 0;
    }
    simt_sync();
    real carry = 0;
    for (int i = 0; i < simt_wave_id(); i++)
        carry = ended_in[i] ? of_wave[i] : carry + of_wave[i];
    *out = ended ? open : carry + open;
    if (simt_lane() == 0)
        return carry;
    return ended & simt_lanes_below() ? before : carry + before;
}

DEVICE void merge_tile(const struct product *p, const struct merge_tile *t, int64_t number, const int items)
{
    SHARED_DYNAMIC(real, products);
    int32_t *row_end = (int32_t *)(void *)(products + t->entries);
    struct walked w;
    real out;
    load_tile(p, t, items, products, row_end);
    simt_sync();
    walk(&w, t, items, products, row_end);
    /* entries of the row that goes on */
    const int left = t->entries - (t->rows > 0 ? row_end[t->rows - 1] : 0);
    real carry = carry_in(&w, &out);
    for (int i = 0, row = w.row; i < items; i++)
        if (w.ended >> i & 1) {
            products[row++] = carry + w.finished[i];
            carry = 0;
        }
    simt_sync();
    for (int r = simt_thread_id(); r < t->rows; r += simt_block_size())
        store_sum(p, t->row + r, products[r]);
    if (p->parts > 1 && simt_thread_id() == simt_block_size() - 1)
        carry_leave(p, p->parts, number, left > 0 ? t->row + t->rows : -1, out);
}

/* The rows in which the tiles begin; the last one's end stands behind. */
DEVICE idx *borders_of(const struct product *p)
{
    return (idx *)(void *)((char *)p->workspace + CARRIES_BYTES(p->parts, sizeof(real)));
}

/* A thread a border: bisection, whose upper steps all threads share. */
DEVICE void find_borders(const struct product *p)
{
    const off *RESTRICT row_end = (const off *)p->array[CSR_ROW_PTR] + 1;
    const int64_t size = p->fact[SEARCHED], total = p->rows + p->nnz;
    for (int64_t i = simt_global_id(); i <= p->parts; i += simt_global_size()) {
        const int64_t steps = i * size < total ? i * size : total;
        int64_t low = steps > p->nnz ? steps - p->nnz : 0, high = steps < p->rows ? steps : p->rows;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if ((int64_t)simt_readonly(row_end + middle) + middle < steps)
                low = middle + 1;
            else
                high = middle;
        }
        borders_of(p)[i] = (idx)low;
    }
}

DEVICE void merge_tiles(const struct product *p, const int items)
{
    SHARED(int64_t, border, 2);
    const off *RESTRICT row_end = (const off *)p->array[CSR_ROW_PTR] + 1;
    const int64_t size = (int64_t)items * simt_block_size(), total = p->rows + p->nnz;
    for (int64_t number = simt_block_id(); number < p->parts; number += simt_grid_size()) {
        const int64_t begin = number * size, end = begin + size < total ? begin + size : total;
        if (simt_wave_id() < 2) {
            const int64_t row = p->fact[SEARCHED]
                                  ? borders_of(p)[number + simt_wave_id()]
                                  : rows_within(row_end, p->rows, p->nnz, simt_wave_id() == 0 ? begin : end);
            if (simt_lane() == 0)
                border[simt_wave_id()] = row;
        }
        simt_sync();
        struct merge_tile t;
        t.row = border[0];
        t.rows = (int)(border[1] - border[0]);
        t.entry = begin - t.row;
        t.entries = (int)(end - begin) - t.rows;
        merge_tile(p, &t, number, items);
    }
}

/* Odd numbers of items: the threads of a wave then read products from different banks. */
KERNEL_UP_TO(csr_merge5, SIMT_USUAL_BLOCK)(struct product p)
{
    merge_tiles(&p, 5);
}
KERNEL_UP_TO(csr_merge7, SIMT_USUAL_BLOCK)(struct product p)
{
    merge_tiles(&p, 7);
}
KERNEL_UP_TO(csr_merge9, SIMT_USUAL_BLOCK)(struct product p)
{
    merge_tiles(&p, 9);
}

KERNEL(csr_merge_search)(struct product p)
{
    find_borders(&p);
}

KERNEL(csr_merge_carry)(struct product p)
{
    carry_add(&p, p.parts);
}

#else
#include <stdio.h>

#include "kernel/kernel.h"

static const char *const searches[] = {"auto", "block", "kernel"};
enum { SEARCH_AUTO, SEARCH_BLOCK, SEARCH_KERNEL };
enum { OPTION_ITEMS, OPTION_BLOCK, OPTION_SEARCH };
static const struct option options[] = {
    {"items", 0, VALUES(0, 5, 7, 9)},
    {"block", 0, VALUES(0, 128, 256)},
    {"search", SEARCH_AUTO, WORDS(searches)},
    {0},
};

static const char *const entries[] = {"csr_merge5",       "csr_merge7",      "csr_merge9",
                                      "csr_merge_search", "csr_merge_carry", NULL};

static int64_t path(const struct work *w)
{
    return w->product.rows + w->product.nnz;
}

/* Are there fewer than `tiles` of the usual size for every multiprocessor? */
static int fewer_than(const struct work *w, int64_t tiles)
{
    return path(w) < gpu_info_of(w->device->gpu)->multiprocessors * tiles * 256 * 7;
}

/* Automatic: small tiles until every multiprocessor has a few, so that a small matrix is not done by a few
 * of them.  With many, more items: more loads under way, as long as registers leave a multiprocessor a
 * thousand threads. */
#define FEW_TILES 4
#define MANY_TILES 16
static int items_of(const struct work *w)
{
    if (w->option[OPTION_ITEMS])
        return (int)w->option[OPTION_ITEMS];
    return fewer_than(w, FEW_TILES) ? 5 : fewer_than(w, MANY_TILES) || w->value == HEDDLE_F64 ? 7 : 9;
}

static int block_of(const struct work *w)
{
    return w->option[OPTION_BLOCK] ? (int)w->option[OPTION_BLOCK] : fewer_than(w, FEW_TILES) ? 128 : 256;
}

static int64_t tiles(const struct work *w)
{
    const int64_t size = (int64_t)items_of(w) * block_of(w);
    return (path(w) + size - 1) / size;
}

/* A tile waits for its search as long as for its entries; a launch more is worth it only where there are
 * many. */
static int searches_ahead(const struct work *w)
{
    if (w->product.parts <= 1 || w->option[OPTION_SEARCH] == SEARCH_BLOCK)
        return 0;
    return w->option[OPTION_SEARCH] == SEARCH_KERNEL || !fewer_than(w, MANY_TILES);
}

/* A single tile has nobody to leave a carry to, and no borders. */
static int64_t workspace(const struct work *w)
{
    const int64_t n = w->product.parts;
    return n <= 1 ? 0
                  : CARRIES_BYTES(n, type_size(w->value)) +
                        (searches_ahead(w) ? (n + 1) * (int64_t)sizeof(int32_t) : 0);
}

static heddle_status launch(const struct work *given)
{
    heddle_status status = HEDDLE_OK;
    struct work w = *given;
    const int items = items_of(&w), block = block_of(&w);
    const int64_t n = w.product.parts;
    char entry[24];
    snprintf(entry, sizeof entry, "csr_merge%d", items);
    w.product.fact[SEARCHED] = searches_ahead(&w) ? (int64_t)items * block : 0;
    if (w.product.fact[SEARCHED])
        TRY(gpu_run_over(&w, "csr_merge_search", n + 1));
    const struct launch merge = {entry, gpu_grid(&w, n, block), block,
                                 ((int64_t)items * block + BEHIND) * (int64_t)type_size(w.value)};
    TRY(gpu_run_pair(&w, merge, gpu_over(&w, "csr_merge_carry", n > 1 ? n : 0)));
done:
    return status;
}

/* A border that a block looks for takes about 60 sectors of 32 bytes, and a tile has two. */
static double cost(const struct work *w, const struct stored *s)
{
    const double looks = searches_ahead(w) ? 0 : 2 * 60 * 32.0 * (double)w->product.parts;
    return cost_of_streams(w, s) + 2 * (double)workspace(w) + looks;
}

const struct kernel csr_merge = {
    .name = "csr_merge",
    .id = KERNEL_csr_merge,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Merrill and Garland 2016; in hola-spmv-2017",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .parts = tiles,
    .workspace = workspace,
    .launch = launch,
    .cost = cost,
};
#endif
