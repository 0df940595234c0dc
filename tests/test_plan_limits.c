/* SPDX-License-Identifier: MIT
 *
 * Plans on a GPU where something ends: offsets at the end of their type, memory, allocations that fail. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "convert/service.h"
#include "gen/gen.h"
#include "plan/run.h"
#include "trial.h"

/* ---- offsets at the end of their type ---- */

#define LAST_ROWS 5
#define LAST_COLS 7
static const int32_t last_length[LAST_ROWS] = {40, 1, 0, 64, 30};

/* The last rows of a matrix with INT32_MAX entries, as it would lie in memory; only what they have is
 * there. */
struct last_rows {
    void *row_ptr, *col, *val, *x, *y;
    struct stored stored;
    double sum[2][LAST_COLS]; /* N: by row, T: by column, for x = 1 */
};

static void *copied(const struct device *d, const void *from, int64_t bytes)
{
    void *p;
    CHECK_OK(device_alloc(d, &p, bytes));
    CHECK_OK(device_copy(d, p, from, bytes));
    return p;
}

static void last_rows_new(struct last_rows *l, const struct device *d)
{
    int32_t row_ptr[LAST_ROWS + 1] = {INT32_MAX}, col[256];
    double val[256], ones[LAST_COLS] = {1, 1, 1, 1, 1, 1, 1};
    int n = 0;
    *l = (struct last_rows){0};
    for (int i = 0; i < LAST_ROWS; i++)
        for (int k = 0; k < last_length[i]; k++, n++) {
            col[n] = (3 * n + i) % LAST_COLS;
            val[n] = 1 + n % 5;
            l->sum[0][i] += val[n];
            l->sum[1][col[n]] += val[n];
        }
    row_ptr[0] -= n;
    for (int i = 0; i < LAST_ROWS; i++)
        row_ptr[i + 1] = row_ptr[i] + last_length[i];
    l->row_ptr = copied(d, row_ptr, sizeof row_ptr);
    l->col = copied(d, col, n * 4);
    l->val = copied(d, val, n * 8);
    l->x = copied(d, ones, sizeof ones);
    l->y = trial_zeros(d, LAST_COLS);
    l->stored = (struct stored){.format = format_at(FORMAT_csr),
                                .rows = LAST_ROWS,
                                .cols = LAST_COLS,
                                .nnz = INT32_MAX,
                                .value = HEDDLE_F64,
                                .offset = HEDDLE_I32};
    l->stored.array[CSR_ROW_PTR] = l->row_ptr;
    l->stored.array[CSR_COL] = (void *)((uintptr_t)l->col - 4 * (uintptr_t)row_ptr[0]);
    l->stored.array[CSR_VAL] = (void *)((uintptr_t)l->val - 8 * (uintptr_t)row_ptr[0]);
}

static void last_rows_free(struct last_rows *l, const struct device *d)
{
    void *all[] = {l->row_ptr, l->col, l->val, l->x, l->y};
    for (int i = 0; i < 5; i++)
        device_free(d, all[i]);
}

static void counts_to_the_end(const struct device *d)
{
    static const char *const specs[] = {"csr_naive",
                                        "csr_vector",
                                        "csr_vector:lanes=2",
                                        "csr_vector:lanes=16",
                                        "csr_classical:lanes=8,rows=4",
                                        "csr_classical",
                                        "csr_naive_t"};
    struct last_rows l;
    last_rows_new(&l, d);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const struct kernel *kernel;
        int64_t option[OPTIONS_MOST];
        double y[LAST_COLS];
        CHECK_OK(kernel_parse(&kernel, option, specs[i]));
        int turned = kernel->ops == OPS_T;
        struct work w = work_for(kernel, d, &l.stored, turned, option);
        scalar_put(w.product.alpha, HEDDLE_F64, 1);
        scalar_put(w.product.beta, HEDDLE_F64, 0);
        w.product.x = l.x;
        w.product.y = l.y;
        CHECK_OK(kernel->prepare ? kernel->prepare(&w) : HEDDLE_OK);
        CHECK_OK(kernel->launch(&w));
        CHECK_OK(device_read(d, y, l.y, sizeof y));
        for (int k = 0; k < (turned ? LAST_COLS : LAST_ROWS); k++)
            CHECK_THAT(y[k] == l.sum[turned][k], "%s: y[%d] is %g, not %g", specs[i], k, y[k],
                       l.sum[turned][k]);
    }
    last_rows_free(&l, d);
}

TEST(offsets_may_reach_the_end_of_their_type)
{
    trial_on_devices(counts_to_the_end);
}

TEST(padded_formats_refuse_rows_that_they_cannot_count)
{
    static const enum format_id formats[] = {FORMAT_ell, FORMAT_ellr};
    struct stored s;
    struct source A = {
        .csr = {.rows = 1, .cols = 9, .nnz = INT32_MAX, .value = HEDDLE_F32, .offset = HEDDLE_I32},
        .longest = INT32_MAX};
    for (int i = 0; i < 2; i++)
        CHECK_FAILS(stored_size(&s, formats[i], &A, NULL), HEDDLE_NO_KERNEL, "in 32 bits");
}

/* On a device that has only so much memory: what a plan of "even rows" ends with. */
static heddle_status plan_on(int64_t memory, heddle_plan_desc *desc, int64_t *held)
{
    struct device d = {.kind = DEVICE_gpu};
    char name[64];
    struct trial_pair A;
    struct bound *b = NULL;
    snprintf(name, sizeof name, "emu:memory=%lld", (long long)memory);
    CHECK_OK(gpu_open(&d.gpu, name));
    trial_pair_new(&A, &d, "even rows");
    *held = csr_bytes(&A.here) + A.there.look.bytes;
    heddle_status status =
        plan_choose(&b, desc, &d, &A.there, HEDDLE_N, &(heddle_plan_options){.expected_products = 1000000});
    CHECK((b != NULL) == (status == HEDDLE_OK));
    if (b && desc->product_ms > 0)
        CHECK(trial_wrong_entries(&d, &A.there, &A.here, HEDDLE_N, b) == 0);
    bound_free(b);
    trial_pair_free(&A, &d);
    gpu_close(d.gpu);
    return status;
}

TEST(a_plan_passes_over_what_does_not_fit_into_the_device)
{
    heddle_plan_desc desc;
    int64_t held = 0, vectors = 64 << 10;
    CHECK_OK(plan_on(1 << 30, &desc, &held));
    CHECK(desc.product_ms > 0);
    CHECK_OK(plan_on(held + vectors + 4096, &desc, &held)); /* no room for a second copy of A */
    CHECK_THAT(desc.bytes < held / 2 && desc.product_ms > 0, "%s holds %lld bytes", desc.kernel,
               (long long)desc.bytes);
    CHECK_OK(plan_on(held + 1024, &desc, &held)); /* none for x and y: nothing is measured */
    CHECK(desc.product_ms == 0 && strcmp(desc.format, "csr") == 0);
}

/* ---- failures ---- */

struct request {
    const struct device *device;
    const struct view *A;
    const char *kernel;
    heddle_op op;
};

static heddle_status bind_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_status status = bound_new(&b, r->device, r->kernel, r->A, r->op);
    bound_free(b);
    return status;
}

static heddle_status plan_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_plan_desc desc;
    heddle_status status =
        plan_choose(&b, &desc, r->device, r->A, r->op,
                    &(heddle_plan_options){.kernel = r->kernel, .values_fixed = r->kernel != NULL});
    CHECK((b != NULL) == (status == HEDDLE_OK));
    bound_free(b);
    return status;
}

/* A plan passes over what it has no memory for: whichever single allocation fails, it ends with a kernel
 * that is right. */
static void one_failure(struct request *r, const struct csr *here, int n, int fixed)
{
    struct bound *b;
    heddle_plan_desc desc;
    int64_t live = mem_live();
    mem_fail_after(n);
    heddle_status status =
        plan_choose(&b, &desc, r->device, r->A, r->op,
                    &(heddle_plan_options){.expected_products = 100, .values_fixed = fixed});
    mem_fail_after(-1);
    CHECK_THAT(status == HEDDLE_OK, "allocation %d failing ends in %s", n, heddle_last_error());
    CHECK(!b || trial_wrong_entries(r->device, r->A, here, r->op, b) == 0);
    bound_free(b);
    CHECK_THAT(mem_live() == live, "allocation %d failing leaks %lld blocks", n,
               (long long)(mem_live() - live));
}

/* What a device has found once it keeps until it is closed, so everything is found before allocations are
 * counted. */
static void find_everything(struct request r)
{
    for (int k = 0; k < kernel_count(); k++) {
        r.kernel = kernel_at(k)->name;
        bind_once(&r);
        plan_once(&r);
    }
    r.kernel = NULL;
    CHECK_OK(plan_once(&r));
}

/* The emulator's memory is the host's, so that its allocations fail like all others; a real GPU's cannot
 * be made to. */
TEST(every_allocation_may_fail)
{
    struct device d = {.kind = DEVICE_gpu};
    struct trial_pair A;
    CHECK_OK(gpu_open(&d.gpu, "emu"));
    trial_pair_new(&A, &d, "repeated columns");
    struct view views[] = {A.there, trial_as_coo(&d, &A.there)};
    for (int i = 0; i < 4; i++)
        find_everything((struct request){&d, &views[i / 2], NULL, i % 2 ? HEDDLE_T : HEDDLE_N});
    for (int i = 0; i < 4; i++) {
        struct request r = {&d, &views[i / 2], NULL, i % 2 ? HEDDLE_T : HEDDLE_N};
        for (int n = 0; n < 48; n++)
            one_failure(&r, &A.here, n / 2, n % 2);
        for (int k = 0; k < kernel_count(); k++) {
            struct bound *b;
            if ((k + i / 2) % 2 && !trial_slow()) /* each operation with one of the storages */
                continue;
            r.kernel = kernel_at(k)->name;
            heddle_status status = bound_new(&b, &d, r.kernel, r.A, r.op);
            bound_free(b);
            if (status == HEDDLE_OK) {
                CHECK(test_every_allocation(bind_once, &r) > 1);
                CHECK(test_every_allocation(plan_once, &r) > 1);
            }
        }
    }
    device_free(&d, views[1].coo.row);
    trial_pair_free(&A, &d);
    gpu_close(d.gpu);
}
