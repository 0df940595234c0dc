/* SPDX-License-Identifier: MIT
 *
 * candidate.h: one way to compute op(A) x, with one vector or several, bound to a matrix and ready to run.
 * Named as on the command line:
 *     auto              heddle_mv: no set-up, Heddle chooses
 *     plan              heddle_plan_create with its defaults: Heddle chooses and prepares
 *     auto:deterministic=1, plan:deterministic=1, plan:cache=cold
 *                       the same two, bitwise repeatable
 *     cpu_sell:slice=8  one kernel with options; several vectors as heddle_plan_mm has them by its arrays
 *     cusparse:csr_alg1 another library's product (peer.h) */
#ifndef BENCH_CANDIDATE_H
#define BENCH_CANDIDATE_H

#include "api/api.h"
#include "bench/peers/peer.h"
#include "matrix/vectors.h"

struct candidate {
    heddle *h;
    const heddle_matrix *A; /* CSR */
    heddle_op op;
    struct vector_group vectors;
    heddle_plan *plan;   /* of "plan" */
    struct bound *bound; /* of a kernel */
    struct peer *peer;   /* of a peer */
    char name[64];       /* as asked for */
    char ran[64];        /* the kernel with its options; of "auto" and of several vectors known after the
                          * first run */
    char format[16];
    heddle_type value;          /* of the values that it reads: A's, or a plan's narrower ones */
    int transposed, repeatable; /* of "auto" known after the first run */
    int deterministic;          /* "auto" was asked to be */
    int learnt;                 /* ran is what a product told */
    int fixed;                  /* values never change: candidate_use fails */
    int64_t bytes;              /* held beyond A */
    double read; /* bytes of the matrix that a product reads, as it is stored; NaN: not known */
    double convert_ms, prepare_ms; /* a plan counts all its work as preparation */
    double plan_ms;                /* of a plan: its choice; 0 for others */
    int64_t break_even;            /* of a plan, as in heddle_plan_desc; 0 for others */
};

/* HEDDLE_NO_KERNEL and HEDDLE_NO_MEMORY mean that it does not apply here, with the reason in the text. */
heddle_status candidate_new(struct candidate *c, heddle *h, const heddle_matrix *A, heddle_op op,
                            struct vector_group vectors, const char *name);
void candidate_free(struct candidate *c);
/* Another matrix of the same pattern, which must outlive the candidate: what the pattern decides stays as
 * it was made.  A peer is made anew, because not every library takes new values; after a failure it is
 * gone. */
heddle_status candidate_use(struct candidate *c, const heddle_matrix *A);
/* x and y as `vectors` says. */
heddle_status candidate_run(struct candidate *c, struct scalars s, const void *x, void *y);

/* Is `name` auto, plan, a kernel of the registry or a peer?  Fails with the nearest one. */
heddle_status candidate_check(const char *name);

/* Names in a list, at most CANDIDATES_MOST of them. */
#define CANDIDATES_MOST 128
#define CANDIDATE_NAME 64
struct candidate_list {
    int count;
    char name[CANDIDATES_MOST][CANDIDATE_NAME];
};

/* Adds the names in `text`, which are separated by commas: "auto,cpu_sell:slice=8,window=512,cpu_csr" is
 * three, because a comma before key=value goes on with the options.  "all" stands for auto, plan and every
 * kernel of the kind of device: "cpu" or "gpu". */
heddle_status candidates_add(struct candidate_list *list, const char *text, const char *device);

/* The same for peers: "cusparse" stands for all its algorithms that take so many vectors (PEER_one,
 * PEER_several, PEER_any: both), "cusparse:csr_alg2" for one, "all" for every library that computes on
 * devices of this driver ("cuda", "cpu"). */
heddle_status candidates_add_peers(struct candidate_list *list, const char *text, const char *driver,
                                   enum peer_vectors vectors);

#endif
