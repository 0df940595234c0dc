// SPDX-License-Identifier: MIT
//
// main.c, as a C++ programmer would write it.
#include <heddle.h>

#include <cstdio>
#include <vector>

int main()
{
    std::vector<int32_t> row_ptr = {0, 2, 3}, col = {0, 1, 1};
    std::vector<double> val = {1, 2, 4}, x = {3, 5}, y(2);
    heddle_csr_desc desc = {};
    desc.rows = desc.cols = 2, desc.nnz = 3;
    desc.row_ptr = row_ptr.data(), desc.col = col.data(), desc.val = val.data();
    heddle *h = nullptr;
    heddle_matrix *A = nullptr;
    if (heddle_open(&h, "auto") || heddle_csr(&A, h, &desc) ||
        heddle_mv(h, HEDDLE_N, nullptr, A, x.data(), nullptr, y.data())) {
        std::fprintf(stderr, "%s\n", heddle_last_error());
        return 1;
    }
    heddle_matrix_free(A);
    heddle_close(h);
    return !(y[0] == 13 && y[1] == 20);
}
