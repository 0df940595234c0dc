/* SPDX-License-Identifier: MIT
 *
 * narrow.h: numbers in fewer bits that say the same, to the last one. */
#ifndef MATRIX_NARROW_H
#define MATRIX_NARROW_H

#include "matrix/number.h"

/* Bits of exponent and of fraction. */
#define F64_EXPONENT 11
#define F64_FRACTION 52
#define F32_EXPONENT 8
#define F32_FRACTION 23
#define F16_EXPONENT 5
#define F16_FRACTION 10
#define BF16_EXPONENT 8
#define BF16_FRACTION 7

/* A number of exponent + fraction bits and a sign, as one of to_exponent + to_fraction, fewer of each or as
 * many; -1 where none is equal to it.  NaN has none: what becomes of its payload is up to the processor. */
NUMBER int64_t narrow_exactly(uint64_t bits, const int exponent, const int fraction, const int to_exponent,
                              const int to_fraction)
{
    const uint64_t one = 1, rest = bits & ((one << fraction) - 1);
    const int field = (int)(bits >> fraction) & ((1 << exponent) - 1);
    const int64_t sign = (int64_t)(bits >> (exponent + fraction) & 1) << (to_exponent + to_fraction),
                  infinite = (int64_t)((one << to_exponent) - 1) << to_fraction;
    if (field == (1 << exponent) - 1)
        return rest ? -1 : sign | infinite;
    /* Subnormal numbers have the least exponent, 1, and no bit ahead of their fraction. */
    const uint64_t all = rest | (field ? one << fraction : 0);
    const int at = (field ? field : 1) - ((1 << (exponent - 1)) - (1 << (to_exponent - 1))),
              cut = fraction - to_fraction + (at < 1 ? 1 - at : 0);
    if (all == 0)
        return sign;
    if (at >= (1 << to_exponent) - 1 || cut > fraction || all & ((one << cut) - 1))
        return -1;
    return sign | ((int64_t)(all >> cut) + ((int64_t)(at < 1 ? 0 : at - 1) << to_fraction));
}

#endif
