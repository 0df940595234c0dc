/* SPDX-License-Identifier: MIT
 *
 * vendor_device.c: the functions of struct gpu_driver on an open device of a vendor.  Modules, kernels and
 * events are the vendor's own handles behind an opaque type: nothing is allocated for them, and a launch
 * looks nothing up. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "gpu/vendor.h"

enum {
    POINTER_ON_DEVICE = 3, /* CU_POINTER_ATTRIBUTE_DEVICE_POINTER: the address that kernels would use */
    PINNED_PORTABLE = 1,   /* pinned memory is that for every context */
    LOAD_LOG = 5,          /* CU_JIT_ERROR_LOG_BUFFER: where the PTX compiler writes what is wrong */
    LOAD_LOG_BYTES = 6,
};

/* After a sticky error the driver answers everything with the same error; the text of the first says more. */
static heddle_status enter(struct gpu *gpu, void **before)
{
    struct vendor *v = gpu->vendor;
    if (gpu->lost)
        return fail(HEDDLE_DEVICE_ERROR,
                    "%s: the device was lost earlier (%s); close the handle and start a new process", v->name,
                    v->error_name(gpu->lost));
    int code = v->enter(gpu, before);
    return code ? vendor_failed(v, gpu, code, CALL_device, "the context") : HEDDLE_OK;
}

/* One call in the device's context, then return its status; `what` is looked at only if it fails. */
#define RETURN_CALL(gpu, member, what, ...)                                                                  \
    do {                                                                                                     \
        void *before;                                                                                        \
        heddle_status status = enter(gpu, &before);                                                          \
        if (status != HEDDLE_OK)                                                                             \
            return status;                                                                                   \
        int code = (gpu)->vendor->call.member(__VA_ARGS__);                                                  \
        if (code)                                                                                            \
            status = vendor_failed((gpu)->vendor, gpu, code, CALL_##member, what);                           \
        (gpu)->vendor->leave(gpu, before);                                                                   \
        return status;                                                                                       \
    } while (0)

/* Gives something back: a failure has nobody to go to, and on a lost device there is nothing left to give
 * back. */
#define GIVE_BACK(gpu, member, handle)                                                                       \
    do {                                                                                                     \
        void *before;                                                                                        \
        if (!(handle) || (gpu)->lost || (gpu)->vendor->enter(gpu, &before) != 0)                             \
            return;                                                                                          \
        int code = (gpu)->vendor->call.member(handle);                                                       \
        if (code && (gpu)->vendor->forget_error)                                                             \
            (gpu)->vendor->forget_error();                                                                   \
        (gpu)->vendor->leave(gpu, before);                                                                   \
    } while (0)

heddle_status vendor_open(struct vendor *v, const struct gpu_driver *driver, struct gpu **gpu, int number,
                          struct spec *options)
{
    heddle_status status = HEDDLE_OK;
    struct gpu *made = NULL;
    *gpu = NULL;
    TRY(NEW_ZEROED(made, 1));
    made->head.driver = driver;
    made->vendor = v;
    if (options)
        TRY(spec_done(options, "no options"));
    TRY(vendor_describe(v, &made->head.info, number));
    int code = v->call.device(&made->device, number);
    if (!code)
        code = v->attach(made);
    if (code)
        TRY(vendor_failed(v, NULL, code, CALL_device, "the context"));
    *gpu = made;
    made = NULL;
done:
    mem_free(made);
    return status;
}

void vendor_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    for (struct gpu_function *f = gpu->functions, *next; f; f = next) {
        next = f->next;
        mem_free(f);
    }
    gpu->vendor->detach(gpu);
    mem_free(gpu);
}

heddle_status vendor_hold(struct gpu *gpu, void **before)
{
    return enter(gpu, before);
}

void vendor_let_go(struct gpu *gpu, void *before)
{
    gpu->vendor->leave(gpu, before);
}

/* Out of memory is the one failure that the user can do something about, given the numbers. */
static heddle_status no_memory(struct gpu *gpu, int code, enum vendor_call call, int64_t bytes)
{
    char asked[NUMBER_TEXT], left_text[NUMBER_TEXT], all_text[NUMBER_TEXT], what[4 * NUMBER_TEXT];
    size_t left = 0, all = 0;
    text_bytes(asked, (double)bytes);
    if (gpu->vendor->call.memory_left(&left, &all) == 0 && all > 0)
        snprintf(what, sizeof what, "%s, with %s of %s free", asked, text_bytes(left_text, (double)left),
                 text_bytes(all_text, (double)all));
    else
        snprintf(what, sizeof what, "%s", asked);
    return vendor_failed(gpu->vendor, gpu, code, call, what);
}

static heddle_status wrong_size(struct gpu *gpu, int64_t bytes)
{
    return fail(HEDDLE_BAD_ARGUMENT, "%s: a size of %lld bytes", gpu->vendor->name, (long long)bytes);
}

heddle_status vendor_alloc(struct gpu *gpu, void **p, int64_t bytes)
{
    void *before;
    *p = NULL;
    if (bytes < 0)
        return wrong_size(gpu, bytes);
    heddle_status status = enter(gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    /* a size of 0 is an error to CUDA */
    int code = gpu->vendor->call.alloc(p, bytes > 0 ? (size_t)bytes : 1);
    if (code) {
        *p = NULL;
        status = no_memory(gpu, code, CALL_alloc, bytes);
    }
    gpu->vendor->leave(gpu, before);
    return status;
}

void vendor_release(struct gpu *gpu, void *p)
{
    GIVE_BACK(gpu, release, p);
}

heddle_status vendor_alloc_pinned(struct gpu *gpu, void **p, int64_t bytes)
{
    char text[NUMBER_TEXT];
    *p = NULL;
    if (bytes < 0)
        return wrong_size(gpu, bytes);
    RETURN_CALL(gpu, alloc_pinned, text_bytes(text, (double)bytes), p, bytes > 0 ? (size_t)bytes : 1,
                PINNED_PORTABLE);
}

void vendor_release_pinned(struct gpu *gpu, void *p)
{
    GIVE_BACK(gpu, release_pinned, p);
}

heddle_status vendor_copy(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream)
{
    char text[NUMBER_TEXT];
    if (bytes < 0)
        return wrong_size(gpu, bytes);
    if (bytes == 0)
        return HEDDLE_OK;
    RETURN_CALL(gpu, copy, text_bytes(text, (double)bytes), to, from, (size_t)bytes, stream);
}

heddle_status vendor_fill(struct gpu *gpu, void *p, int byte, int64_t bytes, void *stream)
{
    char text[NUMBER_TEXT];
    if (bytes < 0)
        return wrong_size(gpu, bytes);
    if (bytes == 0)
        return HEDDLE_OK;
    RETURN_CALL(gpu, fill, text_bytes(text, (double)bytes), p, byte, (size_t)bytes, stream);
}

/* Memory that the driver does not know is an error to it, and ordinary host memory to us.  Host memory
 * that it has mapped at another address does not count: kernels cannot use the pointer as it is. */
int vendor_on_device(struct gpu *gpu, const void *p)
{
    void *before, *there = NULL;
    if (!p || gpu->lost || gpu->vendor->enter(gpu, &before) != 0)
        return 0;
    int code = gpu->vendor->call.pointer(&there, POINTER_ON_DEVICE, p);
    if (code && gpu->vendor->forget_error)
        gpu->vendor->forget_error();
    gpu->vendor->leave(gpu, before);
    return code == 0 && there == p;
}

heddle_status vendor_load(struct gpu *gpu, struct gpu_module **module, const void *image, int64_t bytes)
{
    char log[1024] = "";
    int options[] = {LOAD_LOG, LOAD_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)}, *before, *made = NULL;
    *module = NULL;
    if (!image || bytes <= 0)
        return wrong_size(gpu, bytes);
    heddle_status status = enter(gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    int code = gpu->vendor->call.load(&made, image, 2, options, values);
    if (code) {
        status = vendor_failed(gpu->vendor, gpu, code, CALL_load, gpu->head.info.arch);
        log[sizeof log - 1] = 0;
        log[strcspn(log, "\n")] = 0;
        if (log[0])
            status = fail_in(status, log);
    } else {
        *module = (struct gpu_module *)made;
    }
    gpu->vendor->leave(gpu, before);
    return status;
}

void vendor_unload(struct gpu *gpu, struct gpu_module *module)
{
    GIVE_BACK(gpu, unload, module);
}

heddle_status vendor_find(struct gpu *gpu, struct gpu_function **function, struct gpu_module *module,
                          const char *name)
{
    void *before;
    struct gpu_function *made;
    *function = NULL;
    heddle_status status = enter(gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    TRY(NEW_ZEROED(made, 1));
    int code = gpu->vendor->call.find(&made->handle, module, name);
    if (!code && gpu->vendor->prepare)
        code = gpu->vendor->prepare(gpu, made);
    if (code) {
        mem_free(made);
        TRY(vendor_failed(gpu->vendor, gpu, code, CALL_find, name));
    }
    snprintf(made->name, sizeof made->name, "%s", name);
    made->next = gpu->functions;
    *function = gpu->functions = made;
done:
    gpu->vendor->leave(gpu, before);
    return status;
}

/* What the driver would refuse with one error for everything is told apart here. */
static heddle_status launchable(struct gpu *gpu, const struct gpu_launch *l, int64_t bytes)
{
    const struct gpu_info *info = &gpu->head.info;
    const char *name = gpu->vendor->name;
    const int64_t most = gpu_most_blocks(gpu, l->block);
    if (l->block < 1 || l->block > info->threads_per_block)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: a block of %d threads (1 to %d are possible)", name, l->block,
                    info->threads_per_block);
    if (l->grid < 0 || l->grid > most)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: a grid of %lld blocks of %d threads (the most is %lld)", name,
                    (long long)l->grid, l->block, (long long)most);
    if (l->shared < 0 || l->shared > info->shared_per_block)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: %lld bytes of shared memory a block (the most is %lld)", name,
                    (long long)l->shared, (long long)info->shared_per_block);
    if (bytes < 0 || bytes > ARGUMENT_MOST)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: an argument of %lld bytes (the most is %d)", name,
                    (long long)bytes, ARGUMENT_MOST);
    return HEDDLE_OK;
}

/* `behind`: another one, for which it waits by itself where it can. */
static int launch_one(struct gpu *gpu, const struct gpu_launch *l, int behind, void **arguments, void *stream)
{
    if (behind && l->function->early)
        return gpu->vendor->launch_early(l, stream, arguments);
    return gpu->vendor->call.launch(l->function->handle, (unsigned)l->grid, 1, 1, (unsigned)l->block, 1, 1,
                                    (unsigned)l->shared, stream, arguments, NULL);
}

/* One kernel or two, all of which are there. */
static heddle_status launch_all(struct gpu *gpu, const struct gpu_launch *l, int count, const void *argument,
                                int64_t bytes, void *stream)
{
    struct vendor *v = gpu->vendor;
    /* the driver copies it, by the size that the kernel states */
    void *arguments[] = {(void *)(uintptr_t)argument}, *before;
    heddle_status status = enter(gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    int code = v->launch_graph ? v->launch_graph(gpu, l, count, argument, bytes, stream) : ONE_BY_ONE;
    if (code == ONE_BY_ONE) {
        code = 0;
        for (int i = 0; i < count && !code; i++)
            code = launch_one(gpu, &l[i], i > 0, bytes > 0 ? arguments : NULL, stream);
    }
    if (code) {
        char names[2 * FUNCTION_NAME + 8];
        snprintf(names, sizeof names, "%s%s%s", l[0].function->name, count > 1 ? " and " : "",
                 count > 1 ? l[1].function->name : "");
        status = vendor_failed(v, gpu, code, CALL_launch, names);
    }
    v->leave(gpu, before);
    return status;
}

heddle_status vendor_launch(struct gpu *gpu, const struct gpu_launch *l, const void *argument, int64_t bytes,
                            void *stream)
{
    const heddle_status status = launchable(gpu, l, bytes);
    return status != HEDDLE_OK || l->grid == 0 ? status : launch_all(gpu, l, 1, argument, bytes, stream);
}

heddle_status vendor_launch_pair(struct gpu *gpu, const struct gpu_launch pair[2], const void *argument,
                                 int64_t bytes, void *stream)
{
    heddle_status status = launchable(gpu, &pair[0], bytes);
    if (status == HEDDLE_OK)
        status = launchable(gpu, &pair[1], bytes);
    return status != HEDDLE_OK ? status : launch_all(gpu, pair, 2, argument, bytes, stream);
}

/* The first wakes the device, and is not counted. */
heddle_status vendor_launches_ms(struct gpu *gpu, double *ms, struct gpu_function *function,
                                 const void *argument, int count, void *stream)
{
    void *arguments[] = {(void *)(uintptr_t)argument}, *before;
    const unsigned wave = (unsigned)gpu->head.info.wave;
    heddle_status status = enter(gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    double begin = 0;
    int code = 0;
    for (int i = 0; i <= count && !code; i++) {
        begin = i == 1 ? now_ms() : begin;
        code = gpu->vendor->call.launch(function->handle, 1, 1, 1, wave, 1, 1, 0, stream, arguments, NULL);
    }
    *ms = now_ms() - begin;
    if (code)
        status = vendor_failed(gpu->vendor, gpu, code, CALL_launch, function->name);
    gpu->vendor->leave(gpu, before);
    return status;
}

heddle_status vendor_sync(struct gpu *gpu, void *stream)
{
    RETURN_CALL(gpu, sync, NULL, stream);
}

heddle_status vendor_event_new(struct gpu *gpu, struct gpu_event **event)
{
    *event = NULL;
    RETURN_CALL(gpu, event_new, NULL, (void **)event, 0);
}

void vendor_event_free(struct gpu *gpu, struct gpu_event *event)
{
    GIVE_BACK(gpu, event_free, event);
}

heddle_status vendor_event_record(struct gpu *gpu, struct gpu_event *event, void *stream)
{
    RETURN_CALL(gpu, event_record, NULL, event, stream);
}

static heddle_status event_wait(struct gpu *gpu, struct gpu_event *event)
{
    RETURN_CALL(gpu, event_sync, NULL, event);
}

static heddle_status event_between(struct gpu *gpu, float *ms, struct gpu_event *from, struct gpu_event *to)
{
    RETURN_CALL(gpu, event_ms, NULL, ms, from, to);
}

heddle_status vendor_event_ms(struct gpu *gpu, double *ms, struct gpu_event *from, struct gpu_event *to)
{
    float passed = 0;
    heddle_status status = event_wait(gpu, to);
    if (status == HEDDLE_OK)
        status = event_between(gpu, &passed, from, to);
    *ms = (double)passed;
    return status;
}

heddle_status vendor_stream_wait(struct gpu *gpu, void *stream, struct gpu_event *event)
{
    RETURN_CALL(gpu, stream_wait, NULL, stream, event, 0);
}

/* The default stream cannot even be asked while one that it waits for is captured: then nothing may be
 * given to it either. */
int vendor_capturing(struct gpu *gpu, void *stream)
{
    void *before;
    int status = 0;
    if (gpu->lost || gpu->vendor->enter(gpu, &before) != 0)
        return 0;
    int code = gpu->vendor->capturing(stream, &status);
    if (code && gpu->vendor->forget_error)
        gpu->vendor->forget_error();
    gpu->vendor->leave(gpu, before);
    return code != 0 || status != 0;
}
