/* SPDX-License-Identifier: MIT
 *
 * What a product asks of a GPU's driver, seen from a driver without a device: launches, and nothing that
 * would wait, allocate or spoil a capture.  test_cuda.c captures for real. */
#include <math.h>

#include "api/api.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "convert/service.h"
#include "fakes/use.h"

/* A handle, a matrix, a plan, and vectors on a device that is not there. */
struct scene {
    const struct fake_vendor *v;
    heddle *h;
    heddle_matrix *A;
    heddle_plan *plan;
    void *x, *y;
    struct csr csr;
};

#define VECTORS 40 /* at once, at most */

static void scene_new(struct scene *s)
{
    *s = (struct scene){.v = &fake_vendors[0]};
    fake_use(s->v, "", s->v->file);
    fake_script(s->v, NULL, NULL);
    fake_modules();
    heddle_plan_options options = {
        .ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 1, .memory_limit = -1};
    CHECK_OK(gen_matrix(&s->csr, "grid2d:n=20", HEDDLE_F64));
    CHECK_OK(heddle_open(&s->h, "cuda:0"));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    CHECK_OK(heddle_plan_create(&s->plan, s->h, s->A, &options));
    CHECK_OK(heddle_set_deterministic(s->h, 1));
    CHECK_OK(heddle_reserve_mm(s->h, s->A, VECTORS));
    CHECK_OK(heddle_set_deterministic(s->h, 0));
    CHECK_OK(heddle_reserve_mm(s->h, s->A, VECTORS));
    CHECK_OK(device_alloc(&s->h->device, &s->x, 400 * 8 * VECTORS));
    CHECK_OK(device_alloc(&s->h->device, &s->y, 400 * 8 * VECTORS));
}

static void scene_free(struct scene *s)
{
    device_free(&s->h->device, s->x);
    device_free(&s->h->device, s->y);
    heddle_plan_free(s->plan);
    heddle_matrix_free(s->A);
    heddle_close(s->h);
    csr_free(&s->csr);
    struct fake_state *state = fake_state_of(s->v);
    CHECK(state->memory == 0 && state->modules == 0 && state->contexts == 0 && state->depth == 0 &&
          state->graphs == 0);
    unsetenv("HEDDLE_MODULE_DIR");
    unsetenv(s->v->variable);
    unsetenv("FAKE_FAIL");
}

/* A matrix whose arrays lie on the device, where nobody reads them. */
static heddle_status matrix_with(heddle_matrix **A, const struct scene *s, int64_t nnz)
{
    return heddle_csr(A, s->h,
                      &(heddle_csr_desc){.rows = s->csr.rows,
                                         .cols = s->csr.cols,
                                         .nnz = nnz,
                                         .row_ptr = s->x,
                                         .col = s->x,
                                         .val = s->x,
                                         .where = HEDDLE_ON_DEVICE});
}

static heddle_status matrix_there(heddle_matrix **A, const struct scene *s)
{
    return matrix_with(A, s, s->csr.nnz);
}

/* It has the memory of the one before, until products may go on in several streams at once.  (Before all
 * tests that set a stream.) */
TEST(a_matrix_after_another_is_created_without_allocating_copying_or_releasing)
{
    struct scene s;
    heddle_matrix *A;
    int stream;
    scene_new(&s);
    CHECK_OK(matrix_there(&A, &s));
    static const char *const symbols[] = {"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemcpyAsync",
                                          "cuMemsetD8Async"};
    const int64_t memory = fake_state_of(s.v)->memory;
    heddle_matrix_free(A);
    CHECK(fake_state_of(s.v)->memory == memory);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        fake_script(s.v, symbols[i], "=2");
        const int launches = fake_state_of(s.v)->launch.count;
        CHECK_OK(matrix_there(&A, &s));
        CHECK(fake_state_of(s.v)->launch.count == launches + 2);
        heddle_matrix_free(A);
    }
    fake_script(s.v, "cuMemAlloc_v2", "=2");
    CHECK_OK(heddle_set_stream(s.h, &stream));
    CHECK_FAILS(matrix_there(&A, &s), HEDDLE_NO_MEMORY, "cuMemAlloc");
    fake_script(s.v, NULL, NULL);
    CHECK_OK(matrix_there(&A, &s));
    heddle_matrix_free(A);
    CHECK(fake_state_of(s.v)->memory == memory);
    scene_free(&s);
}

/* More than four for each of 2048 threads on 132 multiprocessors. */
TEST(a_product_with_many_entries_is_launched_without_a_graph)
{
    static const int64_t most = INT64_C(4) * 2048 * 132;
    for (int more = 0; more < 2; more++) {
        struct scene s;
        heddle_matrix *A;
        scene_new(&s);
        const struct fake_state *state = fake_state_of(s.v);
        int in_graphs = state->launch.in_graphs;
        CHECK_OK(matrix_with(&A, &s, most + more));
        CHECK_THAT(state->launch.in_graphs == in_graphs + 2, "the look has %d launches in graphs",
                   state->launch.in_graphs - in_graphs);
        for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
            const int count = state->launch.count;
            in_graphs = state->launch.in_graphs;
            CHECK_OK(heddle_mv(s.h, op, NULL, A, s.x, NULL, s.y));
            CHECK(state->launch.count > count);
            CHECK_THAT(state->launch.in_graphs - in_graphs == (more ? 0 : state->launch.count - count),
                       "%d of %d", state->launch.in_graphs - in_graphs, state->launch.count - count);
        }
        heddle_matrix_free(A);
        scene_free(&s);
    }
}

/* With several vectors, for which the handle is ready. */
static void products_many(struct scene *s, heddle_op op)
{
    const double zero = 0, two = 2;
    for (int i = 0; i < 8; i++) {
        const heddle_layout layout = (heddle_layout)(i % 2);
        const int64_t k = i / 2 ? VECTORS >> i / 2 : VECTORS;
        CHECK_OK(heddle_mm(s->h, op, &two, s->A, k, layout, s->x, 0, i < 4 ? &two : NULL, s->y, 0));
        CHECK_OK(heddle_mm(s->h, op, &zero, s->A, k, layout, s->x, 0, &two, s->y, 0));
        CHECK_OK(heddle_set_deterministic(s->h, 1));
        CHECK_OK(heddle_mm(s->h, op, &two, s->A, k, layout, s->x, 0, &two, s->y, 0));
        CHECK_OK(heddle_set_deterministic(s->h, 0));
        CHECK_OK(heddle_plan_mm(s->plan, op, NULL, k, layout, s->x, 0, NULL, s->y, 0));
        CHECK_OK(heddle_set_scalars(s->h, HEDDLE_ON_DEVICE));
        CHECK_OK(heddle_mm(s->h, op, s->x, s->A, k, layout, s->x, 0, s->x, s->y, 0));
        CHECK_OK(heddle_set_scalars(s->h, HEDDLE_ON_HOST));
    }
}

/* Every kind of product that can stand in a graph; how many launches that was. */
static int products(struct scene *s)
{
    const double zero = 0, two = 2;
    int before = fake_state_of(s->v)->launch.count;
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
        CHECK_OK(heddle_mv(s->h, op, NULL, s->A, s->x, NULL, s->y));
        CHECK_OK(heddle_mv(s->h, op, &two, s->A, s->x, &two, s->y));
        CHECK_OK(heddle_mv(s->h, op, &zero, s->A, s->x, &two, s->y));
        CHECK_OK(heddle_set_deterministic(s->h, 1));
        CHECK_OK(heddle_mv(s->h, op, &two, s->A, s->x, &two, s->y));
        CHECK_OK(heddle_set_deterministic(s->h, 0));
        CHECK_OK(heddle_plan_mv(s->plan, op, NULL, s->x, NULL, s->y));
        CHECK_OK(heddle_plan_mv(s->plan, op, &zero, s->x, &two, s->y));
        CHECK_OK(heddle_set_scalars(s->h, HEDDLE_ON_DEVICE)); /* any memory there will do */
        CHECK_OK(heddle_mv(s->h, op, s->x, s->A, s->x, s->x, s->y));
        CHECK_OK(heddle_plan_mv(s->plan, op, s->x, s->x, NULL, s->y));
        CHECK_OK(heddle_set_scalars(s->h, HEDDLE_ON_HOST));
        products_many(s, op);
    }
    return fake_state_of(s->v)->launch.count - before;
}

static int is_allowed(const char *symbol)
{
    return strcmp(symbol, "cuLaunchKernel") == 0 || strcmp(symbol, "cuPointerGetAttributes") == 0;
}

TEST(a_product_calls_nothing_that_spoils_a_capture)
{
    static const char *const symbols[] = {
#define CALL(member, arguments, cuda, hip) #cuda,
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
        "cuDevicePrimaryCtxRetain", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuGraphCreate",
        "cuGraphLaunch"};
    struct scene s;
    scene_new(&s);
    fake_script(s.v, "cuGraphCreate", "=2"); /* graphs were made before */
    int launches = products(&s), in_graphs = fake_state_of(s.v)->launch.in_graphs;
    CHECK_THAT(in_graphs >= launches, "%d of %d launches", in_graphs, launches);
    setenv("FAKE_CAPTURING", "1", 1);
    CHECK_THAT(launches >= 10, "%d", launches);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (!is_allowed(symbols[i])) {
            fake_script(s.v, symbols[i], "=900");
            CHECK_THAT(products(&s) == launches, "with %s", symbols[i]);
        }
    CHECK(fake_state_of(s.v)->launch.in_graphs == in_graphs);
    unsetenv("FAKE_CAPTURING");
    fake_script(s.v, NULL, NULL);
    scene_free(&s);
}

TEST(a_capture_that_would_allocate_is_refused_until_the_handle_is_ready)
{
    struct scene s;
    int stream;
    scene_new(&s);
    CHECK_OK(heddle_set_stream(s.h, &stream));
    setenv("FAKE_CAPTURING", "1", 1);
    s.h->many = 0; /* as a handle that has never met several vectors */
    CHECK_FAILS(heddle_mm(s.h, HEDDLE_N, NULL, s.A, 3, HEDDLE_ROW_MAJOR, s.x, 0, NULL, s.y, 0),
                HEDDLE_NO_WORKSPACE, "heddle_reserve_mm");
    unsetenv("FAKE_CAPTURING");
    CHECK_OK(heddle_mm(s.h, HEDDLE_N, NULL, s.A, 3, HEDDLE_ROW_MAJOR, s.x, 0, NULL, s.y, 0));
    setenv("FAKE_CAPTURING", "1", 1);
    CHECK_OK(heddle_mm(s.h, HEDDLE_N, NULL, s.A, 3, HEDDLE_ROW_MAJOR, s.x, 0, NULL, s.y, 0));
    unsetenv("FAKE_CAPTURING");
    scene_free(&s);
}

TEST(a_product_goes_to_the_stream_of_its_handle)
{
    struct scene s;
    int stream[2];
    scene_new(&s);
    for (int i = 0; i < 2; i++) { /* the plan was made before the first of them was known */
        CHECK_OK(heddle_set_stream(s.h, &stream[i]));
        CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, NULL, s.y));
        CHECK(fake_state_of(s.v)->launch.stream == &stream[i]);
        fake_state_of(s.v)->launch.stream = NULL;
        CHECK_OK(heddle_plan_mv(s.plan, HEDDLE_T, NULL, s.x, NULL, s.y));
        CHECK(fake_state_of(s.v)->launch.stream == &stream[i]);
    }
    scene_free(&s);
}

TEST(a_product_switches_to_the_device_once)
{
    struct scene s;
    scene_new(&s);
    int64_t before = fake_state_of(s.v)->switches;
    /* looks at two pointers and launches two kernels */
    CHECK_OK(heddle_mv(s.h, HEDDLE_T, NULL, s.A, s.x, NULL, s.y));
    CHECK(fake_state_of(s.v)->switches == before + 1);
    scene_free(&s);
}

TEST(a_kernel_that_is_not_there_is_not_launched)
{
    struct scene s;
    scene_new(&s);
    setenv("HEDDLE_MODULE_DIR", "/nowhere", 1);
    const int launches = fake_state_of(s.v)->launch.count;
    CHECK_FAILS(gpu_read_all(&s.h->device, s.x, 8), HEDDLE_NO_KERNEL, "/nowhere/read_all__");
    CHECK(fake_state_of(s.v)->launch.count == launches);
    fake_modules();
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.x, NULL, s.y));
    scene_free(&s);
}

/* Host vectors are copied and waited for, which a capture refuses: the caller is told, and the handle goes
 * on. */
TEST(vectors_of_the_host_cannot_be_captured)
{
    struct scene s;
    double x[400] = {0};
    scene_new(&s);
    fake_script(s.v, "cuMemcpyAsync", "=900");
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.A, x, NULL, s.y), HEDDLE_BAD_ARGUMENT,
                "while the stream is being captured");
    fake_script(s.v, NULL, NULL);
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, x, NULL, s.y));
    scene_free(&s);
}

static heddle_status note_run(void *argument, const struct run *r)
{
    *(struct run *)argument = *r;
    return HEDDLE_OK;
}

TEST(a_run_on_a_gpu_has_the_time_of_a_call_beside_that_of_a_bare_launch)
{
    struct scene s;
    struct run noted = {0};
    struct subject_list list = {0};
    struct bench b = {.type_count = 1,
                      .op_count = 1,
                      .type = {HEDDLE_F64},
                      .op = {HEDDLE_N},
                      .warm = {0.5, 2, 3, 50},
                      .events = {&noted, NULL, note_run, NULL}};
    scene_new(&s);
    b.h = s.h;
    CHECK_OK(candidates_add(&b.kernels, "auto", "gpu"));
    CHECK_OK(subjects_add(&list, "gen:grid2d:n=20"));
    CHECK_OK(probe_new(&b.probe, &s.h->device));
    CHECK_OK(bench_subject(&b, &list.item[0]));
    CHECK_THAT(noted.call_us > 0 && noted.bare_call_us > 0, "%g %g", noted.call_us, noted.bare_call_us);
    CHECK_THAT(noted.call_us < 1e5 && noted.bare_call_us < noted.call_us * 100, "%g %g", noted.call_us,
               noted.bare_call_us);
    probe_free(&b.probe);
    subjects_free(&list);
    scene_free(&s);
}

TEST(a_cpu_has_no_time_of_a_call)
{
    struct probe p;
    CHECK_OK(probe_new(&p, &(struct device){.kind = DEVICE_cpu, .threads = 1}));
    CHECK(!probe_has_calls(&p) && isnan(probe_call_us(&p)));
    probe_free(&p);
}
