/* SPDX-License-Identifier: MIT
 *
 * simd.h: eight lanes of `real`, in as many registers as the instruction set needs, eight stored values to
 * multiply them with, and gathers with 32- and 16-bit indices.  Three ways to the same eight lanes:
 *   - 16-byte registers (NEON, SSE2; the SVE build too, whose gathers are no faster than loads on today's
 *     cores);
 *   - 32-byte registers (AVX2), still with eight loads a gather: the gather instruction of these
 *     processors takes as long or, with its fault mitigations, many times longer;
 *   - AVX-512, with its gathers and masks.
 * The first two load indices four or two at a time as one 64-bit word and cut it up with shifts: loads are
 * what an SpMV runs out of first, and shifts are free beside them. */
#ifndef KERNEL_CPU_SIMD_H
#define KERNEL_CPU_SIMD_H

#include "run/cpu_page.h"

#define LANES 8

/* How far ahead the streams of val are fetched, in bytes: past what a core has in flight, short of what L1
 * holds. */
#define AHEAD 512
#define FETCH(p) __builtin_prefetch((const char *)(p) + AHEAD)

#if IS_COMPLEX
#include "kernel/cpu/simd_complex.h"
#else

#define REAL_BITS_float 32
#define REAL_BITS_double 64
#define REAL_BITS_PASTE(type) REAL_BITS_##type
#define REAL_BITS_OF(type) REAL_BITS_PASTE(type)
#define REAL_BITS REAL_BITS_OF(real)

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>

#if REAL_BITS == 64
typedef __m512d vec;
#define VEC(operation) _mm512_##operation##_pd
#define VEC_GATHER(indices, x) _mm512_i32gather_pd(indices, x, 8)
#else
typedef __m256 vec;
#define VEC(operation) _mm256_##operation##_ps
#define VEC_GATHER(indices, x) _mm256_i32gather_ps(x, indices, 4)
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
static inline vec vec_fma_by(vec a, real b, vec sum)
{
    return VEC(fmadd)(a, VEC(set1)(b), sum);
}
static inline vec gather32(const real *x, const idx *index)
{
    return VEC_GATHER(_mm256_loadu_si256((const __m256i *)index), x);
}
static inline vec gather16(const real *x, const uint16_t *index)
{
    return VEC_GATHER(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)index)), x);
}
/* Eight stored values. */
typedef vec values;
static inline values vec_values(const elem *p)
{
#if NUMBER_OF(elem) == NUMBER_f16
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#elif NUMBER_OF(elem) == NUMBER_bf16
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
#elif NUMBER_OF(elem) != NUMBER_OF(real)
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
    return vec_load(p);
#endif
}
typedef __mmask8 vec_mask;
static inline vec_mask mask_above(const int32_t *length, int64_t j)
{
    return _mm256_cmpgt_epi32_mask(_mm256_loadu_si256((const __m256i *)length),
                                   _mm256_set1_epi32((int32_t)j));
}
static inline vec vec_fma_if(vec_mask mask, vec a, vec b, vec sum)
{
    return VEC(mask3_fmadd)(a, b, sum, mask);
}

#else

#if defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
#define VEC_REGISTERS (LANES * REAL_BITS / 8 / VEC_BYTES)

typedef real vec_register __attribute__((vector_size(VEC_BYTES)));
typedef real vec_in_memory __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));
typedef struct {
    vec_register part[VEC_REGISTERS];
} vec;

/* Masks: all bits of a lane set or none. */
#if REAL_BITS == 64
typedef int64_t lane_bits;
#else
typedef int32_t lane_bits;
#endif
#define VEC_LANES (LANES / VEC_REGISTERS)
typedef lane_bits vec_bits __attribute__((vector_size(VEC_BYTES)));
typedef int32_t vec_lengths __attribute__((vector_size(4 * VEC_LANES), aligned(4), may_alias));
typedef struct {
    vec_bits part[VEC_REGISTERS];
} vec_mask;

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
    return (struct indices){(uint32_t)q, q >> 32, (uint32_t)r, r >> 32,
                            (uint32_t)s, s >> 32, (uint32_t)t, t >> 32};
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
    const vec_in_memory *from = (const vec_in_memory *)p;
#if VEC_REGISTERS == 4
    return (vec){{from[0], from[1], from[2], from[3]}};
#elif VEC_REGISTERS == 2
    return (vec){{from[0], from[1]}};
#else
    return (vec){{from[0]}};
#endif
}
/* Eight stored values: those that are narrower are widened in a loop, which compilers know to vectorise. */
typedef vec values;
static inline values vec_values(const elem *p)
{
#if NUMBER_OF(elem) == NUMBER_f16 && defined(__F16C__)
    typedef short halves __attribute__((vector_size(16), aligned(2), may_alias));
    return (vec){{__builtin_ia32_vcvtph2ps256(*(const halves *)p)}};
#elif NUMBER_OF(elem) != NUMBER_OF(real)
    real lane[LANES];
    for (int i = 0; i < LANES; i++)
        lane[i] = widen(p[i]);
    return vec_load(lane);
#else
    return vec_load(p);
#endif
}
static inline void vec_store(real *p, vec a)
{
    for (int i = 0; i < VEC_REGISTERS; i++)
        ((vec_in_memory *)p)[i] = a.part[i];
}
static inline vec vec_fma(vec a, vec b, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++)
        sum.part[i] += a.part[i] * b.part[i];
    return sum;
}
static inline vec vec_fma_by(vec a, real b, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++)
        sum.part[i] += a.part[i] * b;
    return sum;
}
static inline vec_mask mask_above(const int32_t *length, int64_t j)
{
    vec_mask mask;
    for (int i = 0; i < VEC_REGISTERS; i++)
        mask.part[i] = __builtin_convertvector(((const vec_lengths *)length)[i], vec_bits) > (lane_bits)j;
    return mask;
}
static inline vec vec_fma_if(vec_mask mask, vec a, vec b, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++) {
        vec_register product = a.part[i] * b.part[i];
        sum.part[i] += (vec_register)((vec_bits)product & mask.part[i]);
    }
    return sum;
}
#endif

/* The sums of a product, one a lane. */
static inline void vec_sums(const struct product *p, real *to, vec sum)
{
    (void)p;
    vec_store(to, sum);
}

static inline void vec_add(const struct product *p, real *to, values v, vec x)
{
    (void)p;
    vec_store(to, vec_fma(v, x, vec_load(to)));
}
#endif

/* Of the functions above, for all of them:
 *   vec_values(v), vec_sums(p, to, sum)   stored values, widened; the finished sums, in which complex values
 *                            are conjugated if the product says so;
 *   vec_add(p, to, v, x)     adds the products to numbers in memory;
 *   mask_above(length, j)    the lanes whose length is over j;
 *   vec_fma_if               adds nothing in lanes that are off, whatever stands there: a NaN too stays
 *                            out of the sum. */

/* The lanes added up, always as the same tree. */
static inline real vec_sum(const struct product *p, vec a)
{
    real lane[LANES];
    vec_sums(p, lane, a);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

#endif
