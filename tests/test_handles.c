/* SPDX-License-Identifier: MIT
 *
 * What heddle.h says about handles: one thread at a time, and what a second one is told. */
#include <pthread.h>
#include <string.h>

#include "api/api.h"
#include "base/timer.h"
#include "fakes/use.h"
#include "gen/gen.h"
#include "subject/subject.h"

/* A handle, a matrix of small integers, whose sums are exact in any order, and a plan. */
struct scene {
    heddle *h;
    struct csr csr;
    heddle_matrix *A;
    heddle_plan *plan;
    double *x, *y, *right[2];
};

static void scene_new(struct scene *s, const char *device, const char *family)
{
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 1};
    *s = (struct scene){0};
    CHECK_OK(gen_matrix(&s->csr, family, HEDDLE_F64));
    for (int64_t k = 0; k < s->csr.nnz; k++)
        ((double *)s->csr.val)[k] = (double)(k % 5 - 2);
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    CHECK_OK(heddle_plan_create(&s->plan, s->h, s->A, &options));
    int64_t n = s->csr.rows > s->csr.cols ? s->csr.rows : s->csr.cols;
    s->x = calloc((size_t)n, sizeof(double));
    s->y = calloc((size_t)n, sizeof(double));
    for (int64_t i = 0; i < n; i++)
        s->x[i] = (double)(i % 7 - 3);
    for (int op = 0; op < 2; op++) {
        s->right[op] = calloc((size_t)n, sizeof(double));
        CHECK_OK(heddle_mv(s->h, (heddle_op)op, NULL, s->A, s->x, NULL, s->right[op]));
    }
}

static void scene_free(struct scene *s)
{
    heddle_plan_free(s->plan);
    heddle_matrix_free(s->A);
    heddle_close(s->h);
    csr_free(&s->csr);
    free(s->x);
    free(s->y);
    free(s->right[0]);
    free(s->right[1]);
}

#define REFUSED(call) CHECK_FAILS(call, HEDDLE_BAD_ARGUMENT, "another thread")

TEST(every_function_refuses_a_handle_that_is_in_use)
{
    struct scene s;
    heddle_stats stats;
    heddle_plan_desc plan_desc;
    int64_t bytes;
    scene_new(&s, "cpu", "grid2d:n=10");
    const heddle_matrix *const nobody = (const heddle_matrix *)(uintptr_t)8;
    heddle_matrix *B = (heddle_matrix *)(uintptr_t)nobody;
    heddle_plan *plan = (heddle_plan *)(uintptr_t)8;
    const heddle_csr_desc csr = {.rows = 100,
                                 .cols = 100,
                                 .nnz = s.csr.nnz,
                                 .row_ptr = s.csr.row_ptr,
                                 .col = s.csr.col,
                                 .val = s.csr.val};
    const heddle_csc_desc csc = {.rows = 100,
                                 .cols = 100,
                                 .nnz = s.csr.nnz,
                                 .col_ptr = s.csr.row_ptr,
                                 .row = s.csr.col,
                                 .val = s.csr.val};
    const heddle_coo_desc coo = {
        .rows = 100, .cols = 100, .nnz = 1, .row = s.csr.col, .col = s.csr.col, .val = s.csr.val};
    s.y[0] = 17;
    CHECK_OK(handle_take(s.h)); /* as a call of another thread does */
    REFUSED(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, NULL, s.y));
    REFUSED(heddle_plan_mv(s.plan, HEDDLE_T, NULL, s.x, NULL, s.y));
    CHECK(s.y[0] == 17);
    REFUSED(heddle_plan_update_values(s.plan, s.csr.val));
    REFUSED(heddle_plan_info(s.plan, HEDDLE_N, &plan_desc));
    REFUSED(heddle_plan_create(&plan, s.h, s.A, NULL));
    CHECK(!plan);
#define MAKES_NOTHING(call) CHECK((REFUSED(call), !B)), B = (heddle_matrix *)(uintptr_t)nobody
    MAKES_NOTHING(heddle_csr(&B, s.h, &csr));
    MAKES_NOTHING(heddle_csc(&B, s.h, &csc));
    MAKES_NOTHING(heddle_coo(&B, s.h, &coo));
    MAKES_NOTHING(heddle_convert(&B, s.h, s.A, HEDDLE_CSC));
    MAKES_NOTHING(heddle_read(&B, s.h, "/nowhere.mtx", NULL));
    MAKES_NOTHING(heddle_generate(&B, s.h, "grid2d:n=3", HEDDLE_F64));
    REFUSED(heddle_write(s.h, s.A, test_path("a.mtx")));
    REFUSED(heddle_reserve(s.h, s.A));
    REFUSED(heddle_update_values(s.h, (heddle_matrix *)(uintptr_t)s.A, s.csr.val));
    REFUSED(heddle_check(s.h, s.A));
    REFUSED(heddle_statistics(s.h, s.A, &stats));
    REFUSED(heddle_format_bytes(s.h, s.A, "ell", &bytes));
    REFUSED(heddle_sync(s.h));
    REFUSED(heddle_set_stream(s.h, NULL));
    REFUSED(heddle_set_debug(s.h, 1));
    REFUSED(heddle_set_deterministic(s.h, 1));
    REFUSED(heddle_set_scalars(s.h, HEDDLE_ON_DEVICE));
    REFUSED(heddle_set_workspace(s.h, NULL, 0));
    REFUSED(heddle_workspace_bytes(s.h, &bytes));
    handle_give(s.h);
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, NULL, s.y));
    CHECK(s.y[0] == s.right[0][0]);
    scene_free(&s);
}

/* What threads of a handle met, each on its own. */
struct visitor {
    pthread_t thread;
    struct scene *scene;
    double until;
    int planned, good, refused, wrong, other;
};

static void *visit(void *argument)
{
    struct visitor *v = argument;
    struct scene *s = v->scene;
    size_t bytes = (size_t)s->csr.rows * sizeof(double);
    double *y = calloc(1, bytes), *before = calloc(1, bytes);
    for (int i = 0; now_ms() < v->until; i++) {
        heddle_op op = (heddle_op)(i % 2);
        memset(y, i % 100, bytes);
        memcpy(before, y, bytes);
        heddle_status status = v->planned ? heddle_plan_mv(s->plan, op, NULL, s->x, NULL, y)
                                          : heddle_mv(s->h, op, NULL, s->A, s->x, NULL, y);
        v->good += status == HEDDLE_OK;
        v->refused += status == HEDDLE_BAD_ARGUMENT && strstr(heddle_last_error(), "another thread");
        v->wrong += memcmp(y, status == HEDDLE_OK ? s->right[op] : before, bytes) != 0;
        v->other += status != HEDDLE_OK && status != HEDDLE_BAD_ARGUMENT;
    }
    free(y);
    free(before);
    return NULL;
}

/* Four threads on one handle: what is called good is right, and the others' y is as it was.  On a machine
 * that is busy they may take turns for a while without meeting: the test goes on until they have. */
static void share_a_handle(const char *device, const char *family, int planned)
{
    struct scene s;
    struct visitor v[4], all = {0};
    scene_new(&s, device, family);
    for (int round = 0; round < 100 && (all.refused == 0 || round < 2); round++) {
        for (int i = 0; i < 4; i++) {
            v[i] = (struct visitor){.scene = &s, .until = now_ms() + 100, .planned = planned};
            pthread_create(&v[i].thread, NULL, visit, &v[i]);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(v[i].thread, NULL);
            all.good += v[i].good, all.refused += v[i].refused, all.wrong += v[i].wrong,
                all.other += v[i].other;
        }
    }
    CHECK_THAT(all.wrong == 0 && all.other == 0 && all.good > 0 && all.refused > 0,
               "%s: %d good, %d refused, %d wrong, %d else", device, all.good, all.refused, all.wrong,
               all.other);
    scene_free(&s);
}

TEST(threads_that_share_a_handle_get_right_numbers_or_an_error)
{
    share_a_handle("cpu:threads=2", "grid3d:n=30", 0);
    share_a_handle("cpu:threads=2", "grid3d:n=30", 1);
}

#ifndef __SANITIZE_THREAD__
TEST(threads_that_share_a_handle_of_the_emulator_do_so_too)
{
    share_a_handle("emu", "grid2d:n=30", 0);
    share_a_handle("emu", "grid2d:n=30", 1);
}
#endif

/* -------------------------------------------------------- the text of the last error ---------- */

static void *text_after_success(void *device)
{
    struct scene s;
    heddle_device_desc desc;
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 100000};
    heddle_plan *plan;
    heddle *h;
    CHECK_OK(heddle_open(&h, "auto"));
    heddle_close(h);
    CHECK_THAT(heddle_last_error()[0] == 0, "heddle_open leaves '%s'", heddle_last_error());
    for (int i = 0; i < heddle_device_count(); i++)
        CHECK_OK(heddle_device_info(i, &desc));
    CHECK_THAT(heddle_last_error()[0] == 0, "heddle_device_info leaves '%s'", heddle_last_error());
    scene_new(&s, device, "grid2d:n=20");
    CHECK_THAT(heddle_last_error()[0] == 0, "a small plan leaves '%s'", heddle_last_error());
    CHECK_OK(heddle_plan_create(&plan, s.h, s.A, &options));
    CHECK_THAT(heddle_last_error()[0] == 0, "a plan leaves '%s'", heddle_last_error());
    heddle_plan_free(plan);
    CHECK_FAILS(heddle_check(s.h, NULL), HEDDLE_BAD_ARGUMENT, "the matrix is NULL");
    CHECK_OK(heddle_plan_create(&plan, s.h, s.A, &options));
    CHECK_THAT(strcmp(heddle_last_error(), "the matrix is NULL") == 0, "what failed before has become '%s'",
               heddle_last_error());
    heddle_plan_free(plan);
    scene_free(&s);
    return NULL;
}

/* In threads of their own, in which nothing has failed before. */
TEST(what_a_plan_tries_and_gives_up_leaves_no_text)
{
    static const char *const devices[] = {"cpu",
#ifndef __SANITIZE_THREAD__
                                          "emu"
#endif
    };
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, text_after_success, (void *)(uintptr_t)devices[i]);
        pthread_join(thread, NULL);
    }
}
