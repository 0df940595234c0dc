/* SPDX-License-Identifier: MIT
 *
 * break_even is what heddle.h says: after so many products, and not one earlier, a plan has paid for its
 * preparation. */
#include <string.h>

#include "awkward.h"
#include "test.h"

/* Is n the first number of products after which the plan is ahead?  Times are taken from the description
 * itself. */
static void first_to_pay(const heddle_plan_desc *d, const char *kernel)
{
    double n = (double)d->break_even, gain = d->immediate_ms - d->product_ms, slack = 1e-9 * d->prepare_ms;
    CHECK_THAT(n * gain >= d->prepare_ms - slack, "%s: %g products gain %g ms, preparation took %g", kernel,
               n, n * gain, d->prepare_ms);
    CHECK_THAT((n - 1) * gain <= d->prepare_ms + slack, "%s: %g products would have paid, not %g", kernel,
               n - 1, n);
}

TEST(break_even_is_the_first_number_of_products_that_pays)
{
    static const char *const kernels[] = {"cpu_csr", "cpu_sell",  "cpu_group",
                                          "cpu_ell", "cpu_merge", "cpu_sell:slice=8,window=64"};
    static const char *const matrices[] = {"even rows", "rows in sevens", "full", "staircase"};
    heddle *h;
    int paid = 0, never = 0;
    CHECK_OK(heddle_open(&h, "cpu:threads=2"));
    for (int m = 0; m < awkward_count; m++)
        for (size_t k = 0; k < 4; k++) {
            struct csr A;
            heddle_matrix *matrix;
            if (strcmp(awkward[m].name, matrices[k]) != 0)
                continue;
            CHECK_OK(awkward_make(&A, &awkward[m], HEDDLE_F64, HEDDLE_I32));
            CHECK_OK(heddle_csr(&matrix, h,
                                &(heddle_csr_desc){.rows = A.rows,
                                                   .cols = A.cols,
                                                   .nnz = A.nnz,
                                                   .row_ptr = A.row_ptr,
                                                   .col = A.col,
                                                   .val = A.val}));
            for (size_t i = 0; i < 2 * sizeof kernels / sizeof kernels[0]; i++) {
                heddle_op op = i % 2 ? HEDDLE_T : HEDDLE_N;
                heddle_plan *p;
                heddle_plan_desc d;
                heddle_plan_options options = {.kernel = kernels[i / 2],
                                               .ops = i % 2 ? HEDDLE_PLAN_T : HEDDLE_PLAN_N};
                if (heddle_plan_create(&p, h, matrix, &options) != HEDDLE_OK)
                    continue;
                CHECK_OK(heddle_plan_info(p, op, &d));
                if (d.break_even > 0)
                    first_to_pay(&d, kernels[i / 2]);
                else
                    CHECK(d.break_even == 0 ? d.prepare_ms <= 0 : d.product_ms >= d.immediate_ms);
                paid += d.break_even > 0;
                never += d.break_even < 0;
                heddle_plan_free(p);
            }
            heddle_matrix_free(matrix);
            csr_free(&A);
        }
    CHECK_THAT(paid > 0, "no plan of %d has paid: nothing was tested", paid + never);
    heddle_close(h);
}
