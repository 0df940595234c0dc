/* SPDX-License-Identifier: MIT
 *
 * The emulator catches every bug of planted/bugs.c, says where it is, stays usable, and lets the same
 * kernels pass without the bug.  What it cannot see directly (memory that nobody has cleared, a wrong wave
 * width) must show in the result. */
#include "planted/device.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 128 /* as in bugs.c */
#define GRID 3
#define N (GRID * BLOCK)

static const char *const orders[] = {"seed=1,threads=1", "seed=7,threads=1", "seed=99,threads=2"};
enum { ORDERS = sizeof orders / sizeof orders[0], EVERY_WAVE = 0 };

/* "bugs.c:42", where bugs.c has the words "here: NAME". */
static const char *marked(const char *name)
{
    static char place[32];
    char path[4096] = __FILE__, line[256], words[64];
    snprintf(strrchr(path, '/'), 32, "/planted/bugs.c");
    snprintf(words, sizeof words, "here: %s ", name);
    FILE *f = fopen(path, "r");
    place[0] = '\0';
    for (int number = 1; f && fgets(line, sizeof line, f); number++)
        if (strstr(line, words))
            snprintf(place, sizeof place, "bugs.c:%d", number);
    if (f)
        fclose(f);
    CHECK_THAT(place[0], "no line of %s is marked with '%s'", path, words);
    return place;
}

struct subject {
    struct gpu *gpu;
    struct product p;
};

static struct subject subject_new(const char *options)
{
    struct subject s = {.gpu = device_open(options)};
    float *x = device_array(s.gpu, N * 4);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 10);
    s.p = (struct product){.rows = N, .x = x, .y = device_array(s.gpu, N * 4)};
    return s;
}

static void subject_free(struct subject *s)
{
    device_free(s->gpu, s->p.x), device_free(s->gpu, s->p.y);
    device_close(s->gpu);
}

static heddle_status run(struct subject *s, const char *name, int broken)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s__f32_i32", name);
    s->p.parts = broken;
    return device_run(s->gpu, symbol, (struct shape){GRID, BLOCK, 0}, &s->p);
}

/* Both wave widths (or one), several orders, with or without hooks: the broken kernel fails with all of
 * `words` in the text, and right before and after that the good one passes. */
static void caught(const char *name, int only_wave, int races, const char *const words[])
{
    for (int wave = 32; wave <= 64; wave += 32)
        for (int order = 0; order < ORDERS && (only_wave == EVERY_WAVE || only_wave == wave); order++) {
            char options[64];
            snprintf(options, sizeof options, "wave=%d,races=%d,%s", wave, races, orders[order]);
            struct subject s = subject_new(options);
            CHECK_OK(run(&s, name, 0));
            heddle_status status = run(&s, name, 1);
            CHECK_THAT(status == HEDDLE_DEVICE_ERROR, "%s, %s: the bug was not caught", name, options);
            for (int i = 0; status != HEDDLE_OK && words[i]; i++)
                CHECK_THAT(strstr(heddle_last_error(), words[i]), "%s, %s: no '%s' in '%s'", name, options,
                           words[i], heddle_last_error());
            CHECK_OK(run(&s, name, 0));
            subject_free(&s);
        }
}
#define WORDS(name, ...) ((const char *const[]){"emu: " name "__f32_i32: block ", __VA_ARGS__, NULL})
#define CAUGHT(name, wave, ...) caught(name, wave, 0, WORDS(name, __VA_ARGS__))
#define RACE(name, ...) caught(name, EVERY_WAVE, 1, WORDS(name, "race on shared ", __VA_ARGS__))

TEST(threads_at_two_barriers_are_caught)
{
    char odd[32];
    snprintf(odd, sizeof odd, "%s", marked("odd"));
    CAUGHT("bug_two_barriers", EVERY_WAVE, "divergent barrier at ", "is at the barrier at ", odd,
           marked("even"));
}

TEST(a_thread_that_leaves_before_a_barrier_is_caught)
{
    CAUGHT("bug_early_exit", EVERY_WAVE, "divergent barrier at ", marked("early_exit"),
           "thread 5 has left the kernel");
}

TEST(a_missing_barrier_is_caught)
{
    RACE("bug_missing_barrier", "ring[", "wrote", "read", "no barrier since the kernel began");
    RACE("bug_missing_second_barrier", "ring[", "wrote", "read", "no barrier since bugs.c:");
}

TEST(a_missing_wave_sync_is_caught)
{
    RACE("bug_missing_wave_sync", "ring[", "no barrier since bugs.c:");
    RACE("bug_wave_sync_for_block", "ring[", "wrote", "read");
    RACE("bug_shuffle_as_barrier", "ring[", "wrote", "read");
}

TEST(a_plain_read_of_an_atomic_counter_is_caught)
{
    RACE("bug_plain_read_of_counter", "counter[0]", "thread 7 read", "changed atomically");
}

TEST(a_shuffle_with_missing_lanes_is_caught)
{
    CAUGHT("bug_missing_lanes", EVERY_WAVE, "divergent shuffle xor at ", marked("missing_lanes"),
           "has left the kernel");
}

TEST(lanes_at_two_ballots_are_caught)
{
    char fourth[32];
    snprintf(fourth, sizeof fourth, "%s", marked("fourth"));
    CAUGHT("bug_divergent_ballot", EVERY_WAVE, "divergent ballot at ", "is at the ballot at ", fourth,
           marked("others"));
}

TEST(lanes_in_one_helper_from_two_lines_are_caught)
{
    char ninth[32];
    snprintf(ninth, sizeof ninth, "%s", marked("ninth"));
    CAUGHT("bug_divergent_helper", EVERY_WAVE, "divergent ", " at collective_", ninth,
           marked("all_but_ninth"));
}

TEST(lanes_that_wait_for_each_other_at_different_things_are_caught)
{
    char shuffle[32];
    snprintf(shuffle, sizeof shuffle, "%s", marked("shuffle"));
    CAUGHT("bug_deadlock", EVERY_WAVE, "divergent shuffle at ", shuffle, "is at the barrier at ",
           marked("barrier"));
}

#ifdef __SANITIZE_ADDRESS__
/* Does a process of its own that runs the kernel come to a good end? */
static int survives(const char *name, int broken)
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        struct subject s = subject_new("threads=1");
        _exit(run(&s, name, broken) != HEDDLE_OK);
    }
    int state = 0;
    CHECK(waitpid(child, &state, 0) == child);
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}
#endif

/* A store outside ends in a status; under AddressSanitizer it ends the process, so that it is made in
 * another one. */
static void caught_outside(const char *name, const char *words)
{
#ifdef __SANITIZE_ADDRESS__
    CHECK(survives(name, 0));
    CHECK_THAT(!survives(name, 1), "%s: AddressSanitizer has not seen %s", name, words);
#else
    caught(name, EVERY_WAVE, 0, (const char *const[]){name, words, NULL});
#endif
}

TEST(a_store_outside_of_global_memory_is_caught)
{
    caught_outside("bug_store_behind",
                   "a store outside of global memory: byte 1536 of an allocation of 1536");
    caught_outside("bug_store_before", "a store outside of global memory: byte -4 of an allocation of 1536");
}

TEST(a_store_outside_of_shared_memory_is_caught)
{
    caught_outside("bug_store_in_shared", "a store outside of shared first: element 128 of 128");
}

TEST(hooks_name_the_thread_that_stores_outside_of_shared_memory)
{
    caught("bug_store_in_shared", EVERY_WAVE, 1,
           (const char *const[]){"thread 127: a store outside of shared first: element 128 of 128", NULL});
}

/* Runs a kernel that fails silently; how many of the `count` first results are not as expected? */
static int wrong(const char *name, int wave, int broken, int count, float (*expected)(int i, int wave))
{
    char options[64];
    snprintf(options, sizeof options, "wave=%d", wave);
    struct subject s = subject_new(options);
    int bad = 0;
    CHECK_OK(run(&s, name, broken));
    for (int i = 0; i < count; i++)
        bad += !(((const float *)s.p.y)[i] == expected(i, wave));
    subject_free(&s);
    return bad;
}

static float twice(int i, int wave)
{
    (void)wave;
    return 2 * (float)(i % 10);
}

static float sum_of_wave(int i, int wave)
{
    int sum = 0;
    for (int k = i * wave; k < (i + 1) * wave; k++)
        sum += k % 10;
    return (float)sum;
}

TEST(memory_that_nobody_cleared_shows_in_the_result)
{
    static const char *const names[] = {"bug_forgotten_zero", "bug_forgotten_shared_zero"};
    for (int i = 0; i < 2; i++)
        for (int wave = 32; wave <= 64; wave += 32) {
            CHECK(wrong(names[i], wave, 0, N, twice) == 0);
            CHECK(wrong(names[i], wave, 1, N, twice) == N);
        }
}

TEST(a_wrong_wave_width_shows_at_the_other_width)
{
    CHECK(wrong("bug_wave_of_32", 32, 1, N / 32, sum_of_wave) == 0);
    CHECK(wrong("bug_wave_of_32", 64, 0, N / 64, sum_of_wave) == 0);
    CHECK(wrong("bug_wave_of_32", 64, 1, N / 64, sum_of_wave) > 0);
    CHECK(wrong("bug_ballot_of_32", 32, 1, N, twice) == 0);
    CHECK(wrong("bug_ballot_of_32", 64, 0, N, twice) == 0);
    CHECK(wrong("bug_ballot_of_32", 64, 1, N, twice) == N);
    CAUGHT("bug_wave_of_64", 32, "shuffle at ", marked("wave_of_64"), "among 64 lanes");
}

TEST(too_much_shared_memory_is_caught)
{
    CAUGHT("bug_shared_too_large", EVERY_WAVE,
           "shared array huge of 64000 bytes: 32000 are in use, and the device has ");
}
