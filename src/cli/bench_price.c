/* SPDX-License-Identifier: MIT
 *
 * What determinism costs, at the end of a bench that has a choice of Heddle's both without and with it: a
 * line for each matrix, type and operation, and the geometric means. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/benching.h"
#include "subject/choice.h"

static struct price *find(struct benching *k, const struct run *r, const char *choice)
{
    for (int64_t i = k->prices - 1; i >= 0; i--) {
        struct price *p = &k->price[i];
        if (p->subject == r->subject && p->value == r->value && p->op == r->op &&
            vectors_order(p->vectors, r->vectors) == 0 && strcmp(p->choice, choice) == 0)
            return p;
    }
    return NULL;
}

heddle_status benching_price(struct benching *k, const struct run *r, double ms)
{
    const char *choice = choice_is(r->kernel, "auto") ? "auto" : choice_is(r->kernel, "plan") ? "plan" : NULL;
    struct price *p = choice ? find(k, r, choice) : NULL;
    if (!choice)
        return HEDDLE_OK;
    if (!p && k->prices == k->price_capacity) {
        int64_t capacity = 2 * k->price_capacity + 32;
        struct price *more = mem_resize(k->price, k->prices, capacity, sizeof *more);
        if (!more)
            return HEDDLE_NO_MEMORY;
        k->price = more;
        k->price_capacity = capacity;
    }
    if (!p) {
        p = &k->price[k->prices++];
        *p = (struct price){
            .subject = r->subject, .choice = choice, .value = r->value, .op = r->op, .vectors = r->vectors};
    }
    int deterministic = choice_is_deterministic(r->kernel);
    p->ms[deterministic] = ms;
    snprintf(p->ran[deterministic], sizeof p->ran[0], "%s", r->made ? r->made->ran : "");
    return HEDDLE_OK;
}

static const struct column columns[] = {{"matrix", 0, 0}, {"type", 0, 0},          {"op", 0, 0},
                                        {"kernel", 0, 0}, {"deterministic", 0, 0}, {"ms", 1, 9},
                                        {"then", 1, 9},   {"price", 1, 0},         {0}};

static int has_both(const struct price *p)
{
    return p->ms[0] > 0 && p->ms[1] > 0;
}

/* "f64 T of auto: 2.10 times" */
static void mean_told(struct benching *k, const char *choice, heddle_type value, heddle_op op,
                      struct vector_group vectors)
{
    char product[PRODUCT_NAME];
    double logs = 0;
    int count = 0;
    for (int64_t i = 0; i < k->prices; i++) {
        const struct price *p = &k->price[i];
        if (has_both(p) && p->value == value && p->op == op && vectors_order(p->vectors, vectors) == 0 &&
            strcmp(p->choice, choice) == 0) {
            logs += log(p->ms[1] / p->ms[0]);
            count++;
        }
    }
    if (count)
        out(k->s, "%s %s %s: %.3f times the time, geometric mean of %d\n", choice, type_name(value),
            product_name(product, op, vectors), exp(logs / count), count);
}

void benching_prices_told(struct benching *k)
{
    static const char *const choices[] = {"auto", "plan"};
    struct table table;
    char product[PRODUCT_NAME];
    int any = 0;
    for (int64_t i = 0; i < k->prices; i++)
        any |= has_both(&k->price[i]);
    if (!any)
        return;
    out(k->s,
        "\nWhat determinism costs, %s: the usual kernel, the deterministic one, and how many times longer "
        "it takes\n\n",
        k->bench.cold.most > 0 ? "cold" : "warm");
    table_begin(&table, columns);
    for (int64_t i = 0; i < k->prices; i++) {
        const struct price *p = &k->price[i];
        if (has_both(p))
            table_add(&table, "%s\t%s\t%s\t%s: %s\t%s\t%.4f\t%.4f\t%.2f", p->subject->name,
                      type_name(p->value), product_name(product, p->op, p->vectors), p->choice, p->ran[0],
                      p->ran[1], p->ms[0], p->ms[1], p->ms[1] / p->ms[0]);
    }
    table_end(&table, k->s);
    out(k->s, "\n");
    for (int choice = 0; choice < 2; choice++)
        for (int type = 0; type < TYPES_MOST; type++)
            for (heddle_op op = HEDDLE_N; op <= HEDDLE_H; op++)
                for (int v = 0; v < bench_vectors(&k->bench); v++)
                    mean_told(k, choices[choice], types_known[type], op, k->bench.vectors[v]);
}
