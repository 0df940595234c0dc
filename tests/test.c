/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "test.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define TESTS_MOST 512

/* Under a sanitizer a request that is too large returns NULL, as it does without one.  ThreadSanitizer
 * would also end a child that makes threads (test_fork). */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:die_after_fork=0";
}

static struct {
    const char *name;
    test_function *function;
} tests[TESTS_MOST];
static int test_count, failures_of_this_test;
static const char *running = "before any test";
static char why_skipped[256]; /* of this test; "" when it runs */
static char directory[64];

void test_register(const char *name, test_function *function)
{
    if (test_count == TESTS_MOST)
        abort();
    tests[test_count].name = name;
    tests[test_count++].function = function;
}

int test_check(int good, const char *file, int line, const char *format, ...)
{
    if (good)
        return 1;
    if (++failures_of_this_test <= 10) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "  %s:%d: ", file, line);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
    }
    if (getenv("HEDDLE_TEST_FIRST")) { /* tests/mutate needs to know no more */
        printf("FAILED %s\n", running);
        exit(1);
    }
    return 0;
}

void test_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why_skipped, sizeof why_skipped, format, args);
    va_end(args);
}

int test_status(heddle_status got, heddle_status expected, const char *file, int line, const char *call)
{
    return test_check(got == expected, file, line, "%s gave %s, not %s (%s)", call, heddle_status_name(got),
                      heddle_status_name(expected), heddle_last_error());
}

int test_fails(heddle_status got, heddle_status expected, const char *words, const char *file, int line,
               const char *call)
{
    return test_status(got, expected, file, line, call) &&
           test_check(strstr(heddle_last_error(), words) != NULL, file, line,
                      "the error '%s' does not say '%s'", heddle_last_error(), words);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void remove_directory(void)
{
    if (directory[0])
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_path(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    if (!directory[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%.40s/heddle-XXXXXX",
                 base && strlen(base) < 40 ? base : "/tmp");
        if (!mkdtemp(directory))
            abort();
        atexit(remove_directory);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

const char *test_file(const char *name, const char *contents)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(contents, file) == EOF || fclose(file) == EOF)
        abort();
    return path;
}

int test_every_allocation(heddle_status (*body)(void *argument), void *argument)
{
    for (int n = 0; n < 100000; n++) {
        int64_t before = mem_live();
        mem_fail_after(n);
        heddle_status status = body(argument);
        mem_fail_after(-1);
        CHECK_THAT(mem_live() == before, "allocation %d failing leaks %lld blocks", n,
                   (long long)(mem_live() - before));
        if (status == HEDDLE_OK)
            return n + 1;
        CHECK_STATUS(status, HEDDLE_NO_MEMORY);
        if (status != HEDDLE_NO_MEMORY)
            return n + 1;
    }
    CHECK_THAT(0, "still failing after 100000 allocations");
    return 0;
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    setenv("HEDDLE_PROBE_MB", "16", 0); /* no test reads the times of products, which caches may shorten */
    for (int i = 0; i < test_count; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        failures_of_this_test = 0;
        running = tests[i].name;
        why_skipped[0] = 0;
        tests[i].function();
        failed += failures_of_this_test > 0;
        skipped += failures_of_this_test == 0 && why_skipped[0];
        passed += failures_of_this_test == 0 && !why_skipped[0];
        if (why_skipped[0])
            printf("skipped %s: %s\n", tests[i].name, why_skipped);
        if (failures_of_this_test > 0)
            printf("FAILED %s (%d checks)\n", tests[i].name, failures_of_this_test);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
