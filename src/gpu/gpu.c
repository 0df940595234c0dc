/* SPDX-License-Identifier: MIT
 *
 * gpu.c: the devices of all drivers, by number and by name. */
#include "gpu/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/module.h"

static const struct gpu_driver *const drivers[] = {
#define DRIVER(name) &name##_driver,
#include "gpu/drivers.def"
#undef DRIVER
};
enum { DRIVERS = sizeof drivers / sizeof drivers[0] };

static int count_of(const struct gpu_driver *driver)
{
    int count;
    return driver->count(&count) == HEDDLE_OK ? count : 0;
}

int gpu_device_count(void)
{
    int all = 0;
    for (int i = 0; i < DRIVERS; i++)
        all += count_of(drivers[i]);
    return all;
}

/* There is one emulator only, and it is called just that. */
static void device_name(char name[GPU_NAME], const struct gpu_driver *driver, int number)
{
    if (strcmp(driver->name, "emu") == 0)
        snprintf(name, GPU_NAME, "emu");
    else
        snprintf(name, GPU_NAME, "%s:%d", driver->name, number);
}

heddle_status gpu_device_info(char name[GPU_NAME], struct gpu_info *info, int number)
{
    int left = number;
    for (int i = 0; i < DRIVERS && left >= 0; i++) {
        int count = count_of(drivers[i]);
        if (left < count) {
            device_name(name, drivers[i], left);
            return drivers[i]->describe(info, left);
        }
        left -= count;
    }
    return fail(HEDDLE_NO_DEVICE, "there is no GPU number %d: this machine has %d", number,
                gpu_device_count());
}

static const struct gpu_driver *driver_by_name(const char *name)
{
    size_t size = strcspn(name, ":");
    for (int i = 0; i < DRIVERS; i++)
        if (strlen(drivers[i]->name) == size && strncmp(drivers[i]->name, name, size) == 0)
            return drivers[i];
    return NULL;
}

int gpu_is_name(const char *name)
{
    return driver_by_name(name) != NULL;
}

/* "cuda:1:a=b" to the number 1 and the spec "cuda:a=b". */
static heddle_status parse_name(int *number, struct spec *options, const char *name)
{
    char text[256];
    const char *rest = name + strcspn(name, ":");
    size_t head = (size_t)(rest - name), digits = *rest ? strspn(rest + 1, "0123456789") : 0;
    *number = 0;
    if (digits > 0 && (rest[1 + digits] == 0 || rest[1 + digits] == ':')) {
        if (digits > 4)
            return fail(HEDDLE_NO_DEVICE, "there is no device '%s'", name);
        sscanf(rest + 1, "%d", number);
        rest += 1 + digits;
    }
    if (head + strlen(rest) >= sizeof text)
        return fail(HEDDLE_BAD_ARGUMENT, "the name of a device is too long: '%.100s...'", name);
    snprintf(text, sizeof text, "%.*s%s", (int)head, name, rest);
    return spec_parse(options, text);
}

heddle_status gpu_open(struct gpu **gpu, const char *name)
{
    heddle_status status = HEDDLE_OK;
    struct spec options;
    int number;
    *gpu = NULL;
    const struct gpu_driver *driver = driver_by_name(name);
    if (!driver)
        return fail(HEDDLE_NO_DEVICE, "there is no driver for '%s'", name);
    TRY(parse_name(&number, &options, name));
    TRY(driver->open(gpu, number, &options));
    ((struct gpu_head *)*gpu)->number = number;
done:
    return status;
}

void gpu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    module_forget(gpu);
    struct gpu_head *head = (struct gpu_head *)gpu;
    if (head->pinned)
        gpu_driver_of(gpu)->release_pinned(gpu, head->pinned);
    for (int i = 0; i < KEPT_BLOCKS; i++)
        gpu_driver_of(gpu)->release(gpu, head->kept[i].p);
    gpu_driver_of(gpu)->close(gpu);
}

heddle_status gpu_pinned_take(struct gpu *gpu, void **pinned)
{
    *pinned = atomic_exchange(&((struct gpu_head *)gpu)->pinned, NULL);
    return *pinned ? HEDDLE_OK : gpu_driver_of(gpu)->alloc_pinned(gpu, pinned, PINNED_BYTES);
}

void gpu_pinned_give_back(struct gpu *gpu, void *pinned)
{
    void *none = NULL;
    if (pinned && !atomic_compare_exchange_strong(&((struct gpu_head *)gpu)->pinned, &none, pinned))
        gpu_driver_of(gpu)->release_pinned(gpu, pinned);
}

/* Of all devices: an open one may have matrices that products of another handle, which has opened the same
 * device once more, read in its own stream. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER; /* guards what is kept */
static int many_streams;                                    /* for good */

void gpu_many_streams(void)
{
    pthread_mutex_lock(&keeping);
    many_streams = 1;
    pthread_mutex_unlock(&keeping);
}

heddle_status gpu_block_take(struct gpu *gpu, void **p, int64_t bytes)
{
    struct gpu_block *kept = ((struct gpu_head *)gpu)->kept;
    *p = NULL;
    pthread_mutex_lock(&keeping);
    for (int i = 0; i < KEPT_BLOCKS && !*p && !many_streams; i++)
        if (kept[i].p && kept[i].bytes == bytes) {
            *p = kept[i].p;
            kept[i].p = NULL;
        }
    pthread_mutex_unlock(&keeping);
    return *p ? HEDDLE_OK : gpu_driver_of(gpu)->alloc(gpu, p, bytes);
}

/* The emulator keeps nothing: it tells what is read before anyone has written it. */
void gpu_block_give_back(struct gpu *gpu, void *p, int64_t bytes)
{
    struct gpu_head *head = (struct gpu_head *)gpu;
    pthread_mutex_lock(&keeping);
    if (p && !many_streams && bytes <= KEPT_BYTES && !gpu_is_emulated(gpu)) {
        struct gpu_block *oldest = &head->kept[head->next_kept++ % KEPT_BLOCKS];
        const struct gpu_block gone = *oldest;
        *oldest = (struct gpu_block){p, bytes};
        p = gone.p;
    }
    pthread_mutex_unlock(&keeping);
    gpu_driver_of(gpu)->release(gpu, p);
}

heddle_status gpu_read(struct gpu *gpu, void *to, const void *from, int64_t bytes, void *stream)
{
    heddle_status status = HEDDLE_OK;
    const struct gpu_driver *driver = gpu_driver_of(gpu);
    void *pinned = NULL;
    if (bytes <= PINNED_BYTES && gpu_pinned_take(gpu, &pinned) != HEDDLE_OK)
        pinned = NULL; /* it does without */
    TRY(driver->copy(gpu, pinned ? pinned : to, from, bytes, stream));
    TRY(driver->sync(gpu, stream));
    if (pinned)
        memcpy(to, pinned, (size_t)bytes);
done:
    gpu_pinned_give_back(gpu, pinned);
    return status;
}
