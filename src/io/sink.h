/* SPDX-License-Identifier: MIT
 *
 * sink.h: a file on its way out.  It is written under a temporary name beside its own, made durable and
 * renamed when it is complete, so that nobody ever sees half a file, whatever happens to the process or
 * the disk.  The new file has the mode and, as far as that is allowed, the owner of the old one; where its
 * name is a symbolic link, the file that the link leads to is replaced and the link stays.  What is no
 * regular file (a pipe, a device, /dev/stdout) is written as it is. */
#ifndef IO_SINK_H
#define IO_SINK_H

#include "base/status.h"

struct sink {
    const char *path; /* borrowed */
    char *target;     /* where the path leads: not a link */
    char *temporary;  /* NULL when the target itself is written */
    int watched;      /* sinks_abandon knows the temporary file */
    int file;
    int gzip;
};

heddle_status sink_open(struct sink *s, const char *path, int gzip);
heddle_status sink_write(struct sink *s, const void *data, int64_t size);
heddle_status sink_print(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes the file appear if `status` is HEDDLE_OK, removes it otherwise; returns the first failure of all. */
heddle_status sink_close(struct sink *s, heddle_status status);

/* Removes the temporary files of all open sinks.  For the handler of a signal that ends the process, in
 * which it is safe. */
void sinks_abandon(void);

/* Formats items [first, last) at `out` and returns the bytes written. */
typedef int64_t sink_formatter(const void *argument, int64_t first, int64_t last, char *out);

/* Writes items [0, count), of at most `item_size` bytes each, formatted (and compressed) in parallel. */
heddle_status sink_items(struct sink *s, int64_t count, int64_t item_size, sink_formatter *formatter,
                         const void *argument);

#endif
