/* SPDX-License-Identifier: MIT
 *
 * narrow.h: f32 in 16 bits that say the same, to the last one. */
#ifndef MATRIX_NARROW_H
#define MATRIX_NARROW_H

#include "matrix/number.h"

/* Bits of exponent and of fraction. */
#define F32_EXPONENT 8
#define F32_FRACTION 23
#define F16_EXPONENT 5
#define F16_FRACTION 10
#define BF16_EXPONENT 8
#define BF16_FRACTION 7

/* An f32 as a number with fewer bits; -1 where none is equal to it.  NaN has none: what becomes of its
 * payload is up to the processor. */
NUMBER int32_t narrow_exactly(uint32_t bits, const int exponent, const int fraction)
{
    const uint32_t rest = bits & ((1u << F32_FRACTION) - 1);
    const int field = (int)(bits >> F32_FRACTION) & ((1 << F32_EXPONENT) - 1);
    const int32_t sign = (int32_t)(bits >> 31) << (exponent + fraction), infinite = ((1 << exponent) - 1)
                                                                                 << fraction;
    if (field == (1 << F32_EXPONENT) - 1)
        return rest ? -1 : sign | infinite;
    /* Subnormal numbers have the least exponent, 1, and no bit ahead of their fraction. */
    const uint32_t all = rest | (field ? 1u << F32_FRACTION : 0);
    const int at = (field ? field : 1) - ((1 << (F32_EXPONENT - 1)) - (1 << (exponent - 1))),
              cut = F32_FRACTION - fraction + (at < 1 ? 1 - at : 0);
    if (all == 0)
        return sign;
    if (at >= (1 << exponent) - 1 || cut > F32_FRACTION || all & ((1u << cut) - 1))
        return -1;
    return sign | ((int32_t)(all >> cut) + ((at < 1 ? 0 : at - 1) << fraction));
}

NUMBER int32_t f16_exactly(uint32_t bits)
{
    return narrow_exactly(bits, F16_EXPONENT, F16_FRACTION);
}

NUMBER int32_t bf16_exactly(uint32_t bits)
{
    return narrow_exactly(bits, BF16_EXPONENT, BF16_FRACTION);
}

#endif
