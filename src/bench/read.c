/* SPDX-License-Identifier: MIT */
#include "bench/read.h"

/* 64 bytes, a cache line of most processors: one load of AVX-512, two of AVX2, four of SSE2 and NEON.
 * Sums of integers, because they may be added in any order. */
typedef uint64_t wide __attribute__((vector_size(64), aligned(8), may_alias));
#define WORDS 8

/* The words are cut into `streams` pieces that are read side by side, `lines` lines of each at a time;
 * lines `ahead` bytes further on are prefetched.  All three are constants where this is inlined. */
static inline __attribute__((always_inline)) uint64_t
read_streams(const uint64_t *data, int64_t words, const int streams, const int lines, const int ahead)
{
    const int64_t step = (int64_t)lines * WORDS, each = words / streams / step * step;
    wide sum[8] = {{0}};
    uint64_t total = 0;
    for (int64_t i = 0; i < each; i += step)
        for (int s = 0; s < streams; s++)
            for (int line = 0; line < lines; line++) {
                const uint64_t *at = data + s * each + i + line * WORDS;
                if (ahead > 0)
                    __builtin_prefetch((const char *)at + ahead);
                sum[s * lines + line] += *(const wide *)at;
            }
    for (int i = 0; i < 8; i++)
        for (int lane = 0; lane < WORDS; lane++)
            total += sum[i][lane];
    for (int64_t i = each * streams; i < words; i++)
        total += data[i];
    return total;
}

#define LOOP(isa, target, name, streams, lines, ahead)                                                       \
    target static uint64_t name##_##isa(const uint64_t *data, int64_t words)                                 \
    {                                                                                                        \
        return read_streams(data, words, streams, lines, ahead);                                             \
    }
#define LOOPS(isa, target)                                                                                   \
    LOOP(isa, target, plain2, 1, 2, 0)                                                                       \
    LOOP(isa, target, plain4, 1, 4, 0)                                                                       \
    LOOP(isa, target, near, 1, 2, 512)                                                                       \
    LOOP(isa, target, far, 1, 4, 2048)                                                                       \
    LOOP(isa, target, two, 2, 2, 512)                                                                        \
    LOOP(isa, target, four, 4, 1, 512)                                                                       \
    LOOP(isa, target, four_far, 4, 1, 2048)                                                                  \
    LOOP(isa, target, eight, 8, 1, 512)                                                                      \
    static read_loop *const loops_##isa[READ_LOOPS] = {plain2_##isa,   plain4_##isa, near_##isa,             \
                                                       far_##isa,      two_##isa,    four_##isa,             \
                                                       four_far_##isa, eight_##isa};

LOOPS(generic, )
#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2"))))
LOOPS(avx512, __attribute__((target("avx512f,prefer-vector-width=512"))))
#endif

read_loop *const *read_loops(enum isa isa)
{
#if defined(__x86_64__)
    if (isa == ISA_avx512)
        return loops_avx512;
    if (isa == ISA_avx2)
        return loops_avx2;
#endif
    (void)isa;
    return loops_generic;
}
