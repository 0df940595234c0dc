/* SPDX-License-Identifier: MIT
 *
 * stage.h: what the files of a bench share: bench.c goes through matrices, types and operations, run.c
 * measures one product. */
#ifndef BENCH_STAGE_H
#define BENCH_STAGE_H

#include "bench/bench.h"
#include "bench/floor.h"
#include "bench/proof.h"

/* Additions to a small y are as fast as its cache lines are spread over the slices of a GPU's L2, which
 * the address decides in no way that anybody tells: cuSPARSE's Aᵀx took 34 to 57 us on an H200 with the 8
 * KB of dense2's y, and the 16 KB of f64 46 or, at 2 of 25 places, 84.  So that no figure hangs on what
 * else was allocated, y is tried at several places. */
#define Y_PLACES 6
#define Y_STEP (9 * 512)
#define Y_SPREADS (1 << 20) /* bytes: a larger one begins at a page, where any program's would */

/* What is in memory while one matrix is at work: each level adds its part and takes it away again.  Once
 * `skip` is set, everything below is reported as skipped for that reason. */
struct stage {
    struct bench *b;
    struct run base; /* what all runs of the level have in common */
    struct loaded loaded;
    struct csr csr; /* of the type at work; borrows all but the values */
    heddle_matrix *A;
    void *x, *y;             /* on the host */
    void *x_there, *y_there; /* where the products run: the same on the CPU */
    char *y_first;           /* on a GPU: the first of the places where y may begin */
    int y_places;
    struct stopwatch watch;
    struct references references;
    int64_t y_numbers; /* of all vectors */
    struct proof proof;
    struct floors floors; /* of the type at work */
    int64_t used_rows, used_cols;
    char skip[SKIP_TEXT];
};

/* Turns a failure that concerns this matrix alone into a reason to skip. */
heddle_status stage_absorb(struct stage *s, heddle_status status, int any);

int64_t stage_y_bytes(const struct stage *s);
/* Makes the candidate r->kernel, times and verifies it, and tells b->events. */
heddle_status stage_run(struct stage *s, struct run *r);

#endif
