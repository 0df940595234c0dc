/* SPDX-License-Identifier: MIT
 *
 * proof.h: the exact half of verification, for any candidate: the same pattern with whole numbers in the
 * place of its values, one product, and every bit of y as it must be (verify/verify.h). */
#ifndef BENCH_PROOF_H
#define BENCH_PROOF_H

#include "bench/candidate.h"
#include "verify/references.h"

/* All that candidates of one matrix, type and operation share. */
struct proof {
    heddle_matrix *A; /* the pattern, borrowed, with whole numbers */
    const struct device *device;
    struct scalars scalars;
    int64_t x_bytes, y_bytes;            /* of all vectors */
    void *x, *y0, *y;                    /* in host memory; y0 of NaN where beta is 0 */
    void *val_there, *x_there, *y_there; /* where the products run */
    struct references references;
};

/* `csr` is A in host memory; both must outlive the proof.  alpha and beta are whole numbers of at most 2
 * in size. */
heddle_status proof_new(struct proof *p, heddle *h, const heddle_matrix *A, const struct csr *csr,
                        heddle_op op, struct vector_group vectors, struct scalars s);
void proof_free(struct proof *p); /* takes a zeroed one as well */

/* The candidate multiplies with the whole numbers from here on; what else it says of itself stays.  Text
 * as verdict_text gives.  One whose values are fixed passes: it takes no others, and has been judged by its
 * own. */
heddle_status proof_of(const struct proof *p, struct candidate *c, struct verdict *v,
                       char text[VERDICT_TEXT]);

#endif
