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

static struct precision precision_of(heddle_type value)
{
    return value == HEDDLE_F64 ? (struct precision){DBL_EPSILON / 2, DBL_MAX, 0x1p-1074}
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

/* alpha times the row, and beta y0 as one more term of it. */
static struct sum scaled(const struct sum *row, const struct equation *p, double y0)
{
    struct sum s = {.nan = row->nan, .plus = row->plus, .minus = row->minus};
    if (p->alpha < 0) {
        s.plus = row->minus;
        s.minus = row->plus;
    }
    add_product(&s, p->alpha, row->high);
    double rest = p->alpha * row->low;
    s.low += rest;
    s.size = fabs(p->alpha) * row->size;
    if (p->beta != 0)
        add_product(&s, p->beta, y0);
    return s;
}

/* The bound of a row of n entries.  The last term covers products that fall below the normal numbers. */
static double bound_of(const struct sum *s, const struct sum *row, double alpha, double n, heddle_type value)
{
    struct precision type = precision_of(value);
    double gamma = gamma_of(n + 2, type.roundoff),
           share = fmin(gamma, ROUNDINGS * sqrt(n + 2) * type.roundoff);
    double reached = fmax(s->size, row->size); /* intermediate results of either order of scaling */
    if (!(reached * (1 + gamma) <= type.largest) || !isfinite(alpha))
        return INFINITY;
    double lost = s->size > 0 ? (n + 1) * fmax(1, fabs(alpha)) * type.smallest : 0;
    return share * s->size + lost;
}

static void set_row(struct reference *r, int64_t i, const struct sum *row, const struct equation *p, double n)
{
    double y0 = p->beta != 0 ? value_at(p->y0, r->value, i) : 0;
    struct sum s = scaled(row, p, y0);
    if (s.nan || (s.plus && s.minus))
        r->high[i] = NAN;
    else if (s.plus || s.minus)
        r->high[i] = s.plus ? INFINITY : -INFINITY;
    else
        r->high[i] = s.high;
    r->low[i] = isfinite(r->high[i]) ? s.low : 0;
    r->bound[i] = bound_of(&s, row, p->alpha, n, r->value);
    if (isnan(p->alpha))
        r->high[i] = NAN, r->bound[i] = 0;
}

struct job {
    struct reference *r;
    const struct equation *p;
    const struct csr *A; /* op(A), or NULL when alpha is 0 and A is not to be read */
};

static void reference_rows(const struct job *job, int64_t begin, int64_t end)
{
    const struct csr *A = job->A;
    for (int64_t i = begin; i < end; i++) {
        struct sum row = {0};
        int64_t first = A ? csr_offset(A, i) : 0, last = A ? csr_offset(A, i + 1) : 0;
        for (int64_t k = first; k < last; k++)
            add_product(&row, value_at(A->val, A->value, k), value_at(job->p->x, A->value, A->col[k]));
        set_row(job->r, i, &row, job->p, (double)(last - first));
    }
}

static void work(void *argument, const struct team *team)
{
    const struct job *job = argument;
    for (int64_t part = team->thread; part < PARTS; part += team->threads)
        reference_rows(job, part_begin(job->r->n, part, PARTS), part_begin(job->r->n, part + 1, PARTS));
}

heddle_status reference_new(struct reference *r, const struct equation *p)
{
    heddle_status status = HEDDLE_OK;
    struct csr transposed = {0};
    struct job job = {r, p, p->alpha != 0 ? p->A : NULL};
    *r = (struct reference){.n = p->op == HEDDLE_N ? p->A->rows : p->A->cols, .value = p->A->value};
    TRY(NEW(r->high, r->n));
    TRY(NEW(r->low, r->n));
    TRY(NEW(r->bound, r->n));
    if (job.A && p->op != HEDDLE_N) {
        TRY(csr_transpose(&transposed, p->A));
        job.A = &transposed;
    }
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
