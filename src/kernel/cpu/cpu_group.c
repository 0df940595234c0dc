/* SPDX-License-Identifier: MIT
 *
 * cpu_group: up to four rows with the same columns at a time.
 *
 * Computes   y = alpha A x + beta y,  A in the group format (src/format/group.c).
 * Source     Heddle's own; after register blocking (Im and Yelick 2001), without its padding.
 * Balance    as cpu_csr, cut at the nearest group.
 * Memory     the columns of a group are read once and x is gathered once for all of its rows: with three
 *            unknowns a node 9.3 bytes an entry instead of 12, and a third of the gathers, which is what a
 *            core runs out of first.  Values stand in the order of use: one stream each of values and
 *            columns, which the prefetchers follow.
 * Wins       systems with several unknowns a node.
 * Loses      the format refuses matrices without groups.
 * Order      fixed tree per row: bitwise repeatable, for any number of threads.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/simd.h"

/* sum[r] = row r of `rows`, which is a constant where this is inlined: the running sums, 4 x 8 at most,
 * stay in registers.  Returns the place behind the values used. */
static inline const elem *dot_rows(const struct product *p, real *sum, const int rows, const elem *val,
                                   const idx *col, int64_t n, const real *x)
{
    int64_t k = 0;
    vec lanes[GROUP_BUNDLE];
    for (int r = 0; r < rows; r++)
        lanes[r] = vec_zero();
    for (; k + GROUP_CHUNK <= n; k += GROUP_CHUNK) {
        vec gathered = gather32(x, col + k);
        for (int r = 0; r < rows; r++, val += GROUP_CHUNK) {
            FETCH(val);
            lanes[r] = vec_fma(vec_values(val), gathered, lanes[r]);
        }
    }
    int64_t left = n - k;
    real rest[GROUP_BUNDLE] = {0};
    for (int64_t i = 0; i < left; i++)
        for (int r = 0; r < rows; r++)
            rest[r] += term(p, val[r * left + i], x[col[k + i]]);
    for (int r = 0; r < rows; r++)
        sum[r] = vec_sum(p, lanes[r]) + rest[r];
    return val + rows * left;
}

static void multiply_group(const struct product *p, int64_t g)
{
    const int32_t *first = (const int32_t *)p->array[GROUP_FIRST];
    const int64_t *col_ptr = (const int64_t *)p->array[GROUP_COL_PTR];
    const idx *col = (const idx *)p->array[GROUP_COL] + col_ptr[g];
    const real *x = (const real *)p->x;
    const elem *val = (const elem *)p->array[GROUP_VAL] + ((const int64_t *)p->array[GROUP_VAL_PTR])[g];
    real *y = (real *)p->y;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    const int64_t n = col_ptr[g + 1] - col_ptr[g];
    for (int rows, row = first[g]; row < first[g + 1]; row += rows) {
        real sum[GROUP_BUNDLE];
        rows = layout_bundle(first[g + 1] - row);
        if (rows == 4)
            val = dot_rows(p, sum, 4, val, col, n, x);
        else if (rows == 3)
            val = dot_rows(p, sum, 3, val, col, n, x);
        else if (rows == 2)
            val = dot_rows(p, sum, 2, val, col, n, x);
        else
            val = dot_rows(p, sum, 1, val, col, n, x);
        for (int r = 0; r < rows; r++)
            store(&y[row + r], alpha, sum[r], beta);
    }
}

/* The first group of a part: the first one before which `steps` entries and rows lie. */
static int64_t group_at(const struct product *p, int64_t steps)
{
    const int32_t *first = (const int32_t *)p->array[GROUP_FIRST];
    const int64_t *val_ptr = (const int64_t *)p->array[GROUP_VAL_PTR];
    int64_t low = 0, high = p->dim[GROUP_COUNT];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (val_ptr[middle] + first[middle] < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

CPU_KERNEL(cpu_group)(const struct product *p, const struct team *team)
{
    int64_t steps = p->rows + p->nnz;
    for (int64_t part = team->thread; part < p->parts; part += team->threads) {
        int64_t end =
            part + 1 < p->parts ? group_at(p, part_begin(steps, part + 1, p->parts)) : p->dim[GROUP_COUNT];
        for (int64_t g = group_at(p, part_begin(steps, part, p->parts)); g < end; g++)
            multiply_group(p, g);
    }
}

#else
#include "kernel/kernel.h"

const struct kernel cpu_group = {
    .name = "cpu_group",
    .id = KERNEL_cpu_group,
    .format = FORMAT_group,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "Heddle's own; after register blocking, Im and Yelick 2001",
    .repeatable = 1,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
