/* SPDX-License-Identifier: MIT */
#include "bench/clocks.h"

#include <dlfcn.h>
#include <string.h>

#include "base/environment.h"
#include "base/timer.h"

#define ANSWER_MS 5 /* so long an answer stands */

/* NVML's numbers, from its documentation. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
#define SLOWED                                                                                               \
    (0x04ULL /* power limit */ | 0x08ULL /* hardware */ | 0x20ULL | 0x40ULL /* heat */ |                     \
     0x80ULL /* power supply */)

static struct {
    int (*start)(void);
    int (*stop)(void);
    int (*by_bus)(const char *bus, void **device);
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*reasons)(void *device, unsigned long long *reasons);
} nvml;

static int find(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    memcpy(slot, &address, sizeof address); /* POSIX: a function pointer has the representation of void * */
    return address != NULL;
}

/* Numbers of devices differ between CUDA and NVML; the place on the bus is the same for both. */
static int bus_of(char bus[32], int number)
{
    int (*place)(char *bus, int size, int device) = NULL;
    const char *path = environment("HEDDLE_CUDA_LIBRARY");
    void *cuda = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    int found = cuda && find(cuda, "cuDeviceGetPCIBusId", &place) && place(bus, 32, number) == 0;
    if (cuda)
        dlclose(cuda);
    return found;
}

void clocks_open(struct clocks *c, const struct device *d)
{
    char bus[32];
    *c = (struct clocks){0};
    if (d->kind != DEVICE_gpu || strcmp(gpu_driver_of(d->gpu)->name, "cuda") != 0)
        return;
    const char *path = environment("HEDDLE_NVML_LIBRARY");
    void *library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    if (find(library, "nvmlInit_v2", &nvml.start) && find(library, "nvmlShutdown", &nvml.stop) &&
        find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus) &&
        find(library, "nvmlDeviceGetClockInfo", &nvml.clock) &&
        find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.reasons) && nvml.start() == 0) {
        if (bus_of(bus, ((const struct gpu_head *)d->gpu)->number) && nvml.by_bus(bus, &c->device) == 0)
            c->library = library;
        else
            nvml.stop();
    }
    if (!c->library)
        dlclose(library);
}

void clocks_close(struct clocks *c)
{
    if (c->library) {
        nvml.stop();
        dlclose(c->library);
    }
    *c = (struct clocks){0};
}

int clocks_slowed(struct clocks *c)
{
    unsigned long long reasons = 0;
    if (c->library && now_ms() - c->asked > ANSWER_MS) {
        c->slowed = nvml.reasons(c->device, &reasons) == 0 && (reasons & SLOWED) != 0;
        c->asked = now_ms();
    }
    return c->slowed;
}

static int mhz(const struct clocks *c, int which)
{
    unsigned now = 0;
    return c->library && nvml.clock(c->device, which, &now) == 0 ? (int)now : 0;
}

int clocks_core_mhz(const struct clocks *c)
{
    return mhz(c, CLOCK_SM);
}

int clocks_memory_mhz(const struct clocks *c)
{
    return mhz(c, CLOCK_MEMORY);
}
