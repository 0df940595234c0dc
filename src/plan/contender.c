/* SPDX-License-Identifier: MIT
 *
 * Contenders: every kernel that applies, estimated without arrays (predict.c), and made on demand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/contender.h"

/* That a plan with this kernel holds beyond A. */
static int64_t bytes_beyond(const struct bound *b, const struct bound_info *info, const struct wish *wish)
{
    return info->bytes + (bound_refers(b) ? wish->made_bytes : 0);
}

void plan_describe(heddle_plan_desc *desc, const struct bound *b, const struct wish *wish)
{
    struct bound_info info;
    bound_describe(b, &info);
    memset(desc, 0, sizeof *desc);
    snprintf(desc->kernel, sizeof desc->kernel, "%s", info.kernel);
    snprintf(desc->format, sizeof desc->format, "%s", info.format);
    desc->value = value_type(info.value);
    desc->transposed = info.transposed || wish->turned;
    desc->deterministic = info.repeatable;
    desc->bytes = bytes_beyond(b, &info, wish);
    desc->prepare_ms = info.convert_ms + info.prepare_ms + wish->made_ms;
}

void plan_set_times(heddle_plan_desc *desc, double product_ms, double immediate_ms)
{
    double gain = immediate_ms - product_ms;
    desc->product_ms = product_ms;
    desc->immediate_ms = immediate_ms;
    if (desc->prepare_ms <= 0)
        desc->break_even = 0;
    else if (gain <= 0 || desc->prepare_ms / gain > 1e15)
        desc->break_even = -1;
    else
        desc->break_even = (int64_t)ceil(desc->prepare_ms / gain);
}

static int allowed(const struct contender *c, const struct wish *wish)
{
    return c->estimate.bytes <= wish->limit && (c->kernel->repeatable || !wish->deterministic);
}

/* A kernel with its initial options. */
static struct contender contender_of(const struct kernel *kernel)
{
    struct contender c = {.kernel = kernel};
    options_initial(c.option, kernel_options(kernel));
    return c;
}

static heddle_status estimate(struct contender *c, const struct wish *wish)
{
    c->wish = wish;
    heddle_status status =
        bound_estimate(&c->estimate, wish->device, c->kernel, c->option, wish->A, wish->op, wish->rows);
    if (c->estimate.borrows)
        c->estimate.bytes += wish->made_bytes;
    return status;
}

int does_not_fit(heddle_status status)
{
    return status == HEDDLE_NO_KERNEL || status == HEDDLE_NO_MEMORY;
}

heddle_status field_add(struct field *f, const struct wish *wish)
{
    for (int i = 0; i < kernel_count(); i++) {
        struct contender *c = &f->contender[f->count];
        *c = contender_of(kernel_at(i));
        if (c->kernel->many || (format_at(c->kernel->format)->valued && !wish->values_fixed))
            continue;
        heddle_status status = estimate(c, wish);
        if (status != HEDDLE_OK && !does_not_fit(status))
            return status;
        f->count += status == HEDDLE_OK && allowed(c, wish);
    }
    return HEDDLE_OK;
}

void field_remove(struct field *f, int i)
{
    f->contender[i] = f->contender[--f->count];
}

static int takes_A_as_it_is(const struct contender *c)
{
    return !c->estimate.turns && !c->estimate.converts && !c->estimate.derives;
}

/* Takes out the contender that costs least, among those that take A as it is if there are any.  kernel =
 * NULL when there is none left. */
static void take_simplest(struct contender *best, struct field *f)
{
    int found = -1;
    for (int i = 0; i < f->count; i++) {
        const struct contender *c = &f->contender[i], *b = &f->contender[found < 0 ? i : found];
        int simple = takes_A_as_it_is(c),
            better = simple != takes_A_as_it_is(b) ? simple : c->estimate.cost < b->estimate.cost;
        found = found < 0 || better ? i : found;
    }
    *best = found < 0 ? (struct contender){0} : f->contender[found];
    if (found >= 0)
        field_remove(f, found);
}

heddle_status too_large(const char *kernel, int64_t bytes, const struct wish *wish)
{
    return fail(HEDDLE_NO_MEMORY, "%s holds %lld bytes beyond the matrix, %lld are allowed", kernel,
                (long long)bytes, (long long)wish->limit);
}

heddle_status contender_make(struct bound **b, const struct contender *c)
{
    const struct wish *wish = c->wish;
    struct bound_info info;
    heddle_status status = bound_make(b, wish->device, c->kernel, c->option, wish->A, wish->op);
    if (status != HEDDLE_OK)
        return status;
    bound_describe(*b, &info);
    const int64_t bytes = bytes_beyond(*b, &info, wish);
    if (bytes <= wish->limit)
        return HEDDLE_OK;
    bound_free(*b);
    *b = NULL;
    return too_large(info.kernel, bytes, wish);
}

heddle_status immediate_bound(struct bound **b, struct contender *c, const struct wish *wish)
{
    int transposed = stored_transposed(wish->A, wish->op);
    *b = NULL;
    *c = contender_of(view_nnz(wish->A) > 0 ? select_kernel(wish->device, wish->A, transposed)
                                            : any_kernel(wish->device));
    heddle_status status = estimate(c, wish);
    const struct kernel *first = c->kernel;
    int64_t bytes = c->estimate.bytes;
    struct field others = {0};
    if (status == HEDDLE_OK && allowed(c, wish)) {
        status = contender_make(b, c);
        if (!does_not_fit(status))
            return status;
    } else if (status == HEDDLE_OK) {
        status = HEDDLE_NO_KERNEL;
    }
    heddle_status found = does_not_fit(status) ? field_add(&others, wish) : status;
    if (found != HEDDLE_OK)
        return found;
    for (take_simplest(c, &others); c->kernel; take_simplest(c, &others)) {
        found = contender_make(b, c);
        if (!does_not_fit(found))
            return found;
        status = found;
    }
    if (status == HEDDLE_NO_MEMORY) /* whose text is the last one's */
        return status;
    return fail(HEDDLE_NO_KERNEL,
                "no %skernel fits: %s came closest, with %lld bytes beyond the matrix, %lld are allowed",
                wish->deterministic ? "deterministic " : "", first->name, (long long)bytes,
                (long long)wish->limit);
}
