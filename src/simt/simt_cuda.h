/* SPDX-License-Identifier: MIT
 *
 * simt_cuda.h: the dialect for NVIDIA GPUs, by nvcc or by clang.  Mirrors simt_hip.h and simt_emu.h;
 * simt.h says what each name means.  Written in the words of CUDA (cuda_words.h has them for clang), and
 * in PTX where CUDA has none. */
#ifndef SIMT_SIMT_CUDA_H
#define SIMT_SIMT_CUDA_H

#include "simt/cuda_words.h"

/* -------------------------------------------------------- kernels ----------------------------- */

#define WAVE 32
typedef uint32_t simt_lanes;
#define DEVICE static __device__ __forceinline__ __attribute__((unused))

#define KERNEL(name) extern "C" __global__ void SIMT_NAME(name)
#if NUMBER_OF(real) == NUMBER_double
#define KERNEL_UP_TO(name, threads) KERNEL_BOUND(name, threads)
#else
#define KERNEL_UP_TO(name, threads) KERNEL(name)
#endif
#define KERNEL_BOUND(name, threads) extern "C" __global__ __launch_bounds__(threads) void SIMT_NAME(name)
#define KERNEL_WAVES(name, waves) KERNEL_BOUND(name, (waves)*WAVE)
#define KERNEL_RESIDENT(name, threads, blocks)                                                               \
    extern "C" __global__ __launch_bounds__(threads, blocks) void SIMT_NAME(name)

extern __shared__ __attribute__((aligned(16))) char simt_dynamic[];
#define SIMT_ROLLED _Pragma("unroll 1")
#define SHARED(type, name, count) __shared__ type name[count]
#define SHARED_DYNAMIC(type, name) type *const name = (type *)(void *)simt_dynamic

/* -------------------------------------------------------- where am I -------------------------- */

DEVICE int simt_thread_id(void)
{
    return (int)threadIdx.x;
}
DEVICE int simt_block_size(void)
{
    return (int)blockDim.x;
}
DEVICE int simt_block_id(void)
{
    return (int)blockIdx.x;
}
DEVICE int simt_grid_size(void)
{
    return (int)gridDim.x;
}
DEVICE int simt_lane(void)
{
    return simt_thread_id() & (WAVE - 1);
}

/* -------------------------------------------------------- together ---------------------------- */

DEVICE void simt_sync(void)
{
    __syncthreads();
}
DEVICE void simt_wave_sync(void)
{
    __syncwarp();
}
DEVICE uint64_t simt_ballot(int condition)
{
    return __ballot_sync(0xffffffff, condition);
}
DEVICE int simt_any(int condition)
{
    return __any_sync(0xffffffff, condition) != 0;
}
DEVICE int simt_all(int condition)
{
    return __all_sync(0xffffffff, condition) != 0;
}

/* The lanes that a shuffle waits for: the group, because other groups of the wave may be elsewhere. */
DEVICE unsigned simt_group(int lanes)
{
    return lanes == WAVE ? 0xffffffff : ((1u << lanes) - 1) << (simt_lane() & -lanes);
}

/* Values travel as one to four words of 32 bits. */
#define SIMT_SHUFFLE(name, word_shuffle)                                                                     \
    template <class T> DEVICE T name(T value, int by, int lanes)                                             \
    {                                                                                                        \
        static_assert(sizeof(T) % 4 == 0, "shuffles take whole words of 32 bits");                           \
        unsigned word[sizeof(T) / 4];                                                                        \
        __builtin_memcpy(word, &value, sizeof value);                                                        \
        for (unsigned i = 0; i < sizeof(T) / 4; i++)                                                         \
            word[i] = word_shuffle(simt_group(lanes), word[i], by, lanes);                                   \
        __builtin_memcpy(&value, word, sizeof value);                                                        \
        return value;                                                                                        \
    }
SIMT_SHUFFLE(simt_shfl, __shfl_sync)
SIMT_SHUFFLE(simt_shfl_up, __shfl_up_sync)
SIMT_SHUFFLE(simt_shfl_down, __shfl_down_sync)
SIMT_SHUFFLE(simt_shfl_xor, __shfl_xor_sync)
#undef SIMT_SHUFFLE

/* -------------------------------------------------------- bits -------------------------------- */

DEVICE int simt_popc(uint64_t bits)
{
    return __popcll(bits);
}
DEVICE int simt_clz(uint64_t bits)
{
    return __clzll((long long)bits);
}
DEVICE int simt_ffs(uint64_t bits)
{
    return __ffsll((long long)bits);
}

/* -------------------------------------------------------- atomics ----------------------------- */

/* CUDA has additions and swaps for unsigned types, minimum and maximum for signed ones too. */
#define SIMT_ATOMICS(type, bits, same)                                                                       \
    DEVICE type simt_atomic_add(type *p, type v)                                                             \
    {                                                                                                        \
        return (type)atomicAdd((bits *)p, (bits)v);                                                          \
    }                                                                                                        \
    DEVICE type simt_atomic_or(type *p, type v)                                                              \
    {                                                                                                        \
        return (type)atomicOr((bits *)p, (bits)v);                                                           \
    }                                                                                                        \
    DEVICE type simt_atomic_exchange(type *p, type v)                                                        \
    {                                                                                                        \
        return (type)atomicExch((bits *)p, (bits)v);                                                         \
    }                                                                                                        \
    DEVICE type simt_atomic_cas(type *p, type expected, type v)                                              \
    {                                                                                                        \
        return (type)atomicCAS((bits *)p, (bits)expected, (bits)v);                                          \
    }                                                                                                        \
    DEVICE type simt_atomic_min(type *p, type v)                                                             \
    {                                                                                                        \
        return (type)atomicMin((same *)p, (same)v);                                                          \
    }                                                                                                        \
    DEVICE type simt_atomic_max(type *p, type v)                                                             \
    {                                                                                                        \
        return (type)atomicMax((same *)p, (same)v);                                                          \
    }
SIMT_ATOMICS(int32_t, unsigned, int)
SIMT_ATOMICS(uint32_t, unsigned, unsigned)
SIMT_ATOMICS(int64_t, unsigned long long, long long)
SIMT_ATOMICS(uint64_t, unsigned long long, unsigned long long)
#undef SIMT_ATOMICS

/* The loop compares bits, so that NaN is equal to itself. */
#ifdef SIMT_ATOMIC_CAS
#define SIMT_ADD_REAL(p, v) simt_atomic_add_cas(p, v)
#else
#define SIMT_ADD_REAL(p, v) atomicAdd(p, v)
#endif
#define SIMT_ATOMIC_REAL(type, bits)                                                                         \
    DEVICE type simt_atomic_add_cas(type *p, type v)                                                         \
    {                                                                                                        \
        bits seen = *(volatile bits *)p, old, sum;                                                           \
        type before, after;                                                                                  \
        do {                                                                                                 \
            old = seen;                                                                                      \
            __builtin_memcpy(&before, &old, sizeof before);                                                  \
            after = before + v;                                                                              \
            __builtin_memcpy(&sum, &after, sizeof sum);                                                      \
            seen = atomicCAS((bits *)p, old, sum);                                                           \
        } while (seen != old);                                                                               \
        return before;                                                                                       \
    }                                                                                                        \
    DEVICE type simt_atomic_add(type *p, type v)                                                             \
    {                                                                                                        \
        return SIMT_ADD_REAL(p, v);                                                                          \
    }
SIMT_ATOMIC_REAL(float, unsigned)
SIMT_ATOMIC_REAL(double, unsigned long long)
#undef SIMT_ATOMIC_REAL
#undef SIMT_ADD_REAL

/* Complex numbers: the two parts, each by itself. */
template <class part> DEVICE simt_complex<part> simt_atomic_add(simt_complex<part> *p, simt_complex<part> v)
{
    return simt_complex<part>(simt_atomic_add(&p->re, v.re), simt_atomic_add(&p->im, v.im));
}
template <class part>
DEVICE simt_complex<part> simt_atomic_add_cas(simt_complex<part> *p, simt_complex<part> v)
{
    return simt_complex<part>(simt_atomic_add_cas(&p->re, v.re), simt_atomic_add_cas(&p->im, v.im));
}

template <class T> DEVICE T simt_atomic_load(const T *p)
{
    return *(const volatile T *)p;
}

/* -------------------------------------------------------- between blocks ---------------------- */

/* __threadfence orders all accesses of all threads; nothing here needs that. */
DEVICE void simt_fence(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* Programmatic dependent launch, since sm_90; before, and where the host did not ask for it, kernels of a
 * stream never meet. */
DEVICE void simt_let_next(void)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
DEVICE void simt_after_previous(void)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* -------------------------------------------------------- loads ------------------------------- */

/* Memory that nobody writes is read by an ordinary load: both compilers see that it goes to global memory
 * and is never written (RESTRICT), take the read-only path by themselves, and unroll around it, which they
 * hardly do around PTX of one's own.  Measured on an H200: one thread a row is up to 1.9 times slower with
 * loads in PTX.
 *
 * What should not stay in the caches, and wide accesses, are in PTX: `way` is "nc" (nobody writes it) or
 * "cs" (first to leave the caches).  They are not volatile: the compiler may move and merge them, as what
 * they read does not change. simt_NAME_words: `bytes` (8 or 16, aligned to that) at once. */
template <class T> DEVICE T simt_readonly(const T *p)
{
    return *p;
}
template <class T> DEVICE T simt_stream(const T *p)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "loads take 16, 32, 64 or 128 bits");
    T value;
    if (sizeof(T) == 2) {
        uint16_t bits;
        asm("ld.global.cs.b16 %0, [%1];" : "=h"(bits) : "l"(p));
        __builtin_memcpy(&value, &bits, sizeof(T) & 2);
    } else if (sizeof(T) == 4) {
        uint32_t bits;
        asm("ld.global.cs.b32 %0, [%1];" : "=r"(bits) : "l"(p));
        __builtin_memcpy(&value, &bits, sizeof(T) & 4);
    } else if (sizeof(T) == 8) {
        uint64_t bits;
        asm("ld.global.cs.b64 %0, [%1];" : "=l"(bits) : "l"(p));
        __builtin_memcpy(&value, &bits, sizeof(T) & 8);
    } else {
        uint64_t bits[2];
        asm("ld.global.cs.v2.b64 {%0, %1}, [%2];" : "=l"(bits[0]), "=l"(bits[1]) : "l"(p));
        __builtin_memcpy(&value, bits, sizeof(T) & 16);
    }
    return value;
}

/* A bulk prefetch, since sm_90: it takes whole units of 16 bytes. */
DEVICE void simt_prefetch(const void *p, int64_t bytes)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    const uint64_t from = ((uint64_t)p + 15) & ~(uint64_t)15, to = ((uint64_t)p + bytes) & ~(uint64_t)15;
    if (bytes > 0 && to > from)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"((uint32_t)(to - from))
                     : "memory");
#else
    (void)p;
    (void)bytes;
#endif
}

/* ptxas puts off loads whose values are needed late.  It does not know that all blocks have the same z. */
template <class T> DEVICE int32_t simt_with(int32_t i, T value)
{
#ifdef __NVCC__
    uint32_t zero, bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value < sizeof bits ? sizeof value : sizeof bits);
    asm("mov.u32 %0, %%ctaid.z;" : "=r"(zero));
    return i | (int32_t)(bits & zero);
#else
    (void)value;
    return i;
#endif
}

/* All loads through the pointer carry a policy of createpolicy, "evict first" or "evict normal"; clang has no
 * such pointers. */
template <class T> DEVICE const T *simt_passing_if(int passing, const T *p)
{
#if !defined(__clang__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
    return (const T *)__nv_associate_access_property(p, passing ? 0x12f0000000000000 : 0x10f0000000000000);
#else
    (void)passing;
    return p;
#endif
}

/* nvcc takes the address of a shared array for a constant, and Hopper works it out from the block's place in
 * its cluster at every use; what comes out of an assembler statement it keeps. */
template <class T> DEVICE T *simt_in_register(T *p)
{
#ifdef __NVCC__
    uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("" : "+r"(at));
    return (T *)__cvta_shared_to_generic(at);
#else
    return p;
#endif
}

/* nvcc's own streaming load needs no register for the condition; clang has none, and branches around PTX. */
#ifdef __NVCC__
template <class T> DEVICE T simt_stream_if(int condition, const T *p)
{
    return condition ? __ldcs(p) : (T)0;
}
DEVICE c32 simt_stream_if(int condition, const c32 *p)
{
    const float2 v = condition ? __ldcs((const float2 *)p) : make_float2(0, 0);
    return c32(v.x, v.y);
}
DEVICE c64 simt_stream_if(int condition, const c64 *p)
{
    const double2 v = condition ? __ldcs((const double2 *)p) : make_double2(0, 0);
    return c64(v.x, v.y);
}
#else
template <class T> DEVICE T simt_stream_if(int condition, const T *p)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "loads take 16, 32, 64 or 128 bits");
    T value;
    if (sizeof(T) == 2) {
        uint16_t bits;
        asm("{ .reg .pred go; setp.ne.s32 go, %2, 0; mov.b16 %0, 0; @go ld.global.cs.b16 %0, [%1]; }"
            : "=&h"(bits)
            : "l"(p), "r"(condition));
        __builtin_memcpy(&value, &bits, sizeof(T) & 2);
    } else if (sizeof(T) == 4) {
        uint32_t bits;
        asm("{ .reg .pred go; setp.ne.s32 go, %2, 0; mov.b32 %0, 0; @go ld.global.cs.b32 %0, [%1]; }"
            : "=&r"(bits)
            : "l"(p), "r"(condition));
        __builtin_memcpy(&value, &bits, sizeof(T) & 4);
    } else if (sizeof(T) == 8) {
        uint64_t bits;
        asm("{ .reg .pred go; setp.ne.s32 go, %2, 0; mov.b64 %0, 0; @go ld.global.cs.b64 %0, [%1]; }"
            : "=&l"(bits)
            : "l"(p), "r"(condition));
        __builtin_memcpy(&value, &bits, sizeof(T) & 8);
    } else {
        uint64_t bits[2];
        asm("{ .reg .pred go; setp.ne.s32 go, %3, 0; mov.b64 %0, 0; mov.b64 %1, 0; "
            "@go ld.global.cs.v2.b64 {%0, %1}, [%2]; }"
            : "=&l"(bits[0]), "=&l"(bits[1])
            : "l"(p), "r"(condition));
        __builtin_memcpy(&value, bits, sizeof(T) & 16);
    }
    return value;
}
#endif

#define SIMT_WORDS(name, way)                                                                                \
    template <int bytes> DEVICE void simt_##name##_words(void *to, const void *p)                            \
    {                                                                                                        \
        uint32_t w[4];                                                                                       \
        if (bytes == 8)                                                                                      \
            asm("ld.global." way ".v2.b32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));               \
        else                                                                                                 \
            asm("ld.global." way ".v4.b32 {%0, %1, %2, %3}, [%4];"                                           \
                : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                             \
                : "l"(p));                                                                                   \
        __builtin_memcpy(to, w, bytes);                                                                      \
    }
SIMT_WORDS(readonly, "nc")
SIMT_WORDS(stream, "cs")
#undef SIMT_WORDS

/* n elements by accesses as wide as the alignment of p allows: 16 bytes, all elements in 8, or one by one. */
#define SIMT_LOADS(name, n, way)                                                                             \
    template <class T> DEVICE void name(T *to, const T *p)                                                   \
    {                                                                                                        \
        constexpr int bytes = n * (int)sizeof(T), wide = bytes < 16 ? 8 : 16;                                \
        if (bytes >= wide && (uintptr_t)p % wide == 0)                                                       \
            for (int i = 0; i < bytes; i += wide)                                                            \
                simt_##way##_words<wide>((char *)to + i, (const char *)p + i);                               \
        else                                                                                                 \
            for (int i = 0; i < n; i++)                                                                      \
                to[i] = simt_##way(p + i);                                                                   \
    }
SIMT_LOADS(simt_load2, 2, readonly)
SIMT_LOADS(simt_load4, 4, readonly)
SIMT_LOADS(simt_stream2, 2, stream)
SIMT_LOADS(simt_stream4, 4, stream)
#undef SIMT_LOADS

#endif
