/* SPDX-License-Identifier: MIT */
#include "reproduce/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *text_of(const struct panel *p, int64_t number)
{
    return record_text(&p->r->records, number);
}

/* ------------------------------------------------------------------ which runs */

/* The place of `kernel` in "a|b|c", from 0 on; -1 when it is not there. */
static int index_in(const char *kernels, const char *kernel)
{
    size_t size = strlen(kernel);
    for (int place = 0; kernels; place++) {
        if (strncmp(kernels, kernel, size) == 0 && (kernels[size] == '|' || kernels[size] == 0))
            return place;
        kernels = strchr(kernels, '|');
        kernels = kernels ? kernels + 1 : NULL;
    }
    return -1;
}

static int is_core(const struct records *r, const struct record_run *run)
{
    return run->driver < 0 && strstr(record_text(r, run->device), ", 1 thread,") != NULL;
}

static const char *kernels_of(const struct panel *p, int series)
{
    const struct series *s = &p->row[series];
    return p->gpu && !(s->how & HOST) ? s->gpu : s->cpu;
}

/* Of two records the one whose kernel stands first in the list and that has a time counts. */
static int is_before(const struct panel *p, int series, const struct record_run *run,
                     const struct record_run *known)
{
    if (!known || (known->skipped >= 0 && run->skipped < 0))
        return 1;
    if ((known->skipped >= 0) != (run->skipped >= 0))
        return 0;
    const char *kernels = kernels_of(p, series);
    return index_in(kernels, text_of(p, run->kernel)) < index_in(kernels, text_of(p, known->kernel));
}

static void take(struct panel *p, const struct record_run *run, int64_t column,
                 const struct record_run **cell, int64_t device)
{
    for (int s = 0; s < p->series; s++) {
        int host = (p->row[s].how & HOST) != 0;
        const struct record_run **at = &cell[s * p->columns + column];
        if (strcmp(text_of(p, run->op), p->row[s].op == HEDDLE_N ? "N" : "T") == 0 &&
            (host ? is_core(&p->r->records, run) : run->device == device) &&
            index_in(kernels_of(p, s), text_of(p, run->kernel)) >= 0 && is_before(p, s, run, *at))
            *at = run;
    }
}

int panel_devices(int64_t *device, int most, const struct reproduction *r, const struct experiment *e)
{
    int count = 0, rows, gpus = 0;
    const struct series *row = experiment_series(e, &rows);
    for (int64_t i = 0; i < r->records.runs; i++) {
        const struct record_run *run = &r->records.run[i];
        const char *kernel = record_text(&r->records, run->kernel);
        int found = 0;
        for (int s = 0; s < rows; s++)
            found |=
                !(row[s].how & HOST) && index_in(run->driver >= 0 ? row[s].gpu : row[s].cpu, kernel) >= 0;
        for (int k = 0; k < count; k++)
            found &= device[k] != run->device;
        if (!found || run->skipped >= 0 || (run->driver < 0 && gpus) || count == most ||
            is_core(&r->records, run))
            continue;
        if (run->driver >= 0 && !gpus++)
            count = 0; /* a processor was there for the host's part */
        const char *driver = record_text(&r->records, run->driver);
        if (!e->look->driver ||
            (strcmp(e->look->driver, "hip") == 0) == (driver && strcmp(driver, "hip") == 0))
            device[count++] = run->device;
    }
    return count;
}

/* ------------------------------------------------------------------ the table */

/* "empty:n=1500000,share=20,mean=8,mode=scattered" as "empty share=20 scattered": what tells the matrices
 * of a group apart. */
static void short_name(char name[LABEL_TEXT], const char *spec)
{
    size_t size = strcspn(spec, ":"), at = size < LABEL_TEXT - 1 ? size : LABEL_TEXT - 1;
    memcpy(name, spec, at);
    name[at] = 0;
    for (spec += size; *spec; spec += size) {
        spec++;
        size = strcspn(spec, ",");
        if (strncmp(spec, "n=", 2) == 0 || strncmp(spec, "mean=", 5) == 0)
            continue;
        size_t skip = strncmp(spec, "mode=", 5) == 0 ? 5 : 0;
        at += (size_t)snprintf(name + at, LABEL_TEXT - at, " %.*s", (int)(size - skip), spec + skip);
        at = at < LABEL_TEXT ? at : LABEL_TEXT - 1;
    }
}

/* The columns: matrices of the group that the records know. */
static heddle_status find_matrices(struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    const struct records *r = &p->r->records;
    TRY(NEW(p->matrix, p->subjects.count + 1));
    TRY(NEW(p->subject, p->subjects.count + 1));
    TRY(NEW(p->name, p->subjects.count + 1));
    for (int64_t i = 0; i < p->subjects.count; i++)
        for (int64_t o = 0; o < r->origins.count; o++)
            if (strcmp(r->origins.item[o], p->subjects.item[i].origin) == 0) {
                const struct subject *s = &p->subjects.item[i];
                if (s->member)
                    snprintf(p->name[p->columns], LABEL_TEXT, "%s", s->name);
                else
                    short_name(p->name[p->columns], s->name);
                p->subject[p->columns] = i;
                p->matrix[p->columns++] = r->origin_matrix[o];
            }
done:
    return status;
}

static heddle_status find_runs(struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    const struct records *r = &p->r->records;
    int64_t *column = NULL;
    TRY(NEW(column, r->matrices + 1));
    TRY(NEW_ZEROED(p->cell, p->series * p->columns + 1));
    TRY(NEW_ZEROED(p->others, p->series * p->columns + 1));
    for (int64_t m = 0; m < r->matrices; m++)
        column[m] = -1;
    for (int64_t c = 0; c < p->columns; c++)
        column[p->matrix[c]] = c;
    for (int64_t i = 0; i < r->runs; i++) {
        const struct record_run *run = &r->run[i];
        if (column[run->matrix] < 0 || strcmp(text_of(p, run->value), p->type) != 0)
            continue;
        take(p, run, column[run->matrix], p->cell, p->device);
        if (p->other >= 0)
            take(p, run, column[run->matrix], p->others, p->other);
    }
    for (int64_t i = 0; i < p->series * p->columns; i++)
        p->measured += p->cell[i] && p->cell[i]->skipped < 0;
done:
    mem_free(column);
    return status;
}

/* On a CPU the kernel stands behind the label: it is a substitute. */
static void label(struct panel *p, int series)
{
    const char *kernel = p->row[series].cpu ? p->row[series].cpu : "none";
    size_t size = strcspn(kernel, "|");
    for (int64_t c = p->columns - 1; c >= 0; c--) {
        const struct record_run *run = p->cell[series * p->columns + c];
        if (run && run->skipped < 0) {
            kernel = text_of(p, run->kernel);
            size = strlen(kernel);
        }
    }
    if (p->gpu || p->row[series].how & HOST)
        snprintf(p->label[series], LABEL_TEXT, "%s", p->row[series].label);
    else
        snprintf(p->label[series], LABEL_TEXT, "%s: %.*s", p->row[series].label, (int)size, kernel);
}

heddle_status panel_new(struct panel *p, const struct reproduction *r, const struct experiment *e,
                        const char *type, int64_t device, int64_t other)
{
    heddle_status status = HEDDLE_OK;
    int instead;
    *p = (struct panel){
        .r = r, .e = e, .type = type, .device = device, .other = other, .cold = e->look->cold || r->cold};
    p->row = experiment_series(e, &p->series);
    for (int64_t i = 0; i < r->records.runs; i++)
        p->gpu |= r->records.run[i].device == device && r->records.run[i].driver >= 0;
    TRY(group_subjects(&p->subjects, e->group, r->most, &instead));
    TRY(find_matrices(p));
    TRY(find_runs(p));
    TRY(NEW(p->label, p->series));
    for (int s = 0; s < p->series; s++)
        label(p, s);
done:
    return status;
}

void panel_free(struct panel *p)
{
    subjects_free(&p->subjects);
    mem_free(p->label);
    mem_free(p->matrix);
    mem_free(p->subject);
    mem_free(p->name);
    mem_free(p->cell);
    mem_free(p->others);
    *p = (struct panel){0};
}

/* ------------------------------------------------------------------ numbers */

static double ms_of(const struct panel *p, const struct record_run *run, int how)
{
    if (!run || run->skipped >= 0)
        return NAN;
    if (how & WHOLE)
        return (isnan(run->cold_ms) ? run->warm_ms : run->cold_ms) + run->convert_ms + run->prepare_ms;
    return p->cold ? run->cold_ms : run->warm_ms;
}

double panel_ms(const struct panel *p, int series, int64_t column)
{
    return ms_of(p, p->cell[series * p->columns + column], p->row[series].how);
}

static double nnz_of(const struct panel *p, int64_t column)
{
    return (double)p->r->records.matrix[p->matrix[column]].nnz;
}

static double ratio_of(const struct panel *p, int series, int64_t column)
{
    int versus = p->row[series].versus;
    return versus == series ? NAN : panel_ms(p, series, column) / panel_ms(p, versus, column);
}

double panel_value(const struct panel *p, int series, int64_t column)
{
    const struct record_run *run = p->cell[series * p->columns + column];
    double ms = panel_ms(p, series, column), nnz = nnz_of(p, column);
    switch (p->e->look->shown) {
    case SHOW_GFLOPS:
        return 2e-6 * nnz / ms;
    case SHOW_GFLOPS3:
        return 3e-6 * nnz / ms;
    case SHOW_MS:
        return ms;
    case SHOW_RATIO:
        return ratio_of(p, series, column);
    case SHOW_BYTES:
        return run && run->skipped < 0 ? run->held_bytes / nnz : NAN;
    case SHOW_LAUNCHES:
        return 1e6 * ms / nnz; /* of all of them together */
    case SHOW_DEVICES:
        return ms_of(p, p->others[series * p->columns + column], p->row[series].how) / ms;
    }
    return NAN;
}

double panel_x(const struct panel *p, int64_t column)
{
    const struct record_matrix *m = &p->r->records.matrix[p->matrix[column]];
    const char *sigma = strstr(p->subjects.item[p->subject[column]].origin, "sigma=");
    switch (p->e->look->over) {
    case OVER_NNZ:
        return (double)m->nnz;
    case OVER_DENSEST:
        return m->stat[STAT_row_longest] / (double)m->rows;
    case OVER_SIGMA:
        return sigma ? strtod(sigma + strlen("sigma="), NULL) : NAN;
    }
    return NAN;
}

#define SMALL_LEAST 1e4 /* as in hola-spmv-2017 Table 2 */
#define LARGE_LEAST 3e5

int panel_is_of_size(const struct panel *p, int64_t column, enum size_class size)
{
    double nnz = nnz_of(p, column);
    return size == ANY || (size == SMALL ? nnz > SMALL_LEAST && nnz < LARGE_LEAST : nnz >= LARGE_LEAST);
}

/* Is no series with the same operation faster? */
static int is_best(const struct panel *p, int series, int64_t column)
{
    double ms = panel_ms(p, series, column);
    for (int s = 0; s < p->series; s++)
        if (p->row[s].op == p->row[series].op && panel_ms(p, s, column) < ms)
            return 0;
    return ms > 0;
}

double panel_statistic(const struct panel *p, int series, enum size_class size, enum statistic what,
                       int *count)
{
    double least = INFINITY, most = 0, logs = 0, inverse = 0, sum = 0;
    int better = 0, best = 0, shown = 0, devices = p->e->look->shown == SHOW_DEVICES;
    *count = 0;
    for (int64_t c = 0; c < p->columns; c++) {
        double value = panel_value(p, series, c), ratio = devices ? value : ratio_of(p, series, c);
        if (!panel_is_of_size(p, c, size) || !(panel_ms(p, series, c) > 0))
            continue;
        ++*count;
        best += is_best(p, series, c);
        /* which no paper counts as a further matrix */
        if (value > 0 && !p->subjects.item[p->subject[c]].transposed) {
            sum += value;
            shown++;
        }
        if (!(ratio > 0))
            continue;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        logs += log(ratio);
        inverse += 1 / ratio;
        better += ratio < 1;
    }
    int compared = 0;
    for (int64_t c = 0; c < p->columns; c++)
        compared += panel_is_of_size(p, c, size) &&
                    (devices ? panel_value(p, series, c) : ratio_of(p, series, c)) > 0;
    switch (what) {
    case LEAST:
        return compared ? least : NAN;
    case MOST:
        return compared ? most : NAN;
    case MEAN:
        return compared ? exp(logs / compared) : NAN;
    case HARMONIC:
        return compared ? compared / inverse : NAN;
    case BETTER:
        return compared ? (double)better / compared : NAN;
    case BEST:
        return *count ? (double)best / *count : NAN;
    case AVERAGE:
        return shown ? sum / shown : NAN;
    case STATISTICS:
        break;
    }
    return NAN;
}

const char *panel_reason(const struct panel *p, int series)
{
    const char *reason = NULL;
    for (int64_t c = 0; c < p->columns; c++) {
        const struct record_run *run = p->cell[series * p->columns + c];
        if (run && run->skipped < 0)
            return NULL;
        if (run && !reason)
            reason = text_of(p, run->skipped);
    }
    return reason;
}
