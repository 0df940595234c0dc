/* SPDX-License-Identifier: MIT
 *
 * Kernels of the CUDA and HIP drivers against fake libraries (tests/fakes): modules, launches, pairs of
 * them, and the events between. */
#include "fakes/use.h"

TEST(a_launch_arrives_as_it_was_asked_for)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = fake_kernel(v, gpu, &module);
        struct fake_state *s = fake_state_of(v);
        int64_t argument = 4711;
        CHECK_OK(v->driver->launch(gpu, &(struct gpu_launch){f, 3, 256, 1024, 0}, &argument, sizeof argument,
                                   &argument));
        CHECK(strcmp(s->launch.kernel, "fill") == 0 && s->launch.grid == 3);
        CHECK(s->launch.block == 256 && s->launch.shared == 1024);
        CHECK(s->launch.stream == &argument && s->launch.argument == 4711);
        int launches = s->launch.count;
        CHECK_OK(
            v->driver->launch(gpu, &(struct gpu_launch){f, 0, 256, 0, 0}, &argument, sizeof argument, NULL));
        CHECK_THAT(s->launch.count == launches, "a grid of nothing was launched");
        CHECK_OK(v->driver->sync(gpu, NULL));
        v->driver->unload(gpu, module);
        v->driver->unload(gpu, NULL);
        fake_close(v, gpu);
    }
}

/* Launches `argument`, with a stream of its own; how often that told a graph something new. */
static int launch_told(const struct fake_vendor *v, struct gpu *gpu, struct gpu_launch l, int64_t argument)
{
    struct fake_state *s = fake_state_of(v);
    const int told = s->launch.told, in_graphs = s->launch.in_graphs, count = s->launch.count;
    CHECK_OK(v->driver->launch(gpu, &l, &argument, sizeof argument, &l));
    CHECK(s->launch.count == count + 1 && s->launch.in_graphs == in_graphs + 1);
    CHECK(s->launch.grid == l.grid && s->launch.block == (unsigned)l.block && s->launch.shared == l.shared);
    CHECK(s->launch.stream == &l && s->launch.argument == argument);
    return s->launch.told - told;
}

TEST(a_launch_that_was_there_before_tells_a_graph_nothing)
{
    const struct fake_vendor *v = &fake_vendors[0];
    struct gpu *gpu = fake_open(v);
    struct gpu_module *module = NULL;
    struct gpu_function *f = fake_kernel(v, gpu, &module), *g = NULL;
    CHECK_OK(v->driver->find(gpu, &g, module, "scale"));
    const struct gpu_launch usual = {f, 3, 256, 0, 0},
                            others[] = {
                                {g, 3, 256, 0, 0}, {f, 4, 256, 0, 0}, {f, 3, 128, 0, 0}, {f, 3, 256, 8, 0}};
    for (int64_t turn = 0; turn < 3; turn++)
        for (int64_t i = 0; i < 4; i++)
            CHECK(launch_told(v, gpu, usual, i) == (turn == 0));
    CHECK(launch_told(v, gpu, usual, 4) == 1 && launch_told(v, gpu, usual, 4) == 0);
    CHECK_THAT(launch_told(v, gpu, usual, 1) == 0 && launch_told(v, gpu, usual, 0) == 1,
               "it was not the oldest that made room");
    for (int i = 0; i < 4; i++)
        CHECK(launch_told(v, gpu, others[i], 4) == 1 && launch_told(v, gpu, others[i], 4) == 0);
    v->driver->unload(gpu, module);
    fake_close(v, gpu);
}

TEST(a_graph_that_could_not_be_told_is_not_taken_for_the_one_it_was)
{
    const struct fake_vendor *v = &fake_vendors[0];
    struct gpu *gpu = fake_open(v);
    struct gpu_module *module = NULL;
    struct gpu_function *f = fake_kernel(v, gpu, &module);
    struct fake_state *s = fake_state_of(v);
    const struct gpu_launch pair[2] = {{f, 1, 32, 0, 0}, {f, 2, 64, 0, 0}};
    int64_t first = 1, second = 2;
    CHECK_OK(v->driver->launch_pair(gpu, pair, &first, sizeof first, NULL));
    fake_script(v, "cuGraphExecKernelNodeSetParams_v2@2", "=2");
    CHECK_OK(v->driver->launch_pair(gpu, pair, &second, sizeof second, NULL));
    CHECK(s->launch.argument == 2);
    fake_script(v, NULL, NULL);
    const int told = s->launch.told;
    CHECK_OK(v->driver->launch_pair(gpu, pair, &first, sizeof first, NULL));
    CHECK_THAT(s->launch.argument == 1 && s->launch.told == told + 2, "%d", s->launch.told - told);
    CHECK_OK(v->driver->launch_pair(gpu, pair, &first, sizeof first, NULL));
    CHECK(s->launch.told == told + 2);
    v->driver->unload(gpu, module);
    fake_close(v, gpu);
}

/* A pair of launches: how many came early, how many in a graph, and whether the second is as it was asked
 * for. */
struct pair_seen {
    int count, early, in_graphs;
};

static struct pair_seen launch_pair(const struct fake_vendor *v, struct gpu *gpu, struct gpu_function *first,
                                    struct gpu_function *second, int64_t argument)
{
    struct fake_state *s = fake_state_of(v);
    const struct gpu_launch pair[2] = {{first, 7, 1024, 0, 0}, {second, 5, 128, 0, 0}};
    struct pair_seen seen = {s->launch.count, s->launch.early, s->launch.in_graphs};
    CHECK_OK(v->driver->launch_pair(gpu, pair, &argument, sizeof argument, &argument));
    CHECK(strcmp(s->launch.kernel, "scale") == 0 && s->launch.grid == 5 && s->launch.block == 128 &&
          s->launch.shared == 0);
    CHECK(s->launch.stream == &argument && s->launch.argument == argument);
    return (struct pair_seen){s->launch.count - seen.count, s->launch.early - seen.early,
                              s->launch.in_graphs - seen.in_graphs};
}

#define CHECK_SEEN(seen, a, b, c)                                                                            \
    CHECK_THAT((seen).count == (a) && (seen).early == (b) && (seen).in_graphs == (c), "%d, %d, %d",          \
               (seen).count, (seen).early, (seen).in_graphs)

TEST(a_pair_of_launches_is_one_where_graphs_allow)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = fake_kernel(v, gpu, &module), *g = NULL, *older = NULL;
        const int is_cuda = strcmp(v->driver->name, "cuda") == 0;
        CHECK_OK(v->driver->find(gpu, &g, module, "scale"));
        setenv("FAKE_COMPILED_FOR", "80", 1); /* such a kernel does not wait by itself */
        CHECK_OK(v->driver->find(gpu, &older, module, "scale"));
        unsetenv("FAKE_COMPILED_FOR");
        for (int i = 0; i < 3; i++)
            CHECK_SEEN(launch_pair(v, gpu, f, g, 4712 + i), 2, is_cuda, 2 * is_cuda);
        CHECK_SEEN(launch_pair(v, gpu, f, older, 1), 2, 0, 0);
        setenv("FAKE_CAPTURING", "1", 1);
        CHECK_SEEN(launch_pair(v, gpu, f, g, 2), 2, is_cuda, 0);
        unsetenv("FAKE_CAPTURING");
        CHECK_SEEN(launch_pair(v, gpu, f, g, 3), 2, is_cuda, 2 * is_cuda);
        v->driver->unload(gpu, module);
        fake_close(v, gpu);
        CHECK(fake_state_of(v)->graphs == 0);
    }
}

TEST(what_takes_long_is_launched_without_a_graph)
{
    const struct fake_vendor *v = &fake_vendors[0];
    struct gpu *gpu = fake_open(v);
    struct gpu_module *module = NULL;
    struct gpu_function *f = fake_kernel(v, gpu, &module);
    struct fake_state *s = fake_state_of(v);
    int64_t argument = 1;
    for (int is_long = 0; is_long < 2; is_long++) {
        const struct gpu_launch pair[2] = {{f, 3, 256, 0, is_long}, {f, 3, 256, 0, is_long}};
        const int count = s->launch.count, in_graphs = s->launch.in_graphs;
        CHECK_OK(v->driver->launch_pair(gpu, pair, &argument, sizeof argument, NULL));
        CHECK_OK(v->driver->launch(gpu, &pair[0], &argument, sizeof argument, NULL));
        CHECK(s->launch.count == count + 3);
        CHECK_THAT(s->launch.in_graphs == in_graphs + (is_long ? 0 : 3), "%d",
                   s->launch.in_graphs - in_graphs);
    }
    v->driver->unload(gpu, module);
    fake_close(v, gpu);
}

TEST(kernels_that_do_not_wait_by_themselves_make_a_graph_as_well)
{
    const struct fake_vendor *v = &fake_vendors[0];
    struct gpu *gpu = fake_open(v);
    struct gpu_module *module = NULL;
    struct gpu_function *older = NULL;
    setenv("FAKE_COMPILED_FOR", "80", 1);
    struct gpu_function *f = fake_kernel(v, gpu, &module);
    CHECK_OK(v->driver->find(gpu, &older, module, "scale"));
    unsetenv("FAKE_COMPILED_FOR");
    CHECK_SEEN(launch_pair(v, gpu, f, older, 1), 2, 0, 2);
    v->driver->unload(gpu, module);
    fake_close(v, gpu);
    CHECK(fake_state_of(v)->graphs == 0);
}

TEST(a_pair_goes_one_by_one_where_a_graph_fails)
{
    static const char *const symbols[] = {"cuStreamIsCapturing",         "cuGraphCreate",
                                          "cuGraphAddKernelNode_v2",     "cuGraphAddDependencies_v2",
                                          "cuGraphInstantiateWithFlags", "cuGraphExecKernelNodeSetParams_v2"};
    const struct fake_vendor *v = &fake_vendors[0];
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        fake_script(v, symbols[i], "=2");
        struct gpu_function *f = fake_kernel(v, gpu, &module), *g = NULL;
        CHECK_OK(v->driver->find(gpu, &g, module, "scale"));
        for (int k = 0; k < 2; k++)
            CHECK_SEEN(launch_pair(v, gpu, f, g, k), 2, 1, 0);
        fake_script(v, NULL, NULL);
        v->driver->unload(gpu, module);
        fake_close(v, gpu);
        CHECK_THAT(fake_state_of(v)->graphs == 0, "%s leaves a graph behind", symbols[i]);
    }
}

TEST(a_pair_that_fails_says_so)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = fake_kernel(v, gpu, &module);
        const struct gpu_launch good[2] = {{f, 1, 1, 0, 0}, {f, 1, 1, 0, 0}},
                                bad[2] = {{f, 1, 1, 0, 0}, {f, 1, 1025, 0, 0}};
        int64_t argument = 1;
        int launches = fake_state_of(v)->launch.count;
        CHECK_FAILS(v->driver->launch_pair(gpu, bad, &argument, 8, NULL), HEDDLE_BAD_ARGUMENT,
                    "1025 threads");
        CHECK(fake_state_of(v)->launch.count == launches);
        fake_script(v, v->launch, "=701");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, &argument, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, " of fill:");
        if (strcmp(v->driver->name, "cuda") == 0) {
            fake_script(v, "cuGraphLaunch", "=701");
            CHECK_FAILS(v->driver->launch_pair(gpu, good, &argument, 8, NULL), HEDDLE_BAD_ARGUMENT,
                        "more registers");
            setenv("FAKE_CAPTURING", "1", 1);
            fake_script(v, "cuLaunchKernelEx", "=701");
            CHECK_FAILS(v->driver->launch_pair(gpu, good, &argument, 8, NULL), HEDDLE_BAD_ARGUMENT,
                        "more registers");
            CHECK_THAT(strstr(heddle_last_error(), " of fill and fill:"), "%s", heddle_last_error());
            unsetenv("FAKE_CAPTURING");
            fake_script(v, "cuFuncLoad", "=2");
            CHECK_FAILS(v->driver->find(gpu, &f, module, "scale"), HEDDLE_NO_MEMORY, "out of memory");
        } else {
            CHECK_FAILS(v->driver->launch_pair(gpu, good, &argument, 8, NULL), HEDDLE_BAD_ARGUMENT,
                        "more registers");
        }
        fake_script(v, NULL, NULL);
        v->driver->unload(gpu, module);
        fake_close(v, gpu);
    }
}

TEST(a_launch_beyond_the_limits_says_which)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = fake_kernel(v, gpu, &module);
        char a[8] = {0};
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 1025, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "1025 threads (1 to 1024");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 0, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "a block of 0 threads");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, INT64_C(3000000000), 1, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "3000000000 blocks");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, -1, 1, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "-1 blocks");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 1, 300000, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "300000 bytes of shared memory");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, a, 5000, NULL),
                    HEDDLE_BAD_ARGUMENT, "5000 bytes");
        /* AMD's grids have fewer than 2^32 threads, so Heddle's have. */
        CHECK_OK(v->driver->launch(gpu, &(struct gpu_launch){f, (1 << 22) - 1, 1024, 0, 0}, a, 8, NULL));
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1 << 22, 1024, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "4194304 blocks of 1024 threads (the most is 4194303)");
        fake_script(v, v->launch, "=701");
        CHECK_FAILS(v->driver->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, a, 8, NULL),
                    HEDDLE_BAD_ARGUMENT, "more registers");
        v->driver->unload(gpu, module);
        fake_close(v, gpu);
    }
}

TEST(a_module_that_does_not_fit_is_no_kernel)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = NULL;
        const struct gpu_driver *d = v->driver;
        CHECK_FAILS(d->load(gpu, &module, "FAKE sm_70 fill", 16), HEDDLE_NO_KERNEL, v->arch);
        CHECK_FAILS(d->load(gpu, &module, "FAKE sm_70 fill", 16), HEDDLE_NO_KERNEL,
                    "PTX would be the way out");
        CHECK_FAILS(d->load(gpu, &module, "garbage", 8), HEDDLE_NO_KERNEL, "damaged");
        CHECK_FAILS(d->load(gpu, &module, "PTX! ", 6), HEDDLE_NO_KERNEL, "unknown instruction 'weave'");
        CHECK_FAILS(d->load(gpu, &module, NULL, 6), HEDDLE_BAD_ARGUMENT, d->name);
        CHECK(!module);
        CHECK_OK(d->load(gpu, &module, "PTX fill", 9));
        CHECK_FAILS(d->find(gpu, &f, module, "weave"), HEDDLE_NO_KERNEL, "of weave");
        CHECK(!f);
        d->unload(gpu, module);
        fake_close(v, gpu);
    }
}

TEST(events_measure_the_time_between_them)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct gpu_event *from = NULL, *to = NULL;
        double ms = 0;
        CHECK_OK(v->driver->event_new(gpu, &from));
        CHECK_OK(v->driver->event_new(gpu, &to));
        CHECK_OK(v->driver->event_record(gpu, from, NULL));
        CHECK_OK(v->driver->event_record(gpu, to, NULL));
        CHECK_OK(v->driver->event_ms(gpu, &ms, from, to));
        CHECK(ms == 1.5);
        v->driver->event_free(gpu, from);
        v->driver->event_free(gpu, to);
        v->driver->event_free(gpu, NULL);
        fake_close(v, gpu);
    }
}
