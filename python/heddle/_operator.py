# SPDX-License-Identifier: MIT
"""LinearOperators of SciPy and CuPy around an operator of Heddle's."""

from __future__ import annotations

import sys
from typing import Any

from ._product import Operator


def linear_operator(A: Operator) -> Any:
    """CuPy's where the matrix was made of CuPy's arrays, else SciPy's."""
    if A._source_kind() == "cupy" and "cupy" in sys.modules:
        from cupyx.scipy.sparse.linalg import LinearOperator
    else:
        from scipy.sparse.linalg import LinearOperator
    return LinearOperator(
        A.shape, matvec=A.matvec, rmatvec=A.rmatvec, matmat=A.matmat, rmatmat=A.rmatmat, dtype=A._vector_dtype
    )
