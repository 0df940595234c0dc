/* SPDX-License-Identifier: MIT
 *
 * ell.h: what the pages share that store rows as ELL does: a thread's way along one, and when rows are
 * few. */
#ifndef KERNEL_ELL_H
#define KERNEL_ELL_H

/* With so many blocks a multiprocessor a thread has the registers that it takes to have all its loads
 * under way; more rows than then fit in at once are better served by more threads. */
#define ELL_FEW_THREADS 256 /* those of gpu_run_over */
#define ELL_FEW_BLOCKS 4

/* Entries of a row that are under way in a thread. */
#define ELL_LOADS 8

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* What ELL_LOADS columns add to the sum: values and x of those that are no padding, which never meets x. */
DEVICE real ell_piece(const idx c[ELL_LOADS], const real *val, int64_t stride, const real *x, real sum)
{
    real v[ELL_LOADS] = {0}, g[ELL_LOADS] = {0};
    for (int k = 0; k < ELL_LOADS; k++)
        if (c[k] >= 0) {
            v[k] = simt_stream(val + k * stride);
            g[k] = simt_readonly(x + c[k]);
        }
    for (int k = 0; k < ELL_LOADS; k++)
        sum += v[k] * g[k];
    return sum;
}

/* The sum of the entries from, from + step, ... of row i, ELL_LOADS at a time, their columns first.
 * Padding stands at the end of a row, so the first piece of it is the end.  Only the last piece may be
 * shorter: the others ask for all columns at once, without a condition for each, of which a thread can
 * hold few. */
DEVICE real ell_sum(const struct product *p, int64_t i, int from, int step)
{
    const int64_t stride = step * p->rows;
    const idx *RESTRICT col = (const idx *)p->array[ELL_COL] + from * p->rows + i;
    const real *RESTRICT val = (const real *)p->array[ELL_VAL] + from * p->rows + i;
    const real *RESTRICT x = (const real *)p->x;
    int64_t left = ((int)p->dim[ELL_WIDTH] - from + step - 1) / step;
    idx c[ELL_LOADS];
    real sum = 0;
    SIMT_ROLLED
    for (; left >= ELL_LOADS; left -= ELL_LOADS, col += ELL_LOADS * stride, val += ELL_LOADS * stride) {
        for (int k = 0; k < ELL_LOADS; k++)
            c[k] = simt_stream(col + k * stride);
        sum = ell_piece(c, val, stride, x, sum);
        if (c[ELL_LOADS - 1] < 0)
            return sum;
    }
    for (int k = 0; k < ELL_LOADS; k++)
        c[k] = -1;
    for (int k = 0; k < ELL_LOADS - 1; k++)
        if (k < left)
            c[k] = simt_stream(col + k * stride);
    return ell_piece(c, val, stride, x, sum);
}

#else
#include "kernel/kernel.h"

static inline int ell_is_few(const struct work *w, int64_t rows)
{
    return rows <= (int64_t)ELL_FEW_THREADS * ELL_FEW_BLOCKS * gpu_info_of(w->device->gpu)->multiprocessors;
}
#endif

#endif
