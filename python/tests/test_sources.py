# SPDX-License-Identifier: MIT
"""Matrices come from what people have: SciPy's classes, arrays, DLPack, GPU memory; files and families."""

from __future__ import annotations

import gc
import pickle
import resource
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_matrix

import heddle


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("cls", ["array", "matrix"])
def test_every_class_of_scipy(format, cls, x):
    S = getattr(sp, f"{format}_{cls}")(random_matrix())
    for make in (heddle.csr, heddle.csc, heddle.coo):
        A = make(S)
        assert A.format == make.__name__
        np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)


@pytest.mark.parametrize("index", ["i4", "i8", "u2", "u8"])
@pytest.mark.parametrize("base", [0, 1])
def test_arrays_of_any_integer_and_base(index, base, S, x, device):
    C, O = S.tocsc(), S.tocoo()
    ints = [a.astype(index) + base for a in (S.indices, S.indptr, C.indices, C.indptr, O.row, O.col)]
    ints = [a.astype(index) for a in ints]
    shape = {"shape": S.shape, "base": base}
    for A in (
        heddle.csr((S.data, ints[0], ints[1]), device, **shape),
        heddle.csc((C.data, ints[2], ints[3]), device, **shape),
        heddle.coo((O.data, (ints[4], ints[5])), device, **shape),
        heddle.csr((O.data, (ints[4], ints[5])), device, **shape),
        heddle.csc((O.data, (ints[4], ints[5])), device, **shape),
    ):
        np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)


def test_coordinates_in_any_order_with_repeats(device):
    rng = np.random.default_rng(1)
    row, col, val = rng.integers(0, 9, 200), rng.integers(0, 6, 200), rng.random(200)
    S = sp.coo_array((val, (row, col)), shape=(9, 6))
    for make in (heddle.coo, heddle.csr, heddle.csc):
        A = make((val, (row.astype("i4"), col)), device, shape=(9, 6))  # mixed integers too
        np.testing.assert_allclose(A @ np.arange(6.0), S @ np.arange(6.0), rtol=1e-13)
    assert heddle.coo(S, device).info["sorted_now"]


def test_lists_are_arrays_too():
    A = heddle.csr(([1, 2, 3], [0, 2, 1], [0, 2, 3]), shape=[2, 3])
    np.testing.assert_array_equal(A @ [1, 10, 100], [201, 30])
    assert A.dtype == np.float64


class OnlyDLPack:
    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **how):
        return self.a.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_anything_with_dlpack(S, x):
    parts = [OnlyDLPack(a) for a in (S.data, S.indices, S.indptr)]
    A = heddle.csr(tuple(parts), shape=S.shape)
    np.testing.assert_allclose(A @ OnlyDLPack(x), S @ x, rtol=1e-13)
    if A.device == "cpu":
        assert np.shares_memory(A.values, S.data)


def test_nothing_is_copied_on_a_cpu(S):
    for make, T in ((heddle.csr, S), (heddle.csc, S.tocsc()), (heddle.coo, S.tocoo())):
        A = make(T, "cpu")
        assert A.values is T.data
        assert not A.info["copied"]
    assert heddle.csr(S, "cpu", copy=True).info["copied"]
    assert heddle.csr((S.data, S.indices.astype("i8"), S.indptr), "cpu", shape=S.shape).info["copied"]


def test_the_owner_of_borrowed_arrays_is_kept_alive(x):
    S = random_matrix()
    expected = S @ x
    data = weakref.ref(S.data)
    A = heddle.csr(S, "cpu")
    turned = A.T
    del S, A
    gc.collect()
    np.testing.assert_allclose(x @ turned, expected, rtol=1e-13)
    np.testing.assert_allclose(turned.T @ x, expected, rtol=1e-13)
    assert data() is not None
    del turned
    assert data() is None  # at once, without the garbage collector: there are no cycles


def test_a_closed_matrix_gives_its_memory_back_and_says_so(S, x):
    with heddle.csr(S, "cpu") as A:
        A.T @ np.ones(70)
        turned = A.T
    for use in (
        lambda: A @ x,
        lambda: turned @ np.ones(70),
        lambda: A.plan(),
        lambda: A.check(),
        lambda: A.info,
    ):
        with pytest.raises(ValueError, match="was closed"):
            use()
    A.close()


@pytest.mark.parametrize("close", [True, False])
def test_what_is_freed_is_free(close):
    S = random_matrix(1000, 1000, 0.5)  # 6 MB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        A = heddle.csr(S, "cpu", copy=True)
        P = A.plan(kernel="cpu_sell")
        P.T  # noqa: B018
        if close:
            P.close()
            A.close()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 120_000  # KB; 40 matrices and plans take 500,000


def test_conversions_between_formats(S, x, device):
    A = heddle.csr(S, device)
    assert heddle.csr(A) is A
    for make in (heddle.csc, heddle.coo):
        B = make(A)
        assert B.format == make.__name__
        np.testing.assert_allclose(B @ x, S @ x, rtol=1e-13)
        np.testing.assert_allclose(make(A.T) @ np.ones(70), S.T @ np.ones(70), rtol=1e-13)
        assert make(A.T).format == make.__name__


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_back_to_scipy(format, device):
    S = random_matrix(format=format)
    for A in (getattr(heddle, format)(S, device), getattr(heddle, format)(S, device, copy=True)):
        B = A.toscipy()
        assert B.format == format
        assert (B != S).nnz == 0
        assert (A.T.toscipy() != S.T).nnz == 0


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_pickles(format, x, device):
    S = random_matrix(format=format)
    for A in (
        getattr(heddle, format)(S, device),
        getattr(heddle, format)(S, device, copy=True),
        heddle.csr(S, device).T.T,
    ):
        B = pickle.loads(pickle.dumps(A))
        np.testing.assert_allclose(B @ x, A @ x, rtol=1e-12)
        assert (B.device, B.shape, B.format) == (A.device, A.shape, A.format)
        C = pickle.loads(pickle.dumps(A.T))
        np.testing.assert_allclose(C @ np.ones(70), A.T @ np.ones(70), rtol=1e-13)


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz", ".hdl", ".rb"])
def test_files(ending, tmp_path, x, device):
    S = random_matrix()
    path = tmp_path / f"a{ending}"
    heddle.write(heddle.csr(S, device), path)
    A = heddle.read(path, device)
    np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)
    assert A.dtype == np.float64
    assert heddle.read(str(path), device, dtype="f4", copy=True, trust=True, large=True).dtype == np.float32


def test_families(device):
    A = heddle.generate("grid2d:n=20", device, dtype=np.float32)
    S = A.toscipy()
    assert A.dtype == S.dtype == np.float32
    assert A.shape == (400, 400)
    np.testing.assert_allclose(A @ np.ones(400, "f4"), S @ np.ones(400, "f4"), atol=1e-5)
    B = pickle.loads(pickle.dumps(A))
    assert (B.toscipy() != S).nnz == 0
    A.check()
