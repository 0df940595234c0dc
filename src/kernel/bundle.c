/* SPDX-License-Identifier: MIT
 *
 * bundle: four lanes a bundle of rows that share their columns.
 *
 * Computes   y = alpha A x + beta y,  A in BUNDLE (src/format/bundle.c).
 * Source     Heddle's own; rows with the same columns are what block formats (BCSR: Im and Yelick 1999) are
 *            after, here without blocks of columns and with no padding of rows.
 * Balance    a slice of bundles of like length is a wave's work, four lanes a bundle: a quarter of a row
 *            each.
 * Memory     columns and values are read once, coalesced and streamed, about eight values of a lane under way
 *            at a time; x is gathered once for up to four rows.  For rows in threes 4.7 bytes an entry in
 *            single and 8.7 in double precision, where the columns of a slice span less than 65,536.
 * Wins       systems with several unknowns a node, however the nodes are numbered.
 * Loses      short rows (four lanes share them), rows of very unequal length within a window (padding).
 * Order      four sums a row, in the order of storage, added in a fixed tree: bitwise repeatable.
 */
#define BLOCK 128 /* threads */

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

#define ROWS_MOST 4
#define STEPS_MOST 8

/* A lane on its way along its bundle; the entries that come next are a wave apart. */
struct lane {
    const elem *val;
    const real *x;       /* from the slice's base on */
    const uint16_t *col; /* two words an entry in a wide slice */
    int left;            /* entries that this lane has; behind them it meets padding */
    real sum[ROWS_MOST];
};

/* The next `steps` steps, of which `there` exist. */
DEVICE void add_steps(const struct product *p, struct lane *m, const int rows, const int wide,
                      const int steps, int there)
{
    idx c[STEPS_MOST] = {0};
    elem v[STEPS_MOST][ROWS_MOST] = {{0}};
    for (int k = 0; k < steps; k++)
        if (k < there) {
            c[k] = wide ? simt_stream((const idx *)m->col + k * WAVE) : (idx)simt_stream(m->col + k * WAVE);
            for (int r = 0; r < rows; r++)
                v[k][r] = simt_stream(m->val + (k * rows + r) * WAVE);
        }
    for (int k = 0; k < steps; k++) {
        const real x = k < m->left ? simt_readonly(m->x + c[k]) : 0;
        for (int r = 0; r < rows; r++)
            m->sum[r] += term(p, v[k][r], x);
    }
    m->val += steps * rows * WAVE;
    m->col += (wide ? 2 : 1) * steps * WAVE;
    m->left -= steps;
}

/* `rows`, `wide` and `unrolled` are constants wherever this is called. */
DEVICE void sum_rows(const struct product *p, struct lane *m, int steps, const int rows, const int wide,
                     const int unrolled)
{
    SIMT_ROLLED
    for (; steps >= unrolled; steps -= unrolled)
        add_steps(p, m, rows, wide, unrolled, unrolled);
    if (steps > 0)
        add_steps(p, m, rows, wide, unrolled, steps);
}

DEVICE void sum_slice(const struct product *p, struct lane *m, int steps, int rows, const int wide)
{
    if (rows == 1)
        sum_rows(p, m, steps, 1, wide, 8);
    else if (rows == 2)
        sum_rows(p, m, steps, 2, wide, 4);
    else if (rows == 3)
        sum_rows(p, m, steps, 3, wide, 3);
    else
        sum_rows(p, m, steps, 4, wide, 2);
}

KERNEL_BOUND(bundle, BLOCK)(struct product p)
{
    const int64_t slice = (p.first + simt_block_id()) * (BLOCK / WAVE) + simt_wave_id();
    if (slice >= p.dim[BUNDLE_SLICES])
        return;
    uint32_t of[BUNDLE_MEMBERS];
    int32_t record[2];
    simt_load4(of, (const uint32_t *)p.array[BUNDLE_SLICE] + BUNDLE_MEMBERS * slice);
    simt_load2(record, (const int32_t *)p.array[BUNDLE_ROW] +
                           2 * (slice * (WAVE / BUNDLE_LANES) + simt_lane() / BUNDLE_LANES));
    const int32_t base = (int32_t)of[BUNDLE_AT_BASE];
    const int rows = (int)(of[BUNDLE_AT_SHAPE] & 7), steps = (int)(of[BUNDLE_AT_SHAPE] >> 3),
              lane = simt_lane() % BUNDLE_LANES;
    struct lane m;
    m.val = (const elem *)p.array[BUNDLE_VAL] + (int64_t)of[BUNDLE_AT_VAL] * WAVE + simt_lane();
    m.col = (const uint16_t *)p.array[BUNDLE_COL] + (int64_t)of[BUNDLE_AT_COL] * WAVE +
            (base < 0 ? 2 : 1) * simt_lane();
    m.x = (const real *)p.x + (base < 0 ? 0 : base);
    m.left = (record[1] - lane + BUNDLE_LANES - 1) / BUNDLE_LANES;
    for (int r = 0; r < ROWS_MOST; r++)
        m.sum[r] = 0;
    if (base < 0)
        sum_slice(&p, &m, steps, rows, 1);
    else
        sum_slice(&p, &m, steps, rows, 0);
    real mine = 0;
    for (int r = 0; r < ROWS_MOST; r++) {
        const real sum = wave_sum(m.sum[r], BUNDLE_LANES);
        mine = lane == r ? sum : mine;
    }
    if (record[0] >= 0 && lane < rows)
        store_sum(&p, record[0] + lane, mine);
}

#else
#include "kernel/kernel.h"

/* The option of the format, where slice=0 is the width of a wave (convert.c). */
static const struct option options[] = {
    {"slice", 0, VALUES(0, 32, 64)},
    {0},
};

static heddle_status applies(const struct work *w)
{
    int wave = gpu_info_of(w->device->gpu)->wave;
    if (w->product.dim[BUNDLE_HEIGHT] == wave)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL, "a slice of bundle is as high as a wave of this device is wide: slice=%d",
                wave);
}

static heddle_status launch(const struct work *w)
{
    const int64_t slices = BLOCK / gpu_info_of(w->device->gpu)->wave,
                  blocks = (w->product.dim[BUNDLE_SLICES] + slices - 1) / slices;
    return gpu_run_blocks(w, (struct launch){"bundle", blocks, BLOCK, 0});
}

const struct kernel bundle = {
    .name = "bundle",
    .id = KERNEL_bundle,
    .format = FORMAT_bundle,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle's own: neighbouring rows share their columns",
    .options = options,
    .repeatable = 1,
    .applies = applies,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
