/* SPDX-License-Identifier: MIT
 *
 * order: kernels that show who runs when, and where. */
#ifdef HEDDLE_DEVICE
#include "run/product.h"
#include "simt/simt.h"

/* y[0] counts; y[1 + thread] becomes its turn. */
KERNEL_UP_TO(order_turns, 1024)(struct product p)
{
    int64_t *y = (int64_t *)p.y;
    y[1 + simt_global_id()] = simt_atomic_add(y, (int64_t)1);
}

/* The turns behind a barrier. */
KERNEL_UP_TO(order_turns_behind_barrier, 1024)(struct product p)
{
    int64_t *y = (int64_t *)p.y;
    simt_sync();
    y[1 + simt_global_id()] = simt_atomic_add(y, (int64_t)1);
}

/* Where each thread has its variables, before and behind as many barriers as p.rows says. */
KERNEL_UP_TO(order_stacks, 1024)(struct product p)
{
    volatile int local = 0;
    for (int64_t i = 0; i < p.rows; i++)
        simt_sync();
    ((int64_t *)p.y)[simt_global_id()] = (int64_t)(uintptr_t)&local;
}

/* Groups of 8 lanes leave one after another while the others still shuffle; y[i] is the sum of turns in
 * its group. */
KERNEL_UP_TO(order_groups_leave, 1024)(struct product p)
{
    int group = simt_lane() / 8;
    int32_t sum = 0;
    for (int turn = 0; turn <= group; turn++)
        sum += simt_shfl_xor(turn, 3, 8);
    ((int64_t *)p.y)[simt_global_id()] = sum;
}

/* The lane p.rows further down, whether it is there or not. */
KERNEL_UP_TO(order_shuffle_far, 1024)(struct product p)
{
    ((int64_t *)p.y)[simt_global_id()] = simt_shfl_down(simt_lane(), (int)p.rows, WAVE);
}

/* Many barriers with shared memory in between: a value goes round the block p.rows times. */
KERNEL_UP_TO(order_ring, 1024)(struct product p)
{
    SHARED(real, ring, 256);
    int t = simt_thread_id(), n = simt_block_size();
    real v = (real)t;
    for (int64_t i = 0; i < p.rows; i++) {
        ring[t] = v;
        simt_sync();
        v = ring[t + 1 == n ? 0 : t + 1];
        simt_sync();
    }
    ((real *)p.y)[simt_global_id()] = v;
}
#endif
