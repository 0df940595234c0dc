/* SPDX-License-Identifier: MIT
 *
 * fake_nvml.c: as much of libnvidia-ml as Heddle asks; FAKE_THROTTLE is the mask of reasons. */
#include "fake.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default"))) int

const struct fake_device fake_device = {"Fake", "none"};

EXPORT nvmlInit_v2(void)
{
    return 0;
}
EXPORT nvmlShutdown(void)
{
    return 0;
}
EXPORT nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    *device = (void *)(uintptr_t)1;
    return strcmp(bus, "0000:01:00.0") != 0;
}
EXPORT nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
    (void)device;
    *mhz = which == 1 ? 1980 : 3201;
    return which != 1 && which != 2;
}
EXPORT nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = (unsigned long long)fake_number("FAKE_THROTTLE", 0);
    return 0;
}
