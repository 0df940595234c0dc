// SPDX-License-Identifier: MIT
//
// Eigen as a peer: row-major sparse times dense, on the caller's CSR arrays (a Map, no copy), with OpenMP.
// T uses the same storage, as a user would write it; "copy" holds an explicit transpose in row-major order.
#include <Eigen/Sparse>
#include <complex>
#include <cstdint>

namespace {
struct Peer {
    virtual ~Peer() {}
    virtual void run(const void *x, void *y) = 0;
};

template <typename T> struct Rows : Peer {
    using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<const Matrix> a;
    Matrix transposed;
    int op; // 0: N, 1: T, 2: T with a copy, 3: H, 4: H with a copy
    Rows(int64_t m, int64_t n, int64_t nnz, const int *ptr, const int *col, const void *val, int op_)
        : a(m, n, nnz, ptr, col, static_cast<const T *>(val)), op(op_)
    {
        if (op == 2)
            transposed = a.transpose();
        if (op == 4)
            transposed = a.adjoint();
    }
    void run(const void *x, void *y) override
    {
        Eigen::Index rows = op ? a.cols() : a.rows(), cols = op ? a.rows() : a.cols();
        Eigen::Map<const Vector> in(static_cast<const T *>(x), cols);
        Eigen::Map<Vector> out(static_cast<T *>(y), rows);
        if (op == 0)
            out.noalias() = a * in;
        else if (op == 1)
            out.noalias() = a.transpose() * in;
        else if (op == 3)
            out.noalias() = a.adjoint() * in;
        else
            out.noalias() = transposed * in;
    }
};
} // namespace

extern "C" void *peer_new(int64_t m, int64_t n, int64_t nnz, const int *ptr, const int *col, const void *val,
                          int type, int op, int threads)
{
    Eigen::setNbThreads(threads);
    switch (type) { // as subject/describe.h counts them
    case 0:
        return new Rows<float>(m, n, nnz, ptr, col, val, op);
    case 1:
        return new Rows<double>(m, n, nnz, ptr, col, val, op);
    case 2:
        return new Rows<std::complex<float>>(m, n, nnz, ptr, col, val, op);
    default:
        return new Rows<std::complex<double>>(m, n, nnz, ptr, col, val, op);
    }
}
extern "C" int peer_run(void *peer, const void *x, void *y)
{
    static_cast<Peer *>(peer)->run(x, y);
    return 0;
}
extern "C" void peer_free(void *peer)
{
    delete static_cast<Peer *>(peer);
}
extern "C" int peer_version()
{
    return EIGEN_WORLD_VERSION * 10000 + EIGEN_MAJOR_VERSION * 100 + EIGEN_MINOR_VERSION;
}
