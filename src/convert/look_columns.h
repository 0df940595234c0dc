/* SPDX-License-Identifier: MIT
 *
 * look_columns.h: what the columns of a matrix are like, for a product that adds into y (csr_weft), as part
 * of the look (look.c).
 *
 * Computes   counts (look.h: LOOKED_...) from a sample of the columns.  One block of threads takes entries
 *            from all over the matrix and counts those that fall on one column, and on one cache line of
 *            y.  Players take some neighbouring windows each, as a block of csr_weft has them, play its
 *            cache on their columns, and compare neighbouring rows.
 * Balance    some windows, however large the matrix is.
 * Memory     at most PLAYERS_MOST times as many columns, coalesced, and a few offsets.
 * Order      who comes first has a place in the cache: counts may differ a little from run to run, sums do
 *            not.
 *
 * Columns may be anything: none is followed.  Nothing here waits for the row blocks. */
#ifndef CONVERT_LOOK_COLUMNS_H
#define CONVERT_LOOK_COLUMNS_H

#define SAMPLES 2048
#define PLACES 2048
#define LINE_BYTES 128
#define CLOSE 8                       /* columns: within a sector of a cache line */
#define ROWS_COMPARED 1024            /* at most, of a player */
#define PLAYED (4096 / WRITE_THREADS) /* columns that a thread has under way */

DEVICE idx column_at(const struct product *p, int64_t k)
{
    return simt_readonly((const idx *)p->array[CSR_COL] + k);
}

/* Samples that have the same key, a column or a line, counted where its first one stands in the table;
 * where two keys fall on one place, the first counts. */
DEVICE void count_samples(const idx *key, int32_t *table, int32_t *count, int *place)
{
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < PLACES; i += WRITE_THREADS) {
        table[i] = -1;
        count[i] = 0;
    }
    simt_sync();
    for (int i = 0; i < SAMPLES / WRITE_THREADS; i++) {
        const int at = (int)((uint32_t)key[i] * 2654435761u >> 21);
        const int32_t before = simt_atomic_cas(table + at, -1, key[i]);
        if (before == -1 || before == key[i])
            simt_atomic_add(count + at, 1);
        place[i] = before == -1 ? at : -1;
    }
    simt_sync();
}

/* The largest count of this thread's samples, and where it stands. */
DEVICE int32_t largest(const int32_t *count, const int *place)
{
    int32_t most = 0;
    for (int i = 0; i < SAMPLES / WRITE_THREADS; i++) {
        const int32_t here = place[i] < 0 ? 0 : count[place[i]] * PLACES + place[i];
        most = here > most ? here : most;
    }
    return most;
}

DEVICE void sample_all(const struct product *p)
{
    int64_t *const result = results_of(p);
    SHARED(int32_t, table, PLACES);
    SHARED(int32_t, count, PLACES);
    idx column[SAMPLES / WRITE_THREADS], line[SAMPLES / WRITE_THREADS];
    int place[SAMPLES / WRITE_THREADS];
    if (simt_thread_id() < HOT_MOST)
        hot_of(p)[simt_thread_id()] = result[LOOKED_HOT + simt_thread_id()] = -1;
    for (int i = 0; i < SAMPLES / WRITE_THREADS; i++) { /* spread evenly, in no order */
        const uint64_t part = (uint32_t)(simt_thread_id() + i * WRITE_THREADS + 1) * 2654435761u;
        const int64_t k = (int64_t)((part * (uint64_t)((p->nnz >> 8) + 1)) >> 24);
        const idx c = column_at(p, k < p->nnz ? k : p->nnz - 1);
        column[i] = c < 0 ? 0 : c;
        line[i] = (idx)((int64_t)column[i] * p->fact[NUMBER_BYTES] / LINE_BYTES);
    }
    count_samples(line, table, count, place);
    const int32_t crowded = block_max_int(largest(count, place)) / PLACES;
    count_samples(column, table, count, place);
    SIMT_ROLLED
    for (int i = 0; i < HOT_MOST; i++) { /* the hottest first */
        const int32_t most = block_max_int(largest(count, place)), at = most % PLACES;
        if (most / PLACES < SAMPLES / HOT_SHARE)
            break;
        if (simt_thread_id() == 0) {
            hot_of(p)[i] = result[LOOKED_HOT + i] = table[at];
            count[at] = 0;
        }
        simt_sync();
    }
    if (simt_thread_id() == 0)
        result[LOOKED_CROWDED] = (int64_t)crowded * (65536 / SAMPLES);
}

/* Of a thread's share in n entries from `from` on: those whose column csr_weft's cache would have, where a
 * place is the first column's that comes to it; and those close to their predecessor's.  The larger
 * the numbers of vectors, the fewer places, but always a power of two. */
struct played {
    int cached, close;
};

DEVICE struct played play(const struct product *p, int64_t from, int n)
{
    SHARED(int32_t, key, CACHE_PLACES(sizeof(float)));
    const int places = CACHE_PLACES(p->fact[NUMBER_BYTES]);
    struct played seen = {0, 0};
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < places; i += WRITE_THREADS)
        key[i] = -1;
    simt_sync();
    SIMT_ROLLED
    for (int k = simt_thread_id(); k - simt_thread_id() < n; k += PLAYED * WRITE_THREADS) {
        idx column[PLAYED];
        for (int i = 0; i < PLAYED; i++)
            column[i] = k + i * WRITE_THREADS < n ? column_at(p, from + k + i * WRITE_THREADS) : -1;
        for (int i = 0; i < PLAYED && k - simt_lane() + i * WRITE_THREADS < n; i++) { /* its wave has some */
            const idx before = simt_shfl_up(column[i], 1, WAVE);
            if (k + i * WRITE_THREADS >= n)
                continue;
            const uint32_t at = (uint32_t)column[i] & (uint32_t)(places - 1);
            seen.cached += simt_atomic_cas(key + at, -1, column[i]) == column[i];
            seen.close += simt_lane() > 0 && (uint32_t)column[i] - (uint32_t)before + CLOSE < 2 * CLOSE;
        }
    }
    return seen;
}

/* What the column in the middle of a row is to the one at the same place of the next row. */
enum { NOTHING, SAME, NEXT };
DEVICE int compare_rows(const struct product *p, int64_t row)
{
    if (row + 2 > p->rows)
        return NOTHING;
    const int64_t begin = safe_offset(p, row), end = safe_offset(p, row + 1), after = safe_offset(p, row + 2),
                  half = (end - begin) / 2;
    if (begin >= end || half >= after - end)
        return NOTHING;
    const idx middle = column_at(p, begin + half), below = column_at(p, end + half);
    return below == middle ? SAME : (uint32_t)below == (uint32_t)middle + 1 ? NEXT : NOTHING;
}

/* The first rows of two windows, the second of which may be behind all: what look_cut is still busy with.
 * All threads look at once, about twice, and where a search goes on is counted, so that bad offsets lead to
 * some row. */
struct first_rows {
    int64_t first, end;
};

DEVICE struct first_rows first_rows_of(const struct product *p, int64_t from, int64_t to)
{
    struct first_rows r = {0, 0};
    SIMT_ROLLED
    for (int64_t left = p->rows, step; left > 0; left = step - 1) {
        step = (left + WRITE_THREADS - 1) / WRITE_THREADS;
        const int64_t ahead = (simt_thread_id() + 1) * step - 1;
        const int64_t first = r.first + ahead, end = r.end + ahead;
        const int before = first < p->rows && safe_offset(p, first) + first < from * p->dim[WINDOW],
                  ends = end < p->rows && safe_offset(p, end) + end < to * p->dim[WINDOW];
        const int found = block_sum_int((before << 16) + ends);
        r.first += (found >> 16) * step;
        r.end += (found & 0xffff) * step;
    }
    return r;
}

/* A player takes some windows out of all: the entries that are counted in them, of whatever rows, and the
 * rows that begin there.  From the beginning of the matrix to that of window i, rows and entries come to i
 * times the window. */
DEVICE int64_t entries_before(const struct product *p, int64_t window, int64_t row)
{
    const int64_t count = window * p->dim[WINDOW], all = p->rows + p->nnz;
    return (count < all ? count : all) - row;
}

DEVICE void play_windows(const struct product *p, int64_t player)
{
    const int64_t windows = p->dim[WINDOWS], together = p->fact[TOGETHER_NOW],
                  all = (windows + together - 1) / together;
    const int64_t first = player * all / p->fact[PLAYERS] * together,
                  end = first + together < windows ? first + together : windows;
    const struct first_rows at = first_rows_of(p, first, end);
    const int64_t row = at.first, begun = at.end - row,
                  rows = begun < 1             ? 1
                       : begun < ROWS_COMPARED ? begun
                                               : ROWS_COMPARED;
    const int64_t from = entries_before(p, first, row), to = entries_before(p, end, at.end);
    const int entries = from >= 0 && from < to && to <= p->nnz ? (int)(to - from) : 0; /* or bad offsets */
    const struct played seen = play(p, from, entries);
    int64_t alike = 0; /* counts, each below 2^31, are added up two at a time */
    for (int i = simt_thread_id(); i < ROWS_COMPARED; i += WRITE_THREADS) {
        const int kind = i < begun ? compare_rows(p, row + i) : NOTHING;
        alike += ((int64_t)(kind == SAME) << 32) + (kind == NEXT);
    }
    const int64_t found = block_sum_long(((int64_t)seen.cached << 32) + seen.close),
                  compared = block_sum_long(alike);
    int64_t *const result = results_of(p) + player * SAMPLED_RESULTS;
    if (simt_thread_id() == 0) {
        result[LOOKED_ENTRIES] = entries;
        result[LOOKED_CACHED] = found >> 32;
        result[LOOKED_CLOSE] = found & 0x7fffffff;
        result[LOOKED_ROWS] = rows;
        result[LOOKED_ALIKE] = compared >> 32;
        result[LOOKED_NEXT] = compared & 0x7fffffff;
    }
}

#endif
