/* SPDX-License-Identifier: MIT
 *
 * simt_emu.h: the dialect in plain C, for the emulator.  Mirrors simt_cuda.h and simt_hip.h; simt.h says
 * what each name means.  The build defines SIMT_EMU and, in the pages that look for races, SIMT_HOOKED.
 * WAVE is known when a kernel runs: a page serves both widths. */
#ifndef SIMT_SIMT_EMU_H
#define SIMT_SIMT_EMU_H

#include <string.h>

#include "simt/emu.h"

/* -------------------------------------------------------- kernels ----------------------------- */

#define WAVE (emu_now->width)
typedef uint64_t simt_lanes;
#define DEVICE static inline __attribute__((unused))

#ifdef SIMT_HOOKED
#define SIMT_IS_HOOKED 1
#define SIMT_SYMBOL(name) SIMT_JOIN(SIMT_NAME(name), hooked)
#else
#define SIMT_IS_HOOKED 0
#define SIMT_TOGETHER /* collective_fold.h */
#define SIMT_SYMBOL(name) SIMT_JOIN(SIMT_NAME(name), emu)
#endif
#define SIMT_TEXT_(a) #a
#define SIMT_TEXT(a) SIMT_TEXT_(a)
#define SIMT_SITE __FILE__ ":" SIMT_TEXT(__LINE__)
#define SIMT_CALLED(call) (emu_now->caller = SIMT_SITE, call)

#define KERNEL(name) KERNEL_BOUND(name, SIMT_USUAL_BLOCK)
#define KERNEL_UP_TO(name, threads) KERNEL_BOUND(name, threads)
#define KERNEL_WAVES(name, waves) KERNEL_BOUND(name, (waves)*64) /* the wider ones */
#define KERNEL_RESIDENT(name, threads, blocks) KERNEL_BOUND(name, threads)
#define KERNEL_BOUND(name, threads)                                                                          \
    static void SIMT_SYMBOL(name)(SIMT_ARGUMENT);                                                            \
    __attribute__((used)) static void SIMT_JOIN(call, SIMT_SYMBOL(name))(const void *argument)               \
    {                                                                                                        \
        SIMT_SYMBOL(name)(*(const SIMT_ARGUMENT *)argument);                                                 \
    }                                                                                                        \
    __attribute__((used)) static const struct emu_facts SIMT_JOIN(facts, SIMT_SYMBOL(name)) = {              \
        sizeof(SIMT_ARGUMENT), (threads), SIMT_IS_HOOKED};                                                   \
    SIMT_ROW(SIMT_JOIN(call, SIMT_SYMBOL(name)), SIMT_JOIN(facts, SIMT_SYMBOL(name)), SIMT_NAME(name))       \
    static void SIMT_SYMBOL(name)

/* A struct emu_kernel: distances to what it names, so that nothing is left for the dynamic linker to fill
 * in. */
#define SIMT_ROW(call, facts, name) SIMT_ROW_(call, facts, name)
#define SIMT_ROW_(call, facts, name)                                                                         \
    __asm__(".pushsection emu_kernels, \"a\"\n"                                                              \
            ".balign 4\n"                                                                                    \
            ".long " #call " - .\n"                                                                          \
            ".long " #facts " - .\n"                                                                         \
            ".long 1f - .\n"                                                                                 \
            ".popsection\n"                                                                                  \
            ".pushsection .rodata.str1.1, \"aMS\", %progbits, 1\n"                                           \
            "1: .asciz \"" #name "\"\n"                                                                      \
            ".popsection");

/* A page in an archive must be asked for by a symbol, or the linker leaves it out: the build makes a list
 * of these. */
#ifdef PAGE_NAME
extern const char SIMT_SYMBOL(SIMT_JOIN(emu_page, PAGE_NAME));
const char SIMT_SYMBOL(SIMT_JOIN(emu_page, PAGE_NAME)) = 0;
#endif

#define SIMT_ROLLED
#define SHARED(type, name, count)                                                                            \
    static char simt_key_##name;                                                                             \
    type *const name = (type *)emu_shared(&simt_key_##name, #name, (int64_t)sizeof(type), (count))
#define SHARED_DYNAMIC(type, name) type *const name = (type *)emu_shared_dynamic((int64_t)sizeof(type))

/* -------------------------------------------------------- where am I -------------------------- */

DEVICE int simt_thread_id(void)
{
    return emu_now->thread;
}
DEVICE int simt_block_size(void)
{
    return emu_now->block->size;
}
DEVICE int simt_block_id(void)
{
    return (int)emu_now->block->id;
}
DEVICE int simt_grid_size(void)
{
    return (int)emu_now->block->grid;
}
DEVICE int simt_lane(void)
{
    return emu_now->lane;
}

/* -------------------------------------------------------- together ---------------------------- */

#define simt_sync() emu_sync(SIMT_SITE)
#define simt_wave_sync() emu_wave_sync(SIMT_SITE)
#define simt_ballot(condition) emu_vote(SIMT_SITE, EMU_BALLOT, (condition) != 0)
#define simt_any(condition) ((int)emu_vote(SIMT_SITE, EMU_ANY, (condition) != 0))
#define simt_all(condition) ((int)emu_vote(SIMT_SITE, EMU_ALL, (condition) != 0))

/* Values travel as 64 bits, or twice as many. */
#define SIMT_SHUFFLE(type, suffix)                                                                           \
    DEVICE type simt_shuffle_##suffix(const char *site, enum emu_op op, type value, int by, int lanes)       \
    {                                                                                                        \
        uint64_t bits[2] = {0, 0};                                                                           \
        memcpy(bits, &value, sizeof value);                                                                  \
        for (size_t i = 0; 8 * i < sizeof value; i++)                                                        \
            bits[i] = emu_shuffle(site, op, bits[i], by, lanes);                                             \
        memcpy(&value, bits, sizeof value);                                                                  \
        return value;                                                                                        \
    }
SIMT_SHUFFLE(int32_t, i32)
SIMT_SHUFFLE(uint32_t, u32)
SIMT_SHUFFLE(int64_t, i64)
SIMT_SHUFFLE(uint64_t, u64)
SIMT_SHUFFLE(float, f32)
SIMT_SHUFFLE(double, f64)
SIMT_SHUFFLE(c32, c32)
SIMT_SHUFFLE(c64, c64)
#undef SIMT_SHUFFLE

/* The function of a family that fits the type of `value`. */
#define SIMT_INTEGERS(family)                                                                                \
    int32_t:                                                                                                 \
    family##_i32, uint32_t : family##_u32, int64_t : family##_i64, uint64_t : family##_u64
#define SIMT_REALS(family) float : family##_f32, double : family##_f64, c32 : family##_c32, c64 : family##_c64
#define SIMT_TYPED(family, value) _Generic((value), SIMT_INTEGERS(family), SIMT_REALS(family))
#define SIMT_TYPED_INTEGER(family, value) _Generic((value), SIMT_INTEGERS(family))
#define SIMT_TYPED_REAL(family, value) _Generic((value), SIMT_REALS(family))
/* What is only loaded may also have 16 bits. */
#define SIMT_TYPED_LOAD(family, value)                                                                       \
    _Generic((value), uint16_t : family##_u16, SIMT_INTEGERS(family), SIMT_REALS(family))

#define simt_shfl(value, from, lanes) SIMT_TYPED(simt_shuffle, value)(SIMT_SITE, EMU_SHFL, value, from, lanes)
#define simt_shfl_up(value, by, lanes)                                                                       \
    SIMT_TYPED(simt_shuffle, value)(SIMT_SITE, EMU_SHFL_UP, value, by, lanes)
#define simt_shfl_down(value, by, lanes)                                                                     \
    SIMT_TYPED(simt_shuffle, value)(SIMT_SITE, EMU_SHFL_DOWN, value, by, lanes)
#define simt_shfl_xor(value, by, lanes)                                                                      \
    SIMT_TYPED(simt_shuffle, value)(SIMT_SITE, EMU_SHFL_XOR, value, by, lanes)

/* -------------------------------------------------------- bits -------------------------------- */

DEVICE int simt_popc(uint64_t bits)
{
    return __builtin_popcountll(bits);
}
DEVICE int simt_clz(uint64_t bits)
{
    return bits ? __builtin_clzll(bits) : 64;
}
DEVICE int simt_ffs(uint64_t bits)
{
    return __builtin_ffsll((long long)bits);
}

/* -------------------------------------------------------- atomics ----------------------------- */

/* Integers: the builtins for what exists, a loop for the rest. */
#define SIMT_ATOMIC_LOOP(operation, type, suffix, result)                                                    \
    DEVICE type simt_atomic_##operation##_##suffix(type *p, type v)                                          \
    {                                                                                                        \
        type old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                     \
        while (!__atomic_compare_exchange_n(p, &old, (result), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))       \
            ;                                                                                                \
        return old;                                                                                          \
    }
#define SIMT_ATOMICS(type, suffix)                                                                           \
    DEVICE type simt_atomic_add_##suffix(type *p, type v)                                                    \
    {                                                                                                        \
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                                   \
    }                                                                                                        \
    DEVICE type simt_atomic_or_##suffix(type *p, type v)                                                     \
    {                                                                                                        \
        return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);                                                    \
    }                                                                                                        \
    DEVICE type simt_atomic_exchange_##suffix(type *p, type v)                                               \
    {                                                                                                        \
        return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);                                                  \
    }                                                                                                        \
    DEVICE type simt_atomic_cas_##suffix(type *p, type expected, type v)                                     \
    {                                                                                                        \
        __atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                 \
        return expected;                                                                                     \
    }                                                                                                        \
    SIMT_ATOMIC_LOOP(min, type, suffix, v < old ? v : old)                                                   \
    SIMT_ATOMIC_LOOP(max, type, suffix, v > old ? v : old)
SIMT_ATOMICS(int32_t, i32)
SIMT_ATOMICS(uint32_t, u32)
SIMT_ATOMICS(int64_t, i64)
SIMT_ATOMICS(uint64_t, u64)
#undef SIMT_ATOMICS
#undef SIMT_ATOMIC_LOOP

/* The generic builtins compare bits, so that NaN is equal to itself. */
#define SIMT_ATOMIC_REAL(type, suffix)                                                                       \
    DEVICE type simt_atomic_add_cas_##suffix(type *p, type v)                                                \
    {                                                                                                        \
        type before, after;                                                                                  \
        __atomic_load(p, &before, __ATOMIC_RELAXED);                                                         \
        do                                                                                                   \
            after = before + v;                                                                              \
        while (!__atomic_compare_exchange(p, &before, &after, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));       \
        return before;                                                                                       \
    }                                                                                                        \
    DEVICE type simt_atomic_add_##suffix(type *p, type v)                                                    \
    {                                                                                                        \
        return simt_atomic_add_cas_##suffix(p, v);                                                           \
    }
SIMT_ATOMIC_REAL(float, f32)
SIMT_ATOMIC_REAL(double, f64)
#undef SIMT_ATOMIC_REAL

/* Complex numbers: the two parts, each by itself. */
#define SIMT_ATOMIC_COMPLEX(operation, type, suffix, part, part_suffix)                                      \
    DEVICE type simt_atomic_##operation##_##suffix(type *p, type v)                                          \
    {                                                                                                        \
        part *of = (part *)p;                                                                                \
        __real__ v = simt_atomic_##operation##_##part_suffix(of, __real__ v);                                \
        __imag__ v = simt_atomic_##operation##_##part_suffix(of + 1, __imag__ v);                            \
        return v;                                                                                            \
    }
SIMT_ATOMIC_COMPLEX(add, c32, c32, float, f32)
SIMT_ATOMIC_COMPLEX(add, c64, c64, double, f64)
SIMT_ATOMIC_COMPLEX(add_cas, c32, c32, float, f32)
SIMT_ATOMIC_COMPLEX(add_cas, c64, c64, double, f64)
#undef SIMT_ATOMIC_COMPLEX

#define simt_atomic_add(p, v) SIMT_TYPED(simt_atomic_add, *(p))(p, v)
#define simt_atomic_add_cas(p, v) SIMT_TYPED_REAL(simt_atomic_add_cas, *(p))(p, v)
#define simt_atomic_min(p, v) SIMT_TYPED_INTEGER(simt_atomic_min, *(p))(p, v)
#define simt_atomic_max(p, v) SIMT_TYPED_INTEGER(simt_atomic_max, *(p))(p, v)
#define simt_atomic_or(p, v) SIMT_TYPED_INTEGER(simt_atomic_or, *(p))(p, v)
#define simt_atomic_exchange(p, v) SIMT_TYPED_INTEGER(simt_atomic_exchange, *(p))(p, v)
#define simt_atomic_cas(p, expected, v) SIMT_TYPED_INTEGER(simt_atomic_cas, *(p))(p, expected, v)
#define simt_atomic_load(p) __atomic_load_n(p, __ATOMIC_RELAXED)

/* -------------------------------------------------------- between blocks ---------------------- */

#define simt_fence() emu_fence()
#define simt_let_next() ((void)0)
#define simt_after_previous() emu_after_previous()

/* -------------------------------------------------------- loads ------------------------------- */

#define simt_readonly(p) (*(p))
#define simt_stream(p) (*(p))
#define simt_stream_if(condition, p) ((condition) ? *(p) : 0)

/* There is no cache to fill, but a sanitizer sees what does not belong to the array. */
DEVICE void simt_prefetch(const void *p, int64_t bytes)
{
    const volatile char *byte = (const volatile char *)p;
    if (bytes > 0) {
        (void)byte[0];
        (void)byte[bytes - 1];
    }
}

#define simt_with(i, value) (i)
#define simt_passing_if(passing, p) ((void)(passing), (p))
#define simt_in_register(p) (p)

/* Element by element: no more alignment is assumed than a page may assume. */
#define SIMT_LOADS(type, suffix)                                                                             \
    DEVICE void simt_load2_##suffix(type *to, const type *p)                                                 \
    {                                                                                                        \
        to[0] = p[0];                                                                                        \
        to[1] = p[1];                                                                                        \
    }                                                                                                        \
    DEVICE void simt_load4_##suffix(type *to, const type *p)                                                 \
    {                                                                                                        \
        simt_load2_##suffix(to, p);                                                                          \
        simt_load2_##suffix(to + 2, p + 2);                                                                  \
    }
SIMT_LOADS(int32_t, i32)
SIMT_LOADS(uint32_t, u32)
SIMT_LOADS(int64_t, i64)
SIMT_LOADS(uint64_t, u64)
SIMT_LOADS(float, f32)
SIMT_LOADS(double, f64)
SIMT_LOADS(c32, c32)
SIMT_LOADS(c64, c64)
SIMT_LOADS(uint16_t, u16)
#undef SIMT_LOADS

#define simt_load2(to, p) SIMT_TYPED_LOAD(simt_load2, *(to))(to, p)
#define simt_load4(to, p) SIMT_TYPED_LOAD(simt_load4, *(to))(to, p)
#define simt_stream2(to, p) simt_load2(to, p)
#define simt_stream4(to, p) simt_load4(to, p)

#endif
