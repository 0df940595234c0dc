/* SPDX-License-Identifier: MIT
 *
 * checking.h: what the files of `heddle check` share. */
#ifndef CLI_CHECKING_H
#define CLI_CHECKING_H

#include "bench/candidate.h"
#include "bench/record.h"
#include "cli/cli.h"

struct kind {
    heddle_type type;
    heddle_op op;
    struct vector_group vectors;
};
#define CASES 3       /* pairs of scalars */
#define KIND_TYPES 16 /* types with N and T, complex ones with H too */
#define KIND_VECTORS 16
#define KINDS (KIND_TYPES * KIND_VECTORS)

struct outcome {
    int skipped, wrong;
    double error;
    char text[512]; /* why it was skipped, or what is wrong */
};

struct checking {
    struct session *s;
    heddle *h;
    struct candidate_list kernels;
    struct kind kind[KINDS]; /* those asked for; those with the same vectors stand together */
    int kinds;
    struct outcome (*outcome)[KINDS]; /* one row per kernel */
    struct json json;
    int json_wanted;
    int several, unread; /* matrices: one of several that cannot be read is skipped, one alone is an error */
    int unreadable;      /* of several: how many are broken, as one that Heddle has no kernel for is not */
    int64_t done, total, wrong, skipped, products;
    int64_t starved; /* of the skipped ones, those that memory did not suffice for: nobody knows whether
                      * they are right */
};

/* check_told.c */
void checking_count(struct checking *k);
void checking_tell_people(struct checking *k, const struct subject *subject);
void checking_tell_json(struct checking *k, const struct subject *subject);

#endif
