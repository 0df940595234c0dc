/* SPDX-License-Identifier: MIT
 *
 * The CUDA and HIP drivers against fake libraries (tests/fakes): what they do with devices and memory, and
 * what they say when it goes wrong; test_gpu_launch.c has launches.  The tests that need the library to be
 * bad stand first: a driver opens its library once. */
#include "fakes/use.h"

#define CODE(v, number) (snprintf(code_text, sizeof code_text, "%s%d", (v)->error, number), code_text)
static char code_text[64];

/* -------------------------------------------------------- opening the library ----------------- */

TEST(a_missing_driver_is_named)
{
    FOR_BOTH(v)
    {
        int n = 7;
        void *real = dlopen(v->missing, RTLD_LAZY);
        unsetenv(v->variable);
        if (real) {
            dlclose(real); /* this machine has the real one: nothing can be missing */
            continue;
        }
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->missing);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, "is not on this machine");
        CHECK(n == 0);
    }
}

TEST(a_driver_can_be_hidden_and_replaced)
{
    FOR_BOTH(v)
    {
        int n;
        setenv(v->variable, "", 1);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, "hidden by an empty");
        setenv(v->variable, "/nowhere/driver.so", 1);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, "/nowhere/driver.so");
    }
}

TEST(a_driver_without_a_symbol_is_too_old)
{
    FOR_BOTH(v)
    {
        int n;
        fake_use(v, "", v->broken);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, "ElapsedTime");
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->version_text);
    }
}

TEST(an_old_driver_is_told_which_version_would_do)
{
    FOR_BOTH(v)
    {
        int n;
        setenv("FAKE_VERSION", v->old_version, 1);
        fake_use(v, "./", v->file);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->version_text);
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->old_version);
        unsetenv("FAKE_VERSION");
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->old_version); /* kept, not tried again */
    }
}

TEST(a_driver_that_does_not_start_has_no_devices)
{
    FOR_BOTH(v)
    {
        int n;
        fake_use(v, "././", v->file);
        fake_script(v, v->init, "=100");
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, "no device is there");
        CHECK_FAILS(v->driver->count(&n), HEDDLE_NO_DEVICE, v->init);
    }
}

/* -------------------------------------------------------- devices ----------------------------- */

TEST(a_device_is_described)
{
    FOR_BOTH(v)
    {
        struct gpu_info info;
        int n, amd = v->driver == &hip_driver;
        struct gpu *gpu = fake_open(v);
        CHECK_OK(v->driver->count(&n));
        CHECK(n == 2);
        CHECK_OK(v->driver->describe(&info, 1));
        CHECK(strstr(info.name, "Fake") && strstr(info.name, " 1"));
        CHECK_THAT(strcmp(info.arch, v->arch) == 0, "%s", info.arch);
        CHECK(info.wave == (amd ? 64 : 32) && info.multiprocessors == (amd ? 304 : 132));
        CHECK(info.threads_per_block == 1024 && info.shared_per_block == (amd ? 65536 : 232448));
        CHECK(info.grid == 2147483647 && info.memory == 1000000000 &&
              info.cache == (amd ? 4194304 : 62914560));
        CHECK_FAILS(v->driver->describe(&info, 2), HEDDLE_NO_DEVICE, ":2: this machine has 2");
        CHECK_FAILS(v->driver->describe(&info, -1), HEDDLE_NO_DEVICE, ":-1");
        fake_close(v, gpu);
    }
}

TEST(an_open_device_knows_its_driver_and_takes_no_options)
{
    FOR_BOTH(v)
    {
        struct spec options;
        struct gpu *other = NULL, *gpu = fake_open(v);
        CHECK(gpu_driver_of(gpu) == v->driver && strcmp(gpu_info_of(gpu)->arch, v->arch) == 0);
        CHECK_OK(spec_parse(&options, "gpu:wave=64"));
        CHECK_FAILS(v->driver->open(&other, 0, &options), HEDDLE_BAD_ARGUMENT, "wave");
        CHECK(!other);
        CHECK_STATUS(v->driver->open(&other, 9, NULL), HEDDLE_NO_DEVICE);
        CHECK(!other);
        fake_close(v, gpu);
    }
}

TEST(the_callers_context_is_as_it_was)
{
    FOR_BOTH(v)
    {
        struct gpu *other = NULL, *gpu = fake_open(v);
        void *p = NULL;
        CHECK_OK(v->driver->open(&other, 1, NULL)); /* at no time the current one */
        struct fake_state *s = fake_state_of(v);
        int64_t before = s->switches;
        CHECK_OK(v->driver->alloc(other, &p, 100));
        CHECK_THAT(s->depth == 0, "%d", s->depth);
        CHECK(s->switches > before);
        v->driver->release(other, p);
        CHECK(s->depth == 0 && s->memory == 0);
        v->driver->close(other);
        fake_close(v, gpu);
    }
}

/* -------------------------------------------------------- memory ------------------------------ */

TEST(memory_is_filled_copied_and_given_back)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        char host[64], *pinned = NULL;
        void *p = NULL, *empty = NULL;
        CHECK_OK(v->driver->alloc(gpu, &p, 64));
        CHECK_OK(v->driver->alloc(gpu, &empty, 0));
        CHECK(p && empty);
        CHECK_OK(v->driver->alloc_pinned(gpu, (void **)&pinned, 64));
        CHECK_OK(v->driver->fill(gpu, p, 7, 64, NULL));
        CHECK_OK(v->driver->copy(gpu, host, p, 64, NULL));
        CHECK(host[0] == 7 && host[63] == 7);
        memset(pinned, 9, 64);
        CHECK_OK(v->driver->copy(gpu, p, pinned, 64, NULL));
        CHECK_OK(v->driver->copy(gpu, host, p, 64, NULL));
        CHECK(host[0] == 9 && host[63] == 9);
        CHECK_OK(v->driver->copy(gpu, NULL, NULL, 0, NULL));
        CHECK_OK(v->driver->fill(gpu, NULL, 0, 0, NULL));
        CHECK(v->driver->on_device(gpu, p) && v->driver->on_device(gpu, (char *)p + 63) &&
              v->driver->on_device(gpu, pinned));
        CHECK(!v->driver->on_device(gpu, host) && !v->driver->on_device(gpu, NULL));
        /* nothing left for hipGetLastError */
        CHECK(fake_state_of(v)->last_error == 0 || v->driver == &cuda_driver);
        v->driver->release(gpu, p);
        v->driver->release(gpu, empty);
        v->driver->release(gpu, NULL);
        v->driver->release_pinned(gpu, pinned);
        v->driver->release_pinned(gpu, NULL);
        fake_close(v, gpu);
    }
}

TEST(a_block_that_was_given_back_is_taken_again_where_its_size_is_asked_for)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        struct fake_state *s = fake_state_of(v);
        void *p[KEPT_BLOCKS + 1], *again;
        for (int i = 0; i <= KEPT_BLOCKS; i++)
            CHECK_OK(gpu_block_take(gpu, &p[i], 100 * (i + 1)));
        for (int i = 0; i <= KEPT_BLOCKS; i++)
            gpu_block_give_back(gpu, p[i], 100 * (i + 1));
        CHECK(s->memory == KEPT_BLOCKS); /* the first made room for the last */
        for (int i = KEPT_BLOCKS; i > 0; i--) {
            CHECK_OK(gpu_block_take(gpu, &again, 100 * (i + 1)));
            CHECK(again == p[i] && s->memory == KEPT_BLOCKS);
        }
        CHECK_OK(gpu_block_take(gpu, &again, 200)); /* that one is in use */
        CHECK(again != p[1] && s->memory == KEPT_BLOCKS + 1);
        gpu_block_give_back(gpu, again, 200);
        gpu_block_give_back(gpu, NULL, 200);
        CHECK_OK(gpu_block_take(gpu, &again, KEPT_BYTES + 1));
        gpu_block_give_back(gpu, again, KEPT_BYTES + 1); /* at once: it is large */
        CHECK(s->memory == KEPT_BLOCKS + 1);
        for (int i = 1; i <= KEPT_BLOCKS; i++)
            gpu_block_give_back(gpu, p[i], 100 * (i + 1));
        CHECK(s->memory == KEPT_BLOCKS);
        gpu_close(gpu);
        CHECK(s->memory == 0);
    }
}

TEST(out_of_memory_names_the_size_and_what_is_left)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        void *p = &p;
        CHECK_FAILS(v->driver->alloc(gpu, &p, INT64_C(12300000000)), HEDDLE_NO_MEMORY,
                    "of 12.3 GB, with 1 GB of 1 GB free");
        CHECK(!p);
        CHECK_FAILS(v->driver->alloc(gpu, &p, -1), HEDDLE_BAD_ARGUMENT, "-1 bytes");
        CHECK_FAILS(v->driver->alloc_pinned(gpu, &p, -5), HEDDLE_BAD_ARGUMENT, "-5 bytes");
        fake_script(v, v->alloc, "@2=2"); /* the second from now */
        CHECK_OK(v->driver->alloc(gpu, &p, 10));
        v->driver->release(gpu, p);
        CHECK_FAILS(v->driver->alloc(gpu, &p, 10), HEDDLE_NO_MEMORY, "of 10 B");
        CHECK_OK(v->driver->alloc(gpu, &p, 10));
        v->driver->release(gpu, p);
        fake_close(v, gpu);
    }
}

TEST(a_pointer_that_the_device_does_not_know_is_a_bad_argument)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        char here[8], there[8] = {0};
        CHECK_FAILS(v->driver->copy(gpu, here, there, 8, NULL), HEDDLE_BAD_ARGUMENT,
                    "a pointer that the device does not know");
        CHECK_FAILS(v->driver->fill(gpu, here, 0, 8, NULL), HEDDLE_BAD_ARGUMENT, "of 8 B");
        CHECK_STATUS(v->driver->copy(gpu, here, there, -8, NULL), HEDDLE_BAD_ARGUMENT);
        CHECK_STATUS(v->driver->fill(gpu, here, 0, -8, NULL), HEDDLE_BAD_ARGUMENT);
        fake_close(v, gpu);
    }
}

/* -------------------------------------------------------- failures ---------------------------- */

/* Everything that can be done with a device, once; the first failure ends it. */
static heddle_status everything(const struct fake_vendor *v)
{
    heddle_status status = HEDDLE_OK;
    const struct gpu_driver *d = v->driver;
    struct gpu *gpu = NULL;
    struct gpu_module *module = NULL;
    struct gpu_function *f = NULL;
    struct gpu_event *event = NULL;
    struct gpu_info info;
    void *p = NULL, *pinned = NULL;
    double ms;
    int n;
    TRY(d->count(&n));
    TRY(d->describe(&info, 0));
    TRY(d->open(&gpu, 1, NULL));
    TRY(d->alloc(gpu, &p, 8));
    TRY(d->alloc_pinned(gpu, &pinned, 8));
    TRY(d->fill(gpu, p, 0, 8, NULL));
    TRY(d->copy(gpu, pinned, p, 8, NULL));
    TRY(d->load(gpu, &module, "PTX fill", 9));
    TRY(d->find(gpu, &f, module, "fill"));
    TRY(d->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, pinned, 8, NULL));
    setenv("FAKE_CAPTURING", "1", 1); /* without a graph, too */
    TRY(d->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, pinned, 8, NULL));
    unsetenv("FAKE_CAPTURING");
    TRY(d->event_new(gpu, &event));
    TRY(d->event_record(gpu, event, NULL));
    TRY(d->stream_wait(gpu, NULL, event));
    TRY(d->event_ms(gpu, &ms, event, event));
    TRY(d->sync(gpu, NULL));
done:
    unsetenv("FAKE_CAPTURING");
    if (gpu) {
        d->event_free(gpu, event);
        d->unload(gpu, module);
        d->release(gpu, p);
        d->release_pinned(gpu, pinned);
        d->close(gpu);
    }
    return status;
}

static const char *const calls[][2] = {
#define CALL(member, arguments, cuda, hip) {#cuda, #hip},
#define ADAPTED CALL
#include "gpu/calls.def"
#undef ADAPTED
#undef CALL
    {"cuCtxGetCurrent", "hipGetDevice"},
    {"cuCtxPushCurrent_v2", "hipSetDevice"},
    {"cuDevicePrimaryCtxRetain", "hipGetDevicePropertiesR0600"},
    {"cuFuncSetAttribute", "hipMalloc"},
    {"cuGraphLaunch", "hipMalloc"}};

static int is_among(const char *symbol, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(symbol, *parts))
            return 1;
    return 0;
}

TEST(every_call_that_fails_ends_in_a_status_and_leaves_nothing_behind)
{
    /* Made once when the library was opened, not made at all here, or made to put the caller's device
     * back. */
    static const char *const unseen[] = {"GetVersion", "Init",         "PointerGet",
                                         "MemGetInfo", "hipSetDevice", NULL};
    /* A driver that does not take something back keeps it: nothing to test. */
    static const char *const give_back[] = {"Free", "Destroy", "Unload", NULL};
    FOR_BOTH(v)
    {
        fake_close(v, fake_open(v));
        CHECK_OK(everything(v));
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            const char *symbol = calls[i][v->driver == &hip_driver];
            if (is_among(symbol, give_back))
                continue;
            fake_script(v, symbol, "=801");
            heddle_status status = everything(v);
            fake_script(v, NULL, NULL);
            CHECK_THAT(status == (is_among(symbol, unseen) ? HEDDLE_OK : HEDDLE_NOT_SUPPORTED),
                       "%s gave %s: %s", symbol, heddle_status_name(status), heddle_last_error());
            struct fake_state *s = fake_state_of(v);
            CHECK_THAT(s->depth == 0, "%s leaves a context behind", symbol);
            CHECK_THAT(s->memory + s->pinned + s->modules + s->events + s->contexts == 0,
                       "%s leaves something behind", symbol);
        }
    }
}

TEST(what_cannot_be_given_back_is_not_an_error)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        void *p = NULL;
        CHECK_OK(v->driver->alloc(gpu, &p, 8));
        fake_script(v, v->driver == &hip_driver ? "hipFree" : "cuMemFree_v2", "@1=1");
        v->driver->release(gpu, p);
        CHECK(fake_state_of(v)->last_error == 0 || v->driver == &cuda_driver);
        v->driver->release(gpu, p);
        fake_close(v, gpu);
    }
}

TEST(an_error_without_a_row_still_has_a_name)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = fake_open(v);
        fake_script(v, v->sync, "=698");
        CHECK_FAILS(v->driver->sync(gpu, NULL), HEDDLE_DEVICE_ERROR, CODE(v, 698));
        fake_script(v, NULL, NULL);
        CHECK_OK(v->driver->sync(gpu, NULL)); /* not sticky */
        fake_close(v, gpu);
    }
}

TEST(a_lost_device_fails_until_it_is_closed)
{
    FOR_BOTH(v)
    {
        const struct gpu_driver *d = v->driver;
        struct gpu *gpu = fake_open(v);
        struct gpu_module *module = NULL;
        struct gpu_function *f = fake_kernel(v, gpu, &module);
        struct gpu_event *event = NULL;
        void *p = NULL, *more = NULL;
        char a[8] = {0};
        CHECK_OK(d->alloc(gpu, &p, 8));
        CHECK_OK(d->event_new(gpu, &event));
        fake_script(v, v->sync, "=700");
        CHECK_OK(d->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, a, 8, NULL));
        CHECK_FAILS(d->sync(gpu, NULL), HEDDLE_DEVICE_ERROR, "an address that is not mapped");
        CHECK_FAILS(d->sync(gpu, NULL), HEDDLE_DEVICE_ERROR, "was lost earlier");
        CHECK_FAILS(d->launch(gpu, &(struct gpu_launch){f, 1, 1, 0, 0}, a, 8, NULL), HEDDLE_DEVICE_ERROR,
                    CODE(v, 700));
        CHECK_STATUS(d->alloc(gpu, &more, 8), HEDDLE_DEVICE_ERROR);
        CHECK_STATUS(d->copy(gpu, a, p, 8, NULL), HEDDLE_DEVICE_ERROR);
        CHECK(!d->on_device(gpu, p));
        d->release(gpu, p);
        d->event_free(gpu, event);
        d->unload(gpu, module);
        d->close(gpu);
        CHECK_THAT(fake_state_of(v)->contexts == 0, "the lost device was not let go of");
        CHECK(fake_state_of(v)->depth == 0);
        /* The real driver frees what a lost context held; the fake's pieces are given back by a device
         * that is well. */
        fake_script(v, NULL, NULL);
        gpu = fake_open(v);
        d->release(gpu, p);
        d->event_free(gpu, event);
        d->unload(gpu, module);
        fake_close(v, gpu);
    }
}

static heddle_status open_and_close(void *argument)
{
    const struct fake_vendor *v = argument;
    struct gpu *gpu = NULL;
    heddle_status status = v->driver->open(&gpu, 0, NULL);
    if (gpu)
        v->driver->close(gpu);
    return status;
}

TEST(a_failed_allocation_of_the_host_leaves_nothing_open)
{
    FOR_BOTH(v)
    {
        fake_close(v, fake_open(v));
        CHECK(test_every_allocation(open_and_close, (void *)(uintptr_t)v) == 2);
        CHECK(fake_state_of(v)->contexts == 0);
    }
}
