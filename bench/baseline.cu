// SPDX-License-Identifier: MIT
//
// baseline SHIFT NAME=FILE.hdl...: the plainest kernels that can be written, and cuSPARSE called as its
// manual says, timed by themselves: what figures of Heddle are compared with.  The kernels are a thread a
// row, W lanes a row, and a thread a row that adds to y for the transpose.  Matrices are files that `heddle
// convert` wrote, so that both have the same ones.
//
// Prints a line per matrix and type, which baseline.awk and plain.awk read; times are milliseconds, with the
// caches flushed before each product, and behind the slash of products that follow one another.  SHIFT bytes
// and SHIFT KiB are allocated first: where y begins decides how fast transposed products are that add to few
// of its cache lines, and other runs shall have other places.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "calls.cuh"

// ---------------------------------------------------------------------- kernels

template <class T> struct Product {
  int rows;
  const int *row_ptr, *col;
  const T *val, *x;
  T *y;
};

// y = A x, a thread a row.
template <class T> __global__ void by_rows(Product<T> p) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= p.rows)
    return;
  T sum = 0;
  for (int k = p.row_ptr[row]; k < p.row_ptr[row + 1]; k++)
    sum += p.val[k] * p.x[p.col[k]];
  p.y[row] = sum;
}

// y = A x, W lanes a row.
template <class T, int W> __global__ void by_lanes(Product<T> p) {
  const int row = (int)(((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / W), lane = threadIdx.x % W;
  T sum = 0;
  if (row < p.rows)
    for (int k = p.row_ptr[row] + lane; k < p.row_ptr[row + 1]; k += W)
      sum += p.val[k] * p.x[p.col[k]];
  for (int by = W / 2; by > 0; by /= 2)
    sum += __shfl_down_sync(~0u, sum, by, W);
  if (row < p.rows && lane == 0)
    p.y[row] = sum;
}

// y += A^T x, a thread a row.
template <class T> __global__ void by_rows_transposed(Product<T> p) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= p.rows)
    return;
  const T x = p.x[row];
  for (int k = p.row_ptr[row]; k < p.row_ptr[row + 1]; k++)
    atomicAdd(p.y + p.col[k], p.val[k] * x);
}

// ---------------------------------------------------------------------- time

static char *flush;
static const size_t flush_bytes = 256 << 20;

// The median of single products, each behind a flush.
template <class F> static float cold_ms(F product, int times) {
  std::vector<float> ms(times);
  cudaEvent_t from, to;
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  product();
  for (int i = 0; i < times; i++) {
    CUDA(cudaMemsetAsync(flush, i, flush_bytes));
    CUDA(cudaEventRecord(from));
    product();
    CUDA(cudaEventRecord(to));
    CUDA(cudaEventSynchronize(to));
    CUDA(cudaEventElapsedTime(&ms[i], from, to));
  }
  CUDA(cudaEventDestroy(from));
  CUDA(cudaEventDestroy(to));
  std::sort(ms.begin(), ms.end());
  return ms[times / 2];
}

template <class F> static float warm_ms(F product, int times) {
  float ms;
  cudaEvent_t from, to;
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  product();
  CUDA(cudaEventRecord(from));
  for (int i = 0; i < times; i++)
    product();
  CUDA(cudaEventRecord(to));
  CUDA(cudaEventSynchronize(to));
  CUDA(cudaEventElapsedTime(&ms, from, to));
  CUDA(cudaEventDestroy(from));
  CUDA(cudaEventDestroy(to));
  return ms / times;
}

// ---------------------------------------------------------------------- matrices

struct Matrix {
  std::string name;
  int rows, cols;
  std::vector<int> row_ptr, col;
};

// The beginning of a .hdl file (src/io/hdl.h).
struct Header {
  char magic[8];
  uint32_t version, order, value, offset;
  int64_t rows, cols, nnz;
  struct {
    int64_t at, size;
  } section[3]; // row_ptr, col, val
};

static std::vector<int> read_section(FILE *file, const char *path, int64_t at, int64_t size, int64_t count) {
  std::vector<int> data(count);
  if (size != count * 4)
    stop(path, "its numbers are not of 4 bytes");
  if (fseek(file, (long)at, SEEK_SET) != 0 || fread(data.data(), 4, count, file) != (size_t)count)
    stop(path, "it ends early");
  return data;
}

static Matrix read_hdl(const std::string &name, const char *path) {
  Header h;
  FILE *file = fopen(path, "rb");
  if (!file || fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, "\x89HDL\r\n\x1a\n", 8) != 0)
    stop(path, "this is no .hdl file");
  Matrix A = {name, (int)h.rows, (int)h.cols, {}, {}};
  A.row_ptr = read_section(file, path, h.section[0].at, h.section[0].size, h.rows + 1);
  A.col = read_section(file, path, h.section[1].at, h.section[1].size, h.nnz);
  fclose(file);
  return A;
}

template <class V> static V *upload(const std::vector<V> &here) {
  V *there;
  CUDA(cudaMalloc(&there, std::max<size_t>(here.size(), 1) * sizeof(V)));
  CUDA(cudaMemcpy(there, here.data(), here.size() * sizeof(V), cudaMemcpyHostToDevice));
  return there;
}

// ---------------------------------------------------------------------- one matrix and type

template <class T> class Bench {
  const Matrix &A;
  std::vector<T> val, x;
  std::vector<int> row;
  Product<T> p;
  int *row_there;

  // Values and x are small integers, so that f32 is exact for all but enormous rows, and the check below
  // strict.
  void check(const char *what, bool transposed) {
    std::vector<double> want(transposed ? A.cols : A.rows), size(want.size());
    std::vector<T> got(want.size());
    for (int i = 0; i < A.rows; i++)
      for (int k = A.row_ptr[i]; k < A.row_ptr[i + 1]; k++) {
        const double term = (double)val[k] * x[transposed ? i : A.col[k]];
        want[transposed ? A.col[k] : i] += term;
        size[transposed ? A.col[k] : i] += fabs(term);
      }
    CUDA(cudaMemcpy(got.data(), p.y, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < want.size(); i++)
      if (!(fabs(got[i] - want[i]) <= 1e-4 * size[i]))
        stop(A.name.c_str(), what);
  }

  int blocks(int lanes) const { return (int)(((int64_t)A.rows * lanes + 255) / 256); }

  template <int W> void lanes(float &best, float &warm, int &width) {
    auto product = [&] { by_lanes<T, W><<<blocks(W), 256>>>(p); };
    const float ms = cold_ms(product, 15);
    check("a kernel of several lanes a row is wrong", false);
    if (ms < best) {
      best = ms;
      width = W;
      warm = warm_ms(product, 30);
    }
  }

  void library(cusparseHandle_t handle) {
    const cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
    const T one = 1, zero = 0;
    cusparseSpMatDescr_t csr, coo;
    cusparseDnVecDescr_t in[2], out[2];
    SPARSE(cusparseCreateCsr(&csr, A.rows, A.cols, A.col.size(), (void *)p.row_ptr, (void *)p.col,
                             (void *)p.val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, type));
    SPARSE(cusparseCreateCoo(&coo, A.rows, A.cols, A.col.size(), row_there, (void *)p.col, (void *)p.val,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    for (int t = 0; t < 2; t++) {
      SPARSE(cusparseCreateDnVec(&in[t], t ? A.rows : A.cols, (void *)p.x, type));
      SPARSE(cusparseCreateDnVec(&out[t], t ? A.cols : A.rows, p.y, type));
    }
    const struct {
      const char *name;
      cusparseSpMatDescr_t matrix;
      cusparseSpMVAlg_t algorithm;
      int transposed;
    } ways[] = {{"cs1", csr, CUSPARSE_SPMV_CSR_ALG1, 0}, {"cs2", csr, CUSPARSE_SPMV_CSR_ALG2, 0},
                {"coo1", coo, CUSPARSE_SPMV_COO_ALG1, 0}, {"coo2", coo, CUSPARSE_SPMV_COO_ALG2, 0},
                {"cs1T", csr, CUSPARSE_SPMV_CSR_ALG1, 1}, {"coo1T", coo, CUSPARSE_SPMV_COO_ALG1, 1}};
    for (const auto &w : ways) {
      const int t = w.transposed;
      const cusparseOperation_t op = t ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
      size_t bytes = 0;
      void *buffer = nullptr;
      SPARSE(cusparseSpMV_bufferSize(handle, op, &one, w.matrix, in[t], &zero, out[t], type, w.algorithm,
                                     &bytes));
      CUDA(cudaMalloc(&buffer, std::max<size_t>(bytes, 1)));
      SPARSE(cusparseSpMV_preprocess(handle, op, &one, w.matrix, in[t], &zero, out[t], type, w.algorithm,
                                     buffer));
      auto product = [&] {
        SPARSE(cusparseSpMV(handle, op, &one, w.matrix, in[t], &zero, out[t], type, w.algorithm, buffer));
      };
      printf(" %s %.4f/%.4f", w.name, cold_ms(product, t ? 5 : 15), warm_ms(product, t ? 5 : 30));
      CUDA(cudaFree(buffer));
    }
    for (int t = 0; t < 2; t++) {
      cusparseDestroyDnVec(in[t]);
      cusparseDestroyDnVec(out[t]);
    }
    cusparseDestroySpMat(csr);
    cusparseDestroySpMat(coo);
  }

public:
  explicit Bench(const Matrix &matrix)
      : A(matrix), val(A.col.size()), x(std::max(A.rows, A.cols)), row(A.col.size()) {
    for (size_t k = 0; k < val.size(); k++)
      val[k] = (T)(1 + k % 7);
    for (size_t i = 0; i < x.size(); i++)
      x[i] = (T)(1 + i % 5);
    for (int i = 0; i < A.rows; i++)
      std::fill(row.begin() + A.row_ptr[i], row.begin() + A.row_ptr[i + 1], i);
    p = {A.rows, upload(A.row_ptr), upload(A.col), upload(val), upload(x), upload(x)};
    row_there = upload(row);
  }

  ~Bench() {
    for (const void *there : {(const void *)p.row_ptr, (const void *)p.col, (const void *)p.val,
                              (const void *)p.x, (const void *)p.y, (const void *)row_there})
      cudaFree((void *)there);
  }

  void run(cusparseHandle_t handle) {
    const double bytes =
        4.0 * (A.rows + 1) + A.col.size() * (4.0 + sizeof(T)) + (A.rows + A.cols) * (double)sizeof(T);
    printf("%s f%d %d x %d nnz %zu floor %.4f |", A.name.c_str(), (int)(8 * sizeof(T)), A.rows, A.cols,
           A.col.size(), bytes / 4.4e9);
    library(handle);
    auto naive = [&] { by_rows<T><<<blocks(1), 256>>>(p); };
    printf(" scalar %.4f/%.4f", cold_ms(naive, 15), warm_ms(naive, 30));
    check("the kernel of a thread a row is wrong", false);
    float best = INFINITY, warm = 0;
    int width = 0;
    lanes<2>(best, warm, width);
    lanes<4>(best, warm, width);
    lanes<8>(best, warm, width);
    lanes<16>(best, warm, width);
    lanes<32>(best, warm, width);
    printf(" vec%d %.4f/%.4f", width, best, warm);
    auto adding = [&] {
      CUDA(cudaMemsetAsync(p.y, 0, A.cols * sizeof(T)));
      by_rows_transposed<T><<<blocks(1), 256>>>(p);
    };
    printf(" sT %.4f/%.4f\n", cold_ms(adding, 5), warm_ms(adding, 5));
    check("the transposed kernel is wrong", true);
    fflush(stdout);
  }
};

int main(int argc, char **argv) {
  const size_t shift = argc > 1 ? atol(argv[1]) : 0;
  void *small, *large;
  cusparseHandle_t handle;
  CUDA(cudaMalloc(&small, shift + 1));
  CUDA(cudaMalloc(&large, (shift << 10) + 1));
  CUDA(cudaMalloc(&flush, flush_bytes));
  SPARSE(cusparseCreate(&handle));
  printf("read bandwidth taken to be 4.4 TB/s\n"); // only the column `floor` is made from it
  for (int i = 2; i < argc; i++) {
    const char *file = strchr(argv[i], '=');
    if (!file)
      stop(argv[i], "NAME=FILE.hdl is wanted");
    const Matrix A = read_hdl(std::string((const char *)argv[i], file), file + 1);
    Bench<float>(A).run(handle);
    Bench<double>(A).run(handle);
  }
}
