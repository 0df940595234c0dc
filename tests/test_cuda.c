/* SPDX-License-Identifier: MIT
 *
 * What only a real device of NVIDIA can show: products in a graph, and errors that are not made up.  Runs
 * where HEDDLE_TEST_DEVICES names one ("cuda:0"); elsewhere there is nothing to test.
 * HEDDLE_TEST_OTHER_ARCH is a folder of cubins that are named for this device and made for another
 * (bench/gpu.sh makes one). */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/memory.h"
#include "subject/subject.h"
#include "test.h"

/* The device's name, or NULL: then a test has nothing to do. */
static const char *device_name(void)
{
    static char name[32];
    const char *asked = getenv("HEDDLE_TEST_DEVICES"), *found = asked ? strstr(asked, "cuda") : NULL;
    if (found)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(found, " "), found);
    return found ? name : NULL;
}

/* --------------------------------------------------- the driver, as a program would use it ---- */

#define DRIVER_CALLS(ROW)                                                                                    \
    ROW(init, (unsigned flags), cuInit)                                                                      \
    ROW(retain, (void **context, int device), cuDevicePrimaryCtxRetain)                                      \
    ROW(release, (int device), cuDevicePrimaryCtxRelease_v2)                                                 \
    ROW(use, (void *context), cuCtxSetCurrent)                                                               \
    ROW(stream_new, (void **stream, unsigned flags), cuStreamCreate)                                         \
    ROW(stream_free, (void *stream), cuStreamDestroy_v2)                                                     \
    ROW(sync, (void *stream), cuStreamSynchronize)                                                           \
    ROW(begin, (void *stream, int mode), cuStreamBeginCapture_v2)                                            \
    ROW(end, (void *stream, void **graph), cuStreamEndCapture)                                               \
    ROW(nodes, (void *graph, void **nodes, size_t *count), cuGraphGetNodes)                                  \
    ROW(instantiate, (void **exec, void *graph, unsigned long long flags), cuGraphInstantiateWithFlags)      \
    ROW(launch, (void *exec, void *stream), cuGraphLaunch)                                                   \
    ROW(exec_free, (void *exec), cuGraphExecDestroy)                                                         \
    ROW(graph_free, (void *graph), cuGraphDestroy)

static struct {
#define ROW(member, arguments, symbol) int(*member) arguments;
    DRIVER_CALLS(ROW)
#undef ROW
} cu;

static int driver_ready(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!CHECK_THAT(library != NULL, "%s", dlerror()))
        return 0;
#define ROW(member, arguments, symbol)                                                                       \
    *(void **)(void *)&cu.member = dlsym(library, #symbol);                                                  \
    if (!CHECK_THAT(cu.member != NULL, "the driver has no %s", #symbol))                                     \
        return 0;
    DRIVER_CALLS(ROW)
#undef ROW
    return CHECK(cu.init(0) == 0);
}

/* -------------------------------------------------------- graphs ------------------------------ */

enum { PRODUCTS = 8, STREAM_NON_BLOCKING = 1, CAPTURE_GLOBAL = 0 };

/* A matrix here and there, and a y for each of the products that are captured. */
struct scene {
    heddle *h, *cpu;
    heddle_matrix *A, *on_cpu;
    heddle_plan *plan;
    struct csr csr;
    void *x, *y[PRODUCTS], *stream, *graph, *exec;
    double *host_x, *got, *want;
    double alpha, beta, zero;
    double *there; /* the three on the device; NULL: scalars of the host */
};

static void scene_new(struct scene *s)
{
    *s = (struct scene){.alpha = 2, .beta = -1};
    heddle_plan_options options = {.ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T};
    CHECK_OK(gen_matrix(&s->csr, "powerlaw:n=30000,mean=12,longest=4000", HEDDLE_F64));
    int64_t n = s->csr.rows;
    CHECK_OK(heddle_open(&s->h, device_name()));
    CHECK_OK(heddle_open(&s->cpu, "cpu"));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    CHECK_OK(matrix_of(&s->on_cpu, s->cpu, &s->csr));
    CHECK_OK(heddle_plan_create(&s->plan, s->h, s->A, &options));
    CHECK_OK(device_alloc(&s->h->device, &s->x, n * 8));
    for (int i = 0; i < PRODUCTS; i++)
        CHECK_OK(device_alloc(&s->h->device, &s->y[i], n * 8));
    CHECK_OK(NEW_ZEROED(s->host_x, n));
    CHECK_OK(NEW_ZEROED(s->got, n));
    CHECK_OK(NEW_ZEROED(s->want, n));
}

static void scene_free(struct scene *s)
{
    device_free(&s->h->device, s->x);
    device_free(&s->h->device, s->there);
    for (int i = 0; i < PRODUCTS; i++)
        device_free(&s->h->device, s->y[i]);
    mem_free(s->host_x);
    mem_free(s->got);
    mem_free(s->want);
    heddle_plan_free(s->plan);
    heddle_matrix_free(s->A);
    heddle_matrix_free(s->on_cpu);
    heddle_close(s->h);
    heddle_close(s->cpu);
    csr_free(&s->csr);
}

/* Product number i with the given handle, matrix and vectors: N and T, plain, with scalars, without a
 * product, by a plan. */
static heddle_status product(struct scene *s, int i, int on_gpu, const void *x, void *y)
{
    heddle_op op = i % 2 ? HEDDLE_T : HEDDLE_N;
    const double *const of = on_gpu && s->there ? s->there : &s->alpha;
    const double *a = i / 2 == 1 ? &of[0]
                    : i / 2 == 2 ? &of[2]
                                 : NULL,
                 *b = i / 2 == 1 || i / 2 == 2 ? &of[1] : NULL;
    if (on_gpu && i / 2 == 3)
        return heddle_plan_mv(s->plan, op, a, x, b, y);
    return heddle_mv(on_gpu ? s->h : s->cpu, op, a, on_gpu ? s->A : s->on_cpu, x, b, y);
}

static void capture(struct scene *s)
{
    size_t nodes = 0;
    CHECK(cu.stream_new(&s->stream, STREAM_NON_BLOCKING) == 0);
    CHECK_OK(heddle_set_stream(s->h, s->stream));
    CHECK(cu.begin(s->stream, CAPTURE_GLOBAL) == 0); /* the mode that forbids most */
    for (int i = 0; i < PRODUCTS; i++)
        CHECK_OK(product(s, i, 1, s->x, s->y[i]));
    CHECK(cu.end(s->stream, &s->graph) == 0);
    CHECK(cu.nodes(s->graph, NULL, &nodes) == 0);
    CHECK_THAT(nodes >= PRODUCTS, "%d nodes", (int)nodes);
    CHECK(cu.instantiate(&s->exec, s->graph, 0) == 0);
}

static void fill(double *x, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(int64_t)(test_random(&seed) >> 44) / 1048576 - 0.5;
}

/* Launches the graph with a new x, other y and, where they lie on the device, other scalars, and compares
 * with the CPU. */
static void replay(struct scene *s, int round)
{
    int64_t n = s->csr.rows, bytes = n * 8;
    const struct device *d = &s->h->device;
    fill(s->host_x, n, (uint64_t)round + 1);
    fill(s->want, n, (uint64_t)round + 100);
    CHECK_OK(device_copy(d, s->x, s->host_x, bytes));
    if (s->there) {
        s->alpha = round == 1 ? 0 : round + 2;
        s->beta = round;
        CHECK_OK(device_copy(d, s->there, &s->alpha, 3 * 8));
    }
    for (int i = 0; i < PRODUCTS; i++)
        CHECK_OK(device_copy(d, s->y[i], s->want, bytes));
    CHECK_OK(device_sync(d));
    CHECK(cu.launch(s->exec, s->stream) == 0 && cu.sync(s->stream) == 0);
    for (int i = 0; i < PRODUCTS; i++) {
        double worst = 0;
        fill(s->want, n, (uint64_t)round + 100);
        CHECK_OK(product(s, i, 0, s->host_x, s->want));
        CHECK_OK(device_read(d, s->got, s->y[i], bytes));
        for (int64_t k = 0; k < n; k++)
            worst = fmax(worst, fabs(s->got[k] - s->want[k]));
        CHECK_THAT(worst < 1e-9, "round %d, product %d differs by %g", round, i, worst);
    }
}

static void capture_and_replay(heddle_where scalars)
{
    struct scene s;
    void *context = NULL;
    scene_new(&s);
    int number = ((struct gpu_head *)s.h->device.gpu)->number;
    if (scalars == HEDDLE_ON_DEVICE)
        CHECK_OK(device_alloc(&s.h->device, (void **)&s.there, 3 * 8));
    CHECK_OK(heddle_set_scalars(s.h, scalars));
    CHECK(cu.retain(&context, number) == 0 && cu.use(context) == 0);
    capture(&s);
    for (int round = 0; round < 3; round++)
        replay(&s, round);
    CHECK(cu.exec_free(s.exec) == 0 && cu.graph_free(s.graph) == 0);
    CHECK_OK(heddle_set_stream(s.h, NULL));
    CHECK(cu.stream_free(s.stream) == 0);
    scene_free(&s);
    cu.use(NULL);
    cu.release(number);
}

TEST(products_are_captured_into_a_graph_and_replayed_with_new_vectors)
{
    if (!device_name() || !driver_ready())
        SKIP("there is no NVIDIA GPU");
    capture_and_replay(HEDDLE_ON_HOST);
}

TEST(scalars_on_the_device_change_between_launches_of_a_graph)
{
    if (!device_name() || !driver_ready())
        SKIP("there is no NVIDIA GPU");
    capture_and_replay(HEDDLE_ON_DEVICE);
}

/* Far more are under way at once than anybody waits for, and each has its own scalars, vectors and
 * kernels. */
TEST(products_that_are_under_way_keep_what_they_were_asked_for)
{
    enum { ROUNDS = 40 };
    struct scene s;
    if (!device_name())
        SKIP("there is no NVIDIA GPU");
    scene_new(&s);
    int64_t n = s.csr.rows;
    fill(s.host_x, n, 1);
    CHECK_OK(device_copy(&s.h->device, s.x, s.host_x, n * 8));
    for (int i = 0; i < ROUNDS * PRODUCTS; i++) {
        const double factor = i + 1;
        CHECK_OK(heddle_mv(s.h, i % 3 ? HEDDLE_T : HEDDLE_N, &factor, s.A, s.x, NULL, s.y[i % PRODUCTS]));
    }
    for (int i = (ROUNDS - 1) * PRODUCTS; i < ROUNDS * PRODUCTS; i++) {
        const double factor = i + 1;
        double worst = 0;
        CHECK_OK(heddle_mv(s.cpu, i % 3 ? HEDDLE_T : HEDDLE_N, &factor, s.on_cpu, s.host_x, NULL, s.want));
        CHECK_OK(device_read(&s.h->device, s.got, s.y[i % PRODUCTS], n * 8));
        for (int64_t k = 0; k < n; k++)
            worst = fmax(worst, fabs(s.got[k] - s.want[k]));
        CHECK_THAT(worst < 1e-8, "product %d differs by %g", i, worst);
    }
    scene_free(&s);
}

/* The capture is lost, the handle is not. */
TEST(a_product_that_cannot_be_captured_says_so)
{
    struct scene s;
    void *context = NULL;
    if (!device_name() || !driver_ready())
        SKIP("there is no NVIDIA GPU");
    scene_new(&s);
    int number = ((struct gpu_head *)s.h->device.gpu)->number;
    CHECK(cu.retain(&context, number) == 0 && cu.use(context) == 0);
    CHECK(cu.stream_new(&s.stream, STREAM_NON_BLOCKING) == 0);
    CHECK_OK(heddle_set_stream(s.h, s.stream));
    CHECK(cu.begin(s.stream, CAPTURE_GLOBAL) == 0);
    CHECK_FAILS(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.host_x, NULL, s.got), HEDDLE_BAD_ARGUMENT, "capture");
    cu.end(s.stream, &s.graph); /* an error, and the end of the capture */
    if (s.graph)
        cu.graph_free(s.graph);
    CHECK_OK(heddle_mv(s.h, HEDDLE_N, NULL, s.A, s.host_x, NULL, s.got));
    CHECK_OK(heddle_set_stream(s.h, NULL));
    CHECK(cu.stream_free(s.stream) == 0);
    scene_free(&s);
    cu.use(NULL);
    cu.release(number);
}

/* -------------------------------------------------------- memory ------------------------------ */

#define HOARD 512

struct hoard {
    void *piece[HOARD];
    int count;
};

/* Takes all memory of the device but less than 2 MB, in pieces that become smaller. */
static void take_all(struct hoard *all, const struct device *d)
{
    for (int64_t bytes = gpu_info_of(d->gpu)->memory / 8; bytes >= 1 << 20; bytes /= 2)
        while (all->count < HOARD && device_alloc(d, &all->piece[all->count], bytes) == HEDDLE_OK)
            all->count++;
}

static void give_all(struct hoard *all, const struct device *d)
{
    while (all->count > 0)
        device_free(d, all->piece[--all->count]);
}

TEST(out_of_memory_is_a_status_and_passes)
{
    struct hoard all = {.count = 0};
    struct csr csr;
    heddle *h = NULL;
    heddle_matrix *A = NULL, *B = NULL;
    heddle_plan *plan = NULL;
    struct bound *bound = NULL;
    void *p;
    if (!device_name())
        SKIP("there is no NVIDIA GPU");
    int64_t live = mem_live(); /* binaries that are loaded meanwhile stay until the device is closed */
    CHECK_OK(gen_matrix(&csr, "grid3d:n=100", HEDDLE_F64)); /* 84 MB on the device */
    CHECK_OK(heddle_open(&h, device_name()));
    CHECK_FAILS(device_alloc(&h->device, &p, 4 * gpu_info_of(h->device.gpu)->memory), HEDDLE_NO_MEMORY,
                "out of memory");
    CHECK_FAILS(device_alloc(&h->device, &p, (int64_t)1 << 60), HEDDLE_NO_MEMORY, " free");
    CHECK_OK(matrix_of(&A, h, &csr));
    take_all(&all, &h->device);
    CHECK_FAILS(matrix_of(&B, h, &csr), HEDDLE_NO_MEMORY, "out of memory");
    CHECK(!B);
    CHECK_FAILS(bound_new(&bound, &h->device, "ell", &A->view, HEDDLE_N), HEDDLE_NO_MEMORY, "out of memory");
    CHECK(!bound);
    /* what holds nothing will do, if its binary can be loaded */
    heddle_status poor = heddle_plan_create(&plan, h, A, NULL);
    CHECK_THAT(poor == HEDDLE_OK || poor == HEDDLE_NO_MEMORY, "%s: %s", heddle_status_name(poor),
               heddle_last_error());
    heddle_plan_free(plan);
    plan = NULL;
    give_all(&all, &h->device);
    CHECK_OK(matrix_of(&B, h, &csr));
    CHECK_OK(heddle_plan_create(&plan, h, A, NULL));
    heddle_plan_free(plan);
    heddle_matrix_free(A);
    heddle_matrix_free(B);
    heddle_close(h);
    csr_free(&csr);
    CHECK_THAT(mem_live() == live, "%lld allocations are left", (long long)(mem_live() - live));
}

/* -------------------------------------------------------- binaries ---------------------------- */

/* A matrix on the device while binaries come from `folder`: its kernels are loaded when it is made. */
static heddle_status make_with(const char *folder)
{
    static const int32_t row_ptr[] = {0, 1, 2}, col[] = {0, 1};
    static const double val[] = {1, 2};
    heddle_csr_desc desc = {.rows = 2,
                            .cols = 2,
                            .nnz = 2,
                            .row_ptr = row_ptr,
                            .col = col,
                            .val = val,
                            .types = {HEDDLE_F64, HEDDLE_I32, HEDDLE_I32}};
    heddle *h = NULL;
    heddle_matrix *A = NULL;
    setenv("HEDDLE_MODULE_DIR", folder, 1);
    heddle_status status = heddle_open(&h, device_name());
    if (status == HEDDLE_OK)
        status = heddle_csr(&A, h, &desc);
    unsetenv("HEDDLE_MODULE_DIR");
    heddle_matrix_free(A);
    heddle_close(h);
    return status;
}

/* The folder of a test's files, with one in it whose name is that of the look, the first that a matrix
 * needs. */
static const char *folder_with(const char *ending, const char *contents)
{
    static char folder[512];
    char name[128];
    snprintf(name, sizeof name, "look__f32_i32.%s", ending);
    snprintf(folder, sizeof folder, "%s", test_file(name, contents));
    *strrchr(folder, '/') = 0;
    return folder;
}

TEST(a_kernel_that_does_not_fit_the_device_is_no_kernel)
{
    static const char future[] = ".version 99.9\n.target sm_999\n.address_size 64\n";
    const char *saved = getenv("HEDDLE_MODULE_DIR"), *other = getenv("HEDDLE_TEST_OTHER_ARCH");
    char before[512] = "", ending[64];
    heddle *h = NULL;
    if (!device_name())
        SKIP("there is no NVIDIA GPU");
    snprintf(before, sizeof before, "%s", saved ? saved : "");
    CHECK_OK(heddle_open(&h, device_name()));
    snprintf(ending, sizeof ending, "%s.cubin", gpu_info_of(h->device.gpu)->arch);
    heddle_close(h);
    int64_t live = mem_live();
    CHECK_FAILS(make_with(folder_with("sm_00.cubin", "")), HEDDLE_NO_KERNEL, "there is no such file");
    CHECK_FAILS(make_with(folder_with("ptx", future)), HEDDLE_NO_KERNEL, "look__f32_i32.ptx");
    CHECK_FAILS(make_with(folder_with(ending, "this is no binary")), HEDDLE_NO_KERNEL, ending);
    if (other)
        CHECK_FAILS(make_with(other), HEDDLE_NO_KERNEL, "architecture");
    CHECK_THAT(mem_live() == live, "%lld allocations are left", (long long)(mem_live() - live));
    if (before[0])
        setenv("HEDDLE_MODULE_DIR", before, 1);
}

/* -------------------------------------------------------- a lost device ----------------------- */

/* An error in a kernel ends the context for the whole process: this part of a test runs in a process of
 * its own. */
static void in_a_child(const char *test)
{
    char command[1200], path[1000];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (!CHECK(size > 0))
        return;
    path[size] = 0;
    snprintf(command, sizeof command, "HEDDLE_TEST_CHILD=1 '%s' %s", path, test);
    CHECK_THAT(system(command) == 0, "the child process of %s", test);
}

TEST(a_kernel_that_reads_nowhere_loses_the_device_but_not_the_program)
{
    struct csr csr;
    heddle *h = NULL;
    heddle_matrix *A = NULL;
    const char *ran;
    void *x = NULL, *y = NULL, *nowhere = (void *)(uintptr_t)0x10000;
    if (!device_name())
        SKIP("there is no NVIDIA GPU");
    if (!getenv("HEDDLE_TEST_CHILD")) {
        in_a_child(__func__);
        return;
    }
    int64_t live = mem_live();
    CHECK_OK(gen_matrix(&csr, "grid2d:n=50", HEDDLE_F64));
    CHECK_OK(heddle_open(&h, device_name()));
    CHECK_OK(matrix_of(&A, h, &csr));
    CHECK_OK(device_alloc(&h->device, &x, csr.cols * 8));
    CHECK_OK(device_alloc(&h->device, &y, csr.rows * 8));
    /* A pointer that nobody knows does not get as far as a kernel. */
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, nowhere, NULL, y), HEDDLE_BAD_ARGUMENT,
                "neither of the device");
    CHECK_OK(heddle_sync(h));
    /* One that does: an error when it is waited for, the same ever after, and everything can be closed. */
    CHECK_OK(immediate_run(&h->device, &A->view, HEDDLE_N, (struct scalars){.alpha = 1}, nowhere, y, &h->room,
                           &ran));
    CHECK_FAILS(heddle_sync(h), HEDDLE_DEVICE_ERROR, "not mapped");
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y), HEDDLE_DEVICE_ERROR, "lost");
    CHECK_FAILS(heddle_sync(h), HEDDLE_DEVICE_ERROR, "start a new process");
    device_free(&h->device, x);
    device_free(&h->device, y);
    heddle_matrix_free(A);
    heddle_close(h);
    csr_free(&csr);
    CHECK_THAT(mem_live() == live, "%lld allocations are left", (long long)(mem_live() - live));
}

/* Freed memory may still be mapped, so what becomes of the product is open; it must not end the program. */
TEST(a_vector_that_was_freed_does_not_end_the_program)
{
    struct csr csr;
    heddle *h = NULL;
    heddle_matrix *A = NULL;
    void *x = NULL, *y = NULL;
    if (!device_name())
        SKIP("there is no NVIDIA GPU");
    if (!getenv("HEDDLE_TEST_CHILD")) {
        in_a_child(__func__);
        return;
    }
    CHECK_OK(gen_matrix(&csr, "grid2d:n=3000", HEDDLE_F64)); /* an x of 72 MB */
    CHECK_OK(heddle_open(&h, device_name()));
    CHECK_OK(matrix_of(&A, h, &csr));
    CHECK_OK(device_alloc(&h->device, &y, csr.rows * 8));
    CHECK_OK(device_alloc(&h->device, &x, csr.cols * 8));
    device_free(&h->device, x);
    heddle_status status = heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y);
    if (status == HEDDLE_OK)
        status = heddle_sync(h);
    CHECK_THAT(status == HEDDLE_OK || heddle_last_error()[0], "%s without a text",
               heddle_status_name(status));
    device_free(&h->device, y);
    heddle_matrix_free(A);
    heddle_close(h);
    csr_free(&csr);
}
