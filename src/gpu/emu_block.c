/* SPDX-License-Identifier: MIT
 *
 * A block: which thread runs next, and on which stack.  A runner is a fibre that takes fresh threads one
 * after another.  When its thread waits, the stack stays with the thread and another runner (or a thread
 * that has become ready) goes on. */
#include "gpu/emu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/emu_global.h"

_Thread_local struct emu_thread *emu_now;

uint64_t emu_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* -------------------------------------------------------- who is next ------------------------- */

/* The first set bit at or behind a random place. */
static int random_lane(struct emu_worker *w, uint64_t lanes)
{
    int from = (int)(emu_random(&w->random) >> 32) & (w->width - 1);
    uint64_t turned =
        w->width == 64 ? lanes >> from | (from ? lanes << (64 - from) : 0) : (lanes | lanes << 32) >> from;
    return (__builtin_ctzll(turned) + from) & (w->width - 1);
}

/* A ready thread, of the running wave as long as it has one; -1 when nobody is ready. */
static int take_any(struct emu_worker *w)
{
    int number = w->running_wave;
    if (!w->wave[number].ready) {
        number = (int)((emu_random(&w->random) >> 32) % (unsigned)w->waves);
        for (int i = 0; !w->wave[number].ready; i++) {
            if (i == w->waves)
                return -1;
            number = number + 1 == w->waves ? 0 : number + 1;
        }
        w->running_wave = number;
    }
    int lane = random_lane(w, w->wave[number].ready);
    w->wave[number].ready &= ~((uint64_t)1 << lane);
    return number * w->width + lane;
}

/* The same, one ahead: stacks are met in random order, so that the next one is on its way to the cache
 * while this runs. */
static int take_ready(struct emu_worker *w)
{
    int thread = w->upcoming >= 0 ? w->upcoming : take_any(w);
    w->upcoming = take_any(w);
    if (w->upcoming >= 0 && w->stack_of[w->upcoming]) {
        const char *sp = w->stack_of[w->upcoming]->sp;
        for (int line = 0; line < 6; line++)
            __builtin_prefetch(sp + 64 * line, 1);
        __builtin_prefetch(&w->wait[w->upcoming], 1);
    }
    return thread;
}

/* Takes the thread off the fresh ones if it is one of them. */
static int is_fresh(struct emu_worker *w, int thread)
{
    struct emu_wave *wave = &w->wave[w->thread[thread].wave];
    uint64_t bit = (uint64_t)1 << w->thread[thread].lane;
    int fresh = (wave->fresh & bit) != 0;
    wave->fresh &= ~bit;
    return fresh;
}

/* -------------------------------------------------------- stacks ------------------------------ */

static void switch_to(struct emu_worker *w, struct fibre *to)
{
    struct fibre *from = w->running;
    w->running = to;
    fibre_switch(from, to);
}

static void runner(void *worker);

/* A runner without a thread: one that waits for work, or a new one. */
static struct fibre *unused_runner(struct emu_worker *w)
{
    if (w->unused_count > 0)
        return w->unused[--w->unused_count];
    struct fibre *f = &w->stack[w->stacks];
    if (!fibre_create(f))
        emu_stop(w, emu_now->thread, "no memory for the stack of another thread");
    fibre_prepare(f, w->stacks++, runner, w);
    return f;
}

/* The thread on this stack has left the kernel.  Returns the next fresh thread to run here; goes on with
 * other stacks in between, and for good when the block has ended. */
static int next_fresh(struct emu_worker *w)
{
    int thread = take_ready(w);
    if (thread >= 0 && is_fresh(w, thread))
        return thread;
    if (thread < 0 && w->live > 0)
        emu_deadlock(w);
    w->unused[w->unused_count++] = w->running;
    switch_to(w, thread < 0 ? &w->system : w->stack_of[thread]);
    return w->start;
}

/* Runners outlive a launch, and whoever makes the next one may be another thread of the system: where its
 * variables lie must not be kept over a switch of stacks, as compilers do on aarch64. */
__attribute__((noinline)) static void set_now(struct emu_thread *thread)
{
    emu_now = thread;
    thread->caller = NULL;
}

static void runner(void *worker)
{
    struct emu_worker *w = worker;
    fibre_entered();
    for (int thread = w->start;; thread = next_fresh(w)) {
        set_now(&w->thread[thread]);
        emu_call(w->launch->kernel, w->launch->argument);
        emu_left(w, thread);
    }
}

void emu_wait(struct emu_worker *w)
{
    struct emu_thread *self = emu_now;
    int thread = take_ready(w);
    if (thread < 0)
        emu_deadlock(w);
    w->stack_of[self->thread] = w->running;
    if (is_fresh(w, thread)) {
        w->start = thread;
        switch_to(w, unused_runner(w));
    } else {
        switch_to(w, w->stack_of[thread]);
    }
    emu_now = self;
}

_Noreturn void emu_stop(struct emu_worker *w, int thread, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int used =
        snprintf(w->error, sizeof w->error, "emu: %s: block %lld, thread %d: ", emu_name(w->launch->kernel),
                 (long long)w->view.id, thread);
    if (used > 0 && used < (int)sizeof w->error)
        vsnprintf(w->error + used, sizeof w->error - (size_t)used, format, args);
    va_end(args);
    switch_to(w, &w->system);
    __builtin_unreachable();
}

/* -------------------------------------------------------- a block ----------------------------- */

/* Stacks whose threads were abandoned in the middle become runners again. */
static void reset_stacks(struct emu_worker *w)
{
    for (int i = 0; i < w->stacks; i++) {
        fibre_prepare(&w->stack[i], i, runner, w);
        w->unused[i] = &w->stack[i];
    }
    w->unused_count = w->stacks;
}

static void begin(struct emu_worker *w, const struct emu_launch *launch, int64_t id)
{
    w->launch = launch;
    w->view = (struct emu_block_view){id, launch->grid, launch->block};
    w->random = (launch->seed ^ (uint64_t)(id + 1) * 0x9e3779b97f4a7c15) | 1;
    w->waves = (launch->block + w->width - 1) / w->width;
    w->live = launch->block;
    w->at_barrier = 0;
    w->upcoming = -1;
    w->period++;
    for (int i = 0; i < w->waves; i++) {
        int lanes = launch->block - i * w->width < w->width ? launch->block - i * w->width : w->width;
        uint64_t all = ~(uint64_t)0 >> (64 - lanes);
        w->wave[i] = (struct emu_wave){.exists = all, .fresh = all, .ready = all};
    }
    for (int i = 0; i < launch->block; i++) {
        w->wait[i].site = NULL;
        w->stack_of[i] = NULL;
    }
    emu_shared_begin(w);
    if (w->watch)
        emu_watch_begin(w);
}

int emu_block_run(struct emu_worker *w, const struct emu_launch *launch, int64_t id)
{
    begin(w, launch, id);
    w->running = &w->system;
    w->running_wave = (int)((emu_random(&w->random) >> 32) % (unsigned)w->waves);
    w->start = take_ready(w);
    is_fresh(w, w->start);
    switch_to(w, unused_runner(w));
    emu_now = NULL;
    if (w->error[0])
        reset_stacks(w);
    return emu_shared_end(w);
}

heddle_status emu_worker_new(struct emu_worker **worker, int width, int64_t shared, int races)
{
    heddle_status status;
    struct emu_worker *w = NULL;
    *worker = NULL;
    TRY(NEW_ZEROED(w, 1));
    w->width = width;
    w->arena_bytes = shared + (EMU_SLOTS + 1) * (EMU_SHARED_ZONE + 16);
    TRY(NEW(w->arena, w->arena_bytes + EMU_BEYOND));
    ASAN_POISON_MEMORY_REGION(w->arena + w->arena_bytes, EMU_BEYOND);
    if (races)
        TRY(emu_cells_new(&w->cells, w->arena_bytes));
    if (races)
        TRY(emu_watch_new(&w->watch));
    if (!fibre_create(&w->stack[0])) {
        TRY(fail(HEDDLE_NO_MEMORY, "emu: no memory for a stack"));
    }
    /* the first runner is always there, so that every failure happens on a stack that can be left */
    w->stacks = 1;
    reset_stacks(w);
    for (int i = 0; i < EMU_THREADS; i++)
        w->thread[i] = (struct emu_thread){i, i % width, i / width, width, &w->view, NULL};
    *worker = w;
    return HEDDLE_OK;
done:
    emu_worker_free(w);
    return status;
}

void emu_worker_free(struct emu_worker *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->stacks; i++)
        fibre_destroy(&w->stack[i]);
    if (w->arena)
        ASAN_UNPOISON_MEMORY_REGION(w->arena, (size_t)w->arena_bytes + EMU_BEYOND);
    mem_free(w->arena);
    mem_free(w->cells);
    mem_free(w->watch);
    mem_free(w);
}
