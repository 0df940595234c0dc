/* SPDX-License-Identifier: MIT
 *
 * Tables for people: columns as wide as their contents, numbers to the right, colour where a terminal
 * shows it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "terminal/terminal.h"

static const char *const colours[] = {"", GREEN, RED, DIM};

/* The colour that a cell begins with; *cell moves behind it. */
static int colour_of(const char **cell)
{
    int colour = **cell >= 1 && **cell <= 3 ? **cell : 0;
    *cell += colour != 0;
    return colour;
}

/* Letters, not bytes, of a UTF-8 text. */
static int letters(const char *text, size_t size)
{
    int n = 0;
    for (size_t i = 0; i < size; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void table_begin(struct table *t, const struct column *column)
{
    *t = (struct table){.column = column};
    for (int c = 0; column[c].title; c++) {
        int title = letters(column[c].title, strlen(column[c].title));
        t->width[c] = column[c].width > title ? column[c].width : title;
    }
}

void table_add(struct table *t, const char *format, ...)
{
    char small[512], *row = small;
    va_list args;
    va_start(args, format);
    int size = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (size >= (int)sizeof small && (row = mem_alloc(size + 1, 1))) {
        va_start(args, format);
        vsnprintf(row, (size_t)size + 1, format, args);
        va_end(args);
    }
    if (row)
        text_add(&t->cells, "%s\n", row);
    else
        t->cells.failed = 1;
    if (row != small)
        mem_free(row);
}

/* One cell; the last column is not padded. */
static void put(struct session *s, const struct table *t, int c, const char *cell, size_t size, int colour)
{
    int gap = t->width[c] - letters(cell, size), last = !t->column[c + 1].title;
    gap = gap < 0 ? 0 : gap;
    out(s, "%s%*s%s%.*s%s%*s", c > 0 ? "  " : "", t->column[c].right ? gap : 0, "",
        s->colour ? colours[colour] : "", (int)size, cell, s->colour && colour ? PLAIN : "",
        t->column[c].right || last ? 0 : gap, "");
}

void table_head(struct table *t, struct session *s)
{
    for (int c = 0; t->column[c].title; c++)
        put(s, t, c, t->column[c].title, strlen(t->column[c].title), s->colour ? 3 : 0);
    out(s, "\n");
}

/* Calls visit for each cell, or once for a line end. */
static void each_cell(struct table *t, struct session *s,
                      void (*visit)(struct table *t, struct session *s, int c, const char *cell, size_t size))
{
    int c = 0;
    for (const char *cell = t->cells.data; cell && *cell;) {
        size_t size = strcspn(cell, "\t\n");
        if (t->column[c].title)
            visit(t, s, c, cell, size);
        c = cell[size] == '\n' ? 0 : c + 1;
        if (cell[size] == '\n' && s)
            out(s, "\n");
        cell += size + 1;
    }
}

static void put_cell(struct table *t, struct session *s, int c, const char *cell, size_t size)
{
    const char *text = cell;
    int colour = colour_of(&text);
    put(s, t, c, text, size - (size_t)(text - cell), colour);
}

static void widen_column(struct table *t, struct session *s, int c, const char *cell, size_t size)
{
    (void)s;
    const char *text = cell;
    colour_of(&text);
    int width = letters(text, size - (size_t)(text - cell));
    if (width > t->width[c])
        t->width[c] = width;
}

void table_rows(struct table *t, struct session *s)
{
    if (t->cells.failed)
        s->out.failed = 1;
    each_cell(t, s, put_cell);
    text_free(&t->cells);
}

void table_end(struct table *t, struct session *s)
{
    each_cell(t, NULL, widen_column);
    table_head(t, s);
    table_rows(t, s);
}

void table_free(struct table *t)
{
    text_free(&t->cells);
}
