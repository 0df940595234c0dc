/* SPDX-License-Identifier: MIT
 *
 * tmpl.h: what tmpl and tmplv share: slices of rows with one template, and the rest. */
#ifndef KERNEL_TMPL_H
#define KERNEL_TMPL_H

#define BLOCK 128 /* threads */

/* What launch tells: blocks of the rest, which come first, and lanes that share one of its rows. */
enum { REST_BLOCKS, REST_LANES };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

#define LOADS (sizeof(real) == 16 ? 4 : 8) /* of a row, under way at a time */

/* Where a lane is in its slice: `waves` waves share it, each with a part of the entries of every row. */
struct lane {
    int64_t row;
    real sum;
    int is_row;
};

/* Lanes without a row follow that of the slice's first, with values of 0, and keep what they find to
 * themselves. */
DEVICE struct lane sum_slice(const struct product *p, int64_t slice, int part, const int waves)
{
    struct lane mine;
    const uint32_t *at = (const uint32_t *)p->array[TMPL_SLICE] + TMPL_MEMBERS * slice;
    uint32_t of[TMPL_MEMBERS];
    simt_load4(of, at);
    const uint32_t place = simt_stream((const uint16_t *)p->array[TMPL_ROW] + slice * WAVE + simt_lane());
    const elem *val = (const elem *)p->array[TMPL_VAL];
    const int32_t *offset = (const int32_t *)p->array[TMPL_OFFSET] + of[TMPL_AT_OFFSET];
    const int64_t row = of[TMPL_AT_WINDOW] + (place & (TMPL_WINDOW - 1));
    const real *x = (const real *)p->x + row;
    const int from = part * (int)of[TMPL_AT_LENGTH] / waves;
    int left = (part + 1) * (int)of[TMPL_AT_LENGTH] / waves - from;
    real sum = 0;
    val += ((int64_t)of[TMPL_AT_VAL] + from) * WAVE + simt_lane();
    offset += from;
    SIMT_ROLLED
    for (; left >= LOADS; left -= LOADS) {
        int32_t o[LOADS];
        elem v[LOADS];
        for (int k = 0; k < LOADS; k++) {
            v[k] = simt_stream(val + k * WAVE);
            o[k] = simt_readonly(offset + k);
        }
        for (int k = 0; k < LOADS; k++)
            sum += term(p, v[k], simt_readonly(x + o[k]));
        val += LOADS * WAVE;
        offset += LOADS;
    }
    int32_t o[LOADS] = {0};
    elem v[LOADS] = {0};
    real of_x[LOADS] = {0};
    for (int k = 0; k < LOADS - 1; k++)
        if (k < left) {
            v[k] = simt_stream(val + k * WAVE);
            o[k] = simt_readonly(offset + k);
        }
    for (int k = 0; k < LOADS - 1; k++)
        if (k < left)
            of_x[k] = simt_readonly(x + o[k]);
    for (int k = 0; k < LOADS - 1; k++)
        sum += term(p, v[k], of_x[k]);
    mine.row = row;
    mine.sum = sum;
    mine.is_row = !(place & TMPL_OFF);
    return mine;
}

/* The waves of a block have a slice each, or share one: then the first sums up what they found, always in the
 * same order. */
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
        store_sum(p, mine.row, mine.sum);
}

/* Groups of lanes behind the last row have an empty one. */
DEVICE void multiply_rest(const struct product *p, int64_t thread)
{
    const int lanes = (int)p->fact[REST_LANES];
    const int64_t i = thread / lanes, *ptr = (const int64_t *)p->array[TMPL_REST_PTR];
    const int is_row = i < p->dim[TMPL_REST];
    const int64_t begin = is_row ? simt_readonly(ptr + i) : 0, end = is_row ? simt_readonly(ptr + i + 1) : 0;
    const idx *col = (const idx *)p->array[TMPL_REST_COL];
    const elem *val = (const elem *)p->array[TMPL_REST_VAL];
    const real *x = (const real *)p->x;
    real sum = 0;
    for (int64_t k = begin + thread % lanes; k < end; k += lanes)
        sum += term(p, simt_stream(val + k), simt_readonly(x + simt_stream(col + k)));
    sum = wave_sum(sum, lanes);
    if (is_row && thread % lanes == 0)
        store_sum(p, simt_readonly((const int32_t *)p->array[TMPL_REST_ROW] + i), sum);
}

DEVICE void multiply(const struct product *p, const int waves)
{
    const int64_t block = p->first + simt_block_id() - p->fact[REST_BLOCKS];
    if (block < 0)
        multiply_rest(p, (block + p->fact[REST_BLOCKS]) * BLOCK + simt_thread_id());
    else
        multiply_slices(p, block * (BLOCK / WAVE / waves), waves);
}

#else
#include "kernel/kernel.h"

static heddle_status height_applies(const struct work *w)
{
    int wave = gpu_info_of(w->device->gpu)->wave;
    if (w->product.dim[TMPL_HEIGHT] == wave)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL, "a slice is as high as a wave of this device is wide: slice=%d", wave);
}

/* `waves` waves share a slice, or one has `each`.  A grid has its limits; there are at most two launches,
 * and mostly one. */
static heddle_status launch_tmpl(const struct work *w, const char *entry, int64_t waves, int64_t each)
{
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work part = *w;
    struct product *p = &part.product;
    int64_t lanes = 1, rest = p->dim[TMPL_REST], slices = BLOCK / info->wave * each / waves;
    while (lanes < info->wave && 2 * lanes * rest < p->dim[TMPL_ENTRIES])
        lanes *= 2;
    p->fact[REST_LANES] = lanes;
    p->fact[REST_BLOCKS] = (rest * lanes + BLOCK - 1) / BLOCK;
    int64_t blocks = p->fact[REST_BLOCKS] + (p->dim[TMPL_SLICES] + slices - 1) / slices;
    return gpu_run_blocks(&part, (struct launch){entry, blocks, BLOCK, 0});
}
#endif

#endif
