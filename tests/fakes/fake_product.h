/* SPDX-License-Identifier: MIT
 *
 * fake_product.h: y = alpha op(A) x + beta y on the host, for the fakes of other libraries: slow and
 * plain. */
#ifndef FAKE_PRODUCT_H
#define FAKE_PRODUCT_H

#include <stdint.h>
#include <stdlib.h>

enum { CSR, COO, SELL, BSR };

/* `type` is 0 for float, 1 for double. */
struct matrix {
    int format;
    int64_t rows, cols, nnz, stored, slice, block;
    const void *ptr, *row, *col, *val;
    int wide, type, prepared;
};
struct vector {
    int64_t size;
    void *val;
    int type;
};
static inline int64_t offset(const struct matrix *m, int64_t i)
{
    return m->wide ? ((const int64_t *)m->ptr)[i] : ((const int32_t *)m->ptr)[i];
}

static inline double value(const void *val, int type, int64_t k)
{
    return type == 0 ? (double)((const float *)val)[k] : ((const double *)val)[k];
}

static inline void add(const struct vector *y, int64_t i, double what)
{
    if (y->type == 0)
        ((float *)y->val)[i] += (float)what;
    else
        ((double *)y->val)[i] += what;
}

static int64_t dropped = -1; /* the entry that FAKE_DROP names is left out of every product */

static inline void entry(const struct matrix *m, int64_t i, int64_t j, int64_t k, int transposed,
                         double alpha, const struct vector *x, const struct vector *y)
{
    if (k != dropped)
        add(y, transposed ? j : i,
            alpha * value(m->val, m->type, k) * value(x->val, x->type, transposed ? i : j));
}

static inline void each_entry(const struct matrix *m, int t, double alpha, const struct vector *x,
                              const struct vector *y)
{
    const int32_t *col = m->col, *row = m->row;
    int64_t b = m->block;
    switch (m->format) {
    case CSR:
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t k = offset(m, i); k < offset(m, i + 1); k++)
                entry(m, i, col[k], k, t, alpha, x, y);
        break;
    case COO:
        for (int64_t k = 0; k < m->nnz; k++)
            entry(m, row[k], col[k], k, t, alpha, x, y);
        break;
    case SELL:
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t k = offset(m, i / m->slice) + i % m->slice; k < offset(m, i / m->slice + 1);
                 k += m->slice)
                if (col[k] >= 0)
                    entry(m, i, col[k], k, t, alpha, x, y);
        break;
    case BSR:
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t k = offset(m, i / b); k < offset(m, i / b + 1); k++)
                for (int64_t c = 0; c < b; c++)
                    entry(m, i, col[k] * b + c, (k * b + i % b) * b + c, t, alpha, x, y);
        break;
    }
}

/* 0 when the sizes do not fit. */
static inline int multiply(const struct matrix *m, int t, double alpha, double beta, const struct vector *x,
                           const struct vector *y)
{
    if (x->size != (t ? m->rows : m->cols) || y->size != (t ? m->cols : m->rows) || x->type != m->type ||
        y->type != m->type)
        return 0;
    for (int64_t i = 0; i < y->size; i++) {
        double before = beta == 0 ? 0 : beta * value(y->val, y->type, i);
        if (y->type == 0)
            ((float *)y->val)[i] = (float)before;
        else
            ((double *)y->val)[i] = before;
    }
    const char *drop = getenv("FAKE_DROP");
    dropped = drop ? atoll(drop) : -1;
    if (alpha != 0)
        each_entry(m, t, alpha, x, y);
    return 1;
}

#endif
