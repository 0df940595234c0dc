/* SPDX-License-Identifier: MIT
 *
 * variant.h: the rows of variants.def as an enumeration and, inside a typed source, the names of its own
 * variant. */
#ifndef MATRIX_VARIANT_H
#define MATRIX_VARIANT_H

#include <stdint.h>

#include "heddle.h"

enum variant {
#define VARIANT(name, real, off, value, offset) VARIANT_##name,
#include "matrix/variants.def"
#undef VARIANT
    VARIANT_COUNT
};

/* TYPED(csr_sort) is csr_sort__f64_i32 in the f64_i32 compilation of a typed source. */
#define NAME_PASTE(name, variant) name##__##variant
#define NAME_JOIN(name, variant) NAME_PASTE(name, variant)
#define TYPED(name) NAME_JOIN(name, VARIANT_NAME)

static inline size_t type_size(heddle_type type)
{
    return type == HEDDLE_F32 || type == HEDDLE_I32 ? 4 : 8;
}

static inline enum variant variant_of(heddle_type value, heddle_type offset)
{
    return (enum variant)((value == HEDDLE_F64) + 2 * (offset == HEDDLE_I64));
}

const char *variant_name(enum variant v);

#endif
