/* SPDX-License-Identifier: MIT
 *
 * market.h: Matrix Market files, https://math.nist.gov/MatrixMarket/formats.html
 *
 * A block of text is cut into chunks at line ends.  A first pass counts lines and entries of each chunk,
 * so that a second one can parse every chunk into its final place, with its true line numbers; both are
 * parallel. */
#ifndef IO_MARKET_H
#define IO_MARKET_H

#include "io/source.h"
#include "matrix/matrix.h"

enum symmetry { SYMMETRY_GENERAL, SYMMETRY_SYMMETRIC, SYMMETRY_SKEW, SYMMETRY_HERMITIAN };
enum field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN, FIELD_COMPLEX };

/* What the banner and the size line say. */
struct market {
    int array; /* every entry in turn, column by column; else coordinates */
    enum field field;
    enum symmetry symmetry;
    int64_t rows, cols;
    int64_t stored; /* entries in the file */
};

/* A piece of text that one thread parses. */
struct chunk {
    const char *begin, *end;         /* whole lines */
    int64_t lines, entries;          /* counted by chunk_count */
    int64_t first_line, first_entry; /* how many of each come before this chunk */
    int64_t error_line;              /* 0: none; else the first bad line, from 1 in the whole file */
    char error[SOURCE_TEXT];
};

/* Lines that are neither blank nor a comment count as entries, well-formed or not. */
void chunk_count(struct chunk *c);
/* Puts the entries at coo[first_entry ...], as far as `stored` lets them; stops at the first bad line. */
void chunk_parse(struct chunk *c, const struct market *m, const struct coo *coo);

/* Position of the k-th stored entry of an array, 0-based. */
void array_position(const struct market *m, int64_t k, int64_t *row, int64_t *col);

heddle_status market_header(struct text_source *s, struct market *m);
/* Stored entries in file order; value 0 means HEDDLE_F64, HEDDLE_C64 for a complex file. */
heddle_status market_read_coo(struct text_source *s, struct market *m, struct coo *coo, heddle_type value);
heddle_status market_read(struct text_source *s, struct csr *A, heddle_type value);
int market_banner(const char *text, int64_t size); /* does the text begin as a Matrix Market file? */

/* symmetry.c: the type that values are read as: the one that is asked for, or the usual one.  Complex
 * numbers do not become real. */
heddle_status file_value(heddle_type *value, int complex, const struct text_source *s);
/* Each entry off the diagonal is followed by its mirror image. */
heddle_status coo_mirror(struct coo *A, enum symmetry symmetry);
/* Mirrors and compresses; *coo is used up. */
heddle_status csr_from_file(struct csr *A, struct coo *coo, enum symmetry symmetry,
                            const struct text_source *s);

#endif
