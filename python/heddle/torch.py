# SPDX-License-Identifier: MIT
"""Products that PyTorch can differentiate, compile and capture.

``spmv(A, x)`` is ``A @ x`` for tensors, with gradients for x and for the values of A; ``A @ x`` does the
same where a gradient is wanted.  Two operators are registered with ``torch.library``, each a derivative of
the other, so that derivatives of any order are there and ``torch.compile`` takes each as a whole:

    y = spmv(val, x)              y_i = sum over the entries k of row i:  val_k x_{col_k}
    dx = spmv of the adjoint      of dy
    dval = outer(dy, x)           dval_k = dy_{row_k} conj(x_{col_k})

The pattern goes by name: operators of PyTorch take tensors, numbers and texts, not objects.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._arrays import as_array
from ._device import by_name
from ._matrix import Matrix, _from_source
from ._plan import Plan
from ._product import Operator
from ._source import Source


def spmv(A: Matrix | Plan | Tensor, x: Tensor) -> Tensor:
    """``A @ x`` with gradients for x and, where A borrows a tensor of values that requires one, for those.

    A  a matrix, a plan, their transpose, or a sparse tensor (for which a matrix is made each time).
    x  a tensor with one dimension, or with two: then its columns are multiplied.

    Values that an optimiser changes in place are seen by the next product; a plan must be told
    (``plan.update``), and gives gradients for x alone.
    """
    if isinstance(A, Tensor):
        from ._matrix import csr

        A = csr(A, device=None)
    if not isinstance(A, Operator):
        raise TypeError(f"A is {type(A).__name__}: it must be a heddle.Matrix, a plan or a sparse tensor")
    if not isinstance(x, Tensor):
        raise TypeError(f"x is {type(x).__name__}: it must be a tensor; A @ x takes other arrays")
    if x.ndim not in (1, 2) or x.shape[0] != A.shape[1]:
        raise ValueError(f"matrix of shape {A.shape} times x of shape {tuple(x.shape)}")
    matrix = _matrix(A)
    if x.is_complex() and not matrix._is_complex:
        return torch.complex(spmv(A, x.real), spmv(A, x.imag))
    own = getattr(torch, matrix._vector)
    dtype = torch.promote_types(x.dtype, own)
    if own != dtype:
        raise TypeError(f"A is {matrix._name}, but x is {x.dtype}: convert one of them")
    values, x = _values(A, x), x.to(dtype)
    if not A._conjugated:
        return torch.ops.heddle.spmv(values, x, A._resource.name, A._transposed)
    return torch.ops.heddle.spmv(values, x.conj(), A._resource.name, A._transposed).conj()


def _matrix(A: Operator) -> Matrix:
    found = A.matrix if isinstance(A, Plan) else A
    assert isinstance(found, Matrix)
    return found


def _values(A: Operator, x: Tensor) -> Tensor:
    """The values as a tensor; an empty one where the matrix has its own, or a plan multiplies with others."""
    values = _matrix(A).values
    if isinstance(A, Plan) or not isinstance(values, Tensor):
        return x.new_empty(0)
    return values


def _pattern(name: str) -> Any:
    """The matrix or plan of this name, not transposed."""
    resource = by_name.get(name)
    if resource is None:
        raise RuntimeError("the matrix of this product is gone: keep it as long as compiled functions use it")
    return Plan(resource) if hasattr(resource.facts, "matrix") else Matrix(resource)


def _with(values: Tensor, name: str) -> Operator:
    """The matrix with these values: itself if they are its own, else another one on the same pattern."""
    A: Any = _pattern(name)
    if values.numel() == 0 or isinstance(A, Plan) or values.data_ptr() == A.values.data_ptr():
        return A
    s = A._source
    values, kind = as_array(values.contiguous(), "values")
    other = Source(s.format, s.shape, s.first, s.index, values, kind)
    return _from_source(other, A._resource.handle, False, A._deterministic, False)


@torch.library.custom_op("heddle::spmv", mutates_args=())
def _spmv(values: Tensor, x: Tensor, name: str, transposed: bool) -> Tensor:
    A = _with(values.detach(), name)
    with torch.no_grad():
        return (A.T if transposed else A) @ x.detach()


@_spmv.register_fake
def _(values: Tensor, x: Tensor, name: str, transposed: bool) -> Tensor:
    A = _pattern(name)
    rows = A._shape[transposed]
    return x.new_empty(rows) if x.ndim == 1 else as_array(x, "x")[1].empty_beside(x, rows, A._vector)


@torch.library.custom_op("heddle::outer", mutates_args=())
def _outer(g: Tensor, x: Tensor, name: str, transposed: bool) -> Tensor:
    """g_row x_col for each entry (row, col); vectors of several columns are summed over them."""
    row, col = _coordinates(_pattern(name))
    if transposed:
        row, col = col, row
    product = g.index_select(0, row).mul_(x.index_select(0, col))
    return product.sum(1) if product.ndim == 2 else product


@_outer.register_fake
def _(g: Tensor, x: Tensor, name: str, transposed: bool) -> Tensor:
    return g.new_empty(_pattern(name).nnz)


def _coordinates(A: Matrix) -> tuple[Tensor, Tensor]:
    """The row and column of each entry, where the values lie; made once."""
    s = A._source
    assert s is not None
    found = s.coordinates
    if found is None:
        lengths = (s.first[1:] - s.first[:-1]).to(torch.int64)
        major = torch.arange(lengths.numel(), dtype=torch.int32, device=lengths.device).repeat_interleave(
            lengths
        )
        found = (major, s.index) if s.format == "csr" else (s.index, major)
        s.coordinates = found
    return found


def _spmv_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    values, x, ctx.name, ctx.transposed = inputs
    ctx.keep = _pattern(ctx.name)
    ctx.save_for_backward(values, x)


def _spmv_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    values, x = ctx.saved_tensors
    for_values = for_x = None
    if ctx.needs_input_grad[0]:
        for_values = torch.ops.heddle.outer(g, x.conj(), ctx.name, ctx.transposed)
    if ctx.needs_input_grad[1]:  # the adjoint is the transpose between two conjugations
        for_x = torch.ops.heddle.spmv(values, g.conj(), ctx.name, not ctx.transposed).conj()
    return for_values, for_x, None, None


def _outer_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    g, x, ctx.name, ctx.transposed = inputs
    ctx.keep = _pattern(ctx.name)
    ctx.save_for_backward(g, x)


def _outer_backward(ctx: Any, w: Tensor) -> tuple[Any, ...]:
    g, x = ctx.saved_tensors
    for_g = for_x = None
    if ctx.needs_input_grad[0]:
        for_g = torch.ops.heddle.spmv(w, x.conj(), ctx.name, ctx.transposed)
    if ctx.needs_input_grad[1]:
        for_x = torch.ops.heddle.spmv(w, g.conj(), ctx.name, not ctx.transposed)
    return for_g, for_x, None, None


_spmv.register_autograd(_spmv_backward, setup_context=_spmv_setup)
_outer.register_autograd(_outer_backward, setup_context=_outer_setup)

__all__ = ["spmv"]
