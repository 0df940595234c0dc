/* SPDX-License-Identifier: MIT
 *
 * tmplv: one thread a row, of rows that share a template and its values; neither columns nor values are read.
 *
 * Computes   y = alpha A x + beta y,  A in TMPLV (src/format/tmplv.c).
 * Source     Heddle's own: what a stencil code does, found in a matrix.
 * Balance    a wave has EACH slices, of which most have the same template: a value of it that is read once is
 *            multiplied with as many x.  The rest as tmpl.
 * Memory     x and y, 2 bytes a row and 16 a slice; templates and their values stay in the cache.
 * Wins       constant coefficients on a grid, patterns of ones on a lattice: several times fewer bytes than
 *            any storage with values.
 * Loses      values that differ from row to row, of which the rest is made.  For plans whose values are fixed
 *            alone.
 * Order      that of storage, rows of the rest in a fixed tree: bitwise repeatable.
 */
#include "kernel/tmpl.h"

/* Slices of a wave, which follow one another. */
#define EACH 4

#ifdef HEDDLE_DEVICE

#define UNDER_WAY 4 /* entries of a template */

/* Adds up a template for the rows of some slices that have it.  What lies behind its end is its first
 * entry once more, and is not added. */
DEVICE void add_template(const struct product *p, const int64_t *row, real *sum, const int slices,
                         const uint32_t *of)
{
    const int32_t *offset = (const int32_t *)p->array[TMPL_OFFSET] + of[TMPL_AT_OFFSET];
    const elem *val = (const elem *)p->array[TMPL_VAL] + of[TMPL_AT_OFFSET];
    const real *x = (const real *)p->x;
    const int length = (int)of[TMPL_AT_LENGTH];
    SIMT_ROLLED
    for (int k = 0; k < length; k += UNDER_WAY) {
        int32_t o[UNDER_WAY];
        elem v[UNDER_WAY];
        real g[UNDER_WAY][EACH];
        for (int i = 0; i < UNDER_WAY; i++) {
            o[i] = simt_readonly(offset + (k + i < length ? k + i : 0));
            v[i] = simt_readonly(val + (k + i < length ? k + i : 0));
        }
        for (int i = 0; i < UNDER_WAY; i++)
            for (int j = 0; j < slices; j++)
                g[i][j] = simt_readonly(x + row[j] + o[i]);
        for (int i = 0; i < UNDER_WAY; i++)
            for (int j = 0; j < slices; j++)
                sum[j] += k + i < length ? term(p, v[i], g[i][j]) : 0;
    }
}

KERNEL_RESIDENT(tmplv, BLOCK, sizeof(real) == 16 ? 2 : 6)(struct product p)
{
    const int64_t block = p.first + simt_block_id() - p.fact[REST_BLOCKS], slices = p.dim[TMPL_SLICES];
    const int64_t first = (block * (BLOCK / WAVE) + simt_wave_id()) * EACH;
    uint32_t of[EACH][TMPL_MEMBERS], place[EACH];
    int64_t row[EACH];
    real sum[EACH];
    int alike = 1;
    if (block < 0)
        multiply_rest(&p, (block + p.fact[REST_BLOCKS]) * BLOCK + simt_thread_id());
    if (block < 0 || first >= slices)
        return;
    for (int i = 0; i < EACH; i++) {
        const int64_t slice = first + i < slices ? first + i : first;
        simt_load4(of[i], (const uint32_t *)p.array[TMPL_SLICE] + TMPL_MEMBERS * slice);
        place[i] = simt_stream((const uint16_t *)p.array[TMPL_ROW] + slice * WAVE + simt_lane());
    }
    for (int i = 0; i < EACH; i++) {
        row[i] = of[i][TMPL_AT_WINDOW] + (place[i] & (TMPL_WINDOW - 1));
        sum[i] = 0;
        alike &= of[i][TMPL_AT_OFFSET] == of[0][TMPL_AT_OFFSET];
    }
    if (alike)
        add_template(&p, row, sum, EACH, of[0]);
    for (int i = 0; i < EACH; i++) {
        if (!alike)
            add_template(&p, row + i, sum + i, 1, of[i]);
        if (first + i < slices && !(place[i] & TMPL_OFF))
            store_sum(&p, row[i], sum[i]);
    }
}

#else
/* The option of the format, where slice=0 is the width of a wave (convert.c). */
static const struct option options[] = {
    {"slice", 0, VALUES(0, 32, 64)},
    {0},
};

static heddle_status launch(const struct work *w)
{
    return launch_tmpl(w, "tmplv", 1, EACH);
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
