/* SPDX-License-Identifier: MIT
 *
 * variant.h: the rows of variants.def as an enumeration and, inside a typed source, the names of its own
 * variant. */
#ifndef MATRIX_VARIANT_H
#define MATRIX_VARIANT_H

#include <stdint.h>

#include "heddle.h"
#include "matrix/number.h"

enum variant {
#define VARIANT(name, elem, real, off, value, offset) VARIANT_##name,
#include "matrix/variants.def"
#undef VARIANT
    VARIANT_COUNT
};

/* TYPED(csr_sort) is csr_sort__f64_i32 in the f64_i32 compilation of a typed source. */
#define NAME_PASTE(name, variant) name##__##variant
#define NAME_JOIN(name, variant) NAME_PASTE(name, variant)
#define TYPED(name) NAME_JOIN(name, VARIANT_NAME)

/* What a matrix keeps as the type of its values says of what type its vectors are, too: one number more than
 * heddle_type has stands for f32 values with f64 vectors.  The API takes and gives the two apart. */
#define F32_F64 ((heddle_type)8)

static inline heddle_type value_type(heddle_type value)
{
    return value == F32_F64 ? HEDDLE_F32 : value;
}

static inline heddle_type vector_type(heddle_type value)
{
    return value == F32_F64 ? HEDDLE_F64 : value == HEDDLE_F16 || value == HEDDLE_BF16 ? HEDDLE_F32 : value;
}

/* Of values, offsets and indices; `vector_size` is that of an entry of x. */
static inline size_t type_size(heddle_type type)
{
    switch ((int)type) {
    case HEDDLE_F16:
    case HEDDLE_BF16:
        return 2;
    case HEDDLE_F32:
    case HEDDLE_I32:
    case F32_F64:
        return 4;
    case HEDDLE_C64:
        return 16;
    default:
        return 8;
    }
}

static inline size_t vector_size(heddle_type value)
{
    return type_size(vector_type(value));
}

static inline int is_complex(heddle_type value)
{
    return value == HEDDLE_C32 || value == HEDDLE_C64;
}

/* As precise as a value is: a float, or a double. */
static inline heddle_type part_type(heddle_type value)
{
    return value == HEDDLE_F64 || value == HEDDLE_C64 ? HEDDLE_F64 : HEDDLE_F32;
}

/* The type whose sources move values of this one: one of the same size (`moved` of sets.def). */
static inline heddle_type moved_type(heddle_type value)
{
    return type_size(value) == 2 ? HEDDLE_F16
         : type_size(value) == 4 ? HEDDLE_F32
         : type_size(value) == 8 ? HEDDLE_F64
                                 : HEDDLE_C64;
}

/* ROW(argument, name) for each variant of these types. */
#define EACH_MOVED(ROW, argument)                                                                            \
    ROW(argument, f16_i32)                                                                                   \
    ROW(argument, f16_o64)                                                                                   \
    ROW(argument, f32_i32)                                                                                   \
    ROW(argument, f32_o64)                                                                                   \
    ROW(argument, f64_i32)                                                                                   \
    ROW(argument, f64_o64)                                                                                   \
    ROW(argument, c64_i32)                                                                                   \
    ROW(argument, c64_o64)

static inline enum variant variant_of(heddle_type value, heddle_type offset)
{
    const int of_value = (int)value, wide = offset == HEDDLE_I64;
#define VARIANT(name, elem, real, off, its_value, its_offset)                                                \
    if (of_value == (int)(its_value) && wide == ((its_offset) == HEDDLE_I64))                                \
        return VARIANT_##name;
#include "matrix/variants.def"
#undef VARIANT
    return VARIANT_f64_i32;
}

static inline enum variant moved_variant(heddle_type value, heddle_type offset)
{
    return variant_of(moved_type(value), offset);
}

/* "f32", "c64", "f32v64", ...; NULL for what is no type of values. */
const char *value_name(heddle_type value);
const char *variant_name(enum variant v);
/* The one with the same offsets that pages have which do not look at values (`pattern` of sets.def), and the
 * one with the same numbers that pages have which know no offsets (gpu_real of kernels.def). */
enum variant pattern_variant(enum variant v);
enum variant real_variant(enum variant v);

#endif
