// SPDX-License-Identifier: MIT
//
// baseline_hdl SHIFT NAME=FILE.hdl...: what carry/baseline.cu times, on matrices that heddle wrote, so that both have the same
// ones.  Prints the baseline's own lines (baseline.awk reads them).  SHIFT bytes and SHIFT KiB are allocated first: where y begins
// decides how fast transposed products are that add to few of its cache lines (bench.c), and other runs shall have other places.
#define main baseline_main
#include "../carry/baseline.cu"
#undef main

// The beginning of a .hdl file (src/io/hdl.h).
struct Header {
  char magic[8];
  uint32_t version, order, value, offset;
  int64_t rows, cols, nnz;
  struct {
    int64_t at, size;
  } section[3]; // row_ptr, col, val
};

static void fail(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  exit(2);
}

static std::vector<int> read_section(FILE *file, const char *path, int64_t at, int64_t size, int64_t count) {
  std::vector<int> data(count);
  if (size != count * 4)
    fail(path, "its numbers are not of 4 bytes");
  if (fseek(file, (long)at, SEEK_SET) != 0 || fread(data.data(), 4, count, file) != (size_t)count)
    fail(path, "it ends early");
  return data;
}

static Csr read_hdl(const std::string &name, const char *path) {
  Header h;
  FILE *file = fopen(path, "rb");
  if (!file || fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, "\x89HDL\r\n\x1a\n", 8) != 0)
    fail(path, "this is no .hdl file");
  Csr A;
  A.name = name;
  A.m = h.rows;
  A.n = h.cols;
  A.rp = read_section(file, path, h.section[0].at, h.section[0].size, h.rows + 1);
  A.ci = read_section(file, path, h.section[1].at, h.section[1].size, h.nnz);
  fclose(file);
  return A;
}

int main(int argc, char **argv) {
  cusparseHandle_t handle;
  const size_t shift = argc > 1 ? atol(argv[1]) : 0;
  void *small, *large;
  CK(cudaMalloc(&small, shift));
  CK(cudaMalloc(&large, shift << 10));
  CK(cudaMalloc(&flushbuf, flushn));
  CS(cusparseCreate(&handle));
  peak = 4.4e12; // only the column `floor` is made from it
  printf("read bandwidth not taken\n");
  for (int i = 2; i < argc; i++) {
    const char *file = strchr(argv[i], '=');
    if (!file)
      fail(argv[i], "NAME=FILE.hdl is wanted");
    const Csr A = read_hdl(std::string((const char *)argv[i], file), file + 1);
    bench<float>(A, handle);
    bench<double>(A, handle);
  }
}
