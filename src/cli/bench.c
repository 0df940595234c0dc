/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "cli/benching.h"
#include "subject/choice.h"

struct choices {
    const char *device, *json;
    struct words kernels, peers, types, ops;
    double time_limit, spread;
    int64_t repetitions, memory;
    int no_cold, fresh, limits, launches, brief;
};

#define AT(member) offsetof(struct choices, member)
static const struct cli_option options[] = {
    {"device", 'd', OPTION_TEXT, AT(device), "DEVICE", "where to compute (auto)"},
    {"kernel", 'k', OPTION_LIST, AT(kernels), "K,...|all", "what to time (auto,plan)"},
    {"peer", 'p', OPTION_LIST, AT(peers), "P,...|all",
     "other libraries beside them: cusparse, or one algorithm of it"},
    {"type", 't', OPTION_LIST, AT(types), "f32,f64", "types of the numbers (f64)"},
    {"op", 0, OPTION_LIST, AT(ops), "N,T", "A itself, its transpose (N)"},
    {"json", 0, OPTION_JSON, AT(json), "FILE", "records as " JSON_WHAT "; what FILE holds is kept"},
    {"fresh", 0, OPTION_FLAG, AT(fresh), NULL,
     "start the file of --json over instead of going on where it ends"},
    {"time-limit", 0, OPTION_REAL, AT(time_limit), "SECONDS", "at most, for one time (0.5)"},
    {"repetitions", 0, OPTION_COUNT, AT(repetitions), "N", "at most, for one time (1000)"},
    {"spread", 0, OPTION_REAL, AT(spread), "PERCENT",
     "close enough to stop: quartile distance over median (2)"},
    {"memory", 0, OPTION_COUNT, AT(memory), "BYTES",
     "skip matrices that need more (8G is 8e9; no limit), or limit --limits"},
    {"limits", 0, OPTION_FLAG, AT(limits), NULL, "no matrix: what the device can do at best"},
    {"brief", 0, OPTION_FLAG, AT(brief), NULL, "a line a matrix instead of a line a run"},
    {"launches", 0, OPTION_FLAG, AT(launches), NULL,
     "records: the time of each kernel that a product launches on a GPU"},
    {"no-cold", 0, OPTION_FLAG, AT(no_cold), NULL, "no times with flushed caches"},
    {0}};

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

volatile sig_atomic_t benching_interrupted;

/* The first interrupt ends the run in good order, the second one at once. */
static void interrupt(int number)
{
    benching_interrupted = 1;
    signal(number, ends_by_signal);
}

void benching_heed_interrupts(void)
{
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
}

/* ------------------------------------------------------------------ what is heard from the bench */

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
    char left[32];
    if (r->kernel)
        progress(k->s, k->done, k->total, "%s%s %s %s %s", benching_time_left(k, left), r->subject->name,
                 type_name(r->value), op_name(r->op), r->kernel);
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

void benching_head(struct benching *k)
{
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
    char kernel[160], own[16], csr[16], scatter[16];
    char cold[32] = "", rates[64] = "\t\t\t";
    double ms = r->warm.median_ms, cold_ms = r->cold.median_ms;
    int chosen = r->made && (choice_is(r->kernel, "auto") || choice_is(r->kernel, "plan"));
    snprintf(kernel, sizeof kernel, "%s%s%s",
             chosen    ? r->kernel
             : r->made ? r->made->ran
                       : r->kernel,
             chosen ? ": " : "", chosen ? r->made->ran : "");
    if (r->cold.repetitions > 0)
        snprintf(cold, sizeof cold, "%.*f", cold_ms < 100 ? 4 : 1, cold_ms);
    if (!isnan(r->gflops))
        snprintf(rates, sizeof rates, "%.2f\t%.1f\t%s%s\t%s", r->gflops, r->gbs,
                 percent(own, r->of_own_floor), r->fits_cache ? "*" : " ", percent(csr, r->of_floor));
    if (r->skipped[0])
        table_add(&k->table, "%s\t%s\t%s\t%s\t\t\t\t\t\t\t\t" DIM "skipped: %.*s", r->subject->name,
                  type_name(r->value), op_name(r->op), kernel, first_clause(r->skipped), r->skipped);
    else
        table_add(&k->table, "%s\t%s\t%s\t%s\t%s\t%.*f\t%s\t%s\t%s%s", r->subject->name, type_name(r->value),
                  op_name(r->op), kernel, cold, ms < 100 ? 4 : 1, ms,
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
    if (strcmp(r->kernel, "plan") == 0 && a->subject == r->subject && a->value == r->value && a->op == r->op)
        mean_add(&k->plan_gain, a->warm.median_ms / r->warm.median_ms);
}

static heddle_status ran(void *argument, const struct run *r)
{
    heddle_status status = HEDDLE_OK;
    struct benching *k = argument;
    struct json j = {0};
    count(k, r);
    if (k->peers && r->verdict.passed)
        TRY(versus_add(&k->versus, r->subject, r->kernel, r->value, r->op,
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

/* ------------------------------------------------------------------ from the options */

static heddle_status add_type(void *argument, const char *word)
{
    struct bench *b = argument;
    heddle_type type;
    heddle_status status = type_choice(word, &type);
    if (status == HEDDLE_OK && !(b->type_count > 0 && b->type[0] == type) && b->type_count < 2)
        b->type[b->type_count++] = type;
    return status;
}

static heddle_status add_op(void *argument, const char *word)
{
    struct bench *b = argument;
    heddle_op op;
    heddle_status status = op_choice(word, &op);
    if (status == HEDDLE_OK && !(b->op_count > 0 && b->op[0] == op) && b->op_count < 2)
        b->op[b->op_count++] = op;
    return status;
}

static heddle_status add_kernel(void *argument, const char *words)
{
    struct bench *b = argument;
    return candidates_add(&b->kernels, words, device_kind_name(b->h->device.kind));
}

static heddle_status add_peer(void *argument, const char *words)
{
    struct bench *b = argument;
    const struct device *d = &b->h->device;
    return candidates_add_peers(&b->kernels, words,
                                d->kind == DEVICE_gpu ? gpu_driver_of(d->gpu)->name : "cpu");
}

/* Visits every value of a repeatable option, or its default. */
static heddle_status each_value(const struct words *given, const char *preset,
                                heddle_status (*visit)(void *argument, const char *words), struct bench *b)
{
    heddle_status status = given->count ? HEDDLE_OK : visit(b, preset);
    for (int i = 0; i < given->count && status == HEDDLE_OK; i++)
        status = visit(b, given->item[i]);
    return status;
}

static heddle_status add_types(void *argument, const char *words)
{
    return each_word(words, add_type, argument);
}

static heddle_status add_ops(void *argument, const char *words)
{
    return each_word(words, add_op, argument);
}

static heddle_status set_rules(struct bench *b, const struct choices *c)
{
    b->warm = bench_warm;
    b->cold = b->h->device.kind == DEVICE_gpu && !gpu_is_emulated(b->h->device.gpu)
                ? bench_cold_gpu
                : bench_cold; /* the emulator flushes as a CPU does */
    if (c->time_limit < 0 || c->spread < 0)
        return fail(HEDDLE_BAD_ARGUMENT, "--time-limit and --spread take numbers above 0");
    if (c->time_limit > 0)
        b->warm.limit_ms = b->cold.limit_ms = 1000 * c->time_limit;
    if (c->spread > 0)
        b->warm.spread = c->spread / 100;
    if (c->repetitions > 0) {
        b->warm.most = c->repetitions < 1000000 ? (int)c->repetitions : 1000000;
        b->cold.most = b->warm.most < b->cold.most ? b->warm.most : b->cold.most;
        b->warm.least = b->warm.most < b->warm.least ? b->warm.most : b->warm.least;
        b->cold.least = b->cold.most < b->cold.least ? b->cold.most : b->cold.least;
    }
    if (c->no_cold)
        b->cold.most = 0;
    b->memory_limit = c->memory;
    b->launches = c->launches;
    return HEDDLE_OK;
}

static heddle_status ready(struct benching *k, const struct choices *c)
{
    heddle_status status = HEDDLE_OK;
    struct bench *b = &k->bench;
    struct session *s = k->s;
    if (c->limits &&
        (s->operands > 0 || c->kernels.count || c->peers.count || c->types.count || c->ops.count))
        return fail(HEDDLE_BAD_ARGUMENT,
                    "--limits measures the device: it takes no MATRIX, --kernel, --peer, --type or --op");
    if (!c->limits && s->operands == 0)
        return fail(HEDDLE_BAD_ARGUMENT, "bench takes at least 1 MATRIX, or --limits");
    TRY(heddle_open(&b->h, c->device));
    TRY(each_value(&c->kernels, "auto,plan", add_kernel, b));
    if (c->peers.count)
        TRY(each_value(&c->peers, "", add_peer, b));
    for (int i = 0; i < b->kernels.count; i++) {
        k->peers += peer_is_name(b->kernels.name[i]);
        k->twins += choice_is_deterministic(b->kernels.name[i]);
    }
    TRY(each_value(&c->types, "f64", add_types, b));
    TRY(each_value(&c->ops, "N", add_ops, b));
    TRY(set_rules(b, c));
    for (int i = 0; i < s->operands; i++)
        TRY(subjects_add(&k->list, s->operand[i]));
    k->to_stdout = c->json && strcmp(c->json, "-") == 0;
    if (c->json && !k->to_stdout)
        TRY(benching_records(k, c->json, c->fresh));
    TRY(probe_new(&b->probe, &b->h->device));
    clocks_open(&b->clocks, &b->h->device);
    b->keep_going = k->list.count > 1;
    b->stop = &benching_interrupted;
    b->events = (struct bench_events){k, c->json ? benching_described : NULL, ran, benching_begins,
                                      k->past.lines > 0 ? benching_known : NULL};
    table_begin(&k->table, columns);
    if (c->brief)
        TRY(benching_brief_begin(k));
    k->total = k->list.count * b->type_count * b->op_count * b->kernels.count;
    if (k->past.count > 0)
        TRY(benching_take_over(k));
    k->begin = now_ms();
    k->quiet = quiet_now();
done:
    return status;
}

/* ------------------------------------------------------------------ summary */

static void summary(struct benching *k)
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

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *choices = into;
    struct benching *k = NULL;
    TRY(NEW_ZEROED(k, 1));
    k->s = s;
    TRY(ready(k, choices));
    benching_heed_interrupts();
    for (int64_t i = 0; i < k->list.count && !benching_interrupted; i++) {
        TRY(bench_subject(&k->bench, &k->list.item[i]));
        if (k->brief && !k->to_stdout && !s->quiet) {
            progress_clear(s);
            benching_brief_row(k, i);
            TRY(out_flush(s));
        }
    }
    if (choices->limits)
        TRY(benching_limits(k));
    TRY(output_commit(&k->file));
    progress_clear(s);
    if (choices->limits)
        goto done;
    summary(k);
    int compares = !k->to_stdout && !gpu_is_emulated(k->bench.h->device.gpu);
    if (k->peers && compares)
        TRY(versus_told(s, &k->versus, k->bench.cold.most > 0));
    if (compares)
        benching_prices_told(k);
    s->wrong = k->wrong > 0;
    if (benching_interrupted || k->bench.unreadable > 0) {
        TRY(out_flush(s));
        TRY(benching_interrupted
                ? fail(HEDDLE_BAD_ARGUMENT, "interrupted after %lld of %lld runs", (long long)k->done,
                       (long long)k->total)
                : fail(HEDDLE_BAD_FILE, "%d of %lld matrices could not be read; the table tells why",
                       k->bench.unreadable, (long long)k->list.count));
    }
done:
    if (k) {
        output_drop(&k->file);
        table_free(&k->table);
        clocks_close(&k->bench.clocks);
        probe_free(&k->bench.probe);
        versus_free(&k->versus);
        mem_free(k->price);
        mem_free(k->brief);
        past_free(&k->past);
        peers_close();
        heddle_close(k->bench.h);
        subjects_free(&k->list);
    }
    mem_free(k);
    return status;
}

const struct page page_bench = {
    .usage = "MATRIX... [--kernel K,...|all] [--peer P,...] [--type f32,f64] [--op N,T] [--json [FILE]]\n"
             "heddle bench --limits [--device DEVICE] [--json [FILE]]",
    .details =
        "Times products, verifies each one, and prints a table.  cold ms is the median of products with\n"
        "flushed caches, ms that of warm ones, ± half the distance of their quartiles; GFLOP/s counts 2\n"
        "operations a nonzero; GB/s counts A in CSR, x and y once.  The floor is the time of the fastest\n"
        "loop that only reads as many bytes as this kernel does, again and again; of CSR's is the share\n"
        "for the bytes of CSR, which a smaller storage may exceed.  Records in --json also hold conversion\n"
        "and preparation times and a description of each matrix; a run that was interrupted goes on where\n"
        "its file ends.  Peers are other libraries, measured by the same clock on the same arrays; the\n"
        "summary then tells how the best of them compares.  With auto or plan beside auto:deterministic=1\n"
        "or plan:deterministic=1 it tells for each matrix what a bitwise repeatable result costs.  The\n"
        "exit status is 1 when a result is wrong.\n"
        "\n"
        "With --limits: what a product is made of, measured alone (reading and copying memory, gathering\n"
        "x, adding to y atomically, launching), and the time that no product can therefore go below.\n"
        "\n"
        "Examples:\n"
        "  heddle bench a.mtx\n"
        "  heddle bench set:smoke --device cpu --kernel all\n"
        "  heddle bench gen:grid3d:n=100 --kernel plan,cpu_sell:slice=8,window=512 --op N,T\n"
        "  heddle bench set:paper --kernel all --type f32,f64 --op N,T --json r.jsonl\n"
        "  heddle bench set:paper --device cuda:0 --peer cusparse --op N,T --json r.jsonl\n"
        "  heddle bench set:baseline --kernel auto,auto:deterministic=1 --op N,T\n"
        "  heddle bench --limits --device cuda:0\n",
    .option = options,
    .least = 0,
    .most = 1 << 20,
    .size = sizeof(struct choices),
    .run = run,
    .keeps_records = 1};
