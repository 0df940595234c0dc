/* SPDX-License-Identifier: MIT
 *
 * The exact half of verification through every path: Heddle's choices, plans, every kernel and other
 * libraries, on the CPU, the emulator and the devices of HEDDLE_TEST_DEVICES.  A candidate is right about
 * its matrix; asked about one that differs in a single entry of a long row, it must be called wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/proof.h"
#include "gen/gen.h"
#include "subject/describe.h"
#include "subject/subject.h"
#include "test.h"

/* One row and one column are full, as in rows of f32 where bounds of rounding are wide. */
#define MATRIX "arrow:n=300,width=1"

struct setting {
    heddle *h;
    struct csr csr, other[2]; /* others: an entry in the next column, an entry in the next row; they own
                               * what differs */
    heddle_matrix *A;
};

static heddle_status copied(void **to, const void *from, int64_t bytes)
{
    if (!(*to = mem_alloc(bytes, 1)))
        return HEDDLE_NO_MEMORY;
    memcpy(*to, from, (size_t)bytes);
    return HEDDLE_OK;
}

/* The last entry of the full row and the first row's end. */
static void make(struct setting *s, const char *device, heddle_type type)
{
    void *p = NULL;
    *s = (struct setting){0};
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(gen_matrix(&s->csr, MATRIX, type));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    s->other[0] = s->other[1] = s->csr;
    CHECK_OK(copied(&p, s->csr.col, s->csr.nnz * (int64_t)sizeof(int32_t)));
    s->other[0].col = p;
    s->other[0].col[csr_offset(&s->csr, 1) - 1]--;
    CHECK_OK(copied(&p, s->csr.row_ptr, (s->csr.rows + 1) * (int64_t)type_size(s->csr.offset)));
    s->other[1].row_ptr = p;
    if (s->csr.offset == HEDDLE_I64)
        ((int64_t *)p)[1]--;
    else
        ((int32_t *)p)[1]--;
}

static void leave(struct setting *s)
{
    peers_close();
    mem_free(s->other[0].col);
    mem_free(s->other[1].row_ptr);
    heddle_matrix_free(s->A);
    csr_free(&s->csr);
    heddle_close(s->h);
}

/* Is what the candidate computes called right as op(csr) x? */
static int proven(struct setting *s, const struct csr *csr, struct candidate *c, struct scalars scalars)
{
    struct proof p = {0};
    struct verdict v = {0};
    char text[VERDICT_TEXT] = "";
    CHECK_OK(proof_new(&p, s->h, s->A, csr, c->op, c->vectors, scalars));
    CHECK_OK(proof_of(&p, c, &v, text));
    CHECK(v.passed == (text[0] == 0));
    c->A = s->A;
    proof_free(&p);
    return v.passed;
}

static int try_all(const char *device, heddle_type type, heddle_op op, struct vector_group vectors,
                   const char *peers)
{
    struct setting s;
    struct candidate_list list = {0};
    int ran = 0;
    make(&s, device, type);
    if (peers)
        CHECK_OK(candidates_add_peers(&list, peers, s.h->device.kind == DEVICE_gpu ? "emu" : "cpu",
                                      vectors_count(vectors) > 1 ? PEER_several : PEER_one));
    else
        CHECK_OK(candidates_add(&list, "all,auto:deterministic=1,plan:deterministic=1",
                                s.h->device.kind == DEVICE_gpu ? "gpu" : "cpu"));
    for (int i = 0; i < list.count; i++) {
        const struct scalars scalars =
            i % 2 ? (struct scalars){.alpha = 1} : (struct scalars){.alpha = -1, .beta = 2};
        struct candidate c = {0};
        if (candidate_new(&c, s.h, s.A, op, vectors, list.name[i]) != HEDDLE_OK)
            continue;
        CHECK_THAT(proven(&s, &s.csr, &c, scalars),
                   "%s on %s, op %d, type %d: a right product is called wrong", list.name[i], device, op,
                   type);
        for (int k = 0; k < 2 && !c.fixed; k++) /* its values cannot be exchanged for integers */
            CHECK_THAT(!proven(&s, &s.other[k], &c, scalars),
                       "%s on %s, op %d, type %d: an entry is in another %s", list.name[i], device, op, type,
                       k ? "row" : "column");
        candidate_free(&c);
        ran++;
    }
    leave(&s);
    return ran;
}

/* Does an immediate product take such values there? */
static int has(const char *device, heddle_type type)
{
    return kernel_has(kernel_by_name(strncmp(device, "cpu", 3) == 0 ? "cpu_csr" : "csr_weave"), type);
}

static void try_device(const char *device, int least)
{
    for (int t = 0; t < TYPES_MOST; t++)
        for (heddle_op op = HEDDLE_N; op <= (is_complex(types_known[t]) ? HEDDLE_H : HEDDLE_T); op++) {
            if (!has(device, types_known[t]))
                continue;
            int ran = try_all(device, types_known[t], op, ONE_VECTOR, NULL);
            CHECK_THAT(ran >= (t < 2 ? least : 0), "%s: only %d candidates", device, ran);
        }
}

TEST(every_candidate_of_the_cpu_is_proven)
{
    try_device("cpu:threads=2", 8);
}

TEST(every_candidate_of_the_emulator_is_proven)
{
    try_device("emu", 15);
}

TEST(every_candidate_of_other_devices_is_proven)
{
    const char *names = getenv("HEDDLE_TEST_DEVICES");
    char name[32];
    for (int used; names && sscanf(names, "%31s%n", name, &used) == 1; names += used)
        try_device(name, 15);
}

TEST(every_candidate_is_proven_with_several_vectors)
{
    static const struct vector_group vectors[] = {{3, HEDDLE_ROW_MAJOR}, {9, HEDDLE_COLUMN_MAJOR}};
    for (int v = 0; v < 2; v++)
        for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
            CHECK(try_all("cpu:threads=2", v ? HEDDLE_F32 : HEDDLE_F64, op, vectors[v], NULL) >= 8);
            CHECK(try_all("emu", v ? HEDDLE_F64 : HEDDLE_F32, op, vectors[v], NULL) >= 15);
            CHECK(try_all("cpu:threads=2", HEDDLE_C64, op + 1, vectors[v], NULL) >= 2); /* T and H */
        }
}

/* A number that is wrong is found in whichever vector it stands, and the text names the vector. */
TEST(the_vector_that_is_wrong_is_named)
{
    struct setting s;
    make(&s, "cpu:threads=1", HEDDLE_F64);
    for (int layout = 0; layout < 2; layout++) {
        const struct vector_group vectors = {4, (heddle_layout)layout};
        const int64_t n = s.csr.rows;
        double *x = mem_zeroed(4 * n, sizeof *x), *y = mem_zeroed(4 * n, sizeof *y);
        struct references r;
        struct verdict v;
        char text[VERDICT_TEXT];
        for (int64_t i = 0; i < 4 * n; i++)
            x[i] = 0.25 + (double)(i % 17);
        CHECK_OK(
            references_new(&r, &(struct equation){.A = &s.csr, .alpha = 1, .x = x}, vectors, reference_new));
        CHECK_OK(heddle_mm(s.h, HEDDLE_N, NULL, s.A, 4, vectors.layout, x, 0, NULL, y, 0));
        references_judge(&v, text, &r, y);
        CHECK(v.passed && text[0] == 0 && v.error < 1);
        y[layout == HEDDLE_ROW_MAJOR ? 17 * 4 + 2 : 17 + 2 * n] += 1;
        references_judge(&v, text, &r, y);
        CHECK(!v.passed && v.first == 17 && v.error > 1);
        CHECK_THAT(strncmp(text, "vector 2: row 17 ", 17) == 0, "it says '%s'", text);
        references_free(&r);
        mem_free(x);
        mem_free(y);
    }
    leave(&s);
}

static void library(const char *variable, const char *file)
{
    char path[1024];
    peers_close();
    snprintf(path, sizeof path, "%s%s", FAKES, file);
    setenv(variable, path, 1);
}

TEST(other_libraries_are_proven)
{
    library("HEDDLE_CUSPARSE_LIBRARY", "libfake_cusparse.so");
    library("HEDDLE_MKL_LIBRARY", "libfake_cpu_sparse.so");
    for (heddle_type type = HEDDLE_F32; type <= HEDDLE_F64; type++)
        for (heddle_op op = HEDDLE_N; op <= HEDDLE_T; op++) {
            CHECK(try_all("emu", type, op, ONE_VECTOR, "cusparse") >= 4);
            CHECK(try_all("cpu", type, op, ONE_VECTOR, "mkl") >= 1);
            CHECK(try_all("emu", type, op, (struct vector_group){5, HEDDLE_ROW_MAJOR}, "cusparse") >= 9);
            CHECK(try_all("emu", type, op, (struct vector_group){2, HEDDLE_COLUMN_MAJOR}, "cusparse") >= 9);
            CHECK(try_all("cpu", type, op, (struct vector_group){5, HEDDLE_ROW_MAJOR}, "mkl") == 0);
        }
    for (int t = 2; t < TYPES_MOST - 1; t++)
        for (heddle_op op = HEDDLE_N; op <= (is_complex(types_known[t]) ? HEDDLE_H : HEDDLE_T); op++)
            if (has("emu", types_known[t]))
                CHECK(try_all("emu", types_known[t], op, ONE_VECTOR, "cusparse") >= 2);
    unsetenv("HEDDLE_CUSPARSE_LIBRARY");
    unsetenv("HEDDLE_MKL_LIBRARY");
}

TEST(a_proof_survives_every_failing_allocation_and_leaves_nothing)
{
    struct setting s;
    make(&s, "cpu:threads=1", HEDDLE_F32);
    for (int n = 0, done = 0; !done && n < 100; n++) {
        struct proof p;
        int64_t before = mem_live();
        mem_fail_after(n);
        done = proof_new(&p, s.h, s.A, &s.csr, HEDDLE_T, (struct vector_group){2, HEDDLE_ROW_MAJOR},
                         (struct scalars){.alpha = 1}) == HEDDLE_OK;
        mem_fail_after(-1);
        proof_free(&p);
        CHECK(mem_live() == before && (done ? n > 5 : 1));
    }
    leave(&s);
}
