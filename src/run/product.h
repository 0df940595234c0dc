/* SPDX-License-Identifier: MIT
 *
 * product.h: what the device half of a kernel is given.  One layout for every variant and every device:
 * sizes are int64_t, arrays untyped, scalars 16 bytes wide, so that host code fills it without knowing the
 * variant.
 *
 * The order matters.  A GPU fetches arguments from memory by the line, and a small product waits for each:
 * 0.3 us on an H200, where a line has 128 bytes and the first one ends behind 112 of them.  So these are all
 * that a product from CSR which adds to y needs, and what others need in the end lies with facts that they
 * may ask for while they wait for their first loads. */
#ifndef RUN_PRODUCT_H
#define RUN_PRODUCT_H

#include <stdint.h>

#include "format/layout.h"

#define SCALAR_BYTES 16
#define PRODUCT_FACTS 8

/* Of several vectors: entry j of vector v is at j * entry + v * vector.  One of the two is 1. */
struct steps {
    int64_t entry, vector;
};

enum { ALPHA_AT = 1, BETA_AT = 2 };

struct product {
    int64_t rows;                      /* of the matrix as it is stored */
    int32_t first;                     /* the row (gpu_run_rows) or whatever else this launch begins with */
    int32_t scalars_at;                /* GPU: ALPHA_AT and BETA_AT, where they lie on the device */
    const void *x;                     /* cols entries, or rows entries when transposed */
    const void *array[FORMAT_ARRAYS];  /* of its format: layout.h names them */
    void *y;                           /* the other number */
    unsigned char alpha[SCALAR_BYTES]; /* the first bytes hold a `real`, which is not 0 */
    unsigned char beta[SCALAR_BYTES];  /* likewise, any; or either holds the address of a `real`, also 0 */
    int64_t fact[PRODUCT_FACTS];       /* what `prepare` or launch tells it in numbers */
    int64_t cols, nnz;                 /* of the matrix as it is stored */
    int64_t dim[FORMAT_DIMS];          /* of its format: layout.h names them, too */
    int32_t transposed;                /* 1: y = alpha Aᵀ x + beta y for the stored A */
    int32_t conjugate;                 /* 1: with the conjugates of its values, where they are complex */
    int64_t parts;                     /* the work is cut into so many parts, whoever takes them */
    void *workspace;                   /* what the kernel asked for, not initialised, aligned to 64 bytes */
    int32_t *counters; /* what the kernel asked for: 0 before every launch, and it leaves them so */
    void *prepared;    /* what its `prepare` derived from the matrix; NULL without one */
    int64_t vectors;   /* 1; more only for kernels that say so (kernel.h), whose x and y have these steps */
    struct steps x_step, y_step;
};

/* The device half of a CPU page; every thread of the team (base/thread.h) runs it. */
struct team;
typedef void cpu_kernel(const struct product *p, const struct team *team);

#endif
