/* SPDX-License-Identifier: MIT
 *
 * csr_halfwarp: 16 lanes a row of a CSR whose rows are padded to whole sixteens.
 *
 * Computes   y = alpha A x + beta y,  A in CSR16 (src/format/csr16.c).
 * Source     SpMV4GPU (Baskaran and Bordawekar 2009) as described in ellpack-r-2011 section 3.2.
 * Balance    a row is the work of 16 lanes; a wave waits for the longest of its rows.  Rows of few units
 *            are done four at a time: they are neighbours in memory, so the lanes run through all of their
 *            units as through one row.
 * Memory     every row begins at a boundary of 16 entries, so the lanes read whole lines of col and val,
 *            streamed; a lane has four of each under way.  Padding is read like entries, but never meets
 *            x, which is gathered.
 * Wins       rows of 16 entries and more, of like length.
 * Loses      short rows: up to 15 places of padding each; power-law rows.
 * Order      fixed tree per row: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* Units of a row that are under way. */
#define LOADS 4

/* Rows that are done together, at most; `rows`, a constant in every kernel, says how many are. */
#define TOGETHER 4

/* A lane's shares of `rows` rows, whose units begin at unit[0], unit[1], ... and end at unit[rows]. */
DEVICE void sum_units(const struct product *p, const int32_t *unit, real *sum, const int rows)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR16_COL] + simt_lane() % CSR16_UNIT;
    const real *RESTRICT val = (const real *)p->array[CSR16_VAL] + simt_lane() % CSR16_UNIT;
    const real *RESTRICT x = (const real *)p->x;
    SIMT_ROLLED
    for (int32_t u = unit[0]; u < unit[rows]; u += LOADS) {
        idx c[LOADS];
        real v[LOADS] = {0}, g[LOADS] = {0};
        for (int k = 0; k < LOADS; k++)
            c[k] = -1;
        for (int k = 0; k < LOADS; k++)
            if (u + k < unit[rows]) {
                c[k] = simt_stream(col + (int64_t)(u + k) * CSR16_UNIT);
                v[k] = simt_stream(val + (int64_t)(u + k) * CSR16_UNIT);
            }
        for (int k = 0; k < LOADS; k++)
            if (c[k] >= 0) /* padding never meets x, which may hold Inf */
                g[k] = simt_readonly(x + c[k]);
        for (int k = 0; k < LOADS; k++)
            for (int q = 0; q < rows; q++)
                sum[q] += rows == 1 || (unit[q] <= u + k && u + k < unit[q + 1]) ? v[k] * g[k] : 0;
    }
}

/* The sum over 16 lanes; shuffles always have the whole wave. */
DEVICE real sum_lanes(real v, int by)
{
    for (; by > 0; by /= 2)
        v += simt_shfl_xor(v, by, WAVE);
    return v;
}

/* Of four rows at once: at each of the first two steps a lane gives away the half that it is not to have.
 * Lanes 0 to 3 end with row 0, 4 to 7 with row 1, and so on. */
DEVICE real sum_lanes_of_four(const real *sum)
{
    const int upper = simt_lane() & 8, second = simt_lane() & 4;
    const real a = (upper ? sum[2] : sum[0]) + simt_shfl_xor(upper ? sum[0] : sum[2], 8, WAVE);
    const real b = (upper ? sum[3] : sum[1]) + simt_shfl_xor(upper ? sum[1] : sum[3], 8, WAVE);
    return sum_lanes((second ? b : a) + simt_shfl_xor(second ? a : b, 4, WAVE), 2);
}

/* The loop is the wave's; rows behind the end are empty. */
DEVICE void multiply(const struct product *p, const int rows)
{
    const int32_t *first = (const int32_t *)p->array[CSR16_FIRST];
    const int a_wave = WAVE / CSR16_UNIT * rows, lane = simt_lane() % CSR16_UNIT;
    for (int64_t from = simt_global_id() / WAVE * a_wave; from < p->rows;
         from += simt_global_size() / WAVE * a_wave) {
        const int64_t row = from + simt_lane() / CSR16_UNIT * rows, mine = row + (rows == 1 ? 0 : lane / 4);
        int32_t unit[TOGETHER + 1];
        real sum[TOGETHER] = {0};
        for (int q = 0; q <= rows; q++)
            unit[q] = simt_readonly(first + (row + q < p->rows ? row + q : p->rows));
        sum_units(p, unit, sum, rows);
        const real total = rows == 1 ? sum_lanes(sum[0], 8) : sum_lanes_of_four(sum);
        if (lane % (CSR16_UNIT / rows) == 0 && mine < p->rows)
            store_sum(p, mine, total);
    }
}

KERNEL(csr_halfwarp1)(struct product p)
{
    multiply(&p, 1);
}
KERNEL(csr_halfwarp4)(struct product p)
{
    multiply(&p, 4);
}

#else
#include "kernel/kernel.h"

static const char *const entries[] = {"csr_halfwarp1", "csr_halfwarp4", NULL};

/* Rows of four units and more keep their lanes busy alone. */
#define LONG_ROWS (4 * CSR16_UNIT)
static heddle_status launch(const struct work *w)
{
    int together = w->product.nnz < LONG_ROWS * w->product.rows;
    int64_t groups = together ? (w->product.rows + 3) / 4 : w->product.rows;
    return gpu_run_over(w, entries[together], groups * CSR16_UNIT);
}

const struct kernel csr_halfwarp = {
    .name = "csr_halfwarp",
    .id = KERNEL_csr_halfwarp,
    .format = FORMAT_csr16,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "SpMV4GPU in ellpack-r-2011",
    .repeatable = 1,
    .entries = entries,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
