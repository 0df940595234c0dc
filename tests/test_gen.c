/* SPDX-License-Identifier: MIT
 *
 * Matrix families: the same matrix on every machine and for any number of threads, at every size; errors
 * that help. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "gen/gen.h"
#include "gen/random.h"
#include "test.h"

/* A small matrix of each family and what its checksum is.  A difference on another machine means that some
 * decision depends on it; a difference after a change means that the family now makes other matrices,
 * which users must be told. */
static const struct {
    const char *spec;
    uint64_t checksum;
} families[] = {
    {"grid2d:n=13,points=9,dof=2", 0x26a2b9f201b1a088},
    {"grid2d:nx=17,ny=5,points=7,values=random", 0x0ac4349db14165c9},
    {"grid3d:nx=4,ny=6,nz=5,points=27,dof=3,values=random", 0xf95afe981142a88c},
    {"grid3d:n=7", 0x697e0687f2f78ac2},
    {"band:n=90,width=3,upper=7", 0xbedafa87206865bb},
    {"diagonal:n=120,count=5,step=11", 0x31ea7e879eb5a9be},
    {"random:n=300,mean=7.25,deviation=3,longest=40", 0x7fcb17835a3ce052},
    {"random:rows=50,cols=900,mean=30", 0xbc9a3222cb738b13},
    {"gauss:n=400,mean=22,sigma=17,seed=5", 0x79419e282a44a603},
    {"rmat:n=512,degree=9.5", 0xbe5dd5c7149d751f},
    {"rmat:n=300,shuffle=0", 0x0071a2a1590713b8},
    {"powerlaw:n=900,mean=4,empty=30", 0x1cd11047deb0e936},
    {"powerlaw:n=500,nnz=3000,longest=200,exponent=2.7,run=4", 0x2ae40763ad5e4613},
    {"road:n=1000", 0x88a0633458f16c07},
    {"circuit:n=400,dense=4,longest=300", 0x0221b587b27e4e72},
    {"lsq:n=500", 0x5990851c83a99862},
    {"kkt:n=301,longest=40", 0xd87e9b559c71b5cc},
    {"tomography:n=11,angles=9", 0xd4bc95d6bee0e77c},
    {"qcd:n=3,nt=4", 0x63618c3307d7eaa3},
    {"markov:nx=9,ny=14", 0x00a9451a0d0a39d9},
    {"blocks:n=302,mean=31,deviation=9,longest=62,far=10", 0xb44788bb14aedfc8},
    {"arrow:n=50,width=3", 0x8d58acb7137167fa},
    {"empty:n=200,mode=clustered", 0x2412a1c431e44567},
    {"empty:n=200,share=80", 0x17295d8b6ae6afea},
    {"dense:rows=11,cols=7", 0x37eb837aad1fa1ec},
};
#define FAMILIES ((int)(sizeof families / sizeof families[0]))

static uint64_t checksum(const struct csr *A)
{
    uint64_t sum = 1;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            sum = mix(sum + (uint64_t)i);
            sum = mix(sum + (uint64_t)A->col[k]);
            sum = mix(sum + (uint64_t)(int64_t)(value_at(A->val, A->value, k) * 1024));
        }
    return mix(sum + (uint64_t)A->rows) + (uint64_t)A->cols;
}

static void use_threads(int threads)
{
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    setenv("OMP_NUM_THREADS", text, 1);
}

static int is_good(const struct csr *A, const char *spec)
{
    int good = CHECK_OK(csr_validate(A)) && CHECK_THAT(csr_is_sorted(A), "%s: not sorted", spec);
    for (int64_t k = 0; good && k < A->nnz; k++) {
        double v = value_at(A->val, A->value, k);
        good = CHECK_THAT(v != 0 && v >= -1024 && v <= 1024 && v * 1024 == (double)(int64_t)(v * 1024),
                          "%s: value %g", spec, v);
    }
    return good;
}

TEST(every_family_makes_the_matrix_it_always_made)
{
    for (int f = 0; f < FAMILIES; f++) {
        struct csr A;
        if (!CHECK_OK(gen_matrix(&A, families[f].spec, HEDDLE_F64)))
            continue;
        is_good(&A, families[f].spec);
        CHECK_THAT(checksum(&A) == families[f].checksum, "{\"%s\", 0x%016llx}, is the new checksum",
                   families[f].spec, (unsigned long long)checksum(&A));
        csr_free(&A);
    }
}

TEST(every_family_is_in_the_table_of_checksums)
{
    for (int f = 0; f < family_count(); f++) {
        size_t length = strlen(family_at(f)->name);
        int found = 0;
        for (int i = 0; i < FAMILIES; i++)
            found |=
                strncmp(families[i].spec, family_at(f)->name, length) == 0 && families[i].spec[length] == ':';
        CHECK_THAT(found, "%s", family_at(f)->name);
    }
    CHECK(family_at(-1) == NULL && family_at(family_count()) == NULL);
}

TEST(the_matrix_is_the_same_for_any_number_of_threads_and_either_type)
{
    static const int threads[] = {1, 2, 3, 7};
    int before = threads_default();
    for (int f = 0; f < FAMILIES; f++)
        for (int t = 0; t < 4; t++) {
            struct csr A;
            use_threads(threads[t]);
            if (CHECK_OK(gen_matrix(&A, families[f].spec, t % 2 ? HEDDLE_F32 : HEDDLE_F64)))
                CHECK_THAT(checksum(&A) == families[f].checksum, "%s with %d threads", families[f].spec,
                           threads[t]);
            csr_free(&A);
        }
    use_threads(before);
}

/* Every family in every type: the same numbers, rounded; complex ones without an imaginary part. */
TEST(values_are_the_same_in_every_type_up_to_rounding)
{
    static const heddle_type types[] = {HEDDLE_F32, HEDDLE_F16, HEDDLE_BF16, F32_F64, HEDDLE_C32, HEDDLE_C64};
    for (int f = 0; f < FAMILIES; f++)
        for (int t = 0; t < 6; t++) {
            struct csr A, B;
            c64 rounded;
            if (!CHECK_OK(gen_matrix(&A, families[f].spec, HEDDLE_F64)) ||
                !CHECK_OK(gen_matrix(&B, families[f].spec, types[t])))
                continue;
            int64_t other = A.nnz != B.nnz;
            for (int64_t k = 0; k < A.nnz && !other; k++) {
                value_put(&rounded, types[t], 0, value_at(A.val, HEDDLE_F64, k));
                other +=
                    A.col[k] != B.col[k] || value_at(&rounded, types[t], 0) != value_at(B.val, types[t], k);
            }
            CHECK_THAT(other == 0 && B.value == types[t], "%s in type %d", families[f].spec, (int)types[t]);
            csr_free(&A);
            csr_free(&B);
        }
}

/* values=complex: the same matrix on every machine and for any number of threads. */
TEST(every_family_has_complex_values)
{
    int before = threads_default();
    for (int f = 0; f < FAMILIES; f++) {
        struct csr A, B, C;
        char spec[256];
        snprintf(spec, sizeof spec, "%s%svalues=complex", families[f].spec,
                 strchr(families[f].spec, ':') ? "," : ":");
        if (strstr(families[f].spec, "values="))
            continue;
        use_threads(3);
        if (!CHECK_OK(gen_matrix(&A, families[f].spec, HEDDLE_F64)) ||
            !CHECK_OK(gen_matrix(&B, spec, HEDDLE_TYPE_DEFAULT)))
            continue;
        use_threads(1);
        if (!CHECK_OK(gen_matrix(&C, spec, HEDDLE_C32)))
            continue;
        int64_t wrong = B.value != HEDDLE_C64 || B.nnz != A.nnz || C.nnz != A.nnz, equal = 0;
        for (int64_t k = 0; k < A.nnz && !wrong; k++) {
            const double _Complex b = value_at(B.val, HEDDLE_C64, k);
            wrong += B.col[k] != A.col[k] || RE(b) == 0 || IM(b) == 0 || fabs(RE(b)) > 1 || fabs(IM(b)) > 1;
            wrong += b != value_at(C.val, HEDDLE_C32, k); /* in units of 1/1024: f32 holds them */
            equal += RE(b) == IM(b);
        }
        CHECK_THAT(wrong == 0 && equal <= A.nnz / 100 + 3, "%s", spec);
        csr_free(&A);
        csr_free(&B);
        csr_free(&C);
    }
    use_threads(before);
}

TEST(complex_values_are_what_they_always_were)
{
    struct csr A, B;
    if (!CHECK_OK(gen_matrix(&A, "dense:n=2,values=complex", HEDDLE_C64)) ||
        !CHECK_OK(gen_matrix(&B, "dense:n=2,values=complex,seed=2", HEDDLE_C64)))
        return;
    const c64 *a = A.val, *b = B.val;
    CHECK_THAT(RE(a[0]) * 1024 == -882 && IM(a[0]) * 1024 == 618, "%.0f %+.0fi", 1024 * RE(a[0]),
               1024 * IM(a[0]));
    CHECK_THAT(RE(a[3]) * 1024 == 126 && IM(a[3]) * 1024 == 643, "%.0f %+.0fi", 1024 * RE(a[3]),
               1024 * IM(a[3]));
    CHECK(a[0] != b[0] && a[1] != a[2]);
    csr_free(&A);
    csr_free(&B);
}

TEST(defaults_work_for_every_family)
{
    for (int f = 0; f < family_count(); f++) {
        struct csr A;
        if (CHECK_OK(gen_matrix(&A, family_at(f)->name, HEDDLE_TYPE_DEFAULT))) {
            is_good(&A, family_at(f)->name);
            CHECK(A.value == HEDDLE_F64 && A.nnz > 0);
        }
        csr_free(&A);
    }
}

TEST(every_family_works_at_the_smallest_sizes)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 31, 40, 101};
    for (int f = 0; f < family_count(); f++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const char *name = family_at(f)->name;
            int is_grid =
                strstr(name, "grid") || strcmp(name, "markov") == 0 || strcmp(name, "tomography") == 0;
            int least = strcmp(name, "qcd") == 0 ? 3 : is_grid ? 1 : 0;
            char spec[64];
            struct csr A;
            if ((strcmp(name, "qcd") == 0 && sizes[s] > 5) || sizes[s] > 31 * (2 - is_grid) * (2 - is_grid))
                continue;
            snprintf(spec, sizeof spec, "%s:n=%d", name, sizes[s]);
            if (sizes[s] < least)
                CHECK_FAILS(gen_matrix(&A, spec, HEDDLE_F64), HEDDLE_BAD_ARGUMENT, "outside");
            else if (CHECK_OK(gen_matrix(&A, spec, HEDDLE_F64)))
                is_good(&A, spec);
            csr_free(&A);
        }
}

TEST(other_seeds_give_other_matrices)
{
    static const char *const specs[] = {"random:n=50",        "gauss:n=50",   "rmat:n=64", "powerlaw:n=50",
                                        "road:n=90",          "circuit:n=60", "lsq:n=90",  "kkt:n=50",
                                        "blocks:n=90,far=20", "empty:n=50"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char other[64];
        struct csr A, B;
        snprintf(other, sizeof other, "%s,seed=2", specs[i]);
        if (CHECK_OK(gen_matrix(&A, specs[i], HEDDLE_F64)) & CHECK_OK(gen_matrix(&B, other, HEDDLE_F64)))
            CHECK_THAT(A.nnz != B.nnz || memcmp(A.col, B.col, (size_t)A.nnz * sizeof *A.col) != 0, "%s",
                       specs[i]);
        csr_free(&A);
        csr_free(&B);
    }
}

/* -------------------------------------------------------- what families promise --------------- */

static heddle_stats statistics(const char *spec)
{
    heddle_stats stats = {0};
    struct csr A;
    if (CHECK_OK(gen_matrix(&A, spec, HEDDLE_F64)))
        CHECK_OK(csr_statistics(&stats, &A));
    csr_free(&A);
    return stats;
}

TEST(symmetric_families_are_symmetric_in_structure_and_values)
{
    static const char *const specs[] = {"grid2d:n=9,points=7", "grid3d:n=5,points=27,dof=2,values=random",
                                        "band:n=40",           "road:n=3000",
                                        "kkt:n=501",           "arrow:n=30,width=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        heddle_stats s = statistics(specs[i]);
        CHECK_THAT(s.numeric_symmetry == 1, "%s: %g", specs[i], s.numeric_symmetry);
    }
}

TEST(a_lattice_row_has_39_entries)
{
    heddle_stats s = statistics("qcd:n=3,nx=5");
    CHECK(s.rows == 12 * 5 * 27 && s.row.shortest == 39 && s.row.longest == 39);
    CHECK(s.col.shortest == 39 && s.col.longest == 39);
}

/* So that no storage of values gains by a shorter type. */
TEST(full_values_use_every_bit_and_are_symmetric)
{
    struct csr A, B;
    heddle_stats stats;
    CHECK_OK(gen_matrix(&A, "grid2d:n=20,values=full", HEDDLE_F64));
    CHECK_OK(gen_matrix(&B, "grid2d:n=20,values=full", HEDDLE_F32));
    int64_t exact = 0, short_ones = 0, outside = 0;
    for (int64_t k = 0; k < A.nnz; k++) {
        double v = ((const double *)A.val)[k];
        float w = ((const float *)B.val)[k];
        exact += (double)(float)v == v;
        short_ones += (float)(int32_t)(w * (1 << 12)) == w * (1 << 12);
        outside += !(v > -1 && v < 1 && v != 0 && w > -1 && w < 1 && w != 0);
    }
    CHECK_THAT(exact == 0 && short_ones == 0 && outside == 0, "%d %d %d", (int)exact, (int)short_ones,
               (int)outside);
    CHECK_OK(csr_statistics(&stats, &A));
    CHECK(stats.numeric_symmetry == 1 && stats.distinct_values > A.nnz / 2);
    csr_free(&A);
    csr_free(&B);
}

TEST(grids_have_the_entries_of_their_stencil)
{
    CHECK(statistics("grid2d:n=10").nnz == 5 * 100 - 4 * 10);
    CHECK(statistics("grid2d:n=10,points=9").nnz == 28 * 28);
    CHECK(statistics("grid2d:n=10,points=4").diagonal == 0);
    CHECK(statistics("grid3d:n=5").nnz == 7 * 125 - 6 * 25);
    CHECK(statistics("grid3d:n=5,points=27,dof=2").nnz == 13 * 13 * 13 * 4);
    CHECK(statistics("markov:n=10").nnz == 360);
}

TEST(a_circuit_has_dense_rows_and_columns_of_the_size_asked_for)
{
    heddle_stats s = statistics("circuit:n=5000,nnz=30000,longest=3001,dense=2");
    CHECK_THAT(s.nnz == 30000 && s.row.longest == 3001 && s.col.longest >= 3001,
               "%lld entries, rows to %lld, columns to %lld", (long long)s.nnz, (long long)s.row.longest,
               (long long)s.col.longest);
    CHECK(s.diagonal == 5000);
}

TEST(roads_have_the_largest_degree_asked_for_and_about_the_mean)
{
    heddle_stats s = statistics("road:n=100000,nnz=212000,longest=13");
    CHECK(s.row.longest == 13);
    CHECK_THAT(s.row.mean > 2.1 && s.row.mean < 2.14, "mean %g", s.row.mean);
}

TEST(empty_rows_have_the_share_asked_for)
{
    CHECK(statistics("empty:n=1000,share=30").row.empty == 300);
    int64_t clustered = statistics("empty:n=1000,share=30,mode=clustered").row.empty;
    CHECK_THAT(clustered >= 290 && clustered <= 310, "%lld", (long long)clustered);
    static const char *const families_with_profile[] = {"powerlaw", "random", "gauss", "lsq", "blocks"};
    for (int f = 0; f < 5; f++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:n=1000,empty=94,mean=2", families_with_profile[f]);
        heddle_stats s = statistics(spec);
        CHECK_THAT(s.row.empty == 940 && s.nnz == 2000, "%s: %lld empty", spec, (long long)s.row.empty);
    }
}

TEST(gauss_columns_deviate_from_the_diagonal_by_sigma)
{
    struct csr A;
    if (!CHECK_OK(gen_matrix(&A, "gauss:n=40000,mean=4,sigma=1000", HEDDLE_F64)))
        return;
    int64_t squares = 0, inside = 0, count = 0;
    for (int64_t i = 10000; i < 30000; i++)
        for (int64_t k = csr_offset(&A, i); k < csr_offset(&A, i + 1); k++, count++) {
            int64_t d = A.col[k] - i;
            squares += d * d;
            inside += d >= -1000 && d <= 1000;
        }
    CHECK_THAT(squares / count > 980000 && squares / count < 1020000, "variance %lld",
               (long long)(squares / count));
    CHECK_THAT(inside * 1000 / count > 670 && inside * 1000 / count < 695, "%lld of 1000 within sigma",
               (long long)(inside * 1000 / count));
    csr_free(&A);
}

/* -------------------------------------------------------- errors ------------------------------ */

TEST(wrong_specs_say_what_is_wrong_and_what_is_right)
{
    static const struct {
        const char *spec, *words;
    } wrong[] = {
        {"", "there is no family ''"},
        {"grid4d:n=3", "grid2d grid3d"},
        {"grid2d:m=3", "has no 'm' (it has: n=100"},
        {"grid2d:n", "not key=value"},
        {"grid2d:n=3,n=4", "twice"},
        {"grid2d:n=-1", "outside 1..2147483647"},
        {"grid2d:n=x", "not an integer"},
        {"grid2d:n=50000", "more than"},
        {"grid2d:n=40000,dof=1000", "more than"},
        {"grid2d:points=6", "not one of 5|9|7|4"},
        {"grid3d:points=9", "not one of 7|27"},
        {"grid3d:values=", "not one of laplace|random|full"},
        {"random:n=10,mean=11", "outside 0.00..10.00"},
        {"random:n=10,mean=1.234", "two decimals"},
        {"random:n=10,mean=2,nnz=20", "not both"},
        {"random:n=10,nnz=101", "outside 0..100"},
        {"random:n=10,nnz=50,longest=4", "50 entries do not fit 10 rows"},
        {"random:n=10,nnz=12,shortest=2", "do not fit"},
        {"random:n=10,longest=3,shortest=4", "outside 0..3"},
        {"random:rows=3,cols=0", "outside 1.."},
        {"random:n=2147483648", "outside"},
        {"qcd:n=2", "outside 3..115"},
        {"qcd:n=115,nx=1000", "more than"},
        {"empty:mode=both", "scattered|clustered"},
        {"powerlaw:exponent=1", "outside 1.10..10.00"},
        {"blocks:rows=10,cols=11", "square"},
        {"circuit:rows=10,cols=11", "square"},
        {"kkt:rows=10,cols=11", "square"},
        {"kkt:n=100,mean=1", "outside 160..4960"},
        {"circuit:n=100,mean=1", "entries more"},
        {"circuit:n=1000,longest=999", "outside 1..998"},
        {"circuit:n=1000,longest=8", "do not fit 997 rows"},
        {"markov:values=random", "has no 'values'"},
        {"rmat:a=60,b=39", "outside 1..38"},
        {"tomography:span=181", "outside 1..180"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct csr A = {.nnz = 1};
        CHECK_FAILS(gen_matrix(&A, wrong[i].spec, HEDDLE_F64), HEDDLE_BAD_ARGUMENT, wrong[i].words);
        CHECK_THAT(A.row_ptr == NULL && A.nnz == 0, "%s", wrong[i].spec);
    }
    struct csr A;
    CHECK_FAILS(gen_matrix(&A, "dense", HEDDLE_I32), HEDDLE_BAD_ARGUMENT, "f16, bf16 or f32v64");
    CHECK_FAILS(gen_matrix(&A, "dense:values=complex", HEDDLE_F64), HEDDLE_BAD_ARGUMENT,
                "makes c64 or c32, not f64");
    CHECK_FAILS(gen_matrix(&A, "dense:values=random", HEDDLE_F64), HEDDLE_BAD_ARGUMENT, "values");
}

TEST(every_family_rejects_unknown_keys_with_the_list_of_known_ones)
{
    for (int f = 0; f < family_count(); f++) {
        char spec[64];
        struct csr A;
        snprintf(spec, sizeof spec, "%s:colour=3", family_at(f)->name);
        CHECK_FAILS(gen_matrix(&A, spec, HEDDLE_F64), HEDDLE_BAD_ARGUMENT, family_at(f)->parameters);
    }
}

/* Every word of `parameters` is a key that the family takes. */
TEST(every_family_knows_the_keys_that_it_lists)
{
    for (int f = 0; f < family_count(); f++)
        for (const char *key = family_at(f)->parameters; *key;) {
            size_t length = strcspn(key, " "), name = strcspn(key, "= ");
            char spec[128];
            struct csr A;
            snprintf(spec, sizeof spec, "%s:%.*s=?", family_at(f)->name, (int)name, key);
            gen_matrix(&A, spec, HEDDLE_F64);
            CHECK_THAT(strstr(heddle_last_error(), "has no") == NULL, "%s: %s", spec, heddle_last_error());
            CHECK_THAT(strstr(heddle_last_error(), "=?") != NULL, "%s: %s", spec, heddle_last_error());
            key += length + (key[length] == ' ');
        }
}

static heddle_status make_and_free(void *spec)
{
    struct csr A;
    heddle_status status = gen_matrix(&A, spec, HEDDLE_F64);
    csr_free(&A);
    return status;
}

TEST(every_allocation_of_every_family_may_fail)
{
    for (int f = 0; f < FAMILIES; f++)
        CHECK_THAT(test_every_allocation(make_and_free, (void *)families[f].spec) >= 4, "%s",
                   families[f].spec);
}
