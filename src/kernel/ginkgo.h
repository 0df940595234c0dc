/* SPDX-License-Identifier: MIT
 *
 * ginkgo.h: what the balanced pages of ginkgo-race-2020 share, coo_balance and (through balance.h)
 * csr_balance: sums of the runs within a wave, and the rule for the number of waves. */
#ifndef KERNEL_GINKGO_H
#define KERNEL_GINKGO_H

/* Rounds of a wave whose loads are under way together. */
#define GINKGO_ROUNDS 4

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* Sum of the lanes from the last head up to one's own.  `heads` is the same in all lanes; lane 0 is a head
 * in any case.  Before the step with `by`, the bits of `far` are the lanes with at least `by` lanes of
 * their run before them: when there is none left, the longest run is done, which with short rows is after
 * a step or two. */
DEVICE real run_scan(real v, simt_lanes heads)
{
    simt_lanes far = ~(heads | 1);
    for (int by = 1; far != 0; by *= 2) {
        const real before = simt_shfl_up(v, by, WAVE);
        if (far >> simt_lane() & 1)
            v += before;
        far &= far << by;
    }
    return v;
}

#else
#include "kernel/kernel.h"

/* How many threads a core is given (section 3.1), by vendor and number of entries. */
static inline int64_t ginkgo_oversubscription(const struct work *w)
{
    int64_t nnz = w->product.nnz;
    if (gpu_arch(w->device->gpu)->amd)
        return nnz < 100000 ? 2 : nnz < 10000000 ? 8 : 32;
    return nnz < 200000 ? 8 : nnz < 2000000 ? 32 : 128;
}

/* How many of `items` a wave takes with oversubscription `over`, a whole number of rounds; 0 stands for
 * the rule above, with `least` items or more, if that leaves a wave for every place on the device: the
 * rule was found on GPUs with a third of the cores, and with fewer items a wave hardly has its loads under
 * way before it ends. */
static inline int64_t ginkgo_share(const struct work *w, int64_t over, int64_t items, int64_t least)
{
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    const struct arch *arch = gpu_arch(w->device->gpu);
    int64_t rule = over ? over : ginkgo_oversubscription(w);
    int64_t waves = rule * arch->cores / info->wave * info->multiprocessors,
            share = items / (waves > 0 ? waves : 1);
    if (!over) {
        int64_t fills = items / ((int64_t)arch->waves * info->multiprocessors),
                few = GINKGO_ROUNDS * info->wave;
        int64_t floor = fills < few ? few : fills < least ? fills : least;
        share = share < floor ? floor : share;
    }
    share = share / info->wave * info->wave + info->wave;
    /* places within a share are counted in 32 bits */
    return share < (int64_t)1 << 30 ? share : (int64_t)1 << 30;
}

#endif
#endif
