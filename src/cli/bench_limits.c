/* SPDX-License-Identifier: MIT
 *
 * heddle bench --limits: what the device can do at best, and what a product can therefore not go below. */
#include <math.h>
#include <stdio.h>

#include "cli/benching.h"

static const struct column columns[] = {{"limit", 0, 0},
                                        {"how", 0, 16},
                                        {"type", 0, 0},
                                        {"within", 1, 9},
                                        {"figure", 1, 10},
                                        {"", 0, 4},
                                        {"floor of a product", 0, 0},
                                        {0}};

static const char floors[] =
    "The floor is what 1M nonzeros take at least: of read, a column and a value each; of gather (A x), an\n"
    "entry of x; of add (T without a transpose), an addition to y.  A launch is the floor of any product.\n"
    "The largest one counts.\n";

static void add_row(struct benching *k, const struct limit *l)
{
    char span[NUMBER_TEXT] = "", floor[64] = "";
    if (l->span > 0)
        text_bytes(span, (double)l->span);
    if (!isnan(l->floor_us))
        snprintf(floor, sizeof floor, "%.2f us%s", l->floor_us, l->span > 0 ? " for 1M nonzeros" : "");
    table_add(&k->table, "%s\t%s\t%s\t%s\t%.*f\t%s\t%s", l->limit, l->pattern,
              l->value ? type_name(l->value) : "", span, l->figure < 1000 ? 2 : 0, l->figure, l->unit, floor);
}

static heddle_status told(void *argument, const struct limit *l)
{
    heddle_status status = HEDDLE_OK;
    struct benching *k = argument;
    struct json j = {0};
    k->done++;
    progress(k->s, k->done, k->total, "%s %s", l->limit, l->pattern);
    if (k->to_file || k->to_stdout) {
        record_limit(&j, &k->bench.h->device, l);
        TRY(benching_keep(k, &j));
    }
    if (!k->to_stdout)
        add_row(k, l);
done:
    return status;
}

#define LIMITS_ABOUT 26 /* for the bar alone */

heddle_status benching_limits(struct benching *k)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = &k->bench.h->device;
    void *before;
    k->total = LIMITS_ABOUT;
    if (!k->to_stdout && !k->s->quiet) {
        benching_device(k);
        out(k->s, "\n\n");
    }
    table_begin(&k->table, columns);
    TRY(device_enter(d, &before));
    status = limits_measure(&k->bench.probe, k->bench.memory_limit, told, k);
    device_leave(d, before);
    TRY(status);
    progress_clear(k->s);
    if (k->to_stdout)
        goto done;
    table_end(&k->table, k->s);
    if (!k->s->quiet)
        out(k->s, "\n%s", floors);
    if (k->to_file && !k->s->quiet)
        out(k->s, "records: %s\n", k->file.path);
done:
    return status;
}
