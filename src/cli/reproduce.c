/* SPDX-License-Identifier: MIT
 *
 * heddle reproduce: which runs the chosen experiments need, and which of them are still to be measured.
 * All experiments share one file of records, so that a run that several figures show is measured once. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "cli/benching.h"
#include "reproduce/reproduce.h"

#define FOLDER "reproduce"
#define EMULATED_MOST 20000 /* nonzeros: an emulated product of them takes milliseconds */
#define CPU_MOST 30000000
#define TIME_LIMIT 0.15

struct reproduce_choices {
    const char *device, *output, *json, *type;
    struct words from, with;
    double time_limit;
    int64_t most;
    int list, cold, fresh;
};

struct reproducing {
    const struct reproduce_choices *c;
    struct reproduction shown;
    struct benching bench; /* its list: the matrices of all chosen experiments, each once */
    unsigned *groups;      /* size bench.list.count: a bit for each group that has the matrix */
    int host;              /* one core of the host is measured now, not the device */
};

#define AT(member) offsetof(struct reproduce_choices, member)
static const struct cli_option options[] = {
    {"list", 0, OPTION_FLAG, AT(list), NULL, "name the experiments instead"},
    {"device", 'd', OPTION_TEXT, AT(device), "DEVICE", "where to compute (auto)"},
    {"output", 'o', OPTION_TEXT, AT(output), "DIR", "folder of drawings, pages and records (" FOLDER ")"},
    {"type", 't', OPTION_TEXT, AT(type), "f32,f64", "only these of the types that an experiment has"},
    {"json", 0, OPTION_JSON, AT(json), "FILE",
     "the records, as of bench (DIR/records.jsonl); what FILE holds is kept"},
    {"fresh", 0, OPTION_FLAG, AT(fresh), NULL, "start the records over"},
    {"from", 0, OPTION_LIST, AT(from), "FILE", "measure nothing, draw from these records"},
    {"with", 0, OPTION_LIST, AT(with), "FILE", "further records, as of an AMD GPU: drawn beside"},
    {"most", 0, OPTION_COUNT, AT(most), "NNZ",
     "leave out larger matrices, shrink generated ones (CPU: 30e6, emulator: 20e3)"},
    {"time-limit", 0, OPTION_REAL, AT(time_limit), "SECONDS", "at most, for one time (0.15)"},
    {"cold", 0, OPTION_FLAG, AT(cold), NULL, "show times with flushed caches in all figures"},
    {0}};

/* ------------------------------------------------------------------ which runs */

static heddle_status check_type(void *argument, const char *word)
{
    heddle_type type;
    (void)argument;
    heddle_status status = type_choice(word, &type);
    if (status == HEDDLE_OK && type != HEDDLE_F32 && type != HEDDLE_F64)
        return fail(HEDDLE_BAD_ARGUMENT, "--type %s: the papers have numbers of f32 or f64", word);
    return status;
}

/* Another library's product is for the devices of one driver; the emulator may say why it has none of
 * cuda's. */
static int has_driver(const struct device *d, const char *kernel)
{
    const char *driver = d->kind == DEVICE_gpu ? gpu_driver_of(d->gpu)->name : "cpu";
    size_t size = strcspn(kernel, ":");
    if (!peer_is_name(kernel))
        return 1;
    for (int i = 0; i < PEER_LIBRARIES; i++) {
        const char *name = peer_library_name((enum peer_library_id)i),
                   *devices = peer_library_devices((enum peer_library_id)i);
        if (strlen(name) == size && strncmp(name, kernel, size) == 0)
            return strcmp(devices, strcmp(driver, "emu") == 0 ? "cuda" : driver) == 0;
    }
    return 0;
}

/* The kernel at a place of "a|b|c", copied into `name`; 0 behind the last. */
static int alternative(char name[CANDIDATE_NAME], const char *kernels, int place)
{
    for (; place > 0 && kernels; place--) {
        kernels = strchr(kernels, '|');
        kernels = kernels ? kernels + 1 : NULL;
    }
    if (!kernels)
        return 0;
    snprintf(name, CANDIDATE_NAME, "%.*s", (int)strcspn(kernels, "|"), kernels);
    return 1;
}

/* Is `kernel` one that this series is measured with in this pass? */
static int is_of_series(const struct reproducing *r, const struct series *s, const char *kernel)
{
    char name[CANDIDATE_NAME];
    const struct device *d = &r->bench.bench.h->device;
    const char *kernels = d->kind == DEVICE_gpu ? s->gpu : s->cpu;
    if (((s->how & HOST) != 0) != r->host)
        return 0;
    for (int i = 0; alternative(name, kernels, i); i++)
        if (strcmp(name, kernel) == 0 && has_driver(d, name))
            return 1;
    return 0;
}

static int is_wanted(const struct reproducing *r, const struct run *run)
{
    unsigned groups = r->groups[run->subject - r->bench.list.item];
    for (int i = 0; experiments[i].name; i++) {
        const struct experiment *e = &experiments[i];
        int count;
        const struct series *s = experiment_series(e, &count);
        if (!r->shown.chosen[i] || !(groups >> e->group & 1) || !experiment_has_type(e, run->value))
            continue;
        for (int k = 0; k < count; k++)
            if (s[k].op == run->op && is_of_series(r, &s[k], run->kernel))
                return 1;
    }
    return 0;
}

/* What no experiment needs counts as known, and so stays away. */
static int known(void *argument, const struct run *run)
{
    const struct reproducing *r = argument;
    return (run->kernel && !is_wanted(r, run)) || benching_known((void *)&r->bench, run);
}

static heddle_status add_kernel(struct candidate_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->name[i], name) == 0)
            return HEDDLE_OK;
    if (list->count == CANDIDATES_MOST)
        return fail(HEDDLE_BAD_ARGUMENT, "the experiments need more than %d kernels", CANDIDATES_MOST);
    snprintf(list->name[list->count++], CANDIDATE_NAME, "%s", name);
    return candidate_check(name);
}

/* The kernels of all chosen experiments that this pass measures. */
static heddle_status add_kernels(struct reproducing *r)
{
    heddle_status status = HEDDLE_OK;
    char name[CANDIDATE_NAME];
    int gpu = r->bench.bench.h->device.kind == DEVICE_gpu;
    for (int i = 0; experiments[i].name; i++) {
        int count;
        const struct series *s = experiment_series(&experiments[i], &count);
        for (int k = 0; r->shown.chosen[i] && k < count; k++)
            for (int a = 0; alternative(name, gpu ? s[k].gpu : s[k].cpu, a); a++)
                if (is_of_series(r, &s[k], name))
                    TRY(add_kernel(&r->bench.bench.kernels, name));
    }
done:
    return status;
}

static heddle_status add_subjects(struct reproducing *r, enum experiment_group group)
{
    heddle_status status = HEDDLE_OK;
    struct subject_list own = {0}, *all = &r->bench.list;
    TRY(group_subjects(&own, group, r->shown.most, &r->shown.group_instead[group]));
    for (int64_t i = 0, at; i < own.count; i++) {
        for (at = 0; at < all->count && strcmp(all->item[at].origin, own.item[i].origin) != 0;)
            at++;
        if (at == all->count) {
            unsigned *groups = mem_resize(r->groups, at, at + 1, sizeof *groups);
            TRY(groups ? HEDDLE_OK : HEDDLE_NO_MEMORY);
            r->groups = groups;
            r->groups[at] = 0;
            TRY(subjects_add(all, own.item[i].origin));
        }
        r->groups[at] |= 1u << group;
    }
done:
    subjects_free(&own);
    return status;
}

/* ------------------------------------------------------------------ measuring */

/* Calls `visit` for every run that the pass needs, measured before or not. */
static void each_run(struct reproducing *r, void (*visit)(struct reproducing *r, const struct run *run))
{
    const struct bench *b = &r->bench.bench;
    for (int64_t m = 0; m < r->bench.list.count; m++)
        for (int t = 0; t < b->type_count; t++)
            for (int o = 0; o < b->op_count; o++)
                for (int k = 0; k < b->kernels.count; k++) {
                    struct run run = {.subject = &r->bench.list.item[m],
                                      .device = &b->h->device,
                                      .kernel = b->kernels.name[k],
                                      .op = b->op[o],
                                      .value = b->type[t]};
                    if (is_wanted(r, &run))
                        visit(r, &run);
                }
}

static void count_run(struct reproducing *r, const struct run *run)
{
    struct benching *k = &r->bench;
    int before = benching_known(k, run);
    k->total++;
    k->kept += before;
    k->done += before;
}

static heddle_status ran(void *argument, const struct run *run)
{
    struct reproducing *r = argument;
    struct json j = {0};
    r->bench.done++;
    r->bench.skipped += run->skipped[0] != 0;
    r->bench.wrong += !run->skipped[0] && !run->verdict.passed;
    record_run(&j, run);
    return benching_keep(&r->bench, &j);
}

static heddle_status described(void *argument, const struct description *d)
{
    return benching_described(&((struct reproducing *)argument)->bench, d);
}

static void begins(void *argument, const struct run *run)
{
    benching_begins(&((struct reproducing *)argument)->bench, run);
}

/* Less than a bench takes: there are thousands of runs, and figures show factors, not percents. */
static void set_rules(struct reproducing *r)
{
    struct bench *b = &r->bench.bench;
    double limit = 1000 * (r->c->time_limit > 0 ? r->c->time_limit : TIME_LIMIT);
    const struct device *d = &b->h->device;
    b->warm = (struct rule){.spread = 0.03, .least = 7, .most = 100, .limit_ms = limit};
    b->cold = (struct rule){.spread = 0.03, .least = 7, .most = 15, .limit_ms = limit};
    if (d->kind != DEVICE_gpu)
        b->cold = (struct rule){.spread = 0.05, .least = 2, .most = 5, .limit_ms = limit};
    if (gpu_is_emulated(d->gpu)) { /* its times say nothing of a GPU's */
        b->warm = (struct rule){.spread = 0.1, .least = 1, .most = 3, .limit_ms = limit / 10};
        b->cold = (struct rule){.spread = 0.1, .least = 1, .most = 1, .limit_ms = limit / 10};
    }
    if (r->host && !r->c->cold)
        b->cold.most = 0; /* one core takes long to flush what all share, and no figure shows it */
}

static void told_matrix(struct reproducing *r, const struct subject *subject, double begin)
{
    char left[32];
    const struct benching *k = &r->bench;
    progress_clear(r->shown.s);
    if (!r->shown.s->quiet)
        out(r->shown.s, "%lld of %lld runs, %s%.1f s for %s\n", (long long)k->done, (long long)k->total,
            benching_time_left(k, left), (now_ms() - begin) / 1e3, subject->name);
}

static heddle_status measure_all(struct reproducing *r)
{
    heddle_status status = HEDDLE_OK;
    struct benching *k = &r->bench;
    TRY(probe_new(&k->bench.probe, &k->bench.h->device));
    clocks_open(&k->bench.clocks, &k->bench.h->device);
    for (int64_t i = 0; i < k->list.count && !benching_interrupted; i++) {
        int64_t before = k->done;
        double begin = now_ms();
        TRY(bench_subject(&k->bench, &k->list.item[i]));
        if (k->done > before)
            told_matrix(r, &k->list.item[i], begin);
        TRY(out_flush(r->shown.s));
    }
done:
    clocks_close(&k->bench.clocks);
    probe_free(&k->bench.probe);
    return status;
}

/* One device: that of --device, or one core of the host. */
static heddle_status measure_on(struct reproducing *r, const char *device)
{
    heddle_status status = HEDDLE_OK;
    struct bench *b = &r->bench.bench;
    if (!b->h)
        TRY(heddle_open(&b->h, device));
    b->kernels.count = 0;
    TRY(add_kernels(r));
    b->type_count = 0;
    for (int t = 0; t < 2; t++)
        if (reproduce_has_type(&r->shown, t ? "f64" : "f32"))
            b->type[b->type_count++] = t ? HEDDLE_F64 : HEDDLE_F32;
    b->op[0] = HEDDLE_N;
    b->op[1] = HEDDLE_T;
    b->op_count = 2;
    b->keep_going = 1;
    b->launches = 1;
    b->stop = &benching_interrupted;
    b->events = (struct bench_events){r, described, ran, begins, known};
    set_rules(r);
    int64_t total = r->bench.total, kept = r->bench.kept;
    each_run(r, count_run);
    if (r->bench.total > total && !r->shown.s->quiet)
        out(r->shown.s, "%s: %lld runs, %lld of them measured before\n", r->host ? "one core" : "device",
            (long long)(r->bench.total - total), (long long)(r->bench.kept - kept));
    TRY(out_flush(r->shown.s));
    r->bench.begin = now_ms();
    if (r->bench.done < r->bench.total)
        TRY(measure_all(r));
done:
    peers_close();
    heddle_close(b->h);
    b->h = NULL;
    return status;
}

static heddle_status choose_subjects(struct reproducing *r)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = &r->bench.bench.h->device;
    if (!r->shown.most && d->kind != DEVICE_gpu)
        r->shown.most = CPU_MOST;
    else if (!r->shown.most && gpu_is_emulated(d->gpu))
        r->shown.most = EMULATED_MOST;
    for (int i = 0; experiments[i].name; i++)
        if (r->shown.chosen[i])
            TRY(add_subjects(r, experiments[i].group));
    if (r->shown.most && !r->shown.s->quiet) {
        char most[NUMBER_TEXT];
        out(r->shown.s,
            "matrices of more than %s nonzeros are left out, generated ones made smaller (--most NNZ)\n",
            text_count(most, r->shown.most));
    }
done:
    return status;
}

static heddle_status measure_passes(struct reproducing *r, const char *records)
{
    heddle_status status = HEDDLE_OK;
    struct benching *k = &r->bench;
    TRY(heddle_open(&k->bench.h, r->c->device));
    TRY(choose_subjects(r));
    TRY(benching_records(k, records, r->c->fresh));
    benching_heed_interrupts();
    TRY(measure_on(r, r->c->device));
    r->host = 1;
    if (!benching_interrupted)
        TRY(measure_on(r, "cpu:threads=1"));
    TRY(output_commit(&k->file));
    r->shown.s->wrong = k->wrong > 0;
    if (!r->shown.s->quiet)
        out(r->shown.s, "%lld runs: %lld measured now, %lld were in %s before, %lld skipped, %lld wrong\n",
            (long long)k->done, (long long)(k->done - k->kept), (long long)k->kept, records,
            (long long)k->skipped, (long long)k->wrong);
done:
    return status;
}

/* ------------------------------------------------------------------ the command */

static heddle_status choose(struct reproducing *r)
{
    heddle_status status = HEDDLE_OK;
    if (r->shown.s->operands == 0)
        return fail(HEDDLE_BAD_ARGUMENT, "name experiments, or all (heddle reproduce --list names them)");
    for (int i = 0; i < r->shown.s->operands; i++) {
        int number = 0, all = strcmp(r->shown.s->operand[i], "all") == 0;
        if (!all)
            TRY(experiment_by_name(r->shown.s->operand[i], &number));
        for (int n = 0; n < experiment_count(); n++)
            r->shown.chosen[n] |= all || n == number;
    }
    if (r->c->type)
        TRY(each_word(r->c->type, check_type, NULL));
    if (r->c->time_limit < 0)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "--time-limit takes a number above 0"));
done:
    return status;
}

static heddle_status list(struct session *s)
{
    static const struct column columns[] = {
        {"experiment", 0, 0}, {"paper", 0, 0}, {"", 0, 0}, {"what it shows", 0, 0}, {0}};
    struct table table;
    table_begin(&table, columns);
    for (const struct experiment *e = experiments; e->name; e++)
        table_add(&table, "%s\t%s\t%s\t%s", e->name, e->paper, e->where, e->what);
    table_end(&table, s);
    table_free(&table);
    return HEDDLE_OK;
}

static heddle_status read_records(struct reproducing *r, const struct words *files)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < files->count; i++)
        TRY(records_read(&r->shown.records, files->item[i]));
done:
    return status;
}

static heddle_status make_folder(const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be made: %s", folder, strerror(errno));
    return HEDDLE_OK;
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    struct reproduce_choices *c = into;
    struct reproducing *r = NULL;
    struct text records = {0};
    if (c->list)
        return list(s);
    if (c->json && strcmp(c->json, "-") == 0)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "reproduce reads its records again: --json needs a FILE that ends in .jsonl");
    c->output = c->output ? c->output : FOLDER;
    text_add(&records, c->json ? "%s" : "%s/records.jsonl", c->json ? c->json : c->output);
    TRY(records.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
    TRY(NEW_ZEROED(r, 1));
    r->shown.s = s;
    r->bench.s = s;
    r->c = c;
    r->shown.most = c->most;
    r->shown.output = c->output;
    r->shown.types = c->type;
    r->shown.cold = c->cold;
    TRY(choose(r));
    TRY(make_folder(c->output));
    if (c->from.count == 0) {
        TRY(measure_passes(r, records.data));
        TRY(records_read(&r->shown.records, records.data));
    }
    TRY(read_records(r, &c->from));
    TRY(read_records(r, &c->with));
    TRY(records_finish(&r->shown.records));
    TRY(reproduce_show(&r->shown));
    if (benching_interrupted) {
        TRY(out_flush(s));
        TRY(fail(HEDDLE_BAD_ARGUMENT, "interrupted after %lld of %lld runs; the same command goes on",
                 (long long)r->bench.done, (long long)r->bench.total));
    }
done:
    if (r) {
        output_drop(&r->bench.file);
        past_free(&r->bench.past);
        heddle_close(r->bench.bench.h);
        subjects_free(&r->bench.list);
        records_free(&r->shown.records);
        mem_free(r->groups);
    }
    mem_free(r);
    text_free(&records);
    return status;
}

const struct page page_reproduce = {
    .usage = "EXPERIMENT...|all [--device D] [-o DIR] [--type f32,f64]",
    .details =
        "Runs the tables and figures of four papers on whatever device there is: naive-spmv-2016,\n"
        "ellpack-r-2011, hola-spmv-2017 and ginkgo-race-2020 (--list names each).  The paper's numbers\n"
        "stand beside Heddle's, each figure is drawn as SVG, and each experiment gets a page with its\n"
        "tables and with what differs from the paper.  Runs that several experiments show are measured\n"
        "once; what was interrupted goes on where the records end.  Matrices are generated stand-ins; what\n"
        "no longer exists (CUSP, the vendors' HYB) has a named substitute.\n"
        "\n"
        "Examples:\n"
        "  heddle reproduce --list\n"
        "  heddle reproduce hola-fig7 hola-fig13 --device cuda:0 -o figures\n"
        "  heddle reproduce all --device cuda:0 --json h200.jsonl -o figures\n"
        "  heddle reproduce all --from h200.jsonl --with mi300.jsonl -o figures\n"
        "  heddle reproduce naive-fig2 --device emu --most 5000\n",
    .option = options,
    .least = 0,
    .most = EXPERIMENTS_MOST,
    .size = sizeof(struct reproduce_choices),
    .run = run,
    .keeps_records = 1};
