# SPDX-License-Identifier: MIT
"""example.py PLUGIN: a Python program on Heddle's type: a tridiagonal system, solved, and a product
checked."""
import sys

import petsc4py

petsc4py.init(["example", "-dll_append", sys.argv[1], "-mat_heddle_products", "100"])
from petsc4py import PETSc  # noqa: E402  (options must come first)

n = 400
A = PETSc.Mat().create(PETSc.COMM_WORLD)
A.setSizes([n, n])
A.setType("aijheddle")
A.setUp()
first, last = A.getOwnershipRange()
for i in range(first, last):
    A[i, i] = 4
    if i > 0:
        A[i, i - 1] = -1
    if i < n - 1:
        A[i, i + 1] = -2
A.assemble()

x, y = A.createVecs()
x.set(1)
A.mult(x, y)
assert abs(y.sum() - (4 * n - 3 * (n - 1))) < 1e-9, y.sum()
A.multTranspose(x, y)
assert abs(y.sum() - (4 * n - 3 * (n - 1))) < 1e-9, y.sum()

solver = PETSc.KSP().create()
solver.setOperators(A)
solver.setType("bcgs")
solver.setTolerances(rtol=1e-12)
solver.solve(y, x)
residual = y.duplicate()
A.mult(x, residual)
residual.axpy(-1, y)
assert residual.norm() < 1e-9 * y.norm(), residual.norm()
PETSc.Sys.Print("1 passed, 0 failed")
