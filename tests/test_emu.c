/* SPDX-License-Identifier: MIT
 *
 * The words of the dialect mean what simt.h says, on the emulator, at both wave widths, for full and
 * partial waves, with and without hooks, whatever the order of threads and blocks.  The kernels are in
 * planted/everything.c. */
#include "planted/device.h"

#define RESULTS 12

static const struct shape shapes[] = {{1, 64, 0},  {3, 256, 0}, {2, 1024, 0}, {5, 1, 0},
                                      {2, 100, 0}, {1, 33, 0},  {40, 192, 0}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Runs `body` on devices of every width, some seeds, one or two processors, plain and hooked. */
static void on_devices(void (*body)(struct gpu *gpu, int wave))
{
    static const char *const options[] = {"seed=1,threads=1", "seed=12345,threads=2",
                                          "seed=2,threads=1,races=1"};
    for (int wave = 32; wave <= 64; wave += 32)
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            char text[64];
            snprintf(text, sizeof text, "wave=%d,%s", wave, options[i]);
            struct gpu *gpu = device_open(text);
            body(gpu, wave);
            device_close(gpu);
        }
}

/* Lanes that the wave of thread t has. */
static int lanes_of(const struct shape *s, int wave, int t)
{
    int rest = s->block - t / wave * wave;
    return rest < wave ? rest : wave;
}

typedef void expectation(int64_t expected[RESULTS], const struct shape *s, int wave, int64_t global,
                         const struct product *p);

/* Launches a kernel whose threads write `count` integers each and compares all of them. */
static void expect(struct gpu *gpu, int wave, const char *name, const struct shape *s, struct product p,
                   int count, expectation *expected_of)
{
    int64_t threads = s->grid * s->block, wrong = 0;
    int64_t *y = device_array(gpu, threads * count * (int64_t)sizeof *y);
    p.rows = count;
    p.y = y;
    CHECK_OK(device_run(gpu, name, *s, &p));
    for (int64_t g = 0; g < threads; g++) {
        int64_t expected[RESULTS];
        expected_of(expected, s, wave, g, &p);
        for (int i = 0; i < count; i++)
            if (y[g * count + i] != expected[i] && wrong++ < 3)
                CHECK_THAT(0, "%s, wave %d, %lld x %d: thread %lld, result %d is %lld, not %lld", name, wave,
                           (long long)s->grid, s->block, (long long)g, i, (long long)y[g * count + i],
                           (long long)expected[i]);
    }
    CHECK(wrong == 0);
    device_free(gpu, y);
}

static void expect_where(int64_t e[RESULTS], const struct shape *s, int wave, int64_t g,
                         const struct product *p)
{
    int t = (int)(g % s->block);
    (void)p;
    int64_t expected[] = {t,
                          g / s->block,
                          s->block,
                          s->grid,
                          g,
                          s->grid * s->block,
                          t % wave,
                          t / wave,
                          (s->block + wave - 1) / wave,
                          wave,
                          (int64_t)(((uint64_t)1 << t % wave) - 1)};
    memcpy(e, expected, sizeof expected);
}

static void where(struct gpu *gpu, int wave)
{
    for (int i = 0; i < SHAPES; i++) {
        expect(gpu, wave, "everything_where__f32_i32", &shapes[i], (struct product){0}, 11, expect_where);
        expect(gpu, wave, "everything_where__f64_i32", &shapes[i], (struct product){0}, 11, expect_where);
    }
}

TEST(every_thread_knows_its_place)
{
    on_devices(where);
}

static void expect_shuffles(int64_t e[RESULTS], const struct shape *s, int wave, int64_t g,
                            const struct product *p)
{
    int t = (int)(g % s->block), lanes = (int)p->cols, by = (int)p->nnz, lane = t % wave;
    int first = t - lane % lanes, place = lane % lanes;
    int to = first + by, up = place >= by ? t - by : t, down = place + by < lanes ? t + by : t,
        other = first + (place ^ by);
    int64_t sum = 0;
    for (int i = 0; i <= lane / lanes; i++)
        sum += -1000 - (first + i % lanes);
    int64_t expected[] = {-1000 - to,       -1000 - up,        -1000 - down,  -1000 - other, 4000000000 + to,
                          -5000000000 - up, 5000000000 + down, 4 * other + 2, 4 * to + 1,    sum};
    memcpy(e, expected, sizeof expected);
}

static void shuffles(struct gpu *gpu, int wave)
{
    for (int i = 0; i < SHAPES; i++)
        for (int lanes = 1; lanes <= wave; lanes *= 2)
            for (int by = 0; by < lanes; by = 2 * by + 1) {
                if (shapes[i].block % lanes != 0)
                    continue; /* shuffles must not read lanes that are not there: see test_emu_bugs.c */
                struct product p = {.cols = lanes, .nnz = by};
                expect(gpu, wave, "everything_shuffles__f32_i32", &shapes[i], p, 10, expect_shuffles);
            }
}

TEST(shuffles_move_values_of_every_type_within_their_group)
{
    on_devices(shuffles);
}

static void expect_votes(int64_t e[RESULTS], const struct shape *s, int wave, int64_t g,
                         const struct product *p)
{
    int t = (int)(g % s->block), first = t / wave * wave, lanes = lanes_of(s, wave, t), before = 0, all = 1;
    uint64_t ballot = 0;
    (void)p;
    for (int i = 0; i < lanes; i++) {
        ballot |= (uint64_t)((first + i) % 3 == 0) << i;
        all &= (first + i) % 3 == 0;
        before += (first + i) % 3 == 0 && first + i < t;
    }
    int bits = 0;
    while (t >> bits)
        bits++;
    int64_t expected[] = {
        (int64_t)ballot, first == 0 && lanes > 1, 0, 1, all, before, t ? 21 + __builtin_ctz((unsigned)t) : 0,
        64 - bits,       lanes > 5 ? 6 : 0};
    memcpy(e, expected, sizeof expected);
}

static void votes(struct gpu *gpu, int wave)
{
    for (int i = 0; i < SHAPES; i++)
        expect(gpu, wave, "everything_votes__f64_i32", &shapes[i], (struct product){0}, 9, expect_votes);
}

TEST(ballots_hold_one_bit_for_each_lane_that_is_there)
{
    on_devices(votes);
}

static void expect_together(int64_t e[RESULTS], const struct shape *s, int wave, int64_t g,
                            const struct product *p)
{
    int t = (int)(g % s->block), n = s->block, lanes = (int)p->cols, first = t / lanes * lanes;
    int64_t group = 0, scan = 0, segment = 0, all = (int64_t)n * (n - 1) / 2;
    (void)wave;
    for (int i = first; i < first + lanes; i++)
        group += i;
    for (int i = first; i <= t; i++) {
        scan += i;
        segment = i % 5 == 0 ? i : segment + i;
    }
    int64_t place = t - first, before = (int64_t)t * (t - 1) / 2;
    int64_t expected[] = {
        group,          first + lanes - 1,    scan, scan - t, segment, all, 3 * all, 5000, before, all + t,
        -first + lanes, n + place + 1 + place};
    memcpy(e, expected, sizeof expected);
}

static void together(struct gpu *gpu, int wave)
{
    for (int i = 0; i < SHAPES; i++)
        for (int lanes = 1; lanes <= wave; lanes *= 2) {
            struct product p = {.cols = lanes};
            if (shapes[i].block % wave != 0)
                continue;
            expect(gpu, wave, "everything_together__f32_i32", &shapes[i], p, 12, expect_together);
            expect(gpu, wave, "everything_together__f64_i32", &shapes[i], p, 12, expect_together);
        }
}

TEST(waves_and_blocks_reduce_and_scan)
{
    on_devices(together);
}

static void atomics_of(struct gpu *gpu, const char *name, int real_bytes)
{
    for (int i = 0; i < SHAPES; i++) {
        int64_t n = shapes[i].block, blocks = shapes[i].grid;
        if (n < 8)
            continue; /* the kernel clears eight counters with eight threads */
        char *y = device_array(gpu, 64);
        CHECK_OK(emu_driver.fill(gpu, y, 0, 64, NULL));
        struct product p = {.array = {y}};
        CHECK_OK(device_run(gpu, name, shapes[i], &p));
        int64_t count, largest, bits, last;
        int32_t least;
        float f32, cas32;
        double f64, cas64;
        memcpy(&count, y, 8), memcpy(&f32, y + 8, 4), memcpy(&f64, y + 16, 8);
        memcpy(&cas32, y + 24, 4), memcpy(&cas64, y + 24, 8), memcpy(&largest, y + 32, 8),
            memcpy(&least, y + 40, 4);
        memcpy(&bits, y + 48, 8), memcpy(&last, y + 56, 8);
        CHECK(count == n * blocks);
        CHECK(f32 == 0.5f * (float)(n * blocks));
        CHECK(f64 == 0.5 * (double)(n * blocks));
        CHECK((real_bytes == 4 ? cas32 : cas64) == 0.25 * (double)(n * blocks));
        CHECK(largest == n - 1);
        CHECK(least == 1 - n);
        CHECK(bits == (int64_t)(n >= 32 ? 0xffffffff : 0));
        CHECK(last == blocks + 1);
        device_free(gpu, y);
    }
}

static void atomics(struct gpu *gpu, int wave)
{
    (void)wave;
    atomics_of(gpu, "everything_atomics__f32_i32", 4);
    atomics_of(gpu, "everything_atomics__f64_i32", 8);
}

TEST(atomics_lose_nothing_in_shared_and_global_memory)
{
    on_devices(atomics);
}

static void loads(struct gpu *gpu, int wave)
{
    (void)wave;
    const struct shape *s = &shapes[1];
    int64_t n = s->grid * s->block;
    double *x = device_array(gpu, (n + 3) * 8), *y = device_array(gpu, 3 * n * 8);
    int32_t *col = device_array(gpu, (n + 3) * 4), *row_ptr = device_array(gpu, (n + 1) * 4);
    for (int64_t i = 0; i < n + 3; i++) {
        x[i] = (double)i;
        col[i] = (int32_t)i;
        if (i <= n)
            row_ptr[i] = (int32_t)(2 * i);
    }
    struct product p = {.array = {col, row_ptr}, .x = x, .y = y};
    CHECK_OK(device_run(gpu, "everything_loads__f64_i32", *s, &p));
    for (int64_t i = 0; i < n; i++) {
        double k = (double)i;
        CHECK(y[3 * i] == 2 * k);
        CHECK(y[3 * i + 1] == 101 * k + 1010 * (k + 1));
        CHECK(y[3 * i + 2] ==
              6 * k + 8 * (k + 1) + 10 * (k + 2) + 12 * (k + 3) + (k + 3) + k + 2 * (k + 1) + 2 * k);
    }
    device_free(gpu, x), device_free(gpu, y), device_free(gpu, col), device_free(gpu, row_ptr);
}

TEST(loads_of_one_two_and_four_elements_read_what_is_there)
{
    on_devices(loads);
}

static void dynamic(struct gpu *gpu, int wave)
{
    (void)wave;
    float *x = device_array(gpu, 4 * 300), *y = device_array(gpu, 4 * 300);
    for (int i = 0; i < 300; i++)
        x[i] = (float)i;
    struct product p = {.x = x, .y = y};
    CHECK_OK(device_run(gpu, "everything_dynamic__f32_i32", (struct shape){3, 100, 400}, &p));
    for (int i = 0; i < 300; i++)
        CHECK(y[i] == (float)(i / 100 * 100 + 99 - i % 100));
    device_free(gpu, x), device_free(gpu, y);
}

TEST(dynamic_shared_memory_is_as_large_as_the_launch_says)
{
    on_devices(dynamic);
}

static void search(struct gpu *gpu, int wave)
{
    static const int32_t ends[] = {0, 0, 3, 4, 4, 90};
    (void)wave;
    int64_t *y = device_array(gpu, 100 * 8);
    int32_t *entry = device_array(gpu, sizeof ends);
    memcpy(entry, ends, sizeof ends);
    struct product p = {.rows = 1, .cols = 6, .array = {entry}, .y = y};
    CHECK_OK(device_run(gpu, "everything_search__f64_i32", (struct shape){1, 100, 0}, &p));
    for (int i = 0; i < 100; i++)
        CHECK(y[i] == (i < 3 ? 2 : i < 4 ? 3 : i < 90 ? 5 : 6));
    device_free(gpu, y), device_free(gpu, entry);
}

TEST(a_search_finds_the_row_of_an_entry)
{
    on_devices(search);
}
