/* SPDX-License-Identifier: MIT
 *
 * fortran.c: fixed-width fields.  Two rules of Fortran are left out, as in every other reader of these
 * files, because nobody writes such data: a field without a point is not divided by a power of ten, and
 * the scale factor P is ignored. */
#include <string.h>

#include "io/boeing.h"
#include "io/number.h"

#define FIELD_MOST 255 /* characters of a field */

static const char *skip(const char *p, const char *end)
{
    while (p < end && (is_blank(*p) || *p == ','))
        p++;
    return p;
}

/* Digits at p; `missing` when there are none. */
static const char *digits(const char *p, const char *end, int64_t missing, int64_t *n)
{
    const char *first = p = skip(p, end);
    for (*n = 0; p < end && is_digit(*p); p++)
        *n = *n < FIELD_MOST * 100 ? *n * 10 + (*p - '0') : *n;
    if (p == first)
        *n = missing;
    return skip(p, end);
}

/* (kP,rEw.dEe): scale and digits are read over; only how many fields of which width stand in a line
 * matters. */
const char *fortran_parse(struct fortran *f, const char *p, const char *end)
{
    int64_t ignored;
    if (!(p = memchr(p, '(', (size_t)(end - p))))
        return NULL;
    p = digits(p + 1, end, 1, &f->per_line);
    if (p < end && (*p | 32) == 'p')
        p = digits(p + 1, end, 1, &f->per_line);
    if (p == end || !strchr("IEDFGiedfg", *p) || !*p)
        return NULL;
    f->kind = (char)(*p & ~32);
    p = digits(p + 1, end, 0, &f->width);
    if (p < end && *p == '.')
        p = digits(p + 1, end, 0, &ignored);
    if (p < end && (*p | 32) == 'e')
        p = digits(p + 1, end, 0, &ignored);
    if (p == end || *p != ')' || f->width < 1 || f->width > FIELD_MOST || f->per_line < 1)
        return NULL;
    return p + 1;
}

/* The next field as [*begin, *end) without blanks around it. */
static heddle_status next_field(struct fields *f, const char *what, const char **begin, const char **end)
{
    int64_t at = f->taken * f->format.width;
    if (!f->line || f->taken == f->format.per_line || at >= f->size) {
        heddle_status status = source_line(f->source, &f->line, &f->size);
        if (status != HEDDLE_OK)
            return status;
        if (!f->line)
            return source_fail(f->source, HEDDLE_BAD_FILE, f->source->line,
                               "the file ends where a %s was expected", what);
        at = f->taken = 0;
    }
    f->taken++;
    const char *p = f->line + at,
               *stop = f->size - at < f->format.width ? f->line + f->size : p + f->format.width;
    while (p < stop && is_blank(*p))
        p++;
    while (stop > p && is_blank(stop[-1]))
        stop--;
    *begin = p;
    *end = stop;
    return HEDDLE_OK;
}

/* The complaint about a field that is not what it should be. */
static heddle_status bad_field(struct fields *f, const char *what, const char *p, const char *end)
{
    char quoted[QUOTE_SIZE];
    return source_fail(f->source, HEDDLE_BAD_FILE, f->source->line, "expected a %s, found %s", what,
                       p == end ? "blanks" : quote(quoted, p, end));
}

/* Digits only, with a plus at most: no number of these files is negative. */
heddle_status fields_int(struct fields *f, const char *what, int64_t *value)
{
    const char *p = NULL, *end = NULL;
    heddle_status status = next_field(f, what, &p, &end);
    if (status != HEDDLE_OK)
        return status;
    const char *q = p + (p < end && *p == '+');
    if (q == end || end - q > 18)
        return bad_field(f, what, p, end);
    for (*value = 0; q < end; q++) {
        if (!is_digit(*q))
            return bad_field(f, what, p, end);
        *value = *value * 10 + (*q - '0');
    }
    return HEDDLE_OK;
}

/* The exponent may be 1.0D+05, 1.0E+05, 1.0e5 or, when it has three digits, 1.0+105. */
heddle_status fields_real(struct fields *f, const char *what, double *value)
{
    char text[2 * FIELD_MOST + 2];
    const char *p = NULL, *end = NULL;
    heddle_status status = next_field(f, what, &p, &end);
    if (status != HEDDLE_OK)
        return status;
    int64_t n = 0;
    for (const char *q = p; q < end; q++) {
        int sign = (*q == '+' || *q == '-') && q > p && (is_digit(q[-1]) || q[-1] == '.');
        if (sign)
            text[n++] = 'e';
        text[n++] = q > p && (*q | 32) == 'd' ? 'e' : *q;
    }
    text[n++] = '\n';
    const char *stop = number_read(text, text + n, value);
    return stop == text + n - 1 ? HEDDLE_OK : bad_field(f, what, p, end);
}
