/* SPDX-License-Identifier: MIT
 *
 * Matrix records: statistics, the histogram of row lengths and the picture.  A matrix is known by its name
 * and sizes, so that runs of several machines meet, and by whether it was read from a file:
 * set:paper/bcsstk24 is generated and only looks like the bcsstk24.mtx of a folder.  An origin stands for
 * one matrix only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "report/records.h"

const char *const stat_names[STAT_COUNT] = {
#define STAT(name, object, member) #name,
    MATRIX_STATS(STAT)
#undef STAT
};

/* A whole number from 0 on that a double holds exactly. */
static int is_whole(double value)
{
    return value >= 0 && value <= 9e15 && value == floor(value);
}

/* Was the matrix read from a file?  What is generated has an origin of gen: or set:, and so has its
 * transpose. */
static int from_file(const char *origin)
{
    static const char transpose[] = "transpose:";
    while (origin && strncmp(origin, transpose, sizeof transpose - 1) == 0)
        origin += sizeof transpose - 1;
    return origin && strncmp(origin, "gen:", 4) != 0 && strncmp(origin, "set:", 4) != 0;
}

/* What a matrix is known by; its number in matrix_keys is that of the matrix. */
static void add_key(struct text *key, const char *name, const double size[3], int file)
{
    text_add(key, "%s\x1f%.0f\x1f%.0f\x1f%.0f%s", name, size[0], size[1], size[2],
             file ? "\x1f"
                    "file"
                  : "");
}

/* The matrix that `origin` stood for so far, or `matrix` if it is met for the first time. */
static heddle_status by_origin(struct records *r, const char *origin, int64_t matrix, int64_t *found)
{
    heddle_status status = HEDDLE_OK;
    int64_t known = r->origins.count, number;
    int64_t *grown = record_room(r->origin_matrix, known, &r->origin_capacity, sizeof *grown);
    TRY(grown ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    r->origin_matrix = grown;
    TRY(names_add(&r->origins, origin, &number));
    if (r->origins.count > known)
        r->origin_matrix[number] = matrix;
    *found = r->origin_matrix[number];
done:
    return status;
}

static heddle_status add_matrix(struct records *r, const struct json_tree *t, const double size[3],
                                struct place place)
{
    heddle_status status = HEDDLE_OK;
    struct record_matrix *grown = record_room(r->matrix, r->matrices, &r->matrix_capacity, sizeof *grown);
    TRY(grown ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    r->matrix = grown;
    struct record_matrix *m = &r->matrix[r->matrices];
    *m = (struct record_matrix){
        .place = place, .rows = (int64_t)size[0], .cols = (int64_t)size[1], .nnz = (int64_t)size[2]};
    for (int s = 0; s < STAT_COUNT; s++)
        m->stat[s] = NAN;
    TRY(record_string(r, t, "matrix", &m->name));
    TRY(record_string(r, t, "origin", &m->origin));
    TRY(record_string(r, t, "spec", &m->spec));
    r->matrices++;
done:
    return status;
}

heddle_status record_matrix_of(struct records *r, const struct json_tree *t, struct place place,
                               int64_t *matrix)
{
    heddle_status status = HEDDLE_OK;
    static const char *const members[] = {"rows", "cols", "nnz"};
    const struct json_value *root = &t->value[0];
    const char *name = json_member_text(t, root, "matrix"), *origin = json_member_text(t, root, "origin");
    struct text key = {0};
    double size[3];
    int64_t number, first;
    *matrix = -1;
    if (!name || !name[0]) {
        records_warn(r, place, "\"matrix\", its name, is missing");
        return HEDDLE_OK;
    }
    for (int i = 0; i < 3; i++)
        if (!is_whole(size[i] = json_member_number(t, root, members[i], -1))) {
            records_warn(r, place, "\"%s\" is not a whole number from 0 on", members[i]);
            return HEDDLE_OK;
        }
    add_key(&key, name, size, from_file(origin));
    TRY(key.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
    int64_t next = r->matrix_keys.count;
    TRY(names_add(&r->matrix_keys, key.data, &number));
    TRY(number == next ? add_matrix(r, t, size, place) : HEDDLE_OK);
    first = number;
    if (origin)
        TRY(by_origin(r, origin, number, &first));
    if (first != number) {
        const struct record_matrix *m = &r->matrix[first];
        records_warn(
            r, place,
            "contradictory: %s is %.0f x %.0f with %.0f nonzeros here, but %lld x %lld with %lld at %s:%lld",
            origin, size[0], size[1], size[2], (long long)m->rows, (long long)m->cols, (long long)m->nnz,
            r->files.item[m->place.file], (long long)m->place.line);
        goto done;
    }
    *matrix = number;
done:
    text_free(&key);
    return status;
}

/* ------------------------------------------------------------------ what a matrix record adds */

static void read_stats(struct record_matrix *m, const struct json_tree *t)
{
    static const char *const object[STAT_COUNT] = {
#define STAT(name, object, member) object,
        MATRIX_STATS(STAT)
#undef STAT
    };
    static const char *const member[STAT_COUNT] = {
#define STAT(name, object, member) member,
        MATRIX_STATS(STAT)
#undef STAT
    };
    const struct json_value *root = &t->value[0];
    for (int s = 0; s < STAT_COUNT; s++)
        m->stat[s] =
            json_member_number(t, object[s] ? json_member(t, root, object[s]) : root, member[s], NAN);
}

/* Rows in all of the bins must be the rows of the matrix. */
static const char *read_histogram(struct record_matrix *m, const struct json_tree *t)
{
    const struct json_value *bins = json_member(t, &t->value[0], "histogram");
    double sum = 0;
    if (!bins)
        return NULL;
    if (bins->kind != JSON_ARRAY || bins->count > HISTOGRAM_MOST)
        return "\"histogram\" is no array of at most 64 counts";
    m->bins = 0;
    for (int64_t i = bins->count ? bins->first : -1; i >= 0; i = t->value[i].next) {
        double n = t->value[i].number;
        if (t->value[i].kind != JSON_NUMBER || !is_whole(n))
            return "\"histogram\" holds something that is no count";
        m->histogram[m->bins++] = (int64_t)n;
        sum += n;
    }
    return sum == (double)m->rows || m->bins == 0
             ? NULL
             : "contradictory: \"histogram\" counts other rows than \"rows\" says";
}

static char level_letter(double count, double fullest)
{
    double share = log1p(count) / log1p(fullest);
    int level = (int)ceil(share * PICTURE_LEVELS);
    level = level < 1 ? 1 : level > PICTURE_LEVELS ? PICTURE_LEVELS : level;
    return (char)(level <= 26 ? 'A' + level - 1 : 'a' + level - 27);
}

/* Cells to letters, as records.h tells. */
static heddle_status encode_picture(struct record_matrix *m, const struct json_tree *t,
                                    const struct json_value *cells)
{
    struct text letters = {0};
    double fullest = 0;
    int64_t empty = 0;
    for (int64_t i = cells->first; i >= 0; i = t->value[i].next)
        fullest = fmax(fullest, t->value[i].number);
    for (int64_t i = cells->first; i >= 0; i = t->value[i].next) {
        double n = t->value[i].number;
        if (!(n > 0)) {
            empty++;
            continue;
        }
        if (empty)
            text_add(&letters, "%lld", (long long)empty);
        empty = 0;
        text_add(&letters, "%c", level_letter(n, fullest));
    }
    text_add(&letters, "%s", ""); /* so that an empty matrix has a picture too */
    mem_free(m->picture);
    m->picture = letters.data;
    return letters.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK;
}

static heddle_status read_picture(struct records *r, struct record_matrix *m, const struct json_tree *t,
                                  struct place place)
{
    const struct json_value *picture = json_member(t, &t->value[0], "picture"),
                            *cells = json_member(t, picture, "count");
    double rows = json_member_number(t, picture, "rows", -1),
           cols = json_member_number(t, picture, "cols", -1);
    if (!picture)
        return HEDDLE_OK;
    if (!cells || cells->kind != JSON_ARRAY || !is_whole(rows) || !is_whole(cols) || rows > 256 ||
        cols > 256 || rows * cols != (double)cells->count) {
        records_warn(r, place,
                     "\"picture\" does not hold rows x cols counts; the matrix is shown without one");
        return HEDDLE_OK;
    }
    if (cells->count == 0)
        return HEDDLE_OK;
    m->picture_rows = (int)rows;
    m->picture_cols = (int)cols;
    return encode_picture(m, t, cells);
}

/* Two descriptions of one matrix agree when everything that does not depend on the type of values does, to
 * the five digits that records in a repository may be cut down to. */
static int same_stats(const struct record_matrix *a, const struct record_matrix *b)
{
    for (int s = 0; s < STAT_COUNT; s++) {
        int by_value = s == STAT_numeric_symmetry || s == STAT_distinct_values;
        if (!by_value && !isnan(a->stat[s]) && !isnan(b->stat[s]) &&
            fabs(a->stat[s] - b->stat[s]) > 1e-4 * fabs(a->stat[s]))
            return 0;
    }
    return a->bins == 0 || b->bins == 0 ||
           (a->bins == b->bins &&
            memcmp(a->histogram, b->histogram, (size_t)a->bins * sizeof a->histogram[0]) == 0);
}

heddle_status record_add_matrix(struct records *r, const struct json_tree *t, struct place place)
{
    heddle_status status = HEDDLE_OK;
    int64_t number;
    TRY(record_matrix_of(r, t, place, &number));
    if (number < 0)
        return HEDDLE_OK;
    struct record_matrix said = r->matrix[number], *m = &r->matrix[number];
    read_stats(&said, t);
    const char *wrong = read_histogram(&said, t);
    if (wrong) {
        records_warn(r, place, "%s", wrong);
        return HEDDLE_OK;
    }
    if (m->described) {
        if (!same_stats(m, &said))
            records_warn(r, place, "contradictory: other statistics of %s than at %s:%lld",
                         record_text(r, m->name), r->files.item[m->place.file], (long long)m->place.line);
        return HEDDLE_OK;
    }
    said.described = 1;
    said.place = place;
    if (said.spec < 0)
        TRY(record_string(r, t, "spec", &said.spec));
    *m = said;
    TRY(read_picture(r, m, t, place));
done:
    return status;
}

heddle_status records_tell_apart(struct records *r)
{
    heddle_status status = HEDDLE_OK;
    for (int64_t i = 0; i < r->matrices && status == HEDDLE_OK; i++) {
        struct record_matrix *m = &r->matrix[i];
        const double size[3] = {(double)m->rows, (double)m->cols, (double)m->nnz};
        const char *name = record_text(r, m->name);
        struct text key = {0}, label = {0};
        add_key(&key, name, size, 1);
        if (!key.failed && !from_file(record_text(r, m->origin)) &&
            names_find(&r->matrix_keys, key.data) >= 0) {
            text_add(&label, "%s (generated)", name);
            status = label.failed ? HEDDLE_NO_MEMORY : names_add(&r->strings, label.data, &m->name);
        }
        status = key.failed ? HEDDLE_NO_MEMORY : status;
        text_free(&key);
        text_free(&label);
    }
    return status;
}
