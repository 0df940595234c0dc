/* SPDX-License-Identifier: MIT
 *
 * tmpl: one thread a row, of rows that share a template; no columns are read.
 *
 * Computes   y = alpha A x + beta y,  A in TMPL (src/format/tmpl.c).
 * Source     Heddle's own.  Diagonal storage (Bell and Garland 2009) is the case of one template for all rows.
 * Balance    a slice of as many rows as a wave has lanes, all of one length, is the work of a wave, or of `waves` waves, which then
 *            have a part of each row and add up through shared memory: for fewer slices than the device has room for.  What is left
 *            over, short of a slice or without a template, is done by other blocks of the same launch, some lanes a row.
 * Memory     values are read once, coalesced and streamed, LOADS of a row under way at a time; 16 bytes a slice and 2 a row say whose
 *            they are.  Templates stay in the cache; neighbours read neighbouring x.  Values wait for the slice, x for its template:
 *            three loads, one behind the other, however long the rows.
 * Wins       grids, lattices, images: 4 bytes an entry in single and 8 in double precision.
 * Loses      rows that do not share, of which the rest is made; very long rows among those, as a wave has each.
 * Order      that of storage, rows of the rest in a fixed tree: bitwise repeatable.
 */
#define BLOCK 128 /* threads */

/* What launch tells: blocks of the rest, which come first, and lanes that share one of its rows. */
enum { REST_BLOCKS, REST_LANES };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

#define LOADS 8 /* of a row, under way at a time */

/* Where a lane is in its slice: `waves` waves share it, each with a part of the entries of every row. */
struct lane {
    int64_t row;
    real sum;
    int is_row;
};

/* Lanes without a row follow that of the slice's first, with values of 0, and keep what they find to themselves. */
DEVICE struct lane sum_slice(const struct product *p, int64_t slice, int part, const int waves)
{
    struct lane mine;
    const uint32_t *at = (const uint32_t *)p->array[TMPL_SLICE] + TMPL_MEMBERS * slice;
    uint32_t of[TMPL_MEMBERS];
    simt_load4(of, at);
    const uint32_t place = simt_stream((const uint16_t *)p->array[TMPL_ROW] + slice * WAVE + simt_lane());
    const real *val = (const real *)p->array[TMPL_VAL] + (int64_t)of[TMPL_AT_VAL] * WAVE + simt_lane();
    const int32_t *offset = (const int32_t *)p->array[TMPL_OFFSET] + of[TMPL_AT_OFFSET];
    const int64_t row = of[TMPL_AT_WINDOW] + (place & (TMPL_WINDOW - 1));
    const real *x = (const real *)p->x + row;
    const int from = part * (int)of[TMPL_AT_LENGTH] / waves;
    int left = (part + 1) * (int)of[TMPL_AT_LENGTH] / waves - from;
    real sum = 0;
    val += from * WAVE;
    offset += from;
    SIMT_ROLLED
    for (; left >= LOADS; left -= LOADS) {
        int32_t o[LOADS];
        real v[LOADS];
        for (int k = 0; k < LOADS; k++) {
            v[k] = simt_stream(val + k * WAVE);
            o[k] = simt_readonly(offset + k);
        }
        for (int k = 0; k < LOADS; k++)
            sum += v[k] * simt_readonly(x + o[k]);
        val += LOADS * WAVE;
        offset += LOADS;
    }
    int32_t o[LOADS] = {0};
    real v[LOADS] = {0}, of_x[LOADS] = {0};
    for (int k = 0; k < LOADS - 1; k++)
        if (k < left) {
            v[k] = simt_stream(val + k * WAVE);
            o[k] = simt_readonly(offset + k);
        }
    for (int k = 0; k < LOADS - 1; k++)
        if (k < left)
            of_x[k] = simt_readonly(x + o[k]);
    for (int k = 0; k < LOADS - 1; k++)
        sum += v[k] * of_x[k];
    mine.row = row;
    mine.sum = sum;
    mine.is_row = !(place & TMPL_OFF);
    return mine;
}

/* The waves of a block have a slice each, or share one: then the first sums up what they found, always in the same order. */
DEVICE void multiply_slices(const struct product *p, int64_t first, const int waves)
{
    const int part = simt_wave_id() % waves;
    const int64_t slice = first + simt_wave_id() / waves;
    struct lane mine = {0, 0, 0};
    if (slice < p->dim[TMPL_SLICES])
        mine = sum_slice(p, slice, part, waves);
    if (waves > 1) {
        SHARED(real, partial, BLOCK);
        partial[simt_thread_id()] = mine.sum;
        simt_sync();
        for (int k = 1; k < waves && part == 0; k++)
            mine.sum += partial[simt_thread_id() + k * WAVE];
    }
    if (mine.is_row && part == 0)
        store((real *)p->y + mine.row, scalar(p->alpha), mine.sum, scalar(p->beta));
}

/* Groups of lanes behind the last row have an empty one. */
DEVICE void multiply_rest(const struct product *p, int64_t thread)
{
    const int lanes = (int)p->fact[REST_LANES];
    const int64_t i = thread / lanes, *ptr = (const int64_t *)p->array[TMPL_REST_PTR];
    const int is_row = i < p->dim[TMPL_REST];
    const int64_t begin = is_row ? simt_readonly(ptr + i) : 0, end = is_row ? simt_readonly(ptr + i + 1) : 0;
    const idx *col = (const idx *)p->array[TMPL_REST_COL];
    const real *val = (const real *)p->array[TMPL_REST_VAL], *x = (const real *)p->x;
    real sum = 0;
    for (int64_t k = begin + thread % lanes; k < end; k += lanes)
        sum += simt_stream(val + k) * simt_readonly(x + simt_stream(col + k));
    sum = wave_sum(sum, lanes);
    if (is_row && thread % lanes == 0)
        store((real *)p->y + simt_readonly((const int32_t *)p->array[TMPL_REST_ROW] + i), scalar(p->alpha), sum, scalar(p->beta));
}

DEVICE void multiply(const struct product *p, const int waves)
{
    const int64_t block = p->first + simt_block_id() - p->fact[REST_BLOCKS];
    if (block < 0)
        multiply_rest(p, (block + p->fact[REST_BLOCKS]) * BLOCK + simt_thread_id());
    else
        multiply_slices(p, block * (BLOCK / WAVE / waves), waves);
}

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
#include "kernel/kernel.h"

/* The option of the format, where slice=0 is the width of a wave (convert.c), and how many waves share a slice (0: as many as
 * the device has room for, as long as each has EACH entries of a row). */
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
    int wave = gpu_info_of(w->device->gpu)->wave;
    if (w->option[WAVES] > BLOCK / wave)
        return fail(HEDDLE_NO_KERNEL, "a block of tmpl has %d waves on this device: waves=%d", BLOCK / wave, BLOCK / wave);
    if (w->product.dim[TMPL_HEIGHT] == wave)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL, "a slice of tmpl is as high as a wave of this device is wide: slice=%d", wave);
}

static int64_t waves_of(const struct work *w)
{
    const struct product *p = &w->product;
    int64_t wave = gpu_info_of(w->device->gpu)->wave, waves = 1, most = BLOCK / wave, slices = p->dim[TMPL_SLICES];
    int64_t room = gpu_threads(w->device->gpu) / wave, entries = p->nnz - p->dim[TMPL_ENTRIES];
    if (w->option[WAVES])
        return w->option[WAVES];
    while (2 * waves <= most && 2 * waves * slices <= room && entries >= 2 * waves * EACH * slices * wave)
        waves *= 2;
    return waves;
}

/* A grid has its limits; there are at most two launches, and mostly one. */
static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work part = *w;
    struct product *p = &part.product;
    int64_t lanes = 1, rest = p->dim[TMPL_REST], waves = waves_of(w), slices = BLOCK / info->wave / waves, most = UINT32_MAX / BLOCK;
    const char *entry = entries[waves / 2];
    while (lanes < info->wave && 2 * lanes * rest < p->dim[TMPL_ENTRIES])
        lanes *= 2;
    p->fact[REST_LANES] = lanes;
    p->fact[REST_BLOCKS] = (rest * lanes + BLOCK - 1) / BLOCK;
    int64_t blocks = p->fact[REST_BLOCKS] + (p->dim[TMPL_SLICES] + slices - 1) / slices;
    most = info->grid < most ? info->grid : most;
    for (p->first = 0; p->first < blocks; p->first += most)
        TRY(gpu_run(&part, entry, blocks - p->first < most ? blocks - p->first : most, BLOCK, 0));
done:
    return status;
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
