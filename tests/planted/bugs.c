/* SPDX-License-Identifier: MIT
 *
 * bugs: kernels that are right when p.parts is 0 and have one planted bug when it is 1.
 * tests/test_emu_bugs.c sees to it that the emulator lets the former pass and catches the latter; the line
 * of a bug is marked with "here: NAME".
 *
 * Unless said otherwise y[i] becomes 2 x[i] for all threads i. */
#ifdef HEDDLE_DEVICE
#include "run/product.h"
#include "simt/collective.h"

#define BLOCK 128
#define BROKEN (p.parts != 0)

DEVICE real input(struct product p)
{
    return ((const real *)p.x)[simt_global_id()];
}

DEVICE void output(struct product p, real value)
{
    ((real *)p.y)[simt_global_id()] = value;
}

/* Threads come to one barrier, or to two. */
KERNEL(bug_two_barriers)(struct product p)
{
    if (BROKEN && simt_thread_id() % 2 == 1)
        simt_sync(); /* here: odd */
    else
        simt_sync(); /* here: even */
    output(p, 2 * input(p));
}

/* A thread leaves before a barrier, as in `if (row >= rows) return;` */
KERNEL(bug_early_exit)(struct product p)
{
    if (BROKEN && simt_thread_id() == 5)
        return;
    simt_sync(); /* here: early_exit */
    output(p, 2 * input(p));
}

/* A value goes round the block through shared memory. */
KERNEL(bug_missing_barrier)(struct product p)
{
    SHARED(real, ring, BLOCK);
    int t = simt_thread_id();
    ring[t] = input(p);
    if (!BROKEN)
        simt_sync();
    real next = ring[(t + 1) % BLOCK];
    simt_sync();
    ring[t] = next;
    simt_sync();
    output(p, 2 * ring[(t + BLOCK - 1) % BLOCK]);
}

/* The barrier at the end of a loop's body, which the next turn needs. */
KERNEL(bug_missing_second_barrier)(struct product p)
{
    SHARED(real, ring, BLOCK);
    int t = simt_thread_id();
    real v = input(p);
    for (int turn = 0; turn < 2; turn++) {
        ring[t] = v;
        simt_sync();
        v = ring[BLOCK - 1 - t];
        if (!BROKEN)
            simt_sync();
    }
    output(p, 2 * v);
}

/* The same within a wave. */
KERNEL(bug_missing_wave_sync)(struct product p)
{
    SHARED(real, ring, BLOCK);
    int t = simt_thread_id();
    real v = input(p);
    for (int turn = 0; turn < 2; turn++) {
        ring[t] = v;
        simt_wave_sync();
        v = ring[t ^ 1];
        if (!BROKEN)
            simt_wave_sync();
    }
    output(p, 2 * v);
}

/* Lanes of one wave wait for each other, but the neighbour across the edge belongs to the next wave. */
KERNEL(bug_wave_sync_for_block)(struct product p)
{
    SHARED(real, ring, BLOCK);
    int t = simt_thread_id();
    ring[t] = input(p);
    if (BROKEN)
        simt_wave_sync();
    else
        simt_sync();
    int other = BLOCK - 1 - t;
    real v = ring[other];
    output(p, 2 * v);
}

/* A shuffle carries values; it does not order memory. */
KERNEL(bug_shuffle_as_barrier)(struct product p)
{
    SHARED(real, ring, BLOCK);
    int t = simt_thread_id();
    ring[t] = input(p);
    if (BROKEN)
        simt_shfl(t, 0, WAVE);
    else
        simt_wave_sync();
    output(p, 2 * ring[t ^ 1]);
}

/* Counts by atomics, read without waiting for the others. */
KERNEL(bug_plain_read_of_counter)(struct product p)
{
    SHARED(int32_t, counter, 1);
    if (simt_thread_id() == 0)
        counter[0] = 0;
    simt_sync();
    simt_atomic_add(counter, 1);
    if (!BROKEN)
        simt_sync();
    if (simt_thread_id() == 7)
        ((real *)p.y)[simt_block_id()] = (real)counter[0];
}

/* Half of the lanes leave before a shuffle. */
KERNEL(bug_missing_lanes)(struct product p)
{
    real v = input(p);
    if (BROKEN && simt_lane() >= WAVE / 2)
        return;
    v = simt_shfl_xor(v, 1, WAVE); /* here: missing_lanes */
    output(p, 2 * v);
}

/* Lanes vote at two places. */
KERNEL(bug_divergent_ballot)(struct product p)
{
    uint64_t ballot;
    if (BROKEN && simt_lane() % 4 == 3)
        ballot = simt_ballot(1); /* here: fourth */
    else
        ballot = simt_ballot(1); /* here: others */
    output(p, 2 * input(p) + (real)(simt_popc(ballot) - WAVE));
}

/* One helper called from two places. */
KERNEL(bug_divergent_helper)(struct product p)
{
    int64_t sum;
    if (BROKEN && simt_lane() == 9)
        sum = wave_sum_long(1, WAVE); /* here: ninth */
    else
        sum = wave_sum_long(1, WAVE); /* here: all_but_ninth */
    output(p, 2 * input(p) + (real)(sum - WAVE));
}

/* Some wait for their wave, the others for the block. */
KERNEL(bug_deadlock)(struct product p)
{
    real v = input(p);
    if (!BROKEN || simt_lane() < 3)
        v = simt_shfl(v, simt_lane(), WAVE); /* here: shuffle */
    simt_sync();                             /* here: barrier */
    output(p, 2 * v);
}

/* One element too far: at the end of y, and before the beginning of it. */
KERNEL(bug_store_behind)(struct product p)
{
    output(p, 2 * input(p));
    if (BROKEN && simt_global_id() == p.rows - 1)
        ((real *)p.y)[p.rows] = 0;
}

KERNEL(bug_store_before)(struct product p)
{
    output(p, 2 * input(p));
    if (BROKEN && simt_global_id() == 0)
        ((real *)p.y)[-1] = 0;
}

/* The same in shared memory, between two arrays. */
KERNEL(bug_store_in_shared)(struct product p)
{
    SHARED(real, first, BLOCK);
    SHARED(real, second, BLOCK);
    int t = simt_thread_id();
    first[BROKEN ? t + 1 : t] = input(p);
    second[t] = 0;
    simt_sync();
    output(p, 2 * first[t] + second[t]);
}

/* Adds up y with atomics; the host must have cleared it, and here nobody has. */
KERNEL(bug_forgotten_zero)(struct product p)
{
    if (!BROKEN)
        output(p, 0);
    simt_atomic_add((real *)p.y + simt_global_id(), 2 * input(p));
}

/* Shared memory begins with anything but zeros. */
KERNEL(bug_forgotten_shared_zero)(struct product p)
{
    SHARED(real, sum, BLOCK);
    if (!BROKEN)
        sum[simt_thread_id()] = 0;
    sum[simt_thread_id()] += input(p);
    output(p, 2 * sum[simt_thread_id()]);
}

/* Adds up the x of a wave and tells all of its lanes; the broken one believes that a wave has 32 and asks
 * lane 0 of those. */
KERNEL(bug_wave_of_32)(struct product p)
{
    int lanes = BROKEN ? 32 : WAVE;
    real sum = wave_sum(input(p), lanes);
    if (simt_lane() == 0)
        ((real *)p.y)[simt_global_id() / lanes] = sum;
}

/* The same belief in a ballot: the upper half of it is thrown away. */
KERNEL(bug_ballot_of_32)(struct product p)
{
    uint64_t ballot = simt_ballot(1);
    int count = BROKEN ? simt_popc((uint32_t)ballot) : simt_popc(ballot);
    output(p, 2 * input(p) + (real)(count - WAVE));
}

/* The other way round: 64 lanes where there are 32. */
KERNEL(bug_wave_of_64)(struct product p)
{
    real v = input(p);
    int lanes = BROKEN ? 64 : WAVE;
    v = simt_shfl(v, simt_lane(), lanes); /* here: wave_of_64 */
    output(p, 2 * v);
}

/* More shared memory than a block has. */
KERNEL(bug_shared_too_large)(struct product p)
{
    SHARED(real, large, 8000);
    if (BROKEN) {
        SHARED(double, huge, 8000);
        huge[simt_thread_id()] = 1;
    }
    large[simt_thread_id()] = input(p);
    output(p, 2 * large[simt_thread_id()]);
}
#endif
