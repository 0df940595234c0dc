/* SPDX-License-Identifier: MIT
 *
 * peer.h: another library's product, on the arrays that Heddle's kernels are measured on.  A peer is a
 * candidate like any other (candidate.h): same x and y, same clock, same verification.
 *
 *     cusparse:csr_alg1                with the library's own preparation
 *     cusparse:csr_alg1:preprocess=0   without it
 *     cusparse:sell:slice=32           options of the format
 *
 * peers.def has a row for each library and algorithm; peer.c is what they share, peer_format.c makes the
 * formats that Heddle does not have in this shape, and each library has its file. */
#ifndef BENCH_PEERS_PEER_H
#define BENCH_PEERS_PEER_H

#include "api/api.h"
#include "matrix/vectors.h"

enum peer_format { PEER_csr, PEER_coo, PEER_sell, PEER_bsr };
enum peer_vectors { PEER_one = 1, PEER_several = 2, PEER_any = PEER_one | PEER_several }; /* at a time */
enum peer_library_id {
#define PEER_LIBRARY(name, devices, variable) PEER_LIBRARY_##name,
#include "bench/peers/peers.def"
    PEER_LIBRARIES
};

struct peer;

/* What a library's file provides.  Functions report failures with the library's own name of the status. */
struct peer_library {
    const char *const *files;   /* what it may be called, the best first; ends in NULL */
    const char *const *folders; /* where to look beyond the loader's own places; ends in NULL; may be NULL */
    const struct peer_symbol *symbols;
    const void *calls; /* the library's own */
    const char *types; /* of values that it is asked for: "f32 f64 c32 c64" */
    /* The library's handle for this device, and its version; NULL members: there is none. */
    heddle_status (*open)(const struct peer_library *l, void **handle, const struct device *d,
                          char version[16]);
    void (*close)(const struct peer_library *l, void *handle);
    /* Is this algorithm there, and does it take the operation?  Asked before anything is converted; NULL:
     * each does. */
    heddle_status (*suits)(const struct peer *p);
    heddle_status (*bind)(struct peer *p);    /* descriptions and workspace; everything in p is set */
    heddle_status (*prepare)(struct peer *p); /* the step that preprocess=0 leaves out; NULL: there is none */
    heddle_status (*run)(struct peer *p, const void *x, void *y);
    void (*release)(struct peer *p); /* what bind made, as far as it came */
};

/* A function to look up, and the pointer that takes it. */
struct peer_symbol {
    const char *name; /* NULL ends the table */
    void *slot;
    int optional;
};

/* A row of peers.def. */
struct peer_row {
    enum peer_library_id library;
    const char *name; /* "csr_alg1" */
    enum peer_format format;
    int number, preprocess;
    enum peer_vectors vectors;
};
extern const struct peer_row peer_rows[]; /* ends in a row without a name */

/* The matrix as the library wants it, on the device.
 *   csr   ptr[rows+1], index[nnz], val[nnz]
 *   coo   row[nnz], index[nnz], val[nnz]
 *   sell  ptr[slices+1], index[stored] (-1: padding), val[stored]; entry j of row r of a slice at ptr +
 *         j*slice + r
 *   bsr   ptr[rows/block+1], index[blocks], val[stored]: blocks of block*block values, row by row */
struct peer_arrays {
    heddle_type offset; /* of ptr */
    void *ptr, *row, *index, *val;
    int64_t stored; /* values: nnz and padding */
    int64_t slice, block, blocks;
    void *owned[4]; /* to release */
    int64_t bytes;  /* of these */
};

struct peer {
    const struct peer_row *row;
    const struct peer_library *library;
    void *handle;
    const struct device *device;
    struct csr A; /* borrowed, on the device */
    heddle_op op;
    struct vector_group vectors;
    int64_t x_count, y_count;         /* numbers of a vector */
    int64_t preprocess, slice, block; /* options; 0: the best */
    struct peer_arrays arrays;
    struct scalars scalars;
    /* The same in the type of the vectors, for libraries that read them so: room for any, aligned as
     * cuDoubleComplex is, which C's own type is not. */
    _Alignas(16) c64 alpha;
    _Alignas(16) c64 beta;
    void *workspace;
    int64_t workspace_bytes;
    void *stand_in_x, *stand_in_y; /* while it is prepared: vectors of the right size, of zeros and unset */
    double convert_ms, prepare_ms;
    char version[32]; /* "cusparse 12603" */
    void *state;      /* the library's own */
    void *context;    /* what was current before */
};

/* `name` as above.  HEDDLE_NO_KERNEL and HEDDLE_NOT_SUPPORTED say why it cannot be measured here. */
heddle_status peer_new(struct peer **p, const struct device *d, const struct csr *A, heddle_op op,
                       struct vector_group vectors, const char *name);
void peer_free(struct peer *p); /* takes NULL */
/* Does not wait for a GPU. */
heddle_status peer_run(struct peer *p, struct scalars s, const void *x, void *y);

/* Is `name` "LIBRARY:..." of a library in peers.def? */
int peer_is_name(const char *name);
/* HEDDLE_BAD_ARGUMENT, with what there is, unless `name` is a library, or an algorithm of one with good
 * options. */
heddle_status peer_check(const char *name);
const char *peer_library_name(enum peer_library_id id);
const char *peer_library_devices(enum peer_library_id id);   /* "cuda", "cpu" */
int peer_suits(enum peer_library_id id, const char *driver); /* can a device of this driver have it? */
/* Gives back the handles that are kept between candidates: before the device is closed. */
void peers_close(void);

/* peer_format.c: fills p->arrays; HEDDLE_NO_KERNEL for a matrix that the format does not suit. */
heddle_status peer_convert(struct peer *p);

/* For the libraries' files: "cusparse: cusparseSpMV: CUSPARSE_STATUS_NOT_SUPPORTED", a reason to skip. */
heddle_status peer_failed(const struct peer *p, const char *call, const char *status);

static inline const void *peer_alpha(const struct peer *p)
{
    return &p->alpha;
}
static inline const void *peer_beta(const struct peer *p)
{
    return &p->beta;
}

#endif
