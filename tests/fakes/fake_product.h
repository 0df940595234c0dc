/* SPDX-License-Identifier: MIT
 *
 * fake_product.h: y = alpha op(A) x + beta y on the host, for the fakes of other libraries: slow and
 * plain. */
#ifndef FAKE_PRODUCT_H
#define FAKE_PRODUCT_H

#include <stdint.h>
#include <stdlib.h>

#include "matrix/number.h"

enum { CSR, COO, SELL, BSR };

/* `type` is a number of cudaDataType. */
enum { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, R_16BF = 14 };

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

static inline double _Complex value(const void *val, int type, int64_t k)
{
    switch (type) {
    case R_32F:
        return ((const float *)val)[k];
    case R_16F:
        return f16_widen(((const f16 *)val)[k]);
    case R_16BF:
        return bf16_widen(((const bf16 *)val)[k]);
    case C_32F:
        return ((const c32 *)val)[k];
    case C_64F:
        return ((const c64 *)val)[k];
    default:
        return ((const double *)val)[k];
    }
}

static inline void set(const struct vector *y, int64_t i, double _Complex what)
{
    switch (y->type) {
    case R_32F:
        ((float *)y->val)[i] = (float)what;
        break;
    case C_32F:
        ((c32 *)y->val)[i] = (c32)what;
        break;
    case C_64F:
        ((c64 *)y->val)[i] = what;
        break;
    default:
        ((double *)y->val)[i] = (double)what;
    }
}

static inline void add(const struct vector *y, int64_t i, double _Complex what)
{
    set(y, i, value(y->val, y->type, i) + what);
}

static int64_t dropped = -1; /* the entry that FAKE_DROP names is left out of every product */

static inline void entry(const struct matrix *m, int64_t i, int64_t j, int64_t k, int op,
                         double _Complex alpha, const struct vector *x, const struct vector *y)
{
    double _Complex a = value(m->val, m->type, k);
    if (op == 2)
        IM(a) = -IM(a);
    if (k != dropped)
        add(y, op ? j : i, alpha * a * value(x->val, x->type, op ? i : j));
}

static inline void each_entry(const struct matrix *m, int t, double _Complex alpha, const struct vector *x,
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

/* t is 0 for A, 1 for its transpose, 2 for its adjoint.  0 when sizes or types do not fit: x is of the type
 * of the values, and so is y, but of f32 for those of 16 bits. */
static inline int multiply(const struct matrix *m, int t, double _Complex alpha, double _Complex beta,
                           const struct vector *x, const struct vector *y)
{
    const int type = m->type == R_16F || m->type == R_16BF ? R_32F : m->type;
    if (x->size != (t ? m->rows : m->cols) || y->size != (t ? m->cols : m->rows) || x->type != m->type ||
        y->type != type)
        return 0;
    for (int64_t i = 0; i < y->size; i++)
        set(y, i, beta == 0 ? 0 : beta * value(y->val, y->type, i));
    const char *drop = getenv("FAKE_DROP");
    dropped = drop ? atoll(drop) : -1;
    if (alpha != 0)
        each_entry(m, t, alpha, x, y);
    return 1;
}

#endif
