/* SPDX-License-Identifier: MIT
 *
 * cpu_coo: entries in parts of equal number.
 *
 * Computes   y = alpha A x + beta y  or  y = alpha Aᵀ x + beta y,  A in COO, sorted by rows.
 * Source     COO in Bell and Garland 2009 and ellpack-r-2011, without its atomics.
 * Balance    parts have equal numbers of entries, whatever rows they are in.  A part stores the rows that
 *            begin in it and the empty rows between them; entries of a row that began earlier are summed
 *            apart and added at the end.
 * Memory     16 bytes an entry in double precision where CSR reads 12; x is gathered.  Transposed: scatter.h.
 * Wins       for a matrix that comes as COO, as it needs no offsets; transposed, on very short rows
 *            (asia_osm).
 * Order      that of storage within a part, pieces of a row in the order of the parts: bitwise repeatable
 *            for the same device options.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/scatter.h"

/* The first row that belongs to the part that starts with entry k: the row of k, unless an earlier part
 * has its beginning.  Part 0 also has the empty rows at the top, the last part those at the bottom. */
static int64_t first_row(const struct product *p, int64_t k)
{
    const idx *row = (const idx *)p->array[COO_ROW];
    if (k <= 0)
        return 0;
    return k < p->nnz ? row[k - 1] + (int64_t)1 : p->rows;
}

/* Adds up the entries from k on that are in `row`, as far as `end`; returns the first that is not. */
static inline int64_t sum_row(const struct product *p, int64_t k, int64_t end, int64_t in_row, real *sum)
{
    const idx *row = (const idx *)p->array[COO_ROW], *col = (const idx *)p->array[COO_COL];
    const elem *val = (const elem *)p->array[COO_VAL];
    const real *x = (const real *)p->x;
    real s = 0;
    for (; k < end && row[k] == in_row; k++)
        s += term(p, val[k], x[col[k]]);
    *sum = s;
    return k;
}

static void add_rows(const struct product *p, int64_t part, struct carry *carry)
{
    const idx *row = (const idx *)p->array[COO_ROW];
    real *y = (real *)p->y;
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    int64_t k = part_begin(p->nnz, part, p->parts), end = part_begin(p->nnz, part + 1, p->parts);
    int64_t i = first_row(p, k), last = first_row(p, end);
    *carry = (struct carry){.row = -1};
    if (k < end && row[k] < i) { /* a row that an earlier part has begun */
        carry->row = row[k];
        k = sum_row(p, k, end, row[k], &carry->sum);
    }
    for (; i < last; i++) {
        real sum = 0;
        if (k < end && row[k] == i) {
            k = sum_row(p, k, end, i, &sum);
            store(&y[i], alpha, sum, beta);
        } else {
            scale(&y[i], beta);
        }
    }
}

static void multiply(const struct product *p, const struct team *team)
{
    struct carry *carry = (struct carry *)p->workspace;
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        add_rows(p, part, &carry[part]);
    team_barrier(team);
    for (int64_t part = 0; part < p->parts && team->thread == 0; part++)
        if (carry[part].row >= 0)
            ((real *)p->y)[carry[part].row] += times(scalar(p->alpha), carry[part].sum);
}

static void scatter_part(const struct product *p, int64_t part)
{
    const idx *row = (const idx *)p->array[COO_ROW], *col = (const idx *)p->array[COO_COL];
    const elem *val = (const elem *)p->array[COO_VAL];
    const real *x = (const real *)p->x;
    const real alpha = scalar(p->alpha);
    const struct target to = scatter_target(p, p->cols, part);
    int64_t end = part_begin(p->nnz, part + 1, p->parts);
    for (int64_t k = part_begin(p->nnz, part, p->parts); k < end; k++) {
        if (to.touched)
            touch(&to, col[k]);
        to.y[col[k]] += term(p, val[k], times(alpha, x[row[k]]));
    }
}

CPU_KERNEL(cpu_coo)(const struct product *p, const struct team *team)
{
    if (!p->transposed) {
        multiply(p, team);
        return;
    }
    scatter_begin(p, p->cols, team);
    team_barrier(team);
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        scatter_part(p, part);
    team_barrier(team);
    scatter_end(p, p->cols, team);
}

#else
#include "kernel/cpu/scatter.h"

static int64_t parts(const struct work *w)
{
    return w->product.transposed ? scatter_parts(w, w->product.cols) : w->device->threads;
}

static int64_t workspace(const struct work *w)
{
    return w->product.transposed ? scatter_workspace(w, w->product.cols) : w->product.parts * CARRY_BYTES;
}

const struct kernel cpu_coo = {
    .name = "cpu_coo",
    .id = KERNEL_cpu_coo,
    .format = FORMAT_coo,
    .ops = OPS_N | OPS_T,
    .device = DEVICE_cpu,
    .source = "Bell and Garland 2009, ellpack-r-2011; without atomics",
    .repeatable = 1,
    .parts = parts,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
