/* SPDX-License-Identifier: MIT
 *
 * Reading.  An ordinary decimal is w 10^q with w below 10^19.  Small w and q are one exact product or
 * quotient of doubles (Clinger 1990); the rest takes a 64 x 128-bit product with a table of powers of ten,
 * whose leading bits decide the rounding unless they lie too close to a tie (Eisel and Lemire 2021).
 * Those few, and everything that is not an ordinary decimal, go to strtod.
 *
 * Writing.  The same table gives 17 digits of a double; 15, 16 and 17 of them are tried in turn, and the
 * first that reads back as the same value is taken.  So the reader vouches for the writer. */
#define _GNU_SOURCE /* strtod_l, uselocale */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/matrix.h"

#define POWER_FIRST (-100)
#define POWER_LAST 100
#define EXPONENT_MOST 100000 /* beyond any double: larger exponents are as good as this one */

static const struct {
    uint64_t high, low;
} powers[] = {
#define POWER(high, low) {UINT64_C(high), UINT64_C(low)},
#include "io/powers.def"
#undef POWER
};

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

const uint64_t number_powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

static locale_t plain_locale;

static void make_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The locale "C", or 0 where it cannot be made. */
static locale_t c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain_locale);
    return plain_locale;
}

/* floor(log2(10^q)), for all q of the table and beyond. */
static inline int power_log2(int q)
{
    return (217706 * q) >> 16;
}

__extension__ typedef unsigned __int128 uint128; /* every 64-bit gcc and clang has it */

/* The 128 bits of a b: the high half, and the low half through the pointer. */
static inline uint64_t product_128(uint64_t a, uint64_t b, uint64_t *low)
{
    uint128 p = (uint128)a * b;
    *low = (uint64_t)p;
    return (uint64_t)(p >> 64);
}

/* The double with these bits. */
static inline double from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* w 10^q for w > 0 through the table; 0 when the leading bits do not decide. */
static int compose_by_table(uint64_t w, int q, double *value)
{
    if (q < POWER_FIRST || q > POWER_LAST)
        return 0;
    int shift = __builtin_clzll(w);
    uint64_t low, high = product_128(w << shift, powers[q - POWER_FIRST].high, &low);
    if ((high & 0x1ff) == 0x1ff) { /* the bits below the 55 that matter may still carry: refine */
        uint64_t rest_low, rest = product_128(w << shift, powers[q - POWER_FIRST].low, &rest_low);
        low += rest;
        high += low < rest;
        if (low == UINT64_MAX && (q < -27 || q > 55)) /* the table itself is rounded there */
            return 0;
    }
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 9); /* 54 bits: 53 and one to round by */
    int exponent = power_log2(q) + 63 + top - shift + 1023;
    if (exponent <= 0 || exponent >= 2046)
        return 0; /* subnormal, or infinite after rounding */
    if (low == 0 && q >= -4 && q <= 23 && (m & 3) == 1 && m << (top + 9) == high)
        m &= ~UINT64_C(1); /* exactly half way: to even */
    m = (m + (m & 1)) >> 1;
    if (m >> 53) {
        m >>= 1;
        exponent++;
    }
    *value = from_bits((uint64_t)exponent << 52 | (m & ((UINT64_C(1) << 52) - 1)));
    return 1;
}

/* w 10^q, correctly rounded, or 0: then only strtod knows. */
static inline int compose(uint64_t w, int q, double *value)
{
    if (w <= UINT64_C(1) << 53 && q >= -22 && q <= 22) {
        *value = q < 0 ? (double)w / exact_powers[-q] : (double)w * exact_powers[q];
        return 1;
    }
    if (w == 0) {
        *value = 0;
        return 1;
    }
    return compose_by_table(w, q, value);
}

/* Everything that is rare: inf, nan, hexadecimal, subnormal, close to a tie. */
static const char *read_slowly(const char *p, const char *end, double *value)
{
    char copy[NUMBER_LONGEST], *stop;
    int n = 0;
    while (p + n < end && !is_blank(p[n]) && p[n] != '\n') {
        if (n == NUMBER_LONGEST - 1)
            return NULL;
        copy[n] = p[n];
        n++;
    }
    copy[n] = 0;
    const locale_t c = c_locale();
    *value = c ? strtod_l(copy, &stop, c) : strtod(copy, &stop);
    return stop == copy ? NULL : p + (stop - copy);
}

/* More than 19 digits from `first` on, with a point somewhere: the leading 19 decide if w and w + 1 round
 * alike. `exponent` belongs to the last digit. */
static int compose_long(const char *first, const char *last, int64_t exponent, double *value)
{
    uint64_t w = 0;
    int taken = 0, dropped = 0, nonzero = 0;
    for (const char *p = first; p < last; p++) {
        if (*p == '.')
            continue;
        if (taken < 19) {
            w = w * 10 + (uint64_t)(*p - '0');
            taken += w > 0; /* leading zeros are not digits */
        } else {
            dropped++;
            nonzero |= *p != '0';
        }
    }
    double above;
    exponent += dropped;
    if (exponent < -EXPONENT_MOST || exponent > EXPONENT_MOST || !compose(w, (int)exponent, value))
        return 0;
    return !nonzero || (compose(w + 1, (int)exponent, &above) && above == *value);
}

/* The exponent after 'e'; p stays where it is when there are no digits, as strtod has it. */
static const char *read_exponent(const char *p, int64_t *exponent)
{
    const char *q = p + 1;
    int negative = *q == '-';
    q += *q == '-' || *q == '+';
    if (!is_digit(*q))
        return p;
    int64_t e = 0;
    for (; is_digit(*q); q++)
        e = e < EXPONENT_MOST ? e * 10 + (*q - '0') : e;
    *exponent += negative ? -e : e;
    return q;
}

/* One pass over the characters collects digits as if there were no point, and the exponent that makes up
 * for it.  More than 19 digits overflow w, which nobody looks at then. */
const char *number_read(const char *p, const char *end, double *value)
{
    const char *start = p;
    int negative = *p == '-';
    p += *p == '-' || *p == '+';
    const char *first = p, *point = NULL;
    uint64_t w = 0;
    while (is_digit(*p)) /* one or two as a rule */
        w = w * 10 + (uint64_t)(*p++ - '0');
    int64_t digits = p - first, exponent = 0;
    if (*p == '.') {
        point = ++p;
        for (int n = 8; n == 8 && end - p >= 8; p += n)
            n = digits_8(p, &w);
        while (is_digit(*p)) /* close to the end of the text only */
            w = w * 10 + (uint64_t)(*p++ - '0');
        digits += p - point;
        exponent = point - p;
    }
    if (digits == 0 || (*p | 32) == 'x')
        return read_slowly(start, end, value);
    const char *last = p;
    if ((*p | 32) == 'e')
        p = read_exponent(p, &exponent);
    if (digits <= 19) {
        if (exponent < -EXPONENT_MOST || exponent > EXPONENT_MOST || !compose(w, (int)exponent, value))
            return read_slowly(start, end, value);
    } else if (!compose_long(first, last, exponent, value)) {
        return read_slowly(start, end, value);
    }
    *value = negative ? -*value : *value;
    return p;
}

int number_write_int(char *out, int64_t n)
{
    char reversed[NUMBER_SIZE];
    int size = 0;
    do {
        reversed[size++] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    for (int i = 0; i < size; i++)
        out[i] = reversed[size - 1 - i];
    return size;
}

/* The 17 leading digits of value > 0 as an integer in [10^16, 10^17) and the power of ten that belongs to
 * it; 0 when the table does not reach.  The last digit may be off: whoever uses it reads the result back. */
static uint64_t leading_digits(double value, int *exponent)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(value, &e), 64); /* value = m 2^(e-64), m >= 2^63 */
    int q = 16 - (((e - 1) * 1233) >> 12);              /* 1233 / 4096 is nearly log10(2) */
    for (int attempt = 0; attempt < 3; attempt++) {
        if (q < POWER_FIRST || q > POWER_LAST)
            return 0;
        uint64_t low, high = product_128(m, powers[q - POWER_FIRST].high, &low), rest_low;
        uint64_t rest = product_128(m, powers[q - POWER_FIRST].low, &rest_low);
        low += rest;
        high += low < rest;
        int shift = -(e - 64 + power_log2(q) + 1); /* of high alone: value 10^q = high 2^-shift */
        if (shift < 1 || shift > 63)
            return 0;
        uint64_t d = ((high >> (shift - 1)) + 1) >> 1;
        if (d >= UINT64_C(100000000000000000))
            q--;
        else if (d < UINT64_C(10000000000000000))
            q++;
        else {
            *exponent = -q;
            return d;
        }
    }
    return 0;
}

/* digits 10^exponent as people write it: 0.00012, 123.5, 1.5e+20 */
static int write_digits(char *out, uint64_t digits, int exponent)
{
    char text[NUMBER_SIZE];
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    int n = number_write_int(text, (int64_t)digits), point = n + exponent, size = 0;
    if (point > 17 || point < -4) {
        out[size++] = text[0];
        if (n > 1)
            out[size++] = '.';
        memcpy(out + size, text + 1, (size_t)n - 1);
        size += n - 1;
        out[size++] = 'e';
        out[size++] = point - 1 < 0 ? '-' : '+';
        return size + number_write_int(out + size, point - 1 < 0 ? 1 - point : point - 1);
    }
    if (point <= 0) {
        memcpy(out, "0.0000", (size_t)(2 - point));
        memcpy(out + 2 - point, text, (size_t)n);
        return 2 - point + n;
    }
    int whole = point < n ? point : n;
    memcpy(out, text, (size_t)whole);
    memset(out + whole, '0', (size_t)(point - whole));
    if (whole == n)
        return point;
    out[point] = '.';
    memcpy(out + point + 1, text + whole, (size_t)(n - whole));
    return n + 1;
}

/* For what the table does not reach. */
static int write_slowly(char *out, double value, heddle_type type)
{
    char text[2 * NUMBER_SIZE];
    const locale_t c = c_locale(), before = c ? uselocale(c) : (locale_t)0;
    int size = snprintf(text, sizeof text, "%.*g", type == HEDDLE_F32 ? 9 : 17, value);
    if (before)
        uselocale(before);
    memcpy(out, text, (size_t)size);
    return size;
}

/* Equal as values of the type. */
static int same(double a, double b, heddle_type type)
{
    return type == HEDDLE_F32 ? (float)a == (float)b : a == b;
}

/* Integers are common in matrices and need no search for digits; everything else is tried with more and
 * more of them. */
int number_write(char *out, double value, heddle_type type)
{
    int size = 0;
    if (value != value) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (signbit(value))
        out[size++] = '-';
    double v = fabs(value), back;
    if (v > 1.7976931348623157e308) {
        memcpy(out + size, "inf", 3);
        return size + 3;
    }
    if (v < 1e15 && v == (double)(int64_t)v)
        return size + number_write_int(out + size, (int64_t)v);
    int exponent = 0, enough = type == HEDDLE_F32 ? 9 : 17;
    uint64_t all = leading_digits(v, &exponent);
    for (int n = type == HEDDLE_F32 ? 6 : 15; all > 0 && n <= enough; n++) {
        uint64_t unit = (uint64_t)exact_powers[17 - n], digits = (all + unit / 2) / unit;
        if (compose(digits, exponent + 17 - n, &back) && same(back, v, type))
            return size + write_digits(out + size, digits, exponent + 17 - n);
    }
    return size + write_slowly(out + size, v, type);
}

int value_write(char *out, const void *val, heddle_type type, int64_t k)
{
    const double _Complex v = value_at(val, type, k);
    int n = number_write(out, RE(v), part_type(type));
    if (is_complex(type)) {
        out[n++] = ' ';
        n += number_write(out + n, IM(v), part_type(type));
    }
    return n;
}
