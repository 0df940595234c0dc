/* SPDX-License-Identifier: MIT
 *
 * plan_choose: contenders are ranked by what a product would cost (predict.c); as long as a try is cheap
 * for what it may bring within the expected number of products, the next one is made and measured; and the
 * one with which all of them together end earliest is kept if it is ahead of the immediate product, beside
 * which it is measured again, in turns.  What does not fit into memory is passed over. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "plan/contender.h"

#define EXPECTED_DEFAULT 1000

/* With fewer expected products not even the immediate one is measured. */
#define FEWEST 8
#define FEWEST_TURNED 16

/* What it takes to try a kernel: to measure it, to derive what it needs, to convert the matrix, to
 * transpose it.  On a GPU each takes so many ms whatever the size, for memory, launches and waiting, and
 * everywhere as long as so many products of it.  As seen on an H200 (bench/plans.py); to narrow values, by
 * what it reads and writes. */
#define TRY_MEASURE_MS 0.3
#define TRY_MEASURE_PRODUCTS 8
#define TRY_DERIVE_MS 0.06
#define TRY_DERIVE_PRODUCTS 1
#define TRY_CONVERT_MS 0.25
#define TRY_CONVERT_PRODUCTS 12
#define TRY_TURN_MS 0.3
#define TRY_TURN_PRODUCTS 50
#define TRY_NARROW_MS 0.2
#define TRY_NARROW_PRODUCTS 2

/* A kernel may turn out faster than predicted by this share, and may cost at most this share of what it
 * would then gain. */
#define DOUBT 0.25
#define STAKE 0.5

/* A kernel that takes so many times as long as the best is not measured to the end. */
#define HOPELESS 3

/* Who is ahead so far: `b`, as `desc` describes it; at first that is the immediate product, which stays. */
struct contest {
    struct bound *b, *first;
    heddle_plan_desc *desc;
    const struct wish *wish; /* of the caller */
    struct contender immediate;
    struct vectors vectors;
    double rate;  /* ms for what is predicted to cost 1, of the kernel that came off best by that measure */
    double spent; /* ms, on tries */
    struct tries *tries;
    const struct wish *ahead; /* what `b` is for: `wish`, or one of the two that follow */
    /* Where values never change and a narrower type has them all: */
    struct narrowed narrowed;
    struct wish narrow;
    /* Once somebody needs the transpose, of A or of that: */
    struct view transpose;
    struct notes transpose_notes;
    struct wish turned;
    heddle_lengths turned_rows;
};

/* Writes down what became of a contender: `found` where it was made, else NULL. */
static void write_down(struct contest *t, const struct contender *c, double predicted_ms,
                       const heddle_plan_desc *found)
{
    if (!t->tries || t->tries->count == TRIES_MOST)
        return;
    struct tried *to = &t->tries->of[t->tries->count++];
    kernel_spell(to->kernel, sizeof to->kernel, c->kernel, c->option);
    to->value = value_type(view_value(c->wish->A));
    to->transposed = c->estimate.turns || c->wish->turned;
    to->predicted_ms = predicted_ms;
    to->product_ms = found ? found->product_ms : NAN;
    to->prepare_ms = found ? found->prepare_ms : NAN;
    to->bytes = found ? found->bytes : c->estimate.bytes;
}

/* Would all expected products, with what is prepared for them, end earlier? */
static int ends_earlier(const struct contest *t, const heddle_plan_desc *found)
{
    double products = (double)t->wish->expected;
    return found->break_even >= 0 && found->break_even <= t->wish->expected &&
           found->prepare_ms + products * found->product_ms <
               t->desc->prepare_ms + products * t->desc->product_ms;
}

/* Prepares `c` and measures it; it takes the lead where all expected products together end earlier with
 * it. */
static heddle_status try_contender(struct contest *t, const struct contender *c)
{
    heddle_status status;
    struct bound *made = NULL;
    heddle_plan_desc found;
    double ms, begin = device_clock(t->wish->device), predicted_ms = t->rate * c->estimate.cost;
    int is_made = 0;
    TRY(contender_make(&made, c));
    TRY(bound_measure(&ms, made, &t->vectors, HOPELESS * t->desc->product_ms));
    plan_describe(&found, made, c->wish);
    plan_set_times(&found, ms, t->desc->immediate_ms);
    is_made = 1;
    t->rate = fmin(t->rate, ms / c->estimate.cost);
    if (ends_earlier(t, &found)) {
        struct bound *old = t->b == t->first ? NULL : t->b;
        t->b = made;
        t->ahead = c->wish;
        *t->desc = found;
        made = old;
    }
done:
    bound_free(made);
    write_down(t, c, predicted_ms, is_made ? &found : NULL);
    t->spent += device_clock(t->wish->device) - begin;
    return status;
}

/* ms that a try would take. */
static double price(const struct contest *t, const struct estimate *e)
{
    double products = TRY_MEASURE_PRODUCTS + TRY_DERIVE_PRODUCTS * e->derives +
                      TRY_CONVERT_PRODUCTS * e->converts + TRY_TURN_PRODUCTS * e->turns;
    double ms =
        TRY_MEASURE_MS + TRY_DERIVE_MS * e->derives + TRY_CONVERT_MS * e->converts + TRY_TURN_MS * e->turns;
    return t->rate * e->cost * products + (t->wish->device->kind == DEVICE_gpu ? ms : 0);
}

/* What tries have cost so far and this one would add, against what it would gain if it were faster than
 * predicted. */
static int worth_trying(const struct contest *t, const struct contender *c)
{
    double gain =
        (double)t->wish->expected * (t->desc->product_ms - (1 - DOUBT) * t->rate * c->estimate.cost);
    return t->spent + price(t, &c->estimate) <= STAKE * gain;
}

/* The contender with which all expected products should end earliest, its try included; -1: there is none
 * left. */
static int find_next(const struct contest *t, const struct field *f)
{
    int found = -1;
    double least = INFINITY;
    for (int i = 0; i < f->count; i++) {
        const struct estimate *e = &f->contender[i].estimate;
        double ms = (double)t->wish->expected * t->rate * e->cost + price(t, e);
        found = ms < least ? i : found;
        least = fmin(least, ms);
    }
    return found;
}

/* Whoever came off best is kept only if it is ahead of the immediate product, measured beside it, by more
 * than the spread. */
static heddle_status settle(struct contest *t)
{
    heddle_status status = HEDDLE_OK;
    struct timing timing[2];
    heddle_plan_desc found = *t->desc;
    int64_t expected = t->wish->expected;
    if (t->b == t->first)
        goto done;
    TRY(bound_compare(timing, (struct bound *const[]){t->first, t->b}, &t->vectors));
    plan_set_times(&found, timing[1].ms, timing[0].ms);
    if (timing_is_ahead(&timing[1], &timing[0]) && found.break_even <= expected) {
        *t->desc = found;
        bound_free(t->first);
        t->first = NULL;
    } else {
        bound_free(t->b);
        t->b = t->first;
        t->ahead = t->wish;
        plan_describe(t->desc, t->b, t->wish);
        plan_set_times(t->desc, timing[0].ms, timing[0].ms);
    }
done:
    return status;
}

/* How long the rows are decides between many kernels on a GPU; of coordinates nobody knows. */
static heddle_status look_at_rows(struct wish *wish, heddle_lengths *rows)
{
    if (wish->device->kind == DEVICE_cpu || wish->A->format == HEDDLE_COO)
        return HEDDLE_OK;
    heddle_status status = device_row_lengths(wish->device, rows, &wish->A->csr);
    if (status == HEDDLE_OK)
        wish->rows = rows;
    return status == HEDDLE_NO_MEMORY ? HEDDLE_OK : status;
}

/* The same matrix with fewer bytes is at most twice as fast. */
static int worth_narrowing(const struct contest *t)
{
    double products = (double)t->wish->expected / 2 * STAKE - TRY_NARROW_PRODUCTS,
           ms = t->wish->device->kind == DEVICE_gpu ? TRY_NARROW_MS : 0;
    return t->wish->values_fixed && products * t->desc->product_ms >= ms;
}

/* Looks for a narrower type that has all values; kernels are then tried with either. */
static heddle_status narrow_all(struct contest *t)
{
    if (!worth_narrowing(t))
        return HEDDLE_OK;
    heddle_status status = narrowed_new(&t->narrowed, t->wish->device, t->wish->A);
    t->spent += t->narrowed.ms;
    t->narrow = *t->wish;
    t->narrow.A = &t->narrowed.view;
    t->narrow.made_bytes = t->narrowed.bytes;
    t->narrow.made_ms = t->narrowed.ms;
    return does_not_fit(status) ? HEDDLE_OK : status;
}

/* Makes the transpose, once for all who need one: they are estimated anew, for its rows, and tried on it
 * as it is. */
static heddle_status turn_all(struct contest *t, struct field *f)
{
    double begin = device_clock(t->wish->device);
    const struct wish *from = t->narrowed.val ? &t->narrow : t->wish;
    for (int i = f->count - 1; i >= 0; i--)
        if (f->contender[i].estimate.turns)
            field_remove(f, i);
    t->transpose = (struct view){.format = HEDDLE_CSR, .notes = &t->transpose_notes};
    heddle_status status = bound_turn(&t->transpose.csr, t->wish->device, from->A);
    if (status != HEDDLE_OK)
        return status;
    t->turned = *t->wish;
    t->turned.A = &t->transpose;
    t->turned.op = HEDDLE_N;
    t->turned.rows = NULL;
    t->turned.turned = 1;
    t->turned.made_bytes = csr_bytes(&t->transpose.csr);
    t->turned.made_ms = from->made_ms + device_clock(t->wish->device) - begin;
    status = look_at_rows(&t->turned, &t->turned_rows);
    if (status == HEDDLE_OK)
        status = field_add(f, &t->turned);
    t->spent += device_clock(t->wish->device) - begin;
    return status;
}

/* One that is not worth a try does not end the search: a simpler one that costs more may still be. */
static heddle_status try_all(struct contest *t)
{
    struct field field = {0};
    heddle_status status = field_add(&field, t->wish);
    if (status == HEDDLE_OK && t->narrowed.val)
        status = field_add(&field, &t->narrow);
    for (int i = find_next(t, &field); status == HEDDLE_OK && i >= 0; i = find_next(t, &field)) {
        struct contender c = field.contender[i];
        field_remove(&field, i);
        if (c.kernel == t->immediate.kernel && c.wish == t->wish)
            continue;
        if (!worth_trying(t, &c)) {
            write_down(t, &c, t->rate * c.estimate.cost, NULL);
            continue;
        }
        status = c.estimate.turns ? turn_all(t, &field) : try_contender(t, &c);
        status = does_not_fit(status) ? HEDDLE_OK : status;
    }
    return status;
}

static heddle_status choose(struct bound **b, heddle_plan_desc *desc, const struct wish *given)
{
    heddle_status status;
    struct wish wish = *given;
    struct notes notes = {0};
    struct view A = *given->A;
    heddle_lengths rows;
    struct contest t = {.desc = desc, .wish = &wish, .ahead = &wish};
    A.notes = &notes;
    wish.A = &A;
    int turned = stored_transposed(wish.A, wish.op);
    int measures = view_nnz(wish.A) > 0 && wish.expected >= (turned ? FEWEST_TURNED : FEWEST);
    t.tries = mem_zeroed(1, sizeof *t.tries); /* without the memory for it, nothing is written down */
    if (measures)
        TRY(look_at_rows(&wish, &rows));
    TRY(immediate_bound(&t.first, &t.immediate, &wish));
    t.b = t.first;
    plan_describe(desc, t.b, &wish);
    status = measures ? vectors_new(&t.vectors, wish.device, wish.A, wish.cache) : HEDDLE_NO_MEMORY;
    if (status == HEDDLE_NO_MEMORY) { /* then nothing is measured, and what there is will do */
        status = HEDDLE_OK;
        goto done;
    }
    TRY(status);
    TRY(bound_measure(&desc->product_ms, t.b, &t.vectors, INFINITY));
    plan_set_times(desc, desc->product_ms, desc->product_ms);
    t.rate = desc->product_ms / t.immediate.estimate.cost;
    write_down(&t, &t.immediate, NAN, desc);
    TRY(narrow_all(&t));
    TRY(try_all(&t));
    TRY(settle(&t));
done:
    if (status == HEDDLE_OK)
        bound_keep_tries(t.b, t.tries);
    else
        mem_free(t.tries);
    if (t.first != t.b)
        bound_free(t.first);
    vectors_free(&t.vectors, wish.device);
    device_notes_free(wish.device, &notes);
    device_notes_free(wish.device, &t.transpose_notes);
    if (t.ahead == &t.turned)
        bound_adopt(t.b, &t.transpose.csr, wish.A, t.turned.made_ms);
    else if (t.ahead == &t.narrow)
        bound_own_values(t.b, &t.narrowed);
    device_csr_free(wish.device, &t.transpose.csr);
    narrowed_free(&t.narrowed, wish.device);
    *b = t.b;
    return status;
}

/* Times of a kernel and of the immediate one. */
static heddle_status compare(struct bound *b, heddle_plan_desc *desc, const struct wish *wish)
{
    heddle_status status;
    struct contender immediate;
    struct bound *beside = NULL;
    struct vectors v = {0};
    struct timing timing[2];
    struct wish unlimited = *wish;
    unlimited.limit = INT64_MAX;
    TRY(vectors_new(&v, wish->device, wish->A, wish->cache));
    TRY(immediate_bound(&beside, &immediate, &unlimited));
    TRY(bound_compare(timing, (struct bound *const[]){beside, b}, &v));
    plan_set_times(desc, timing[1].ms, timing[0].ms);
done:
    bound_free(beside);
    vectors_free(&v, wish->device);
    return status;
}

/* For values that never change, with narrower ones if there are such and the kernel has their type. */
static heddle_status bind_narrow(struct bound **b, const struct wish *wish, const char *kernel)
{
    struct narrowed n;
    heddle_status status = narrowed_new(&n, wish->device, wish->A);
    if (status == HEDDLE_OK)
        status = n.val ? bound_new(b, wish->device, kernel, &n.view, wish->op) : HEDDLE_NO_KERNEL;
    if (status == HEDDLE_OK)
        bound_own_values(*b, &n);
    narrowed_free(&n, wish->device);
    return status;
}

/* A kernel by name: prepared and measured like any other, but not compared away. */
static heddle_status forced(struct bound **b, heddle_plan_desc *desc, const struct wish *wish,
                            const char *kernel)
{
    heddle_status status = wish->values_fixed ? bind_narrow(b, wish, kernel) : HEDDLE_NO_KERNEL;
    TRY(status == HEDDLE_NO_KERNEL ? bound_new(b, wish->device, kernel, wish->A, wish->op) : status);
    plan_describe(desc, *b, wish);
    if (desc->bytes > wish->limit)
        TRY(too_large(desc->kernel, desc->bytes, wish));
    if (format_at((enum format_id)format_by_name(desc->format))->valued && !wish->values_fixed)
        TRY(fail(HEDDLE_NO_KERNEL, "%s stores what values are: say that they are fixed", desc->kernel));
    if (wish->deterministic && !desc->deterministic)
        TRY(fail(HEDDLE_NO_KERNEL, "%s is not deterministic", desc->kernel));
    if (view_nnz(wish->A) > 0)
        status = compare(*b, desc, wish);
    status = status == HEDDLE_NO_MEMORY ? HEDDLE_OK : status; /* it is there; only its times are not */
done:
    return status;
}

heddle_status plan_choose(struct bound **b, heddle_plan_desc *desc, const struct device *device,
                          const struct view *A, heddle_op op, const heddle_plan_options *options)
{
    struct wish wish = {.device = device,
                        .A = A,
                        .op = op,
                        .deterministic = options->deterministic,
                        .values_fixed = options->values_fixed,
                        .cache = options->cache};
    wish.expected = options->expected_products ? options->expected_products : EXPECTED_DEFAULT;
    wish.limit = options->memory_limit > 0 ? options->memory_limit
               : options->memory_limit < 0 ? 0
                                           : INT64_MAX;
    double begin = device_clock(device);
    *b = NULL;
    memset(desc, 0, sizeof *desc);
    heddle_status status = options->kernel ? forced(b, desc, &wish, options->kernel) : choose(b, desc, &wish);
    desc->plan_ms = device_clock(device) - begin;
    if (status != HEDDLE_OK) {
        bound_free(*b);
        *b = NULL;
    }
    return status;
}
