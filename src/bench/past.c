/* SPDX-License-Identifier: MIT */
#include "bench/past.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "io/packed.h"
#include "subject/describe.h"

int past_order(const struct past_run *a, const struct past_run *b)
{
    int order = strcmp(a->device, b->device);
    if (!order)
        order = strcmp(a->isa, b->isa);
    if (!order)
        order = (a->threads > b->threads) - (a->threads < b->threads);
    if (!order)
        order = strcmp(a->origin, b->origin);
    if (!order)
        order = (a->value > b->value) - (a->value < b->value);
    if (!order)
        order = (a->op > b->op) - (a->op < b->op);
    if (!order)
        order = vectors_order(a->vectors, b->vectors);
    return order ? order : strcmp(a->kernel, b->kernel);
}

static int by_order(const void *a, const void *b)
{
    const struct past_run *x = a, *y = b;
    int order = past_order(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void past_free(struct past *p)
{
    for (int64_t i = 0; i < p->count; i++)
        mem_free(p->run[i].text);
    for (int64_t i = 0; i < p->matrices; i++)
        mem_free(p->matrix[i]);
    mem_free(p->run);
    mem_free(p->matrix);
    *p = (struct past){0};
}

/* ------------------------------------------------------------------ one line */

/* A member of the record at hand. */
struct past_line {
    struct json_tree tree;
    char *text; /* owned until a run takes it */
};

static const char *text_of(const struct past_line *l, const char *key)
{
    const char *text = json_member_text(&l->tree, l->tree.value, key);
    return text ? text : "";
}

static double number_of(const struct past_line *l, const char *key)
{
    return json_member_number(&l->tree, l->tree.value, key, NAN);
}

static int is_true(const struct past_line *l, const char *key)
{
    const struct json_value *v = json_member(&l->tree, l->tree.value, key);
    return v && v->kind == JSON_TRUE;
}

static struct timing timing_of(const struct past_line *l, const char *ms, const char *least,
                               const char *spread, const char *count)
{
    struct timing t = {number_of(l, ms), number_of(l, least), number_of(l, spread), 0, 0};
    double repetitions = number_of(l, count);
    if (t.median_ms > 0 && repetitions >= 1)
        t.repetitions = repetitions < 1e9 ? (int)repetitions : 1000000000;
    if (!(t.spread >= 0))
        t.spread = 0;
    return t;
}

static heddle_type type_of(const char *name)
{
    for (int i = 0; i < TYPES_MOST; i++)
        if (strcmp(type_name(types_known[i]), name) == 0)
            return types_known[i];
    return HEDDLE_F64;
}

static heddle_status add_run(struct past *p, struct past_line *l)
{
    const char *value = text_of(l, "value"), *op = text_of(l, "op");
    if (p->count == p->capacity) {
        int64_t capacity = p->capacity ? 2 * p->capacity : 256;
        struct past_run *run = mem_resize(p->run, p->count, capacity, sizeof *run);
        if (!run)
            return HEDDLE_NO_MEMORY;
        p->run = run;
        p->capacity = capacity;
    }
    struct past_run r = {.text = l->text,
                         .version = text_of(l, "version"),
                         .device = text_of(l, "device"),
                         .isa = text_of(l, "isa"),
                         .matrix = text_of(l, "matrix"),
                         .origin = text_of(l, "origin"),
                         .kernel = text_of(l, "kernel"),
                         .value = type_of(value),
                         .op = strcmp(op, "N") == 0 ? HEDDLE_N
                             : strcmp(op, "T") == 0 ? HEDDLE_T
                                                    : HEDDLE_H,
                         .verified = is_true(l, "verified"),
                         .skipped = text_of(l, "skipped")[0] != 0,
                         .line = p->lines};
    double threads = number_of(l, "threads"), vectors = number_of(l, "vectors");
    r.vectors.count = vectors > 1 && vectors < 1e9 ? (int)vectors : 1; /* old records have none */
    r.vectors.layout = strcmp(text_of(l, "layout"), "rows") == 0 ? HEDDLE_ROW_MAJOR : HEDDLE_COLUMN_MAJOR;
    r.threads = threads >= 0 && threads < 1e9 ? (int)threads : 0;
    r.warm = timing_of(l, "warm_ms", "warm_min_ms", "spread", "repetitions");
    r.cold = timing_of(l, "cold_ms", "cold_min_ms", "cold_spread", "cold_repetitions");
    p->run[p->count++] = r;
    l->text = NULL;
    return HEDDLE_OK;
}

static heddle_status add_matrix(struct past *p, const struct past_line *l)
{
    const char *origin = text_of(l, "origin");
    int64_t size = (int64_t)strlen(origin) + 1;
    if (p->matrices == p->matrix_capacity) {
        int64_t capacity = p->matrix_capacity ? 2 * p->matrix_capacity : 64;
        char **matrix = mem_resize(p->matrix, p->matrices, capacity, sizeof *matrix);
        if (!matrix)
            return HEDDLE_NO_MEMORY;
        p->matrix = matrix;
        p->matrix_capacity = capacity;
    }
    char *copy = mem_alloc(size, 1);
    if (!copy)
        return HEDDLE_NO_MEMORY;
    memcpy(copy, origin, (size_t)size);
    p->matrix[p->matrices++] = copy;
    return HEDDLE_OK;
}

/* Of any kind and schema: what record.c writes, today and later. */
static int is_record(const struct past_line *l)
{
    return l->tree.value->kind == JSON_OBJECT && number_of(l, "schema") >= 1 && text_of(l, "record")[0];
}

/* What a killed run leaves of its last record. */
static int begins_record(const char *text, int64_t size)
{
    static const char begin[] = "{\"schema\":";
    int64_t n = (int64_t)sizeof begin - 1;
    return memcmp(text, begin, (size_t)(size < n ? size : n)) == 0;
}

static heddle_status read_line(struct past *p, struct past_line *l, const char *begin, int64_t size)
{
    heddle_status status = HEDDLE_OK;
    p->lines++;
    if (size == 0)
        return HEDDLE_OK;
    TRY((l->text = mem_alloc(size + 1, 1)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    memcpy(l->text, begin, (size_t)size);
    l->text[size] = 0;
    status = json_read(&l->tree, l->text);
    if (p->foreign == 0 && (status == HEDDLE_BAD_FILE || (status == HEDDLE_OK && !is_record(l))))
        p->foreign = p->lines;
    if (status == HEDDLE_BAD_FILE || (status == HEDDLE_OK && l->tree.value->kind != JSON_OBJECT)) {
        p->broken++;
        status = HEDDLE_OK;
    } else if (status == HEDDLE_OK && strcmp(text_of(l, "record"), "run") == 0) {
        status = add_run(p, l);
    } else if (status == HEDDLE_OK && strcmp(text_of(l, "record"), "matrix") == 0) {
        status = add_matrix(p, l);
    }
done:
    mem_free(l->text);
    l->text = NULL;
    return status;
}

/* ------------------------------------------------------------------ a file */

static heddle_status unreadable(const char *path)
{
    return fail(HEDDLE_FILE_ERROR, "%s: cannot be read: %s", path, strerror(errno));
}

static heddle_status whole_file(char **data, int64_t *size, const char *path)
{
    heddle_status status = HEDDLE_OK;
    long end = 0;
    if (file_is_packed(path))
        return file_unpack(data, size, path);
    FILE *f = fopen(path, "rb");
    *data = NULL;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        TRY(unreadable(path));
    *size = end;
    TRY((*data = mem_alloc(end + 1, 1)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    if (fread(*data, 1, (size_t)end, f) != (size_t)end)
        TRY(unreadable(path));
done:
    if (f)
        fclose(f);
    return status;
}

heddle_status past_read(struct past *p, const char *path)
{
    heddle_status status = HEDDLE_OK;
    char *data = NULL;
    int64_t size = 0, begin = 0;
    struct past_line line = {0};
    TRY(whole_file(&data, &size, path));
    for (int64_t i = 0; i < size; i++)
        if (data[i] == '\n') {
            TRY(read_line(p, &line, data + begin, i - begin));
            begin = i + 1;
        }
    p->whole = begin;
    if (p->foreign == 0 && !begins_record(data + begin, size - begin))
        p->foreign = p->lines + 1;
    if (p->count > 0)
        qsort(p->run, (size_t)p->count, sizeof *p->run, by_order);
    if (p->matrices > 0)
        qsort(p->matrix, (size_t)p->matrices, sizeof *p->matrix, by_text);
done:
    json_tree_free(&line.tree);
    mem_free(data);
    return status;
}

const struct past_run *past_find(const struct past *p, const struct past_run *what)
{
    int64_t low = 0, high = p->count;
    while (low < high) { /* the number of runs up to and with those that measured the same */
        int64_t middle = low + (high - low) / 2;
        if (past_order(&p->run[middle], what) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && past_order(&p->run[low - 1], what) == 0 ? &p->run[low - 1] : NULL;
}

int past_describes(const struct past *p, const char *origin)
{
    return p->matrices > 0 &&
           bsearch(&origin, p->matrix, (size_t)p->matrices, sizeof *p->matrix, by_text) != NULL;
}
