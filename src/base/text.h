/* SPDX-License-Identifier: MIT
 *
 * text.h: specs such as "grid3d:n=100,dof=3", which name families, kernels with options and devices alike;
 * numbers as people write them; text that grows. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/status.h"

#define SPEC_KEYS 16
#define SPEC_TEXT 64

/* A parsed spec.  Keys that are asked for are marked, so that spec_done can name one that nobody knows. */
struct spec {
    char name[SPEC_TEXT];
    int keys;
    struct {
        char key[SPEC_TEXT], value[SPEC_TEXT];
        int used;
    } item[SPEC_KEYS];
};

heddle_status spec_parse(struct spec *spec, const char *text);
/* The value of a key, or NULL; marks it as known. */
const char *spec_text(struct spec *spec, const char *key);
/* An integer ("100", "1e6", "4k", "2M": powers of 1000) within [low, high]; `value` is left alone if the
 * key is absent. */
heddle_status spec_int(struct spec *spec, const char *key, int64_t low, int64_t high, int64_t *value);
/* HEDDLE_BAD_ARGUMENT naming the first key that was never asked for; `known` lists those that would be
 * valid. */
heddle_status spec_done(const struct spec *spec, const char *known);

/* An integer as people write it; HEDDLE_BAD_ARGUMENT when `text` is anything else or does not fit. */
heddle_status parse_int(const char *text, int64_t *value);
/* A finite number or inf/nan that takes up the whole text. */
heddle_status parse_real(const char *text, double *value);
/* The same, or a complex number: 1+2i, -0.5i, 3-i. */
heddle_status parse_complex(const char *text, double _Complex *value);

/* Text that grows; `failed` stays set after the first allocation that failed, and later additions do
 * nothing. */
struct text {
    char *data; /* zero-terminated when not NULL */
    int64_t size, capacity;
    int failed;
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/* 1234567 as "1,234,567" and bytes as "12.3 MB", in a buffer that the caller gives; both return it. */
#define NUMBER_TEXT 32
char *text_count(char buffer[NUMBER_TEXT], int64_t n);
char *text_bytes(char buffer[NUMBER_TEXT], double bytes);
/* A number with so many digits as parse_complex reads it; the imaginary part is left out where it is 0. */
#define COMPLEX_TEXT 64
char *text_complex(char buffer[COMPLEX_TEXT], double _Complex value, int digits);

/* The bytes of the UTF-8 letter at s, 0 if there is none. */
int text_letter(const char *s);
/* Copies what a terminal may be shown: control characters, which it would obey, and bytes that are no
 * UTF-8 become \x1b, except for the characters of `keep`.  What does not fit into `size` bytes is left
 * out; the copy ends in a zero.  Returns its length. */
int64_t text_printable(char *out, int64_t size, const char *text, const char *keep);

/* Does `text` end in `ending`? */
int text_ends(const char *text, const char *ending);

#endif
