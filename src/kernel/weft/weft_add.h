/* SPDX-License-Identifier: MIT
 *
 * weft_add.h: who takes which entries of csr_weft's chunks: a lane, some lanes, a wave or the block a row, or all threads entry by entry;
 * weft_sink.h has where they are added. */
#ifndef KERNEL_WEFT_WEFT_ADD_H
#define KERNEL_WEFT_WEFT_ADD_H

#ifdef HEDDLE_DEVICE
#include "kernel/weft/weft_sink.h"

/* The first blocks do pieces, the others chunks: this one. */
DEVICE int64_t number_of(const struct product *p)
{
    return p->fact[WEFT_BEGIN] + simt_block_id() - p->fact[WEFT_BLOCKS];
}

DEVICE int does_pieces(const struct product *p)
{
    return simt_block_id() < p->fact[WEFT_BLOCKS];
}

/* Does this block come to the device before the first kernel has ended?  About. */
#define AT_ONCE 640
DEVICE int comes_soon(const struct product *p)
{
    return !does_pieces(p) && simt_block_id() < AT_ONCE;
}

/* Waits for the first kernel, and learns whether lines are crowded. */
DEVICE void learn_lines(const struct product *p, struct sink *to)
{
    simt_after_previous();
    to->lines = simt_readonly(&found_of(p)->lines);
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

/* Rows that are taken entry by entry, in shared memory: where they begin, and their factors. */
struct rows {
    real factor[WEFT_ROWS];
    off begin[WEFT_ROWS + 1];
};

/* All threads of the block share the entries of its rows, however long these are, and search for the row of each; of a chunk that is
 * too large only `piece` of it, and nothing if that is -1.  If it has to ask first, and lines are crowded, nothing is added, and 0
 * tells so. */
#define UNDER_WAY 4
DEVICE int by_entries(const struct product *p, struct sink *to, const struct chunk *c, struct rows *room, int64_t piece, const int on)
{
    off *begin = room->begin;
    real *factor = room->factor;
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
        if (row <= WEFT_ROWS)
            begin[row] = at[i] - from;
        if (row < rows)
            factor[row] = scalar(p->alpha) * x[i];
    }
    simt_sync();
    const int size = (int)p->fact[WEFT_PIECE];
    const off start = piece < 0 ? 0 : part_at(from, piece, size) - from, all = begin[rows];
    const int n = piece >= 0 ? part_from(from + start, from + all, size) : all <= p->fact[WEFT_LIMIT] ? (int)all : 0;
    const int widest = rows > 2 ? 1 << (63 - simt_clz((uint64_t)(rows - 1))) : 1; /* a power of two */
    SIMT_ROLLED for (int k = first_entry(from + start, simt_thread_id()); k < n; k += UNDER_WAY * BLOCK)
    {
        const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + start + k;
        const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from + start + k;
        idx to_col[UNDER_WAY];
        real v[UNDER_WAY];
        int row[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            to_col[i] = simt_stream_if(has_entry(k, i * BLOCK, n), col + i * BLOCK);
            v[i] = simt_stream_if(has_entry(k, i * BLOCK, n), val + i * BLOCK);
            row[i] = 0;
        }
        SIMT_ROLLED for (int step = widest; step > 0; step /= 2) /* the last row that begins there or before */
            for (int i = 0; i < UNDER_WAY; i++)
                row[i] += begin[row[i] + step] - start <= k + i * BLOCK ? step : 0;
        if (on & ASK)
            learn_lines(p, to);
        else
            simt_after_previous();
        if ((on & ASK) && to->lines > 0)
            break;
        idx there[UNDER_WAY];
        for (int i = 0; (on & HOARD) && i < UNDER_WAY; i++) {
            v[i] *= factor[row[i]];
            there[i] = simt_atomic_load(to->key + place_of(to_col[i]));
        }
        for (int i = 0; i < UNDER_WAY; i++)
            if (has_entry(k, i * BLOCK, n)) {
                if (on & HOARD)
                    hoard(to, to_col[i], v[i], there[i]);
                else
                    add(to, to_col[i], v[i] * factor[row[i]], on);
            }
    }
    if (on & ASK)
        learn_lines(p, to); /* all threads, whether they had entries or not */
    return !(on & ASK) || to->lines == 0;
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

/* Four entries of a row of n, `apart` of each other, the first of them entry k from `begin` on. */
#define BATCH 4
struct batch {
    idx at[BATCH];
    real v[BATCH];
};

DEVICE struct batch batch_at(const struct product *p, off begin, int k, int n, const int apart)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin + k;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin + k;
    struct batch b;
    for (int i = 0; i < BATCH; i++) {
        b.at[i] = k + i * apart >= n ? 0 : apart == 1 ? simt_readonly(col + i) : simt_stream(col + i * apart);
        b.v[i] = k + i * apart >= n ? 0 : apart == 1 ? simt_readonly(val + i) : simt_stream(val + i * apart);
    }
    return b;
}

DEVICE void add_batch(const struct sink *to, const struct batch *b, real factor, int k, int n, const int apart, const int on)
{
    for (int i = 0; i < BATCH; i++)
        if (k + i * apart < n)
            add(to, b->at[i], b->v[i] * factor, on);
}

/* A lane a row, if all of them are even and no line is crowded; if not, nothing is added, and 0 tells so.  This is short work, and
 * most of it waiting: offsets are asked for ahead of anything else, and the first entries together with whether lines are crowded; by
 * blocks that begin before the first kernel has ended even if nobody knows.  Rows that may be long come after the others. */
#define EVEN_SHORT 12
DEVICE int by_lane(const struct product *p, struct sink *to, const struct chunk *c)
{
    const int rows = (int)(c->last - c->first), even = (int)p->fact[WEFT_EVEN], soon = comes_soon(p);
    struct row mine = row_at(p, c, simt_thread_id());
    if (!soon)
        learn_lines(p, to);
    int n = mine.end - mine.begin > even ? even : (int)(mine.end - mine.begin), is_uneven = mine.end - mine.begin > even;
    const int ahead = even < EVEN_SHORT && to->lines == 0;
    struct batch b = batch_at(p, mine.begin, 0, ahead ? n : 0, 1);
    SIMT_ROLLED for (int row = simt_thread_id() + BLOCK; row < rows; row += BLOCK)
        is_uneven |= begin_of(p, c, row + 1) - begin_of(p, c, row) > even;
    is_uneven = simt_sync_any(is_uneven);
    if (soon)
        learn_lines(p, to);
    if (is_uneven || to->lines > 0)
        return 0;
    if (is_large(p, c))
        return 1;
    if (!ahead)
        b = batch_at(p, mine.begin, 0, n, 1);
    SIMT_ROLLED for (int row = simt_thread_id(); row < rows;)
    {
        const real factor = scalar(p->alpha) * mine.x;
        add_batch(to, &b, factor, 0, n, 1, 0);
        SIMT_ROLLED for (int k = BATCH; k < n; k += BATCH)
        {
            b = batch_at(p, mine.begin, k, n, 1);
            add_batch(to, &b, factor, k, n, 1, 0);
        }
        row += BLOCK;
        if (row < rows) {
            mine = row_at(p, c, row);
            n = (int)(mine.end - mine.begin);
            b = batch_at(p, mine.begin, 0, n, 1);
        }
    }
    return 1;
}

/* `lanes` lanes a row, up to a wave.  `mine` is the first row of one's lane.  A wave that meets a long row puts its rows off. */
DEVICE void by_lanes(const struct product *p, const struct sink *to, const struct chunk *c, struct row mine, const int lanes,
                     const int on)
{
    const int pass = BLOCK / lanes, rows = (int)(c->last - c->first), ahead = simt_lane() / lanes;
    const int even = (int)p->fact[WEFT_EVEN];
    uint32_t later = 0, now = 1;
    SIMT_ROLLED for (int row = simt_thread_id() / lanes; row - ahead < rows; now <<= 1)
    {
        const off begin = mine.begin;
        const int n = is_large(p, c) ? 0 : (int)(mine.end - begin);
        const real factor = scalar(p->alpha) * mine.x;
        row += pass;
        if (row - ahead < rows)
            mine = row_at(p, c, row);
        if (simt_any(n > even)) {
            later |= now;
            continue;
        }
        SIMT_ROLLED for (int k = simt_lane() % lanes; k < n; k += BATCH * lanes)
        {
            const struct batch b = batch_at(p, begin, k, n, lanes);
            add_batch(to, &b, factor, k, n, lanes, on);
        }
    }
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

/* How rows are taken: by a lane, and a window of y; by eight, and a window; by a wave; by the block. */
enum way { BY_LANE_NEAR, BY_EIGHT_NEAR, BY_WAVE, BY_BLOCK };

DEVICE void one_chunk(const struct product *p, const struct sink *to, const struct chunk *c, const enum way way, const int on)
{
    if (way == BY_LANE_NEAR)
        by_lanes(p, to, c, row_at(p, c, simt_thread_id()), 1, on);
    else if (way == BY_EIGHT_NEAR)
        by_lanes(p, to, c, row_at(p, c, simt_thread_id() / 8), 8, on);
    else if (way == BY_WAVE)
        by_rows(p, to, c, 32, sizeof(real) == 8 ? 3 : 6, on);
    else
        by_rows(p, to, c, 256, 8, on);
}

/* The window is about the middle of the columns that lanes see in as many rows. */
DEVICE void begin_window(const struct product *p, struct sink *to, const enum way way)
{
    SHARED(int32_t, base, 1);
    const int window = way == BY_LANE_NEAR ? SHORT_WINDOW : LONG_WINDOW;
    const struct chunk c = rows_of(p, number_of(p), (int)p->fact[WEFT_MERGED]);
    if (simt_thread_id() < LOOKS) {
        const int lane = simt_lane();
        idx below;
        const idx mine = middle_of(p, c.first + (c.last - c.first) * lane / LOOKS, &below);
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

/* The chunks of a block that has a window, which has begun. */
DEVICE void some_chunks(const struct product *p, struct sink *to, const enum way way, const int on)
{
    const int merged = (int)p->fact[WEFT_MERGED];
    SIMT_ROLLED for (int i = 0; i < merged; i++)
    {
        const struct chunk c = chunk_at(p, number_of(p) + i);
        one_chunk(p, to, &c, way, on | WINDOW);
    }
    end_window(to);
}

/* A piece, by a wave: its rows are taken as many at a time as the wave has lanes. */
DEVICE void one_piece(const struct product *p, const struct sink *to, const struct listed *entry, const int on)
{
    const struct chunk c = rows_of(p, entry->chunk, 1);
    const int size = (int)p->fact[WEFT_PIECE];
    const off begin = part_at((off)offset(p, c.first), entry->piece, size);
    const int n = part_from(begin, (off)offset(p, c.last), size);
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

/* The last of the blocks that share what is listed leaves the counters as they were. */
DEVICE void through(const struct product *p)
{
    simt_sync();
    if (simt_thread_id() == 0 && simt_atomic_add(p->counters + WEFT_THROUGH, 1) == p->fact[WEFT_BLOCKS] - 1) {
        p->counters[WEFT_THROUGH] = 0;
        p->counters[WEFT_LISTED] = 0;
    }
}

/* The waves that share what is listed. */
DEVICE void pieces(const struct product *p, const struct sink *to, const int on)
{
    const int32_t listed = listed_of(p), blocks = (int32_t)p->fact[WEFT_BLOCKS];
    if (listed == 0)
        return;
    SIMT_ROLLED for (int32_t i = simt_wave_id() * blocks + simt_block_id(); i < listed; i += BLOCK / WAVE * blocks)
        one_piece(p, to, list_of(p) + i, on);
    through(p);
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

/* Several chunks entry by entry, or pieces of large ones, with copies of crowded lines or with a hoard. */
DEVICE void entries_and(const int on, const struct product *p, struct sink *to, struct rows *room, int32_t *table)
{
    const int is_piece = does_pieces(p);
    const int64_t first = is_piece ? simt_block_id() : number_of(p), step = is_piece ? p->fact[WEFT_BLOCKS] : 1;
    const int64_t past = is_piece ? listed_of(p) : first + (on == HOARD ? 1 : p->fact[WEFT_MERGED]);
    if (is_piece ? past == 0 : on != HOARD && is_idle(p))
        return;
    if (on == HOARD)
        begin_hoard(p, to, table);
    else
        begin_lines(to, found_of(p), table, table + KEYS);
    SIMT_ROLLED for (int64_t i = first; i < past; i += step)
    {
        const struct listed *entry = list_of(p) + i;
        const struct chunk c = rows_of(p, is_piece ? simt_fresh(&entry->chunk) : i, 1);
        by_entries(p, to, &c, room, is_piece ? simt_fresh(&entry->piece) : -1, on);
    }
    if (on == HOARD)
        end_hoard(to);
    else
        end_lines(to, found_of(p));
    if (is_piece)
        through(p);
}

/* Chunks of long rows with a window, and with copies of crowded lines, if there are any. */
DEVICE void near_chunks(const struct product *p, struct sink *to, int32_t *table)
{
    if (is_idle(p))
        return;
    begin_window(p, to, BY_EIGHT_NEAR);
    if (to->lines == 0) {
        some_chunks(p, to, BY_EIGHT_NEAR, DEEP);
    } else {
        begin_lines(to, found_of(p), table, table + KEYS);
        some_chunks(p, to, BY_EIGHT_NEAR, DEEP | LINES);
        end_lines(to, found_of(p));
    }
}

#endif
#endif
