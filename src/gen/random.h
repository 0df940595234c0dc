/* SPDX-License-Identifier: MIT
 *
 * random.h: randomness and elementary functions in integers.  Two promises hold for everything here: the
 * result is the same on every machine (no floating point, no libm), and it is a function of a key, never
 * of what was drawn before, so that any thread can make any row. */
#ifndef GEN_RANDOM_H
#define GEN_RANDOM_H

#include <stdint.h>

/* A bijection of 64-bit words whose output bits all depend on all input bits. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A word that depends on a seed and one or two numbers. */
static inline uint64_t hash1(uint64_t seed, int64_t a)
{
    return mix(mix(seed + 0x9e3779b97f4a7c15u) + (uint64_t)a * 0xd1342543de82ef95u);
}
static inline uint64_t hash2(uint64_t seed, int64_t a, int64_t b)
{
    return mix(hash1(seed, a) + (uint64_t)b * 0x9e3779b97f4a7c15u);
}

/* A word as a number in [0, n), 1 <= n <= 2^32: the upper half scaled, which is even to 1 part in 2^32 /
 * n. */
static inline int64_t below(uint64_t word, int64_t n)
{
    return (int64_t)(((word >> 32) * (uint64_t)n) >> 32);
}

/* A stream of words for one row. */
struct random {
    uint64_t key, count;
};

static inline struct random random_for(uint64_t seed, int64_t row)
{
    return (struct random){hash1(seed, row), 0};
}
static inline uint64_t random_next(struct random *r)
{
    return mix(r->key + ++r->count * 0x9e3779b97f4a7c15u);
}
static inline int64_t random_below(struct random *r, int64_t n)
{
    return below(random_next(r), n);
}
static inline int random_percent(struct random *r, int64_t percent) /* true in `percent` of 100 cases */
{
    return random_below(r, 100) < percent;
}

static inline int64_t floor_div(int64_t a, int64_t b) /* b > 0; rounds down for negative a too */
{
    return a / b - (a % b < 0);
}

/* Normal with mean 0 and the given deviation (0 <= sigma < 2^31), rounded.  The number of ones among 64
 * random bits is binomial with deviation 4; a triangular fraction between the steps makes it smooth:
 * deviation sqrt(16 + 1/6). */
static inline int64_t random_normal(struct random *r, int64_t sigma)
{
    uint64_t ones = random_next(r), fraction = random_next(r);
    int64_t z = (__builtin_popcountll(ones) - 32) * (int64_t)65536 + (int64_t)(fraction & 65535) +
                (int64_t)(fraction >> 16 & 65535) - 65535;
    return floor_div(z * sigma + 131753, 263507); /* 263507 = 65536 sqrt(16 + 1/6) */
}

/* Poisson: how often something happens that happens `mean` times on average, with 16 bits after the point;
 * mean < 2^46.  Up to 64 it is the sum of pieces of at most 4, each drawn exactly; above, normal.  Ask for
 * the law once, it takes some time. */
struct poisson {
    int64_t mean, pieces, none; /* none: the probability of 0 for one piece, with FRACTION bits; pieces 0:
                                 * normal */
};
struct poisson poisson_for(int64_t mean);
int64_t random_poisson(struct random *r, const struct poisson *p);

/* A random permutation of [0, n) that needs no memory, 0 <= n <= 2^40.  Two halves of the bits are in turn
 * xored with a hash of each other, which undoes itself; results of n or more are permuted again until they
 * fall below n. */
struct permutation {
    uint64_t key;
    int64_t n;
    int low, high; /* bits of the two halves, 2^(low+high) < 2 n */
};

struct permutation permutation_for(uint64_t seed, int64_t n);
int64_t permute(const struct permutation *p, int64_t i);   /* 0 <= i < n */
int64_t unpermute(const struct permutation *p, int64_t i); /* permute(p, unpermute(p, i)) == i */

/* The partner of i in a random pairing of [0, n): pair_of(seed, pair_of(seed, i, n), n) == i; some are
 * their own. */
int64_t pair_of(uint64_t seed, int64_t i, int64_t n);

/* Numbers with FRACTION bits after the point. */
#define FRACTION 24
#define ONE ((int64_t)1 << FRACTION)

int bits_below(int64_t n);      /* the smallest b with 2^b >= n, n >= 1 */
int64_t root2(uint64_t x);      /* floor of the square root */
int64_t root3(int64_t x);       /* floor of the cube root, 0 <= x < 2^60 */
int64_t log2_fixed(uint64_t x); /* log2(x), x >= 1 */
int64_t exp2_fixed(int64_t x);  /* 2^x; 0 when too small, at most 2^62 */
int64_t sine(int64_t turns);    /* sin(2 pi turns), any turns */

#endif
