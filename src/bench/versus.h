/* SPDX-License-Identifier: MIT
 *
 * versus.h: Heddle against the best peer.  Collects the times of a run and sums up, for each kernel, type,
 * operation and number of vectors, how the best peer's time compares: best peer / kernel, above 1 where
 * Heddle is faster.  f32 values with f64 vectors stand beside the peers' f64 where no peer has them. */
#ifndef BENCH_VERSUS_H
#define BENCH_VERSUS_H

#include "bench/candidate.h"
#include "subject/subject.h"

/* A matrix below it is named: the peer is faster by more than measurements scatter. */
#define VERSUS_LEVEL 0.97

struct versus_time {
    char *matrix; /* owned: its name and, behind the zero, its origin, which tells two of the same name
                   * apart */
    const char *origin;
    char kernel[CANDIDATE_NAME];
    heddle_type value;
    heddle_op op;
    struct vector_group vectors;
    double ms;
    int peer;
    int64_t order; /* in which it was added */
};

struct versus {
    struct versus_time *item;
    int64_t count, capacity;
};

heddle_status versus_add(struct versus *v, const struct subject *subject, const char *kernel,
                         heddle_type value, heddle_op op, struct vector_group vectors, double ms);
void versus_free(struct versus *v);

/* One kernel (or VERSUS_BEST: the best of Heddle's on each matrix) over all matrices that it and a peer
 * were verified on. */
#define VERSUS_BEST "best of these"
struct versus_row {
    heddle_type value;
    heddle_op op;
    struct vector_group vectors;
    char kernel[CANDIDATE_NAME];
    int matrices, below; /* below: how many are under VERSUS_LEVEL */
    double mean;         /* geometric, of best peer / kernel */
    double least, most;
    int64_t first; /* order of its first time */
};

/* The ratio of one kernel on one matrix. */
struct versus_ratio {
    const char *matrix, *peer; /* that was the best */
    double ratio;
};

/* All rows, by type, operation and vectors, in the order in which kernels were added, VERSUS_BEST last;
 * the caller frees *rows.  Sorts the times, which versus_matrices relies on. */
heddle_status versus_rows(struct versus *v, struct versus_row **rows, int64_t *count);
/* The matrices of a row, the worst first; the caller frees *list. */
heddle_status versus_matrices(const struct versus *v, const struct versus_row *row,
                              struct versus_ratio **list, int64_t *count);

#endif
