/* SPDX-License-Identifier: MIT
 *
 * references.h: verify.h for several vectors: every vector of Y has a reference of its own. */
#ifndef VERIFY_REFERENCES_H
#define VERIFY_REFERENCES_H

#include "matrix/vectors.h"
#include "verify/verify.h"

struct references {
    struct vector_group vectors;
    struct reference *of; /* one for each */
    void *column;         /* a vector of Y, brought together from the rows */
};

/* By reference_new or reference_exact; x and y0 of the equation are X and Y0, laid out as `vectors` says. */
typedef heddle_status reference_maker(struct reference *r, const struct equation *p);
heddle_status references_new(struct references *r, const struct equation *p, struct vector_group vectors,
                             reference_maker *make);
void references_free(struct references *r); /* takes a zeroed one as well */

/* The verdict on all of Y: its worst error, and the first vector that is wrong, which the text names
 * ("vector 3: row 17 is ..."). */
void references_judge(struct verdict *v, char text[VERDICT_TEXT], const struct references *r, const void *Y);

#endif
