# SPDX-License-Identifier: MIT
"""Programs that others wrote run on matrices, plans and operators of Heddle as they do on SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import heddle

N = 20


def laplacian():
    line = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(N, N))
    one = sp.eye_array(N)
    return (sp.kron(line, one) + 1.3 * sp.kron(one, line)).tocsr()  # no two eigenvalues are the same


def skewed():
    S = laplacian().tolil()
    S.setdiag(0.3, k=1)
    return S.tocsr()


def tall():
    rng = np.random.default_rng(1)
    return (sp.random_array((300, 120), density=0.05, rng=rng) + sp.eye_array(300, 120)).tocsr()


WAYS = {
    "matrix": lambda S: heddle.csr(S),
    "plan": lambda S: heddle.csr(S).plan(products=300, ops="NT"),
    "operator": lambda S: heddle.csr(S).aslinearoperator(),
    "operator of a plan": lambda S: heddle.csc(S).plan(ops="NT").aslinearoperator(),
}
SQUARE = {
    "cg": (laplacian, lambda A, b: spl.cg(A, b, rtol=1e-10)),
    "cgs": (skewed, lambda A, b: spl.cgs(A, b, rtol=1e-10)),
    "bicg": (skewed, lambda A, b: spl.bicg(A, b, rtol=1e-10)),
    "bicgstab": (skewed, lambda A, b: spl.bicgstab(A, b, rtol=1e-10)),
    "gmres": (skewed, lambda A, b: spl.gmres(A, b, rtol=1e-10)),
    "lgmres": (skewed, lambda A, b: spl.lgmres(A, b, rtol=1e-10)),
    "minres": (laplacian, lambda A, b: spl.minres(A, b, rtol=1e-10)),
    "qmr": (skewed, lambda A, b: spl.qmr(A, b, rtol=1e-10)),
    "gcrotmk": (skewed, lambda A, b: spl.gcrotmk(A, b, rtol=1e-10)),
    "tfqmr": (skewed, lambda A, b: spl.tfqmr(A, b, rtol=1e-10)),
    "lsqr": (tall, lambda A, b: (spl.lsqr(A, b, atol=1e-12, btol=1e-12)[0], 0)),
    "lsmr": (tall, lambda A, b: (spl.lsmr(A, b, atol=1e-12, btol=1e-12)[0], 0)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("solver", SQUARE)
def test_solvers_of_scipy(solver, way):
    make, solve = SQUARE[solver]
    S = make()
    b = np.random.default_rng(2).random(S.shape[0])
    theirs, failed = solve(S, b)
    ours, failed_too = solve(WAYS[way](S), b)
    assert failed == failed_too == 0
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_eigenvalues_and_singular_values_of_scipy(way):
    rng = np.random.default_rng(3)
    S, start = laplacian(), rng.random(N * N)  # a start without symmetry meets every eigenvector
    for method in (
        lambda A: spl.eigsh(A, k=4, v0=start, ncv=40),
        lambda A: spl.eigs(A, k=4, v0=start, ncv=40),
    ):
        ours, theirs = (np.sort(method(of)[0].real) for of in (WAYS[way](S), S))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    T = tall()
    start = rng.random(120)
    ours = spl.svds(WAYS[way](T), k=4, v0=start, return_singular_vectors=False)
    theirs = spl.svds(T, k=4, v0=start, return_singular_vectors=False)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_operators_can_be_added_and_multiplied():
    S = laplacian()
    A = heddle.csr(S).aslinearoperator()
    x = np.random.default_rng(1).random(N * N)
    np.testing.assert_allclose((2 * A + A.H @ A) @ x, 2 * (S @ x) + S.T @ (S @ x), rtol=1e-12)
    X = np.stack([x, -x], 1)
    np.testing.assert_allclose(A @ X, S @ X, rtol=1e-12)
    np.testing.assert_allclose(A.rmatmat(X), S.T @ X, rtol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_pylops(way):
    pylops = pytest.importorskip("pylops")
    from pylops.utils import dottest

    A = WAYS[way](tall())
    op = pylops.aslinearoperator(A if way.startswith("operator") else A.aslinearoperator())
    assert dottest(op, 300, 120, rtol=1e-10)
    assert dottest(op.T, 120, 300, rtol=1e-10)


def test_pyamg():
    pyamg = pytest.importorskip("pyamg")
    S = laplacian()
    b = np.random.default_rng(1).random(N * N)
    stock = pyamg.ruge_stuben_solver(S, max_coarse=10)
    residuals, ours = [], []
    x = stock.solve(b, tol=1e-10, accel="cg", residuals=residuals)
    ml = pyamg.ruge_stuben_solver(S, max_coarse=10)
    for level in ml.levels[:-1]:  # the cycle restricts and prolongates by Heddle,
        level.P, level.R = heddle.csr(level.P), heddle.csr(level.R)
    M = ml.aspreconditioner()
    y, failed = pyamg.krylov.cg(heddle.csr(S).plan(), b, M=M, tol=1e-10, residuals=ours)  # and so does cg
    assert failed == 0
    np.testing.assert_allclose(y, x, rtol=1e-7)
    assert len(ours) == len(residuals)


def test_pagerank_of_networkx():
    nx = pytest.importorskip("networkx")
    G = nx.les_miserables_graph()
    theirs = nx.pagerank(G, tol=1e-12)
    W = nx.to_scipy_sparse_array(G, dtype=float)
    P = heddle.csr(sp.diags_array(1 / W.sum(1)) @ W)
    rank = np.full(len(G), 1 / len(G))
    for _ in range(200):
        rank = 0.85 * (P.T @ rank) + 0.15 / len(G)
    np.testing.assert_allclose(rank, [theirs[node] for node in G], rtol=1e-8)
