/* SPDX-License-Identifier: MIT
 *
 * Rutherford-Boeing: fields are right-justified, and every value has a point (Fortran would otherwise put
 * one inside). */
#include <stdio.h>
#include <string.h>

#include "io/number.h"
#include "io/write.h"

#define LINE 80
#define VALUE_WIDTH 25

/* A section of the file: `count` numbers, `per_line` of them a line, each `width` wide. */
struct section {
    const struct csr *columns; /* the transpose: its rows are our columns */
    int64_t count, per_line, width;
    int (*write)(const struct section *s, int64_t k, char *out);
};

/* Pointers and row numbers count from 1. */
static int write_pointer(const struct section *s, int64_t k, char *out)
{
    return number_write_int(out, csr_offset(s->columns, k) + 1);
}

static int write_index(const struct section *s, int64_t k, char *out)
{
    return number_write_int(out, (int64_t)s->columns->col[k] + 1);
}

/* Of complex values the real and the imaginary parts are numbers in turn. */
static int write_value(const struct section *s, int64_t k, char *out)
{
    const heddle_type type = s->columns->value;
    const double _Complex v = value_at(s->columns->val, type, is_complex(type) ? k / 2 : k);
    int n = number_write(out, is_complex(type) && k % 2 ? IM(v) : RE(v), part_type(type));
    char *e = memchr(out, 'e', (size_t)n);
    if (memchr(out, '.', (size_t)n) || memchr(out, 'n', (size_t)n)) /* nan and inf stay as they are */
        return n;
    int64_t digits = e ? e - out : n;
    memmove(out + digits + 1, out + digits, (size_t)(n - digits));
    out[digits] = '.';
    return n + 1;
}

static int64_t format_section(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct section *s = argument;
    char *p = out, text[2 * NUMBER_SIZE];
    for (int64_t k = first; k < last; k++) {
        int n = s->write(s, k, text);
        memset(p, ' ', (size_t)(s->width - n));
        memcpy(p + s->width - n, text, (size_t)n);
        p += s->width;
        if ((k + 1) % s->per_line == 0 || k + 1 == s->count)
            *p++ = '\n';
    }
    return p - out;
}

/* Lines that the section takes. */
static int64_t lines(const struct section *s)
{
    return (s->count + s->per_line - 1) / s->per_line;
}

/* One more than the digits of the largest number, so that fields stay apart. */
static int64_t width_for(int64_t largest)
{
    char text[NUMBER_SIZE];
    return number_write_int(text, largest) + 1;
}

/* Type rua, rra, cua or cra: symmetry is not looked for, so what is written is what was there. */
heddle_status boeing_write(const struct csr *A, struct sink *sink)
{
    heddle_status status = HEDDLE_OK;
    struct csr T = {0};
    char format[3][32];
    TRY(csr_transpose(&T, A));
    struct section part[3] = {{&T, A->cols + 1, 0, width_for(A->nnz + 1), write_pointer},
                              {&T, A->nnz, 0, width_for(A->rows), write_index},
                              {&T, is_complex(A->value) ? 2 * A->nnz : A->nnz, 0, VALUE_WIDTH, write_value}};
    int64_t all = 0;
    for (int i = 0; i < 3; i++) {
        part[i].per_line = LINE / part[i].width;
        all += lines(&part[i]);
        snprintf(format[i], sizeof format[i], "(%d%c%d%s)", (int)part[i].per_line, i < 2 ? 'I' : 'E',
                 (int)part[i].width, i < 2 ? "" : ".16");
    }
    TRY(sink_print(sink, "%-72s%-8s\n%14lld%14lld%14lld%14lld\n", "Written by Heddle", "heddle",
                   (long long)all, (long long)lines(&part[0]), (long long)lines(&part[1]),
                   (long long)lines(&part[2])));
    TRY(sink_print(sink, "%c%c%-12s%14lld%14lld%14lld%14d\n%-16s%-16s%-20s\n",
                   is_complex(A->value) ? 'c' : 'r', A->rows == A->cols ? 'u' : 'r', "a", (long long)A->rows,
                   (long long)A->cols, (long long)A->nnz, 0, format[0], format[1], format[2]));
    for (int i = 0; i < 3; i++)
        TRY(sink_items(sink, part[i].count, part[i].width + 1, format_section, &part[i]));
done:
    csr_free(&T);
    return status;
}
