/* SPDX-License-Identifier: MIT
 *
 * weft_sink.h: where csr_weft's additions go, and how they are put together in shared memory: a window of y, copies of crowded lines, a
 * hoard of popular columns. */
#ifndef KERNEL_WEFT_WEFT_SINK_H
#define KERNEL_WEFT_WEFT_SINK_H

#ifdef HEDDLE_DEVICE
#include "kernel/weft/weft.h"

/* Three ways to put additions together in shared memory.  Which of them is on is told to functions as a constant: what they
 * do for each entry should be short.  DEEP: four entries of a lane under way where rows are uneven, not two, which takes
 * registers from those whose rows are even.  ASK: it is not known yet whether lines are crowded. */
enum { WINDOW = 1, LINES = 2, DEEP = 4, ASK = 8, HOARD = 16 };

struct sink {
    real *y;
    real *near; /* in shared memory: the window, y[base] and the `width` - 1 entries behind it, */
    int copies; /* and from here on the copies of crowded lines */
    int32_t base;
    uint32_t width;
    int lines; /* crowded lines, and the table that finds them */
    int32_t *key; /* of its lines; or the columns of the hoard */
    const int32_t *slot;
};

DEVICE uint32_t key_of(int32_t line)
{
    return scrambled((uint32_t)line) / (uint32_t)(0x100000000 / KEYS);
}

DEVICE void add(const struct sink *to, idx c, real v, const int on)
{
    int place = -1;
    if ((on & WINDOW) && (uint32_t)c - (uint32_t)to->base < to->width)
        place = c - to->base;
    if (on & LINES) {
        const uint32_t at = key_of(c / LINE);
        if (to->key[at] == c / LINE)
            place = to->copies + (to->slot[at] * COPIES + simt_lane() % COPIES) * LINE + c % LINE;
    }
    if ((on & (WINDOW | LINES)) && place >= 0)
        simt_atomic_add(to->near + place, v);
    else
        simt_atomic_add(to->y + c, v);
}

DEVICE void end_window(const struct sink *to)
{
    const int width = (int)to->width;
    simt_sync();
    SIMT_ROLLED for (int i = simt_thread_id(); i < width; i += BLOCK)
        if (to->near[i] != 0)
            simt_atomic_add(to->y + to->base + i, to->near[i]);
}

/* Two crowded lines that fall on one key: the second stays without copies. */
DEVICE void begin_lines(struct sink *to, const struct found *found, int32_t *key, int32_t *slot)
{
    to->key = key;
    to->slot = slot;
    SIMT_ROLLED for (int i = simt_thread_id(); i < KEYS; i += BLOCK)
        key[i] = -1;
    SIMT_ROLLED for (int i = simt_thread_id(); i < to->lines * COPIES * LINE; i += BLOCK)
        to->near[to->copies + i] = 0;
    simt_sync();
    if (simt_thread_id() < to->lines) {
        const int32_t line = simt_readonly(&found->line[simt_thread_id()]);
        if (simt_atomic_cas(key + key_of(line), -1, line) == -1)
            slot[key_of(line)] = simt_thread_id();
    }
    simt_sync();
}

DEVICE void end_lines(const struct sink *to, const struct found *found)
{
    simt_sync();
    SIMT_ROLLED for (int i = simt_thread_id(); i < to->lines * LINE; i += BLOCK) {
        const real *copy = to->near + to->copies + i / LINE * COPIES * LINE + i % LINE;
        real sum = 0;
        for (int k = 0; k < COPIES; k++)
            sum += copy[k * LINE];
        if (sum != 0)
            simt_atomic_add(to->y + ((int64_t)simt_readonly(&found->line[i / LINE]) * LINE + i % LINE), sum);
    }
}

/* The hoard: a place in shared memory for whichever column comes there first, and for those of crowded lines from the beginning.  What
 * belongs to other columns that fall on it goes to y at once.  Columns that come often come soon, and so have a place. */
#define HOARD_SIZE 2048

DEVICE int place_of(idx c)
{
    return (int)(scrambled((uint32_t)c) / (uint32_t)(0x100000000 / HOARD_SIZE));
}

/* `there`: the column that was seen at its place. */
DEVICE void hoard(const struct sink *to, idx c, real v, idx there)
{
    const int at = place_of(c);
    if (there == -1)
        there = simt_atomic_cas(to->key + at, -1, c);
    if (there == -1 || there == c)
        simt_atomic_add(to->near + at, v);
    else
        simt_atomic_add(to->y + c, v);
}

DEVICE void begin_hoard(const struct product *p, struct sink *to, int32_t *key)
{
    to->key = key;
    SIMT_ROLLED for (int i = simt_thread_id(); i < HOARD_SIZE; i += BLOCK) {
        key[i] = -1;
        to->near[i] = 0;
    }
    simt_sync();
    if (simt_thread_id() < to->lines * LINE) {
        const idx c = simt_readonly(&found_of(p)->line[simt_thread_id() / LINE]) * LINE + simt_thread_id() % LINE;
        if (c < p->cols)
            simt_atomic_cas(key + place_of(c), -1, c);
    }
    simt_sync();
}

DEVICE void end_hoard(const struct sink *to)
{
    simt_sync();
    SIMT_ROLLED for (int i = simt_thread_id(); i < HOARD_SIZE; i += BLOCK)
        if (to->near[i] != 0)
            simt_atomic_add(to->y + to->key[i], to->near[i]);
}

#endif
#endif
