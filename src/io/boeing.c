/* SPDX-License-Identifier: MIT
 *
 *   line 1   title (72 characters), key (8)
 *   line 2   number of lines: all, pointers, row numbers, values; Harwell-Boeing adds those of right-hand
 *            sides
 *   line 3   type, rows, columns, entries, (elements)
 *   line 4   the formats of pointers, row numbers, values (and right-hand sides)
 *   line 5   only where right-hand sides follow
 *
 * Line 2 is only used to tell whether there are values and a line 5: many files in circulation have wrong
 * numbers there.  What the data says is checked, number by number, when it is read; arrays grow with it. */
#include "io/boeing.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/market.h"
#include "io/number.h"
#include "io/read.h"

/* An array that grows with what the file really holds, however much its header promises. */
struct field_numbers {
    int64_t *integer;
    double *real;
    int64_t count, capacity;
};

struct boeing {
    char type[4]; /* lower case: "rua" */
    enum symmetry symmetry;
    int64_t rows, cols, nnz;
    int64_t value_lines;
    struct fortran pointer_format, row_format, value_format;
    struct field_numbers pointer, row, value; /* the data, numbers counting from 1 */
};

#define SERIES_FIRST 4096

/* Room for one more, `wanted` being the most that can come. */
static heddle_status series_room(struct field_numbers *s, int real, int64_t wanted,
                                 const struct text_source *source)
{
    if (s->count < s->capacity)
        return HEDDLE_OK;
    int64_t capacity = s->capacity ? 2 * s->capacity : SERIES_FIRST;
    capacity = capacity < wanted ? capacity : wanted;
    if (source_affords(source, 8 * (double)capacity) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    void *p = mem_resize(real ? (void *)s->real : (void *)s->integer, s->count, capacity, 8);
    if (!p)
        return HEDDLE_NO_MEMORY;
    if (real)
        s->real = p;
    else
        s->integer = p;
    s->capacity = capacity;
    return HEDDLE_OK;
}

static void series_free(struct field_numbers *s)
{
    mem_free(s->integer);
    mem_free(s->real);
}

/* `count` integers in 1..high, each at least as large as the one before if they must not decrease. */
struct expected {
    const char *what; /* for messages */
    int64_t count, high;
    int ascending;
};

static heddle_status read_integers(struct fields *f, const struct expected *e, struct field_numbers *out)
{
    heddle_status status = HEDDLE_OK;
    int64_t low = 1, n;
    while (out->count < e->count) {
        TRY(series_room(out, 0, e->count, f->source));
        TRY(fields_int(f, e->what, &n));
        if (n < low || n > e->high)
            return source_fail(f->source, HEDDLE_BAD_FILE, f->source->line, "%s %lld is outside %lld..%lld",
                               e->what, (long long)n, (long long)low, (long long)e->high);
        out->integer[out->count++] = n;
        low = e->ascending ? n : low;
    }
done:
    return status;
}

/* A complex value is two numbers. */
static int64_t numbers(const struct boeing *b)
{
    return b->type[0] == 'c' ? 2 * b->nnz : b->nnz;
}

static heddle_status read_reals(struct text_source *s, struct boeing *b)
{
    heddle_status status = HEDDLE_OK;
    struct fields fields = {.source = s, .format = b->value_format};
    struct field_numbers *out = &b->value;
    while (out->count < numbers(b)) {
        TRY(series_room(out, 1, numbers(b), s));
        TRY(fields_real(&fields, "value", &out->real[out->count]));
        out->count++;
    }
done:
    return status;
}

/* Up to `most` counts of a header line, blanks between them; returns how many there are. */
static int header_numbers(const char *p, const char *end, int most, int64_t *n)
{
    int count = 0;
    while (count < most) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end || !is_digit(*p))
            return count;
        int64_t v = 0;
        for (; p < end && is_digit(*p); p++)
            v = v < INT64_MAX / 100 ? v * 10 + (*p - '0') : v;
        n[count++] = v;
    }
    return count;
}

/* Values: real, complex, pattern, integer, auxiliary.  Shape: unsymmetric, symmetric, hermitian, skew (z),
 * rectangular.  Assembled or elements. */
static int is_type(const char *p)
{
    return memchr("rcpiqRCPIQ", p[0], 10) && memchr("ushzrUSHZR", p[1], 10) && memchr("aeAE", p[2], 4);
}

/* The third line tells: a type, then the sizes. */
static int is_type_line(const char *p, const char *end)
{
    int64_t sizes[3];
    return end - p >= 4 && is_type(p) && is_blank(p[3]) && header_numbers(p + 3, end, 3, sizes) == 3;
}

int boeing_header(const char *text, int64_t size)
{
    const char *end = text + size;
    for (int line = 0; line < 2; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return 0;
        text = newline + 1;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    return is_type_line(text, newline ? newline : end);
}

static heddle_status header_line(struct text_source *s, const char **line, const char **end)
{
    int64_t size;
    heddle_status status = source_line(s, line, &size);
    *end = *line ? *line + size : NULL;
    if (status == HEDDLE_OK && !*line)
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "the file ends inside its header");
    return status;
}

/* Line 3 and what it means. */
static heddle_status read_type(struct text_source *s, struct boeing *b)
{
    heddle_status status = HEDDLE_OK;
    const char *line, *end;
    int64_t sizes[3] = {0};
    char quoted[QUOTE_SIZE];
    TRY(header_line(s, &line, &end));
    if (!is_type_line(line, end))
        return source_fail(s, HEDDLE_BAD_FILE, s->line,
                           "expected a matrix type such as rua, with rows, columns and entries, "
                           "found %s",
                           quote(quoted, line, end));
    for (int i = 0; i < 3; i++)
        b->type[i] = (char)(line[i] | 32);
    if (b->type[2] == 'e')
        return source_fail(s, HEDDLE_NOT_SUPPORTED, s->line,
                           "unassembled (elemental) matrices are not supported");
    header_numbers(line + 3, end, 3, sizes);
    b->rows = sizes[0];
    b->cols = sizes[1];
    b->nnz = sizes[2];
    if (b->rows >= INDEX_LIMIT || b->cols >= INDEX_LIMIT)
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "%lld x %lld is too large: the limit is %lld",
                           (long long)b->rows, (long long)b->cols, (long long)INDEX_LIMIT - 1);
    b->symmetry = b->type[1] == 'h' && b->type[0] == 'c' ? SYMMETRY_HERMITIAN
                : b->type[1] == 's' || b->type[1] == 'h' ? SYMMETRY_SYMMETRIC
                : b->type[1] == 'z'                      ? SYMMETRY_SKEW
                                                         : SYMMETRY_GENERAL;
    if (b->symmetry != SYMMETRY_GENERAL && b->rows != b->cols)
        status = source_fail(s, HEDDLE_BAD_FILE, s->line, "a %lld x %lld matrix cannot be symmetric",
                             (long long)b->rows, (long long)b->cols);
done:
    return status;
}

/* Patterns (p), and q, whose values lie in another file, have ones. */
static int has_values(const struct boeing *b)
{
    return b->type[0] == 'r' || b->type[0] == 'i' || b->type[0] == 'c';
}

static heddle_status read_header(struct text_source *s, struct boeing *b)
{
    heddle_status status = HEDDLE_OK;
    const char *line, *end;
    int64_t cards[5] = {
        0}; /* lines: all, pointers, row numbers, values, right-hand sides (Harwell-Boeing only) */
    TRY(header_line(s, &line, &end));
    TRY(header_line(s, &line, &end));
    if (header_numbers(line, end, 5, cards) < 4)
        return source_fail(s, HEDDLE_BAD_FILE, s->line,
                           "expected the number of lines of each part: 4 or 5 integers");
    TRY(read_type(s, b));
    b->value_lines = cards[3];
    if (has_values(b) && b->value_lines == 0 && b->nnz > 0)
        return source_fail(s, HEDDLE_BAD_FILE, 2,
                           "type %s needs values, but the header announces no line of them", b->type);
    TRY(header_line(s, &line, &end));
    line = fortran_parse(&b->pointer_format, line, end);
    line = line ? fortran_parse(&b->row_format, line, end) : NULL;
    if (!line || b->pointer_format.kind != 'I' || b->row_format.kind != 'I')
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "expected two integer formats such as (13I6)");
    if (has_values(b) && !fortran_parse(&b->value_format, line, end))
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "expected a format for the values such as (3E26.18)");
    if (cards[4] > 0)
        TRY(header_line(s, &line, &end));
done:
    return status;
}

static heddle_status read_pointers(struct text_source *s, struct boeing *b)
{
    struct fields fields = {.source = s, .format = b->pointer_format};
    const struct expected expected = {"column pointer", b->cols + 1, b->nnz + 1, 1};
    heddle_status status = read_integers(&fields, &expected, &b->pointer);
    if (status != HEDDLE_OK)
        return status;
    int64_t first = b->pointer.integer[0], last = b->pointer.integer[b->cols];
    if (first != 1 || last != b->nnz + 1)
        return source_fail(s, HEDDLE_BAD_FILE, s->line,
                           "the column pointers run from %lld to %lld, expected 1 to %lld", (long long)first,
                           (long long)last, (long long)b->nnz + 1);
    return HEDDLE_OK;
}

/* The columns as they are stored become coordinates in the same order. */
static heddle_status make_coo(struct text_source *s, const struct boeing *b, struct coo *coo)
{
    const int64_t *pointer = b->pointer.integer, *row = b->row.integer;
    const double *val = b->value.real; /* NULL for a pattern */
    const int pairs = b->type[0] == 'c';
    for (int64_t j = 0; j < b->cols; j++)
        for (int64_t k = pointer[j] - 1; k < pointer[j + 1] - 1; k++) {
            coo->row[k] = (int32_t)(row[k] - 1);
            coo->col[k] = (int32_t)j;
            value_put(coo->val, coo->value, k,
                      !val    ? 1
                      : pairs ? complex_of(val[2 * k], val[2 * k + 1])
                              : val[k]);
            if (coo->row[k] != coo->col[k])
                continue;
            if (b->symmetry == SYMMETRY_SKEW)
                return source_fail(s, HEDDLE_BAD_FILE, 0,
                                   "entry (%lld, %lld) lies on the diagonal, which a skew-symmetric "
                                   "file leaves out",
                                   (long long)j + 1, (long long)j + 1);
            if (b->symmetry == SYMMETRY_HERMITIAN && val[2 * k + 1] != 0)
                return source_fail(s, HEDDLE_BAD_FILE, 0,
                                   "entry (%lld, %lld) on the diagonal of a hermitian file is not real",
                                   (long long)j + 1, (long long)j + 1);
        }
    return HEDDLE_OK;
}

/* Pointers are checked before row numbers are read, so that make_coo cannot leave the arrays. */
heddle_status boeing_read(struct text_source *s, struct csr *A, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct boeing b = {.type = ""};
    struct coo coo = {0};
    TRY(read_header(s, &b));
    TRY(file_value(&value, b.type[0] == 'c', s));
    TRY(read_pointers(s, &b));
    TRY(source_affords(s, matrix_least(b.rows, b.cols)));
    TRY(read_integers(&(struct fields){.source = s, .format = b.row_format},
                      &(struct expected){"row", b.nnz, b.rows, 0}, &b.row));
    if (has_values(&b))
        TRY(read_reals(s, &b));
    TRY(source_affords(s, (double)b.nnz * (8 + (double)type_size(value))));
    TRY(coo_new(&coo, b.rows, b.cols, b.nnz, value));
    TRY(make_coo(s, &b, &coo));
    status = csr_from_file(A, &coo, b.symmetry, s);
done:
    series_free(&b.pointer);
    series_free(&b.row);
    series_free(&b.value);
    coo_free(&coo);
    return status;
}
