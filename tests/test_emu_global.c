/* SPDX-License-Identifier: MIT
 *
 * Hooks find every race of planted/global.c, say where, and let the same kernels pass without it: whatever
 * the width of a wave, the order of blocks and the number of processors. */
#include "planted/device.h"

#include <stdlib.h>

#define BLOCK 128
#define GRID 5
#define N (GRID * BLOCK)

static const char *const orders[] = {"seed=1,threads=1", "seed=7,threads=1", "seed=99,threads=2"};
enum { ORDERS = sizeof orders / sizeof orders[0] };

static heddle_status run(struct gpu *gpu, struct product *p, const char *name, int broken)
{
    char symbol[64];
    p->parts = broken;
    CHECK_OK(emu_driver.fill(gpu, p->y, 0, N * 4, NULL));
    CHECK_OK(emu_driver.fill(gpu, p->counters, 0, 4, NULL));
    snprintf(symbol, sizeof symbol, "%s__f32_i32", name);
    return device_run(gpu, symbol, (struct shape){GRID, BLOCK, 0}, p);
}

/* The broken kernel fails with both texts, right before and after that the good one passes and leaves
 * `first` in y[0]. */
static void caught(const char *name, float first, const char *words, const char *more)
{
    for (int wave = 32; wave <= 64; wave += 32)
        for (int order = 0; order < ORDERS; order++) {
            char options[64];
            snprintf(options, sizeof options, "wave=%d,races=1,%s", wave, orders[order]);
            struct gpu *gpu = device_open(options);
            struct product p = {.rows = N,
                                .y = device_array(gpu, N * 4),
                                .workspace = device_array(gpu, N * 4),
                                .counters = device_array(gpu, 4)};
            CHECK_OK(emu_driver.fill(gpu, p.workspace, 0, N * 4, NULL));
            for (int broken = 0; broken < 3; broken++) {
                heddle_status status = run(gpu, &p, name, broken == 1);
                CHECK_THAT(status == (broken == 1 ? HEDDLE_DEVICE_ERROR : HEDDLE_OK), "%s, %s, %s: %s (%s)",
                           name, options, broken == 1 ? "broken" : "right", heddle_status_name(status),
                           heddle_last_error());
                if (broken == 1)
                    CHECK_THAT(strstr(heddle_last_error(), words) && strstr(heddle_last_error(), more),
                               "%s, %s: '%s'", name, options, heddle_last_error());
                else
                    CHECK_THAT(((const float *)p.y)[0] == first, "%s, %s: %g", name, options,
                               (double)((const float *)p.y)[0]);
            }
            device_free(gpu, p.y), device_free(gpu, p.workspace), device_free(gpu, p.counters);
            device_close(gpu);
        }
}
#define RACE "race on global memory, byte "

TEST(plain_additions_of_two_blocks_race)
{
    caught("race_plain_add", GRID, RACE "0 of an allocation of 2560", "no barrier, and no simt_fence");
    caught("race_one_plain_add", GRID, RACE "0 of", "of block 1 ");
}

TEST(two_blocks_that_write_one_place_race)
{
    caught("race_two_writers", 0, RACE, "wrote");
}

TEST(waves_that_no_barrier_orders_race)
{
    caught("race_missing_barrier", BLOCK - 1, RACE, "read");
}

TEST(a_block_that_reads_what_another_one_writes_races)
{
    caught("race_neighbour", 1, RACE, "read");
}

/* The join by the last block to arrive is legal; the same without one of its fences is a race. */
TEST(a_join_without_its_fence_races)
{
    caught("race_join_leaves_unfenced", GRID * (GRID - 1) / 2, RACE, "read");
    caught("race_join_reads_unfenced", GRID * (GRID - 1) / 2, RACE, "read");
    caught("race_join_of_waves", N, RACE, "read");
}

#ifndef __SANITIZE_ADDRESS__
TEST(hooks_name_the_thread_that_loads_outside_of_global_memory)
{
    caught("race_load_behind", 0,
           "block 4, thread 127: a load outside of global memory: byte 2560 of an allocation of 2560", "+0x");
}
#endif

TEST(an_access_that_is_wider_than_its_alignment_is_caught)
{
    caught("race_wide_load", 0, "block 0, thread 0: a load of 8 bytes that is aligned to fewer", "+0x");
}

/* What the second kernel of a pair does with what the first has written, and what is said of it. */
static const char *const said_of_pairs[] = {
    NULL, "read", "read", "atomically", NULL, "read", "the second of a pair, and no thread of it"};

TEST(the_second_of_a_pair_waits_before_it_touches_what_the_first_has_written)
{
    for (int wave = 32; wave <= 64; wave += 32)
        for (int64_t i = 0; i < (int64_t)(sizeof said_of_pairs / sizeof said_of_pairs[0]); i++) {
            char options[64];
            snprintf(options, sizeof options, "wave=%d,races=1,%s", wave, orders[i % ORDERS]);
            struct gpu *gpu = device_open(options);
            struct gpu_module *module;
            struct gpu_launch pair[2] = {{NULL, GRID, BLOCK, 0, 0}, {NULL, GRID, BLOCK, 0, 0}};
            struct product p = {
                .parts = i, .y = device_array(gpu, N * 4), .workspace = device_array(gpu, N * 4)};
            CHECK_OK(emu_driver.load(gpu, &module, NULL, 0));
            CHECK_OK(emu_driver.find(gpu, &pair[0].function, module, "pair_first__f32_i32"));
            CHECK_OK(emu_driver.find(gpu, &pair[1].function, module, "pair_second__f32_i32"));
            const heddle_status status = emu_driver.launch_pair(gpu, pair, &p, sizeof p, NULL);
            CHECK_THAT(status == (said_of_pairs[i] ? HEDDLE_DEVICE_ERROR : HEDDLE_OK), "%d: %s (%s)", (int)i,
                       heddle_status_name(status), heddle_last_error());
            if (said_of_pairs[i])
                CHECK_THAT(strstr(heddle_last_error(), said_of_pairs[i]) &&
                               strstr(heddle_last_error(), "simt_after_previous"),
                           "%d: %s", (int)i, heddle_last_error());
            /* alone it may do so */
            p.parts = 1;
            CHECK_OK(emu_driver.launch(gpu, &pair[0], &p, sizeof p, NULL));
            CHECK_OK(emu_driver.launch(gpu, &pair[1], &p, sizeof p, NULL));
            CHECK(((const float *)p.y)[N - 1] == 2);
            device_free(gpu, p.y), device_free(gpu, p.workspace);
            device_close(gpu);
        }
}
