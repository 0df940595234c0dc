/* SPDX-License-Identifier: MIT
 *
 * hola.h: how the pages of hola-spmv-2017 deal entries to blocks and threads, and find out which rows
 * those belong to.
 *
 * Every block takes the same number of consecutive entries, every thread `npt` of them.  Two steps, both
 * by scattering from the rows, so that row_ptr is read in order:
 *
 *   starts[part]   the row of the first entry of every block (Alg. 2), by a kernel of its own: hola_deal.
 *                  It sees every row anyway and so also scales those entries of y that no block owns.
 *   ends           within a block, a flag at the last entry of every row (Alg. 4).  Flags are bytes while
 *                  rows set them, so that nobody needs an atomic; a thread packs its own into the bit mask
 *                  of the paper.
 *
 * The paper also scatters each thread's first row, which empty rows make useless: there a flag a wave
 * sends it back to row_ptr, and too many rows for the shared memory take yet another way.  Here the rows
 * that have entries in the block are numbered: the rank of a row is the number of flags before its own,
 * from a prefix sum over the masks.  Ranks never exceed the entries of the block, whatever lies between
 * the rows.  If there are no empty rows, which a comparison of two numbers tells the whole block, rank i
 * is row first + i; else row_ptr is asked once more, and a block with very many empty rows searches it
 * instead of reading all of it. */
#ifndef KERNEL_HOLA_H
#define KERNEL_HOLA_H

#define HOLA_BLOCK 256 /* threads at most */
#define HOLA_NPT 8     /* entries a thread at most */
#define HOLA_ROWS 4    /* rows whose offsets a thread has under way */

/* In product.fact: entries a block, a power of two. */
enum { HOLA_PER_BLOCK };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* A kernel is compiled for so many blocks on a multiprocessor: as few registers as it can do with. */
#define HOLA_RESIDENT(npt) ((npt) == 4 ? (sizeof(real) == 4 ? 6 : 5) : (sizeof(real) == 4 ? 5 : 4))
#define HOLA_KERNEL(name, npt) KERNEL_RESIDENT(name, HOLA_BLOCK, HOLA_RESIDENT(npt))

#define HOLA_MANY 4  /* a block with so many times more rows than entries searches for them */
#define HOLA_ALONE 4 /* so many starts a lane writes by itself; more are the whole wave's work */

/* One block's entries and rows.  An array that the block shares is as long as entries, or threads. */
struct share {
    const off *row_ptr;
    off begin;          /* its first entry */
    int entries;        /* how many */
    int first, last;    /* rows: that of the first entry; that of the next block's first entry, or of the last
                         * entry of all */
    int reaches;        /* row `last` has entries in the block */
    int before, behind; /* the first row has entries before the block; row `last` has some here and some
                         * behind it */
    int ranks;          /* rows that have entries here */
    int dense;          /* there are no empty ones among them */
    int searches;       /* there are very many */
    uint32_t *ends;     /* a byte an entry */
    uint32_t *ranked;   /* a thread: rank of its first entry's row, and 8 bits: its mask */
    int32_t *counts;    /* a wave: flags */
};

/* -------------------------------------------------------- dealing to blocks ------------------- */

/* The first block that begins at or behind `from`, and the last that begins before `to`.  Nothing
 * overflows. */
DEVICE int64_t hola_starts_from(off from, int shift)
{
    return ((int64_t)(from - 1) >> shift) + 1;
}
DEVICE int64_t hola_starts_to(off to, int shift)
{
    return (int64_t)(to - 1) >> shift;
}

/* Do many blocks begin with the row that has the entries [from, to)? */
DEVICE int hola_is_long(off from, off to, int shift)
{
    return hola_starts_to(to, shift) - hola_starts_from(from, shift) >= HOLA_ALONE;
}

/* Such a row is written by the wave. */
DEVICE void hola_deal_long(idx *starts, int64_t row, off from, off to, int shift)
{
    uint64_t many = simt_ballot(hola_is_long(from, to, shift));
    SIMT_ROLLED
    for (; many; many &= many - 1) {
        const int lane = simt_ffs(many) - 1;
        const int64_t its_row = simt_shfl(row, lane, WAVE);
        const off its_from = simt_shfl(from, lane, WAVE), its_to = simt_shfl(to, lane, WAVE);
        SIMT_ROLLED
        for (int64_t part = hola_starts_from(its_from, shift) + HOLA_ALONE + simt_lane();
             part <= hola_starts_to(its_to, shift); part += WAVE)
            starts[part] = (idx)its_row;
    }
}

/* The row has the entries [from, to).  Where there is a y, beta is applied to it for empty rows and for
 * those that several blocks add to; all others are written by their block. */
DEVICE void hola_deal_row(const struct product *p, int64_t row, off from, off to, int shift, real *y)
{
    idx *starts = (idx *)p->workspace;
    const real beta = beta_of(p);
    if (y && beta != 1 && (from == to || hola_starts_to(to, shift) != (int64_t)from >> shift))
        scale_one(y + row, beta);
    if (from == to)
        return;
    const int64_t last = hola_starts_to(to, shift);
    int64_t part = hola_starts_from(from, shift);
    for (int i = 0; i < HOLA_ALONE && part <= last; i++)
        starts[part++] = (idx)row;
    if (to == p->nnz)
        starts[last + 1] = (idx)row;
}

/* Where a row begins; those behind the end are empty. */
DEVICE off hola_begin(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

/* Waves stay together: rows behind the end are nobody's.  Long rows are rare, and so asked for once more. */
DEVICE void hola_deal(const struct product *p, real *y)
{
    const int shift = simt_ffs((uint64_t)p->fact[HOLA_PER_BLOCK]) - 1;
    const int64_t step = simt_global_size() * HOLA_ROWS;
    for (int64_t base = simt_global_id() / WAVE * WAVE * HOLA_ROWS; base < p->rows; base += step) {
        off from[HOLA_ROWS], to[HOLA_ROWS];
        int any_long = 0;
        for (int i = 0; i < HOLA_ROWS; i++) {
            const int64_t row = base + i * WAVE + simt_lane();
            from[i] = hola_begin(p, row);
            to[i] = hola_begin(p, row + 1);
        }
        for (int i = 0; i < HOLA_ROWS; i++) {
            const int64_t row = base + i * WAVE + simt_lane();
            if (row < p->rows)
                hola_deal_row(p, row, from[i], to[i], shift, y);
            any_long |= hola_is_long(from[i], to[i], shift);
        }
        if (!simt_any(any_long))
            continue;
        SIMT_ROLLED
        for (int i = 0; i < HOLA_ROWS; i++) {
            const int64_t row = base + i * WAVE + simt_lane();
            hola_deal_long((idx *)p->workspace, row, hola_begin(p, row), hola_begin(p, row + 1), shift);
        }
    }
}

/* -------------------------------------------------------- dealing to threads ------------------ */

/* Waits for a load: those of the entries themselves should be under way before. */
DEVICE void share_rows(struct share *b, const struct product *p, int64_t part, int per_block)
{
    const idx *starts = (const idx *)p->workspace;
    const int64_t left = p->nnz - part * per_block;
    b->row_ptr = (const off *)p->array[CSR_ROW_PTR];
    b->begin = (off)(part * per_block);
    b->entries = left < per_block ? (int)left : per_block;
    simt_after_previous();
    b->first = simt_readonly(starts + part);
    b->last = simt_readonly(starts + part + 1);
    b->searches = b->last - b->first >= HOLA_MANY * per_block;
}

/* What happens to the first and the last row at the borders of the block.  Asked for late, to save
 * registers before. */
DEVICE void share_borders(struct share *b)
{
    const off first_from = simt_readonly(b->row_ptr + b->first),
              last_from = simt_readonly(b->row_ptr + b->last);
    const off last_to = simt_readonly(b->row_ptr + b->last + 1);
    b->before = first_from < b->begin;
    b->reaches = last_from - b->begin < b->entries;
    b->behind = b->reaches & (last_to - b->begin > b->entries);
}

/* Does a row with this rank have entries in other blocks as well? */
DEVICE int share_is_shared(const struct share *b, int rank)
{
    return (rank == 0 && b->before) || (rank == b->ranks - 1 && b->behind);
}

/* The row that entry `key` of the block belongs to; `row` is that one or stands before it.  Strides double
 * until they are too long, then halve. */
DEVICE int share_row_of(const struct share *b, int row, int key)
{
    const off entry = b->begin + key;
    int low = row, high;
    unsigned step = 1;
    while (step <= (unsigned)(b->last - low) && b->row_ptr[low + (int)step] <= entry) {
        low += (int)step;
        step *= 2;
    }
    for (high = step <= (unsigned)(b->last - low) ? low + (int)step : b->last + 1; high - low > 1;) {
        const int middle = low + (high - low) / 2;
        if (b->row_ptr[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where a row with the entries [from, to) ends in the block, 0 if it has none there.  A row that goes on
 * behind the block ends with it. */
DEVICE int share_end(const struct share *b, off from, off to)
{
    const int end = to - b->begin < b->entries ? (int)(to - b->begin) : b->entries;
    return from == to || from - b->begin >= b->entries ? 0 : end;
}

/* Short rows are many: their offsets are asked for several at a time. */
DEVICE void share_mark_by_rows(const struct share *b)
{
    unsigned char *flag = (unsigned char *)b->ends;
    const int rows = b->last - b->first + 1, block = simt_block_size();
    for (int i = simt_thread_id(); i < rows; i += block * HOLA_ROWS) {
        off from[HOLA_ROWS], to[HOLA_ROWS];
        for (int j = 0; j < HOLA_ROWS; j++) {
            const off *at = b->row_ptr + b->first + (i + j * block < rows ? i + j * block : i);
            from[j] = simt_readonly(at);
            to[j] = simt_readonly(at + 1);
        }
        for (int j = 0; j < HOLA_ROWS; j++) {
            const int end = share_end(b, from[j], to[j]);
            if (end > 0 && i + j * block < rows)
                flag[end - 1] = 1;
        }
    }
}

DEVICE void share_mark_by_search(const struct share *b, const int npt)
{
    unsigned char *flag = (unsigned char *)b->ends;
    const int begin = simt_thread_id() * npt, end = begin + npt < b->entries ? begin + npt : b->entries;
    for (int at = begin, row = b->first; at < end;) {
        row = share_row_of(b, row, at);
        at = share_end(b, b->row_ptr[row], b->row_ptr[row + 1]);
        if (at <= end)
            flag[at - 1] = 1;
    }
}

/* Four bytes that are 0 or 1 become the four highest bits of the product: no two of its partial products
 * meet. */
DEVICE uint32_t share_pack(uint32_t bytes)
{
    return bytes * 0x10204080u >> 28;
}

/* The thread's mask: bit i is set when its i-th entry is the last of a row.  Two barriers. */
DEVICE uint32_t share_mask(const struct share *b, const int npt)
{
    const int words = npt / 4, at = simt_thread_id() * words;
    for (int i = 0; i < words; i++)
        b->ends[i * simt_block_size() + simt_thread_id()] = 0;
    simt_sync();
    if (b->searches)
        share_mark_by_search(b, npt);
    else
        share_mark_by_rows(b);
    simt_sync();
    return words == 1 ? share_pack(b->ends[at]) : share_pack(b->ends[at]) | share_pack(b->ends[at + 1]) << 4;
}

/* Flags of the lanes before one's own; `counts` gets those of the wave. */
DEVICE int share_count(const struct share *b, uint32_t mask)
{
    const int own = simt_popc(mask), with = wave_scan_int(own, WAVE);
    if (simt_lane() == WAVE - 1)
        b->counts[simt_wave_id()] = with;
    return with - own;
}

/* Behind a barrier and share_borders: from the rank within the wave to that within the block.  `ranked`
 * needs a barrier before it is read. */
DEVICE int share_rank(struct share *b, int rank, uint32_t mask)
{
    int ranks = 0;
    for (int i = 0; i < HOLA_BLOCK / WAVE; i++) {
        const int count = i < simt_waves() ? b->counts[i] : 0;
        rank += i < simt_wave_id() ? count : 0;
        ranks += count;
    }
    b->ranks = ranks;
    b->dense = ranks == b->last - b->first + b->reaches;
    b->ranked[simt_thread_id()] = (uint32_t)rank << 8 | mask;
    return rank;
}

/* The rank of the row that an entry belongs to. */
DEVICE int share_rank_of(const struct share *b, int entry, const int npt)
{
    const uint32_t ranked = b->ranked[entry / npt];
    return (int)(ranked >> 8) + simt_popc(ranked & ((1u << entry % npt) - 1));
}

/* The rank of the i-th row of a block that does not search, -1 if it has no entry there. */
DEVICE int share_rank_of_row(const struct share *b, int i, const int npt)
{
    if (b->dense)
        return i < b->ranks ? i : -1;
    const off *at = b->row_ptr + b->first + i;
    const int end = share_end(b, simt_readonly(at), simt_readonly(at + 1));
    return end > 0 ? share_rank_of(b, end - 1, npt) : -1;
}

/* -------------------------------------------------------- entries in registers ---------------- */

#define HOLA_ABSENT INT32_MAX /* a column behind all others: there are at most INT32_MAX of them */

/* The entries of a wave from wave_begin on.  Nearly always it has all of them, from arrays that are
 * aligned: then it reads in fours, and the result is 1.  Else every lane reads the npt consecutive ones
 * that it will need. */
DEVICE int read_fours(idx *c, real *v, const struct product *p, int64_t wave_begin, const int npt)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const real *RESTRICT val = (const real *)p->array[CSR_VAL];
    if (wave_begin + WAVE * npt <= p->nnz && ((uintptr_t)col | (uintptr_t)val) % 16 == 0) {
        for (int i = 0; i < npt; i += 4) {
            const int64_t at = wave_begin + i * WAVE + simt_lane() * 4;
            simt_stream4(c + i, (const idx *)__builtin_assume_aligned(col + at, 16));
            simt_stream4(v + i, (const real *)__builtin_assume_aligned(val + at, 16));
        }
        return 1;
    }
    for (int i = 0; i < npt; i++) {
        const int64_t at = wave_begin + simt_lane() * npt + i;
        c[i] = at < p->nnz ? simt_readonly(col + at) : HOLA_ABSENT;
        v[i] = at < p->nnz ? simt_readonly(val + at) : 0;
    }
    return 0;
}

/* The other way: entries wave_begin + lane, and so on in steps of a wave.  1: it has all of them. */
DEVICE int read_strided(idx *c, real *v, const struct product *p, int64_t wave_begin, const int npt)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + wave_begin;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + wave_begin;
    const int lane = simt_lane(), all = WAVE * npt,
              left = p->nnz - wave_begin < all ? (int)(p->nnz - wave_begin) : all;
    for (int i = 0; left == all && i < npt; i++) {
        c[i] = simt_stream(col + i * WAVE + lane);
        v[i] = simt_stream(val + i * WAVE + lane);
    }
    for (int i = 0; left < all && i < npt; i++) {
        c[i] = i * WAVE + lane < left ? simt_stream(col + i * WAVE + lane) : HOLA_ABSENT;
        v[i] = i * WAVE + lane < left ? simt_stream(val + i * WAVE + lane) : 0;
    }
    return left == all;
}

/* A wave reads its entries in fours: lane i has the i-th four and, with eight entries a lane, the (WAVE +
 * i)-th.  It wants the fours 2 i and 2 i + 1, which neighbours hold in the same place.  Where every other
 * lane exchanges its two fours first, no shuffle has to choose between them (Alg. 5): source lanes do it,
 * receiving ones undo it. */
DEVICE int turn_source(int four)
{
    const int lane = simt_lane(), upper = lane >= WAVE / 2;
    return 2 * lane % WAVE + (four ^ upper);
}
#define HOLA_TURN(name, type)                                                                                \
    DEVICE void name(type *v)                                                                                \
    {                                                                                                        \
        const int odd = simt_lane() % 2, upper = simt_lane() >= WAVE / 2;                                    \
        for (int i = 0; i < 4; i++) {                                                                        \
            const type low = v[i], high = v[i + 4];                                                          \
            type a = odd ? high : low, b = odd ? low : high;                                                 \
            a = simt_shfl(a, turn_source(0), WAVE);                                                          \
            b = simt_shfl(b, turn_source(1), WAVE);                                                          \
            v[i] = upper ? b : a;                                                                            \
            v[i + 4] = upper ? a : b;                                                                        \
        }                                                                                                    \
    }
HOLA_TURN(turn_real, real)
HOLA_TURN(turn_idx, idx)
#undef HOLA_TURN

/* No branch here and no loop below: AMD's compiler puts the arrays into memory otherwise. */
DEVICE void hola_order(idx *key, real *v, idx *with, int i, int j)
{
    const int swap = key[i] > key[j];
    const idx low = swap ? key[j] : key[i], high = swap ? key[i] : key[j];
    const idx with_low = swap ? with[j] : with[i], with_high = swap ? with[i] : with[j];
    const real v_low = swap ? v[j] : v[i], v_high = swap ? v[i] : v[j];
    key[i] = low;
    key[j] = high;
    with[i] = with_low;
    with[j] = with_high;
    v[i] = v_low;
    v[j] = v_high;
}

DEVICE void hola_sort4(idx *key, real *v, idx *with)
{
    hola_order(key, v, with, 0, 1);
    hola_order(key, v, with, 2, 3);
    hola_order(key, v, with, 0, 2);
    hola_order(key, v, with, 1, 3);
    hola_order(key, v, with, 1, 2);
}

/* Batcher's odd-even merge sort by `key`; v and `with` go along. */
DEVICE void hola_sort(idx *key, real *v, idx *with, const int npt)
{
    hola_sort4(key, v, with);
    if (npt == 8) {
        hola_sort4(key + 4, v + 4, with + 4);
        hola_order(key, v, with, 0, 4);
        hola_order(key, v, with, 1, 5);
        hola_order(key, v, with, 2, 6);
        hola_order(key, v, with, 3, 7);
        hola_order(key, v, with, 2, 4);
        hola_order(key, v, with, 3, 5);
        hola_order(key, v, with, 1, 2);
        hola_order(key, v, with, 3, 4);
        hola_order(key, v, with, 5, 6);
    }
}

#else
#include "kernel/kernel.h"

/* The first options of both pages.  npt=0: 8, or 4 where that would leave multiprocessors with few blocks. */
#define HOLA_OPTIONS                                                                                         \
    {"npt", 0, VALUES(0, 4, 8)}, {"block", 256, VALUES(128, 256)},                                           \
    {                                                                                                        \
        "sort", 0, VALUES(0, 1)                                                                              \
    }
enum { HOLA_OPTION_NPT, HOLA_OPTION_BLOCK, HOLA_OPTION_SORT, HOLA_OPTION_OWN }; /* a page has one more */

#define HOLA_BLOCKS_EACH 8 /* a multiprocessor */
static inline int hola_npt(const struct work *w)
{
    int64_t fill = w->option[HOLA_OPTION_BLOCK] * HOLA_NPT * HOLA_BLOCKS_EACH *
                   gpu_info_of(w->device->gpu)->multiprocessors;
    if (w->option[HOLA_OPTION_NPT])
        return (int)w->option[HOLA_OPTION_NPT];
    return w->product.nnz < fill ? 4 : 8;
}

static inline int64_t hola_parts(const struct work *w)
{
    int64_t per_block = hola_npt(w) * w->option[HOLA_OPTION_BLOCK];
    return (w->product.nnz + per_block - 1) / per_block;
}

/* The row that every block starts with, and the last one. */
static inline int64_t hola_workspace(const struct work *w)
{
    return (hola_parts(w) + 1) * (int64_t)sizeof(int32_t);
}

/* The kernels of a page: one for every npt, option of its own and sort, in this order, and the one that comes
 * first; `items` of that are rows or entries of y.  The second takes a block a part, which saves it the
 * registers of a loop; where the parts are more than a grid may have, it is launched again for the rest. */
enum { HOLA_DEAL = 8 };
static inline heddle_status hola_launch(const struct work *w, const char *const *entries, int64_t items)
{
    struct work with = *w;
    const int block = (int)w->option[HOLA_OPTION_BLOCK], npt = hola_npt(w);
    const int64_t per_block = (int64_t)npt * block,
                  entry = (npt == 8) * 4 + w->option[HOLA_OPTION_OWN] * 2 + w->option[HOLA_OPTION_SORT];
    with.product.fact[HOLA_PER_BLOCK] = per_block;
    return gpu_run_blocks_behind(
        &with, gpu_over(w, entries[HOLA_DEAL], (items + HOLA_ROWS - 1) / HOLA_ROWS),
        (struct launch){entries[entry], w->product.parts, block, per_block * (int64_t)type_size(w->value)});
}

#endif
#endif
