/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Copies [from, to) if it fits. */
static heddle_status take(char *out, const char *from, const char *to, const char *what)
{
    size_t n = (size_t)(to - from);
    if (n >= SPEC_TEXT)
        return fail(HEDDLE_BAD_ARGUMENT, "the %s '%.20s...' is longer than %d characters", what, from,
                    SPEC_TEXT - 1);
    memcpy(out, from, n);
    out[n] = 0;
    return HEDDLE_OK;
}

heddle_status spec_parse(struct spec *spec, const char *text)
{
    heddle_status status = HEDDLE_OK;
    *spec = (struct spec){0};
    const char *end = text + strcspn(text, ":");
    TRY(take(spec->name, text, end, "name"));
    while (*end) {
        const char *key = end + 1;
        end = key + strcspn(key, ",");
        const char *equals = memchr(key, '=', (size_t)(end - key));
        if (!equals || equals == key)
            return fail(HEDDLE_BAD_ARGUMENT, "'%.*s' in '%s' is not key=value", (int)(end - key), key, text);
        if (spec->keys == SPEC_KEYS)
            return fail(HEDDLE_BAD_ARGUMENT, "'%s' has more than %d keys", text, SPEC_KEYS);
        TRY(take(spec->item[spec->keys].key, key, equals, "key"));
        TRY(take(spec->item[spec->keys].value, equals + 1, end, "value"));
        for (int i = 0; i < spec->keys; i++)
            if (strcmp(spec->item[i].key, spec->item[spec->keys].key) == 0)
                return fail(HEDDLE_BAD_ARGUMENT, "'%s' gives '%s' twice", text, spec->item[i].key);
        spec->keys++;
    }
done:
    return status;
}

const char *spec_text(struct spec *spec, const char *key)
{
    for (int i = 0; i < spec->keys; i++)
        if (strcmp(spec->item[i].key, key) == 0) {
            spec->item[i].used = 1;
            return spec->item[i].value;
        }
    return NULL;
}

heddle_status spec_int(struct spec *spec, const char *key, int64_t low, int64_t high, int64_t *value)
{
    const char *text = spec_text(spec, key);
    int64_t n;
    if (!text)
        return HEDDLE_OK;
    if (parse_int(text, &n) != HEDDLE_OK)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is not an integer", spec->name, key, text);
    if (n < low || n > high)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is outside %lld..%lld", spec->name, key, text,
                    (long long)low, (long long)high);
    *value = n;
    return HEDDLE_OK;
}

heddle_status spec_done(const struct spec *spec, const char *known)
{
    for (int i = 0; i < spec->keys; i++)
        if (!spec->item[i].used)
            return fail(HEDDLE_BAD_ARGUMENT, "%s has no '%s' (it has: %s)", spec->name, spec->item[i].key,
                        known);
    return HEDDLE_OK;
}

heddle_status parse_int(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || errno == ERANGE)
        return fail(HEDDLE_BAD_ARGUMENT, "'%s' is not an integer", text);
    if (*end == 'e' || *end == 'E' || *end == '.') { /* 1e6, 2.5e3: exact integers written like a real */
        double real = strtod(text, &end);
        if (*end || real != floor(real) || fabs(real) > 9e15)
            return fail(HEDDLE_BAD_ARGUMENT, "'%s' is not an integer", text);
        *value = (int64_t)real;
        return HEDDLE_OK;
    }
    int64_t unit = *end == 'k' || *end == 'K' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 1;
    if (end[unit > 1] || __builtin_mul_overflow((int64_t)n, unit, value))
        return fail(HEDDLE_BAD_ARGUMENT, "'%s' is not an integer", text);
    return HEDDLE_OK;
}

heddle_status parse_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end)
        return fail(HEDDLE_BAD_ARGUMENT, "'%s' is not a number", text);
    return HEDDLE_OK;
}

/* "+2i", "-i", "0.5i": an imaginary part that ends the text. */
static int parse_imaginary(const char *text, double *value)
{
    char *end;
    const int sign = *text == '+' || *text == '-';
    if (strcmp(text + sign, "i") == 0) {
        *value = *text == '-' ? -1 : 1;
        return 1;
    }
    *value = strtod(text, &end);
    return end > text && strcmp(end, "i") == 0;
}

heddle_status parse_complex(const char *text, double _Complex *value)
{
    char *end;
    double parts[2] = {0, 0};
    int good = parse_imaginary(text, &parts[1]);
    if (!good) {
        parts[1] = 0;
        parts[0] = strtod(text, &end);
        good = end > text && (!*end || ((*end == '+' || *end == '-') && parse_imaginary(end, &parts[1])));
    }
    if (!good)
        return fail(HEDDLE_BAD_ARGUMENT, "'%s' is not a number", text);
    __real__ *value = parts[0];
    __imag__ *value = parts[1];
    return HEDDLE_OK;
}

void text_add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || t->failed)
        return;
    if (t->size + n + 1 > t->capacity) {
        int64_t capacity = 2 * (t->size + n + 1);
        char *data = mem_resize(t->data, t->size, capacity, 1);
        if (!data) {
            t->failed = 1;
            return;
        }
        t->data = data;
        t->capacity = capacity;
    }
    va_start(args, format);
    vsnprintf(t->data + t->size, (size_t)n + 1, format, args);
    va_end(args);
    t->size += n;
}

void text_free(struct text *t)
{
    mem_free(t->data);
    *t = (struct text){0};
}

char *text_count(char buffer[NUMBER_TEXT], int64_t n)
{
    char digits[NUMBER_TEXT];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)n), out = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0 && digits[i - 1] != '-' && (size - i) % 3 == 0)
            buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = 0;
    return buffer;
}

char *text_bytes(char buffer[NUMBER_TEXT], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    snprintf(buffer, NUMBER_TEXT, "%.3g %s", bytes, units[unit]);
    return buffer;
}

char *text_complex(char buffer[COMPLEX_TEXT], double _Complex value, int digits)
{
    const double re = __real__ value, im = __imag__ value;
    if (im == 0)
        snprintf(buffer, COMPLEX_TEXT, "%.*g", digits, re);
    else
        snprintf(buffer, COMPLEX_TEXT, "%.*g%+.*gi", digits, re, digits, im);
    return buffer;
}

int text_letter(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    int n = u[0] < 0x80                 ? 1
          : u[0] >= 0xc2 && u[0] < 0xe0 ? 2
          : u[0] >= 0xe0 && u[0] < 0xf0 ? 3
          : u[0] >= 0xf0 && u[0] < 0xf5 ? 4
                                        : 0;
    for (int i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Of a letter of n bytes: below a blank, delete, or one of U+0080 to U+009F. */
static int is_control(const char *s, int n)
{
    const unsigned char *u = (const unsigned char *)s;
    return (n == 1 && (u[0] < 0x20 || u[0] == 0x7f)) || (n == 2 && u[0] == 0xc2 && u[1] < 0xa0);
}

int64_t text_printable(char *out, int64_t size, const char *text, const char *keep)
{
    int64_t at = 0;
    while (*text) {
        int n = text_letter(text);
        int shown = n > 0 && (!is_control(text, n) || (n == 1 && strchr(keep, *text)));
        int bytes = n > 0 ? n : 1, room = shown ? bytes : 4 * bytes;
        if (at + room >= size)
            break;
        for (int i = 0; i < bytes; i++)
            if (shown)
                out[at++] = text[i];
            else
                at += snprintf(out + at, 5, "\\x%02x", (unsigned char)text[i]);
        text += bytes;
    }
    out[at] = 0;
    return at;
}

int text_ends(const char *text, const char *ending)
{
    size_t n = strlen(text), e = strlen(ending);
    return n >= e && strcmp(text + n - e, ending) == 0;
}
