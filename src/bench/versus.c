/* SPDX-License-Identifier: MIT */
#include "bench/versus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "subject/describe.h"

heddle_status versus_add(struct versus *v, const struct subject *subject, const char *kernel,
                         heddle_type value, heddle_op op, struct vector_group vectors, double ms)
{
    if (v->count == v->capacity) {
        int64_t capacity = v->capacity ? 2 * v->capacity : 64;
        struct versus_time *item = mem_resize(v->item, v->count, capacity, sizeof *item);
        if (!item)
            return HEDDLE_NO_MEMORY;
        v->item = item;
        v->capacity = capacity;
    }
    struct versus_time *t = &v->item[v->count];
    *t = (struct versus_time){.value = value,
                              .op = op,
                              .vectors = vectors,
                              .ms = ms,
                              .peer = peer_is_name(kernel),
                              .order = v->count};
    size_t name = strlen(subject->name) + 1, origin = strlen(subject->origin) + 1;
    if (!(t->matrix = mem_alloc((int64_t)(name + origin), 1)))
        return HEDDLE_NO_MEMORY;
    memcpy(t->matrix, subject->name, name);
    memcpy(t->matrix + name, subject->origin, origin);
    t->origin = t->matrix + name;
    snprintf(t->kernel, sizeof t->kernel, "%s", kernel);
    v->count++;
    return HEDDLE_OK;
}

void versus_free(struct versus *v)
{
    for (int64_t i = 0; i < v->count; i++)
        mem_free(v->item[i].matrix);
    mem_free(v->item);
    *v = (struct versus){0};
}

static int same_row(const struct versus_time *a, const struct versus_time *b)
{
    return a->value == b->value && a->op == b->op && vectors_order(a->vectors, b->vectors) == 0;
}

static int same_case(const struct versus_time *a, const struct versus_time *b)
{
    return same_row(a, b) && strcmp(a->origin, b->origin) == 0;
}

/* By type, operation, vectors and matrix, so that what is compared stands together. */
static int by_place(const void *a, const void *b)
{
    const struct versus_time *x = a, *y = b;
    int origins = strcmp(x->origin, y->origin);
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (vectors_order(x->vectors, y->vectors) != 0)
        return vectors_order(x->vectors, y->vectors);
    return origins ? origins : x->order < y->order ? -1 : 1;
}

/* The fastest at the place of item `i`, of the peers or of Heddle's; NULL if there is none. */
static const struct versus_time *fastest(const struct versus *v, int64_t i, int peer)
{
    const struct versus_time *best = NULL;
    int64_t k = i;
    while (k > 0 && same_case(&v->item[k - 1], &v->item[i]))
        k--;
    for (; k < v->count && same_case(&v->item[k], &v->item[i]); k++)
        if (v->item[k].peer == peer && (!best || v->item[k].ms < best->ms))
            best = &v->item[k];
    return best;
}

/* The best peer of item `i`.  Where none has f32 values with f64 vectors, what its users have: f64. */
static const struct versus_time *rival(const struct versus *v, int64_t i)
{
    const struct versus_time *t = &v->item[i], *best = fastest(v, i, 1);
    for (int64_t k = 0; k < v->count && !best && t->value == F32_F64; k++)
        if (v->item[k].value == HEDDLE_F64 && v->item[k].op == t->op &&
            vectors_order(v->item[k].vectors, t->vectors) == 0 && strcmp(v->item[k].origin, t->origin) == 0)
            return fastest(v, k, 1);
    return best;
}

/* Is item i one of the row's, and for VERSUS_BEST the one that stands for its matrix? */
static int in_row(const struct versus *v, int64_t i, const struct versus_row *row)
{
    const struct versus_time *t = &v->item[i];
    if (t->peer || t->value != row->value || t->op != row->op || vectors_order(t->vectors, row->vectors) != 0)
        return 0;
    return strcmp(row->kernel, VERSUS_BEST) == 0 ? fastest(v, i, 0) == t
                                                 : strcmp(row->kernel, t->kernel) == 0;
}

static int worst_first(const void *a, const void *b)
{
    double x = ((const struct versus_ratio *)a)->ratio, y = ((const struct versus_ratio *)b)->ratio;
    return (x > y) - (x < y);
}

heddle_status versus_matrices(const struct versus *v, const struct versus_row *row,
                              struct versus_ratio **list, int64_t *count)
{
    *count = 0;
    if (!(*list = mem_alloc(v->count, sizeof **list)))
        return HEDDLE_NO_MEMORY;
    for (int64_t i = 0; i < v->count; i++) {
        const struct versus_time *peer = in_row(v, i, row) ? rival(v, i) : NULL;
        if (peer && v->item[i].ms > 0)
            (*list)[(*count)++] =
                (struct versus_ratio){v->item[i].matrix, peer->kernel, peer->ms / v->item[i].ms};
    }
    qsort(*list, (size_t)*count, sizeof **list, worst_first);
    return HEDDLE_OK;
}

static heddle_status sum_up(const struct versus *v, struct versus_row *row)
{
    heddle_status status = HEDDLE_OK;
    struct versus_ratio *list = NULL;
    int64_t count = 0;
    double logs = 0;
    TRY(versus_matrices(v, row, &list, &count));
    for (int64_t i = 0; i < count; i++) {
        logs += log(list[i].ratio);
        row->below += list[i].ratio < VERSUS_LEVEL;
    }
    row->matrices = (int)count;
    if (count > 0) {
        row->mean = exp(logs / (double)count);
        row->least = list[0].ratio;
        row->most = list[count - 1].ratio;
    }
done:
    mem_free(list);
    return status;
}

/* The row of a kernel, added if it is new. */
static struct versus_row *row_of(struct versus_row *rows, int64_t begin, int64_t *count,
                                 const struct versus_time *t)
{
    for (int64_t i = begin; i < *count; i++)
        if (strcmp(rows[i].kernel, t->kernel) == 0)
            return &rows[i];
    struct versus_row *row = &rows[(*count)++];
    *row = (struct versus_row){.value = t->value, .op = t->op, .vectors = t->vectors, .first = t->order};
    snprintf(row->kernel, sizeof row->kernel, "%s", t->kernel);
    return row;
}

static int by_first(const void *a, const void *b)
{
    int64_t x = ((const struct versus_row *)a)->first, y = ((const struct versus_row *)b)->first;
    return (x > y) - (x < y);
}

/* The rows of one type, operation and number of vectors: those of item `of`. */
static heddle_status add_rows(const struct versus *v, struct versus_row *rows, int64_t *count,
                              const struct versus_time *of)
{
    heddle_status status = HEDDLE_OK;
    int64_t begin = *count, end = *count, kept = *count;
    for (int64_t i = 0; i < v->count; i++)
        if (!v->item[i].peer && same_row(&v->item[i], of)) {
            struct versus_row *row = row_of(rows, begin, &end, &v->item[i]);
            row->first = v->item[i].order < row->first ? v->item[i].order : row->first;
        }
    qsort(rows + begin, (size_t)(end - begin), sizeof *rows, by_first);
    if (end - begin > 1) { /* the best of one is that one */
        rows[end] = (struct versus_row){.value = of->value, .op = of->op, .vectors = of->vectors};
        snprintf(rows[end++].kernel, CANDIDATE_NAME, "%s", VERSUS_BEST);
    }
    for (int64_t i = begin; i < end; i++) {
        TRY(sum_up(v, &rows[i]));
        if (rows[i].matrices > 0)
            rows[kept++] = rows[i];
    }
    *count = kept;
done:
    return status;
}

heddle_status versus_rows(struct versus *v, struct versus_row **rows, int64_t *count)
{
    heddle_status status = HEDDLE_OK;
    *count = 0;
    if (!(*rows = mem_alloc(2 * v->count, sizeof **rows)))
        return HEDDLE_NO_MEMORY;
    if (v->count > 0)
        qsort(v->item, (size_t)v->count, sizeof *v->item, by_place);
    for (int type = 0; type < TYPES_MOST; type++)
        for (int64_t i = 0; i < v->count; i++)
            if (v->item[i].value == types_known[type] && (i == 0 || !same_row(&v->item[i - 1], &v->item[i])))
                TRY(add_rows(v, *rows, count, &v->item[i]));
done:
    if (status != HEDDLE_OK) {
        mem_free(*rows);
        *rows = NULL;
    }
    return status;
}
