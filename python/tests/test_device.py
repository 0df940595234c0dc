# SPDX-License-Identifier: MIT
"""Memory of a GPU, here of the emulated one: borrowed, multiplied and written without the host."""

from __future__ import annotations

import numpy as np
import pytest

import heddle


def on(device_array, S, format="csr"):
    T = S.asformat(format)
    if format == "coo":
        return device_array(T.data), (device_array(T.row), device_array(T.col))
    return tuple(map(device_array, (T.data, T.indices, T.indptr)))


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_arrays_of_the_device_are_borrowed(on_device, S, x, format):
    parts = on(on_device, S, format)
    A = getattr(heddle, format)(parts, "emu", shape=S.shape)
    assert not A.info["copied"]
    assert A.values is parts[0]
    np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)
    parts[0].memory *= 2
    np.testing.assert_allclose(A @ x, 2 * (S @ x), rtol=1e-13)


def test_what_must_change_is_copied_by_the_library(on_device, S, x):
    val, (row, col) = on(on_device, S, "coo")
    A = heddle.coo((val, (row, col)), "emu", shape=S.shape)
    np.testing.assert_allclose(A @ x, S @ x, rtol=1e-13)
    wide = tuple(map(on_device, (S.data, S.indices.astype("i8") + 1, S.indptr + 1)))
    B = heddle.csr(wide, "emu", shape=S.shape, base=1)
    np.testing.assert_allclose(B @ x, S @ x, rtol=1e-13)
    assert B.values is None


def test_vectors_of_the_device(on_device, S, x):
    A = heddle.csr(S, "emu")
    P = A.plan(ops="NT")
    for op in (A, P):
        y = on_device(np.full(70, np.nan))
        assert op.mv(on_device(x), out=y) is y
        np.testing.assert_allclose(y.memory, S @ x, rtol=1e-13)
        op.mv(on_device(x), out=y, alpha=3, beta=-1)
        np.testing.assert_allclose(y.memory, 2 * (S @ x), rtol=1e-13)
        z = on_device(np.zeros(50))
        op.T.mv(y, out=z)
        np.testing.assert_allclose(z.memory, S.T @ (2 * (S @ x)), rtol=1e-13)
    new = on_device(S.data * 5)
    P.update(new)
    P.mv(on_device(x), out=y)
    np.testing.assert_allclose(y.memory, 5 * (S @ x), rtol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
def test_several_vectors_of_the_device_in_both_orders(on_device, S, order):
    X = np.random.default_rng(8).random((50, 5))
    A = heddle.csr(S, "emu")

    def there(matrix):
        array = on_device(matrix if order == "C" else matrix.T.copy())
        if order == "F":  # the same memory, seen as columns
            array.strides = array.memory.strides[::-1]
            array.memory = array.memory.T
        return array

    for op in (A, A.plan(ops="NT")):
        Y, Z = there(np.full((70, 5), np.nan)), there(np.ones((50, 5)))
        assert op.mm(there(X), out=Y) is Y
        np.testing.assert_allclose(Y.memory, S @ X, rtol=1e-13)
        op.T.mm(Y, out=Z, alpha=2, beta=-1)
        np.testing.assert_allclose(Z.memory, 2 * (S.T @ (S @ X)) - 1, rtol=1e-12)
    assert A.T @ np.ones((70, 2)) is not None
    assert A.kernel == "csr_mm_t"


def test_what_a_stranger_cannot_do_is_said(on_device, S, x, monkeypatch):
    monkeypatch.setattr("heddle._arrays._import", lambda name: None)
    A = heddle.csr(S, "emu")
    with pytest.raises(TypeError, match="Give out=, or install CuPy"):
        A @ on_device(x)
    with pytest.raises(TypeError, match="holds float32, maybe strided, where contiguous float64"):
        A.mv(on_device(x.astype("f4")), out=on_device(np.zeros(70)))
    strided = on_device(np.zeros(50))
    strided.strides = (16,)
    with pytest.raises(TypeError, match="maybe strided"):
        A.mv(strided, out=on_device(np.zeros(70)))
    strided.strides = (8,)
    y = on_device(np.zeros(70))
    A.mv(strided, out=y)
    y.read_only = True
    with pytest.raises(ValueError, match="read-only"):
        A.mv(strided, out=y)
    turned = on_device(np.zeros((70, 50)))
    turned.strides = (8, 560)
    with pytest.raises(TypeError, match="different orders"):
        A.mm(on_device(np.zeros((50, 50))), out=turned)
    with pytest.raises(TypeError, match="cannot be copied to the host"):
        heddle.csr(on(on_device, S), "emu", shape=S.shape).arrays()


class OnlyDLPackOnAGPU:
    def __dlpack__(self, **how):
        raise NotImplementedError

    def __dlpack_device__(self):
        return 2, 0


def test_dlpack_of_a_gpu_needs_a_framework(S, monkeypatch):
    monkeypatch.setattr("heddle._arrays._import", lambda name: None)
    with pytest.raises(TypeError, match="CuPy or PyTorch must be installed"):
        heddle.csr(S, "emu") @ OnlyDLPackOnAGPU()


def test_a_stream_can_be_named_by_its_number(S, x):
    A = heddle.csr(S, "emu")
    np.testing.assert_allclose(A.mv(x, stream=0), S @ x, rtol=1e-13)
    heddle.synchronize()
    heddle.synchronize("emu")


def test_devices_are_described():
    found = heddle.devices()
    names = [d.name for d in found]
    assert names.index("cpu") < names.index("emu")
    cpu = found[names.index("cpu")]
    assert cpu.units > 0
    assert cpu.memory > 0
    assert cpu.description
    assert cpu.arch
    best = heddle.generate("grid2d:n=3", "auto")
    assert best.device == names[0]


def test_kernels_are_described():
    kernels = {k.name: k for k in heddle.kernels()}
    assert kernels["cpu_csr"].repeatable
    assert kernels["cpu_csr"].device == "cpu"
    assert any(k.source for k in kernels.values())


def test_bench_measures_a_matrix(S):
    runs = heddle.bench(heddle.csr(S, "cpu"), kernel="cpu_csr,cpu_sell", op="N,T")
    assert {(r["kernel"], r["op"]) for r in runs} >= {("cpu_csr", "N"), ("cpu_sell", "N")}
    assert all(r["verified"] and r["nnz"] == S.nnz for r in runs if not r["skipped"])
