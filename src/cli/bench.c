/* SPDX-License-Identifier: MIT
 *
 * heddle bench: from its options to runs, and through all of them.  What it tells is in bench_told.c. */
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "cli/benching.h"
#include "subject/choice.h"

struct choices {
    const char *device, *json;
    struct words kernels, peers, types, ops, vectors, layouts;
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
    {"type", 't', OPTION_LIST, AT(types), "T,...",
     "types of the numbers: f32, f64, c32, c64, f16, bf16, f32v64 (f64)"},
    {"op", 0, OPTION_LIST, AT(ops), "N,T,H",
     "A itself, its transpose, its adjoint where numbers are complex (N)"},
    {"vectors", 0, OPTION_LIST, AT(vectors), "K,...", VECTORS_WHAT},
    {"layout", 0, OPTION_LIST, AT(layouts), "rows,columns", "how several vectors lie (rows)"},
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

/* ------------------------------------------------------------------ from the options */

static heddle_status add_type(void *argument, const char *word)
{
    struct bench *b = argument;
    heddle_type type;
    heddle_status status = type_choice(word, &type);
    for (int i = 0; i < b->type_count && status == HEDDLE_OK; i++)
        if (b->type[i] == type)
            return HEDDLE_OK;
    if (status == HEDDLE_OK)
        b->type[b->type_count++] = type;
    return status;
}

static heddle_status add_op(void *argument, const char *word)
{
    struct bench *b = argument;
    heddle_op op;
    heddle_status status = op_choice(word, &op);
    for (int i = 0; i < b->op_count && status == HEDDLE_OK; i++)
        if (b->op[i] == op)
            return HEDDLE_OK;
    if (status == HEDDLE_OK)
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
    unsigned vectors = 0;
    for (int i = 0; i < bench_vectors(b); i++)
        vectors |= vectors_count(b->vectors[i]) > 1 ? PEER_several : PEER_one;
    return candidates_add_peers(&b->kernels, words,
                                d->kind == DEVICE_gpu ? gpu_driver_of(d->gpu)->name : "cpu",
                                (enum peer_vectors)vectors);
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
    if (c->limits && (s->operands > 0 || c->kernels.count || c->peers.count || c->types.count ||
                      c->ops.count || c->vectors.count))
        return fail(HEDDLE_BAD_ARGUMENT, "--limits measures the device: it takes no MATRIX, --kernel, "
                                         "--peer, --type, --op or --vectors");
    if (!c->limits && s->operands == 0)
        return fail(HEDDLE_BAD_ARGUMENT, "bench takes at least 1 MATRIX, or --limits");
    TRY(vectors_choice(&c->vectors, &c->layouts, "rows", b->vectors, VECTORS_LISTED, &b->vectors_listed));
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
    b->events = (struct bench_events){k, c->json ? benching_described : NULL, benching_ran, benching_begins,
                                      k->past.lines > 0 ? benching_known : NULL};
    benching_table(k);
    if (c->brief)
        TRY(benching_brief_begin(k));
    if (bench_runs(b) == 0)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "--op H is of complex numbers: --type c32,c64"));
    k->total = k->list.count * bench_runs(b);
    if (k->past.count > 0)
        TRY(benching_take_over(k));
    k->begin = now_ms();
    k->quiet = quiet_now();
done:
    return status;
}

/* ------------------------------------------------------------------ the command */

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
    benching_summary(k);
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
    .usage = "MATRIX... [--kernel K,...|all] [--peer P,...] [--type T,...] [--op N,T,H] [--vectors K,...]\n"
             "              [--layout rows,columns] [--json [FILE]]\n"
             "heddle bench --limits [--device DEVICE] [--json [FILE]]",
    .details =
        "Times products, verifies each one, and prints a table.  cold ms is the median of products with\n"
        "flushed caches, ms that of warm ones, ± half the distance of their quartiles; GFLOP/s counts 2\n"
        "operations a nonzero, 8 a complex one; GB/s counts A in CSR, x and y once.  The floor is the time\n"
        "of the fastest loop that only reads as many bytes as this kernel does, again and again; of CSR's\n"
        "is the share for the bytes of CSR, which a smaller storage may exceed.  Records in --json also\n"
        "hold conversion and preparation times and a description of each matrix; a run that was interrupted\n"
        "goes on where its file ends.  Peers are other libraries, measured by the same clock on the same\n"
        "arrays; the summary then tells how the best of them compares.  With auto or plan beside\n"
        "auto:deterministic=1 or plan:deterministic=1 it tells for each matrix what a bitwise repeatable\n"
        "result costs.  The exit status is 1 when a result is wrong.\n"
        "\n"
        "With --vectors the products are those of heddle_mm with so many vectors, which lie by rows (the\n"
        "entries of one row side by side) or by columns; every vector of the result is verified, GFLOP/s\n"
        "and bytes count all of them, and the column op says how many there are: \"N 8 rows\".\n"
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
        "  heddle bench set:baseline --vectors 2,8,32 --layout rows,columns --peer all --op N,T\n"
        "  heddle bench --limits --device cuda:0\n",
    .option = options,
    .least = 0,
    .most = 1 << 20,
    .size = sizeof(struct choices),
    .run = run,
    .keeps_records = 1};
