/* SPDX-License-Identifier: MIT
 *
 * hip: AMD GPUs through libamdhip64.so, the runtime of ROCm.  Everything that is like CUDA is in calls.def
 * and vendor.c. */
#include <stdio.h>
#include <string.h>

#include "gpu/vendor.h"

enum { COPY_DEFAULT = 4 }; /* hipMemcpyDefault: the runtime sees from the pointers which way it goes */

/* What HIP alone has: ROW(member, result, arguments, symbol, may it be missing).  A property structure is
 * versioned by the name of the function that fills it. */
#define OWN_CALLS(ROW)                                                                                       \
    ROW(current, int, (int *device), hipGetDevice, 0)                                                        \
    ROW(use, int, (int device), hipSetDevice, 0)                                                             \
    ROW(copy, int, (void *to, const void *from, size_t bytes, int kind, void *stream), hipMemcpyAsync, 0)    \
    ROW(fill, int, (void *p, int byte, size_t bytes, void *stream), hipMemsetAsync, 0)                       \
    ROW(pointer, int, (void *value, int attribute, void *p), hipPointerGetAttribute, 0)                      \
    ROW(error_name, const char *, (int code), hipGetErrorName, 0)                                            \
    ROW(last_error, int, (void), hipGetLastError, 0)                                                         \
    ROW(is_capturing, int, (void *stream, int *status), hipStreamIsCapturing, 1)                             \
    ROW(properties_6, int, (void *properties, int device), hipGetDevicePropertiesR0600, 1)                   \
    ROW(properties_5, int, (void *properties, int device), hipGetDeviceProperties, 1)

static struct {
#define ROW(member, result, arguments, symbol, optional) result(*member) arguments;
    OWN_CALLS(ROW)
#undef ROW
} own;

static int copy(void *to, const void *from, size_t bytes, void *stream)
{
    return own.copy(to, from, bytes, COPY_DEFAULT, stream);
}

static int pointer(void *value, int attribute, const void *p)
{
    return own.pointer(value, attribute, (void *)(uintptr_t)p);
}

static int fill(void *p, int byte, size_t bytes, void *stream)
{
    return own.fill(p, byte, bytes, stream);
}

static int capturing(void *stream, int *status)
{
    return own.is_capturing ? own.is_capturing(stream, status) : 0;
}

/* The properties are the only place that tells the architecture ("gfx90a:sramecc+:xnack-"), and their
 * layout changes between versions of ROCm.  All begin with a name of 256 bytes and have the architecture
 * as text further on, so it is searched for, in room enough for any version. */
#define PROPERTIES_ROOM 8192
#define PROPERTIES_NAME 256

static int arch(char text[16], int device)
{
    _Alignas(16) char properties[PROPERTIES_ROOM];
    memset(properties, 0, sizeof properties);
    snprintf(text, 16, "gfx?");
    int (*tell)(void *, int) = own.properties_6 ? own.properties_6 : own.properties_5;
    int code = tell ? tell(properties, device) : 0;
    if (code)
        return code;
    for (const char *p = properties + PROPERTIES_NAME; p < properties + sizeof properties - 16; p++)
        if (memcmp(p, "gfx", 3) == 0) {
            size_t size = strspn(p + 3, "0123456789abcdef");
            snprintf(text, 16, "gfx%.*s", (int)(size < 12 ? size : 12), p + 3);
            break;
        }
    return 0;
}

/* A device number is all the context that HIP needs: its primary context comes to life with the first
 * call. */
static int attach(struct gpu *gpu)
{
    (void)gpu;
    return 0;
}

static void detach(struct gpu *gpu)
{
    (void)gpu;
}

/* `before` is 1 + the number of the caller's device, or NULL when nothing was changed. */
static int enter(struct gpu *gpu, void **before)
{
    int current = 0;
    *before = NULL;
    int code = own.current(&current);
    if (!code && current != gpu->device) {
        code = own.use(gpu->device);
        *before = code ? NULL : (void *)((intptr_t)current + 1);
    }
    return code;
}

static void leave(struct gpu *gpu, void *before)
{
    (void)gpu;
    if (before)
        own.use((int)((intptr_t)before - 1));
}

static const char *error_name(int code)
{
    const char *name = own.error_name(code);
    return name ? name : "unknown to the driver";
}

/* The runtime keeps the last error per thread; the program's own hipGetLastError must not find one of
 * Heddle's. */
static void forget_error(void)
{
    own.last_error();
}

static struct vendor hip;

static const char *const call_names[VENDOR_CALLS] = {
#define CALL(member, arguments, cuda_symbol, hip_symbol) [CALL_##member] = #hip_symbol,
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
};

static const struct vendor_symbol symbols[] = {
#define CALL(member, arguments, cuda_symbol, hip_symbol) {#hip_symbol, &hip.call.member, 0},
#define ADAPTED(member, arguments, cuda_symbol, hip_symbol)
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
#define ROW(member, result, arguments, symbol, optional) {#symbol, &own.member, optional},
    OWN_CALLS(ROW)
#undef ROW
        {NULL, NULL, 0}};

static const char *const files[] = {"libamdhip64.so.7",
                                    "libamdhip64.so.6",
                                    "libamdhip64.so.5",
                                    "libamdhip64.so",
                                    "/opt/rocm/lib/libamdhip64.so",
                                    NULL};

static struct vendor hip = {
    .name = "hip",
    .variable = "HEDDLE_HIP_LIBRARY",
    .files = files,
    .oldest = 50000000,
    .oldest_text = "ROCm 5.0",
    .call_names = call_names,
    .symbols = symbols,
    .attribute = {.wave = 87,
                  .multiprocessors = 63,
                  .threads_per_block = 56,
                  .shared_per_block = 74,
                  .grid = 29,
                  .cache = 19},
    .arch = arch,
    .attach = attach,
    .detach = detach,
    .enter = enter,
    .leave = leave,
    .capturing = capturing,
    .error_name = error_name,
    .forget_error = forget_error,
    .call = {.copy = copy, .fill = fill, .pointer = pointer},
};

static heddle_status count(int *n)
{
    return vendor_count(&hip, n);
}

static heddle_status describe(struct gpu_info *info, int number)
{
    return vendor_describe(&hip, info, number);
}

static heddle_status open_device(struct gpu **gpu, int number, struct spec *options)
{
    return vendor_open(&hip, &hip_driver, gpu, number, options);
}

const struct gpu_driver hip_driver = {
    .name = "hip", .count = count, .describe = describe, .open = open_device, VENDOR_FUNCTIONS};
