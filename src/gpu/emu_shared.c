/* SPDX-License-Identifier: MIT
 *
 * The block's shared memory: an arena in which each SHARED declaration gets a slot when its first thread
 * comes by, filled with EMU_POISON, with a red zone on either side.  Only the slots count against the
 * limit of the device. */
#include "gpu/emu.h"

#include <stdio.h>
#include <string.h>

/* The zone that begins where the arena's used part ends; under AddressSanitizer nobody may even look at
 * it. */
static void add_zone(struct emu_worker *w, int64_t bytes)
{
    char *zone = w->arena + w->arena_used;
    ASAN_UNPOISON_MEMORY_REGION(zone, (size_t)bytes);
    memset(zone, EMU_ZONE, (size_t)bytes);
    ASAN_POISON_MEMORY_REGION(zone, (size_t)bytes);
    w->arena_used += bytes;
}

static void *add_slot(struct emu_worker *w, const void *key, const char *name, int64_t size, int64_t count)
{
    struct emu_slot *slot = &w->slot[w->slots++];
    *slot = (struct emu_slot){key, name, w->arena_used, size * count, size};
    char *p = w->arena + slot->offset;
    ASAN_UNPOISON_MEMORY_REGION(p, (size_t)slot->bytes);
    memset(p, EMU_POISON, (size_t)slot->bytes);
    w->arena_used += slot->bytes;
    w->shared_used += slot->bytes;
    add_zone(w, EMU_SHARED_ZONE + (-slot->bytes & 15));
    return p;
}

void emu_shared_begin(struct emu_worker *w)
{
    w->arena_used = w->shared_used = 0;
    w->slots = 0;
    add_zone(w, EMU_SHARED_ZONE);
    add_slot(w, NULL, "dynamic", 1, w->launch->shared);
}

void *emu_shared(const void *key, const char *name, int64_t size, int64_t count)
{
    struct emu_worker *w = emu_worker_now();
    for (int i = 1; i < w->slots; i++)
        if (w->slot[i].key == key)
            return w->arena + w->slot[i].offset;
    if (w->slots == EMU_SLOTS)
        emu_stop(w, emu_now->thread, "more than %d shared arrays", EMU_SLOTS - 1);
    if (count < 1 || count > w->launch->shared_most || w->shared_used + size * count > w->launch->shared_most)
        emu_stop(w, emu_now->thread,
                 "shared array %s of %lld bytes: %lld are in use, and the device has %lld a block", name,
                 (long long)(size * count), (long long)w->shared_used, (long long)w->launch->shared_most);
    return add_slot(w, key, name, size, count);
}

void *emu_shared_dynamic(int64_t size)
{
    struct emu_worker *w = emu_worker_now();
    w->slot[0].size = size;
    return w->arena + w->slot[0].offset;
}

const struct emu_slot *emu_slot_at(const struct emu_worker *w, int64_t offset)
{
    for (int i = 0; i < w->slots; i++)
        if (offset >= w->slot[i].offset && offset < w->slot[i].offset + w->slot[i].bytes)
            return &w->slot[i];
    return NULL;
}

const struct emu_slot *emu_slot_near(const struct emu_worker *w, int64_t offset)
{
    const struct emu_slot *slot = &w->slot[0];
    for (int i = 1; i < w->slots; i++)
        if (slot->bytes == 0 || (w->slot[i].bytes > 0 && w->slot[i].offset <= offset))
            slot = &w->slot[i];
    return slot;
}

int64_t emu_slot_element(const struct emu_slot *slot, int64_t offset)
{
    int64_t distance = offset - slot->offset;
    return (distance < 0 ? distance - slot->size + 1 : distance) / slot->size;
}

int emu_shared_end(struct emu_worker *w)
{
    int64_t from = 0;
    if (w->error[0])
        return 0;
    for (int i = 0; i <= w->slots; i++) {
        int64_t to = i < w->slots ? w->slot[i].offset : w->arena_used;
        int64_t at = from + emu_zone_intact(w->arena + from, to - from);
        const struct emu_slot *slot = emu_slot_near(w, at);
        if (at < to) {
            snprintf(w->error, sizeof w->error,
                     "emu: %s: block %lld: a store outside of shared %s: element %lld of %lld",
                     emu_name(w->launch->kernel), (long long)w->view.id, slot->name,
                     (long long)emu_slot_element(slot, at), (long long)(slot->bytes / slot->size));
            return 0;
        }
        if (i < w->slots)
            from = to + w->slot[i].bytes;
    }
    return 1;
}
