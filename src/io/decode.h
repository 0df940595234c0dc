/* SPDX-License-Identifier: MIT
 *
 * decode.h: the bytes of a file, whatever it is packed in.  The packing is known by its magic bytes, not by its name. */
#ifndef IO_DECODE_H
#define IO_DECODE_H

#include "base/status.h"

struct decoder {
    const char *name;       /* of the file, for messages; borrowed */
    const char *data;       /* the packed file in memory; borrowed */
    int64_t size, at;       /* bytes of data, and how many of them are used up */
    heddle_status (*read)(struct decoder *d, char *out, int64_t capacity, int64_t *got);
    void (*stop)(struct decoder *d);
    void *state;            /* of zlib, liblzma or the xz program */
    int finished;           /* the end of the contents was reached */
};

/* Begins (again) at the start of the contents.  `d` is zero but for name, data and size, or was started before. */
heddle_status decoder_start(struct decoder *d);
/* Fills `out`; less than `capacity` bytes come only at the end.  Broken packing is HEDDLE_BAD_FILE. */
heddle_status decoder_read(struct decoder *d, char *out, int64_t capacity, int64_t *got);
void decoder_stop(struct decoder *d);

/* Are the contents simply `data` itself? */
int decoder_plain(const struct decoder *d);

/* decode_xz.c */
heddle_status xz_start(struct decoder *d);

#endif
