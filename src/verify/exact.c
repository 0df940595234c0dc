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
static uint64_t hash(uint64_t i, uint64_t seed)
{
    /* splitmix64 */
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The root of the mean square of 1..n is about n / sqrt(3), and 0.63 n for the 8 sizes of values. */
int64_t exact_largest(const struct csr *A)
{
    const double reach = A->value == HEDDLE_F64 ? 0x1p53 : 0x1p24, value = 0.64 * VALUE_LARGEST;
    const double most = reach * sqrt(3) / (DEVIATIONS * value * sqrt((double)A->nnz + 2));
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
    int64_t (*at)(const struct filling *f, int64_t i);
};

static int64_t value_of(const struct filling *f, int64_t i)
{
    const uint64_t random = hash((uint64_t)i, f->seed);
    const int64_t size = 1 + (int64_t)(random % VALUE_LARGEST);
    return random >> 63 ? -size : size;
}

/* A step of an odd number of sizes goes through all of them before one comes again; where it begins, each
 * group has of its own.
 * */
static int64_t entry_of(const struct filling *f, int64_t i)
{
    const uint64_t begin = hash((uint64_t)(i / f->largest), ~f->seed),
                   step = 2 * (uint64_t)(f->largest * 5 / 16) + 1;
    const int64_t size =
        i == 0 ? f->largest + 1 : 1 + (int64_t)(((uint64_t)i * step + begin) % (uint64_t)f->largest);
    return hash((uint64_t)i, f->seed) >> 63 ? -size : size;
}

static void fill_part(void *argument, int part)
{
    const struct filling *f = argument;
    const int64_t end = part_begin(f->n, part + 1, PARTS);
    for (int64_t i = part_begin(f->n, part, PARTS); i < end; i++) {
        if (f->type == HEDDLE_F64)
            ((double *)f->to)[i] = (double)f->at(f, i);
        else
            ((float *)f->to)[i] = (float)f->at(f, i);
    }
}

void exact_values(void *val, const struct csr *A)
{
    parts_run(PARTS, fill_part, &(struct filling){.to = val, .type = A->value, .n = A->nnz, .at = value_of});
}

void exact_vector(void *x, const struct csr *A, int64_t n, uint64_t seed)
{
    struct filling f = {
        .to = x, .type = A->value, .n = n, .largest = exact_largest(A), .seed = seed + 1, .at = entry_of};
    parts_run(PARTS, fill_part, &f);
}

struct summing {
    const struct equation *p;
    struct reference *r;
    int64_t *sum; /* size n: of op(A) x, zero before */
};

/* The rows that begin in a part of the entries.  A transposed sum gets its terms from all parts: integers
 * come in any order. */
static void sum_part(void *argument, int part)
{
    const struct summing *s = argument;
    const struct csr *A = s->p->A;
    const int64_t end = part + 1 < PARTS ? csr_row_at(A, part_begin(A->nnz, part + 1, PARTS)) : A->rows;
    for (int64_t i = part > 0 ? csr_row_at(A, part_begin(A->nnz, part, PARTS)) : 0; i < end; i++) {
        int64_t sum = 0;
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            const int64_t from = s->p->op == HEDDLE_N ? A->col[k] : i;
            const int64_t term =
                (int64_t)value_at(A->val, A->value, k) * (int64_t)value_at(s->p->x, A->value, from);
            if (s->p->op == HEDDLE_N)
                sum += term;
            else
                __atomic_fetch_add(s->sum + A->col[k], term, __ATOMIC_RELAXED);
        }
        if (s->p->op == HEDDLE_N)
            s->sum[i] = sum;
    }
}

static void set_part(void *argument, int part)
{
    const struct summing *s = argument;
    const struct equation *p = s->p;
    const int64_t end = part_begin(s->r->n, part + 1, PARTS);
    for (int64_t i = part_begin(s->r->n, part, PARTS); i < end; i++) {
        s->r->high[i] =
            p->alpha * (double)s->sum[i] + (p->beta != 0 ? p->beta * value_at(p->y0, s->r->value, i) : 0);
        s->r->low[i] = s->r->bound[i] = 0;
    }
}

heddle_status reference_exact(struct reference *r, const struct equation *p)
{
    heddle_status status = HEDDLE_OK;
    struct summing s = {.p = p, .r = r};
    *r = (struct reference){.n = p->op == HEDDLE_N ? p->A->rows : p->A->cols, .value = p->A->value};
    TRY(NEW_ZEROED(s.sum, r->n));
    TRY(NEW(r->high, r->n));
    TRY(NEW(r->low, r->n));
    TRY(NEW(r->bound, r->n));
    parts_run(PARTS, sum_part, &s);
    parts_run(PARTS, set_part, &s);
done:
    mem_free(s.sum);
    if (status != HEDDLE_OK)
        reference_free(r);
    return status;
}
