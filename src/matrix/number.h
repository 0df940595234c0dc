/* SPDX-License-Identifier: MIT
 *
 * number.h: what values and vectors are made of.  `elem` is the type of stored values, `real` that of
 * vectors and sums; rows of variants.def pair them.  The types are here for C, that is for the host and
 * the emulator, and in simt/number.h, which includes this, for GPUs.
 *
 *   widen(v), narrow(s)   a stored value as a number to calculate with, and back, rounded to nearest even
 *   times(a, b)           a b.  For complex numbers the four products as they are: no case is told apart, so
 *                         that Inf in a part may become NaN in both, on every device alike.  (C's own product
 *                         would look for such results and call a function.)
 *   conjugate(a)          a itself where it is real
 *   IS_COMPLEX            1 or 0
 *   RE(a), IM(a)          the parts of a complex number
 *
 * Sums, comparisons and assignments are written as usual. */
#ifndef MATRIX_NUMBER_H
#define MATRIX_NUMBER_H

#ifndef __cplusplus
#include <stdint.h>
#include <string.h>

typedef uint16_t f16;  /* 5 bits of exponent, 10 of fraction */
typedef uint16_t bf16; /* 8 and 7 */
typedef float _Complex c32;
typedef double _Complex c64;
#define RE(a) (__real__(a))
#define IM(a) (__imag__(a))
#define NUMBER static inline __attribute__((unused))

/* -------------------------------------------------------- 16 bits ----------------------------- */

static inline float f32_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline float bf16_widen(bf16 v)
{
    return f32_of_bits((uint32_t)v << 16);
}

/* The fraction moves to its new place, and one multiplication sets the exponent right: of subnormal numbers
 * too, which become normal.  Only the largest exponent, of Inf and NaN, must be put back. */
static inline float f16_widen(f16 v)
{
#if defined(__F16C__)
    typedef short halves __attribute__((vector_size(16)));
    typedef float floats __attribute__((vector_size(16)));
    return ((floats)__builtin_ia32_vcvtph2ps((halves){(short)v}))[0];
#elif defined(__aarch64__)
    __fp16 half;
    memcpy(&half, &v, sizeof half);
    return half;
#else
    const uint32_t sign = (uint32_t)(v & 0x8000) << 16, at = (uint32_t)(v & 0x7fff) << 13;
    const float scaled = f32_of_bits(at) * 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    return f32_of_bits(sign | bits | (at >= 0x0f800000 ? 0x7f800000 : 0));
#endif
}

/* The nearest number with so many bits of exponent and fraction, ties to even; what is too large becomes
 * Inf.  NaN stays NaN, quiet, with as much of its payload as fits. */
static inline uint16_t narrow_to(double v, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1, cut = 52 - fraction_bits;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    const uint32_t sign = (uint32_t)(bits >> 63) << 15, infinite = (((uint32_t)1 << exponent_bits) - 1)
                                                                << fraction_bits;
    const int field = (int)(bits >> 52) & 2047,
              above = field - 1023 + bias - 1; /* the least normal exponent */
    if (field == 2047)
        return (uint16_t)(sign | infinite | (fraction ? 1u << (fraction_bits - 1) : 0) |
                          (uint32_t)(fraction >> cut));
    const int shift = cut + (above < 0 ? -above : 0);
    if (field == 0 || shift > 53)
        return (uint16_t)sign;
    const uint64_t all = fraction | (uint64_t)1 << 52, rest = all & (((uint64_t)1 << shift) - 1),
                   half = (uint64_t)1 << (shift - 1);
    uint64_t kept = all >> shift;
    kept += rest > half || (rest == half && (kept & 1));
    kept += (uint64_t)(above > 0 ? above : 0) << fraction_bits; /* a carry moves on into the exponent */
    return (uint16_t)(sign | (kept < infinite ? (uint32_t)kept : infinite));
}

static inline f16 f16_narrow(double v)
{
    return narrow_to(v, 5, 10);
}

static inline bf16 bf16_narrow(double v)
{
    return narrow_to(v, 8, 7);
}
#endif

/* -------------------------------------------------------- those of a variant ------------------ */

#ifdef elem
#define NUMBER_float 1
#define NUMBER_double 2
#define NUMBER_c32 3
#define NUMBER_c64 4
#define NUMBER_f16 5
#define NUMBER_bf16 6
#define NUMBER_PASTE(type) NUMBER_##type
#define NUMBER_OF(type) NUMBER_PASTE(type)
#define IS_COMPLEX (NUMBER_OF(real) == NUMBER_c32 || NUMBER_OF(real) == NUMBER_c64)

NUMBER real widen(elem v)
{
#if NUMBER_OF(elem) == NUMBER_f16
    return f16_widen(v);
#elif NUMBER_OF(elem) == NUMBER_bf16
    return bf16_widen(v);
#else
    return (real)v;
#endif
}

#ifndef __cplusplus
NUMBER elem narrow(real s)
{
#if NUMBER_OF(elem) == NUMBER_f16
    return f16_narrow(s);
#elif NUMBER_OF(elem) == NUMBER_bf16
    return bf16_narrow(s);
#else
    return (elem)s;
#endif
}
#endif

NUMBER real times(real a, real b)
{
#if IS_COMPLEX
    real product;
    RE(product) = RE(a) * RE(b) - IM(a) * IM(b);
    IM(product) = RE(a) * IM(b) + IM(a) * RE(b);
    return product;
#else
    return a * b;
#endif
}

NUMBER real conjugate(real a)
{
#if IS_COMPLEX
    IM(a) = -IM(a);
#endif
    return a;
}
#endif

#endif
