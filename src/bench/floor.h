/* SPDX-License-Identifier: MIT
 *
 * floor.h: what no product can go below: the time to read as many bytes as it does, again and again, on
 * the same threads, from wherever they stay in the meantime.  The emulator has none. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "bench/probe.h"
#include "matrix/matrix.h"

#define FLOORS_KEPT 16

struct floor {
    double bytes, ms, tried_ms; /* how long it was measured again */
};

/* Floors of one matrix and type: most candidates read the same bytes. */
struct floors {
    struct probe *probe;
    double launch_ms; /* on a GPU no floor is below */
    int count;
    struct floor kept[FLOORS_KEPT];
};

/* NaN on the emulator, and for bytes that are not known (NaN). */
double floor_ms(struct floors *f, double bytes);
/* The same for a product that took `ms`: while it seems faster than its floor the loop runs again, because
 * whatever disturbs a measurement makes it longer; for as many bytes up to a second in all. */
double floor_beside_ms(struct floors *f, double bytes, double ms);

/* Rows and columns with at least one entry: of x a product reads no more. */
heddle_status floor_used(const struct csr *A, int64_t *rows, int64_t *cols);

#endif
