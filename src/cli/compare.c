/* SPDX-License-Identifier: MIT
 *
 * compare: two files of records, run by run.  A change counts when it is larger than both measurements
 * scatter, and the shortest times moved as well: what disturbs a measurement makes times longer, hardly
 * ever all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/past.h"
#include "bench/record.h"
#include "cli/cli.h"

#define REPETITIONS_LEAST 3 /* below, a spread says nothing, and neither does a change */
/* Smaller ones are never named: clocks and neighbours change by that much from day to day. */
#define LEAST_CHANGE 0.02

struct choices {
    int all;
    const char *json;
    double least;
    const char *fail;
};

#define AT(member) offsetof(struct choices, member)
static const struct cli_option options[] = {
    {"all", 0, OPTION_FLAG, AT(all), NULL, "name every run that is in both, not only what changed"},
    {"least", 0, OPTION_REAL, AT(least), "PERCENT", "name no change that is smaller (2)"},
    {"fail", 0, OPTION_TEXT, AT(fail), "PERCENT",
     "exit status 1 if a change that counts is slower by more than this"},
    {"json", 0, OPTION_JSON, AT(json), "FILE", JSON_WHAT},
    {0}};

static const struct column columns[] = {
    {"matrix", 0, 0}, {"type", 0, 0},   {"op", 0, 0},     {"kernel", 0, 0}, {"time", 0, 0},
    {"old ms", 1, 9}, {"new ms", 1, 9}, {"change", 1, 8}, {"spread", 1, 0}, {0}};

/* The same product in both files, cold or warm. */
struct change {
    const struct past_run *was, *is;
    const char *kind;             /* "cold", "warm" */
    double old_ms, new_ms, ratio; /* ratio: new / old, above 1 is slower */
    double least_ratio;           /* of the shortest times */
    double scatter;               /* of both, as a share of the old time */
    int few;                      /* too few repetitions to tell */
    int counts;
};

struct comparing {
    struct past old, new;
    struct change *change;
    int64_t count, slower, faster, few, only_old, only_new, wrong, failed;
    double logs; /* of the ratios of all */
};

static double shortest(const struct timing *t)
{
    return t->least_ms > 0 ? t->least_ms : t->median_ms; /* old records have no least */
}

/* Beyond the scatter of both, and with the shortest times moved the same way? */
static int beyond(const struct change *x, double least)
{
    double moved = fabs(x->ratio - 1);
    return !x->few && moved > x->scatter && moved > least && fabs(x->least_ratio - 1) > least &&
           (x->ratio > 1) == (x->least_ratio > 1);
}

static void add(struct comparing *c, const struct past_run *was, const struct past_run *is, int cold,
                double least)
{
    const struct timing *a = cold ? &was->cold : &was->warm, *b = cold ? &is->cold : &is->warm;
    if (a->repetitions == 0 || b->repetitions == 0)
        return;
    struct change *x = &c->change[c->count++];
    *x = (struct change){.was = was,
                         .is = is,
                         .kind = cold ? "cold" : "warm",
                         .old_ms = a->median_ms,
                         .new_ms = b->median_ms,
                         .ratio = b->median_ms / a->median_ms,
                         .least_ratio = shortest(b) / shortest(a)};
    x->scatter = (a->spread * a->median_ms + b->spread * b->median_ms) / a->median_ms;
    x->few = a->repetitions < REPETITIONS_LEAST || b->repetitions < REPETITIONS_LEAST;
    x->counts = beyond(x, least);
    c->few += x->few;
    c->slower += x->counts && x->ratio > 1;
    c->faster += x->counts && x->ratio < 1;
    c->logs += log(x->ratio);
}

/* The largest changes first, slower before faster. */
static int by_change(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->counts != y->counts)
        return y->counts - x->counts;
    return (x->ratio < y->ratio) - (x->ratio > y->ratio);
}

/* The last measurement of its kind in the file? */
static int is_last(const struct past *p, int64_t i)
{
    return i + 1 == p->count || past_order(&p->run[i], &p->run[i + 1]) != 0;
}

static heddle_status match(struct comparing *c, double least)
{
    heddle_status status = HEDDLE_OK;
    TRY(NEW(c->change, 2 * c->new.count + 1));
    for (int64_t i = 0; i < c->new.count; i++) {
        const struct past_run *is = &c->new.run[i], *was = past_find(&c->old, is);
        if (!is_last(&c->new, i) || is->skipped)
            continue;
        c->wrong += !is->verified;
        c->only_new += !was || !was->verified;
        if (was && was->verified && is->verified) {
            add(c, was, is, 1, least);
            add(c, was, is, 0, least);
        }
    }
    for (int64_t i = 0; i < c->old.count; i++)
        c->only_old += is_last(&c->old, i) && c->old.run[i].verified && !past_find(&c->new, &c->old.run[i]);
    if (c->count > 0)
        qsort(c->change, (size_t)c->count, sizeof *c->change, by_change);
done:
    return status;
}

static heddle_status put_json(struct session *s, const struct change *x)
{
    struct json j = {0};
    json_object(&j, NULL);
    json_string(&j, "matrix", x->is->matrix);
    json_string(&j, "origin", x->is->origin);
    json_string(&j, "value", type_name(x->is->value));
    json_string(&j, "op", op_name(x->is->op));
    json_int(&j, "vectors", vectors_count(x->is->vectors));
    if (vectors_count(x->is->vectors) > 1)
        json_string(&j, "layout", layout_name(x->is->vectors.layout));
    json_string(&j, "kernel", x->is->kernel);
    json_string(&j, "time", x->kind);
    json_real(&j, "old_ms", x->old_ms);
    json_real(&j, "new_ms", x->new_ms);
    json_real(&j, "ratio", x->ratio);
    json_real(&j, "least_ratio", x->least_ratio);
    json_real(&j, "scatter", x->scatter);
    json_bool(&j, "significant", x->counts);
    json_end_object(&j);
    return out_json(s, &j);
}

static void put_row(struct table *t, const struct change *x)
{
    char product[PRODUCT_NAME];
    table_add(t, "%s\t%s\t%s\t%s\t%s\t%.4f\t%.4f\t%s%+.1f %%\t%.1f %%", x->is->matrix,
              type_name(x->is->value), product_name(product, x->is->op, x->is->vectors), x->is->kernel,
              x->kind, x->old_ms, x->new_ms,
              !x->counts     ? DIM
              : x->ratio > 1 ? RED
                             : GREEN,
              100 * (x->ratio - 1), 100 * x->scatter);
}

static heddle_status told(struct session *s, struct comparing *c, const struct choices *choices)
{
    heddle_status status = HEDDLE_OK;
    struct table table = {0};
    int64_t rows = 0;
    table_begin(&table, columns);
    for (int64_t i = 0; i < c->count; i++) {
        if (!choices->all && !c->change[i].counts)
            continue;
        rows++;
        if (choices->json)
            TRY(put_json(s, &c->change[i]));
        else
            put_row(&table, &c->change[i]);
    }
    if (choices->json)
        goto done;
    if (rows > 0 && !s->quiet)
        table_end(&table, s);
    out(s,
        "%s%lld time%s in both: %lld slower, %lld faster, the others within their scatter; "
        "new over old %.3f (geometric "
        "mean)\n",
        rows > 0 && !s->quiet ? "\n" : "", (long long)c->count, c->count == 1 ? "" : "s",
        (long long)c->slower, (long long)c->faster, c->count ? exp(c->logs / (double)c->count) : 1.0);
    if (c->few)
        out(s,
            "%lld of them have fewer than %d repetitions, from which nothing follows (bench --time-limit)\n",
            (long long)c->few, REPETITIONS_LEAST);
    if (c->failed)
        out(s, "failed: %lld %s slower by more than %s %%\n", (long long)c->failed,
            c->failed == 1 ? "time is" : "times are", choices->fail);
    if (c->only_old || c->only_new)
        out(s, "%lld runs are in the old file alone, %lld in the new one\n", (long long)c->only_old,
            (long long)c->only_new);
    if (c->wrong)
        out(s, "%lld results of the new file are wrong\n", (long long)c->wrong);
done:
    table_free(&table);
    return status;
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *choices = into;
    struct comparing c = {0};
    double allowed = INFINITY;
    if (choices->least < 0)
        return fail(HEDDLE_BAD_ARGUMENT, "--least takes a number above 0");
    if (choices->fail && (parse_real(choices->fail, &allowed) != HEDDLE_OK || allowed < 0))
        return fail(HEDDLE_BAD_ARGUMENT, "--fail %s: it takes a number of percent, as in --fail 10",
                    choices->fail);
    TRY(past_read(&c.old, s->operand[0]));
    TRY(past_read(&c.new, s->operand[1]));
    for (int i = 0; i < 2; i++)
        if ((i ? &c.new : &c.old)->count == 0)
            TRY(fail(HEDDLE_BAD_FILE, "%s: there are no runs in it (heddle bench --json writes them)",
                     s->operand[i]));
    TRY(match(&c, choices->least > 0 ? choices->least / 100 : LEAST_CHANGE));
    if (c.count == 0)
        TRY(fail(HEDDLE_BAD_FILE,
                 "%s and %s have no run in common: matrix, kernel, type, operation, number of "
                 "vectors and device must agree",
                 s->operand[0], s->operand[1]));
    for (int64_t i = 0; i < c.count; i++)
        c.failed += c.change[i].counts && 100 * (c.change[i].ratio - 1) > allowed;
    TRY(told(s, &c, choices));
    s->wrong = c.wrong > 0 || c.failed > 0;
done:
    mem_free(c.change);
    past_free(&c.old);
    past_free(&c.new);
    return status;
}

const struct page page_compare = {
    .usage = "OLD NEW [--all] [--least PERCENT] [--fail PERCENT] [--json [FILE]]",
    .details =
        "Compares two files of records that heddle bench --json wrote, cold and warm, and names what\n"
        "changed: the median by more than both measurements scatter (their quartile distances) and by\n"
        "more than 2 %, and the shortest time as well, which a busy machine seldom changes.  Fewer than 3\n"
        "repetitions are never enough.  The largest losses come first.  The exit status is 1 when a result\n"
        "of the new file is wrong, or with --fail when a time that counts is slower by more than so many\n"
        "percent.  Files may be packed by gzip or xz.\n"
        "\n"
        "Examples:\n"
        "  heddle compare before.jsonl after.jsonl\n"
        "  heddle compare before.jsonl after.jsonl --fail 10        # for continuous integration\n"
        "  heddle compare before.jsonl after.jsonl --least 5 --json\n",
    .option = options,
    .least = 2,
    .most = 2,
    .size = sizeof(struct choices),
    .run = run};
