/* SPDX-License-Identifier: MIT
 *
 * simt.h: the dialect that GPU kernels are written in.  The device half of a page includes this header and
 * run/product.h, and is compiled as CUDA (nvcc, or clang without an SDK), as HIP (clang without ROCm) and
 * as plain C for the emulator; it therefore keeps to the common subset of C11 and C++17: casts from
 * void *, designators in order, no templates.  The build defines `real` (values), `off` (row offsets; not
 * for a page that kernels.def calls gpu_real) and VARIANT_NAME.
 *
 * A kernel, KERNEL(name)(struct product p) { ... }, is found by the drivers as name__VARIANT:
 *
 *   KERNEL(name)                          is never launched with more than 256 threads a block
 *   KERNEL_UP_TO(name, most)              the same for another number: AMD's compiler shares the registers
 *                                         out among so many, and spills what has no place; NVIDIA's is
 *                                         told where numbers are double, of which it otherwise has fewer
 *                                         under way or takes too many registers for them
 *   KERNEL_BOUND(name, most)              and NVIDIA's compiler is told, too: it may choose otherwise
 *   KERNEL_WAVES(name, waves)             the same, for so many waves a block
 *   KERNEL_RESIDENT(name, most, blocks)   and compiled for so many blocks on a multiprocessor: else
 *                                         NVIDIA's assembler may spill to fit in one more
 *   DEVICE int helper(int a) { ... }      a function that kernels call
 *   SHARED(real, partial, 256);           `real *partial`: shared by the block, not initialised
 *   SHARED_DYNAMIC(real, partial);        as large as the launch says; one a kernel
 *   SIMT_ROLLED for (...)                 a loop that should not be unrolled: registers are dear
 *
 * Where am I
 *
 *   simt_thread_id() < simt_block_size()   within the block
 *   simt_block_id() < simt_grid_size()     blocks of the grid
 *   simt_global_id() < simt_global_size()  threads of the grid (int64_t)
 *   simt_lane() < WAVE                     within the wave; WAVE is 32 or 64, a constant everywhere but on
 *                                          the emulator.  simt_lanes: an unsigned integer, a bit a lane
 *   simt_wave_id() < simt_waves()          waves of the block
 *
 * Together
 *
 *   simt_sync()                    every thread of the block comes here; orders all memory of the block
 *   simt_wave_sync()               every lane of the wave comes here; orders the memory of its lanes
 *   simt_shfl(v, from, lanes)      the v of another lane of the same group of `lanes` (a power of two up
 *   simt_shfl_up(v, by, lanes)     to WAVE, the same in the whole group); up and down give one's own v
 *   simt_shfl_down(v, by, lanes)   where there is no such lane
 *   simt_shfl_xor(v, by, lanes)
 *   simt_ballot(c)                 uint64_t: bit i is set when c is not 0 in lane i
 *   simt_any(c), simt_all(c)       whether c is not 0 in any lane, in all lanes
 *
 *   Everyone who is meant must come, at the same line, and nobody may have left the kernel before: the
 *   whole block, the whole wave, or (shuffles) the whole group; groups of one wave may be at different
 *   places.  Shuffles and ballots carry values but do not order memory.  In a last wave with fewer lanes
 *   the absent ones vote 0, and a shuffle must not read from them.  Blocks never wait for blocks: which of
 *   them are on the device is not known.
 *
 * Memory
 *
 *   simt_atomic_add(p, v), _min, _max, _or, _exchange, simt_atomic_cas(p, expected, v)
 *                                  return what stood there before; in global and shared memory, for
 *                                  (u)int32_t and (u)int64_t, _add for float and double as well
 *   simt_atomic_load(p)            *p, which others may change by these at the same time
 *   simt_atomic_add_cas(p, v)      float and double by compare-and-swap; -DSIMT_ATOMIC_CAS makes
 *                                  simt_atomic_add so
 *   simt_fence()                   who sees what this thread writes next also sees what it wrote so far;
 *                                  and what it reads next is at least as new as what it has read
 *   simt_let_next()                the next kernel of the stream may come to the device, if it was
 *                                  launched with gpu_run_pair
 *   simt_after_previous()          such a kernel says this, and from there on sees all that was launched
 *                                  before it done; earlier it may read only what the kernel right before
 *                                  it does not write
 *   simt_readonly(p)               *p, of global memory that nobody writes during the launch
 *   simt_stream(p)                 the same, and nobody will read it again soon: it should not displace x
 *                                  in the caches
 *   simt_passing_if(condition, p)  p, and what is read through it should leave the L2 cache first, but may
 *                                  stay nearer by; the condition is the block's
 *   simt_stream_if(condition, p)   simt_stream(p), or 0 without reading p; costs no branch
 *   simt_prefetch(p, bytes)        may have so much from p on brought to the L2 cache; a thread says it
 *                                  for all.  What is read soon after costs less waiting; what is not costs
 *                                  memory's time
 *   simt_with(i, value)            i, an index, known no sooner than a value: where both are loaded, both
 *                                  loads come before that of what i leads to
 *   simt_in_register(p)            p, an address of shared memory, worked out once and not at every use
 *   simt_load2(to, p), simt_load4(to, p), simt_stream2, simt_stream4
 *                                  p[0], p[1] (and p[2], p[3]) into an array of the thread's own, by wide
 *                                  accesses where p's alignment allows them; any element alignment is
 *                                  valid.  They read as simt_readonly and simt_stream do
 *
 * Bits
 *
 *   simt_popc(u64)                 how many are set
 *   simt_clz(u64)                  zeros above the highest set one; 64 for 0
 *   simt_ffs(u64)                  the lowest set one, counted from 1; 0 for 0
 *   simt_lanes_below()             the bits of the lanes before one's own, to count in a ballot */
#ifndef SIMT_SIMT_H
#define SIMT_SIMT_H

#include <stdint.h>

typedef int32_t idx;

/* What kernels take, by value; a page with an argument of its own defines this before it includes simt.h. */
#ifndef SIMT_ARGUMENT
#define SIMT_ARGUMENT struct product
#endif

#define SIMT_USUAL_BLOCK 256

#define SIMT_PASTE(a, b) a##__##b
#define SIMT_JOIN(a, b) SIMT_PASTE(a, b)
#define SIMT_NAME(name) SIMT_JOIN(name, VARIANT_NAME)

#define RESTRICT __restrict__

#if defined(SIMT_EMU)
#include "matrix/number.h"
#include "simt/simt_emu.h"
#elif defined(__HIP__)
#include "simt/number.h"
#include "simt/simt_hip.h"
#else
#include "simt/number.h"
#include "simt/simt_cuda.h"
#endif

DEVICE int64_t simt_global_id(void)
{
    return (int64_t)simt_block_id() * simt_block_size() + simt_thread_id();
}

DEVICE int64_t simt_global_size(void)
{
    return (int64_t)simt_grid_size() * simt_block_size();
}

DEVICE int simt_wave_id(void)
{
    return simt_thread_id() / WAVE;
}

DEVICE int simt_waves(void)
{
    return (simt_block_size() + WAVE - 1) / WAVE;
}

DEVICE uint64_t simt_lanes_below(void)
{
    return ((uint64_t)1 << simt_lane()) - 1;
}

#endif
