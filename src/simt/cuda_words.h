/* SPDX-License-Identifier: MIT
 *
 * cuda_words.h: the words of CUDA that simt_cuda.h is written in.  nvcc brings them along; clang, which
 * sees no CUDA header here, gets them from its builtins. */
#ifndef SIMT_CUDA_WORDS_H
#define SIMT_CUDA_WORDS_H
#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define SIMT_WORD static __device__ __forceinline__

/* As much of the coordinates as the dialect uses. */
#define threadIdx (simt_register_x{__nvvm_read_ptx_sreg_tid_x()})
#define blockIdx (simt_register_x{__nvvm_read_ptx_sreg_ctaid_x()})
#define blockDim (simt_register_x{__nvvm_read_ptx_sreg_ntid_x()})
#define gridDim (simt_register_x{__nvvm_read_ptx_sreg_nctaid_x()})
struct simt_register_x {
    int x;
};

SIMT_WORD void __threadfence()
{
    __nvvm_membar_gl();
}
SIMT_WORD int __syncthreads_or(int condition)
{
    return __nvvm_bar0_or(condition);
}
SIMT_WORD void __syncwarp(unsigned mask = 0xffffffff)
{
    __nvvm_bar_warp_sync(mask);
}
SIMT_WORD unsigned __ballot_sync(unsigned mask, int condition)
{
    return __nvvm_vote_ballot_sync(mask, condition);
}
SIMT_WORD int __any_sync(unsigned mask, int condition)
{
    return __nvvm_vote_any_sync(mask, condition);
}
SIMT_WORD int __all_sync(unsigned mask, int condition)
{
    return __nvvm_vote_all_sync(mask, condition);
}

/* The last operand of a shuffle: the lanes of a group above, the place beyond which nothing is read below. */
SIMT_WORD unsigned __shfl_sync(unsigned mask, unsigned v, int from, int lanes)
{
    return (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)v, from, (32 - lanes) << 8 | 31);
}
SIMT_WORD unsigned __shfl_up_sync(unsigned mask, unsigned v, int by, int lanes)
{
    return (unsigned)__nvvm_shfl_sync_up_i32(mask, (int)v, by, (32 - lanes) << 8);
}
SIMT_WORD unsigned __shfl_down_sync(unsigned mask, unsigned v, int by, int lanes)
{
    return (unsigned)__nvvm_shfl_sync_down_i32(mask, (int)v, by, (32 - lanes) << 8 | 31);
}
SIMT_WORD unsigned __shfl_xor_sync(unsigned mask, unsigned v, int by, int lanes)
{
    return (unsigned)__nvvm_shfl_sync_bfly_i32(mask, (int)v, by, (32 - lanes) << 8 | 31);
}

SIMT_WORD int __popcll(unsigned long long bits)
{
    return __builtin_popcountll(bits);
}
SIMT_WORD int __clzll(unsigned long long bits)
{
    return bits ? __builtin_clzll(bits) : 64;
}
SIMT_WORD int __ffsll(unsigned long long bits)
{
    return bits ? 1 + __builtin_ctzll(bits) : 0;
}

#define SIMT_ATOMIC_WORD(word, type, builtin, builtin_type)                                                  \
    SIMT_WORD type word(type *p, type v)                                                                     \
    {                                                                                                        \
        return (type)__nvvm_atom_##builtin((builtin_type *)p, (builtin_type)v);                              \
    }
SIMT_ATOMIC_WORD(atomicAdd, float, add_gen_f, float)
SIMT_ATOMIC_WORD(atomicAdd, double, add_gen_d, double)
SIMT_ATOMIC_WORD(atomicAdd, unsigned, add_gen_i, int)
SIMT_ATOMIC_WORD(atomicAdd, unsigned long long, add_gen_ll, long long)
SIMT_ATOMIC_WORD(atomicOr, unsigned, or_gen_i, int)
SIMT_ATOMIC_WORD(atomicOr, unsigned long long, or_gen_ll, long long)
SIMT_ATOMIC_WORD(atomicExch, unsigned, xchg_gen_i, int)
SIMT_ATOMIC_WORD(atomicExch, unsigned long long, xchg_gen_ll, long long)
SIMT_ATOMIC_WORD(atomicMin, int, min_gen_i, int)
SIMT_ATOMIC_WORD(atomicMin, unsigned, min_gen_ui, unsigned)
SIMT_ATOMIC_WORD(atomicMin, long long, min_gen_ll, long long)
SIMT_ATOMIC_WORD(atomicMin, unsigned long long, min_gen_ull, unsigned long long)
SIMT_ATOMIC_WORD(atomicMax, int, max_gen_i, int)
SIMT_ATOMIC_WORD(atomicMax, unsigned, max_gen_ui, unsigned)
SIMT_ATOMIC_WORD(atomicMax, long long, max_gen_ll, long long)
SIMT_ATOMIC_WORD(atomicMax, unsigned long long, max_gen_ull, unsigned long long)
#undef SIMT_ATOMIC_WORD

SIMT_WORD unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v)
{
    return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)v);
}
SIMT_WORD unsigned long long atomicCAS(unsigned long long *p, unsigned long long expected,
                                       unsigned long long v)
{
    return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)expected, (long long)v);
}

#endif
#endif
