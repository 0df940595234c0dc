/* SPDX-License-Identifier: MIT
 *
 * fake_sparse.h: libcusparse and libhipsparse without a device.  They multiply on the host, where the
 * emulator's memory lies, and count what is alive and what was called.
 *
 * Scripted by the environment, read at every call, beside FAKE_FAIL of fake.h:
 *   FAKE_SPARSE_VERSION=N    what GetVersion says (12603)
 *   FAKE_SPARSE_WRONG=1      products are wrong in their first entry */
#ifndef FAKE_SPARSE_H
#define FAKE_SPARSE_H

#include <stdint.h>

struct fake_sparse_state {
    int64_t handles, matrices, vectors, plans; /* alive */
    int64_t prepared, products;                /* so often */
    void *stream;                              /* the last that was set */
    int format, alg;                           /* of the last product */
};
typedef struct fake_sparse_state *fake_sparse_function(void);

#endif
