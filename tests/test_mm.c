/* SPDX-License-Identifier: MIT
 *
 * Several vectors at once, through the public header: every awkward matrix x operation x layout x number of
 * vectors x distance between them x alpha and beta, on CPUs and on the emulator with both wave widths. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "small.h"
#include "trial.h"

/* Vectors repeat after twice BASES of them: the second time with the other sign. */
#define BASES 7
static const int64_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100};
#define COUNTS (int)(sizeof counts / sizeof counts[0])

/* A matrix, an operation, and what it makes of each base. */
struct setting {
    heddle *h;
    const char *device, *matrix;
    struct csr csr;
    heddle_matrix *A;
    heddle_op op;
    int64_t n_x, n_y, x_behind, y_behind; /* the latter: numbers of an allocation before X and Y */
    void *base[BASES];
    struct exact *exact[BASES];
};

/* How the vectors of one product lie: X and Y with `gap` more than they need in a row or column. */
struct shape {
    int64_t vectors, gap;
    heddle_layout layout;
};

static void setting_new(struct setting *s, const struct awkward *w, int variant, heddle_op op)
{
    CHECK_OK(awkward_make(&s->csr, w, trial_types[variant][0], trial_types[variant][1]));
    s->matrix = w->name;
    s->op = op;
    s->n_x = op == HEDDLE_N ? w->cols : w->rows;
    s->n_y = op == HEDDLE_N ? w->rows : w->cols;
    const struct csr *A = &s->csr;
    CHECK_OK(heddle_csr(&s->A, s->h,
                        &(heddle_csr_desc){.rows = A->rows,
                                           .cols = A->cols,
                                           .nnz = A->nnz,
                                           .row_ptr = A->row_ptr,
                                           .col = A->col,
                                           .val = A->val,
                                           .types = {.value = A->value, .offset = A->offset}}));
    for (int i = 0; i < BASES; i++) {
        s->base[i] = awkward_vector(s->n_x, A->value, (uint64_t)i + 1, 1);
        s->exact[i] = mem_alloc(s->n_y, sizeof **s->exact);
        awkward_reference(s->exact[i], A, op != HEDDLE_N, s->base[i]);
    }
}

static void setting_free(struct setting *s)
{
    heddle_matrix_free(s->A);
    csr_free(&s->csr);
    for (int i = 0; i < BASES; i++)
        mem_free(s->base[i]), mem_free(s->exact[i]);
}

static int64_t ld_of(struct shape f, int64_t n)
{
    return (f.layout == HEDDLE_ROW_MAJOR ? f.vectors : n) + f.gap;
}

/* Numbers of an array that ends with its last entry. */
static int64_t span_of(struct shape f, int64_t n)
{
    const int64_t runs = f.layout == HEDDLE_ROW_MAJOR ? n : f.vectors, length = ld_of(f, n) - f.gap;
    return runs > 0 && length > 0 ? (runs - 1) * ld_of(f, n) + length : 0;
}

static int64_t at(struct shape f, int64_t n, int64_t j, int64_t v)
{
    return f.layout == HEDDLE_ROW_MAJOR ? j * ld_of(f, n) + v : j + v * ld_of(f, n);
}

static int sign_of(int64_t v)
{
    return v / BASES % 2 ? -1 : 1;
}

/* X, with NaN where nothing may be read. */
static void *make_x(const struct setting *s, struct shape f)
{
    const heddle_type type = s->csr.value;
    void *x = mem_alloc(span_of(f, s->n_x), type_size(type));
    for (int64_t i = 0; i < span_of(f, s->n_x); i++)
        awkward_put(x, type, i, NAN);
    for (int64_t v = 0; v < f.vectors; v++)
        for (int64_t j = 0; j < s->n_x; j++)
            awkward_put(x, type, at(f, s->n_x, j, v), sign_of(v) * value_at(s->base[v % BASES], type, j));
    return x;
}

/* How many numbers of Y, guards and gaps included, are not what they should be?  `y0` is Y before. */
static int64_t wrong_numbers(const struct setting *s, struct shape f, struct scalars scale, const void *y0,
                             const void *got)
{
    const heddle_type type = s->csr.value;
    const int64_t all = span_of(f, s->n_y) + 2 * GUARD;
    char *free_of = mem_alloc(all, 1);
    int64_t wrong = 0;
    memset(free_of, 1, (size_t)all);
    for (int64_t v = 0; v < f.vectors; v++)
        for (int64_t j = 0; j < s->n_y; j++) {
            const int64_t i = GUARD + at(f, s->n_y, j, v);
            struct exact e = s->exact[v % BASES][j];
            e.sum *= sign_of(v);
            wrong +=
                !awkward_good(value_at(got, type, i), &e, (struct awkward_scalars){scale.alpha, scale.beta},
                              value_at(y0, type, i), type, 1);
            free_of[i] = 0;
        }
    for (int64_t i = 0; i < all; i++)
        wrong += free_of[i] && value_at(got, type, i) != value_at(y0, type, i);
    mem_free(free_of);
    return wrong;
}

/* One product; with device pointers where `there`, by a plan unless that is NULL. */
static void try_one(const struct setting *s, struct shape f, struct scalars scale, int there,
                    heddle_plan *plan)
{
    const heddle_type type = s->csr.value;
    const int64_t size = (int64_t)type_size(type), all = span_of(f, s->n_y) + 2 * GUARD;
    double alpha, beta;
    awkward_put(&alpha, type, 0, scale.alpha);
    awkward_put(&beta, type, 0, scale.beta);
    void *x = make_x(s, f), *y0 = awkward_vector(all, type, 9, 1), *got = mem_alloc(all, (size_t)size);
    memcpy(got, y0, (size_t)(all * size));
    for (int64_t v = 0; scale.beta == 0 && v < f.vectors; v++)
        for (int64_t j = 0; j < s->n_y; j++)
            awkward_put(got, type, GUARD + at(f, s->n_y, j, v), NAN);
    char *X = x, *Y = got;
    const int64_t before_x = there ? s->x_behind * size : 0, before_y = there ? s->y_behind * size : 0;
    const struct device *d = &s->h->device;
    if (there) {
        CHECK_OK(device_alloc(d, (void **)&X, before_x + span_of(f, s->n_x) * size));
        CHECK_OK(device_copy(d, X + before_x, x, span_of(f, s->n_x) * size));
        CHECK_OK(device_alloc(d, (void **)&Y, before_y + all * size));
        CHECK_OK(device_copy(d, Y + before_y, got, all * size));
        CHECK_OK(device_sync(d));
    }
    char *const in = X + before_x, *const y = Y + before_y + GUARD * size;
    const int64_t ldx = f.gap ? ld_of(f, s->n_x) : 0, ldy = f.gap ? ld_of(f, s->n_y) : 0;
    CHECK_OK(plan ? heddle_plan_mm(plan, s->op, &alpha, f.vectors, f.layout, in, ldx, &beta, y, ldy)
                  : heddle_mm(s->h, s->op, &alpha, s->A, f.vectors, f.layout, in, ldx, &beta, y, ldy));
    if (there) {
        CHECK_OK(device_read(d, got, Y + before_y, all * size));
        device_free(d, X);
        device_free(d, Y);
    }
    const int64_t wrong = wrong_numbers(s, f, scale, y0, got);
    CHECK_THAT(
        wrong == 0,
        "%s by %s, '%s', op %d, type %d/%d, %lld vectors, %s, gap %lld, alpha %g, beta %g: %lld numbers "
        "are wrong",
        s->device, heddle_last_kernel(s->h), s->matrix, s->op, s->csr.value, s->csr.offset,
        (long long)f.vectors, f.layout == HEDDLE_ROW_MAJOR ? "by rows" : "by columns", (long long)f.gap,
        (double)scale.alpha, (double)scale.beta, (long long)wrong);
    mem_free(x), mem_free(y0), mem_free(got);
}

/* All numbers of vectors, or every `few`th, so that all come in turns; not those with more than `most`
 * multiplications. */
static void for_all(const char *device, int few, int there, unsigned variants, int64_t most)
{
    int turn = 0;
    struct setting s = {.device = device};
    CHECK_OK(heddle_open(&s.h, device));
    for (int m = 0; m < awkward_count; m++)
        for (int variant = 0; variant < REAL_VARIANTS; variant++)
            for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
                if (!(variants >> variant & 1) || awkward[m].rows + awkward[m].cols > most ||
                    (trial_brief() && (m + variant + op) % 2))
                    continue;
                setting_new(&s, &awkward[m], variant, (heddle_op)op);
                for (int i = turn++ % few; i < 2 * COUNTS; i += few) {
                    const struct shape f = {counts[i / 2], i % 4 ? i % 3 : 0, (heddle_layout)(i % 2)};
                    if (f.vectors * (s.csr.nnz + s.n_x + s.n_y) <= most)
                        try_one(&s, f, scalars[(turn + i) % SCALARS], there, NULL);
                }
                setting_free(&s);
            }
    heddle_close(s.h);
}

/* Of the numbers of vectors, one in so many. */
static int every(int usual)
{
    return trial_slow() ? 1 : trial_brief() ? 4 * usual + 1 : usual;
}

TEST(several_vectors_are_exact_on_a_cpu)
{
    for_all("cpu:threads=3", every(9), 0, trial_brief() ? TWO_VARIANTS : ALL_VARIANTS, INT64_MAX);
    for_all("cpu:threads=1,isa=generic", every(17), 0, TWO_VARIANTS, INT64_MAX);
    for_all("cpu:threads=32", every(17), 0, TWO_VARIANTS, INT64_MAX);
}

TEST(several_vectors_are_exact_on_a_gpu)
{
    const int64_t most = trial_slow() ? INT64_MAX : trial_brief() ? 50000 : 400000;
    for_all("emu:wave=32,seed=3", every(7), 1, TWO_VARIANTS, most);
    for_all("emu:wave=64,seed=4", every(7), 1, TWO_VARIANTS, most);
}

TEST(vectors_of_the_host_are_staged_without_what_lies_between_them)
{
    struct setting s = {.device = "emu"};
    CHECK_OK(heddle_open(&s.h, "emu"));
    for (int i = 0; i < 12; i++) {
        setting_new(&s, trial_matrix("rows in threes"), VARIANT_f64_i32, (heddle_op)(i % 2));
        try_one(&s, (struct shape){1 + i, i % 3, (heddle_layout)(i / 2 % 2)}, scalars[i % SCALARS], 0, NULL);
        setting_free(&s);
    }
    heddle_close(s.h);
}

/* ---- plans, memory ---- */

/* By a plan of this kernel, if the matrix can have it. */
static void try_plan(struct setting *s, const char *kernel, int op)
{
    heddle_plan *p = NULL;
    setting_new(s, trial_matrix("rows in threes"), VARIANT_f64_i32, (heddle_op)op);
    heddle_status status = heddle_plan_create(
        &p, s->h, s->A, &(heddle_plan_options){.ops = 1 << op, .kernel = kernel, .values_fixed = 1});
    for (int i = 0; status == HEDDLE_OK && i < 4; i++)
        try_one(s, (struct shape){i < 2 ? 3 : 6, i % 2, (heddle_layout)(i % 2)}, scalars[i], i > 1, p);
    heddle_plan_free(p);
    setting_free(s);
}

static void try_plans(const char *device)
{
    heddle_kernel_desc kernel;
    struct setting s = {.device = device};
    CHECK_OK(heddle_open(&s.h, device));
    for (int k = 0; k < heddle_kernel_count() && heddle_kernel_info(k, &kernel) == HEDDLE_OK; k++)
        for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
            if (!trial_brief() || (k + op) % 2 == 0)
                try_plan(&s, kernel.name, op);
    heddle_close(s.h);
}

static void try_way_of_csr_mm(const char *device, const char *matrix, int i)
{
    static const char *const ways[] = {"csr_mm:way=single", "csr_mm:way=apart", "csr_mm:way=gathered",
                                       "csr_mm_t"};
    const int way = i % 4, op = way == 3 ? HEDDLE_T : HEDDLE_N;
    struct setting s = {.device = device};
    heddle_plan *p = NULL;
    CHECK_OK(heddle_open(&s.h, s.device));
    setting_new(&s, trial_matrix(matrix), i / 2 % 2 ? VARIANT_f64_i32 : VARIANT_f32_o64, (heddle_op)op);
    CHECK_OK(heddle_plan_create(&p, s.h, s.A, &(heddle_plan_options){.ops = 1 << op, .kernel = ways[way]}));
    try_one(&s, (struct shape){2 + i, i % 2, HEDDLE_COLUMN_MAJOR}, scalars[i % SCALARS], 1, p);
    try_one(&s, (struct shape){8 + 4 * (i % 3), 0, HEDDLE_COLUMN_MAJOR}, scalars[i % SCALARS], 1, p);
    s.x_behind = i % 5 % 2, s.y_behind = i / 4 % 2; /* addresses that allow wide accesses or do not */
    for (int v = 2; v <= 8; v += 6)
        try_one(&s, (struct shape){v, 0, HEDDLE_ROW_MAJOR}, scalars[i % SCALARS], 1, p);
    heddle_plan_free(p);
    setting_free(&s), heddle_close(s.h);
}

TEST(every_way_of_csr_mm_is_right)
{
    static const char *const matrices[] = {"power law", "huge row in the middle",
                                           "lengths around vector widths"};
    for (int i = 0; i < 18; i += trial_brief() ? 5 : 1)
        try_way_of_csr_mm(i % 3 ? "emu:wave=32" : "emu:wave=64", matrices[i / 6], i);
}

/* Hooked pages tell of loads outside of X, and of those wider than their alignment, as well. */
TEST(every_way_of_csr_mm_races_nowhere_and_stays_within_its_arrays)
{
    for (int i = 0; i < 16; i += trial_brief() ? 5 : 1)
        try_way_of_csr_mm(i % 3 ? "emu:wave=32,races=1" : "emu:wave=64,races=1", "slice remainder 7", i);
}

TEST(a_plan_of_any_kernel_takes_several_vectors)
{
    try_plans("cpu:threads=2");
    try_plans("emu");
}

TEST(a_plan_multiplies_several_vectors_with_its_new_values)
{
    static const char *const devices[] = {"cpu", "emu"}, *const kernels[] = {NULL, "cpu_sell", "sell"};
    for (int i = 0; i < 5; i++) {
        struct setting s = {.device = devices[i / 3]};
        heddle_plan *p = NULL;
        CHECK_OK(heddle_open(&s.h, s.device));
        setting_new(&s, trial_matrix("rows in threes"), VARIANT_f64_i32, (heddle_op)(i % 2));
        CHECK_OK(heddle_plan_create(
            &p, s.h, s.A,
            &(heddle_plan_options){.ops = 1 << i % 2, .kernel = i % 3 ? kernels[1 + i / 3] : NULL}));
        double *own = s.csr.val, *other = mem_alloc(s.csr.nnz, 8);
        for (int64_t k = 0; k < s.csr.nnz; k++)
            other[k] = own[s.csr.nnz - 1 - k];
        CHECK_OK(heddle_plan_update_values(p, other));
        s.csr.val = other;
        for (int b = 0; b < BASES; b++)
            awkward_reference(s.exact[b], &s.csr, i % 2, s.base[b]);
        try_one(&s, (struct shape){5, 1, HEDDLE_ROW_MAJOR}, scalars[1], i > 2, p);
        try_one(&s, (struct shape){5, 1, HEDDLE_COLUMN_MAJOR}, scalars[1], 0, p);
        s.csr.val = own;
        heddle_plan_free(p);
        mem_free(other);
        setting_free(&s);
        heddle_close(s.h);
    }
}

TEST(deterministic_products_of_several_vectors_repeat)
{
    heddle *h = open_cpu("emu:wave=32,seed=5");
    heddle_matrix *A;
    double X[900], Y[2][900];
    CHECK_OK(heddle_set_deterministic(h, 1));
    CHECK_OK(heddle_generate(&A, h, "random:rows=300,cols=300,mean=9", HEDDLE_F64));
    for (int i = 0; i < 900; i++)
        X[i] = 1 / (3. + i);
    for (int i = 0; i < 12; i++) {
        CHECK_OK(heddle_mm(h, (heddle_op)(i / 6), NULL, A, 3, (heddle_layout)(i / 3 % 2), X, 0, NULL,
                           Y[i % 3 > 0], 0));
        CHECK(i % 3 == 0 || memcmp(Y[0], Y[1], sizeof Y[0]) == 0);
    }
    heddle_matrix_free(A);
    heddle_close(h);
}

static heddle_status product_that_fails(void *device)
{
    static double X[4 * 64], Y[3 * 63];
    heddle *h;
    heddle_matrix *A = NULL;
    heddle_csr_desc desc = csr_desc();
    heddle_status status = heddle_open(&h, device);
    if (status == HEDDLE_OK)
        status = heddle_csr(&A, h, &desc);
    if (status == HEDDLE_OK)
        status = heddle_mm(h, HEDDLE_N, NULL, A, 60, HEDDLE_ROW_MAJOR, X, 64, NULL, Y, 63);
    if (status == HEDDLE_OK)
        status = heddle_reserve_mm(h, A, 70);
    heddle_matrix_free(A);
    heddle_close(h);
    return status;
}

TEST(an_allocation_that_fails_is_an_error_and_no_leak)
{
    char cpu[] = "cpu:threads=2", emu[] = "emu";
    CHECK(test_every_allocation(product_that_fails, cpu) > 3);
    CHECK(test_every_allocation(product_that_fails, emu) > 3);
}
