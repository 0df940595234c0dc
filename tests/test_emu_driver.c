/* SPDX-License-Identifier: MIT
 *
 * The emulator as a driver: its options and limits, its memory, the orders in which it runs threads and
 * blocks, and what it does when there is no memory. */
#define _DEFAULT_SOURCE
#include "planted/device.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "gpu/emu_fibre.h"

static heddle_status opens(const char *text)
{
    struct spec spec;
    struct gpu *gpu = NULL;
    heddle_status status;
    TRY(spec_parse(&spec, text));
    TRY(emu_driver.open(&gpu, 0, &spec));
    status = spec_done(&spec, "wave, seed, threads, shared, memory, races");
done:
    CHECK((gpu == NULL) == (status != HEDDLE_OK) || status == HEDDLE_BAD_ARGUMENT);
    emu_driver.close(gpu);
    return status;
}

TEST(options_are_checked)
{
    CHECK_OK(opens("emu"));
    CHECK_OK(opens("emu:wave=64,seed=7,threads=2,shared=1k,memory=100k,races=1"));
    CHECK_FAILS(opens("emu:wave=48"), HEDDLE_BAD_ARGUMENT, "32 or 64 lanes");
    CHECK_FAILS(opens("emu:wave=16"), HEDDLE_BAD_ARGUMENT, "wave");
    CHECK_FAILS(opens("emu:threads=0"), HEDDLE_BAD_ARGUMENT, "threads");
    CHECK_FAILS(opens("emu:waves=32"), HEDDLE_BAD_ARGUMENT, "waves");
}

TEST(the_device_describes_itself)
{
    int count = 0;
    struct gpu_info info;
    CHECK_OK(emu_driver.count(&count));
    CHECK(count == 1);
    CHECK_OK(emu_driver.describe(&info, 0));
    CHECK(strcmp(info.arch, "emu") == 0 && info.threads_per_block == 1024 && info.grid == 2147483647);
    CHECK_STATUS(emu_driver.describe(&info, 1), HEDDLE_NO_DEVICE);
    struct gpu *gpu = device_open("wave=64,threads=3");
    const struct gpu_head *head = (const struct gpu_head *)(const void *)gpu;
    CHECK(head->driver == &emu_driver && head->info.wave == 64 && head->info.multiprocessors == 3);
    CHECK(head->info.shared_per_block == 65536);
    device_close(gpu);
}

TEST(launches_outside_of_the_limits_are_refused)
{
    struct gpu *gpu = device_open("threads=1");
    int64_t *y = device_array(gpu, 1025 * 8);
    struct product p = {.y = y};
    const char *turns = "order_turns__f32_i32", *bound = "everything_dynamic__f32_i32";
    CHECK_OK(emu_driver.fill(gpu, y, 0, 8, NULL));
    CHECK_OK(device_run(gpu, turns, (struct shape){1, 1024, 0}, &p));
    CHECK_FAILS(device_run(gpu, turns, (struct shape){1, 1025, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "1025 threads a block, 1 to 1024");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){1, 0, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "0 threads a block");
    CHECK_FAILS(device_run(gpu, bound, (struct shape){1, 513, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "513 threads a block, 1 to 512");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){0, 32, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "a grid of 0 blocks");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){-1, 32, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "a grid of -1 blocks");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){2147483648, 32, 0}, &p), HEDDLE_BAD_ARGUMENT,
                "a grid of 2147483648");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){1, 32, 49153}, &p), HEDDLE_BAD_ARGUMENT,
                "49153 bytes of dynamic shared");
    CHECK_FAILS(device_run(gpu, turns, (struct shape){1, 32, -1}, &p), HEDDLE_BAD_ARGUMENT,
                "-1 bytes of dynamic shared");
    CHECK(y[0] == 1024);
    device_free(gpu, y);
    device_close(gpu);
}

TEST(static_and_dynamic_shared_memory_count_together)
{
    struct gpu *gpu = device_open("shared=2000");
    float *y = device_array(gpu, 4 * 256);
    struct product p = {.rows = 1, .y = y};
    CHECK_OK(device_run(gpu, "order_ring__f32_i32", (struct shape){1, 256, 976}, &p));
    CHECK_FAILS(device_run(gpu, "order_ring__f32_i32", (struct shape){1, 256, 977}, &p), HEDDLE_DEVICE_ERROR,
                "shared array ring of 1024 bytes: 977 are in use, and the device has 2000 a block");
    CHECK_OK(device_run(gpu, "order_ring__f32_i32", (struct shape){1, 256, 0}, &p));
    device_free(gpu, y);
    device_close(gpu);
}

TEST(kernels_are_found_by_name_and_take_their_argument_only)
{
    struct gpu *gpu = device_open("wave=64");
    struct gpu_module *module;
    struct gpu_function *function;
    struct product p = {0};
    CHECK_OK(emu_driver.load(gpu, &module, NULL, 0));
    CHECK_FAILS(emu_driver.find(gpu, &function, module, "no_such__f32_i32"), HEDDLE_NO_KERNEL,
                "no kernel no_such__f32_i32 in this build");
    CHECK(function == NULL);
    CHECK_OK(emu_driver.find(gpu, &function, module, "order_turns__f64_i32"));
    CHECK_FAILS(emu_driver.launch(gpu, &(struct gpu_launch){function, 1, 1, 0, 0}, &p, sizeof p - 8, NULL),
                HEDDLE_BAD_ARGUMENT, "takes an argument of");
    emu_driver.unload(gpu, module);
    device_close(gpu);
}

TEST(copies_and_fills_stay_within_their_allocation)
{
    struct gpu *gpu = device_open("wave=32");
    char host[100] = "warp and weft", *a = device_array(gpu, 100), *b = device_array(gpu, 50);
    CHECK((uintptr_t)a % 256 == 0 && (unsigned char)a[0] == 0xff && (unsigned char)a[99] == 0xff);
    CHECK_OK(emu_driver.copy(gpu, a, host, 100, NULL));
    CHECK_OK(emu_driver.copy(gpu, b, a + 5, 50, NULL));
    CHECK_OK(emu_driver.copy(gpu, host, b, 50, NULL));
    CHECK(strcmp(host, "and weft") == 0);
    CHECK_OK(emu_driver.fill(gpu, b + 10, 'x', 40, NULL));
    CHECK(b[10] == 'x' && b[49] == 'x');
    CHECK_FAILS(emu_driver.copy(gpu, b, a, 51, NULL), HEDDLE_BAD_ARGUMENT,
                "a copy of 51 bytes at byte 0 of an allocation of 50");
    CHECK_FAILS(emu_driver.copy(gpu, host, a + 60, 41, NULL), HEDDLE_BAD_ARGUMENT,
                "a copy of 41 bytes at byte 60");
    CHECK_FAILS(emu_driver.fill(gpu, b + 1, 0, 50, NULL), HEDDLE_BAD_ARGUMENT,
                "a fill of 50 bytes at byte 1");
    CHECK_STATUS(emu_driver.fill(gpu, b, 0, -1, NULL), HEDDLE_BAD_ARGUMENT);
    CHECK(emu_driver.on_device(gpu, a + 99) && emu_driver.on_device(gpu, b) &&
          !emu_driver.on_device(gpu, host));
    struct gpu *other = device_open("wave=64"); /* all emulated devices have the same memory */
    CHECK(emu_driver.on_device(other, a));
    device_close(other);
    device_free(gpu, a);
    CHECK(!emu_driver.on_device(gpu, a));
    device_free(gpu, b);
    device_free(gpu, NULL);
    CHECK_STATUS(emu_driver.alloc(gpu, (void **)&a, INT64_MAX), HEDDLE_NO_MEMORY);
    CHECK(a == NULL);
    device_close(gpu);
}

TEST(events_measure_time)
{
    struct gpu *gpu = device_open("wave=32");
    struct gpu_event *from, *to;
    double ms = -1;
    CHECK_OK(emu_driver.event_new(gpu, &from));
    CHECK_OK(emu_driver.event_new(gpu, &to));
    CHECK_OK(emu_driver.event_record(gpu, from, NULL));
    CHECK_OK(emu_driver.event_record(gpu, to, NULL));
    CHECK_OK(emu_driver.event_ms(gpu, &ms, from, to));
    CHECK(ms >= 0);
    emu_driver.event_free(gpu, from), emu_driver.event_free(gpu, to);
    device_close(gpu);
}

/* -------------------------------------------------------- orders ------------------------------ */

#define GRID 7
#define BLOCK 100

static void turns(int64_t turn[1 + GRID * BLOCK], const char *options, const char *kernel)
{
    struct gpu *gpu = device_open(options);
    struct product p = {.y = device_array(gpu, (1 + GRID * BLOCK) * 8)};
    CHECK_OK(emu_driver.fill(gpu, p.y, 0, 8, NULL));
    CHECK_OK(device_run(gpu, kernel, (struct shape){GRID, BLOCK, 0}, &p));
    memcpy(turn, p.y, (1 + GRID * BLOCK) * 8);
    device_free(gpu, p.y);
    device_close(gpu);
}

/* In how many places does the sequence go on as a sequential run would? */
static int in_sequence(const int64_t *turn, int first, int count)
{
    int same = 0;
    for (int i = first; i + 1 < first + count; i++)
        same += turn[i + 1] == turn[i] + 1;
    return same;
}

TEST(the_order_of_threads_and_blocks_is_the_seeds)
{
    static const char *const kernels[] = {"order_turns__f32_i32", "order_turns_behind_barrier__f32_i32"};
    for (int i = 0; i < 2; i++) {
        int64_t a[1 + GRID * BLOCK], b[1 + GRID * BLOCK], c[1 + GRID * BLOCK];
        turns(a, "threads=1,seed=1", kernels[i]);
        turns(b, "threads=1,seed=1", kernels[i]);
        turns(c, "threads=1,seed=2", kernels[i]);
        CHECK(memcmp(a, b, sizeof a) == 0);
        CHECK(memcmp(a, c, sizeof a) != 0);
        CHECK(in_sequence(a, 1, BLOCK) < BLOCK / 4 && in_sequence(c, 1, BLOCK) < BLOCK / 4);
        CHECK(a[1] / BLOCK != a[1 + BLOCK] / BLOCK); /* a block runs as a whole, and then another one */
        int sequential = 1;
        for (int block = 0; block < GRID; block++)
            sequential &= a[1 + block * BLOCK] / BLOCK == block;
        CHECK(!sequential);
    }
}

#ifndef __SANITIZE_ADDRESS__ /* which puts variables elsewhere */
static void stacks(int64_t at[BLOCK], int64_t barriers)
{
    struct gpu *gpu = device_open("threads=1");
    struct product p = {.rows = barriers, .y = device_array(gpu, BLOCK * 8)};
    CHECK_OK(device_run(gpu, "order_stacks__f32_i32", (struct shape){1, BLOCK, 0}, &p));
    memcpy(at, p.y, BLOCK * 8);
    device_free(gpu, p.y);
    device_close(gpu);
}

TEST(only_threads_that_wait_get_a_stack_of_their_own)
{
    int64_t none[BLOCK], some[BLOCK];
    stacks(none, 0);
    stacks(some, 3);
    for (int i = 1; i < BLOCK; i++)
        CHECK(none[i] == none[0]);
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < i; k++)
            CHECK(some[i] != some[k]);
}
#endif

TEST(groups_may_leave_while_others_go_on)
{
    for (int wave = 32; wave <= 64; wave += 32) {
        struct gpu *gpu = device_open(wave == 32 ? "wave=32" : "wave=64");
        struct product p = {.y = device_array(gpu, 192 * 8)};
        CHECK_OK(device_run(gpu, "order_groups_leave__f64_i32", (struct shape){1, 192, 0}, &p));
        for (int i = 0; i < 192; i++) {
            int64_t group = i % wave / 8;
            CHECK(((int64_t *)p.y)[i] == group * (group + 1) / 2);
        }
        device_free(gpu, p.y);
        device_close(gpu);
    }
}

TEST(a_shuffle_from_an_absent_lane_is_caught)
{
    struct gpu *gpu = device_open("wave=32");
    struct product p = {.rows = 4, .y = device_array(gpu, 40 * 8)};
    CHECK_FAILS(device_run(gpu, "order_shuffle_far__f32_i32", (struct shape){1, 40, 0}, &p),
                HEDDLE_DEVICE_ERROR, "of a wave that has 8");
    p.rows = 0;
    CHECK_OK(device_run(gpu, "order_shuffle_far__f32_i32", (struct shape){1, 40, 0}, &p));
    device_free(gpu, p.y);
    device_close(gpu);
}

TEST(correct_kernels_give_the_same_whatever_the_seed)
{
    for (int seed = 0; seed < 40; seed++) {
        char options[64];
        snprintf(options, sizeof options, "wave=%d,seed=%d,threads=%d,races=%d", seed % 2 ? 32 : 64, seed,
                 1 + seed % 3, seed % 5 == 0);
        struct gpu *gpu = device_open(options);
        struct product p = {.rows = 10, .y = device_array(gpu, 20 * 256 * 8)};
        CHECK_OK(device_run(gpu, "order_ring__f64_i32", (struct shape){20, 256, 0}, &p));
        for (int i = 0; i < 20 * 256; i++)
            CHECK(((double *)p.y)[i] == (i + 10) % 256);
        device_free(gpu, p.y);
        device_close(gpu);
    }
}

/* -------------------------------------------------------- no memory --------------------------- */

static heddle_status open_alloc_launch(void *unused)
{
    heddle_status status;
    struct gpu *gpu = NULL;
    struct spec spec;
    struct product p = {.rows = 2};
    void *pinned = NULL;
    struct gpu_event *event = NULL;
    (void)unused;
    TRY(spec_parse(&spec, "emu:threads=2,races=1"));
    TRY(emu_driver.open(&gpu, 0, &spec));
    TRY(emu_driver.alloc(gpu, &p.y, 4 * 256));
    TRY(emu_driver.alloc_pinned(gpu, &pinned, 100));
    TRY(emu_driver.event_new(gpu, &event));
    TRY(device_run(gpu, "order_ring__f32_i32", (struct shape){1, 256, 0}, &p));
done:
    if (gpu) {
        emu_driver.event_free(gpu, event);
        emu_driver.release_pinned(gpu, pinned);
        emu_driver.release(gpu, p.y);
    }
    emu_driver.close(gpu);
    return status;
}

TEST(every_allocation_may_fail)
{
    CHECK(test_every_allocation(open_alloc_launch, NULL) > 8);
    CHECK(mem_live() == 0);
}

/* 36 x 1024 stacks with a guard each would be 73,728 mappings.  Linux allows a process 65,530, and others
 * need some too: threads, files, large arrays. */
TEST(stacks_do_not_use_up_the_mappings_of_the_process)
{
    enum { DEVICES = EMU_ASAN ? 4 : 36, OTHERS = 2000 }; /* stacks are larger there, and have shadows */
    struct gpu *gpu[DEVICES];
    struct product p[DEVICES];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int left = 0;
    for (int i = 0; i < DEVICES; i++) {
        gpu[i] = device_open("threads=1");
        p[i] = (struct product){.rows = 12, .cols = 32, .y = device_array(gpu[i], 1024 * 12 * 8)};
        CHECK_OK(device_run(gpu[i], "everything_together__f64_i32", (struct shape){1, 1024, 0}, &p[i]));
    }
    char *others = mmap(NULL, OTHERS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(others != MAP_FAILED);
    for (int i = 1; i < OTHERS && others != MAP_FAILED; i += 2)
        left += mprotect(others + (size_t)i * page, page, PROT_NONE) == 0;
    CHECK_THAT(left == OTHERS / 2, "only %d mappings could be split", left);
    munmap(others, OTHERS * page);
    for (int i = 0; i < DEVICES; i++) {
        device_free(gpu[i], p[i].y);
        device_close(gpu[i]);
    }
}

/* With HEDDLE_SLOW_TESTS=1 the figures are printed; a machine would have to be very slow to fail. */
TEST(small_launches_are_cheap)
{
    struct gpu *gpu = device_open("threads=1");
    struct product p = {.rows = 5, .y = device_array(gpu, 256 * 8)};
    double begin = now_ms();
    for (int i = 0; i < 200; i++)
        CHECK_OK(device_run(gpu, "order_ring__f64_i32", (struct shape){1, 256, 0}, &p));
    double us = (now_ms() - begin) * 1e3 / 200;
    if (getenv("HEDDLE_SLOW_TESTS"))
        printf("a launch of 256 threads with 10 barriers: %.1f us\n", us);
    CHECK(us < 20000);
    device_free(gpu, p.y);
    device_close(gpu);
}
