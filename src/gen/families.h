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
#define FAMILY(name, what, parameters) heddle_status make_##name(struct csr *A, struct spec *spec, heddle_type value);
#include "gen/families.def"
#undef FAMILY

/* Rejects keys that the family did not ask for, then builds. */
heddle_status finish(struct csr *A, struct maker *m, struct spec *spec, heddle_type value);
/* The rejection alone. */
heddle_status no_more_keys(const struct spec *spec);

int32_t weight_rate(const struct maker *m, int64_t row, int64_t col); /* in (0, 1] */

#endif
