/* SPDX-License-Identifier: MIT
 *
 * run.h: what the files of src/plan share. */
#ifndef PLAN_RUN_H
#define PLAN_RUN_H

#include "plan/plan.h"

/* Is op(A) the transpose of what is stored?  A CSC matrix stores its transpose; H is T for real types. */
static inline int stored_transposed(const struct view *A, heddle_op op)
{
    return (op != HEDDLE_N) != (A->format == HEDDLE_CSC);
}

/* A's arrays as the source of a format, borrowed. */
struct source view_source(const struct view *A);

/* The kernel that needs no preparation: format csr, or coo for a COO matrix. */
const struct kernel *select_kernel(const struct device *device, const struct view *A, int transposed);

/* One that takes any CSR matrix, for products that launch nothing. */
const struct kernel *any_kernel(const struct device *device);

/* The common prelude, then the kernel; false in *launched when y = beta y was all there was to do. */
heddle_status product_run(struct work *w, struct scalars s, const void *x, void *y, int *launched);

/* Once per variant: y = beta y, n entries; beta = 0 writes zeros and reads nothing. */
struct run_functions {
    void (*scale)(void *y, int64_t n, double beta, int threads);
};
extern const struct run_functions *const run_functions[VARIANT_COUNT];

/* bound_new with a kernel that is already parsed. */
heddle_status bound_make(struct bound **b, const struct device *device, const struct kernel *kernel,
                         const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op);

/* What bound_make would hold and move, without making it. */
struct estimate {
    double cost;         /* bytes a product */
    int64_t bytes;       /* held beyond A */
    int64_t peak;        /* held beyond A while it is made */
    int prepared;        /* is there anything to convert? */
};
heddle_status bound_estimate(struct estimate *e, const struct device *device, const struct kernel *kernel,
                             const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op);

#endif
