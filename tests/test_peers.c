/* SPDX-License-Identifier: MIT
 *
 * Other libraries' products, against libraries that compute on the host (fakes/fake_sparse.c), on the
 * emulator's memory. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "fakes/fake_sparse.h"
#include "fakes/use.h"
#include "test.h"

/* The library that peers of a name shall open from now on. */
static void use(const char *variable, const char *file)
{
    char path[1024];
    peers_close();
    snprintf(path, sizeof path, "%s%s", FAKES, file);
    setenv(variable, path, 1);
    unsetenv("FAKE_FAIL");
    unsetenv("FAKE_SPARSE_VERSION");
    unsetenv("FAKE_SPARSE_WRONG");
}

static struct fake_sparse_state *state_of(const char *variable)
{
    void *library = dlopen(getenv(variable), RTLD_NOW);
    return ((fake_sparse_function *)(uintptr_t)dlsym(library,
                                                     "fake_sparse"))(); /* stays open: the state with it */
}

struct setting {
    heddle *h;
    struct csr csr;
    heddle_matrix *A;
};

static void make(struct setting *s, const char *device, const struct awkward *w, heddle_type value,
                 heddle_type offset)
{
    *s = (struct setting){0};
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(awkward_make(&s->csr, w, value, offset));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
}

static void drop(struct setting *s)
{
    peers_close();
    heddle_matrix_free(s->A);
    csr_free(&s->csr);
    heddle_close(s->h);
}

/* y = op(A) x by a candidate; the number of entries that are wrong. */
static int64_t wrong_entries(struct setting *s, struct candidate *c)
{
    const struct device *d = &s->h->device;
    int64_t rows = s->csr.rows, cols = s->csr.cols, n = c->op == HEDDLE_N ? rows : cols,
            m = c->op == HEDDLE_N ? cols : rows;
    const heddle_type vector = vector_type(s->csr.value);
    int64_t size = (int64_t)type_size(vector), wrong = 0;
    void *x = awkward_vector(m, vector, 7, 1), *y = mem_zeroed(n + 1, 16), *x_there = NULL, *y_there = NULL;
    struct exact *e = mem_zeroed(n + 1, sizeof *e);
    CHECK_OK(device_alloc(d, &x_there, m * size));
    CHECK_OK(device_alloc(d, &y_there, n * size));
    CHECK_OK(device_copy(d, x_there, x, m * size));
    CHECK_OK(candidate_run(c, (struct scalars){.alpha = 1}, x_there, y_there));
    CHECK_OK(device_read(d, y, y_there, n * size));
    awkward_reference(e, &s->csr, c->op, x);
    for (int64_t i = 0; i < n; i++)
        wrong += !awkward_good(value_at(y, vector, i), &e[i], (struct awkward_scalars){1, 0}, 0, vector, 1);
    device_free(d, x_there);
    device_free(d, y_there);
    mem_free(x);
    mem_free(y);
    mem_free(e);
    return wrong;
}

/* Every algorithm on one matrix; how many were measured. */
static int every_algorithm(struct setting *s, const struct awkward *w, heddle_op op, const char *library)
{
    struct candidate_list list = {0};
    int ran = 0;
    CHECK_OK(candidates_add_peers(&list, library, "", PEER_one));
    for (int i = 0; i < list.count; i++) {
        struct candidate c;
        heddle_status status = candidate_new(&c, s->h, s->A, op, ONE_VECTOR, list.name[i]);
        if (status != HEDDLE_OK) {
            CHECK_THAT(status == HEDDLE_NO_KERNEL || status == HEDDLE_NOT_SUPPORTED, "%s on %s: %s",
                       list.name[i], w->name, heddle_last_error());
            continue;
        }
        int64_t wrong = wrong_entries(s, &c);
        CHECK_THAT(wrong == 0, "%s on %s: %d entries are wrong", list.name[i], w->name, (int)wrong);
        candidate_free(&c);
        ran++;
    }
    return ran;
}

/* Entries in whole blocks of 3 x 3. */
static int64_t of_nine(int64_t i, int64_t rows, int64_t cols)
{
    (void)i, (void)rows, (void)cols;
    return 6;
}
static int64_t block_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    (void)n, (void)random;
    return (i / 3 * 3 + j / 3 * 12 + j % 3) % cols;
}
static const struct awkward blocked = {"blocked", "BSR", 90, 90, of_nine, block_column};

/* All awkward matrices that are not large, in every type, by every algorithm of a library; nothing is left
 * behind. */
static int every_matrix(const char *device, const char *library, const char *variable)
{
    static const heddle_type types[] = {HEDDLE_F32, HEDDLE_F64}, offsets[] = {HEDDLE_I32, HEDDLE_I64};
    struct fake_sparse_state *state = state_of(variable); /* first, so that the library stays loaded */
    int ran = 0;
    for (int i = 0; i < awkward_count; i++)
        for (int v = 0; v < 4; v++) {
            struct setting s;
            if (awkward[i].rows > 5000 || awkward[i].cols > 5000)
                continue;
            make(&s, device, &awkward[i], types[v / 2], offsets[v % 2]);
            ran += every_algorithm(&s, &awkward[i], HEDDLE_N, library);
            ran += every_algorithm(&s, &awkward[i], HEDDLE_T, library);
            drop(&s);
        }
    CHECK_THAT(state->handles == 0 && state->matrices == 0 && state->vectors == 0 && state->plans == 0,
               "%s keeps handles %d, matrices %d, vectors %d, plans %d", library, (int)state->handles,
               (int)state->matrices, (int)state->vectors, (int)state->plans);
    CHECK(state->prepared > 0);
    return ran;
}

/* A library in every type of numbers that both it and Heddle's device have. */
static void every_type(const char *device, const char *library, const char *variable, const char *has)
{
    const char *kernel = strncmp(device, "cpu", 3) == 0 ? "cpu_csr" : "csr_weave";
    char all[64], word[16];
    snprintf(all, sizeof all, " %s ", has);
    state_of(variable);
    for (int t = 0; t < TYPES_MOST; t++) {
        const heddle_type type = types_known[t];
        struct setting s;
        if (!kernel_has(kernel_by_name(kernel), type))
            continue;
        make(&s, device, &blocked, type, HEDDLE_I32);
        snprintf(word, sizeof word, " %s ", type_name(type));
        for (heddle_op op = HEDDLE_N; op <= (is_complex(type) ? HEDDLE_H : HEDDLE_T); op++) {
            const int ran = every_algorithm(&s, &blocked, op, library);
            CHECK_THAT(strstr(all, word) ? ran > 0 : ran == 0, "%s ran %d algorithms in %s", library, ran,
                       type_name(type));
        }
        drop(&s);
    }
}

TEST(each_library_multiplies_in_the_types_that_it_has)
{
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so"); /* as one without f32v64, which it says itself */
    every_type("emu", "cusparse", "HEDDLE_CUSPARSE_LIBRARY", "f32 f64 c32 c64 f16 bf16");
    use("HEDDLE_HIPSPARSE_LIBRARY", "libfake_hipsparse.so");
    every_type("emu:wave=64", "hipsparse", "HEDDLE_HIPSPARSE_LIBRARY", "f32 f64 c32 c64");
    use("HEDDLE_ROCSPARSE_LIBRARY", "libfake_rocsparse.so");
    every_type("emu", "rocsparse", "HEDDLE_ROCSPARSE_LIBRARY", "f32 f64 c32 c64");
    use("HEDDLE_MKL_LIBRARY", "libfake_cpu_sparse.so");
    every_type("cpu", "mkl", "HEDDLE_MKL_LIBRARY", "f32 f64");
    use("HEDDLE_RSB_LIBRARY", "libfake_cpu_sparse.so");
    every_type("cpu", "rsb", "HEDDLE_RSB_LIBRARY", "f32 f64 c32 c64");
}

TEST(every_algorithm_multiplies_every_awkward_matrix_or_says_why_not)
{
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse_op.so");
    setenv("FAKE_SPARSE_VERSION", "12709", 1);
    CHECK(every_matrix("emu", "cusparse", "HEDDLE_CUSPARSE_LIBRARY") > 100);
    use("HEDDLE_HIPSPARSE_LIBRARY", "libfake_hipsparse.so");
    CHECK(every_matrix("emu:wave=64", "hipsparse", "HEDDLE_HIPSPARSE_LIBRARY") > 100);
    use("HEDDLE_ROCSPARSE_LIBRARY", "libfake_rocsparse.so");
    CHECK(every_matrix("emu:wave=64", "rocsparse", "HEDDLE_ROCSPARSE_LIBRARY") > 100);
}

static const char *const cpu_libraries[][2] = {
    {"mkl", "HEDDLE_MKL_LIBRARY"}, {"armpl", "HEDDLE_ARMPL_LIBRARY"}, {"rsb", "HEDDLE_RSB_LIBRARY"}};

TEST(so_do_the_libraries_for_cpus)
{
    for (int i = 0; i < 3; i++) {
        use(cpu_libraries[i][1], "libfake_cpu_sparse.so");
        CHECK(every_matrix("cpu:threads=2", cpu_libraries[i][0], cpu_libraries[i][1]) > 50);
    }
}

TEST(failures_of_the_other_libraries_are_named_too)
{
    static const struct {
        const char *device, *variable, *file, *fail, *peer, *words;
    } cases[] = {
        {"emu", "HEDDLE_ROCSPARSE_LIBRARY", "libfake_rocsparse.so", "rocsparse_spmv@2=5", "rocsparse:csr_lrb",
         "rocsparse: rocsparse_spmv (preprocess): rocsparse_status_invalid_value"},
        {"emu", "HEDDLE_HIPSPARSE_LIBRARY", "libfake_hipsparse.so", "hipsparseSpMV=10", "hipsparse:coo_alg1",
         "hipsparse: hipsparseSpMV: FAKE_STATUS_NOT_SUPPORTED"},
        {"cpu", "HEDDLE_MKL_LIBRARY", "libfake_cpu_sparse.so", "mkl_sparse_optimize=6", "mkl:csr",
         "mkl: mkl_sparse_optimize: SPARSE_STATUS_NOT_SUPPORTED"},
        {"cpu", "HEDDLE_ARMPL_LIBRARY", "libfake_cpu_sparse.so", "armpl_spmv_optimize=2", "armpl:csr",
         "armpl: armpl_spmv_optimize: ARMPL_STATUS_EXECUTION_FAILURE"},
        {"cpu", "HEDDLE_RSB_LIBRARY", "libfake_cpu_sparse.so", "rsb_mtx_alloc_from_csr_const=7", "rsb:rsb",
         "rsb: rsb_mtx_alloc_from_csr_const: fake error 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct setting s;
        struct candidate c;
        use(cases[i].variable, cases[i].file);
        struct fake_sparse_state *state = state_of(cases[i].variable);
        make(&s, cases[i].device, &blocked, HEDDLE_F64, HEDDLE_I32);
        setenv("FAKE_FAIL", cases[i].fail, 1);
        CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, cases[i].peer), HEDDLE_NOT_SUPPORTED,
                    cases[i].words);
        unsetenv("FAKE_FAIL");
        drop(&s);
        CHECK_THAT(state->handles == 0 && state->matrices == 0 && state->vectors == 0, "after %s",
                   cases[i].fail);
    }
}

TEST(blocks_are_found_where_they_are_and_refused_where_they_are_not)
{
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:bsr"));
    CHECK(c.peer && c.peer->arrays.block == 3 && c.peer->arrays.stored == s.csr.nnz &&
          strcmp(c.format, "bsr") == 0);
    CHECK(wrong_entries(&s, &c) == 0);
    candidate_free(&c);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:bsr:block=5"));
    CHECK(c.peer && c.peer->arrays.block == 5 && wrong_entries(&s, &c) == 0);
    candidate_free(&c);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:bsr:block=7"), HEDDLE_NO_KERNEL,
                "do not divide");
    drop(&s);
}

TEST(cusparse_is_not_asked_to_transpose_blocks_and_what_it_refuses_is_named)
{
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    setenv("FAKE_FAIL", "cusparseCreateBsr=3", 1); /* what it would say if it were */
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_T, ONE_VECTOR, "cusparse:bsr"), HEDDLE_NO_KERNEL,
                "cusparse: SpMV computes only A x of a matrix in BSR");
    unsetenv("FAKE_FAIL");
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_T, ONE_VECTOR, "cusparse:sell"), HEDDLE_NOT_SUPPORTED,
                "cusparse: cusparseSpMV_bufferSize: FAKE_STATUS_NOT_SUPPORTED");
    drop(&s);
}

static int64_t scattered_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    (void)n, (void)random;
    return (i * 37 + j * 15) % cols;
}

TEST(a_matrix_without_blocks_is_not_given_to_bsr)
{
    static const struct awkward scattered = {"scattered", "BSR", 90, 90, of_nine, scattered_column};
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    make(&s, "emu", &scattered, HEDDLE_F64, HEDDLE_I32);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:bsr"), HEDDLE_NO_KERNEL,
                "no blocks");
    drop(&s);
}

TEST(slices_may_be_chosen)
{
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    make(&s, "emu", &blocked, HEDDLE_F32, HEDDLE_I32);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:sell:slice=4"));
    CHECK(c.peer && c.peer->arrays.slice == 4 && wrong_entries(&s, &c) == 0);
    candidate_free(&c);
    drop(&s);
}

TEST(the_preparation_can_be_left_out)
{
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    struct fake_sparse_state *state = state_of("HEDDLE_CUSPARSE_LIBRARY");
    int64_t before = state->prepared;
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:csr_alg2:preprocess=0"));
    CHECK(state->prepared == before && state->alg == 3);
    CHECK(c.bytes == 128 && c.prepare_ms > 0 && c.convert_ms == 0 &&
          strcmp(c.peer->version, "cusparse 12603") == 0);
    candidate_free(&c);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:coo_alg2"));
    CHECK(state->prepared == before + 2 && state->alg == 4 && c.convert_ms > 0 &&
          c.bytes == 128 + 4 * s.csr.nnz);
    candidate_free(&c);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:coo_alg2"));
    /* the first of its kind is made twice: it loads the library's code */
    CHECK(state->prepared == before + 3);
    candidate_free(&c);
    setenv("FAKE_FAIL", "cusparseSpMV_preprocess=10", 1);
    CHECK_OK(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:coo_alg1")); /* COO needs none */
    candidate_free(&c);
    unsetenv("FAKE_FAIL");
    drop(&s);
}

TEST(a_library_that_is_not_there_or_too_old_is_a_reason_to_skip)
{
    struct setting s;
    struct candidate c;
    use("HEDDLE_CUSPARSE_LIBRARY", "nosuch.so");
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:csr_alg1"), HEDDLE_NOT_SUPPORTED,
                "HEDDLE_CUSPARSE_LIBRARY");
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse_old.so");
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:sell"), HEDDLE_NOT_SUPPORTED,
                "has no sliced ELL");
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:spmvop"), HEDDLE_NOT_SUPPORTED,
                "has no SpMVOp");
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse_op.so");
    setenv("FAKE_SPARSE_VERSION", "12800", 1);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:spmvop"), HEDDLE_NOT_SUPPORTED,
                "other arguments");
    drop(&s);
    unsetenv("HEDDLE_CUSPARSE_LIBRARY");
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:csr_alg1"), HEDDLE_NOT_SUPPORTED,
                "this one is emu");
    drop(&s);
    make(&s, "cpu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:csr_alg1"), HEDDLE_NOT_SUPPORTED,
                "this one is cpu");
    drop(&s);
}

TEST(each_call_that_fails_is_named_with_its_status_and_leaves_nothing_behind)
{
    static const char *const calls[] = {"Create",          "SetStream",       "CreateCsr", "CreateDnVec",
                                        "SpMV_bufferSize", "SpMV_preprocess", "SpMV"};
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    struct fake_sparse_state *state = state_of("HEDDLE_CUSPARSE_LIBRARY");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct setting s;
        struct candidate c;
        char script[64], words[96];
        make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
        snprintf(script, sizeof script, "cusparse%s=10", calls[i]);
        snprintf(words, sizeof words, "cusparse: cusparse%s: FAKE_STATUS_NOT_SUPPORTED", calls[i]);
        setenv("FAKE_FAIL", script, 1);
        CHECK_FAILS(candidate_new(&c, s.h, s.A, HEDDLE_N, ONE_VECTOR, "cusparse:csr_alg1"),
                    HEDDLE_NOT_SUPPORTED, words);
        unsetenv("FAKE_FAIL");
        drop(&s);
        CHECK_THAT(state->handles == 0 && state->matrices == 0 && state->vectors == 0, "after %s", calls[i]);
    }
}

static heddle_status one_candidate(void *argument)
{
    struct setting *s = argument;
    struct candidate c;
    heddle_status status = candidate_new(&c, s->h, s->A, HEDDLE_N, ONE_VECTOR, "cusparse:bsr");
    if (status == HEDDLE_OK)
        candidate_free(&c);
    return status;
}

TEST(every_allocation_of_a_peer_may_fail)
{
    struct setting s;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    make(&s, "emu", &blocked, HEDDLE_F64, HEDDLE_I32);
    CHECK_OK(one_candidate(&s));
    CHECK(test_every_allocation(one_candidate, &s) > 5);
    drop(&s);
}

TEST(names_of_peers_are_checked_before_anything_runs)
{
    struct candidate_list list = {0};
    CHECK_OK(candidates_add_peers(&list, "cusparse", "cuda", PEER_one));
    int all = list.count;
    CHECK(all == 9 && strcmp(list.name[0], "cusparse:csr_alg1") == 0 &&
          strcmp(list.name[1], "cusparse:csr_alg1:preprocess=0") == 0);
    CHECK_OK(candidates_add_peers(&list, "cusparse:csr_alg2,cusparse:sell:slice=8", "cuda", PEER_one));
    CHECK(list.count == all + 1);
    CHECK_FAILS(candidates_add_peers(&list, "cusparze", "cuda", PEER_one), HEDDLE_BAD_ARGUMENT,
                "there is no peer 'cusparze'");
    CHECK_FAILS(candidates_add_peers(&list, "cusparse:csr_alg9", "cuda", PEER_one), HEDDLE_BAD_ARGUMENT,
                "csr_alg1, csr_alg2");
    CHECK_FAILS(candidates_add_peers(&list, "cusparse:coo_alg1:preprocess=0", "cuda", PEER_one),
                HEDDLE_BAD_ARGUMENT, "preprocess");
    CHECK_FAILS(candidate_check("cusparse:"), HEDDLE_BAD_ARGUMENT, "");
}

/* ------------------------------------------------------------------ beside a vendor's driver */

TEST(the_device_is_current_while_a_peer_lives_and_its_memory_is_given_back)
{
    struct csr here, there;
    struct peer *p = NULL;
    use("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    const struct fake_vendor *v = &fake_vendors[0];
    struct device d = {.kind = DEVICE_gpu, .gpu = fake_open(v)};
    double x[90] = {0}, y[90] = {1};
    CHECK_OK(awkward_make(&here, &blocked, HEDDLE_F64, HEDDLE_I32));
    CHECK_OK(device_csr_upload(&d, &there, &here));
    CHECK(fake_state_of(v)->depth == 0);
    CHECK_OK(peer_new(&p, &d, &there, HEDDLE_N, ONE_VECTOR, "cusparse:sell"));
    CHECK(p && fake_state_of(v)->depth == 1);
    if (p) {
        CHECK_OK(peer_run(p, (struct scalars){.alpha = 1}, x, y));
        CHECK(fake_state_of(v)->depth == 1 && y[0] == 0);
    }
    peer_free(p);
    CHECK(fake_state_of(v)->depth == 0);
    peers_close();
    device_csr_free(&d, &there);
    csr_free(&here);
    fake_close(v, d.gpu);
}

TEST(a_throttled_device_is_noticed_and_without_nvml_nothing_is_known)
{
    struct clocks c;
    const struct fake_vendor *v = &fake_vendors[0];
    struct device d = {.kind = DEVICE_gpu, .gpu = fake_open(v)};
    setenv("HEDDLE_NVML_LIBRARY", FAKES "libfake_nvml.so", 1);
    setenv("FAKE_THROTTLE", "1", 1); /* idle is no reason */
    clocks_open(&c, &d);
    CHECK(c.library && clocks_core_mhz(&c) == 1980 && clocks_memory_mhz(&c) == 3201 && !clocks_slowed(&c));
    setenv("FAKE_THROTTLE", "64", 1);
    CHECK(!clocks_slowed(&c)); /* the answer of a moment ago */
    c.asked = 0;
    CHECK(clocks_slowed(&c));
    clocks_close(&c);
    setenv("HEDDLE_NVML_LIBRARY", "", 1);
    clocks_open(&c, &d);
    CHECK(!c.library && clocks_core_mhz(&c) == 0 && !clocks_slowed(&c));
    clocks_close(&c);
    unsetenv("HEDDLE_NVML_LIBRARY");
    fake_close(v, d.gpu);
}

/* ------------------------------------------------------------------ the summary */
