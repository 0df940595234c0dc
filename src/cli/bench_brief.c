/* SPDX-License-Identifier: MIT
 *
 * heddle bench --brief: a line a matrix instead of a line a run.  Times are those of the first type,
 * operation and number of vectors asked for; what else was measured is counted, and in the records. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/benching.h"

static const struct column columns[] = {{"matrix", 0, 16},  {"nonzeros", 1, 9}, {"auto ms", 1, 8},
                                        {"plan ms", 1, 8},  {"best ms", 1, 8},  {"kernel", 0, 12},
                                        {"speed-up", 1, 0}, {"verified", 0, 0}, {0}};

heddle_status benching_brief_begin(struct benching *k)
{
    heddle_status status = HEDDLE_OK;
    TRY(NEW_ZEROED(k->brief, k->list.count + 1));
    table_begin(&k->table, columns);
done:
    return status;
}

void benching_brief_add(struct benching *k, const struct run *r, double ms)
{
    struct brief *b = &k->brief[r->subject - k->list.item];
    b->verified += ms > 0;
    if (r->nnz > 0)
        b->nnz = r->nnz;
    if (ms <= 0 || r->value != k->bench.type[0] || r->op != k->bench.op[0] ||
        vectors_order(r->vectors, k->bench.vectors[0]) != 0 || peer_is_name(r->kernel))
        return;
    if (strcmp(r->kernel, "auto") == 0)
        b->automatic = ms;
    else if (strcmp(r->kernel, "plan") == 0)
        b->plan = ms;
    else if (b->best == 0 || ms < b->best) {
        b->best = ms;
        snprintf(b->kernel, sizeof b->kernel, "%s", r->kernel);
    }
}

/* "0.0312", "12.3", or "" where there is none. */
static const char *time_text(char text[16], double ms)
{
    text[0] = 0;
    if (ms > 0)
        snprintf(text, 16, "%.*f", ms < 10 ? 4 : ms < 1000 ? 2 : 0, ms);
    return text;
}

static double lesser(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

void benching_brief_row(struct benching *k, int64_t number)
{
    const struct brief *b = &k->brief[number];
    const struct subject *subject = &k->list.item[number];
    char automatic[16], plan[16], best[16], gain[32] = "", nnz[NUMBER_TEXT] = "",
                                            verified[64] = DIM "nothing ran";
    double least = lesser(b->plan, b->best);
    if (b->automatic > 0 && least > 0 && !gpu_is_emulated(k->bench.h->device.gpu)) {
        snprintf(gain, sizeof gain, "%.2f", b->automatic / least);
        mean_add(&k->best_gain, b->automatic / least);
    }
    if (b->nnz > 0)
        text_count(nnz, b->nnz);
    if (b->wrong > 0)
        snprintf(verified, sizeof verified, RED "%d WRONG", b->wrong);
    else if (b->verified > 0)
        snprintf(verified, sizeof verified, GREEN "yes (%d)", b->verified);
    if (!k->headed)
        benching_head(k);
    table_add(&k->table, "%.30s\t%s\t%s\t%s\t%s\t%.24s\t%s\t%s", subject->name, nnz,
              time_text(automatic, b->automatic), time_text(plan, b->plan), time_text(best, b->best),
              b->kernel, gain, verified);
    table_rows(&k->table, k->s);
}
