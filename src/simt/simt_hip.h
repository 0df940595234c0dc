/* SPDX-License-Identifier: MIT
 *
 * simt_hip.h: the dialect for AMD GPUs, by clang.  Mirrors simt_cuda.h and simt_emu.h; simt.h says what
 * each name means.  Nothing but builtins of the compiler: no header of ROCm is needed. */
#ifndef SIMT_SIMT_HIP_H
#define SIMT_SIMT_HIP_H

/* -------------------------------------------------------- kernels ----------------------------- */

#define WAVE __AMDGCN_WAVEFRONT_SIZE__
#if WAVE == 64
typedef uint64_t simt_lanes;
#else
typedef uint32_t simt_lanes;
#endif
#define DEVICE static inline __attribute__((device, always_inline, unused))

#define KERNEL(name) KERNEL_BOUND(name, SIMT_USUAL_BLOCK)
#define KERNEL_UP_TO(name, threads) KERNEL_BOUND(name, threads)
#define KERNEL_BOUND(name, threads)                                                                          \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads))) void SIMT_NAME(name)
#define KERNEL_WAVES(name, waves) KERNEL_BOUND(name, (waves)*WAVE)
#define KERNEL_RESIDENT(name, threads, blocks) KERNEL_BOUND(name, threads)

extern __attribute__((shared, aligned(16))) char simt_dynamic[];
#define SIMT_ROLLED _Pragma("unroll 1")
#define SHARED(type, name, count) __attribute__((shared)) type name[count]
#define SHARED_DYNAMIC(type, name) type *const name = (type *)(void *)simt_dynamic

/* -------------------------------------------------------- where am I -------------------------- */

DEVICE int simt_thread_id(void)
{
    return (int)__builtin_amdgcn_workitem_id_x();
}
DEVICE int simt_block_size(void)
{
    return (int)__builtin_amdgcn_workgroup_size_x();
}
DEVICE int simt_block_id(void)
{
    return (int)__builtin_amdgcn_workgroup_id_x();
}
/* The implicit arguments (code object 5 and later) begin with the number of blocks. */
DEVICE int simt_grid_size(void)
{
    return (int)*(const __attribute__((address_space(4))) uint32_t *)__builtin_amdgcn_implicitarg_ptr();
}
DEVICE int simt_lane(void)
{
    return simt_thread_id() & (WAVE - 1);
}

/* -------------------------------------------------------- together ---------------------------- */

DEVICE void simt_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/* Lanes of a wave run in step: only the compiler must be kept from moving accesses. */
DEVICE void simt_wave_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
DEVICE uint64_t simt_ballot(int condition)
{
#if WAVE == 64
    return __builtin_amdgcn_ballot_w64(condition != 0);
#else
    return __builtin_amdgcn_ballot_w32(condition != 0);
#endif
}
DEVICE int simt_any(int condition)
{
    return simt_ballot(condition) != 0;
}
DEVICE int simt_all(int condition)
{
    return simt_ballot(!condition) == 0;
}

/* The lane that each kind of shuffle reads; one's own where the group has no such lane. */
DEVICE int simt_source(int by, int lanes)
{
    return (simt_lane() & -lanes) + (by & (lanes - 1));
}
DEVICE int simt_source_up(int by, int lanes)
{
    return by <= (simt_lane() & (lanes - 1)) ? simt_lane() - by : simt_lane();
}
DEVICE int simt_source_down(int by, int lanes)
{
    return by < lanes - (simt_lane() & (lanes - 1)) ? simt_lane() + by : simt_lane();
}
DEVICE int simt_source_xor(int by, int lanes)
{
    (void)lanes;
    return simt_lane() ^ by;
}

/* Values travel as one to four words of 32 bits. */
#define SIMT_SHUFFLE(name, source)                                                                           \
    template <class T> DEVICE T name(T value, int by, int lanes)                                             \
    {                                                                                                        \
        static_assert(sizeof(T) % 4 == 0, "shuffles take whole words of 32 bits");                           \
        int word[sizeof(T) / 4], from = source(by, lanes);                                                   \
        __builtin_memcpy(word, &value, sizeof value);                                                        \
        for (unsigned i = 0; i < sizeof(T) / 4; i++)                                                         \
            word[i] = __builtin_amdgcn_ds_bpermute(4 * from, word[i]);                                       \
        __builtin_memcpy(&value, word, sizeof value);                                                        \
        return value;                                                                                        \
    }
SIMT_SHUFFLE(simt_shfl, simt_source)
SIMT_SHUFFLE(simt_shfl_up, simt_source_up)
SIMT_SHUFFLE(simt_shfl_down, simt_source_down)
SIMT_SHUFFLE(simt_shfl_xor, simt_source_xor)
#undef SIMT_SHUFFLE

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
    return bits ? 1 + __builtin_ctzll(bits) : 0;
}

/* -------------------------------------------------------- atomics ----------------------------- */

#define SIMT_ORDER __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define SIMT_ATOMICS(type)                                                                                   \
    DEVICE type simt_atomic_add(type *p, type v)                                                             \
    {                                                                                                        \
        return __hip_atomic_fetch_add(p, v, SIMT_ORDER);                                                     \
    }                                                                                                        \
    DEVICE type simt_atomic_or(type *p, type v)                                                              \
    {                                                                                                        \
        return __hip_atomic_fetch_or(p, v, SIMT_ORDER);                                                      \
    }                                                                                                        \
    DEVICE type simt_atomic_exchange(type *p, type v)                                                        \
    {                                                                                                        \
        return __hip_atomic_exchange(p, v, SIMT_ORDER);                                                      \
    }                                                                                                        \
    DEVICE type simt_atomic_cas(type *p, type expected, type v)                                              \
    {                                                                                                        \
        __hip_atomic_compare_exchange_strong(p, &expected, v, __ATOMIC_RELAXED, SIMT_ORDER);                 \
        return expected;                                                                                     \
    }                                                                                                        \
    DEVICE type simt_atomic_min(type *p, type v)                                                             \
    {                                                                                                        \
        return __hip_atomic_fetch_min(p, v, SIMT_ORDER);                                                     \
    }                                                                                                        \
    DEVICE type simt_atomic_max(type *p, type v)                                                             \
    {                                                                                                        \
        return __hip_atomic_fetch_max(p, v, SIMT_ORDER);                                                     \
    }
SIMT_ATOMICS(int32_t)
SIMT_ATOMICS(uint32_t)
SIMT_ATOMICS(int64_t)
SIMT_ATOMICS(uint64_t)
#undef SIMT_ATOMICS

/* The loop compares bits, so that NaN is equal to itself. */
#ifdef SIMT_ATOMIC_CAS
#define SIMT_ADD_REAL(p, v) simt_atomic_add_cas(p, v)
#else
#define SIMT_ADD_REAL(p, v) __hip_atomic_fetch_add(p, v, SIMT_ORDER)
#endif
#define SIMT_ATOMIC_REAL(type, bits)                                                                         \
    DEVICE type simt_atomic_add_cas(type *p, type v)                                                         \
    {                                                                                                        \
        bits seen = __hip_atomic_load((bits *)p, SIMT_ORDER), old, sum;                                      \
        type before, after;                                                                                  \
        do {                                                                                                 \
            old = seen;                                                                                      \
            __builtin_memcpy(&before, &old, sizeof before);                                                  \
            after = before + v;                                                                              \
            __builtin_memcpy(&sum, &after, sizeof sum);                                                      \
            seen = simt_atomic_cas((bits *)p, old, sum);                                                     \
        } while (seen != old);                                                                               \
        return before;                                                                                       \
    }                                                                                                        \
    DEVICE type simt_atomic_add(type *p, type v)                                                             \
    {                                                                                                        \
        return SIMT_ADD_REAL(p, v);                                                                          \
    }
SIMT_ATOMIC_REAL(float, uint32_t)
SIMT_ATOMIC_REAL(double, uint64_t)
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
    return __hip_atomic_load(p, SIMT_ORDER);
}
#undef SIMT_ORDER

/* -------------------------------------------------------- between blocks ---------------------- */

DEVICE void simt_fence(void)
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

/* Kernels of a stream never meet. */
DEVICE void simt_let_next(void)
{
}
DEVICE void simt_after_previous(void)
{
}

/* -------------------------------------------------------- loads ------------------------------- */

template <class T> DEVICE T simt_readonly(const T *p)
{
    return *p;
}
template <class T> DEVICE T simt_stream(const T *p)
{
    return __builtin_nontemporal_load(p);
}
template <class part> DEVICE simt_complex<part> simt_stream(const simt_complex<part> *p)
{
    typedef part pair __attribute__((ext_vector_type(2)));
    const pair v = __builtin_nontemporal_load((const pair *)p);
    return simt_complex<part>(v.x, v.y);
}

template <class T> DEVICE int32_t simt_with(int32_t i, T)
{
    return i;
}

template <class T> DEVICE const T *simt_passing_if(int, const T *p)
{
    return p;
}

template <class T> DEVICE T *simt_in_register(T *p)
{
    return p;
}

template <class T> DEVICE T simt_stream_if(int condition, const T *p)
{
    return condition ? simt_stream(p) : (T)0;
}

/* There is no such instruction. */
DEVICE void simt_prefetch(const void *, int64_t)
{
}

/* simt_NAME_words: `bytes` (8 or 16, aligned to that) at once. */
template <int bytes> DEVICE void simt_readonly_words(void *to, const void *p)
{
    typedef uint32_t words __attribute__((ext_vector_type(bytes / 4)));
    words w = *(const words *)p;
    __builtin_memcpy(to, &w, bytes);
}
template <int bytes> DEVICE void simt_stream_words(void *to, const void *p)
{
    typedef uint32_t words __attribute__((ext_vector_type(bytes / 4)));
    words w = __builtin_nontemporal_load((const words *)p);
    __builtin_memcpy(to, &w, bytes);
}

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
