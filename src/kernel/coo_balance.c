/* SPDX-License-Identifier: MIT
 *
 * coo_balance: entries dealt out evenly to waves, which add up rows before they touch y.
 *
 * Computes   y = alpha A x + beta y  or  y = alpha Aᵀ x + beta y,  A in COO.
 * Source     ginkgo-race-2020 Alg. 1.  How many waves there are follows its table of threads a core, by
 *            vendor and number of entries; the option over sets them instead.  A small kernel scales y
 *            first.
 * Balance    perfect, whatever the rows look like: a wave has a number of entries in succession, known
 *            from sizes.
 * Memory     row, col and val are streamed, coalesced, four loads of each under way a lane; x is gathered.
 *            A wave adds once to each of its rows.  Beyond the paper, its sum of a row is carried along,
 *            not only within a round but to its end; with beta = 0 all rows but the first and last of a
 *            wave have no other one, and are stored.  Transposed, only neighbours of the same column are
 *            summed; all other entries are additions of their own.
 * Wins       uneven rows; rows of which most are empty; a matrix that comes as COO.
 * Loses      even rows: four bytes more an entry than CSR.  Long columns, transposed: their additions
 *            queue up.
 * Order      rows with several waves in that of arrival: not repeatable.
 */
#include "kernel/ginkgo.h"

/* In product.fact: entries a wave takes. */
#define SHARE 0

#ifdef HEDDLE_DEVICE

KERNEL(coo_balance_scale)(struct product p)
{
    scale_all((real *)p.y, p.transposed ? p.cols : p.rows, beta_of(&p));
}

/* Where a wave is: the sums of lanes for the row `open` that has not ended yet, all in the last lane or
 * (spread) in any. */
struct place {
    real *y;
    real alpha, sum;
    idx open, first;   /* rows; the first may have entries in the wave before as well */
    int spread, alone; /* alone: other rows are this wave's only, and y may be overwritten there */
};

DEVICE void put(const struct place *s, idx row, real sum)
{
    if (s->alone && row != s->first)
        s->y[row] = times(s->alpha, sum);
    else
        simt_atomic_add(s->y + row, times(s->alpha, sum));
}

/* One round: entry `lane` belongs to `row` and adds v.  While nothing but the open row is met, sums stay
 * in their lanes (line 6 of the algorithm); else the lanes are scanned, and every run that ends before the
 * last lane is done with. */
DEVICE void round_of(struct place *s, idx row, real v)
{
    const int lane = simt_lane();
    const idx above = simt_shfl_up(row, 1, WAVE);
    const simt_lanes heads = (simt_lanes)simt_ballot(row != (lane == 0 ? s->open : above));
    if (heads == 0) {
        s->sum += v;
        s->spread = 1;
        return;
    }
    const real carried = s->spread ? wave_sum(s->sum, WAVE) : simt_shfl(s->sum, WAVE - 1, WAVE);
    if (lane == 0 && heads & 1)
        put(s, s->open, carried);
    v = run_scan(lane == 0 && !(heads & 1) ? carried + v : v, heads);
    if (heads >> lane >> 1 & 1)
        put(s, row, v);
    s->sum = lane == WAVE - 1 ? v : 0;
    s->open = simt_shfl(row, WAVE - 1, WAVE);
    s->spread = 0;
}

/* Transposed, rows and columns change places.  Lanes behind the end add nothing to the last row. */
DEVICE void balance_entries(const struct product *p, const int transposed)
{
    const idx *RESTRICT to = (const idx *)p->array[transposed ? COO_COL : COO_ROW];
    const idx *RESTRICT from = (const idx *)p->array[transposed ? COO_ROW : COO_COL];
    const elem *RESTRICT val = (const elem *)p->array[COO_VAL];
    const real *RESTRICT x = (const real *)p->x;
    const int64_t share = p->fact[SHARE];
    const real alpha = alpha_of(p);
    const int alone = !transposed && beta_of(p) == 0;
    simt_after_previous();
    if (alpha == 0)
        return;
    for (int64_t begin = simt_global_id() / WAVE * share; begin < p->nnz;
         begin += simt_global_size() / WAVE * share) {
        const int64_t end = begin + share < p->nnz ? begin + share : p->nnz;
        const idx first = simt_readonly(to + begin), last = simt_readonly(to + end - 1);
        struct place s = {(real *)p->y, alpha, 0, first, first, 0, alone};
        for (int64_t at = begin + simt_lane(); at - simt_lane() < end; at += GINKGO_ROUNDS * WAVE) {
            idx row[GINKGO_ROUNDS], col[GINKGO_ROUNDS];
            elem v[GINKGO_ROUNDS];
            real product[GINKGO_ROUNDS];
            for (int i = 0; i < GINKGO_ROUNDS; i++) {
                const int64_t k = at + i * WAVE;
                row[i] = k < end ? simt_stream(to + k) : last;
                col[i] = k < end ? simt_stream(from + k) : 0;
                v[i] = k < end ? simt_stream(val + k) : 0;
            }
            for (int i = 0; i < GINKGO_ROUNDS; i++)
                product[i] = at + i * WAVE < end ? term(p, v[i], simt_readonly(x + col[i])) : 0;
            for (int i = 0; i < GINKGO_ROUNDS; i++)
                round_of(&s, row[i], product[i]);
        }
        const real total = wave_sum(s.sum, WAVE);
        if (simt_lane() == 0)
            simt_atomic_add(s.y + s.open, times(s.alpha, total));
    }
}

KERNEL_UP_TO(coo_balance, 512)(struct product p)
{
    balance_entries(&p, 0);
}

KERNEL_UP_TO(coo_balance_t, 512)(struct product p)
{
    balance_entries(&p, 1);
}

#else

static const struct option options[] = {
    {"over", 0, VALUES(0, 2, 8, 32, 128)},
    {"block", 0, VALUES(0, 128, 512)},
    {0},
};
enum { OVER, BLOCK };

static const char *const entries[] = {"coo_balance", "coo_balance_t", "coo_balance_scale", NULL};

/* Entries a wave, where there are enough of them. */
#define LEAST 256

static heddle_status launch(const struct work *w)
{
    struct work told = *w;
    const int64_t n = w->product.transposed ? w->product.cols : w->product.rows;
    int64_t share = ginkgo_share(w, w->option[OVER], w->product.nnz, LEAST),
            waves = (w->product.nnz + share - 1) / share;
    int block = w->option[BLOCK] ? (int)w->option[BLOCK] : gpu_arch(w->device->gpu)->block;
    int64_t in_block = block / gpu_info_of(w->device->gpu)->wave;
    told.product.fact[SHARE] = share;
    return gpu_run_pair(
        &told, gpu_scaling(w, "coo_balance_scale", n),
        (struct launch){entries[w->product.transposed], (waves + in_block - 1) / in_block, block, 0});
}

/* y is written twice; transposed, hardly anything is summed before it is added. */
static double cost(const struct work *w, const struct stored *s)
{
    double y = (double)s->rows * (double)vector_size(s->value);
    return w->product.transposed ? cost_of_additions(w, s) : cost_of_streams(w, s) + y;
}

const struct kernel coo_balance = {
    .name = "coo_balance",
    .id = KERNEL_coo_balance,
    .format = FORMAT_coo,
    .ops = OPS_N | OPS_T,
    .device = DEVICE_gpu,
    .source = "ginkgo-race-2020 Alg. 1",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .launch = launch,
    .cost = cost,
};
#endif
