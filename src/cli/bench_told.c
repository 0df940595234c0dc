/* SPDX-License-Identifier: MIT
 *
 * What `heddle bench` tells while it runs, and when all is done: progress, records, a row a run, the sums. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "cli/benching.h"
#include "subject/choice.h"

#define KERNEL_WIDTH 33 /* "plan: cpu_sell:slice=8,window=512" */

/* Columns of the table; the width of the first follows the names at hand. */
static const struct column columns[] = {{"matrix", 0, 0},
                                        {"type", 0, 0},
                                        {"op", 0, 0},
                                        {"kernel", 0, KERNEL_WIDTH},
                                        {"cold ms", 1, 9},
                                        {"ms", 1, 9},
                                        {"±", 1, 5},
                                        {"GFLOP/s", 1, 7},
                                        {"GB/s", 1, 6},
                                        {"of floor", 1, 9},
                                        {"of CSR's", 1, 8},
                                        {"verified", 0, 0},
                                        {0}};

void mean_add(struct mean *m, double value)
{
    if (value > 0) {
        m->logs += log(value);
        m->count++;
    }
}

static double mean_of(const struct mean *m)
{
    return m->count ? exp(m->logs / m->count) : 0;
}

heddle_status benching_keep(struct benching *k, struct json *j)
{
    heddle_status status = j->text.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK;
    if (status == HEDDLE_OK && k->to_file)
        status = output_line(&k->file, j->text.data);
    if (status == HEDDLE_OK && k->to_stdout) {
        out(k->s, "%s\n", j->text.data);
        status = out_flush(k->s);
    }
    json_free(j);
    return status;
}

heddle_status benching_described(void *argument, const struct description *d)
{
    struct json j = {0};
    record_matrix(&j, d);
    return benching_keep(argument, &j);
}

const char *benching_time_left(const struct benching *k, char text[32])
{
    int64_t runs = k->done - k->kept;
    double seconds = runs > 0 ? (now_ms() - k->begin) / 1e3 / (double)runs * (double)(k->total - k->done) : 0;
    text[0] = 0;
    if (runs >= 5 && seconds >= 90)
        snprintf(text, 32, "%.0f min left, ", seconds / 60);
    else if (runs >= 5)
        snprintf(text, 32, "%.0f s left, ", seconds);
    return text;
}

void benching_begins(void *argument, const struct run *r)
{
    struct benching *k = argument;
    char left[32], product[PRODUCT_NAME];
    if (r->kernel)
        progress(k->s, k->done, k->total, "%s%s %s %s %s", benching_time_left(k, left), r->subject->name,
                 type_name(r->value), product_name(product, r->op, r->vectors), r->kernel);
    else
        progress(k->s, k->done, k->total, "%sloading %s", benching_time_left(k, left), r->subject->name);
}

void benching_device(struct benching *k)
{
    const struct device *d = &k->bench.h->device;
    if (d->kind == DEVICE_gpu)
        out(k->s, "heddle %s on %s, %s", heddle_version(), gpu_info_of(d->gpu)->name,
            gpu_info_of(d->gpu)->arch);
    else
        out(k->s, "heddle %s on %s: %d thread%s, %s", heddle_version(), cpu_this()->model, d->threads,
            d->threads == 1 ? "" : "s", isa_name(d->isa));
}

void benching_table(struct benching *k)
{
    table_begin(&k->table, columns);
}

void benching_head(struct benching *k)
{
    char product[PRODUCT_NAME];
    k->headed = 1;
    benching_device(k);
    if (gpu_is_emulated(k->bench.h->device.gpu))
        out(k->s, "\nThe times are the emulator's and say nothing of a GPU: GFLOP/s, GB/s, the floor and "
                  "speed-ups are left out.\n\n");
    else
        out(k->s, "\nmemory read at %.1f GB/s, an empty launch %.1f us\n\n", probe_read_gbs(&k->bench.probe),
            1e3 * probe_launch_ms(&k->bench.probe));
    for (int64_t i = 0; i < k->list.count; i++)
        if ((int)strlen(k->list.item[i].name) > k->table.width[0])
            k->table.width[0] = (int)strlen(k->list.item[i].name);
    for (int i = 0; i < bench_vectors(&k->bench) && !k->brief; i++) {
        const int width = (int)strlen(product_name(product, HEDDLE_N, k->bench.vectors[i]));
        k->table.width[2] = width > k->table.width[2] ? width : k->table.width[2];
    }
    table_head(&k->table, k->s);
}

/* How much of a reason fits in a table: up to its first bracket or semicolon.  Records hold all of it. */
static int first_clause(const char *reason)
{
    const char *bracket = strstr(reason, " ("), *semicolon = strchr(reason, ';');
    size_t size = strlen(reason);
    if (bracket)
        size = (size_t)(bracket - reason);
    if (semicolon && (size_t)(semicolon - reason) < size)
        size = (size_t)(semicolon - reason);
    return (int)size;
}

/* "87 %", or "" for what is not known. */
static const char *percent(char text[16], double share)
{
    text[0] = 0;
    if (share >= 0)
        snprintf(text, 16, "%.0f %%", 100 * share);
    return text;
}

static void add_row(struct benching *k, const struct run *r)
{
    char kernel[160], own[16], csr[16], scatter[16], product[PRODUCT_NAME];
    char cold[32] = "", rates[64] = "\t\t\t";
    double ms = r->warm.median_ms, cold_ms = r->cold.median_ms;
    int chosen = r->made && (choice_is(r->kernel, "auto") || choice_is(r->kernel, "plan"));
    int narrow = r->made && r->made->value != value_type(r->value); /* values that a plan holds */
    snprintf(kernel, sizeof kernel, "%s%s%s%s%s",
             chosen    ? r->kernel
             : r->made ? r->made->ran
                       : r->kernel,
             chosen ? ": " : "", chosen ? r->made->ran : "", narrow ? " in " : "",
             narrow ? type_name(r->made->value) : "");
    const char *op = product_name(product, r->op, r->vectors);
    if (r->cold.repetitions > 0)
        snprintf(cold, sizeof cold, "%.*f", cold_ms < 100 ? 4 : 1, cold_ms);
    if (!isnan(r->gflops))
        snprintf(rates, sizeof rates, "%.2f\t%.1f\t%s%s\t%s", r->gflops, r->gbs,
                 percent(own, r->of_own_floor), r->fits_cache ? "*" : " ", percent(csr, r->of_floor));
    if (r->skipped[0])
        table_add(&k->table, "%s\t%s\t%s\t%s\t\t\t\t\t\t\t\t" DIM "skipped: %.*s", r->subject->name,
                  type_name(r->value), op, kernel, first_clause(r->skipped), r->skipped);
    else
        table_add(&k->table, "%s\t%s\t%s\t%s\t%s\t%.*f\t%s\t%s\t%s%s", r->subject->name, type_name(r->value),
                  op, kernel, cold, ms < 100 ? 4 : 1, ms,
                  percent(scatter, r->warm.repetitions > 1 ? r->warm.spread / 2 : NAN), rates,
                  r->verdict.passed ? GREEN "yes" : RED "NO: ", r->wrong);
}

static void count(struct benching *k, const struct run *r)
{
    const struct run *a = &k->last_auto;
    k->done++;
    if (strcmp(r->kernel, "auto") == 0)
        k->last_auto = *r;
    if (r->skipped[0]) {
        k->skipped++;
        return;
    }
    k->verified += r->verdict.passed;
    k->wrong += !r->verdict.passed;
    k->cached += r->fits_cache;
    k->times++;
    k->scattered += r->warm.spread > SCATTERED;
    if (!r->verdict.passed || r->made->peer || gpu_is_emulated(r->device->gpu))
        return;
    mean_add(&k->gflops, r->gflops);
    mean_add(&k->of_floor, r->of_own_floor);
    if (strcmp(r->kernel, "auto") == 0) {
        mean_add(&k->call_us, r->call_us);
        mean_add(&k->bare_call_us, r->bare_call_us);
    }
    if (strcmp(r->kernel, "plan") == 0 && a->subject == r->subject && a->value == r->value &&
        a->op == r->op && vectors_order(a->vectors, r->vectors) == 0)
        mean_add(&k->plan_gain, a->warm.median_ms / r->warm.median_ms);
}

heddle_status benching_ran(void *argument, const struct run *r)
{
    heddle_status status = HEDDLE_OK;
    struct benching *k = argument;
    struct json j = {0};
    count(k, r);
    if (k->peers && r->verdict.passed)
        TRY(versus_add(&k->versus, r->subject, r->kernel, r->value, r->op, r->vectors,
                       r->cold.repetitions > 0 ? r->cold.median_ms : r->warm.median_ms));
    if (k->twins && r->verdict.passed)
        TRY(benching_price(k, r, r->cold.repetitions > 0 ? r->cold.median_ms : r->warm.median_ms));
    if (k->to_file || k->to_stdout) {
        record_run(&j, r);
        TRY(benching_keep(k, &j));
    }
    if (k->brief) {
        benching_brief_add(k, r, r->verdict.passed ? r->warm.median_ms : 0);
        k->brief[r->subject - k->list.item].wrong += !r->verdict.passed && !r->skipped[0];
    } else if (!k->to_stdout && !k->s->quiet) {
        progress_clear(k->s);
        if (!k->headed)
            benching_head(k);
        add_row(k, r);
        table_rows(&k->table, k->s);
        TRY(out_flush(k->s));
    }
done:
    return status;
}

void benching_summary(struct benching *k)
{
    struct session *s = k->s;
    if (k->to_stdout)
        return;
    out(s, "%s%lld run%s: %lld verified, %lld wrong, %lld skipped\n", s->quiet ? "" : "\n",
        (long long)k->done, k->done == 1 ? "" : "s", (long long)k->verified, (long long)k->wrong,
        (long long)k->skipped);
    if (k->gflops.count)
        out(s,
            k->of_floor.count ? "geometric mean: %.2f GFLOP/s, %.0f %% of the floor\n"
                              : "geometric mean: %.2f GFLOP/s\n",
            mean_of(&k->gflops), 100 * mean_of(&k->of_floor));
    if (k->plan_gain.count)
        out(s, "a plan is %.2f times as fast as auto", mean_of(&k->plan_gain));
    if (k->best_gain.count)
        out(s,
            k->plan_gain.count ? ", the better of plan and kernels %.2f times"
                               : "the best kernel is %.2f times as fast as auto",
            mean_of(&k->best_gain));
    out(s, "%s", k->plan_gain.count || k->best_gain.count ? " (geometric mean)\n" : "");
    if (k->call_us.count)
        out(s, "a call of heddle_mv takes the host %.1f us, a bare launch %.1f us\n", mean_of(&k->call_us),
            mean_of(&k->bare_call_us));
    if (k->kept && !s->quiet)
        out(s, "%lld of them were in %s before; --fresh measures them again\n", (long long)k->kept,
            k->file.path);
    if (k->cached && !s->quiet && !k->brief)
        out(s,
            "* CSR fits in the last-level cache: the floor is the time to read as many bytes from there\n");
    if (!s->quiet)
        benching_noise(k);
    if (k->to_file && !s->quiet)
        out(s, "records: %s\n", k->file.path);
}
