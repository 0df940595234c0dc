/* SPDX-License-Identifier: MIT
 *
 * petsc.h: sparse matrices as PETSc stores them (MatView to a binary viewer, MatLoad).
 *
 *   class id   1211216
 *   sizes      rows, cols, nnz
 *   lengths    of the rows: `rows` numbers
 *   columns    of the entries, row by row, counting from 0: nnz numbers
 *   values     nnz numbers
 *
 * All of it is big-endian, on any machine.  How wide numbers are depends on how the PETSc was built that
 * wrote the file, which says so nowhere: whole numbers have 32 or 64 bits, values are single, double or
 * complex.  The class id tells the first, and what comes behind the values the second: the end of the
 * file, or the class id of the next object. */
#ifndef IO_PETSC_H
#define IO_PETSC_H

#include "io/source.h"
#include "matrix/matrix.h"

/* Do the contents begin with the class id of a matrix?  The source is at its beginning, and is so
 * afterwards. */
heddle_status petsc_begins(struct text_source *s, int *yes);
heddle_status petsc_read(struct text_source *s, struct csr *A, heddle_type value);

#endif
