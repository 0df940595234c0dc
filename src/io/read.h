/* SPDX-License-Identifier: MIT
 *
 * read.h: the readers behind file_read and vector_read, for sources that need not be files. */
#ifndef IO_READ_H
#define IO_READ_H

#include "io/source.h"
#include "matrix/matrix.h"

/* Bytes that anyone who works with a matrix of these sizes needs, whatever its format: for a file that
 * states sizes alone. */
static inline double matrix_least(int64_t rows, int64_t cols)
{
    return 4.0 * ((double)rows + (double)cols);
}

heddle_status read_text(struct csr *A, struct text_source *s, heddle_type value);
heddle_status vector_read_source(void **x, int64_t *n, heddle_type type, struct text_source *s);

#endif
