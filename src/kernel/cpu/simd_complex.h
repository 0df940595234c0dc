/* SPDX-License-Identifier: MIT
 *
 * simd_complex.h: simd.h for complex numbers.
 *
 * A product v x of complex numbers is four real ones.  With the parts of v side by side, as they are
 * stored, two sums take them as they come, v times Re x and v times Im x, and only in the end the parts of
 * the two are put together: (r, i) and (r', i') make r - i' and i + r', or, if v is conjugated, r + i' and
 * r' - i.  So the loop has no signs and no shuffles of values, and a conjugate costs nothing.
 *
 * A `vec` has two such lists of parts: the two sums, or Re x and Im x of each lane, each twice. */
#ifndef KERNEL_CPU_SIMD_COMPLEX_H
#define KERNEL_CPU_SIMD_COMPLEX_H

#include "run/cpu_page.h"

#if NUMBER_OF(real) == NUMBER_c32
typedef float component;
typedef int32_t component_bits;
#define COMPONENT_BYTES 4
#else
typedef double component;
typedef int64_t component_bits;
#define COMPONENT_BYTES 8
#endif

#if defined(__AVX512F__)
#define VEC_BYTES 64
#elif defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
#define VEC_REGISTERS (2 * LANES * COMPONENT_BYTES / VEC_BYTES)
#define VEC_LANES (LANES / VEC_REGISTERS)

typedef component vec_register __attribute__((vector_size(VEC_BYTES)));
typedef component vec_in_memory __attribute__((vector_size(VEC_BYTES), aligned(COMPONENT_BYTES), may_alias));
typedef component_bits vec_bits __attribute__((vector_size(VEC_BYTES)));

typedef struct {
    vec_register part[VEC_REGISTERS];
} values;
typedef struct {
    values first, second;
} vec;
typedef struct {
    vec_bits part[VEC_REGISTERS];
} vec_mask;

/* Of the parts of some lanes the real or the imaginary ones, each twice. */
#if VEC_BYTES / COMPONENT_BYTES == 2
#define RE_TWICE(r) __builtin_shufflevector(r, r, 0, 0)
#define IM_TWICE(r) __builtin_shufflevector(r, r, 1, 1)
#elif VEC_BYTES / COMPONENT_BYTES == 4
#define RE_TWICE(r) __builtin_shufflevector(r, r, 0, 0, 2, 2)
#define IM_TWICE(r) __builtin_shufflevector(r, r, 1, 1, 3, 3)
#elif VEC_BYTES / COMPONENT_BYTES == 8
#define RE_TWICE(r) __builtin_shufflevector(r, r, 0, 0, 2, 2, 4, 4, 6, 6)
#define IM_TWICE(r) __builtin_shufflevector(r, r, 1, 1, 3, 3, 5, 5, 7, 7)
#else
#define RE_TWICE(r) __builtin_shufflevector(r, r, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14)
#define IM_TWICE(r) __builtin_shufflevector(r, r, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15)
#endif

static inline values vec_values(const elem *v)
{
    values a;
    for (int i = 0; i < VEC_REGISTERS; i++)
        a.part[i] = ((const vec_in_memory *)v)[i];
    return a;
}

static inline vec vec_of(values parts)
{
    vec a;
    for (int i = 0; i < VEC_REGISTERS; i++) {
        a.first.part[i] = RE_TWICE(parts.part[i]);
        a.second.part[i] = IM_TWICE(parts.part[i]);
    }
    return a;
}

static inline vec vec_load(const real *x)
{
    return vec_of(vec_values(x));
}

/* A number is moved as a whole: one of 8 bytes as one word, one of 16 as two. */
static inline vec gather(const real *x, const uint32_t *at)
{
    typedef double words __attribute__((vector_size(VEC_BYTES)));
    values parts;
    for (int i = 0; i < VEC_REGISTERS; i++) {
        words w;
        for (int k = 0; k < VEC_LANES; k++) {
            double number[COMPONENT_BYTES / 4];
            memcpy(number, x + at[i * VEC_LANES + k], sizeof number);
            for (int j = 0; j < COMPONENT_BYTES / 4; j++)
                w[k * (COMPONENT_BYTES / 4) + j] = number[j];
        }
        parts.part[i] = (vec_register)w;
    }
    return vec_of(parts);
}

static inline vec gather32(const real *x, const idx *index)
{
    uint32_t at[LANES];
    memcpy(at, index, sizeof at);
    return gather(x, at);
}

static inline vec gather16(const real *x, const uint16_t *index)
{
    uint32_t at[LANES];
    for (int k = 0; k < LANES; k++)
        at[k] = index[k];
    return gather(x, at);
}

static inline vec vec_zero(void)
{
    return (vec){0};
}

static inline vec vec_fma(values v, vec x, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++) {
        sum.first.part[i] += v.part[i] * x.first.part[i];
        sum.second.part[i] += v.part[i] * x.second.part[i];
    }
    return sum;
}

static inline vec_mask mask_above(const int32_t *length, int64_t j)
{
    vec_mask mask;
    for (int i = 0; i < VEC_REGISTERS; i++)
        for (int k = 0; k < 2 * VEC_LANES; k++)
            mask.part[i][k] = length[i * VEC_LANES + k / 2] > j ? -1 : 0;
    return mask;
}

static inline vec vec_fma_if(vec_mask mask, values v, vec x, vec sum)
{
    for (int i = 0; i < VEC_REGISTERS; i++) {
        const vec_register first = v.part[i] * x.first.part[i], second = v.part[i] * x.second.part[i];
        sum.first.part[i] += (vec_register)((vec_bits)first & mask.part[i]);
        sum.second.part[i] += (vec_register)((vec_bits)second & mask.part[i]);
    }
    return sum;
}

static inline void vec_sums(const struct product *p, real *to, vec sum)
{
    component a[2 * LANES], b[2 * LANES];
    memcpy(a, &sum.first, sizeof a);
    memcpy(b, &sum.second, sizeof b);
    for (int k = 0; k < LANES; k++) {
        const component r = a[2 * k], i = a[2 * k + 1], other_r = b[2 * k], other_i = b[2 * k + 1];
        RE(to[k]) = p->conjugate ? r + other_i : r - other_i;
        IM(to[k]) = p->conjugate ? other_r - i : other_r + i;
    }
}

static inline void vec_add(const struct product *p, real *to, values v, vec x)
{
    real product[LANES];
    vec_sums(p, product, vec_fma(v, x, vec_zero()));
    for (int k = 0; k < LANES; k++)
        to[k] += product[k];
}

#endif
