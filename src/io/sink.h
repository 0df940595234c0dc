/* SPDX-License-Identifier: MIT
 *
 * sink.h: a file on its way out.  It is written under a temporary name beside its own and renamed when it is complete,
 * so that nobody ever sees half a file.  What is no regular file (a pipe, /dev/stdout) is written as it is. */
#ifndef IO_SINK_H
#define IO_SINK_H

#include "base/status.h"

struct sink {
    const char *path; /* borrowed */
    char *temporary;  /* NULL when the path itself is written */
    int file;
    int gzip;
};

heddle_status sink_open(struct sink *s, const char *path, int gzip);
heddle_status sink_write(struct sink *s, const void *data, int64_t size);
heddle_status sink_print(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes the file appear if `status` is HEDDLE_OK, removes it otherwise; returns the first failure of all. */
heddle_status sink_close(struct sink *s, heddle_status status);

/* Formats items [first, last) at `out` and returns the bytes written. */
typedef int64_t sink_formatter(const void *argument, int64_t first, int64_t last, char *out);

/* Writes items [0, count), of at most `item_size` bytes each, formatted (and compressed) in parallel. */
heddle_status sink_items(struct sink *s, int64_t count, int64_t item_size, sink_formatter *formatter, const void *argument);

#endif
