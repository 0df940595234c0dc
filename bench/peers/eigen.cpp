// SPDX-License-Identifier: MIT
//
// Eigen as a peer: row-major sparse times dense, one vector or several by rows or columns, on the caller's
// CSR arrays (a Map, no copy), with OpenMP.
// T uses the same storage, as a user would write it; "copy" holds an explicit transpose in row-major order.
#include <Eigen/Sparse>
#include <complex>
#include <cstdint>

namespace {
struct Peer {
    virtual ~Peer() {}
    virtual void run(const void *x, void *y) = 0;
};

struct Arguments {
    int64_t m, n, nnz;
    const int *ptr, *col;
    const void *val;
    int op, vectors, by_rows;
};

// Dense: how X and Y lie.
template <typename T, typename Dense> struct Rows : Peer {
    using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
    Eigen::Map<const Matrix> a;
    Matrix transposed;
    int op; // 0: N, 1: T, 2: T with a copy, 3: H, 4: H with a copy
    Eigen::Index vectors;
    explicit Rows(const Arguments &g)
        : a(g.m, g.n, g.nnz, g.ptr, g.col, static_cast<const T *>(g.val)), op(g.op), vectors(g.vectors)
    {
        if (op == 2)
            transposed = a.transpose();
        if (op == 4)
            transposed = a.adjoint();
    }
    void run(const void *x, void *y) override
    {
        Eigen::Index rows = op ? a.cols() : a.rows(), cols = op ? a.rows() : a.cols();
        Eigen::Map<const Dense> in(static_cast<const T *>(x), cols, vectors);
        Eigen::Map<Dense> out(static_cast<T *>(y), rows, vectors);
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

template <typename T> Peer *make(const Arguments &g)
{
    const int any = Eigen::Dynamic;
    if (g.vectors == 1)
        return new Rows<T, Eigen::Matrix<T, any, 1>>(g);
    if (g.by_rows)
        return new Rows<T, Eigen::Matrix<T, any, any, Eigen::RowMajor>>(g);
    return new Rows<T, Eigen::Matrix<T, any, any, Eigen::ColMajor>>(g);
}
} // namespace

extern "C" void *peer_new(int64_t m, int64_t n, int64_t nnz, const int *ptr, const int *col, const void *val,
                          int type, int op, int threads, int vectors, int by_rows)
{
    const Arguments arguments = {m, n, nnz, ptr, col, val, op, vectors, by_rows};
    Eigen::setNbThreads(threads);
    switch (type) { // as subject/describe.h counts them
    case 0:
        return make<float>(arguments);
    case 1:
        return make<double>(arguments);
    case 2:
        return make<std::complex<float>>(arguments);
    default:
        return make<std::complex<double>>(arguments);
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
