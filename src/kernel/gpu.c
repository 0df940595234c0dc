/* SPDX-License-Identifier: MIT
 *
 * gpu: how the host half of a GPU page launches its device half. */
#include <string.h>

#include "gpu/module.h"
#include "kernel/kernel.h"

/* What Liu and Vinter 2015 found best on a GTX 980 and on an R9 290X.  NVIDIA's multiprocessors since 8.0 keep many more loads
 * under way, so their tiles are larger: a descriptor then stands for more entries. */
#define SIGMA_NVIDIA {4, 32, 256, 6}
#define SIGMA_NVIDIA_8 {8, 32, 256, 16}
#define SIGMA_AMD {4, 7, 256, 4}

/* The first row whose name the architecture's begins with. */
static const struct arch archs[] = {
    {.begins = "sm_80", .block = 256, .waves = 64, .sigma = SIGMA_NVIDIA_8, .cores = 64},
    {.begins = "sm_86", .block = 256, .waves = 48, .sigma = SIGMA_NVIDIA_8, .cores = 128},
    {.begins = "sm_89", .block = 256, .waves = 48, .sigma = SIGMA_NVIDIA_8, .cores = 128},
    {.begins = "sm_9", .block = 256, .waves = 64, .sigma = SIGMA_NVIDIA_8, .cores = 128},
    {.begins = "sm_10", .block = 256, .waves = 64, .sigma = SIGMA_NVIDIA_8, .cores = 128},
    {.begins = "sm_12", .block = 256, .waves = 48, .sigma = SIGMA_NVIDIA_8, .cores = 128},
    {.begins = "sm_", .block = 256, .waves = 32, .sigma = SIGMA_NVIDIA, .cores = 64},
    {.begins = "gfx906", .amd = 1, .block = 256, .waves = 40, .sigma = SIGMA_AMD, .cores = 64},
    {.begins = "gfx90a", .amd = 1, .block = 256, .waves = 32, .sigma = SIGMA_AMD, .cores = 64},
    {.begins = "gfx942", .amd = 1, .block = 256, .waves = 32, .sigma = SIGMA_AMD, .cores = 64},
    {.begins = "gfx", .amd = 1, .block = 256, .waves = 32, .sigma = SIGMA_AMD, .cores = 64},
    {.begins = "emu64", .amd = 1, .block = 256, .waves = 32, .sigma = SIGMA_AMD, .cores = 64},
    {.begins = "", .block = 256, .waves = 64, .sigma = SIGMA_NVIDIA, .cores = 64},
};

const struct arch *gpu_arch(const struct gpu *gpu)
{
    const struct gpu_info *info = gpu_info_of(gpu);
    const char *arch = strcmp(info->arch, "emu") == 0 && info->wave == 64 ? "emu64" : info->arch;
    const struct arch *s = archs;
    while (strncmp(s->begins, arch, strlen(s->begins)) != 0)
        s++;
    return s;
}

int64_t gpu_threads(const struct gpu *gpu)
{
    const struct gpu_info *info = gpu_info_of(gpu);
    return (int64_t)gpu_arch(gpu)->waves * info->wave * info->multiprocessors;
}

static heddle_status run(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared, int behind)
{
    struct gpu *gpu = w->device->gpu;
    const struct gpu_driver *driver = gpu_driver_of(gpu);
    struct gpu_function *function;
    heddle_status status = gpu_kernel(gpu, &function, w->page, w->variant, entry);
    struct gpu_watch *watch = ((struct gpu_head *)gpu)->watch;
    if (status == HEDDLE_OK)
        status = (behind && driver->launch_behind ? driver->launch_behind : driver->launch)(
            gpu, function, grid, block, shared, &w->product, sizeof w->product, w->device->stream);
    return status == HEDDLE_OK && watch ? watch->launched(watch, entry) : status;
}

heddle_status gpu_run(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared)
{
    return run(w, entry, grid, block, shared, 0);
}

heddle_status gpu_run_behind(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared)
{
    return run(w, entry, grid, block, shared, 1);
}

/* AMD counts the threads of a grid in 32 bits. */
static int64_t most_blocks(const struct gpu *gpu, int block)
{
    const int64_t most = UINT32_MAX / block, grid = gpu_info_of(gpu)->grid;
    return grid < most ? grid : most;
}

static heddle_status run_over(const struct work *w, const char *entry, int64_t items, int64_t most)
{
    const int block = gpu_arch(w->device->gpu)->block;
    const int64_t grid = (items + block - 1) / block;
    return items == 0 ? HEDDLE_OK : gpu_run(w, entry, grid < most ? grid : most, block, 0);
}

heddle_status gpu_run_over(const struct work *w, const char *entry, int64_t items)
{
    const struct gpu *gpu = w->device->gpu;
    return run_over(w, entry, items, most_blocks(gpu, gpu_arch(gpu)->block));
}

heddle_status gpu_run_filling(const struct work *w, const char *entry, int64_t items)
{
    const struct gpu *gpu = w->device->gpu;
    return run_over(w, entry, items, gpu_threads(gpu) / gpu_arch(gpu)->block);
}

static heddle_status run_rows(const struct work *w, const char *entry, int64_t lanes, int behind)
{
    heddle_status status = HEDDLE_OK;
    const int block = gpu_arch(w->device->gpu)->block;
    const int64_t rows = w->product.rows, each = block / lanes, most = most_blocks(w->device->gpu, block);
    struct work part = *w;
    for (int64_t first = 0, grid; first < rows; first += grid * each) {
        grid = (rows - first + each - 1) / each;
        grid = grid < most ? grid : most;
        part.product.first = first;
        TRY(run(&part, entry, grid, block, 0, behind));
    }
done:
    return status;
}

heddle_status gpu_run_rows(const struct work *w, const char *entry, int64_t lanes)
{
    return run_rows(w, entry, lanes, 0);
}

heddle_status gpu_run_rows_behind(const struct work *w, const char *entry, int64_t lanes)
{
    return run_rows(w, entry, lanes, 1);
}

heddle_status kernel_load(const struct device *device, const struct kernel *kernel, enum variant variant)
{
    heddle_status status = HEDDLE_OK;
    const char *const one[] = {kernel->name, NULL};
    struct gpu_function *function;
    if (device->kind == DEVICE_cpu)
        return HEDDLE_OK;
    for (const char *const *entry = kernel->entries ? kernel->entries : one; *entry; entry++)
        TRY(gpu_kernel(device->gpu, &function, kernel->name, variant, *entry));
done:
    return status;
}
