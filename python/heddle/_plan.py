# SPDX-License-Identifier: MIT
"""Plans: products that were prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._arrays import HOST, as_array
from ._device import Resource
from ._library import check, ffi, lib, text
from ._product import Operator
from ._source import NAMES

if TYPE_CHECKING:
    from ._matrix import Matrix

_plan_mv = lib.heddle_plan_mv
_AT = "int (*)(heddle_plan *, int, const void *, uintptr_t, const void *, uintptr_t)"
_plan_mv_at = ffi.cast(_AT, lib.heddle_plan_mv)
_INT64 = 2**63
_BITS = {"N": lib.HEDDLE_PLAN_N, "T": lib.HEDDLE_PLAN_T, "H": lib.HEDDLE_PLAN_T}


class PlanInfo(NamedTuple):
    """What a plan does for one operation, and what that costs."""

    kernel: str  #: with its options: "cpu_sell:slice=8"
    format: str  #: what it stores: "csr" means the matrix itself, or its transpose
    dtype: str  #: of the values that it reads: the matrix', or a narrower one (`values_fixed`)
    transposed: bool  #: it holds the transpose in that format
    deterministic: bool
    bytes: int  #: held beyond the matrix
    prepare_ms: float  #: conversion and preparation; 0 when there is none
    product_ms: float  #: one product, measured during preparation; 0 when not measured
    immediate_ms: float  #: one product without the plan, measured beside it
    break_even: int  #: products after which the preparation has paid; 0: nothing to pay; -1: never


class Options(NamedTuple):
    """The arguments of `Matrix.plan`."""

    products: int
    ops: str
    deterministic: bool
    memory_limit: int | None
    kernel: str | None
    values_fixed: bool


class Facts:
    """What a plan and its transpose know in common."""

    def __init__(self, A: Matrix, options: Options) -> None:
        self.shape, self.dtype, self.vector = A._shape, A._name, A._vector
        self.matrix = A
        self.options = options
        self.values: Any = None  # of the last update, with their kind


class Plan(Operator):
    """A prepared product; `Matrix.plan` makes it, and says what the options mean."""

    def __init__(
        self, resource: Resource, transposed: bool = False, view: bool = False, conjugated: bool = False
    ) -> None:
        super().__init__(resource, transposed, view, conjugated)
        A: Matrix = resource.facts.matrix
        self.matrix = A._seen(transposed, conjugated)  #: what it was made for

    def _call(self, code: Any, alpha: Any, x: Any, beta: Any, y: Any) -> Any:
        return _plan_mv(self._pointer(), code, alpha, x, beta, y)

    def _call_at(self, code: Any, alpha: Any, x: int, beta: Any, y: int) -> Any:
        return _plan_mv_at(self._pointer(), code, alpha, x, beta, y)

    def _call_many(
        self, code: Any, alpha: Any, vectors: int, layout: int, X: Any, ldx: int, beta: Any, Y: Any, ldy: int
    ) -> Any:
        return lib.heddle_plan_mm(self._pointer(), code, alpha, vectors, layout, X, ldx, beta, Y, ldy)

    def _values(self) -> Any:
        return None  # a plan multiplies with its own

    def _pointer(self) -> Any:
        if self.matrix._resource.pointer is None:
            raise ValueError("the matrix of the plan was closed")
        return super()._pointer()

    def _of_type(self, dtype: str) -> Operator:
        raise TypeError(
            f"the plan is for {self._vector}, the product would be {dtype}: "
            f"plan a {dtype} matrix, or convert x"
        )

    def _source_kind(self) -> str:
        return self.matrix._source_kind()

    @property
    def info(self) -> dict[str, PlanInfo]:
        """For each operation that the plan serves, "N" and "T", what it does and costs."""
        found = {}
        for op in "NT":
            d = ffi.new("heddle_plan_desc *")
            code = lib.HEDDLE_T if (op == "T") != self._transposed else lib.HEDDLE_N
            with self._resource.handle.lock:
                if lib.heddle_plan_info(self._pointer(), code, d) != lib.HEDDLE_OK:
                    continue
            found[op] = PlanInfo(
                text(d.kernel), text(d.format), NAMES[d.value], bool(d.transposed), bool(d.deterministic),
                d.bytes, d.prepare_ms, d.product_ms, d.immediate_ms, d.break_even,
            )  # fmt: skip
        return found

    def update(self, values: Any) -> None:
        """New values under the same pattern, in the order of the matrix' own, for later products.

        They are borrowed like those of the matrix; they may be the same array after its numbers have changed.
        """
        values, kind = as_array(values, "values")
        where = kind.where(values)
        self._check_place("values", where, None)
        if kind.shape(values) != (self.matrix.nnz,):
            raise ValueError(
                f"values have the shape {kind.shape(values)}, but the matrix has {self.matrix.nnz} entries"
            )
        if kind.dtype(values) != self._name:
            raise TypeError(f"values are {kind.dtype(values)}, but the matrix is {self._name}")
        values = kind.ready(values, self._name)
        handle = self._resource.handle
        with handle.lock:
            if where != HOST:
                handle.use_stream(*kind.stream(where))
            check(lib.heddle_plan_update_values(self._pointer(), kind.pointer(values)))
            self._resource.facts.values = values, kind

    def __repr__(self) -> str:
        if self._resource.pointer is None or self.matrix._resource.pointer is None:
            return "<heddle.Plan, closed>"
        kernels = ", ".join(f"{op}: {i.kernel}" for op, i in self.info.items())
        last = f", last kernel {self.kernel}" if self.kernel else ""
        what = f"{self._rows} x {self._cols}, nnz {self.matrix.nnz}, {self._name}, on {self.device}"
        return f"<heddle.Plan {what}, {kernels}{last}>"

    def __reduce__(self) -> Any:
        facts: Facts = self._resource.facts
        A = facts.matrix
        values = facts.values and facts.values[1].to_host(facts.values[0])
        if values is not None and A._format != "csr" and A._source is None and A._resource.handle.on_gpu:
            raise TypeError(
                "a plan with new values for a copy on a GPU that is not csr is not pickled: the order is lost"
            )
        return _restored, (facts.matrix, facts.options, values, self._transposed, self._conjugated)


def make_plan(A: Matrix, options: Options) -> Plan:
    products, limit, kernel = options.products, options.memory_limit, options.kernel
    if isinstance(products, bool) or not isinstance(products, int) or not 1 <= products < _INT64:
        raise ValueError(f"products is {products!r}: how many are expected, at least 1")
    if limit is not None and (not isinstance(limit, int) or not 0 <= limit < _INT64):
        raise ValueError(f"memory_limit is {limit!r}: bytes, or None")
    name = ffi.NULL if kernel is None else ffi.new("char[]", str(kernel).encode())
    opt = ffi.new("heddle_plan_options *")
    opt.ops = _bits(options.ops, A._transposed)
    opt.expected_products, opt.deterministic, opt.kernel = products, bool(options.deterministic), name
    opt.values_fixed = bool(options.values_fixed)
    opt.memory_limit = {None: 0, 0: -1}.get(limit, limit)
    handle = A._resource.handle
    out = ffi.new("heddle_plan **")
    with handle.lock:
        check(lib.heddle_plan_create(out, handle.pointer, A._pointer(), opt))
    resource = Resource(handle, out[0], lib.heddle_plan_free)
    resource.facts = Facts(A, options)
    return Plan(resource, A._transposed, conjugated=A._conjugated)


def _restored(A: Matrix, options: Options, values: Any, transposed: bool, conjugated: bool) -> Plan:
    plan = make_plan(A, options)
    if values is not None:
        plan.update(values)
    return plan._seen(transposed, conjugated)


def _bits(ops: Any, transposed: bool) -> int:
    if not isinstance(ops, str) or not ops or any(op not in _BITS for op in ops):
        raise ValueError(f"ops is {ops!r}: 'N', 'T' or 'NT'")
    turned = {"N": "T", "T": "N", "H": "N"}
    bits = 0
    for op in ops:
        bits |= _BITS[turned[op] if transposed else op]
    return bits
