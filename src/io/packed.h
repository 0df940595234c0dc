/* SPDX-License-Identifier: MIT
 *
 * packed.h: a small file as a whole, unpacked. */
#ifndef IO_PACKED_H
#define IO_PACKED_H

#include "base/status.h"

/* Does the file begin as gzip's and xz's do?  0 also for what cannot be read. */
int file_is_packed(const char *path);
/* The contents of such a file, for mem_free. */
heddle_status file_unpack(char **data, int64_t *size, const char *path);

#endif
