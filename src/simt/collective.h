/* SPDX-License-Identifier: MIT
 *
 * collective.h: what waves and blocks do together, written once on top of simt.h.
 *
 *   wave_sum, wave_max (v, lanes)         of the group of `lanes`, the same in all of its lanes: a fixed tree
 *   wave_scan(v, lanes)                   sum of the lanes of the group up to and with one's own
 *   wave_scan_before(v, lanes)            the same without one's own
 *   wave_segment_scan(v, head, lanes)     wave_scan that begins anew at each lane whose head is not 0
 *   block_sum, block_max (v)              of all threads of the block, the same in all of them
 *   block_scan_before(v, &total)          sum of the threads before one's own, and of all threads
 *
 * All exist for `real`, and with the ending _int for int32_t and _long for int64_t (wave_sum_int).
 * Everyone who is meant must come, and the groups must be full: a block has a multiple of `lanes` threads,
 * of WAVE for the block functions.  Those may be called again at once: they begin with a barrier where
 * they have to. */
#ifndef SIMT_COLLECTIVE_H
#define SIMT_COLLECTIVE_H

#include "simt/simt.h"

#if IS_COMPLEX
#define ITEM_IS_COMPLEX
#endif
#define item real
#define ITEM(name) name
#include "simt/collective_of.h"

#define item int32_t
#define ITEM(name) name##_int
#include "simt/collective_of.h"

#define item int64_t
#define ITEM(name) name##_long
#include "simt/collective_of.h"

#ifdef off /* not where a page knows no offsets */
/* How many of the n ascending entries are at most `key`: in row_ptr + 1, the row that entry `key` belongs
 * to. */
DEVICE int64_t search_above(const off *entry, int64_t n, int64_t key)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)entry[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#endif

#ifdef SIMT_EMU
#include "simt/collective_emu.h"
#endif

#endif
