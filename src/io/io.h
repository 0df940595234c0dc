/* SPDX-License-Identifier: MIT
 *
 * io.h: matrices and vectors from and to files.  Every reader checks every index; a writer's file appears
 * under its name only when it is complete.  Errors carry "file:line: what" texts. */
#ifndef IO_IO_H
#define IO_IO_H

#include "matrix/matrix.h"

/* A matrix as it came from a file.  Text formats give freshly allocated arrays, already checked.  A .hdl
 * file gives arrays that lie in the mapped file, or in a copy of it, unchecked until file_matrix_check. */
struct file_matrix {
    struct csr csr;
    int mapped;  /* the arrays of csr lie in `map` */
    int copied;  /* which is then a copy of the file, on the heap */
    int checked; /* contents are known to be valid */
    void *map;   /* the whole file and its size, when mapped */
    int64_t map_size;
    uint64_t checksum; /* of the contents, as the file states it */
};

/* Symmetric storage is expanded; entries keep the file's order within a row.  `trust` is not looked at. */
heddle_status file_read_as(struct file_matrix *F, const char *path, const heddle_read_options *options);
/* Other options are left at 0 */
heddle_status file_read(struct file_matrix *F, const char *path, heddle_type value);
/* Checksum and indices of a mapped matrix; does nothing if F is checked already. */
heddle_status file_matrix_check(struct file_matrix *F, const char *path);
void file_matrix_free(struct file_matrix *F);

/* The ending of the path chooses: .mtx, .mtx.gz, .rb, .rb.gz, .hdl, .petsc, .petsc64 (HEDDLE_NOT_SUPPORTED
 * for others). */
heddle_status file_write(const struct csr *A, const char *path);

heddle_status vector_read(void **x, int64_t *n, heddle_type type, const char *path);
heddle_status vector_write(const void *x, int64_t n, heddle_type type, const char *path);

/* What file_read understands, for help and for --version: "mtx rb petsc hdl gz xz(liblzma) tar". */
const char *io_features(void);

#endif
