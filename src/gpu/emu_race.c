/* SPDX-License-Identifier: MIT
 *
 * Races on shared memory.  Two accesses to the same byte by different threads race when at least one of
 * them writes, not both are atomic, and nothing orders them: a barrier of the block, or a wave sync when
 * the two are lanes of one wave.  (Shuffles and ballots order no memory on real GPUs, and so not here.)
 *
 * Each word has a cell with the last two reads and the last two writes.  Two are enough to find some race
 * if there is one: note() keeps accesses from two different waves if there were any, and else from two
 * different lanes of one wave, so that whoever comes next differs from at least one of them. */
#define _GNU_SOURCE
#include "gpu/emu_race.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* An access is over, and forgotten, when its period is. */
struct emu_access {
    const void *code;
    uint32_t period;
    uint16_t syncs; /* of its wave before it */
    uint16_t thread : 10, bytes : 4, plain : 1;
};

struct emu_cell {
    struct emu_access read[2], write[2];
};

#define WORD 4

heddle_status emu_cells_new(struct emu_cell **cells, int64_t arena_bytes)
{
    return NEW_ZEROED(*cells, arena_bytes / WORD + 1);
}

const char *emu_place(char text[128], const void *code)
{
    Dl_info info;
    const char *before = (const char *)code - 1; /* in the call, not behind it */
    if (code && dladdr(before, &info) && info.dli_fname)
        snprintf(text, 128, "%.80s+0x%llx", emu_file(info.dli_fname),
                 (unsigned long long)(before - (const char *)info.dli_fbase));
    else
        snprintf(text, 128, "%p", code);
    return text;
}

static const char *verb(const struct emu_access *a, int write)
{
    return write ? a->plain ? "wrote" : "changed atomically" : a->plain ? "read" : "read atomically";
}

static _Noreturn void race(struct emu_worker *w, int64_t offset, const struct emu_access *now, int now_writes,
                           const struct emu_access *then, int then_wrote)
{
    const struct emu_slot *slot = emu_slot_at(w, offset);
    const char *since = w->wait[now->thread].site;
    char here[128], there[128];
    emu_stop(w, now->thread,
             "race on shared %s[%lld]: thread %d %s (%s) what thread %d %s (%s); no barrier since %s",
             slot->name, (long long)emu_slot_element(slot, offset), now->thread, verb(now, now_writes),
             emu_place(here, now->code), then->thread, verb(then, then_wrote), emu_place(there, then->code),
             since ? emu_file(since) : "the kernel began");
}

static int wave_of(const struct emu_worker *w, const struct emu_access *a)
{
    return a->thread / w->width;
}

/* `then` came earlier; one of the two writes. */
static int races(const struct emu_worker *w, const struct emu_access *now, const struct emu_access *then)
{
    return then->period == now->period && then->thread != now->thread && (then->bytes & now->bytes) &&
           (then->plain || now->plain) && (wave_of(w, then) != wave_of(w, now) || then->syncs == now->syncs);
}

static void check(struct emu_worker *w, int64_t offset, const struct emu_access *now, int now_writes,
                  const struct emu_access then[2], int then_wrote)
{
    for (int i = 0; i < 2; i++)
        if (races(w, now, &then[i]))
            race(w, offset, now, now_writes, &then[i], then_wrote);
}

/* last[0] is the latest access; last[1], if it is of this period, one of another wave, or else of another
 * lane. */
static void note(const struct emu_worker *w, struct emu_access last[2], const struct emu_access *now)
{
    if (last[0].period != now->period) {
        last[1].period = 0;
    } else if (last[0].thread == now->thread) {
        if (last[0].syncs == now->syncs) {
            last[0].bytes |= now->bytes;
            last[0].plain |= now->plain;
            return;
        }
    } else if (wave_of(w, &last[0]) != wave_of(w, now) || last[1].period != now->period ||
               wave_of(w, &last[1]) == wave_of(w, now)) {
        last[1] = last[0];
    }
    last[0] = *now;
}

void emu_access(struct emu_worker *w, int64_t offset, int64_t size, enum emu_access_kind kind,
                const void *code)
{
    const struct emu_slot *slot = emu_slot_at(w, offset);
    int writes = (kind & EMU_WRITES) != 0;
    char text[128];
    if (!slot || offset + size > slot->offset + slot->bytes) {
        slot = emu_slot_near(w, offset);
        emu_stop(w, emu_now->thread, "a %s outside of shared %s: element %lld of %lld (%s)",
                 writes ? "store" : "load", slot->name, (long long)emu_slot_element(slot, offset),
                 (long long)(slot->bytes / slot->size), emu_place(text, code));
    }
    if (!w->cells)
        return;
    struct emu_access now = {.code = code,
                             .period = w->period,
                             .syncs = (uint16_t)w->wave[emu_now->wave].syncs,
                             .thread = (uint16_t)emu_now->thread & 1023,
                             .plain = !(kind & EMU_ATOMIC)};
    for (int64_t end = offset + size; offset < end;) {
        int64_t next = (offset / WORD + 1) * WORD < end ? (offset / WORD + 1) * WORD : end;
        struct emu_cell *cell = &w->cells[offset / WORD];
        now.bytes = ((1u << (next - offset)) - 1) << offset % WORD & 15;
        check(w, offset, &now, writes, cell->write, 1);
        if (writes)
            check(w, offset, &now, 1, cell->read, 0);
        note(w, writes ? cell->write : cell->read, &now);
        offset = next;
    }
}
