/* SPDX-License-Identifier: MIT */
#include "report/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ------------------------------------------------------------------ colours */

/* The page has the same lists and the same rule (page/colours.js): a kernel has its colour and dashes
 * whatever else is shown. */
static const char *const palette[] = {"#b5543c", "#2f8f83", "#8a63c7", "#7d8f2e",
                                      "#c45a93", "#3f97b8", "#b08a2a", "#5d74b8"};
static const char *const dashes[] = {NULL, "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"};
#define DASHES ((int)(sizeof dashes / sizeof dashes[0]))
#define PALETTE ((int)(sizeof palette / sizeof palette[0]))
#define PLAN_COLOUR "#2f7fd6"
#define AUTO_COLOUR "#d97a1e"

const char *palette_colour(int number)
{
    static const char *const more[] = {PLAN_COLOUR, AUTO_COLOUR};
    number %= PALETTE + 2;
    return number < PALETTE ? palette[number] : more[number - PALETTE];
}

int kernel_is_peer(const char *name)
{
    static const char *const libraries[] = {"cusparse", "rocsparse", "hipsparse", "mkl",   "onemkl", "armpl",
                                            "librsb",   "rsb",       "eigen",     "scipy", "ginkgo"};
    size_t size = strcspn(name, ":_");
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strlen(libraries[i]) == size && strncmp(name, libraries[i], size) == 0)
            return 1;
    return 0;
}

/* Kernels of processors and of GPUs are counted apart: they never stand beside each other. */
static int is_cpu(const char *name)
{
    return strncmp(name, "cpu_", 4) == 0;
}

/* Returns the dashes. */
static const char *colour_of(char colour[KERNEL_COLOUR], const char *name, const char *const *all,
                             int64_t count)
{
    int64_t before = 0;
    if (strcmp(name, "plan") == 0 || strcmp(name, "auto") == 0) {
        memcpy(colour, name[0] == 'p' ? PLAN_COLOUR : AUTO_COLOUR, KERNEL_COLOUR);
        return NULL;
    }
    for (int64_t i = 0; i < count && strcmp(all[i], name) != 0; i++)
        before +=
            is_cpu(all[i]) == is_cpu(name) && strcmp(all[i], "plan") != 0 && strcmp(all[i], "auto") != 0;
    memcpy(colour, palette[before % PALETTE], KERNEL_COLOUR);
    return dashes[before / PALETTE % DASHES];
}

/* ------------------------------------------------------------------ which runs */

static int matches(const struct records *r, const struct record_run *run, const struct figure_choice *c)
{
    return run->skipped < 0 && (!c->device || strcmp(record_text(r, run->device), c->device) == 0) &&
           (!c->value || strcmp(record_text(r, run->value), c->value) == 0) &&
           (!c->op || strcmp(record_text(r, run->op), c->op) == 0) && (!c->cold || run->cold_ms > 0) &&
           r->matrix[run->matrix].nnz > 0;
}

/* The string that most of the chosen runs have in the member at `offset`; NULL when no run is chosen. */
static heddle_status most_frequent(const struct records *r, const struct figure_choice *c, size_t offset,
                                   const char **text)
{
    heddle_status status = HEDDLE_OK;
    int64_t *count = NULL, best = -1;
    *text = NULL;
    TRY(NEW_ZEROED(count, r->strings.count + 1));
    for (int64_t i = 0; i < r->runs; i++)
        if (matches(r, &r->run[i], c))
            count[*(const int64_t *)((const char *)&r->run[i] + offset)]++;
    for (int64_t i = 0; i < r->strings.count; i++)
        if (count[i] > 0 && (best < 0 || count[i] > count[best]))
            best = i;
    *text = record_text(r, best);
done:
    mem_free(count);
    return status;
}

static heddle_status choose_baseline(struct figure_choice *c, const struct records *r)
{
    static const char *const usual[] = {"auto", "csr_vector", "cpu_csr"};
    for (size_t u = 0; u < sizeof usual / sizeof usual[0]; u++)
        for (int64_t i = 0; i < r->runs; i++)
            if (matches(r, &r->run[i], c) && strcmp(record_text(r, r->run[i].kernel), usual[u]) == 0) {
                c->baseline = usual[u];
                return HEDDLE_OK;
            }
    return most_frequent(r, c, offsetof(struct record_run, kernel), &c->baseline);
}

static heddle_status none_left(const struct records *r, const struct figure_choice *c)
{
    struct text devices = {0};
    struct names seen = {0};
    for (int64_t i = 0, known; i < r->runs; i++) {
        int64_t before = seen.count;
        if (names_add(&seen, record_text(r, r->run[i].device), &known) != HEDDLE_OK)
            break;
        if (seen.count > before)
            text_add(&devices, "%s'%s'", before ? ", " : "", record_text(r, r->run[i].device));
    }
    fail(HEDDLE_BAD_ARGUMENT, "no run has device %s, type %s, op %s%s; the records hold devices %s",
         c->device ? c->device : "any", c->value ? c->value : "any", c->op ? c->op : "any",
         c->cold ? " and a cold time" : "", devices.failed || !devices.data ? "?" : devices.data);
    text_free(&devices);
    names_free(&seen);
    return HEDDLE_BAD_ARGUMENT;
}

heddle_status figure_choose(struct figure_choice *c, const struct records *r)
{
    heddle_status status = HEDDLE_OK;
    const struct figure_choice asked = *c;
    int found = 0;
    if (!c->device)
        TRY(most_frequent(r, c, offsetof(struct record_run, device), &c->device));
    if (!c->value && c->device)
        TRY(most_frequent(r, c, offsetof(struct record_run, value), &c->value));
    for (int64_t i = 0; i < r->runs && !c->op && c->value; i++) /* A x, where there is any */
        if (matches(r, &r->run[i], c) && strcmp(record_text(r, r->run[i].op), "N") == 0)
            c->op = "N";
    if (!c->op && c->value)
        TRY(most_frequent(r, c, offsetof(struct record_run, op), &c->op));
    for (int64_t i = 0; i < r->runs; i++)
        found |= matches(r, &r->run[i], c);
    if (!found || !c->op)
        return none_left(r, &asked);
    if (!c->baseline)
        TRY(choose_baseline(c, r));
    for (int64_t i = 0; i < r->runs; i++)
        if (matches(r, &r->run[i], c) && strcmp(record_text(r, r->run[i].kernel), c->baseline) == 0)
            return HEDDLE_OK;
    TRY(fail(HEDDLE_BAD_ARGUMENT, "the baseline %s has no run on %s with %s and %s", c->baseline, c->device,
             c->value, c->op));
done:
    return status;
}

/* ------------------------------------------------------------------ the table */

static const struct records *sorting; /* qsort takes no argument; reports are made by one thread */

static int by_name(const void *a, const void *b)
{
    return strcmp(record_text(sorting, *(const int64_t *)a), record_text(sorting, *(const int64_t *)b));
}

static int by_nonzeros(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int64_t m = sorting->matrix[x].nnz, n = sorting->matrix[y].nnz;
    return m != n ? (m > n) - (m < n) : (x > y) - (x < y);
}

/* Lists in `list` the numbers below `most` that are marked, sorted, and turns the marks into their places. */
static int64_t gather(int64_t *list, int64_t *mark, int64_t most, int (*order)(const void *, const void *))
{
    int64_t count = 0;
    for (int64_t i = 0; i < most; i++)
        if (mark[i])
            list[count++] = i;
    qsort(list, (size_t)count, sizeof *list, order);
    for (int64_t i = 0; i < count; i++)
        mark[list[i]] = i;
    return count;
}

static void fill(struct cases *c, const struct records *r, const struct figure_choice *choice,
                 const int64_t *row, const int64_t *column)
{
    for (int64_t i = 0; i < c->kernels * c->matrices; i++)
        c->ms[i] = NAN;
    for (int64_t m = 0; m < c->matrices; m++)
        c->best[m] = c->floor[m] = NAN;
    for (int64_t i = 0; i < r->runs; i++) {
        const struct record_run *run = &r->run[i];
        if (!matches(r, run, choice))
            continue;
        int64_t m = column[run->matrix];
        double ms = choice->cold ? run->cold_ms : run->warm_ms;
        c->ms[row[run->kernel] * c->matrices + m] = ms;
        c->best[m] = fmin(isnan(c->best[m]) ? ms : c->best[m], ms);
        c->floor[m] = fmin(isnan(c->floor[m]) ? run->floor_ms : c->floor[m], run->floor_ms);
    }
}

/* Colours count all kernels of the records, as the page does. */
static heddle_status colour_all(struct cases *c, const struct records *r)
{
    heddle_status status = HEDDLE_OK;
    int64_t *mark = NULL, *list = NULL;
    const char **name = NULL;
    TRY(NEW_ZEROED(mark, r->strings.count + 1));
    TRY(NEW(list, r->strings.count + 1));
    TRY(NEW(name, r->strings.count + 1));
    for (int64_t i = 0; i < r->runs; i++)
        if (r->run[i].skipped < 0)
            mark[r->run[i].kernel] = 1;
    int64_t all = gather(list, mark, r->strings.count, by_name);
    for (int64_t k = 0; k < all; k++)
        name[k] = record_text(r, list[k]);
    for (int64_t k = 0; k < c->kernels; k++) {
        c->dash[k] = colour_of(c->colour[k], record_text(r, c->kernel[k]), name, all);
        c->peer[k] = kernel_is_peer(record_text(r, c->kernel[k]));
    }
done:
    mem_free(mark);
    mem_free(list);
    mem_free(name);
    return status;
}

heddle_status cases_new(struct cases *c, const struct records *r, const struct figure_choice *choice)
{
    heddle_status status = HEDDLE_OK;
    int64_t *row = NULL, *column = NULL;
    *c = (struct cases){.baseline = -1};
    sorting = r;
    TRY(NEW_ZEROED(row, r->strings.count + 1));
    TRY(NEW_ZEROED(column, r->matrices + 1));
    TRY(NEW(c->kernel, r->strings.count + 1));
    TRY(NEW(c->matrix, r->matrices + 1));
    for (int64_t i = 0; i < r->runs; i++)
        if (matches(r, &r->run[i], choice))
            row[r->run[i].kernel] = column[r->run[i].matrix] = 1;
    c->kernels = gather(c->kernel, row, r->strings.count, by_name);
    c->matrices = gather(c->matrix, column, r->matrices, by_nonzeros);
    TRY(NEW(c->ms, c->kernels * c->matrices));
    TRY(NEW(c->best, c->matrices));
    TRY(NEW(c->floor, c->matrices));
    TRY(NEW(c->colour, c->kernels));
    TRY(NEW(c->dash, c->kernels));
    TRY(NEW(c->peer, c->kernels));
    fill(c, r, choice, row, column);
    TRY(colour_all(c, r));
    for (int64_t k = 0; k < c->kernels; k++)
        if (strcmp(record_text(r, c->kernel[k]), choice->baseline) == 0)
            c->baseline = k;
done:
    mem_free(row);
    mem_free(column);
    if (status != HEDDLE_OK)
        cases_free(c);
    return status;
}

void cases_free(struct cases *c)
{
    mem_free(c->kernel);
    mem_free(c->matrix);
    mem_free(c->ms);
    mem_free(c->best);
    mem_free(c->floor);
    mem_free(c->colour);
    mem_free(c->dash);
    mem_free(c->peer);
    *c = (struct cases){0};
}
