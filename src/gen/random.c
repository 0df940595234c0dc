/* SPDX-License-Identifier: MIT */
#include "gen/random.h"

#define ROUNDS 4

struct permutation permutation_for(uint64_t seed, int64_t n)
{
    int bits = bits_below(n < 1 ? 1 : n);
    return (struct permutation){mix(seed ^ 0x5851f42d4c957f2du), n, bits / 2, bits - bits / 2};
}

/* One round: even ones change the high half, odd ones the low half. */
static uint64_t feistel_round(const struct permutation *p, uint64_t x, int round)
{
    uint64_t low = x & (((uint64_t)1 << p->low) - 1), high = x >> p->low;
    uint64_t half = round % 2 ? high : low;
    uint64_t word = (half + (uint64_t)round * 0x632be59bd9b4e019u + p->key) * 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 29)) * 0xbf58476d1ce4e5b9u >> 20;
    if (round % 2)
        return x ^ (word & (((uint64_t)1 << p->low) - 1));
    return x ^ (word & (((uint64_t)1 << p->high) - 1)) << p->low;
}

int64_t permute(const struct permutation *p, int64_t i)
{
    uint64_t x = (uint64_t)i;
    do
        for (int round = 0; round < ROUNDS; round++)
            x = feistel_round(p, x, round);
    while (x >= (uint64_t)p->n);
    return (int64_t)x;
}

int64_t unpermute(const struct permutation *p, int64_t i)
{
    uint64_t x = (uint64_t)i;
    do
        for (int round = ROUNDS; round-- > 0;)
            x = feistel_round(p, x, round);
    while (x >= (uint64_t)p->n);
    return (int64_t)x;
}

/* In a random order of all numbers, the partner stands where the two places add up to a constant. */
int64_t pair_of(uint64_t seed, int64_t i, int64_t n)
{
    struct permutation p = permutation_for(seed, n);
    int64_t place = below(mix(seed), n) - permute(&p, i);
    return unpermute(&p, place < 0 ? place + n : place);
}

#define PIECE ((int64_t)4 << 16)
#define PIECES_MOST 16
#define LOG2_E 24204406 /* at FRACTION bits */

struct poisson poisson_for(int64_t mean)
{
    struct poisson p = {.mean = mean, .pieces = (mean + PIECE - 1) / PIECE};
    if (p.pieces > PIECES_MOST)
        p.pieces = 0;
    else if (p.pieces > 0)
        p.none = exp2_fixed(-(mean / p.pieces * LOG2_E >> 16));
    return p;
}

/* The smallest number whose cumulative probability exceeds a random one. */
static int64_t one_piece(const struct poisson *p, uint64_t word)
{
    int64_t draw = (int64_t)(word >> (64 - FRACTION)), term = p->none, sum = term, n = 0,
            mean = p->mean / p->pieces;
    while (draw >= sum && term > 0) {
        n++;
        term = term * mean / (n << 16);
        sum += term;
    }
    return n;
}

int64_t random_poisson(struct random *r, const struct poisson *p)
{
    int64_t n = 0;
    for (int64_t piece = 0; piece < p->pieces; piece++)
        n += one_piece(p, random_next(r));
    if (p->pieces == 0 && p->mean > 0) /* the root of a number with 16 bits after the point has 8 */
        n = floor_div(p->mean + random_normal(r, root2((uint64_t)p->mean)) * 256 + 32768, 65536);
    return n > 0 ? n : 0;
}

int bits_below(int64_t n)
{
    int bits = 0;
    while (((int64_t)1 << bits) < n)
        bits++;
    return bits;
}

int64_t root2(uint64_t x)
{
    uint64_t root = 0;
    for (int bit = 31; bit >= 0; bit--) {
        uint64_t next = root | (uint64_t)1 << bit;
        if (next * next <= x)
            root = next;
    }
    return (int64_t)root;
}

int64_t root3(int64_t x)
{
    int64_t root = 0;
    for (int bit = 19; bit >= 0; bit--) {
        int64_t next = root | (int64_t)1 << bit;
        if (next * next * next <= x)
            root = next;
    }
    return root;
}

/* The whole part is the position of the top bit; each squaring of the mantissa shifts out one bit of the
 * fraction. */
int64_t log2_fixed(uint64_t x)
{
    int whole = 63 - __builtin_clzll(x);
    uint64_t mantissa = whole > 31 ? x >> (whole - 31) : x << (31 - whole); /* in [2^31, 2^32) */
    int64_t result = whole;
    for (int bit = 0; bit < FRACTION; bit++) {
        mantissa = (mantissa * mantissa) >> 31;
        int above = mantissa >= (uint64_t)1 << 32;
        mantissa >>= above;
        result = 2 * result + above;
    }
    return result;
}

/* The product of 2^(1/2), 2^(1/4), ... over the bits of the fraction; each factor is the square root of
 * the last. */
int64_t exp2_fixed(int64_t x)
{
    int64_t whole = floor_div(x, ONE), fraction = x - whole * ONE;
    if (whole < -FRACTION)
        return 0;
    if (whole >= 62 - FRACTION)
        return (int64_t)1 << 62;
    uint64_t factor = (uint64_t)2 << 30, product = (uint64_t)1 << 30;
    for (int bit = FRACTION - 1; bit >= 0; bit--) {
        factor = (uint64_t)root2(factor << 30);
        if (fraction >> bit & 1)
            product = (product * factor) >> 30;
    }
    int shift = 30 - FRACTION - (int)whole; /* from 30 to FRACTION bits after the point, times 2^whole */
    return (int64_t)(shift >= 0 ? product >> shift : product << -shift);
}

/* Taylor's series on the first quarter; the others are its reflections. */
int64_t sine(int64_t turns)
{
    turns &= ONE - 1;
    if (turns >= ONE / 2)
        return -sine(turns - ONE / 2);
    if (turns > ONE / 4)
        turns = ONE / 2 - turns;
    int64_t x = (turns * 105414357) >> 24; /* 2 pi at FRACTION bits */
    int64_t square = (x * x) >> FRACTION, term = x, sum = x;
    for (int64_t k = 2; k <= 14; k += 2) {
        term = -(((term * square) / ONE) / (k * (k + 1)));
        sum += term;
    }
    return sum;
}
