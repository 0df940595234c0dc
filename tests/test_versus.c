/* SPDX-License-Identifier: MIT
 *
 * Heddle beside the best peer: which times are compared, and how they are summed up. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/versus.h"
#include "test.h"

static void add(struct versus *v, const char *matrix, const char *kernel, heddle_op op, double ms)
{
    char name[16], origin[24];
    snprintf(name, sizeof name, "%s", matrix);
    snprintf(origin, sizeof origin, "%s.mtx", matrix);
    CHECK_OK(versus_add(v, &(struct subject){.name = name, .origin = origin}, kernel, HEDDLE_F64, op,
                        ONE_VECTOR, ms));
}

TEST(the_summary_compares_each_kernel_with_the_best_peer_of_the_same_matrix)
{
    struct versus v = {0};
    struct versus_row *rows = NULL;
    struct versus_ratio *list = NULL;
    int64_t count = 0;
    add(&v, "b", "auto", HEDDLE_N, 1);
    add(&v, "b", "plan", HEDDLE_N, 4);
    add(&v, "b", "cusparse:csr_alg1", HEDDLE_N, 4);
    add(&v, "b", "cusparse:csr_alg2", HEDDLE_N, 2);
    add(&v, "a", "auto", HEDDLE_N, 2);
    add(&v, "a", "plan", HEDDLE_N, 1);
    add(&v, "a", "cusparse:csr_alg1", HEDDLE_N, 1);
    add(&v, "a", "auto", HEDDLE_T, 7); /* no peer: left out */
    CHECK_OK(versus_rows(&v, &rows, &count));
    CHECK(count == 3);
    CHECK(strcmp(rows[0].kernel, "auto") == 0 && rows[0].matrices == 2 && rows[0].below == 1);
    CHECK(fabs(rows[0].mean - 1) < 1e-12 && rows[0].least == 0.5 && rows[0].most == 2);
    CHECK(strcmp(rows[1].kernel, "plan") == 0 && rows[1].below == 1);
    CHECK(strcmp(rows[2].kernel, VERSUS_BEST) == 0 && rows[2].below == 0 &&
          fabs(rows[2].mean - sqrt(2)) < 1e-12);
    CHECK_OK(versus_matrices(&v, &rows[0], &list, &count));
    CHECK(count == 2 && strcmp(list[0].matrix, "a") == 0 && strcmp(list[1].peer, "cusparse:csr_alg2") == 0);
    mem_free(list);
    mem_free(rows);
    versus_free(&v);
}

/* Where nobody has f32 values with f64 vectors, their users have f64. */
TEST(mixed_types_are_compared_with_the_f64_of_peers_that_lack_them)
{
    struct versus v = {0};
    struct versus_row *rows = NULL;
    int64_t count = 0;
    struct subject a = {.name = "a", .origin = "a"}, b = {.name = "b", .origin = "b"};
    CHECK_OK(versus_add(&v, &a, "auto", F32_F64, HEDDLE_N, ONE_VECTOR, 1));
    CHECK_OK(versus_add(&v, &b, "auto", F32_F64, HEDDLE_N, ONE_VECTOR, 1));
    CHECK_OK(versus_add(&v, &a, "cusparse:csr_alg1", HEDDLE_F64, HEDDLE_N, ONE_VECTOR, 4));
    CHECK_OK(versus_add(&v, &b, "cusparse:csr_alg1", HEDDLE_F64, HEDDLE_N, ONE_VECTOR, 4));
    CHECK_OK(versus_add(&v, &b, "cusparse:csr_alg2", F32_F64, HEDDLE_N, ONE_VECTOR, 2));
    CHECK_OK(versus_add(&v, &a, "auto", HEDDLE_F32, HEDDLE_N, ONE_VECTOR,
                        1)); /* nothing else is compared across types */
    CHECK_OK(versus_add(&v, &a, "auto", F32_F64, HEDDLE_T, ONE_VECTOR, 1));
    CHECK_OK(versus_rows(&v, &rows, &count));
    CHECK(count == 1 && rows[0].value == F32_F64 && rows[0].matrices == 2);
    CHECK(rows[0].least == 2 && rows[0].most == 4);
    mem_free(rows);
    versus_free(&v);
}
