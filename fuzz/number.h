/* SPDX-License-Identifier: MIT
 *
 * number.h: numbers of every type in arrays as the API takes them, for oracles. */
#ifndef FUZZ_NUMBER_H
#define FUZZ_NUMBER_H

#include <complex.h>
#include <heddle.h>
#include <math.h>
#include <stdint.h>

/* What stands in an array; real types have no imaginary part. */
typedef double complex number;

static inline int has_two_parts(heddle_type type)
{
    return type == HEDDLE_C32 || type == HEDDLE_C64;
}

/* The 16 bits of an integer below 2048. */
static inline uint16_t half_of(double v)
{
    int exponent;
    const double part = frexp(fabs(v), &exponent);
    return v == 0 ? 0 : (uint16_t)((v < 0) << 15 | (exponent + 14) << 10 | (int)((2 * part - 1) * 1024));
}

static inline double of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent == 0  ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

union bits {
    float f32;
    uint32_t word;
};

/* In 16 bits: integers below 2048 (f16) or 256 (bf16). */
static inline void put(void *array, heddle_type type, int64_t i, number v)
{
    const union bits f32 = {.f32 = (float)creal(v)};
    switch (type) {
    case HEDDLE_F32:
        ((float *)array)[i] = f32.f32;
        break;
    case HEDDLE_F16:
        ((uint16_t *)array)[i] = half_of(creal(v));
        break;
    case HEDDLE_BF16:
        ((uint16_t *)array)[i] = (uint16_t)(f32.word >> 16);
        break;
    case HEDDLE_C32:
        ((float complex *)array)[i] = (float complex)v;
        break;
    case HEDDLE_C64:
        ((number *)array)[i] = v;
        break;
    default:
        ((double *)array)[i] = creal(v);
    }
}

static inline number get(const void *array, heddle_type type, int64_t i)
{
    union bits b = {0};
    switch (type) {
    case HEDDLE_F32:
        return ((const float *)array)[i];
    case HEDDLE_F16:
        return of_half(((const uint16_t *)array)[i]);
    case HEDDLE_BF16:
        b.word = (uint32_t)((const uint16_t *)array)[i] << 16;
        return b.f32;
    case HEDDLE_C32:
        return ((const float complex *)array)[i];
    case HEDDLE_C64:
        return ((const number *)array)[i];
    default:
        return ((const double *)array)[i];
    }
}

#endif
