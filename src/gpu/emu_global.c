/* SPDX-License-Identifier: MIT
 *
 * Races in global memory.  Two accesses to one byte by different waves, of one block or of two, race when
 * at least one of them writes, not both are atomic, and nothing orders them.  Within a block a barrier
 * does.  Otherwise the one who wrote must have said simt_fence and then have changed something atomically,
 * and the other one have looked at something atomically since and then said simt_fence.  So the join by the
 * last block to arrive is legal, and the same without its fences is not.
 *
 * A word remembers its last write, in 64 bits that are loaded and stored as one, so that processors need
 * no lock for it.  Reads are not remembered: one that comes before the write that it races with is found
 * in an order of blocks that has the write first.  Through which word two blocks order themselves is not
 * asked.  Both may let a race pass, but no legal kernel is called wrong.
 *
 * The second kernel of a pair is on the device while the first may still run: what that one writes is
 * ordered before what a thread does once it, or another of its block before a barrier, has said
 * simt_after_previous. */
#include "gpu/emu_global.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"

#define WORD 4
#define SPANS 16 /* allocations that a worker has at hand: more than a kernel has arguments */
/* Of code, each with the allocation that it touched last, which is nearly always the same. */
#define PLACES 256

/* A write, packed: when, by whom, which bytes of the word, and whether it was a plain one.  0: none. */
struct trace {
    uint32_t launch, block, tick, wave, plain, bytes;
};
enum { LAUNCH_BITS = 16, BLOCK_BITS = 24, TICK_BITS = 14, WAVE_BITS = 5, PLAIN_BITS = 1, BYTE_BITS = 4 };
#define MOST(bits) ((1u << (bits)) - 1)

static uint64_t pack(const struct trace *t)
{
    uint64_t word = t->launch;
    word = word << BLOCK_BITS | t->block;
    word = word << TICK_BITS | t->tick;
    word = word << WAVE_BITS | t->wave;
    word = word << PLAIN_BITS | t->plain;
    return word << BYTE_BITS | t->bytes;
}

static uint32_t take(uint64_t *word, int bits)
{
    uint32_t value = (uint32_t)(*word & MOST(bits));
    *word >>= bits;
    return value;
}

static struct trace unpack(uint64_t word)
{
    struct trace t;
    t.bytes = take(&word, BYTE_BITS);
    t.plain = take(&word, PLAIN_BITS);
    t.wave = take(&word, WAVE_BITS);
    t.tick = take(&word, TICK_BITS);
    t.block = take(&word, BLOCK_BITS);
    t.launch = (uint32_t)word;
    return t;
}

/* A fence: it covers what its wave did up to `tick`, and what all waves of the block did up to `barrier`. */
struct fenced {
    uint32_t block, wave, barrier, tick;
    uint32_t told; /* the clock when the first atomic change followed; 0: none has */
};

/* Of a launch. */
struct emu_order {
    pthread_mutex_t lock;
    struct fenced *item;
    int64_t count, capacity;
    uint32_t clock, launch;
    uint32_t before;  /* the launch that may still run; 0: none does */
    atomic_int waits; /* has a thread said simt_after_previous? */
    int lost;         /* no memory for a fence: from then on everything counts as ordered */
};

/* Of a worker, for the block that it runs. */
struct emu_watch {
    struct emu_order *order;
    struct emu_span span[SPANS]; /* the first is the kernel's argument, which nobody watches */
    uint8_t last[PLACES];
    int spans, next;
    uint32_t tick, barrier;         /* counts fences and barriers; at the last barrier */
    uint32_t heard[EMU_WAVES];      /* the clock when the wave last looked at something atomically */
    uint32_t sees[EMU_WAVES];       /* what it had heard at its last fence */
    int64_t fence[EMU_WAVES];       /* one more than the number of the wave's last fence that no atomic change
                                * has followed */
    int open;                       /* how many waves have one */
    uint8_t is_behind[EMU_THREADS]; /* what the first of a pair has done */
};

heddle_status emu_watch_new(struct emu_watch **watch)
{
    return NEW_ZEROED(*watch, 1);
}

/* Launches are told apart by so few bits that their numbers come round. */
heddle_status emu_order_new(struct emu_order **order, const struct emu_order *before)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint32_t launches;
    heddle_status status = NEW_ZEROED(*order, 1);
    if (status != HEDDLE_OK)
        return status;
    pthread_mutex_init(&(*order)->lock, NULL);
    pthread_mutex_lock(&lock);
    if (launches == MOST(LAUNCH_BITS)) {
        emu_traces_clear();
        launches = 0;
    }
    (*order)->launch = ++launches;
    (*order)->before = before ? before->launch : 0;
    pthread_mutex_unlock(&lock);
    return HEDDLE_OK;
}

void emu_order_free(struct emu_order *order)
{
    if (!order)
        return;
    pthread_mutex_destroy(&order->lock);
    mem_free(order->item);
    mem_free(order);
}

int emu_order_is_missed(const struct emu_order *order)
{
    return order && order->before && !order->waits;
}

void emu_watch_begin(struct emu_worker *w)
{
    struct emu_watch *g = w->watch;
    const uintptr_t argument = (uintptr_t)w->launch->argument,
                    bytes = (uintptr_t)emu_facts_of(w->launch->kernel)->bytes;
    *g = (struct emu_watch){
        .order = w->launch->order, .span = {{.from = argument, .size = bytes}}, .spans = 1, .tick = 1};
}

void emu_watch_barrier(struct emu_worker *w)
{
    struct emu_watch *g = w->watch;
    uint32_t sees = 0, heard = 0;
    for (int i = 0; i < w->waves; i++) {
        sees = g->sees[i] > sees ? g->sees[i] : sees;
        heard = g->heard[i] > heard ? g->heard[i] : heard;
    }
    for (int i = 0; i < w->waves; i++) {
        g->sees[i] = sees;
        g->heard[i] = heard;
    }
    if (g->order->before && memchr(g->is_behind, 1, EMU_THREADS))
        memset(g->is_behind, 1, EMU_THREADS);
    g->barrier = g->tick;
    g->tick += g->tick < MOST(TICK_BITS);
}

static int add_fence(struct emu_order *o, struct fenced f)
{
    if (o->count == o->capacity) {
        int64_t capacity = 2 * o->capacity + 64;
        struct fenced *item = mem_resize(o->item, o->count, capacity, sizeof *item);
        if (!item)
            return 0;
        o->item = item;
        o->capacity = capacity;
    }
    o->item[o->count++] = f;
    return 1;
}

void emu_watch_fence(struct emu_worker *w)
{
    struct emu_watch *g = w->watch;
    struct emu_order *o = g->order;
    const uint32_t wave = (uint32_t)emu_now->wave;
    pthread_mutex_lock(&o->lock);
    g->sees[wave] = g->heard[wave];
    if (!add_fence(o, (struct fenced){(uint32_t)w->view.id, wave, g->barrier, g->tick, 0}))
        o->lost = 1;
    g->open += g->fence[wave] == 0;
    g->fence[wave] = o->count;
    pthread_mutex_unlock(&o->lock);
    g->tick += g->tick < MOST(TICK_BITS);
}

void emu_watch_previous(struct emu_worker *w)
{
    w->watch->is_behind[emu_now->thread] = 1;
    w->watch->order->waits = 1;
}

/* An atomic change by a wave tells of its fence, and of those that lie before the last barrier. */
static void tell(struct emu_worker *w, int wave)
{
    struct emu_watch *g = w->watch;
    struct emu_order *o = g->order;
    pthread_mutex_lock(&o->lock);
    for (int i = 0; i < w->waves; i++) {
        struct fenced *f = g->fence[i] ? &o->item[g->fence[i] - 1] : NULL;
        if (f && (i == wave || f->tick <= g->barrier)) {
            f->told = o->clock + 1;
            __atomic_store_n(&o->clock, f->told, __ATOMIC_RELAXED);
            g->fence[i] = 0;
            g->open--;
        }
    }
    pthread_mutex_unlock(&o->lock);
}

/* Is what `t` tells of ordered before what the wave does now? */
static int ordered(struct emu_worker *w, const struct trace *t)
{
    struct emu_order *o = w->watch->order;
    const uint32_t sees = w->watch->sees[emu_now->wave];
    if (t->block == (uint32_t)w->view.id && t->tick <= w->watch->barrier)
        return 1;
    pthread_mutex_lock(&o->lock);
    int found = o->lost;
    for (int64_t i = 0; i < o->count && !found; i++) {
        const struct fenced *f = &o->item[i];
        if (f->block == t->block && (t->tick <= f->barrier || (f->wave == t->wave && t->tick <= f->tick)))
            found = f->told && f->told <= sees;
    }
    pthread_mutex_unlock(&o->lock);
    return found;
}

/* The number of the span that p lies in; -1: p is no memory of the device. */
static int span_of(struct emu_watch *g, uintptr_t p)
{
    struct emu_span found;
    for (int i = 0; i < g->spans; i++)
        if (p - g->span[i].from < g->span[i].size)
            return i;
    if (!emu_span_find(&found, p))
        return -1;
    if (g->spans < SPANS)
        g->next = g->spans++;
    else
        g->next = g->next + 1 < SPANS ? g->next + 1 : 1;
    g->span[g->next] = found;
    return g->next;
}

static const char *verb(int writes, int plain)
{
    return writes ? plain ? "wrote" : "changed atomically" : plain ? "read" : "read atomically";
}

static _Noreturn void race(struct emu_worker *w, const struct emu_span *s, int64_t offset,
                           enum emu_access_kind kind, const struct trace *t, const void *code)
{
    char here[128];
    emu_stop(w, emu_now->thread,
             "race on global memory, byte %lld of an allocation of %lld: wave %d of block %lld %s (%s) "
             "what wave %u of "
             "block %u %s; no barrier, and no simt_fence and atomic on either side, lies between",
             (long long)offset, (long long)s->bytes, emu_now->wave, (long long)w->view.id,
             verb((kind & EMU_WRITES) != 0, !(kind & EMU_ATOMIC)), emu_place(here, code), t->wave, t->block,
             verb(1, (int)t->plain));
}

static _Noreturn void race_with_previous(struct emu_worker *w, const struct emu_span *s, int64_t offset,
                                         enum emu_access_kind kind, const void *code)
{
    char here[128];
    emu_stop(
        w, emu_now->thread,
        "race on global memory, byte %lld of an allocation of %lld: wave %d of block %lld %s (%s) what the "
        "kernel before it wrote, which may still run; no simt_after_previous lies between",
        (long long)offset, (long long)s->bytes, emu_now->wave, (long long)w->view.id,
        verb((kind & EMU_WRITES) != 0, !(kind & EMU_ATOMIC)), emu_place(here, code));
}

void emu_global_access(struct emu_worker *w, uintptr_t p, int64_t size, enum emu_access_kind kind,
                       const void *code)
{
    struct emu_watch *g = w->watch;
    uint8_t *last = &g->last[(uintptr_t)code / 2 % PLACES];
    char here[128];
    if (p - g->span[*last].from >= g->span[*last].size) {
        int found = span_of(g, p);
        if (found < 0)
            return;
        *last = (uint8_t)found;
    }
    const struct emu_span *s = &g->span[*last];
    if (!s->traces)
        return;
    int64_t offset = (int64_t)(p - s->p), writes = kind & EMU_WRITES;
    if (offset < 0 || offset + size > s->bytes)
        emu_stop(w, emu_now->thread, "a %s outside of global memory: byte %lld of an allocation of %lld (%s)",
                 writes ? "store" : "load", (long long)(offset < 0 ? offset : s->bytes), (long long)s->bytes,
                 emu_place(here, code));
    if (kind & EMU_WHOLE && p % (uintptr_t)size != 0)
        emu_stop(w, emu_now->thread, "a %s of %lld bytes that is aligned to fewer (%s)",
                 writes ? "store" : "load", (long long)size, emu_place(here, code));
    const uint64_t launch = g->order->launch, before = g->is_behind[emu_now->thread] ? 0 : g->order->before,
                   written = __atomic_load_n(s->traces, __ATOMIC_RELAXED);
    if (!(kind & (EMU_WRITES | EMU_ATOMIC)) && written != launch && (!before || written != before))
        return; /* nobody has written to the array in this launch, or in one that may still run */
    if (writes && kind & EMU_ATOMIC && g->open > 0)
        tell(w, emu_now->wave);
    if (kind & EMU_ATOMIC)
        g->heard[emu_now->wave] = __atomic_load_n(&g->order->clock, __ATOMIC_RELAXED);
    if (g->tick == MOST(TICK_BITS) || w->view.id > MOST(BLOCK_BITS) || emu_now->wave > (int)MOST(WAVE_BITS))
        return;
    struct trace now = {(uint32_t)launch,        (uint32_t)w->view.id, g->tick,
                        (uint32_t)emu_now->wave, !(kind & EMU_ATOMIC), 0};
    if (writes && written != launch)
        __atomic_store_n(s->traces, launch, __ATOMIC_RELAXED);
    for (int64_t end = offset + size; offset < end;) {
        int64_t next = (offset / WORD + 1) * WORD < end ? (offset / WORD + 1) * WORD : end;
        uint64_t *cell = &s->traces[1 + offset / WORD];
        struct trace t = unpack(__atomic_load_n(cell, __ATOMIC_RELAXED));
        now.bytes = ((1u << (next - offset)) - 1) << offset % WORD & 15;
        if (before && t.launch == before && (t.bytes & now.bytes) && (t.plain || now.plain))
            race_with_previous(w, s, offset, kind, code);
        int other = t.launch == now.launch && (t.block != now.block || t.wave != now.wave);
        if (other && (t.bytes & now.bytes) && (t.plain || now.plain) && !ordered(w, &t))
            race(w, s, offset, kind, &t, code);
        if (writes) {
            uint32_t bytes = now.bytes;
            if (t.launch == now.launch && !other && t.tick == now.tick && t.plain == now.plain)
                now.bytes |= t.bytes;
            __atomic_store_n(cell, pack(&now), __ATOMIC_RELAXED);
            now.bytes = bytes;
        }
        offset = next;
    }
}
