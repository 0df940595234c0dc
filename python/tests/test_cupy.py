# SPDX-License-Identifier: MIT
"""CuPy: arrays of the GPU, its streams, its memory pool, its solvers."""

from __future__ import annotations

import gc
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_matrix

cp = pytest.importorskip("cupy")
try:
    cp.cuda.runtime.getDeviceCount()
except cp.cuda.runtime.CUDARuntimeError:
    pytest.skip("no GPU", allow_module_level=True)

import cupyx.scipy.sparse as csp  # noqa: E402
import cupyx.scipy.sparse.linalg as cspl  # noqa: E402

import heddle  # noqa: E402


def on_gpu(S):
    return getattr(csp, f"{S.format}_matrix")(S)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_way_to_multiply_stays_on_the_gpu(format, dtype):
    S = random_matrix(format=format, dtype=dtype)
    A = getattr(heddle, format)(on_gpu(S))
    x, z = cp.random.random(50).astype(dtype), cp.random.random(70).astype(dtype)
    X = cp.random.random((50, 3)).astype(dtype)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    for ours, theirs in [
        (A @ x, S @ x.get()),
        (A.T @ z, S.T @ z.get()),
        (z @ A, S.T @ z.get()),
        (A @ X, S @ X.get()),
        (A.mv(x, alpha=2), 2 * (S @ x.get())),
        (A @ cp.asfortranarray(X)[:, ::2], S @ X.get()[:, ::2]),
        (A.plan(ops="NT") @ x, S @ x.get()),
        (A @ (x + 1j), S @ (x.get() + 1j)),
    ]:
        assert isinstance(ours, cp.ndarray)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance)
    assert A.device.startswith(("cuda", "hip"))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_several_vectors_keep_their_order(order, dtype):
    S = random_matrix(dtype=dtype)
    A = heddle.csr(on_gpu(S))
    X, Z = (cp.asarray(cp.random.random((n, 9)), dtype=dtype, order=order) for n in (50, 70))
    tolerance = 1e-5 if dtype == "f4" else 1e-12
    for B in (A, A.plan(ops="NT")):
        for ours, theirs in [
            (B @ X, S @ X.get()),
            (B.T @ Z, S.T @ Z.get()),
            (B @ X[:, 2:6], S @ X.get()[:, 2:6]),
        ]:
            np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance)
            assert ours.flags.c_contiguous == (order == "C")
    Y = cp.ones((70, 9), dtype, order="F")
    assert A.mm(X, out=Y, alpha=2, beta=-1) is Y
    np.testing.assert_allclose(Y.get(), 2 * (S @ X.get()) - 1, rtol=tolerance, atol=tolerance)
    A @ X
    assert A.kernel == ("csr_weave" if dtype == "c16" else "csr_mm")  # complex ones one after another


def test_arrays_are_borrowed_and_kept_alive():
    S = random_matrix()
    C = on_gpu(S)
    A = heddle.csr(C)
    x = cp.ones(50)
    assert A.values is C.data
    C.data *= 2
    np.testing.assert_allclose((A @ x).get(), 2 * (S @ np.ones(50)), rtol=1e-13)
    del C
    gc.collect()
    cp.get_default_memory_pool().free_all_blocks()
    np.testing.assert_allclose((A @ x).get(), 2 * (S @ np.ones(50)), rtol=1e-13)


@pytest.mark.parametrize("base", [0, 1])
def test_wide_indices_other_bases_and_coordinates_are_converted_on_the_gpu(base):
    S, x = random_matrix(), np.random.default_rng(1).random(50)
    O = S.tocoo()
    order = np.random.default_rng(2).permutation(S.nnz)
    for A in (
        heddle.csr(
            (
                cp.asarray(S.data),
                cp.asarray(S.indices.astype("i8") + base),
                cp.asarray(S.indptr.astype("i8") + base),
            ),
            shape=S.shape,
            base=base,
        ),
        heddle.coo(
            (cp.asarray(O.data[order]), (cp.asarray(O.row[order] + base), cp.asarray(O.col[order] + base))),
            shape=S.shape,
            base=base,
        ),
    ):
        assert A._source.index.dtype == A._source.first.dtype == np.int32
        assert isinstance(A.values, cp.ndarray)
        np.testing.assert_allclose((A @ cp.asarray(x)).get(), S @ x, rtol=1e-13)
    with pytest.raises(heddle.BadMatrixError, match="8589934592"):
        col = cp.asarray(S.indices.astype("i8"))
        col[3] = 2**33
        heddle.csr((cp.asarray(S.data), col, cp.asarray(S.indptr)), shape=S.shape)


def test_products_go_to_the_current_stream_and_streams_may_end():
    S = random_matrix(400, 300)
    A = heddle.csr(on_gpu(S))
    x = cp.ones(300)
    cp.cuda.Device().synchronize()
    for _ in range(3):
        with cp.cuda.Stream(non_blocking=True) as stream:
            y = A @ x
            assert A._resource.handle.stream == stream.ptr
            stream.synchronize()
        np.testing.assert_allclose(y.get(), S @ np.ones(300), rtol=1e-13)
        del stream
        gc.collect()
    np.testing.assert_allclose((A @ x).get(), S @ np.ones(300), rtol=1e-13)
    stream = cp.cuda.Stream(non_blocking=True)
    y = A.mv(x, stream=stream)
    stream.synchronize()
    np.testing.assert_allclose(y.get(), S @ np.ones(300), rtol=1e-13)


def test_products_are_captured_in_a_graph():
    S = random_matrix(400, 300)
    A = heddle.csr(on_gpu(S))
    x, y = cp.ones(300), cp.zeros(400)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        A.mv(x, out=y)
        stream.synchronize()
        stream.begin_capture()
        A.mv(x, out=y)
        graph = stream.end_capture()
        x *= 3
        graph.launch(stream)
        stream.synchronize()
    np.testing.assert_allclose(y.get(), 3 * (S @ np.ones(300)), rtol=1e-13)


def test_results_come_from_the_pool_of_cupy():
    A = heddle.csr(on_gpu(random_matrix(4000, 300)))
    before = cp.get_default_memory_pool().used_bytes()
    y = A @ cp.ones(300)
    assert cp.get_default_memory_pool().used_bytes() >= before + y.nbytes


def test_deterministic_products_are_bitwise_the_same():
    S = random_matrix(3000, 40, 0.3, dtype="f4")
    A = heddle.csr(on_gpu(S), deterministic=True)
    z = cp.random.random(3000).astype("f4")
    assert len({(A.T @ z).get().tobytes() for _ in range(20)}) == 1


@pytest.mark.parametrize("way", ["matrix", "plan", "operator"])
def test_solvers_of_cupy(way):
    n = 900
    C = csp.csr_matrix(heddle.generate("grid2d:n=30", "cpu").toscipy() + 0.1 * sp.eye_array(n))
    A = heddle.csr(C)
    A = {"matrix": A, "plan": A.plan(ops="NT"), "operator": A.aslinearoperator()}[way]
    b = cp.random.random(n)
    for solve in (cspl.cg, cspl.gmres):
        accuracy = {"rtol" if "rtol" in inspect.signature(solve).parameters else "tol": 1e-10}
        ours, failed = solve(A, b, **accuracy)
        theirs, _ = solve(C, b, **accuracy)
        assert failed == 0
        np.testing.assert_allclose(ours.get(), theirs.get(), rtol=1e-6)
    np.testing.assert_allclose(cspl.lsmr(A, b)[0].get(), cspl.lsmr(C, b)[0].get(), rtol=1e-3, atol=1e-3)


def test_pickles_travel_through_the_host():
    S = random_matrix()
    A = heddle.csr(on_gpu(S))
    B = pickle.loads(pickle.dumps(A))
    assert B.device == A.device
    np.testing.assert_allclose(B @ np.ones(50), S @ np.ones(50), rtol=1e-13)
    assert (A.toscipy() != S).nnz == 0


def test_vectors_of_the_host_and_of_the_wrong_place():
    S = random_matrix()
    A = heddle.csr(on_gpu(S))
    np.testing.assert_allclose(A @ np.ones(50), S @ np.ones(50), rtol=1e-13)
    with pytest.raises(ValueError, match="x lies on cuda:0, but the matrix on cpu"):
        heddle.csr(S, "cpu") @ cp.ones(50)
    with pytest.raises(ValueError, match="the arrays lie on cuda:0, but the matrix shall lie on cpu"):
        heddle.csr(on_gpu(S), "cpu")
    with pytest.raises(ValueError, match="must lie together"):
        heddle.csr((cp.asarray(S.data), S.indices, S.indptr), shape=S.shape)


class OnlyInterface:
    def __init__(self, a):
        self.a = a

    @property
    def __cuda_array_interface__(self):
        return self.a.__cuda_array_interface__


class OnlyDLPack:
    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **how):
        return self.a.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


@pytest.mark.parametrize("face", [OnlyInterface, OnlyDLPack])
def test_arrays_of_strangers(face):
    S = random_matrix()
    A = heddle.csr(tuple(face(cp.asarray(a)) for a in (S.data, S.indices, S.indptr)), shape=S.shape)
    y = A @ face(cp.ones(50))
    np.testing.assert_allclose(cp.asnumpy(y), S @ np.ones(50), rtol=1e-13)
    assert (A.toscipy() != S).nnz == 0


def test_freed_memory_is_not_touched():
    S = random_matrix()
    A = heddle.csr(on_gpu(S))
    face = dict(cp.ones(50).__cuda_array_interface__, data=(64, False))
    gone = type("Gone", (), {"__cuda_array_interface__": face})()
    with pytest.raises(ValueError, match="memory neither of the device nor of the host"):
        A.mv(gone, out=OnlyInterface(cp.zeros(70)))
