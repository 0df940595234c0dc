/* SPDX-License-Identifier: MIT
 *
 * input.h: the bytes of a file on their way in.  They are read, not mapped: a file that someone cuts short
 * or overwrites meanwhile gives an error or other text, never a signal.  A pipe or a device, which has no
 * size and cannot be read twice, is taken into memory first.
 *
 * A small file may describe something huge (sizes without entries, compressed zeros).  Whoever is about to
 * allocate for what a file says asks input_affords before. */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include "base/status.h"

#define INPUT_FREE 1e9    /* bytes that any file may ask for */
#define INPUT_RATIO 100.0 /* and beyond them so many times its own size, unless large things are welcome */

struct input {
    int file;         /* -1: the contents lie in memory, */
    const char *data; /* here */
    char *taken;      /* and these of them are to be freed */
    int64_t size;     /* as it was when the file was opened */
    int large;        /* large things are welcome */
};

/* A directory or something unreadable is HEDDLE_FILE_ERROR, an empty file HEDDLE_BAD_FILE; nothing is open
 * then. */
heddle_status input_open(struct input *in, const char *path, int large);
/* Contents that lie in memory and outlive the input. */
heddle_status input_memory(struct input *in, const char *name, const void *data, int64_t size);
void input_close(struct input *in); /* also for a structure that is all zero but for file = -1 */

/* Bytes [at, at + n) of [0, size); HEDDLE_FILE_ERROR when the file has lost them since it was opened. */
heddle_status input_read(const struct input *in, const char *name, int64_t at, void *out, int64_t n);

/* HEDDLE_NO_MEMORY when `bytes` are more than the machine has, or than a file of this size may ask for. */
heddle_status input_affords(const struct input *in, const char *name, double bytes);

#endif
