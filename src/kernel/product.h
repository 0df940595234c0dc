/* SPDX-License-Identifier: MIT
 *
 * product.h: what the device half of a kernel is given.  One layout for every variant and every device: sizes are
 * int64_t, arrays untyped, scalars 16 bytes wide, so that host code fills it without knowing the variant.  What nearly every
 * kernel reads comes first: a GPU fetches arguments by the cache line, and a small product waits for each. */
#ifndef KERNEL_PRODUCT_H
#define KERNEL_PRODUCT_H

#include <stdint.h>

#include "format/layout.h"

#define SCALAR_BYTES 16
#define PRODUCT_FACTS 8

struct product {
    int64_t rows, cols, nnz;             /* of the matrix as it is stored */
    int64_t first;                       /* the row that this launch begins with (gpu_run_rows) */
    const void *x;                       /* cols entries, or rows entries when transposed */
    void *y;                             /* the other number */
    unsigned char alpha[SCALAR_BYTES];   /* the first bytes hold a `real`; alpha is not 0 */
    unsigned char beta[SCALAR_BYTES];
    const void *array[FORMAT_ARRAYS];    /* of its format: layout.h names them */
    int64_t fact[PRODUCT_FACTS];         /* what `prepare` or launch tells it in numbers */
    int64_t dim[FORMAT_DIMS];            /* likewise */
    int64_t transposed;                  /* 1: y = alpha Aᵀ x + beta y for the stored A */
    int64_t parts;                       /* the work is cut into so many parts, whoever takes them */
    void *workspace;                     /* what the kernel asked for, not initialised, aligned to 64 bytes */
    int32_t *counters;                   /* what the kernel asked for: 0 before every launch, and it leaves them so */
    void *prepared;                      /* what its `prepare` derived from the matrix; NULL without one */
};

/* The device half of a CPU page; every thread of the team (base/thread.h) runs it. */
struct team;
typedef void cpu_kernel(const struct product *p, const struct team *team);

#endif
