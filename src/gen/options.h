/* SPDX-License-Identifier: MIT
 *
 * options.h: the parameters that families share.  A family sets its defaults, options_read replaces what
 * the spec gives, and sizes that were not given adapt to those that were. */
#ifndef GEN_OPTIONS_H
#define GEN_OPTIONS_H

#include "base/text.h"
#include "gen/profile.h"
#include "matrix/matrix.h"

#define SIZE_MOST (INDEX_LIMIT - 1)

struct options {
    int64_t n, seed;
    int64_t rows, cols; /* 0: n (cols: n / narrow) */
    int64_t narrow;     /* 0: square */
    int64_t mean;       /* hundredths */
    int64_t nnz;        /* rows * mean unless given */
    int nnz_given;      /* nnz or mean was in the spec: it is met or refused */
    int64_t deviation;  /* hundredths; -1: free */
    int64_t longest;    /* 0: free */
    int64_t shortest;
    int64_t run; /* neighbouring rows of equal length */
};

/* n and seed alone. */
heddle_status options_size(struct options *o, struct spec *spec, int64_t least, int64_t most);
/* n, seed, rows, cols, nnz, mean, deviation, longest, shortest, run. */
heddle_status options_read(struct options *o, struct spec *spec);
/* Refuses cols that were given and differ from rows. */
heddle_status options_square(const struct options *o, const struct spec *spec);
/* The wish for a profile that these options describe; shape, exponent and multiple are the family's to
 * change. */
struct profile_wish options_wish(const struct options *o);
/* empty: so many percent of the rows have no entries.  The other wishes are then about the rest. */
heddle_status options_empty(struct profile_wish *w, const struct options *o, struct spec *spec);

/* A number with up to two decimals, in hundredths; the bounds are in hundredths too. */
heddle_status spec_hundredths(struct spec *spec, const char *key, int64_t low, int64_t high, int64_t *value);
/* One of the words of a list such as "clustered|scattered": its place in the list. */
heddle_status spec_choice(struct spec *spec, const char *key, const char *words, int64_t *choice);

#endif
