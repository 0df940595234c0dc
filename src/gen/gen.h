/* SPDX-License-Identifier: MIT
 *
 * gen.h: matrix families and sets of matrices.  A spec ("grid3d:n=100,dof=3,seed=7") gives the same matrix
 * on every machine and for any number of threads: integer arithmetic only, and randomness keyed by seed
 * and row. */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include "base/text.h"
#include "matrix/matrix.h"

struct family {
    const char *name;
    const char *what;       /* one line */
    const char *parameters; /* "n=100 points=5|9 dof=1 seed=1": names with defaults */
    heddle_status (*make)(struct csr *A, struct spec *spec, heddle_type value);
};

int family_count(void);
const struct family *family_at(int i);

/* HEDDLE_BAD_ARGUMENT with the reason for an unknown family, key or value.  Any type of values will do, and
 * none means f64.  values=complex, which every family takes, gives values whose parts are both random (c64
 * unless c32 is asked for); otherwise those of a complex type are real. */
heddle_status gen_matrix(struct csr *A, const char *spec, heddle_type value);

/* A set is a list of named specs.  `published` holds what a paper or the public collection says of the
 * matrix that a member stands in for; fields that are not known are 0 (deviation: negative). */
struct set_member {
    const char *name; /* "cant" */
    const char *spec; /* "grid3d:..." */
    struct {
        int64_t rows, cols, nnz, longest;
        double deviation;
        const char *where; /* "ellpack-r-2011 Table I"; NULL when the member stands in for nothing */
    } published;
};

struct set {
    const char *name; /* "paper" */
    const char *what;
    int count;
    const struct set_member *member;
};

int set_count(void);
const struct set *set_at(int i);
const struct set *set_by_name(const char *name);           /* NULL when there is none */
const struct set_member *member_by_name(const char *name); /* in any set; NULL when there is none */

#endif
