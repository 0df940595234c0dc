/* SPDX-License-Identifier: MIT
 *
 * device.h: an emulated device, arrays on it, and launches, for the tests of the emulator. */
#ifndef PLANTED_DEVICE_H
#define PLANTED_DEVICE_H

#include <string.h>

#include "gpu/gpu.h"
#include "run/product.h"
#include "test.h"

/* Opens "wave=64,seed=7"; a device that cannot be opened ends the test program. */
static inline struct gpu *device_open(const char *options)
{
    struct spec spec;
    struct gpu *gpu = NULL;
    char text[128];
    snprintf(text, sizeof text, "emu:%s", options);
    CHECK_OK(spec_parse(&spec, text));
    CHECK_OK(emu_driver.open(&gpu, 0, &spec));
    CHECK_OK(spec_done(&spec, "wave, seed, threads, shared, memory, races"));
    return gpu;
}

static inline void device_close(struct gpu *gpu)
{
    emu_driver.close(gpu);
}

static inline void *device_array(struct gpu *gpu, int64_t bytes)
{
    void *p = NULL;
    CHECK_OK(emu_driver.alloc(gpu, &p, bytes));
    return p;
}

static inline void device_free(struct gpu *gpu, const void *p)
{
    emu_driver.release(gpu, (void *)(uintptr_t)p);
}

struct shape {
    int64_t grid;
    int block;
    int64_t shared;
};

static inline heddle_status device_run(struct gpu *gpu, const char *name, struct shape shape,
                                       const struct product *p)
{
    heddle_status status;
    struct gpu_module *module;
    struct gpu_launch launch = {NULL, shape.grid, shape.block, shape.shared, 0};
    TRY(emu_driver.load(gpu, &module, NULL, 0));
    TRY(emu_driver.find(gpu, &launch.function, module, name));
    TRY(emu_driver.launch(gpu, &launch, p, sizeof *p, NULL));
    TRY(emu_driver.sync(gpu, NULL));
done:
    return status;
}

#endif
