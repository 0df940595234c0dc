/* SPDX-License-Identifier: MIT
 *
 * A panel as a grid of numbers, and the drawing of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/cases.h"
#include "reproduce/panel.h"

#define DOT " \xc2\xb7 "

heddle_status reproduce_write(const struct reproduction *r, const char *name, const char *ending,
                              const struct text *t)
{
    struct text path = {0};
    text_add(&path, "%s/%s%s", r->output, name, ending);
    heddle_status status = path.failed ? HEDDLE_NO_MEMORY : output_text(path.data, t);
    text_free(&path);
    return status;
}

const char *panel_value_name(const struct panel *p)
{
    static const char *const names[] = {[SHOW_GFLOPS] = "GFLOP/s (2 operations a nonzero)",
                                        [SHOW_GFLOPS3] =
                                            "GFLOP/s (3 operations a nonzero, as the paper counts)",
                                        [SHOW_MS] = "milliseconds",
                                        [SHOW_RATIO] = "times as fast",
                                        [SHOW_BYTES] = "bytes beyond the matrix, per nonzero",
                                        [SHOW_LAUNCHES] = "nanoseconds per nonzero",
                                        [SHOW_DEVICES] = "times as fast"};
    return p->e->look->reduced == CORRELATED ? "correlation of time with nonzeros" : names[p->e->look->shown];
}

/* Pearson's correlation of the time with the nonzeros. */
static double correlation(const struct panel *p, int series, enum size_class size)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t c = 0; c < p->columns; c++) {
        double nnz = panel_x(p, c), ms = panel_ms(p, series, c);
        if (!panel_is_of_size(p, c, size) || !(ms > 0))
            continue;
        n++;
        x += nnz;
        y += ms;
        xx += nnz * nnz;
        yy += ms * ms;
        xy += nnz * ms;
    }
    return n < 3 ? NAN : (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
}

/* The mean of GFLOP/s, weighted by nonzeros. */
static double weighted(const struct panel *p, int series)
{
    double sum = 0, weights = 0;
    for (int64_t c = 0; c < p->columns; c++) {
        double value = panel_value(p, series, c), nnz = panel_x(p, c);
        if (value > 0) {
            sum += nnz * value;
            weights += nnz;
        }
    }
    return sum / weights;
}

/* The numbers of a drawing, and what must live as long. */
struct numbers {
    struct grid grid;
    struct grid_series *head;
    const char **name;
    char (*names)[LABEL_TEXT];      /* where they are made for the drawing */
    char (*labels)[2 * LABEL_TEXT]; /* size series */
    double *x, *value;
};

static heddle_status reduce(struct numbers *n, const struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    int sizes = p->e->look->reduced == CORRELATED ? 2 : 1;
    TRY(NEW(n->name, sizes));
    TRY(NEW(n->x, sizes));
    TRY(NEW(n->value, p->series * sizes));
    for (int k = 0; k < sizes; k++) {
        n->x[k] = 1;
        n->name[k] = sizes == 1 ? "weighted mean" : k ? "large" : "small";
        for (int s = 0; s < p->series; s++)
            n->value[s * sizes + k] = sizes == 1 ? weighted(p, s) : correlation(p, s, k ? LARGE : SMALL);
    }
    n->grid.columns = sizes;
done:
    return status;
}

static heddle_status fill(struct numbers *n, const struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    TRY(NEW(n->name, p->columns + 1));
    TRY(NEW(n->x, p->columns + 1));
    TRY(NEW(n->value, p->series * p->columns + 1));
    for (int64_t c = 0; c < p->columns; c++) {
        n->name[c] = p->name[c];
        n->x[c] = panel_x(p, c);
        for (int s = 0; s < p->series; s++)
            n->value[s * p->columns + c] = panel_value(p, s, c);
    }
    n->grid.columns = p->columns;
done:
    return status;
}

static const char *const launch_names[RUN_LAUNCHES] = {"first kernel", "second", "third",
                                                       "fourth",       "fifth",  "sixth"};

/* A line for each matrix and series, a colour for each kernel that the product launches; one for all where
 * none is known. */
static heddle_status split(struct numbers *n, const struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    int64_t lines = p->columns * p->series;
    TRY(NEW(n->name, lines + 1));
    TRY(NEW(n->names, lines + 1));
    TRY(NEW(n->x, lines + 1));
    TRY(NEW(n->value, RUN_LAUNCHES * lines + 1));
    for (int64_t k = 0; k < lines; k++) {
        int64_t column = k / p->series;
        int s = (int)(k % p->series);
        const struct record_run *run = p->cell[s * p->columns + column];
        snprintf(n->names[k], LABEL_TEXT, "%.24s, %.24s", p->name[column], p->label[s]);
        n->name[k] = n->names[k];
        n->x[k] = 1;
        for (int i = 0; i < RUN_LAUNCHES; i++)
            n->value[i * lines + k] =
                run && i < run->launches
                    ? run->launched_ms[i] / panel_ms(p, s, column) * panel_value(p, s, column)
                    : NAN;
        if (run && run->launches == 0)
            n->value[k] = panel_value(p, s, column);
    }
    n->grid.columns = lines;
    n->grid.series = RUN_LAUNCHES;
    for (int i = 0; i < RUN_LAUNCHES; i++)
        n->head[i] = (struct grid_series){launch_names[i], palette_colour(i), 0};
done:
    return status;
}

static heddle_status numbers_new(struct numbers *n, const struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    const struct drawn_as *look = p->e->look;
    static const char *const over[] = {[OVER_NNZ] = "nonzeros",
                                       [OVER_DENSEST] = "entries of the longest row over rows",
                                       [OVER_SIGMA] = "deviation of columns from the diagonal"};
    int ratio = look->shown == SHOW_RATIO || look->shown == SHOW_DEVICES;
    *n = (struct numbers){0};
    TRY(NEW(n->head, p->series + RUN_LAUNCHES));
    TRY(NEW(n->labels, p->series));
    n->grid.series = p->series;
    for (int s = 0; s < p->series; s++) {
        const char *first = p->label[p->row[s].versus];
        snprintf(n->labels[s], sizeof n->labels[s], look->shown == SHOW_RATIO ? "%s over %s" : "%s",
                 look->shown == SHOW_RATIO ? first : p->label[s], p->label[s]);
        n->head[s] = (struct grid_series){n->labels[s], palette_colour(s),
                                          kernel_is_peer(p->row[s].gpu ? p->row[s].gpu : "")};
    }
    TRY(look->reduced ? reduce(n, p) : look->shown == SHOW_LAUNCHES ? split(n, p) : fill(n, p));
    n->grid.head = n->head;
    n->grid.name = n->name;
    n->grid.x = n->x;
    n->grid.value = n->value;
    n->grid.x_label = over[look->over];
    n->grid.y_label = panel_value_name(p);
    n->grid.x_text = look->over == OVER_DENSEST ? TICK_PLAIN : TICK_COUNT;
    n->grid.y_text = ratio ? TICK_TIMES : TICK_PLAIN;
    n->grid.linear = look->reduced != AS_IT_IS || look->kind == &grid_lines;
    n->grid.mark = ratio ? 1 : NAN;
done:
    return status;
}

static void numbers_free(struct numbers *n)
{
    mem_free(n->head);
    mem_free(n->name);
    mem_free(n->names);
    mem_free(n->labels);
    mem_free(n->x);
    mem_free(n->value);
}

/* "nvidia-h200" of "NVIDIA H200". */
static void add_slug(struct text *t, const char *words)
{
    int gap = 1;
    for (; *words; words++) {
        int letter = (*words >= 'a' && *words <= 'z') || (*words >= '0' && *words <= '9');
        int capital = *words >= 'A' && *words <= 'Z';
        if (letter || capital)
            text_add(t, "%s%c", gap ? "-" : "", capital ? *words - 'A' + 'a' : *words);
        gap = !letter && !capital;
    }
}

/* Numbers that stand for all matrices together, below their drawing. */
static void reduced_table(struct showing *w, const struct grid *g)
{
    for (int s = 0; s < g->series; s++) {
        struct text line = {0};
        text_add(&line, "%s:", g->head[s].label);
        for (int64_t k = 0; k < g->columns; k++)
            if (isfinite(grid_at(g, s, k)))
                text_add(&line, "%s %s %.3g", k ? "," : "", g->name[k], grid_at(g, s, k));
        if (line.data) {
            text_add(&w->page, "- %s\n", line.data);
            out(w->r->s, "  %s\n", line.data);
        }
        text_free(&line);
    }
    text_add(&w->page, "\n");
}

heddle_status reproduce_draw(struct showing *w, const struct panel *p, int first)
{
    heddle_status status = HEDDLE_OK;
    struct numbers n = {0};
    struct text file = {0}, svg = {0}, title = {0}, note = {0};
    const char *device = record_text(&w->r->records, p->device);
    TRY(numbers_new(&n, p));
    text_add(&title, "%s %s: %s", w->e->paper, w->e->where, w->e->what);
    text_add(&note, "%s" DOT "%s" DOT "%s caches" DOT "%lld matrices", device, p->type,
             p->cold ? "cold" : "warm", (long long)p->columns);
    if (p->other >= 0)
        text_add(&note, DOT "over %s", record_text(&w->r->records, p->other));
    text_add(&file, "%s", w->e->name);
    if (strchr(w->e->types, ','))
        text_add(&file, "-%s", p->type);
    if (!first)
        add_slug(&file, device);
    TRY(title.failed || note.failed || file.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
    n.grid.title = title.data;
    n.grid.note = note.data;
    grid_draw(&svg, &n.grid, w->e->look->kind);
    TRY(reproduce_write(w->r, file.data, ".svg", &svg));
    w->drawings++;
    text_add(&w->page, "![%s, %s, %s](%s.svg)\n\n", w->e->where, device, p->type, file.data);
    if (!w->r->s->quiet)
        out(w->r->s, "%s/%s.svg\n", w->r->output, file.data);
    if (w->e->look->reduced)
        reduced_table(w, &n.grid);
done:
    numbers_free(&n);
    text_free(&file);
    text_free(&svg);
    text_free(&title);
    text_free(&note);
    return status;
}
