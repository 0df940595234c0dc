/* SPDX-License-Identifier: MIT
 *
 * The inner loops of reading.  A good line costs one pass over its characters; a bad one is parsed a
 * second time, slowly, by explain(), which knows how to say what is wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/market.h"
#include "io/number.h"

#define COUNT_STEP 128 /* bytes per step: small enough for 8-bit counters, which vectorise best */

static inline const char *skip_blanks(const char *p)
{
    while (is_blank(*p))
        p++;
    return p;
}

static inline const char *skip_line(const char *p, const char *end)
{
    return (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
}

/* Counts newlines, and those that a blank, a control character or a '%' follows: where there are none of
 * these, every line is an entry.  Reads one byte behind `n`. */
static void count_newlines(const char *p, int64_t n, int64_t *newlines, int64_t *odd)
{
    for (; n > 0; n -= COUNT_STEP, p += COUNT_STEP) {
        uint8_t lines = 0, suspects = 0;
        int step = n < COUNT_STEP ? (int)n : COUNT_STEP;
        for (int i = 0; i < step; i++) {
            uint8_t here = (uint8_t)p[i] == '\n', next = (uint8_t)p[i + 1];
            lines = (uint8_t)(lines + here);
            suspects = (uint8_t)(suspects + (here & (uint8_t)((next <= ' ') | (next == '%'))));
        }
        *newlines += lines;
        *odd += suspects;
    }
}

/* Most files have no blank lines and no comments behind their size line: then the fast count is exact.
 * Otherwise lines are looked at one by one. */
void chunk_count(struct chunk *c)
{
    int64_t odd = 0;
    c->lines = 1; /* the last newline has nothing behind it that may be read */
    count_newlines(c->begin, c->end - c->begin - 1, &c->lines, &odd);
    c->entries = c->lines;
    if (odd == 0 && (unsigned char)*c->begin > ' ' && *c->begin != '%')
        return;
    c->entries = 0;
    for (const char *p = c->begin; p < c->end; p = skip_line(p, c->end)) {
        p = skip_blanks(p);
        c->entries += *p != '\n' && *p != '%';
    }
}

/* Column j of a stored triangle has rows - j entries, one less without the diagonal: where column j
 * begins. */
static int64_t triangle_begin(const struct market *m, int64_t j)
{
    int64_t n = m->rows - (m->symmetry == SYMMETRY_SKEW);
    return j * n - j * (j - 1) / 2;
}

void array_position(const struct market *m, int64_t k, int64_t *row, int64_t *col)
{
    if (m->symmetry == SYMMETRY_GENERAL) {
        *row = k % m->rows;
        *col = k / m->rows;
        return;
    }
    int64_t low = 0, high = m->cols; /* the last column that begins at or before k */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (triangle_begin(m, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    *col = low;
    *row = low + (m->symmetry == SYMMETRY_SKEW) + k - triangle_begin(m, low);
}

/* The array entry after (row, col). */
static inline void array_step(const struct market *m, int64_t *row, int64_t *col)
{
    if (++*row < m->rows)
        return;
    ++*col;
    *row = m->symmetry == SYMMETRY_GENERAL ? 0 : *col + (m->symmetry == SYMMETRY_SKEW);
}

/* A row or column number in 1..limit, as 0-based; NULL for anything else. */
static inline const char *read_index(const char *p, const char *end, int64_t limit, int64_t *index)
{
    p = skip_blanks(p);
    p += *p == '+';
    const char *first = p;
    uint64_t n = 0;
    if (end - p >= 8)
        p += digits_8(p, &n);
    while (is_digit(*p)) /* more than eight, or close to the end of the text */
        n = n * 10 + (uint64_t)(*p++ - '0');
    if (p - first > 18 || n - 1 >= (uint64_t)limit) /* no digits give n = 0, and n - 1 is huge */
        return NULL;
    *index = (int64_t)n - 1;
    return p;
}

/* What may stand behind a row or column number. */
static inline int ends_index(char c)
{
    return is_blank(c) || c == '\n' || c == '%';
}

struct market_entry {
    int64_t row, col;
    double value, imaginary;
};

/* The diagonal of a skew-symmetric file is left out, that of a hermitian one is real. */
static inline int bad_diagonal(const struct market *m, const struct market_entry *e)
{
    return e->row == e->col &&
           (m->symmetry == SYMMETRY_SKEW || (m->symmetry == SYMMETRY_HERMITIAN && e->imaginary != 0));
}

/* One line that is an entry; NULL when anything about it is wrong.  Array entries come with row and col
 * set. */
static inline const char *read_entry(const char *p, const char *end, const struct market *m,
                                     struct market_entry *e)
{
    if (!m->array) {
        if (!(p = read_index(p, end, m->rows, &e->row)) || !is_blank(*p))
            return NULL;
        if (!(p = read_index(p, end, m->cols, &e->col)) || !ends_index(*p))
            return NULL;
    }
    e->value = 1;
    if (m->field != FIELD_PATTERN) {
        if (!(p = number_read(skip_blanks(p), end, &e->value)))
            return NULL;
        if (m->field == FIELD_INTEGER && e->value != floor(e->value))
            return NULL;
        if (m->field == FIELD_COMPLEX &&
            (!is_blank(*p) || !(p = number_read(skip_blanks(p), end, &e->imaginary))))
            return NULL;
    }
    if (m->symmetry != SYMMETRY_GENERAL && bad_diagonal(m, e))
        return NULL;
    p = skip_blanks(p);
    if (*p == '%')
        p = skip_line(p, end) - 1;
    return *p == '\n' ? p + 1 : NULL;
}

/* Says what is wrong with an index at p, or gives the place behind it. */
static const char *explain_index(char *out, const char *p, const char *end, const char *what, int64_t limit)
{
    char quoted[QUOTE_SIZE];
    int64_t index;
    const char *stop = read_index(p, end, limit, &index);
    if (stop && ends_index(*stop))
        return stop;
    const char *q = skip_blanks(p);
    q += *q == '-' || *q == '+';
    const char *first = q;
    while (is_digit(*q))
        q++;
    if (q > first && ends_index(*q) && limit > 0)
        snprintf(out, SOURCE_TEXT, "%s %.*s is outside 1..%lld", what,
                 (int)(q - first > 30 ? 30 : q - skip_blanks(p)), skip_blanks(p), (long long)limit);
    else if (q > first && ends_index(*q))
        snprintf(out, SOURCE_TEXT, "%s %.30s in a matrix that has none", what, quote(quoted, p, end));
    else
        snprintf(out, SOURCE_TEXT, "expected a %s number, found %s", what, quote(quoted, p, end));
    return NULL;
}

/* The same for a value. */
static const char *explain_value(char *out, const char *p, const char *end, const struct market *m)
{
    char quoted[QUOTE_SIZE];
    double value = 0;
    const char *stop = *skip_blanks(p) == '\n' ? NULL : number_read(skip_blanks(p), end, &value);
    if (!stop)
        snprintf(out, SOURCE_TEXT, "expected a number, found %s", quote(quoted, p, end));
    else if (m->field == FIELD_INTEGER && value != floor(value))
        snprintf(out, SOURCE_TEXT, "the value %s is not an integer, as the banner says",
                 quote(quoted, p, end));
    else
        return stop;
    return NULL;
}

/* Writes down what read_entry found wrong. */
static void explain(char *out, const char *p, const char *end, const struct market *m,
                    const struct market_entry *e)
{
    char quoted[QUOTE_SIZE];
    int64_t row = e->row, col = e->col;
    if (!m->array) {
        read_index(p, end, m->rows, &row);
        if (!(p = explain_index(out, p, end, "row", m->rows)))
            return;
        read_index(p, end, m->cols, &col);
        if (!(p = explain_index(out, p, end, "column", m->cols)))
            return;
        if (m->symmetry == SYMMETRY_SKEW && row == col) {
            snprintf(out, SOURCE_TEXT,
                     "entry (%lld, %lld) lies on the diagonal, which a skew-symmetric file leaves out",
                     (long long)row + 1, (long long)col + 1);
            return;
        }
    }
    const char *values = p;
    for (int n = m->field == FIELD_PATTERN ? 0 : m->field == FIELD_COMPLEX ? 2 : 1; n > 0; n--)
        if (!(p = explain_value(out, p, end, m)))
            return;
    if (m->symmetry == SYMMETRY_HERMITIAN && row == col && bad_diagonal(m, e))
        snprintf(out, SOURCE_TEXT, "entry (%lld, %lld) on the diagonal of a hermitian file is not real: %s",
                 (long long)row + 1, (long long)col + 1, quote(quoted, values, end));
    else
        snprintf(out, SOURCE_TEXT, "expected the end of the line, found %s", quote(quoted, p, end));
}

/* `k` never passes first_entry + entries, because both passes agree on which lines are entries: that is
 * why threads need no lock and writes stay inside the arrays. */
void chunk_parse(struct chunk *c, const struct market *m, const struct coo *coo)
{
    int64_t line = c->first_line, k = c->first_entry;
    struct market_entry e = {0, 0, 1, 0};
    if (m->array && k < m->stored)
        array_position(m, k, &e.row, &e.col);
    for (const char *p = c->begin, *start; p < c->end; line++) {
        start = p = skip_blanks(p);
        if (*p == '\n' || *p == '%') {
            p = skip_line(p, c->end);
            continue;
        }
        if (k == m->stored) {
            snprintf(c->error, sizeof c->error, "an entry too many: the size line announces %lld",
                     (long long)m->stored);
            c->error_line = line + 1;
            return;
        }
        if (!(p = read_entry(p, c->end, m, &e))) {
            explain(c->error, start, c->end, m, &e);
            c->error_line = line + 1;
            return;
        }
        coo->row[k] = (int32_t)e.row;
        coo->col[k] = (int32_t)e.col;
        if (coo->value == HEDDLE_F64)
            ((double *)coo->val)[k] = e.value;
        else
            value_put(coo->val, coo->value, k, complex_of(e.value, e.imaginary));
        k++;
        if (m->array)
            array_step(m, &e.row, &e.col);
    }
}
