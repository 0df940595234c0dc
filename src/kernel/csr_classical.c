/* SPDX-License-Identifier: MIT
 *
 * csr_classical: a group of lanes a row, as many as the longest row can use.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     ginkgo-race-2020 Alg. 2: the group is the largest power of two that the longest row fills, at
 *            most the wave.  The option lanes sets it instead.  Beyond the paper, a group has the first
 *            entries of four rows under way at once where there are rows enough (option rows), and the
 *            four sums are folded together.
 * Balance    one row is the unit of work, and the longest row decides for all: csr_vector goes by the mean
 *            instead.
 * Memory     the lanes of a group read neighbouring val and col, the groups of a wave neighbouring rows; x
 *            is gathered.
 * Wins       rows of nearly the same length.
 * Loses      one long row among short ones: nearly all lanes idle, and the wave that has it is the last to
 *            end.
 * Order      fixed tree per row, for the same options: bitwise repeatable.
 */
#include "kernel/classical.h"
#ifdef HEDDLE_DEVICE

KERNEL(csr_classical1)(struct product p)
{
    classical(&p, 1);
}

KERNEL(csr_classical4)(struct product p)
{
    classical(&p, CLASSICAL_ROWS);
}

#else

enum { LANES, ROWS };
static const struct option options[] = {
    {"lanes", 0, VALUES(0, 1, 2, 4, 8, 16, 32, 64)},
    {"rows", 0, VALUES(0, 1, 4)},
    {0},
};

static const char *const entries[] = {"csr_classical1", "csr_classical4", NULL};

static heddle_status applies(const struct work *w)
{
    int wave = gpu_info_of(w->device->gpu)->wave;
    if (w->option[LANES] > wave)
        return fail(HEDDLE_NO_KERNEL, "csr_classical: lanes=%lld, but a wave of this device has %d",
                    (long long)w->option[LANES], wave);
    return HEDDLE_OK;
}

static heddle_status prepare(struct work *w)
{
    return classical_prepare(w, w->option[LANES], w->option[ROWS]);
}

static heddle_status launch(const struct work *w)
{
    return classical_launch(w, entries[0], entries[1]);
}

const struct kernel csr_classical = {
    .name = "csr_classical",
    .id = KERNEL_csr_classical,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ginkgo-race-2020 Alg. 2",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .applies = applies,
    .prepare = prepare,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
