# SPDX-License-Identifier: MIT
"""Values that are complex, of 16 bits, or narrower than the vectors, beside SciPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import heddle

COMPLEX = ["complex64", "complex128"]
TOLERANCE = {"complex64": 3e-6, "complex128": 1e-14, "float32": 3e-6, "float64": 1e-14}


def numbers(rng: np.random.Generator, shape: Any, dtype: str) -> Any:
    parts = rng.standard_normal((2, *np.atleast_1d(shape)))
    return (parts[0] + 1j * parts[1]).astype(dtype) if "complex" in dtype else parts[0].astype(dtype)


def some(seed: int, dtype: str, format: str) -> Any:
    """A sparse array of some shape: wide, high, square, with empty rows and with a full one."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(1, 400, 2)
    dense = numbers(rng, (rows, cols), dtype)
    dense[rng.random((rows, cols)) > rng.choice([0.01, 0.1, 0.5])] = 0
    if seed % 3 == 0:
        dense[rng.integers(rows)] = numbers(rng, cols, dtype)
    return getattr(sp, f"{format}_array")(dense)


def close(y: Any, S: Any, x: Any, dtype: str) -> None:
    """Within the rounding of sums as long as the rows are."""
    wide = S.astype("complex128") @ x.astype("complex128")
    bound = abs(S).astype("float64") @ np.abs(x).astype("float64")
    assert y.dtype == dtype
    assert (np.abs(y - wide) <= TOLERANCE[dtype] * bound).all()


@pytest.mark.parametrize("seed", range(100))
def test_complex_products_transposed_and_adjoint_are_scipys(seed: int, device: str) -> None:
    dtype, format = COMPLEX[seed % 2], ["csr", "csc", "coo"][seed % 3]
    rng = np.random.default_rng(1000 + seed)
    S = some(seed, dtype, format)
    A = getattr(heddle, format)(S, device=device)
    x, z = numbers(rng, S.shape[1], dtype), numbers(rng, S.shape[0], dtype)
    assert A.dtype == dtype
    close(A @ x, S, x, dtype)
    close(A.T @ z, S.T, z, dtype)
    close(A.H @ z, S.conj().T, z, dtype)
    close(A.conj() @ x, S.conj(), x, dtype)
    close(z @ A, S.T, z, dtype)
    close(A.mv(z, op="H"), S.conj().T, z, dtype)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_scalars(dtype: str, device: str) -> None:
    rng = np.random.default_rng(5)
    S = some(6, dtype, "csr")
    A = heddle.csr(S, device=device)
    x, y = numbers(rng, S.shape[1], dtype), numbers(rng, S.shape[0], dtype)
    expected = (2 - 3j) * (S @ x) + (0.5 + 1j) * y
    np.testing.assert_allclose(A.mv(x, out=y.copy(), alpha=2 - 3j, beta=0.5 + 1j), expected, rtol=1e-4)
    z = numbers(rng, S.shape[0], dtype)
    adjoint = (2 - 3j) * (S.conj().T @ z) - 1j * x
    ours = A.mv(z, out=x.copy(), op="H", alpha=2 - 3j, beta=-1j)
    np.testing.assert_allclose(ours, adjoint, rtol=1e-4, atol=1e-4)
    conjugate = (1 + 1j) * (S.conj() @ x) + 2j * y
    ours = A.conj().mv(x, out=y.copy(), alpha=1 + 1j, beta=2j)
    np.testing.assert_allclose(ours, conjugate, rtol=1e-4, atol=1e-4)


def test_views_of_complex_matrices_fit_together(device: str) -> None:
    S = some(9, "complex128", "csr")
    A = heddle.csr(S, device=device)
    x = numbers(np.random.default_rng(1), S.shape[1], "complex128")
    assert A.H.H.shape == A.shape and A.H.T.shape == A.shape
    np.testing.assert_array_equal(A.H.H @ x, A @ x)
    np.testing.assert_array_equal(A.T.T @ x, A @ x)
    np.testing.assert_array_equal(A.H.T @ x, A.conj() @ x)
    for make in (heddle.csr, heddle.csc, heddle.coo):
        np.testing.assert_allclose(make(A.H) @ (A @ x), A.H @ (A @ x), rtol=1e-11)
    np.testing.assert_array_equal(A.H.toscipy().toarray(), S.conj().T.toarray())
    np.testing.assert_allclose(A.aslinearoperator().rmatvec(A @ x), A.H @ (A @ x), rtol=1e-11)
    real = heddle.csr(S.real, device=device)
    assert real.conj() is real and real.H is real.T


def test_complex_matrices_of_narrower_numbers_are_widened(device: str) -> None:
    S = some(12, "complex64", "csr")
    A = heddle.csr(S, device=device)
    x = numbers(np.random.default_rng(1), S.shape[1], "float64")
    close(A @ x, S, x, "complex128")
    close(A.H @ np.ones(S.shape[0]), S.conj().T, np.ones(S.shape[0]), "complex128")


def test_plans_of_complex_matrices(device: str) -> None:
    S = some(15, "complex128", "csr")
    P = heddle.csr(S, device=device).plan(ops="NT", products=20)
    rng = np.random.default_rng(1)
    x, z = numbers(rng, S.shape[1], "complex128"), numbers(rng, S.shape[0], "complex128")
    close(P @ x, S, x, "complex128")
    close(P.T @ z, S.T, z, "complex128")
    close(P.H @ z, S.conj().T, z, "complex128")
    P.update(S.data * 2j)
    close(P @ x, S * 2j, x, "complex128")


def test_half_precision_is_kept_and_summed_in_single(device: str) -> None:
    rng = np.random.default_rng(3)
    dense = rng.standard_normal((70, 90)) * (rng.random((70, 90)) < 0.2)
    S = sp.csr_array(dense)
    val = S.data.astype("float16")
    A = heddle.csr((val, S.indices, S.indptr), shape=S.shape, device=device)
    rounded = sp.csr_array((val.astype("float64"), S.indices, S.indptr), shape=S.shape)
    x = rng.standard_normal(90).astype("float32")
    assert A.dtype == "float16" and A.info["values"] == "float16" and A.info["vectors"] == "float32"
    close(A @ x, rounded, x, "float32")
    close(A.T @ np.ones(70, "float32"), rounded.T, np.ones(70), "float32")
    close(A @ x.astype("float16"), rounded, x.astype("float16"), "float32")
    close(A @ x.astype("float64"), rounded, x.astype("float64"), "float64")
    again = pickle.loads(pickle.dumps(A))
    assert again.dtype == "float16"


def test_single_precision_values_with_double_vectors_are_not_copied(device: str) -> None:
    S = some(18, "float32", "csr")
    A = heddle.csr(S, device=device)
    x = numbers(np.random.default_rng(4), S.shape[1], "float64")
    close(A @ x, S, x, "float64")
    close(A.T @ np.ones(S.shape[0]), S.T, np.ones(S.shape[0]), "float64")
    wide = A._of_type("float64")
    assert wide.info["values"] == "float32" and wide.info["vectors"] == "float64"
    if device == "cpu":
        assert not wide.info["copied"]
        S.data *= 2  # borrowed: both see it
        close(A @ x, S, x, "float64")


def test_complex_files(tmp_path: Any, device: str) -> None:
    S = some(21, "complex128", "csr")
    A = heddle.csr(S, device=device)
    for name in ("a.mtx", "a.hdl", "a.rb"):
        heddle.write(A, tmp_path / name)
        B = heddle.read(tmp_path / name, device=device)
        assert B.dtype == "complex128"
        np.testing.assert_array_equal(B.toscipy().toarray(), S.toarray())
    with pytest.raises(NotImplementedError, match="complex"):
        heddle.read(tmp_path / "a.mtx", device=device, dtype="float64")
