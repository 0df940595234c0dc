/* SPDX-License-Identifier: MIT
 *
 * ell.h: a thread's way along a row in ELL, for the pages that store one. */
#ifndef KERNEL_ELL_H
#define KERNEL_ELL_H

#include "kernel/gpu.h"

/* Entries of a row that are under way in a thread. */
#define ELL_LOADS 8

/* The sum of the entries from, from + step, ... of row i.  First the columns, ELL_LOADS at a time; then values and x of those
 * that are no padding, which never meets x.  Padding stands at the end of a row, so the first piece of it is the end. */
DEVICE real ell_sum(const struct product *p, int64_t i, int from, int step)
{
    const idx *RESTRICT col = (const idx *)p->array[ELL_COL] + i;
    const real *RESTRICT val = (const real *)p->array[ELL_VAL] + i;
    const real *RESTRICT x = (const real *)p->x;
    const int64_t rows = p->rows;
    const int width = (int)p->dim[ELL_WIDTH];
    real sum = 0;
    SIMT_ROLLED
    for (int64_t j = from; j < width; j += ELL_LOADS * step) {
        idx c[ELL_LOADS];
        real v[ELL_LOADS] = {0}, g[ELL_LOADS] = {0};
        for (int k = 0; k < ELL_LOADS; k++)
            c[k] = -1;
        for (int k = 0; k < ELL_LOADS; k++)
            if (j + k * step < width)
                c[k] = simt_stream(col + (j + k * step) * rows);
        for (int k = 0; k < ELL_LOADS; k++)
            if (c[k] >= 0) {
                v[k] = simt_stream(val + (j + k * step) * rows);
                g[k] = simt_readonly(x + c[k]);
            }
        for (int k = 0; k < ELL_LOADS; k++)
            sum += v[k] * g[k];
        if (c[ELL_LOADS - 1] < 0)
            break;
    }
    return sum;
}

#endif
