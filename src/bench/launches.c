/* SPDX-License-Identifier: MIT */
#include "bench/launches.h"

#include <stdio.h>
#include <string.h>

#include "base/timer.h"

#define PASSES 7
#define LIMIT_MS 30 /* for all of them; the first is taken in any case */

/* Events between the launches of a product: one in front, one behind each. */
struct taking {
    struct gpu_watch watch; /* first: the driver's side knows no more */
    const struct device *device;
    struct gpu_event *event[LAUNCHES_MOST + 1];
    struct launches now; /* their names; a kernel may write its name for the launch alone */
    int count;           /* may be more than fit */
};

static heddle_status launched(struct gpu_watch *watch, const char *entry)
{
    struct taking *t = (struct taking *)watch;
    int number = t->count++;
    if (number >= LAUNCHES_MOST)
        return HEDDLE_OK;
    snprintf(t->now.entry[number], LAUNCH_NAME, "%s", entry);
    return gpu_driver_of(t->device->gpu)
        ->event_record(t->device->gpu, t->event[number + 1], t->device->stream);
}

static heddle_status sum_launches(struct launches *l, const struct taking *t, int first)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < t->count; i++) {
        double ms;
        TRY(gpu_driver_of(t->device->gpu)->event_ms(t->device->gpu, &ms, t->event[i], t->event[i + 1]));
        l->ms[i] = first || ms < l->ms[i] ? ms : l->ms[i];
        memcpy(l->entry[i], t->now.entry[i], LAUNCH_NAME);
    }
    l->count = t->count;
done:
    return status;
}

heddle_status launches_take(struct launches *l, const struct device *d, void (*before)(void *),
                            heddle_status (*product)(void *), void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct taking t = {.watch = {launched}, .device = d};
    *l = (struct launches){0};
    if (d->kind != DEVICE_gpu)
        return HEDDLE_OK;
    double begin = now_ms();
    const struct gpu_driver *driver = gpu_driver_of(d->gpu);
    struct gpu_head *head = (struct gpu_head *)d->gpu;
    for (int i = 0; i <= LAUNCHES_MOST; i++)
        TRY(driver->event_new(d->gpu, &t.event[i]));
    for (int pass = 0;
         pass < PASSES && t.count <= LAUNCHES_MOST && (pass == 0 || now_ms() - begin < LIMIT_MS); pass++) {
        before(argument);
        t.count = 0;
        TRY(driver->event_record(d->gpu, t.event[0], d->stream));
        head->watch = &t.watch;
        status = product(argument);
        head->watch = NULL;
        TRY(status);
        TRY(device_sync(d));
        if (t.count <= LAUNCHES_MOST)
            TRY(sum_launches(l, &t, pass == 0));
    }
    if (t.count > LAUNCHES_MOST)
        l->count = 0;
done:
    for (int i = 0; i <= LAUNCHES_MOST; i++)
        if (t.event[i])
            driver->event_free(d->gpu, t.event[i]);
    return status;
}
