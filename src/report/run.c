/* SPDX-License-Identifier: MIT
 *
 * Run records: what each line must hold, and how lines of the same measurement go together.  The same
 * kernel on the same matrix and device may be measured again; the latest counts, and earlier ones are kept
 * apart.  Two lines that claim to be the same measurement, taken in the same second by the same version,
 * and still differ, contradict each other, and neither is shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "report/records.h"

static const char *text_of(const struct json_tree *t, const char *key)
{
    return json_member_text(t, &t->value[0], key);
}

static double number_of(const struct json_tree *t, const char *key)
{
    return json_member_number(t, &t->value[0], key, NAN);
}

static int is_true(const struct json_tree *t, const char *key)
{
    const struct json_value *v = json_member(t, &t->value[0], key);
    return v && v->kind == JSON_TRUE;
}

/* One of the words in `known`, each between blanks. */
static int one_of(const char *word, const char *known)
{
    char padded[16];
    return word && snprintf(padded, sizeof padded, " %s ", word) < (int)sizeof padded &&
           strstr(known, padded);
}

/* "NVIDIA H200", or for a processor "Neoverse-N1, 2 threads, generic": what times can be compared on. */
static heddle_status device_of(struct records *r, const struct json_tree *t, int64_t *device)
{
    const char *name = text_of(t, "device"), *isa = text_of(t, "isa"), *driver = text_of(t, "driver");
    const char *cpu = json_member_text(t, json_member(t, &t->value[0], "machine"), "cpu");
    double threads = number_of(t, "threads");
    struct text label = {0};
    if (strcmp(name, "cpu") == 0) {
        text_add(&label, "%s", cpu && cpu[0] ? cpu : "CPU");
        if (threads >= 1)
            text_add(&label, ", %.0f thread%s", threads, threads > 1 ? "s" : "");
        if (isa && isa[0])
            text_add(&label, ", %s", isa);
    } else {
        text_add(&label, "%s%s", name,
                 driver && strcmp(driver, "emu") == 0 && !strstr(name, "mulat") ? " (emulated)" : "");
    }
    heddle_status status = label.failed ? HEDDLE_NO_MEMORY : names_add(&r->strings, label.data, device);
    text_free(&label);
    return status;
}

/* Of an entry: a complex product and sum are eight. */
static double operations(const struct json_tree *t)
{
    return text_of(t, "value")[0] == 'c' ? 8 : 2;
}

/* What is wrong with a measured run, or NULL. */
static const char *wrong_times(const struct record_run *run, double all, double gflops)
{
    if (!(run->warm_ms > 0) || !isfinite(run->warm_ms))
        return isnan(run->warm_ms) ? "\"warm_ms\" is missing" : "\"warm_ms\" is not above 0";
    if (run->cold_ms <= 0)
        return "\"cold_ms\" is not above 0";
    if (run->convert_ms < 0 || run->prepare_ms < 0)
        return "\"convert_ms\" or \"prepare_ms\" is below 0";
    if (run->floor_ms <= 0 || run->bytes < 0 || run->held_bytes < 0)
        return "\"floor_ms\", \"bytes\" or \"held_bytes\" is below 0";
    if (run->error > 1)
        return "contradictory: \"verified\", but \"error\" is above 1";
    if (fabs(gflops - 1e-6 * all / run->warm_ms) > 0.01 * gflops)
        return "contradictory: \"gflops\" is not 2 nnz (8 of complex numbers) over \"warm_ms\"";
    return NULL;
}

/* What is wrong with a line before its numbers are looked at, or NULL. */
static const char *wrong_words(const struct json_tree *t)
{
    const struct json_value *verified = json_member(t, &t->value[0], "verified");
    const char *kernel = text_of(t, "kernel"), *device = text_of(t, "device"), *offset = text_of(t, "offset");
    if (!kernel || !kernel[0])
        return "\"kernel\" is missing";
    if (!device || !device[0])
        return "\"device\" is missing";
    if (!one_of(text_of(t, "op"), " N T H "))
        return "\"op\" is none of N, T and H";
    if (!one_of(text_of(t, "value"), " f32 f64 c32 c64 f16 bf16 f32v64 "))
        return "\"value\" is none of f32, f64, c32, c64, f16, bf16 and f32v64";
    if (offset && !one_of(offset, " i32 i64 "))
        return "\"offset\" is neither i32 nor i64";
    if (text_of(t, "skipped"))
        return is_true(t, "verified") ? "contradictory: \"skipped\" and yet \"verified\"" : NULL;
    if (!verified || (verified->kind != JSON_TRUE && verified->kind != JSON_FALSE))
        return "\"verified\" is missing";
    return NULL;
}

static heddle_status read_words(struct records *r, const struct json_tree *t, struct record_run *run)
{
    heddle_status status = HEDDLE_OK;
    TRY(device_of(r, t, &run->device));
    TRY(record_string(r, t, "kernel", &run->kernel));
    TRY(record_string(r, t, "ran", &run->ran));
    TRY(record_string(r, t, "format", &run->format));
    TRY(record_string(r, t, "op", &run->op));
    TRY(record_string(r, t, "value", &run->value));
    TRY(record_string(r, t, "offset", &run->offset));
    if (run->offset < 0)
        TRY(names_add(&r->strings, "i32", &run->offset));
    TRY(record_string(r, t, "date", &run->date));
    TRY(record_string(r, t, "version", &run->version));
    TRY(record_string(r, t, "skipped", &run->skipped));
    TRY(record_string(r, t, "driver", &run->driver));
done:
    return status;
}

static void read_launches(const struct json_tree *t, struct record_run *run)
{
    const struct json_value *list = json_member(t, &t->value[0], "launches");
    if (!list || list->kind != JSON_ARRAY || list->count > RUN_LAUNCHES)
        return;
    for (int64_t at = list->count > 0 ? list->first : -1; at >= 0; at = t->value[at].next)
        run->launched_ms[run->launches++] = json_member_number(t, &t->value[at], "ms", NAN);
}

static void read_numbers(const struct json_tree *t, struct record_run *run)
{
    double of_floor = number_of(t, "of_floor"), repetitions = number_of(t, "repetitions");
    run->warm_ms = number_of(t, "warm_ms");
    run->cold_ms = number_of(t, "cold_ms");
    run->convert_ms = number_of(t, "convert_ms");
    run->prepare_ms = number_of(t, "prepare_ms");
    run->spread = number_of(t, "spread");
    run->bytes = number_of(t, "bytes");
    run->held_bytes = number_of(t, "held_bytes");
    run->floor_ms = number_of(t, "floor_ms");
    if (isnan(run->floor_ms) && of_floor > 0)
        run->floor_ms = of_floor * run->warm_ms;
    run->error = number_of(t, "error");
    run->break_even = number_of(t, "break_even");
    run->repetitions = repetitions > 0 && repetitions < 1e9 ? (int64_t)repetitions : 0;
    read_launches(t, run);
    run->transposed = is_true(t, "transposed");
    run->repeatable = is_true(t, "repeatable");
}

/* ------------------------------------------------------------------ lines of one key */

static int later(const struct records *r, const struct record_run *a, const struct record_run *b)
{
    const char *x = record_text(r, a->date), *y = record_text(r, b->date);
    return strcmp(x ? x : "", y ? y : "") >= 0; /* as ISO 8601 writes them, the later date sorts behind */
}

static int differ(double a, double b)
{
    return fabs(a - b) > 1e-3 * fabs(a);
}

/* A measurement that a later one has taken the place of. */
static heddle_status keep_earlier(struct records *r, const struct record_run *run)
{
    struct record_run *grown = record_room(r->earlier, r->earlier_runs, &r->earlier_capacity, sizeof *grown);
    if (!grown)
        return HEDDLE_NO_MEMORY;
    r->earlier = grown;
    r->earlier[r->earlier_runs++] = *run;
    return HEDDLE_OK;
}

/* `run` has the key of the earlier r->run[at]: it takes its place, or stays away, or both go. */
static heddle_status again(struct records *r, int64_t at, const struct record_run *run)
{
    struct record_run *known = &r->run[at];
    int same_moment = known->date >= 0 && known->date == run->date && known->version == run->version;
    int both = known->skipped < 0 && run->skipped < 0;
    /* a version may count them otherwise */
    int bytes = known->version == run->version && differ(known->bytes, run->bytes);
    if (bytes || (same_moment && both && differ(known->warm_ms, run->warm_ms))) {
        records_warn(
            r, run->place, "contradictory: the same run as %s:%lld, with other %s; both are left out",
            r->files.item[known->place.file], (long long)known->place.line, bytes ? "bytes" : "times");
        known->out = 1;
        return HEDDLE_OK;
    }
    r->measured_again += !(same_moment && both);
    struct record_run other = *run;
    if ((known->out ? !same_moment : known->skipped >= 0 || run->skipped < 0) && later(r, run, known)) {
        other = *known; /* a contradiction is over with the next measurement */
        *known = *run;
    }
    return both && !same_moment && !other.out ? keep_earlier(r, &other) : HEDDLE_OK;
}

static heddle_status keep(struct records *r, const struct record_run *run)
{
    heddle_status status = HEDDLE_OK;
    struct text key = {0};
    int64_t known = r->run_keys.count, number;
    text_add(&key, "%lld %lld %lld %lld %lld %lld", (long long)run->matrix, (long long)run->device,
             (long long)run->kernel, (long long)run->op, (long long)run->value, (long long)run->offset);
    TRY(key.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
    struct record_run *grown = record_room(r->run, r->runs, &r->run_capacity, sizeof *grown);
    TRY(grown ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    r->run = grown;
    TRY(names_add(&r->run_keys, key.data, &number));
    if (r->run_keys.count > known)
        r->run[r->runs++] = *run;
    else
        TRY(again(r, number, run));
done:
    text_free(&key);
    return status;
}

heddle_status record_add_run(struct records *r, const struct json_tree *t, struct place place)
{
    heddle_status status = HEDDLE_OK;
    struct record_run run = {.place = place};
    const char *wrong = wrong_words(t);
    if (number_of(t, "vectors") > 1) { /* another product, of which the page has no figures */
        r->passed_over++;
        return HEDDLE_OK;
    }
    if (wrong) {
        records_warn(r, place, "%s", wrong);
        return HEDDLE_OK;
    }
    if (!text_of(t, "skipped") && !is_true(t, "verified")) {
        const char *why = text_of(t, "wrong");
        records_warn(r, place, "%s on %s is not verified%s%.120s", text_of(t, "kernel"),
                     text_of(t, "matrix") ? text_of(t, "matrix") : "?", why ? ": " : "", why ? why : "");
        return HEDDLE_OK;
    }
    TRY(record_matrix_of(r, t, place, &run.matrix));
    if (run.matrix < 0)
        return HEDDLE_OK;
    TRY(read_words(r, t, &run));
    read_numbers(t, &run);
    if (run.skipped < 0 && (wrong = wrong_times(&run, operations(t) * (double)r->matrix[run.matrix].nnz,
                                                number_of(t, "gflops")))) {
        records_warn(r, place, "%s", wrong);
        return HEDDLE_OK;
    }
    /* Runs know the row lengths of matrices that nobody described. */
    struct record_matrix *m = &r->matrix[run.matrix];
    const struct json_value *row = json_member(t, &t->value[0], "row");
    if (isnan(m->stat[STAT_row_mean]) && json_member_number(t, row, "longest", 0) > 0) {
        m->stat[STAT_row_shortest] = json_member_number(t, row, "shortest", NAN);
        m->stat[STAT_row_longest] = json_member_number(t, row, "longest", NAN);
        m->stat[STAT_row_empty] = json_member_number(t, row, "empty", NAN);
        m->stat[STAT_row_mean] = json_member_number(t, row, "mean", NAN);
        m->stat[STAT_row_deviation] = json_member_number(t, row, "deviation", NAN);
    }
    TRY(keep(r, &run));
done:
    return status;
}
