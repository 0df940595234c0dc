/* SPDX-License-Identifier: MIT
 *
 * Names of matrices and kernels, the stopping rule, the shape of a matrix, and records that other programs
 * can read. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "bench/past.h"
#include "bench/record.h"
#include "subject/choice.h"
#include "subject/fill.h"
#include "test.h"

/* ------------------------------------------------------------------ the stopping rule */

struct clock {
    const double *ms; /* what each repetition takes; the last one goes on for ever */
    int count, calls;
    int fails_at; /* 0: never */
};

static heddle_status tick(void *argument, double *ms)
{
    struct clock *c = argument;
    *ms = c->ms[c->calls < c->count ? c->calls : c->count - 1];
    return ++c->calls == c->fails_at ? fail(HEDDLE_DEVICE_ERROR, "the device is gone") : HEDDLE_OK;
}

static struct timing measured_with(struct rule rule, struct clock *c)
{
    struct timing t = {0};
    CHECK_OK(measure(&t, &rule, tick, c));
    return t;
}

TEST(steady_times_stop_at_the_least_number_of_repetitions)
{
    struct clock c = {(const double[]){2}, 1, 0, 0};
    struct timing t = measured_with((struct rule){0.01, 5, 100, 1e9}, &c);
    CHECK(t.repetitions == 5 && c.calls == 5 && t.median_ms == 2 && t.least_ms == 2 && t.spread == 0);
}

TEST(unsteady_times_go_on_until_they_are_steady)
{
    struct clock c = {(const double[]){9, 1, 9, 1, 9, 2}, 6, 0, 0};
    struct timing t = measured_with((struct rule){0.01, 5, 1000, 1e9}, &c);
    CHECK_THAT(t.repetitions > 8 && t.repetitions < 100, "%d repetitions", t.repetitions);
    CHECK(t.median_ms == 2 && t.least_ms == 1 && t.spread <= 0.01);
}

TEST(unsteady_times_stop_at_the_most_repetitions)
{
    double noisy[50];
    for (int i = 0; i < 50; i++)
        noisy[i] = 1 + i % 7;
    struct clock c = {noisy, 50, 0, 0};
    struct timing t = measured_with((struct rule){0.01, 5, 50, 1e9}, &c);
    CHECK(t.repetitions == 50 && t.spread > 0.01);
}

TEST(the_time_limit_ends_a_measurement_but_one_repetition_is_always_made)
{
    struct clock c = {(const double[]){10, 30}, 2, 0, 0};
    CHECK(measured_with((struct rule){0, 100, 100, 60}, &c).repetitions == 3);
    c.calls = 0;
    CHECK(measured_with((struct rule){0, 100, 100, 0}, &c).repetitions == 1);
}

TEST(the_median_of_an_even_number_is_the_mean_of_the_middle_two)
{
    struct clock c = {(const double[]){4, 1, 3, 100}, 4, 0, 0};
    CHECK(measured_with((struct rule){0, 4, 4, 1e9}, &c).median_ms == 3.5);
}

TEST(times_of_a_throttled_device_do_not_count_unless_there_are_no_others)
{
    struct clock c = {(const double[]){1, -9, 1, -9, 1}, 5, 0, 0};
    struct timing t = measured_with((struct rule){0, 3, 3, 1e9}, &c);
    CHECK(t.median_ms == 1 && t.repetitions == 3 && t.dropped == 2);
    c = (struct clock){(const double[]){-4}, 1, 0, 0};
    t = measured_with((struct rule){0, 3, 3, 1e9}, &c);
    CHECK(t.median_ms == 4 && t.repetitions == 3 && t.dropped == 0);
}

TEST(a_failing_product_fails_the_measurement)
{
    struct clock c = {(const double[]){1}, 1, 0, 3};
    struct timing t;
    CHECK_FAILS(measure(&t, &(struct rule){0, 5, 5, 1e9}, tick, &c), HEDDLE_DEVICE_ERROR, "gone");
    CHECK(t.repetitions == 0);
}

/* ------------------------------------------------------------------ a reader of JSON, enough to check a
 * record */

static const char *skip_value(const char *s);

static const char *skip_string(const char *s)
{
    if (*s++ != '"')
        return NULL;
    for (; *s && *s != '"'; s++)
        if (*s == '\\' && !*++s)
            return NULL;
    return *s ? s + 1 : NULL;
}

static const char *skip_items(const char *s, char end, int keys)
{
    if (*s == end)
        return s + 1;
    for (;;) {
        if (keys && (!(s = skip_string(s)) || *s++ != ':'))
            return NULL;
        if (!(s = skip_value(s)) || (*s != ',' && *s != end))
            return NULL;
        if (*s++ == end)
            return s;
    }
}

/* Behind the value at s, or NULL if there is none. */
static const char *skip_value(const char *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    if (*s == '"')
        return skip_string(s);
    if (*s == '{' || *s == '[')
        return skip_items(s + 1, *s == '{' ? '}' : ']', *s == '{');
    char *end;
    strtod(s, &end);
    return end == s ? NULL : end;
}

/* The value of a key of the outermost object, "" if it is not there. */
static const char *value_of(const char *object, const char *key)
{
    size_t size = strlen(key);
    for (const char *s = object + 1; s && *s == '"';) {
        int found = strncmp(s + 1, key, size) == 0 && s[1 + size] == '"';
        const char *value = skip_string(s);
        value = value ? value + 1 : "";
        if (found)
            return value;
        s = skip_value(value);
        s = s && *s == ',' ? s + 1 : NULL;
    }
    return "";
}

static int is_json(const char *text)
{
    const char *end = skip_value(text);
    return *text == '{' && end && *end == 0;
}

static double number(const char *object, const char *key)
{
    return isdigit((unsigned char)*value_of(object, key)) ? strtod(value_of(object, key), NULL) : NAN;
}

/* ------------------------------------------------------------------ a whole bench */

#define RECORDS_MOST 16

struct kept {
    int count;
    char *record[RECORDS_MOST];
};

static heddle_status keep(struct kept *k, struct json *j)
{
    CHECK(k->count < RECORDS_MOST && !j->text.failed);
    if (k->count < RECORDS_MOST)
        k->record[k->count++] = j->text.data;
    return HEDDLE_OK;
}

static heddle_status keep_matrix(void *argument, const struct description *d)
{
    struct json j = {0};
    record_matrix(&j, d);
    return keep(argument, &j);
}

static heddle_status keep_run(void *argument, const struct run *r)
{
    struct json j = {0};
    record_run(&j, r);
    return keep(argument, &j);
}

static void free_records(struct kept *k)
{
    for (int i = 0; i < k->count; i++)
        mem_free(k->record[i]);
    *k = (struct kept){0};
}

/* A bench of few repetitions over a buffer that is small enough for a test. */
static struct bench small_bench(const char *kernels, struct kept *kept)
{
    struct bench b = {.type_count = 1,
                      .op_count = 1,
                      .type = {HEDDLE_F64},
                      .op = {HEDDLE_N},
                      .warm = {0.5, 2, 3, 50},
                      .cold = {0.5, 1, 1, 50},
                      .events = {kept, keep_matrix, keep_run, NULL},
                      .probe = {.threads = 2, .words = 1 << 16}};
    CHECK_OK(NEW_ZEROED(b.probe.data, b.probe.words));
    CHECK_OK(NEW_ZEROED(b.probe.sums, 16));
    CHECK_OK(heddle_open(&b.h, "cpu:threads=2"));
    CHECK_OK(candidates_add(&b.kernels, kernels, "cpu"));
    return b;
}

static void run_bench(struct bench *b, const char *matrix)
{
    struct subject_list list = {0};
    CHECK_OK(subjects_add(&list, matrix));
    for (int64_t i = 0; i < list.count; i++)
        CHECK_OK(bench_subject(b, &list.item[i]));
    subjects_free(&list);
    probe_free(&b->probe);
    heddle_close(b->h);
}

static const char *const run_fields[] = {
    "schema",     "record",      "version",      "date",         "machine",      "device",
    "driver",     "threads",     "isa",          "matrix",       "origin",       "rows",
    "cols",       "nnz",         "row",          "kernel",       "ran",          "peer",
    "format",     "op",          "stored_value", "value",        "offset",       "index",
    "transposed", "repeatable",  "held_bytes",   "break_even",   "convert_ms",   "prepare_ms",
    "look_ms",    "look_bytes",  "cold_ms",      "cold_min_ms",  "cold_spread",  "cold_repetitions",
    "warm_ms",    "warm_min_ms", "spread",       "repetitions",  "dropped",      "core_mhz",
    "memory_mhz", "bytes",       "read_gbs",     "launch_ms",    "call_us",      "bare_call_us",
    "floor_ms",   "of_floor",    "own_bytes",    "own_floor_ms", "of_own_floor", "others_busy",
    "fits_cache", "gflops",      "gbs",          "verified",     "error",        "wrong",
    "skipped"};

static const char *const matrix_fields[] = {"schema",
                                            "record",
                                            "version",
                                            "matrix",
                                            "origin",
                                            "spec",
                                            "value",
                                            "rows",
                                            "cols",
                                            "nnz",
                                            "row",
                                            "col",
                                            "lower_bandwidth",
                                            "upper_bandwidth",
                                            "diagonal",
                                            "repeats",
                                            "sorted",
                                            "pattern_symmetry",
                                            "numeric_symmetry",
                                            "distinct_values",
                                            "published",
                                            "histogram",
                                            "picture"};

static void has_fields(const char *record, const char *const *field, size_t count)
{
    CHECK_THAT(is_json(record), "not JSON: %.60s", record);
    for (size_t i = 0; i < count; i++)
        CHECK_THAT(*value_of(record, field[i]), "there is no %s", field[i]);
}

#define HAS_FIELDS(record, fields) has_fields(record, fields, sizeof fields / sizeof fields[0])

TEST(a_bench_keeps_a_matrix_record_and_verified_runs_with_all_fields)
{
    struct kept k = {0};
    struct bench b = small_bench("auto,plan,cpu_csr", &k);
    run_bench(&b, "gen:grid2d:n=30");
    CHECK(k.count == 4);
    for (int i = 0; i < k.count; i++) {
        const char *r = k.record[i];
        CHECK(number(r, "schema") == RECORD_SCHEMA && number(r, "rows") == 900 && number(r, "nnz") == 4380);
        if (i == 0) {
            HAS_FIELDS(r, matrix_fields);
            continue;
        }
        HAS_FIELDS(r, run_fields);
        CHECK(strncmp(value_of(r, "verified"), "true", 4) == 0 && number(r, "error") <= 1);
        CHECK(number(r, "warm_ms") > 0 && number(r, "cold_ms") > 0 && number(r, "repetitions") >= 1);
        CHECK(number(r, "bytes") == 901 * 4 + 4380 * 12 + 2 * 900 * 8);
        CHECK(number(r, "floor_ms") > 0 && number(r, "read_gbs") > 0);
        CHECK(fabs(number(r, "of_floor") * number(r, "warm_ms") / number(r, "floor_ms") - 1) < 1e-4);
        CHECK(number(r, "own_bytes") > 0 && number(r, "own_floor_ms") > 0);
        CHECK(fabs(number(r, "of_own_floor") * number(r, "warm_ms") / number(r, "own_floor_ms") - 1) < 1e-4);
        CHECK(fabs(number(r, "gflops") * number(r, "warm_ms") * 1e6 / (2 * 4380) - 1) < 1e-4);
    }
    free_records(&k);
}

TEST(both_types_and_operations_are_measured)
{
    struct kept k = {0};
    struct bench b = small_bench("cpu_coo", &k);
    b.type_count = b.op_count = 2;
    b.type[1] = HEDDLE_F32;
    b.op[1] = HEDDLE_T;
    b.cold.most = 0;
    b.events.described = NULL;
    run_bench(&b, "gen:random:rows=200,cols=90,mean=5");
    CHECK(k.count == 4);
    for (int i = 0; i < k.count; i++) {
        CHECK(strncmp(value_of(k.record[i], "verified"), "true", 4) == 0);
        CHECK(strncmp(value_of(k.record[i], "value"), i < 2 ? "\"f64\"" : "\"f32\"", 5) == 0);
        CHECK(strncmp(value_of(k.record[i], "op"), i % 2 ? "\"T\"" : "\"N\"", 3) == 0);
        CHECK(strncmp(value_of(k.record[i], "cold_ms"), "null", 4) == 0);
    }
    free_records(&k);
}

TEST(a_kernel_that_does_not_apply_is_skipped_with_a_reason_and_the_next_one_runs)
{
    struct kept k = {0};
    struct bench b = small_bench("cpu_csr_t,cpu_csr", &k);
    b.events.described = NULL;
    run_bench(&b, "gen:diagonal:n=50");
    CHECK(k.count == 2);
    if (k.count == 2) {
        HAS_FIELDS(k.record[0], run_fields);
        CHECK(strncmp(value_of(k.record[0], "skipped"), "\"cpu_csr_t", 10) == 0);
        CHECK(strncmp(value_of(k.record[0], "verified"), "false", 5) == 0);
        CHECK(strncmp(value_of(k.record[0], "warm_ms"), "null", 4) == 0);
        CHECK(strncmp(value_of(k.record[1], "skipped"), "null", 4) == 0);
        CHECK(strncmp(value_of(k.record[1], "verified"), "true", 4) == 0);
    }
    free_records(&k);
}

TEST(a_broken_file_among_others_is_skipped_and_counted)
{
    struct kept k = {0};
    struct bench b = small_bench("auto", &k);
    b.keep_going = 1;
    run_bench(&b, test_file("broken.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 2\n"));
    CHECK(b.unreadable == 1 && k.count == 1);
    if (k.count == 1)
        CHECK(strstr(value_of(k.record[0], "skipped"), "broken.mtx:3") != NULL);
    free_records(&k);
}

TEST(a_wrong_result_makes_a_record_that_says_so)
{
    struct subject s = {.name = "a", .origin = "a.mtx"};
    struct candidate c = {.ran = "cpu_csr", .format = "csr"};
    struct device device = {.threads = 1};
    struct run r = {.subject = &s,
                    .kernel = "auto",
                    .made = &c,
                    .device = &device,
                    .value = HEDDLE_F64,
                    .verdict = {.passed = 0, .error = INFINITY, .first = 3},
                    .wrong = "row 3 is \"nan\""};
    struct json j = {0};
    record_run(&j, &r);
    CHECK(is_json(j.text.data));
    CHECK(strncmp(value_of(j.text.data, "verified"), "false", 5) == 0);
    CHECK(strncmp(value_of(j.text.data, "wrong"), "\"row 3", 6) == 0);
    json_free(&j);
}

TEST(nothing_runs_after_a_stop)
{
    static volatile sig_atomic_t stop = 1;
    struct kept k = {0};
    struct bench b = small_bench("auto", &k);
    b.stop = &stop;
    b.events.described = NULL;
    run_bench(&b, "gen:diagonal:n=50");
    CHECK(k.count == 0);
}

TEST(empty_matrices_can_be_timed)
{
    struct kept k = {0};
    struct bench b = small_bench("auto,plan", &k);
    run_bench(&b, test_file("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n"));
    CHECK(k.count == 3);
    for (int i = 1; i < k.count; i++)
        CHECK(is_json(k.record[i]) && strncmp(value_of(k.record[i], "verified"), "true", 4) == 0);
    free_records(&k);
}

static heddle_status load_and_shape(void *argument)
{
    heddle_status status = HEDDLE_OK;
    struct subject_list list = {0};
    struct loaded m = {0};
    static struct shape shape;
    (void)argument;
    TRY(subjects_add(&list, "set:smoke/band"));
    TRY(subjects_add(&list, "gen:diagonal:n=20"));
    TRY(subject_load(&m, &list.item[1], HEDDLE_F32));
    TRY(shape_of(&shape, &m.csr));
done:
    loaded_free(&m);
    subjects_free(&list);
    return status;
}

TEST(loading_survives_every_failing_allocation)
{
    CHECK(test_every_allocation(load_and_shape, NULL) > 5);
}

/* ------------------------------------------------------------------ records of the past */

#define PAST_RUN(kernel, warm)                                                                               \
    "{\"schema\":1,\"record\":\"run\",\"version\":\"0.1.0\",\"device\":\"cpu\",\"isa\":\"x\",\"threads\":2," \
    "\"matrix\":\"a\",\"origin\":\"a.mtx\",\"kernel\":\"" kernel "\",\"op\":\"T\",\"value\":\"f32\","        \
    "\"verified\":true,\"skipped\":null,\"warm_ms\":" warm ",\"warm_min_ms\":1,\"spread\":0.1,"              \
    "\"repetitions\":5,\"cold_ms\":null,\"cold_repetitions\":0}\n"
#define PAST_MATRIX "{\"record\":\"matrix\",\"origin\":\"b.mtx\"}\n"

TEST(runs_of_the_past_are_found_by_what_they_measured_and_the_last_one_counts)
{
    struct past p = {0};
    struct past_run what = {.device = "cpu",
                            .isa = "x",
                            .threads = 2,
                            .origin = "a.mtx",
                            .kernel = "plan",
                            .value = HEDDLE_F32,
                            .op = HEDDLE_T};
    const char *path =
        test_file("past.jsonl", PAST_RUN("plan", "3") "garbage\n" PAST_MATRIX "\n" PAST_RUN("auto", "4")
                                    PAST_RUN("plan", "5") "{\"record\":\"run\",\"torn");
    CHECK_OK(past_read(&p, path));
    CHECK(p.count == 3 && p.broken == 1 && p.matrices == 1 && p.lines == 6);
    const struct past_run *r = past_find(&p, &what);
    CHECK(r && r->verified && !r->skipped && r->warm.median_ms == 5 && r->warm.repetitions == 5 &&
          r->cold.repetitions == 0);
    what.op = HEDDLE_N;
    CHECK(past_find(&p, &what) == NULL);
    CHECK(past_describes(&p, "b.mtx") && !past_describes(&p, "a.mtx"));
    past_free(&p);
    CHECK_FAILS(past_read(&p, "/nosuch/past.jsonl"), HEDDLE_FILE_ERROR, "/nosuch/past.jsonl");
}

static heddle_status read_the_past(void *argument)
{
    struct past p = {0};
    heddle_status status = past_read(&p, argument);
    past_free(&p);
    return status;
}

TEST(reading_the_past_survives_every_failing_allocation)
{
    char path[256];
    snprintf(path, sizeof path, "%s", test_file("past.jsonl", PAST_RUN("plan", "3") PAST_MATRIX));
    CHECK(test_every_allocation(read_the_past, path) > 4);
}
