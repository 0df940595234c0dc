/* SPDX-License-Identifier: MIT
 *
 * number.h: text to numbers and back, correctly rounded and the same in every locale. */
#ifndef IO_NUMBER_H
#define IO_NUMBER_H

#include <stdint.h>
#include <string.h>

#include "heddle.h"

#define NUMBER_LONGEST 1024 /* characters of a number that needs the slow way */
#define NUMBER_SIZE 32      /* characters that number_write may need, and half of those of value_write */

/* Reads the number that begins at p in any spelling that strtod takes.  The text [p, end) must end in a
 * character that belongs to no number, a newline say: that is what stops the loops.  Returns the place
 * behind the number, or NULL. */
const char *number_read(const char *p, const char *end, double *value);

/* The shortest decimal that reads back as the same value of its type, "nan" or "inf"; returns its length,
 * no zero at the end.  A HEDDLE_F32 is handed over as the double that equals it. */
int number_write(char *out, double value, heddle_type type);
/* Number k of an array: one that is complex as its real and its imaginary part, a blank between them. */
int value_write(char *out, const void *val, heddle_type type, int64_t k);

/* Writes n >= 0 in decimal and returns the length. */
int number_write_int(char *out, int64_t n);

static inline int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

extern const uint64_t number_powers[9]; /* 10^0 ... 10^8 */

/* Appends the digits that stand at p, at most eight, to *w and returns how many there are.  All are found
 * and joined at once: lengths vary from number to number, and a loop over them would mispredict its end.
 * Reads eight bytes. */
static inline int digits_8(const char *p, uint64_t *w)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, p, 8);
    v ^= UINT64_C(0x3030303030303030); /* digits become 0 to 9; the rest sets the top bit of its byte below */
    uint64_t rest = ((v + UINT64_C(0x7676767676767676)) | v) & UINT64_C(0x8080808080808080);
    int n = rest ? __builtin_ctzll(rest) >> 3 : 8;
    if (n == 0)
        return 0;
    v <<= 64 - 8 * n;      /* as if zeros stood before them */
    v = v * 10 + (v >> 8); /* pairs */
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    v = ((v & mask) * UINT64_C(0x000f424000000064) + ((v >> 16) & mask) * UINT64_C(0x0000271000000001)) >> 32;
    *w = *w * number_powers[n] + (uint32_t)v;
    return n;
#else
    int n = 0;
    for (; n < 8 && is_digit(p[n]); n++)
        *w = *w * 10 + (uint64_t)(p[n] - '0');
    return n;
#endif
}

static inline int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

#endif
