/* SPDX-License-Identifier: MIT
 *
 * balance.h: entries of a CSR matrix dealt out evenly to waves (ginkgo-race-2020 section 3.2); csr_balance
 * and csr_ginkgo include it.  Host half: `balance_held`, `balance_prepare` and `balance_launch`, which run
 * kernels of the page that are named after the functions here: balance_starts, balance_scale and balance.
 *
 * A wave takes a share: entries [from, to) of rows [row, last).  An empty row has to be written and so
 * counts as an entry; a row that does not exceed `whole` entries goes to the wave that has its first one.
 * Such rows are stored at once.  Only of longer rows several waves have a part each, which they add
 * atomically; a launch ahead scales y there. */
#ifndef KERNEL_BALANCE_H
#define KERNEL_BALANCE_H

#include "kernel/ginkgo.h"

/* In product.fact, beside those of classical.h; the number of shares that begin within a row is found by
 * `balance_starts`. */
enum { BALANCE_WAVES = 0, BALANCE_WHOLE = 1, BALANCE_SPLIT = 2 };

#define BALANCE_BLOCK 128 /* threads: few, so that registers are dealt out in small portions */

#ifdef HEDDLE_DEVICE

/* product.prepared: how many shares begin within a row; waves + 1 first entries, twice their number, and 1
 * more where that is within a row; waves + 1 first rows. */
DEVICE int64_t *share_starts(const struct product *p)
{
    return (int64_t *)p->prepared + 1;
}
DEVICE idx *share_row(const struct product *p)
{
    return (idx *)(share_starts(p) + p->fact[BALANCE_WAVES] + 1);
}
DEVICE int64_t share_entry(const struct product *p, int64_t w)
{
    return simt_readonly(share_starts(p) + w) >> 1;
}
DEVICE int begins_within(const struct product *p, int64_t w)
{
    return (int)(simt_readonly(share_starts(p) + w) & 1);
}

/* -------------------------------------------------------- preparation ------------------------- */

/* The row of item t, where row i has the items row_ptr[i] + i to row_ptr[i + 1] + i: its entries, and its
 * end. */
DEVICE int64_t row_of_item(const off *row_ptr, int64_t rows, int64_t t)
{
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((int64_t)row_ptr[middle + 1] + middle + 1 <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

DEVICE void balance_starts(const struct product *p)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t waves = p->fact[BALANCE_WAVES], items = p->rows + p->nnz, share = items / waves,
                  more = items % waves;
    for (int64_t w = simt_global_id(); w <= waves; w += simt_global_size()) {
        const int64_t t = w * share + (w < more ? w : more);
        int64_t row = row_of_item(row_ptr, p->rows, t), entry = p->nnz, inside = 0;
        if (row < p->rows) {
            const int64_t begin = row_ptr[row], end = row_ptr[row + 1], within = t - begin - row;
            if (within == 0) {
                entry = begin;
            } else if (within == end - begin || end - begin <= p->fact[BALANCE_WHOLE]) {
                entry = end;
                row++;
            } else {
                entry = begin + within;
                inside = 1;
                simt_atomic_add((int64_t *)p->prepared, (int64_t)1);
            }
        }
        share_starts(p)[w] = 2 * entry + inside;
        share_row(p)[w] = (idx)row;
    }
}

/* -------------------------------------------------------- product ----------------------------- */

/* y = beta y where waves will add to it, once a row: by the first share that begins within the row. */
DEVICE void balance_scale(const struct product *p)
{
    const real beta = beta_of(p);
    const idx *row = share_row(p);
    for (int64_t w = 1 + simt_global_id(); w < p->fact[BALANCE_WAVES]; w += simt_global_size())
        if (begins_within(p, w) && !(row[w - 1] == row[w] && begins_within(p, w - 1))) {
            scale_one((real *)p->y + row[w], beta);
        }
}

/* The entries of a share, counted from its first, and a mark for each of the entries that are under way. */
struct lane_view {
    const idx *col;
    const real *val, *x;
    int32_t *mark;
};

/* Products of the entries from `at` on, this lane's of each round; 0 from `last` on, where x must not be
 * met. */
DEVICE void products(real v[GINKGO_ROUNDS], const struct lane_view *a, int32_t at, int32_t last)
{
    idx col[GINKGO_ROUNDS];
    for (int i = 0; i < GINKGO_ROUNDS; i++) {
        const int32_t k = at + i * WAVE + simt_lane();
        col[i] = k < last ? simt_stream(a->col + k) : 0;
        v[i] = k < last ? simt_stream(a->val + k) : 0;
    }
    for (int i = 0; i < GINKGO_ROUNDS; i++)
        v[i] = at + i * WAVE + simt_lane() < last ? v[i] * simt_readonly(a->x + col[i]) : 0;
}

/* Lane i has the entries [begin, end) as its row, those of the next lane follow: returns the row's sum.
 *
 * The wave goes through the entries of all these rows together.  A row marks its first entry; from the
 * marks of a round every lane knows where runs begin.  A round within one row is only added to what the
 * lanes hold apart, which is summed when the row ends (Alg. 1, line 6).  Any other round is scanned, and
 * each row fetches its sum from the lane that has its last entry. */
DEVICE real sum_of_row(const struct lane_view *a, int32_t begin, int32_t end)
{
    const int32_t last = simt_shfl(end, WAVE - 1, WAVE);
    real sum = 0, apart = 0;
    int held = 0, mine = 0; /* anything apart, and is it this lane's row? */
    for (int32_t at = simt_shfl(begin, 0, WAVE); at < last; at += GINKGO_ROUNDS * WAVE) {
        real v[GINKGO_ROUNDS];
        products(v, a, at, last);
        if (begin < end && begin >= at && begin - at < GINKGO_ROUNDS * WAVE)
            a->mark[begin - at] = 1;
        simt_wave_sync();
        for (int i = 0; i < GINKGO_ROUNDS; i++) {
            const int32_t here = at + i * WAVE, rest = last - here;
            if (rest <= 0)
                break;
            int32_t *mark = a->mark + i * WAVE + simt_lane();
            const simt_lanes heads = (simt_lanes)simt_ballot(*mark);
            *mark = 0;
            if (heads && held) {
                const real total = wave_sum(apart, WAVE);
                sum += mine ? total : 0;
                apart = 0;
                held = mine = 0;
            }
            if (heads >> 1 == 0) {
                apart += v[i];
                held = 1;
                mine |= begin <= here && here < end;
            } else {
                const int32_t tail = end - here < WAVE ? end - here : WAVE;
                const real part = simt_shfl(run_scan(v[i], heads), tail > 0 ? tail - 1 : 0, WAVE);
                sum += begin < end && begin - here < tail && tail > 0 ? part : 0;
            }
        }
        simt_wave_sync();
    }
    if (held) {
        const real total = wave_sum(apart, WAVE);
        sum += mine ? total : 0;
    }
    return sum;
}

/* A row as stored; behind the last one of a share there are empty ones. */
struct row_span {
    off begin, end;
};
DEVICE struct row_span span_of(const off *RESTRICT row_ptr, int64_t row, int64_t last, int64_t to)
{
    struct row_span s = {(off)to, (off)to};
    if (row < last) {
        s.begin = simt_readonly(row_ptr + row);
        s.end = simt_readonly(row_ptr + row + 1);
    }
    return s;
}

/* One share: its rows, a lane each.  The offsets of the next rows are under way while these are summed. */
DEVICE void balance_share(const struct product *p, int64_t w, int32_t *mark)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t from = share_entry(p, w), to = share_entry(p, w + 1);
    const int64_t last = share_row(p)[w + 1] + (int64_t)begins_within(p, w + 1);
    const struct lane_view a = {(const idx *)p->array[CSR_COL] + from, (const real *)p->array[CSR_VAL] + from,
                                (const real *)p->x, mark};
    struct row_span next = span_of(row_ptr, share_row(p)[w] + simt_lane(), last, to);
    for (int64_t first = share_row(p)[w]; first < last; first += WAVE) {
        const int64_t row = first + simt_lane();
        const struct row_span span = next;
        const int64_t begin = span.begin > from ? span.begin : from, end = span.end < to ? span.end : to;
        next = span_of(row_ptr, row + WAVE, last, to);
        const real sum = sum_of_row(&a, (int32_t)(begin - from), (int32_t)(end - from));
        if (row < last && span.begin >= from && span.end <= to)
            store_sum(p, row, sum);
        else if (row < last && alpha_of(p) != 0)
            simt_atomic_add((real *)p->y + row, alpha_of(p) * sum);
    }
}

DEVICE void balance(const struct product *p)
{
    SHARED(int32_t, marks, BALANCE_BLOCK * GINKGO_ROUNDS);
    simt_after_previous();
    int32_t *mark = marks + simt_wave_id() * (WAVE * GINKGO_ROUNDS);
    for (int i = 0; i < GINKGO_ROUNDS; i++)
        mark[i * WAVE + simt_lane()] = 0;
    simt_wave_sync();
    for (int64_t w = simt_global_id() / WAVE; w < p->fact[BALANCE_WAVES]; w += simt_global_size() / WAVE)
        balance_share(p, w, mark);
}

/* The kernels of a page, of which `multiply` is named by it. */
#define BALANCE_KERNELS(page, multiply)                                                                      \
    KERNEL_BOUND(multiply, BALANCE_BLOCK)(struct product p)                                                  \
    {                                                                                                        \
        balance(&p);                                                                                         \
    }                                                                                                        \
    KERNEL(page##_scale)(struct product p)                                                                   \
    {                                                                                                        \
        balance_scale(&p);                                                                                   \
    }                                                                                                        \
    KERNEL(page##_starts)(struct product p)                                                                  \
    {                                                                                                        \
        balance_starts(&p);                                                                                  \
    }

#else
#include "kernel/kernel.h"

#define BALANCE_LEAST 512 /* items a share, where there are enough of them */
#define BALANCE_FULL 512  /* entries: longer rows may be shared by waves */

/* From sizes alone, as `held` must know it. */
static inline int64_t balance_waves(const struct work *w, int64_t over)
{
    int64_t items = w->product.rows + w->product.nnz, share = ginkgo_share(w, over, items, BALANCE_LEAST);
    return (items + share - 1) / share;
}

static inline int64_t balance_held(const struct work *w, int64_t over)
{
    return 8 + (balance_waves(w, over) + 1) * (int64_t)(sizeof(int64_t) + sizeof(int32_t));
}

static inline double balance_cost(const struct work *w, const struct stored *s)
{
    return cost_of_streams(w, s) + (double)work_held(w);
}

/* What BALANCE_KERNELS makes, in its order. */
enum { BALANCE_MULTIPLY, BALANCE_SCALE, BALANCE_STARTS };

static inline heddle_status balance_prepare(struct work *w, const char *const *entries, int64_t over,
                                            int64_t whole)
{
    heddle_status status;
    int64_t *fact = w->product.fact;
    fact[BALANCE_WAVES] = balance_waves(w, over);
    fact[BALANCE_WHOLE] = whole;
    TRY(device_fill(w->device, w->product.prepared, 0, sizeof(int64_t)));
    TRY(gpu_run_over(w, entries[BALANCE_STARTS], fact[BALANCE_WAVES] + 1));
    TRY(device_read(w->device, &fact[BALANCE_SPLIT], w->product.prepared, sizeof(int64_t)));
done:
    return status;
}

static inline heddle_status balance_launch(const struct work *w, const char *const *entries)
{
    const int64_t *fact = w->product.fact, in_block = BALANCE_BLOCK / gpu_info_of(w->device->gpu)->wave,
                  blocks = (fact[BALANCE_WAVES] + in_block - 1) / in_block;
    return gpu_run_pair(
        w, gpu_scaling(w, entries[BALANCE_SCALE], fact[BALANCE_SPLIT] > 0 ? fact[BALANCE_WAVES] : 0),
        (struct launch){entries[BALANCE_MULTIPLY], gpu_grid(w, blocks, BALANCE_BLOCK), BALANCE_BLOCK, 0});
}

#endif
#endif
