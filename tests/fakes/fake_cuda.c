/* SPDX-License-Identifier: MIT
 *
 * fake_cuda.c: libcuda.so.1 without a device.  With HAVE_CUDA_H the real header checks every prototype
 * below. */
#include "fake.h"

#ifdef HAVE_CUDA_H
/* Plain names stay plain: the versions are written out here as in calls.def. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#else
typedef int CUresult, CUdevice, CUdevice_attribute, CUpointer_attribute, CUjit_option, CUfunction_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct {
    int id;
    char pad[4];
    union {
        char pad[64];
        int programmaticStreamSerializationAllowed;
    } value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
typedef struct graph *CUgraph;
typedef struct graph_exec *CUgraphExec;
typedef struct graph_node *CUgraphNode;
typedef int CUstreamCaptureStatus;
typedef struct {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    void *kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;
#endif

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"))) CUresult
#define INVALID_CONTEXT 201

const struct fake_device fake_device = {"Fake H200", "sm_90"};

static const struct {
    int number, value;
} attributes[] = {{1, 1024},      {5, 2147483647}, {10, 32}, {16, 132},
                  {38, 62914560}, {75, 9},         {76, 0},  {97, 232448}};

static char contexts[8];
static _Thread_local CUcontext stack[8];
static _Thread_local int depth;

/* Most calls need a context to be current. */
#define ENTER_IN_CONTEXT(symbol)                                                                             \
    ENTER(symbol);                                                                                           \
    do {                                                                                                     \
        if (depth == 0 || !stack[depth - 1])                                                                 \
            return (CUresult)INVALID_CONTEXT;                                                                \
    } while (0)

EXPORT cuDriverGetVersion(int *version)
{
    ENTER(cuDriverGetVersion);
    *version = (int)fake_number("FAKE_VERSION", 13000);
    return 0;
}
EXPORT cuInit(unsigned flags)
{
    ENTER(cuInit);
    return (CUresult)(flags ? 1 : 0);
}
EXPORT cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    *count = (int)fake_number("FAKE_DEVICES", 2);
    return 0;
}
EXPORT cuDeviceGet(CUdevice *device, int number)
{
    ENTER(cuDeviceGet);
    *device = number;
    return 0;
}
EXPORT cuDeviceGetPCIBusId(char *bus, int size, CUdevice device)
{
    ENTER(cuDeviceGetPCIBusId);
    snprintf(bus, (size_t)size, "0000:%02x:00.0", device + 1);
    return 0;
}
EXPORT cuDeviceGetName(char *name, int size, CUdevice device)
{
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)size, "%s %d", fake_device.name, device);
    return 0;
}
EXPORT cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER(cuDeviceTotalMem_v2);
    (void)device;
    *bytes = (size_t)fake_number("FAKE_MEMORY", 1000000000);
    return 0;
}
EXPORT cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    ENTER(cuDeviceGetAttribute);
    (void)device;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].number == (int)attribute) {
            *value = attributes[i].value;
            return 0;
        }
    return (CUresult)1;
}

EXPORT cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    *context = (CUcontext)&contexts[device];
    fake_state()->contexts++;
    return 0;
}
EXPORT cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    (void)device;
    LOCKED;
    fake_state()->contexts--; /* a lost device is let go of like any other */
    PRESCRIBED(cuDevicePrimaryCtxRelease_v2);
    return 0;
}
EXPORT cuCtxGetCurrent(CUcontext *context)
{
    ENTER(cuCtxGetCurrent);
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return 0;
}
EXPORT cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER(cuCtxPushCurrent_v2);
    if (!context || depth == 8)
        return (CUresult)INVALID_CONTEXT;
    stack[depth++] = context;
    fake_state()->depth = depth;
    fake_state()->switches++;
    return 0;
}
EXPORT cuCtxPopCurrent_v2(CUcontext *context)
{
    LOCKED;
    if (depth == 0)
        return (CUresult)INVALID_CONTEXT;
    *context = stack[--depth]; /* works on a lost device too */
    fake_state()->depth = depth;
    return 0;
}

EXPORT cuMemGetInfo_v2(size_t *left, size_t *all)
{
    ENTER_IN_CONTEXT(cuMemGetInfo_v2);
    return (CUresult)fake_memory_left(left, all);
}
EXPORT cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
    ENTER_IN_CONTEXT(cuMemAlloc_v2);
    return (CUresult)fake_alloc((void **)p, bytes);
}
EXPORT cuMemFree_v2(CUdeviceptr p)
{
    ENTER_IN_CONTEXT(cuMemFree_v2);
    return (CUresult)fake_release((void *)(uintptr_t)p);
}
EXPORT cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    ENTER_IN_CONTEXT(cuMemHostAlloc);
    return (CUresult)(flags == 1 ? fake_pinned(p, bytes) : 1);
}
EXPORT cuMemFreeHost(void *p)
{
    ENTER_IN_CONTEXT(cuMemFreeHost);
    return (CUresult)fake_release_pinned(p);
}
EXPORT cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER_IN_CONTEXT(cuMemcpyAsync);
    (void)stream;
    return (CUresult)fake_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}
EXPORT cuMemsetD8Async(CUdeviceptr p, unsigned char byte, size_t bytes, CUstream stream)
{
    ENTER_IN_CONTEXT(cuMemsetD8Async);
    (void)stream;
    return (CUresult)fake_fill((void *)(uintptr_t)p, byte, bytes);
}
EXPORT cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr p)
{
    ENTER_IN_CONTEXT(cuPointerGetAttributes);
    for (unsigned i = 0; i < count; i++) /* unknown memory is no error: the answer is NULL */
        if (fake_pointer(values[i], (int)attributes[i], (const void *)(uintptr_t)p) != 0)
            memset(values[i], 0, sizeof(void *));
    return 0;
}

EXPORT cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                          void **values)
{
    usleep((useconds_t)fake_number("FAKE_LOADING", 0)); /* others may come meanwhile */
    ENTER_IN_CONTEXT(cuModuleLoadDataEx);
    return (CUresult)fake_load((void **)module, image, count, (const int *)options, values);
}
EXPORT cuModuleUnload(CUmodule module)
{
    ENTER_IN_CONTEXT(cuModuleUnload);
    return (CUresult)fake_unload(module);
}
EXPORT cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER_IN_CONTEXT(cuModuleGetFunction);
    return (CUresult)fake_find((void **)function, module, name);
}
EXPORT cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    ENTER_IN_CONTEXT(cuFuncGetAttribute);
    (void)function;
    *value = attribute == 1 ? 1024 : (int)fake_number("FAKE_COMPILED_FOR", 90);
    return (CUresult)(attribute == 1 || attribute == 5 ? 0 : 1);
}
/* A kernel of 1024 static bytes may have the rest and no more. */
EXPORT cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    ENTER_IN_CONTEXT(cuFuncSetAttribute);
    (void)function;
    return (CUresult)(attribute == 8 && value == 232448 - 1024 ? 0 : 1);
}
EXPORT cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
                      void **arguments, void **extra)
{
    const unsigned size[3] = {grid_x, block_x, shared};
    ENTER_IN_CONTEXT(cuLaunchKernel);
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || extra)
        return (CUresult)1;
    return (CUresult)fake_launch(function, size, stream, arguments);
}

/* For a kernel that may come to the device early, and for nothing else. */
EXPORT cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
    const unsigned size[3] = {c->gridDimX, c->blockDimX, c->sharedMemBytes};
    ENTER_IN_CONTEXT(cuLaunchKernelEx);
    if (c->gridDimY != 1 || c->gridDimZ != 1 || c->blockDimY != 1 || c->blockDimZ != 1 || extra ||
        c->numAttrs != 1 || c->attrs->id != 6 || c->attrs->value.programmaticStreamSerializationAllowed != 1)
        return (CUresult)1;
    fake_state()->launch.early++;
    return (CUresult)fake_launch(function, size, c->hStream, arguments);
}

/* Graphs of up to two kernels, which is all that anybody makes; a graph's exec and its nodes are the graph
 * itself and parts of it. */
struct fake_node {
    CUfunction function;
    unsigned size[3];
    int64_t argument; /* its first eight bytes */
};

#define GRAPHS 64 /* of all devices that are open at once */
static struct fake_graph {
    struct fake_node node[2];
    int nodes, edges, early, alive;
} all_graphs[GRAPHS];

static int tell(struct fake_node *n, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    if (p->gridDimY != 1 || p->gridDimZ != 1 || p->blockDimY != 1 || p->blockDimZ != 1 || p->extra ||
        !p->func || p->gridDimX == 0)
        return 1;
    n->function = p->func;
    n->size[0] = p->gridDimX;
    n->size[1] = p->blockDimX;
    n->size[2] = p->sharedMemBytes;
    memcpy(&n->argument, p->kernelParams[0], sizeof n->argument);
    return 0;
}

EXPORT cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    ENTER_IN_CONTEXT(cuStreamIsCapturing);
    *status = (CUstreamCaptureStatus)fake_capturing(stream);
    return 0;
}
EXPORT cuGraphCreate(CUgraph *graph, unsigned flags)
{
    ENTER_IN_CONTEXT(cuGraphCreate);
    struct fake_graph *g = all_graphs;
    while (g < all_graphs + GRAPHS && g->alive)
        g++;
    if (flags || g == all_graphs + GRAPHS)
        return (CUresult)1;
    *g = (struct fake_graph){.alive = 1};
    *graph = (CUgraph)g;
    fake_state()->graphs++;
    return 0;
}
EXPORT cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t count,
                               const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    ENTER_IN_CONTEXT(cuGraphAddKernelNode_v2);
    struct fake_graph *g = (struct fake_graph *)graph;
    if (behind || count || g->nodes == 2)
        return (CUresult)1;
    *node = (CUgraphNode)&g->node[g->nodes++];
    return (CUresult)tell((struct fake_node *)*node, params);
}
EXPORT cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                 const CUgraphEdgeData *edge, size_t count)
{
    ENTER_IN_CONTEXT(cuGraphAddDependencies_v2);
    struct fake_graph *g = (struct fake_graph *)graph;
    if (count != 1 || (void *)*from != &g->node[0] || (void *)*to != &g->node[1] ||
        (edge && (edge->from_port != 1 || edge->to_port != 0 || edge->type != 1)))
        return (CUresult)1;
    g->edges++;
    g->early = edge != NULL;
    return 0;
}
EXPORT cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    ENTER_IN_CONTEXT(cuGraphInstantiateWithFlags);
    struct fake_graph *g = (struct fake_graph *)graph;
    if (flags || g->nodes < 1 || g->edges != g->nodes - 1)
        return (CUresult)1;
    *exec = (CUgraphExec)g;
    fake_state()->graphs++;
    return 0;
}
EXPORT cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                         const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    ENTER_IN_CONTEXT(cuGraphExecKernelNodeSetParams_v2);
    (void)exec;
    fake_state()->launch.told++;
    return (CUresult)tell((struct fake_node *)node, params);
}
EXPORT cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    ENTER_IN_CONTEXT(cuGraphLaunch);
    struct fake_graph *g = (struct fake_graph *)exec;
    for (int i = 0; i < g->nodes; i++) {
        void *arguments[] = {&g->node[i].argument};
        fake_launch(g->node[i].function, g->node[i].size, stream, arguments);
    }
    fake_state()->launch.early += g->early;
    fake_state()->launch.in_graphs += g->nodes;
    return (CUresult)(fake_number("FAKE_CAPTURING", 0) ? 900 : 0);
}
EXPORT cuGraphExecDestroy(CUgraphExec exec)
{
    ENTER_IN_CONTEXT(cuGraphExecDestroy);
    fake_state()->graphs--;
    return (CUresult)(exec ? 0 : 1);
}
EXPORT cuGraphDestroy(CUgraph graph)
{
    ENTER_IN_CONTEXT(cuGraphDestroy);
    fake_state()->graphs--;
    ((struct fake_graph *)graph)->alive = 0;
    return 0;
}

EXPORT cuFuncLoad(CUfunction function)
{
    ENTER_IN_CONTEXT(cuFuncLoad);
    return (CUresult)(function ? 0 : 1);
}

EXPORT cuStreamSynchronize(CUstream stream)
{
    ENTER_IN_CONTEXT(cuStreamSynchronize);
    (void)stream;
    return 0;
}
EXPORT cuEventCreate(CUevent *event, unsigned flags)
{
    ENTER_IN_CONTEXT(cuEventCreate);
    (void)flags;
    return (CUresult)fake_event_new((void **)event);
}
EXPORT cuEventDestroy_v2(CUevent event)
{
    ENTER_IN_CONTEXT(cuEventDestroy_v2);
    return (CUresult)fake_event_free(event);
}
EXPORT cuEventRecord(CUevent event, CUstream stream)
{
    ENTER_IN_CONTEXT(cuEventRecord);
    return (CUresult)fake_event_record(event, stream);
}
EXPORT cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    ENTER_IN_CONTEXT(cuStreamWaitEvent);
    return (CUresult)(flags ? 1 : fake_stream_wait(stream, event));
}
EXPORT cuEventSynchronize(CUevent event)
{
    ENTER_IN_CONTEXT(cuEventSynchronize);
    (void)event;
    return 0;
}
#ifndef FAKE_BROKEN
EXPORT cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    ENTER_IN_CONTEXT(cuEventElapsedTime);
    (void)from, (void)to;
    *ms = 1.5f;
    return 0;
}
#endif

EXPORT cuGetErrorName(CUresult code, const char **name)
{
    static _Thread_local char text[32];
    snprintf(text, sizeof text, "CUDA_ERROR_%d", (int)code);
    *name = text;
    return (CUresult)(code == 12345 ? 1 : 0);
}
