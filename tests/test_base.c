/* SPDX-License-Identifier: MIT
 *
 * The base layer: errors, memory, threads, specs, JSON. */
#include "test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/timer.h"

TEST(a_wild_pointer_is_told_from_a_good_one)
{
    char here[2] = {0};
    static const char constant = 1;
    CHECK(mem_readable(here, sizeof here) && mem_readable(&constant, 1));
    CHECK(mem_readable(NULL, 0));
#ifdef __linux__
    CHECK(!mem_readable(NULL, 1) && !mem_readable((void *)(uintptr_t)16, 8));
    CHECK(!mem_readable(here, (int64_t)1 << 47)); /* its end is nowhere */
#endif
}

TEST(every_status_has_a_name_and_a_text)
{
    for (int s = HEDDLE_OK; s <= HEDDLE_INTERNAL; s++) {
        CHECK(strncmp(heddle_status_name((heddle_status)s), "HEDDLE_", 7) == 0);
        CHECK(strlen(heddle_status_text((heddle_status)s)) > 5);
    }
    CHECK(strcmp(heddle_status_name((heddle_status)999), "HEDDLE_UNKNOWN_STATUS") == 0);
    CHECK(strcmp(heddle_status_name((heddle_status)-1), "HEDDLE_UNKNOWN_STATUS") == 0);
    CHECK(strlen(heddle_status_text((heddle_status)999)) > 5);
}

TEST(the_last_error_keeps_the_text_and_takes_a_place_in_front)
{
    CHECK(fail(HEDDLE_BAD_FILE, "line %d", 7) == HEDDLE_BAD_FILE);
    CHECK(strcmp(heddle_last_error(), "line 7") == 0);
    CHECK(fail_in(HEDDLE_BAD_FILE, "a.mtx") == HEDDLE_BAD_FILE);
    CHECK(strcmp(heddle_last_error(), "a.mtx: line 7") == 0);
}

TEST(memory_is_aligned_and_counts_that_overflow_are_refused)
{
    int64_t before = mem_live();
    for (int64_t n = 0; n < 200; n += 7) {
        char *p = mem_alloc(n, 1);
        CHECK(p && (uintptr_t)p % MEM_ALIGN == 0);
        mem_free(p);
    }
    CHECK(mem_alloc(-1, 8) == NULL);
    CHECK(mem_alloc(INT64_MAX, 8) == NULL);
    CHECK(strstr(heddle_last_error(), "address space") != NULL);
    CHECK(mem_alloc(INT64_MAX / 2, 1) == NULL);
    CHECK(strstr(heddle_last_error(), "cannot allocate") != NULL);
    mem_free(NULL);
    CHECK(mem_live() == before);
}

TEST(zeroed_memory_is_zero_and_resizing_keeps_the_contents)
{
    int *p = mem_zeroed(100, sizeof *p);
    for (int i = 0; i < 100; i++)
        CHECK(p[i] == 0);
    p[99] = 42;
    p = mem_resize(p, 100, 1000, sizeof *p);
    CHECK(p[99] == 42);
    mem_fail_after(0);
    CHECK(mem_resize(p, 1000, 2000, sizeof *p) == NULL);
    CHECK(p[99] == 42);
    p = mem_resize(p, 1000, 10, sizeof *p);
    mem_free(p);
    p = mem_resize(NULL, 0, 3, sizeof *p);
    CHECK(p != NULL);
    mem_free(p);
}

TEST(the_chosen_allocation_fails_once)
{
    mem_fail_after(2);
    void *a = mem_alloc(1, 1), *b = mem_alloc(1, 1), *c = mem_alloc(1, 1), *d = mem_alloc(1, 1);
    CHECK(a && b && !c && d);
    mem_fail_after(-1);
    mem_free(a);
    mem_free(b);
    mem_free(d);
}

struct tally {
    atomic_int runs, most, before_barrier;
    atomic_int wrong;
};

static void meet(void *argument, const struct team *team)
{
    struct tally *t = argument;
    atomic_fetch_add(&t->runs, 1);
    for (int round = 1; round <= 20; round++) {
        atomic_fetch_add(&t->before_barrier, 1);
        team_barrier(team);
        if (atomic_load(&t->before_barrier) != round * team->threads)
            atomic_store(&t->wrong, 1);
        team_barrier(team);
    }
    if (team->thread < 0 || team->thread >= team->threads)
        atomic_store(&t->wrong, 1);
    atomic_store(&t->most, team->threads);
}

TEST(a_team_runs_every_thread_once_and_its_barrier_holds_all_of_them)
{
    for (int threads = 1; threads <= 6; threads++) {
        struct tally t = {0};
        team_run(threads, meet, &t);
        CHECK(!t.wrong);
        CHECK(t.runs == t.most && t.most <= threads && t.most >= 1);
    }
}

static void nested(void *argument, const struct team *team)
{
    struct tally t = {0};
    team_run(4, meet, &t);
    if (t.runs != 1 || t.wrong)
        atomic_fetch_add((atomic_int *)argument, 1);
    (void)team;
}

TEST(a_team_inside_a_team_is_a_team_of_one)
{
    atomic_int wrong = 0;
    team_run(3, nested, &wrong);
    CHECK(wrong == 0 || threads_default() == 1);
}

static void mark(void *argument, int part)
{
    atomic_fetch_add(&((atomic_int *)argument)[part], 1);
}

TEST(every_part_is_taken_exactly_once)
{
    for (int parts = 0; parts <= 100; parts += 9) {
        atomic_int seen[100] = {0};
        parts_run(parts, mark, seen);
        for (int i = 0; i < 100; i++)
            CHECK(seen[i] == (i < parts));
    }
}

TEST(parts_cover_everything_in_order_and_differ_by_one_at_most)
{
    for (int64_t n = 0; n < 50; n++)
        for (int64_t parts = 1; parts < 12; parts++) {
            CHECK(part_begin(n, 0, parts) == 0 && part_begin(n, parts, parts) == n);
            for (int64_t i = 0; i < parts; i++) {
                int64_t size = part_begin(n, i + 1, parts) - part_begin(n, i, parts);
                CHECK(size == n / parts || size == n / parts + 1);
            }
        }
    CHECK(part_begin(INT64_MAX, 4096, 4096) == INT64_MAX);
}

TEST(a_spec_is_a_name_with_keys_and_unknown_keys_are_named)
{
    struct spec spec;
    int64_t n = 5, dof = 1, gone = 9;
    CHECK_OK(spec_parse(&spec, "grid3d:n=1e2,dof=3,mode=fast"));
    CHECK(strcmp(spec.name, "grid3d") == 0 && spec.keys == 3);
    CHECK_OK(spec_int(&spec, "n", 1, 1000, &n));
    CHECK_OK(spec_int(&spec, "dof", 1, 10, &dof));
    CHECK_OK(spec_int(&spec, "absent", 1, 10, &gone));
    CHECK(n == 100 && dof == 3 && gone == 9);
    CHECK_FAILS(spec_done(&spec, "n, dof"), HEDDLE_BAD_ARGUMENT, "grid3d has no 'mode' (it has: n, dof)");
    CHECK(strcmp(spec_text(&spec, "mode"), "fast") == 0);
    CHECK_OK(spec_done(&spec, ""));
    CHECK_FAILS(spec_int(&spec, "n", 1, 99, &n), HEDDLE_BAD_ARGUMENT, "outside 1..99");
    CHECK_FAILS(spec_int(&spec, "mode", 1, 99, &n), HEDDLE_BAD_ARGUMENT, "not an integer");
    CHECK_OK(spec_parse(&spec, "cpu"));
    CHECK(spec.keys == 0 && spec_text(&spec, "x") == NULL);
}

TEST(broken_specs_are_refused_with_the_reason)
{
    struct spec spec;
    char text[400] = "a:";
    CHECK_FAILS(spec_parse(&spec, "a:b"), HEDDLE_BAD_ARGUMENT, "'b' in 'a:b' is not key=value");
    CHECK_FAILS(spec_parse(&spec, "a:=1"), HEDDLE_BAD_ARGUMENT, "not key=value");
    CHECK_FAILS(spec_parse(&spec, "a:b=1,b=2"), HEDDLE_BAD_ARGUMENT, "gives 'b' twice");
    CHECK_FAILS(spec_parse(&spec, "a:b=1,,c=2"), HEDDLE_BAD_ARGUMENT, "not key=value");
    for (int i = 0; i < 17; i++)
        sprintf(text + strlen(text), "%sk%d=1", i ? "," : "", i);
    CHECK_FAILS(spec_parse(&spec, text), HEDDLE_BAD_ARGUMENT, "more than 16 keys");
    memset(text, 'x', 100);
    text[100] = 0;
    CHECK_FAILS(spec_parse(&spec, text), HEDDLE_BAD_ARGUMENT, "longer than");
    memcpy(text, "a:", 2);
    strcpy(text + 90, "=1");
    CHECK_FAILS(spec_parse(&spec, text), HEDDLE_BAD_ARGUMENT, "longer than");
}

TEST(integers_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},     {"-7", -7},      {"1e6", 1000000},   {"2.5e3", 2500},
                {"4k", 4000}, {"3M", 3000000}, {"2G", 2000000000}, {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {
        "", "x", "1x", "1.5", "1e-3", "4kk", "9223372036854775808", "9223372036854775807k", "1e300"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t n = -1;
        CHECK_OK(parse_int(good[i].text, &n));
        CHECK(n == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t n;
        CHECK_FAILS(parse_int(bad[i], &n), HEDDLE_BAD_ARGUMENT, "is not an integer");
    }
    double real;
    CHECK_OK(parse_real("-2.5e-3", &real));
    CHECK(real == -2.5e-3);
    CHECK_OK(parse_real("inf", &real));
    CHECK(isinf(real));
    CHECK_STATUS(parse_real("1.0x", &real), HEDDLE_BAD_ARGUMENT);
    CHECK_STATUS(parse_real("", &real), HEDDLE_BAD_ARGUMENT);
    static const struct {
        const char *text;
        double re, im;
        const char *again;
    } numbers[] = {{"1+2i", 1, 2, "1+2i"},
                   {"-0.5i", 0, -0.5, "0-0.5i"},
                   {"3-i", 3, -1, "3-1i"},
                   {"i", 0, 1, "0+1i"},
                   {"-i", 0, -1, "0-1i"},
                   {"7", 7, 0, "7"},
                   {"1e3-2e-1i", 1000, -0.2, "1000-0.2i"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double _Complex z = 0;
        char text[COMPLEX_TEXT];
        CHECK_OK(parse_complex(numbers[i].text, &z));
        CHECK_THAT(__real__ z == numbers[i].re && __imag__ z == numbers[i].im, "%s", numbers[i].text);
        CHECK_THAT(strcmp(text_complex(text, z, 6), numbers[i].again) == 0, "%s", text);
    }
    static const char *const no_number[] = {"", "1+", "1+2", "2j", "1+2i ", "i2", "+-i", "1i+2", "--1"};
    for (size_t i = 0; i < sizeof no_number / sizeof no_number[0]; i++) {
        double _Complex z;
        CHECK_THAT(parse_complex(no_number[i], &z) == HEDDLE_BAD_ARGUMENT, "'%s'", no_number[i]);
    }
}

TEST(numbers_are_written_for_people)
{
    char b[NUMBER_TEXT];
    CHECK(strcmp(text_count(b, 0), "0") == 0);
    CHECK(strcmp(text_count(b, 999), "999") == 0);
    CHECK(strcmp(text_count(b, 1234567), "1,234,567") == 0);
    CHECK(strcmp(text_count(b, -123456), "-123,456") == 0);
    CHECK(strcmp(text_count(b, INT64_MIN), "-9,223,372,036,854,775,808") == 0);
    CHECK(strcmp(text_bytes(b, 0), "0 B") == 0);
    CHECK(strcmp(text_bytes(b, 12345678), "12.3 MB") == 0);
    CHECK(strcmp(text_bytes(b, 999.6), "1 kB") == 0);
    CHECK(strcmp(text_bytes(b, 5e18), "5e+03 PB") == 0);
    CHECK(text_ends("a.mtx.gz", ".gz") && !text_ends("gz", ".gz"));
}

TEST(json_escapes_what_it_must_and_reads_back_every_number)
{
    struct json j = {0};
    json_object(&j, NULL);
    json_string(&j, "a\"b", "x\\y\n\x01 \xc3\xa9 \xff \xe2\x82\xac \xf0\x9f\x98\x80 \xe2\x28");
    json_array(&j, "list");
    json_int(&j, NULL, INT64_MIN);
    json_real(&j, NULL, 0.1);
    json_real(&j, NULL, 1.0 / 3);
    json_real(&j, NULL, NAN);
    json_real(&j, NULL, -INFINITY);
    json_bool(&j, NULL, 1);
    json_bool(&j, NULL, 0);
    json_string(&j, NULL, NULL);
    json_end_array(&j);
    json_object(&j, "empty");
    json_end_object(&j);
    json_end_object(&j);
    CHECK_THAT(
        strcmp(j.text.data,
               "{\"a\\\"b\":\"x\\\\y\\u000a\\u0001 \xc3\xa9 \\ufffd \xe2\x82\xac \xf0\x9f\x98\x80 \\ufffd(\","
               "\"list\":[-9223372036854775808,0.1,0.3333333333333333,null,null,true,"
               "false,null],\"empty\":{}}") == 0,
        "%s", j.text.data);
    json_free(&j);
}

TEST(text_that_cannot_grow_stays_as_it_is_and_says_so)
{
    struct text t = {0};
    text_add(&t, "%s", "abc");
    mem_fail_after(0);
    text_add(&t, "%0200d", 1);
    mem_fail_after(-1);
    CHECK(t.failed && strcmp(t.data, "abc") == 0);
    text_add(&t, "more");
    CHECK(strcmp(t.data, "abc") == 0);
    text_free(&t);
}

TEST(the_processor_is_known_and_its_instruction_sets_have_names)
{
    const struct cpu *cpu = cpu_this();
    CHECK(cpu->cores >= 1 && cpu->memory > 0 && cpu->model[0]);
    CHECK(isa_runs(cpu->isa) && isa_runs(ISA_generic));
    for (int i = 0; i < ISA_COUNT; i++)
        CHECK(isa_by_name(isa_name((enum isa)i)) == i);
    CHECK(isa_by_name("generic") == ISA_generic);
#if defined(__x86_64__)
    CHECK(strcmp(isa_name(ISA_generic), "sse2") == 0);
#elif defined(__aarch64__)
    CHECK(strcmp(isa_name(ISA_generic), "neon") == 0);
#endif
    CHECK(isa_by_name("none such") == -1);
    CHECK(threads_default() >= 1);
}

TEST(the_clock_does_not_go_back)
{
    double last = now_ms();
    for (int i = 0; i < 1000; i++) {
        double now = now_ms();
        CHECK(now >= last);
        last = now;
    }
}

/* Every product on a CPU asks; the processor itself, asked in a virtual machine, takes 2 us. */
TEST(whether_an_instruction_set_runs_is_known_without_asking_the_processor)
{
    int widest = 0;
    CHECK(isa_runs(ISA_generic) && isa_runs(cpu_this()->isa));
    const double begin = now_ms();
    for (int i = 0; i < 100000; i++)
        widest += isa_runs((enum isa)(ISA_COUNT - 1));
    CHECK(widest == 0 || widest == 100000);
    CHECK_THAT(now_ms() - begin < 50, "%g ms", now_ms() - begin);
}
