/* SPDX-License-Identifier: MIT
 *
 * The page is a template with marks.  Records go into it as columns: a list of strings, and numbers that
 * stand for them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/parts.h"
#include "report/report.h"

const char *report_drawing(void)
{
    static char version[32];
    const char *v = strstr(report_part("drawing").begin, " v");
    if (report_part("drawing").size == 0)
        return NULL;
    snprintf(version, sizeof version, "%.*s", v ? (int)strcspn(v + 2, " \n") : 0, v ? v + 2 : "");
    return version;
}

/* ------------------------------------------------------------------ JSON inside HTML */

/* A string; '<' is escaped so that no name can end the script that it stands in. */
static void put_string(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (; *s; s++)
        if (*s == '<' || *s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
            text_add(t, "\\u%04x", (unsigned char)*s);
        else
            text_add(t, "%c", *s);
    text_add(t, "\"");
}

/* Five digits: more than any time is known to. */
static void put_real(struct text *t, double value)
{
    if (isfinite(value))
        text_add(t, "%.5g", value);
    else
        text_add(t, "null");
}

/* ,"name":[ for each item i of `count` what `put` writes ] */
static void put_column(struct text *t, const char *name, int64_t count, const struct records *r, int which,
                       void (*put)(struct text *t, const struct records *r, int64_t i, int which))
{
    text_add(t, "%s\"%s\":[", t->data && t->data[t->size - 1] == '{' ? "" : ",\n", name);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(t, ",");
        put(t, r, i, which);
    }
    text_add(t, "]");
}

static void put_name(struct text *t, const struct records *r, int64_t i, int which)
{
    put_string(t, which ? r->files.item[i] : r->strings.item[i]);
}

enum {
    MATRIX_name,
    MATRIX_origin,
    MATRIX_spec,
    MATRIX_rows,
    MATRIX_cols,
    MATRIX_nnz,
    MATRIX_side,
    MATRIX_tall
};

static void put_matrix_number(struct text *t, const struct records *r, int64_t i, int which)
{
    const struct record_matrix *m = &r->matrix[i];
    const int64_t value[] = {m->name,
                             m->origin,
                             m->spec,
                             m->rows,
                             m->cols,
                             m->nnz,
                             m->picture ? m->picture_cols : 0,
                             m->picture ? m->picture_rows : 0};
    text_add(t, "%lld", (long long)value[which]);
}

static void put_stat(struct text *t, const struct records *r, int64_t i, int which)
{
    double value = r->matrix[i].stat[which];
    if (fabs(value) < 1e15 && value == floor(value)) /* counts keep all of their digits */
        text_add(t, "%.0f", value);
    else
        put_real(t, value);
}

static void put_histogram(struct text *t, const struct records *r, int64_t i, int which)
{
    (void)which;
    text_add(t, "[");
    for (int b = 0; b < r->matrix[i].bins; b++)
        text_add(t, "%s%lld", b ? "," : "", (long long)r->matrix[i].histogram[b]);
    text_add(t, "]");
}

static void put_picture(struct text *t, const struct records *r, int64_t i, int which)
{
    (void)which;
    put_string(t, r->matrix[i].picture ? r->matrix[i].picture : "");
}

#define RUN_NUMBERS(N)                                                                                       \
    N(matrix)                                                                                                \
    N(device) N(kernel) N(ran) N(format) N(op) N(value) N(offset) N(date) N(version) N(skipped) N(repetitions)
#define RUN_REALS(N)                                                                                         \
    N(warm_ms)                                                                                               \
    N(cold_ms) N(convert_ms) N(prepare_ms) N(spread) N(bytes) N(held_bytes) N(floor_ms) N(error) N(break_even)

/* Those that count, and behind them those that were measured again. */
static const struct record_run *run_at(const struct records *r, int64_t i)
{
    return i < r->runs ? &r->run[i] : &r->earlier[i - r->runs];
}

static void put_run_number(struct text *t, const struct records *r, int64_t i, int which)
{
    const struct record_run *run = run_at(r, i);
#define NUMBER(name) run->name,
    const int64_t value[] = {RUN_NUMBERS(NUMBER) run->transposed + 2 * run->repeatable};
#undef NUMBER
    text_add(t, "%lld", (long long)value[which]);
}

static void put_run_real(struct text *t, const struct records *r, int64_t i, int which)
{
    const struct record_run *run = run_at(r, i);
#define REAL(name) run->name,
    const double value[] = {RUN_REALS(REAL)};
#undef REAL
    put_real(t, value[which]);
}

static void put_matrices(struct text *t, const struct records *r)
{
    static const char *const names[] = {"name", "origin", "spec", "rows", "cols", "nnz", "side", "tall"};
    text_add(t, ",\n\"matrix\":{");
    for (int c = 0; c <= MATRIX_tall; c++)
        put_column(t, names[c], r->matrices, r, c, put_matrix_number);
    for (int s = 0; s < STAT_COUNT; s++)
        put_column(t, stat_names[s], r->matrices, r, s, put_stat);
    put_column(t, "histogram", r->matrices, r, 0, put_histogram);
    put_column(t, "picture", r->matrices, r, 0, put_picture);
    text_add(t, "}");
}

static void put_runs(struct text *t, const struct records *r)
{
#define NAME(name) #name,
    static const char *const numbers[] = {RUN_NUMBERS(NAME) "flags"}, *const reals[] = {RUN_REALS(NAME)};
#undef NAME
    text_add(t, ",\n\"run\":{");
    for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++)
        put_column(t, numbers[c], r->runs + r->earlier_runs, r, (int)c, put_run_number);
    for (size_t c = 0; c < sizeof reals / sizeof reals[0]; c++)
        put_column(t, reals[c], r->runs + r->earlier_runs, r, (int)c, put_run_real);
    text_add(t, "}");
}

static void put_warnings(struct text *t, const struct records *r)
{
    int first = 1;
    text_add(t, ",\n\"warning_count\":%lld,\"warnings\":[", (long long)r->warning_count);
    for (const char *line = r->warnings.data; line && *line; first = 0) {
        char text[1024];
        size_t size = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)(size < 1000 ? size : 1000), line);
        text_add(t, "%s", first ? "" : ",");
        put_string(t, text);
        line += size + (line[size] == '\n');
    }
    text_add(t, "]");
}

static void put_records(struct text *t, const struct records *r)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
    text_add(t,
             "{\"made\":\"%s\",\"heddle\":\"%s\",\"drawing\":\"%s\",\"lines\":%lld,\"measured_again\":%lld",
             date, heddle_version(), report_drawing() ? report_drawing() : "", (long long)r->lines,
             (long long)r->measured_again);
    put_column(t, "files", r->files.count, r, 1, put_name);
    put_column(t, "strings", r->strings.count, r, 0, put_name);
    put_matrices(t, r);
    put_runs(t, r);
    put_warnings(t, r);
    text_add(t, "}");
}

/* ------------------------------------------------------------------ the template */

/* Fills one mark; unknown ones stay as they are, which the tests would see. */
static void fill(struct text *t, const struct records *r, const char *mark, size_t size)
{
    if (size == 7 && strncmp(mark, "records", size) == 0) {
        put_records(t, r);
        return;
    }
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)size, mark);
    struct report_part part = report_part(name);
    text_add(t, "%.*s", (int)part.size, part.begin);
}

heddle_status report_page(struct text *page, const struct records *r)
{
    if (!report_drawing())
        return fail(HEDDLE_NOT_SUPPORTED,
                    "this heddle was built without the drawing library of its pages: install d3 (Debian: "
                    "apt-get install node-d3, or scripts/setup report) and build again; --svg works without");
    struct report_part template = report_part("template");
    for (const char *at = template.begin, *end = at + template.size; at < end;) {
        const char *mark = strstr(at, "@@"), *close = mark ? strstr(mark + 2, "@@") : NULL;
        if (!close) {
            text_add(page, "%.*s", (int)(end - at), at);
            break;
        }
        text_add(page, "%.*s", (int)(mark - at), at);
        fill(page, r, mark + 2, (size_t)(close - mark - 2));
        at = close + 2;
    }
    return page->failed ? HEDDLE_NO_MEMORY : HEDDLE_OK;
}
