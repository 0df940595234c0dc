/* SPDX-License-Identifier: MIT
 *
 * gpu.h: what the device halves of GPU pages share, on top of the dialect (simt/simt.h). */
#ifndef KERNEL_GPU_H
#define KERNEL_GPU_H

#include "kernel/product.h"
#include "simt/simt.h"

DEVICE real scalar(const unsigned char *bytes)
{
    real value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return value;
}

/* y = alpha sum + beta y, where beta = 0 means that y is not read: it may hold anything. */
DEVICE void store(real *y, real alpha, real sum, real beta)
{
    *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;
}

/* y = beta y, n entries, by all threads of the grid. */
DEVICE void scale_all(real *y, int64_t n, real beta)
{
    SIMT_ROLLED for (int64_t i = simt_global_id(); i < n; i += simt_global_size())
        y[i] = beta == 0 ? 0 : beta * y[i];
}

#endif
