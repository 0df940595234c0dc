/* SPDX-License-Identifier: MIT
 *
 * collective_of.h: the functions of collective.h for one type, `item`; ITEM(name) is their name for it.
 * Included once per type, which is how C gets by without templates.  Complex numbers (ITEM_IS_COMPLEX)
 * have no maximum. */

#ifdef SIMT_TOGETHER
#include "simt/collective_fold.h"
#else

/* Lanes exchange with ever nearer partners; both add the same two numbers, so all end with the same bits. */
DEVICE item ITEM(wave_sum)(item v, int lanes)
{
    for (int by = lanes / 2; by > 0; by /= 2)
        v += simt_shfl_xor(v, by, lanes);
    return v;
}

#ifndef ITEM_IS_COMPLEX
DEVICE item ITEM(wave_max)(item v, int lanes)
{
    for (int by = lanes / 2; by > 0; by /= 2) {
        item other = simt_shfl_xor(v, by, lanes);
        v = other > v ? other : v;
    }
    return v;
}
#endif

/* After the step with `by` a lane holds the sum of the 2 by lanes up to its own, or of all there are. */
DEVICE item ITEM(wave_scan)(item v, int lanes)
{
    int place = simt_lane() & (lanes - 1);
    for (int by = 1; by < lanes; by *= 2) {
        item before = simt_shfl_up(v, by, lanes);
        if (by <= place)
            v += before;
    }
    return v;
}

#endif

DEVICE item ITEM(wave_scan_before)(item v, int lanes)
{
    item before = simt_shfl_up(ITEM(wave_scan)(v, lanes), 1, lanes);
    return (simt_lane() & (lanes - 1)) == 0 ? 0 : before;
}

/* `closed`: the sum so far reaches back to a head, so that what stands before that must not be added. */
DEVICE item ITEM(wave_segment_scan)(item v, int head, int lanes)
{
    int place = simt_lane() & (lanes - 1), closed = head != 0;
    for (int by = 1; by < lanes; by *= 2) {
        item before = simt_shfl_up(v, by, lanes);
        int closed_before = simt_shfl_up(closed, by, lanes);
        if (by <= place && !closed) {
            v += before;
            closed = closed_before;
        }
    }
    return v;
}

/* Each wave leaves its result in shared memory, and every wave reduces those.  The second barrier lets the
 * next call write. */
DEVICE item ITEM(block_sum)(item v)
{
    SHARED(item, of_wave, 1024 / WAVE);
    v = ITEM(wave_sum)(v, WAVE);
    if (simt_lane() == 0)
        of_wave[simt_wave_id()] = v;
    simt_sync();
    v = simt_lane() < simt_waves() ? of_wave[simt_lane()] : 0;
    simt_sync();
    return ITEM(wave_sum)(v, WAVE);
}

#ifndef ITEM_IS_COMPLEX
DEVICE item ITEM(block_max)(item v)
{
    SHARED(item, of_wave, 1024 / WAVE);
    v = ITEM(wave_max)(v, WAVE);
    if (simt_lane() == 0)
        of_wave[simt_wave_id()] = v;
    simt_sync();
    v = of_wave[simt_lane() < simt_waves() ? simt_lane() : 0];
    simt_sync();
    return ITEM(wave_max)(v, WAVE);
}
#endif

DEVICE item ITEM(block_scan_before)(item v, item *total)
{
    SHARED(item, of_wave, 1024 / WAVE);
    item sum = ITEM(wave_scan)(v, WAVE);
    if (simt_lane() == WAVE - 1)
        of_wave[simt_wave_id()] = sum;
    simt_sync();
    /* Every wave scans the sums of all waves; the last lane of that scan has the total. */
    item waves = ITEM(wave_scan)(simt_lane() < simt_waves() ? of_wave[simt_lane()] : 0, WAVE);
    simt_sync();
    *total = simt_shfl(waves, WAVE - 1, WAVE);
    item before = simt_shfl(waves, simt_wave_id() == 0 ? 0 : simt_wave_id() - 1, WAVE),
         in_wave = simt_shfl_up(sum, 1, WAVE);
    return (simt_wave_id() == 0 ? 0 : before) + (simt_lane() == 0 ? 0 : in_wave);
}

#undef item
#undef ITEM
#undef ITEM_IS_COMPLEX
