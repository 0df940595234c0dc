/* SPDX-License-Identifier: MIT
 *
 * A launch: the blocks, in a random order that the seed decides, taken by as many processors as the device
 * has. */
#include "gpu/emu.h"

#include <string.h>

#include "base/thread.h"

#define SMALL_LAUNCH 32768 /* threads: less than that is over before other processors wake up */

static int64_t divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A stride that shares no divisor with the number of blocks meets every block once. */
static void choose_order(struct emu_launch *l)
{
    uint64_t state = l->seed | 1;
    l->shift = emu_random(&state) % (uint64_t)l->grid;
    l->stride = emu_random(&state) % (uint64_t)l->grid;
    while (divisor((int64_t)l->stride, l->grid) != 1)
        l->stride++;
}

static void take_blocks(void *argument, const struct team *team)
{
    struct emu_launch *l = argument;
    struct emu_worker *w = l->workers[team->thread];
    w->error[0] = '\0';
    while (atomic_load_explicit(&l->failed, memory_order_relaxed) == 0) {
        int64_t i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (i >= l->grid)
            return;
        int64_t id = (int64_t)(((uint64_t)i * l->stride + l->shift) % (uint64_t)l->grid);
        if (!emu_block_run(w, l, id)) {
            int none = 0;
            atomic_compare_exchange_strong(&l->failed, &none, team->thread + 1);
        }
    }
}

static heddle_status check_limits(const struct emu_launch *l)
{
    const char *name = emu_name(l->kernel);
    if (l->block < 1 || l->block > emu_facts_of(l->kernel)->most)
        return fail(HEDDLE_BAD_ARGUMENT, "emu: %s: %d threads a block, 1 to %d are possible", name, l->block,
                    emu_facts_of(l->kernel)->most);
    if (l->grid < 1 || l->grid > l->grid_most)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "emu: %s: a grid of %lld blocks of %d threads, 1 to %lld are possible", name,
                    (long long)l->grid, l->block, (long long)l->grid_most);
    if (l->shared < 0 || l->shared > l->shared_most)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "emu: %s: %lld bytes of dynamic shared memory, the device has %lld a block", name,
                    (long long)l->shared, (long long)l->shared_most);
    return HEDDLE_OK;
}

heddle_status emu_launch(struct emu_launch *l, int threads)
{
    heddle_status status;
    TRY(check_limits(l));
    choose_order(l);
    if (threads > l->grid)
        threads = (int)l->grid;
    team_run(l->grid * l->block < SMALL_LAUNCH ? 1 : threads, take_blocks, l);
    int failed = atomic_load(&l->failed);
    if (failed)
        return fail(HEDDLE_DEVICE_ERROR, "%s", l->workers[failed - 1]->error);
    TRY(emu_zones_check(emu_name(l->kernel)));
done:
    return status;
}
