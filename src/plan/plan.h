/* SPDX-License-Identifier: MIT
 *
 * plan.h: from "op(A) x on this device" to a kernel that runs.  Three steps, each usable alone:
 *   immediate_*   the product on the arrays as they are, of which a GPU knows what a look has told
 *                 (heddle_mv);
 *   bound_*       one given kernel, with whatever conversion and workspace it needs (bench, check, tests);
 *   plan_choose   the kernel that pays best, bound and measured (heddle_plan_create). */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "kernel/kernel.h"

/* What is learned of a matrix once, when it is created on a GPU, for all immediate products with it: what
 * the kernels for N and T of the stored arrays hold and have found (kernel.h: `held`, `prepare`), which is
 * the same for both.  Coordinates have none, nor has a matrix without entries. */
struct look {
    void *prepared; /* on the device; NULL: there was none */
    int64_t fact[PRODUCT_FACTS];
    int64_t bytes;
    int bad; /* the offsets do not ascend from 0 to the number of entries */
    double ms;
};

/* A matrix as the API holds it, its arrays in the memory of the device that it is multiplied on.  A CSC
 * matrix is the CSR of its transpose: `csr` then holds Aᵀ, and operations flip. */
struct view {
    heddle_format format;
    struct csr csr; /* CSR and CSC */
    struct coo coo; /* COO, sorted by rows */
    struct look look;
    struct notes *notes; /* of its storages, while a plan is chosen; else NULL */
};

/* Rows and columns of A itself, whatever the storage. */
int64_t view_rows(const struct view *A);
int64_t view_cols(const struct view *A);
int64_t view_nnz(const struct view *A);
heddle_type view_value(const struct view *A);

/* What every product does first: alpha = 0 or an empty A leaves y = beta y, with A and x not read; where
 * alpha lies on the device, its kernel does it and A and x may be read, but count for nothing. */
struct scalars {
    double _Complex alpha, beta;
    const void *alpha_at,
        *beta_at; /* GPU: a number of the vectors' type on the device instead; NULL: as above */
};
static inline int scalars_drop(struct scalars s) /* is it known that alpha = 0? */
{
    return !s.alpha_at && s.alpha == 0;
}

/* Finds everything that the immediate products with A (N and T) may launch, so that immediate_run never
 * loads a binary or allocates: call it once per matrix and handle.  Nothing to do on a CPU. */
heddle_status immediate_load(const struct device *device, const struct view *A);
/* Looks at A, once for all handles: waits, and reads the offsets and a sample of the columns.  look_free
 * takes what look_new never made. */
heddle_status look_new(struct look *look, const struct device *device, const struct view *A);
void look_free(struct look *look, const struct device *device);
/* What a kernel works in: product.h says what each is for. */
struct room {
    void *workspace, *counters;
    int64_t workspace_bytes, counters_bytes;
};
/* How much of it the immediate products with A (N and T) need at most; the pointers are NULL. */
struct room immediate_room(const struct device *device, const struct view *A);
/* Runs it, without waiting for a GPU; *ran names the kernel ("scale" when only beta y was computed).
 * HEDDLE_NO_WORKSPACE if the room is too small. */
heddle_status immediate_run(const struct device *device, const struct view *A, heddle_op op, struct scalars s,
                            const void *x, void *y, const struct room *room, const char **ran);

/* The same three for a handle whose products must be repeatable. */
heddle_status repeatable_load(const struct device *device, const struct view *A);
struct room repeatable_room(const struct device *device, const struct view *A);
heddle_status repeatable_run(const struct device *device, const struct view *A, heddle_op op,
                             struct scalars s, const void *x, void *y, const struct room *room,
                             const char **ran);

/* Several vectors at once, Y = alpha op(A) X + beta Y, with A's arrays or as a plan does it.  For each of the
 * three functions below the whole is the same, but that many_room and many_load do not look at x and y. */
struct many {
    const struct device *device;
    const struct view
        *A; /* NULL: the values are not those of the plan, which has them in its own storage only */
    heddle_op op;
    struct bound *bound; /* a plan's kernel; NULL: the immediate product */
    int repeatable;      /* it must be */
    int64_t vectors;     /* at least 1 */
    const void *x;
    void *y;
    struct steps x_step, y_step; /* product.h */
};
/* What many_run works in, and everything that it may launch: the former grows `room`. */
void many_room(struct room *room, const struct many *m);
heddle_status many_load(const struct many *m);
int many_kind(const struct many *m); /* below 64: products of one kind launch the same kernels */
/* Without waiting for a GPU; *ran names the kernel. */
heddle_status many_run(const struct many *m, struct scalars s, const struct room *room, const char **ran);

/* One kernel bound to one matrix and one operation: converted, prepared, ready to run again and again. */
struct bound;

struct bound_info {
    char kernel[64];    /* with its options: "cpu_sell:slice=8,window=512" */
    const char *format; /* "sell" */
    heddle_type value;  /* of the values that it multiplies with: A's, or narrower (bound_own_values) */
    int transposed;     /* the kernel works on an explicit transpose of A */
    int repeatable;
    int64_t bytes;                 /* held beyond A: converted arrays and workspace */
    double convert_ms, prepare_ms; /* without loading binaries */
    double cost;                   /* bytes that one product moves, by the kernel's own account */
    int64_t read;                  /* bytes of the format's arrays that it reads at least */
};

/* `kernel` is a spec: "cpu_sell:slice=8".  HEDDLE_NO_KERNEL with the reason when the kernel does not apply
 * (its op, its format, padding over its limit); HEDDLE_BAD_ARGUMENT for an unknown kernel or option. */
heddle_status bound_new(struct bound **b, const struct device *device, const char *kernel,
                        const struct view *A, heddle_op op);
void bound_free(struct bound *b);
/* Does not wait for a GPU. */
heddle_status bound_run(struct bound *b, struct scalars s, const void *x, void *y);
/* Later products are with these values: A is the matrix of bound_new, but for its val.  What was converted
 * is filled anew in the arrays that are there, in the order of the stream; on a failure the values are
 * undefined until it succeeds. */
heddle_status bound_update(struct bound *b, const struct view *A);
/* What it runs; and `w`, which multiplies several vectors at once with the same arrays: 0 if there is no
 * kernel for them. */
const struct work *bound_work(const struct bound *b);
int bound_many(struct work *w, const struct bound *b, int repeatable);
int bound_refers(const struct bound *b); /* 1: products read A's own val; 0: a copy of it */
/* Gives up its workspace and counters: from now on bound_use_room comes before each product, which does
 * nothing for others, and HEDDLE_NO_WORKSPACE is the answer to a room of less than bound_room, that of others
 * being nothing. */
void bound_lend(struct bound *b);
struct room bound_room(const struct bound *b);
heddle_status bound_use_room(struct bound *b, const struct room *room);
/* Later products go to this stream of the GPU; at first it is the device's of bound_new. */
void bound_use_stream(struct bound *b, void *stream);
/* What is bound for T serves H and the reverse: with 1, later products conjugate A's values. */
void bound_conjugate(struct bound *b, int on);
void bound_describe(const struct bound *b, struct bound_info *info);

/* What was considered for a plan, the immediate product first, then in the order of trying. */
#define TRIES_MOST 48
struct tried {
    char kernel[64];
    heddle_type value; /* of the values that it would multiply with */
    int transposed;
    double predicted_ms; /* a product, by what had been measured until then; NaN for the first */
    double product_ms;   /* NaN: it was not worth a try, or did not fit */
    double prepare_ms;
    int64_t bytes; /* held beyond A, as estimated where it was not made */
};
struct tries {
    int count;
    struct tried of[TRIES_MOST];
};
const struct tries *bound_tries(const struct bound *b); /* NULL: it was not chosen among others */

/* The best kernel for op under the options, bound.  Fills all of desc. */
heddle_status plan_choose(struct bound **b, heddle_plan_desc *desc, const struct device *device,
                          const struct view *A, heddle_op op, const heddle_plan_options *options);

#endif
