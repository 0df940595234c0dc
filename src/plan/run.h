/* SPDX-License-Identifier: MIT
 *
 * run.h: what the files of src/plan share. */
#ifndef PLAN_RUN_H
#define PLAN_RUN_H

#include "plan/plan.h"
#include "run/device.h"

/* Is op(A) the transpose of what is stored?  A CSC matrix stores its transpose; H is T with conjugated
 * values, however they are stored. */
static inline int stored_transposed(const struct view *A, heddle_op op)
{
    return (op != HEDDLE_N) != (A->format == HEDDLE_CSC);
}

/* A's arrays as the source of a format, borrowed; and as a stored matrix. */
struct source view_source(const struct view *A);
heddle_status stored_view(struct stored *s, const struct view *A);

/* The kernel that needs no more than the arrays and, on a GPU, a look: format csr, or coo for a COO
 * matrix. */
const struct kernel *select_kernel(const struct device *device, const struct view *A, int transposed);

/* The kernel that multiplies several vectors at once with such values in arrays of this format; NULL:
 * there is none. */
const struct kernel *many_kernel(const struct device *device, heddle_type value, enum format_id format,
                                 int transposed);

/* What immediate products do, whoever selects their kernels: load, reserve, run. */
typedef const struct kernel *selector(const struct device *device, const struct view *A, int transposed);
struct immediate {
    const struct device *device;
    const struct view *A;
    heddle_op op;
    struct scalars s;
    const void *x;
    void *y;
    const struct room *room;
};
heddle_status arrays_load(const struct device *device, const struct view *A, selector *select);
/* Grows to what they need */
void arrays_room(struct room *room, const struct device *device, const struct view *A, selector *select);
heddle_status arrays_run(const struct immediate *r, selector *select, const char **ran);

/* What A's look found, for a work with A's own arrays whose kernel it was made for; 0: it was not. */
int look_lend(struct work *w, const struct view *A);

/* One that takes any CSR matrix, for products that launch nothing. */
const struct kernel *any_kernel(const struct device *device);

/* The common prelude, then the kernel; false in *launched when y = beta y was all there was to do. */
heddle_status product_run(struct work *w, struct scalars s, const void *x, void *y, int *launched);

/* Several vectors from one layout to another (convert/service.h), on either kind of device. */
struct relayout;
heddle_status relayout_run(const struct device *device, heddle_type value, const struct relayout *r);

/* Once per variant: y = beta y, n entries; beta = 0 writes zeros and reads nothing. */
struct run_functions {
    void (*scale)(void *y, int64_t n, double _Complex beta, int threads);
    void (*relayout)(const struct relayout *r, int threads); /* as gpu_relayout; beta_at is not looked at */
};
extern const struct run_functions *const run_functions[VARIANT_COUNT];

/* bound_new with a kernel that is already parsed. */
heddle_status bound_make(struct bound **b, const struct device *device, const struct kernel *kernel,
                         const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op);

/* What bound_make would hold and what a product would then cost, without making it.  `rows` are the
 * lengths of A's rows as it is stored; NULL: not known. */
struct estimate {
    double cost;                  /* of a product, for comparison: `predict` */
    int64_t bytes;                /* held beyond A */
    int64_t peak;                 /* held beyond A while it is made */
    int turns, converts, derives; /* what there is to do: a transpose; arrays in another format; a kernel's
                                   * own preparation */
    int borrows;                  /* products read arrays of A itself, or of its transpose */
};
heddle_status bound_estimate(struct estimate *e, const struct device *device, const struct kernel *kernel,
                             const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op,
                             const heddle_lengths *rows);

/* `b` owns `tries` from here on. */
void bound_keep_tries(struct bound *b, struct tries *tries);

/* The transpose of what A stores, once for all kernels that plans try on it; checks A first. */
heddle_status bound_turn(struct csr *turned, const struct device *device, const struct view *A);
/* `b`, made for N of that transpose, becomes what bound_make would have made for A, and owns the transpose
 * or frees it.  `ms` is what turning took. */
void bound_adopt(struct bound *b, struct csr *turned, const struct view *A, double ms);

/* A with values of a narrower type that are the same to the last bit, once for all kernels that plans try on
 * it: `val` is NULL where there is no such type.  narrowed_free takes a zeroed one as well. */
struct narrowed {
    struct view view;
    void *val;
    int64_t bytes; /* of val */
    double ms;     /* what it took, also in vain */
};
heddle_status narrowed_new(struct narrowed *n, const struct device *device, const struct view *A);
void narrowed_free(struct narrowed *n, const struct device *device);
/* `b`, made for the narrowed A, owns its values if products read them there, and they are gone from `n`. */
void bound_own_values(struct bound *b, struct narrowed *n);

/* What to measure with. */
struct vectors {
    void *x, *y; /* on the device */
    void *flush; /* likewise; NULL: products follow one another at once */
    int64_t flush_bytes;
    heddle_cache cache; /* whether A will be in the cache */
    struct stopwatch watch;
};
heddle_status vectors_new(struct vectors *v, const struct device *d, const struct view *A,
                          heddle_cache cache); /* free it in any case */
void vectors_free(struct vectors *v, const struct device *d);
/* The shortest of a few products, the first of which loads and warms up, and does not count; on a GPU,
 * unless the caller knows, the mean of the shortest with and without A in the cache.  One that takes more
 * than `hopeless` ms is not measured to the end. */
heddle_status bound_measure(double *ms, struct bound *b, struct vectors *v, double hopeless);

/* Two kernels for one matrix, in turns: the median of each, of the same mix, and half the distance of its
 * quartiles. */
struct timing {
    double ms, spread;
};
heddle_status bound_compare(struct timing timing[2], struct bound *const b[2], struct vectors *v);
int timing_is_ahead(const struct timing *of, const struct timing *before); /* by more than either's spread */

/* Tests: what a product took, instead of what the clock says; NULL: the clock. */
typedef double measure_clock(const struct bound_info *b, int cold);
void measure_with(measure_clock *clock);

/* Bytes that a product moves, and what else takes its time as bytes that could be moved meanwhile. */
double predict(const struct work *w, const struct stored *s, const heddle_lengths *rows);

#endif
