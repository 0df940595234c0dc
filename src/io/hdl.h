/* SPDX-License-Identifier: MIT
 *
 * hdl.h: Heddle's own binary file, which is mapped rather than read.
 *
 * All numbers are little-endian.  A header of 128 bytes is followed by the three arrays of the matrix as
 * they lie in memory, each at a multiple of 64 bytes with zeros between them.  The header carries a
 * checksum of itself, which opening checks, and one of the arrays, which file_matrix_check checks. */
#ifndef IO_HDL_H
#define IO_HDL_H

#include "io/io.h"

#define HDL_MAGIC                                                                                            \
    "\x89HDL\r\n\x1a\n" /* as PNG does it: text-mode transfer and 7-bit channels break it visibly */
#define HDL_MAGIC_SIZE 8
#define HDL_VERSION 1
#define HDL_ORDER 0x01020304u /* reads as something else when the bytes are the other way round */
#define HDL_ALIGN 64

struct hdl_header {
    char magic[HDL_MAGIC_SIZE];
    uint32_t version, order;
    uint32_t value, offset; /* heddle_type; of what type vectors are is not a matter of the file */
    int64_t rows, cols, nnz;
    struct {
        int64_t at, size; /* bytes, from the start of the file */
    } section[3];         /* row_ptr, col, val: in this order, without overlap */
    int64_t file_size;
    uint64_t contents; /* checksum of the three arrays in order */
    uint64_t reserved; /* 0 */
    uint64_t checksum; /* of the bytes before it */
};

/* Finds the arrays in the file that F->map holds, which begins with HDL_MAGIC. */
heddle_status hdl_open(struct file_matrix *F, const char *path);

#endif
