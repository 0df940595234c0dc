/* SPDX-License-Identifier: MIT
 *
 * fixed.h: sums of floating-point numbers that come out the same in any order, because they are sums of
 * integers.
 *
 * Every entry of y has a scale of its own.  A first kernel finds the largest exponent among the terms of
 * each entry (a maximum knows no order either); a second one turns every term into a whole number of units
 * of that scale and adds it atomically; a third one turns the sums back, stores y, and leaves the state
 * zero, as counters must be.  The idea is that of sums with rounding decided beforehand (Demmel and Nguyen
 * 2015), with one bin of 64 bits for f32 and two for f64.
 *
 * With |term| < 2^E and at most 2^c terms in all, W = min(40, 62 - c) bits of a term go to `high`, which
 * cannot overflow; f64 sends the next W to `low`.  What is cut off is below 2^(E-W) or 2^(E-2W) a term:
 * less than a rounding of the largest term.  Terms that are infinite or NaN are remembered by sign: both
 * signs, or NaN, make NaN. */
#ifndef KERNEL_FIXED_H
#define KERNEL_FIXED_H

/* In product.fact: W. */
#define FIXED_BITS 0
#define FIXED_BITS_MOST 40

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* What is summed: the parts of complex numbers each by itself, side by side. */
#if NUMBER_OF(real) == NUMBER_c32
typedef float number;
#elif NUMBER_OF(real) == NUMBER_c64
typedef double number;
#else
typedef real number;
#endif
#define FIXED_PARTS (IS_COMPLEX ? 2 : 1)

#define FIXED_EXPONENTS                                                                                      \
    (sizeof(number) == 8 ? 2047 : 255) /* the largest exponent field: infinities and NaN */
#define FIXED_BIAS (sizeof(number) == 8 ? 1023 : 127)
#define FIXED_FRACTION (sizeof(number) == 8 ? 52 : 23)
#define FIXED_LIMBS (sizeof(number) == 8 ? 2 : 1)

enum { FIXED_PLUS = 1, FIXED_MINUS = 2 };

/* The state of n sums, all zero before and after. */
struct fixed {
    int64_t *high, *low; /* size n; low in f64 only */
    int32_t *top;        /* size n: the largest exponent field of a term that is not 0, at least 1 */
    int32_t *odd;        /* size n: FIXED_PLUS and FIXED_MINUS, of infinite terms; NaN is both */
    int64_t n;           /* sums: of complex numbers two for each entry of y */
    int bits;
};

DEVICE struct fixed fixed_of(const struct product *p)
{
    const int64_t n = FIXED_PARTS * (p->transposed ? (int64_t)p->cols : p->rows);
    int64_t *high = (int64_t *)p->counters;
    int32_t *top = (int32_t *)(high + FIXED_LIMBS * n);
    const struct fixed f = {high, high + n, top, top + n, n, (int)p->fact[FIXED_BITS]};
    return f;
}

DEVICE uint64_t fixed_bits(number v)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof v);
    return bits;
}

DEVICE number fixed_from_bits(uint64_t bits)
{
    number v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

DEVICE int fixed_exponent(number v)
{
    return (int)(fixed_bits(v) >> FIXED_FRACTION) & FIXED_EXPONENTS;
}

/* v 2^e, in two steps: 2^e itself may be too large. */
DEVICE number fixed_scaled(number v, int e)
{
    const int half = e / 2;
    return v * fixed_from_bits((uint64_t)(half + FIXED_BIAS) << FIXED_FRACTION) *
           fixed_from_bits((uint64_t)(e - half + FIXED_BIAS) << FIXED_FRACTION);
}

/* The first kernel, for each term. */
DEVICE void fixed_note_part(const struct fixed *f, int64_t i, number term)
{
    const int e = fixed_exponent(term);
    if (e == FIXED_EXPONENTS) {
        const int nan = fixed_bits(term) << (64 - FIXED_FRACTION) != 0, minus = term < 0;
        simt_atomic_or(f->odd + i, nan ? FIXED_PLUS | FIXED_MINUS : minus ? FIXED_MINUS : FIXED_PLUS);
    } else if (term != 0 && simt_atomic_load(f->top + i) < (e > 0 ? e : 1)) {
        /* seldom, once a few terms are there */
        simt_atomic_max(f->top + i, e > 0 ? e : 1);
    }
}

/* The second, likewise: |term| is below 2^(top - bias + 1). */
DEVICE void fixed_add_part(const struct fixed *f, int64_t i, number term)
{
    if (term == 0 || fixed_exponent(term) == FIXED_EXPONENTS)
        return;
    const number units = fixed_scaled(term, f->bits - (simt_readonly(f->top + i) - FIXED_BIAS + 1));
    const int64_t high = (int64_t)units;
    if (high)
        simt_atomic_add(f->high + i, high);
    if (FIXED_LIMBS == 2) {
        const int64_t low = (int64_t)fixed_scaled(units - (number)high, f->bits);
        if (low)
            simt_atomic_add(f->low + i, low);
    }
}

/* Infinite or NaN, whatever else was added. */
DEVICE number fixed_odd(int odd)
{
    const uint64_t infinite = (uint64_t)FIXED_EXPONENTS << FIXED_FRACTION,
                   quiet = (uint64_t)1 << (FIXED_FRACTION - 1);
    if (odd == (FIXED_PLUS | FIXED_MINUS))
        return fixed_from_bits(infinite | quiet);
    return odd == FIXED_PLUS ? fixed_from_bits(infinite) : -fixed_from_bits(infinite);
}

/* The third: the sum of all terms.  Loads of this kind are not put off until their value is wanted: all are
 * under way together. */
DEVICE number fixed_sum_part(const struct fixed *f, int64_t i)
{
    const int odd = simt_atomic_load(f->odd + i), top = simt_atomic_load(f->top + i);
    number sum = (number)simt_atomic_load(f->high + i);
    if (FIXED_LIMBS == 2)
        sum += fixed_scaled((number)simt_atomic_load(f->low + i), -f->bits);
    return odd ? fixed_odd(odd) : top ? fixed_scaled(sum, top - FIXED_BIAS + 1 - f->bits) : 0;
}

/* The same three for a term of y and its sum. */
DEVICE void fixed_note(const struct fixed *f, int64_t i, real term)
{
#if IS_COMPLEX
    fixed_note_part(f, 2 * i, RE(term));
    fixed_note_part(f, 2 * i + 1, IM(term));
#else
    fixed_note_part(f, i, term);
#endif
}

DEVICE void fixed_add(const struct fixed *f, int64_t i, real term)
{
#if IS_COMPLEX
    fixed_add_part(f, 2 * i, RE(term));
    fixed_add_part(f, 2 * i + 1, IM(term));
#else
    fixed_add_part(f, i, term);
#endif
}

DEVICE real fixed_sum(const struct fixed *f, int64_t i)
{
#if IS_COMPLEX
    real sum;
    RE(sum) = fixed_sum_part(f, 2 * i);
    IM(sum) = fixed_sum_part(f, 2 * i + 1);
    return sum;
#else
    return fixed_sum_part(f, i);
#endif
}

/* The state of a sum is zero again. */
DEVICE void fixed_clear(const struct fixed *f, int64_t i)
{
    f->high[i] = 0;
    if (FIXED_LIMBS == 2)
        f->low[i] = 0;
    f->top[i] = f->odd[i] = 0;
}

/* The third kernel as a whole.  The state is cleared behind y: a store to what is still being read makes an
 * H200 take three times as long. */
DEVICE void fixed_end(const struct product *p)
{
    const struct fixed f = fixed_of(p);
    for (int64_t i = simt_global_id(); i < f.n / FIXED_PARTS; i += simt_global_size()) {
        store_sum(p, i, fixed_sum(&f, i));
        for (int64_t part = FIXED_PARTS * i; part < FIXED_PARTS * (i + 1); part++)
            fixed_clear(&f, part);
    }
}

/* A page has a function deal_terms(p, adds) that gives every term of the matrix to fixed_note or, with
 * adds, to fixed_add. */
#define FIXED_KERNELS(page)                                                                                  \
    KERNEL(page##_note)(struct product p)                                                                    \
    {                                                                                                        \
        deal_terms(&p, 0);                                                                                   \
    }                                                                                                        \
    KERNEL(page##_add)(struct product p)                                                                     \
    {                                                                                                        \
        deal_terms(&p, 1);                                                                                   \
    }                                                                                                        \
    KERNEL(page##_end)(struct product p)                                                                     \
    {                                                                                                        \
        fixed_end(&p);                                                                                       \
    }

#else
#include "kernel/kernel.h"

static inline int64_t fixed_sums(const struct work *w)
{
    return w->product.transposed ? w->product.cols : w->product.rows;
}

static inline int64_t fixed_counters(const struct work *w)
{
    const int parts = is_complex(w->value) ? 2 : 1;
    return parts * fixed_sums(w) * (vector_size(w->value) / (size_t)parts == 8 ? 24 : 16);
}

/* So many that 2^bits times the number of terms stays below 2^62. */
static inline int64_t fixed_width(int64_t terms)
{
    int c = 0;
    while (((int64_t)1 << c) < terms)
        c++;
    return 62 - c < FIXED_BITS_MOST ? 62 - c : FIXED_BITS_MOST;
}

/* A is read twice, and every term is up to FIXED_LIMBS + 1 additions. */
static inline double fixed_cost(const struct work *w, const struct stored *s)
{
    return 2 * cost_of_additions(w, s) + (double)fixed_counters(w);
}

/* The three kernels, the first two with `blocks` blocks of `block` threads, or as many as a grid may have. */
static inline heddle_status fixed_launch(const struct work *w, const char *const *entries, int64_t blocks,
                                         int block)
{
    heddle_status status = HEDDLE_OK;
    struct work told = *w;
    told.product.fact[FIXED_BITS] = fixed_width(w->product.nnz);
    for (int i = 0; i < 2; i++)
        TRY(gpu_run(&told, entries[i], gpu_grid(w, blocks, block), block, 0));
    TRY(gpu_run_over(&told, entries[2], fixed_sums(w)));
done:
    return status;
}
#endif
#endif
