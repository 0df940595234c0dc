/* SPDX-License-Identifier: MIT
 *
 * vector.c: vectors.  A Matrix Market file with one column or one row, in either format; anything else is
 * plain text: numbers with white space between them, complex ones as their two parts, '#' or '%' before a
 * comment. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/io.h"
#include "io/market.h"
#include "io/number.h"
#include "io/read.h"
#include "io/sink.h"
#include "io/tuning.h"

struct vector {
    void *x;
    int64_t n, capacity;
    heddle_type type;
};

/* Appends; the array doubles when it is full. */
static heddle_status vector_add(const struct text_source *s, struct vector *v, double _Complex value)
{
    if (v->n == v->capacity) {
        int64_t capacity = v->capacity ? 2 * v->capacity : 1024;
        if (source_affords(s, (double)capacity * (double)type_size(v->type)) != HEDDLE_OK)
            return HEDDLE_NO_MEMORY;
        void *x = mem_resize(v->x, v->n, capacity, type_size(v->type));
        if (!x)
            return HEDDLE_NO_MEMORY;
        v->x = x;
        v->capacity = capacity;
    }
    value_put(v->x, v->type, v->n++, value);
    return HEDDLE_OK;
}

/* [p, end) ends in a newline.  A complex number is two, of which the line holds both. */
static heddle_status read_line(struct text_source *s, struct vector *v, const char *p, const char *end)
{
    heddle_status status = HEDDLE_OK;
    char quoted[QUOTE_SIZE];
    const int parts = is_complex(v->type) ? 2 : 1;
    double value[2] = {0, 0};
    for (int part = 0;; part = (part + 1) % parts) {
        while (is_blank(*p))
            p++;
        if ((*p == '\n' || *p == '#' || *p == '%') && part > 0)
            return source_fail(s, HEDDLE_BAD_FILE, s->line,
                               "the line ends behind a real part: complex numbers are pairs");
        if (*p == '\n' || *p == '#' || *p == '%')
            break;
        const char *stop = number_read(p, end, &value[part]);
        if (!stop || !(is_blank(*stop) || *stop == '\n' || *stop == '#' || *stop == '%'))
            return source_fail(s, HEDDLE_BAD_FILE, s->line, "expected a number, found %s",
                               quote(quoted, p, end));
        if (part == parts - 1)
            TRY(vector_add(s, v, complex_of(value[0], value[1])));
        p = stop;
    }
done:
    return status;
}

/* Any number of numbers a line; a file without any is an error, since it is more likely a mistake than a
 * vector of length 0. */
static heddle_status read_plain(struct text_source *s, struct vector *v)
{
    heddle_status status = HEDDLE_OK;
    const char *line;
    int64_t size;
    for (;;) {
        TRY(source_line(s, &line, &size));
        if (!line)
            break;
        TRY(read_line(s, v, line, line + size + 1));
    }
    if (v->n == 0)
        status = source_fail(s, HEDDLE_BAD_FILE, 0, "there is no number in it");
done:
    return status;
}

/* One column or one row, dense or not; what a coordinate file leaves out is zero. */
static heddle_status read_market(struct text_source *s, struct vector *v)
{
    heddle_status status = HEDDLE_OK;
    struct market m;
    struct coo coo = {0};
    TRY(market_read_coo(s, &m, &coo, is_complex(v->type) ? HEDDLE_C64 : HEDDLE_F64));
    TRY(coo_mirror(&coo, m.symmetry));
    if (m.rows != 1 && m.cols != 1)
        TRY(source_fail(s, HEDDLE_BAD_FILE, 0,
                        "a %lld x %lld matrix is not a vector: expected one column or one row",
                        (long long)m.rows, (long long)m.cols));
    v->n = m.cols == 1 ? m.rows : m.cols;
    TRY(source_affords(s, (double)v->n * (double)type_size(v->type)));
    if (!(v->x = mem_zeroed(v->n, type_size(v->type))))
        TRY(HEDDLE_NO_MEMORY);
    for (int64_t k = 0; k < coo.nnz; k++) { /* repeats add up, as they do in a matrix */
        int64_t i = m.cols == 1 ? coo.row[k] : coo.col[k];
        value_put(v->x, v->type, i, value_at(v->x, v->type, i) + value_at(coo.val, coo.value, k));
    }
done:
    coo_free(&coo);
    return status;
}

heddle_status vector_read_source(void **x, int64_t *n, heddle_type type, struct text_source *s)
{
    heddle_status status = HEDDLE_OK;
    struct vector v = {.type = type ? type : HEDDLE_F64};
    *x = NULL;
    *n = 0;
    TRY(source_block(s));
    TRY(market_banner(s->at, s->end - s->at) ? read_market(s, &v) : read_plain(s, &v));
    *x = v.x;
    *n = v.n;
done:
    if (status != HEDDLE_OK)
        mem_free(v.x);
    return status;
}

heddle_status vector_read(void **x, int64_t *n, heddle_type type, const char *path)
{
    struct text_source s;
    *x = NULL;
    *n = 0;
    heddle_status status = source_open(&s, path, 0);
    if (status != HEDDLE_OK)
        return status;
    status = vector_read_source(x, n, type, &s);
    source_close(&s);
    return status;
}

static int64_t format_numbers(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct vector *v = argument;
    char *p = out;
    for (int64_t k = first; k < last; k++) {
        p += value_write(p, v->x, v->type, k);
        *p++ = '\n';
    }
    return p - out;
}

heddle_status vector_write(const void *x, int64_t n, heddle_type type, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct sink s;
    struct vector v = {.x = (void *)(uintptr_t)x, .n = n, .type = type ? type : HEDDLE_F64};
    int market = text_ends(path, ".mtx") || text_ends(path, ".mtx.gz");
    if (!market && !text_ends(path, ".txt") && !text_ends(path, ".txt.gz"))
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: no writer of vectors for this ending (there are .mtx, .mtx.gz, .txt and "
                    ".txt.gz)",
                    path);
    status = sink_open(&s, path, text_ends(path, ".gz"));
    if (status != HEDDLE_OK)
        return status;
    if (market)
        TRY(sink_print(&s, "%%%%MatrixMarket matrix array %s general\n%lld 1\n",
                       is_complex(v.type) ? "complex" : "real", (long long)n));
    TRY(sink_items(&s, n, 2 * NUMBER_SIZE, format_numbers, &v));
done:
    return sink_close(&s, status);
}
