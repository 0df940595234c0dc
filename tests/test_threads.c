/* SPDX-License-Identifier: MIT
 *
 * A matrix may be shared by many handles and threads: many threads, each with a handle of its own, do
 * everything that heddle.h offers with the same matrices, on every kind of device.  With
 * HEDDLE_SLOW_TESTS=1 for a minute a device. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "base/timer.h"
#include "fakes/use.h"
#include "gen/gen.h"
#include "subject/subject.h"

#define THREADS 24
#define SIDE 20 /* of the grid that the matrices are of */
#define ROWS (SIDE * SIDE)

/* The matrices, all the same but for the format, and what every product with them must give.  Values and x
 * are small integers, whose sums are exact in any order. */
struct site {
    const char *device;
    int computes; /* 0: a driver without a device, on which only statuses mean anything */
    double until;
    struct csr csr;
    heddle_matrix *A[3]; /* CSR, CSC, COO */
    double x[ROWS], right[2][ROWS];
};

struct visitor {
    pthread_t thread;
    struct site *site;
    heddle *h; /* its own; the first one's is the one that made the matrices */
    int number, rounds;
    char problem[512]; /* the first; "" while all is well */
};

static void complain(struct visitor *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!v->problem[0])
        vsnprintf(v->problem, sizeof v->problem, format, args);
    va_end(args);
}

#define GOOD(call)                                                                                           \
    do {                                                                                                     \
        heddle_status got = (call);                                                                          \
        if (got != HEDDLE_OK)                                                                                \
            complain(v, "%s: %s (%s)", #call, heddle_status_name(got), heddle_last_error());                 \
    } while (0)

static void look_at(struct visitor *v, const double *y, heddle_op op, const char *what)
{
    if (v->site->computes && memcmp(y, v->site->right[op], sizeof v->site->right[op]) != 0)
        complain(v, "%s: a wrong product", what);
}

static void multiply_all(struct visitor *v, const heddle_matrix *A, const char *what)
{
    double y[ROWS];
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
        memset(y, 0xff, sizeof y);
        GOOD(heddle_mv(v->h, op, NULL, A, v->site->x, NULL, y));
        look_at(v, y, op, what);
    }
}

static void inspect(struct visitor *v, const heddle_matrix *A)
{
    heddle_matrix_desc desc;
    heddle_stats stats;
    heddle_device_desc device;
    int64_t bytes;
    GOOD(heddle_check(v->h, A));
    GOOD(heddle_matrix_info(A, &desc));
    GOOD(heddle_statistics(v->h, A, &stats));
    GOOD(heddle_format_bytes(v->h, A, "sell", &bytes));
    for (int i = 0; i < heddle_device_count(); i++)
        GOOD(heddle_device_info(i, &device));
    if (desc.nnz != v->site->csr.nnz || stats.nnz != desc.nnz || stats.row.longest > 5)
        complain(v, "a wrong description");
}

static void plan(struct visitor *v, const heddle_matrix *A)
{
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T,
                                   .expected_products = v->site->computes && v->rounds % 4 == 0 ? 20 : 1};
    heddle_plan_desc desc;
    heddle_plan *p = NULL;
    double y[ROWS];
    GOOD(heddle_plan_create(&p, v->h, A, &options));
    for (heddle_op op = HEDDLE_N; p && op <= HEDDLE_T; op++) {
        GOOD(heddle_plan_mv(p, op, NULL, v->site->x, NULL, y));
        look_at(v, y, op, "a plan");
        GOOD(heddle_plan_info(p, op, &desc));
    }
    if (p && A == v->site->A[0]) {
        GOOD(heddle_plan_update_values(p, v->site->csr.val));
        GOOD(heddle_plan_mv(p, HEDDLE_T, NULL, v->site->x, NULL, y));
        look_at(v, y, HEDDLE_T, "a plan with new values");
    }
    heddle_plan_free(p);
}

static void make(struct visitor *v, const heddle_matrix *A)
{
    heddle_matrix *B = NULL;
    char path[600];
    GOOD(heddle_convert(&B, v->h, A, (heddle_format)(v->rounds % 3)));
    multiply_all(v, B, "a converted matrix");
    heddle_matrix_free(B);
    GOOD(matrix_of(&B, v->h, &v->site->csr));
    multiply_all(v, B, "a matrix of its own");
    heddle_matrix_free(B);
    GOOD(heddle_generate(&B, v->h, "grid2d:n=9", HEDDLE_F32));
    heddle_matrix_free(B);
    if (v->rounds % 4 == 0) {
        snprintf(path, sizeof path, "%s/%d.mtx", getenv("TEST_FOLDER"), v->number);
        GOOD(heddle_write(v->h, A, path));
        GOOD(heddle_read(&B, v->h, path, NULL));
        multiply_all(v, B, "a matrix that was read");
        heddle_matrix_free(B);
    }
}

static void set(struct visitor *v)
{
    static char streams[THREADS][2]; /* what a driver without a device takes for one */
    if (strcmp(v->site->device, "cuda:0") == 0)
        GOOD(heddle_set_stream(v->h, &streams[v->number][v->rounds % 2]));
    GOOD(heddle_set_debug(v->h, v->rounds % 5 == 0));
    GOOD(heddle_set_deterministic(v->h, v->rounds % 3 == 0));
    GOOD(heddle_sync(v->h));
}

static void *visit(void *argument)
{
    struct visitor *v = argument;
    struct site *s = v->site;
    for (; now_ms() < s->until && !v->problem[0]; v->rounds++) {
        const heddle_matrix *A = s->A[(v->number + v->rounds) % 3];
        if (v->number > 0 && !v->h)
            GOOD(heddle_open(&v->h, s->device));
        set(v);
        GOOD(heddle_reserve(v->h, A));
        multiply_all(v, A, "the shared matrix");
        inspect(v, A);
        plan(v, A);
        make(v, A);
        if (v->number > 0 && v->rounds % 8 == 7) {
            heddle_close(v->h);
            v->h = NULL;
        }
    }
    if (v->number > 0)
        heddle_close(v->h);
    return NULL;
}

static void site_new(struct site *s, heddle **h)
{
    CHECK_OK(gen_matrix(&s->csr, "grid2d:n=20", HEDDLE_F64));
    for (int64_t k = 0; k < s->csr.nnz; k++)
        ((double *)s->csr.val)[k] = (double)(k % 5 - 2);
    for (int i = 0; i < ROWS; i++)
        s->x[i] = (double)(i % 7 - 3);
    for (int i = 0; i < ROWS; i++)
        for (int64_t k = csr_offset(&s->csr, i); k < csr_offset(&s->csr, i + 1); k++) {
            s->right[0][i] += ((double *)s->csr.val)[k] * s->x[s->csr.col[k]];
            s->right[1][s->csr.col[k]] += ((double *)s->csr.val)[k] * s->x[i];
        }
    CHECK_OK(heddle_open(h, s->device));
    CHECK_OK(matrix_of(&s->A[0], *h, &s->csr));
}

/* By conversions, which look at the first. */
static void make_others(struct site *s, heddle *h)
{
    CHECK_OK(heddle_convert(&s->A[1], h, s->A[0], HEDDLE_CSC));
    CHECK_OK(heddle_convert(&s->A[2], h, s->A[0], HEDDLE_COO));
}

static void site_free(struct site *s)
{
    for (int i = 0; i < 3; i++)
        heddle_matrix_free(s->A[i]);
    csr_free(&s->csr);
}

static void share_matrices(const char *device, int computes)
{
    static struct visitor v[THREADS];
    struct site s = {.device = device, .computes = computes};
    heddle *h = NULL;
    int rounds = 0;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_path("x"));
    *strrchr(folder, '/') = 0;
    setenv("TEST_FOLDER", folder, 1);
    site_new(&s, &h);
    make_others(&s, h);
    s.until = now_ms() + (getenv("HEDDLE_SLOW_TESTS") ? 60000 : 2000);
    for (int i = 0; i < THREADS; i++) {
        v[i] = (struct visitor){.site = &s, .number = i, .h = i == 0 ? h : NULL};
        pthread_create(&v[i].thread, NULL, visit, &v[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(v[i].thread, NULL);
        CHECK_THAT(!v[i].problem[0], "%s, thread %d, round %d: %s", device, i, v[i].rounds, v[i].problem);
        rounds += v[i].rounds;
    }
    if (getenv("HEDDLE_SLOW_TESTS"))
        printf("%s: %d rounds of all calls by %d threads\n", device, rounds, THREADS);
    site_free(&s);
    heddle_close(h);
}

/* -------------------------------------------------------- the first use ----------------------- */

/* All at once ask for kernels that the device of the matrix has not loaded yet: by handles of their own,
 * and by those of another device, which have none for it. */
struct first_use {
    pthread_t thread;
    heddle *h;
    const heddle_matrix *A;
    pthread_barrier_t *start;
    heddle_status status;
};

static void *use_first(void *argument)
{
    struct first_use *u = argument;
    heddle_stats stats;
    pthread_barrier_wait(u->start);
    u->status = heddle_check(u->h, u->A);
    if (u->status == HEDDLE_OK)
        u->status = heddle_statistics(u->h, u->A, &stats);
    return NULL;
}

static void meet_at_the_first_use(const char *device)
{
    static struct first_use u[THREADS];
    double until = now_ms() + 1000;
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(heddle_open(&u[i].h, i % 2 ? "cpu:threads=1" : device));
    while (now_ms() < until) {
        struct site s = {.device = device};
        heddle *h;
        site_new(&s, &h);
        for (int i = 0; i < THREADS; i++) {
            u[i].A = s.A[0];
            u[i].start = &start;
            pthread_create(&u[i].thread, NULL, use_first, &u[i]);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(u[i].thread, NULL);
            CHECK_THAT(u[i].status == HEDDLE_OK, "%s, thread %d: %s", device, i,
                       heddle_status_name(u[i].status));
        }
        site_free(&s);
        heddle_close(h);
    }
    for (int i = 0; i < THREADS; i++)
        heddle_close(u[i].h);
    pthread_barrier_destroy(&start);
}

TEST(threads_share_matrices_on_the_cpu)
{
    share_matrices("cpu:threads=2", 1);
}

#ifndef __SANITIZE_THREAD__ /* which does not look at the emulator: it switches stacks */
TEST(threads_share_matrices_on_the_emulator)
{
    meet_at_the_first_use("emu:threads=2");
    share_matrices("emu:threads=2", 1);
}
#endif

/* No kernel runs there, but everything that the host does for one. */
TEST(threads_share_matrices_on_a_gpu)
{
    const struct fake_vendor *v = &fake_vendors[0];
    fake_use(v, "", v->file);
    fake_script(v, NULL, NULL);
    fake_modules();
    setenv("FAKE_LOADING", "200", 1);
    meet_at_the_first_use("cuda:0");
    unsetenv("FAKE_LOADING");
    share_matrices("cuda:0", 0);
    const struct fake_state *s = fake_state_of(v);
    CHECK_THAT(s->memory == 0 && s->modules == 0 && s->contexts == 0 && s->graphs == 0 && s->events == 0,
               "%d allocations, %d modules, %d contexts, %d graphs, %d events are left", (int)s->memory,
               (int)s->modules, (int)s->contexts, (int)s->graphs, (int)s->events);
    unsetenv("HEDDLE_MODULE_DIR");
    unsetenv(v->variable);
    unsetenv("FAKE_FAIL");
}
