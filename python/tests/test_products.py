# SPDX-License-Identifier: MIT
"""Products agree with SciPy's, in value, type and kind."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_matrix

import heddle

FORMATS = ["csr", "csc", "coo"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_way_to_multiply_agrees_with_scipy(format, dtype, device):
    S = random_matrix(format=format, dtype=dtype)
    A = getattr(heddle, format)(S, device)
    rng = np.random.default_rng(3)
    x, z = rng.random(50).astype(dtype), rng.random(70).astype(dtype)
    X, Z = rng.random((50, 3)).astype(dtype), rng.random((70, 3)).astype(dtype)
    close = {"rtol": 1e-5 if dtype == "f4" else 1e-13}
    assert A.shape == S.shape
    assert A.T.shape == S.T.shape
    assert A.format == format
    for ours, theirs in [
        (A @ x, S @ x),
        (A.T @ z, S.T @ z),
        (A.H @ z, S.T @ z),
        (z @ A, z @ S),
        (A @ X, S @ X),
        (A.T @ Z, S.T @ Z),
        (Z.T @ A, Z.T @ S),
        (A.T.T @ x, S @ x),
        (A.mv(x), S @ x),
        (A.mv(z, op="T"), S.T @ z),
        (A.mv(z, op="H", alpha=2), 2 * (S.T @ z)),
        (A.T.mv(x, op="T"), S @ x),
        (A.mm(X), S @ X),
        (A.matvec(x), S @ x),
        (A.rmatvec(z), S.T @ z),
        (A.matmat(X), S @ X),
        (A.rmatmat(Z), S.T @ Z),
        (A.dot(x), S @ x),
        (A.transpose() @ z, S.T @ z),
        (A.adjoint() @ z, S.T @ z),
    ]:
        np.testing.assert_allclose(ours, theirs, **close)
        assert type(ours) is np.ndarray
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape


@pytest.mark.parametrize("a", ["f4", "f8", "i4", "i8", "u1", "?", "f2"])
@pytest.mark.parametrize("x", ["f2", "f4", "f8", "i1", "i4", "i8", "u2", "?", "c8", "c16"])
def test_types_are_those_that_scipy_gives(a, x):
    S = random_matrix(dtype="f8")
    S.data = np.ceil(S.data * 3)
    S = sp.csr_array((S.data.astype(a), S.indices, S.indptr), shape=S.shape)
    v = np.arange(50).astype(x)
    A = heddle.csr(S)
    y = A @ v
    exact = S.astype("f8") @ v.astype("c16")
    np.testing.assert_allclose(y, exact, rtol=1e-3 if "f2" in (a, x) else 1e-6)
    if a in ("f4", "f8"):  # SciPy knows no halves, and its integer products are integers
        assert y.dtype == np.result_type(np.dtype(a), np.dtype(x))
    assert y.dtype.kind in "fc"


def test_vectors_need_not_be_contiguous_native_or_aligned(S, x):
    A = heddle.csr(S)
    wide = np.zeros(100)
    wide[::2] = x
    unaligned = np.frombuffer(b"\0" + x.tobytes(), "u1")[1:].view("f8")
    for v in (
        wide[::2],
        x[::-1][::-1],
        x.astype(">f8"),
        unaligned,
        list(x),
        x.astype(object).tolist(),
        x.reshape(5, 10).ravel(),
    ):
        np.testing.assert_allclose(A @ v, S @ x, rtol=1e-13)
    X = np.asfortranarray(np.random.default_rng(1).random((50, 4)))
    np.testing.assert_allclose(A @ X, S @ X, rtol=1e-13)
    np.testing.assert_allclose(A @ X[:, ::2], S @ X[:, ::2], rtol=1e-13)


def test_out_is_written_scaled_and_returned(S, x, device):
    A = heddle.csr(S, device)
    y = np.full(70, np.nan)
    assert A.mv(x, out=y) is y  # beta = 0 does not read the NaN
    np.testing.assert_allclose(y, S @ x, rtol=1e-13)
    A.mv(x, out=y, alpha=2, beta=-1)
    np.testing.assert_allclose(y, S @ x, rtol=1e-12)
    Y = np.ones((70, 2))
    X = np.stack([x, 2 * x], 1)
    assert A.mm(X, out=Y, alpha=np.float32(0.5), beta=3) is Y
    np.testing.assert_allclose(Y, 0.5 * (S @ X) + 3, rtol=1e-12)
    c = np.ones(70, "c16")
    A.mv(x + 1j * x, out=c, alpha=2, beta=1)
    np.testing.assert_allclose(c, 2 * (S @ (x + 1j * x)) + 1, rtol=1e-12)
    A.mv(x + 1j, out=c)
    np.testing.assert_allclose(c, S @ (x + 1j), rtol=1e-12)


TYPES = ["f4", "f8", "c8", "c16"]


def laid(X, order):
    """X in C or Fortran order; "columns", "rows": some of a larger array; "strided": in neither layout."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1] + 3), np.nan, X.dtype)
    if order in "CF":
        return np.array(X, order=order)
    if order == "rows":
        larger = np.asfortranarray(larger)
    across = slice(0, 2 * X.shape[1], 2) if order == "strided" else slice(1, 1 + X.shape[1])
    place = larger[: X.shape[0], across]
    place[...] = X
    return place


ORDERS = ["C", "F", "columns", "rows", "strided"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 19, 33])
@pytest.mark.parametrize("format", FORMATS)
def test_several_vectors_agree_with_scipy_in_every_layout(dtype, count, format):
    S = random_matrix(format=format, dtype=dtype)
    if dtype[0] == "c":
        S = S * (1 + 2j)
        S = S.astype(dtype)
    A = getattr(heddle, format)(S, "cpu")
    P = A.plan(products=20, ops="NT")
    rng = np.random.default_rng(count)
    single = dtype in ("f4", "c8")
    close = {"rtol": 1e-4 if single else 1e-12, "atol": 1e-5 if single else 1e-12}
    X, Z = (laid(rng.random((n, count)).astype(dtype), "C") for n in (50, 70))
    for order in ORDERS:
        for B in (A, P):
            np.testing.assert_allclose(B @ laid(X, order), S @ X, **close)
            np.testing.assert_allclose(B.T @ laid(Z, order), S.T @ Z, **close)
            np.testing.assert_allclose(B.H @ laid(Z, order), S.conj().T @ Z, **close)
            np.testing.assert_allclose(laid(Z, order).T @ B, Z.T @ S, **close)
        for out_order in ORDERS[:-1]:
            Y = laid(np.ones((70, count), dtype), out_order)
            assert A.mm(laid(X, order), out=Y, alpha=2, beta=-1) is Y
            np.testing.assert_allclose(Y, 2 * (S @ X) - 1, **close)
            around = Y.base if Y.base is not None else Y
            assert np.count_nonzero(np.isnan(around)) == around.size - Y.size  # and nothing beside it


@pytest.mark.parametrize("order", ["C", "F", "columns", "rows"])
def test_a_layout_of_the_library_is_not_copied(S, order, monkeypatch):
    X = laid(np.random.default_rng(4).random((50, 6)), order)
    met = []
    A = heddle.csr(S, "cpu")
    call = type(A)._call_many

    def seen(self, code, alpha, vectors, layout, at, ldx, *rest):
        met.append((int(heddle._library.ffi.cast("uintptr_t", at)), layout, ldx))
        return call(self, code, alpha, vectors, layout, at, ldx, *rest)

    monkeypatch.setattr(type(A), "_call_many", seen)
    Y = A @ X
    by_rows = order in ("C", "columns")
    lib = heddle._library.lib
    layout = lib.HEDDLE_ROW_MAJOR if by_rows else lib.HEDDLE_COLUMN_MAJOR
    assert met == [(X.ctypes.data, layout, X.strides[0 if by_rows else 1] // 8)]
    assert (Y.flags.c_contiguous, Y.flags.f_contiguous) == (by_rows, not by_rows)
    np.testing.assert_allclose(Y, S @ X, rtol=1e-13)


def test_several_vectors_are_one_product(S):
    A = heddle.csr(S, "cpu")
    A @ np.ones((50, 8))
    assert A.kernel == "cpu_csr_mm"
    A.T @ np.ones((70, 8))
    assert A.kernel == "cpu_csr_mm_t"
    x = np.random.default_rng(6).random(50)
    np.testing.assert_array_equal((A @ x[:, None])[:, 0], A @ x)  # one is mv, to the last bit


def test_arrays_that_c_cannot_read_as_they_lie_are_copied(S, device):
    rows = np.ndarray((50, 2), "f8", bytearray(50 * 17), strides=(17, 8))
    rows[...] = np.random.default_rng(8).random((50, 2))
    A = heddle.csr(S, device)
    np.testing.assert_allclose(A @ rows, S @ rows, rtol=1e-13)
    np.testing.assert_allclose(A @ rows[:, 0], S @ rows[:, 0], rtol=1e-13)


def test_subclasses_of_arrays_are_arrays(S, x, tmp_path):
    x.tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", "f8", "r")
    np.testing.assert_array_equal(heddle.csr(S, "cpu") @ mapped, heddle.csr(S, "cpu") @ x)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (3, 4)])
def test_empty_matrices_multiply(shape, device):
    S = sp.csr_array(shape)
    A = heddle.csr(S, device)
    np.testing.assert_array_equal(A @ np.ones(shape[1]), np.zeros(shape[0]))
    np.testing.assert_array_equal(A.T @ np.ones(shape[0]), np.zeros(shape[1]))
    np.testing.assert_array_equal(A @ np.ones((shape[1], 2)), np.zeros((shape[0], 2)))
    np.testing.assert_array_equal(A @ np.ones((shape[1], 0)), np.zeros((shape[0], 0)))


def test_nan_stays_in_the_rows_that_touch_it(S, device):
    x = np.zeros(50)
    x[7] = np.nan
    np.testing.assert_array_equal(np.isnan(heddle.csr(S, device) @ x), S[:, [7]].toarray()[:, 0] != 0)


def test_a_wider_vector_sees_values_that_changed(S, x):
    S = S.astype("f4")
    A = heddle.csr(S, "cpu")
    np.testing.assert_allclose(A @ x, S.astype("f8") @ x, rtol=1e-14)
    S.data *= 2
    y = A @ x
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, S.astype("f8") @ x, rtol=1e-14)
    np.testing.assert_allclose(A.T @ np.ones(70), S.astype("f8").T @ np.ones(70), rtol=1e-14)
    G = heddle.generate("grid2d:n=5", "cpu", dtype="f4")  # has no arrays but its own
    np.testing.assert_allclose(G @ np.ones(25), G.toscipy().astype("f8") @ np.ones(25))


def test_borrowed_values_may_change_and_copies_do_not(S, x):
    borrowed, copied = heddle.csr(S, "cpu"), heddle.csr(S, "cpu", copy=True)
    before = S @ x
    S.data *= 3
    np.testing.assert_allclose(borrowed @ x, 3 * before, rtol=1e-13)
    np.testing.assert_allclose(copied @ x, before, rtol=1e-13)
    assert borrowed.values is S.data
    assert copied.values is None


def test_deterministic_products_are_bitwise_the_same(device):
    S = random_matrix(300, 20, 0.3, dtype="f4")
    A = heddle.csr(S, device, deterministic=True)
    z = np.random.default_rng(5).random(300).astype("f4")
    assert len({(A.T @ z).tobytes() for _ in range(5)}) == 1


def test_repr_tells_what_it_is_and_what_ran(S, x):
    A = heddle.csr(S, "cpu")
    B = heddle.coo(S, "cpu")
    assert repr(A) == f"<heddle.Matrix csr: 70 x 50, nnz {S.nnz}, float64, on cpu>"
    A @ x
    B @ x  # another matrix of the same handle must not be taken for it
    assert A.kernel.startswith("cpu_")
    assert A.kernel != B.kernel == "cpu_coo"
    assert repr(A).endswith(f"last kernel {A.kernel}>")
    assert repr(B).endswith("last kernel cpu_coo>")
    assert repr(A.T).startswith("<heddle.Matrix csc: 50 x 70")
    A.close()
    assert repr(A) == "<heddle.Matrix, closed>"
