/* SPDX-License-Identifier: MIT
 *
 * test.h: a test reads as a sentence and states a property.
 *
 *     TEST(transposing_twice_sorts_every_row) { ... CHECK(csr_is_sorted(&A)); ... }
 *
 * Each tests/test_*.c is one program; its tests run in the order in which they stand, and it ends in the line
 * 'N passed, N failed, N skipped'.  With an argument only tests whose name contains it are run. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdint.h>
#include <stdio.h>

#include "heddle.h"

typedef void test_function(void);
void test_register(const char *name, test_function *function);

#define TEST(name)                                                                                           \
    static void name(void);                                                                                  \
    __attribute__((constructor)) static void register_##name(void)                                           \
    {                                                                                                        \
        test_register(#name, name);                                                                          \
    }                                                                                                        \
    static void name(void)

/* A failed check is reported with file and line and marks the test as failed; the test goes on. */
#define CHECK(condition) test_check((condition) != 0, __FILE__, __LINE__, "%s", #condition)
/* The same with a text of one's own: CHECK_THAT(a == b, "row %d: %g is not %g", i, a, b). */
#define CHECK_THAT(condition, ...) test_check((condition) != 0, __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_OK(call) CHECK_STATUS(call, HEDDLE_OK)
#define CHECK_STATUS(call, expected) test_status((call), (expected), __FILE__, __LINE__, #call)
/* The same, and the text of the error holds `words`. */
#define CHECK_FAILS(call, expected, words) test_fails((call), (expected), (words), __FILE__, __LINE__, #call)

/* Ends a test that cannot run here, with the reason: SKIP("there is no xz program").  What was checked
 * before still counts where it failed, but a skipped test has not passed. */
#define SKIP(...)                                                                                            \
    do {                                                                                                     \
        test_skip(__VA_ARGS__);                                                                              \
        return;                                                                                              \
    } while (0)

void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
int test_check(int good, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int test_status(heddle_status got, heddle_status expected, const char *file, int line, const char *call);
int test_fails(heddle_status got, heddle_status expected, const char *words, const char *file, int line,
               const char *call);

/* A path below a directory that is removed when the program ends; overwritten by the eighth next call. */
const char *test_path(const char *name);
/* Writes a small file there and returns its path. */
const char *test_file(const char *name, const char *contents);

/* Runs `body(argument)` again and again, making the first, second, ... allocation fail, until it succeeds
 * without a failure.  Every failing run must return HEDDLE_NO_MEMORY and free what it took; checks that and
 * returns the number of runs. */
int test_every_allocation(heddle_status (*body)(void *argument), void *argument);

/* A small random number generator for tests: the same sequence every time. */
uint64_t test_random(uint64_t *state);

#endif
