# SPDX-License-Identifier: MIT
"""What a matrix is made from: sparse matrices of SciPy, CuPy and PyTorch, or arrays."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import HOST, NUMPY, CudaKind, Kind, as_array, kind_of
from ._library import BadMatrixError, ffi, lib

VALUES = {
    "float32": lib.HEDDLE_F32,
    "float64": lib.HEDDLE_F64,
    "complex64": lib.HEDDLE_C32,
    "complex128": lib.HEDDLE_C64,
    "float16": lib.HEDDLE_F16,
    "bfloat16": lib.HEDDLE_BF16,
}
INTEGERS = {"int32": lib.HEDDLE_I32, "int64": lib.HEDDLE_I64}
NAMES = {number: name for name, number in (VALUES | INTEGERS).items()}
_WIDENED = {"float16": "float32", "bfloat16": "float32"}
_NAMES = {"csr": ("row_ptr", "col"), "csc": ("col_ptr", "row"), "coo": ("row", "col")}
_INT32 = 2**31 - 1


@dataclass
class Source:
    """A matrix as arrays.  Compressed: `first` holds the offsets; coordinates: the rows."""

    format: str
    shape: tuple[int, int]
    first: Any
    index: Any
    val: Any
    kind: Kind
    base: int = 0
    vector: str = ""  # the type of x and y where it is not the usual one
    coordinates: Any = None  # row and column of each entry, once gradients have asked for them

    @property
    def where(self) -> str:
        return self.kind.where(self.val)

    @property
    def nnz(self) -> int:
        return self.kind.shape(self.val)[0]

    def description(self, copy: bool) -> Any:
        """The structure that the library takes; valid as long as the arrays."""
        d = ffi.new(f"heddle_{self.format}_desc *")
        first, index = _NAMES[self.format]
        d.rows, d.cols = self.shape
        d.nnz = self.nnz
        for name, array in ((first, self.first), (index, self.index), ("val", self.val)):
            setattr(d, name, ffi.cast("void *", self.kind.pointer(array)))
        d.types.value = VALUES[self.kind.dtype(self.val)]
        d.types.vector = VALUES[self.vector] if self.vector else lib.HEDDLE_TYPE_DEFAULT
        d.types.index = INTEGERS[self.kind.dtype(self.index)]
        if self.format != "coo":
            d.types.offset = INTEGERS[self.kind.dtype(self.first)]
        d.base = self.base
        d.copy = copy
        d.where = lib.HEDDLE_ON_HOST if self.where == HOST else lib.HEDDLE_ON_DEVICE
        return d


def source(obj: Any, format: str, shape: Any, base: int, copy: bool) -> Source:
    """`obj` in that format, or (arrays of the host) in the one it has: the library converts those."""
    if base not in (0, 1) or isinstance(base, bool):
        raise ValueError(f"base is {base!r}: the first row and column have the number 0 or 1")
    if isinstance(obj, (tuple, list)):
        found = _from_tuple(obj, format, shape, base)
    else:
        if base or shape is not None:
            raise ValueError("shape and base are for arrays; a sparse matrix has its own")
        found = _from_sparse(obj, format)
    found = _numbers(found)
    if found.kind is NUMPY or isinstance(found.kind, CudaKind):
        return found
    found = _by_framework(found)
    if copy:
        found.first, found.index, found.val = map(found.kind.copied, (found.first, found.index, found.val))
    return found


def _from_sparse(obj: Any, format: str) -> Source:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Tensor):
        return _from_torch(obj, format)
    to_format = getattr(obj, f"to{format}", None)
    if to_format is None or not hasattr(obj, "shape"):
        hint = " (a dense array: make it sparse first)" if kind_of(obj) else ""
        raise TypeError(
            f"{type(obj).__name__} is not a sparse matrix of SciPy, CuPy or PyTorch, "
            f"nor a tuple (val, col, row_ptr) or (val, (row, col)){hint}"
        )
    if len(obj.shape) != 2:
        raise ValueError(f"a sparse array of {len(obj.shape)} dimensions is not a matrix")
    obj = to_format()
    first, index = ("row", "col") if format == "coo" else ("indptr", "indices")
    return _arrays(format, obj.shape, (getattr(obj, first), getattr(obj, index), obj.data), 0)


def _from_torch(t: Any, format: str) -> Source:
    torch = sys.modules["torch"]
    if t.layout == torch.strided:
        raise TypeError("a dense tensor is not a sparse matrix: tensor.to_sparse_csr() makes one")
    if t.ndim != 2 or t.dense_dim():
        raise ValueError(
            f"a sparse tensor of shape {tuple(t.shape)} is not a matrix of numbers (batches are not taken)"
        )
    if format == "coo":
        t = (t if t.layout == torch.sparse_coo else t.to_sparse_coo()).coalesce()
        row, col = t.indices()
        return _arrays("coo", t.shape, (row, col, _torch_values(t)), 0)
    layout = torch.sparse_csr if format == "csr" else torch.sparse_csc
    if t.layout != layout:
        if t.layout not in (torch.sparse_csr, torch.sparse_csc):
            t = (t if t.layout == torch.sparse_coo else t.to_sparse_coo()).coalesce()
        t = t.to_sparse_csr() if format == "csr" else t.to_sparse_csc()
    first = t.crow_indices() if format == "csr" else t.ccol_indices()
    index = t.col_indices() if format == "csr" else t.row_indices()
    return _arrays(format, t.shape, (first, index, _torch_values(t)), 0)


def _torch_values(t: Any) -> Any:
    """With their way back to `t` where gradients take it; else on their own, as torch.compile needs them."""
    values = t.values()
    return values if values.requires_grad else values.new_empty(0).set_(values)


def _from_tuple(obj: Any, format: str, shape: Any, base: int) -> Source:
    if len(obj) == 2 and isinstance(obj[1], (tuple, list)) and len(obj[1]) == 2:
        found, arrays = "coo", (*obj[1], obj[0])
    elif len(obj) == 3 and format != "coo":
        found, arrays = format, (obj[2], obj[1], obj[0])
    else:
        raise TypeError(
            "arrays come as (val, col, row_ptr) for csr, (val, row, col_ptr) for csc, or (val, (row, col))"
        )
    try:
        rows, cols = (int(n) for n in shape)
    except (TypeError, ValueError):
        raise ValueError(f"shape is {shape!r}: arrays need shape=(rows, cols)") from None
    return _arrays(found, (rows, cols), arrays, base)


def _arrays(format: str, shape: Any, arrays: Any, base: int) -> Source:
    """Checks what the library cannot see: lengths, dimensions, and that all arrays lie together."""
    names = (*_NAMES[format], "val")
    kinds = []
    made = []
    for array, name in zip(arrays, names):
        array, kind = as_array(array, name)  # noqa: PLW2901
        if len(kind.shape(array)) != 1:
            raise ValueError(f"{name} has the shape {kind.shape(array)}: it must have one dimension")
        made.append(array)
        kinds.append(kind)
    places = [kind.where(a) for a, kind in zip(made, kinds)]
    if len(set(places)) > 1 or len({kind.name for kind in kinds}) > 1:
        raise ValueError(
            "the arrays must lie together: "
            + ", ".join(f"{n} is of {k.name} on {w}" for n, k, w in zip(names, kinds, places))
        )
    if max(shape) > _INT32 or min(shape) < 0:
        raise ValueError(
            f"the shape is {tuple(shape)}: rows and columns are not negative, and stay below 2^31"
        )
    found = Source(format, (int(shape[0]), int(shape[1])), made[0], made[1], made[2], kinds[0], base)
    lengths = [kind.shape(a)[0] for a, kind in zip(made, kinds)]
    expected = lengths[2] if format == "coo" else found.shape[format == "csc"] + 1
    if lengths[1] != lengths[2]:
        raise ValueError(f"{names[1]} has {lengths[1]} entries, but val has {lengths[2]}")
    if lengths[0] != expected:
        raise ValueError(f"{names[0]} has {lengths[0]} entries, but {expected} are needed for {found.shape}")
    return found


def _numbers(s: Source) -> Source:
    """Integers as int32 or int64, values as one of VALUES: others are converted, or refused."""
    dtype = s.kind.dtype(s.val)
    wider = _WIDENED.get(dtype)
    if dtype not in VALUES and (
        dtype in ("longdouble", "float128", "object") or np.dtype(dtype_or(dtype)).kind not in "biu"
    ):
        raise TypeError(f"values are {dtype}: {', '.join(VALUES)} are multiplied, integers as float64")
    if wider and getattr(s.val, "requires_grad", False):  # gradients are of the type of sums
        s.val = s.kind.ready(s.val, wider)
    elif dtype not in VALUES or not s.kind.is_ready(s.val, dtype):
        s.val = s.kind.ready(s.val, dtype if dtype in VALUES else "float64")
    for name in ("first", "index"):
        array = getattr(s, name)
        dtype = s.kind.dtype(array)
        if np.dtype(dtype_or(dtype)).kind not in "iu":
            raise TypeError(f"indices are {dtype}: they must be integers")
        if dtype not in INTEGERS or not s.kind.is_ready(array, dtype):
            setattr(s, name, s.kind.ready(array, dtype if dtype in INTEGERS else "int64"))
    if s.format == "coo" and s.kind.dtype(s.first) != s.kind.dtype(s.index):
        s.first, s.index = s.kind.ready(s.first, "int64"), s.kind.ready(s.index, "int64")
    return s


def vector_type(dtype: str) -> str:
    """What values of this type are multiplied with, and summed as."""
    return _WIDENED.get(dtype, dtype)


def dtype_or(dtype: str) -> str:
    """A type that NumPy does not know counts as what it is widened to."""
    try:
        return np.dtype(_WIDENED.get(dtype, dtype)).name
    except TypeError:
        return "object"


def _by_framework(s: Source) -> Source:
    """Base 0, 32 bits, no coordinates: by the framework, where the arrays lie, with values that stay its own.

    The library would go through the host, and copy the values along with the indices.
    """
    rows, cols = s.shape
    if s.format == "coo":
        _within(s, "row", s.first, rows)
        _within(s, "col", s.index, cols)
        order, ptr = s.kind.compress(s.first - s.base if s.base else s.first, rows)
        s.first, s.index, s.val, s.format = ptr + s.base, s.index[order], s.val[order], "csr"
    elif s.base or s.kind.dtype(s.index) == "int64":
        _within(s, _NAMES[s.format][1], s.index, cols if s.format == "csr" else rows)
    for name in ("first", "index"):
        array = getattr(s, name)
        fits = name == "index" or s.nnz <= _INT32 - s.base
        if s.base or (fits and s.kind.dtype(array) == "int64"):
            array = array - s.base if s.base else array
            setattr(s, name, s.kind.ready(array, "int32" if fits else "int64"))
    s.base = 0
    return s


def _within(s: Source, name: str, index: Any, size: int) -> None:
    """An index that does not fit 32 bits would become another one when it is narrowed."""
    if s.nnz == 0:
        return
    least, most = s.kind.bounds(index)
    if least < s.base or most >= size + s.base:
        bad = least if least < s.base else most
        raise BadMatrixError(f"{name} holds {bad}, which is outside {s.base}..{size + s.base - 1}")


def host_source(format: str, shape: tuple[int, int], first: Any, index: Any, val: Any) -> Source:
    """A matrix that was on the host all along, as unpickling and files give it."""
    return Source(format, shape, first, index, val, NUMPY)
