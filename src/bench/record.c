/* SPDX-License-Identifier: MIT */
#include "bench/record.h"

#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

void record_machine(struct json *j)
{
    const struct cpu *cpu = cpu_this();
    struct utsname system;
    char text[sizeof system.sysname + sizeof system.release + sizeof system.machine + 2] = "unknown";
    if (uname(&system) == 0)
        snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
    json_object(j, "machine");
    json_string(j, "system", text);
    json_string(j, "cpu", cpu->model);
    json_int(j, "cores", cpu->cores);
    json_int(j, "memory", cpu->memory);
    json_int(j, "cache", cpu->cache);
    json_end_object(j);
}

/* Opens a record of a kind; the caller closes it. */
static void begin(struct json *j, const char *kind)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_object(j, NULL);
    json_int(j, "schema", RECORD_SCHEMA);
    json_string(j, "record", kind);
    json_string(j, "version", heddle_version());
    json_string(j, "date", date);
    record_machine(j);
}

static void put_counts(struct json *j, const char *key, const int64_t *count, int n)
{
    json_array(j, key);
    for (int i = 0; i < n; i++)
        json_int(j, NULL, count[i]);
    json_end_array(j);
}

void record_matrix(struct json *j, const struct description *d)
{
    begin(j, "matrix");
    json_string(j, "matrix", d->subject->name);
    json_string(j, "origin", d->subject->origin);
    json_string(j, "spec", d->subject->spec);
    json_string(j, "value", type_name(d->value));
    json_string(j, "offset", type_name(d->offset));
    record_statistics(j, &d->stats);
    record_published(j, d->subject);
    put_counts(j, "histogram", d->shape.histogram, d->shape.bins);
    json_object(j, "picture");
    json_int(j, "rows", d->shape.rows);
    json_int(j, "cols", d->shape.cols);
    put_counts(j, "count", d->shape.picture, d->shape.rows * d->shape.cols);
    json_end_object(j);
    json_end_object(j);
}

/* A number, or null where nothing was measured. */
static void real_if(struct json *j, const char *key, int known, double value)
{
    json_real(j, key, known ? value : NAN);
}

static void where(struct json *j, const struct device *d)
{
    int gpu = d->kind == DEVICE_gpu;
    json_string(j, "device", gpu ? gpu_info_of(d->gpu)->name : "cpu");
    json_string(j, "driver", gpu ? gpu_driver_of(d->gpu)->name : NULL);
    json_int(j, "threads", d->threads);
    json_string(j, "isa", gpu ? gpu_info_of(d->gpu)->arch : isa_name(d->isa));
}

static void run_what(struct json *j, const struct run *r)
{
    where(j, r->device);
    json_string(j, "matrix", r->subject->name);
    json_string(j, "origin", r->subject->origin);
    json_int(j, "rows", r->rows);
    json_int(j, "cols", r->cols);
    json_int(j, "nnz", r->nnz);
    record_lengths(j, "row", &r->row);
    json_string(j, "kernel", r->kernel);
    json_string(j, "ran", r->made ? r->made->ran : NULL);
    json_string(j, "peer", r->made && r->made->peer ? r->made->peer->version : NULL);
    json_string(j, "format", r->made ? r->made->format : NULL);
    json_string(j, "stored_value", r->made ? type_name(r->made->value) : NULL);
    json_string(j, "op", op_name(r->op));
    json_int(j, "vectors", vectors_count(r->vectors));
    json_string(j, "layout", vectors_count(r->vectors) > 1 ? layout_name(r->vectors.layout) : NULL);
    json_string(j, "value", type_name(r->value));
    json_string(j, "vector", type_name(vector_type(r->value)));
    json_string(j, "offset", type_name(r->offset ? r->offset : HEDDLE_I32));
    json_string(j, "index", "i32");
}

static void launches(struct json *j, const struct launches *l)
{
    if (l->count == 0)
        return;
    json_array(j, "launches");
    for (int i = 0; i < l->count; i++) {
        json_object(j, NULL);
        json_string(j, "kernel", l->entry[i]);
        json_real(j, "ms", l->ms[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

/* Of a plan: what its choice took, and what it was made among. */
static void put_choice(struct json *j, const struct candidate *c, heddle_op op)
{
    const struct tries *t = c->plan ? bound_tries(c->plan->bound[op != HEDDLE_N]) : NULL;
    if (!t)
        return;
    json_real(j, "plan_ms", c->plan_ms);
    json_array(j, "candidates");
    for (int i = 0; i < t->count; i++) {
        json_object(j, NULL);
        json_string(j, "kernel", t->of[i].kernel);
        json_string(j, "stored_value", type_name(t->of[i].value));
        json_bool(j, "transposed", t->of[i].transposed);
        json_real(j, "predicted_ms", t->of[i].predicted_ms);
        json_real(j, "ms", t->of[i].product_ms);
        json_real(j, "prepare_ms", t->of[i].prepare_ms);
        json_int(j, "held_bytes", t->of[i].bytes);
        json_end_object(j);
    }
    json_end_array(j);
}

void record_run(struct json *j, const struct run *r)
{
    const struct candidate *c = r->made ? r->made : &(struct candidate){0};
    const struct look look = c->A ? c->A->view.look : (struct look){0};
    int made = r->made != NULL, cold = r->cold.repetitions > 0;
    begin(j, "run");
    run_what(j, r);
    json_bool(j, "transposed", c->transposed);
    json_bool(j, "repeatable", c->repeatable);
    json_int(j, "held_bytes", c->bytes);
    json_int(j, "break_even", c->break_even);
    real_if(j, "convert_ms", made, c->convert_ms);
    real_if(j, "prepare_ms", made, c->prepare_ms);
    real_if(j, "look_ms", look.bytes > 0, look.ms);
    json_int(j, "look_bytes", look.bytes);
    real_if(j, "cold_ms", cold, r->cold.median_ms);
    real_if(j, "cold_min_ms", cold, r->cold.least_ms);
    real_if(j, "cold_spread", cold, r->cold.spread);
    json_int(j, "cold_repetitions", r->cold.repetitions);
    real_if(j, "warm_ms", made, r->warm.median_ms);
    real_if(j, "warm_min_ms", made, r->warm.least_ms);
    real_if(j, "spread", made, r->warm.spread);
    json_int(j, "repetitions", r->warm.repetitions);
    json_int(j, "dropped", r->warm.dropped + r->cold.dropped);
    real_if(j, "core_mhz", r->core_mhz > 0, r->core_mhz);
    real_if(j, "memory_mhz", r->memory_mhz > 0, r->memory_mhz);
    json_real(j, "bytes", r->bytes);
    real_if(j, "read_gbs", made, r->read_gbs);
    real_if(j, "launch_ms", made, r->launch_ms);
    real_if(j, "call_us", made, r->call_us);
    real_if(j, "bare_call_us", made, r->bare_call_us);
    launches(j, &r->launches);
    put_choice(j, c, r->op);
    real_if(j, "floor_ms", made, r->floor_ms);
    real_if(j, "of_floor", made, r->of_floor);
    real_if(j, "own_bytes", made, r->own_bytes);
    real_if(j, "own_floor_ms", made, r->own_floor_ms);
    real_if(j, "of_own_floor", made, r->of_own_floor);
    real_if(j, "others_busy", made, r->others);
    json_bool(j, "fits_cache", r->fits_cache);
    real_if(j, "gflops", made, r->gflops);
    real_if(j, "gbs", made, r->gbs);
    json_bool(j, "verified", made && r->verdict.passed);
    real_if(j, "error", made, r->verdict.error);
    json_string(j, "wrong", r->wrong[0] ? r->wrong : NULL);
    json_string(j, "skipped", r->skipped[0] ? r->skipped : NULL);
    json_end_object(j);
}

void record_limit(struct json *j, const struct device *device, const struct limit *l)
{
    begin(j, "limit");
    where(j, device);
    json_string(j, "limit", l->limit);
    json_string(j, "pattern", l->pattern);
    json_string(j, "value", l->value ? type_name(l->value) : NULL);
    json_int(j, "span_bytes", l->span);
    json_int(j, "count", l->count);
    json_real(j, "ms", l->timing.median_ms);
    json_real(j, "min_ms", l->timing.least_ms > 0 ? l->timing.least_ms : l->timing.median_ms);
    json_real(j, "spread", l->timing.spread);
    json_int(j, "repetitions", l->timing.repetitions);
    json_real(j, "figure", l->figure);
    json_string(j, "unit", l->unit);
    json_real(j, "floor_us", l->floor_us);
    json_end_object(j);
}
