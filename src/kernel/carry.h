/* SPDX-License-Identifier: MIT
 *
 * carry.h: rows that reach across the borders of equal shares of work.  Whoever is given a piece of a row
 * that it does not store itself leaves one carry, the row and the sum of the piece; a second, small kernel
 * adds the carries to y.  The pieces of a row come from neighbouring shares, and are added in their order
 * by a fixed tree: no atomics, bitwise repeatable. */
#ifndef KERNEL_CARRY_H
#define KERNEL_CARRY_H

/* So many bytes of workspace hold the carries of n shares: their sums, and behind them their rows (-1:
 * there is none). */
#define CARRIES_BYTES(n, value_bytes) ((n) * ((int64_t)(value_bytes) + (int64_t)sizeof(int32_t)))

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* wave_scan that begins anew at each lane whose bit is set in `begins`, the same in all lanes.  Who knows
 * how far back its run reaches need not be told by others whether to add what they have. */
DEVICE real wave_run_scan(real v, uint64_t begins)
{
    const int first = 63 - simt_clz(begins & (simt_lanes_below() | (uint64_t)1 << simt_lane()));
    const int reach = first < 0 ? simt_lane() : simt_lane() - first;
    for (int by = 1; by < WAVE; by *= 2) {
        const real before = simt_shfl_up(v, by, WAVE);
        v = by <= reach ? v + before : v;
    }
    return v;
}

DEVICE void carry_leave(const struct product *p, int64_t n, int64_t share, int64_t row, real sum)
{
    real *sums = (real *)p->workspace;
    idx *rows = (idx *)(void *)(sums + n);
    sums[share] = sum;
    rows[share] = (idx)row;
}

/* What follows a wave's carries in the same row, from `next` on: four loads under way a lane, as a row may
 * take thousands. */
#define CARRY_ROUND 4
DEVICE real carry_tail(const real *sums, const idx *rows, int64_t n, int64_t next, idx row)
{
    real mine = 0;
    int same = 1;
    for (; simt_all(same); next += CARRY_ROUND * WAVE)
        for (int i = 0; i < CARRY_ROUND; i++) {
            const int64_t k = next + i * WAVE + simt_lane();
            const int here = k < n && rows[k] == row;
            mine += here ? sums[k] : 0;
            same = same && here;
        }
    return wave_sum(mine, WAVE);
}

/* y[row] += alpha times the carries of the row, n of them.  A lane a carry; a run of carries of one row
 * belongs to the wave that has its first one. */
DEVICE void carry_add(const struct product *p, int64_t n)
{
    const real *sums = (const real *)p->workspace;
    const idx *rows = (const idx *)(const void *)(sums + n);
    real *y = (real *)p->y;
    const real alpha = alpha_of(p);
    simt_after_previous();
    if (alpha == 0)
        return;
    for (int64_t first = simt_global_id() / WAVE * WAVE; first < n; first += simt_global_size()) {
        const int64_t k = first + simt_lane();
        const idx row = k < n ? rows[k] : -1;
        const idx before = k > 0 && k < n ? rows[k - 1] : -1, after = k + 1 < n ? rows[k + 1] : -1;
        const uint64_t begins = simt_ballot(row != before);
        real sum = wave_run_scan(row < 0 ? 0 : sums[k], begins);
        if (simt_any(simt_lane() == WAVE - 1 && row >= 0 && row == after && begins)) {
            const real tail = carry_tail(sums, rows, n, first + WAVE, simt_shfl(row, WAVE - 1, WAVE));
            sum += simt_lane() == WAVE - 1 ? tail : 0;
        }
        const int owned = (begins & (simt_lanes_below() | (uint64_t)1 << simt_lane())) != 0;
        if (row >= 0 && owned && (simt_lane() == WAVE - 1 || row != after))
            y[row] += alpha * sum;
    }
}
#endif

#endif
