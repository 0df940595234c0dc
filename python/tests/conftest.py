# SPDX-License-Identifier: MIT
"""What the tests share: matrices, devices, and memory of an emulated GPU.

Every test is about a property that it states; tests of PyTorch, CuPy and of real GPUs run where those are.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import heddle
from heddle._library import ffi, lib


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:Sparse CSR tensor support")
    config.addinivalue_line("filterwarnings", "ignore:Sparse CSC tensor support")
    config.addinivalue_line("filterwarnings", "ignore:.*use of fork.*:DeprecationWarning")


GPUS = [d.name for d in heddle.devices() if d.name.startswith(("cuda", "hip"))]


@pytest.fixture(params=["cpu", "cpu:threads=1", "emu", *GPUS])
def device(request):
    """Every device of this machine, among them the emulator, whose memory is not the host's."""
    return request.param


def random_matrix(rows=70, cols=50, density=0.1, format="csr", dtype="f8", seed=1):
    """Also empty rows and columns, and one row that is full."""
    rng = np.random.default_rng(seed)
    S = sp.random_array((rows, cols), density=density, format="lil", rng=rng)
    S[0, :] = 0
    S[:, 0] = 0
    S[rows // 2, :] = rng.random(cols)
    return sp.csr_array(S).asformat(format).astype(dtype)


@pytest.fixture
def S():
    return random_matrix()


@pytest.fixture
def x():
    return np.random.default_rng(2).random(50)


class DeviceArray:
    """Emulated GPU's memory that shows itself by __cuda_array_interface__ alone, as strangers' arrays do.

    It is the values of a matrix, because the library allocates no other memory for its callers; on the
    emulator it can be read.
    """

    def __init__(self, numbers, device="emu"):
        numbers = np.ascontiguousarray(numbers)
        words = max(1, -(-numbers.nbytes // 8))
        arrays = (np.zeros(words), np.zeros(words, "i4"), np.array([0, words], "i4"))
        self.matrix = heddle.csr(arrays, device, shape=(1, 1))
        d = ffi.new("heddle_matrix_desc *")
        assert lib.heddle_matrix_info(self.matrix._resource.pointer, d) == lib.HEDDLE_OK
        self.address = int(ffi.cast("uintptr_t", d.val))
        self.memory = np.frombuffer(ffi.buffer(ffi.cast("char *", d.val), numbers.nbytes), numbers.dtype)
        self.memory = self.memory.reshape(numbers.shape)
        self.memory[...] = numbers
        self.read_only = False
        self.strides = None

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.memory.shape,
            "typestr": self.memory.dtype.str,
            "data": (self.address, self.read_only),
            "strides": self.strides,
            "version": 3,
        }


@pytest.fixture
def on_device():
    return DeviceArray
