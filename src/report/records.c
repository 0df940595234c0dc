/* SPDX-License-Identifier: MIT */
#include "report/records.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "io/packed.h"
#include "subject/describe.h"

void records_warn(struct records *r, struct place place, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->warning_count++ < WARNINGS_KEPT)
        text_add(&r->warnings, "%s:%lld: %s\n", r->files.item[place.file], (long long)place.line, text);
}

void *record_room(void *array, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    int64_t more = *capacity ? 2 * *capacity : 64;
    void *grown = mem_resize(array, count, more, size);
    if (grown)
        *capacity = more;
    return grown;
}

heddle_status record_string(struct records *r, const struct json_tree *t, const char *key, int64_t *number)
{
    const char *text = json_member_text(t, &t->value[0], key);
    *number = -1;
    return text ? names_add(&r->strings, text, number) : HEDDLE_OK;
}

/* ------------------------------------------------------------------ a line */

/* Is this a record that we know how to read?  Lines without "schema" are records of the first that were
 * cut down by hand. */
static heddle_status read_record(struct records *r, const struct json_tree *t, struct place place)
{
    const struct json_value *root = &t->value[0], *schema = json_member(t, root, "schema");
    const char *kind = json_member_text(t, root, "record");
    int64_t known = r->kinds.count, number;
    if (root->kind != JSON_OBJECT) {
        records_warn(r, place, "not a record: the line is no JSON object");
        return HEDDLE_OK;
    }
    if (schema && (schema->kind != JSON_NUMBER || schema->number < 1)) {
        records_warn(r, place, "\"schema\" is not a number from 1 on");
        return HEDDLE_OK;
    }
    if (schema && schema->number > RECORD_SCHEMA) {
        records_warn(r, place,
                     "schema %.6g is later than this heddle knows (%d); read it with a later heddle",
                     schema->number, RECORD_SCHEMA);
        return HEDDLE_OK;
    }
    if (!kind && json_member_text(t, root, "kernel") && json_member_text(t, root, "matrix"))
        kind = "run";
    if (!kind) {
        records_warn(r, place, "not a record: neither \"record\" nor \"matrix\" with \"kernel\" is there");
        return HEDDLE_OK;
    }
    if (strcmp(kind, "run") == 0)
        return record_add_run(r, t, place);
    if (strcmp(kind, "matrix") == 0)
        return record_add_matrix(r, t, place);
    r->passed_over++;
    heddle_status status = names_add(&r->kinds, kind, &number);
    if (status == HEDDLE_OK && r->kinds.count > known)
        records_warn(r, place, "records of the kind '%.40s' are not shown (said once)", kind);
    return status;
}

static heddle_status read_line(struct records *r, struct json_tree *t, char *line, int64_t size,
                               struct place place)
{
    if ((int64_t)strlen(line) != size) {
        records_warn(r, place, "not a record: the line holds a zero byte");
        return HEDDLE_OK;
    }
    if (line[strspn(line, " \t\r\n")] == 0)
        return HEDDLE_OK;
    r->lines++;
    heddle_status status = json_read(t, line);
    if (status == HEDDLE_BAD_FILE) {
        records_warn(r, place, "broken: %s", heddle_last_error());
        return HEDDLE_OK;
    }
    return status == HEDDLE_OK ? read_record(r, t, place) : status;
}

/* ------------------------------------------------------------------ a file */

struct line {
    char *data;
    int64_t size, capacity;
};

/* Bytes: what is longer is no record, and a device without an end would take all memory. */
#define LINE_MOST (64 << 20)

/* The next line without its end; *more is 0 at the end of the file. */
static heddle_status next_line(struct line *l, FILE *file, int *more)
{
    int c;
    l->size = 0;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (l->size == LINE_MOST)
            return fail(HEDDLE_BAD_FILE, "a line is longer than 64 MB: this is no file of records");
        char *data = record_room(l->data, l->size + 1, &l->capacity, 1);
        if (!data)
            return HEDDLE_NO_MEMORY;
        l->data = data;
        l->data[l->size++] = (char)c;
    }
    if (l->data)
        l->data[l->size] = 0;
    *more = c != EOF || l->size > 0;
    return HEDDLE_OK;
}

heddle_status records_read(struct records *r, const char *path)
{
    heddle_status status = HEDDLE_OK;
    static const char mark[] = "\xef\xbb\xbf"; /* what some editors put in front of a text */
    struct line l = {0};
    struct json_tree t = {0};
    struct place place = {0};
    char *unpacked = NULL;
    int64_t size = 0;
    if (file_is_packed(path) && (status = file_unpack(&unpacked, &size, path)) != HEDDLE_OK)
        return status;
    FILE *file = unpacked ? fmemopen(unpacked, (size_t)size, "r") : fopen(path, "r");
    if (!file && unpacked) { /* it holds nothing */
        mem_free(unpacked);
        return HEDDLE_OK;
    }
    if (!file)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    TRY(names_add(&r->files, path, &place.file));
    for (int more = 1; more;) {
        if ((status = next_line(&l, file, &more)) != HEDDLE_OK)
            TRY(fail_in(status, path));
        if (!more || ++place.line == 0 || l.size == 0)
            continue;
        int skip = place.line == 1 && strncmp(l.data, mark, 3) == 0 ? 3 : 0;
        TRY(read_line(r, &t, l.data + skip, l.size - skip, place));
    }
    if (ferror(file))
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot be read: %s", path, strerror(errno)));
    TRY(r->warnings.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
done:
    fclose(file);
    mem_free(unpacked);
    mem_free(l.data);
    json_tree_free(&t);
    return status;
}

heddle_status records_finish(struct records *r)
{
    int64_t kept = 0;
    r->plottable = 0;
    for (int64_t i = 0; i < r->runs; i++) {
        if (r->run[i].out)
            continue;
        r->plottable += r->run[i].skipped < 0;
        r->run[kept++] = r->run[i];
    }
    r->runs = kept;
    return r->warnings.failed ? HEDDLE_NO_MEMORY : records_tell_apart(r);
}

void records_free(struct records *r)
{
    for (int64_t i = 0; i < r->matrices; i++)
        mem_free(r->matrix[i].picture);
    mem_free(r->matrix);
    mem_free(r->run);
    mem_free(r->earlier);
    mem_free(r->origin_matrix);
    names_free(&r->strings);
    names_free(&r->files);
    names_free(&r->matrix_keys);
    names_free(&r->origins);
    names_free(&r->run_keys);
    names_free(&r->kinds);
    text_free(&r->warnings);
    *r = (struct records){0};
}
