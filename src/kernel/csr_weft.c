/* SPDX-License-Identifier: MIT
 *
 * csr_weft: Heddle's own transposed product from plain CSR, with nothing prepared, for any matrix.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR.
 * Source     Heddle.  Additions into a copy in shared memory, flushed at the end, are an old trick of histograms.
 * Balance    a block owns a chunk of neighbouring rows, so many that they hold a few thousand entries at the mean row length: it
 *            finds them without a search.  Where its rows are even, a lane (short rows), a wave or the block (long ones)
 *            takes a row; where they are not, entries are dealt out one by one, behind a table in shared memory that tells
 *            the row of each.  A chunk that holds too many entries is only listed, and the first few blocks share what is.
 * Memory     val and col are read once.  What limits this product is additions to y in the second-level cache: on an H200
 *            about 95 billion a second to places all over y, 470 where the lanes of a wave add to neighbours, but one in
 *            1.8 ns within one line of 128 bytes.  So additions are put together first, in three ways:
 *            a lane takes the same place of several neighbouring rows and adds up those of one column (unknowns of a node,
 *            dense rows); a block keeps a window of y in shared memory around the columns that most of its rows are
 *            about, and adds it to y at its end; and the lines of y that a large share of all entries goes to (dense columns)
 *            have copies in the shared memory of every block.
 *            A first small kernel scales y, and beside that looks at a few rows of every chunk (which of these pays?), lists
 *            chunks that are too large, and finds the crowded lines from a sample of all columns.
 * Wins       columns that repeat within a chunk, dense columns, regular rows.
 * Loses      columns without any order: every entry is an addition in the second-level cache then, here as elsewhere.
 * Order      that of arrival: not repeatable.
 */

/* What launch tells the device half in product.fact: the first chunk of this launch (ready: how many blocks look at chunks);
 * rows of a chunk; how many chunks; entries that a chunk may have; of a piece of one that has more; how many blocks do pieces;
 * entries of a row that counts as even; and what ready shall do. */
enum { WEFT_BEGIN, WEFT_HEIGHT, WEFT_CHUNKS, WEFT_LIMIT, WEFT_PIECE, WEFT_BLOCKS, WEFT_EVEN, WEFT_DO };
enum { WEFT_SAMPLE = 1, /* look for crowded lines */
       WEFT_SPARE = 2 /* y is too large for the cache: a window pays also where lanes add to neighbours */ };

/* counters: pieces on the list; blocks that are through with it. */
enum { WEFT_LISTED, WEFT_THROUGH, WEFT_COUNTERS };

/* The workspace begins with the crowded lines; then come one int32_t a chunk, what it is like, and the list. */
#define WEFT_LINES 8
#define WEFT_HEAD 64 /* bytes */

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define BLOCK 256
#define LINE (128 / (int)sizeof(real)) /* entries of y in a cache line */
#define COPIES 4                       /* of a crowded line in a block, so that few lanes meet in one place */
#define KEYS 128
#define TILE 4096 /* entries whose rows the table in shared memory tells */
#define LOOKS 16  /* lanes that look at a chunk, each at one row */

/* What a chunk is like: 0 and above, where its window of y begins; or one of these. */
enum { SCATTERED = -1, ALIKE = -2 };

struct crowded {
    int32_t lines, line[WEFT_LINES];
};

struct listed {
    int32_t chunk, piece;
};

DEVICE int32_t *kinds_of(const struct product *p)
{
    return (int32_t *)((char *)p->workspace + WEFT_HEAD);
}

DEVICE struct listed *list_of(const struct product *p)
{
    return (struct listed *)(kinds_of(p) + (p->fact[WEFT_CHUNKS] + 1) / 2 * 2);
}

DEVICE int64_t offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE uint32_t scrambled(uint32_t key)
{
    return key * 2654435761u;
}

/* ------------------------------------------------------------------ before anything is added ------------------- */

#define SAMPLES 2048
#define OFTEN 10 /* of the samples, or about 1 of 200 entries: a line takes additions 1/170 as fast as all of y does */
#define PLACES 4096
#define CANDIDATES 64

/* Counts a line in the table; true for the one thread that brings it there. */
DEVICE int count_line(int32_t *key, int32_t *count, int32_t line, int *at)
{
    *at = (int)(scrambled((uint32_t)line) >> 20);
    for (int tries = 0; tries < 2; tries++, *at ^= 1) {
        const int32_t before = simt_atomic_cas(key + *at, -1, line);
        if (before == -1 || before == line) {
            simt_atomic_add(count + *at, 1);
            return before == -1;
        }
    }
    return 0;
}

/* Lines of y that many of the sampled columns lie in, at most WEFT_LINES, those with most samples. */
DEVICE void find_crowded(const struct product *p, struct crowded *found)
{
    SHARED(int32_t, key, PLACES);
    SHARED(int32_t, count, PLACES);
    SHARED(int32_t, candidate, CANDIDATES);
    SHARED(int32_t, often, CANDIDATES);
    SHARED(int32_t, candidates, 1);
    int32_t line[SAMPLES / BLOCK];
    int at[SAMPLES / BLOCK], brought[SAMPLES / BLOCK];
    for (int i = 0; i < SAMPLES / BLOCK; i++) {
        const uint32_t place = scrambled((uint32_t)(simt_thread_id() + i * BLOCK + 1)); /* spread evenly over 32 bits */
        const int64_t k = (int64_t)(((uint64_t)place * (uint64_t)((p->nnz >> 8) + 1)) >> 24);
        line[i] = simt_readonly((const idx *)p->array[CSR_COL] + (k < p->nnz ? k : p->nnz - 1)) / LINE;
    }
    for (int i = simt_thread_id(); i < PLACES; i += BLOCK) {
        key[i] = -1;
        count[i] = 0;
    }
    if (simt_thread_id() == 0)
        *candidates = 0;
    simt_sync();
    for (int i = 0; i < SAMPLES / BLOCK; i++)
        brought[i] = count_line(key, count, line[i], &at[i]);
    simt_sync();
    for (int i = 0; i < SAMPLES / BLOCK; i++)
        if (brought[i] && count[at[i]] >= OFTEN) {
            const int32_t place = simt_atomic_add(candidates, 1);
            if (place < CANDIDATES) {
                candidate[place] = line[i];
                often[place] = count[at[i]];
            }
        }
    simt_sync();
    const int n = *candidates < CANDIDATES ? *candidates : CANDIDATES, mine = simt_thread_id();
    if (mine < n) {
        int rank = 0;
        for (int i = 0; i < n; i++)
            rank += often[i] > often[mine] || (often[i] == often[mine] && i < mine);
        if (rank < WEFT_LINES)
            found->line[rank] = candidate[mine];
    }
    if (mine == 0)
        found->lines = n < WEFT_LINES ? n : WEFT_LINES;
}

/* A group of LOOKS lanes looks at the middle entry of as many rows of the chunk, and at the same place of the next row. */
DEVICE void look_at(const struct product *p, int64_t chunk, int here, const int window)
{
    const int lane = simt_lane() % LOOKS;
    const int64_t height = p->fact[WEFT_HEIGHT], first = chunk * height;
    const int64_t last = first + height < p->rows ? first + height : p->rows, row = first + (last - first) * lane / LOOKS;
    const int64_t whole = offset(p, last) - offset(p, first);
    const int64_t begin = offset(p, row), end = offset(p, row + 1), after = offset(p, row + 2), half = (end - begin) / 2;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const idx c = begin < end ? simt_readonly(col + begin + half) : -1;
    const idx below = half < after - end ? simt_readonly(col + end + half) : -1;
    int rank = 0;
    for (int i = 0; i < LOOKS; i++) {
        const idx other = simt_shfl(c, i, LOOKS);
        rank += other >= 0 && (other < c || (other == c && i < lane));
    }
    const int some = wave_sum_int(c >= 0, LOOKS);
    const idx middle = wave_max_int(c >= 0 && rank == some / 2 ? c : -1, LOOKS);
    const idx base = middle > window / 2 ? middle - window / 2 : 0;
    const int inside = wave_sum_int(c >= base && c - base < window, LOOKS);
    const int equal = wave_sum_int(c >= 0 && below == c, LOOKS), next = wave_sum_int(c >= 0 && below == c + 1, LOOKS);
    if (lane != 0 || !here)
        return;
    const int regular = 2 * next >= some && !(p->fact[WEFT_DO] & WEFT_SPARE);
    kinds_of(p)[chunk] = some == 0 ? SCATTERED : 3 * equal >= some ? ALIKE : 8 * inside < 3 * some || regular ? SCATTERED : base;
    if (whole > p->fact[WEFT_LIMIT]) {
        const int64_t size = p->fact[WEFT_PIECE];
        const int32_t pieces = (int32_t)((whole + size - 1) / size);
        const int32_t before = simt_atomic_add(p->counters + WEFT_LISTED, pieces);
        for (int32_t i = 0; i < pieces; i++) {
            const struct listed entry = {(int32_t)chunk, i};
            list_of(p)[before + i] = entry;
        }
    }
}

/* Block 0 takes the sample, some look at chunks, the others scale y. */
DEVICE void make_ready(const struct product *p, const int window)
{
    const int64_t lookers = p->fact[WEFT_BEGIN], chunks = p->fact[WEFT_CHUNKS], each = BLOCK / LOOKS;
    const int64_t block = simt_block_id() - 1;
    if (block < 0) {
        struct crowded *found = (struct crowded *)p->workspace;
        if (p->fact[WEFT_DO] & WEFT_SAMPLE)
            find_crowded(p, found);
        else if (simt_thread_id() == 0)
            found->lines = 0;
    } else if (block < lookers) {
        for (int64_t i = block * each; i < chunks; i += lookers * each) {
            const int64_t chunk = i + simt_thread_id() / LOOKS;
            look_at(p, chunk < chunks ? chunk : chunks - 1, chunk < chunks, window);
        }
    } else {
        const real beta = scalar(p->beta);
        real *y = (real *)p->y;
        const int64_t step = (int64_t)(simt_grid_size() - 1 - lookers) * BLOCK;
        for (int64_t i = (block - lookers) * BLOCK + simt_thread_id(); i < p->cols; i += step)
            y[i] = beta == 0 ? 0 : beta * y[i];
    }
}

/* ------------------------------------------------------------------ where additions go ------------------------- */

struct sink {
    real *y;
    real *window; /* y[base] and the `width` - 1 entries behind it, in shared memory */
    int32_t base;
    uint32_t width;
    int lines; /* crowded lines with copies in shared memory: the table and the copies */
    const int32_t *key, *slot;
    real *copies;
};

DEVICE void add(const struct sink *to, idx c, real v)
{
    if (to->lines) {
        const int32_t line = c / LINE;
        const uint32_t at = scrambled((uint32_t)line) / (uint32_t)(0x100000000 / KEYS);
        if (to->key[at] == line) {
            simt_atomic_add(to->copies + (to->slot[at] * COPIES + simt_lane() % COPIES) * LINE + c % LINE, v);
            return;
        }
    }
    if ((uint32_t)c - (uint32_t)to->base < to->width)
        simt_atomic_add(to->window + (c - to->base), v);
    else
        simt_atomic_add(to->y + c, v);
}

/* Two crowded lines that fall on one key: the second stays without copies. */
DEVICE void begin_lines(struct sink *to, const struct crowded *found, int32_t *key, int32_t *slot, real *copies)
{
    to->lines = simt_readonly(&found->lines);
    to->key = key;
    to->slot = slot;
    to->copies = copies;
    if (to->lines == 0)
        return;
    for (int i = simt_thread_id(); i < KEYS; i += BLOCK)
        key[i] = -1;
    for (int i = simt_thread_id(); i < to->lines * COPIES * LINE; i += BLOCK)
        copies[i] = 0;
    simt_sync();
    if (simt_thread_id() < to->lines) {
        const int32_t line = simt_readonly(&found->line[simt_thread_id()]);
        const uint32_t at = scrambled((uint32_t)line) / (uint32_t)(0x100000000 / KEYS);
        if (simt_atomic_cas(key + at, -1, line) == -1)
            slot[at] = simt_thread_id();
    }
    simt_sync();
}

DEVICE void end_lines(const struct sink *to, const struct crowded *found)
{
    if (to->lines == 0)
        return;
    simt_sync();
    for (int i = simt_thread_id(); i < to->lines * LINE; i += BLOCK) {
        const real *copy = to->copies + i / LINE * COPIES * LINE + i % LINE;
        real sum = 0;
        for (int k = 0; k < COPIES; k++)
            sum += copy[k * LINE];
        if (sum != 0)
            simt_atomic_add(to->y + ((int64_t)simt_readonly(&found->line[i / LINE]) * LINE + i % LINE), sum);
    }
}

/* ------------------------------------------------------------------ chunks ------------------------------------- */

/* Rows and entries that a block works at. */
struct chunk {
    int64_t first, last; /* rows */
    int64_t from, to;    /* entries: all of these rows, or a piece of them */
};

/* A lane a row. */
DEVICE void by_lane(const struct product *p, const struct sink *to, const struct chunk *c)
{
    const real alpha = scalar(p->alpha);
    for (int64_t row = c->first + simt_thread_id(); row < c->last; row += BLOCK) {
        const int64_t begin = offset(p, row);
        const int n = (int)(offset(p, row + 1) - begin);
        const real factor = alpha * simt_readonly((const real *)p->x + row);
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
        for (int k = 0; k < n; k += 4) {
            idx at[4];
            real v[4];
            for (int i = 0; i < 4; i++) {
                at[i] = k + i < n ? simt_readonly(col + k + i) : 0;
                v[i] = k + i < n ? simt_readonly(val + k + i) : 0;
            }
            for (int i = 0; i < 4; i++)
                if (k + i < n)
                    add(to, at[i], v[i] * factor);
        }
    }
}

#define TOGETHER_MOST 8

/* `lanes` lanes take `together` neighbouring rows: a lane the same place of each, and adds up those of one column. */
DEVICE void by_rows(const struct product *p, const struct sink *to, const struct chunk *c, const int lanes, const int together)
{
    const real alpha = scalar(p->alpha);
    const int64_t step = BLOCK / lanes * together;
    for (int64_t row = c->first + simt_thread_id() / lanes * together; row < c->last; row += step) {
        const int64_t begin = offset(p, row);
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
        int end[TOGETHER_MOST + 1], most = 0;
        real factor[TOGETHER_MOST];
        end[0] = 0;
        for (int i = 0; i < together; i++) {
            end[i + 1] = (int)(offset(p, row + i + 1 < c->last ? row + i + 1 : c->last) - begin);
            factor[i] = row + i < c->last ? alpha * simt_readonly((const real *)p->x + row + i) : 0;
            most = end[i + 1] - end[i] > most ? end[i + 1] - end[i] : most;
        }
        for (int k = simt_thread_id() % lanes; k < most; k += lanes) {
            idx at[TOGETHER_MOST], open = -1;
            real v[TOGETHER_MOST], sum = 0;
            for (int i = 0; i < together; i++) {
                at[i] = simt_stream_if(end[i] + k < end[i + 1], col + end[i] + k);
                v[i] = simt_stream_if(end[i] + k < end[i + 1], val + end[i] + k);
            }
            for (int i = 0; i < together; i++) {
                if (end[i] + k >= end[i + 1])
                    continue;
                if (at[i] != open && open >= 0)
                    add(to, open, sum);
                sum = at[i] == open ? sum + v[i] * factor[i] : v[i] * factor[i];
                open = at[i];
            }
            if (open >= 0)
                add(to, open, sum);
        }
    }
}

/* Fills the table with the rows of n entries behind `from`: counted from the chunk's first.  Long rows are written by the
 * wave. */
DEVICE void tell_rows(const struct product *p, const struct chunk *c, uint16_t *row_of, int64_t from, int n)
{
    for (int64_t i = 0; i < c->last - c->first; i += BLOCK) {
        const int64_t row = i + simt_thread_id() < c->last - c->first ? i + simt_thread_id() : c->last - c->first;
        const int64_t begin = offset(p, c->first + row) - from;
        const int64_t end = c->first + row < c->last ? offset(p, c->first + row + 1) - from : begin;
        const int low = begin < 0 ? 0 : begin > n ? n : (int)begin, high = end < 0 ? 0 : end > n ? n : (int)end;
        const int is_long = high - low > 16;
        if (!is_long)
            for (int k = low; k < high; k++)
                row_of[k] = (uint16_t)row;
        for (uint64_t todo = simt_ballot(is_long); todo; todo &= todo - 1) {
            const int owner = simt_ffs(todo) - 1, till = simt_shfl(high, owner, WAVE);
            for (int k = simt_shfl(low, owner, WAVE) + simt_lane(); k < till; k += WAVE)
                row_of[k] = (uint16_t)(i + (simt_thread_id() - simt_lane()) + owner);
        }
    }
}

/* An entry after the other, whatever the rows are. */
DEVICE void by_entry(const struct product *p, const struct sink *to, const struct chunk *c, uint16_t *row_of, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x + c->first;
    const real alpha = scalar(p->alpha);
    for (int64_t from = c->from; from < c->to; from += TILE) {
        const int n = (int)(c->to - from < TILE ? c->to - from : TILE);
        tell_rows(p, c, row_of, from, n);
        simt_sync();
        for (int first = simt_thread_id(); first < n; first += BLOCK * under_way) {
            const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + first;
            const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + first;
            idx at[8];
            real v[8];
            for (int i = 0; i < under_way; i++) {
                at[i] = simt_stream_if(first + i * BLOCK < n, col + i * BLOCK);
                v[i] = simt_stream_if(first + i * BLOCK < n, val + i * BLOCK);
            }
            for (int i = 0; i < under_way; i++)
                if (first + i * BLOCK < n)
                    v[i] *= alpha * simt_readonly(x + row_of[first + i * BLOCK]);
            for (int i = 0; i < under_way; i++)
                if (first + i * BLOCK < n)
                    add(to, at[i], v[i]);
        }
        simt_sync();
    }
}

/* Has every row of the chunk at most so many entries?  Ends with a barrier. */
DEVICE int is_even(const struct product *p, const struct chunk *c)
{
    SHARED(int32_t, uneven, 1);
    if (simt_thread_id() == 0)
        *uneven = 0;
    simt_sync();
    for (int64_t row = c->first + simt_thread_id(); row < c->last; row += BLOCK)
        if (offset(p, row + 1) - offset(p, row) > p->fact[WEFT_EVEN])
            simt_atomic_or(uneven, 1);
    simt_sync();
    return !*uneven;
}

DEVICE void begin_window(struct sink *to, const struct product *p, int32_t base, const int window)
{
    to->base = base;
    to->width = p->cols - base < window ? (uint32_t)(p->cols - base) : (uint32_t)window;
    for (int i = simt_thread_id(); i < window; i += BLOCK)
        to->window[i] = 0;
    simt_sync();
}

DEVICE void end_window(struct sink *to)
{
    const int width = (int)to->width;
    simt_sync();
    for (int i = simt_thread_id(); i < width; i += BLOCK)
        if (to->window[i] != 0)
            simt_atomic_add(to->y + to->base + i, to->window[i]);
    to->width = 0;
    simt_sync();
}

DEVICE struct chunk chunk_at(const struct product *p, int64_t number)
{
    const int64_t first = number * p->fact[WEFT_HEIGHT], last = first + p->fact[WEFT_HEIGHT];
    struct chunk c = {first, last < p->rows ? last : p->rows, 0, 0};
    c.from = offset(p, c.first);
    c.to = offset(p, c.last);
    return c;
}

/* What the kernels differ in. */
struct habit {
    int window;          /* entries of y, 0: none */
    int lanes, together; /* for rows that are even and alike; 1 lane: for all that are even */
    int under_way;       /* entries of a thread, where they are dealt out one by one */
};

/* `window` and `row_of` may be the same memory where lanes is 1: there one or the other is used. */
DEVICE void one_chunk(const struct product *p, struct sink *to, int64_t number, uint16_t *row_of, const struct habit how)
{
    const struct chunk c = chunk_at(p, number);
    const int32_t kind = simt_readonly(kinds_of(p) + number);
    if (c.to - c.from > p->fact[WEFT_LIMIT] || c.from == c.to)
        return;
    const int even = (how.lanes == 1 || kind == ALIKE) && is_even(p, &c);
    const int windowed = how.window && kind >= 0 && (how.lanes > 1 || even);
    if (windowed)
        begin_window(to, p, kind, how.window);
    if (!even)
        by_entry(p, to, &c, row_of, how.under_way);
    else if (how.lanes == 1)
        by_lane(p, to, &c);
    else
        by_rows(p, to, &c, how.lanes, how.together);
    if (windowed)
        end_window(to);
}

/* The blocks that share what is listed; the last of them leaves the counters as they were. */
DEVICE void pieces(const struct product *p, struct sink *to, uint16_t *row_of, const struct habit how)
{
    const int32_t listed = simt_fresh(p->counters + WEFT_LISTED), blocks = (int32_t)p->fact[WEFT_BLOCKS];
    if (listed == 0)
        return;
    for (int32_t i = simt_block_id(); i < listed; i += blocks) {
        const struct listed entry = list_of(p)[i];
        struct chunk c = chunk_at(p, entry.chunk);
        c.from += entry.piece * p->fact[WEFT_PIECE];
        c.to = c.to - c.from < p->fact[WEFT_PIECE] ? c.to : c.from + p->fact[WEFT_PIECE];
        by_entry(p, to, &c, row_of, how.under_way);
    }
    simt_sync();
    if (simt_thread_id() == 0 && simt_atomic_add(p->counters + WEFT_THROUGH, 1) == blocks - 1) {
        p->counters[WEFT_THROUGH] = 0;
        p->counters[WEFT_LISTED] = 0;
    }
}

DEVICE void weft(const struct product *p, real *window, uint16_t *row_of, const struct habit how)
{
    SHARED(int32_t, key, KEYS);
    SHARED(int32_t, slot, KEYS);
    SHARED(real, copies, WEFT_LINES * COPIES * LINE);
    const struct crowded *found = (const struct crowded *)p->workspace;
    struct sink to = {(real *)p->y, window, 0, 0, 0, 0, 0, 0};
    begin_lines(&to, found, key, slot, copies);
    if (simt_block_id() < p->fact[WEFT_BLOCKS])
        pieces(p, &to, row_of, how);
    else
        one_chunk(p, &to, p->fact[WEFT_BEGIN] + simt_block_id() - p->fact[WEFT_BLOCKS], row_of, how);
    end_lines(&to, found);
}

/* ------------------------------------------------------------------ kernels ------------------------------------ */

#define SHORT_WINDOW 2048
#define LONG_WINDOW 4096

KERNEL_BOUND(csr_weft_ready1, BLOCK)(struct product p)
{
    make_ready(&p, SHORT_WINDOW);
}
KERNEL_BOUND(csr_weft_ready32, BLOCK)(struct product p)
{
    make_ready(&p, LONG_WINDOW);
}

KERNEL_RESIDENT(csr_weft1, BLOCK, 6)(struct product p)
{
    SHARED(real, window, SHORT_WINDOW);
    const struct habit how = {SHORT_WINDOW, 1, 1, 4};
    weft(&p, window, (uint16_t *)(void *)window, how);
}
KERNEL_RESIDENT(csr_weft32, BLOCK, 4)(struct product p)
{
    SHARED(real, window, LONG_WINDOW);
    SHARED(uint16_t, row_of, TILE);
    const struct habit how = {LONG_WINDOW, 32, 6, sizeof(real) == 4 ? 8 : 4};
    weft(&p, window, row_of, how);
}
KERNEL_RESIDENT(csr_weft256, BLOCK, 2)(struct product p)
{
    SHARED(uint16_t, row_of, TILE);
    const struct habit how = {0, 256, 8, 4};
    weft(&p, 0, row_of, how);
}

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
static const struct way {
    const char *entry, *ready;
    int pass;       /* rows that a block takes at once */
    int64_t filled; /* entries that a chunk has at the mean row length, at most */
} ways[] = {
    {NULL, NULL, 0, 0},
    {"csr_weft1", "csr_weft_ready1", 256, 4096},
    {"csr_weft32", "csr_weft_ready32", 48, 16384},
    {"csr_weft256", "csr_weft_ready32", 8, 1},
};

static const char *const way_words[] = {"auto", "1", "32", "256"}, *const sample_words[] = {"auto", "always"};
static const struct option options[] = {
    {"way", 0, WORDS(way_words)},
    {"sample", 0, WORDS(sample_words)},
    {0},
};

static const char *const entries[] = {"csr_weft1", "csr_weft32", "csr_weft256", "csr_weft_ready1", "csr_weft_ready32", NULL};

static double mean_of(const struct work *w)
{
    return (double)w->product.nnz / (double)w->product.rows;
}

static const struct way *way_of(const struct work *w)
{
    const double mean = mean_of(w);
    return &ways[w->option[0] ? w->option[0] : mean > 300 ? 3 : mean > 12 ? 2 : 1];
}

/* Chunks: enough for every multiprocessor to have eight, if that leaves each a thousand entries. */
static int64_t height_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t share = w->product.nnz / (8 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors);
    const int64_t filled = share < 1024 ? 1024 : share < way->filled ? share : way->filled;
    const double passes = (double)(filled < way->filled ? filled : way->filled) / mean_of(w) / way->pass;
    const int64_t most = UINT16_MAX / way->pass; /* the table of rows has 16 bits for each */
    return way->pass * (passes < 1 ? 1 : passes > (double)most ? most : (int64_t)(passes + 0.5));
}

static int64_t chunks_of(const struct work *w)
{
    const int64_t height = height_of(w);
    return (w->product.rows + height - 1) / height;
}

/* So many entries may be left to one block; what has more goes into pieces.  A million pieces are enough for anyone. */
static int64_t piece_of(const struct work *w)
{
    const int64_t least = w->product.nnz >> 20;
    return least > 8192 ? least : 8192;
}

static int64_t limit_of(const struct work *w)
{
    const double twice = 2 * mean_of(w) * (double)height_of(w);
    const int64_t share = w->product.nnz / 512, most = share > INT32_MAX / 2 ? INT32_MAX / 2 : share;
    const int64_t wanted = twice < (double)most ? (int64_t)twice : most;
    return wanted > piece_of(w) ? wanted : piece_of(w);
}

/* A chunk on the list has more entries than a piece, so that its pieces are at most twice its share. */
static int64_t workspace(const struct work *w)
{
    return WEFT_HEAD + (chunks_of(w) + 1) / 2 * 8 + (2 * (w->product.nnz / piece_of(w)) + 2) * 8;
}

static int64_t counters(const struct work *w)
{
    (void)w;
    return WEFT_COUNTERS * (int64_t)sizeof(int32_t);
}

#define SAMPLED 65536 /* entries of a matrix that is worth a sample */
#define EVEN_LEAST 8

/* y and what is listed are ready behind this. */
static heddle_status make_ready(struct work *told, const struct way *way)
{
    const int64_t blocks = 8 * (int64_t)gpu_info_of(told->device->gpu)->multiprocessors, cols = told->product.cols;
    const int64_t look = (told->product.fact[WEFT_CHUNKS] + 15) / 16, scale = (cols + 1023) / 1024;
    const int nothing = scalar_get(told->product.beta, told->value) == 1;
    told->product.fact[WEFT_BEGIN] = look < blocks ? look : blocks;
    return gpu_run(told, way->ready, 1 + told->product.fact[WEFT_BEGIN] + (nothing ? 0 : scale < blocks ? scale : blocks), 256, 0);
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t chunks = chunks_of(w), threads = UINT32_MAX / 256; /* AMD: 32 bits */
    int64_t *fact = told.product.fact, most = info->grid < threads ? info->grid : threads;
    const double mean = mean_of(w), even = way->pass == 256 ? 2 * mean : 8 * mean;
    const int large = w->product.cols * (int64_t)type_size(w->value) > info->cache / 2;
    fact[WEFT_HEIGHT] = height_of(w);
    fact[WEFT_CHUNKS] = chunks;
    fact[WEFT_LIMIT] = limit_of(w);
    fact[WEFT_PIECE] = piece_of(w);
    fact[WEFT_EVEN] = even < EVEN_LEAST ? EVEN_LEAST : (int64_t)even;
    fact[WEFT_DO] = (w->product.nnz >= SAMPLED || w->option[1] ? WEFT_SAMPLE : 0) | (large ? WEFT_SPARE : 0);
    TRY(make_ready(&told, way));
    fact[WEFT_BLOCKS] = w->product.nnz > fact[WEFT_LIMIT] ? 2 * (int64_t)info->multiprocessors : 0;
    for (int64_t begin = 0; begin < chunks; begin += most - fact[WEFT_BLOCKS]) {
        const int64_t left = chunks - begin;
        fact[WEFT_BEGIN] = begin;
        if (begin > 0)
            fact[WEFT_BLOCKS] = 0;
        TRY(gpu_run(&told, way->entry, fact[WEFT_BLOCKS] + (left < most - fact[WEFT_BLOCKS] ? left : most - fact[WEFT_BLOCKS]),
                    256, 0));
    }
done:
    return status;
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
    .workspace = workspace,
    .counters = counters,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
