/* SPDX-License-Identifier: MIT
 *
 * cpu_csr_mm: several vectors at once, tiles of which are summed side by side.
 *
 * Computes   Y = alpha A X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     the CSR loop with a sum for each vector; the parts are those of Merrill and Garland 2016.
 * Balance    as cpu_merge: equal steps along rows and entries, so that all parts may share one row.
 * Memory     val and col are read from memory once, a strip of rows at a time, and for further tiles of
 *            vectors from the cache.  Where the vectors of an entry lie side by side an entry is one load of
 *            X for eight of them; where they lie apart it is a load for each, as in heddle_mv.
 * Wins       against one product after another: A is read once, and sums need no additions across lanes.
 * Order      that of storage within a part, then part by part: bitwise repeatable for the same device
 *            options.
 */
#ifdef HEDDLE_DEVICE
#include "kernel/cpu/simd.h"

#define INLINE static inline __attribute__((always_inline))

/* Vectors of a tile: their sums stay in registers. */
#define SIDE_BY_SIDE (4 * LANES)
#define APART LANES
/* Entries of a strip, which stays in the cache of a core while all tiles pass over it. */
#define STRIP 8192

/* Entries of one row, or of a piece of one, and what they are multiplied with: a tile of X. */
struct stretch {
    const real *val;
    const idx *col;
    int64_t n;
    const real *x;
    struct steps step;
};

/* `eights` times eight vectors that lie side by side. */
INLINE void sum_wide(real *out, const struct stretch *e, const int eights)
{
    vec sum[SIDE_BY_SIDE / LANES];
    for (int i = 0; i < eights; i++)
        sum[i] = vec_zero();
    for (int64_t k = 0; k < e->n; k++) {
        const real *x = e->x + e->col[k] * e->step.entry;
        for (int i = 0; i < eights; i++)
            sum[i] = vec_fma_by(vec_load(x + i * LANES), e->val[k], sum[i]);
    }
    for (int i = 0; i < eights; i++)
        vec_store(out + i * LANES, sum[i]);
}

/* A few vectors, wherever they lie. */
INLINE void sum_few(real *out, const struct stretch *e, struct steps step, const int width)
{
    real sum[APART];
    for (int v = 0; v < width; v++)
        sum[v] = 0;
    for (int64_t k = 0; k < e->n; k++) {
        const real *x = e->x + e->col[k] * step.entry;
        for (int v = 0; v < width; v++)
            sum[v] += e->val[k] * x[v * step.vector];
    }
    for (int v = 0; v < width; v++)
        out[v] = sum[v];
}

INLINE void sum_apart(real *out, const struct stretch *e, const int width)
{
    if (e->step.entry == 1)
        sum_few(out, e, (struct steps){1, e->step.vector}, width);
    else
        sum_few(out, e, (struct steps){e->step.entry, 1}, width);
}

static void sum(real *out, const struct stretch *e, int width)
{
    switch (width) {
    case 4 * LANES:
        sum_wide(out, e, 4);
        break;
    case 2 * LANES:
        sum_wide(out, e, 2);
        break;
    case LANES:
        if (e->step.vector == 1)
            sum_wide(out, e, 1);
        else
            sum_apart(out, e, LANES);
        break;
    case 4:
        sum_apart(out, e, 4);
        break;
    case 2:
        sum_apart(out, e, 2);
        break;
    default:
        sum_apart(out, e, 1);
    }
}

/* How many of those that are left the next tile has. */
static int tile_of(const struct product *p, int64_t left)
{
    int width = p->x_step.vector == 1 ? SIDE_BY_SIDE : APART;
    while (width > left)
        width /= 2;
    return width;
}

static struct stretch stretch_of(const struct product *p, int64_t k, int64_t end, int64_t v)
{
    return (struct stretch){(const real *)p->array[CSR_VAL] + k, (const idx *)p->array[CSR_COL] + k, end - k,
                            (const real *)p->x + v * p->x_step.vector, p->x_step};
}

/* Rows [row, last), the first of them from entry k on, for one tile. */
static void sum_strip(const struct product *p, int64_t row, int64_t last, int64_t k, int64_t v, int width)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const real alpha = scalar(p->alpha), beta = scalar(p->beta);
    for (; row < last; row++) {
        const struct stretch e = stretch_of(p, k, row_ptr[row + 1], v);
        real out[SIDE_BY_SIDE], *y = (real *)p->y + row * p->y_step.entry + v * p->y_step.vector;
        sum(out, &e, width);
        for (int i = 0; i < width; i++)
            store(&y[i * p->y_step.vector], alpha, out[i], beta);
        k = row_ptr[row + 1];
    }
}

/* What a part has of a row that ends in another: `row`, -1 for none, and behind it a sum for each vector. */
static int64_t *carry_at(const struct product *p, int64_t part)
{
    const int64_t bytes = (int64_t)sizeof(int64_t) * 2 + p->vectors * (int64_t)sizeof(real);
    return (int64_t *)((char *)p->workspace + part * ((bytes + 63) / 64 * 64));
}

static real *carry_sums(int64_t *carry)
{
    return (real *)(carry + 2);
}

static void walk(const struct product *p, int64_t part)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int64_t steps = p->rows + p->nnz, begin = part_begin(steps, part, p->parts),
                  end = part_begin(steps, part + 1, p->parts);
    const int64_t last = path_row(row_ptr, p->rows, end), stop = end - last;
    int64_t row = path_row(row_ptr, p->rows, begin), k = begin - row, *carry = carry_at(p, part);
    int width;
    while (row < last) {
        int64_t till = row + 1;
        while (till < last && row_ptr[till + 1] - k <= STRIP && till - row < STRIP)
            till++;
        for (int64_t v = 0; v < p->vectors; v += width) {
            width = tile_of(p, p->vectors - v);
            sum_strip(p, row, till, k, v, width);
        }
        row = till;
        k = row_ptr[till];
    }
    *carry = k < stop ? last : -1;
    for (int64_t v = 0; k < stop && v < p->vectors; v += width) {
        const struct stretch e = stretch_of(p, k, stop, v);
        width = tile_of(p, p->vectors - v);
        sum(carry_sums(carry) + v, &e, width);
    }
}

CPU_KERNEL(cpu_csr_mm)(const struct product *p, const struct team *team)
{
    for (int64_t part = team->thread; part < p->parts; part += team->threads)
        walk(p, part);
    team_barrier(team);
    if (team->thread > 0)
        return;
    /* Every row has been stored by the part in which it ends; only now may the other pieces be added. */
    for (int64_t part = 0; part < p->parts; part++) {
        int64_t *carry = carry_at(p, part);
        real *y = (real *)p->y + *carry * p->y_step.entry;
        for (int64_t v = 0; *carry >= 0 && v < p->vectors; v++)
            y[v * p->y_step.vector] += scalar(p->alpha) * carry_sums(carry)[v];
    }
}

#else
#include "kernel/kernel.h"

static int64_t workspace(const struct work *w)
{
    const int64_t bytes = (int64_t)sizeof(int64_t) * 2 + w->product.vectors * (int64_t)type_size(w->value);
    return w->product.parts * ((bytes + 63) / 64 * 64);
}

const struct kernel cpu_csr_mm = {
    .name = "cpu_csr_mm",
    .id = KERNEL_cpu_csr_mm,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_cpu,
    .source = "the CSR loop over several vectors; parts of Merrill and Garland 2016",
    .many = 1,
    .repeatable = 1,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost_of_streams,
};
#endif
