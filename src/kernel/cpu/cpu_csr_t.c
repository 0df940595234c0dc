/* SPDX-License-Identifier: MIT
 *
 * cpu_csr_t: the transposed product, each part into its own copy of y.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR (or  y = alpha A x + beta y,  A in CSC).
 * Source     the usual privatisation, with the pages of src/kernel/cpu/scatter.h.
 * Balance    as cpu_merge: equal steps along rows and entries, wherever that is.  A row may be cut
 *            anywhere, because its entries go to different places in any case.
 * Memory     val and col are read once, in order; y is read and written at random, in caches if the
 *            columns of neighbouring rows are near; the copies cost three passes over the pages that a
 *            part touches.
 * Wins       no preparation, and no atomics.
 * Loses      many products: a plan transposes once and is then as fast as A x.  Columns all over a y
 *            beyond the caches.
 * Order      within a part that of storage, then part by part: bitwise repeatable for the same device
 *            options.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/scatter.h"

/* Entries [k, end) of one row add `xi` times their value.  The same column may occur twice in a row, so
 * the additions stay in order; what can be done ahead is to compute the products. */
static inline void add_row(const struct product *p, const struct target *to, const elem *val, const idx *col,
                           int64_t n, real xi)
{
    real *y = to->y;
    if (to->touched)
        for (int64_t k = 0; k < n; k++) {
            touch(to, col[k]);
            y[col[k]] += term(p, val[k], xi);
        }
    else
        for (int64_t k = 0; k < n; k++)
            y[col[k]] += term(p, val[k], xi);
}

static void add_part(const struct product *p, int64_t part)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *col = (const idx *)p->array[CSR_COL];
    const elem *val = (const elem *)p->array[CSR_VAL];
    const real *x = (const real *)p->x;
    const real alpha = scalar(p->alpha);
    const struct target to = scatter_target(p, p->cols, part);
    int64_t steps = p->rows + p->nnz;
    int64_t begin = part_begin(steps, part, p->parts), end = part_begin(steps, part + 1, p->parts);
    int64_t row = path_row(row_ptr, p->rows, begin), last = path_row(row_ptr, p->rows, end);
    int64_t k = begin - row, stop = end - last;
    for (; row < last; row++) {
        int64_t next = row_ptr[row + 1];
        add_row(p, &to, val + k, col + k, next - k, times(alpha, x[row]));
        k = next;
    }
    if (k < stop)
        add_row(p, &to, val + k, col + k, stop - k, times(alpha, x[last]));
}

CPU_KERNEL(cpu_csr_t)(const struct product *p, const struct team *team)
{
    scatter_begin(p, p->cols, team);
    team_barrier(team);
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        add_part(p, part);
    team_barrier(team);
    scatter_end(p, p->cols, team);
}

#else
#include "kernel/cpu/scatter.h"

static int64_t parts(const struct work *w)
{
    return scatter_parts(w, w->product.cols);
}

static int64_t workspace(const struct work *w)
{
    return scatter_workspace(w, w->product.cols);
}

/* y is scaled first (read, written), and at worst every part but one touches all of its copy: zeroed, read
 * back, y added to. */
static double cost(const struct work *w, const struct stored *s)
{
    double y = (double)s->cols * (double)vector_size(s->value);
    return cost_of_streams(w, s) + y + 4 * y * (double)(w->product.parts - 1) / (double)w->product.parts;
}

const struct kernel cpu_csr_t = {
    .name = "cpu_csr_t",
    .id = KERNEL_cpu_csr_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_cpu,
    .source = "privatised scatter, pages cleared on first touch",
    .repeatable = 1,
    .parts = parts,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost,
};
#endif
