/* SPDX-License-Identifier: MIT
 *
 * ellr: one thread a row of a padded matrix, as far as the row goes.
 *
 * Computes   y = alpha A x + beta y,  A in ELL-R.
 * Source     ELLPACK-R, ellpack-r-2011 section 4.
 * Balance    a row is a thread's work; the lanes of a wave wait for its longest row, not for the longest
 *            of the matrix.
 * Memory     as ell, coalesced and streamed, without the padding; the length of each row is read in
 *            exchange.  There is no branch in the loop.  Where nearly all places are entries, a thread
 *            does not wait for the length before it reads its first columns; nor where rows are few and a
 *            thread can have more registers, as in ell_few.  Where they are fewer still, and long, it
 *            reads the next columns while it waits for x.
 * Wins       rows of nearly equal length, or of different lengths where neighbours are alike.
 * Loses      one long row makes the arrays huge, although nobody reads them; the format refuses that.
 * Order      that of storage: bitwise repeatable.
 */
#include "kernel/ell.h"

#ifdef HEDDLE_DEVICE
#define LOADS ELL_LOADS

/* Entries [j, n), LOADS at a time; the last may be fewer. */
DEVICE real sum_on(const struct product *p, int64_t i, idx j, const idx n, real sum)
{
    const int64_t rows = p->rows;
    const idx *RESTRICT col = (const idx *)p->array[ELLR_COL] + j * rows + i;
    const real *RESTRICT val = (const real *)p->array[ELLR_VAL] + j * rows + i;
    const real *RESTRICT x = (const real *)p->x;
    SIMT_ROLLED
    for (; j <= n - LOADS; j += LOADS, col += LOADS * rows, val += LOADS * rows) {
        idx c[LOADS];
        real v[LOADS];
        for (int k = 0; k < LOADS; k++) {
            c[k] = simt_stream(col + k * rows);
            v[k] = simt_stream(val + k * rows);
        }
        for (int k = 0; k < LOADS; k++)
            sum += v[k] * simt_readonly(x + c[k]);
    }
    idx c[LOADS] = {0};
    real v[LOADS] = {0}, g[LOADS] = {0};
    for (int k = 0; k < LOADS - 1; k++)
        if (j + k < n) {
            c[k] = simt_stream(col + k * rows);
            v[k] = simt_stream(val + k * rows);
        }
    for (int k = 0; k < LOADS - 1; k++)
        if (j + k < n)
            g[k] = simt_readonly(x + c[k]);
    for (int k = 0; k < LOADS - 1; k++)
        sum += v[k] * g[k];
    return sum;
}

/* The columns of the first LOADS entries, read while the length is still under way: padding has columns,
 * too. */
DEVICE void first_columns(const struct product *p, int64_t i, idx c[LOADS])
{
    const idx *RESTRICT col = (const idx *)p->array[ELLR_COL] + i;
    const int64_t rows = p->rows;
    const int width = (int)p->dim[ELLR_WIDTH];
    for (int k = 0; k < LOADS; k++)
        c[k] = 0;
    for (int k = 0; k < LOADS; k++, col += rows)
        if (k < width)
            c[k] = simt_stream(col);
}

/* What the entries with these columns add up to, of which there are n. */
DEVICE real sum_of(const idx c[LOADS], const real *RESTRICT val, int64_t rows, const real *RESTRICT x, idx n,
                   real sum)
{
    real v[LOADS] = {0}, g[LOADS] = {0};
    for (int k = 0; k < LOADS; k++, val += rows)
        if (k < n) {
            v[k] = simt_stream(val);
            g[k] = simt_readonly(x + c[k]);
        }
    for (int k = 0; k < LOADS; k++)
        sum += v[k] * g[k];
    return sum;
}

/* Blocks on a multiprocessor: short rows are a matter of how many. */
#define RESIDENT (sizeof(real) == 4 ? 8 : 6)

KERNEL_RESIDENT(ellr, SIMT_USUAL_BLOCK, RESIDENT)(struct product p)
{
    const idx *length = (const idx *)p.array[ELLR_LENGTH];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size())
        store_sum(&p, i, sum_on(&p, i, 0, simt_stream(length + i), 0));
}

DEVICE void rows_ahead(const struct product *p)
{
    const idx *length = (const idx *)p->array[ELLR_LENGTH];
    for (int64_t i = simt_global_id(); i < p->rows; i += simt_global_size()) {
        idx c[LOADS];
        const idx n = simt_stream(length + i);
        first_columns(p, i, c);
        real sum = sum_of(c, (const real *)p->array[ELLR_VAL] + i, p->rows, (const real *)p->x, n, 0);
        if (p->dim[ELLR_WIDTH] > LOADS)
            sum = sum_on(p, i, LOADS, n, sum);
        store_sum(p, i, sum);
    }
}

KERNEL_RESIDENT(ellr_ahead, SIMT_USUAL_BLOCK, sizeof(real) == 4 ? RESIDENT : RESIDENT - 1)(struct product p)
{
    rows_ahead(&p);
}

KERNEL_RESIDENT(ellr_some, ELL_FEW_THREADS, ELL_FEW_BLOCKS)(struct product p)
{
    rows_ahead(&p);
}

/* So few threads wait most of the time: the next columns are under way while values and x of these are. */
KERNEL_RESIDENT(ellr_few, ELL_FEW_THREADS, ELL_FEW_BLOCKS)(struct product p)
{
    const idx *length = (const idx *)p.array[ELLR_LENGTH];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const idx *RESTRICT col = (const idx *)p.array[ELLR_COL] + i + LOADS * p.rows;
        const real *RESTRICT val = (const real *)p.array[ELLR_VAL] + i;
        idx c[LOADS], next[LOADS] = {0}, left = simt_stream(length + i);
        real sum = 0;
        first_columns(&p, i, c);
        SIMT_ROLLED
        for (; left > 0; left -= LOADS, val += LOADS * p.rows) {
            for (int k = 0; k < LOADS; k++, col += p.rows)
                if (LOADS + k < left)
                    next[k] = simt_stream(col);
            sum = sum_of(c, val, p.rows, (const real *)p.x, left, sum);
            for (int k = 0; k < LOADS; k++)
                c[k] = next[k];
        }
        store_sum(&p, i, sum);
    }
}

#else
enum { USUAL, AHEAD, SOME, FEW };
static const char *const entries[] = {"ellr", "ellr_ahead", "ellr_some", "ellr_few", NULL};

/* Where at least so many quarters of all places are entries, reading columns ahead of the length wastes
 * little. */
#define AHEAD_QUARTERS 3
static heddle_status launch(const struct work *w)
{
    const int64_t rows = w->product.rows, width = w->product.dim[ELLR_WIDTH];
    const int is_full = 4 * w->product.nnz >= AHEAD_QUARTERS * rows * width,
              is_few = ell_is_few(w, 2 * rows) && width > ELL_LOADS;
    return gpu_run_over(w,
                        entries[is_few                ? FEW
                                : ell_is_few(w, rows) ? SOME
                                : is_full             ? AHEAD
                                                      : USUAL],
                        rows);
}

/* The padding is never read. */
static double cost(const struct work *w, const struct stored *s)
{
    double padding = (double)(s->rows * s->dim[ELLR_WIDTH] - s->nnz);
    return cost_of_streams(w, s) - padding * (double)(sizeof(int32_t) + type_size(s->value));
}

const struct kernel ellr = {
    .name = "ellr",
    .id = KERNEL_ellr,
    .format = FORMAT_ellr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ELLPACK-R, ellpack-r-2011 section 4",
    .repeatable = 1,
    .entries = entries,
    .launch = launch,
    .cost = cost,
};
#endif
