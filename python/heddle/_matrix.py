# SPDX-License-Identifier: MIT
"""Matrices: made from arrays, files or families, and what can be asked of them."""

from __future__ import annotations

import os
import tempfile
from typing import Any, NamedTuple

import numpy as np

from ._arrays import HOST, SOME_GPU
from ._device import Handle, Resource, handle, made
from ._library import check, ffi, lib
from ._plan import Options, Plan, make_plan
from ._product import Operator
from ._source import NAMES, VALUES, Source, host_source, source, vector_type

_FORMATS = {"csr": lib.HEDDLE_CSR, "csc": lib.HEDDLE_CSC, "coo": lib.HEDDLE_COO}
_FORMAT_NAMES = {number: name for name, number in _FORMATS.items()}
_CREATE = {"csr": lib.heddle_csr, "csc": lib.heddle_csc, "coo": lib.heddle_coo}
_mv = lib.heddle_mv
_AT = "int (*)(heddle *, int, const void *, heddle_matrix *, uintptr_t, const void *, uintptr_t)"
_mv_at = ffi.cast(_AT, lib.heddle_mv)  # the same, for addresses of frameworks, which are numbers


class Facts(NamedTuple):
    """What a matrix and its transpose know in common."""

    shape: tuple[int, int]  # as stored
    dtype: str
    vector: str  # the type of x and y
    format: str
    nnz: int
    source: Source | None  # the arrays that are borrowed
    deterministic: bool


class Matrix(Operator):
    """An immutable sparse matrix on a device; `csr`, `csc`, `coo`, `read` and `generate` make them.

    Arrays are borrowed where they lie on the device of the matrix already (those of the host, for a CPU):
    the matrix keeps them alive, offsets and indices must not change, and the next product sees values that
    change in place.
    """

    def __init__(
        self, resource: Resource, transposed: bool = False, view: bool = False, conjugated: bool = False
    ) -> None:
        super().__init__(resource, transposed, view, conjugated)
        facts = resource.facts
        self._source: Source | None = facts.source
        self._deterministic: bool = facts.deterministic
        self._format: str = facts.format
        self._wider: Matrix | None = None
        self.nnz: int = facts.nnz  #: stored entries

    def _call(self, code: Any, alpha: Any, x: Any, beta: Any, y: Any) -> Any:
        resource = self._resource
        pointer = resource.pointer
        if pointer is None:
            self._pointer()
        return _mv(resource.handle.pointer, code, alpha, pointer, x, beta, y)

    def _call_at(self, code: Any, alpha: Any, x: int, beta: Any, y: int) -> Any:
        resource = self._resource
        pointer = resource.pointer
        if pointer is None:
            self._pointer()
        return _mv_at(resource.handle.pointer, code, alpha, pointer, x, beta, y)

    def _call_many(
        self, code: Any, alpha: Any, vectors: int, layout: int, X: Any, ldx: int, beta: Any, Y: Any, ldy: int
    ) -> Any:
        h, A = self._resource.handle.pointer, self._pointer()
        return lib.heddle_mm(h, code, alpha, A, vectors, layout, X, ldx, beta, Y, ldy)

    def _values(self) -> Any:
        return self._source.val if self._source else None

    # ---- what it is

    @property
    def format(self) -> str:
        """How it is stored: "csr", "csc" or "coo"; of a transpose, what that is stored as."""
        return (
            {"csr": "csc", "csc": "csr"}.get(self._format, self._format) if self._transposed else self._format
        )

    @property
    def values(self) -> Any:
        """The array of values that the matrix borrows; None where the library has its own copy."""
        return self._values()

    @property
    def info(self) -> dict[str, Any]:
        """Its types and bytes, whether arrays were copied or sorted, and what the look at creation cost."""
        d = ffi.new("heddle_matrix_desc *")
        with self._resource.handle.lock:
            check(lib.heddle_matrix_info(self._pointer(), d))
        return {
            "format": self._format,
            "values": NAMES[d.types.value],
            "vectors": NAMES[d.types.vector],
            "copied": bool(d.copied),
            "sorted_now": bool(d.sorted_now),
            "bytes": d.bytes,
            "look_bytes": d.look_bytes,
            "look_ms": d.look_ms,
        }

    def __repr__(self) -> str:
        if self._resource.pointer is None:
            return f"<heddle.{type(self).__name__}, closed>"
        kernel = f", last kernel {self.kernel}" if self.kernel else ""
        return (
            f"<heddle.{type(self).__name__} {self.format}: {self._rows} x {self._cols}, nnz {self.nnz}, "
            f"{self._name}, on {self.device}{kernel}>"
        )

    def check(self) -> None:
        """Looks at every offset and index again, and raises `BadMatrixError` with the first bad position."""
        h = self._resource.handle
        with h.lock:
            check(lib.heddle_check(h.pointer, self._pointer()))

    def plan(
        self,
        products: int = 1000,
        ops: str = "N",
        deterministic: bool = False,
        memory_limit: int | None = None,
        kernel: str | None = None,
        values_fixed: bool = False,
    ) -> Plan:
        """Prepares many products: kernels are tried and measured, and what pays is kept.

        products       how often, for each operation; decides how much the preparation may cost.
        ops            "N", "T" or "NT": what the plan must serve.
        deterministic  bitwise the same result every run, or an error.
        memory_limit   bytes that the plan may hold beyond the matrix; None for no limit, 0 for none at all.
        values_fixed   values never change: the plan may make use of what they are, and takes no new ones.
        kernel         a name of `kernels()`, with options ("cpu_sell:slice=8"), instead of Heddle's choice.

        >>> P = generate("grid2d:n=30").plan(products=100, ops="NT")
        >>> (P @ numpy.ones(900)).shape, sorted(P.info)
        ((900,), ['N', 'T'])
        """
        return make_plan(self, Options(products, ops, deterministic, memory_limit, kernel, values_fixed))

    # ---- elsewhere

    def arrays(self) -> tuple[str, tuple[int, int], Any, Any, Any]:
        """Format, shape, offsets (or rows), indices and values as stored, copied to the host."""
        s = self._source
        if s is not None:
            first, index, val = (np.array(s.kind.to_host(a)) for a in (s.first, s.index, s.val))
            return s.format, s.shape, first, index, val
        if self._resource.handle.on_gpu:
            return self._through_file()
        d = ffi.new("heddle_matrix_desc *")
        check(lib.heddle_matrix_info(self._pointer(), d))
        compressed = self._format != "coo"
        offset = NAMES[d.types.offset] if compressed else "int32"
        count = self._shape[self._format == "csc"] + 1 if compressed else self.nnz
        first = _copied(d.ptr if compressed else d.row, count, offset)
        return (
            self._format,
            self._shape,
            first,
            _copied(d.index, self.nnz, "int32"),
            _values_copied(d.val, self.nnz, self._name),
        )

    def _through_file(self) -> tuple[str, tuple[int, int], Any, Any, Any]:
        """The library's own copy on a GPU has one way to the host: a .hdl file, which is CSR."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "matrix.hdl")
            write(self._seen(False, False), path)
            with read(path, device="cpu", copy=True) as there:
                return _converted(there, self._format).arrays()

    def toscipy(self) -> Any:
        """A copy as a sparse array of SciPy, in the same format.

        >>> csr(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3)).toscipy().todense()
        array([[1., 0., 0.],
               [0., 0., 2.]])
        """
        import scipy.sparse as sp

        format, shape, first, index, val = self.arrays()
        if format == "coo":
            found = sp.coo_array((val, (first, index)), shape=shape)
        else:
            found = getattr(sp, f"{format}_array")((val, index, first), shape=shape)
        found = found.conj() if self._conjugated else found
        return found.T if self._transposed else found

    def __reduce__(self) -> Any:
        state = (
            *self.arrays(),
            *(self.device, self._deterministic, self._transposed, self._conjugated, self._vector),
        )
        return _restored, state

    def _of_type(self, dtype: str) -> Matrix:
        """For x of a wider type: values that may have changed are converted again.

        float32 values stay as they are: they are multiplied with float64.
        """
        if self._wider is None or self._wider._vector != dtype:
            s = self._source or host_source(*self.arrays())
            mixed = self._name == "float32" and dtype == "float64"
            val = s.val if mixed else s.kind.ready(s.val, dtype)
            wide = Source(s.format, s.shape, s.first, s.index, val, s.kind, s.base, dtype if mixed else "")
            self._wider = _from_source(wide, self._resource.handle, False, self._deterministic, False)
        elif (
            self._source is not None
            and self._wider._source is not None
            and self._wider._source.val is not self._source.val
        ):
            self._wider._source.val[...] = self._source.val
        return self._wider._seen(self._transposed, self._conjugated)

    def _source_kind(self) -> str:
        return self._source.kind.name if self._source else "numpy"


def _copied(pointer: Any, count: int, dtype: str) -> Any:
    return np.frombuffer(
        ffi.buffer(ffi.cast("char *", pointer), count * np.dtype(dtype).itemsize), dtype
    ).copy()


def _values_copied(pointer: Any, count: int, dtype: str) -> Any:
    """NumPy has no bfloat16: these become float32, whose upper halves they are."""
    if dtype != "bfloat16":
        return _copied(pointer, count, dtype)
    return (_copied(pointer, count, "uint16").astype("uint32") << 16).view("float32")


def _matrix(resource: Resource, source: Source | None, deterministic: bool) -> Matrix:
    """A new matrix of the library's, with the arrays that it would borrow."""
    d = ffi.new("heddle_matrix_desc *")
    check(lib.heddle_matrix_info(resource.pointer, d))
    if source is not None and (d.copied or (source.where == HOST and resource.handle.on_gpu)):
        if getattr(source.val, "requires_grad", False):
            raise ValueError(
                "the values require gradients, but would be copied: create the matrix where they lie"
            )
        source = None
    resource.facts = Facts(
        (d.rows, d.cols),
        NAMES[d.types.value],
        NAMES[d.types.vector],
        _FORMAT_NAMES[d.format],
        d.nnz,
        source,
        deterministic,
    )
    return Matrix(resource)


def _from_source(s: Source, h: Handle, copy: bool, deterministic: bool, checked: bool) -> Matrix:
    if s.where not in (HOST, SOME_GPU, h.name) or (s.where == SOME_GPU and not h.on_gpu):
        raise ValueError(
            f"the arrays lie on {s.where}, but the matrix shall lie on {h.name}: bring them there first"
        )
    with h.lock:
        if s.where not in (HOST, SOME_GPU):
            h.use_stream(*s.kind.stream(s.where))
        d = s.description(copy)
        resource = made(h, _CREATE[s.format], lib.heddle_matrix_free, d)
        if checked:
            check(lib.heddle_check(h.pointer, resource.pointer))
    return _matrix(resource, s, deterministic)


def _restored(
    format: str,
    shape: Any,
    first: Any,
    index: Any,
    val: Any,
    device: str,
    deterministic: bool,
    transposed: bool,
    conjugated: bool,
    vector: str,
) -> Matrix:
    s = host_source(format, shape, first, index, val)
    s.vector = vector if vector != vector_type(s.kind.dtype(val)) else ""
    A = _from_source(
        s,
        handle(device, deterministic),
        False,
        deterministic,
        True,
    )
    return A._seen(transposed, conjugated)


def _new(
    format: str, obj: Any, device: str | None, copy: bool, shape: Any, base: int, check: bool, det: bool
) -> Matrix:
    if isinstance(obj, Matrix):
        return _converted(obj, format)
    s = source(obj, format, shape, base, copy)
    if device is None or (device == "auto" and (s.where != HOST or s.kind.name == "torch")):
        device = {HOST: "cpu", SOME_GPU: "auto"}.get(s.where, s.where)
    copy = copy and s.kind.name not in ("cupy", "torch")  # those are copied already, where they lie
    A = _from_source(s, handle(device, det), copy, det, check)
    if s.format != format and s.kind.name == "numpy":  # coordinates of the host: the library sorts them
        return _converted(A, format)
    return A


def _converted(A: Matrix, format: str) -> Matrix:
    if A.format == format:
        return A
    if A._conjugated:
        return _converted(A._seen(A._transposed, False), format)._seen(A._transposed, True)
    if A._transposed:
        return _converted(A.T, {"csr": "csc", "csc": "csr"}.get(format, format)).T
    r = A._resource
    A._pointer()
    resource = made(r.handle, lib.heddle_convert, lib.heddle_matrix_free, r.pointer, _FORMATS[format])
    return _matrix(resource, None, A._deterministic)


def csr(
    obj: Any,
    device: str | None = "auto",
    copy: bool = False,
    *,
    shape: tuple[int, int] | None = None,
    base: int = 0,
    check: bool = True,
    deterministic: bool = False,
) -> Matrix:
    """A matrix in compressed rows.

    obj            a sparse matrix or array of SciPy or CuPy, a sparse tensor of PyTorch, a `Matrix`, or
                   arrays: ``(val, col, row_ptr)`` or ``(val, (row, col))``, of NumPy, CuPy, PyTorch, or of
                   anything with DLPack or ``__cuda_array_interface__``.
    device         "cpu", "cuda:0", ... as `devices` names them; None: where the arrays lie; "auto": there too
                   for PyTorch's and for those on a GPU, else the best device of this machine.
    copy           copies the arrays, which then may change.
    shape, base    of arrays: (rows, cols), and 1 if rows and columns count from 1.
    check          looks at every index; without it a bad one ends the process.
    deterministic  ``A @ x`` is bitwise the same every run on a GPU too; on a CPU it always is.

    >>> A = csr(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3), device="cpu")
    >>> A
    <heddle.Matrix csr: 2 x 3, nnz 3, float64, on cpu>
    >>> A @ [1, 10, 100]
    array([201.,  30.])
    >>> A.T @ [1, 10]
    array([ 1., 30.,  2.])
    """
    return _new("csr", obj, device, copy, shape, base, check, deterministic)


def csc(
    obj: Any,
    device: str | None = "auto",
    copy: bool = False,
    *,
    shape: tuple[int, int] | None = None,
    base: int = 0,
    check: bool = True,
    deterministic: bool = False,
) -> Matrix:
    """A matrix in compressed columns: arrays are ``(val, row, col_ptr)``; else as `csr`."""
    return _new("csc", obj, device, copy, shape, base, check, deterministic)


def coo(
    obj: Any,
    device: str | None = "auto",
    copy: bool = False,
    *,
    shape: tuple[int, int] | None = None,
    base: int = 0,
    check: bool = True,
    deterministic: bool = False,
) -> Matrix:
    """A matrix in coordinates, sorted by rows: arrays are ``(val, (row, col))``; else as `csr`.

    Coordinates of CuPy and PyTorch are compressed into rows where they lie.
    """
    return _new("coo", obj, device, copy, shape, base, check, deterministic)


def read(
    path: str | os.PathLike[str],
    device: str = "auto",
    *,
    dtype: Any = None,
    copy: bool = False,
    trust: bool = False,
    large: bool = False,
    deterministic: bool = False,
) -> Matrix:
    """Reads Matrix Market, Rutherford-Boeing, Harwell-Boeing (also .gz, .xz), SuiteSparse archives and .hdl.

    dtype  of the values: float32, complex128, float16, ...; None: as stored (.hdl), else float64, and
           complex128 for complex files.
    copy   of a .hdl file, which is mapped otherwise and must not change while the matrix lives.
    trust  the contents of a .hdl file are not checked.
    large  a small file may describe something huge.
    """
    h = handle(device, deterministic)
    opt = ffi.new(
        "heddle_read_options *", {"value": _value(dtype), "trust": trust, "copy": copy, "large": large}
    )
    resource = made(h, lib.heddle_read, lib.heddle_matrix_free, _path(path), opt)
    return _matrix(resource, None, deterministic)


def write(A: Matrix, path: str | os.PathLike[str]) -> None:
    """Writes A; the ending of the path chooses the format: .mtx, .mtx.gz, .rb, .hdl."""
    if not isinstance(A, Matrix):
        raise TypeError(f"{type(A).__name__} is not a heddle.Matrix: heddle.csr makes one")
    if A._transposed or A._conjugated:
        raise ValueError(
            "a transpose is a view and has no arrays of its own to write: heddle.csr(A.T.toscipy()) has"
        )
    h = A._resource.handle
    with h.lock:
        check(lib.heddle_write(h.pointer, A._pointer(), _path(path)))


def generate(family: str, device: str = "auto", *, dtype: Any = None, deterministic: bool = False) -> Matrix:
    """A matrix of a family, the same on every machine; the command ``heddle gen --list`` tells families.

    >>> generate("grid2d:n=10", device="cpu")
    <heddle.Matrix csr: 100 x 100, nnz 460, float64, on cpu>
    """
    if not isinstance(family, str):
        raise TypeError(f"family is a text like 'grid3d:n=100', not {family!r}")
    h = handle(device, deterministic)
    resource = made(h, lib.heddle_generate, lib.heddle_matrix_free, family.encode(), _value(dtype))
    return _matrix(resource, None, deterministic)


def _path(path: str | os.PathLike[str]) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"{path!r} has an embedded null byte, which names of files cannot have")
    return name


def _value(dtype: Any) -> Any:
    if dtype is None:
        return lib.HEDDLE_TYPE_DEFAULT
    name = dtype if dtype == "bfloat16" else np.dtype(dtype).name
    if name not in VALUES:
        raise TypeError(f"dtype is {name}: values are {', '.join(VALUES)}")
    return VALUES[name]
