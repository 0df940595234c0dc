/* SPDX-License-Identifier: MIT
 *
 * choice.h: how a product is asked for by name.
 *     auto              heddle_mv: no set-up, Heddle chooses
 *     plan              heddle_plan_create with its defaults: Heddle chooses and prepares
 *     auto:deterministic=1, plan:deterministic=1
 *                       the same two, bitwise repeatable
 *     plan:cache=cold   the caller knows that A is not in the cache when the next product comes; warm:
 *                       that it is
 *     plan:values=fixed values never change: the plan may make use of what they are
 *     cpu_sell:slice=8  one kernel with options */
#ifndef SUBJECT_CHOICE_H
#define SUBJECT_CHOICE_H

#include "base/status.h"

/* Does `name` stand for Heddle's own choice, `choice` ("auto", "plan"), with options or without? */
int choice_is(const char *name, const char *choice);
/* The options of Heddle's own choices; cache and values are a plan's alone. */
struct choice {
    int deterministic;
    int values_fixed;
    heddle_cache cache;
};
heddle_status choice_options(const char *name, struct choice *c);
/* Is it such a choice, and was it asked to be deterministic? */
int choice_is_deterministic(const char *name);
/* Is `name` auto, plan or a kernel of the registry?  Fails with the nearest one; options of kernels are
 * not looked at. */
heddle_status choice_check(const char *name);

#endif
