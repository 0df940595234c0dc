/* SPDX-License-Identifier: MIT
 *
 * profile.h: row lengths to order.  Given how many rows and entries there are, the shortest and the
 * longest row and how much lengths deviate, a profile assigns a length to every row: the total and the
 * longest are exact, the deviation as near as whole numbers allow.  Every row's length is found on its
 * own, so a profile needs no array of lengths. */
#ifndef GEN_PROFILE_H
#define GEN_PROFILE_H

#include "base/status.h"
#include "gen/random.h"

/* How lengths fall from the longest row to the shortest. */
enum profile_shape {
    SHAPE_NORMAL,      /* like a bell */
    SHAPE_EXPONENTIAL, /* many short rows, few long ones */
    SHAPE_POWER        /* rank^(-1/(exponent-1)): as in webs and social networks */
};

struct profile_wish {
    int64_t rows, nnz;      /* nnz between rows * shortest and rows * most */
    int64_t shortest, most; /* bounds of every length */
    int64_t longest;        /* exactly one row or more has this length, <= most; 0: as it comes */
    int64_t empty;          /* so many rows have no entries; the rest of the wish is about the others */
    int64_t deviation;      /* of the lengths, in hundredths; negative: as the shape makes it */
    enum profile_shape shape;
    int64_t exponent; /* of SHAPE_POWER, in hundredths, above 100 */
    int64_t multiple; /* lengths are multiples of this as far as possible, >= 1 */
    int64_t group;    /* so many neighbouring rows are (nearly) equally long, >= 1 */
    uint64_t seed;
};

/* Rows of equal length, in the order of falling length. */
struct profile_cell {
    int64_t first;  /* rank of its first row */
    int64_t count;  /* rows in it */
    int64_t height; /* of the shape, at FRACTION bits */
    int64_t length;
};

struct profile {
    int64_t rows, group, cells;
    struct profile_cell *cell; /* size cells, ascending first */
    struct permutation order;  /* of the groups: a row's rank is where the order puts it */
};

/* HEDDLE_BAD_ARGUMENT when no lengths can fulfil the wish. */
heddle_status profile_new(struct profile *p, const struct profile_wish *wish);
void profile_free(struct profile *p);

int64_t profile_length(const struct profile *p, int64_t row);

#endif
