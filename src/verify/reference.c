/* SPDX-License-Identifier: MIT
 *
 * The reference product.  A row is summed as an unevaluated pair high + low (Ogita, Rump and Oishi's
 * Dot2): TwoSum keeps what an addition rounds off, one fma keeps what a multiplication rounds off.  The
 * operations below must be carried out as written: each rounding stands in a statement of its own, where
 * compilers do not contract it away. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/thread.h"
#include "verify/verify.h"

#define PARTS 256 /* of the rows: more than threads, so that long rows even out */

/* A sum on its way.  Terms that are NaN or infinite stand apart, because they would spoil the
 * compensation; which of them occurred decides the class of the result. */
struct sum {
    double high, low;
    double size; /* sum of the magnitudes; infinite when it exceeds double */
    int nan, plus, minus;
};

static void add_special(struct sum *s, double a, double b)
{
    double product = a * b;
    if (isfinite(a) && isfinite(b))
        s->size = INFINITY; /* an overflow: no result can be called wrong */
    else if (isnan(product))
        s->nan = 1;
    else if (product > 0)
        s->plus = 1;
    else
        s->minus = 1;
}

static inline void add_product(struct sum *s, double a, double b)
{
    double product = a * b;
    if (!isfinite(product)) {
        add_special(s, a, b);
        return;
    }
    double product_error = fma(a, b, -product);
    double sum = s->high + product;
    double back = sum - s->high;
    double high_part = sum - back;
    double high_error = s->high - high_part;
    double product_part = product - back;
    double sum_error = high_error + product_part;
    double error = sum_error + product_error;
    s->high = sum;
    s->low += error;
    s->size += fabs(product);
}

/* What the type of y brings in. */
struct precision {
    double roundoff, largest, smallest; /* unit roundoff, largest finite number, smallest subnormal */
};

static struct precision precision_of(heddle_type type)
{
    return type == HEDDLE_F64 || type == HEDDLE_C64 ? (struct precision){DBL_EPSILON / 2, DBL_MAX, 0x1p-1074}
                                                    : (struct precision){FLT_EPSILON / 2, FLT_MAX, 0x1p-149};
}

/* How many sqrt(k) u the roundings of k operations may add up to.  One rounding is off by u / sqrt(3) on
 * average (the root of the mean square), and no partial sum is larger than the sum of the magnitudes: 4 is
 * seven standard deviations, or more. */
#define ROUNDINGS 4

/* gamma(k); where k u nears 1, k u itself, which bounds sums and dot products of any length (Jeannerod and
 * Rump 2013). */
static double gamma_of(double k, double roundoff)
{
    double ku = k * roundoff;
    return ku < 0.5 ? ku / (1 - ku) : ku;
}

/* A row: the sum of a real one, those of the two parts of a complex one. */
struct row {
    struct sum part[2];
    double entries;
};

static inline void add_entry(struct row *row, int is_complex, double _Complex a, double _Complex x)
{
    add_product(&row->part[0], RE(a), RE(x));
    if (!is_complex)
        return;
    add_product(&row->part[0], -IM(a), IM(x));
    add_product(&row->part[1], RE(a), IM(x));
    add_product(&row->part[1], IM(a), RE(x));
}

/* A factor times a sum, as one more term. */
static void add_scaled(struct sum *s, double factor, const struct sum *row)
{
    double size = s->size + fabs(factor) * row->size;
    s->nan |= row->nan;
    s->plus |= factor < 0 ? row->minus : row->plus;
    s->minus |= factor < 0 ? row->plus : row->minus;
    add_product(s, factor, row->high);
    double rest = factor * row->low;
    s->low += rest;
    s->size = isinf(s->size) ? INFINITY : size;
}

/* A part of alpha times the row, and of beta y0 as one more term of it. */
static struct sum scaled(const struct row *row, int part, int parts, const struct equation *p,
                         double _Complex y0)
{
    struct sum s = {0};
    add_scaled(&s, RE(p->alpha), &row->part[part]);
    if (parts == 2 && IM(p->alpha) != 0)
        add_scaled(&s, part ? IM(p->alpha) : -IM(p->alpha), &row->part[!part]);
    if (RE(p->beta) != 0)
        add_product(&s, RE(p->beta), part ? IM(y0) : RE(y0));
    if (IM(p->beta) != 0)
        add_product(&s, part ? IM(p->beta) : -IM(p->beta), part ? RE(y0) : IM(y0));
    return s;
}

/* The bound of a part.  The last term covers products that fall below the normal numbers. */
static double bound_of(const struct sum *s, const struct row *row, double _Complex alpha,
                       const struct reference *r)
{
    struct precision type = precision_of(r->type);
    double n = r->parts * row->entries, k = n + 2 * r->parts, gamma = gamma_of(k, type.roundoff),
           share = fmin(gamma, ROUNDINGS * sqrt(k) * type.roundoff);
    /* intermediate results of either order of scaling */
    double reached = fmax(s->size, fmax(row->part[0].size, row->part[1].size));
    double largest = fmax(fabs(RE(alpha)), fabs(IM(alpha)));
    if (!(reached * (1 + gamma) <= type.largest) || !isfinite(largest))
        return INFINITY;
    double lost = s->size > 0 ? (n + r->parts) * r->parts * fmax(1, largest) * type.smallest : 0;
    return share * s->size + lost;
}

static double class_of(const struct sum *s)
{
    if (s->nan || (s->plus && s->minus))
        return NAN;
    return s->plus ? INFINITY : s->minus ? -INFINITY : s->high;
}

static void set_row(struct reference *r, int64_t i, const struct row *row, const struct equation *p)
{
    double _Complex y0 = p->beta != 0 ? value_at(p->y0, r->type, i) : 0;
    double *high = r->high + r->parts * i, *low = r->low + r->parts * i, *bound = r->bound + r->parts * i;
    int finite = 1, overflows = 0;
    for (int part = 0; part < r->parts; part++) {
        struct sum s = scaled(row, part, r->parts, p, y0);
        high[part] = class_of(&s);
        low[part] = isfinite(high[part]) ? s.low : 0;
        bound[part] = bound_of(&s, row, p->alpha, r);
        finite &= isfinite(high[part]);
        overflows |= isinf(bound[part]);
    }
    finite &= isfinite(row->part[1].high) && !row->part[1].nan && !row->part[1].plus && !row->part[1].minus;
    for (int part = 0; part < r->parts; part++) {
        high[part] = r->parts == 2 && !finite ? NAN : high[part];
        bound[part] = overflows ? INFINITY : bound[part];
        if (isnan(RE(p->alpha)) || isnan(IM(p->alpha)))
            high[part] = NAN, bound[part] = 0;
    }
}

struct job {
    struct reference *r;
    const struct equation *p;
    const struct csr *A; /* op(A) without conjugates, or NULL when alpha is 0 and A is not to be read */
};

static void reference_rows(const struct job *job, int64_t begin, int64_t end)
{
    const struct csr *A = job->A;
    const int is_complex = job->r->parts == 2, conjugate = is_complex && job->p->op == HEDDLE_H;
    for (int64_t i = begin; i < end; i++) {
        struct row row = {0};
        int64_t first = A ? csr_offset(A, i) : 0, last = A ? csr_offset(A, i + 1) : 0;
        for (int64_t k = first; k < last; k++) {
            double _Complex a = value_at(A->val, A->value, k);
            if (conjugate)
                IM(a) = -IM(a);
            add_entry(&row, is_complex, a, value_at(job->p->x, job->r->type, A->col[k]));
        }
        row.entries = (double)(last - first);
        set_row(job->r, i, &row, job->p);
    }
}

static void work(void *argument, const struct team *team)
{
    const struct job *job = argument;
    for (int64_t part = team->thread; part < PARTS; part += team->threads)
        reference_rows(job, part_begin(job->r->n, part, PARTS), part_begin(job->r->n, part + 1, PARTS));
}

heddle_status reference_alloc(struct reference *r, const struct equation *p)
{
    heddle_status status = HEDDLE_OK;
    *r = (struct reference){.n = p->op == HEDDLE_N ? p->A->rows : p->A->cols,
                            .type = vector_type(p->A->value),
                            .parts = 1 + is_complex(p->A->value)};
    TRY(NEW(r->high, r->parts * r->n));
    TRY(NEW(r->low, r->parts * r->n));
    TRY(NEW(r->bound, r->parts * r->n));
done:
    return status;
}

heddle_status reference_new(struct reference *r, const struct equation *p)
{
    heddle_status status = HEDDLE_OK;
    struct csr transposed = {0};
    struct job job = {r, p, p->alpha != 0 ? p->A : NULL};
    TRY(reference_alloc(r, p));
    if (job.A && p->op != HEDDLE_N && !p->transposed)
        TRY(csr_transpose(&transposed, p->A));
    if (job.A && p->op != HEDDLE_N)
        job.A = p->transposed ? p->transposed : &transposed;
    team_run(threads_default(), work, &job);
done:
    csr_free(&transposed);
    if (status != HEDDLE_OK)
        reference_free(r);
    return status;
}

void reference_free(struct reference *r)
{
    mem_free(r->high);
    mem_free(r->low);
    mem_free(r->bound);
    *r = (struct reference){0};
}
