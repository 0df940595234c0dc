/* SPDX-License-Identifier: MIT
 *
 * write.h: the writers of matrices, one per format; write.c picks one by the ending of the path. */
#ifndef IO_WRITE_H
#define IO_WRITE_H

#include "io/sink.h"
#include "matrix/matrix.h"

heddle_status market_write(const struct csr *A, struct sink *s);
heddle_status boeing_write(const struct csr *A, struct sink *s);
heddle_status hdl_write(const struct csr *A, struct sink *s);
heddle_status petsc_write(const struct csr *A, struct sink *s);
heddle_status petsc64_write(const struct csr *A, struct sink *s); /* for a PETSc with 64-bit indices */

#endif
