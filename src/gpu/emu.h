/* SPDX-License-Identifier: MIT
 *
 * emu.h: the parts of the emulator.
 *
 *   emu.c             the driver table: devices, events, kernels by name
 *   emu_memory.c      device memory with red zones
 *   emu_launch.c      a launch: limits, blocks in random order on the processors of this machine
 *   emu_block.c       a block: which thread runs next, on which stack
 *   emu_collective.c  where threads meet: barriers, shuffles, ballots
 *   emu_shared.c      the block's shared memory
 *   emu_hooks.c       every load and store of a hooked page; emu_race.c finds those that race on shared
 *                     memory, emu_global.c those on global memory
 *   emu_fibre.c       stacks
 *
 * Threads of a block are run one after another on the same stack, by plain calls.  Only a thread that has
 * to wait at a collective keeps its stack, and the block goes on with another one: a kernel without
 * collectives never switches. */
#ifndef GPU_EMU_H
#define GPU_EMU_H

#include <stdatomic.h>

#include "gpu/emu_fibre.h"
#include "gpu/gpu.h"
#include "simt/emu.h"

#define EMU_THREADS 1024 /* a block, as on every GPU of today */
#define EMU_WAVES (EMU_THREADS / 32)
#define EMU_GRID 2147483647
#define EMU_SLOTS 32       /* SHARED declarations a kernel */
#define EMU_SHARED_ZONE 64 /* bytes before, between and behind them */
/* Bytes behind all of it: where an index leads that nobody has written, no process need end. */
#define EMU_BEYOND (1 << 20)
#define EMU_POISON 0xff /* NaN in every type of real, -1 in every integer: what nobody has written */
#define EMU_ZONE 0xa5   /* what nobody may write */

/* What a thread waits for, and what it got. */
struct emu_wait {
    const char *site;   /* NULL until its first collective; afterwards the last one it came to */
    const char *caller; /* when that is in collective_of.h: who called it */
    enum emu_op op;
    int source;     /* shuffle: the lane it reads */
    uint64_t group; /* the lanes of its wave that must come */
    uint64_t in, out;
    emu_fold *fold; /* of the values whose addresses are in `in` */
} __attribute__((aligned(64)));

/* Every lane that exists is in exactly one of ready, waiting and exited, or runs; fresh ones are ready and
 * have not started. */
struct emu_wave {
    uint64_t exists, fresh, ready, waiting, exited;
    uint32_t syncs; /* wave syncs so far: what lies between two of them is ordered */
};

struct emu_slot {
    const void *key; /* of the declaration */
    const char *name;
    int64_t offset, bytes, size; /* in the arena; size of one element */
};

/* A processor of this machine and the block that it runs. */
struct emu_worker {
    struct emu_block_view view;
    const struct emu_launch *launch;
    int waves, width, live; /* live: threads that have not left */
    int at_barrier;
    int first_at_barrier; /* thread */
    int running_wave;
    int upcoming; /* the ready thread that runs after this one, already taken; -1: none */
    int start;    /* the fresh thread that the next runner takes */
    uint64_t random;
    struct emu_wave wave[EMU_WAVES];
    struct emu_wait wait[EMU_THREADS];
    struct emu_thread thread[EMU_THREADS];

    struct fibre system, *running;
    struct fibre stack[EMU_THREADS];
    struct fibre *stack_of[EMU_THREADS]; /* where each thread waits; NULL before its first time */
    struct fibre *unused[EMU_THREADS];   /* runners without a thread, ready to take one */
    int stacks, unused_count;

    char *arena; /* arena_bytes; [0, arena_used) holds slots and the zones around them */
    int64_t arena_bytes, arena_used, shared_used;
    struct emu_slot slot[EMU_SLOTS];
    int slots;

    struct emu_cell
        *cells; /* emu_race.c: one for each word of the arena; NULL when races are not looked for */
    struct emu_watch *watch; /* emu_global.c: likewise, for global memory */
    uint32_t period;         /* counts barriers and blocks: what lies between two of them is not ordered */

    char error[768]; /* "" while all is well */
};

struct emu_launch {
    const struct emu_kernel *kernel;
    int64_t grid, grid_most, shared, shared_most;
    int block;
    const void *argument;
    uint64_t seed, stride, shift; /* block number i of the launch is (i * stride + shift) mod grid */
    struct emu_worker *const *workers;
    struct emu_order *order; /* emu_global.c: of its blocks; NULL when races are not looked for */
    atomic_llong next;       /* the first block that nobody has taken */
    atomic_int failed;       /* one more than the number of the first worker that failed */
};

/* -- emu_block.c */
heddle_status emu_worker_new(struct emu_worker **worker, int width, int64_t shared, int races);
void emu_worker_free(struct emu_worker *worker);
/* Runs block `id`; 0 when it failed, with the text in worker->error. */
int emu_block_run(struct emu_worker *w, const struct emu_launch *launch, int64_t id);
/* The worker of the thread that runs now: the view is its first member. */
static inline struct emu_worker *emu_worker_now(void)
{
    return (struct emu_worker *)(void *)(uintptr_t)emu_now->block;
}
/* The thread that runs now waits; returns when somebody has made it ready again. */
void emu_wait(struct emu_worker *w);
/* Ends the block with a text: "KERNEL: block B, thread T: ..." */
_Noreturn void emu_stop(struct emu_worker *w, int thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t emu_random(uint64_t *state);

/* -- emu_collective.c */
void emu_left(struct emu_worker *w, int thread);   /* the thread has left the kernel */
_Noreturn void emu_deadlock(struct emu_worker *w); /* nobody is ready, and not all have left */
const char *emu_file(const char *path);            /* without its folders */

/* -- emu_shared.c */
void emu_shared_begin(struct emu_worker *w);
/* 0 when the block has failed, or fails now because a store went past an array. */
int emu_shared_end(struct emu_worker *w);
const struct emu_slot *emu_slot_at(const struct emu_worker *w, int64_t offset); /* NULL: a red zone */
/* The one whose zone that is */
const struct emu_slot *emu_slot_near(const struct emu_worker *w, int64_t offset);
int64_t emu_slot_element(const struct emu_slot *slot, int64_t offset);

/* -- emu_launch.c */
heddle_status emu_launch(struct emu_launch *launch, int threads);

/* -- emu_memory.c: one registry for all devices, as all of them share the memory of this machine */
heddle_status emu_alloc(void **p, int64_t bytes, int watched); /* watched: with traces, for races */
void emu_release(void *p);
int64_t emu_allocated(void); /* bytes, by all devices */
int emu_owns(const void *p);
/* HEDDLE_BAD_ARGUMENT when [p, p + bytes) begins in device memory and leaves it. */
heddle_status emu_within(const void *p, int64_t bytes, const char *what);
/* HEDDLE_DEVICE_ERROR when a red zone was written; it is made good again. */
heddle_status emu_zones_check(const char *kernel);
/* The allocation with traces in which, or in whose zones, `at` lies; 0: there is none. */
struct emu_span {
    uintptr_t from, size; /* with the zones */
    uintptr_t p;
    int64_t bytes;
    uint64_t *traces; /* [0]: the launch that wrote to it last; then one for each word */
};
int emu_span_find(struct emu_span *span, uintptr_t at);
void emu_traces_clear(void);
/* How many bytes at the beginning of a zone are as they were. */
int64_t emu_zone_intact(const char *zone, int64_t bytes);

#endif
