/* SPDX-License-Identifier: MIT
 *
 * look_columns: what the columns of a matrix are like, for a product that adds into y (csr_weft).
 *
 * Computes   counts (look.h: LOOKED_...) from a sample of the columns.  One block of threads takes entries
 *            from all over the matrix and counts those that fall on one column, and on one cache line of
 *            y.  The others take groups of neighbouring row blocks, as a block of csr_weft has them, play
 *            its cache on their columns, and compare neighbouring rows.
 * Balance    some groups, however large the matrix is.
 * Memory     at most GROUPS groups of columns, coalesced, and a few offsets.
 * Order      who comes first has a place in the cache: counts may differ a little from run to run, sums do
 *            not.
 *
 * Columns may be anything: none is followed. */
#include "convert/look.h"

/* What the kernel is given in product.fact: where in product.prepared the results stand, and how many
 * groups are taken at a time. */
enum { RESULTS_AT, HELD };

#define THREADS 1024
#define GROUPS 64

#ifdef HEDDLE_DEVICE

#define SAMPLES (2 * THREADS)
#define PLACES 2048
#define LINE (128 / (int)sizeof(real)) /* entries of y in a cache line */
#define CLOSE 8                        /* columns: within a sector of a cache line */

DEVICE idx column_at(const struct product *p, int64_t k)
{
    return simt_readonly((const idx *)p->array[CSR_COL] + k);
}

/* Samples that have the same key, a column or a line, counted where its first one stands in the table;
 * where two keys fall on one place, the first counts. */
DEVICE void count_samples(const idx *key, int32_t *table, int32_t *count, int *place)
{
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < PLACES; i += THREADS) {
        table[i] = -1;
        count[i] = 0;
    }
    simt_sync();
    for (int i = 0; i < SAMPLES / THREADS; i++) {
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
    for (int i = 0; i < SAMPLES / THREADS; i++) {
        const int32_t here = place[i] < 0 ? 0 : count[place[i]] * PLACES + place[i];
        most = here > most ? here : most;
    }
    return most;
}

DEVICE void sample_all(const struct product *p, int64_t *result)
{
    SHARED(int32_t, table, PLACES);
    SHARED(int32_t, count, PLACES);
    idx column[SAMPLES / THREADS], line[SAMPLES / THREADS];
    int place[SAMPLES / THREADS];
    for (int i = 0; i < SAMPLES / THREADS; i++) { /* spread evenly, in no order */
        const uint64_t part = (uint32_t)(simt_thread_id() + i * THREADS + 1) * 2654435761u;
        const int64_t k = (int64_t)((part * (uint64_t)((p->nnz >> 8) + 1)) >> 24);
        const idx c = column_at(p, k < p->nnz ? k : p->nnz - 1);
        column[i] = c < 0 ? 0 : c;
        line[i] = column[i] / LINE;
    }
    count_samples(line, table, count, place);
    const int32_t crowded = block_max_int(largest(count, place)) / PLACES;
    count_samples(column, table, count, place);
    for (int i = 0; i < HOT_MOST; i++) { /* the hottest first */
        const int32_t most = block_max_int(largest(count, place)), at = most % PLACES;
        if (most / PLACES < SAMPLES / HOT_SHARE)
            break;
        if (simt_thread_id() == 0) {
            result[LOOKED_HOT + i] = table[at];
            count[at] = 0;
        }
        simt_sync();
    }
    if (simt_thread_id() == 0)
        result[LOOKED_CROWDED] = (int64_t)crowded * (65536 / SAMPLES);
}

/* Of a thread's share in n entries from `from` on: those whose column csr_weft's cache would have, where a
 * place is the first column's that comes to it; and those close to their predecessor's. */
struct played {
    int cached, close;
};

DEVICE struct played play(const struct product *p, int64_t from, int n)
{
    SHARED(int32_t, key, CACHE_PLACES(sizeof(real)));
    struct played seen = {0, 0};
    SIMT_ROLLED
    for (int i = simt_thread_id(); i < CACHE_PLACES(sizeof(real)); i += THREADS)
        key[i] = -1;
    simt_sync();
    SIMT_ROLLED
    for (int k = simt_thread_id(); k - simt_thread_id() < n; k += 4 * THREADS) {
        idx column[4];
        for (int i = 0; i < 4; i++)
            column[i] = k + i * THREADS < n ? column_at(p, from + k + i * THREADS) : -1;
        for (int i = 0; i < 4; i++) {
            const idx before = simt_shfl_up(column[i], 1, WAVE);
            if (k + i * THREADS >= n)
                continue;
            const uint32_t at = (uint32_t)column[i] % CACHE_PLACES(sizeof(real));
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
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    if (row + 2 > p->rows)
        return NOTHING;
    const int64_t begin = row_ptr[row], end = row_ptr[row + 1], after = row_ptr[row + 2],
                  half = (end - begin) / 2;
    if (begin == end || half >= after - end)
        return NOTHING;
    const idx middle = column_at(p, begin + half), below = column_at(p, end + half);
    return below == middle ? SAME : (uint32_t)below == (uint32_t)middle + 1 ? NEXT : NOTHING;
}

/* One block samples; group i of `groups` is played by the block behind i others. */
KERNEL_BOUND(look_columns, THREADS)(struct product p)
{
    int64_t *const result = (int64_t *)(void *)((char *)p.prepared + p.fact[RESULTS_AT]);
    const struct row_block *const block = (const struct row_block *)p.prepared;
    const int64_t blocks = result[LOOKED_BLOCKS],
                  together = TOGETHER(blocks, p.fact[HELD], TOGETHER_MOST(sizeof(real)));
    const int64_t groups = simt_grid_size() - 1, all = (blocks + together - 1) / together;
    if (result[LOOKED_BAD])
        return;
    if (simt_block_id() == 0) {
        sample_all(&p, result);
        return;
    }
    const int64_t i = simt_block_id() - 1, first = i * all / groups * together;
    const int64_t last = first + together < blocks ? first + together : blocks;
    if (i >= all)
        return;
    const int64_t entries = block[last].begin - block[first].begin, ended = block[last].row,
                  rows = ended > block[first].row ? ended - block[first].row : 1;
    const struct played seen = play(&p, block[first].begin, (int)entries);
    const int kind =
        simt_thread_id() < rows ? compare_rows(&p, block[first].row + simt_thread_id()) : NOTHING;
    const int cached = block_sum_int(seen.cached), close = block_sum_int(seen.close);
    const int same = block_sum_int(kind == SAME), next = block_sum_int(kind == NEXT);
    if (simt_thread_id() == 0) {
        simt_atomic_add(result + LOOKED_ENTRIES, entries);
        simt_atomic_add(result + LOOKED_CACHED, (int64_t)cached);
        simt_atomic_add(result + LOOKED_CLOSE, (int64_t)close);
        simt_atomic_add(result + LOOKED_ROWS, rows < THREADS ? rows : THREADS);
        simt_atomic_add(result + LOOKED_ALIKE, (int64_t)same);
        simt_atomic_add(result + LOOKED_NEXT, (int64_t)next);
    }
}

#else

int64_t look_at_once(const struct work *w)
{
    return 5 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors;
}

heddle_status gpu_look_columns(const struct work *w, int64_t results_at, int64_t blocks_most)
{
    struct work q = *w;
    q.page = "look_columns";
    q.variant = vector_variant(w->variant);
    q.product.fact[RESULTS_AT] = results_at;
    q.product.fact[HELD] = look_at_once(w);
    return gpu_run(&q, "look_columns", 1 + (blocks_most < GROUPS ? blocks_most : GROUPS), THREADS, 0);
}
#endif
