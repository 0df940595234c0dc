// SPDX-License-Identifier: MIT
//
// mm SPEC...: heddle_mm beside all algorithms of cusparseSpMM, for matrices of families ("grid2d:n=1000"), in
// f32 and f64, N and T, both layouts and 2 to 32 vectors.
//
//     nvcc -O2 -Iinclude bench/mm.cu -Lbuild -lheddle -lcusparse -o mm
//     LD_LIBRARY_PATH=build ./mm grid2d:n=1000
//
// Prints a line for each: matrix, type, operation, layout, vectors, and the median of single products in ms,
// the caches flushed before each: heddle, then what cuSPARSE's best took, and its name; `wrong` behind it if
// the two results differ.  mm.awk makes geometric means of them.
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calls.cuh"

static char *flush;
static const size_t flush_bytes = 256 << 20;
static int times = 9;

// The median of single products, each behind a flush.
template <class F> static float cold_ms(F product) {
  std::vector<float> ms(times);
  cudaEvent_t from, to;
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  product();
  int taken = times;
  for (int i = 0; i < taken; i++) {
    CUDA(cudaMemsetAsync(flush, i, flush_bytes));
    CUDA(cudaEventRecord(from));
    product();
    CUDA(cudaEventRecord(to));
    CUDA(cudaEventSynchronize(to));
    CUDA(cudaEventElapsedTime(&ms[i], from, to));
    taken = ms[0] > 3 ? std::min(times, 3) : times; // long ones vary little
  }
  CUDA(cudaEventDestroy(from));
  CUDA(cudaEventDestroy(to));
  std::sort(ms.begin(), ms.begin() + taken);
  return ms[taken / 2];
}

struct Algorithm {
  const char *name;
  cusparseSpMMAlg_t number;
};
static const Algorithm algorithms[] = {{"csr_alg1", CUSPARSE_SPMM_CSR_ALG1},
                                       {"csr_alg2", CUSPARSE_SPMM_CSR_ALG2},
                                       {"csr_alg3", CUSPARSE_SPMM_CSR_ALG3}};

template <class T> struct Case {
  const char *spec;
  heddle *h;
  const heddle_matrix *A;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
  int64_t rows, cols;
  T *X, *Y, *Z; // room for 32 vectors; Z: what cuSPARSE makes
  std::vector<T> y, z;

  // The best of cuSPARSE: its time, and its name in *best.
  float library(int transposed, heddle_layout layout, int k, const char **best) {
    const cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
    const cusparseOrder_t order = layout == HEDDLE_ROW_MAJOR ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseOperation_t op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : as_is;
    const int64_t nx = transposed ? rows : cols, ny = transposed ? cols : rows;
    const T one = 1, zero = 0;
    float least = INFINITY;
    cusparseDnMatDescr_t in, out;
    SPARSE(cusparseCreateDnMat(&in, nx, k, order == CUSPARSE_ORDER_ROW ? k : nx, X, type, order));
    SPARSE(cusparseCreateDnMat(&out, ny, k, order == CUSPARSE_ORDER_ROW ? k : ny, Z, type, order));
    for (const auto &a : algorithms) {
      size_t bytes = 0;
      void *buffer = nullptr;
      if (cusparseSpMM_bufferSize(handle, op, as_is, &one, matrix, in, &zero, out, type, a.number, &bytes))
        continue;
      if (cudaMalloc(&buffer, std::max<size_t>(bytes, 1)) != cudaSuccess)
        continue;
      cusparseSpMM_preprocess(handle, op, as_is, &one, matrix, in, &zero, out, type, a.number, buffer);
      if (!cusparseSpMM(handle, op, as_is, &one, matrix, in, &zero, out, type, a.number, buffer)) {
        const float ms = cold_ms([&] {
          cusparseSpMM(handle, op, as_is, &one, matrix, in, &zero, out, type, a.number, buffer);
        });
        if (ms < least) {
          least = ms;
          *best = a.name;
        }
      }
      CUDA(cudaFree(buffer));
    }
    SPARSE(cusparseDestroyDnMat(in));
    SPARSE(cusparseDestroyDnMat(out));
    return least;
  }

  // Of the first million numbers.
  bool same(size_t n) {
    n = std::min<size_t>(n, 1 << 20);
    y.resize(n);
    z.resize(n);
    CUDA(cudaMemcpy(y.data(), Y, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(z.data(), Z, n * sizeof(T), cudaMemcpyDeviceToHost));
    double apart = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
      apart += fabs((double)y[i] - z[i]);
      size += fabs((double)z[i]);
    }
    return apart <= (sizeof(T) == 4 ? 1e-4 : 1e-12) * size;
  }

  void run() {
    for (int transposed = 0; transposed < 2; transposed++)
      for (int layout = 0; layout < 2; layout++)
        for (int k = 2; k <= 32; k *= 2) {
          const char *best = "none";
          const float ms = cold_ms([&] {
            HEDDLE(heddle_mm(h, transposed ? HEDDLE_T : HEDDLE_N, NULL, A, k, (heddle_layout)layout, X, 0,
                             NULL, Y, 0));
          });
          const float theirs = library(transposed, (heddle_layout)layout, k, &best);
          const bool good = same((size_t)(transposed ? cols : rows) * k);
          printf("%s %s %s %s %d %.5f %.5f %s%s\n", spec, sizeof(T) == 4 ? "f32" : "f64",
                 transposed ? "T" : "N", layout ? "rows" : "columns", k, ms, theirs, best,
                 good ? "" : " wrong");
          fflush(stdout);
        }
  }
};

template <class T> static void measure(heddle *h, cusparseHandle_t handle, const char *spec) {
  heddle_matrix *A;
  heddle_matrix_desc d;
  Case<T> c = {spec, h};
  HEDDLE(heddle_generate(&A, h, spec, sizeof(T) == 4 ? HEDDLE_F32 : HEDDLE_F64));
  HEDDLE(heddle_matrix_info(A, &d));
  c.A = A;
  c.handle = handle;
  c.rows = d.rows;
  c.cols = d.cols;
  const size_t n = (size_t)std::max(d.rows, d.cols) * 32;
  std::vector<T> x(n);
  for (size_t i = 0; i < n; i++)
    x[i] = (T)((i * 2654435761u % 1000) / 1000. - 0.5);
  CUDA(cudaMalloc(&c.X, n * sizeof(T)));
  CUDA(cudaMalloc(&c.Y, n * sizeof(T)));
  CUDA(cudaMalloc(&c.Z, n * sizeof(T)));
  CUDA(cudaMemcpy(c.X, x.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  const cusparseIndexType_t offset = d.types.offset == HEDDLE_I64 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  SPARSE(cusparseCreateCsr(&c.matrix, d.rows, d.cols, d.nnz, (void *)d.ptr, (void *)d.index, (void *)d.val,
                           offset, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F));
  c.run();
  SPARSE(cusparseDestroySpMat(c.matrix));
  CUDA(cudaFree(c.X));
  CUDA(cudaFree(c.Y));
  CUDA(cudaFree(c.Z));
  heddle_matrix_free(A);
}

int main(int argc, char **argv) {
  heddle *h;
  cusparseHandle_t handle;
  HEDDLE(heddle_open(&h, "cuda:0"));
  SPARSE(cusparseCreate(&handle));
  CUDA(cudaMalloc(&flush, flush_bytes));
  if (getenv("MM_TIMES"))
    times = atoi(getenv("MM_TIMES"));
  for (int i = 1; i < argc; i++) {
    measure<float>(h, handle, argv[i]);
    measure<double>(h, handle, argv[i]);
  }
  heddle_close(h);
}
