/* SPDX-License-Identifier: MIT
 *
 * gpu.h: one table per vendor.  cuda.c and hip.c open the vendor's driver library at run time, emu.c runs
 * kernels on the CPU; code above this header cannot tell them apart.  No vendor header and no vendor
 * library is needed to build.
 *
 * Every function that can fail returns a status with a text ("cuda: out of memory (cuMemAlloc of 12.3
 * GB)").  A `stream` is the vendor's own handle (CUstream, hipStream_t), NULL the default stream: callers'
 * streams pass through as they are. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include <stdatomic.h>

#include "base/status.h"
#include "base/text.h"

struct gpu;          /* an open device: its first member is the driver (struct gpu_head) */
struct gpu_module;   /* a loaded binary */
struct gpu_function; /* a kernel in it */
struct gpu_event;

/* AMD's dispatch packet counts the threads of a grid in 32 bits, and no grid is asked to have more. */
#define GRID_THREADS UINT32_MAX

struct gpu_info {
    char name[96]; /* "NVIDIA H200" */
    char arch[16]; /* "sm_90", "gfx942", "emu" */
    int wave;      /* lanes of a wave: 32 or 64 */
    int multiprocessors;
    int threads_per_block;          /* most */
    int64_t shared_per_block, grid; /* most: bytes, blocks */
    int64_t grid_threads;           /* most, of all its blocks: GRID_THREADS */
    int64_t memory, cache;          /* bytes; cache is the last level */
};

/* A kernel, and what it is launched with. */
struct gpu_launch {
    struct gpu_function *function;
    int64_t grid; /* 0: nothing is launched; at least 1 in a pair */
    int block;
    int64_t shared; /* bytes */
    int is_long;    /* 1: it takes the device longer than the host */
};

struct gpu_driver {
    const char *name; /* "cuda": devices are "cuda:0", "cuda:1", ... */

    /* How many devices there are; HEDDLE_NO_DEVICE with the reason when the driver library is missing or
     * too old. */
    heddle_status (*count)(int *count);
    heddle_status (*describe)(struct gpu_info *info, int number);
    /* Uses the primary context, so that pointers and streams of the vendor's runtime are valid here and
     * the reverse. `options` holds what stood behind the device's name; the driver asks for the keys that
     * it knows. */
    heddle_status (*open)(struct gpu **gpu, int number, struct spec *options);
    void (*close)(struct gpu *gpu);

    /* Makes the device this thread's own until let_go, so that the calls in between need not do so one by
     * one: every function below works without.  `before` is for let_go alone.  NULL: there is nothing to
     * hold. */
    heddle_status (*hold)(struct gpu *gpu, void **before);
    void (*let_go)(struct gpu *gpu, void *before);

    heddle_status (*alloc)(struct gpu *gpu, void **p, int64_t bytes);
    void (*release)(struct gpu *gpu, void *p);
    /* host memory that copies run at full speed from, and that kernels reach at the same address */
    heddle_status (*alloc_pinned)(struct gpu *gpu, void **p, int64_t bytes);
    void (*release_pinned)(struct gpu *gpu, void *p);
    /* Asynchronous where the vendor allows; either side may be host or device memory. */
    heddle_status (*copy)(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream);
    heddle_status (*fill)(struct gpu *gpu, void *p, int byte, int64_t bytes, void *stream);
    int (*on_device)(struct gpu *gpu, const void *p); /* 1: kernels may read p; 0: ordinary host memory */

    /* A binary for this architecture, or PTX (text that ends in a zero); it must stay where it is until
     * unload. HEDDLE_NO_KERNEL when it does not fit the device. */
    heddle_status (*load)(struct gpu *gpu, struct gpu_module **module, const void *image, int64_t bytes);
    void (*unload)(struct gpu *gpu, struct gpu_module *module);
    heddle_status (*find)(struct gpu *gpu, struct gpu_function **function, struct gpu_module *module,
                          const char *name);
    /* `argument` is the one struct that every kernel takes, by value. */
    heddle_status (*launch)(struct gpu *gpu, const struct gpu_launch *launch, const void *argument,
                            int64_t bytes, void *stream);
    /* Two kernels with the same argument, the second of which waits for the first by itself
     * (simt_after_previous): it may come to the device before that is done, and both together may take the
     * host less time than one. */
    heddle_status (*launch_pair)(struct gpu *gpu, const struct gpu_launch pair[2], const void *argument,
                                 int64_t bytes, void *stream);
    /* The host's time for `count` launches of one block, with nothing of Heddle's in between: what a call
     * is measured against.  One more goes ahead of them, which wakes the device.  Does not wait for them.
     * NULL: a launch is the run itself. */
    heddle_status (*launches_ms)(struct gpu *gpu, double *ms, struct gpu_function *function,
                                 const void *argument, int count, void *stream);

    heddle_status (*sync)(struct gpu *gpu, void *stream);
    heddle_status (*event_new)(struct gpu *gpu, struct gpu_event **event);
    void (*event_free)(struct gpu *gpu, struct gpu_event *event);
    heddle_status (*event_record)(struct gpu *gpu, struct gpu_event *event, void *stream);
    /* waits for `to` */
    heddle_status (*event_ms)(struct gpu *gpu, double *ms, struct gpu_event *from, struct gpu_event *to);
    /* What is given to `stream` from now on comes after `event` as it was last recorded; the host does not
     * wait.  NULL: there is one order for all streams. */
    heddle_status (*stream_wait)(struct gpu *gpu, void *stream, struct gpu_event *event);
    /* 1: what is given to the stream is noted down for a graph, not run, and must not wait for what is
     * not; NULL: never. */
    int (*capturing)(struct gpu *gpu, void *stream);
};

/* Who is told of the launches of products: for measurements. */
struct gpu_watch {
    heddle_status (*launched)(struct gpu_watch *watch, const char *entry);
};

/* gpu_block_take's that are kept, and the bytes of one, at most. */
#define KEPT_BLOCKS 4
#define KEPT_BYTES (2 << 20)

/* What every driver's struct gpu begins with.  An open device serves many threads at once, with one
 * exception: whoever watches products belongs to one thread. */
struct gpu_head {
    const struct gpu_driver *driver;
    struct gpu_info info;
    int number;                          /* among the devices of the driver */
    _Atomic(struct gpu_loaded *) loaded; /* module.c's: the kernels that gpu_kernel has found so far; NULL
                                          * at first */
    struct gpu_watch *watch;             /* NULL: nobody */
    _Atomic(void *) pinned;              /* gpu_pinned_take's; NULL: none yet, or in use */
    struct gpu_block {
        void *p;
        int64_t bytes;
    } kept[KEPT_BLOCKS];    /* gpu_block_take's; those given back last */
    unsigned next_kept;     /* the one that makes room for another */
    _Atomic double load_ms; /* that gpu_kernel has taken so far to load and to find */
};

#define DRIVER(name) extern const struct gpu_driver name##_driver;
#include "gpu/drivers.def"
#undef DRIVER

/* -------------------------------------------------------- all drivers together ---------------- */

#define GPU_NAME 32

/* The devices of every driver, in the order of drivers.def; a driver that is not there has none. */
int gpu_device_count(void);
/* What gpu_open takes ("cuda:0"), and the description. */
heddle_status gpu_device_info(char name[GPU_NAME], struct gpu_info *info, int number);
/* Does `name` begin with the name of a driver?  "cuda:7" does, whether or not there is such a device. */
int gpu_is_name(const char *name);

/* "cuda" is "cuda:0"; options stand behind the number or instead of it: "emu:wave=64", "emu:0:wave=64". */
heddle_status gpu_open(struct gpu **gpu, const char *name);
void gpu_close(struct gpu *gpu); /* with everything that gpu_kernel has loaded; takes NULL */
/* PINNED_BYTES of host memory for a kernel to leave a few numbers in, and for small reads: whoever takes it
 * has it alone until it is given back, which takes NULL.  Most often it is there already. */
#define PINNED_BYTES 4096
heddle_status gpu_pinned_take(struct gpu *gpu, void **pinned);
void gpu_pinned_give_back(struct gpu *gpu, void *pinned);
/* Memory of the device for what is learned of a matrix, given back with the same number of bytes, also while
 * products still read there (NULL: nothing).  As long as all work of the process goes to default streams a
 * few blocks are kept, and whoever takes one of the same size next writes to it in the order of that stream,
 * behind all who read it; nobody waits, as the driver does when it releases memory.  gpu_many_streams ends
 * that for good, before the first work in a stream of the caller's. */
heddle_status gpu_block_take(struct gpu *gpu, void **p, int64_t bytes);
void gpu_block_give_back(struct gpu *gpu, void *p, int64_t bytes);
void gpu_many_streams(void);
/* To host memory, which has it when the call returns.  A few bytes come through pinned memory, so that the
 * driver need not stage them itself. */
heddle_status gpu_read(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream);

static inline const struct gpu_driver *gpu_driver_of(const struct gpu *gpu)
{
    return ((const struct gpu_head *)gpu)->driver;
}

/* Does the CPU play the device?  NULL is none. */
static inline int gpu_is_emulated(const struct gpu *gpu)
{
    return gpu && gpu_driver_of(gpu) == &emu_driver;
}

static inline double gpu_load_ms(const struct gpu *gpu)
{
    return ((const struct gpu_head *)gpu)->load_ms;
}

/* Are these the same device, so that what lies in the memory of one lies in that of the other? */
static inline int gpu_same(const struct gpu *a, const struct gpu *b)
{
    const struct gpu_head *x = (const struct gpu_head *)a, *y = (const struct gpu_head *)b;
    return a == b || (a && b && x->driver == y->driver && x->number == y->number);
}

static inline heddle_status gpu_hold(struct gpu *gpu, void **before)
{
    *before = NULL;
    return gpu_driver_of(gpu)->hold ? gpu_driver_of(gpu)->hold(gpu, before) : HEDDLE_OK;
}

static inline void gpu_let_go(struct gpu *gpu, void *before)
{
    if (gpu_driver_of(gpu)->let_go)
        gpu_driver_of(gpu)->let_go(gpu, before);
}

static inline const struct gpu_info *gpu_info_of(const struct gpu *gpu)
{
    return &((const struct gpu_head *)gpu)->info;
}

/* Blocks of so many threads that a grid may have. */
static inline int64_t gpu_most_blocks(const struct gpu *gpu, int64_t block)
{
    const struct gpu_info *info = gpu_info_of(gpu);
    const int64_t most = info->grid_threads / (block > 0 ? block : 1);
    return info->grid < most ? info->grid : most;
}

#endif
