/* SPDX-License-Identifier: MIT
 *
 * cpu_merge: the merge path, cut into parts of exactly equal length.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Merrill and Garland 2016, "Merge-based parallel sparse matrix-vector multiplication".
 * Balance    walking through a matrix means rows + nnz steps: one for every entry, one for every row end.
 *            Each part makes the same number of steps, wherever that is: a single row can be shared by all
 *            parts.
 * Memory     as cpu_csr; and a part that stops inside a row leaves what it has of that row in the
 *            workspace, which is one cache line a part.
 * Wins       one row, or a few, with a large share of all entries.
 * Loses      nowhere by much: against cpu_csr it waits once for all threads.
 * Order      each piece of a row is a fixed tree, and pieces are added in the order of the parts.  The
 *            cuts depend on the number of parts alone: bitwise repeatable for the same device options.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/dot.h"

/* Steps [begin, end) of the path; what is left of an unfinished last row goes to `carry`. */
static void walk(const struct product *p, int64_t begin, int64_t end, struct carry *carry)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *col = (const idx *)p->array[CSR_COL];
    const elem *val = (const elem *)p->array[CSR_VAL];
    const real *x = (const real *)p->x;
    real *y = (real *)p->y;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    int64_t row = path_row(row_ptr, p->rows, begin), last = path_row(row_ptr, p->rows, end);
    int64_t k = begin - row, stop = end - last;
    /* Rows that end here.  The first may have begun in an earlier part: its beginning is added to y
     * afterwards. */
    for (; row < last; row++) {
        int64_t next = row_ptr[row + 1];
        store(&y[row], alpha, dot(p, val + k, col + k, next - k, x), beta);
        k = next;
    }
    carry->row = k < stop ? last : -1;
    carry->sum = k < stop ? dot(p, val + k, col + k, stop - k, x) : 0;
}

CPU_KERNEL(cpu_merge)(const struct product *p, const struct team *team)
{
    struct carry *carry = (struct carry *)p->workspace;
    int64_t steps = p->rows + p->nnz;
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        walk(p, part_begin(steps, part, p->parts), part_begin(steps, part + 1, p->parts), &carry[part]);
    team_barrier(team);
    if (team->thread > 0)
        return;
    /* Every row has been stored by the part in which it ends; only now may the other pieces be added. */
    for (int64_t part = 0; part < p->parts; part++)
        if (carry[part].row >= 0)
            ((real *)p->y)[carry[part].row] += times(scalar(p->alpha), carry[part].sum);
}

#else
#include "kernel/kernel.h"

static int64_t workspace(const struct work *w)
{
    return w->product.parts * CARRY_BYTES;
}

const struct kernel cpu_merge = {
    .name = "cpu_merge",
    .id = KERNEL_cpu_merge,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "Merrill and Garland 2016",
    .repeatable = 1,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
