/* SPDX-License-Identifier: MIT
 *
 * emu: the driver that runs kernels on this machine's processors, for tests and for reading a kernel step
 * by step.  Opened as "emu:wave=64,seed=7,threads=2,shared=65536,memory=1000000,races=1": lanes of a wave,
 * the seed of every random order, processors, bytes of shared memory a block, bytes of device memory in
 * all, and whether races on shared and global memory are looked for (in pages compiled for that).
 *
 * Everything has finished when a call returns, so streams and events are trivial, and an error of a kernel
 * is the status of its launch.  The device stays usable after any error. */
#include "gpu/emu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/timer.h"
#include "gpu/emu_global.h"

struct gpu {
    struct gpu_head head;
    int64_t seed;
    int threads, races;
    pthread_mutex_t lock; /* one launch runs at a time: guards what follows */
    int64_t launches;     /* every launch has an order of its own */
    struct emu_worker *worker[THREADS_MOST];
};

struct gpu_event {
    double ms;
};

/* The rows that the pages of this program or library have put there; both NULL when it has none. */
extern const struct emu_kernel __start_emu_kernels[] __attribute__((weak, visibility("hidden")));
extern const struct emu_kernel __stop_emu_kernels[] __attribute__((weak, visibility("hidden")));

/* The build's list of the pages in the library; naming it is what makes the linker take them out of an
 * archive. */
extern const char *const emu_pages[];

static heddle_status emu_count(int *count)
{
    *count = 1;
    return HEDDLE_OK;
}

static void describe(struct gpu_info *info, int wave, int threads, int64_t shared)
{
    const struct cpu *cpu = cpu_this();
    *info = (struct gpu_info){.arch = "emu",
                              .wave = wave,
                              .multiprocessors = threads,
                              .threads_per_block = EMU_THREADS,
                              .shared_per_block = shared,
                              .grid = EMU_GRID,
                              .grid_threads = GRID_THREADS,
                              .memory = cpu->memory,
                              .cache = cpu->cache};
    snprintf(info->name, sizeof info->name, "emulator, waves of %d lanes", wave);
}

/* What a block may use without asking on the GPUs of that width: NVIDIA's, and AMD's. */
static int64_t default_shared(int64_t wave)
{
    return (wave == 64 ? 64 : 48) * 1024;
}

static heddle_status emu_describe(struct gpu_info *info, int number)
{
    if (number != 0)
        return fail(HEDDLE_NO_DEVICE, "emu: there is one device, number 0");
    describe(info, 32, threads_default(), default_shared(32));
    return HEDDLE_OK;
}

static void emu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    for (int i = 0; i < gpu->threads; i++)
        emu_worker_free(gpu->worker[i]);
    pthread_mutex_destroy(&gpu->lock);
    mem_free(gpu);
}

static heddle_status emu_open(struct gpu **result, int number, struct spec *options)
{
    heddle_status status;
    struct gpu *gpu = NULL;
    int64_t wave = 32, seed = 1, threads = threads_default(), shared = 0, races = 0,
            memory = cpu_this()->memory;
    *result = NULL;
    if (number != 0)
        return fail(HEDDLE_NO_DEVICE, "emu: there is one device, number 0");
    TRY(spec_int(options, "wave", 32, 64, &wave));
    TRY(spec_int(options, "seed", 0, INT64_MAX, &seed));
    TRY(spec_int(options, "threads", 1, THREADS_MOST, &threads));
    TRY(spec_int(options, "shared", 1, 1 << 20, &shared));
    TRY(spec_int(options, "memory", 1, INT64_MAX, &memory));
    TRY(spec_int(options, "races", 0, 1, &races));
    TRY(spec_done(options, "wave, seed, threads, shared, memory, races"));
    if (wave != 32 && wave != 64)
        return fail(HEDDLE_BAD_ARGUMENT, "emu: wave=%lld: a wave has 32 or 64 lanes", (long long)wave);
    TRY(NEW_ZEROED(gpu, 1));
    pthread_mutex_init(&gpu->lock, NULL);
    gpu->head.driver = &emu_driver;
    describe(&gpu->head.info, (int)wave, (int)threads, shared ? shared : default_shared(wave));
    gpu->head.info.memory = memory;
    gpu->seed = seed;
    gpu->races = (int)races;
    gpu->threads = (int)threads;
    for (int i = 0; i < threads; i++)
        TRY(emu_worker_new(&gpu->worker[i], (int)wave, gpu->head.info.shared_per_block, gpu->races));
    *result = gpu;
    return HEDDLE_OK;
done:
    emu_close(gpu);
    return status;
}

/* -------------------------------------------------------- memory ------------------------------ */

static heddle_status emu_alloc_on(struct gpu *gpu, void **p, int64_t bytes)
{
    *p = NULL;
    if (emu_allocated() > gpu->head.info.memory - bytes)
        return fail(HEDDLE_NO_MEMORY, "emu: out of memory (%lld bytes)", (long long)bytes);
    return emu_alloc(p, bytes, gpu->races);
}

static void emu_release_on(struct gpu *gpu, void *p)
{
    (void)gpu;
    emu_release(p);
}

/* Kernels are watched there as anywhere else. */
static heddle_status emu_alloc_pinned(struct gpu *gpu, void **p, int64_t bytes)
{
    return emu_alloc(p, bytes, gpu->races);
}

static heddle_status emu_copy(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream)
{
    heddle_status status;
    (void)gpu, (void)stream;
    TRY(emu_within(to, bytes, "a copy"));
    TRY(emu_within(from, bytes, "a copy"));
    if (bytes > 0)
        memmove(to, from, (size_t)bytes);
done:
    return status;
}

static heddle_status emu_fill(struct gpu *gpu, void *p, int byte, int64_t bytes, void *stream)
{
    heddle_status status;
    (void)gpu, (void)stream;
    TRY(emu_within(p, bytes, "a fill"));
    if (bytes > 0)
        memset(p, byte, (size_t)bytes);
done:
    return status;
}

static int emu_on_device(struct gpu *gpu, const void *p)
{
    (void)gpu;
    return emu_owns(p);
}

/* -------------------------------------------------------- kernels ----------------------------- */

/* All pages are loaded from the start: every module is the same token. */
static heddle_status emu_load(struct gpu *gpu, struct gpu_module **module, const void *image, int64_t bytes)
{
    (void)gpu, (void)image, (void)bytes;
    *module = (struct gpu_module *)(void *)(uintptr_t)emu_pages;
    return HEDDLE_OK;
}

static void emu_unload(struct gpu *gpu, struct gpu_module *module)
{
    (void)gpu, (void)module;
}

static heddle_status emu_find(struct gpu *gpu, struct gpu_function **function, struct gpu_module *module,
                              const char *name)
{
    (void)module;
    *function = NULL;
    for (const struct emu_kernel *kernel = __start_emu_kernels; kernel != __stop_emu_kernels; kernel++) {
        const struct emu_facts *facts = emu_facts_of(kernel);
        if (facts->hooked == gpu->races && strcmp(emu_name(kernel), name) == 0) {
            *function = (struct gpu_function *)(void *)(uintptr_t)kernel;
            return HEDDLE_OK;
        }
    }
    return fail(HEDDLE_NO_KERNEL, "emu: no kernel %s%s in this build", name,
                gpu->races ? ", compiled to look for races," : "");
}

/* `order`: what its blocks know of each other, where races are looked for; the caller holds the lock. */
static heddle_status emu_launch_one(struct gpu *gpu, const struct gpu_launch *l, const void *argument,
                                    int64_t bytes, struct emu_order *order)
{
    const struct emu_kernel *kernel = (const struct emu_kernel *)(void *)l->function;
    if (bytes != emu_facts_of(kernel)->bytes)
        return fail(HEDDLE_BAD_ARGUMENT, "emu: %s takes an argument of %d bytes, not %lld", emu_name(kernel),
                    emu_facts_of(kernel)->bytes, (long long)bytes);
    /* info.grid may be lower, for tests of kernels that go by it: those that fill the device do not. */
    const int64_t most = gpu->head.info.grid_threads / (l->block > 0 ? l->block : 1);
    uint64_t number = (uint64_t)gpu->seed + (uint64_t)gpu->launches++ * 0x10001;
    struct emu_launch launch = {.kernel = kernel,
                                .grid = l->grid,
                                .grid_most = most < EMU_GRID ? most : EMU_GRID,
                                .shared = l->shared,
                                .shared_most = gpu->head.info.shared_per_block,
                                .block = l->block,
                                .argument = argument,
                                .seed = (number + 1) * 0xd1342543de82ef95,
                                .workers = gpu->worker,
                                .order = order};
    const heddle_status status = emu_launch(&launch, gpu->threads);
    if (status == HEDDLE_OK && emu_order_is_missed(order))
        return fail(
            HEDDLE_DEVICE_ERROR,
            "%s: the second of a pair, and no thread of it says simt_after_previous: it may end before "
            "the first",
            emu_name(kernel));
    return status;
}

static heddle_status emu_launch_each(struct gpu *gpu, const struct gpu_launch *l, int count,
                                     const void *argument, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    struct emu_order *order[2] = {NULL, NULL};
    pthread_mutex_lock(&gpu->lock);
    for (int i = 0; i < count; i++) {
        if (gpu->races)
            TRY(emu_order_new(&order[i], i > 0 ? order[0] : NULL));
        TRY(emu_launch_one(gpu, &l[i], argument, bytes, order[i]));
    }
done:
    emu_order_free(order[0]);
    emu_order_free(order[1]);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

static heddle_status emu_launch_on(struct gpu *gpu, const struct gpu_launch *l, const void *argument,
                                   int64_t bytes, void *stream)
{
    (void)stream;
    return emu_launch_each(gpu, l, 1, argument, bytes);
}

static heddle_status emu_launch_pair(struct gpu *gpu, const struct gpu_launch pair[2], const void *argument,
                                     int64_t bytes, void *stream)
{
    (void)stream;
    return emu_launch_each(gpu, pair, 2, argument, bytes);
}

/* -------------------------------------------------------- time -------------------------------- */

static heddle_status emu_sync_on(struct gpu *gpu, void *stream)
{
    (void)gpu, (void)stream;
    return HEDDLE_OK;
}

static heddle_status emu_event_new(struct gpu *gpu, struct gpu_event **event)
{
    (void)gpu;
    return NEW_ZEROED(*event, 1);
}

static void emu_event_free(struct gpu *gpu, struct gpu_event *event)
{
    (void)gpu;
    mem_free(event);
}

static heddle_status emu_event_record(struct gpu *gpu, struct gpu_event *event, void *stream)
{
    (void)gpu, (void)stream;
    event->ms = now_ms();
    return HEDDLE_OK;
}

static heddle_status emu_event_ms(struct gpu *gpu, double *ms, struct gpu_event *from, struct gpu_event *to)
{
    (void)gpu;
    *ms = to->ms - from->ms;
    return HEDDLE_OK;
}

const struct gpu_driver emu_driver = {
    .name = "emu",
    .count = emu_count,
    .describe = emu_describe,
    .open = emu_open,
    .close = emu_close,
    .alloc = emu_alloc_on,
    .release = emu_release_on,
    .alloc_pinned = emu_alloc_pinned,
    .release_pinned = emu_release_on,
    .copy = emu_copy,
    .fill = emu_fill,
    .on_device = emu_on_device,
    .load = emu_load,
    .unload = emu_unload,
    .find = emu_find,
    .launch = emu_launch_on,
    .launch_pair = emu_launch_pair,
    .sync = emu_sync_on,
    .event_new = emu_event_new,
    .event_free = emu_event_free,
    .event_record = emu_event_record,
    .event_ms = emu_event_ms,
};
