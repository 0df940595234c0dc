/* SPDX-License-Identifier: MIT
 *
 * read.h: the readers behind file_read and vector_read, for sources that need not be files. */
#ifndef IO_READ_H
#define IO_READ_H

#include "io/source.h"
#include "matrix/matrix.h"

heddle_status read_text(struct csr *A, struct source *s, heddle_type value);
heddle_status vector_read_source(void **x, int64_t *n, heddle_type type, struct source *s);

#endif
