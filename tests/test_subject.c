/* SPDX-License-Identifier: MIT
 *
 * What arguments name: kernels, families, sets, files and directories; and the vectors and shapes that go
 * with matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "subject/choice.h"
#include "subject/fill.h"
#include "test.h"

/* ------------------------------------------------------------------ names */

TEST(a_comma_before_key_and_value_goes_on_with_the_kernel)
{
    struct candidate_list list = {0};
    CHECK_OK(candidates_add(&list, "auto,cpu_sell:slice=8,window=512,cpu_csr", "cpu"));
    CHECK(list.count == 3);
    CHECK(strcmp(list.name[1], "cpu_sell:slice=8,window=512") == 0 && strcmp(list.name[2], "cpu_csr") == 0);
    CHECK_OK(candidates_add(&list, "cpu_csr,plan", "cpu")); /* the first is there already */
    CHECK(list.count == 4);
}

TEST(all_kernels_are_auto_plan_and_those_of_the_registry_for_that_device)
{
    struct candidate_list cpu = {0}, gpu = {0};
    CHECK_OK(candidates_add(&cpu, "all", "cpu"));
    CHECK_OK(candidates_add(&gpu, "all", "gpu"));
    CHECK(cpu.count + gpu.count == heddle_kernel_count() + 4 && cpu.count > 2 && gpu.count > 2);
}

TEST(choices_may_be_asked_to_be_deterministic)
{
    struct candidate_list list = {0};
    CHECK_OK(candidates_add(&list, "auto,auto:deterministic=1,plan:deterministic=0,cpu_csr", "cpu"));
    CHECK(list.count == 4 && strcmp(list.name[1], "auto:deterministic=1") == 0);
    CHECK(choice_is(list.name[1], "auto") && choice_is("auto", "auto") && !choice_is("automatic", "auto"));
    CHECK(choice_is_deterministic(list.name[1]) && !choice_is_deterministic(list.name[0]));
    CHECK(!choice_is_deterministic(list.name[2]) && !choice_is_deterministic("cpu_csr:deterministic=1"));
    CHECK_FAILS(candidates_add(&list, "auto:deterministic=2", "cpu"), HEDDLE_BAD_ARGUMENT, "deterministic");
    CHECK_FAILS(candidates_add(&list, "plan:fast=1", "cpu"), HEDDLE_BAD_ARGUMENT, "plan has no 'fast'");
}

TEST(an_unknown_kernel_is_refused_with_the_nearest)
{
    struct candidate_list list = {0};
    CHECK_FAILS(candidates_add(&list, "cpu_crs", "cpu"), HEDDLE_BAD_ARGUMENT, "did you mean 'cpu_csr'");
    CHECK_FAILS(candidates_add(&list, "zzzzzzzz", "cpu"), HEDDLE_BAD_ARGUMENT, "heddle kernels");
    CHECK_FAILS(candidates_add(&list, "cpu_csr,,", "cpu"), HEDDLE_BAD_ARGUMENT, "no kernel ''");
    CHECK(list.count == 1);
}

TEST(the_nearest_word_forgives_swaps_and_slips_and_nothing_else)
{
    const char *const words[] = {"convert", "check", "kernels"};
    CHECK(strcmp(nearest("chekc", words, 3), "check") == 0);
    CHECK(strcmp(nearest("kernel", words, 3), "kernels") == 0);
    CHECK(nearest("xyz", words, 3) == NULL);
}

/* How many matrices a text stands for, -1 if it fails. */
static int64_t stands_for(const char *text)
{
    struct subject_list list = {0};
    heddle_status status = subjects_add(&list, text);
    int64_t count = status == HEDDLE_OK ? list.count : -1;
    subjects_free(&list);
    return count;
}

TEST(families_sets_and_members_are_matrices)
{
    CHECK(stands_for("gen:grid2d:n=4") == 1);
    CHECK(stands_for("set:smoke") == set_by_name("smoke")->count);
    CHECK(stands_for("set:paper/cant") == 1);
    CHECK(stands_for("set:paper/") == set_by_name("paper")->count);
}

TEST(a_name_that_stands_for_nothing_says_what_to_write)
{
    struct subject_list list = {0};
    CHECK_FAILS(subjects_add(&list, "gen:gird2d:n=4"), HEDDLE_BAD_ARGUMENT, "did you mean 'grid2d'");
    CHECK_FAILS(subjects_add(&list, "gen:grid2d:n"), HEDDLE_BAD_ARGUMENT, "key=value");
    CHECK_FAILS(subjects_add(&list, "grid2d:n=4"), HEDDLE_FILE_ERROR, "gen:grid2d:n=4");
    CHECK_FAILS(subjects_add(&list, "smoke"), HEDDLE_FILE_ERROR, "set:smoke");
    CHECK_FAILS(subjects_add(&list, "set:smokes"), HEDDLE_BAD_ARGUMENT, "neither a set");
    CHECK_FAILS(subjects_add(&list, "set:paper/cantt"), HEDDLE_BAD_ARGUMENT, "did you mean 'cant'");
    CHECK_FAILS(subjects_add(&list, "/no/such/file.mtx"), HEDDLE_FILE_ERROR, "/no/such/file.mtx");
    CHECK_FAILS(subjects_add(&list, "/"), HEDDLE_FILE_ERROR, "set:/");
    CHECK(list.count == 0);
    subjects_free(&list);
}

static const char one_by_one[] = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";

TEST(a_directory_offers_its_matrix_files_by_name)
{
    char text[600];
    struct subject_list list = {0};
    const char *directory = test_path("matrices");
    CHECK(mkdir(directory, 0700) == 0);
    CHECK(snprintf(text, sizeof text, "set:%s", directory) > 0);
    CHECK_FAILS(subjects_add(&list, text), HEDDLE_BAD_ARGUMENT, "no matrix file");
    test_file("matrices/b.mtx", one_by_one);
    test_file("matrices/a.mtx", one_by_one);
    test_file("matrices/notes.txt", "not a matrix");
    test_file("matrices/.hidden.mtx", one_by_one);
    CHECK_OK(subjects_add(&list, text));
    CHECK(list.count == 2);
    if (list.count == 2) {
        struct loaded m;
        CHECK(strcmp(list.item[0].name, "a") == 0 && strcmp(list.item[1].name, "b") == 0);
        CHECK_OK(subject_load(&m, &list.item[1], 0));
        CHECK(m.csr.rows == 1 && m.csr.nnz == 1);
        loaded_free(&m);
    }
    subjects_free(&list);
}

/* ------------------------------------------------------------------ shapes and vectors */

TEST(a_shape_counts_every_row_and_every_entry_once)
{
    struct csr A;
    struct shape *s = mem_alloc(1, sizeof *s);
    int64_t rows = 0, entries = 0;
    if (!s || !CHECK_OK(gen_matrix(&A, "random:rows=500,cols=90,mean=6", HEDDLE_F64)) ||
        !CHECK_OK(shape_of(s, &A)))
        return;
    for (int b = 0; b < s->bins; b++)
        rows += s->histogram[b];
    for (int c = 0; c < s->rows * s->cols; c++)
        entries += s->picture[c];
    CHECK(rows == A.rows && entries == A.nnz && s->rows == 64 && s->cols == 64);
    csr_free(&A);
    CHECK_OK(gen_matrix(&A, "diagonal:n=10", HEDDLE_F64));
    CHECK_OK(shape_of(s, &A));
    CHECK(s->rows == 10 && s->bins == 2 && s->histogram[1] == 10 && s->picture[0] == 1 &&
          s->picture[11] == 1);
    csr_free(&A);
    mem_free(s);
}

TEST(random_vectors_are_the_same_numbers_in_both_types_up_to_rounding)
{
    float single[100];
    double twice[100];
    fill_random(single, HEDDLE_F32, 100);
    fill_random(twice, HEDDLE_F64, 100);
    for (int i = 0; i < 100; i++)
        CHECK(single[i] == (float)twice[i] && twice[i] >= -1 && twice[i] < 1);
    CHECK(twice[0] != twice[1]);
}

TEST(parts_of_random_complex_vectors_are_independent)
{
    c32 narrow[100];
    c64 wide[100];
    double real[100];
    fill_random(real, HEDDLE_F64, 100);
    fill_random(narrow, HEDDLE_C32, 100);
    fill_random(wide, HEDDLE_C64, 100);
    for (int i = 0; i < 100; i++) {
        CHECK(RE(wide[i]) == real[i] && IM(wide[i]) != real[i] && IM(wide[i]) >= -1 && IM(wide[i]) < 1);
        CHECK(RE(narrow[i]) == (float)real[i] && IM(narrow[i]) == (float)IM(wide[i]));
        CHECK(i == 0 || IM(wide[i]) != real[i - 1]);
    }
    fill_nan(wide, HEDDLE_C64, 3);
    CHECK(isnan(RE(wide[2])) && isnan(IM(wide[2])) && !isnan(RE(wide[3])));
}

TEST(what_16_bits_keep_of_a_vector_is_kept)
{
    float x[64];
    static const heddle_type types[] = {HEDDLE_F16, HEDDLE_BF16};
    for (int t = 0; t < 2; t++) {
        fill_random(x, HEDDLE_F32, 64);
        fill_rounded(x, HEDDLE_F32, types[t], 64);
        for (int i = 0; i < 64; i++) {
            c64 bits; /* room for any type */
            value_put(&bits, types[t], 0, x[i]);
            CHECK((float)value_at(&bits, types[t], 0) == x[i] && fabsf(x[i]) <= 1);
        }
        CHECK(x[0] != x[1]);
    }
}

/* So that conjugates differ, and a matrix of few distinct values stays one. */
TEST(a_real_matrix_that_becomes_complex_gets_imaginary_parts)
{
    struct csr A, B, C;
    heddle_stats real, complex;
    if (!CHECK_OK(gen_matrix(&A, "grid2d:n=20", HEDDLE_F64)) || !CHECK_OK(values_as(&B, &A, HEDDLE_C64)))
        return;
    for (int64_t k = 0; k < A.nnz; k++)
        CHECK(RE(((c64 *)B.val)[k]) == ((double *)A.val)[k] && IM(((c64 *)B.val)[k]) != 0);
    CHECK_OK(csr_statistics(&real, &A));
    CHECK_OK(csr_statistics(&complex, &B));
    CHECK(real.distinct_values == 2 && complex.distinct_values == 2);
    CHECK_FAILS(values_as(&C, &B, HEDDLE_F64), HEDDLE_NOT_SUPPORTED, "the matrix is complex");
    CHECK_OK(values_as(&C, &B, HEDDLE_C32)); /* rounded, and otherwise as they are */
    CHECK(((c32 *)C.val)[3] == (c32)((c64 *)B.val)[3]);
    mem_free(C.val);
    CHECK_OK(values_as(&C, &A, HEDDLE_F64));
    CHECK(C.val == A.val);
    mem_free(B.val);
    csr_free(&A);
}
