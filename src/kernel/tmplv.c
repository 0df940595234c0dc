/* SPDX-License-Identifier: MIT
 *
 * tmplv: one thread a row, of rows that share a template and its values; neither columns nor values are read.
 *
 * Computes   y = alpha A x + beta y,  A in TMPLV (src/format/tmplv.c).
 * Source     Heddle's own: what a stencil code does, found in a matrix.
 * Balance    as tmpl.
 * Memory     x and y, 2 bytes a row and 16 a slice; templates and their values stay in the cache.
 * Wins       constant coefficients on a grid, patterns of ones on a lattice: several times fewer bytes than
 *            any storage with values.
 * Loses      values that differ from row to row, of which the rest is made.  For plans whose values are fixed
 *            alone.
 * Order      that of storage, rows of the rest in a fixed tree: bitwise repeatable.
 */
#include "kernel/tmpl.h"

#ifdef HEDDLE_DEVICE
KERNEL_BOUND(tmplv, BLOCK)(struct product p)
{
    multiply(&p, 1, 1);
}

#else
/* The option of the format, where slice=0 is the width of a wave (convert.c). */
static const struct option options[] = {
    {"slice", 0, VALUES(0, 32, 64)},
    {0},
};

static heddle_status launch(const struct work *w)
{
    return launch_tmpl(w, "tmplv", 1);
}

const struct kernel tmplv = {
    .name = "tmplv",
    .id = KERNEL_tmplv,
    .format = FORMAT_tmplv,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle's own: rows share lists of (column - row) and values",
    .options = options,
    .repeatable = 1,
    .applies = height_applies,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
