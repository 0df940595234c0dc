/* SPDX-License-Identifier: MIT
 *
 * number.h: the types of matrix/number.h for GPUs.  Complex numbers are a pair that is loaded and stored as a
 * whole, with the operators that pages write; their products are `times`. */
#ifndef SIMT_NUMBER_H
#define SIMT_NUMBER_H

#ifdef __NVCC__
#define NUMBER static __device__ __forceinline__ __attribute__((unused))
#define NUMBER_MEMBER __device__ __forceinline__
#else
#define NUMBER static inline __attribute__((device, always_inline, unused))
#define NUMBER_MEMBER inline __attribute__((device, always_inline))
#endif

typedef uint16_t f16;
typedef uint16_t bf16;

/* Without a constructor that does something a number may lie in shared memory. */
template <class part> struct alignas(2 * sizeof(part)) simt_complex {
    part re, im;
    simt_complex() = default;
    NUMBER_MEMBER simt_complex(part a) : re(a), im(0)
    {
    }
    NUMBER_MEMBER simt_complex(part a, part b) : re(a), im(b)
    {
    }
    NUMBER_MEMBER simt_complex &operator+=(simt_complex b)
    {
        re += b.re;
        im += b.im;
        return *this;
    }
    friend NUMBER_MEMBER simt_complex operator+(simt_complex a, simt_complex b)
    {
        return simt_complex(a.re + b.re, a.im + b.im);
    }
    friend NUMBER_MEMBER bool operator==(simt_complex a, simt_complex b)
    {
        return a.re == b.re && a.im == b.im;
    }
    friend NUMBER_MEMBER bool operator!=(simt_complex a, simt_complex b)
    {
        return !(a == b);
    }
};
typedef simt_complex<float> c32;
typedef simt_complex<double> c64;
#define RE(a) ((a).re)
#define IM(a) ((a).im)

NUMBER float bf16_widen(bf16 v)
{
    const uint32_t bits = (uint32_t)v << 16;
    float wide;
    __builtin_memcpy(&wide, &bits, sizeof wide);
    return wide;
}

NUMBER float f16_widen(f16 v)
{
#ifdef __HIP__
    _Float16 half;
    __builtin_memcpy(&half, &v, sizeof half);
    return (float)half;
#else
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(v));
    return wide;
#endif
}

#include "matrix/number.h"

#endif
