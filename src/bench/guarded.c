/* SPDX-License-Identifier: MIT */
#include "bench/guarded.h"

#define GUARD 4096      /* bytes: more than the last block of rows can overshoot by, at a row a thread */
#define GUARD_BYTE 0x5a /* repeated, a number that no product of ordinary data comes to */

heddle_status guarded_new(struct guarded *g, const struct device *device, int64_t bytes)
{
    void *all = NULL;
    heddle_status status = device_alloc(device, &all, bytes + 2 * GUARD);
    *g = (struct guarded){device, all, all ? (char *)all + GUARD : NULL, bytes};
    return status;
}

void guarded_free(struct guarded *g)
{
    if (g->all)
        device_free(g->device, g->all);
    *g = (struct guarded){0};
}

heddle_status guarded_set(struct guarded *g, const void *from)
{
    heddle_status status = HEDDLE_OK;
    TRY(device_fill(g->device, g->all, GUARD_BYTE, GUARD));
    TRY(device_fill(g->device, (char *)g->y + g->bytes, GUARD_BYTE, GUARD));
    TRY(device_copy(g->device, g->y, from, g->bytes));
    TRY(device_sync(g->device));
done:
    return status;
}

heddle_status guarded_get(const struct guarded *g, void *to, int *whole, int64_t *outside)
{
    heddle_status status = HEDDLE_OK;
    unsigned char before[GUARD], behind[GUARD];
    int64_t from = 0, until = GUARD;
    TRY(device_read(g->device, to, g->y, g->bytes));
    TRY(device_read(g->device, before, g->all, GUARD));
    TRY(device_read(g->device, behind, (char *)g->y + g->bytes, GUARD));
    while (from < GUARD && behind[from] == GUARD_BYTE)
        from++;
    while (until > 0 && before[until - 1] == GUARD_BYTE)
        until--;
    *whole = from == GUARD && until == 0;
    *outside = from < GUARD ? g->bytes + from : until - 1 - GUARD;
done:
    return status;
}
