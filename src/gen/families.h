/* SPDX-License-Identifier: MIT
 *
 * families.h: what the files of families share. */
#ifndef GEN_FAMILIES_H
#define GEN_FAMILIES_H

#include "gen/build.h"
#include "gen/gen.h"
#include "gen/options.h"
#include "gen/profile.h"
#include "gen/random.h"

/* One maker per row of families.def. */
#define FAMILY(name, what, parameters)                                                                       \
    heddle_status make_##name(struct csr *A, struct spec *spec, heddle_type value);
#include "gen/families.def"
#undef FAMILY

/* Rejects keys that the family did not ask for, then builds. */
heddle_status finish(struct csr *A, struct maker *m, struct spec *spec, heddle_type value);
/* The rejection alone. */
heddle_status no_more_keys(const struct spec *spec);

/* profile_new with the family's name in front of an error. */
heddle_status family_profile(struct profile *p, const struct profile_wish *wish, const struct spec *spec);

/* Where the columns of rows with a profile are drawn: a share falls anywhere or on popular columns, the
 * others near the row's own place among the columns, in three strips if asked for. */
struct scatter {
    int64_t sigma; /* deviation of the distance to the row's own place */
    int64_t strip; /* strips stand at -strip, 0 and +strip */
    int64_t far;   /* percent of the entries that do not care where the row is */
    int popular;   /* those prefer small columns, the smaller the more */
};
heddle_status build_scatter(struct csr *A, const struct scatter *s, const struct options *o,
                            const struct profile *profile, heddle_type value);

int32_t weight_rate(const struct maker *m, int64_t row, int64_t col); /* in (0, 1] */

#endif
