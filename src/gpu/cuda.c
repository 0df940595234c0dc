/* SPDX-License-Identifier: MIT
 *
 * cuda: NVIDIA GPUs through libcuda.so.1, the driver that comes with the kernel module; no toolkit is
 * needed.  Everything that is like HIP is in calls.def and vendor.c. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/vendor.h"

enum {
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    SHARED_PER_BLOCK_OPTIN = 97, /* what a kernel can get when it asks; 48 KB is what it gets when it does
                                  * not */
    FUNCTION_SHARED_BYTES = 1,   /* CUfunction_attribute: static shared memory */
    FUNCTION_PTX_VERSION = 5,    /* CUfunction_attribute: 90 for compute_90 */
    FUNCTION_MOST_DYNAMIC = 8, /* CUfunction_attribute: the dynamic shared memory that launches may ask for */
};

/* What CUDA alone has: ROW(member, result, arguments, symbol). */
#define OWN_CALLS(ROW)                                                                                       \
    ROW(retain, int, (void **context, int device), cuDevicePrimaryCtxRetain)                                 \
    ROW(drop, int, (int device), cuDevicePrimaryCtxRelease_v2)                                               \
    ROW(current, int, (void **context), cuCtxGetCurrent)                                                     \
    ROW(push, int, (void *context), cuCtxPushCurrent_v2)                                                     \
    ROW(pop, int, (void **context), cuCtxPopCurrent_v2)                                                      \
    ROW(copy, int, (uint64_t to, uint64_t from, size_t bytes, void *stream), cuMemcpyAsync)                  \
    ROW(fill, int, (uint64_t p, unsigned char byte, size_t bytes, void *stream), cuMemsetD8Async)            \
    ROW(pointer, int, (unsigned count, int *attributes, void **values, uint64_t p), cuPointerGetAttributes)  \
    ROW(function_get, int, (int *value, int attribute, void *function), cuFuncGetAttribute)                  \
    ROW(function_set, int, (void *function, int attribute, int value), cuFuncSetAttribute)                   \
    ROW(error_name, int, (int code, const char **name), cuGetErrorName)

static struct {
#define ROW(member, result, arguments, symbol) result(*member) arguments;
    OWN_CALLS(ROW)
#undef ROW
} own;

/* CUDA_KERNEL_NODE_PARAMS_v2, CUgraphEdgeData. */
struct node_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
};

struct edge {
    unsigned char from_port, to_port, type, reserved[5];
};

/* Graphs with kernels that come early: since 12.3, all of these or none. */
#define GRAPH_CALLS(ROW)                                                                                     \
    ROW(is_capturing, int, (void *stream, int *status), cuStreamIsCapturing)                                 \
    ROW(create, int, (void **graph, unsigned flags), cuGraphCreate)                                          \
    ROW(add, int,                                                                                            \
        (void **node, void *graph, void *const *behind, size_t count, const struct node_params *params),     \
        cuGraphAddKernelNode_v2)                                                                             \
    ROW(order, int,                                                                                          \
        (void *graph, void *const *from, void *const *to, const struct edge *edge, size_t count),            \
        cuGraphAddDependencies_v2)                                                                           \
    ROW(make, int, (void **exec, void *graph, unsigned long long flags), cuGraphInstantiateWithFlags)        \
    ROW(change, int, (void *exec, void *node, const struct node_params *params),                             \
        cuGraphExecKernelNodeSetParams_v2)                                                                   \
    ROW(launch, int, (void *exec, void *stream), cuGraphLaunch)                                              \
    ROW(free_exec, int, (void *exec), cuGraphExecDestroy)                                                    \
    ROW(free_graph, int, (void *graph), cuGraphDestroy)

static struct {
#define ROW(member, result, arguments, symbol) result(*member) arguments;
    GRAPH_CALLS(ROW)
#undef ROW
} graph;

static struct vendor cuda;
struct launch_config;
/* Since CUDA 11.8. */
static int (*launch_ex)(const struct launch_config *config, void *function, void **arguments, void **extra);
static int (*function_load)(void *function); /* 12.4 */

static int copy(void *to, const void *from, size_t bytes, void *stream)
{
    return own.copy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes, stream);
}

/* Of the two ways to ask, the one for which memory that CUDA has never heard of is an answer (NULL), not
 * an error: errors show up in every tool that watches a program. */
static int pointer(void *value, int attribute, const void *p)
{
    return own.pointer(1, &attribute, &value, (uint64_t)(uintptr_t)p);
}

static int fill(void *p, int byte, size_t bytes, void *stream)
{
    return own.fill((uint64_t)(uintptr_t)p, (unsigned char)byte, bytes, stream);
}

static int arch(char text[16], int device)
{
    int major = 0, minor = 0;
    int code = cuda.call.attribute(&major, COMPUTE_CAPABILITY_MAJOR, device);
    if (!code)
        code = cuda.call.attribute(&minor, COMPUTE_CAPABILITY_MINOR, device);
    snprintf(text, 16, "sm_%d%d", major, minor);
    return code;
}

static int attach(struct gpu *gpu)
{
    return own.retain(&gpu->context, gpu->device);
}

/* Reading the current context is all that it costs a program which has this one current anyway. */
static int enter(struct gpu *gpu, void **before)
{
    void *current = NULL;
    *before = NULL;
    int code = own.current(&current);
    if (!code && current != gpu->context) {
        code = own.push(gpu->context);
        *before = code ? NULL : gpu->context;
    }
    return code;
}

static void leave(struct gpu *gpu, void *before)
{
    void *popped;
    (void)gpu;
    if (before)
        own.pop(&popped);
}

/* CUlaunchAttribute and CUlaunchConfig, as far as they are used here. */
enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6, DEPENDENTS_SINCE = 90 };

struct launch_attribute {
    int id;
    char unused[4];
    union {
        char room[64];
        int allowed;
    } value;
};

struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned count;
};

/* Programmatic dependent launch: the kernel comes to the device while the one before it still runs, and
 * waits there. */
static int launch_early(const struct gpu_launch *l, void *stream, void **arguments)
{
    struct launch_attribute early = {.id = PROGRAMMATIC_STREAM_SERIALIZATION, .value.allowed = 1};
    struct launch_config config = {
        {(unsigned)l->grid, 1, 1}, {(unsigned)l->block, 1, 1}, (unsigned)l->shared, stream, &early, 1};
    return launch_ex(&config, l->function->handle, arguments, NULL);
}

/* Short kernels are launched in graphs of one or two.  On an H200 machine a kernel takes the host 3.6 us; a
 * graph that is the same again 1.6, one that is told anew what its kernel is 2.3, and an idle device then
 * begins 2 us earlier.  A busy device takes 0.2 to 2 us longer to come to a graph than to a kernel: that
 * counts where kernels are long.
 *
 * Several graphs of one kernel are kept, for those who multiply in turn: the one that was told longest ago
 * is told anew.  All are made with the first kernel that is found, because a product must not allocate. */
#define GRAPHS_OF_ONE 4

struct gpu_graph {
    void *graph, *exec, *node[2]; /* exec: NULL where something did not work out */
    struct gpu_launch launch[2];  /* what the nodes are now; no function: nothing */
    int64_t bytes;
    unsigned char argument[ARGUMENT_MOST];
};

struct gpu_graphs {
    atomic_flag busy; /* whoever comes meanwhile launches without */
    int early;        /* the second kernel of `pair` waits by itself */
    unsigned oldest;
    struct gpu_graph one[GRAPHS_OF_ONE], pair;
};

static struct node_params params_of(const struct gpu_launch *l, void **arguments)
{
    return (struct node_params){.function = l->function->handle,
                                .grid = {(unsigned)l->grid, 1, 1},
                                .block = {(unsigned)l->block, 1, 1},
                                .shared = (unsigned)l->shared,
                                .arguments = arguments};
}

static int can_make_graphs(void)
{
#define ROW(member, result, arguments, symbol) &&graph.member
    return 1 GRAPH_CALLS(ROW);
#undef ROW
}

/* All nodes are this kernel, never to be launched so: all that stays is whether the second waits by
 * itself. */
static void make_graph(struct gpu_graph *g, struct gpu_function *function, int kernels)
{
    static const struct edge early = {.from_port = 1, .type = 1}; /* programmatic, both */
    void *arguments[] = {g->argument};
    const struct gpu_launch once = {function, 1, 1, 0, 0};
    const struct node_params params = params_of(&once, arguments);
    int code = graph.create(&g->graph, 0);
    for (int i = 0; i < kernels && !code; i++)
        code = graph.add(&g->node[i], g->graph, NULL, 0, &params);
    if (!code && kernels == 2)
        code = graph.order(g->graph, &g->node[0], &g->node[1], function->early ? &early : NULL, 1);
    if (!code && graph.make(&g->exec, g->graph, 0) != 0)
        g->exec = NULL;
}

static void make_graphs(struct gpu *gpu, struct gpu_function *function)
{
    if (!can_make_graphs() || NEW_ZEROED(gpu->graphs, 1) != HEDDLE_OK)
        return;
    atomic_flag_clear(&gpu->graphs->busy);
    gpu->graphs->early = function->early;
    for (int i = 0; i < GRAPHS_OF_ONE; i++)
        make_graph(&gpu->graphs->one[i], function, 1);
    make_graph(&gpu->graphs->pair, function, 2);
}

static void free_graph(struct gpu_graph *g)
{
    if (g->exec)
        graph.free_exec(g->exec);
    if (g->graph)
        graph.free_graph(g->graph);
}

static void free_graphs(struct gpu *gpu)
{
    void *before;
    if (gpu->graphs && enter(gpu, &before) == 0) {
        for (int i = 0; i < GRAPHS_OF_ONE; i++)
            free_graph(&gpu->graphs->one[i]);
        free_graph(&gpu->graphs->pair);
        leave(gpu, before);
    }
    mem_free(gpu->graphs);
}

static int are_same(const struct gpu_launch *a, const struct gpu_launch *b)
{
    return a->function == b->function && a->grid == b->grid && a->block == b->block && a->shared == b->shared;
}

static int is_told(const struct gpu_graph *g, const struct gpu_launch *l, int count, const void *argument,
                   int64_t bytes)
{
    for (int i = 0; i < count; i++)
        if (!are_same(&g->launch[i], &l[i]))
            return 0;
    return g->bytes == bytes && memcmp(g->argument, argument, (size_t)bytes) == 0;
}

/* A driver may refuse to exchange its kernels. */
static int tell_graph(struct gpu_graph *g, const struct gpu_launch *l, int count, const void *argument,
                      int64_t bytes)
{
    void *arguments[] = {g->argument};
    g->launch[0].function = NULL;
    g->bytes = bytes;
    memcpy(g->argument, argument, (size_t)bytes);
    for (int i = 0; i < count; i++) {
        const struct node_params params = params_of(&l[i], arguments);
        if (!g->exec || graph.change(g->exec, g->node[i], &params) != 0)
            return 0;
    }
    memcpy(g->launch, l, (size_t)count * sizeof *l);
    return 1;
}

/* The graph that is these kernels; NULL if none can be. */
static struct gpu_graph *graph_of(struct gpu_graphs *all, const struct gpu_launch *l, int count,
                                  const void *argument, int64_t bytes)
{
    const int n = count == 1 ? GRAPHS_OF_ONE : 1;
    struct gpu_graph *const kept = count == 1 ? all->one : &all->pair;
    for (int i = 0; i < n; i++)
        if (is_told(&kept[i], l, count, argument, bytes))
            return &kept[i];
    struct gpu_graph *const oldest = count == 1 ? &kept[all->oldest++ % GRAPHS_OF_ONE] : kept;
    return tell_graph(oldest, l, count, argument, bytes) ? oldest : NULL;
}

/* A graph cannot be launched into a stream that is captured. */
static int launch_graph(struct gpu *gpu, const struct gpu_launch *l, int count, const void *argument,
                        int64_t bytes, void *stream)
{
    struct gpu_graphs *all = gpu->graphs;
    int capturing = 0, code = ONE_BY_ONE;
    if (!all || l[0].is_long || (count == 2 && all->early != l[1].function->early) ||
        atomic_flag_test_and_set(&all->busy))
        return ONE_BY_ONE;
    if (graph.is_capturing(stream, &capturing) == 0 && !capturing) {
        struct gpu_graph *g = graph_of(all, l, count, argument, bytes);
        code = g ? graph.launch(g->exec, stream) : ONE_BY_ONE;
    }
    atomic_flag_clear(&all->busy);
    return code;
}

static void detach(struct gpu *gpu)
{
    free_graphs(gpu);
    own.drop(gpu->device);
}

static int capturing(void *stream, int *status)
{
    return graph.is_capturing ? graph.is_capturing(stream, status) : 0;
}

/* Once per kernel, so that a launch need not ask: it may use all that its static shared memory leaves, and
 * knows to wait if it was compiled for an architecture that has the instruction.  The driver loads a
 * kernel when it is first used; it is told to do so now, because a launch that finds no memory for that is
 * lost. */
static int prepare(struct gpu *gpu, struct gpu_function *function)
{
    int used = 0, compiled_for = 0;
    int code = function_load ? function_load(function->handle) : 0;
    if (!code)
        code = own.function_get(&used, FUNCTION_SHARED_BYTES, function->handle);
    if (!code)
        code = own.function_get(&compiled_for, FUNCTION_PTX_VERSION, function->handle);
    function->early = launch_ex && compiled_for >= DEPENDENTS_SINCE;
    if (code)
        return code;
    if (!gpu->graphs && !gpu->functions) /* later, somebody may be launching */
        make_graphs(gpu, function);
    return own.function_set(function->handle, FUNCTION_MOST_DYNAMIC,
                            (int)gpu->head.info.shared_per_block - used);
}

static const char *error_name(int code)
{
    const char *name = NULL;
    return own.error_name(code, &name) == 0 && name ? name : "unknown to the driver";
}

static const char *const call_names[VENDOR_CALLS] = {
#define CALL(member, arguments, cuda_symbol, hip_symbol) [CALL_##member] = #cuda_symbol,
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
};

static const struct vendor_symbol symbols[] = {
#define CALL(member, arguments, cuda_symbol, hip_symbol) {#cuda_symbol, &cuda.call.member, 0},
#define ADAPTED(member, arguments, cuda_symbol, hip_symbol)
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
#define ROW(member, result, arguments, symbol) {#symbol, &own.member, 0},
    OWN_CALLS(ROW)
#undef ROW
        {"cuLaunchKernelEx", &launch_ex, 1},
    {"cuFuncLoad", &function_load, 1},
#define ROW(member, result, arguments, symbol) {#symbol, &graph.member, 1},
    GRAPH_CALLS(ROW)
#undef ROW
        {NULL, NULL, 0}};

static const char *const files[] = {"libcuda.so.1", NULL};

static struct vendor cuda = {
    .name = "cuda",
    .variable = "HEDDLE_CUDA_LIBRARY",
    .files = files,
    .oldest = 11000,
    .oldest_text = "CUDA 11.0 (driver 450)",
    .call_names = call_names,
    .symbols = symbols,
    .attribute = {.wave = 10,
                  .multiprocessors = 16,
                  .threads_per_block = 1,
                  .shared_per_block = SHARED_PER_BLOCK_OPTIN,
                  .grid = 5,
                  .cache = 38},
    .arch = arch,
    .attach = attach,
    .detach = detach,
    .enter = enter,
    .leave = leave,
    .launch_early = launch_early,
    .launch_graph = launch_graph,
    .prepare = prepare,
    .capturing = capturing,
    .error_name = error_name,
    .call = {.copy = copy, .fill = fill, .pointer = pointer},
};

static heddle_status count(int *n)
{
    return vendor_count(&cuda, n);
}

static heddle_status describe(struct gpu_info *info, int number)
{
    return vendor_describe(&cuda, info, number);
}

static heddle_status open_device(struct gpu **gpu, int number, struct spec *options)
{
    return vendor_open(&cuda, &cuda_driver, gpu, number, options);
}

const struct gpu_driver cuda_driver = {
    .name = "cuda", .count = count, .describe = describe, .open = open_device, VENDOR_FUNCTIONS};
