/* SPDX-License-Identifier: MIT
 *
 * Workspace from the caller: products work in it and nowhere else, for matrices of different needs by turns,
 * with nothing allocated; what is too small is refused with the number of bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "fakes/use.h"
#include "subject/fill.h"
#include "subject/subject.h"
#include "verify/verify.h"

/* ---- a pool of the caller's ---- */

/* It counts what it gives, aligned as pools do, and looks for writes beside it. */
#define FENCE 256
#define PIECES_MOST 2
struct pool {
    const struct device *device;
    int64_t pieces, bytes;
    void *base[PIECES_MOST];
};

static char *pool_take(struct pool *p, int64_t bytes)
{
    void *base;
    const int64_t all = bytes + 3 * FENCE;
    CHECK_OK(device_alloc(p->device, &base, all));
    CHECK_OK(device_fill(p->device, base, 0xA5, all)); /* not zero, as it comes from a pool */
    p->base[p->pieces++] = base;
    p->bytes += bytes;
    return (char *)base + FENCE + (FENCE - (uintptr_t)base % FENCE) % FENCE;
}

static int is_fence(const struct device *d, const char *at)
{
    unsigned char here[FENCE];
    CHECK_OK(device_read(d, here, at, FENCE));
    for (int i = 0; i < FENCE; i++)
        if (here[i] != 0xA5)
            return 0;
    return 1;
}

/* The last one first. */
static void pool_give(struct pool *p, char *at, int64_t bytes)
{
    CHECK(is_fence(p->device, at - FENCE) && is_fence(p->device, at + bytes));
    device_free(p->device, p->base[--p->pieces]);
    p->bytes -= bytes;
}

/* ---- products ---- */

/* Long rows, which are cut into pieces; many rows; columns without order. */
static const char *const specs[] = {"powerlaw:n=3000,mean=6,longest=2900", "grid2d:n=30",
                                    "random:n=300,mean=8"};
enum { MATRICES = 3, FORMATS = 3 };

struct item {
    struct csr csr;
    heddle_matrix *A;
    heddle_plan *plan;
};

struct scene {
    heddle *h;
    struct item item[MATRICES];
    double *x_here, *y_here, *x, *y;
    int64_t n;
};

static void scene_new(struct scene *s, const char *device, heddle_format format, int deterministic)
{
    *s = (struct scene){.n = 3000};
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(heddle_set_deterministic(s->h, deterministic));
    CHECK_OK(heddle_set_workspace(s->h, NULL, 0));
    for (int i = 0; i < MATRICES; i++) {
        heddle_matrix *rows;
        CHECK_OK(gen_matrix(&s->item[i].csr, specs[i], HEDDLE_F64));
        CHECK_OK(matrix_of(&rows, s->h, &s->item[i].csr));
        s->item[i].A = rows;
        if (format != HEDDLE_CSR) {
            CHECK_OK(heddle_convert(&s->item[i].A, s->h, rows, format));
            heddle_matrix_free(rows);
        }
    }
    void *x, *y;
    CHECK_OK(device_alloc(&s->h->device, &x, s->n * 8));
    CHECK_OK(device_alloc(&s->h->device, &y, s->n * 8));
    s->x = x;
    s->y = y;
    CHECK_OK(NEW_ZEROED(s->x_here, s->n));
    CHECK_OK(NEW_ZEROED(s->y_here, s->n));
    fill_random(s->x_here, HEDDLE_F64, s->n);
    CHECK_OK(device_copy(&s->h->device, s->x, s->x_here, s->n * 8));
    CHECK_OK(device_sync(&s->h->device));
}

static void scene_free(struct scene *s)
{
    for (int i = 0; i < MATRICES; i++) {
        heddle_plan_free(s->item[i].plan);
        heddle_matrix_free(s->item[i].A);
        csr_free(&s->item[i].csr);
    }
    device_free(&s->h->device, s->x);
    device_free(&s->h->device, s->y);
    mem_free(s->x_here);
    mem_free(s->y_here);
    heddle_close(s->h);
}

static heddle_status multiply_item(struct scene *s, int i, heddle_op op)
{
    struct item *m = &s->item[i];
    return m->plan ? heddle_plan_mv(m->plan, op, NULL, s->x, NULL, s->y)
                   : heddle_mv(s->h, op, NULL, m->A, s->x, NULL, s->y);
}

/* Every matrix by turns, several times: what one leaves in the workspace must not be another's counter. */
static void products_are_right(struct scene *s)
{
    for (int k = 0; k < 4 * MATRICES; k++) {
        struct verdict v;
        struct reference r;
        const heddle_op op = k % 2 ? HEDDLE_T : HEDDLE_N;
        struct item *m = &s->item[k % MATRICES];
        CHECK_OK(multiply_item(s, k % MATRICES, op));
        CHECK_OK(heddle_sync(s->h));
        CHECK_OK(device_read(&s->h->device, s->y_here, s->y, s->n * 8));
        CHECK_OK(reference_new(&r, &(struct equation){.A = &m->csr, .op = op, .alpha = 1, .x = s->x_here}));
        reference_judge(&v, &r, s->y_here);
        CHECK_THAT(v.passed, "%s, op %d: an error of %g", specs[k % MATRICES], op, v.error);
        reference_free(&r);
    }
}

static const char *const devices[] = {"emu:wave=32", "emu:wave=64", "cpu:threads=2"};

static void work_in_a_pool(const char *device, heddle_format format, int deterministic, int planned)
{
    struct scene s;
    int64_t bytes, after;
    scene_new(&s, device, format, deterministic);
    struct pool pool = {.device = &s.h->device};
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 1};
    for (int i = 0; planned && i < MATRICES; i++)
        CHECK_OK(heddle_plan_create(&s.item[i].plan, s.h, s.item[i].A, &options));
    CHECK_OK(heddle_workspace_bytes(s.h, &bytes));
    CHECK_THAT(bytes > 0 && bytes % 64 == 0, "%lld bytes", (long long)bytes);
    CHECK(s.h->room.workspace == NULL && s.h->room.counters == NULL && s.h->stage == NULL);
    char *at = pool_take(&pool, bytes);
    CHECK_OK(heddle_set_workspace(s.h, at, bytes));
    products_are_right(&s);
    char *larger = pool_take(&pool, bytes + 1000); /* another one, whose end is nowhere in particular */
    CHECK_OK(heddle_set_workspace(s.h, larger, bytes + 1000));
    products_are_right(&s);
    CHECK_OK(heddle_workspace_bytes(s.h, &after));
    CHECK(after == bytes);
    CHECK_OK(heddle_set_workspace(s.h, NULL, HEDDLE_OWN_WORKSPACE));
    products_are_right(&s);
    pool_give(&pool, larger, bytes + 1000);
    pool_give(&pool, at, bytes);
    CHECK(pool.pieces == 0 && pool.bytes == 0);
    scene_free(&s);
}

TEST(products_work_in_the_memory_of_the_caller_and_nowhere_else)
{
    for (int i = 0; i < 3; i++)
        for (int format = 0; format < FORMATS; format++)
            for (int deterministic = 0; deterministic <= 1; deterministic++)
                if (i < 2 || format != HEDDLE_CSC) /* N of CSC on a CPU has pages, so has T of CSR */
                    work_in_a_pool(devices[i], (heddle_format)format, deterministic, 0);
}

TEST(plans_work_there_too_and_hold_no_workspace)
{
    for (int i = 0; i < 3; i++)
        work_in_a_pool(devices[i], HEDDLE_CSR, 0, 1);
}

/* Which bytes of a plan are its arrays', and which are its workspace and counters? */
TEST(a_plan_does_not_count_what_it_does_not_hold)
{
    static const char *const kernels[] = {"csr_adaptive", "csr_merge"}; /* the one has arrays and counters */
    struct scene s;
    scene_new(&s, "emu", HEDDLE_CSR, 0);
    for (int k = 0; k < 2; k++) {
        heddle_plan *own, *lent;
        heddle_plan_desc with, without;
        heddle_plan_options options = {.kernel = kernels[k], .expected_products = 1};
        int64_t before, after;
        CHECK_OK(heddle_set_workspace(s.h, NULL, HEDDLE_OWN_WORKSPACE));
        CHECK_OK(heddle_plan_create(&own, s.h, s.item[k].A, &options));
        CHECK_OK(heddle_set_workspace(s.h, NULL, 0));
        CHECK_OK(heddle_workspace_bytes(s.h, &before));
        CHECK_OK(heddle_plan_create(&lent, s.h, s.item[k].A, &options));
        CHECK_OK(heddle_plan_info(own, HEDDLE_N, &with));
        CHECK_OK(heddle_plan_info(lent, HEDDLE_N, &without));
        CHECK_OK(heddle_workspace_bytes(s.h, &after));
        const struct work *w = bound_work(own->bound[HEDDLE_N]);
        const int64_t room = work_workspace(w) + work_counters(w);
        CHECK(room > 0 && (work_counters(w) > 0) == (k == 0));
        CHECK_THAT(with.bytes - without.bytes == room && (without.bytes > 0) == (k == 0),
                   "%lld and %lld bytes", (long long)with.bytes, (long long)without.bytes);
        CHECK_THAT(after >= before && after >= room, "%lld bytes", (long long)after);
        CHECK_OK(heddle_plan_mv(own, HEDDLE_N, NULL, s.x, NULL, s.y)); /* it has its own */
        CHECK_FAILS(heddle_plan_mv(lent, HEDDLE_N, NULL, s.x, NULL, s.y), HEDDLE_NO_WORKSPACE, "bytes");
        heddle_plan_free(own);
        heddle_plan_free(lent);
    }
    scene_free(&s);
}

/* Several vectors, at once or, by a plan without a kernel for them, one after another behind a copy of
 * them in the same workspace. */
TEST(several_vectors_work_in_the_memory_of_the_caller)
{
    enum { VECTORS = 3 };
    for (int i = 0; i < 3; i++) {
        struct scene s;
        int64_t bytes, larger;
        scene_new(&s, devices[i], HEDDLE_CSR, 0);
        struct pool pool = {.device = &s.h->device};
        heddle_plan_options options = {.kernel = i < 2 ? "csr_merge" : "cpu_merge", .expected_products = 1};
        struct item *m = &s.item[2];
        const int64_t n = m->csr.rows;
        heddle_plan *plan;
        CHECK_OK(heddle_plan_create(&plan, s.h, m->A, &options));
        CHECK_OK(heddle_workspace_bytes(s.h, &bytes));
        CHECK_FAILS(heddle_reserve_mm(s.h, m->A, 64), HEDDLE_NO_WORKSPACE, "bytes");
        CHECK_OK(heddle_workspace_bytes(s.h, &larger));
        CHECK(larger >= bytes);
        larger += 4 * VECTORS * n * 8; /* for the plan, whose needs nobody asks for before */
        char *at = pool_take(&pool, larger);
        CHECK_OK(heddle_set_workspace(s.h, at, larger));
        CHECK_OK(heddle_reserve_mm(s.h, m->A, 64));
        for (int planned = 0; planned <= 1; planned++)
            for (heddle_layout layout = HEDDLE_COLUMN_MAJOR; layout <= HEDDLE_ROW_MAJOR; layout++) {
                const int64_t ld = layout == HEDDLE_ROW_MAJOR ? VECTORS : n;
                double *one = mem_alloc(n, sizeof *one), *got = mem_alloc(VECTORS * n, sizeof *got);
                CHECK_OK(planned
                             ? heddle_plan_mm(plan, HEDDLE_N, NULL, VECTORS, layout, s.x, ld, NULL, s.y, ld)
                             : heddle_mm(s.h, HEDDLE_N, NULL, m->A, VECTORS, layout, s.x, ld, NULL, s.y, ld));
                CHECK_OK(heddle_sync(s.h));
                CHECK_OK(device_read(&s.h->device, got, s.y, VECTORS * n * 8));
                for (int v = 0; v < VECTORS; v++) {
                    struct verdict verdict;
                    struct reference r;
                    for (int64_t k = 0; k < n; k++)
                        one[k] = s.x_here[layout == HEDDLE_ROW_MAJOR ? k * VECTORS + v : v * n + k];
                    CHECK_OK(reference_new(&r, &(struct equation){.A = &m->csr, .alpha = 1, .x = one}));
                    for (int64_t k = 0; k < n; k++)
                        one[k] = got[layout == HEDDLE_ROW_MAJOR ? k * VECTORS + v : v * n + k];
                    reference_judge(&verdict, &r, one);
                    CHECK_THAT(verdict.passed, "on %s, planned %d, layout %d, vector %d: %g", devices[i],
                               planned, (int)layout, v, verdict.error);
                    reference_free(&r);
                }
                mem_free(one);
                mem_free(got);
            }
        pool_give(&pool, at, larger);
        heddle_plan_free(plan);
        scene_free(&s);
    }
}

/* Coordinates have no kernel for several vectors: those that lie by rows are brought by columns, a tile of
 * them after the other, here by a block or two. */
TEST(several_vectors_one_by_one_are_heddle_mv_to_the_last_bit)
{
    enum { N = 300, K = 11, LD = K + 2 };
    static const char *const where[] = {"cpu:threads=2", "emu:wave=32,races=1", "emu:wave=64"};
    static double x[N], want[N], X[N * LD], Y[N * LD];
    for (int i = 0; i < 12; i++) {
        heddle *h;
        heddle_matrix *A, *rows;
        const int by_rows = i / 3 % 2;
        const heddle_op op = (heddle_op)(i / 6);
        CHECK_OK(heddle_open(&h, where[i % 3]));
        CHECK_OK(heddle_generate(&rows, h, "random:rows=300,cols=300,mean=5", HEDDLE_F64));
        CHECK_OK(heddle_convert(&A, h, rows, HEDDLE_COO));
        if (h->device.gpu)
            ((struct gpu_head *)h->device.gpu)->info.grid_threads = 512;
        for (int k = 0; k < N * LD; k++)
            X[k] = k % 17 - 8, Y[k] = NAN;
        CHECK_OK(heddle_mm(h, op, NULL, A, K, by_rows ? HEDDLE_ROW_MAJOR : HEDDLE_COLUMN_MAJOR, X,
                           by_rows ? LD : 0, NULL, Y, by_rows ? LD : 0));
        for (int v = 0; v < K; v++) {
            int wrong = 0;
            for (int j = 0; j < N; j++)
                x[j] = X[by_rows ? j * LD + v : v * N + j];
            CHECK_OK(heddle_mv(h, op, NULL, A, x, NULL, want));
            for (int j = 0; j < N; j++)
                wrong += Y[by_rows ? j * LD + v : v * N + j] != want[j];
            CHECK_THAT(wrong == 0, "%s, op %d, vector %d: %d numbers are wrong", where[i % 3], (int)op, v,
                       wrong);
        }
        heddle_matrix_free(A);
        heddle_matrix_free(rows);
        heddle_close(h);
    }
}

/* ---- what is refused ---- */

TEST(a_workspace_that_is_too_small_is_refused_with_the_number_of_bytes)
{
    struct scene s;
    int64_t bytes, larger;
    char text[64];
    scene_new(&s, "emu", HEDDLE_CSR, 0);
    struct pool pool = {.device = &s.h->device};
    CHECK_OK(heddle_workspace_bytes(s.h, &bytes));
    snprintf(text, sizeof text, "need %lld bytes", (long long)bytes);
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.item[0].A, s.x, NULL, s.y), HEDDLE_NO_WORKSPACE, text);
    CHECK_FAILS(heddle_reserve(s.h, s.item[0].A), HEDDLE_NO_WORKSPACE, text);
    char *at = pool_take(&pool, bytes);
    CHECK_FAILS(heddle_set_workspace(s.h, at, bytes - 64), HEDDLE_NO_WORKSPACE, text);
    CHECK_OK(heddle_set_workspace(s.h, at, bytes));
    CHECK_OK(heddle_reserve(s.h, s.item[0].A));

    CHECK_OK(heddle_set_deterministic(s.h, 1)); /* needs more, which is found when it is reserved */
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_T, NULL, s.item[0].A, s.x, NULL, s.y), HEDDLE_NO_WORKSPACE,
                "call heddle_reserve");
    CHECK_FAILS(heddle_reserve(s.h, s.item[0].A), HEDDLE_NO_WORKSPACE, "bytes");
    CHECK_OK(heddle_workspace_bytes(s.h, &larger));
    CHECK(larger > bytes);
    snprintf(text, sizeof text, "need %lld bytes", (long long)larger);
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_T, NULL, s.item[0].A, s.x, NULL, s.y), HEDDLE_NO_WORKSPACE, text);
    CHECK_OK(heddle_set_deterministic(s.h, 0)); /* others go on */
    products_are_right(&s);
    char *more = pool_take(&pool, larger);
    CHECK_OK(heddle_set_workspace(s.h, more, larger));
    CHECK_OK(heddle_set_deterministic(s.h, 1));
    CHECK_OK(heddle_reserve(s.h, s.item[0].A));
    CHECK_OK(heddle_mv(s.h, HEDDLE_T, NULL, s.item[0].A, s.x, NULL, s.y));
    pool_give(&pool, more, larger);
    pool_give(&pool, at, bytes);
    scene_free(&s);
}

TEST(memory_that_kernels_cannot_use_is_no_workspace)
{
    struct scene s;
    static _Alignas(64) char here[1 << 20];
    int64_t bytes;
    scene_new(&s, "emu", HEDDLE_CSR, 0);
    struct pool pool = {.device = &s.h->device};
    CHECK_OK(heddle_workspace_bytes(s.h, &bytes));
    char *at = pool_take(&pool, bytes + 64);
    CHECK_FAILS(heddle_set_workspace(s.h, here, sizeof here), HEDDLE_BAD_ARGUMENT,
                "not memory of the device");
    CHECK_FAILS(heddle_set_workspace(s.h, at, bytes + (1 << 30)), HEDDLE_BAD_ARGUMENT, "not memory of the");
    CHECK_FAILS(heddle_set_workspace(s.h, at + 8, bytes), HEDDLE_BAD_ARGUMENT, "aligned to 64");
    CHECK_FAILS(heddle_set_workspace(s.h, at, 0), HEDDLE_BAD_ARGUMENT, "of 0 bytes");
    CHECK_FAILS(heddle_set_workspace(s.h, NULL, 64), HEDDLE_BAD_ARGUMENT, "of 64 bytes");
    CHECK_FAILS(heddle_set_workspace(s.h, NULL, -2), HEDDLE_BAD_ARGUMENT, "of -2 bytes");
    CHECK_FAILS(heddle_set_workspace(NULL, at, bytes), HEDDLE_BAD_ARGUMENT, "NULL");
    CHECK_FAILS(heddle_workspace_bytes(s.h, NULL), HEDDLE_BAD_ARGUMENT, "bytes is NULL");
    CHECK_OK(heddle_set_workspace(s.h, at, bytes));
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.item[1].A, s.x_here, NULL, s.y), HEDDLE_NO_WORKSPACE,
                "vectors of the host");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.item[1].A, s.x, NULL, s.y_here), HEDDLE_NO_WORKSPACE,
                "vectors of the host");
    CHECK_OK(heddle_set_workspace(s.h, NULL, HEDDLE_OWN_WORKSPACE));
    CHECK_OK(heddle_reserve(s.h, s.item[1].A));
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.item[1].A, s.x_here, NULL, s.y_here));
    pool_give(&pool, at, bytes + 64);
    scene_free(&s);
}

/* ---- seen from the driver ---- */

/* Another handle multiplies with matrices that are there, and the driver gives it no memory at all. */
TEST(a_handle_with_a_workspace_of_the_caller_takes_no_memory)
{
    const struct fake_vendor *v = &fake_vendors[0];
    struct scene s;
    heddle *h, *usual;
    int64_t bytes;
    fake_use(v, "", v->file);
    fake_script(v, NULL, NULL);
    fake_modules();
    scene_new(&s, "cuda:0", HEDDLE_CSR, 0);
    struct fake_state *state = fake_state_of(v);
    CHECK_OK(heddle_open(&usual, "cuda:0"));
    int64_t before = state->memory;
    CHECK_OK(heddle_reserve(usual, s.item[0].A));
    CHECK_THAT(state->memory > before, "a usual handle takes memory");
    CHECK_OK(heddle_open(&h, "cuda:0"));
    CHECK_OK(heddle_set_workspace(h, NULL, 0));
    before = state->memory;
    for (int i = 0; i < MATRICES; i++)
        CHECK_FAILS(heddle_reserve(h, s.item[i].A), HEDDLE_NO_WORKSPACE, "bytes");
    CHECK_OK(heddle_workspace_bytes(h, &bytes));
    CHECK(state->memory == before);
    struct pool pool = {.device = &h->device};
    char *at = pool_take(&pool, bytes);
    setenv("FAKE_CAPTURING", "1", 1);
    CHECK_FAILS(heddle_set_workspace(h, at, bytes), HEDDLE_BAD_ARGUMENT, "must not be captured");
    unsetenv("FAKE_CAPTURING");
    fake_script(v, v->alloc, "=2"); /* from here on there is none */
    CHECK_OK(heddle_set_workspace(h, at, bytes));
    for (int i = 0; i < 2 * MATRICES; i++) {
        CHECK_OK(heddle_reserve(h, s.item[i / 2].A));
        CHECK_OK(heddle_mv(h, i % 2 ? HEDDLE_T : HEDDLE_N, NULL, s.item[i / 2].A, s.x, NULL, s.y));
    }
    fake_script(v, NULL, NULL);
    CHECK(state->memory == before + 1 && pool.pieces == 1);
    heddle_close(h);
    CHECK(state->memory == before + 1); /* the pool's own */
    pool.device = &s.h->device;
    pool_give(&pool, at, bytes);
    heddle_close(usual);
    scene_free(&s);
    CHECK(state->memory == 0);
    unsetenv("HEDDLE_MODULE_DIR");
    unsetenv(v->variable);
}
