/* SPDX-License-Identifier: MIT
 *
 * cpu_ell: blocks of rows, column by column.
 *
 * Computes   y = alpha A x + beta y,  A in ELL.
 * Source     ELLPACK as in ellpack-r-2011 section 3.3, with padding that is recognised by its column (-1).
 * Balance    equal numbers of rows; every row has the same number of places.
 * Memory     entry j of all rows stands together, so each block reads `width` pieces of val and col one
 *            after the other and keeps its sums in L1.  Padding is read like everything else.
 * Wins       rows of exactly equal length; cpu_sell does the same with less padding and shorter columns.
 * Loses      one long row pads all others; the format refuses what would take over four times the entries.
 * Order      one sum a row, in the order of storage: bitwise repeatable, for any number of threads.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/simd.h"

#define BLOCK 256 /* rows: their sums, and the pieces of val and col of one j, fit L1 together */

/* Is one of eight columns padding?  Sign bits, two columns a word. */
static inline int any_padding(const idx *col)
{
    uint64_t signs = 0, two;
    for (int i = 0; i < LANES; i += 2) {
        memcpy(&two, col + i, sizeof two);
        signs |= two;
    }
    return (signs & UINT64_C(0x8000000080000000)) != 0;
}

/* sum[0..n) += one column of the block.  Padding is stepped over, never multiplied: x may hold Inf. */
static inline void add_column(const struct product *p, real *sum, const elem *val, const idx *col, int64_t n)
{
    const real *x = (const real *)p->x;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        FETCH(val + i);
        if (__builtin_expect(any_padding(col + i), 0)) {
            for (int64_t r = i; r < i + LANES; r++)
                if (col[r] >= 0)
                    sum[r] += term(p, val[r], x[col[r]]);
        } else {
            vec_add(p, sum + i, vec_values(val + i), gather32(x, col + i));
        }
    }
    for (; i < n; i++)
        if (col[i] >= 0)
            sum[i] += term(p, val[i], x[col[i]]);
}

CPU_KERNEL(cpu_ell)(const struct product *p, const struct team *team)
{
    const idx *col = (const idx *)p->array[ELL_COL];
    const elem *val = (const elem *)p->array[ELL_VAL];
    real *y = (real *)p->y;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    int64_t end = part_begin(p->rows, team->thread + 1, team->threads);
    for (int64_t i = part_begin(p->rows, team->thread, team->threads); i < end; i += BLOCK) {
        int64_t n = end - i < BLOCK ? end - i : BLOCK;
        real sum[BLOCK] = {0};
        for (int64_t j = 0; j < p->dim[ELL_WIDTH]; j++)
            add_column(p, sum, val + j * p->rows + i, col + j * p->rows + i, n);
        for (int64_t r = 0; r < n; r++)
            store(&y[i + r], alpha, sum[r], beta);
    }
}

#else
#include "kernel/kernel.h"

const struct kernel cpu_ell = {
    .name = "cpu_ell",
    .id = KERNEL_cpu_ell,
    .format = FORMAT_ell,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "ellpack-r-2011 section 3.3",
    .repeatable = 1,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
