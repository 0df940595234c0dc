/* SPDX-License-Identifier: MIT
 *
 * fake_hip.c: libamdhip64.so without a device.  With HAVE_HIP_H the real header checks every prototype
 * below.  The version of the library is 6; FAKE_OLD makes it 5, with the older layout of properties, and
 * FAKE_BROKEN leaves a symbol out. */
#include "fake.h"

#ifdef HAVE_HIP_H
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#undef hipGetDeviceProperties
#else
typedef int hipError_t, hipDevice_t, hipDeviceAttribute_t, hipPointer_attribute, hipJitOption, hipMemcpyKind,
    hipStreamCaptureStatus;
typedef void *hipDeviceptr_t;
typedef struct module *hipModule_t;
typedef struct function *hipFunction_t;
typedef struct stream *hipStream_t;
typedef struct event *hipEvent_t;
typedef struct properties hipDeviceProp_t;
#endif

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) hipError_t

const struct fake_device fake_device = {"Fake MI300X", "gfx942"};

static const struct {
    int number, value;
} attributes[] = {{56, 1024}, {29, 2147483647}, {87, 64}, {63, 304}, {19, 4194304}, {74, 65536}};

static _Thread_local int current;

EXPORT hipDriverGetVersion(int *version)
{
    ENTER(hipDriverGetVersion);
    *version = (int)fake_number("FAKE_VERSION", 60240092);
    return 0;
}
EXPORT hipInit(unsigned flags)
{
    ENTER(hipInit);
    return (hipError_t)(flags ? 1 : 0);
}
EXPORT hipGetDeviceCount(int *count)
{
    ENTER(hipGetDeviceCount);
    *count = (int)fake_number("FAKE_DEVICES", 2);
    return 0;
}
EXPORT hipDeviceGet(hipDevice_t *device, int number)
{
    ENTER(hipDeviceGet);
    *device = number;
    return 0;
}
EXPORT hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    ENTER(hipDeviceGetName);
    snprintf(name, (size_t)size, "%s %d", fake_device.name, device);
    return 0;
}
EXPORT hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    ENTER(hipDeviceTotalMem);
    (void)device;
    *bytes = (size_t)fake_number("FAKE_MEMORY", 1000000000);
    return 0;
}
EXPORT hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
    ENTER(hipDeviceGetAttribute);
    (void)device;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].number == (int)attribute) {
            *value = attributes[i].value;
            return 0;
        }
    return (hipError_t)1;
}

/* Sizes and offsets are those of the real structures; whoever reads a version with the layout of the other
 * finds nothing. */
static void properties(void *into, size_t size, size_t arch)
{
    memset(into, 0, size);
    snprintf(into, 256, "%s", fake_device.name);
    snprintf((char *)into + arch, 256, "%s:sramecc+:xnack-", fake_device.arch);
}
#ifdef FAKE_OLD
EXPORT hipGetDeviceProperties(hipDeviceProp_t *into, int device)
{
    ENTER(hipGetDeviceProperties);
    (void)device;
    properties(into, 792, 396);
    return 0;
}
#else
EXPORT hipGetDevicePropertiesR0600(void *into, int device);
EXPORT hipGetDevicePropertiesR0600(void *into, int device)
{
    ENTER(hipGetDevicePropertiesR0600);
    (void)device;
    properties(into, 1472, 1160);
    return 0;
}
#endif

EXPORT hipGetDevice(int *device)
{
    ENTER(hipGetDevice);
    *device = current;
    return 0;
}
EXPORT hipSetDevice(int device)
{
    LOCKED;
    fake_state()->depth = current = device; /* works on a lost device too */
    fake_state()->switches++;
    return 0;
}

EXPORT hipMemGetInfo(size_t *left, size_t *all)
{
    ENTER(hipMemGetInfo);
    return (hipError_t)fake_memory_left(left, all);
}
EXPORT hipMalloc(void **p, size_t bytes)
{
    ENTER(hipMalloc);
    return (hipError_t)fake_alloc(p, bytes);
}
EXPORT hipFree(void *p)
{
    ENTER(hipFree);
    return (hipError_t)fake_release(p);
}
EXPORT hipHostMalloc(void **p, size_t bytes, unsigned flags)
{
    ENTER(hipHostMalloc);
    return (hipError_t)(flags == 1 ? fake_pinned(p, bytes) : 1);
}
EXPORT hipHostFree(void *p)
{
    ENTER(hipHostFree);
    return (hipError_t)fake_release_pinned(p);
}
EXPORT hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream)
{
    ENTER(hipMemcpyAsync);
    (void)stream;
    return (hipError_t)(kind == 4 ? fake_copy(to, from, bytes) : 21);
}
EXPORT hipMemsetAsync(void *p, int byte, size_t bytes, hipStream_t stream)
{
    ENTER(hipMemsetAsync);
    (void)stream;
    return (hipError_t)fake_fill(p, byte, bytes);
}
EXPORT hipPointerGetAttribute(void *value, hipPointer_attribute attribute, hipDeviceptr_t p)
{
    ENTER(hipPointerGetAttribute);
    return (hipError_t)fake_pointer(value, (int)attribute, p);
}

EXPORT hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned count, hipJitOption *options,
                           void **values)
{
    ENTER(hipModuleLoadDataEx);
    return (hipError_t)fake_load((void **)module, image, count, (const int *)options, values);
}
EXPORT hipModuleUnload(hipModule_t module)
{
    ENTER(hipModuleUnload);
    return (hipError_t)fake_unload(module);
}
EXPORT hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
    ENTER(hipModuleGetFunction);
    return (hipError_t)fake_find((void **)function, module, name);
}
EXPORT hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                             hipStream_t stream, void **arguments, void **extra)
{
    const unsigned size[3] = {grid_x, block_x, shared};
    ENTER(hipModuleLaunchKernel);
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || extra)
        return (hipError_t)1;
    return (hipError_t)fake_launch(function, size, stream, arguments);
}

EXPORT hipStreamSynchronize(hipStream_t stream)
{
    ENTER(hipStreamSynchronize);
    (void)stream;
    return 0;
}
EXPORT hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    ENTER(hipEventCreateWithFlags);
    (void)flags;
    return (hipError_t)fake_event_new((void **)event);
}
EXPORT hipEventDestroy(hipEvent_t event)
{
    ENTER(hipEventDestroy);
    return (hipError_t)fake_event_free(event);
}
EXPORT hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    ENTER(hipEventRecord);
    return (hipError_t)fake_event_record(event, stream);
}
EXPORT hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    ENTER(hipStreamWaitEvent);
    return (hipError_t)(flags ? 1 : fake_stream_wait(stream, event));
}
EXPORT hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
    ENTER(hipStreamIsCapturing);
    *status = (hipStreamCaptureStatus)fake_capturing(stream);
    return 0;
}
EXPORT hipEventSynchronize(hipEvent_t event)
{
    ENTER(hipEventSynchronize);
    (void)event;
    return 0;
}
#ifndef FAKE_BROKEN
EXPORT hipEventElapsedTime(float *ms, hipEvent_t from, hipEvent_t to)
{
    ENTER(hipEventElapsedTime);
    (void)from, (void)to;
    *ms = 1.5f;
    return 0;
}
#endif

EXPORT hipGetLastError(void)
{
    LOCKED;
    int code = fake_state()->last_error;
    fake_state()->last_error = 0;
    return (hipError_t)code;
}
__attribute__((visibility("default"))) const char *hipGetErrorName(hipError_t code)
{
    static _Thread_local char text[32];
    snprintf(text, sizeof text, "hipError%d", (int)code);
    return text;
}
