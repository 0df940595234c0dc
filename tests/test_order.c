/* SPDX-License-Identifier: MIT
 *
 * The products of a handle share its workspace.  They run one after another, also across a change of
 * stream, and the workspace stays where it was as long as anything may use it; seen from a driver without
 * a device, which watches who waits for whom. */
#include "api/api.h"
#include "fakes/use.h"
#include "gen/gen.h"
#include "subject/subject.h"

struct scene {
    const struct fake_vendor *v;
    struct fake_state *state;
    heddle *h;
    struct csr csr;
    heddle_matrix *A;
    heddle_plan *plan;
    void *x, *y;
};

static void scene_new(struct scene *s)
{
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T, .expected_products = 1};
    *s = (struct scene){.v = &fake_vendors[0]};
    fake_use(s->v, "", s->v->file);
    fake_script(s->v, NULL, NULL);
    fake_modules();
    CHECK_OK(gen_matrix(&s->csr, "grid2d:n=20", HEDDLE_F64));
    CHECK_OK(heddle_open(&s->h, "cuda:0"));
    s->state = fake_state_of(s->v);
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    CHECK_OK(heddle_plan_create(&s->plan, s->h, s->A, &options));
    CHECK_OK(device_alloc(&s->h->device, &s->x, 400 * 8));
    CHECK_OK(device_alloc(&s->h->device, &s->y, 400 * 8));
}

static void scene_free(struct scene *s)
{
    device_free(&s->h->device, s->x);
    device_free(&s->h->device, s->y);
    heddle_plan_free(s->plan);
    heddle_matrix_free(s->A);
    heddle_close(s->h);
    csr_free(&s->csr);
    CHECK_THAT(s->state->memory == 0 && s->state->events == 0 && s->state->contexts == 0,
               "%d pieces of memory and %d events are left", (int)s->state->memory, (int)s->state->events);
    unsetenv("HEDDLE_MODULE_DIR");
    unsetenv(s->v->variable);
    unsetenv("FAKE_FAIL");
}

static void products(struct scene *s)
{
    for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
        CHECK_OK(heddle_mv(s->h, op, NULL, s->A, s->x, NULL, s->y));
        CHECK_OK(heddle_plan_mv(s->plan, op, NULL, s->x, NULL, s->y));
    }
}

TEST(products_in_a_new_stream_come_after_those_in_the_old_one)
{
    struct scene s;
    int stream[3];
    scene_new(&s);
    products(&s);
    for (int i = 0; i < 9; i++) {
        CHECK_OK(heddle_set_stream(s.h, i % 4 == 3 ? NULL : &stream[i % 3]));
        products(&s);
        CHECK_OK(heddle_plan_update_values(s.plan, s.csr.val));
    }
    CHECK_THAT(s.state->unordered == 0, "%d launches overtake others", s.state->unordered);
    scene_free(&s);
}

/* While a stream is captured nothing may be waited for that is outside of the graph; afterwards it is. */
TEST(a_stream_that_was_captured_comes_after_the_others_again)
{
    struct scene s;
    int stream[3];
    scene_new(&s);
    products(&s);
    s.state->captured = &stream[0];
    CHECK_OK(heddle_set_stream(s.h, &stream[0]));
    products(&s); /* into the graph */
    s.state->captured = NULL;
    products(&s);
    CHECK_THAT(s.state->unordered == 0, "%d launches overtake others after a capture", s.state->unordered);
    s.state->captured = &stream[1];
    CHECK_OK(heddle_set_stream(s.h, &stream[1]));
    products(&s);
    CHECK_OK(heddle_set_stream(s.h, &stream[2])); /* while the other is still captured */
    products(&s);
    s.state->captured = NULL;
    CHECK_OK(heddle_set_stream(s.h, &stream[1]));
    products(&s);
    CHECK_THAT(s.state->unordered == 0, "%d launches overtake others beside a capture", s.state->unordered);
    scene_free(&s);
}

/* A stream that may be gone is not touched. */
TEST(a_stream_that_was_waited_for_is_left_alone)
{
    struct scene s;
    int stream[2];
    scene_new(&s);
    CHECK_OK(heddle_set_stream(s.h, &stream[0]));
    products(&s);
    fake_script(s.v, "cuEventRecord", "=400");
    CHECK(heddle_set_stream(s.h, &stream[1]) != HEDDLE_OK);
    products(&s);
    CHECK(s.state->launch.stream == &stream[0]);
    CHECK_OK(heddle_sync(s.h));
    CHECK_OK(heddle_set_stream(s.h, &stream[1]));
    CHECK_OK(heddle_set_stream(s.h, NULL)); /* nothing has gone to the other */
    fake_script(s.v, NULL, NULL);
    scene_free(&s);
}

TEST(streams_of_both_vendors_wait_for_events)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_event *event;
        int stream[2];
        CHECK_OK(v->driver->event_new(gpu, &event));
        CHECK_OK(v->driver->event_record(gpu, event, &stream[0]));
        CHECK_OK(v->driver->stream_wait(gpu, &stream[1], event));
        CHECK(!v->driver->capturing(gpu, &stream[0]));
        fake_state_of(v)->captured = &stream[0];
        CHECK(v->driver->capturing(gpu, &stream[0]) && !v->driver->capturing(gpu, &stream[1]));
        CHECK_FAILS(v->driver->stream_wait(gpu, &stream[0], event), HEDDLE_BAD_ARGUMENT, "is being captured");
        fake_state_of(v)->captured = NULL;
        v->driver->event_free(gpu, event);
        fake_close(v, gpu);
        unsetenv(v->variable);
    }
}

/* A graph knows the addresses of the workspace that it was captured with. */
TEST(a_workspace_that_was_too_small_stays_until_the_handle_is_closed)
{
    struct scene s;
    void *seen[64];
    int count = 0;
    scene_new(&s);
    CHECK_OK(heddle_set_deterministic(s.h, 1));
    CHECK_OK(heddle_reserve(s.h, s.A));
    for (int n = 21; n < 60; n++) {
        struct csr larger;
        heddle_matrix *B;
        char family[32];
        if (count == 0 || seen[count - 1] != s.h->room.workspace)
            seen[count++] = s.h->room.workspace;
        snprintf(family, sizeof family, "grid2d:n=%d", n);
        CHECK_OK(gen_matrix(&larger, family, HEDDLE_F64));
        CHECK_OK(matrix_of(&B, s.h, &larger));
        heddle_matrix_free(B);
        csr_free(&larger);
    }
    CHECK_THAT(count > 1, "the workspace never grew");
    CHECK_THAT(count < 8, "%d workspaces, the largest of nine times the smallest's size", count);
    for (int i = 0; i < count; i++)
        CHECK_THAT(seen[i] && s.v->driver->on_device(s.h->device.gpu, seen[i]), "workspace %d of %d is gone",
                   i, count);
    scene_free(&s);
}
