# SPDX-License-Identifier: MIT
"""Arrays of NumPy, CuPy, PyTorch and others, seen alike.

A kind knows for its arrays where they lie, where their memory begins, how to convert them and how to make
new ones.  Everything else in the package asks the kind and never the framework; frameworks are met, never
imported for their own sake.

Places are "host", the name of a device ("cuda:0"), or "gpu": on some GPU, the array does not say on which.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np

from ._library import NULL, ffi

HOST, SOME_GPU = "host", "gpu"
_cast = ffi.cast
_from_buffer = ffi.from_buffer


@lru_cache(64)  # NumPy puts a name together anew each time, which takes longer than a small product
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)


@lru_cache(256)
def _promoted(a: str, b: str) -> str:
    return _name(np.result_type(a, b))


class Kind:
    """Arrays of NumPy, and how those of the others are treated where they do not differ."""

    name = "numpy"
    module: Any = np

    def where(self, a: Any) -> str:
        return HOST

    def dtype(self, a: Any) -> str:
        return _name(a.dtype)

    def shape(self, a: Any) -> tuple[int, ...]:
        return tuple(a.shape)

    def pointer(self, a: Any) -> Any:
        """For C; valid while `a` lives."""
        return _from_buffer(a) if a.flags.c_contiguous else _cast("void *", a.__array_interface__["data"][0])

    def strides(self, a: Any, dtype: str) -> tuple[int, ...] | None:
        """In numbers; None where `a` is not of the type, or C cannot read it as it lies."""
        if a.dtype != dtype or not a.flags.aligned or any(s % a.itemsize for s in a.strides):
            return None
        return tuple(s // a.itemsize for s in a.strides)

    def layouts(self, a: Any, dtype: str) -> dict[str, int]:
        """The orders, "C" and "F", in which the library takes a matrix, each with its leading dimension.

        Both for a single row or column, none for what must be copied first.  0 stands for dense.
        """
        rows, cols = self.shape(a)
        strides = self.strides(a, dtype)
        if strides is None:
            return {}
        if rows == 0 or cols == 0:
            return {"C": 0, "F": 0}
        down, across = strides
        found = {}
        if (across == 1 or cols == 1) and (down >= cols or rows == 1):
            found["C"] = 0 if rows == 1 else down
        if (down == 1 or rows == 1) and (across >= rows or cols == 1):
            found["F"] = 0 if cols == 1 else across
        return found

    def ready(self, a: Any, dtype: str) -> Any:
        """`a` contiguous and of that type: itself where it is so already."""
        a = np.ascontiguousarray(a, dtype)
        return a if a.flags.aligned else a.copy()

    def is_ready(self, a: Any, dtype: str) -> bool:
        return bool(a.dtype == dtype and a.flags.c_contiguous and a.flags.aligned)

    def writable(self, a: Any) -> bool:
        return bool(a.flags.writeable)

    def recording(self) -> bool:
        """Are gradients recorded?"""
        return False

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        return np.empty(shape, dtype)

    def ordered(self, a: Any, dtype: str, order: str) -> Any:
        """A matrix in C or Fortran order."""
        return self.ready(a, dtype) if order == "C" else self.ready(a.T, dtype).T

    def empty_beside(self, x: Any, rows: int, dtype: str) -> Any:
        """For op(A) X: so many rows, the columns of X, and its order where the library takes it as it is."""
        vectors = self.shape(x)[1]
        by_rows = "C" in self.layouts(x, dtype) or "F" not in self.layouts(x, dtype)
        return self.empty((rows, vectors), dtype, x) if by_rows else self.empty((vectors, rows), dtype, x).T

    def to_host(self, a: Any) -> Any:
        return a

    def promote(self, a: str, b: str) -> str:
        """The type of a product of the two; TypeError where there is none."""
        return _promoted(a, b)

    def stream(self, where: str) -> tuple[int, Any]:
        """The current stream, as a number, and what keeps it alive."""
        return 0, None

    def on_stream(self, stream: Any, where: str) -> AbstractContextManager[Any]:
        """Allocations and conversions go to `stream` within."""
        return nullcontext()

    def quick(
        self, a: Any, dtype: str, size: int, handle: Any, result: int
    ) -> tuple[int, int, Any, int] | None:
        """For the common product: where `a` begins, where the result begins, the result, and the stream.

        That is with a contiguous vector of `size` numbers of the matrix' type where the matrix lies; None for
        all others.
        """
        return None

    # What creating a matrix needs on the device, where the library would go through the host.

    def copied(self, a: Any) -> Any:
        return a.copy()

    def bounds(self, a: Any) -> tuple[int, int]:
        return int(a.min()), int(a.max())

    def compress(self, row: Any, rows: int) -> tuple[Any, Any]:
        """The order that sorts entries by rows, and the offsets of the rows."""
        order = self.module.argsort(row, kind="stable")
        ptr = self.module.zeros(rows + 1, "int64")
        ptr[1:] = self.module.cumsum(self.module.bincount(row, minlength=rows))
        return order, ptr


class CupyKind(Kind):
    """Results come from CuPy's pool; the current stream is the one of the calling thread."""

    name = "cupy"

    def __init__(self) -> None:
        self.module = sys.modules["cupy"]
        self.vendor = "hip:" if self.module.cuda.runtime.is_hip else "cuda:"
        self.current_stream = self.module.cuda.get_current_stream
        self.current_device = self.module.cuda.runtime.getDevice
        self.new = self.module.empty

    def where(self, a: Any) -> str:
        return f"{self.vendor}{a.data.device_id}"

    def pointer(self, a: Any) -> Any:
        return _cast("void *", a.data.ptr)

    def strides(self, a: Any, dtype: str) -> tuple[int, ...] | None:
        return tuple(s // a.itemsize for s in a.strides) if a.dtype == dtype else None

    def ready(self, a: Any, dtype: str) -> Any:
        return self.module.ascontiguousarray(a, dtype)

    def is_ready(self, a: Any, dtype: str) -> bool:
        return bool(a.dtype == dtype and a.flags.c_contiguous)

    def writable(self, a: Any) -> bool:
        return True

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        if like.data.device_id == self.module.cuda.runtime.getDevice():
            return self.module.empty(shape, dtype)
        with like.device:
            return self.module.empty(shape, dtype)

    def to_host(self, a: Any) -> Any:
        return a.get()

    def stream(self, where: str) -> tuple[int, Any]:
        stream = self.current_stream()
        return stream.ptr, stream

    def on_stream(self, stream: Any, where: str) -> AbstractContextManager[Any]:
        cuda = self.module.cuda
        if isinstance(stream, cuda.Stream):
            return stream  # type: ignore[no-any-return]
        number = stream_number(stream)
        return cuda.ExternalStream(number) if number else cuda.Stream.null  # type: ignore[no-any-return]

    def quick(
        self, a: Any, dtype: str, size: int, handle: Any, result: int
    ) -> tuple[int, int, Any, int] | None:
        data = a.data
        if (
            a.dtype == dtype
            and a.shape == (size,)
            and data.device_id == handle.number
            and a.flags.c_contiguous
            and data.device_id == self.current_device()
        ):
            y = self.new(result, dtype)
            return data.ptr, y.data.ptr, y, self.current_stream().ptr
        return None


_TORCH_TYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


class TorchKind(Kind):
    """Tensors of PyTorch, on the host or on a GPU."""

    name = "torch"

    def __init__(self) -> None:
        torch = self.module = sys.modules["torch"]
        self.vendor = "hip:" if torch.version.hip else "cuda:"
        self.types = {name: getattr(torch, name) for name in _TORCH_TYPES}
        self.names = {t: name for name, t in self.types.items()}
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def recording(self) -> bool:
        return bool(self.module.is_grad_enabled())

    def where(self, a: Any) -> str:
        device = a.device
        if device.type == "cpu":
            return HOST
        if device.type != "cuda":
            raise TypeError(f"a tensor on {device} is of no use here: 'cpu' and 'cuda' are")
        return f"{self.vendor}{device.index}"

    def dtype(self, a: Any) -> str:
        return self.names.get(a.dtype) or str(a.dtype)

    def pointer(self, a: Any) -> Any:
        return _cast("void *", a.data_ptr())

    def strides(self, a: Any, dtype: str) -> tuple[int, ...] | None:
        return None if a.dtype is not self.types[dtype] or a.is_conj() or a.is_neg() else tuple(a.stride())

    def ready(self, a: Any, dtype: str) -> Any:
        return a.to(self.types[dtype]).contiguous().resolve_conj().resolve_neg()

    def is_ready(self, a: Any, dtype: str) -> bool:
        return a.dtype is self.types[dtype] and a.is_contiguous() and not a.is_conj() and not a.is_neg()

    def writable(self, a: Any) -> bool:
        return not (a.requires_grad and self.module.is_grad_enabled())

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        return self.module.empty(shape, dtype=self.types[dtype], device=like.device)

    def to_host(self, a: Any) -> Any:
        a = a.detach().cpu()
        return (a.float() if a.dtype is self.types["bfloat16"] else a).numpy()  # NumPy has no bfloat16

    def promote(self, a: str, b: str) -> str:
        if b not in self.types:
            raise TypeError(f"{b} numbers are none that a matrix of {a} can be multiplied with")
        return self.names[self.module.promote_types(self.types[a], self.types[b])]

    def stream(self, where: str) -> tuple[int, Any]:
        index = int(where.partition(":")[2])
        if self.raw_stream is not None:
            return self.raw_stream(index), None  # PyTorch never destroys a stream
        stream = self.module.cuda.current_stream(index)
        return stream.cuda_stream, stream

    def on_stream(self, stream: Any, where: str) -> AbstractContextManager[Any]:
        if where == HOST:
            return nullcontext()
        cuda, device = self.module.cuda, int(where.partition(":")[2])
        external = cuda.ExternalStream(stream_number(stream), device=device)
        return cuda.stream(external)  # type: ignore[no-any-return]

    def quick(
        self, a: Any, dtype: str, size: int, handle: Any, result: int
    ) -> tuple[int, int, Any, int] | None:
        if (
            a.dtype is self.types[dtype]
            and a.shape == (size,)
            and a.is_contiguous()
            and not (a.is_neg() or a.is_conj())
        ):
            number = handle.number
            if a.is_cuda:
                if number is None or self.raw_stream is None or a.get_device() != number:
                    return None
                stream = self.raw_stream(number)
            elif handle.on_gpu or not a.is_cpu:
                return None
            else:
                stream = 0
            y = a.new_empty(result)
            return a.data_ptr(), y.data_ptr(), y, stream
        return None

    def copied(self, a: Any) -> Any:
        return a.clone()

    def compress(self, row: Any, rows: int) -> tuple[Any, Any]:
        torch = self.module
        order = torch.argsort(row, stable=True)
        ptr = torch.zeros(rows + 1, dtype=torch.int64, device=row.device)
        ptr[1:] = torch.cumsum(torch.bincount(row, minlength=rows), 0)
        return order, ptr


class CudaKind(Kind):
    """Anything with __cuda_array_interface__ and no more: memory of a GPU that somebody else manages."""

    name = "__cuda_array_interface__"

    def where(self, a: Any) -> str:
        return SOME_GPU

    def dtype(self, a: Any) -> str:
        return str(np.dtype(a.__cuda_array_interface__["typestr"]).name)

    def shape(self, a: Any) -> tuple[int, ...]:
        return tuple(a.__cuda_array_interface__["shape"])

    def pointer(self, a: Any) -> Any:
        return _cast("void *", a.__cuda_array_interface__["data"][0])

    def ready(self, a: Any, dtype: str) -> Any:
        if self.is_ready(a, dtype):
            return a
        raise TypeError(
            f"{type(a).__name__} holds {self.dtype(a)}, maybe strided, where contiguous {dtype} is needed: "
            "convert it first, CuPy and PyTorch can"
        )

    def strides(self, a: Any, dtype: str) -> tuple[int, ...] | None:
        face = a.__cuda_array_interface__
        size = np.dtype(face["typestr"]).itemsize
        strides = face.get("strides") or _dense(face["shape"], size)
        whole = self.dtype(a) == dtype and not any(s % size for s in strides)
        return tuple(s // size for s in strides) if whole else None

    def is_ready(self, a: Any, dtype: str) -> bool:
        return self.strides(a, dtype) == _dense(self.shape(a), 1)

    def ordered(self, a: Any, dtype: str, order: str) -> Any:
        if self.layouts(a, dtype) and order not in self.layouts(a, dtype):
            raise TypeError(f"{type(a).__name__} and out are of different orders: convert one of them first")
        return self.ready(a, dtype)

    def writable(self, a: Any) -> bool:
        return not a.__cuda_array_interface__["data"][1]

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        cupy = _import("cupy")
        if cupy is None:
            raise TypeError(
                f"who holds the result of a product with {type(like).__name__}? Give out=, or install CuPy"
            )
        return cupy.empty(shape, dtype)

    def to_host(self, a: Any) -> Any:
        cupy = _import("cupy")
        if cupy is None:
            raise TypeError(f"{type(a).__name__} cannot be copied to the host: CuPy is not installed")
        return cupy.asnumpy(cupy.asarray(a))


def _dense(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The strides of an array of this shape with nothing between its numbers."""
    strides: list[int] = []
    for n in reversed(shape):
        strides.insert(0, size)
        size *= n
    return tuple(strides)


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None


NUMPY = Kind()
known_kinds: dict[type, Kind] = {np.ndarray: NUMPY}  # by the type of the array; filled as types are met
_framework: dict[str, Kind] = {}


def _known(name: str, of: type) -> Kind:
    if name not in _framework:
        _framework[name] = {"cupy": CupyKind, "torch": TorchKind}[name]()
    known_kinds[of] = _framework[name]
    return _framework[name]


def kind_of(a: Any) -> Kind | None:
    """The kind of `a`, or None if it is not an array of any."""
    kind = known_kinds.get(type(a))
    if kind is not None:
        return kind
    for name, member in (("torch", "Tensor"), ("cupy", "ndarray")):
        if name in sys.modules and isinstance(a, getattr(sys.modules[name], member, ())):
            return _known(name, type(a))
    if isinstance(a, np.ndarray):
        return NUMPY
    if hasattr(a, "__cuda_array_interface__"):
        return CudaKind()
    return None


_HOST_IN_DLPACK = (1, 3)  # kDLCPU, kDLCUDAHost


def as_array(a: Any, name: str) -> tuple[Any, Kind]:
    """`a` as an array of a kind, uncopied where it is one, and its kind; `name` is for messages."""
    kind = kind_of(a)
    if kind is not None:
        return a, kind
    if hasattr(a, "__dlpack__"):
        if a.__dlpack_device__()[0] in _HOST_IN_DLPACK:
            return np.from_dlpack(a), NUMPY
        for framework in sorted(("cupy", "torch"), key=lambda f: f not in sys.modules):
            module = _import(framework)
            if module is not None:
                array = module.from_dlpack(a)
                return array, _known(framework, type(array))
        raise TypeError(
            f"{name} lies on a GPU and offers DLPack alone: CuPy or PyTorch must be installed to read it"
        )
    if a is None or isinstance(a, (str, bytes, dict, set)):
        raise TypeError(f"{name} is {a!r:.60}, which is not an array")
    try:
        array = np.asarray(a)
    except (ValueError, TypeError) as e:
        raise TypeError(f"{name} is {type(a).__name__}, which does not become an array: {e}") from None
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name} is {type(a).__name__}, which does not become an array of numbers")
    return array, NUMPY


def stream_number(stream: Any) -> int:
    """A stream as CUDA and HIP know it: from a number, or from a stream of CuPy or PyTorch."""
    for member in ("cuda_stream", "ptr"):
        stream = getattr(stream, member, stream)
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 0:
        raise TypeError(f"stream is a stream of CuPy or PyTorch, or its address as a number, not {stream!r}")
    return stream


__all__ = ["HOST", "NULL", "NUMPY", "SOME_GPU", "Kind", "as_array", "kind_of", "known_kinds", "stream_number"]
