# SPDX-License-Identifier: MIT
"""Products: what matrices and plans have in common."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

import numpy as np

from ._arrays import HOST, SOME_GPU, Kind, as_array, known_kinds, stream_number
from ._device import Resource
from ._library import NULL, check, failure, ffi, lib

if TYPE_CHECKING:
    Self = TypeVar("Self", bound="Operator")

_CODES = {
    (False, False): lib.HEDDLE_N,
    (True, False): lib.HEDDLE_T,
    (True, True): lib.HEDDLE_H,
    (False, True): None,  # the library has no name for it
}
_LAYOUTS = {"C": lib.HEDDLE_ROW_MAJOR, "F": lib.HEDDLE_COLUMN_MAJOR}
_REAL = {"complex64": "float32", "complex128": "float64"}
_C_TYPES = {"float32": "float[]", "float64": "double[]", "complex64": "float[]", "complex128": "double[]"}
_ndarray = np.ndarray
_empty = np.empty
_from_buffer = ffi.from_buffer


class Operator:
    """Something that multiplies: ``A @ x``, ``A @ X``, ``x @ A``, ``A.T @ x``, ``A.mv(x, ...)``.

    A result is of the kind of x (NumPy, CuPy, PyTorch) and lies where x lies.  Operators have what solvers
    ask for (``shape``, ``dtype``, ``matvec``, ``rmatvec``), so that those of SciPy and CuPy take them as
    they are.
    """

    __array_ufunc__ = None  # x @ A of an array comes here
    __array_priority__ = 100.0
    ndim = 2

    def __init__(
        self, resource: Resource, transposed: bool = False, view: bool = False, conjugated: bool = False
    ) -> None:
        facts = resource.facts
        shape = facts.shape
        self._resource = resource
        self._transposed = transposed
        self._conjugated = conjugated
        self._code = _CODES[transposed, conjugated]
        self._name: str = facts.dtype  # of the values
        self._vector: str = facts.vector  # of x and y
        self._is_complex = self._vector in _REAL
        self._vector_dtype: np.dtype[Any] = np.dtype(facts.vector)
        self._shape = shape  # as stored: of A, also for A.T
        self._rows, self._cols = reversed(shape) if transposed else shape
        self._quick_size = -1 if self._code is None else self._cols
        self._x_shape = (self._quick_size,)
        self._turned: Any = None
        if not view:  # now, so that torch.compile finds it made
            self.T  # noqa: B018

    # ---- what it is

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._rows, self._cols

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values; NumPy has no bfloat16, whose products are float32."""
        return self._vector_dtype if self._name == "bfloat16" else np.dtype(self._name)

    @property
    def device(self) -> str:
        """The device that multiplies."""
        return self._resource.handle.name

    @property
    def kernel(self) -> str:
        """The kernel of the last product, "" before the first."""
        return self._resource.last_kernel()

    @property
    def T(self: Self) -> Self:
        """The transpose: the same arrays, seen otherwise."""
        turned = self._turned
        if isinstance(turned, ref):
            turned = turned()
        if turned is None:
            # The first of the two keeps the other and not the reverse: a cycle would not be freed at once.
            turned = type(self)(self._resource, not self._transposed, True, self._conjugated)
            self._turned = turned
            turned._turned = ref(self)
        found: Self = turned
        return found

    @property
    def H(self: Self) -> Self:
        """The conjugate transpose, which for real values is the transpose."""
        return self.T.conj()

    def conj(self: Self) -> Self:
        """The conjugate: the same arrays, seen otherwise; of real values itself."""
        return self._seen(self._transposed, not self._conjugated) if self._is_complex else self

    def _seen(self: Self, transposed: bool, conjugated: bool) -> Self:
        """This view of what is stored."""
        seen = self if transposed == self._transposed else self.T
        if conjugated == seen._conjugated:
            return seen
        return type(self)(self._resource, transposed, True, conjugated)

    def transpose(self: Self) -> Self:
        """The same as ``A.T``."""
        return self.T

    def adjoint(self: Self) -> Self:
        """The same as ``A.H``."""
        return self.H

    # ---- life

    def close(self) -> None:
        """Frees what the library holds for it; ``A.T`` goes with it.  Else the last reference does."""
        self._resource.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pointer(self) -> Any:
        pointer = self._resource.pointer
        if pointer is None:
            raise ValueError(f"the {type(self).__name__.lower()} was closed")
        return pointer

    # ---- products

    def __matmul__(self, x: Any) -> Any:
        # The common case first and without detours: for small matrices the call is most of the product.
        if type(x) is _ndarray and x.dtype is self._vector_dtype and x.shape == self._x_shape:
            flags = x.flags
            if flags.c_contiguous and flags.aligned:
                y = _empty(self._rows, self._vector_dtype)
                resource = self._resource
                handle = resource.handle
                with handle.lock:
                    if handle.user is not resource.ref:
                        handle.used_by(resource)
                    status = self._call(self._code, NULL, _from_buffer(x), NULL, _from_buffer(y))
                if status:
                    raise failure(status)
                return y
        kind = known_kinds.get(type(x))
        if kind is not None:
            quick = kind.quick(x, self._vector, self._quick_size, self._resource.handle, self._rows)
            if quick is not None and not (kind.recording() and self._differentiates(x)):
                return self._quickly(kind, *quick)
        return self._product(x, (1, 2))

    def _quickly(self, kind: Kind, x_at: int, y_at: int, y: Any, stream: int) -> Any:
        resource = self._resource
        handle = resource.handle
        with handle.lock:
            if handle.user is not resource.ref:
                handle.used_by(resource)
            if stream != handle.stream and handle.on_gpu:
                handle.use_stream(*kind.stream(handle.name))
            status = self._call_at(self._code, NULL, x_at, NULL, y_at)
        if status:
            raise failure(status)
        return y

    def _differentiates(self, x: Any) -> bool:
        return bool(x.requires_grad or getattr(self._values(), "requires_grad", False))

    def __rmatmul__(self, x: Any) -> Any:
        x, kind = as_array(x, "x")
        if len(kind.shape(x)) == 2:
            return (self.T @ x.T).T
        return self.T @ x

    def mv(
        self,
        x: Any,
        out: Any = None,
        op: str = "N",
        alpha: complex = 1,
        beta: complex = 0,
        stream: Any = None,
    ) -> Any:
        """``y = alpha op(A) x + beta y`` for a vector x.

        out     the y that is overwritten and returned: of the kind and place of x, of the type of y,
                contiguous; needed where beta is not 0, and never read where beta is 0.
        op      "N" for A, "T" for its transpose, "H" for its conjugate transpose.
        alpha   and beta are complex where A is.
        stream  of CuPy or PyTorch, or its address; without it the framework's current stream is used.

        >>> A = csr(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3))
        >>> y = numpy.full(2, 10.0)
        >>> A.mv(numpy.ones(3), out=y, alpha=2, beta=0.5)
        array([7., 9.])
        """
        return self._product(x, (1,), out, op, alpha, beta, stream)

    def mm(
        self,
        X: Any,
        out: Any = None,
        op: str = "N",
        alpha: complex = 1,
        beta: complex = 0,
        stream: Any = None,
    ) -> Any:
        """``Y = alpha op(A) X + beta Y`` for a matrix X, whose columns are vectors; else as `mv`.

        X and out may be of C or of Fortran order, or some columns of a larger array; nothing is copied where
        both are alike.  C order is the faster one.  Without out, Y is of the order of X.
        """
        return self._product(X, (2,), out, op, alpha, beta, stream)

    def matvec(self, x: Any) -> Any:
        """``A @ x``, under the name that solvers use."""
        return self @ x

    def rmatvec(self, x: Any) -> Any:
        """``A.H @ x``, under the name that solvers use."""
        return self.H @ x

    matmat = matvec
    rmatmat = rmatvec
    dot = matvec

    def aslinearoperator(self) -> Any:
        """A ``scipy.sparse.linalg.LinearOperator``; CuPy's for a matrix that was made of CuPy's arrays."""
        from ._operator import linear_operator

        return linear_operator(self)

    def _call(self, code: Any, alpha: Any, x: Any, beta: Any, y: Any) -> Any:
        """The library's product; the caller has the handle's lock."""
        raise NotImplementedError

    def _call_at(self, code: Any, alpha: Any, x: int, beta: Any, y: int) -> Any:
        """The same, with addresses as numbers."""
        raise NotImplementedError

    def _call_many(
        self, code: Any, alpha: Any, vectors: int, layout: int, X: Any, ldx: int, beta: Any, Y: Any, ldy: int
    ) -> Any:
        """The library's product with several vectors."""
        raise NotImplementedError

    def _values(self) -> Any:
        """The array of values that gradients may be wanted for."""
        raise NotImplementedError

    def _of_type(self, dtype: str) -> Operator:
        """The same operator with values of a wider type."""
        raise NotImplementedError

    def _source_kind(self) -> str:
        return "numpy"

    def _product(
        self,
        x: Any,
        dimensions: tuple[int, ...],
        out: Any = None,
        op: str = "N",
        alpha: Any = 1,
        beta: Any = 0,
        stream: Any = None,
    ) -> Any:
        """All products but the common one: checks, conversions, and then the library."""
        x, kind = as_array(x, "x")
        where = kind.where(x)
        self._pointer()
        self._check_place("x", where, stream)
        if op not in ("N", "T", "H"):
            raise ValueError(f"op is {op!r}: it must be 'N', 'T' or 'H'")
        A = {"N": self, "T": self.T}[op] if op != "H" else self.H
        shape = kind.shape(x)
        if len(shape) not in dimensions:
            raise ValueError(
                f"x has the shape {shape}: it must have {' or '.join(map(str, dimensions))} dimension(s)"
            )
        if shape[0] != A._cols:
            raise ValueError(
                f"matrix of shape {A.shape} times x of shape {shape}: {A._cols} and {shape[0]} differ"
            )
        alpha, beta = (_scalar(n, v, self._is_complex) for n, v in (("alpha", alpha), ("beta", beta)))
        if beta and out is None:
            raise ValueError(f"beta is {beta}, but there is no out for it to multiply")
        result = _result_type(kind, A._vector, kind.dtype(x))
        y_shape = (A._rows, *shape[1:])
        if out is not None:
            _check_out(out, kind, where, y_shape, result)
        if kind.recording() and self._differentiates(x):
            return _differentiated(A, x, out, alpha, beta)
        context = nullcontext() if stream is None else kind.on_stream(stream, where)
        with context:
            if result in _REAL and not A._is_complex:
                return _complex(A, x, kind, out, alpha, beta, _REAL[result])
            if A._code is None:
                return _conjugate(A, kind.ready(x, result), out, alpha, beta)
            return (A if result == A._vector else A._of_type(result))._run(
                x, kind, where, out, alpha, beta, stream
            )

    def _run(self, x: Any, kind: Kind, where: str, out: Any, alpha: float, beta: float, stream: Any) -> Any:
        several = len(kind.shape(x)) == 2
        name = self._vector
        if several:
            x, y, vectors, layout, ldx, ldy = _several(kind, x, out, self._rows, name)
        else:
            x = kind.ready(x, name)
            y = kind.empty((self._rows,), name, x) if out is None else out
        a = NULL if alpha == 1 else ffi.new(_C_TYPES[name], _parts(alpha, self._is_complex))
        b = NULL if beta == 0 else ffi.new(_C_TYPES[name], _parts(beta, self._is_complex))
        resource = self._resource
        handle = resource.handle
        x_at, y_at = kind.pointer(x), kind.pointer(y)
        with handle.lock:
            if handle.user is not resource.ref:
                handle.used_by(resource)
            if where != HOST:
                handle.use_stream(*kind.stream(where))
            elif stream is not None:
                handle.use_stream(stream_number(stream), stream)
            if several:
                status = self._call_many(self._code, a, vectors, layout, x_at, ldx, b, y_at, ldy)
            else:
                status = self._call(self._code, a, x_at, b, y_at)
        if status:
            raise failure(status)
        return y

    def _check_place(self, name: str, where: str, stream: Any) -> None:
        handle = self._resource.handle
        if stream is not None:
            stream_number(stream)
            if not handle.on_gpu:
                raise ValueError(f"a stream was given, but the matrix lies on {handle.name}, which has none")
        if where in (HOST, handle.name) or (where == SOME_GPU and handle.on_gpu):
            return
        at = "a GPU" if where == SOME_GPU else where
        raise ValueError(f"{name} lies on {at}, but the matrix on {handle.name}: bring one to the other")


def _several(kind: Kind, x: Any, out: Any, rows: int, name: str) -> tuple[Any, Any, int, int, int, int]:
    """X and Y in one layout, the number of vectors, the layout, and the leading dimensions of both.

    X is copied only where neither layout is its own, or another than that of `out`.
    """
    y = kind.empty_beside(x, rows, name) if out is None else out
    x_at, y_at = kind.layouts(x, name), kind.layouts(y, name)
    order = next((order for order in x_at if order in y_at), None)
    if order is None:
        order = next(iter(y_at))
        x = kind.ordered(x, name, order)
        x_at = kind.layouts(x, name)
    return x, y, kind.shape(x)[1], _LAYOUTS[order], x_at[order], y_at[order]


def _scalar(name: str, value: Any, is_complex: bool) -> Any:
    wanted: Any = complex if is_complex else float
    if isinstance(value, (str, bytes)) or (isinstance(value, complex) and not is_complex):
        raise TypeError(f"{name} is {value!r}: it must be a {'' if is_complex else 'real '}number")
    try:
        return wanted(value)
    except (TypeError, ValueError):
        number = "number" if is_complex else "real number"
        raise TypeError(f"{name} is {value!r:.60}: it must be a {number}") from None


def _parts(value: Any, is_complex: bool) -> list[float]:
    return [value.real, value.imag] if is_complex else [value]


def _result_type(kind: Kind, a: str, x: str) -> str:
    """By NumPy's rules, or PyTorch's for tensors: the type that holds products of both."""
    try:
        result = kind.promote(a, x)
    except TypeError:
        result = ""
    if result not in _C_TYPES:
        raise TypeError(
            f"a matrix of {a} cannot be multiplied with {x}: that would be {result or 'no number'}"
        )
    return result


def _check_out(out: Any, kind: Kind, where: str, shape: tuple[int, ...], dtype: str) -> None:
    array, out_kind = as_array(out, "out")
    if array is not out:
        raise TypeError(f"out is {type(out).__name__}: it must be an array that can be written to")
    if out_kind.name != kind.name or out_kind.where(out) != where:
        raise ValueError(
            f"out is of {out_kind.name} on {out_kind.where(out)}, but x is of {kind.name} on {where}"
        )
    if kind.shape(out) != shape:
        raise ValueError(f"out has the shape {kind.shape(out)}, but the product has the shape {shape}")
    if kind.dtype(out) != dtype:
        raise TypeError(f"out is {kind.dtype(out)}, but the product is {dtype}")
    if not kind.writable(out):
        raise ValueError("out is read-only, or PyTorch records gradients for it")
    if len(shape) == 2:
        if not kind.layouts(out, dtype):
            raise ValueError("out must be aligned, and its rows or its columns contiguous")
    elif not kind.is_ready(out, dtype):
        raise ValueError("out must be contiguous and aligned")


def _differentiated(A: Operator, x: Any, out: Any, alpha: float, beta: float) -> Any:
    from .torch import spmv

    if out is not None or beta:
        raise ValueError(
            "out cannot be given where PyTorch records gradients: use torch.no_grad(), or detach x and values"
        )
    y = spmv(A, x)
    return y if alpha == 1 else alpha * y


def _conjugate(A: Operator, x: Any, out: Any, alpha: complex, beta: complex) -> Any:
    """By the matrix that is stored, between two conjugations."""
    y = A.conj()._product(x.conj(), (1, 2), None, "N", alpha.conjugate()).conj()
    if out is None:
        return y
    out[...] = y + beta * out if beta else y
    return out


def _complex(A: Operator, x: Any, kind: Kind, out: Any, alpha: float, beta: float, real: str) -> Any:
    """A real matrix times complex vectors: the real and the imaginary parts, one after the other."""
    real_type = kind.ready(x.real, real), kind.ready(x.imag, real)
    parts = [A._product(part, (1, 2), None, "N", alpha) for part in real_type]
    y = parts[0] + 1j * parts[1]
    if out is None:
        return y
    out[...] = y + beta * out if beta else y
    return out


__all__ = ["Operator", "check"]
