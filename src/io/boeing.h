/* SPDX-License-Identifier: MIT
 *
 * boeing.h: Rutherford-Boeing files and their ancestor Harwell-Boeing: a header of four lines (five when
 * right-hand sides follow), then column pointers, row numbers and values in the fixed-width formats of
 * Fortran that the header names. */
#ifndef IO_BOEING_H
#define IO_BOEING_H

#include "io/source.h"
#include "matrix/matrix.h"

/* "(1P,4D20.12)": four fields of twenty characters a line. */
struct fortran {
    int64_t per_line, width;
    char kind; /* I, E, D, F or G */
};

/* Fields of lines, one after the other. */
struct fields {
    struct text_source *source;
    struct fortran format;
    const char *line;
    int64_t size, taken; /* of the line: characters, and fields used up */
};

/* Reads one format out of [p, end) and returns the place behind it, NULL when there is none that can be
 * read. */
const char *fortran_parse(struct fortran *f, const char *p, const char *end);
heddle_status fields_int(struct fields *f, const char *what, int64_t *value);
heddle_status fields_real(struct fields *f, const char *what, double *value);

heddle_status boeing_read(struct text_source *s, struct csr *A, heddle_type value);
/* Does the text look like a header of this kind? */
int boeing_header(const char *text, int64_t size);

#endif
