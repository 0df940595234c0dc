/* SPDX-License-Identifier: MIT
 *
 * vendor.h: what cuda.c and hip.c share.  A vendor is a library to open, a table of calls to find in it
 * (calls.def), and the few things that the vendors do each in their own way; vendor.c makes the functions
 * of struct gpu_driver out of that.
 *
 * The device's context is made current around every call and the caller's is put back, so that a program
 * which uses the vendor's runtime beside Heddle does not notice. */
#ifndef GPU_VENDOR_H
#define GPU_VENDOR_H

#include "gpu/gpu.h"

struct vendor_calls {
#define CALL(member, arguments, cuda, hip) int(*member) arguments;
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
};

enum vendor_call {
#define CALL(member, arguments, cuda, hip) CALL_##member,
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
    VENDOR_CALLS
};

/* A symbol to look up, and the function pointer that takes it.  `optional`: it may be missing. */
struct vendor_symbol {
    const char *name;
    void *slot;
    int optional;
};

enum { ONE_BY_ONE = -1 };

struct vendor {
    const char *name;         /* "cuda" */
    const char *variable;     /* an environment variable: another library to open, empty to hide the vendor */
    const char *const *files; /* what the library may be called, the best first; ends in NULL */
    int oldest;               /* the lowest version() that will do */
    const char *oldest_text;  /* the same for people */
    const char *const *call_names;       /* by enum vendor_call, for error texts */
    const struct vendor_symbol *symbols; /* ends in a NULL name */
    struct {
        int wave, multiprocessors, threads_per_block, shared_per_block, grid, cache;
    } attribute; /* the vendor's numbers of what struct gpu_info tells */

    /* Each in its own way; results are the vendor's, 0 is success. */
    int (*arch)(char arch[16], int device);
    int (*attach)(struct gpu *gpu); /* retains the primary context */
    void (*detach)(struct gpu *gpu);
    int (*enter)(struct gpu *gpu, void **before); /* makes it current; `before` is for leave alone */
    void (*leave)(struct gpu *gpu, void *before);
    /* Like the call `launch`, for functions that are `early`. */
    int (*launch_early)(const struct gpu_launch *launch, void *stream, void **arguments);
    /* One or two kernels in a graph; ONE_BY_ONE when that is not possible.  NULL: it never is. */
    int (*launch_graph)(struct gpu *gpu, const struct gpu_launch *launch, int count, const void *argument,
                        int64_t bytes, void *stream);
    int (*prepare)(struct gpu *gpu, struct gpu_function *function); /* once for each that is found; NULL: they
                                                                     * can be launched */
    int (*capturing)(void *stream, int *status);                    /* status: 0 where it is not */
    const char *(*error_name)(int code);
    void (*forget_error)(void); /* NULL: failed calls leave nothing behind */

    /* Filled by vendor_ready. */
    struct vendor_calls call; /* ADAPTED members are there from the start */
    void *library;            /* not NULL: everything above can be used */
    char tried[256];          /* the library that was opened in vain, and the reason; not tried again */
    char why[512];
};

#define ARGUMENT_MOST 4096 /* bytes of arguments that a kernel can take */

#define FUNCTION_NAME 64
struct gpu_function {
    void *handle;             /* the vendor's */
    char name[FUNCTION_NAME]; /* for error texts */
    int early; /* it may come to the device before the kernel ahead of it is done, and waits there */
    struct gpu_function *next; /* of those that the device has found; they live until it is closed */
};

struct gpu {
    struct gpu_head head;
    struct vendor *vendor;
    int device;      /* the vendor's handle */
    void *context;   /* likewise; NULL where a device number is all it takes */
    atomic_int lost; /* the sticky error that was seen; 0: none */
    struct gpu_function *functions;
    struct gpu_graphs *graphs; /* cuda.c's, for launch_graph; NULL until a kernel was found */
};

/* Opens the library and initialises the driver, once; HEDDLE_NO_DEVICE says why it is not there. */
heddle_status vendor_ready(struct vendor *v);
/* A failed call in words: "cuda: out of memory (cuMemAlloc_v2 of 12.3 GB: CUDA_ERROR_OUT_OF_MEMORY)".
 * `gpu` and `what` may be NULL; a sticky error marks the device as lost. */
heddle_status vendor_failed(struct vendor *v, struct gpu *gpu, int code, enum vendor_call call,
                            const char *what);

heddle_status vendor_count(struct vendor *v, int *count);
heddle_status vendor_describe(struct vendor *v, struct gpu_info *info, int number);
heddle_status vendor_open(struct vendor *v, const struct gpu_driver *driver, struct gpu **gpu, int number,
                          struct spec *options);

/* The functions of struct gpu_driver that take an open device: gpu.h says what they do. */
void vendor_close(struct gpu *gpu);
heddle_status vendor_hold(struct gpu *gpu, void **before);
void vendor_let_go(struct gpu *gpu, void *before);
heddle_status vendor_alloc(struct gpu *gpu, void **p, int64_t bytes);
void vendor_release(struct gpu *gpu, void *p);
heddle_status vendor_alloc_pinned(struct gpu *gpu, void **p, int64_t bytes);
void vendor_release_pinned(struct gpu *gpu, void *p);
heddle_status vendor_copy(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream);
heddle_status vendor_fill(struct gpu *gpu, void *p, int byte, int64_t bytes, void *stream);
int vendor_on_device(struct gpu *gpu, const void *p);
heddle_status vendor_load(struct gpu *gpu, struct gpu_module **module, const void *image, int64_t bytes);
void vendor_unload(struct gpu *gpu, struct gpu_module *module);
heddle_status vendor_find(struct gpu *gpu, struct gpu_function **function, struct gpu_module *module,
                          const char *name);
heddle_status vendor_launch(struct gpu *gpu, const struct gpu_launch *launch, const void *argument,
                            int64_t bytes, void *stream);
heddle_status vendor_launch_pair(struct gpu *gpu, const struct gpu_launch pair[2], const void *argument,
                                 int64_t bytes, void *stream);
heddle_status vendor_launches_ms(struct gpu *gpu, double *ms, struct gpu_function *function,
                                 const void *argument, int count, void *stream);
heddle_status vendor_sync(struct gpu *gpu, void *stream);
heddle_status vendor_event_new(struct gpu *gpu, struct gpu_event **event);
void vendor_event_free(struct gpu *gpu, struct gpu_event *event);
heddle_status vendor_event_record(struct gpu *gpu, struct gpu_event *event, void *stream);
heddle_status vendor_event_ms(struct gpu *gpu, double *ms, struct gpu_event *from, struct gpu_event *to);
heddle_status vendor_stream_wait(struct gpu *gpu, void *stream, struct gpu_event *event);
int vendor_capturing(struct gpu *gpu, void *stream);

#define VENDOR_FUNCTIONS                                                                                     \
    .close = vendor_close, .hold = vendor_hold, .let_go = vendor_let_go, .alloc = vendor_alloc,              \
    .release = vendor_release, .alloc_pinned = vendor_alloc_pinned, .release_pinned = vendor_release_pinned, \
    .copy = vendor_copy, .fill = vendor_fill, .on_device = vendor_on_device, .load = vendor_load,            \
    .unload = vendor_unload, .find = vendor_find, .launch = vendor_launch,                                   \
    .launch_pair = vendor_launch_pair, .launches_ms = vendor_launches_ms, .sync = vendor_sync,               \
    .event_new = vendor_event_new, .event_free = vendor_event_free, .event_record = vendor_event_record,     \
    .event_ms = vendor_event_ms, .stream_wait = vendor_stream_wait, .capturing = vendor_capturing

#endif
