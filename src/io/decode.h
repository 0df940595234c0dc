/* SPDX-License-Identifier: MIT
 *
 * decode.h: the bytes of a file, whatever it is packed in.  The packing is known by its magic bytes, not
 * by its name. */
#ifndef IO_DECODE_H
#define IO_DECODE_H

#include "io/input.h"

struct decoder {
    const char *name;          /* of the file, for messages; borrowed */
    const struct input *input; /* the packed file; borrowed */
    int64_t at;                /* how many of its bytes are used up */
    char *window;              /* of the next ones, `ready` lie at window + used */
    int64_t used, ready;
    heddle_status (*read)(struct decoder *d, char *out, int64_t capacity, int64_t *got);
    void (*stop)(struct decoder *d);
    void *state;  /* of zlib, liblzma or the xz program */
    int finished; /* the end of the contents was reached */
};

/* Begins (again) at the start of the contents.  `d` is zero but for name and input, or was started before. */
heddle_status decoder_start(struct decoder *d);
/* Fills `out`; less than `capacity` bytes come only at the end.  Broken packing is HEDDLE_BAD_FILE. */
heddle_status decoder_read(struct decoder *d, char *out, int64_t capacity, int64_t *got);
void decoder_stop(struct decoder *d);

/* Are the contents simply the file's own? */
int decoder_plain(const struct decoder *d);

/* For those that unpack: the window is not empty afterwards, unless the file is at its end; n bytes of it
 * are used up. */
heddle_status decoder_fill(struct decoder *d);
void decoder_take(struct decoder *d, int64_t n);

/* decode_xz.c */
heddle_status xz_start(struct decoder *d);

/* What zlib allocates and frees by, as z_stream wants it. */
void *zlib_alloc(void *nothing, unsigned items, unsigned size);
void zlib_free(void *nothing, void *p);

#endif
