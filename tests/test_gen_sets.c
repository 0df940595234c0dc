/* SPDX-License-Identifier: MIT
 *
 * Sets of matrices: the small ones are made and checked, the large ones only when HEDDLE_SLOW_TESTS is set
 * (then with a table of published and made figures). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "gen/gen.h"
#include "test.h"

static int near(double made, double published, double share)
{
    return fabs(made - published) <= share * published + 1e-9;
}

TEST(sets_are_found_by_name_and_their_members_too)
{
    CHECK(set_count() == 4);
    CHECK(set_at(-1) == NULL && set_at(set_count()) == NULL);
    CHECK(set_by_name("paper") && set_by_name("paper")->count == 35);
    CHECK(set_by_name("baseline") && set_by_name("baseline")->count == 20);
    CHECK(set_by_name("unseen") && set_by_name("unseen")->count == 20);
    CHECK(set_by_name("smoke") && set_by_name("smoke")->count >= 12);
    CHECK(set_by_name("papers") == NULL);
    CHECK(member_by_name("cant") && member_by_name("cant")->published.nnz == 4007383);
    CHECK(member_by_name("no such matrix") == NULL);
}

TEST(names_are_unique_within_a_set_and_published_figures_are_consistent)
{
    for (int s = 0; s < set_count(); s++)
        for (int i = 0; i < set_at(s)->count; i++) {
            const struct set_member *m = &set_at(s)->member[i];
            for (int j = 0; j < i; j++)
                CHECK_THAT(strcmp(m->name, set_at(s)->member[j].name) != 0, "%s is there twice", m->name);
            if (!m->published.where)
                continue;
            CHECK_THAT(m->published.longest == 0 ||
                           m->published.longest * m->published.rows >= m->published.nnz,
                       "%s", m->name);
            CHECK_THAT(m->published.longest <= m->published.cols, "%s", m->name);
            CHECK_THAT(m->published.nnz <= m->published.rows * m->published.cols, "%s", m->name);
        }
}

TEST(every_family_is_in_the_smoke_set)
{
    const struct set *smoke = set_by_name("smoke");
    for (int f = 0; f < family_count(); f++) {
        size_t length = strlen(family_at(f)->name);
        int found = 0;
        for (int i = 0; i < smoke->count; i++)
            found |= strncmp(smoke->member[i].spec, family_at(f)->name, length) == 0 &&
                     smoke->member[i].spec[length] == ':';
        CHECK_THAT(found, "%s", family_at(f)->name);
    }
}

TEST(the_smoke_set_is_small_valid_and_sorted)
{
    const struct set *smoke = set_by_name("smoke");
    for (int i = 0; i < smoke->count; i++) {
        struct csr A;
        if (!CHECK_OK(gen_matrix(&A, smoke->member[i].spec, HEDDLE_F32)))
            continue;
        CHECK_OK(csr_validate(&A));
        CHECK_THAT(csr_is_sorted(&A), "%s", smoke->member[i].name);
        CHECK_THAT(A.nnz > 1000 && A.nnz < 250000, "%s has %lld entries", smoke->member[i].name,
                   (long long)A.nnz);
        csr_free(&A);
    }
}

struct lengths {
    double mean, deviation;
    int64_t longest;
};

static struct lengths lengths_of(const struct csr *A)
{
    struct lengths l = {0};
    double squares = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t n = csr_offset(A, i + 1) - csr_offset(A, i);
        l.longest = n > l.longest ? n : l.longest;
        squares += (double)n * (double)n;
    }
    l.mean = (double)A->nnz / (double)A->rows;
    l.deviation = sqrt(fmax(0, squares / (double)A->rows - l.mean * l.mean));
    return l;
}

/* Made (published). */
static void print_member(const struct set_member *m, const struct csr *A, const struct lengths *l,
                         double seconds)
{
    double difference = 100.0 * (double)(A->nnz - m->published.nnz) / (double)m->published.nnz;
    printf("%-16s %9lld x %9lld  nnz %10lld %+6.2f%%  mean %8.2f  ", m->name, (long long)A->rows,
           (long long)A->cols, (long long)A->nnz, difference, l->mean);
    printf("deviation %8.2f (%7.2f)  longest %7lld (%7lld) %6.1f s\n", l->deviation, m->published.deviation,
           (long long)l->longest, (long long)m->published.longest, seconds);
    fflush(stdout);
}

/* Rows and columns exactly, entries to 1 %, longest row and deviation to `share` or to the digits that
 * were printed. */
static void check_member(const struct set_member *m, double share)
{
    struct csr A;
    double start = now_ms();
    if (!CHECK_OK(gen_matrix(&A, m->spec, HEDDLE_F64)))
        return;
    double seconds = (now_ms() - start) / 1e3;
    struct lengths l = lengths_of(&A);
    if (getenv("HEDDLE_SLOW_TESTS"))
        print_member(m, &A, &l, seconds);
    CHECK_THAT(A.rows == m->published.rows && A.cols == m->published.cols, "%s", m->name);
    CHECK_THAT(near((double)A.nnz, (double)m->published.nnz, 0.01), "%s: nnz", m->name);
    if (m->published.longest > 0)
        CHECK_THAT(near((double)l.longest, (double)m->published.longest, share), "%s: longest", m->name);
    if (m->published.deviation >= 0)
        CHECK_THAT(near(l.deviation, m->published.deviation, share) ||
                       fabs(l.deviation - m->published.deviation) <= 0.005,
                   "%s: deviation", m->name);
    CHECK_OK(csr_validate(&A));
    CHECK_THAT(csr_is_sorted(&A), "%s", m->name);
    csr_free(&A);
}

static void check_set(const char *name, double share)
{
    const struct set *set = set_by_name(name);
    int64_t limit = getenv("HEDDLE_SLOW_TESTS") ? INT64_MAX : 400000; /* the small ones at all times */
    for (int i = 0; i < set->count; i++)
        if (set->member[i].published.nnz <= limit)
            check_member(&set->member[i], share);
}

TEST(stand_ins_have_the_sizes_and_row_statistics_of_the_papers)
{
    check_set("paper", 0.05);
}

/* Their tails decide how long the kernels without balance take. */
TEST(baseline_shapes_have_the_sizes_and_row_statistics_that_were_measured)
{
    check_set("baseline", 0.1);
}

/* The small ones at all times, all of them when there is time. */
TEST(the_unseen_set_has_the_families_of_the_baseline_with_other_sizes)
{
    const struct set *unseen = set_by_name("unseen"), *baseline = set_by_name("baseline");
    for (int i = 0; i < unseen->count; i++) {
        const struct set_member *m = &unseen->member[i], *like = &baseline->member[i];
        struct csr A;
        CHECK_THAT(strcspn(m->spec, ":") == strcspn(like->spec, ":") &&
                       strncmp(m->spec, like->spec, strcspn(m->spec, ":")) == 0,
                   "%s and %s", m->name, like->name);
        if (like->published.nnz > (getenv("HEDDLE_SLOW_TESTS") ? INT64_MAX : 400000) ||
            !CHECK_OK(gen_matrix(&A, m->spec, HEDDLE_F32)))
            continue;
        struct lengths l = lengths_of(&A);
        if (getenv("HEDDLE_SLOW_TESTS"))
            printf("%-16s %9lld x %9lld  nnz %10lld  mean %8.2f  deviation %8.2f  longest %7lld\n", m->name,
                   (long long)A.rows, (long long)A.cols, (long long)A.nnz, l.mean, l.deviation,
                   (long long)l.longest);
        CHECK_THAT(A.rows != like->published.rows || A.cols != like->published.cols, "%s", m->name);
        CHECK_THAT(A.nnz > like->published.nnz / 3 && A.nnz < 3 * like->published.nnz, "%s", m->name);
        CHECK_OK(csr_validate(&A));
        CHECK_THAT(csr_is_sorted(&A), "%s", m->name);
        csr_free(&A);
    }
}
