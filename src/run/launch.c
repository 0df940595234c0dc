/* SPDX-License-Identifier: MIT
 *
 * How the host half of a GPU page launches its device half. */
#include "run/launch.h"

#include <stddef.h>
#include <string.h>

#include "gpu/module.h"

/* product.h tells why. */
_Static_assert(offsetof(struct product, alpha) + SCALAR_BYTES <= 112,
               "what CSR needs to add to y is in the first 112 bytes");
_Static_assert(offsetof(struct product, fact) + PRODUCT_FACTS * sizeof(int64_t) <= 112 + 128,
               "what it needs in the end lies with the facts");

/* What Liu and Vinter 2015 found best on a GTX 980 and on an R9 290X.  NVIDIA's multiprocessors since 8.0
 * keep many more loads under way, so their tiles are larger: a descriptor then stands for more entries. */
#define SIGMA_NVIDIA                                                                                         \
    {                                                                                                        \
        4, 32, 256, 6                                                                                        \
    }
#define SIGMA_NVIDIA_8                                                                                       \
    {                                                                                                        \
        8, 32, 256, 16                                                                                       \
    }
#define SIGMA_AMD                                                                                            \
    {                                                                                                        \
        4, 7, 256, 4                                                                                         \
    }

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

static struct gpu_watch *watch_of(const struct work *w)
{
    return ((struct gpu_head *)w->device->gpu)->watch;
}

int64_t gpu_grid(const struct work *w, int64_t blocks, int64_t block)
{
    const int64_t most = gpu_most_blocks(w->device->gpu, block);
    return blocks < most ? blocks : most;
}

/* Does a product take the device longer than the host?  Then a thread has many entries. */
#define FEW 4
static int is_long(const struct work *w)
{
    return w->kernel && w->product.nnz > FEW * gpu_threads(w->device->gpu);
}

heddle_status gpu_run(const struct work *w, const char *entry, int64_t grid, int block, int64_t shared)
{
    struct gpu *gpu = w->device->gpu;
    struct gpu_launch launch = {NULL, grid, block, shared, is_long(w)};
    heddle_status status = gpu_kernel(gpu, &launch.function, w->page, w->variant, entry);
    if (status == HEDDLE_OK)
        status = gpu_driver_of(gpu)->launch(gpu, &launch, &w->product, sizeof w->product, w->device->stream);
    return status == HEDDLE_OK && watch_of(w) ? watch_of(w)->launched(watch_of(w), entry) : status;
}

static heddle_status run(const struct work *w, struct launch l)
{
    return l.grid == 0 ? HEDDLE_OK : gpu_run(w, l.entry, l.grid, l.block, l.shared);
}

/* One by one for who watches: what each takes is asked for. */
heddle_status gpu_run_pair(const struct work *w, struct launch first, struct launch second)
{
    heddle_status status = HEDDLE_OK;
    struct gpu *gpu = w->device->gpu;
    const struct gpu_driver *driver = gpu_driver_of(gpu);
    struct gpu_launch pair[2] = {{NULL, first.grid, first.block, first.shared, is_long(w)},
                                 {NULL, second.grid, second.block, second.shared, is_long(w)}};
    if (!watch_of(w) && first.grid > 0 && second.grid > 0) {
        TRY(gpu_kernel(gpu, &pair[0].function, w->page, w->variant, first.entry));
        TRY(gpu_kernel(gpu, &pair[1].function, w->page, w->variant, second.entry));
        TRY(driver->launch_pair(gpu, pair, &w->product, sizeof w->product, w->device->stream));
    } else {
        TRY(run(w, first));
        TRY(run(w, second));
    }
done:
    return status;
}

/* With at most so many threads. */
static struct launch launch_over(const struct work *w, const char *entry, int64_t items, int64_t threads)
{
    const int block = gpu_arch(w->device->gpu)->block;
    const int64_t grid = (items + block - 1) / block, most = threads / block;
    return (struct launch){entry, gpu_grid(w, grid < most ? grid : most, block), block, 0};
}

struct launch gpu_over(const struct work *w, const char *entry, int64_t items)
{
    return launch_over(w, entry, items, INT64_MAX);
}

heddle_status gpu_run_over(const struct work *w, const char *entry, int64_t items)
{
    return run(w, gpu_over(w, entry, items));
}

struct launch gpu_filling(const struct work *w, const char *entry, int64_t items)
{
    return launch_over(w, entry, items, gpu_threads(w->device->gpu));
}

struct launch gpu_scaling(const struct work *w, const char *entry, int64_t items)
{
    return beta_is_one(w) ? (struct launch){0} : gpu_filling(w, entry, items);
}

heddle_status gpu_run_filling(const struct work *w, const char *entry, int64_t items)
{
    return run(w, gpu_filling(w, entry, items));
}

/* All blocks of a launch, whose grid may be larger than any: product.first begins with 0 and counts `each`
 * for a block.  The first launch makes a pair with `ahead`. */
static heddle_status run_all(const struct work *w, struct launch ahead, struct launch all, int64_t each)
{
    heddle_status status = HEDDLE_OK;
    struct work part = *w;
    struct launch now = all;
    int64_t block = 0;
    do {
        now.grid = gpu_grid(w, all.grid - block, all.block);
        part.product.first = (int32_t)(block * each);
        TRY(gpu_run_pair(&part, ahead, now));
        ahead.grid = 0;
        block += now.grid;
    } while (block < all.grid);
done:
    return status;
}

heddle_status gpu_run_blocks(const struct work *w, struct launch all)
{
    return run_all(w, (struct launch){0}, all, 1);
}

heddle_status gpu_run_blocks_behind(const struct work *w, struct launch ahead, struct launch all)
{
    return run_all(w, ahead, all, 1);
}

heddle_status gpu_run_rows_behind(const struct work *w, struct launch ahead, const char *entry, int64_t lanes)
{
    const int block = gpu_arch(w->device->gpu)->block;
    const int64_t each = block / lanes;
    return run_all(w, ahead, (struct launch){entry, (w->product.rows + each - 1) / each, block, 0}, each);
}

heddle_status gpu_run_rows(const struct work *w, const char *entry, int64_t lanes)
{
    return gpu_run_rows_behind(w, (struct launch){0}, entry, lanes);
}
