/* SPDX-License-Identifier: MIT
 *
 * csr_weft: Heddle's own transposed product from plain CSR, with nothing prepared, for any matrix.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR.
 * Source     Heddle.  Additions into a copy in shared memory, flushed at the end, are an old trick of histograms.
 * Balance    a block owns a chunk of neighbouring rows, with one to four thousand entries at the mean row length: it finds
 *            them without a search.  A lane (short rows), a wave or the block (long ones) takes a row.  Where rows are uneven, or
 *            few in all, or their columns have no order, a block shares out their entries instead, and searches for the row
 *            of each.  A chunk with too many entries is only listed, and the waves of the first few blocks share the list.
 * Memory     val and col are read once.  What limits this product is additions to y in the second-level cache: on an H200
 *            about 95 billion a second to places all over y, 470 where the lanes of a wave add to neighbours, but one in
 *            1.8 ns within one line of 128 bytes.  So additions are put together first, in three ways:
 *            a lane takes the same place of several neighbouring rows and adds up those of one column (unknowns of a node,
 *            dense rows); a block keeps a window of y in shared memory around the columns that its rows are about,
 *            and adds it to y at its end; and the lines of y that a large share of all entries goes to (dense columns)
 *            have copies in the shared memory of every block.
 *            A first small kernel scales y.  Beside that it looks at some rows (which of these pays?), finds the crowded lines
 *            from a sample of all columns, and lists the chunks that are too large.
 * Wins       columns that repeat within a chunk, dense columns, regular rows.
 * Loses      skewed rows; columns without any order, where every entry is an addition in the second-level cache, here as elsewhere.
 * Order      that of arrival: not repeatable.
 */

/* What launch tells the device half in product.fact: the first chunk of this launch; rows of a chunk; how many chunks a block
 * takes that has something to set up; entries that a chunk may have; of a piece of one that has more; how many blocks do
 * pieces; entries of a row that counts as even; and what ready shall do. */
enum { WEFT_BEGIN, WEFT_HEIGHT, WEFT_MERGED, WEFT_LIMIT, WEFT_PIECE, WEFT_BLOCKS, WEFT_EVEN, WEFT_DO };
enum {
    WEFT_SAMPLE = 1,   /* look for crowded lines */
    WEFT_LOOK = 2,     /* find out what the rows are like */
    WEFT_REPEATED = 4, /* a column has several entries on average */
    WEFT_SCALE = 8,    /* y is not ready as it is */
    WEFT_LIST = 16     /* list large chunks */
};

/* counters: pieces on the list; blocks that are through with it. */
enum { WEFT_LISTED, WEFT_THROUGH, WEFT_COUNTERS };

#define WEFT_LINES 8 /* crowded lines that are looked after, at most */
#define WEFT_HEAD 64 /* bytes: the workspace begins with what ready finds; behind it stands the list */
#define WEFT_ROWS 512 /* of a chunk that is taken entry by entry, at most; a power of two */

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define BLOCK 256
#define READY 1024                     /* threads of a block that makes ready */
#define LINE (128 / (int)sizeof(real)) /* entries of y in a cache line */
#define COPIES 4                       /* of a crowded line in a block, so that few lanes meet in one place */
#define KEYS 128
#define LOOKS 16 /* lanes that look at a chunk, each at one row */
#define SHORT_WINDOW 2048
#define LONG_WINDOW 4096

/* What the matrix is like: its columns have no order; those of a chunk are mostly near each other; neighbouring rows have the
 * same ones. */
enum { SCATTERED, NEAR, ALIKE };

struct found {
    int32_t kind, lines, line[WEFT_LINES];
};

struct listed {
    int32_t chunk, piece;
};

DEVICE struct found *found_of(const struct product *p)
{
    return (struct found *)p->workspace;
}

DEVICE struct listed *list_of(const struct product *p)
{
    return (struct listed *)(void *)((char *)p->workspace + WEFT_HEAD);
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

/* Two samples a thread, spread evenly over all entries.  A line is crowded that has OFTEN of them, or 1 of 340 entries, and
 * twice what is its due: beyond 1 of 170 everything else waits for it. */
#define SAMPLES (2 * READY)
#define OFTEN 6
#define PLACES 4096
#define TOO_MANY 24 /* crowded lines: y is small, and has no others */

struct sample {
    int32_t line;
    int at; /* its place in the table, where it was the first there; else -1 */
};

/* Counts a sample.  Where two lines fall on one place, the first counts. */
DEVICE void count_sample(struct sample *s, int32_t *key, int32_t *count)
{
    const int at = (int)(scrambled((uint32_t)s->line) >> 20);
    const int32_t before = simt_atomic_cas(key + at, -1, s->line);
    if (before == -1 || before == s->line)
        simt_atomic_add(count + at, 1);
    s->at = before == -1 ? at : -1;
}

/* Lines of y that many of the sampled columns lie in, first those with very many. */
DEVICE void find_crowded(const struct product *p)
{
    SHARED(int32_t, key, PLACES);
    SHARED(int32_t, count, PLACES);
    SHARED(int32_t, lines, 1);
    const int least = OFTEN + 2 * SAMPLES * LINE / (int32_t)p->cols;
    struct sample mine[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t part = scrambled((uint32_t)(simt_thread_id() + i * READY) + 1);
        const int64_t k = (int64_t)((part * (uint64_t)((p->nnz >> 8) + 1)) >> 24);
        mine[i].line = simt_readonly((const idx *)p->array[CSR_COL] + (k < p->nnz ? k : p->nnz - 1)) / LINE;
    }
    SIMT_ROLLED for (int i = simt_thread_id(); i < PLACES; i += READY)
    {
        key[i] = -1;
        count[i] = 0;
    }
    if (simt_thread_id() == 0)
        *lines = 0;
    simt_sync();
    for (int i = 0; i < 2; i++)
        count_sample(&mine[i], key, count);
    simt_sync();
    SIMT_ROLLED for (int often = 4 * least; often >= least; often -= 3 * least)
    {
        for (int i = 0; i < 2; i++)
            if (mine[i].at >= 0 && count[mine[i].at] >= often) {
                const int32_t place = simt_atomic_add(lines, 1);
                mine[i].at = -1;
                if (place < WEFT_LINES)
                    found_of(p)->line[place] = mine[i].line;
            }
        simt_sync();
    }
    if (simt_thread_id() == 0)
        found_of(p)->lines = *lines > TOO_MANY ? 0 : *lines > WEFT_LINES ? WEFT_LINES : *lines;
}

/* The column in the middle of a row, -1 without any; `below`: the column at the same place of the next row. */
DEVICE idx middle_of(const struct product *p, int64_t row, idx *below)
{
    const int64_t begin = offset(p, row), end = offset(p, row + 1), after = offset(p, row + 2), half = (end - begin) / 2;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    *below = half < after - end ? simt_readonly(col + end + half) : -1;
    return begin < end ? simt_readonly(col + begin + half) : -1;
}

/* Groups of lanes look at chunks, a lane at a row, and a chunk votes: alike, if of a third of its rows the next has the same
 * column in the middle; near, if columns repeat, three in eight middles lie close to one of them, and lanes with a row each
 * would not add to neighbours anyway. */
DEVICE void find_kind(const struct product *p, int window)
{
    SHARED(int32_t, votes, 3);
    const int64_t height = p->fact[WEFT_HEIGHT], groups = READY / LOOKS, group = simt_thread_id() / LOOKS;
    const int64_t first = (int64_t)((int32_t)p->rows / (int32_t)height) * group / groups * height;
    const int64_t rows = first + height < p->rows ? height : p->rows - first;
    idx below;
    if (simt_thread_id() < 3)
        votes[simt_thread_id()] = 0;
    simt_sync();
    const idx c = middle_of(p, first + rows * (simt_lane() % LOOKS) / LOOKS, &below), other = simt_shfl(c, LOOKS / 2, LOOKS);
    const int near = c >= 0 && other >= 0 && c - other < window / 2 && other - c < window / 2;
    const int follows = c < 0 ? 0 : below == c ? 1 << 16 : below == c + 1 ? 1 << 24 : 0;
    const int seen = wave_sum_int((c >= 0) + (near << 8) + follows, LOOKS); /* four sums at once */
    const int some = seen & 255, equal = seen >> 16 & 255, next = seen >> 24;
    const int apart = 8 * (seen >> 8 & 255) < 3 * some || 2 * next >= some || !(p->fact[WEFT_DO] & WEFT_REPEATED);
    if (simt_lane() % LOOKS == 0 && some > 0)
        simt_atomic_add(votes + (3 * equal >= some ? ALIKE : apart ? SCATTERED : NEAR), 1);
    simt_sync();
    if (simt_thread_id() == 0) {
        const int most = votes[NEAR] > votes[SCATTERED] ? NEAR : SCATTERED;
        found_of(p)->kind = votes[ALIKE] > votes[most] ? ALIKE : most;
    }
}

DEVICE void list_large(const struct product *p, int64_t chunk)
{
    const int64_t height = p->fact[WEFT_HEIGHT];
    const off size = (off)p->fact[WEFT_PIECE], entries = (off)(offset(p, (chunk + 1) * height) - offset(p, chunk * height));
    if (entries <= p->fact[WEFT_LIMIT])
        return;
    const int32_t pieces = (int32_t)((entries - 1) / size) + 1;
    const int32_t before = simt_atomic_add(p->counters + WEFT_LISTED, pieces);
    SIMT_ROLLED for (int32_t i = 0; i < pieces; i++)
    {
        const struct listed entry = {(int32_t)chunk, i};
        list_of(p)[before + i] = entry;
    }
}

/* Two blocks find out about the columns, the others list large chunks and scale y. */
KERNEL_BOUND(csr_weft_ready, READY)(struct product p)
{
    const int64_t todo = p.fact[WEFT_DO];
    simt_let_next();
    if (simt_block_id() == 0) {
        if (todo & WEFT_SAMPLE)
            find_crowded(&p);
        else if (simt_thread_id() == 0)
            found_of(&p)->lines = 0;
    } else if (simt_block_id() == 1) {
        if (todo & WEFT_LOOK)
            find_kind(&p, LONG_WINDOW);
        else if (simt_thread_id() == 0)
            found_of(&p)->kind = ALIKE;
    } else {
        const int64_t first = (int64_t)(simt_block_id() - 2) * READY + simt_thread_id();
        const int64_t step = (int64_t)(simt_grid_size() - 2) * READY;
        const real beta = scalar(p.beta);
        real *y = (real *)p.y;
        if (todo & WEFT_LIST)
            SIMT_ROLLED for (int64_t i = first; i * p.fact[WEFT_HEIGHT] < p.rows; i += step)
                list_large(&p, i);
        if (todo & WEFT_SCALE)
            SIMT_ROLLED for (int64_t i = first; i < p.cols; i += step)
                y[i] = beta == 0 ? 0 : beta * y[i];
    }
}

/* ------------------------------------------------------------------ where additions go ------------------------- */

/* Two ways to put additions together in shared memory.  Which of them is on is told to functions as a constant: what they
 * do for each entry should be short.  DEEP: four entries of a lane under way where rows are uneven, not two, which takes
 * registers from those whose rows are even. */
enum { WINDOW = 1, LINES = 2, DEEP = 4 };

struct sink {
    real *y;
    real *near; /* in shared memory: the window, y[base] and the `width` - 1 entries behind it, */
    int copies; /* and from here on the copies of crowded lines */
    int32_t base;
    uint32_t width;
    int lines; /* crowded lines, and the table that finds them */
    const int32_t *key, *slot;
};

DEVICE uint32_t key_of(int32_t line)
{
    return scrambled((uint32_t)line) / (uint32_t)(0x100000000 / KEYS);
}

DEVICE void add(const struct sink *to, idx c, real v, const int on)
{
    int place = -1;
    if ((on & WINDOW) && (uint32_t)c - (uint32_t)to->base < to->width)
        place = c - to->base;
    if (on & LINES) {
        const uint32_t at = key_of(c / LINE);
        if (to->key[at] == c / LINE)
            place = to->copies + (to->slot[at] * COPIES + simt_lane() % COPIES) * LINE + c % LINE;
    }
    if ((on & (WINDOW | LINES)) && place >= 0)
        simt_atomic_add(to->near + place, v);
    else
        simt_atomic_add(to->y + c, v);
}

/* Two crowded lines that fall on one key: the second stays without copies. */
DEVICE void begin_lines(struct sink *to, const struct found *found, int32_t *key, int32_t *slot)
{
    to->key = key;
    to->slot = slot;
    SIMT_ROLLED for (int i = simt_thread_id(); i < KEYS; i += BLOCK)
        key[i] = -1;
    SIMT_ROLLED for (int i = simt_thread_id(); i < to->lines * COPIES * LINE; i += BLOCK)
        to->near[to->copies + i] = 0;
    simt_sync();
    if (simt_thread_id() < to->lines) {
        const int32_t line = simt_readonly(&found->line[simt_thread_id()]);
        if (simt_atomic_cas(key + key_of(line), -1, line) == -1)
            slot[key_of(line)] = simt_thread_id();
    }
    simt_sync();
}

DEVICE void end_lines(const struct sink *to, const struct found *found)
{
    simt_sync();
    SIMT_ROLLED for (int i = simt_thread_id(); i < to->lines * LINE; i += BLOCK) {
        const real *copy = to->near + to->copies + i / LINE * COPIES * LINE + i % LINE;
        real sum = 0;
        for (int k = 0; k < COPIES; k++)
            sum += copy[k * LINE];
        if (sum != 0)
            simt_atomic_add(to->y + ((int64_t)simt_readonly(&found->line[i / LINE]) * LINE + i % LINE), sum);
    }
}

/* ------------------------------------------------------------------ chunks ------------------------------------- */

/* Where the rows of a wave are uneven, its lanes take entries one by one: `row_of`, a table of the wave's own in shared memory,
 * tells the row of each.  Up to WAVE rows from `first` on; n entries from `from` on, all of these rows. */
#define TILE 256
DEVICE void by_entry(const struct product *p, const struct sink *to, int64_t first, int rows, int64_t from, int n, const int on)
{
    SHARED(uint8_t, tables, BLOCK / WAVE * TILE);
    uint8_t *row_of = tables + simt_wave_id() * TILE;
    const int under_way = on & DEEP ? 4 : 2;
    const int64_t row = first + (simt_lane() < rows ? simt_lane() : rows);
    int begin = offset(p, row) > from ? (int)(offset(p, row) - from) : 0;
    int end = simt_lane() >= rows ? begin : offset(p, row + 1) - from < n ? (int)(offset(p, row + 1) - from) : n;
    const real factor = begin < end ? scalar(p->alpha) * simt_readonly((const real *)p->x + row) : 0;
    SIMT_ROLLED for (; n > 0; n -= TILE, from += TILE, begin -= TILE, end -= TILE)
    {
        const int here = n < TILE ? n : TILE, low = begin > 0 ? begin : 0, high = end < here ? end : here;
        if (high - low <= 8) {
            SIMT_ROLLED for (int k = low; k < high; k++)
                row_of[k] = (uint8_t)simt_lane();
        }
        SIMT_ROLLED for (uint64_t todo = simt_ballot(high - low > 8); todo; todo &= todo - 1)
        {
            const int owner = simt_ffs(todo) - 1, till = simt_shfl(high, owner, WAVE);
            SIMT_ROLLED for (int k = simt_shfl(low, owner, WAVE) + simt_lane(); k < till; k += WAVE)
                row_of[k] = (uint8_t)owner;
        }
        simt_wave_sync();
        SIMT_ROLLED for (int k = simt_lane(); k - simt_lane() < here; k += under_way * WAVE)
        {
            const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + k;
            const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + k;
            idx c[4];
            real v[4];
            for (int i = 0; i < under_way; i++) {
                c[i] = simt_stream_if(k + i * WAVE < here, col + i * WAVE);
                v[i] = simt_stream_if(k + i * WAVE < here, val + i * WAVE);
            }
            for (int i = 0; i < under_way; i++) {
                const real scale = simt_shfl(factor, k + i * WAVE < here ? row_of[k + i * WAVE] : 0, WAVE);
                if (k + i * WAVE < here)
                    add(to, c[i], v[i] * scale, on);
            }
        }
        simt_wave_sync();
    }
}

/* What was put off: bit i of `later` stands for the rows of the wave in pass i of the block, which takes `pass` rows. */
DEVICE void uneven(const struct product *p, const struct sink *to, int64_t first, int64_t last, uint32_t later, const int pass,
                   const int on)
{
    const int rows = pass / (BLOCK / WAVE);
    SIMT_ROLLED for (; later; later &= later - 1)
    {
        const int64_t row = first + (int64_t)(simt_ffs(later) - 1) * pass + simt_wave_id() * rows, from = offset(p, row);
        const int some = last - row < rows ? (int)(last - row) : rows;
        by_entry(p, to, row, some, from, (int)(offset(p, row + some) - from), on);
    }
}

struct chunk {
    int64_t first, last; /* rows */
    off from, to;        /* entries */
};

/* It is listed: nothing to do, but what is read first may be under way by then. */
DEVICE int is_large(const struct product *p, const struct chunk *c)
{
    return c->to - c->from > p->fact[WEFT_LIMIT];
}

/* Where row `row` of the chunk begins, counted from its first; behind its last, where that ends. */
DEVICE off begin_of(const struct product *p, const struct chunk *c, int row)
{
    const int rows = (int)(c->last - c->first);
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + c->first + (row < rows ? row : rows));
}

/* All threads of the block share the entries of its rows, however long these are, and search for the row of each. */
#define UNDER_WAY 4
DEVICE void by_entries(const struct product *p, const struct sink *to, const struct chunk *c, const int on)
{
    SHARED(off, begin, WEFT_ROWS + 1);
    SHARED(real, factor, WEFT_ROWS);
    const int rows = (int)(c->last - c->first);
    const off from = begin_of(p, c, 0);
    simt_sync();
    off at[WEFT_ROWS / BLOCK + 1];
    real x[WEFT_ROWS / BLOCK + 1];
    for (int i = 0, row = simt_thread_id(); i <= WEFT_ROWS / BLOCK; i++, row += BLOCK) {
        at[i] = begin_of(p, c, row); /* behind the last row, where that ends */
        x[i] = row < rows ? simt_readonly((const real *)p->x + c->first + row) : 0;
    }
    for (int i = 0, row = simt_thread_id(); i <= WEFT_ROWS / BLOCK; i++, row += BLOCK) {
        if (row <= rows)
            begin[row] = at[i] - from;
        if (row < rows)
            factor[row] = scalar(p->alpha) * x[i];
    }
    simt_sync();
    const off n = is_large(p, c) ? 0 : begin[rows];
    SIMT_ROLLED for (off k = simt_thread_id(); k < n; k += UNDER_WAY * BLOCK)
    {
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + k;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + k;
        idx to_col[UNDER_WAY];
        real v[UNDER_WAY];
        int row[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            to_col[i] = simt_stream_if(k + i * BLOCK < n, col + i * BLOCK);
            v[i] = simt_stream_if(k + i * BLOCK < n, val + i * BLOCK);
            row[i] = 0;
        }
        SIMT_ROLLED for (int step = WEFT_ROWS / 2; step > 0; step /= 2) /* the last row that begins there or before */
            for (int i = 0; i < UNDER_WAY; i++)
                if (row[i] + step < rows && begin[row[i] + step] <= k + i * BLOCK)
                    row[i] += step;
        simt_after_previous();
        for (int i = 0; i < UNDER_WAY; i++)
            if (k + i * BLOCK < n)
                add(to, to_col[i], v[i] * factor[row[i]], on);
    }
}

/* What is read of a row before its entries. */
struct row {
    off begin, end;
    real x;
};

DEVICE struct row row_at(const struct product *p, const struct chunk *c, int row)
{
    const int rows = (int)(c->last - c->first);
    const struct row r = {begin_of(p, c, row), begin_of(p, c, row + 1),
                          row < rows ? simt_readonly((const real *)p->x + c->first + row) : 0};
    return r;
}

/* `lanes` lanes a row, up to a wave, with 4 entries of each under way.  `mine` is the first row of one's lane.  A block that
 * meets a long row takes its rows entry by entry; where it has more of them for the sake of a window, a wave puts its rows off. */
DEVICE void by_lanes(const struct product *p, const struct sink *to, const struct chunk *c, struct row mine, const int lanes,
                     const int on)
{
    const int pass = BLOCK / lanes, rows = (int)(c->last - c->first), ahead = simt_lane() / lanes;
    const int even = (int)p->fact[WEFT_EVEN], whole = lanes == 1 && !(on & WINDOW);
    uint32_t later = 0, now = 1;
    if (whole) {
        int is_uneven = mine.end - mine.begin > even;
        SIMT_ROLLED for (int row = simt_thread_id() + BLOCK; row < rows; row += BLOCK)
            is_uneven |= begin_of(p, c, row + 1) - begin_of(p, c, row) > even;
        if (simt_sync_any(is_uneven)) {
            by_entries(p, to, c, on);
            return;
        }
    }
    SIMT_ROLLED for (int row = simt_thread_id() / lanes; row - ahead < rows; now <<= 1)
    {
        const off begin = mine.begin;
        const int n = is_large(p, c) ? 0 : (int)(mine.end - begin);
        const real factor = scalar(p->alpha) * mine.x;
        row += pass;
        if (row - ahead < rows)
            mine = row_at(p, c, row);
        if (!whole && simt_any(n > even)) {
            later |= now;
            continue;
        }
        SIMT_ROLLED for (int k = simt_lane() % lanes; k < n; k += 4 * lanes)
        {
            const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin + k;
            const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin + k;
            idx at[4];
            real v[4];
            for (int i = 0; i < 4; i++) {
                at[i] = k + i * lanes >= n ? 0 : lanes == 1 ? simt_readonly(col + i) : simt_stream(col + i * lanes);
                v[i] = k + i * lanes >= n ? 0 : lanes == 1 ? simt_readonly(val + i) : simt_stream(val + i * lanes);
            }
            for (int i = 0; i < 4; i++)
                if (k + i * lanes < n)
                    add(to, at[i], v[i] * factor, on);
        }
    }
    if (!whole)
        uneven(p, to, c->first, c->last, later, pass, on);
}

#define TOGETHER_MOST 8

/* `lanes` lanes take `together` neighbouring rows: a lane the same place of each, and adds up those of one column. */
DEVICE void by_rows(const struct product *p, const struct sink *to, const struct chunk *c, const int lanes, const int together,
                    const int on)
{
    const int pass = BLOCK / lanes * together, rows = (int)(c->last - c->first), ahead = simt_lane() / lanes * together;
    const int even = (int)p->fact[WEFT_EVEN];
    const real *RESTRICT x = (const real *)p->x + c->first;
    uint32_t later = 0, now = 1;
    SIMT_ROLLED for (int row = simt_thread_id() / lanes * together; row - ahead < rows; row += pass, now <<= 1)
    {
        const off begin = begin_of(p, c, row);
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
        int end[TOGETHER_MOST + 1], most = 0;
        real factor[TOGETHER_MOST];
        end[0] = 0;
        for (int i = 0; i < together; i++) {
            end[i + 1] = is_large(p, c) ? 0 : (int)(begin_of(p, c, row + i + 1) - begin);
            factor[i] = row + i < rows ? scalar(p->alpha) * simt_readonly(x + row + i) : 0;
            most = end[i + 1] - end[i] > most ? end[i + 1] - end[i] : most;
        }
        if (lanes <= WAVE && simt_any(most > even)) {
            later |= now;
            continue;
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
                    add(to, open, sum, on);
                sum = at[i] == open ? sum + v[i] * factor[i] : v[i] * factor[i];
                open = at[i];
            }
            if (open >= 0)
                add(to, open, sum, on);
        }
    }
    if (lanes <= WAVE)
        uneven(p, to, c->first, c->last, later, pass, on);
}

/* The window is about the middle of the columns that lanes see in as many rows. */
DEVICE void begin_window(const struct product *p, struct sink *to, const struct chunk *c, int window)
{
    SHARED(int32_t, base, 1);
    if (simt_thread_id() < LOOKS) {
        const int lane = simt_lane();
        idx below;
        const idx mine = middle_of(p, c->first + (c->last - c->first) * lane / LOOKS, &below);
        int rank = 0, some = 0;
        for (int i = 0; i < LOOKS; i++) {
            const idx other = simt_shfl(mine, i, LOOKS);
            some += other >= 0;
            rank += other >= 0 && (other < mine || (other == mine && i < lane));
        }
        if (some == 0 ? lane == 0 : mine >= 0 && rank == some / 2)
            *base = mine > window / 2 ? mine - window / 2 : 0;
    }
    SIMT_ROLLED for (int i = simt_thread_id(); i < window; i += BLOCK)
        to->near[i] = 0;
    simt_sync();
    to->base = *base;
    to->width = p->cols - to->base < window ? (uint32_t)(p->cols - to->base) : (uint32_t)window;
}

DEVICE void end_window(const struct sink *to)
{
    const int width = (int)to->width;
    simt_sync();
    SIMT_ROLLED for (int i = simt_thread_id(); i < width; i += BLOCK)
        if (to->near[i] != 0)
            simt_atomic_add(to->y + to->base + i, to->near[i]);
}

/* So many chunks from this one on. */
DEVICE struct chunk rows_of(const struct product *p, int64_t number, int chunks)
{
    const int64_t first = number * p->fact[WEFT_HEIGHT], past = first + chunks * p->fact[WEFT_HEIGHT];
    const struct chunk c = {first < p->rows ? first : p->rows, past < p->rows ? past : p->rows, 0, 0};
    return c;
}

DEVICE struct chunk chunk_at(const struct product *p, int64_t number)
{
    struct chunk c = rows_of(p, number, 1);
    c.from = begin_of(p, &c, 0);
    c.to = begin_of(p, &c, (int)(c.last - c.first));
    return c;
}

/* How rows are taken: by a lane; by a lane, and a window of y; by eight, and a window; by a wave; by the block; entry by entry. */
enum way { BY_LANE, BY_LANE_NEAR, BY_EIGHT_NEAR, BY_WAVE, BY_BLOCK, BY_ENTRY };

DEVICE void one_chunk(const struct product *p, const struct sink *to, const struct chunk *c, const enum way way, const int on)
{
    if (way == BY_LANE || way == BY_LANE_NEAR)
        by_lanes(p, to, c, row_at(p, c, simt_thread_id()), 1, on);
    else if (way == BY_EIGHT_NEAR)
        by_lanes(p, to, c, row_at(p, c, simt_thread_id() / 8), 8, on);
    else if (way == BY_WAVE)
        by_rows(p, to, c, 32, (on & LINES) || sizeof(real) == 8 ? 3 : 6, on);
    else if (way == BY_ENTRY)
        by_entries(p, to, c, on);
    else
        by_rows(p, to, c, 256, 8, on);
}

/* Chunks with a window, with copies of lines, or with both. */
DEVICE void some_chunks(const struct product *p, struct sink *to, int64_t number, const enum way way, const int on)
{
    const int window = way == BY_LANE_NEAR ? SHORT_WINDOW : way == BY_EIGHT_NEAR ? LONG_WINDOW : 0;
    const int merged = (int)p->fact[WEFT_MERGED];
    const struct chunk all = rows_of(p, number, merged);
    if (window)
        begin_window(p, to, &all, window);
    SIMT_ROLLED for (int i = 0; i < merged; i++)
    {
        const struct chunk c = chunk_at(p, number + i);
        one_chunk(p, to, &c, way, window ? on | WINDOW : on);
    }
    if (window)
        end_window(to);
}

/* A piece, by a wave: its rows are taken as many at a time as the wave has lanes. */
DEVICE void one_piece(const struct product *p, const struct sink *to, const struct listed *entry, const int on)
{
    const struct chunk c = rows_of(p, entry->chunk, 1);
    const int64_t begin = offset(p, c.first) + entry->piece * p->fact[WEFT_PIECE], rest = offset(p, c.last) - begin;
    const int n = (int)(rest < p->fact[WEFT_PIECE] ? rest : p->fact[WEFT_PIECE]);
    int64_t row = c.first + search_above((const off *)p->array[CSR_ROW_PTR] + 1 + c.first, c.last - c.first, begin);
    SIMT_ROLLED for (int done = 0, here; done < n; done += here, row += WAVE)
    {
        const int64_t more = offset(p, row + WAVE < c.last ? row + WAVE : c.last) - begin;
        here = (int)(more < n ? more : n) - done;
        by_entry(p, to, row, c.last - row < WAVE ? (int)(c.last - row) : WAVE, begin + done, here, on);
    }
}

DEVICE int32_t listed_of(const struct product *p)
{
    return simt_fresh(p->counters + WEFT_LISTED);
}

/* The waves that share what is listed; the last of their blocks leaves the counters as they were. */
DEVICE void pieces(const struct product *p, const struct sink *to, const int on)
{
    const int32_t listed = listed_of(p), blocks = (int32_t)p->fact[WEFT_BLOCKS];
    if (listed == 0)
        return;
    SIMT_ROLLED for (int32_t i = simt_wave_id() * blocks + simt_block_id(); i < listed; i += BLOCK / WAVE * blocks)
        one_piece(p, to, list_of(p) + i, on);
    simt_sync();
    if (simt_thread_id() == 0 && simt_atomic_add(p->counters + WEFT_THROUGH, 1) == blocks - 1) {
        p->counters[WEFT_THROUGH] = 0;
        p->counters[WEFT_LISTED] = 0;
    }
}

/* The first blocks do pieces, the others chunks: this one. */
DEVICE int64_t number_of(const struct product *p)
{
    return p->fact[WEFT_BEGIN] + simt_block_id() - p->fact[WEFT_BLOCKS];
}

DEVICE int does_pieces(const struct product *p)
{
    return simt_block_id() < p->fact[WEFT_BLOCKS];
}

/* The chunk of a block that has nothing to set up.  Where there is, one block does several, and the next ones are idle. */
DEVICE struct chunk own_chunk(const struct product *p)
{
    return chunk_at(p, does_pieces(p) ? 0 : number_of(p));
}

DEVICE int is_idle(const struct product *p)
{
    return !does_pieces(p) && (int32_t)number_of(p) % (int32_t)p->fact[WEFT_MERGED] != 0;
}

/* What has to be there in shared memory for a window of so many entries. */
#define NEARBY(window) (window + WEFT_LINES * COPIES * LINE)

/* The block does pieces.  Where no line is crowded it asks the table in vain: that is less than the code twice. */
DEVICE void weft_pieces(const struct product *p, struct sink *to, int32_t *table, const int on)
{
    if (listed_of(p) == 0)
        return;
    begin_lines(to, found_of(p), table, table + KEYS);
    pieces(p, to, on | LINES);
    end_lines(to, found_of(p));
}

/* The block does a chunk, or several if there is something to set up for them. */
DEVICE void weft(const struct product *p, struct sink *to, const struct chunk *c, int32_t *table, const enum way way, const int on)
{
    if (to->lines == 0 && way != BY_EIGHT_NEAR) {
        one_chunk(p, to, c, way, on);
    } else if (is_idle(p)) {
        return;
    } else if (to->lines == 0) {
        some_chunks(p, to, number_of(p), way, on);
    } else {
        begin_lines(to, found_of(p), table, table + KEYS);
        some_chunks(p, to, number_of(p), way, on | LINES);
        end_lines(to, found_of(p));
    }
}

/* ------------------------------------------------------------------ kernels ------------------------------------ */

/* Blocks on a multiprocessor: as many as do not make the compiler spill, for f32_i32 and the others. */
#define EACH(small, large) (sizeof(real) + sizeof(off) == 8 ? small : large)

/* Short rows, short columns. */
KERNEL_RESIDENT(csr_weft1, BLOCK, EACH(6, 5))(struct product p)
{
    SHARED(real, near, NEARBY(0));
    SHARED(int32_t, table, 2 * KEYS);
    const struct chunk c = own_chunk(&p);
    const struct row mine = row_at(&p, &c, simt_thread_id()); /* ahead of the wait: this is short work, and most of it waiting */
    simt_after_previous();
    struct sink to = {(real *)p.y, near, 0, 0, 0, simt_readonly(&found_of(&p)->lines), 0, 0};
    if (does_pieces(&p))
        weft_pieces(&p, &to, table, 0);
    else if (to.lines == 0)
        by_lanes(&p, &to, &c, mine, 1, 0);
    else
        weft(&p, &to, &c, table, BY_LANE, 0);
}

/* Short rows, long columns, which are met again and again. */
KERNEL_RESIDENT(csr_weft1_near, BLOCK, EACH(6, 5))(struct product p)
{
    SHARED(real, near, SHORT_WINDOW);
    struct sink to = {(real *)p.y, near, 0, 0, 0, 0, 0, 0};
    simt_after_previous();
    if (does_pieces(&p))
        pieces(&p, &to, 0);
    else if (!is_idle(&p))
        some_chunks(&p, &to, number_of(&p), BY_LANE_NEAR, 0);
}

/* Long rows.  Where neighbours are alike crowded lines are no concern: their columns are added up first. */
KERNEL_RESIDENT(csr_weft32, BLOCK, EACH(5, 4))(struct product p)
{
    SHARED(real, near, NEARBY(LONG_WINDOW));
    SHARED(int32_t, table, 2 * KEYS);
    const struct chunk c = own_chunk(&p);
    simt_after_previous();
    const int kind = simt_readonly(&found_of(&p)->kind);
    const int lines = kind == ALIKE ? 0 : simt_readonly(&found_of(&p)->lines);
    struct sink to = {(real *)p.y, near, LONG_WINDOW, 0, 0, lines, 0, 0};
    if (does_pieces(&p))
        weft_pieces(&p, &to, table, DEEP);
    else if (kind == NEAR)
        weft(&p, &to, &c, table, BY_EIGHT_NEAR, DEEP);
    else if (kind == ALIKE)
        one_chunk(&p, &to, &c, BY_WAVE, DEEP);
    else
        weft(&p, &to, &c, table, BY_ENTRY, DEEP);
}

/* Rows of hundreds of entries are taken for alike. */
KERNEL_RESIDENT(csr_weft256, BLOCK, 2)(struct product p)
{
    const struct chunk c = own_chunk(&p);
    struct sink to = {(real *)p.y, 0, 0, 0, 0, 0, 0, 0};
    simt_after_previous();
    if (does_pieces(&p))
        pieces(&p, &to, DEEP);
    else
        one_chunk(&p, &to, &c, BY_BLOCK, DEEP);
}

/* Few entries: a matter of latency.  Nothing is found out about them, and all is read before y is waited for. */
KERNEL_BOUND(csr_weft_scale, BLOCK)(struct product p)
{
    simt_let_next();
    scale_all((real *)p.y, p.cols, scalar(p.beta));
}

KERNEL_BOUND(csr_weft_few, BLOCK)(struct product p)
{
    const struct chunk c = rows_of(&p, p.fact[WEFT_BEGIN] + simt_block_id(), 1);
    const struct sink to = {(real *)p.y, 0, 0, 0, 0, 0, 0, 0};
    by_entries(&p, &to, &c, 0);
}

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
static const struct way {
    const char *entry;
    int pass;     /* rows that a block takes at once */
    int entries;  /* that a chunk has at the mean row length, if that is more than a pass */
    int together; /* entries of a block that has something to set up */
    int even;     /* times the mean row length: a row of more is not even */
} ways[] = {
    {NULL, 0, 0, 0, 0},
    {"csr_weft1", 256, 1024, 4096, 2},
    {"csr_weft1_near", 256, 4096, 4096, 2},
    {"csr_weft32", 24, 4096, 16384, 8},
    {"csr_weft256", 8, 1, 1, 1},
    {"csr_weft_few", 1, 1024, 1, 1},
};
enum { AUTO, SHORT, SHORT_NEAR, LONG, DENSE, FEW };

#define PASSES_MOST 16 /* 32 can be put off */

static const char *const way_words[] = {"auto", "1", "1near", "32", "256", "few"}, *const sample_words[] = {"auto", "always"};
static const struct option options[] = {
    {"way", 0, WORDS(way_words)},
    {"sample", 0, WORDS(sample_words)},
    {0},
};

static const char *const entries[] = {"csr_weft1",    "csr_weft1_near", "csr_weft32", "csr_weft256",
                                      "csr_weft_few", "csr_weft_ready", "csr_weft_scale", NULL};

static double mean_of(const struct work *w)
{
    return (double)w->product.nnz / (double)w->product.rows;
}

/* Entries of a column on average.  Of few entries those of a column may be more before they stand in each other's way. */
#define LONG_COLUMNS 16
#define LONGER_COLUMNS 128
#define FEW_ENTRIES 262144
#define FEW_LEAST 256 /* of a block */
static const struct way *way_of(const struct work *w)
{
    const double mean = mean_of(w);
    const int64_t nnz = w->product.nnz, cols = w->product.cols;
    if (w->option[0])
        return &ways[w->option[0]];
    return &ways[nnz <= FEW_ENTRIES && nnz / LONGER_COLUMNS <= cols ? FEW
                 : mean > 300                                       ? DENSE
                 : mean > 12                                        ? LONG
                 : nnz / LONG_COLUMNS > cols                        ? SHORT_NEAR
                                                                    : SHORT];
}

/* Rows of a chunk: a small matrix has smaller ones, down to a thousand entries, so that they go round; few entries are dealt
 * out to as many blocks as can run at once. */
static int64_t height_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t share = w->product.nnz / (8 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors);
    if (way == &ways[FEW]) {
        const int64_t each = 4 * share < FEW_LEAST ? FEW_LEAST : 4 * share < way->entries ? 4 * share : way->entries;
        const double rows = (double)each / mean_of(w);
        return rows < 1 ? 1 : rows > WEFT_ROWS ? WEFT_ROWS : (int64_t)rows;
    }
    const int64_t wanted = share < 1024 ? 1024 : share, filled = wanted < way->entries ? wanted : way->entries;
    const double passes = (double)filled / mean_of(w) / way->pass + 0.5;
    const double most = way == &ways[SHORT] ? WEFT_ROWS / 256 : PASSES_MOST; /* which may be taken entry by entry */
    return way->pass * (int64_t)(passes < 1 ? 1 : passes > most ? most : passes);
}

static int64_t chunks_of(const struct work *w)
{
    const int64_t height = height_of(w);
    return (w->product.rows + height - 1) / height;
}

/* Chunks of a block that has something to set up: so few that there are eight blocks for every multiprocessor. */
static int64_t merged_of(const struct work *w)
{
    const int64_t most = chunks_of(w) / (8 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors);
    const int64_t wanted = (int64_t)((double)way_of(w)->together / mean_of(w) / (double)height_of(w) + 0.5);
    const int64_t merged = wanted < most ? wanted : most;
    return merged < 1 ? 1 : merged;
}

/* What is too much for one block goes into pieces for waves, a million at most, but enough for all of them. */
static int64_t piece_of(const struct work *w)
{
    const int64_t least = w->product.nnz >> 20, waves = 16 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors;
    const int64_t share = w->product.nnz / waves, usual = share < 256 ? 256 : share < 1024 ? share : 1024;
    return least > usual ? least : usual;
}

#define LIMIT_LEAST 2 /* pieces */
#define LIMIT_DENSE 32768
static int64_t limit_of(const struct work *w)
{
    const double twice = 2 * mean_of(w) * (double)height_of(w); /* what a chunk has on average */
    const int64_t share = w->product.nnz / 512, capped = share > INT32_MAX / 2 ? INT32_MAX / 2 : share;
    const int64_t most = capped < LIMIT_DENSE ? LIMIT_DENSE : capped, wanted = twice < (double)most ? (int64_t)twice : most;
    return wanted > LIMIT_LEAST * piece_of(w) ? wanted : LIMIT_LEAST * piece_of(w);
}

/* A chunk on the list has more entries than a piece, so that its pieces are at most twice its share. */
static int64_t workspace(const struct work *w)
{
    return WEFT_HEAD + (2 * (w->product.nnz / piece_of(w)) + 2) * 8;
}

static int64_t counters(const struct work *w)
{
    (void)w;
    return WEFT_COUNTERS * (int64_t)sizeof(int32_t);
}

#define SAMPLED 300000 /* entries: less is done before it is found out what it is like */
#define EVEN_LEAST 8

static int64_t to_do(const struct work *w)
{
    const struct way *way = way_of(w);
    const int found = (w->option[1] || w->product.nnz >= SAMPLED) && way != &ways[DENSE];
    const int scaled = scalar_get(w->product.beta, w->value) != 1;
    if (way == &ways[FEW])
        return scaled ? WEFT_SCALE : 0;
    return WEFT_LIST | (found ? WEFT_SAMPLE : 0) | (found && way == &ways[LONG] ? WEFT_LOOK : 0) | (scaled ? WEFT_SCALE : 0) |
           (w->product.nnz / 4 > w->product.cols ? WEFT_REPEATED : 0);
}

/* What goes ahead of the product: as many blocks as have something to do and fit on the device. */
static struct launch first_of(const struct work *w)
{
    const int64_t fit = 2048 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors, cols = w->product.cols;
    if (way_of(w) == &ways[FEW]) {
        const int64_t wanted = cols / 256 + 1, most = fit / 256;
        return (struct launch){"csr_weft_scale", wanted < most ? wanted : most, 256};
    }
    const int64_t chunks = chunks_of(w), items = chunks > cols / 2 ? chunks : cols / 2;
    const int64_t wanted = (items + 1023) / 1024, most = fit / 1024;
    return (struct launch){"csr_weft_ready", 2 + (wanted < most ? wanted : most), 1024};
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    int64_t *fact = told.product.fact;
    const int64_t threads = UINT32_MAX / 256, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    const int64_t chunks = chunks_of(w), even = (int64_t)(mean_of(w) * way->even);
    fact[WEFT_HEIGHT] = height_of(w);
    fact[WEFT_MERGED] = merged_of(w);
    fact[WEFT_LIMIT] = limit_of(w);
    fact[WEFT_PIECE] = piece_of(w);
    fact[WEFT_EVEN] = even < EVEN_LEAST ? EVEN_LEAST : even;
    fact[WEFT_DO] = to_do(w);
    fact[WEFT_BLOCKS] = fact[WEFT_DO] & WEFT_LIST && w->product.nnz > fact[WEFT_LIMIT] ? 2 * (int64_t)info->multiprocessors : 0;
    for (int64_t begin = 0, here; begin < chunks; begin += here) {
        here = chunks - begin < most - fact[WEFT_BLOCKS] ? chunks - begin : most - fact[WEFT_BLOCKS];
        fact[WEFT_BEGIN] = begin;
        if (begin == 0 && fact[WEFT_DO] != 0)
            TRY(gpu_run_pair(&told, first_of(&told), (struct launch){way->entry, fact[WEFT_BLOCKS] + here, 256}));
        else
            TRY(gpu_run(&told, way->entry, fact[WEFT_BLOCKS] + here, 256, 0));
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
