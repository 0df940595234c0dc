/* SPDX-License-Identifier: MIT
 *
 * Integers whose sums are exact in any order.
 *
 * A sum of whole numbers is exact as long as no partial sum exceeds 2^p, p the bits of the type.  For f64
 * that is certain: fewer than 2^31 terms of at most 2^17.  In f32 a row of 10 million terms could reach
 * 2^24 if all had the size 2 and one sign; but signs are random and no kernel knows them, so that a
 * partial sum, whatever its terms, is a random walk: it stays below 8 standard deviations but once in
 * 10^13 rows.  So terms may be as large as makes 8 sqrt(nnz) of them, squared on average, reach 2^p.
 *
 * Every entry matters: no term is 0, so that a dropped or doubled one changes its row by at least 1, and
 * one that goes to another row changes both.  A wrong column shows where the two numbers of x differ:
 * always within an aligned group of exact_largest columns, always if one is column 0, where padding
 * points, and in all but one of 2 exact_largest pairs elsewhere.
 *
 * Complex numbers have such integers in both parts, from different seeds.  A part of a sum then has two
 * terms an entry.  A dropped or doubled entry changes it by a x, which is not 0; one that is conjugated, or
 * is not where it should be, by 2 a_im x, whose parts are not 0.
 *
 * With 16-bit values vectors stay so small that these could hold them as well: another library takes x in
 * the type of the values.
 * */
#include <math.h>

#include "base/memory.h"
#include "base/thread.h"
#include "verify/verify.h"

#define VALUE_LARGEST 8
#define VECTOR_LARGEST ((int64_t)1 << 14) /* a power of two; more would find nothing more */
#define DEVIATIONS 8
#define PARTS 256

/* Another seed is far away in the sequence: entry k and column k + 1 must not share a sign. */
static uint64_t hash_at(uint64_t i, uint64_t seed)
{
    /* splitmix64 */
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The largest power of two up to which a type holds all whole numbers; parts of complex ones. */
static double whole_up_to(heddle_type type)
{
    switch (type) {
    case HEDDLE_F64:
    case HEDDLE_C64:
        return 0x1p53;
    case HEDDLE_F16:
        return 0x1p11;
    case HEDDLE_BF16:
        return 0x1p8;
    default:
        return 0x1p24;
    }
}

/* The root of the mean square of 1..n is about n / sqrt(3), and 0.63 n for the 8 sizes of values. */
int64_t exact_largest(const struct csr *A)
{
    const double reach = whole_up_to(vector_type(A->value)), value = 0.64 * VALUE_LARGEST;
    const double terms = (double)A->nnz * (1 + is_complex(A->value)) + 2;
    const double most = fmin(reach * sqrt(3) / (DEVIATIONS * value * sqrt(terms)),
                             type_size(A->value) == 2 ? whole_up_to(A->value) / 2 : INFINITY);
    int64_t largest = VECTOR_LARGEST;
    while ((double)largest > most && largest > 1)
        largest /= 2;
    return largest;
}

struct filling {
    void *to;
    heddle_type type;
    int64_t n, largest;
    uint64_t seed;
    int64_t (*at)(const struct filling *f, uint64_t seed, int64_t i);
};

#define IMAGINARY UINT64_C(0x5bd1e995a3c59ac3) /* what the seed of imaginary parts differs by */

static int64_t value_of(const struct filling *f, uint64_t seed, int64_t i)
{
    (void)f;
    const uint64_t random = hash_at((uint64_t)i, seed);
    const int64_t size = 1 + (int64_t)(random % VALUE_LARGEST);
    return random >> 63 ? -size : size;
}

/* A step of an odd number of sizes goes through all of them before one comes again; where it begins, each
 * group has of its own.
 * */
static int64_t entry_of(const struct filling *f, uint64_t seed, int64_t i)
{
    const uint64_t begin = hash_at((uint64_t)(i / f->largest), ~seed),
                   step = 2 * (uint64_t)(f->largest * 5 / 16) + 1;
    const int64_t size =
        i == 0 ? f->largest + 1 : 1 + (int64_t)(((uint64_t)i * step + begin) % (uint64_t)f->largest);
    return hash_at((uint64_t)i, seed) >> 63 ? -size : size;
}

static void fill_part(void *argument, int part)
{
    const struct filling *f = argument;
    const int64_t end = part_begin(f->n, part + 1, PARTS);
    for (int64_t i = part_begin(f->n, part, PARTS); i < end; i++) {
        double _Complex value = (double)f->at(f, f->seed, i);
        if (is_complex(f->type))
            IM(value) = (double)f->at(f, f->seed ^ IMAGINARY, i);
        value_put(f->to, f->type, i, value);
    }
}

void exact_values(void *val, const struct csr *A)
{
    parts_run(PARTS, fill_part, &(struct filling){.to = val, .type = A->value, .n = A->nnz, .at = value_of});
}

void exact_vector(void *x, const struct csr *A, int64_t n, uint64_t seed)
{
    struct filling f = {.to = x,
                        .type = vector_type(A->value),
                        .n = n,
                        .largest = exact_largest(A),
                        .seed = seed + 1,
                        .at = entry_of};
    parts_run(PARTS, fill_part, &f);
}

struct summing {
    const struct equation *p;
    struct reference *r;
    int64_t *sum; /* size n * parts: of op(A) x, zero before */
};

/* Both parts of a x; of a real product the second is 0. */
struct term {
    int64_t part[2];
};

static inline struct term term_of(const struct summing *s, int64_t k, int64_t from)
{
    const struct csr *A = s->p->A;
    const double _Complex a = value_at(A->val, A->value, k), x = value_at(s->p->x, s->r->type, from);
    const int64_t a_re = (int64_t)RE(a), x_re = (int64_t)RE(x);
    if (s->r->parts == 1)
        return (struct term){{a_re * x_re, 0}};
    const int64_t a_im = (int64_t)(s->p->op == HEDDLE_H ? -IM(a) : IM(a)), x_im = (int64_t)IM(x);
    return (struct term){{a_re * x_re - a_im * x_im, a_re * x_im + a_im * x_re}};
}

/* The rows that begin in a part of the entries.  A transposed sum gets its terms from all parts: integers
 * come in any order. */
static void sum_part(void *argument, int part)
{
    const struct summing *s = argument;
    const struct csr *A = s->p->A;
    const int parts = s->r->parts, n = s->p->op == HEDDLE_N;
    const int64_t end = part + 1 < PARTS ? csr_row_at(A, part_begin(A->nnz, part + 1, PARTS)) : A->rows;
    for (int64_t i = part > 0 ? csr_row_at(A, part_begin(A->nnz, part, PARTS)) : 0; i < end; i++) {
        struct term sum = {{0, 0}};
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            const struct term term = term_of(s, k, n ? A->col[k] : i);
            for (int c = 0; c < parts; c++)
                if (n)
                    sum.part[c] += term.part[c];
                else
                    __atomic_fetch_add(s->sum + A->col[k] * parts + c, term.part[c], __ATOMIC_RELAXED);
        }
        for (int c = 0; c < parts && n; c++)
            s->sum[i * parts + c] = sum.part[c];
    }
}

/* Products of whole numbers: exact, in whatever order. */
static double _Complex exact_times(double _Complex a, double _Complex b)
{
    double _Complex product;
    RE(product) = RE(a) * RE(b) - IM(a) * IM(b);
    IM(product) = RE(a) * IM(b) + IM(a) * RE(b);
    return product;
}

static void set_part(void *argument, int part)
{
    const struct summing *s = argument;
    const struct equation *p = s->p;
    const int parts = s->r->parts;
    const int64_t end = part_begin(s->r->n, part + 1, PARTS);
    for (int64_t i = part_begin(s->r->n, part, PARTS); i < end; i++) {
        double _Complex sum = (double)s->sum[i * parts];
        if (parts == 2)
            IM(sum) = (double)s->sum[i * parts + 1];
        const double _Complex y = exact_times(p->alpha, sum),
                              old = p->beta != 0 ? exact_times(p->beta, value_at(p->y0, s->r->type, i)) : 0;
        for (int c = 0; c < parts; c++) {
            s->r->high[i * parts + c] = c ? IM(y) + IM(old) : RE(y) + RE(old);
            s->r->low[i * parts + c] = s->r->bound[i * parts + c] = 0;
        }
    }
}

heddle_status reference_exact(struct reference *r, const struct equation *p)
{
    heddle_status status = HEDDLE_OK;
    struct summing s = {.p = p, .r = r};
    TRY(reference_alloc(r, p));
    TRY(NEW_ZEROED(s.sum, r->n * r->parts));
    parts_run(PARTS, sum_part, &s);
    parts_run(PARTS, set_part, &s);
done:
    mem_free(s.sum);
    if (status != HEDDLE_OK)
        reference_free(r);
    return status;
}
