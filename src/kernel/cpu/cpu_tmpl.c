/* SPDX-License-Identifier: MIT
 *
 * cpu_tmpl: eight rows at a time, one in each lane, of rows that share a template; no columns are read.
 *
 * Computes   y = alpha A x + beta y,  A in TMPL (src/format/tmpl.c).
 * Source     Heddle's own.  Diagonal storage (Bell and Garland 2009) is the case of one template for all
 *            rows.
 * Balance    whole slices, cut where the number of places plus a constant a slice reaches equal shares; rows
 *            of the rest, in equal numbers of entries.
 * Memory     values are read once, in order: 8 bytes an entry in double precision and 4 in single, and 4
 *            bytes a row.  Where the rows of a slice follow one upon another, which most do, so do their x: a
 *            load instead of a gather.
 * Wins       grids, lattices, images.
 * Loses      rows that do not share, of which the rest is made.
 * Order      one sum a row, in the order of storage, in the rest as in cpu_csr: bitwise repeatable, for any
 *            number of threads.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/dot.h"

/* Eight rows of a slice. */
struct group {
    const elem *val;
    const uint16_t *row;
    const int32_t *offset;
    int64_t height, length;
};

/* The rows follow one upon another, and x of the first is given. */
static inline vec sum_run(const struct group *g, const real *x)
{
    vec sum = vec_zero();
    const elem *val = g->val;
    for (int64_t k = 0; k < g->length; k++, val += g->height) {
        FETCH(val);
        sum = vec_fma(vec_values(val), vec_load(x + g->offset[k]), sum);
    }
    return sum;
}

/* Any rows; x of the window's first is given.  Lanes without a row go along with the slice's first. */
static inline vec sum_rows(const struct group *g, const real *x)
{
    vec sum = vec_zero();
    const elem *val = g->val;
    idx at[LANES];
    real of_x[LANES];
    for (int r = 0; r < LANES; r++)
        at[r] = g->row[r] & (TMPL_WINDOW - 1);
    for (int64_t k = 0; k < g->length; k++, val += g->height) {
        FETCH(val);
        for (int r = 0; r < LANES; r++)
            of_x[r] = x[at[r] + g->offset[k]];
        sum = vec_fma(vec_values(val), vec_load(of_x), sum);
    }
    return sum;
}

static void multiply_slice(const struct product *p, int64_t slice)
{
    const int64_t height = p->dim[TMPL_HEIGHT];
    const uint32_t *of = (const uint32_t *)p->array[TMPL_SLICE] + TMPL_MEMBERS * slice;
    const real *x = (const real *)p->x + of[TMPL_AT_WINDOW];
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    real *y = (real *)p->y + of[TMPL_AT_WINDOW];
    struct group g = {.val = (const elem *)p->array[TMPL_VAL] + height * of[TMPL_AT_VAL],
                      .row = (const uint16_t *)p->array[TMPL_ROW] + height * slice,
                      .offset = (const int32_t *)p->array[TMPL_OFFSET] + of[TMPL_AT_OFFSET],
                      .height = height,
                      .length = of[TMPL_AT_LENGTH]};
    for (int64_t first = 0; first < height && !(g.row[0] & TMPL_OFF);
         first += LANES, g.val += LANES, g.row += LANES) {
        real sum[LANES];
        if (g.row[LANES - 1] == g.row[0] + LANES - 1) { /* rows ascend */
            vec_sums(p, sum, sum_run(&g, x + g.row[0]));
            for (int r = 0; r < LANES; r++)
                store(&y[g.row[0] + r], alpha, sum[r], beta);
        } else {
            vec_sums(p, sum, sum_rows(&g, x));
            for (int r = 0; r < LANES && !(g.row[r] & TMPL_OFF); r++)
                store(&y[g.row[r]], alpha, sum[r], beta);
        }
    }
}

/* The first slice of a part: the first one before which `steps` columns of slices lie, where each slice
 * counts two more. */
static int64_t slice_at(const struct product *p, int64_t steps)
{
    const uint32_t *slice = (const uint32_t *)p->array[TMPL_SLICE];
    int64_t low = 0, high = p->dim[TMPL_SLICES];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)slice[TMPL_MEMBERS * middle + TMPL_AT_VAL] + 2 * middle < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for rows of the rest. */
static int64_t rest_at(const struct product *p, int64_t steps)
{
    const int64_t *ptr = (const int64_t *)p->array[TMPL_REST_PTR];
    int64_t low = 0, high = p->dim[TMPL_REST];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ptr[middle] + middle < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void multiply_rest(const struct product *p, int64_t begin, int64_t end)
{
    const int64_t *ptr = (const int64_t *)p->array[TMPL_REST_PTR];
    const int32_t *row = (const int32_t *)p->array[TMPL_REST_ROW];
    const idx *col = (const idx *)p->array[TMPL_REST_COL];
    const elem *val = (const elem *)p->array[TMPL_REST_VAL];
    for (int64_t i = begin; i < end; i++)
        store((real *)p->y + row[i], scalar(p->alpha),
              dot(p, val + ptr[i], col + ptr[i], ptr[i + 1] - ptr[i], (const real *)p->x), scalar(p->beta));
}

CPU_KERNEL(cpu_tmpl)(const struct product *p, const struct team *team)
{
    const uint32_t *last = (const uint32_t *)p->array[TMPL_SLICE] + TMPL_MEMBERS * (p->dim[TMPL_SLICES] - 1);
    int64_t slices = p->dim[TMPL_SLICES],
            steps = slices ? (int64_t)last[TMPL_AT_VAL] + last[TMPL_AT_LENGTH] + 2 * slices : 0;
    int64_t rest = p->dim[TMPL_REST], rest_steps = p->dim[TMPL_ENTRIES] + rest;
    for (int64_t part = team->thread; part < p->parts; part += team->threads) {
        int is_last = part + 1 == p->parts;
        int64_t end = is_last ? slices : slice_at(p, part_begin(steps, part + 1, p->parts));
        for (int64_t slice = slice_at(p, part_begin(steps, part, p->parts)); slice < end; slice++)
            multiply_slice(p, slice);
        multiply_rest(p, rest_at(p, part_begin(rest_steps, part, p->parts)),
                      is_last ? rest : rest_at(p, part_begin(rest_steps, part + 1, p->parts)));
    }
}

#else
#include "kernel/kernel.h"

const struct kernel cpu_tmpl = {
    .name = "cpu_tmpl",
    .id = KERNEL_cpu_tmpl,
    .format = FORMAT_tmpl,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "Heddle's own: rows share their lists of (column - row)",
    .repeatable = 1,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
