/* SPDX-License-Identifier: MIT
 *
 * dot.h: the inner product of one row with x: eight running sums for whole eights, and one for what is
 * left, so that the two can overlap. */
#ifndef KERNEL_CPU_DOT_H
#define KERNEL_CPU_DOT_H

#include "kernel/cpu/simd.h"

static inline real dot(const struct product *p, const elem *val, const idx *col, int64_t n, const real *x)
{
    real rest = 0;
    int64_t whole = n / LANES * LANES;
    for (int64_t k = whole; k < n; k++)
        rest += term(p, val[k], x[col[k]]);
    if (whole == 0)
        return rest;
    vec sum = vec_zero();
    for (int64_t k = 0; k < whole; k += LANES) {
        FETCH(val + k);
        sum = vec_fma(vec_values(val + k), gather32(x, col + k), sum);
    }
    return vec_sum(p, sum) + rest;
}

#endif
