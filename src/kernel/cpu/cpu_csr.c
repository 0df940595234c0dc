/* SPDX-License-Identifier: MIT
 *
 * cpu_csr: rows in parts of equal work, eight running sums a row.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     the ordinary CSR loop; vectorised as in src/kernel/cpu/simd.h.
 * Balance    a part gets whole rows; the cuts are where the number of entries plus the number of rows
 *            reaches equal shares, so that long runs of empty rows count as well.  Found by bisection in
 *            row_ptr, at every call: there is nothing to prepare.  A row with more than a share of the
 *            entries delays its part: cpu_merge cuts it.
 * Memory     val and col are read once, in order, eight entries at a time and fetched ahead; x is
 *            gathered; y is written once.
 * Wins       rows of eight and more entries, and any matrix that is multiplied only a few times.
 * Loses      very short rows: their ends cannot be predicted, and cpu_sell does not have to.
 * Order      fixed tree per row: bitwise repeatable, for any number of threads.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/dot.h"

static void rows_between(const struct product *p, int64_t begin, int64_t end)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *col = (const idx *)p->array[CSR_COL];
    const elem *val = (const elem *)p->array[CSR_VAL];
    const real *x = (const real *)p->x;
    real *y = (real *)p->y;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    /* The end of one row is the beginning of the next: one load of row_ptr a row. */
    int64_t k = row_ptr[begin];
    for (int64_t i = begin; i < end; i++) {
        int64_t next = row_ptr[i + 1];
        store(&y[i], alpha, dot(p, val + k, col + k, next - k, x), beta);
        k = next;
    }
}

CPU_KERNEL(cpu_csr)(const struct product *p, const struct team *team)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    int64_t steps = p->rows + p->nnz;
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        rows_between(p, path_row(row_ptr, p->rows, part_begin(steps, part, p->parts)),
                     path_row(row_ptr, p->rows, part_begin(steps, part + 1, p->parts)));
}

#else
#include "kernel/kernel.h"

const struct kernel cpu_csr = {
    .name = "cpu_csr",
    .id = KERNEL_cpu_csr,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "the CSR loop, balanced by nonzeros",
    .repeatable = 1,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
