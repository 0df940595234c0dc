/* SPDX-License-Identifier: MIT
 *
 * bench.h: matrices x types x operations x candidates, each prepared, timed, verified, and told to the
 * caller at once.  One matrix is in memory at a time. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <signal.h>

#include "bench/candidate.h"
#include "bench/clocks.h"
#include "bench/launches.h"
#include "bench/measure.h"
#include "bench/probe.h"
#include "bench/shape.h"
#include "subject/describe.h"
#include "subject/subject.h"
#include "verify/references.h"

#define SKIP_TEXT 256
#define VECTORS_LISTED 32

/* One product measured.  Times that were not taken have repetitions 0. */
struct run {
    const struct subject *subject;
    int64_t rows, cols, nnz;
    heddle_lengths row; /* zero unless matrices are described */
    heddle_type value, offset;
    heddle_op op;
    struct vector_group vectors;
    const char *kernel;           /* as asked for: "auto", "plan", "cpu_sell:slice=8" */
    const struct candidate *made; /* NULL when skipped */
    const struct device *device;
    struct timing warm, cold;
    double bytes;               /* that any product has to move: A, all of x and of y once */
    double read_gbs, launch_ms; /* what the probe found for this matrix */
    double call_us;      /* the host's time for a call, which does not wait; NaN where a call is the product
                          * itself */
    double bare_call_us; /* the same for a bare launch of the driver */
    double floor_ms;     /* the time to read `bytes` again and again: from the cache, where they stay in it;
                          * NaN: none */
    double of_floor;     /* floor_ms over the warm median; a storage that needs fewer bytes than CSR may be
                          * above 1 */
    double own_bytes;    /* that this run reads and writes at least: A as it is stored, what it uses of x, y;
                          * NaN: not known */
    double own_floor_ms, of_own_floor; /* the same for these: of_own_floor 1 is as fast as memory allows */
    double others;            /* processors that other programs kept busy meanwhile; NaN: not known */
    double gflops, gbs;       /* 2 nnz, 8 of complex numbers, of each vector, and bytes over the warm
                               * median */
    struct launches launches; /* of a kernel on a GPU, where it was asked for */
    int core_mhz, memory_mhz; /* of the device right after the products; 0: not known */
    int fits_cache;           /* bytes fit in the last-level cache, so that the floor is the cache's */
    struct verdict verdict;   /* `passed` 0 when not verified */
    char wrong[VERDICT_TEXT];
    char skipped[SKIP_TEXT]; /* why, or "" */
};

/* A matrix described. */
struct description {
    const struct subject *subject;
    heddle_type value, offset;
    heddle_stats stats;
    struct shape shape;
};

/* What the caller hears of; any may be NULL. */
struct bench_events {
    void *argument;
    heddle_status (*described)(void *argument, const struct description *d);
    heddle_status (*ran)(void *argument, const struct run *r);
    void (*begins)(void *argument, const struct run *r); /* before each run, for progress; r->kernel NULL:
                                                          * loading */
    /* Is this run (or, with kernel NULL, this description of a matrix) there already?  Then it is left
     * out, and a matrix of which everything is there is not even loaded. */
    int (*known)(void *argument, const struct run *r);
};

struct bench {
    heddle *h;
    struct candidate_list kernels;
    int type_count, op_count;
    heddle_type type[TYPES_MOST];
    int vectors_listed; /* 0: one vector alone */
    struct vector_group vectors[VECTORS_LISTED];
    heddle_op op[3];        /* H is left out where numbers are real, for it is T there */
    struct rule warm, cold; /* cold.most 0: no cold runs */
    int64_t memory_limit;   /* bytes for A, one converted copy and vectors; larger matrices are skipped; 0:
                             * no limit */
    int launches;           /* times of the kernels within products are taken, too */
    int keep_going;         /* a matrix that cannot be loaded is skipped and counted, not an error */
    int unreadable;         /* how many there were */
    volatile sig_atomic_t *stop; /* not NULL and set: what is left is left out */
    struct bench_events events;
    struct probe probe;
    struct clocks clocks; /* zeroed: not asked */
};

/* The rules that `heddle bench` uses unless told otherwise: a flush costs a GPU a tenth of a millisecond,
 * a CPU far more. */
extern const struct rule bench_warm, bench_cold, bench_cold_gpu;

static inline int bench_has(heddle_type type, heddle_op op)
{
    return op != HEDDLE_H || is_complex(type);
}
/* How many choices of vectors there are; a zeroed one is a single vector. */
static inline int bench_vectors(const struct bench *b)
{
    return b->vectors_listed > 0 ? b->vectors_listed : 1;
}
int64_t bench_runs(const struct bench *b); /* of one matrix */

heddle_status bench_subject(struct bench *b, const struct subject *subject);

#endif
