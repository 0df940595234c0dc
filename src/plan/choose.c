/* SPDX-License-Identifier: MIT
 *
 * plan_choose: candidates are ranked by the bytes they would move; the best, those that take A as it is and those that need
 * preparation, are measured beside the immediate product, and kept only if that pays within the expected number of products. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "kernel/device.h"
#include "plan/run.h"

#define EXPECTED_DEFAULT 1000

/* A prepared kernel is tried although it would move this much more than the immediate one: bytes do not tell how well
 * short rows are predicted, the clock does. */
#define WORTH_TRYING 1.25

/* A conversion takes about as long as so many products; fewer are not worth trying one. */
#define CONVERT_PRODUCTS 8
#define TRANSPOSE_PRODUCTS 16

/* So many kernels are tried at most, with preparation and without. */
#define TRIES 2

/* Measuring stops after this many products or this time. */
#define MEASURE_RUNS 5
#define MEASURE_MS 200

struct wish {
    const struct device *device;
    const struct view *A;
    heddle_op op;
    int64_t expected, limit; /* limit: bytes, INT64_MAX when there is none */
    int deterministic;
};

struct candidate {
    const struct kernel *kernel;
    int64_t option[OPTIONS_MOST];
    struct estimate estimate;
};

/* What to measure with. */
struct vectors {
    void *x, *y; /* on the device */
    struct stopwatch watch;
};

static heddle_status vectors_new(struct vectors *v, const struct wish *wish)
{
    heddle_status status;
    int64_t most = view_rows(wish->A) > view_cols(wish->A) ? view_rows(wish->A) : view_cols(wish->A);
    int64_t bytes = most * (int64_t)type_size(view_value(wish->A));
    TRY(stopwatch_new(&v->watch, wish->device));
    TRY(device_alloc(wish->device, &v->x, bytes));
    TRY(device_fill(wish->device, v->x, 0, bytes));
    TRY(device_alloc(wish->device, &v->y, bytes));
    TRY(device_fill(wish->device, v->y, 0, bytes));
done:
    return status;
}

static void vectors_free(struct vectors *v, const struct wish *wish)
{
    stopwatch_free(&v->watch);
    device_free(wish->device, v->x);
    device_free(wish->device, v->y);
}

/* The shortest of a few products, the first of which warms caches up and does not count. */
static heddle_status measure(double *ms, struct bound *b, struct vectors *v)
{
    heddle_status status = HEDDLE_OK;
    double begin = now_ms(), best = INFINITY, took;
    for (int i = 0; i <= MEASURE_RUNS && (i < 2 || now_ms() - begin < MEASURE_MS); i++) {
        TRY(stopwatch_start(&v->watch));
        TRY(bound_run(b, (struct scalars){1, 0}, v->x, v->y));
        TRY(stopwatch_stop(&v->watch, &took));
        if (i > 0 && took < best)
            best = took;
    }
    *ms = best;
done:
    return status;
}

static void describe(heddle_plan_desc *desc, const struct bound *b)
{
    struct bound_info info;
    bound_describe(b, &info);
    memset(desc, 0, sizeof *desc);
    snprintf(desc->kernel, sizeof desc->kernel, "%s", info.kernel);
    snprintf(desc->format, sizeof desc->format, "%s", info.format);
    desc->transposed = info.transposed;
    desc->deterministic = info.repeatable;
    desc->bytes = info.bytes;
    desc->prepare_ms = info.convert_ms > 0 ? info.convert_ms + info.prepare_ms : 0;
}

static void set_times(heddle_plan_desc *desc, double product_ms, double immediate_ms)
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

static int allowed(const struct candidate *c, const struct wish *wish)
{
    return c->estimate.bytes <= wish->limit && (c->kernel->repeatable || !wish->deterministic);
}

/* Every kernel that applies, with what it would cost. */
struct field {
    int count;
    struct candidate candidate[KERNEL_COUNT];
};

/* A kernel with its initial options. */
static struct candidate candidate_of(const struct kernel *kernel)
{
    struct candidate c = {.kernel = kernel};
    options_initial(c.option, kernel_options(kernel));
    return c;
}

static heddle_status find_candidates(struct field *f, const struct wish *wish)
{
    f->count = 0;
    for (int i = 0; i < kernel_count(); i++) {
        struct candidate *c = &f->candidate[f->count];
        *c = candidate_of(kernel_at(i));
        heddle_status status = bound_estimate(&c->estimate, wish->device, c->kernel, c->option, wish->A, wish->op);
        if (status != HEDDLE_OK && status != HEDDLE_NO_KERNEL)
            return status;
        f->count += status == HEDDLE_OK && allowed(c, wish);
    }
    return HEDDLE_OK;
}

/* Takes out the candidate with the least bytes to move, among those with or without preparation; kernel = NULL when there
 * is none left. */
static void take_best(struct candidate *best, struct field *f, int prepared)
{
    int found = -1;
    for (int i = 0; i < f->count; i++)
        if (f->candidate[i].estimate.prepared == prepared &&
            (found < 0 || f->candidate[i].estimate.cost < f->candidate[found].estimate.cost))
            found = i;
    *best = found < 0 ? (struct candidate){0} : f->candidate[found];
    if (found >= 0)
        f->candidate[found] = f->candidate[--f->count];
}

/* The kernel of heddle_mv where it fits the wishes, else the best other that takes A as it is, else (a repeatable
 * transposed product on a GPU) the best that must be prepared. */
static heddle_status immediate_bound(struct bound **b, struct candidate *c, const struct wish *wish)
{
    int transposed = stored_transposed(wish->A, wish->op);
    *c = candidate_of(view_nnz(wish->A) > 0 ? select_kernel(wish->device, wish->A, transposed) : any_kernel(wish->device));
    heddle_status status = bound_estimate(&c->estimate, wish->device, c->kernel, c->option, wish->A, wish->op);
    const struct kernel *first = c->kernel;
    int64_t bytes = c->estimate.bytes;
    struct field others;
    if (status == HEDDLE_OK && !allowed(c, wish)) {
        status = find_candidates(&others, wish);
        take_best(c, &others, 0);
        if (!c->kernel)
            take_best(c, &others, 1);
    }
    if (status != HEDDLE_OK)
        return status;
    if (!c->kernel)
        return fail(HEDDLE_NO_KERNEL, "no %skernel fits: %s came closest, with %lld bytes beyond the matrix, %lld are allowed",
                    wish->deterministic ? "deterministic " : "", first->name, (long long)bytes, (long long)wish->limit);
    return bound_make(b, wish->device, c->kernel, c->option, wish->A, wish->op);
}

/* Who is ahead so far: `b`, as `desc` describes it. */
struct contest {
    struct bound *b;
    heddle_plan_desc *desc;
    const struct wish *wish;
    struct candidate immediate;
    struct vectors vectors;
};

/* Prepares `c` and measures it; it takes the lead where all expected products together end earlier with it. */
static heddle_status try_candidate(struct contest *t, const struct candidate *c)
{
    heddle_status status;
    const struct wish *wish = t->wish;
    struct bound *made = NULL;
    heddle_plan_desc found;
    double ms, products = (double)wish->expected;
    TRY(bound_make(&made, wish->device, c->kernel, c->option, wish->A, wish->op));
    TRY(measure(&ms, made, &t->vectors));
    describe(&found, made);
    set_times(&found, ms, t->desc->immediate_ms);
    if (found.bytes <= wish->limit && found.break_even >= 0 && found.break_even <= wish->expected &&
        found.prepare_ms + products * ms < t->desc->prepare_ms + products * t->desc->product_ms) {
        struct bound *old = t->b;
        t->b = made;
        *t->desc = found;
        made = old;
    }
done:
    bound_free(made);
    return status;
}

/* The best of the kernels with or without preparation, as long as they promise enough, beside the immediate one.  The size
 * of a transpose's format is only guessed before there is one, so a format may still refuse it; the next is tried then. */
static heddle_status try_best(struct contest *t, struct field *field, int prepared)
{
    heddle_status status = HEDDLE_OK;
    for (int tries = 0; status == HEDDLE_OK && tries < TRIES;) {
        struct candidate c;
        take_best(&c, field, prepared);
        if (!c.kernel || c.estimate.cost >= WORTH_TRYING * t->immediate.estimate.cost)
            break;
        if (c.kernel == t->immediate.kernel)
            continue;
        status = try_candidate(t, &c);
        tries += status == HEDDLE_OK;
        status = status == HEDDLE_NO_KERNEL ? HEDDLE_OK : status;
    }
    return status;
}

/* Those without first: what takes A as it is has only to be faster. */
static heddle_status try_all(struct contest *t)
{
    struct field field;
    heddle_status status = find_candidates(&field, t->wish);
    for (int prepared = 0; status == HEDDLE_OK && prepared <= 1; prepared++)
        status = try_best(t, &field, prepared);
    return status;
}

static heddle_status choose(struct bound **b, heddle_plan_desc *desc, const struct wish *wish)
{
    heddle_status status;
    struct contest t = {.desc = desc, .wish = wish};
    TRY(immediate_bound(&t.b, &t.immediate, wish));
    describe(desc, t.b);
    int turned = stored_transposed(wish->A, wish->op);
    if (view_nnz(wish->A) == 0 || wish->expected < (turned ? TRANSPOSE_PRODUCTS : CONVERT_PRODUCTS))
        goto done;
    TRY(vectors_new(&t.vectors, wish));
    TRY(measure(&desc->product_ms, t.b, &t.vectors));
    set_times(desc, desc->product_ms, desc->product_ms);
    TRY(try_all(&t));
done:
    vectors_free(&t.vectors, wish);
    *b = t.b;
    return status;
}

/* A kernel by name: prepared and measured like any other, but not compared away. */
static heddle_status forced(struct bound **b, heddle_plan_desc *desc, const struct wish *wish, const char *kernel)
{
    heddle_status status;
    struct candidate immediate;
    struct bound *beside = NULL;
    struct vectors v = {0};
    double ms, immediate_ms;
    TRY(bound_new(b, wish->device, kernel, wish->A, wish->op));
    describe(desc, *b);
    if (desc->bytes > wish->limit)
        TRY(fail(HEDDLE_NO_MEMORY, "%s holds %lld bytes beyond the matrix, %lld are allowed", desc->kernel,
                 (long long)desc->bytes, (long long)wish->limit));
    if (wish->deterministic && !desc->deterministic)
        TRY(fail(HEDDLE_NO_KERNEL, "%s is not deterministic", desc->kernel));
    if (view_nnz(wish->A) == 0)
        goto done;
    TRY(vectors_new(&v, wish));
    struct wish unlimited = *wish;
    unlimited.limit = INT64_MAX;
    TRY(immediate_bound(&beside, &immediate, &unlimited));
    TRY(measure(&immediate_ms, beside, &v));
    TRY(measure(&ms, *b, &v));
    set_times(desc, ms, immediate_ms);
done:
    bound_free(beside);
    vectors_free(&v, wish);
    return status;
}

heddle_status plan_choose(struct bound **b, heddle_plan_desc *desc, const struct device *device, const struct view *A,
                          heddle_op op, const heddle_plan_options *options)
{
    struct wish wish = {.device = device, .A = A, .op = op, .deterministic = options->deterministic};
    wish.expected = options->expected_products ? options->expected_products : EXPECTED_DEFAULT;
    wish.limit = options->memory_limit > 0 ? options->memory_limit : options->memory_limit < 0 ? 0 : INT64_MAX;
    *b = NULL;
    memset(desc, 0, sizeof *desc);
    heddle_status status = options->kernel ? forced(b, desc, &wish, options->kernel) : choose(b, desc, &wish);
    if (status != HEDDLE_OK) {
        bound_free(*b);
        *b = NULL;
    }
    return status;
}
