/* SPDX-License-Identifier: MIT
 *
 * simd.h: eight lanes of `real`, in as many registers as the instruction set needs, and gathers with 32- and 16-bit
 * indices.  Three ways to the same eight lanes:
 *   - 16-byte registers (NEON, SSE2; the SVE build too, whose gathers are no faster than loads on today's cores);
 *   - 32-byte registers (AVX2), still with eight loads a gather: the gather instruction of these processors takes as
 *     long or, with its fault mitigations, many times longer;
 *   - AVX-512, with its gathers and masks.
 * The first two load indices four or two at a time as one 64-bit word and cut it up with shifts: loads are what an SpMV
 * runs out of first, and shifts are free beside them. */
#ifndef KERNEL_SIMD_H
#define KERNEL_SIMD_H

#include "kernel/cpu.h"

#define LANES 8

/* How far ahead the streams of val are fetched, in bytes: past what a core has in flight, short of what L1 holds. */
#define AHEAD 512
#define FETCH(p) __builtin_prefetch((const char *)(p) + AHEAD)

#define REAL_BITS_float 32
#define REAL_BITS_double 64
#define REAL_BITS_PASTE(type) REAL_BITS_##type
#define REAL_BITS_OF(type) REAL_BITS_PASTE(type)
#define REAL_BITS REAL_BITS_OF(real)

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#define HAVE_MASKS 1

#if REAL_BITS == 64
typedef __m512d vec;
#define VEC(operation) _mm512_##operation##_pd
#define VEC_GATHER(indices, x) _mm512_i32gather_pd(indices, x, 8)
#define VEC_GATHER_MASKED(mask, indices, x) _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, indices, x, 8)
#else
typedef __m256 vec;
#define VEC(operation) _mm256_##operation##_ps
#define VEC_GATHER(indices, x) _mm256_i32gather_ps(x, indices, 4)
#define VEC_GATHER_MASKED(mask, indices, x) _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), mask, indices, x, 4)
#endif

static inline vec vec_zero(void)
{
    return VEC(setzero)();
}
static inline vec vec_load(const real *p)
{
    return VEC(loadu)(p);
}
static inline void vec_store(real *p, vec a)
{
    VEC(storeu)(p, a);
}
static inline vec vec_fma(vec a, vec b, vec sum)
{
    return VEC(fmadd)(a, b, sum);
}
static inline vec gather32(const real *x, const idx *index)
{
    return VEC_GATHER(_mm256_loadu_si256((const __m256i *)index), x);
}
static inline vec gather16(const real *x, const uint16_t *index)
{
    return VEC_GATHER(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)index)), x);
}
/* The first n < 8 lanes of val[] * x[index[]]; nothing is read for the others. */
static inline vec vec_fma_tail(const real *val, const idx *index, int64_t n, const real *x, vec sum)
{
    __mmask8 mask = (__mmask8)((1u << n) - 1);
    vec gathered = VEC_GATHER_MASKED(mask, _mm256_maskz_loadu_epi32(mask, index), x);
    return vec_fma(VEC(maskz_loadu)(mask, val), gathered, sum);
}

#else
#define HAVE_MASKS 0

#if defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
#define VEC_REGISTERS (LANES * REAL_BITS / 8 / VEC_BYTES)

typedef real vec_register __attribute__((vector_size(VEC_BYTES)));
typedef struct {
    vec_register part[VEC_REGISTERS];
} vec;

/* Eight indices, each in a register. */
struct indices {
    uint64_t a, b, c, d, e, f, g, h;
};

static inline uint64_t word(const void *p)
{
    uint64_t bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
}

static inline struct indices unpack32(const idx *p)
{
    uint64_t q = word(p), r = word(p + 2), s = word(p + 4), t = word(p + 6);
    return (struct indices){(uint32_t)q, q >> 32, (uint32_t)r, r >> 32, (uint32_t)s, s >> 32, (uint32_t)t, t >> 32};
}

static inline struct indices unpack16(const uint16_t *p)
{
    uint64_t q = word(p), r = word(p + 4);
    return (struct indices){q & 0xffff, q >> 16 & 0xffff, q >> 32 & 0xffff, q >> 48,
                            r & 0xffff, r >> 16 & 0xffff, r >> 32 & 0xffff, r >> 48};
}

static inline vec gather(const real *x, struct indices i)
{
#if VEC_REGISTERS == 4
    return (vec){{{x[i.a], x[i.b]}, {x[i.c], x[i.d]}, {x[i.e], x[i.f]}, {x[i.g], x[i.h]}}};
#elif VEC_REGISTERS == 2
    return (vec){{{x[i.a], x[i.b], x[i.c], x[i.d]}, {x[i.e], x[i.f], x[i.g], x[i.h]}}};
#else
    return (vec){{{x[i.a], x[i.b], x[i.c], x[i.d], x[i.e], x[i.f], x[i.g], x[i.h]}}};
#endif
}

static inline vec gather32(const real *x, const idx *index)
{
    return gather(x, unpack32(index));
}
static inline vec gather16(const real *x, const uint16_t *index)
{
    return gather(x, unpack16(index));
}
static inline vec vec_zero(void)
{
    return (vec){0};
}
static inline vec vec_load(const real *p)
{
    vec a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void vec_store(real *p, vec a)
{
    memcpy(p, &a, sizeof a);
}
static inline vec vec_fma(vec a, vec b, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++)
        sum.part[i] += a.part[i] * b.part[i];
    return sum;
}
#endif

/* The lanes added up, always as the same tree. */
static inline real vec_sum(vec a)
{
    real lane[LANES];
    vec_store(lane, a);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* The inner product of n stored entries with x: eight running sums, then the rest one by one. */
static inline real dot(const real *val, const idx *col, int64_t n, const real *x)
{
    real sum = 0;
    int64_t k = 0;
#if HAVE_MASKS
    vec lanes = vec_zero();
    for (; k + LANES <= n; k += LANES) {
        FETCH(val + k);
        lanes = vec_fma(vec_load(val + k), gather32(x, col + k), lanes);
    }
    if (k < n)
        lanes = vec_fma_tail(val + k, col + k, n - k, x, lanes);
    sum = vec_sum(lanes);
#else
    if (n >= LANES) {
        vec lanes = vec_zero();
        for (; k + LANES <= n; k += LANES) {
            FETCH(val + k);
            lanes = vec_fma(vec_load(val + k), gather32(x, col + k), lanes);
        }
        sum = vec_sum(lanes);
    }
    for (; k < n; k++)
        sum += val[k] * x[col[k]];
#endif
    return sum;
}

#endif
