/* SPDX-License-Identifier: MIT
 *
 * hyb: the regular part of a matrix in ELL, the rest in COO.
 *
 * Computes   y = alpha A x + beta y,  A in HYB (src/format/hyb.c, where the options that split A are
 *            explained).
 * Source     Bell and Garland in ellpack-r-2011; ginkgo-race-2020 section 3.4, whose hybridlimit33 is the
 *            default.
 * Balance    ELL: a row is a thread's work, and no row has more than the width.  COO: an entry, whatever
 *            the rows look like; the lanes of a wave add up what belongs to the same row before anyone
 *            adds to y.
 * Memory     all arrays are read once, coalesced and streamed; x is gathered.  y is written by the first
 *            launch; the second, which there is only where entries are left, adds to it once for each row
 *            that a wave meets.
 * Wins       rows of like length with some that are longer, by much or by little.
 * Loses      small matrices: the second launch costs as much as they do.  Rows of every length: most of
 *            them end up in COO.
 * Order      the additions of neighbouring waves to a row arrive in any order: not repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/ell.h"
#include "simt/collective.h"

KERNEL(hyb_ell)(struct product p)
{
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size())
        store_sum(&p, i, ell_sum(&p, i, 0, 1));
}

/* Neighbouring entries that a lane takes. */
#define EACH 4

struct piece {
    idx row[EACH]; /* -1 behind the last entry */
    real product[EACH];
};
DEVICE struct piece load_piece(const struct product *p, int64_t at)
{
    const idx *row = (const idx *)p->array[HYB_REST_ROW] + at,
              *col = (const idx *)p->array[HYB_REST_COL] + at;
    const real *val = (const real *)p->array[HYB_REST_VAL] + at, *x = (const real *)p->x;
    struct piece e;
    idx c[EACH];
    real v[EACH];
    if (at + EACH <= p->dim[HYB_REST]) {
        simt_stream4(e.row, row);
        simt_stream4(c, col);
        simt_stream4(v, val);
        for (int k = 0; k < EACH; k++)
            e.product[k] = v[k] * simt_readonly(x + c[k]);
    } else {
        for (int k = 0; k < EACH; k++) {
            const int in = at + k < p->dim[HYB_REST];
            e.row[k] = in ? simt_readonly(row + k) : -1;
            e.product[k] = in ? simt_readonly(val + k) * simt_readonly(x + simt_readonly(col + k)) : 0;
        }
    }
    return e;
}

/* Sums within the lane first.  Its first row may have begun in the lane before, its last one go on in the
 * next: a segmented scan over the last rows brings both together, and whoever has the end of a row adds
 * its sum to y. */
KERNEL(hyb_rest)(struct product p)
{
    real *y = (real *)p.y;
    const real alpha = alpha_of(&p);
    simt_after_previous();
    if (alpha == 0)
        return;
    for (int64_t first = simt_global_id() / WAVE * WAVE * EACH; first < p.dim[HYB_REST];
         first += simt_global_size() * EACH) {
        const struct piece e = load_piece(&p, first + simt_lane() * EACH);
        real sum = e.product[0], before = 0;
        int whole = 1; /* all of the lane is one row */
        for (int k = 1; k < EACH; k++)
            if (e.row[k] == e.row[k - 1]) {
                sum += e.product[k];
            } else {
                if (whole)
                    before = sum;
                else
                    simt_atomic_add(y + e.row[k - 1], alpha * sum);
                whole = 0;
                sum = e.product[k];
            }
        const idx above = simt_shfl_up(e.row[EACH - 1], 1, WAVE), below = simt_shfl_down(e.row[0], 1, WAVE);
        const int goes_on = simt_lane() > 0 && above == e.row[0];
        const real reached = wave_segment_scan(sum, !(whole && goes_on), WAVE),
                   carry = simt_shfl_up(reached, 1, WAVE);
        if (!whole)
            simt_atomic_add(y + e.row[0], alpha * (goes_on ? carry + before : before));
        if (e.row[EACH - 1] >= 0 && (simt_lane() == WAVE - 1 || below != e.row[EACH - 1]))
            simt_atomic_add(y + e.row[EACH - 1], alpha * reached);
    }
}

#else
#include "kernel/kernel.h"

static const char *const entries[] = {"hyb_ell", "hyb_rest", NULL};

/* Without an ELL part the first launch scales y. */
static heddle_status launch(const struct work *w)
{
    const int is_needed = w->product.dim[HYB_WIDTH] > 0 || !beta_is_one(w);
    return gpu_run_pair(w, gpu_over(w, "hyb_ell", is_needed ? w->product.rows : 0),
                        gpu_over(w, "hyb_rest", (w->product.dim[HYB_REST] + 3) / 4));
}

/* The rest reads and writes y once more. */
static double cost(const struct work *w, const struct stored *s)
{
    double again = s->dim[HYB_REST] > 0 ? 2.0 * (double)s->rows * (double)type_size(s->value) : 0;
    return cost_of_streams(w, s) + again;
}

const struct kernel hyb = {
    .name = "hyb",
    .id = KERNEL_hyb,
    .format = FORMAT_hyb,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ellpack-r-2011; ginkgo-race-2020 section 3.4",
    .repeatable = 0,
    .entries = entries,
    .launch = launch,
    .cost = cost,
};
#endif
