/* SPDX-License-Identifier: MIT
 *
 * global: kernels that share global memory, right when p.parts is 0, with a race when it is 1.
 * tests/test_emu_global.c sees to it that hooks find the latter alone.  y becomes what each says; y has a
 * place for each thread and is 0 before. */
#ifdef HEDDLE_DEVICE
#include "run/product.h"
#include "simt/collective.h"

#define BROKEN (p.parts != 0)
#define COUNTER ((int32_t *)p.counters)

/* Every block adds to y[0]. */
KERNEL(race_plain_add)(struct product p)
{
    real *y = (real *)p.y;
    if (simt_thread_id() == 0) {
        if (BROKEN)
            y[0] += 1;
        else
            simt_atomic_add(y, (real)1);
    }
}

/* One block in many adds plainly, the others atomically. */
KERNEL(race_one_plain_add)(struct product p)
{
    real *y = (real *)p.y;
    if (simt_thread_id() == 0 && BROKEN && simt_block_id() == 1)
        y[0] += 1;
    else if (simt_thread_id() == 0)
        simt_atomic_add(y, (real)1);
}

/* The waves of a block exchange through global memory. */
KERNEL(race_missing_barrier)(struct product p)
{
    real *w = (real *)p.workspace + (int64_t)simt_block_id() * simt_block_size();
    w[simt_thread_id()] = (real)simt_thread_id();
    if (!BROKEN)
        simt_sync();
    ((real *)p.y)[simt_global_id()] = w[simt_block_size() - 1 - simt_thread_id()];
}

/* Threads of two blocks write the same place. */
KERNEL(race_two_writers)(struct product p)
{
    const int64_t to = BROKEN ? simt_thread_id() : simt_global_id();
    ((real *)p.y)[to] = (real)simt_thread_id();
}

/* A block reads what another one writes in the same launch. */
KERNEL(race_neighbour)(struct product p)
{
    real *w = (real *)p.workspace;
    w[simt_global_id()] = 1;
    const int64_t next = (simt_global_id() + simt_block_size()) % simt_global_size();
    ((real *)p.y)[simt_global_id()] = BROKEN ? w[next] : w[simt_global_id()];
}

/* The last block to arrive joins what all have left: the sum of the numbers of the blocks, y[0].  `fenced`
 * says who fences: bit 0 those who leave something, bit 1 the last one. */
DEVICE void join(const struct product *p, int fenced)
{
    SHARED(int, last, 1);
    real *w = (real *)p->workspace;
    if (simt_thread_id() == 0) {
        w[simt_block_id()] = (real)simt_block_id();
        if (fenced & 1)
            simt_fence();
        last[0] = simt_atomic_add((int32_t *)p->counters, 1) == simt_grid_size() - 1;
        if (fenced & 2)
            simt_fence();
    }
    simt_sync();
    if (last[0] && simt_thread_id() == simt_block_size() - 1) {
        real sum = 0;
        for (int i = 0; i < simt_grid_size(); i++)
            sum += w[i];
        ((real *)p->y)[0] = sum;
        *(int32_t *)p->counters = 0;
    }
}

KERNEL(race_join_leaves_unfenced)(struct product p)
{
    join(&p, BROKEN ? 2 : 3);
}

KERNEL(race_join_reads_unfenced)(struct product p)
{
    join(&p, BROKEN ? 1 : 3);
}

/* Fences by all threads, then a barrier, then the atomic of one: what waves have left. */
KERNEL(race_join_of_waves)(struct product p)
{
    SHARED(int, last, 1);
    real *w = (real *)p.workspace;
    w[simt_global_id()] = 1;
    if (!BROKEN)
        simt_fence();
    simt_sync();
    if (simt_thread_id() == 0) {
        last[0] = simt_atomic_add(COUNTER, 1) == simt_grid_size() - 1;
        simt_fence();
    }
    simt_sync();
    if (last[0]) {
        real sum = 0;
        for (int64_t i = simt_thread_id(); i < simt_global_size(); i += simt_block_size())
            sum += w[i];
        simt_atomic_add((real *)p.y, sum);
        if (simt_thread_id() == 0)
            *COUNTER = 0;
    }
}

/* One element past the end is read. */
KERNEL(race_load_behind)(struct product p)
{
    const real *w = (const real *)p.workspace;
    ((real *)p.y)[simt_global_id()] = w[BROKEN ? simt_global_id() + 1 : simt_global_id()];
}

/* 8 bytes at once, which are aligned to 4 alone. */
KERNEL(race_wide_load)(struct product p)
{
    const real *w = (const real *)p.workspace;
    if (simt_global_id() == 0)
        *(uint64_t *)p.y = *(const uint64_t *)(const void *)(w + BROKEN);
}

/* The first of a pair: a one in every place of w, and of y. */
KERNEL(pair_first)(struct product p)
{
    ((real *)p.workspace)[simt_global_id()] = 1;
    ((real *)p.y)[simt_global_id()] = 1;
}

/* The second adds the two up.  parts: who waits, and when. */
enum {
    ALL_WAIT,
    NONE_WAITS,
    TOO_LATE_TO_READ,
    TOO_LATE_TO_ADD,
    ONE_WAITS_FOR_ITS_BLOCK,
    ONE_WAITS_ALONE,
    IDLE
};
KERNEL(pair_second)(struct product p)
{
    const real *w = (const real *)p.workspace + simt_global_id();
    real *y = (real *)p.y + simt_global_id(), sum = 0;
    if (p.parts == IDLE)
        return;
    if (p.parts == TOO_LATE_TO_READ)
        sum = *w;
    if (p.parts == TOO_LATE_TO_ADD)
        simt_atomic_add(y, (real)1);
    if (p.parts != NONE_WAITS && (p.parts < ONE_WAITS_FOR_ITS_BLOCK || simt_thread_id() == 5))
        simt_after_previous();
    if (p.parts == ONE_WAITS_FOR_ITS_BLOCK)
        simt_sync();
    *y += sum + *w;
}
#endif
