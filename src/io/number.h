/* SPDX-License-Identifier: MIT
 *
 * number.h: text to numbers and back, correctly rounded and the same in every locale. */
#ifndef IO_NUMBER_H
#define IO_NUMBER_H

#include <stdint.h>

#include "heddle.h"

#define NUMBER_LONGEST 1024 /* characters of a number that needs the slow way */
#define NUMBER_SIZE 32      /* characters that number_write may need */

/* Reads the number that begins at p in any spelling that strtod takes.  The text [p, end) must end in a character that
 * belongs to no number, a newline say: that is what stops the loops.  Returns the place behind the number, or NULL. */
const char *number_read(const char *p, const char *end, double *value);

/* The shortest decimal that reads back as the same value of its type, "nan" or "inf"; returns its length, no zero at
 * the end.  A HEDDLE_F32 is handed over as the double that equals it. */
int number_write(char *out, double value, heddle_type type);

/* Writes n >= 0 in decimal and returns the length. */
int number_write_int(char *out, int64_t n);

static inline int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

#endif
