/* SPDX-License-Identifier: MIT
 *
 * collective_fold.h: wave_sum, wave_max and wave_scan of collective_of.h on the emulator: bit by bit the same
 * as with shuffles, but lanes meet once instead of once a step.  Switching between threads is most of what
 * the emulator does.  Pages that look for races have the shuffles. */

/* Lanes that are `by` apart add the same two numbers: one of them does it for both. */
DEVICE void ITEM(fold_sum)(void *const value[], int lanes)
{
    item sum[64];
    for (int i = 0; i < lanes; i++)
        sum[i] = *(const item *)value[i];
    for (int by = lanes / 2; by > 0; by /= 2)
        for (int i = 0; i < by; i++)
            sum[i] += sum[i + by];
    for (int i = 0; i < lanes; i++)
        *(item *)value[i] = sum[0];
}

DEVICE item ITEM(wave_sum)(item v, int lanes)
{
    emu_together(SIMT_SITE, &v, lanes, ITEM(fold_sum));
    return v;
}

#ifndef ITEM_IS_COMPLEX
DEVICE void ITEM(fold_max)(void *const value[], int lanes)
{
    item most[64];
    for (int i = 0; i < lanes; i++)
        most[i] = *(const item *)value[i];
    for (int by = lanes / 2; by > 0; by /= 2)
        for (int i = 0; i < by; i++)
            most[i] = most[i + by] > most[i] ? most[i + by] : most[i];
    for (int i = 0; i < lanes; i++)
        *(item *)value[i] = most[0];
}

DEVICE item ITEM(wave_max)(item v, int lanes)
{
    emu_together(SIMT_SITE, &v, lanes, ITEM(fold_max));
    return v;
}
#endif

DEVICE void ITEM(fold_scan)(void *const value[], int lanes)
{
    item sum[64];
    for (int i = 0; i < lanes; i++)
        sum[i] = *(const item *)value[i];
    for (int by = 1; by < lanes; by *= 2)
        for (int i = lanes - 1; i >= by; i--)
            sum[i] += sum[i - by];
    for (int i = 0; i < lanes; i++)
        *(item *)value[i] = sum[i];
}

DEVICE item ITEM(wave_scan)(item v, int lanes)
{
    emu_together(SIMT_SITE, &v, lanes, ITEM(fold_scan));
    return v;
}
