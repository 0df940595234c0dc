/* SPDX-License-Identifier: MIT */
#include "reproduce/experiments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the tables */

/* How experiments are drawn; the names stand in experiments.def. */
static const struct drawn_as
    look_gflops = {.kind = &grid_rows},
    look_gflops3 = {.kind = &grid_rows, .shown = SHOW_GFLOPS3, .cold = 1},
    look_ms = {.kind = &grid_rows, .shown = SHOW_MS, .cold = 1}, look_table1 = {.statistics = 1},
    look_weighted = {.kind = &grid_bars, .reduced = WEIGHTED},
    look_speedups = {.kind = &grid_rows, .shown = SHOW_RATIO}, look_sizes = {.shown = SHOW_MS, .by_size = 1},
    look_trend = {.kind = &grid_trend},
    look_correlation = {.kind = &grid_bars, .shown = SHOW_MS, .reduced = CORRELATED},
    look_sweep = {.kind = &grid_lines, .over = OVER_SIGMA},
    look_launches = {.kind = &grid_stack, .shown = SHOW_LAUNCHES, .cold = 1},
    look_bytes = {.kind = &grid_rows, .shown = SHOW_BYTES}, look_points = {.kind = &grid_points},
    look_ratio = {.kind = &grid_points, .shown = SHOW_RATIO},
    look_ratio_densest = {.kind = &grid_points, .shown = SHOW_RATIO, .over = OVER_DENSEST},
    look_profile = {.kind = &grid_profile, .shown = SHOW_MS},
    look_profile_nvidia = {.kind = &grid_profile, .shown = SHOW_MS, .driver = "cuda"},
    look_profile_amd = {.kind = &grid_profile, .shown = SHOW_MS, .driver = "hip"},
    look_devices = {.kind = &grid_points, .shown = SHOW_DEVICES};

const struct experiment experiments[] = {
#define EXPERIMENT(name, paper, where, what, group, list, types, look, comment)                              \
    {name, paper, where, what, group, #list, types, &look, comment},
#include "reproduce/experiments.def"
    {0}};

static const struct series all_series[] = {
#define SERIES(list, label, gpu, cpu, op, how, versus) {#list, label, gpu, cpu, op, how, versus},
#include "reproduce/experiments.def"
    {0}};

static const struct {
    const char *experiment;
    int series;
    const char *type;
    enum size_class size;
    enum statistic what;
    double number;
} claims[] = {
#define CLAIM(experiment, series, type, size, statistic, number)                                             \
    {experiment, series, type, size, statistic, number},
#include "reproduce/experiments.def"
};

static const struct {
    const char *experiment;
    int series;
    const char *type, *numbers;
} published[] = {
#define PUBLISHED(experiment, series, type, numbers) {experiment, series, type, numbers},
#include "reproduce/experiments.def"
};

static const struct {
    enum experiment_group group;
    const char *text;
    double each;
    int64_t n;
} matrices[] = {
#define MATRIX(group, text, each, n) {group, text, each, n},
#include "reproduce/matrices.def"
};

static const struct {
    const char *text;
    double each;
} trends[] = {
#define TREND(text, each) {text, each},
#include "reproduce/matrices.def"
};

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int experiment_count(void)
{
    return COUNT(experiments) - 1;
}

heddle_status experiment_by_name(const char *name, int *number)
{
    const char *names[COUNT(experiments)];
    for (*number = 0; experiments[*number].name; ++*number) {
        names[*number] = experiments[*number].name;
        if (strcmp(names[*number], name) == 0)
            return HEDDLE_OK;
    }
    const char *near = nearest(name, names, *number);
    return near ? fail(HEDDLE_BAD_ARGUMENT, "there is no experiment '%s'; did you mean '%s'?", name, near)
                : fail(HEDDLE_BAD_ARGUMENT,
                       "there is no experiment '%s' (heddle reproduce --list names them)", name);
}

const struct series *experiment_series(const struct experiment *e, int *count)
{
    int first = 0;
    while (strcmp(all_series[first].list, e->list) != 0)
        first++;
    for (*count = 1;
         all_series[first + *count].list && strcmp(all_series[first + *count].list, e->list) == 0;)
        ++*count;
    return &all_series[first];
}

int experiment_has_type(const struct experiment *e, heddle_type type)
{
    return strstr(e->types, type == HEDDLE_F32 ? "f32" : "f64") != NULL;
}

double experiment_claim(const struct experiment *e, int series, const char *type, enum size_class size,
                        enum statistic what)
{
    for (int i = 0; i < COUNT(claims); i++)
        if (strcmp(claims[i].experiment, e->name) == 0 && claims[i].series == series &&
            claims[i].size == size && claims[i].what == what &&
            (!claims[i].type || strcmp(claims[i].type, type) == 0))
            return claims[i].number;
    return NAN;
}

/* ------------------------------------------------------------------ matrices */

/* "gen:gauss:n={n},sigma={n/100}" for a size. */
static void expand(char *out, size_t size, const char *text, int64_t n)
{
    size_t at = 0;
    while (*text && at + 24 < size) {
        long long by = 1;
        int length = 0;
        if (strncmp(text, "{n}", 3) == 0)
            length = 3;
        else if (*text == '{')
            sscanf(text, "{n/%lld}%n", &by, &length);
        if (length > 0)
            at += (size_t)snprintf(out + at, size - at, "%lld", (long long)(n / by > 1 ? n / by : 1));
        else
            out[at++] = *text;
        text += length > 0 ? length : 1;
    }
    out[at] = 0;
}

#define LEAST_ROWS 160 /* more than any family puts into a row */

static heddle_status add_generated(struct subject_list *list, const char *text, int64_t n)
{
    char spec[256];
    expand(spec, sizeof spec, text, n > LEAST_ROWS ? n : LEAST_ROWS);
    return subjects_add(list, spec);
}

#define TRANSPOSE "transpose:"

/* The members of a set, or one, that stand in for a matrix of `paper` (NULL: any) and are small enough. */
static heddle_status add_members(struct subject_list *list, const char *text, const char *paper, int64_t most)
{
    heddle_status status = HEDDLE_OK;
    struct subject_list all = {0};
    char origin[128];
    const char *way = strncmp(text, TRANSPOSE, strlen(TRANSPOSE)) == 0 ? TRANSPOSE : "";
    TRY(subjects_add(&all, text + strlen(way)));
    for (int64_t i = 0; i < all.count; i++) {
        const struct set_member *m = all.item[i].member;
        const char *where = m->published.where;
        if ((paper && (!where || strncmp(where, paper, strlen(paper)) != 0)) ||
            (most > 0 && m->published.nnz > most))
            continue;
        snprintf(origin, sizeof origin, "%s%s", way, all.item[i].origin);
        TRY(subjects_add(list, origin));
    }
done:
    subjects_free(&all);
    return status;
}

static heddle_status add_row(struct subject_list *list, int row, int64_t most)
{
    const char *text = matrices[row].text, *at = strchr(text, '@');
    char set[64];
    int64_t n = matrices[row].n,
            fits = matrices[row].each > 0 ? (int64_t)((double)most / matrices[row].each) : 0;
    if (strncmp(text, "gen:", 4) == 0)
        return add_generated(list, text, most > 0 && fits < n ? fits : n);
    snprintf(set, sizeof set, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    return add_members(list, set, at ? at + 1 : NULL, most);
}

static heddle_status add_trends(struct subject_list *list, int64_t most)
{
    static const int64_t nonzeros[] = {12000, 40000, 120000, 400000, 1200000, 4000000, 12000000};
    heddle_status status = HEDDLE_OK;
    for (int t = 0; t < COUNT(trends); t++)
        for (int i = 0; i < COUNT(nonzeros); i++)
            if (most == 0 || nonzeros[i] <= most)
                TRY(add_generated(list, trends[t].text, (int64_t)((double)nonzeros[i] / trends[t].each)));
done:
    return status;
}

#define FEW 3

/* In place of matrices that are all too large: the families of the trend, just small enough, or a few of
 * them where it can only be to see it run. */
static heddle_status add_small(struct subject_list *list, int64_t most)
{
    heddle_status status = HEDDLE_OK;
    for (int t = 0; t < (most < 1000 ? FEW : COUNT(trends)); t++)
        TRY(add_generated(list, trends[t].text, (int64_t)((double)most / trends[t].each)));
done:
    return status;
}

heddle_status group_subjects(struct subject_list *list, enum experiment_group group, int64_t most,
                             int *instead)
{
    heddle_status status = HEDDLE_OK;
    for (int row = 0; row < COUNT(matrices); row++)
        if (matrices[row].group == group)
            TRY(add_row(list, row, most));
    if (group == ALL)
        TRY(add_trends(list, most));
    *instead = most > 0 && list->count < FEW;
    if (*instead)
        TRY(add_small(list, most));
done:
    return status;
}

/* Where a matrix stands in its group, -1 when it does not. */
static int64_t place_of(enum experiment_group group, const char *origin)
{
    struct subject_list list = {0};
    int instead;
    int64_t place = -1;
    if (group_subjects(&list, group, 0, &instead) == HEDDLE_OK)
        for (place = list.count - 1; place >= 0 && strcmp(list.item[place].origin, origin) != 0;)
            place--;
    subjects_free(&list);
    return place;
}

double experiment_published(const struct experiment *e, int series, const char *type, const char *origin)
{
    for (int i = 0; i < COUNT(published); i++) {
        if (strcmp(published[i].experiment, e->name) != 0 || published[i].series != series ||
            (published[i].type && strcmp(published[i].type, type) != 0))
            continue;
        int64_t place = place_of(e->group, origin);
        const char *at = place < 0 ? NULL : published[i].numbers;
        for (; place > 0 && at; place--)
            at = strchr(at + 1, ' ');
        return at ? strtod(at, NULL) : NAN;
    }
    return NAN;
}
