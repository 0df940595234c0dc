/* SPDX-License-Identifier: MIT
 *
 * gpu_page.h: what the device halves of GPU pages share, on top of the dialect (simt/simt.h). */
#ifndef RUN_GPU_PAGE_H
#define RUN_GPU_PAGE_H

#include "run/product.h"
#include "simt/simt.h"

/* A number, or with `at` the one whose address is there.  The bytes are read as words, whichever they are:
 * read as both, compilers put the arguments into memory. */
DEVICE real scalar(const unsigned char *bytes, const int at)
{
    uint64_t word[SCALAR_BYTES / sizeof(uint64_t)];
    real value;
    __builtin_memcpy(word, bytes, sizeof word);
    if (at)
        return simt_readonly((const real *)(uintptr_t)word[0]);
    __builtin_memcpy(&value, word, sizeof value);
    return value;
}

/* The host has given either, or has said where it lies on the device: then it is known only here, alpha = 0
 * too.  Such a load takes as long as any other: ask for it beside others, but not before a loop that needs
 * all registers. */
DEVICE real alpha_of(const struct product *p)
{
    return scalar(p->alpha, p->scalars_at & ALPHA_AT);
}

DEVICE real beta_of(const struct product *p)
{
    return scalar(p->beta, p->scalars_at & BETA_AT);
}

/* y = beta y, where beta = 0 means that y is not read: it may hold anything. */
DEVICE void scale_one(real *y, real beta)
{
    *y = beta == 0 ? (real)0 : times(beta, *y);
}

/* y = alpha sum + beta y, where alpha is not 0. */
DEVICE void store_scaled(real *y, real alpha, real sum, real beta)
{
    *y = beta == 0 ? times(alpha, sum) : times(alpha, sum) + times(beta, *y);
}

/* The same with any alpha: 0 means that the sum counts for nothing, whatever A and x hold. */
DEVICE void store(real *y, real alpha, real sum, real beta)
{
    store_scaled(y, alpha, alpha == 0 ? (real)0 : sum, beta);
}

/* Both as the host may have given them: known without a load. */
DEVICE real alpha_given(const struct product *p)
{
    return scalar(p->alpha, 0);
}

DEVICE real beta_given(const struct product *p)
{
    return scalar(p->beta, 0);
}

/* The same for entry `at` of y with the product's own: the host gives no alpha that is 0.  One question for
 * both, and nothing waits for their addresses.  Most kernels take what is given here (store_sum); one that is
 * short of registers in a loop asks for it ahead of the loop, and ptxas has no address in them. */
DEVICE void store_given(const struct product *p, real alpha, real beta, int64_t at, real sum)
{
    if (__builtin_expect(p->scalars_at == 0, 1)) {
        store_scaled((real *)p->y + at, alpha, sum, beta);
    } else {
        const real there = alpha_of(p);
        store((real *)p->y + at, there, sum, beta_of(p));
    }
}

DEVICE void store_sum(const struct product *p, int64_t at, real sum)
{
    store_given(p, alpha_given(p), beta_given(p), at, sum);
}

/* May a kernel that adds to y leave, because alpha = 0?  One that was launched behind another that scales y
 * must not end before that does. */
DEVICE int adds_nothing(real alpha)
{
    if (alpha == 0)
        simt_after_previous();
    return alpha == 0;
}

/* What an entry with this value brings to a sum: its value, conjugated if the product says so, times x. */
DEVICE real term(const struct product *p, elem v, real x)
{
    return times(IS_COMPLEX && p->conjugate ? conjugate(widen(v)) : widen(v), x);
}

/* y = beta y, n entries, by all threads of the grid. */
DEVICE void scale_all(real *y, int64_t n, real beta)
{
    SIMT_ROLLED
    for (int64_t i = simt_global_id(); i < n; i += simt_global_size())
        scale_one(y + i, beta);
}

#ifdef off /* not where a page knows no offsets */
/* Lines: 32 entries, of which col and val fill whole lines of L2.  Threads of a block share out entries
 * from the line on in which the first of them lies, so that a wave reads whole lines and asks for each
 * once, not twice; where x or y is reached through that cache, requests are what it lacks. */
DEVICE off line_at(off entry)
{
    return entry & ~(off)31;
}

/* Of entries that begin at `from`, the first of a thread, counted from there: it may lie before them, and
 * be one of others. */
DEVICE int first_entry(off from, int thread)
{
    return thread - (int)(from - line_at(from));
}

/* Is entry k + ahead one of n?  Only the first of a thread may lie before them. */
DEVICE int has_entry(int k, const int ahead, int n)
{
    return ahead == 0 ? (uint32_t)k < (uint32_t)n : k + ahead < n;
}

/* Entries are cut into parts of `size` from the first line on, so that all but the first part begin with a
 * line: where part i begins, how many entries that has which begins at `from`, and how many parts there
 * are. */
DEVICE off part_at(off first, int64_t i, int size)
{
    return i == 0 ? first : line_at(first) + (off)(i * size);
}

DEVICE int part_from(off from, off last, int size)
{
    const int most = size - (int)(from - line_at(from));
    return last - from < most ? (int)(last - from) : most;
}

DEVICE int32_t parts_between(off first, off last, int size)
{
    const off entries = last - line_at(first);
    return (int32_t)(entries / size) + (entries % size > 0);
}
#endif

#endif
