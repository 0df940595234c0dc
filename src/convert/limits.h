/* SPDX-License-Identifier: MIT
 *
 * limits.h: loops that do one of the things a product is made of, and nothing else: read, copy, gather,
 * add atomically, start.  How fast they run bounds how fast any product can be.  The same loops for every
 * device, but CPUs have no atomic one. */
#ifndef CONVERT_LIMITS_H
#define CONVERT_LIMITS_H

#include <stdint.h>

/* Where the k-th gather or addition goes. */
enum limit_pattern {
    LIMIT_ORDER,  /* one entry after the other */
    LIMIT_RANDOM, /* anywhere */
    LIMIT_RUN,    /* LIMIT_RUN_LENGTH neighbours anywhere, then the next so many */
    LIMIT_ONE     /* always the first entry */
};

#define LIMIT_RUN_LENGTH 32

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#define LIMIT_FUNCTION DEVICE
#else
#define LIMIT_FUNCTION static inline
#endif

/* Steele, Lea and Flood 2014: the end of SplitMix64. */
LIMIT_FUNCTION uint64_t limit_mixed(uint64_t k)
{
    k = (k + 1) * 0x9e3779b97f4a7c15u;
    k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
    k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
    return k ^ (k >> 31);
}

/* The entry of the k-th access, among `span`, which is a power of two of at least LIMIT_RUN_LENGTH. */
LIMIT_FUNCTION int64_t limit_target(int64_t k, int64_t span, int64_t pattern)
{
    const uint64_t run = (uint64_t)LIMIT_RUN_LENGTH, among = (uint64_t)span - 1, u = (uint64_t)k;
    if (pattern == LIMIT_ORDER)
        return (int64_t)(u & among);
    if (pattern == LIMIT_RANDOM)
        return (int64_t)(limit_mixed(u) & among);
    if (pattern == LIMIT_RUN)
        return (int64_t)((limit_mixed(u / run) * run & among) + u % run);
    return 0;
}

#ifndef HEDDLE_DEVICE
#include "run/device.h"

enum limit_loop {
    LIMIT_READ,   /* x[0..count) */
    LIMIT_COPY,   /* y[i] = x[i], count of them */
    LIMIT_GATHER, /* x[index[k]], count of them */
    LIMIT_ADD,    /* y[limit_target(k)] += 1, atomically, count of them; GPUs only */
    LIMIT_NOTHING /* count blocks that do nothing; on a CPU a parallel region */
};

struct limit_work {
    enum limit_loop loop;
    heddle_type value;
    int64_t count;
    int64_t span; /* of additions, with their pattern */
    enum limit_pattern pattern;
    const void *x; /* nothing in it is negative or NaN */
    void *y;       /* COPY, ADD: written; else one number that is not */
    const int32_t *index;
};

/* Runs it once; does not wait for a GPU. */
heddle_status limit_run(const struct device *d, const struct limit_work *w);
/* index[k] = limit_target(k, span, pattern), count of them; does not wait either. */
heddle_status limit_indices(const struct device *d, int32_t *index, int64_t count, int64_t span,
                            enum limit_pattern pattern);
/* How many blocks fill the device: 1 on a CPU. */
int64_t limit_blocks(const struct device *d);

/* The CPU's, by variant: every thread of the team runs it for its part. */
struct team;
struct limit_functions {
    void (*loop[LIMIT_ADD])(const struct limit_work *w, const struct team *team);
};
#endif

#endif
