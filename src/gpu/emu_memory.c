/* SPDX-License-Identifier: MIT
 *
 * Device memory of the emulator: ordinary memory, filled with EMU_POISON so that a result that nobody has
 * written shows, with a red zone on either side.  The zones are looked at after every launch; under
 * AddressSanitizer they may not be touched at all, and it reports the thread, the line and the reads as
 * well. */
#include "gpu/emu.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"

#define ZONE_BYTES 256 /* also the alignment of what alloc gives, as of the vendors' */

struct allocation {
    char *p, *base; /* what the caller got; what is to be freed */
    int64_t bytes;
    uint64_t *traces; /* of emu_global.c; NULL: nobody watches */
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

/* The allocation that `p` points into, NULL when there is none; one past the end counts in, for empty
 * ranges. */
static struct allocation *find(const void *p)
{
    int64_t at = position(p);
    struct allocation *a = at > 0 ? &registry.item[at - 1] : NULL;
    return a && (const char *)p <= a->p + a->bytes ? a : NULL;
}

static void set_zone(char *zone)
{
    ASAN_UNPOISON_MEMORY_REGION(zone, ZONE_BYTES);
    memset(zone, EMU_ZONE, ZONE_BYTES);
    ASAN_POISON_MEMORY_REGION(zone, ZONE_BYTES);
}

/* One for the allocation, and one for each word. */
static int64_t traces_of(int64_t bytes)
{
    return 1 + (bytes + 3) / 4;
}

heddle_status emu_alloc(void **p, int64_t bytes, int watched)
{
    heddle_status status;
    char *base = NULL;
    uint64_t *traces = NULL;
    *p = NULL;
    if (bytes < 0 || bytes > INT64_MAX - 3 * ZONE_BYTES)
        return fail(HEDDLE_NO_MEMORY, "emu: out of memory (%lld bytes)", (long long)bytes);
    TRY(NEW(base, bytes + 3 * ZONE_BYTES));
    if (watched)
        TRY(NEW_ZEROED(traces, traces_of(bytes)));
    char *user = base + ZONE_BYTES + (-(uintptr_t)base & (ZONE_BYTES - 1));
    memset(user, EMU_POISON, (size_t)bytes);
    pthread_mutex_lock(&registry.lock);
    status = add((struct allocation){user, base, bytes, traces});
    if (status == HEDDLE_OK) { /* at once: what is in the registry is looked at after every launch */
        set_zone(user - ZONE_BYTES);
        set_zone(user + bytes);
    }
    pthread_mutex_unlock(&registry.lock);
    if (status == HEDDLE_OK) {
        *p = user;
        return HEDDLE_OK;
    }
done:
    mem_free(base);
    mem_free(traces);
    return status;
}

int64_t emu_allocated(void)
{
    int64_t sum = 0;
    pthread_mutex_lock(&registry.lock);
    for (int64_t i = 0; i < registry.count; i++)
        sum += registry.item[i].bytes;
    pthread_mutex_unlock(&registry.lock);
    return sum;
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
    mem_free(gone.traces);
}

int emu_span_find(struct emu_span *span, uintptr_t at)
{
    pthread_mutex_lock(&registry.lock);
    int64_t before = position((const char *)at + ZONE_BYTES);
    const struct allocation *a = before > 0 ? &registry.item[before - 1] : NULL;
    int found = a && a->traces && at < (uintptr_t)a->p + (uintptr_t)a->bytes + ZONE_BYTES;
    if (found)
        *span = (struct emu_span){(uintptr_t)a->p - ZONE_BYTES, (uintptr_t)a->bytes + 2 * ZONE_BYTES,
                                  (uintptr_t)a->p, a->bytes, a->traces};
    pthread_mutex_unlock(&registry.lock);
    return found;
}

void emu_traces_clear(void)
{
    pthread_mutex_lock(&registry.lock);
    for (int64_t i = 0; i < registry.count; i++)
        if (registry.item[i].traces)
            memset(registry.item[i].traces, 0, (size_t)traces_of(registry.item[i].bytes) * sizeof(uint64_t));
    pthread_mutex_unlock(&registry.lock);
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
        status =
            fail(HEDDLE_BAD_ARGUMENT, "emu: %s of %lld bytes at byte %lld of an allocation of %lld", what,
                 (long long)bytes, a ? (long long)((const char *)p - a->p) : 0, a ? (long long)a->bytes : 0);
    pthread_mutex_unlock(&registry.lock);
    return status;
}

/* Looks at what AddressSanitizer lets nobody touch: pages compiled without it may have. */
__attribute__((no_sanitize_address)) int64_t emu_zone_intact(const char *zone, int64_t bytes)
{
    int64_t i = 0;
    while (i < bytes && (unsigned char)zone[i] == EMU_ZONE)
        i++;
    return i;
}

heddle_status emu_zones_check(const char *kernel)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&registry.lock);
    for (int64_t i = 0; i < registry.count; i++) {
        const struct allocation *a = &registry.item[i];
        int64_t before = emu_zone_intact(a->p - ZONE_BYTES, ZONE_BYTES);
        int64_t behind = emu_zone_intact(a->p + a->bytes, ZONE_BYTES);
        if (before == ZONE_BYTES && behind == ZONE_BYTES)
            continue;
        status = fail(HEDDLE_DEVICE_ERROR,
                      "emu: %s: a store outside of global memory: byte %lld of an allocation of %lld", kernel,
                      (long long)(before < ZONE_BYTES ? before - ZONE_BYTES : a->bytes + behind),
                      (long long)a->bytes);
        set_zone(a->p - ZONE_BYTES);
        set_zone(a->p + a->bytes);
    }
    pthread_mutex_unlock(&registry.lock);
    return status;
}
