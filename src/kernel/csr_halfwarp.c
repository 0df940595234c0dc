/* SPDX-License-Identifier: MIT
 *
 * csr_halfwarp: 16 lanes a row of a CSR whose rows are padded to whole sixteens.
 *
 * Computes   y = alpha A x + beta y,  A in CSR16 (src/format/csr16.c).
 * Source     SpMV4GPU (Baskaran and Bordawekar 2009) as described in ellpack-r-2011 section 3.2.
 * Balance    a row is the work of 16 lanes; a wave waits for the longest of its rows.
 * Memory     every row begins at a boundary of 16 entries, so the lanes read whole lines of col and val, streamed; a lane has
 *            four of each under way.  Padding is read like entries, but never meets x, which is gathered.
 * Wins       rows of 16 entries and more, of like length.
 * Loses      short rows: up to 15 places of padding each, idle lanes; power-law rows.
 * Order      fixed tree per row: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"

/* Units of a row that are under way. */
#define LOADS 4

/* A lane's share of the units [unit, end). */
DEVICE real sum_units(const struct product *p, int64_t unit, int64_t end, int lane)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR16_COL] + lane;
    const real *RESTRICT val = (const real *)p->array[CSR16_VAL] + lane;
    const real *RESTRICT x = (const real *)p->x;
    real sum = 0;
    SIMT_ROLLED
    for (; unit < end; unit += LOADS) {
        idx c[LOADS];
        real v[LOADS] = {0}, g[LOADS] = {0};
        for (int k = 0; k < LOADS; k++)
            c[k] = -1;
        for (int k = 0; k < LOADS; k++)
            if (unit + k < end) {
                c[k] = simt_stream(col + (unit + k) * CSR16_UNIT);
                v[k] = simt_stream(val + (unit + k) * CSR16_UNIT);
            }
        for (int k = 0; k < LOADS; k++)
            if (c[k] >= 0) /* padding never meets x, which may hold Inf */
                g[k] = simt_readonly(x + c[k]);
        for (int k = 0; k < LOADS; k++)
            sum += v[k] * g[k];
    }
    return sum;
}

/* The loop is the wave's, and a row behind the end is empty: shuffles then always have the whole wave. */
KERNEL(csr_halfwarp)(struct product p)
{
    const int32_t *first = (const int32_t *)p.array[CSR16_FIRST];
    const int lane = simt_lane() % CSR16_UNIT, rows = WAVE / CSR16_UNIT;
    for (int64_t from = simt_global_id() / WAVE * rows; from < p.rows; from += simt_global_size() / WAVE * rows) {
        const int64_t row = from + simt_lane() / CSR16_UNIT;
        real sum = 0;
        if (row < p.rows)
            sum = sum_units(&p, simt_readonly(first + row), simt_readonly(first + row + 1), lane);
        for (int by = CSR16_UNIT / 2; by > 0; by /= 2)
            sum += simt_shfl_xor(sum, by, WAVE);
        if (lane == 0 && row < p.rows)
            store((real *)p.y + row, scalar(p.alpha), sum, scalar(p.beta));
    }
}

#else
#include "kernel/kernel.h"

static heddle_status launch(const struct work *w)
{
    return gpu_run_over(w, "csr_halfwarp", w->product.rows * CSR16_UNIT);
}

const struct kernel csr_halfwarp = {
    .name = "csr_halfwarp",
    .id = KERNEL_csr_halfwarp,
    .format = FORMAT_csr16,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "SpMV4GPU in ellpack-r-2011",
    .repeatable = 1,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
