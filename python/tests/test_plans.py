# SPDX-License-Identifier: MIT
"""Plans multiply as their matrix does, say what they cost, and take new values."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_matrix

import heddle


def test_a_plan_multiplies_as_its_matrix(S, x, device):
    P = heddle.csr(S, device).plan(products=50, ops="NT")
    z = np.random.default_rng(1).random(70)
    X = np.stack([x, -x], 1)
    for ours, theirs in [
        (P @ x, S @ x),
        (P.T @ z, S.T @ z),
        (P.H @ z, S.T @ z),
        (z @ P, S.T @ z),
        (P @ X, S @ X),
        (P.mv(x, alpha=2), 2 * (S @ x)),
        (P.mv(z, op="T"), S.T @ z),
        (P.T.T @ x, S @ x),
        (P @ x.astype("f4"), S @ x.astype("f4")),
        (P @ (x + 1j), S @ (x + 1j)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert P.shape == (70, 50)
    assert P.T.shape == (50, 70)
    assert P.matrix.shape == (70, 50)
    assert P.T.matrix.shape == (50, 70)


def test_a_plan_says_what_it_costs(S):
    A = heddle.csr(S, "cpu")
    P = A.plan(ops="N", kernel="cpu_sell:slice=8")
    info = P.info["N"]
    assert list(P.info) == ["N"]
    assert list(P.T.info) == ["T"]
    assert info.kernel.startswith("cpu_sell:slice=8")
    assert info.format == "sell"
    assert info.bytes > 0
    assert info.deterministic
    assert "cpu_sell" in repr(P)
    P @ np.ones(50)
    assert "last kernel cpu_sell" in repr(P)
    with pytest.raises(ValueError, match="not made for T"):
        P.T @ np.ones(70)
    Q = A.T.plan(ops="N")  # of the transpose: N of Aᵀ
    np.testing.assert_allclose(Q @ np.ones(70), S.T @ np.ones(70))
    assert list(Q.info) == ["N"]
    both = A.T.plan(ops="NH")
    assert list(both.info) == ["N", "T"]


def test_a_plan_of_no_memory_holds_none(S):
    A = heddle.csr(S, "cpu")
    assert A.plan(memory_limit=0).info["N"].bytes == 0
    assert A.plan(memory_limit=10**9).info["N"].bytes <= 10**9
    with pytest.raises(heddle.NoKernelError, match="0 are allowed"):
        A.plan(memory_limit=0, ops="T", deterministic=True)


def test_a_plan_for_values_that_are_fixed_takes_no_others(S, x):
    P = heddle.csr(S, "cpu").plan(values_fixed=True)
    np.testing.assert_allclose(P @ x, S @ x, rtol=1e-13)
    assert P.info["N"].dtype == "float64"  # of random numbers, of which f32 has few
    with pytest.raises(ValueError, match="fixed"):
        P.update(S.data)


def test_new_values_under_the_same_pattern(S, x, device):
    A = heddle.csr(S, device)
    P = A.plan(ops="NT", kernel=None if device != "cpu" else "cpu_sell")
    P @ x
    new = S.copy()
    new.data = np.random.default_rng(9).random(S.nnz)
    P.update(new.data)
    np.testing.assert_allclose(P @ x, new @ x, rtol=1e-13)
    np.testing.assert_allclose(P.T @ np.ones(70), new.T @ np.ones(70), rtol=1e-13)
    np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)
    Q = pickle.loads(pickle.dumps(P))
    np.testing.assert_allclose(Q @ x, new @ x, rtol=1e-13)
    assert Q.info.keys() == P.info.keys()
    turned = pickle.loads(pickle.dumps(P.T))
    np.testing.assert_allclose(turned @ np.ones(70), new.T @ np.ones(70), rtol=1e-13)


def test_a_plan_whose_values_have_lost_their_order_is_not_pickled(S, x):
    P = heddle.csc(S, "emu").plan()
    np.testing.assert_allclose(pickle.loads(pickle.dumps(P)) @ x, S @ x, rtol=1e-13)
    P.update(sp.csc_array(S).data * 2)
    np.testing.assert_allclose(P @ x, 2 * (S @ x), rtol=1e-13)
    with pytest.raises(TypeError, match="the order is lost"):
        pickle.dumps(P)


def test_a_plan_outlives_the_name_of_its_matrix(x, device):
    S = random_matrix()
    P = heddle.csr(S, device).plan()
    np.testing.assert_allclose(P @ x, S @ x, rtol=1e-13)
    with P:
        pass
    with pytest.raises(ValueError, match="was closed"):
        P @ x
    assert repr(P) == "<heddle.Plan, closed>"
    A = heddle.csr(S, device)
    Q = A.plan()
    A.close()
    with pytest.raises(ValueError, match="matrix of the plan was closed"):
        Q @ x
    assert repr(Q) == "<heddle.Plan, closed>"


def test_the_kernel_of_a_plan_that_is_closed_is_not_taken_for_anothers(S, x, device):
    A = heddle.csr(S, device)
    P = A.plan(kernel="cpu_sell" if device.startswith("cpu") else "sell")
    P @ x
    P.close()
    with pytest.raises(ValueError, match="was closed"):
        P @ x
    B = heddle.csr(S, device)
    B @ x
    assert P.kernel == ""
    assert B.kernel
    assert "sell" not in B.kernel
