/* SPDX-License-Identifier: MIT
 *
 * csr_weft: Heddle's own transposed product from plain CSR, for any matrix.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR.
 * Source     Heddle.  Additions into a copy in shared memory, flushed at the end, are an old trick of
 *            histograms.
 * Balance    a look at the row offsets and at a sample of the columns (look.c, look_columns.h), once a
 *            matrix, has cut it into row blocks of about equal work and tells what columns are like.
 *            There are three ways to take entries:
 *            - entries: a block of threads shares out those of its row block, whose rows it has written to
 *              a table;
 *            - rows: a lane takes a row, where all are short;
 *            - alike: a lane takes the same place of several neighbouring rows and adds up those of one
 *              column;
 *            and for the first a cache of y in shared memory, for several row blocks, which is added to y
 *            in the end.  A place is the first column's that comes to it: columns that come often come
 *            soon, and neighbours never share a place.  The hottest columns are summed in registers.
 * Memory     val and col are streamed past the caches, each once and by whole lines.  What limits this
 *            product is additions to y in L2: on an H200 about 95 billion a second to places all over y,
 *            470 where the lanes of a wave add to neighbours, but one in 1.8 ns within one line of 128
 *            bytes.  So they are put together first wherever columns repeat.  A first small kernel scales
 *            y, while entries are on their way.
 * Wins       columns that repeat among neighbouring rows, hot columns, uneven rows.
 * Loses      columns without any order, where every entry is an addition in L2, here as elsewhere.
 * Order      that of arrival: not repeatable.
 */
#include "convert/look.h"

/* product.fact[LOOK_OWN]: row blocks of a block of threads that has a cache. */
#define BLOCK LOOK_THREADS

/* Neighbouring rows that lanes take together where they are alike, and how many lanes do. */
#define ALIKE_LONG 8
#define ALIKE(real_bytes) (24 / (int)(real_bytes))
#define ALIKE_LANES 32

#ifdef HEDDLE_DEVICE

KERNEL_BOUND(csr_weft_scale, BLOCK)(struct product p)
{
    simt_let_next();
    scale_all((real *)p.y, p.cols, beta_of(&p));
}

/* -------------------------------------------------------- a cache of y ------------------------ */

#define PLACES CACHE_PLACES(sizeof(real))

/* How an entry is added: to y at once; to the cache, if it has a place there; or first of all to the sums
 * of hot columns. */
enum { AT_ONCE, CACHED, CACHED_HOT };

struct cache {
    real *sum; /* in shared memory */
    idx *key;  /* the column of each, or -1 */
    idx hot[HOT_MOST];
    real hot_sum[HOT_MOST]; /* of this thread */
};

DEVICE void begin_cache(const struct product *p, struct cache *c, const int how)
{
    const int64_t *hot = (const int64_t *)(const void *)((const char *)p->prepared + p->fact[LOOK_HOT]);
    for (int i = 0; how == CACHED_HOT && i < HOT_MOST; i++) {
        c->hot[i] = p->fact[LOOK_HOT] ? (idx)simt_readonly(hot + i) : -1;
        c->hot_sum[i] = 0;
    }
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < PLACES; i += BLOCK) {
        c->sum[i] = 0;
        c->key[i] = -1;
    }
    simt_sync();
}

DEVICE void add(const struct product *p, struct cache *c, idx column, real v, const int how)
{
    real *const y = (real *)p->y + column;
    int is_hot = 0;
    if (how == AT_ONCE) {
        simt_atomic_add(y, v);
        return;
    }
    for (int i = 0; how == CACHED_HOT && i < HOT_MOST; i++) {
        c->hot_sum[i] += column == c->hot[i] ? v : 0;
        is_hot |= column == c->hot[i];
    }
    if (is_hot)
        return;
    const uint32_t at = (uint32_t)column % PLACES;
    idx there = simt_atomic_load(c->key + at);
    if (there == -1)
        there = simt_atomic_cas(c->key + at, -1, column);
    if (there == -1 || there == column)
        simt_atomic_add(c->sum + at, v);
    else
        simt_atomic_add(y, v);
}

DEVICE void end_cache(const struct product *p, const struct cache *c, const int how)
{
    real *const y = (real *)p->y;
    simt_sync();
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < PLACES; i += BLOCK)
        if (c->sum[i] != 0)
            simt_atomic_add(y + c->key[i], c->sum[i]);
    for (int i = 0; how == CACHED_HOT && i < HOT_MOST; i++)
        if (c->hot[i] >= 0) { /* for all threads or none */
            const real sum = block_sum(c->hot_sum[i]);
            if (simt_thread_id() == 0 && sum != 0)
                simt_atomic_add(y + c->hot[i], sum);
        }
}

/* -------------------------------------------------------- row blocks -------------------------- */

/* Rows whose entries are shared out, in shared memory: the factor of each row, and the row of each entry
 * of the row block. */
#define ROWS 1024
#define ENTRIES (LOOK_WINDOW_MOST + LOOK_WINDOW_MOST / 4)
struct rows {
    real factor[ROWS];
    uint16_t of[ENTRIES];
    int32_t end;
};

/* Entries that a thread has under way. */
#define UNDER_WAY 4
struct some {
    idx column[UNDER_WAY];
    elem v[UNDER_WAY];
};

DEVICE struct some some_at(const struct product *p, int64_t from, int k, int n)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + k;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + from + k;
    struct some s;
    for (int i = 0; i < UNDER_WAY; i++) {
        s.column[i] = simt_stream_if(has_entry(k, i * BLOCK, n), col + i * BLOCK);
        s.v[i] = simt_stream_if(has_entry(k, i * BLOCK, n), val + i * BLOCK);
    }
    return s;
}

/* Which of some rows from `row` on has which of n entries from `from` on: the lanes that would sum a row
 * (look.c) tell for it, for one that is long for them, the wave. */
#define LONG 32 /* entries a lane */
DEVICE void begin_rows(const struct product *p, struct rows *r, real alpha, int64_t row, int rows,
                       int64_t from, int n, int shift)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + row;
    const int lanes = 1 << shift, lane = simt_lane() & (lanes - 1);
    SIMT_ROLLED
    for (int first = simt_wave_id() * WAVE >> shift; first < rows;
         first += BLOCK >> shift) { /* that of the wave */
        const int i = first + (simt_lane() >> shift);
        const int64_t at = simt_readonly(row_ptr + (i < rows ? i : rows)) - from,
                      past = simt_readonly(row_ptr + (i < rows ? i + 1 : rows)) - from;
        const int begin = (int)at, end = past < n ? (int)past : n, is_long = end - begin > LONG * lanes;
        if (i < rows && lane == 0)
            r->factor[i] = times(alpha, simt_readonly((const real *)p->x + row + i));
        if (i == rows - 1 && lane == 0)
            r->end = end;
        SIMT_ROLLED
        for (int k = is_long ? end : begin + lane; k < end; k += lanes)
            r->of[k] = (uint16_t)i;
        SIMT_ROLLED
        for (uint64_t todo = simt_ballot(is_long && lane == 0); todo; todo &= todo - 1) {
            const int owner = simt_ffs(todo) - 1, till = simt_shfl(end, owner, WAVE),
                      whose = simt_shfl(i, owner, WAVE);
            SIMT_ROLLED
            for (int k = simt_shfl(begin, owner, WAVE) + simt_lane(); k < till; k += WAVE)
                r->of[k] = (uint16_t)whose;
        }
    }
}

/* All threads share the entries of a row block.  The first of them are under way before it is known which
 * rows they are of.  Blocks with more rows than fit, most of them empty, are done in several strips.  One
 * row needs no table. */
DEVICE void add_block(const struct product *p, struct row_block mine, struct row_block next, struct rows *r,
                      struct cache *c, const int how)
{
    const int n = (int)(next.begin - mine.begin), all = next.row - mine.row;
    const int is_one = mine.work <= ONE_ROW;
    const real alpha = alpha_of(p),
               factor = is_one ? times(alpha, simt_readonly((const real *)p->x + mine.row)) : 0;
    int low = 0;
    SIMT_ROLLED
    for (int first = 0; is_one ? first == 0 : first < all; first += ROWS) {
        int k = low + first_entry((off)(mine.begin + low), simt_thread_id());
        struct some s = some_at(p, mine.begin, k, n);
        if (!is_one)
            begin_rows(p, r, alpha, mine.row + first, all - first < ROWS ? all - first : ROWS, mine.begin, n,
                       mine.work - 1);
        simt_sync();
        const int high = alpha == 0 ? low : is_one ? n : r->end; /* of alpha = 0 nothing is added */
        simt_after_previous();
        SIMT_ROLLED
        while (k < high) {
            for (int i = 0; i < UNDER_WAY; i++)
                if (k + i * BLOCK >= low && k + i * BLOCK < high)
                    add(p, c, s.column[i], term(p, s.v[i], is_one ? factor : r->factor[r->of[k + i * BLOCK]]),
                        how);
            k += UNDER_WAY * BLOCK;
            s = some_at(p, mine.begin, k, n);
        }
        low = high;
        simt_sync();
    }
}

/* Blocks on a multiprocessor: as many as do not make the compiler spill; fewer where 64-bit offsets or
 * wide numbers take registers. */
#define WIDEST (sizeof(elem) == 2 || sizeof(real) == 16 ? 3 : 4)
#define RESIDENT(f32, f64)                                                                                   \
    (sizeof(off) == 8 ? WIDEST : sizeof(real) == 4 ? (f32) : sizeof(real) == 8 ? (f64) : 3)

KERNEL_RESIDENT(csr_weft_entries, BLOCK, RESIDENT(6, 5))(struct product p)
{
    SHARED(struct rows, rows, 1);
    const struct row_block *RESTRICT block = (const struct row_block *)p.prepared + p.first + simt_block_id();
    struct cache none;
    add_block(&p, block[0], block[1], rows, &none, AT_ONCE);
}

/* Some row blocks with a cache. */
DEVICE void some_blocks(const struct product *p, const int how)
{
    SHARED(struct rows, rows, 1);
    SHARED(real, sum, PLACES);
    SHARED(idx, key, PLACES);
    const struct row_block *RESTRICT block = (const struct row_block *)p->prepared;
    const int64_t first = (p->first + simt_block_id()) * p->fact[LOOK_OWN], past = first + p->fact[LOOK_OWN];
    struct cache c;
    c.sum = sum;
    c.key = key;
    begin_cache(p, &c, how);
    SIMT_ROLLED
    for (int64_t i = first; i < past && i < p->fact[LOOK_BLOCKS]; i++)
        add_block(p, block[i], block[i + 1], rows, &c, how);
    end_cache(p, &c, how);
}

KERNEL_RESIDENT(csr_weft_cached, BLOCK, sizeof(real) == 16 ? 3 : 5)(struct product p)
{
    some_blocks(&p, CACHED);
}

KERNEL_RESIDENT(csr_weft_hot, BLOCK, RESIDENT(5, 4))(struct product p)
{
    some_blocks(&p, CACHED_HOT);
}

/* -------------------------------------------------------- a lane a row ------------------------ */

KERNEL_RESIDENT(csr_weft_rows, BLOCK, RESIDENT(8, 6))(struct product p)
{
    const off *RESTRICT row_ptr = (const off *)p.array[CSR_ROW_PTR];
    const uint32_t rows = (uint32_t)p.rows,
                   row = ((uint32_t)p.first + simt_block_id()) * BLOCK + simt_thread_id();
    const off begin = simt_readonly(row_ptr + (row < rows ? row : rows));
    const real alpha = alpha_of(&p),
               factor = row < rows ? times(alpha, simt_readonly((const real *)p.x + row)) : 0;
    const off end = simt_readonly(row_ptr + (row < rows ? row + 1 : rows));
    const int n = alpha == 0 ? 0 : (int)(end - begin);
    const idx *RESTRICT col = (const idx *)p.array[CSR_COL] + begin;
    const elem *RESTRICT val = (const elem *)p.array[CSR_VAL] + begin;
    SIMT_ROLLED
    for (int k = 0; k < n; k += UNDER_WAY) {
        struct some s;
        for (int i = 0; i < UNDER_WAY; i++) {
            s.column[i] = k + i < n ? simt_readonly(col + k + i) : 0;
            s.v[i] = k + i < n ? simt_readonly(val + k + i) : 0;
        }
        simt_after_previous();
        for (int i = 0; i < UNDER_WAY; i++)
            if (k + i < n)
                simt_atomic_add((real *)p.y + s.column[i], term(&p, s.v[i], factor));
    }
    simt_after_previous(); /* also where nobody adds anything, alpha being 0: y is not scaled before */
}

/* -------------------------------------------------------- rows that are alike ----------------- */

/* `lanes` lanes take `together` neighbouring rows: a lane the same place of each, and adds up those of one
 * column. */
DEVICE void alike(const struct product *p, const int lanes, const int together)
{
    const int64_t group = (p->first + simt_block_id()) * (BLOCK / lanes) + simt_thread_id() / lanes,
                  row = group * together;
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const off begin = simt_readonly(row_ptr + (row < p->rows ? row : p->rows));
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + begin;
    int64_t end[ALIKE_LONG + 1], most = 0;
    const real alpha = alpha_of(p);
    real factor[ALIKE_LONG];
    end[0] = 0;
    for (int i = 0; i < together; i++) {
        end[i + 1] = simt_readonly(row_ptr + (row + i < p->rows ? row + i + 1 : p->rows)) - begin;
        factor[i] = row + i < p->rows ? times(alpha, simt_readonly((const real *)p->x + row + i)) : 0;
        most = end[i + 1] - end[i] > most ? end[i + 1] - end[i] : most;
    }
    most = alpha == 0 ? 0 : most;
    for (int64_t k = simt_thread_id() % lanes; k < most; k += lanes) {
        idx at[ALIKE_LONG], open = -1;
        elem v[ALIKE_LONG];
        real sum = 0;
        for (int i = 0; i < together; i++) {
            at[i] = simt_stream_if(end[i] + k < end[i + 1], col + end[i] + k);
            v[i] = simt_stream_if(end[i] + k < end[i + 1], val + end[i] + k);
        }
        simt_after_previous();
        for (int i = 0; i < together; i++) {
            if (end[i] + k >= end[i + 1])
                continue;
            if (at[i] != open && open >= 0)
                simt_atomic_add((real *)p->y + open, sum);
            sum = (at[i] == open ? sum : 0) + term(p, v[i], factor[i]);
            open = at[i];
        }
        if (open >= 0)
            simt_atomic_add((real *)p->y + open, sum);
    }
    simt_after_previous();
}

KERNEL_RESIDENT(csr_weft_alike, BLOCK, RESIDENT(5, 4))(struct product p)
{
    alike(&p, ALIKE_LANES, ALIKE(sizeof(real)));
}

KERNEL_RESIDENT(csr_weft_alike_long, BLOCK, 2)(struct product p)
{
    alike(&p, BLOCK, ALIKE_LONG);
}

#else
#include "kernel/kernel.h"
#include <math.h>

/* way=...: one of them, for the tests. */
static const char *const words[] = {"auto", "entries", "cached", "hot", "rows", "alike", "alike_long"};
enum way { AUTO, BY_ENTRIES, IN_CACHE, IN_CACHE_HOT, BY_ROWS, ALIKE_ROWS, ALIKE_LONG_ROWS };
static const struct option options[] = {
    {"way", AUTO, WORDS(words)},
    {0},
};

static const char *const entries[] = {
    "csr_weft_scale", "csr_weft_entries", "csr_weft_cached",     "csr_weft_hot",
    "csr_weft_rows",  "csr_weft_alike",   "csr_weft_alike_long", NULL};

/* What additions cost, in ps, on an H200 (heddle bench --limits): to places all over y, to neighbours,
 * within one line of y, in shared memory; what a cache costs in all; and how many of those that are close
 * go together. */
#define ADD_RANDOM 11.
#define ADD_CLOSE(value) (vector_size(value) == 4 ? 2.1 : vector_size(value) == 8 ? 4.2 : 8.4)
#define ADD_LINE 1800.
#define ADD_SHARED(value) (vector_size(value) == 4 ? 2. : vector_size(value) == 8 ? 3. : 6.)
#define CACHE_COSTS 5e6
#define CLOSE_TOGETHER 8.
/* What an addition to y costs, if `next` are close to others: the larger of what it takes to get there and
 * of the time for which the most crowded line holds others up, and half of the other. */
static double addition(const struct work *w, double next)
{
    const double way = ADD_RANDOM - next * (ADD_RANDOM - ADD_CLOSE(w->value));
    const double line = look_share(w, COLUMNS_CROWDED) * ADD_LINE * (1 - next * (1 - 1 / CLOSE_TOGETHER));
    return way > line ? way + line / 2 : line + way / 2;
}

/* For a lane: rows of not many entries each and few on average, for what lanes read at once is a row
 * apart. */
#define SHORT_MOST 16
#define SHORT_MEAN 8
/* Times the mean: no row is so long that the lanes of others would wait for it. */
#define EVEN_MOST 4
/* Rows are alike if so many are; a lane goes at most so often along them, unless they are enough for every
 * multiprocessor. */
#define ALIKE_LEAST (1. / 3)
#define ALIKE_ROUNDS 8
/* Entries a thread of the device: so few are a matter of latency, and rows need neither row blocks nor a
 * table. */
#define FEW 4

static int is_even(const struct work *w)
{
    const struct product *p = &w->product;
    return p->fact[LOOK_LONGEST] <= EVEN_MOST * (p->nnz / p->rows + 1);
}

/* What rows that are alike save of all additions. */
static double saved_of(const struct work *w)
{
    const double alike = look_share(w, COLUMNS_ALIKE), together = ALIKE(vector_size(w->value));
    const int64_t multiprocessors = gpu_info_of(w->device->gpu)->multiprocessors,
                  longest = w->product.fact[LOOK_LONGEST];
    const int has_enough = longest <= ALIKE_ROUNDS * BLOCK || w->product.rows >= ALIKE_LONG * multiprocessors;
    return is_even(w) && has_enough && alike >= ALIKE_LEAST ? alike * (1 - 1 / together) : 0;
}

static enum way way_of(const struct work *w)
{
    const struct product *p = &w->product;
    const int64_t longest = p->fact[LOOK_LONGEST];
    const int is_short = longest <= SHORT_MOST && p->nnz <= SHORT_MEAN * p->rows;
    const double nnz = (double)p->nnz, saved = saved_of(w), close = look_share(w, COLUMNS_CLOSE);
    if (w->option[0] != AUTO)
        return (enum way)w->option[0];
    const double at_once =
        addition(w, is_short ? fmax(close, look_share(w, COLUMNS_NEXT)) : close) * (1 - saved);
    const double missed =
        (1 - look_share(w, COLUMNS_CACHED)) * (ADD_RANDOM - close * (ADD_RANDOM - ADD_CLOSE(w->value)));
    if (nnz * at_once > CACHE_COSTS + nnz * (ADD_SHARED(w->value) + missed))
        return p->fact[LOOK_HOT] ? IN_CACHE_HOT : IN_CACHE;
    if (saved > 0)
        return longest > BLOCK ? ALIKE_LONG_ROWS : ALIKE_ROWS;
    if (is_short)
        return BY_ROWS;
    const int is_few = p->nnz <= FEW * gpu_threads(w->device->gpu) && longest <= ALIKE_ROUNDS * ALIKE_LANES;
    return is_few && is_even(w) ? ALIKE_ROWS : BY_ENTRIES;
}

static int64_t rounded_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t blocks_for(const struct work *w, enum way way)
{
    const int64_t rows = w->product.rows;
    switch (way) {
    case BY_ROWS:
        return rounded_up(rows, BLOCK);
    case ALIKE_ROWS:
        return rounded_up(rows, BLOCK / ALIKE_LANES * ALIKE(vector_size(w->value)));
    case ALIKE_LONG_ROWS:
        return rounded_up(rows, ALIKE_LONG);
    case IN_CACHE:
    case IN_CACHE_HOT:
        return rounded_up(w->product.fact[LOOK_BLOCKS], look_together(w));
    default:
        return w->product.fact[LOOK_BLOCKS];
    }
}

/* Few blocks: the product begins when the last of them has. */
static struct launch scale_of(const struct work *w)
{
    const int64_t wanted = w->product.cols / (8 * BLOCK) + 1, most = gpu_threads(w->device->gpu) / BLOCK;
    return (struct launch){"csr_weft_scale", beta_is_one(w) ? 0 : wanted < most ? wanted : most, BLOCK, 0};
}

static heddle_status launch(const struct work *w)
{
    if (w->product.fact[LOOK_BAD])
        return look_refused();
    const enum way way = way_of(w);
    const struct launch add = {entries[way], blocks_for(w, way), BLOCK, 0};
    struct work told = *w;
    told.product.fact[LOOK_OWN] = look_together(w);
    return gpu_run_blocks_behind(&told, scale_of(w), add);
}

const struct kernel csr_weft = {
    .name = "csr_weft",
    .id = KERNEL_csr_weft,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .held = look_held,
    .prepare = look_prepare,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
