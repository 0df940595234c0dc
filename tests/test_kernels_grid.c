/* SPDX-License-Identifier: MIT
 *
 * Kernels whose grid is smaller than their work: on the emulator a grid can be anything.  And whose numbers
 * it is cut by. */
#include <string.h>

#include "convert/convert.h"
#include "run/launch.h"
#include "trial.h"

/* A device whose grids have eight blocks, which is what its only multiprocessor holds: everything else takes
 * several launches, or threads that come round. */
TEST(a_grid_that_is_too_small_covers_the_whole_matrix)
{
    static const char *const names[] = {"emu:wave=32,threads=1,seed=5", "emu:wave=64,threads=1,seed=5"};
    for (int i = 0; i < 2 * awkward_count * 2; i++) {
        const struct awkward *w = &awkward[i / 4];
        if (w->rows <= 2 * 8 * 256)
            continue;
        struct trial t = {.name = names[i % 2], .device = {.kind = DEVICE_gpu}};
        CHECK_OK(gpu_open(&t.device.gpu, t.name));
        struct gpu_info *info = &((struct gpu_head *)t.device.gpu)->info;
        trial_new(&t, w, VARIANT_f64_i32, i / 2 % 2 ? HEDDLE_T : HEDDLE_N, 1);
        for (int k = 0; k < kernel_count(); k++)
            if (kernel_at(k)->device == DEVICE_gpu && awkward_wants(kernel_at(k)->name)) {
                t.kernel = kernel_at(k)->name;
                const struct scalars s = {.alpha = 1, .beta = 0.5};
                info->grid = 8;
                struct bound *b = trial_bind(&t);
                if (b)
                    trial_multiply(&t, b, s);
                info->grid = INT32_MAX;
                CHECK_THAT(!b || trial_wrong(&t, s, 1) == 0, "%s, '%s', op %d", t.kernel, w->name, t.op);
                bound_free(b);
            }
        trial_free(&t);
        gpu_close(t.device.gpu);
    }
}

/* Where a tile of csr_merge begins is looked for near where it would if all rows were alike, at distances
 * that double.  Here it slowly comes nearer: some tiles end with the very row that is looked at. */
static int64_t one_but_the_first(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, i == 0 ? cols : 1;
}

static int64_t spread(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)n, (void)random, (i + j) % cols;
}

TEST(tiles_begin_where_they_should_wherever_the_first_look_is)
{
    static const struct awkward w = {"a long row and short ones",
                                     "a border at a place that is looked at",
                                     100000,
                                     200,
                                     one_but_the_first,
                                     spread};
    static const char *const names[] = {"emu:wave=32,seed=7", "emu:wave=64,seed=8"};
    for (int i = 0; i < 2 && awkward_wants("csr_merge"); i++) {
        struct trial t = {
            .name = names[i], .kernel = "csr_merge:search=block", .device = {.kind = DEVICE_gpu}};
        CHECK_OK(gpu_open(&t.device.gpu, t.name));
        trial_new(&t, &w, VARIANT_f64_i32, HEDDLE_N, 1);
        trial_products(&t, 1, 1);
        trial_free(&t);
        gpu_close(t.device.gpu);
    }
}

/* The same for row blocks, whose threads share memory: a block must not stage the next one before this one
 * is summed. */
TEST(blocks_come_round_to_row_blocks_that_the_grid_does_not_cover)
{
    static const int64_t option[OPTIONS_MOST] = {128, 4};
    struct gpu *gpu;
    CHECK_OK(gpu_open(&gpu, "emu:wave=32,seed=6,races=1"));
    struct trial t = {.device = {.kind = DEVICE_gpu, .gpu = gpu}};
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 1);
    struct source source = {.csr = t.on_device};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_csr, &source, NULL));
    CHECK_OK(stored_build(&s, &source));
    struct work w = work_for(kernel_by_name("csr_adaptive"), &t.device, &s, 0, option);
    CHECK_OK(device_alloc(&t.device, &w.product.prepared, work_held(&w)));
    CHECK_OK(w.kernel->prepare(&w));
    scalar_put(w.product.alpha, w.value, 1);
    scalar_put(w.product.beta, w.value, 0.5);
    trial_set_y(&t, 1);
    w.product.x = t.x;
    w.product.y = trial_at(&t, t.y, GUARD);
    CHECK_OK(gpu_run(&w, "csr_adaptive_128x4", 2, 128, 8192));
    CHECK_OK(device_read(&t.device, t.got, t.y, trial_bytes(&t)));
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1, .beta = 0.5}, 1) == 0);
    device_free(&t.device, w.product.prepared);
    trial_free(&t);
    gpu_close(gpu);
}

/* The same for tiles, and for the carries that they leave. */
TEST(blocks_come_round_to_tiles_that_the_grid_does_not_cover)
{
    static const struct {
        const char *kernel, *entry, *carry;
    } cases[] = {{"csr_merge:items=7,block=128,search=block", "csr_merge7", "csr_merge_carry"},
                 {"csr5:sigma=8", "csr5_sigma8", "csr5_carry"}};
    for (int i = 0; i < 4; i++) {
        const struct kernel *kernel;
        int64_t option[OPTIONS_MOST];
        struct gpu *gpu;
        struct stored s;
        CHECK_OK(gpu_open(&gpu, i < 2 ? "emu:wave=32,seed=5" : "emu:wave=64,seed=6"));
        CHECK_OK(kernel_parse(&kernel, option, cases[i % 2].kernel));
        struct trial t = {.device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, &awkward[8], VARIANT_f64_i32, HEDDLE_N, 1);
        CHECK(strcmp(t.matrix, "huge row in the middle") == 0);
        struct source source = {.csr = t.on_device};
        CHECK_OK(device_stored_size(&t.device, &s, kernel->format, &source, option));
        CHECK_OK(device_stored_build(&t.device, &s, &source));
        struct work w = work_for(kernel, &t.device, &s, 0, option);
        int64_t block = i % 2 ? 64 : 128, tiles = i % 2 ? s.dim[CSR5_TILES] : w.product.parts;
        if (i % 2)
            w.product.parts = (tiles * s.dim[CSR5_OMEGA] + 63) / 64;
        CHECK(tiles > 10 && work_workspace(&w) > 0);
        CHECK_OK(device_alloc(&t.device, &w.product.workspace, work_workspace(&w)));
        scalar_put(w.product.alpha, w.value, 2);
        scalar_put(w.product.beta, w.value, -1);
        trial_set_y(&t, 1);
        w.product.x = t.x;
        w.product.y = trial_at(&t, t.y, GUARD);
        CHECK_OK(gpu_run(&w, cases[i % 2].entry, 3, (int)block, (7 * 128 + 2) * 8));
        CHECK_OK(gpu_run(&w, cases[i % 2].carry, 1, 64, 0));
        CHECK_OK(device_read(&t.device, t.got, t.y, trial_bytes(&t)));
        CHECK_THAT(trial_wrong(&t, (struct scalars){.alpha = 2, .beta = -1}, 1) == 0, "%s",
                   cases[i % 2].entry);
        device_free(&t.device, w.product.workspace);
        device_stored_free(&t.device, &s);
        trial_free(&t);
        gpu_close(gpu);
    }
}

TEST(an_emulated_device_has_the_numbers_of_a_vendor)
{
    struct gpu *nvidia, *amd;
    CHECK_OK(gpu_open(&nvidia, "emu:wave=32"));
    CHECK_OK(gpu_open(&amd, "emu:wave=64"));
    CHECK(!gpu_arch(nvidia)->amd && gpu_arch(amd)->amd);
    CHECK(gpu_threads(nvidia) == 64 * 32 * gpu_info_of(nvidia)->multiprocessors);
    CHECK(gpu_threads(amd) == 32 * 64 * gpu_info_of(amd)->multiprocessors);
    gpu_close(nvidia);
    gpu_close(amd);
}

TEST(a_corrupted_result_is_noticed)
{
    struct gpu *gpu;
    CHECK_OK(gpu_open(&gpu, "emu"));
    struct trial t = {.kernel = "csr_vector", .device = {.kind = DEVICE_gpu, .gpu = gpu}};
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 0);
    struct bound *b = trial_bind(&t);
    trial_multiply(&t, b, (struct scalars){.alpha = 1});
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 0);
    double *y = (double *)t.got + GUARD;
    y[100] *= 1 + 1e-12;
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 1);
    y[-1] = 0.123;
    CHECK(trial_wrong(&t, (struct scalars){.alpha = 1}, 0) == 2);
    bound_free(b);
    trial_free(&t);
    gpu_close(gpu);
}
