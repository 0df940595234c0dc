/* SPDX-License-Identifier: MIT
 *
 * limits: what a product is made of, one thing at a time (limits.h).  What products are measured against,
 * beside read_all.
 *
 * Computes   sums that are written only if they are negative, which what is read rules out; copies;
 *            additions of 1.
 * Balance    a grid that fills the device, each thread in strides of the grid.
 * Memory     one element a lane, coalesced, UNDER_WAY of them under way a thread, as in a kernel that
 *            reads columns and values; indices are streamed, x is read through all caches.  Targets of
 *            additions are computed, not read.
 * Order      no results, but those of the copy and of the additions, which are whole numbers.
 */
#include "convert/limits.h"

#define BLOCK 256
#ifdef HEDDLE_DEVICE

#define UNDER_WAY 8

/* Keeps the loads from being left out. */
DEVICE void use(const struct product *p, real sum)
{
    if (sum < 0)
        *(real *)p->y = sum;
}

KERNEL(limits_read)(struct product p)
{
    const real *RESTRICT x = (const real *)p.x;
    const int64_t step = simt_global_size();
    int64_t i = simt_global_id();
    real sum = 0, a[UNDER_WAY];
    for (; i + (UNDER_WAY - 1) * step < p.nnz; i += UNDER_WAY * step) {
        for (int j = 0; j < UNDER_WAY; j++)
            a[j] = simt_stream(x + i + j * step);
        for (int j = 0; j < UNDER_WAY; j++)
            sum += a[j];
    }
    for (; i < p.nnz; i += step)
        sum += simt_stream(x + i);
    use(&p, sum);
}

KERNEL(limits_copy)(struct product p)
{
    const real *RESTRICT x = (const real *)p.x;
    real *RESTRICT y = (real *)p.y;
    const int64_t step = simt_global_size();
    int64_t i = simt_global_id();
    real a[UNDER_WAY];
    for (; i + (UNDER_WAY - 1) * step < p.nnz; i += UNDER_WAY * step) {
        for (int j = 0; j < UNDER_WAY; j++)
            a[j] = simt_stream(x + i + j * step);
        for (int j = 0; j < UNDER_WAY; j++)
            y[i + j * step] = a[j];
    }
    for (; i < p.nnz; i += step)
        y[i] = simt_stream(x + i);
}

/* array[0]: the indices. */
KERNEL(limits_gather)(struct product p)
{
    const real *RESTRICT x = (const real *)p.x;
    const idx *RESTRICT index = (const idx *)p.array[0];
    const int64_t step = simt_global_size();
    int64_t i = simt_global_id();
    real sum = 0, a[UNDER_WAY];
    idx at[UNDER_WAY];
    for (; i + (UNDER_WAY - 1) * step < p.nnz; i += UNDER_WAY * step) {
        for (int j = 0; j < UNDER_WAY; j++)
            at[j] = simt_stream(index + i + j * step);
        for (int j = 0; j < UNDER_WAY; j++)
            a[j] = simt_readonly(x + at[j]);
        for (int j = 0; j < UNDER_WAY; j++)
            sum += a[j];
    }
    for (; i < p.nnz; i += step)
        sum += simt_readonly(x + simt_stream(index + i));
    use(&p, sum);
}

/* cols: the entries of y; fact[0]: the pattern. */
KERNEL(limits_add)(struct product p)
{
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        simt_atomic_add((real *)p.y + limit_target(k, p.cols, p.fact[0]), (real)1);
}

KERNEL(limits_indices)(struct product p)
{
    SIMT_ROLLED
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size())
        ((idx *)p.y)[k] = (idx)limit_target(k, p.cols, p.fact[0]);
}

KERNEL(limits_nothing)(struct product p)
{
    use(&p, 0);
}

#else
#include "base/thread.h"
#include "run/launch.h"

#define BLOCKS_EACH 16 /* a multiprocessor: as many threads as any of them holds, twice over */

#define VARIANT(name, elem, real, off, value, offset)                                                        \
    extern const struct limit_functions limit_functions__##name;
#include "matrix/variants.def"
#undef VARIANT
static const struct limit_functions *const functions[VARIANT_COUNT] = {
#define VARIANT(name, elem, real, off, value, offset) &limit_functions__##name,
#include "matrix/variants.def"
#undef VARIANT
};

int64_t limit_blocks(const struct device *d)
{
    return d->kind == DEVICE_cpu ? 1 : (int64_t)gpu_info_of(d->gpu)->multiprocessors * BLOCKS_EACH;
}

static heddle_status run_on_gpu(const struct device *d, const struct limit_work *w, const char *entry)
{
    struct work work = {
        .page = "limits", .device = d, .variant = variant_of(w->value, HEDDLE_I32), .value = w->value};
    int64_t blocks = (w->count + BLOCK - 1) / BLOCK, most = limit_blocks(d);
    work.product = (struct product){.cols = w->span, .nnz = w->count, .x = w->x, .y = w->y};
    work.product.array[0] = w->index;
    work.product.fact[0] = w->pattern;
    if (w->loop == LIMIT_NOTHING)
        blocks = w->count;
    return gpu_run(&work, entry, blocks < most ? blocks : most, BLOCK, 0);
}

static void run_part(void *argument, const struct team *team)
{
    const struct limit_work *w = argument;
    if (w->loop < LIMIT_ADD)
        functions[variant_of(w->value, HEDDLE_I32)]->loop[w->loop](w, team);
}

heddle_status limit_run(const struct device *d, const struct limit_work *w)
{
    static const char *const entries[] = {[LIMIT_READ] = "limits_read",
                                          [LIMIT_COPY] = "limits_copy",
                                          [LIMIT_GATHER] = "limits_gather",
                                          [LIMIT_ADD] = "limits_add",
                                          [LIMIT_NOTHING] = "limits_nothing"};
    struct limit_work own = *w;
    if (d->kind == DEVICE_gpu)
        return run_on_gpu(d, w, entries[w->loop]);
    team_run(d->threads, run_part, &own);
    return HEDDLE_OK;
}

struct limit_indices {
    int32_t *index;
    int64_t count, span;
    enum limit_pattern pattern;
};

static void fill_part(void *argument, const struct team *team)
{
    const struct limit_indices *n = argument;
    int64_t end = part_begin(n->count, team->thread + 1, team->threads);
    for (int64_t k = part_begin(n->count, team->thread, team->threads); k < end; k++)
        n->index[k] = (int32_t)limit_target(k, n->span, n->pattern);
}

heddle_status limit_indices(const struct device *d, int32_t *index, int64_t count, int64_t span,
                            enum limit_pattern pattern)
{
    struct limit_indices n = {index, count, span, pattern};
    struct limit_work w = {.value = HEDDLE_F32, .count = count, .span = span, .pattern = pattern, .y = index};
    if (d->kind == DEVICE_gpu)
        return run_on_gpu(d, &w, "limits_indices");
    team_run(d->threads, fill_part, &n);
    return HEDDLE_OK;
}
#endif
