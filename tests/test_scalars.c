/* SPDX-License-Identifier: MIT
 *
 * Scalars on the device: every GPU kernel reads them there, keeps all promises for alpha = 0 and beta = 0,
 * and gives bit by bit what it gives for the same numbers of the host.  HEDDLE_TEST_DEVICES="cuda:0" tries
 * the kernels there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "small.h"
#include "trial.h"

/* ---- kernels ---- */

#define ENTRIES_MOST 20000 /* larger matrices take the emulator too long */
#define SMALL 300          /* rows of matrices that every option and every type meets */
#define OTHER_VARIANTS                                                                                       \
    (1u << VARIANT_c32_i32 | 1u << VARIANT_c64_i32 | 1u << VARIANT_f16_i32 | 1u << VARIANT_bf16_i32 |        \
     1u << VARIANT_f32v64_i32)

/* Two numbers of the trial's type on the device; where kernels look, and what they would find in the
 * product itself: other numbers. */
static struct scalars there(const struct trial *t, void *at, struct scalars s)
{
    double _Complex here[2];
    const heddle_type type = vector_type(t->A.value);
    awkward_put(here, type, 0, s.alpha);
    awkward_put(here, type, 1, s.beta);
    CHECK_OK(device_copy(&t->device, at, here, 2 * (int64_t)type_size(type)));
    CHECK_OK(device_sync(&t->device));
    return (struct scalars){.alpha = NAN, .beta = 7, .alpha_at = at, .beta_at = (char *)at + type_size(type)};
}

/* x is NaN where alpha is 0. */
static void try_pair(struct trial *t, struct bound *b, void *at, void *nan, void *want, struct scalars s)
{
    const size_t bytes = (size_t)trial_bytes(t);
    trial_multiply(t, b, s);
    CHECK(trial_wrong(t, s, 1) == 0);
    memcpy(want, t->got, bytes);
    void *x = t->x;
    t->x = s.alpha == 0 ? nan : x;
    struct scalars apart = there(t, at, s);
    trial_set_y(t, s.beta);
    CHECK_OK(bound_run(b, apart, t->x, trial_at(t, t->y, GUARD)));
    CHECK_OK(device_read(&t->device, t->got, t->y, trial_bytes(t)));
    t->x = x;
    CHECK_THAT(memcmp(want, t->got, bytes) == 0, "%s on %s, '%s', op %d, type %s: alpha %g, beta %g there",
               t->kernel, t->name, t->matrix, t->op, value_name(t->A.value), (double)s.alpha, (double)s.beta);
}

static void try_kernel(struct trial *t, void *at, void *nan, void *want)
{
    struct bound *b = trial_bind(t);
    for (int i = 0; b && i < SCALARS; i++)
        try_pair(t, b, at, nan, want, trial_scalars(t, i));
    bound_free(b);
}

/* Where alpha turns out to be 0, neither NaN in x nor in the matrix shows. */
static void try_nan(struct trial *t, void *at, void *nan)
{
    const struct scalars s = {.alpha = 0, .beta = 2};
    const int64_t bytes = t->A.nnz * (int64_t)type_size(t->A.value);
    void *none = awkward_vector(t->A.nnz, t->A.value, 3, 1), *values;
    for (int64_t i = 0; i < t->A.nnz; i++)
        awkward_put(none, t->A.value, i, NAN);
    CHECK_OK(device_alloc(&t->device, &values, bytes + 1));
    CHECK_OK(device_copy(&t->device, values, none, bytes));
    CHECK_OK(device_sync(&t->device));
    t->view.csr.val = values;
    struct bound *b = trial_bind(t);
    if (b) {
        trial_set_y(t, s.beta);
        CHECK_OK(bound_run(b, there(t, at, s), nan, trial_at(t, t->y, GUARD)));
        CHECK_OK(device_read(&t->device, t->got, t->y, trial_bytes(t)));
        CHECK_THAT(trial_wrong(t, s, 1) == 0, "%s on %s, '%s', op %d: NaN shows where alpha is 0", t->kernel,
                   t->name, t->matrix, t->op);
    }
    bound_free(b);
    t->view.csr.val = t->on_device.val;
    device_free(&t->device, values);
    mem_free(none);
}

static void try_options(struct trial *t, void *at, void *nan, void *want)
{
    const char *name = t->kernel;
    const struct option *o = kernel_options(kernel_by_name(name));
    for (int i = 0; o[i].name; i++)
        for (int j = 0; j < o[i].count; j++) {
            char spec[64], value[OPTION_SPELLED];
            option_spell(value, &o[i], o[i].value[j]);
            snprintf(spec, sizeof spec, "%s:%s=%s", name, o[i].name, value);
            t->kernel = spec;
            try_kernel(t, at, nan, want);
            try_nan(t, at, nan);
        }
    t->kernel = name;
}

static void try_matrix(const struct device *d, const struct awkward *w, int variant, heddle_op op)
{
    struct trial t = {.name = gpu_info_of(d->gpu)->arch, .device = *d};
    trial_new(&t, w, variant, op, 1);
    const heddle_type type = vector_type(t.A.value);
    void *at, *nan, *none = awkward_vector(t.n_x, type, 3, 1), *want = mem_alloc(trial_bytes(&t), 1);
    for (int64_t i = 0; i < t.n_x; i++)
        awkward_put(none, type, i, NAN);
    CHECK_OK(device_alloc(d, &at, 32));
    CHECK_OK(device_alloc(d, &nan, t.n_x * (int64_t)type_size(type)));
    CHECK_OK(device_copy(d, nan, none, t.n_x * (int64_t)type_size(type)));
    CHECK_OK(device_sync(d));
    for (int k = 0; k < kernel_count(); k++)
        if (kernel_at(k)->device == DEVICE_gpu && awkward_wants(kernel_at(k)->name) &&
            kernel_has(kernel_at(k), t.A.value) && (op == HEDDLE_N || kernel_at(k)->ops & OPS_T)) {
            t.kernel = kernel_at(k)->name;
            if (w->rows <= SMALL && w->cols <= SMALL && !trial_brief() && TWO_VARIANTS >> variant & 1)
                try_options(&t, at, nan, want);
            try_kernel(&t, at, nan, want);
            if (variant == VARIANT_f64_i32)
                try_nan(&t, at, nan);
        }
    device_free(d, at);
    device_free(d, nan);
    mem_free(none);
    mem_free(want);
    trial_free(&t);
}

static void try_all(const struct device *d)
{
    const int64_t most = trial_brief() ? SMALL : trial_slow() ? INT64_MAX : 2100;
    for (int m = 0; m < awkward_count; m++) {
        int64_t entries = 0;
        for (int64_t i = 0; i < awkward[m].rows; i++)
            entries += awkward[m].length(i, awkward[m].rows, awkward[m].cols);
        if (awkward[m].rows > most || awkward[m].cols > most || entries > ENTRIES_MOST ||
            !trial_has_turn(gpu_info_of(d->gpu)->wave == 64, m))
            continue;
        const unsigned variants = awkward[m].rows <= SMALL || trial_slow() ? TWO_VARIANTS | OTHER_VARIANTS
                                : trial_has_turn(0, m / 2)                 ? 1u << VARIANT_f64_i32
                                                                           : 1u << VARIANT_f32_o64;
        for (int variant = 0; variant < VARIANT_COUNT; variant++)
            if (variants >> variant & 1 && (TWO_VARIANTS >> variant & 1 || trial_has_turn(variant, m / 2)))
                for (int op = HEDDLE_N; op <= (int)trial_last_op(variant); op++)
                    try_matrix(d, &awkward[m], variant, (heddle_op)op);
    }
}

TEST(every_kernel_reads_its_scalars_on_the_device)
{
    trial_on_devices(try_all);
}

/* ---- handles ---- */

static const char *const devices[] = {"emu:wave=32", "emu:wave=64", "cpu"};

static const heddle_type pairs[][2] = {{HEDDLE_F64, HEDDLE_F64},  {HEDDLE_C32, HEDDLE_C32},
                                       {HEDDLE_C64, HEDDLE_C64},  {HEDDLE_F16, HEDDLE_F32},
                                       {HEDDLE_BF16, HEDDLE_F32}, {HEDDLE_F32, HEDDLE_F64}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* A small matrix and vectors on the device of a handle; on a CPU that is the host. */
struct scene {
    heddle *h;
    heddle_matrix *A;
    heddle_type type;           /* of vectors and scalars */
    void *x, *y, *alpha, *beta; /* two vectors of 4 entries, likewise, and a number each */
};

static void *on_the_device(heddle *h, int64_t n)
{
    void *p;
    CHECK_OK(device_alloc(&h->device, &p, n * (int64_t)sizeof(double _Complex)));
    return p;
}

static void *place(const struct scene *s, void *p, int64_t i)
{
    return (char *)p + i * (int64_t)type_size(s->type);
}

static void put(const struct scene *s, void *there, double _Complex value)
{
    double _Complex here;
    value_put(&here, s->type, 0, value);
    CHECK_OK(device_copy(&s->h->device, there, &here, (int64_t)type_size(s->type)));
    CHECK_OK(device_sync(&s->h->device));
}

/* The matrix of small.h, times 1 + i where it is complex. */
static double _Complex factor_of(heddle_type type)
{
    return awkward_complex(1, is_complex(type));
}

static heddle_matrix *make_typed(heddle *h, heddle_format format, const heddle_type pair[2])
{
    const double *const from[] = {val, csc_val, coo_val};
    const heddle_types types = {.value = pair[0], .vector = pair[1]};
    heddle_matrix *A = NULL;
    double _Complex values[5];
    heddle_csr_desc csr = csr_desc();
    heddle_csc_desc csc = csc_desc();
    heddle_coo_desc coo = coo_desc();
    for (int i = 0; i < 5; i++)
        value_put(values, pair[0], i, factor_of(pair[0]) * from[format][i]);
    csr.val = csc.val = coo.val = values;
    csr.types = csc.types = coo.types = types;
    csr.copy = csc.copy = coo.copy = 1;
    CHECK_OK(format == HEDDLE_CSR   ? heddle_csr(&A, h, &csr)
             : format == HEDDLE_CSC ? heddle_csc(&A, h, &csc)
                                    : heddle_coo(&A, h, &coo));
    return A;
}

static void scene_new(struct scene *s, const char *device, heddle_format format, const heddle_type pair[2])
{
    s->h = open_cpu(device);
    s->A = make_typed(s->h, format, pair);
    s->type = pair[1];
    s->x = on_the_device(s->h, 8);
    s->y = on_the_device(s->h, 8);
    s->alpha = on_the_device(s->h, 1);
    s->beta = on_the_device(s->h, 1);
    for (int i = 0; i < 8; i++)
        put(s, place(s, s->x, i), i < 4 ? i + 1 : 2 * (i - 3));
    CHECK_OK(heddle_set_scalars(s->h, HEDDLE_ON_DEVICE));
}

static void scene_free(struct scene *s)
{
    device_free(&s->h->device, s->x);
    device_free(&s->h->device, s->y);
    device_free(&s->h->device, s->alpha);
    device_free(&s->h->device, s->beta);
    heddle_matrix_free(s->A);
    heddle_close(s->h);
}

/* How the product is asked for, and with what. */
struct asked {
    heddle_plan *plan; /* NULL: at once */
    heddle_op op;
    int vectors; /* 1 or 2 */
};

static heddle_status ask(const struct scene *s, struct asked a, const void *alpha, const void *beta)
{
    if (a.vectors == 2)
        return a.plan ? heddle_plan_mm(a.plan, a.op, alpha, 2, HEDDLE_COLUMN_MAJOR, s->x, 4, beta, s->y, 4)
                      : heddle_mm(s->h, a.op, alpha, s->A, 2, HEDDLE_COLUMN_MAJOR, s->x, 4, beta, s->y, 4);
    return a.plan ? heddle_plan_mv(a.plan, a.op, alpha, s->x, beta, s->y)
                  : heddle_mv(s->h, a.op, alpha, s->A, s->x, beta, s->y);
}

/* A x is 7, 0, 31 for x = 1, 2, 3, 4, and Aᵀ x is 10, 12, 2, 15 for x = 1, 2, 3; the second vector is twice
 * the first, and all that times factor_of. */
static void multiply_as(struct scene *s, struct asked a, const void *alpha, const void *beta,
                        double _Complex want_alpha, double _Complex want_beta)
{
    static const double product[2][4] = {{7, 0, 31, 0}, {10, 12, 2, 15}};
    const int n = a.op == HEDDLE_N ? 3 : 4;
    const double _Complex one = factor_of(s->type), factor = a.op == HEDDLE_H ? ~one : one;
    double _Complex got[8];
    for (int i = 0; i < 8; i++)
        put(s, place(s, s->y, i), want_beta == 0 ? NAN : 100 * (i % 4));
    CHECK_OK(ask(s, a, alpha, beta));
    CHECK_OK(heddle_sync(s->h));
    CHECK_OK(device_read(&s->h->device, got, s->y, 8 * (int64_t)type_size(s->type)));
    for (int v = 0; v < a.vectors; v++)
        for (int i = 0; i < n; i++) {
            const double _Complex sum = (v + 1) * product[a.op != HEDDLE_N][i] * factor,
                                  is = value_at(got, s->type, 4 * v + i);
            CHECK_THAT(is == want_alpha * sum + want_beta * (100. * i),
                       "%s, op %d, alpha %g%+gi, beta %g%+gi: y[%d] = %g%+gi", value_name(s->type), a.op,
                       __real__ want_alpha, __imag__ want_alpha, __real__ want_beta, __imag__ want_beta, i,
                       __real__ is, __imag__ is);
        }
}

/* Real numbers, or with an imaginary part where the scene has one. */
static double _Complex scalar_for(const struct scene *s, const double number[2])
{
    return awkward_complex(number[0], is_complex(s->type) ? number[1] : 0);
}

static void multiply_all(struct scene *s, struct asked a)
{
    static const double numbers[][2][2] = {{{1, 0}, {0, 0}}, {{2, -1}, {1, 0}}, {{-1, 0}, {3, 2}},
                                           {{0, 0}, {2, 0}}, {{0, 0}, {0, 0}},  {{0, 2}, {0, -1}}};
    for (int i = 0; i < (is_complex(s->type) ? 6 : 5); i++) {
        const double _Complex alpha = scalar_for(s, numbers[i][0]), beta = scalar_for(s, numbers[i][1]);
        put(s, s->alpha, alpha);
        put(s, s->beta, beta);
        multiply_as(s, a, s->alpha, s->beta, alpha, beta);
        multiply_as(s, a, s->alpha, NULL, alpha, 0);
        multiply_as(s, a, NULL, s->beta, 1, beta);
        multiply_as(s, a, NULL, NULL, 1, 0);
    }
}

static void every_product(const char *device, heddle_format format, const heddle_type pair[2],
                          int deterministic)
{
    struct scene s;
    heddle_plan *plan;
    const heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 1};
    scene_new(&s, device, format, pair);
    CHECK_OK(heddle_set_deterministic(s.h, deterministic));
    CHECK_OK(heddle_reserve(s.h, s.A));
    CHECK_OK(heddle_plan_create(&plan, s.h, s.A, &options));
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_H; op = (heddle_op)(op + 1))
        for (int i = 0; i < 4; i++)
            multiply_all(&s, (struct asked){i % 2 ? plan : NULL, op, 1 + i / 2});
    heddle_plan_free(plan);
    scene_free(&s);
}

TEST(a_handle_takes_scalars_of_the_device_in_every_product)
{
    for (int i = 0; i < 3; i++)
        EACH_FORMAT(format)
    for (int pair = 0; pair < PAIRS; pair++)
        for (int deterministic = 0; deterministic <= 1; deterministic++)
            every_product(devices[i], format, pairs[pair], deterministic);
}

/* x and y may stay on the host, where y is copied from in any case: beta is not known here. */
TEST(vectors_of_the_host_are_multiplied_with_scalars_of_the_device)
{
    for (int i = 0; i < 4; i++) {
        struct scene s;
        scene_new(&s, devices[i / 2], HEDDLE_CSR, pairs[0]);
        const double x[] = {1, 2, 3, 4}, beta = i % 2 ? 2 : 0;
        double y[] = {1, beta == 0 ? NAN : 2, 3};
        put(&s, s.alpha, -1);
        put(&s, s.beta, beta);
        CHECK_OK(heddle_mv(s.h, HEDDLE_N, s.alpha, s.A, x, s.beta, y));
        CHECK(y[0] == -7 + beta && y[1] == 2 * beta && y[2] == -31 + 3 * beta);
        scene_free(&s);
    }
}

TEST(a_matrix_without_entries_leaves_beta_y)
{
    for (int i = 0; i < 3; i++) {
        struct scene s;
        heddle_matrix *empty;
        const int32_t no_rows[5] = {0};
        double got[4];
        scene_new(&s, devices[i], HEDDLE_CSR, pairs[0]);
        CHECK_OK(heddle_csr(&empty, s.h, &(heddle_csr_desc){.rows = 4, .cols = 4, .row_ptr = no_rows}));
        put(&s, s.alpha, NAN);
        put(&s, s.beta, 3);
        for (int k = 0; k < 4; k++)
            put(&s, place(&s, s.y, k), k);
        CHECK_OK(heddle_mv(s.h, HEDDLE_N, s.alpha, empty, s.x, s.beta, s.y));
        CHECK_OK(heddle_sync(s.h));
        CHECK_OK(device_read(&s.h->device, got, s.y, sizeof got));
        CHECK(got[0] == 0 && got[1] == 3 && got[2] == 6 && got[3] == 9);
        heddle_matrix_free(empty);
        scene_free(&s);
    }
}

TEST(scalars_that_kernels_cannot_read_are_refused_before_y_is_touched)
{
    const double one = 1;
    double got;
    struct scene s;
    scene_new(&s, "emu", HEDDLE_CSR, pairs[0]);
    put(&s, s.y, 5);
    CHECK_FAILS(heddle_set_scalars(s.h, (heddle_where)2), HEDDLE_BAD_ARGUMENT, "not 2");
    CHECK_FAILS(heddle_set_scalars(NULL, HEDDLE_ON_HOST), HEDDLE_BAD_ARGUMENT, "NULL");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, &one, s.A, s.x, NULL, s.y), HEDDLE_BAD_ARGUMENT, "alpha (");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, &one, s.y), HEDDLE_BAD_ARGUMENT, "beta (");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, (char *)s.alpha + 4, s.A, s.x, NULL, s.y), HEDDLE_BAD_ARGUMENT,
                "alpha is not aligned");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, place(&s, s.y, 2), s.y), HEDDLE_BAD_ARGUMENT,
                "beta lies in y");
    CHECK_OK(device_read(&s.h->device, &got, s.y, 8));
    CHECK(got == 5);
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, s.x, s.A, s.x, place(&s, s.y, 3), s.y)); /* N has three entries of y */
    CHECK_OK(heddle_set_scalars(s.h, HEDDLE_ON_HOST));
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, &one, s.A, s.x, NULL, s.y));
    scene_free(&s);
}

TEST(scalars_of_every_type_are_aligned_to_it_and_lie_apart_from_y)
{
    for (int i = 0; i < PAIRS; i++) {
        struct scene s;
        scene_new(&s, "emu", HEDDLE_CSR, pairs[i]);
        CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, (char *)s.alpha + type_size(s.type) / 2, s.A, s.x, NULL, s.y),
                    HEDDLE_BAD_ARGUMENT, "alpha is not aligned");
        CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, place(&s, s.y, 2), s.y), HEDDLE_BAD_ARGUMENT,
                    "beta lies in y");
        CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, place(&s, s.y, 3), s.y));
        scene_free(&s);
    }
}
