// SPDX-License-Identifier: MIT
//
// creation: a matrix on the device is described, multiplied once and let go, by Heddle and by cuSPARSE as its
// manual says (descriptors, buffer, preprocessing, product), and the wall time of the whole is taken.  Five
// grids with 5 points, f32 and f64; handles are made before.
//
//     nvcc -O2 -Iinclude bench/creation.cu -Lbuild -lheddle -lcusparse -o creation
//     LD_LIBRARY_PATH=build ./creation
//
// Prints a line per matrix and type: nonzeros; microseconds (median of 40) of Heddle, and what of these is
// creation and product; of cuSPARSE with its two CSR algorithms, and of them without allocating the buffer.
#include <heddle.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "calls.cuh"

template <class F> static double median_us(F f)
{
    std::vector<double> us;
    for (int i = 0; i < 45; i++) {
        CUDA(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        f();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        if (i >= 5)
            us.push_back(took.count());
    }
    std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
    return us[us.size() / 2];
}

template <class T> static T *to_device(const std::vector<T> &v)
{
    T *p;
    CUDA(cudaMalloc(&p, v.size() * sizeof(T)));
    CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <class T> struct Problem {
    int n;
    int64_t nnz;
    int *row_ptr, *col;
    T *val, *x, *y;
};

template <class T> static Problem<T> grid(int side)
{
    std::vector<int> row_ptr(1, 0), col;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const int here = i * side + j;
            if (i > 0)
                col.push_back(here - side);
            if (j > 0)
                col.push_back(here - 1);
            col.push_back(here);
            if (j < side - 1)
                col.push_back(here + 1);
            if (i < side - 1)
                col.push_back(here + side);
            row_ptr.push_back((int)col.size());
        }
    const int n = side * side;
    const std::vector<T> ones(std::max<size_t>(n, col.size()), 1);
    return {n,
            (int64_t)col.size(),
            to_device(row_ptr),
            to_device(col),
            to_device(ones),
            to_device(ones),
            to_device(ones)};
}

// Descriptors, buffer, preprocessing, product and the end of all that; `buffer` is NULL: allocated here.
template <class T>
static void by_cusparse(cusparseHandle_t h, const Problem<T> &p, cusparseSpMVAlg_t alg, void *buffer)
{
    const cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
    const T alpha = 1, beta = 0;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t x, y;
    size_t bytes;
    void *own = buffer;
    SPARSE(cusparseCreateCsr(&A, p.n, p.n, p.nnz, p.row_ptr, p.col, p.val, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    SPARSE(cusparseCreateDnVec(&x, p.n, p.x, type));
    SPARSE(cusparseCreateDnVec(&y, p.n, p.y, type));
    SPARSE(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, x, &beta, y, type, alg,
                                   &bytes));
    if (!buffer)
        CUDA(cudaMalloc(&own, bytes));
    SPARSE(
        cusparseSpMV_preprocess(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, x, &beta, y, type, alg, own));
    SPARSE(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, x, &beta, y, type, alg, own));
    CUDA(cudaStreamSynchronize(0));
    if (!buffer)
        CUDA(cudaFree(own));
    SPARSE(cusparseDestroyDnVec(x));
    SPARSE(cusparseDestroyDnVec(y));
    SPARSE(cusparseDestroySpMat(A));
}

template <class T> static heddle_matrix *described(heddle *h, const Problem<T> &p)
{
    heddle_csr_desc desc = {};
    desc.rows = desc.cols = p.n, desc.nnz = p.nnz;
    desc.row_ptr = p.row_ptr, desc.col = p.col, desc.val = p.val;
    desc.types.value = sizeof(T) == 4 ? HEDDLE_F32 : HEDDLE_F64;
    desc.where = HEDDLE_ON_DEVICE;
    heddle_matrix *A;
    HEDDLE(heddle_csr(&A, h, &desc));
    return A;
}

template <class T> static void run(heddle *h, cusparseHandle_t sparse, int side)
{
    const Problem<T> p = grid<T>(side);
    void *buffer;
    CUDA(cudaMalloc(&buffer, (size_t)p.nnz * 8 + (64 << 20)));
    const double whole = median_us([&] {
        heddle_matrix *A = described(h, p);
        HEDDLE(heddle_mv(h, HEDDLE_N, NULL, A, p.x, NULL, p.y));
        HEDDLE(heddle_sync(h));
        heddle_matrix_free(A);
    });
    const double creation = median_us([&] { heddle_matrix_free(described(h, p)); });
    heddle_matrix *A = described(h, p);
    const double product = median_us([&] {
        HEDDLE(heddle_mv(h, HEDDLE_N, NULL, A, p.x, NULL, p.y));
        HEDDLE(heddle_sync(h));
    });
    heddle_matrix_free(A);
    printf("%9lld f%d   heddle %7.1f us (creation and end %.1f, product %.1f)", (long long)p.nnz,
           (int)sizeof(T) * 8, whole, creation, product);
    for (cusparseSpMVAlg_t alg : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2})
        printf("   cusparse csr_alg%d %7.1f, buffer kept %7.1f", alg == CUSPARSE_SPMV_CSR_ALG1 ? 1 : 2,
               median_us([&] { by_cusparse(sparse, p, alg, (void *)NULL); }),
               median_us([&] { by_cusparse(sparse, p, alg, buffer); }));
    printf("\n");
    CUDA(cudaFree(buffer));
    for (void *q : {(void *)p.row_ptr, (void *)p.col, (void *)p.val, (void *)p.x, (void *)p.y})
        CUDA(cudaFree(q));
}

int main()
{
    heddle *h;
    cusparseHandle_t sparse;
    CUDA(cudaFree(0));
    HEDDLE(heddle_open(&h, "cuda:0"));
    SPARSE(cusparseCreate(&sparse));
    for (int side : {30, 100, 300, 1000, 3000}) {
        run<float>(h, sparse, side);
        run<double>(h, sparse, side);
    }
    SPARSE(cusparseDestroy(sparse));
    heddle_close(h);
}
