/* SPDX-License-Identifier: MIT
 *
 * Device memory of the emulator: ordinary memory, filled with EMU_POISON so that a result that nobody has written shows, with
 * a red zone on either side.  The zones are looked at after every launch; under AddressSanitizer they may not be touched at
 * all, and it reports the thread, the line and the reads as well. */
#include "gpu/emu.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"

#define ZONE_BYTES 256 /* also the alignment of what alloc gives, as of the vendors' */

struct allocation {
    char *p, *base; /* what the caller got; what is to be freed */
    int64_t bytes;
};

/* Sorted by address. */
static struct {
    pthread_mutex_t lock;
    struct allocation *item;
    int64_t count, capacity;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How many allocations begin at or before p. */
static int64_t position(const char *p)
{
    int64_t low = 0, high = registry.count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (registry.item[middle].p <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static heddle_status add(struct allocation a)
{
    if (registry.count == registry.capacity) {
        int64_t capacity = registry.capacity ? 2 * registry.capacity : 64;
        struct allocation *item = mem_resize(registry.item, registry.count, capacity, sizeof *item);
        if (!item)
            return HEDDLE_NO_MEMORY;
        registry.item = item;
        registry.capacity = capacity;
    }
    int64_t at = position(a.p);
    memmove(registry.item + at + 1, registry.item + at, (size_t)(registry.count - at) * sizeof a);
    registry.item[at] = a;
    registry.count++;
    return HEDDLE_OK;
}

/* The allocation that `p` points into, NULL when there is none; one past the end counts in, for empty ranges. */
static struct allocation *find(const void *p)
{
    int64_t at = position(p);
    struct allocation *a = at > 0 ? &registry.item[at - 1] : NULL;
    return a && (const char *)p <= a->p + a->bytes ? a : NULL;
}

heddle_status emu_alloc(void **p, int64_t bytes)
{
    heddle_status status;
    char *base = NULL;
    *p = NULL;
    if (bytes < 0 || bytes > INT64_MAX - 3 * ZONE_BYTES)
        return fail(HEDDLE_NO_MEMORY, "emu: out of memory (%lld bytes)", (long long)bytes);
    TRY(NEW(base, bytes + 3 * ZONE_BYTES));
    char *user = base + ZONE_BYTES + (-(uintptr_t)base & (ZONE_BYTES - 1));
    memset(user - ZONE_BYTES, EMU_ZONE, ZONE_BYTES);
    memset(user, EMU_POISON, (size_t)bytes);
    memset(user + bytes, EMU_ZONE, ZONE_BYTES);
    pthread_mutex_lock(&registry.lock);
    status = add((struct allocation){user, base, bytes});
    pthread_mutex_unlock(&registry.lock);
    if (status == HEDDLE_OK) {
        ASAN_POISON_MEMORY_REGION(user - ZONE_BYTES, ZONE_BYTES);
        ASAN_POISON_MEMORY_REGION(user + bytes, ZONE_BYTES);
        *p = user;
        return HEDDLE_OK;
    }
done:
    mem_free(base);
    return status;
}

void emu_release(void *p)
{
    if (!p)
        return;
    struct allocation gone = {0};
    pthread_mutex_lock(&registry.lock);
    struct allocation *a = find(p);
    if (a && a->p == p) {
        gone = *a;
        registry.count--;
        memmove(a, a + 1, (size_t)(registry.item + registry.count - a) * sizeof *a);
    }
    if (registry.count == 0) { /* nothing is left behind when the last device is closed */
        mem_free(registry.item);
        registry.item = NULL;
        registry.capacity = 0;
    }
    pthread_mutex_unlock(&registry.lock);
    if (gone.base)
        ASAN_UNPOISON_MEMORY_REGION(gone.p - ZONE_BYTES, (size_t)gone.bytes + 2 * ZONE_BYTES);
    mem_free(gone.base);
}

int emu_owns(const void *p)
{
    pthread_mutex_lock(&registry.lock);
    int owns = find(p) != NULL;
    pthread_mutex_unlock(&registry.lock);
    return owns;
}

heddle_status emu_within(const void *p, int64_t bytes, const char *what)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&registry.lock);
    const struct allocation *a = find(p);
    if (bytes < 0 || (a && (const char *)p + bytes > a->p + a->bytes))
        status = fail(HEDDLE_BAD_ARGUMENT, "emu: %s of %lld bytes at byte %lld of an allocation of %lld", what,
                      (long long)bytes, a ? (long long)((const char *)p - a->p) : 0, a ? (long long)a->bytes : 0);
    pthread_mutex_unlock(&registry.lock);
    return status;
}

/* The first byte of [zone, zone + ZONE_BYTES) that was written; NULL when there is none. */
static char *written(char *zone)
{
    static const unsigned char good[] = {EMU_ZONE};
    if ((unsigned char)zone[0] == good[0] && memcmp(zone, zone + 1, ZONE_BYTES - 1) == 0)
        return NULL;
    while ((unsigned char)*zone == good[0])
        zone++;
    return zone;
}

heddle_status emu_zones_check(const char *kernel)
{
    heddle_status status = HEDDLE_OK;
    if (EMU_ASAN)
        return HEDDLE_OK;
    pthread_mutex_lock(&registry.lock);
    for (int64_t i = 0; i < registry.count; i++) {
        const struct allocation *a = &registry.item[i];
        char *before = written(a->p - ZONE_BYTES), *behind = written(a->p + a->bytes), *at = before ? before : behind;
        if (!at)
            continue;
        status = fail(HEDDLE_DEVICE_ERROR, "emu: %s: a store outside of global memory: byte %lld of an allocation of %lld",
                      kernel, (long long)(at - a->p), (long long)a->bytes);
        memset(a->p - ZONE_BYTES, EMU_ZONE, ZONE_BYTES);
        memset(a->p + a->bytes, EMU_ZONE, ZONE_BYTES);
    }
    pthread_mutex_unlock(&registry.lock);
    return status;
}
