/* SPDX-License-Identifier: MIT
 *
 * Any description of a matrix, any options, any spec: what include/heddle.h promises.  The bytes choose
 * sizes, types, arrays, one damage at most, operations, plans and specs.  All numbers are small integers,
 * whose sums are exact in any order and in every type: a plain loop over the entries is the oracle, to the
 * bit. */
#include <string.h>

#include "fuzz.h"
#include "gen/gen.h"
#include "number.h"

#define SIZE_MOST 40
#define ENTRIES_MOST 256

struct feed {
    const uint8_t *at, *end;
};

static int below(struct feed *f, int n)
{
    return f->at < f->end ? *f->at++ % n : 0;
}

/* A text of the letters that specs are made of; numbers have one digit, so that nothing large comes of it. */
static void word(struct feed *f, char *out, int most)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_=,:.-";
    int n = below(f, most);
    for (int i = 0; i < n; i++) {
        int c = below(f, 42);
        out[i] =
            c < 10 && (i == 0 || out[i - 1] < '0' || out[i - 1] > '9') ? (char)('0' + c) : letters[c % 32];
    }
    out[n] = 0;
}

/* A small integer, or a pair of them. */
static number any(struct feed *f, int most, heddle_type type)
{
    const double re = below(f, 2 * most + 1) - most;
    return has_two_parts(type) ? re + (below(f, 2 * most + 1) - most) * I : re;
}

/* ------------------------------------------------------------------ the oracle */

struct entries {
    int64_t rows, cols, nnz;
    int row[ENTRIES_MOST], col[ENTRIES_MOST];
    number val[ENTRIES_MOST];
    heddle_type vector; /* of x and y */
};

static void multiply_exactly(const struct entries *e, heddle_op op, number alpha, const number *x,
                             number beta, number *y)
{
    int64_t n = op == HEDDLE_N ? e->rows : e->cols;
    for (int64_t i = 0; i < n; i++)
        y[i] = beta == 0 ? 0 : beta * y[i];
    for (int64_t k = 0; k < e->nnz; k++) {
        int to = op == HEDDLE_N ? e->row[k] : e->col[k], from = op == HEDDLE_N ? e->col[k] : e->row[k];
        y[to] += alpha * (op == HEDDLE_H ? conj(e->val[k]) : e->val[k]) * x[from];
    }
}

static heddle_lengths lengths_exactly(const int *index, int64_t nnz, int64_t n)
{
    int64_t count[SIZE_MOST] = {0};
    heddle_lengths l = {.shortest = n > 0 ? INT64_MAX : 0};
    for (int64_t k = 0; k < nnz; k++)
        count[index[k]]++;
    for (int64_t i = 0; i < n; i++) {
        l.shortest = count[i] < l.shortest ? count[i] : l.shortest;
        l.longest = count[i] > l.longest ? count[i] : l.longest;
        l.empty += count[i] == 0;
    }
    return l;
}

/* ------------------------------------------------------------------ products */

/* One product by the handle, or by the plan where there is one, against the oracle. */
static void multiply(struct feed *f, heddle *h, const heddle_matrix *A, heddle_plan *p, int ops,
                     const struct entries *e)
{
    const heddle_type t = e->vector;
    number x[SIZE_MOST + 1], expected[SIZE_MOST + 1], alpha = any(f, 2, t), beta = any(f, 2, t);
    number x_array[SIZE_MOST + 1], y_array[SIZE_MOST + 1], alpha_array[1], beta_array[1];
    heddle_op op = (heddle_op)below(f, 3);
    int plain = below(f, 4) == 0; /* alpha and beta NULL */
    for (int i = 0; i <= SIZE_MOST; i++) {
        x[i] = any(f, 8, t);
        expected[i] = any(f, 8, t);
        put(x_array, t, i, x[i]);
        put(y_array, t, i, expected[i]);
    }
    put(alpha_array, t, 0, alpha);
    put(beta_array, t, 0, beta);
    const void *a = plain ? NULL : alpha_array, *b = plain ? NULL : beta_array;
    int64_t rows = op == HEDDLE_N ? e->rows : e->cols;
    heddle_status status =
        p ? heddle_plan_mv(p, op, a, x_array, b, y_array) : heddle_mv(h, op, a, A, x_array, b, y_array);
    if (p && !(ops & (op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T))) {
        fuzz_require(status == HEDDLE_BAD_ARGUMENT, "a plan refuses what it was not made for");
        return;
    }
    fuzz_require(status == HEDDLE_OK, "a good matrix can be multiplied");
    multiply_exactly(e, op, plain ? 1 : alpha, x, plain ? 0 : beta, expected);
    for (int64_t i = 0; i <= SIZE_MOST; i++) /* behind the last row nothing has changed */
        fuzz_require(get(y_array, t, i) == expected[i],
                     i < rows ? "the product is exact" : "nothing is written behind y");
}

static void plan(struct feed *f, heddle *h, const heddle_matrix *A, struct entries *e)
{
    static const int64_t limits[] = {0, -1, 100, 1 << 20}, products[] = {1, 3, 7, 12};
    char kernel[96] = "", tail[24];
    heddle_kernel_desc desc;
    heddle_plan_desc info;
    if (heddle_kernel_info(below(f, heddle_kernel_count()), &desc) == HEDDLE_OK)
        snprintf(kernel, sizeof kernel, "%s", desc.name);
    word(f, tail, sizeof tail);
    if (below(f, 3) == 0)
        snprintf(kernel + strlen(kernel), sizeof kernel - strlen(kernel), ":%s", tail);
    heddle_plan_options o = {.ops = below(f, 4),
                             .expected_products = products[below(f, 4)],
                             .deterministic = below(f, 2),
                             .memory_limit = limits[below(f, 4)],
                             .kernel = below(f, 2) ? kernel : NULL};
    heddle_plan *p;
    heddle_status status = heddle_plan_create(&p, h, A, &o);
    fuzz_require((status == HEDDLE_OK) == (p != NULL), "a plan is there if it was made");
    fuzz_require(status != HEDDLE_INTERNAL && status != HEDDLE_BAD_MATRIX,
                 "a good matrix can be planned for");
    if (!p)
        return;
    int ops = o.ops ? o.ops : HEDDLE_PLAN_N;
    multiply(f, h, A, p, ops, e);
    fuzz_require(heddle_plan_info(p, ops & HEDDLE_PLAN_N ? HEDDLE_N : HEDDLE_T, &info) == HEDDLE_OK,
                 "a plan describes itself");
    fuzz_require(o.memory_limit == 0 || info.bytes <= (o.memory_limit < 0 ? 0 : o.memory_limit),
                 "a plan keeps its limit");
    heddle_matrix_desc d;
    fuzz_require(heddle_matrix_info(A, &d) == HEDDLE_OK, "a matrix describes itself");
    static number twice[ENTRIES_MOST];
    for (int64_t k = 0; k < e->nnz; k++) { /* whatever their order is */
        put(twice, d.types.value, k, 2 * get(d.val, d.types.value, k));
        e->val[k] *= 2;
    }
    fuzz_require(heddle_plan_update_values(p, twice) == HEDDLE_OK, "new values are taken");
    multiply(f, h, A, p, ops, e);
    for (int64_t k = 0; k < e->nnz; k++)
        e->val[k] /= 2;
    heddle_plan_free(p);
}

/* ------------------------------------------------------------------ descriptions */

enum damage { NONE, INDEX, DECREASE, LAST, ARRAY_NULL, SIZE, SKEW, TYPE, BASE, WHERE, DAMAGES };

/* of a description, in the types that it names; 16 bytes of slack for pointers that are skewed */
struct arrays {
    int64_t ptr[SIZE_MOST + 4], row[ENTRIES_MOST + 2], col[ENTRIES_MOST + 2];
    number val[ENTRIES_MOST + 2];
};

static void put_int(void *array, heddle_type type, int64_t i, int64_t value)
{
    if (type == HEDDLE_I64)
        ((int64_t *)array)[i] = value;
    else
        ((int32_t *)array)[i] = (int32_t)value;
}

/* Entries ordered by `major`, stably, as compressed storage has them. */
static void order(struct entries *e, const int *major)
{
    struct entries from = *e;
    int key[ENTRIES_MOST];
    int64_t n = 0;
    memcpy(key, major, sizeof key);
    for (int i = 0; i < SIZE_MOST; i++)
        for (int64_t k = 0; k < from.nnz; k++)
            if (key[k] == i) {
                e->row[n] = from.row[k];
                e->col[n] = from.col[k];
                e->val[n++] = from.val[k];
            }
}

static void fill(struct arrays *a, const struct entries *e, heddle_types t, int base, const int *major)
{
    int64_t count[SIZE_MOST + 1] = {0}, sum = base;
    for (int64_t k = 0; k < e->nnz; k++) {
        put_int(a->row, t.index, k, e->row[k] + base);
        put_int(a->col, t.index, k, e->col[k] + base);
        count[major ? major[k] : 0]++;
        put(a->val, t.value, k, e->val[k]);
    }
    for (int i = 0; i <= SIZE_MOST; sum += count[i++])
        put_int(a->ptr, t.offset, i, sum);
}

/* The description as it is given: all three formats have these members under names of their own. */
struct given {
    heddle_format format;
    int64_t rows, cols, nnz;
    const char *ptr, *row, *col, *val;
    heddle_types types;
    int base, copy;
    heddle_where where;
};

static heddle_status create(heddle_matrix **A, heddle *h, const struct given *g)
{
    if (g->format == HEDDLE_CSR)
        return heddle_csr(A, h,
                          &(heddle_csr_desc){g->rows, g->cols, g->nnz, g->ptr, g->col, g->val, g->types,
                                             g->base, g->copy, g->where});
    if (g->format == HEDDLE_CSC)
        return heddle_csc(A, h,
                          &(heddle_csc_desc){g->rows, g->cols, g->nnz, g->ptr, g->row, g->val, g->types,
                                             g->base, g->copy, g->where});
    return heddle_coo(A, h,
                      &(heddle_coo_desc){g->rows, g->cols, g->nnz, g->row, g->col, g->val, g->types, g->base,
                                         g->copy, g->where});
}

/* Damages one thing; what the API must say of it at once: HEDDLE_OK when only heddle_check can know, or
 * nothing was damaged. */
static heddle_status spoil(struct feed *f, struct given *g, struct arrays *a, enum damage *d)
{
    static const int64_t wild[] = {-1, -2, INT32_MAX, INT32_MIN, SIZE_MOST + 1};
    int64_t major = g->format == HEDDLE_CSC ? g->cols : g->rows, at = g->nnz > 0 ? below(f, (int)g->nnz) : 0;
    int compressed = g->format != HEDDLE_COO;
    void *minor = g->format == HEDDLE_CSC ? a->row : a->col;
    switch (*d) {
    case INDEX:
        if (g->nnz == 0)
            break;
        put_int(minor, g->types.index, at,
                g->types.index == HEDDLE_I64 && below(f, 2) ? INT64_MIN + below(f, 3) : wild[below(f, 5)]);
        return HEDDLE_OK;
    case DECREASE:
        if (!compressed || g->nnz == 0 || major < 2)
            break;
        put_int(a->ptr, g->types.offset, 1 + below(f, (int)major - 1), g->nnz + g->base + 1 + below(f, 100));
        return HEDDLE_OK;
    case LAST:
        if (!compressed)
            break;
        put_int(a->ptr, g->types.offset, major, below(f, 2) ? g->nnz + g->base + 1 : INT32_MIN);
        return HEDDLE_BAD_ARGUMENT;
    case ARRAY_NULL:
        if (g->nnz == 0)
            break;
        g->val = NULL;
        return HEDDLE_BAD_ARGUMENT;
    case SIZE:
        *(below(f, 2) ? &g->rows : &g->cols) =
            below(f, 2) ? -1 - below(f, 100) : (INT64_C(1) << 31) + below(f, 100);
        return HEDDLE_BAD_ARGUMENT;
    case SKEW:
        if (g->nnz == 0)
            break;
        g->val += 1 + 2 * below(f, 2);
        return HEDDLE_BAD_ARGUMENT;
    case TYPE:
        if (below(f, 2))
            g->types.value = (heddle_type)(HEDDLE_C64 + 1 + below(f, 100));
        else /* no such pair */
            g->types.vector = HEDDLE_F16;
        return HEDDLE_BAD_ARGUMENT;
    case BASE:
        g->base = 2 + below(f, 9);
        return HEDDLE_BAD_ARGUMENT;
    case WHERE:
        g->where = (heddle_where)(1 + below(f, 5));
        return HEDDLE_BAD_ARGUMENT;
    default:
        break;
    }
    *d = NONE;
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------ a matrix and what is done with it */

static void use(struct feed *f, heddle *h, const heddle_matrix *A, struct entries *e)
{
    heddle_matrix *B;
    heddle_stats s;
    multiply(f, h, A, NULL, 0, e);
    multiply(f, h, A, NULL, 0, e);
    fuzz_require(heddle_statistics(h, A, &s) == HEDDLE_OK, "a good matrix has statistics");
    heddle_lengths row = lengths_exactly(e->row, e->nnz, e->rows),
                   col = lengths_exactly(e->col, e->nnz, e->cols);
    fuzz_require(s.rows == e->rows && s.cols == e->cols && s.nnz == e->nnz, "statistics have the sizes");
    fuzz_require(s.row.shortest == row.shortest && s.row.longest == row.longest && s.row.empty == row.empty,
                 "lengths of rows");
    fuzz_require(s.col.shortest == col.shortest && s.col.longest == col.longest && s.col.empty == col.empty,
                 "of columns");
    if (below(f, 2))
        plan(f, h, A, e);
    fuzz_require(heddle_convert(&B, h, A, (heddle_format)below(f, 3)) == HEDDLE_OK,
                 "a good matrix can be converted");
    fuzz_require(heddle_check(h, B) == HEDDLE_OK, "what was converted is good");
    multiply(f, h, B, NULL, 0, e);
    heddle_matrix_free(B);
}

static void describe(struct feed *f, heddle *h)
{
    /* values, vectors as they are described, and what those are */
    static const heddle_type types[][3] = {
        {0, 0, HEDDLE_F64},          {HEDDLE_F32, 0, HEDDLE_F32},  {HEDDLE_F64, HEDDLE_F64, HEDDLE_F64},
        {HEDDLE_F16, 0, HEDDLE_F32}, {HEDDLE_BF16, 0, HEDDLE_F32}, {HEDDLE_F32, HEDDLE_F64, HEDDLE_F64},
        {HEDDLE_C32, 0, HEDDLE_C32}, {HEDDLE_C64, 0, HEDDLE_C64},
    };
    static const heddle_type integers[] = {0, HEDDLE_I32, HEDDLE_I64};
    const heddle_type *type = types[below(f, 8)];
    static struct arrays a; /* its alignment is that of its widest member */
    struct entries e = {.rows = below(f, SIZE_MOST), .cols = below(f, SIZE_MOST), .vector = type[2]};
    heddle_matrix *A;
    struct given g = {.format = (heddle_format)below(f, 3),
                      .rows = e.rows,
                      .cols = e.cols,
                      .base = below(f, 2),
                      .copy = below(f, 2),
                      .types = {type[0], integers[below(f, 3)], integers[below(f, 3)], type[1]}};
    e.nnz = g.nnz = e.rows > 0 && e.cols > 0 ? below(f, ENTRIES_MOST) : 0;
    for (int64_t k = 0; k < e.nnz; k++) {
        e.row[k] = below(f, (int)e.rows);
        e.col[k] = below(f, (int)e.cols);
        e.val[k] = any(f, 7, type[0]);
    }
    const int *major = g.format == HEDDLE_CSR ? e.row : g.format == HEDDLE_CSC ? e.col : NULL;
    if (major)
        order(&e, major);
    g.ptr = (const char *)a.ptr, g.row = (const char *)a.row, g.col = (const char *)a.col,
    g.val = (const char *)a.val;
    fill(&a, &e, g.types, g.base, major);
    enum damage d = below(f, 2) ? NONE : (enum damage)below(f, DAMAGES);
    heddle_status expected = spoil(f, &g, &a, &d), status = create(&A, h, &g);
    fuzz_require((status == HEDDLE_OK) == (A != NULL), "a matrix is there if it was made");
    if (d == INDEX || d == DECREASE)
        fuzz_require(status == HEDDLE_OK || status == HEDDLE_BAD_MATRIX,
                     "a bad index is found now or by heddle_check");
    else
        fuzz_require(status == expected, "an argument that cannot be is refused, a good one is not");
    if (!A)
        return;
    fuzz_require(heddle_check(h, A) == (d == NONE ? HEDDLE_OK : HEDDLE_BAD_MATRIX),
                 "heddle_check knows good from bad");
    if (d == NONE)
        use(f, h, A, &e);
    heddle_matrix_free(A);
}

/* ------------------------------------------------------------------ specs */

static void family(struct feed *f, heddle *h)
{
    char spec[160], tail[40];
    const struct family *made = family_at(below(f, family_count()));
    heddle_matrix *A, *B;
    heddle_matrix_desc a, b;
    word(f, tail, sizeof tail);
    snprintf(spec, sizeof spec, "%s:n=%d%s%s", made->name, below(f, 10), tail[0] ? "," : "", tail);
    heddle_status status = heddle_generate(&A, h, spec, below(f, 2) ? HEDDLE_F32 : HEDDLE_F64);
    fuzz_require(status == HEDDLE_OK || status == HEDDLE_BAD_ARGUMENT || status == HEDDLE_NO_MEMORY,
                 "a spec is good or bad");
    if (!A)
        return;
    fuzz_require(heddle_check(h, A) == HEDDLE_OK, "what is generated is good");
    heddle_matrix_info(A, &a);
    fuzz_require(heddle_generate(&B, h, spec, a.types.value) == HEDDLE_OK, "a spec is good twice");
    heddle_matrix_info(B, &b);
    fuzz_require(a.nnz == b.nnz && (a.nnz == 0 || memcmp(a.index, b.index, (size_t)a.nnz * 4) == 0),
                 "the same matrix");
    heddle_matrix_free(A);
    heddle_matrix_free(B);
}

static void device(struct feed *f)
{
    char spec[64], tail[40];
    heddle *h;
    word(f, tail, sizeof tail);
    snprintf(spec, sizeof spec, "%s%s", below(f, 2) ? "cpu:" : "emu:", tail);
    heddle_status status = heddle_open(&h, spec);
    fuzz_require((status == HEDDLE_OK) == (h != NULL), "a handle is there if it was opened");
    heddle_close(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const devices[3] = {"cpu:threads=1", "cpu:threads=1,isa=generic", "cpu:threads=3"};
    static heddle *h[3];
    struct feed f = {data, data + size};
    for (int i = 0; i < 3 && !h[2]; i++)
        fuzz_require(heddle_open(&h[i], devices[i]) == HEDDLE_OK, "a device can be opened");
    /* threads that wait for each other are slow */
    int kind = below(&f, 16), which = below(&f, 64) == 0 ? 2 : below(&f, 2);
    if (kind == 0)
        device(&f);
    else if (kind == 1)
        family(&f, h[which]);
    else
        describe(&f, h[which]);
    return 0;
}
