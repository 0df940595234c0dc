# SPDX-License-Identifier: MIT
"""Wrong calls: each ends in a Python exception with a sentence that says what was wrong, none in a crash."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DeviceArray, random_matrix

import heddle

S = random_matrix()
DATA, COL, PTR = S.data, S.indices, S.indptr
ONE = ([1.0], [0], [0, 1])


def arrays(val=DATA, col=COL, ptr=PTR, shape=S.shape, **how):
    return heddle.csr((val, col, ptr), shape=shape, **how)


def changed(a, at, to):
    a = a.copy()
    a[at] = to
    return a


def A():
    return heddle.csr(S, "cpu")


def frozen(n):
    y = np.zeros(n)
    y.flags.writeable = False
    return y


def of_nobody():
    """An array that says to lie where no memory is, as one that was freed may do."""
    gone = DeviceArray(np.zeros(50))
    gone.address = 64
    return gone


def overlapping(matrix):
    both = np.zeros(110)
    return matrix.mv(both[:50], out=both[40:])


X = np.ones(50)
WRONG = {
    # what is no matrix
    "None": (lambda: heddle.csr(None), TypeError, "NoneType is not a sparse matrix"),
    "a number": (lambda: heddle.csr(3), TypeError, "int is not a sparse matrix"),
    "a text": (lambda: heddle.csr("a.mtx"), TypeError, "str is not a sparse matrix"),
    "a dense array": (lambda: heddle.csr(np.eye(3)), TypeError, "dense array: make it sparse"),
    "a list of rows": (
        lambda: heddle.csr([[1, 2], [3, 4]], shape=(2, 2)),
        ValueError,
        "one dimension|needed for",
    ),
    "a tuple of two": (lambda: heddle.csr((1, 2), shape=(2, 2)), TypeError, "arrays come as"),
    "csr arrays for coo": (lambda: heddle.coo((DATA, COL, PTR), shape=S.shape), TypeError, "arrays come as"),
    "a sparse vector": (
        lambda: heddle.coo(sp.coo_array(np.ones(3))),
        ValueError,
        "1 dimensions is not a matrix",
    ),
    "values of many digits": (lambda: heddle.csr(S.astype("longdouble")), TypeError, "values are"),
    "long values": (lambda: arrays(DATA.astype("g")), TypeError, "longdouble|float128"),
    "texts as values": (lambda: arrays(np.array(["a"] * len(DATA))), TypeError, "values are str"),
    "float indices": (lambda: arrays(col=COL.astype("f8")), TypeError, "indices are float64"),
    "None as values": (lambda: arrays(val=None), TypeError, "val is None"),
    "a dictionary as values": (lambda: arrays(val={}), TypeError, "val is {}"),
    "ragged lists": (
        lambda: arrays(val=[[1], [1, 2]]),
        TypeError,
        "val is list, which does not become an array",
    ),
    "objects": (lambda: arrays(val=[object()] * 3), TypeError, "array of numbers"),
    # what contradicts itself
    "no shape": (lambda: arrays(shape=None), ValueError, r"need shape=\(rows, cols\)"),
    "half a shape": (lambda: arrays(shape=(3,)), ValueError, r"need shape=\(rows, cols\)"),
    "a shape for a sparse matrix": (lambda: heddle.csr(S, shape=(3, 3)), ValueError, "for arrays"),
    "negative sizes": (lambda: heddle.csr(ONE, shape=(-1, 1)), ValueError, "negative"),
    "negative columns": (lambda: heddle.csr(ONE, shape=(1, -1)), ValueError, "negative"),
    "huge columns": (lambda: heddle.csr(ONE, shape=(1, 2**40)), ValueError, "below 2.31"),
    "huge rows": (lambda: heddle.csr(ONE, shape=(2**62, 1)), ValueError, "below 2.31"),
    "huger than 64 bits": (lambda: heddle.csr(ONE, shape=(1, 2**70)), ValueError, "below 2.31"),
    "too few offsets": (lambda: arrays(ptr=PTR[:-1]), ValueError, "row_ptr has 70 entries, but 71"),
    "too few columns": (lambda: arrays(col=COL[1:]), ValueError, "col has .* entries, but val has"),
    "two dimensions": (lambda: arrays(val=DATA[None, :]), ValueError, "one dimension"),
    "base 2": (lambda: arrays(base=2), ValueError, "base is 2"),
    "offsets that end elsewhere": (
        lambda: arrays(ptr=changed(PTR, -1, 7)),
        ValueError,
        r"row_ptr\[70\] is 7",
    ),
    "offsets that decrease": (lambda: arrays(ptr=changed(PTR, 3, 300)), ValueError, "row"),
    "negative offsets": (lambda: arrays(ptr=changed(PTR, 0, -5)), ValueError, "row"),
    "a column beyond the matrix": (lambda: arrays(col=changed(COL, 5, 50)), heddle.BadMatrixError, "50"),
    "a negative column": (lambda: arrays(col=changed(COL, 5, -1)), heddle.BadMatrixError, "-1"),
    "a column beyond 32 bits": (
        lambda: arrays(col=changed(COL.astype("i8"), 5, 2**33)),
        ValueError,
        "32 bits",
    ),
    "column 0 in base 1": (lambda: arrays(base=1), ValueError, "base 1"),
    "a row beyond the matrix": (lambda: heddle.coo(([1.0], ([5], [0])), shape=(3, 3)), ValueError, "5"),
    "arrays of two places": (
        lambda: heddle.csr((DeviceArray(DATA), COL, PTR), "emu", shape=S.shape),
        ValueError,
        "must lie together",
    ),
    # devices
    "an unknown device": (lambda: heddle.csr(S, "tpu"), heddle.NoDeviceError, "there is no device 'tpu'"),
    "a device that is not there": (lambda: heddle.csr(S, "cuda:99"), heddle.Error, "cuda"),
    "a bad option": (lambda: heddle.csr(S, "cpu:threads=0"), ValueError, "threads"),
    "a device that is no text": (lambda: heddle.csr(S, 0), TypeError, "device is a name"),
    "device arrays for a CPU": (
        lambda: heddle.csr(tuple(map(DeviceArray, (DATA, COL, PTR))), "cpu", shape=S.shape),
        ValueError,
        "gpu, but the matrix shall lie on cpu",
    ),
    # vectors
    "a short x": (
        lambda: A() @ np.ones(49),
        ValueError,
        r"\(70, 50\) times x of shape \(49,\): 50 and 49 differ",
    ),
    "a short x of the transpose": (lambda: A().T @ X, ValueError, "70 and 50 differ"),
    "a short x on the left": (lambda: X @ A(), ValueError, "70 and 50 differ"),
    "a scalar": (lambda: A() @ 2.0, ValueError, "1 or 2 dimension"),
    "three dimensions": (lambda: A() @ np.ones((50, 2, 2)), ValueError, "1 or 2 dimension"),
    "None as x": (lambda: A() @ None, TypeError, "x is None"),
    "a text as x": (lambda: A() @ "x", TypeError, "x is 'x'"),
    "objects as x": (
        lambda: A() @ np.array([None] * 50),
        TypeError,
        "float64 cannot be multiplied with object",
    ),
    "texts as x": (lambda: A() @ np.array(["1"] * 50), TypeError, "float64 cannot be multiplied with str"),
    "dates as x": (
        lambda: A() @ np.zeros(50, "M8[s]"),
        TypeError,
        "float64 cannot be multiplied with datetime64",
    ),
    "long doubles as x": (lambda: A() @ X.astype("g"), TypeError, "float64 cannot be multiplied with"),
    "a matrix for mv": (lambda: A().mv(np.ones((50, 2))), ValueError, "1 dimension"),
    "a vector for mm": (lambda: A().mm(X), ValueError, "2 dimension"),
    "a sparse x": (lambda: A() @ S.T, TypeError, "x is csc_array|x is csr_array"),
    "a matrix of Heddle as x": (lambda: A() @ A(), TypeError, "x is Matrix"),
    "x on a GPU": (lambda: A() @ DeviceArray(X), ValueError, "x lies on a GPU, but the matrix on cpu"),
    "freed memory as x": (
        lambda: heddle.csr(S, "emu").mv(of_nobody(), out=DeviceArray(np.zeros(70))),
        ValueError,
        "memory neither of the device nor of the host",
    ),
    # results and numbers
    "an unknown op": (lambda: A().mv(X, op="X"), ValueError, "op is 'X'"),
    "beta without out": (lambda: A().mv(X, beta=1), ValueError, "no out"),
    "a complex alpha": (lambda: A().mv(X, alpha=1j), TypeError, "alpha is 1j"),
    "a text as beta": (lambda: A().mv(X, beta="1"), TypeError, "beta is '1'"),
    "None as alpha": (lambda: A().mv(X, alpha=None), TypeError, "alpha is None"),
    "a short out": (lambda: A().mv(X, out=np.zeros(69)), ValueError, r"out has the shape \(69,\)"),
    "out of another type": (
        lambda: A().mv(X, out=np.zeros(70, "f4")),
        TypeError,
        "out is float32, but the product is float64",
    ),
    "a list as out": (lambda: A().mv(X, out=[0.0] * 70), TypeError, "out is list"),
    "read-only out": (lambda: A().mv(X, out=frozen(70)), ValueError, "read-only"),
    "strided out": (lambda: A().mv(X, out=np.zeros(140)[::2]), ValueError, "contiguous"),
    "out of scattered columns": (
        lambda: A().mm(np.ones((50, 2)), out=np.zeros((140, 4))[::2, ::2]),
        ValueError,
        "its rows or its columns contiguous",
    ),
    "out that overlaps x": (lambda: overlapping(A()), ValueError, "overlap"),
    "out elsewhere": (
        lambda: A().mv(X, out=DeviceArray(np.zeros(70))),
        ValueError,
        "but x is of numpy on host",
    ),
    "a stream on a CPU": (lambda: A().mv(X, stream=7), ValueError, "a stream was given"),
    "a text as stream": (lambda: heddle.csr(S, "emu").mv(X, stream="7"), TypeError, "stream is a stream"),
    # plans
    "no products": (lambda: A().plan(products=0), ValueError, "products is 0"),
    "half a product": (lambda: A().plan(products=0.5), ValueError, "products is 0.5"),
    "huge products": (lambda: A().plan(products=2**70), ValueError, "products is 1180591620717411303424"),
    "unknown ops": (lambda: A().plan(ops="NX"), ValueError, "ops is 'NX'"),
    "no ops": (lambda: A().plan(ops=""), ValueError, "ops is ''"),
    "a negative limit": (lambda: A().plan(memory_limit=-1), ValueError, "memory_limit is -1"),
    "an unknown kernel": (lambda: A().plan(kernel="fast"), ValueError, "fast"),
    "values that are too few": (lambda: A().plan().update(DATA[1:]), ValueError, "entries"),
    "values of another type": (
        lambda: A().plan().update(DATA.astype("f4")),
        TypeError,
        "float32, but the matrix is float64",
    ),
    "None as values of a plan": (lambda: A().plan().update(None), TypeError, "values is None"),
    "a wider x for a plan": (
        lambda: heddle.csr(S.astype("f4"), "cpu").plan() @ X,
        TypeError,
        "the plan is for float32",
    ),
    # files and the rest
    "no file": (lambda: heddle.read("/nowhere/a.mtx"), OSError, "/nowhere/a.mtx"),
    "a folder": (lambda: heddle.read("/"), heddle.Error, "/"),
    "a file with a 0 in its name": (lambda: heddle.read("a\0b.mtx"), ValueError, "null byte"),
    "no path": (
        lambda: heddle.read(None),
        TypeError,
        "expected str, bytes or os.PathLike object, not NoneType",
    ),
    "an unknown ending": (lambda: heddle.write(A(), "/tmp/a.xyz"), heddle.Error, "a.xyz"),
    "a path that is not there": (lambda: heddle.write(A(), "/nowhere/a.mtx"), OSError, "/nowhere"),
    "a transpose to write": (lambda: heddle.write(A().T, "/tmp/a.mtx"), ValueError, "transpose"),
    "SciPy's to write": (
        lambda: heddle.write(S, "/tmp/a.mtx"),
        TypeError,
        "csr_array is not a heddle.Matrix",
    ),
    "integers from a file": (lambda: heddle.generate("grid2d:n=3", dtype="i4"), TypeError, "dtype is int32"),
    "an unknown family": (lambda: heddle.generate("gird2d:n=3"), ValueError, "gird2d"),
    "a family of no size": (lambda: heddle.generate("grid2d:n=-3"), ValueError, "n"),
    "a family that is no text": (lambda: heddle.generate(3), TypeError, "family is a text"),
    "a bench of nothing": (lambda: heddle.bench(None), TypeError, "neither"),
    "a bench of no file": (lambda: heddle.bench("/nowhere.mtx"), heddle.Error, "nowhere"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_says_what_is_wrong(name):
    call, error, sentence = WRONG[name]
    with pytest.raises(error, match=sentence) as caught:
        call()
    assert len(str(caught.value)) > 10


def test_errors_of_the_library_carry_their_status():
    with pytest.raises(heddle.Error) as caught:
        heddle.csr(S, "tpu")
    assert caught.value.status == "HEDDLE_NO_DEVICE"


def test_after_an_error_everything_goes_on():
    matrix = A()
    with pytest.raises(ValueError, match="differ"):
        matrix @ np.ones(3)
    with pytest.raises(ValueError, match="overlap"):
        overlapping(matrix)
    np.testing.assert_allclose(matrix @ X, S @ X)
