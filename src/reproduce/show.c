/* SPDX-License-Identifier: MIT
 *
 * What an experiment shows: its panels, drawn by draw.c, its statistics beside the paper's as a table, and
 * a page with both. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reproduce/panel.h"

#define DEVICES_MOST 8
#define ROWS_MOST 48 /* of the table of matrices */

/* ------------------------------------------------------------------ tables */

/* A row of cells with tabs between them, as a line of Markdown. */
static void page_row(struct text *page, const char *cells)
{
    text_add(page, "| ");
    for (; *cells; cells++)
        if (*cells == '\t')
            text_add(page, " | ");
        else if ((unsigned char)*cells >= ' ')
            text_add(page, "%c", *cells);
    text_add(page, " |\n");
}

static void page_head(struct text *page, const struct column *columns)
{
    text_add(page, "|");
    for (int c = 0; columns[c].title; c++)
        text_add(page, " %s |", columns[c].title);
    text_add(page, "\n|");
    for (int c = 0; columns[c].title; c++)
        text_add(page, columns[c].right ? "--:|" : "---|");
    text_add(page, "\n");
}

static void add_number(struct text *row, double value, int share)
{
    if (share)
        text_add(row, "%.0f %%", 100 * value);
    else
        text_add(row, value >= 100 ? "%.0f" : "%.3g", value);
}

/* "\t1.19 (1.36)": ours and, where there is one, the paper's; shares in percent. */
static void add_cell(struct text *row, double ours, double paper, int share)
{
    text_add(row, "\t");
    if (isfinite(ours))
        add_number(row, ours, share);
    else if (isfinite(paper))
        text_add(row, "-");
    if (isfinite(paper)) {
        text_add(row, " (");
        add_number(row, paper, share);
        text_add(row, ")");
    }
}

static const char *size_name(const struct panel *p, enum size_class size)
{
    return !p->e->look->by_size ? "" : size == SMALL ? ", small" : ", large";
}

static void add_statistics_row(struct text *row, const struct panel *p, int s, enum size_class size)
{
    static const enum statistic shown[] = {LEAST, MOST, MEAN, HARMONIC, BETTER, BEST, AVERAGE};
    int count;
    panel_statistic(p, s, size, BEST, &count);
    text_add(row, "%s%s, %s\t%d", p->label[s], size_name(p, size), p->type, count);
    for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
        int used;
        double ours = panel_statistic(p, s, size, shown[k], &used);
        add_cell(row, ours, experiment_claim(p->e, s, p->type, size, shown[k]),
                 shown[k] == BETTER || shown[k] == BEST);
    }
}

static heddle_status show_statistics(struct showing *w, struct table *table, const struct panel *p)
{
    heddle_status status = HEDDLE_OK;
    struct text row = {0};
    int by_size = p->e->look->by_size;
    for (int size = by_size ? SMALL : ANY; size <= (by_size ? LARGE : ANY); size++)
        for (int s = 0; s < p->series; s++) {
            text_free(&row);
            add_statistics_row(&row, p, s, (enum size_class)size);
            TRY(row.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
            table_add(table, "%s", row.data);
            page_row(&w->page, row.data);
        }
done:
    text_free(&row);
    return status;
}

/* A ratio has no column for what it is taken against. */
static int has_column(const struct panel *p, int s)
{
    return p->e->look->shown != SHOW_RATIO || p->row[s].versus != s;
}

/* Each matrix and series, with the paper's number behind it. */
static void matrix_table(struct showing *w, const struct panel *p)
{
    struct text row = {0};
    text_add(&w->page, "\n%s, %s: %s.\n\n| matrix |", record_text(&w->r->records, p->device), p->type,
             panel_value_name(p));
    for (int s = 0; s < p->series; s++)
        if (has_column(p, s))
            text_add(&w->page, " %s%s |", p->e->look->shown == SHOW_RATIO ? "over " : "", p->label[s]);
    text_add(&w->page, "\n|---|");
    for (int s = 0; s < p->series; s++)
        text_add(&w->page, has_column(p, s) ? "--:|" : "");
    text_add(&w->page, "\n");
    for (int64_t c = 0; c < p->columns; c++) {
        text_free(&row);
        text_add(&row, "%s", p->name[c]);
        for (int s = 0; s < p->series; s++)
            if (has_column(p, s))
                add_cell(&row, panel_value(p, s, c),
                         experiment_published(p->e, s, p->type, p->subjects.item[p->subject[c]].origin), 0);
        if (row.data)
            page_row(&w->page, row.data);
    }
    text_free(&row);
}

/* The share of entries that HYB keeps in ELL.  Its arrays hold a value and a column for each of P places,
 * and a value, a column and a row for each of R other entries: 8 P + 12 R bytes with f32, 12 P + 16 R with
 * f64. */
static double share_in_ell(const struct panel *f32, const struct panel *f64, int64_t column)
{
    double narrow = f32->cell[column] ? f32->cell[column]->held_bytes : NAN;
    double wide = f64->cell[column] ? f64->cell[column]->held_bytes : NAN, places = (wide - narrow) / 4;
    return 1 - (narrow - 8 * places) / 4 / (double)f32->r->records.matrix[f32->matrix[column]].nnz;
}

static void table1(struct showing *w, struct table *table, const struct panel *f32, const struct panel *f64)
{
    struct text row = {0};
    for (int64_t c = 0; c < f32->columns; c++) {
        const struct subject *subject = &f32->subjects.item[f32->subject[c]];
        const struct record_matrix *m = &w->r->records.matrix[f32->matrix[c]];
        int64_t rows = subject->member ? subject->member->published.rows : 0;
        double nnz = subject->member ? (double)subject->member->published.nnz : NAN,
               mean = nnz / (double)rows;
        text_free(&row);
        text_add(&row, "%s\t%lld\t%lld", f32->name[c], (long long)m->rows, (long long)m->nnz);
        add_cell(&row, m->stat[STAT_row_mean], mean, 0);
        add_cell(&row, m->stat[STAT_row_longest] - m->stat[STAT_row_mean],
                 subject->member ? (double)subject->member->published.longest - mean : NAN, 0);
        add_cell(&row, m->stat[STAT_row_deviation],
                 subject->member ? subject->member->published.deviation : NAN, 0);
        add_cell(&row, share_in_ell(f32, f64, c), experiment_published(w->e, 0, "f32", subject->origin) / 100,
                 1);
        if (row.data) {
            table_add(table, "%s", row.data);
            page_row(&w->page, row.data);
        }
    }
    text_free(&row);
}

/* ------------------------------------------------------------------ one experiment */

/* On the terminal, lines of at most WRAP letters. */
#define WRAP 118
static void out_wrapped(struct session *s, const char *words)
{
    int column = 0;
    while (*words) {
        int size = (int)strcspn(words, " ");
        if (column > 0 && column + 1 + size > WRAP) {
            out(s, "\n");
            column = 0;
        }
        out(s, "%s%.*s", column > 0 ? " " : "", size, words);
        column += size + (column > 0);
        words += size;
        words += strspn(words, " ");
    }
    out(s, "\n");
}

static void missing(struct showing *w, const struct panel *p)
{
    for (int s = 0; s < p->series; s++) {
        const char *reason = panel_reason(p, s);
        struct text line = {0};
        text_add(&line, "Not measured: %s, %s%s%s.", p->label[s], p->type, reason ? ": " : "",
                 reason ? reason : "");
        int none;
        panel_statistic(p, s, ANY, BEST, &none);
        if (none == 0 && line.data) {
            text_add(&w->page, "%s\n\n", line.data);
            out_wrapped(w->r->s, line.data);
        }
        text_free(&line);
    }
}

static const struct column statistics_columns[] = {
    {"series", 0, 0},   {"matrices", 1, 0},  {"least", 1, 0},      {"most", 1, 0},    {"mean", 1, 0},
    {"harmonic", 1, 0}, {"faster on", 1, 0}, {"fastest on", 1, 0}, {"average", 1, 0}, {0}};
static const struct column table1_columns[] = {
    {"matrix", 0, 0},         {"rows", 1, 0},      {"nonzeros", 1, 0}, {"mean", 1, 0},
    {"longest - mean", 1, 0}, {"deviation", 1, 0}, {"in ELL", 1, 0},   {0}};

/* The series that others are compared with: "naive, CSR" or "naive, CSR T". */
static void add_references(struct text *words, const struct panel *p)
{
    int before = 0;
    for (int s = 0; s < p->series; s++)
        if (p->row[s].versus == s)
            text_add(words, "%s%s", before++ ? " or " : "", p->label[s]);
}

/* How the table of statistics is read. */
static void legend(struct showing *w, const struct panel *p)
{
    const struct drawn_as *look = w->e->look;
    struct text first = {0};
    if (look->shown == SHOW_DEVICES)
        text_add(&first, "this device over the other");
    else
        add_references(&first, p);
    if (look->statistics)
        text_add(&w->page, "Rows of the stand-ins; the paper's numbers stand in brackets.\n\n");
    else
        text_add(
            &w->page,
            "Least to harmonic mean (mean: geometric): how many times as fast %s is. Faster on: the share of "
            "matrices on which the series wins over it; fastest on: over all. Average: of %s. The paper's "
            "numbers, where its text has any, stand in brackets.\n\n",
            first.data ? first.data : "", look->reduced == CORRELATED ? "milliseconds" : panel_value_name(p));
    text_free(&first);
}

struct pair { /* the panels of a device, by type */
    struct panel panel[2];
    int count;
};

static heddle_status show_device(struct showing *w, int64_t device, int64_t other, int first)
{
    heddle_status status = HEDDLE_OK;
    static const char *const types[] = {"f32", "f64"};
    struct pair d = {.count = 0};
    struct table table;
    const struct drawn_as *look = w->e->look;
    const struct column *columns = look->statistics ? table1_columns : statistics_columns;
    table_begin(&table, columns);
    for (int t = 0; t < 2; t++)
        if (strstr(w->e->types, types[t]) && reproduce_has_type(w->r, types[t]))
            TRY(panel_new(&d.panel[d.count++], w->r, w->e, types[t], device, other));
    text_add(&w->page, "## %s\n\n", record_text(&w->r->records, device));
    for (int i = 0; i < d.count && look->kind; i++)
        TRY(reproduce_draw(w, &d.panel[i], first));
    if (d.count > 0)
        legend(w, &d.panel[0]);
    page_head(&w->page, columns);
    if (look->statistics && d.count == 2)
        table1(w, &table, &d.panel[0], &d.panel[1]);
    for (int i = 0; i < d.count && !look->statistics; i++)
        TRY(show_statistics(w, &table, &d.panel[i]));
    if (!w->r->s->quiet)
        table_end(&table, w->r->s);
    text_add(&w->page, "\n");
    for (int i = 0; i < d.count; i++)
        missing(w, &d.panel[i]);
    for (int i = 0; i < d.count && look->kind && look->kind != &grid_bars; i++)
        if (d.panel[i].columns <= ROWS_MOST)
            matrix_table(w, &d.panel[i]);
done:
    for (int i = 0; i < d.count; i++)
        panel_free(&d.panel[i]);
    table_free(&table);
    return status;
}

static heddle_status show_devices(struct showing *w)
{
    heddle_status status = HEDDLE_OK;
    int64_t device[DEVICES_MOST];
    int count = panel_devices(device, DEVICES_MOST, w->r, w->e), pairs = w->e->look->shown == SHOW_DEVICES;
    for (int i = pairs; i < count; i++)
        TRY(show_device(w, device[pairs ? 0 : i], pairs ? device[i] : -1, i == pairs));
    if (count > pairs)
        return HEDDLE_OK;
    const char *line =
        pairs ? "There are no records of two GPUs; --with FILE adds those of another machine."
        : w->e->look->driver && strcmp(w->e->look->driver, "hip") == 0
            ? "There are no records of an AMD GPU; --with FILE adds those of a machine that has one."
            : "Nothing of it was measured.";
    text_add(&w->page, "%s\n\n", line);
    out_wrapped(w->r->s, line);
done:
    return status;
}

static heddle_status show(struct reproduction *r, const struct experiment *e)
{
    heddle_status status = HEDDLE_OK;
    struct showing w = {.r = r, .e = e};
    out(r->s, "\n%s: %s %s, %s\n", e->name, e->paper, e->where, e->what);
    text_add(&w.page, "# %s %s: %s\n\n", e->paper, e->where, e->what);
    size_t words = strlen(e->comment);
    text_add(&w.page, "%.*s\n\n", (int)(words && e->comment[words - 1] == ' ' ? words - 1 : words),
             e->comment);
    if (r->group_instead[e->group])
        text_add(&w.page,
                 "The matrices of the paper are too large for --most %lld: small generated ones took "
                 "their place.\n\n",
                 (long long)r->most);
    TRY(show_devices(&w));
    out_wrapped(r->s, e->comment);
    if (r->group_instead[e->group])
        out(r->s, "Its matrices are too large here: small generated ones took their place.\n");
    text_add(&w.page, "\n`heddle reproduce %s` measures what is missing and draws this again.\n", e->name);
    TRY(reproduce_write(r, e->name, ".md", &w.page));
    TRY(out_flush(r->s));
done:
    text_free(&w.page);
    return status;
}

/* Each device of the records, with its runs and the day of the last one. */
static void add_devices(struct text *page, const struct records *r)
{
    for (int64_t i = 0; i < r->runs; i++) {
        int64_t device = r->run[i].device, runs = 0, k = 0;
        const char *last = "";
        while (r->run[k].device != device)
            k++;
        if (k < i)
            continue; /* it has its line */
        for (; k < r->runs; k++)
            if (r->run[k].device == device) {
                const char *date = record_text(r, r->run[k].date);
                runs++;
                last = date && strcmp(date, last) > 0 ? date : last;
            }
        text_add(page, "- %s: %lld runs, %.10s\n", record_text(r, device), (long long)runs, last);
    }
}

/* README.md: every page that is in the folder, whenever it was made. */
static heddle_status contents(struct reproduction *r)
{
    heddle_status status = HEDDLE_OK;
    struct text page = {0}, path = {0};
    text_add(&page, "# The papers' tables and figures, measured again\n\n"
                    "Made by `heddle reproduce`; docs/measuring.md tells how. Measured on\n\n");
    add_devices(&page, &r->records);
    text_add(&page, "\n| experiment | paper | | what it shows |\n|---|---|---|---|\n");
    for (const struct experiment *e = experiments; e->name; e++) {
        text_free(&path);
        text_add(&path, "%s/%s.md", r->output, e->name);
        if (!path.failed && access(path.data, R_OK) == 0)
            text_add(&page, "| [%s](%s.md) | %s | %s | %s |\n", e->name, e->name, e->paper, e->where,
                     e->what);
    }
    TRY(reproduce_write(r, "README", ".md", &page));
    if (!r->s->quiet)
        out(r->s, "\n%s/README.md lists all pages\n", r->output);
done:
    text_free(&page);
    text_free(&path);
    return status;
}

int reproduce_has_type(const struct reproduction *r, const char *type)
{
    return !r->types || strstr(r->types, type) != NULL;
}

heddle_status reproduce_show(struct reproduction *r)
{
    heddle_status status = HEDDLE_OK;
    if (r->records.warning_count > 0)
        out(r->s, "%lld lines of the records are left out; heddle report names them\n",
            (long long)r->records.warning_count);
    for (int i = 0; experiments[i].name; i++)
        if (r->chosen[i])
            TRY(show(r, &experiments[i]));
    TRY(contents(r));
done:
    return status;
}
