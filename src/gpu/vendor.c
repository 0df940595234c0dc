/* SPDX-License-Identifier: MIT
 *
 * vendor.c: a vendor's library is found, its driver initialised, its devices described, its errors put
 * into words. */
#include "gpu/vendor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    int code;
    heddle_status status;
    int lost;
    const char *text;
} errors[] = {
#define ERROR(code, status, lost, text) {code, status, lost, text},
#include "gpu/errors.def"
#undef ERROR
};

heddle_status vendor_failed(struct vendor *v, struct gpu *gpu, int code, enum vendor_call call,
                            const char *what)
{
    const char *text = "the device failed";
    heddle_status status = HEDDLE_DEVICE_ERROR;
    int lost = 0;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code) {
            text = errors[i].text;
            status = errors[i].status;
            lost = errors[i].lost;
        }
    if (gpu && lost)
        gpu->lost = code;
    fail(status, "%s: %s (%s%s%s: %s)", v->name, text, v->call_names[call], what ? " of " : "",
         what ? what : "", v->error_name(code));
    if (v->forget_error)
        v->forget_error();
    return status;
}

/* The library that the process already uses, whatever its version, so that pointers and streams mean the
 * same there and here; else the best that is installed. */
static void *open_library(const char *path, const char *const *files)
{
    if (path)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *library = NULL;
    for (int i = 0; files[i] && !library; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (int i = 0; files[i] && !library; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static heddle_status find_symbols(struct vendor *v, void *library)
{
    for (const struct vendor_symbol *s = v->symbols; s->name; s++) {
        void *address = dlsym(library, s->name);
        if (!address && !s->optional)
            return fail(HEDDLE_NO_DEVICE, "%s: the driver has no %s: it is too old, %s is needed", v->name,
                        s->name, v->oldest_text);
        /* POSIX: a function pointer has the representation of void * */
        memcpy(s->slot, &address, sizeof address);
    }
    return HEDDLE_OK;
}

static heddle_status start(struct vendor *v)
{
    int version = 0;
    int code = v->call.version(&version);
    if (code)
        return vendor_failed(v, NULL, code, CALL_version, NULL);
    if (version < v->oldest)
        return fail(HEDDLE_NO_DEVICE, "%s: the driver is too old (its version is %d): %s is needed", v->name,
                    version, v->oldest_text);
    code = v->call.init(0);
    if (code) {
        vendor_failed(v, NULL, code, CALL_init, NULL);
        return HEDDLE_NO_DEVICE;
    }
    return HEDDLE_OK;
}

/* A library that does not start stays open: drivers do not take it well to be unloaded. */
static heddle_status open_vendor(struct vendor *v, const char *path)
{
    if (path && !*path)
        return fail(HEDDLE_NO_DEVICE, "%s: hidden by an empty %s", v->name, v->variable);
    void *library = open_library(path, v->files);
    if (!library)
        return path ? fail(HEDDLE_NO_DEVICE, "%s: %s=%s cannot be opened: %s", v->name, v->variable, path,
                           dlerror())
                    : fail(HEDDLE_NO_DEVICE, "%s: %s is not on this machine", v->name, v->files[0]);
    heddle_status status = find_symbols(v, library);
    if (status != HEDDLE_OK)
        dlclose(library);
    else
        status = start(v);
    if (status == HEDDLE_OK)
        v->library = library;
    return status;
}

/* A failure is kept: asking again what devices there are must not search the disk or start a driver again. */
heddle_status vendor_ready(struct vendor *v)
{
    heddle_status status = HEDDLE_OK;
    const char *path = environment(v->variable), *tried = path ? path : v->files[0];
    pthread_mutex_lock(&opening);
    if (!v->library && v->why[0] && strncmp(v->tried, tried, sizeof v->tried - 1) == 0)
        status = fail(HEDDLE_NO_DEVICE, "%s", v->why);
    else if (!v->library) {
        status = open_vendor(v, path);
        snprintf(v->tried, sizeof v->tried, "%s", tried);
        snprintf(v->why, sizeof v->why, "%.*s", (int)sizeof v->why - 1,
                 status != HEDDLE_OK ? heddle_last_error() : "");
    }
    pthread_mutex_unlock(&opening);
    return status;
}

heddle_status vendor_count(struct vendor *v, int *count)
{
    *count = 0;
    heddle_status status = vendor_ready(v);
    if (status != HEDDLE_OK)
        return status;
    int code = v->call.count(count);
    if (code) {
        *count = 0;
        return vendor_failed(v, NULL, code, CALL_count, NULL);
    }
    return HEDDLE_OK;
}

static int describe(struct vendor *v, struct gpu_info *info, int device)
{
    enum { WAVE, UNITS, THREADS, SHARED, GRID, CACHE, ATTRIBUTES };
    const int number[ATTRIBUTES] = {v->attribute.wave,
                                    v->attribute.multiprocessors,
                                    v->attribute.threads_per_block,
                                    v->attribute.shared_per_block,
                                    v->attribute.grid,
                                    v->attribute.cache};
    int value[ATTRIBUTES] = {0};
    size_t memory = 0;
    int code = v->call.device_name(info->name, (int)sizeof info->name, device);
    if (!code)
        code = v->call.device_memory(&memory, device);
    for (int i = 0; i < ATTRIBUTES && !code; i++)
        code = v->call.attribute(&value[i], number[i], device);
    if (!code)
        code = v->arch(info->arch, device);
    info->wave = value[WAVE];
    info->multiprocessors = value[UNITS];
    info->threads_per_block = value[THREADS];
    info->shared_per_block = value[SHARED];
    info->grid = value[GRID];
    info->grid_threads = GRID_THREADS;
    info->cache = value[CACHE];
    info->memory = (int64_t)memory;
    return code;
}

static heddle_status find_device(struct vendor *v, int *device, int number)
{
    int count;
    heddle_status status = vendor_count(v, &count);
    if (status != HEDDLE_OK)
        return status;
    if (number < 0 || number >= count)
        return fail(HEDDLE_NO_DEVICE, "there is no %s:%d: this machine has %d such device%s", v->name, number,
                    count, count == 1 ? "" : "s");
    int code = v->call.device(device, number);
    return code ? vendor_failed(v, NULL, code, CALL_device, NULL) : HEDDLE_OK;
}

heddle_status vendor_describe(struct vendor *v, struct gpu_info *info, int number)
{
    int device = 0;
    *info = (struct gpu_info){0};
    heddle_status status = find_device(v, &device, number);
    if (status != HEDDLE_OK)
        return status;
    int code = describe(v, info, device);
    return code ? vendor_failed(v, NULL, code, CALL_attribute, NULL) : HEDDLE_OK;
}
