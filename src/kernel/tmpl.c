/* SPDX-License-Identifier: MIT
 *
 * tmpl: one thread a row, of rows that share a template; no columns are read.
 *
 * Computes   y = alpha A x + beta y,  A in TMPL (src/format/tmpl.c).
 * Source     Heddle's own.  Diagonal storage (Bell and Garland 2009) is the case of one template for all
 *            rows.
 * Balance    a slice of as many rows as a wave has lanes, all of one length, is the work of a wave, or of
 *            `waves` waves, which then have a part of each row and add up through shared memory: for fewer
 *            slices than the device has room for.  What is left over, short of a slice or without a template,
 *            is done by other blocks of the same launch, some lanes a row.
 * Memory     values are read once, coalesced and streamed, LOADS of a row under way at a time; 16 bytes a
 *            slice and 2 a row say whose they are.  Templates stay in the cache; neighbours read neighbouring
 *            x.  Values wait for the slice, x for its template: three loads, one behind the other, however
 *            long the rows.
 * Wins       grids, lattices, images: 4 bytes an entry in single and 8 in double precision.
 * Loses      rows that do not share, of which the rest is made; very long rows among those, as a wave has
 *            each.
 * Order      that of storage, rows of the rest in a fixed tree: bitwise repeatable.
 */
#include "kernel/tmpl.h"

#ifdef HEDDLE_DEVICE
KERNEL_BOUND(tmpl1, BLOCK)(struct product p)
{
    multiply(&p, 1);
}
KERNEL_BOUND(tmpl2, BLOCK)(struct product p)
{
    multiply(&p, 2);
}
KERNEL_BOUND(tmpl4, BLOCK)(struct product p)
{
    multiply(&p, 4);
}

#else

/* The option of the format, where slice=0 is the width of a wave (convert.c), and how many waves share a
 * slice (0: as many as the device has room for, as long as each has EACH entries of a row). */
#define EACH 16
enum { SLICE, WAVES };
static const struct option options[] = {
    [SLICE] = {"slice", 0, VALUES(0, 32, 64)},
    [WAVES] = {"waves", 0, VALUES(0, 1, 2, 4)},
    {0},
};

static const char *const entries[] = {"tmpl1", "tmpl2", "tmpl4", NULL};

static heddle_status applies(const struct work *w)
{
    int waves = BLOCK / gpu_info_of(w->device->gpu)->wave;
    if (w->option[WAVES] > waves)
        return fail(HEDDLE_NO_KERNEL, "a block of tmpl has %d waves on this device: waves=%d", waves, waves);
    return height_applies(w);
}

static int64_t waves_of(const struct work *w)
{
    const struct product *p = &w->product;
    int64_t wave = gpu_info_of(w->device->gpu)->wave, waves = 1, most = BLOCK / wave,
            slices = p->dim[TMPL_SLICES];
    int64_t room = gpu_threads(w->device->gpu) / wave, shared = p->nnz - p->dim[TMPL_ENTRIES];
    if (w->option[WAVES])
        return w->option[WAVES];
    while (2 * waves <= most && 2 * waves * slices <= room && shared >= 2 * waves * EACH * slices * wave)
        waves *= 2;
    return waves;
}

static heddle_status launch(const struct work *w)
{
    int64_t waves = waves_of(w);
    return launch_tmpl(w, entries[waves / 2], waves, 1);
}

const struct kernel tmpl = {
    .name = "tmpl",
    .id = KERNEL_tmpl,
    .format = FORMAT_tmpl,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle's own: rows share their lists of (column - row)",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .applies = applies,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
