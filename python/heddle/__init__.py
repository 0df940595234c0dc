# SPDX-License-Identifier: MIT
"""Sparse matrix times vector, ``A @ x``, as fast as the memory allows: on GPUs and on all cores.

>>> import scipy.sparse, numpy
>>> S = scipy.sparse.random_array((1000, 500), density=0.01, format="csr", rng=1)
>>> A = csr(S)                                    # borrows the arrays, converts nothing
>>> bool(numpy.allclose(A @ numpy.ones(500), S @ numpy.ones(500)))
True
>>> P = A.plan(products=500, ops="NT")            # many products: let it prepare
>>> bool(numpy.allclose(P.T @ numpy.ones(1000), S.T @ numpy.ones(1000)))
True
"""

from ._command import Kernel, bench, kernels
from ._device import Device, devices, synchronize
from ._library import (
    BadArgumentError,
    BadFileError,
    BadMatrixError,
    DeviceError,
    Error,
    FileError,
    NoDeviceError,
    NoKernelError,
    NoMemoryError,
    NotSupportedError,
    __version__,
    build_info,
)
from ._matrix import Matrix, coo, csc, csr, generate, read, write
from ._plan import Plan, PlanInfo

__all__ = [
    "BadArgumentError",
    "BadFileError",
    "BadMatrixError",
    "Device",
    "DeviceError",
    "Error",
    "FileError",
    "Kernel",
    "Matrix",
    "NoDeviceError",
    "NoKernelError",
    "NoMemoryError",
    "NotSupportedError",
    "Plan",
    "PlanInfo",
    "__version__",
    "bench",
    "build_info",
    "coo",
    "csc",
    "csr",
    "devices",
    "generate",
    "kernels",
    "read",
    "synchronize",
    "write",
]
