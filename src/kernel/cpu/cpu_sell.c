/* SPDX-License-Identifier: MIT
 *
 * cpu_sell: eight rows at a time, one in each lane.
 *
 * Computes   y = alpha A x + beta y,  A in SELL (src/format/sell.c).
 * Source     SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop 2014; the 16-bit columns are Heddle's
 *            own.
 * Balance    whole slices, cut where the number of places plus a constant a slice reaches equal shares.
 * Memory     val and col are read once, in order: 10 bytes an entry in double precision (6 in single)
 *            where a slice spans less than 65,536 columns, 12 (8) elsewhere.  x is gathered, y is written
 *            near where it was last.
 * Wins       nearly everywhere once the conversion is paid for: fewer bytes; no sum across lanes at the
 *            end of a row; and no row end to mispredict, because the rows of a slice end together.
 * Loses      rows of very unequal length within a window: padding is read and multiplied (and thrown away).
 * Order      one sum a row, in the order of storage: bitwise repeatable, for any number of threads.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/simd.h"

/* Eight rows of a slice: where their entries begin, and how many all of them have. */
struct group {
    const elem *val;
    const real *x;
    const uint16_t *col; /* two words an entry in a wide slice */
    const int32_t *length;
    int64_t height, full, width;
};

/* First the entries that all eight rows have; then, in an uneven slice, the others, with the lanes of
 * shorter rows switched off: what lies behind the end of a row is read but does not count, so that 0 * Inf
 * never happens. */
static inline vec sum_narrow(const struct group *g)
{
    vec sum = vec_zero();
    const elem *val = g->val;
    const uint16_t *col = g->col;
    int64_t j = 0;
    for (; j < g->full; j++, val += g->height, col += g->height) {
        FETCH(val);
        sum = vec_fma(vec_values(val), gather16(g->x, col), sum);
    }
    for (; j < g->width; j++, val += g->height, col += g->height)
        sum = vec_fma_if(mask_above(g->length, j), vec_values(val), gather16(g->x, col), sum);
    return sum;
}

static inline vec sum_wide(const struct group *g)
{
    vec sum = vec_zero();
    const elem *val = g->val;
    const idx *col = (const idx *)g->col;
    int64_t j = 0;
    for (; j < g->full; j++, val += g->height, col += g->height) {
        FETCH(val);
        sum = vec_fma(vec_values(val), gather32(g->x, col), sum);
    }
    for (; j < g->width; j++, val += g->height, col += g->height)
        sum = vec_fma_if(mask_above(g->length, j), vec_values(val), gather32(g->x, col), sum);
    return sum;
}

static void multiply_slice(const struct product *p, int64_t slice)
{
    const int64_t height = p->dim[SELL_HEIGHT];
    const int64_t *slice_ptr = (const int64_t *)p->array[SELL_SLICE_PTR],
                  *col_ptr = (const int64_t *)p->array[SELL_COL_PTR];
    const int32_t *row = p->dim[SELL_SORTED] ? (const int32_t *)p->array[SELL_ROW] : 0;
    const int32_t base = ((const int32_t *)p->array[SELL_BASE])[slice];
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    const int wide = base < 0;
    real *y = (real *)p->y;
    struct group g = {.val = (const elem *)p->array[SELL_VAL] + slice_ptr[slice],
                      .x = (const real *)p->x + (wide ? 0 : base),
                      .col = (const uint16_t *)p->array[SELL_COL] + col_ptr[slice],
                      .length = (const int32_t *)p->array[SELL_LENGTH] + slice * height,
                      .height = height,
                      .full = ((const int32_t *)p->array[SELL_FULL])[slice],
                      .width = (slice_ptr[slice + 1] - slice_ptr[slice]) / height};
    for (int64_t first = slice * height; first < (slice + 1) * height; first += LANES) {
        real sum[LANES];
        vec_sums(p, sum, wide ? sum_wide(&g) : sum_narrow(&g));
        int64_t n = p->rows - first < LANES ? p->rows - first : LANES;
        for (int64_t r = 0; r < n; r++)
            store(&y[row ? row[first + r] : first + r], alpha, sum[r], beta);
        g.val += LANES;
        g.col += wide ? 2 * LANES : LANES;
        g.length += LANES;
    }
}

/* The first slice of a part: the first one before which `steps` places and slices lie, a slice counted as
 * two of its columns. */
static int64_t slice_at(const struct product *p, int64_t steps)
{
    const int64_t *slice_ptr = (const int64_t *)p->array[SELL_SLICE_PTR];
    int64_t low = 0, high = p->dim[SELL_SLICES];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (slice_ptr[middle] + 2 * p->dim[SELL_HEIGHT] * middle < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

CPU_KERNEL(cpu_sell)(const struct product *p, const struct team *team)
{
    const int64_t *slice_ptr = (const int64_t *)p->array[SELL_SLICE_PTR];
    int64_t slices = p->dim[SELL_SLICES], steps = slice_ptr[slices] + 2 * p->dim[SELL_HEIGHT] * slices;
    for (int64_t part = team->thread; part < p->parts; part += team->threads) {
        const int64_t end = slice_at(p, part_begin(steps, part + 1, p->parts));
        for (int64_t slice = slice_at(p, part_begin(steps, part, p->parts)); slice < end; slice++)
            multiply_slice(p, slice);
    }
}

#else
#include "kernel/kernel.h"

const struct kernel cpu_sell = {
    .name = "cpu_sell",
    .id = KERNEL_cpu_sell,
    .format = FORMAT_sell,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "SELL-C-sigma (Kreutzer et al. 2014), 16-bit columns",
    .repeatable = 1,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
