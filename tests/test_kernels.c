/* SPDX-License-Identifier: MIT
 *
 * A kernel is tested by existing: every kernel x variant x operation x alpha and beta x awkward matrix x number of threads
 * x instruction set that this processor has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "test.h"

/* Under ThreadSanitizer everything takes some thirty times as long, and races depend neither on types nor on scalars nor on
 * instruction sets: there a test takes one of each, the smaller matrices, and few threads. */
#ifdef __SANITIZE_THREAD__
#define VARIANTS (1u << VARIANT_f64_i32)
#define ENTRIES_MOST 8000
#define SCALARS 2
#define ISA_FIRST ISA_generic
#define ISA_LAST ISA_generic
static const int threads_tried[] = {2, 7};
#else
#define ISA_FIRST 0
#define ISA_LAST (ISA_COUNT - 1)
#define VARIANTS ((1u << VARIANT_COUNT) - 1)
#define ENTRIES_MOST INT64_MAX
#define SCALARS (int)(sizeof scalars / sizeof scalars[0])
static const int threads_tried[] = {1, 2, 7, 64};
#endif
#define THREADS_TRIED (int)(sizeof threads_tried / sizeof threads_tried[0])

#define GUARD 8 /* entries before and behind y that must survive */

static const heddle_type types[VARIANT_COUNT][2] = {
#define VARIANT(name, real, off, value, offset) {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

static const struct scalars scalars[] = {{1, 0}, {1, 1}, {-2, 0.5}, {0, 3}, {0, 0}, {3, 0}};

/* One case: everything that a check needs to know and to name. */
struct trial {
    const char *kernel, *matrix;
    struct csr A;
    struct view view;
    heddle_op op;
    struct device device;
    int64_t n_x, n_y;
    void *x, *y, *y0;
    struct exact *exact; /* of op(A) x */
};

static void trial_new(struct trial *t, const struct awkward *w, int variant, heddle_op op, int exact)
{
    memset(t, 0, sizeof *t);
    CHECK_OK(awkward_make(&t->A, w, types[variant][0], types[variant][1]));
    if (!exact)
        awkward_randomise(&t->A, 7);
    t->matrix = w->name;
    t->op = op;
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->A};
    t->n_x = op == HEDDLE_N ? w->cols : w->rows;
    t->n_y = op == HEDDLE_N ? w->rows : w->cols;
    t->x = awkward_vector(t->n_x + 2 * GUARD, t->A.value, 3, exact);
    t->y0 = awkward_vector(t->n_y + 2 * GUARD, t->A.value, 4, exact);
    t->y = awkward_vector(t->n_y + 2 * GUARD, t->A.value, 5, exact);
    t->exact = mem_alloc(t->n_y, sizeof *t->exact);
    awkward_reference(t->exact, &t->A, op != HEDDLE_N, t->x);
}

static void trial_free(struct trial *t)
{
    csr_free(&t->A);
    mem_free(t->x);
    mem_free(t->y);
    mem_free(t->y0);
    mem_free(t->exact);
}

static char *at(const struct trial *t, void *p, int64_t i)
{
    return (char *)p + (size_t)i * type_size(t->A.value);
}

static int good_entry(const struct trial *t, struct scalars s, int64_t i, int exact)
{
    return awkward_good(value_at(t->y, t->A.value, i + GUARD), &t->exact[i], (struct awkward_scalars){s.alpha, s.beta},
                        value_at(t->y0, t->A.value, i + GUARD), t->A.value, exact);
}

/* How many entries of y are out of their bound, or of its guards changed? */
static int64_t wrong_entries(const struct trial *t, struct scalars s, int exact)
{
    int64_t wrong = 0;
    size_t guard = GUARD * type_size(t->A.value);
    for (int64_t i = 0; i < t->n_y; i++)
        wrong += !good_entry(t, s, i, exact);
    wrong += memcmp(t->y, t->y0, guard) != 0;
    wrong += memcmp(at(t, t->y, t->n_y + GUARD), at(t, t->y0, t->n_y + GUARD), guard) != 0;
    return wrong;
}

static void reset_y(struct trial *t)
{
    memcpy(t->y, t->y0, (size_t)(t->n_y + 2 * GUARD) * type_size(t->A.value));
}

/* Runs one bound kernel with the first pairs of scalars. */
static void check_scalars(struct trial *t, struct bound *b, int exact, int pairs)
{
    for (int i = 0; i < pairs && i < SCALARS; i++) {
        reset_y(t);
        CHECK_OK(bound_run(b, scalars[i], t->x, at(t, t->y, GUARD)));
        int64_t wrong = wrong_entries(t, scalars[i], exact);
        CHECK_THAT(wrong == 0, "%s, '%s', op %d, type %d/%d, threads %d, isa %s, alpha %g, beta %g: %lld entries are wrong",
                   t->kernel, t->matrix, t->op, t->A.value, t->A.offset, t->device.threads, isa_name(t->device.isa),
                   scalars[i].alpha, scalars[i].beta, (long long)wrong);
    }
}

/* Does bound_new give the kernel or a good reason not to?  NULL: a reason. */
static struct bound *bind(struct trial *t)
{
    struct bound *b;
    heddle_status status = bound_new(&b, &t->device, t->kernel, &t->view, t->op);
    CHECK_THAT(status == HEDDLE_OK || (status == HEDDLE_NO_KERNEL && !b && heddle_last_error()[0]),
               "%s, '%s': %s (%s)", t->kernel, t->matrix, heddle_status_name(status), heddle_last_error());
    return b;
}

static int small_enough(const struct awkward *w)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < w->rows; i++)
        entries += w->length(i, w->rows, w->cols);
    return entries <= ENTRIES_MOST;
}

/* Runs `body` for each kernel x matrix x variant x op. */
static void for_all(int exact, void (*body)(struct trial *t))
{
    for (int m = 0; m < awkward_count; m++)
        for (int variant = 0; variant < VARIANT_COUNT; variant++)
            for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
                struct trial t;
                if (!(VARIANTS >> variant & 1) || !small_enough(&awkward[m]))
                    continue;
                trial_new(&t, &awkward[m], variant, (heddle_op)op, exact);
                for (int k = 0; k < kernel_count(); k++) {
                    t.kernel = kernel_at(k)->name;
                    t.device = (struct device){.threads = 3, .isa = cpu_this()->isa};
                    if (awkward_wants(t.kernel))
                        body(&t);
                }
                trial_free(&t);
            }
}

static void on_all_devices(struct trial *t)
{
    for (int i = 0; i < THREADS_TRIED; i++)
        for (int isa = ISA_FIRST; isa <= (int)ISA_LAST; isa++) {
            t->device = (struct device){.threads = threads_tried[i], .isa = (enum isa)isa};
            struct bound *b = isa_runs((enum isa)isa) ? bind(t) : NULL;
            if (b)
                check_scalars(t, b, 1, SCALARS);
            bound_free(b);
        }
}

TEST(every_kernel_is_exact_on_small_integers)
{
    for_all(1, on_all_devices);
}

static void within_bounds(struct trial *t)
{
    struct bound *b = bind(t);
    if (b)
        check_scalars(t, b, 0, 3);
    bound_free(b);
}

TEST(every_kernel_is_within_the_error_bound_on_random_data)
{
    for_all(0, within_bounds);
}

static void all_options(struct trial *t)
{
    const struct option *o = kernel_options(kernel_by_name(t->kernel));
    for (int i = 0; o[i].name; i++)
        for (int j = 0; j < o[i].count; j++) {
            char spec[64], value[OPTION_SPELLED];
            const char *name = t->kernel;
            option_spell(value, &o[i], o[i].value[j]);
            snprintf(spec, sizeof spec, "%s:%s=%s", name, o[i].name, value);
            t->kernel = spec;
            struct bound *b = bind(t);
            if (b)
                check_scalars(t, b, 1, SCALARS);
            bound_free(b);
            t->kernel = name;
        }
}

TEST(every_option_of_every_kernel_gives_the_same_product)
{
    for_all(1, all_options);
}

/* A matrix that is stored by columns, or as coordinates, is the same matrix. */
static void other_storage(struct trial *t)
{
    struct csr transposed;
    struct coo entries;
    CHECK_OK(csr_transpose(&transposed, &t->A));
    CHECK_OK(coo_from_csr(&entries, &t->A));
    struct view views[] = {{.format = HEDDLE_CSC, .csr = transposed}, {.format = HEDDLE_COO, .coo = entries}};
    for (int i = 0; i < 2; i++) {
        t->view = views[i];
        struct bound *b = bind(t);
        if (b)
            check_scalars(t, b, 1, 3);
        bound_free(b);
    }
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->A};
    csr_free(&transposed);
    coo_free(&entries);
}

TEST(a_matrix_stored_by_columns_or_as_coordinates_gives_the_same_product)
{
    for_all(1, other_storage);
}

/* The same product on a different number of real threads and twice in a row. */
static void repeatable(struct trial *t)
{
    if (!kernel_by_name(t->kernel)->repeatable)
        return;
    struct bound *b = bind(t);
    if (!b)
        return;
    size_t bytes = (size_t)t->n_y * type_size(t->A.value);
    void *first = mem_alloc((int64_t)bytes, 1);
    for (int i = 0; i < 3; i++) {
        reset_y(t);
        CHECK_OK(bound_run(b, (struct scalars){1.5, 0.25}, t->x, at(t, t->y, GUARD)));
        if (i == 0 && bytes)
            memcpy(first, at(t, t->y, GUARD), bytes);
        CHECK_THAT(!bytes || memcmp(first, at(t, t->y, GUARD), bytes) == 0, "%s, '%s' differs from run to run", t->kernel,
                   t->matrix);
    }
    mem_free(first);
    bound_free(b);
}

TEST(repeatable_kernels_give_bitwise_the_same_result_again)
{
    for_all(0, repeatable);
}

/* y full of NaN must not show through where beta = 0. */
static void y_not_read(struct trial *t)
{
    struct bound *b = bind(t);
    for (int i = 0; b && i < SCALARS; i++) {
        if (scalars[i].beta != 0)
            continue;
        reset_y(t);
        for (int64_t j = 0; j < t->n_y; j++)
            awkward_put(t->y, t->A.value, j + GUARD, NAN);
        CHECK_OK(bound_run(b, scalars[i], t->x, at(t, t->y, GUARD)));
        CHECK_THAT(wrong_entries(t, scalars[i], 1) == 0, "%s, '%s': NaN in y survives beta = 0", t->kernel, t->matrix);
    }
    bound_free(b);
}

TEST(beta_zero_does_not_read_y)
{
    for_all(1, y_not_read);
}

/* alpha = 0: x and A are not read, even if they are not there. */
static void inputs_not_read(struct trial *t)
{
    struct bound *b = bind(t);
    if (b) {
        reset_y(t);
        CHECK_OK(bound_run(b, (struct scalars){0, 2}, (void *)(uintptr_t)8, at(t, t->y, GUARD)));
        CHECK_THAT(wrong_entries(t, (struct scalars){0, 2}, 1) == 0, "%s, '%s': alpha = 0", t->kernel, t->matrix);
    }
    bound_free(b);
}

TEST(alpha_zero_reads_neither_matrix_nor_x)
{
    for_all(1, inputs_not_read);
    struct view poisoned = {.format = HEDDLE_CSR,
                            .csr = {.rows = 3, .cols = 3, .nnz = 5, .value = HEDDLE_F64, .offset = HEDDLE_I32,
                                    .row_ptr = (void *)(uintptr_t)4, .col = (void *)(uintptr_t)4, .val = (void *)(uintptr_t)8}};
    double y[3] = {1, 2, 3};
    const char *ran;
    CHECK_OK(immediate_run(&(struct device){.threads = 2, .isa = ISA_generic}, &poisoned, HEDDLE_N, (struct scalars){0, 2},
                           (void *)(uintptr_t)8, y, &(struct room){0}, &ran));
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 6);
    CHECK(strcmp(ran, "scale") == 0);
}

/* NaN in a value, and Inf and NaN in x, show in exactly the entries of y that touch them: at the first and last place, which padding
 * would read, in the middle and anywhere. */
static void specials(struct trial *t)
{
    if (t->A.nnz == 0)
        return;
    uint64_t random = (uint64_t)t->A.nnz;
    const int64_t bad[2][2] = {{0, (int64_t)(test_random(&random) % (uint64_t)t->n_x)}, {t->n_x - 1, t->n_x / 2}};
    const int64_t bad_k = t->A.nnz / 3;
    double x_before[2], val_before = value_at(t->A.val, t->A.value, bad_k);
    awkward_put(t->A.val, t->A.value, bad_k, NAN);
    struct bound *b = bind(t);
    for (int i = 0; b && i < 2; i++) {
        int64_t wrong = 0;
        for (int k = 0; k < 2; k++) {
            x_before[k] = value_at(t->x, t->A.value, bad[i][k]);
            awkward_put(t->x, t->A.value, bad[i][k], k ? NAN : INFINITY);
        }
        awkward_reference(t->exact, &t->A, t->op != HEDDLE_N, t->x);
        reset_y(t);
        CHECK_OK(bound_run(b, (struct scalars){1, 0}, t->x, at(t, t->y, GUARD)));
        for (int64_t k = 0; k < t->n_y; k++) {
            double got = value_at(t->y, t->A.value, k + GUARD), want = (double)t->exact[k].sum;
            wrong += isnan(want) ? !isnan(got) : got != want;
        }
        CHECK_THAT(wrong == 0, "%s, '%s', op %d: Inf at x[%lld] and NaN at x[%lld] are in %lld wrong entries", t->kernel, t->matrix,
                   t->op, (long long)bad[i][0], (long long)bad[i][1], (long long)wrong);
        for (int k = 1; k >= 0; k--) { /* the two may be one */
            awkward_put(t->x, t->A.value, bad[i][k], x_before[k]);
        }
    }
    bound_free(b);
    awkward_put(t->A.val, t->A.value, bad_k, val_before);
}

TEST(nan_and_inf_show_exactly_where_they_are_touched)
{
    for_all(1, specials);
}

/* Vectors and arrays that begin one element off a cache line. */
static void unaligned(struct trial *t)
{
    size_t size = type_size(t->A.value), offset = type_size(t->A.offset);
    char *val = mem_alloc(t->A.nnz + 2, size), *row_ptr = mem_alloc(t->A.rows + 3, offset);
    int32_t *col = mem_alloc(t->A.nnz + 2, sizeof *col);
    char *x = mem_alloc(t->n_x + 2, size);
    memcpy(x + size, t->x, (size_t)t->n_x * size);
    memcpy(row_ptr + offset, t->A.row_ptr, (size_t)(t->A.rows + 1) * offset);
    if (t->A.nnz) {
        memcpy(val + size, t->A.val, (size_t)t->A.nnz * size);
        memcpy(col + 1, t->A.col, (size_t)t->A.nnz * sizeof *col);
    }
    t->view.csr.val = val + size;
    t->view.csr.col = col + 1;
    t->view.csr.row_ptr = row_ptr + offset;
    struct bound *b = bind(t);
    if (b) {
        memcpy(t->y, t->y0, (size_t)(t->n_y + 2 * GUARD) * size);
        char *y = at(t, t->y, GUARD);
        CHECK_OK(bound_run(b, (struct scalars){2, -1}, x + size, y));
        CHECK_THAT(wrong_entries(t, (struct scalars){2, -1}, 1) == 0, "%s, '%s': unaligned arrays", t->kernel, t->matrix);
    }
    bound_free(b);
    t->view.csr = t->A;
    mem_free(val);
    mem_free(row_ptr);
    mem_free(col);
    mem_free(x);
}

TEST(arrays_need_no_more_than_the_alignment_of_an_element)
{
    for_all(1, unaligned);
}

TEST(a_corrupted_result_is_noticed)
{
    struct trial t;
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 0);
    t.kernel = "cpu_csr";
    t.device = (struct device){.threads = 2, .isa = ISA_generic};
    struct bound *b = bind(&t);
    reset_y(&t);
    CHECK_OK(bound_run(b, (struct scalars){1, 0}, t.x, at(&t, t.y, GUARD)));
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 0);
    double *y = (double *)t.y + GUARD;
    y[100] *= 1 + 1e-12;
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 1);
    y[-1] = 0.123;
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 2);
    bound_free(b);
    trial_free(&t);
}

TEST(every_kernel_tells_about_itself)
{
    CHECK(kernel_count() == KERNEL_COUNT);
    for (int i = 0; i < kernel_count(); i++) {
        heddle_kernel_desc d;
        CHECK_OK(kernel_describe(i, &d));
        CHECK(kernel_by_name(d.name) == kernel_at(i));
        CHECK((int)kernel_at(i)->id == i);
        CHECK(format_by_name(d.format) >= 0 && d.ops[0] && d.source[0] && strcmp(d.device, device_kind_name(kernel_at(i)->device)) == 0);
    }
    CHECK(strcmp(kernel_by_name("cpu_csr")->name, "cpu_csr") == 0 && kernel_by_name("cpu_csr")->device == DEVICE_cpu);
    CHECK(kernel_by_name("csr_naive")->device == DEVICE_gpu);
    CHECK(kernel_by_name("cpu_nothing") == NULL && kernel_at(-1) == NULL && kernel_at(KERNEL_COUNT) == NULL);
    heddle_kernel_desc d;
    CHECK_FAILS(kernel_describe(KERNEL_COUNT, &d), HEDDLE_BAD_ARGUMENT, "no kernel number");
    CHECK_STATUS(kernel_describe(0, NULL), HEDDLE_BAD_ARGUMENT);
}
