/* SPDX-License-Identifier: MIT
 *
 * contender.h: the kernels that a plan may choose from, what each would cost, and how one is made. */
#ifndef PLAN_CONTENDER_H
#define PLAN_CONTENDER_H

#include "plan/run.h"

/* What a plan is wanted for. */
struct wish {
    const struct device *device;
    const struct view *A;
    heddle_op op;
    int64_t expected, limit; /* limit: bytes, INT64_MAX when there is none */
    int deterministic, values_fixed;
    heddle_cache cache;
    const heddle_lengths *rows; /* of A as it is stored; NULL: not known */
    /* Of an A that was made from the given one for the plan: */
    int turned;         /* it is its transpose */
    int64_t made_bytes; /* how much memory it takes, and how long it took; else 0 */
    double made_ms;
};

struct contender {
    const struct kernel *kernel;
    const struct wish *wish; /* which matrix it is for */
    int64_t option[OPTIONS_MOST];
    struct estimate estimate;
};

/* Every kernel that applies, with what it would cost; for A, for A with narrower values and for one of their
 * transposes. */
struct field {
    int count;
    struct contender contender[3 * KERNEL_COUNT];
};

/* Adds the kernels that apply and are allowed to those that are there. */
heddle_status field_add(struct field *f, const struct wish *wish);
void field_remove(struct field *f, int i);

/* To be passed over, not to end with? */
int does_not_fit(heddle_status status);
/* The error for what goes beyond the wish's limit. */
heddle_status too_large(const char *kernel, int64_t bytes, const struct wish *wish);
/* The size of a transpose's format is only guessed before there is one: it may prove too large. */
heddle_status contender_make(struct bound **b, const struct contender *c);
/* The kernel of heddle_mv where it fits the wishes, else the best other that takes A as it is, else (a
 * repeatable transposed product on a GPU) the best that must be prepared. */
heddle_status immediate_bound(struct bound **b, struct contender *c, const struct wish *wish);

/* What heddle_plan_info tells of a kernel that is made, without its times; as it will be once it owns a
 * transpose that is its matrix now. */
void plan_describe(heddle_plan_desc *desc, const struct bound *b, const struct wish *wish);
void plan_set_times(heddle_plan_desc *desc, double product_ms, double immediate_ms);

#endif
