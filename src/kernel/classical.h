/* SPDX-License-Identifier: MIT
 *
 * classical.h: a group of lanes a row, as many as the longest row can use (ginkgo-race-2020 Alg. 2);
 * csr_classical and csr_ginkgo include it.  Host half: `classical_prepare` decides, `classical_launch`
 * runs one of two kernels of the page, whose bodies are `classical(&p, 1)` and `classical(&p,
 * CLASSICAL_ROWS)`. */
#ifndef KERNEL_CLASSICAL_H
#define KERNEL_CLASSICAL_H

/* In product.fact: the longest row, 0 as long as nobody has looked; how many lanes a row gets; how many
 * rows a group has under way, 1 or CLASSICAL_ROWS. */
enum { CLASSICAL_LONGEST, CLASSICAL_LANES, CLASSICAL_AT_ONCE };
#define CLASSICAL_ROWS 4

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* One lane's part of a row. */
struct strand {
    const idx *col;
    const real *val;
    off left; /* the lane's first entry and all of the row behind it; 0 or less: it has none */
};

/* A row behind the end is empty. */
DEVICE struct strand strand_of(const struct product *p, int64_t row, int lane)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    struct strand s = {(const idx *)p->array[CSR_COL], (const real *)p->array[CSR_VAL], 0};
    if (row < p->rows) {
        const off begin = simt_readonly(row_ptr + row);
        s.left = simt_readonly(row_ptr + row + 1) - begin - lane;
        s.col += (int64_t)begin + lane;
        s.val += (int64_t)begin + lane;
    }
    return s;
}

/* The lanes of a group add up `rows` sums, and each lane ends with those of some of the rows, from sum[0]
 * on: as long as there are several, a lane gives one half of them away for the other half of its
 * partner's, which takes a third of the exchanges of one tree a row.  Lane l ends with the rows from l *
 * rows / lanes on. */
DEVICE void fold(real *sum, const int rows, const int lanes)
{
    int count = rows;
    for (int by = lanes / 2; by > 0; by /= 2) {
        const int upper = (simt_lane() & by) != 0;
        if (count > 1) {
            count /= 2;
            for (int i = 0; i < count; i++) {
                const real away = upper ? sum[i] : sum[i + count];
                sum[i] = (upper ? sum[i + count] : sum[i]) + simt_shfl_xor(away, by, WAVE);
            }
        } else {
            sum[0] += simt_shfl_xor(sum[0], by, WAVE);
        }
    }
}

/* The sums of the strands.  The first entries of all of them are under way together. */
DEVICE void strand_sums(real *sum, struct strand *strand, const real *RESTRICT x, const int rows,
                        const int lanes)
{
    idx col[CLASSICAL_ROWS];
    for (int i = 0; i < rows; i++) {
        col[i] = strand[i].left > 0 ? simt_readonly(strand[i].col) : 0;
        sum[i] = strand[i].left > 0 ? simt_readonly(strand[i].val) : 0;
    }
    for (int i = 0; i < rows; i++) /* not 0 times x: that may be Inf */
        sum[i] = strand[i].left > 0 ? sum[i] * simt_readonly(x + col[i]) : 0;
    for (int i = 0; i < rows; i++)
        for (strand[i].left -= lanes; strand[i].left > 0; strand[i].left -= lanes) {
            strand[i].col += lanes;
            strand[i].val += lanes;
            sum[i] += simt_readonly(strand[i].val) * simt_readonly(x + simt_readonly(strand[i].col));
        }
}

/* Each wave takes rows * WAVE / lanes neighbouring rows at a time, of which a group has every so many-th:
 * neighbouring groups read neighbouring rows.  All lanes stay until the wave is done, so that the shuffles
 * always have all of it; a partner less than `lanes` away is of the same group.  Where all rows of a wave
 * are empty, nothing is exchanged. */
DEVICE void rows_by_lanes(const struct product *p, const int lanes, const int rows)
{
    const real alpha = alpha_given(p), beta = beta_given(p);
    const int lane = simt_lane() % lanes, group = simt_lane() / lanes, groups = WAVE / lanes;
    const int kept = rows > lanes ? rows / lanes : 1, alike = lanes > rows ? lanes / rows : 1;
    for (int64_t base = simt_global_id() / WAVE * (groups * rows); base < p->rows;
         base += simt_global_size() / WAVE * (groups * rows)) {
        struct strand strand[CLASSICAL_ROWS];
        real sum[CLASSICAL_ROWS];
        int busy = 0;
        for (int i = 0; i < rows; i++) {
            strand[i] = strand_of(p, base + i * groups + group, lane);
            busy |= strand[i].left > 0;
            sum[i] = 0;
        }
        if (simt_any(busy)) {
            strand_sums(sum, strand, (const real *)p->x, rows, lanes);
            fold(sum, rows, lanes);
        }
        for (int i = 0; i < kept; i++) {
            const int64_t row = base + (lane * rows / lanes + i) * groups + group;
            if (lane % alike == 0 && row < p->rows)
                store_given(p, alpha, beta, row, sum[i]);
        }
    }
}

/* One kernel for all widths: the same way for the whole grid, and within it every loop over lanes and rows
 * is unrolled. */
DEVICE void classical(const struct product *p, const int rows)
{
    switch ((int)p->fact[CLASSICAL_LANES]) {
    case 1:
        rows_by_lanes(p, 1, rows);
        break;
    case 2:
        rows_by_lanes(p, 2, rows);
        break;
    case 4:
        rows_by_lanes(p, 4, rows);
        break;
    case 8:
        rows_by_lanes(p, 8, rows);
        break;
    case 16:
        rows_by_lanes(p, 16, rows);
        break;
    case 32:
        rows_by_lanes(p, 32, rows);
        break;
    default: /* 64, on devices that have them */
        rows_by_lanes(p, WAVE, rows);
    }
}

#else
#include "convert/convert.h"
#include "kernel/kernel.h"

/* Its own CSR arrays, for the services that look at a matrix before its products. */
static inline struct csr work_csr(const struct work *w)
{
    const struct product *p = &w->product;
    const heddle_type offset[VARIANT_COUNT] = {
#define VARIANT(name, elem, real, off, value, offset) offset,
#include "matrix/variants.def"
#undef VARIANT
    };
    return (struct csr){.rows = p->rows,
                        .cols = p->cols,
                        .nnz = p->nnz,
                        .value = w->value,
                        .offset = offset[w->variant],
                        .row_ptr = (void *)(uintptr_t)p->array[CSR_ROW_PTR],
                        .col = (void *)(uintptr_t)p->array[CSR_COL],
                        .val = (void *)(uintptr_t)p->array[CSR_VAL]};
}

/* Finds the longest row. */
static inline heddle_status classical_longest(struct work *w)
{
    heddle_lengths lengths;
    struct csr A = work_csr(w);
    heddle_status status = device_row_lengths(w->device, &lengths, &A);
    if (status == HEDDLE_OK)
        w->product.fact[CLASSICAL_LONGEST] = lengths.longest;
    return status;
}

/* The largest power of two that neither the longest row nor the wave falls short of. */
static inline int64_t classical_lanes(const struct work *w, int64_t longest)
{
    int64_t lanes = 1, wave = gpu_info_of(w->device->gpu)->wave;
    while (2 * lanes <= wave && 2 * lanes <= longest)
        lanes *= 2;
    return lanes;
}

/* Several rows at once as long as that leaves no place on the device empty, and no row keeps its lanes
 * busy by itself. */
static inline int64_t classical_at_once(const struct work *w, int64_t lanes)
{
    int64_t threads = w->product.rows * lanes / CLASSICAL_ROWS;
    int are_short = w->product.nnz / w->product.rows <= CLASSICAL_ROWS * lanes;
    return threads >= gpu_threads(w->device->gpu) && are_short ? CLASSICAL_ROWS : 1;
}

/* `lanes` and `at_once` as the options say, 0 for the rules above; without an option the rows are looked
 * at. */
static inline heddle_status classical_prepare(struct work *w, int64_t lanes, int64_t at_once)
{
    heddle_status status = HEDDLE_OK;
    int64_t *fact = w->product.fact;
    if (!lanes && !fact[CLASSICAL_LONGEST])
        TRY(classical_longest(w));
    fact[CLASSICAL_LANES] = lanes ? lanes : classical_lanes(w, fact[CLASSICAL_LONGEST]);
    fact[CLASSICAL_AT_ONCE] = at_once ? at_once : classical_at_once(w, fact[CLASSICAL_LANES]);
done:
    return status;
}

/* `one` has a row a group under way, `several` CLASSICAL_ROWS: fewer registers, or more loads. */
static inline heddle_status classical_launch(const struct work *w, const char *one, const char *several)
{
    int64_t at_once = w->product.fact[CLASSICAL_AT_ONCE], rows = (w->product.rows + at_once - 1) / at_once;
    return gpu_run_over(w, at_once > 1 ? several : one, rows * w->product.fact[CLASSICAL_LANES]);
}

#endif
#endif
