/* SPDX-License-Identifier: MIT
 *
 * What a user's first program looks like: it knows nothing but the installed header. */
#include <heddle.h>
#include <stdio.h>

int main(void)
{
    /* [ 1 2 ]   times   [ 3 ]
     * [ . 4 ]           [ 5 ] */
    int32_t row_ptr[] = {0, 2, 3}, col[] = {0, 1, 1};
    double val[] = {1, 2, 4}, x[] = {3, 5}, y[2];
    heddle *h;
    heddle_matrix *A = NULL;
    heddle_csr_desc desc = {.rows = 2, .cols = 2, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val};
    if (heddle_open(&h, "auto") || heddle_csr(&A, h, &desc) || heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y)) {
        fprintf(stderr, "%s\n", heddle_last_error());
        return 1;
    }
    printf("heddle %s, %s: y = %g %g\n", heddle_version(), heddle_last_kernel(h), y[0], y[1]);
    heddle_matrix_free(A);
    heddle_close(h);
    return !(y[0] == 13 && y[1] == 20);
}
