/* SPDX-License-Identifier: MIT
 *
 * relayout: several vectors from one layout to another, or scaled where they are.
 *
 * Computes   Y = X + beta Y, entry by entry, both by rows or by columns; without an X, Y = beta Y.
 * Source     the usual transposition by tiles in shared memory.
 * Balance    a block of threads takes a tile: TILE numbers, of as many vectors as there are, up to WIDEST.
 * Memory     X is read and Y read (unless beta = 0) and written once, each in the order in which it lies.
 * Order      bitwise repeatable.
 */
#define TILE 1024
#define WIDEST 32
#define BLOCK 256

/* product.dim: log2 of the vectors of a tile. */
enum { RELAYOUT_WIDE };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* Which number of a tile comes i-th where they lie in this order: its entry and its vector. */
struct place {
    int entry, vector;
};

DEVICE struct place place_of(int i, struct steps step, int wide)
{
    struct place at;
    if (step.vector == 1) {
        at.entry = i >> wide;
        at.vector = i & ((1 << wide) - 1);
    } else {
        at.entry = i & ((TILE >> wide) - 1);
        at.vector = i / (TILE >> wide);
    }
    return at;
}

KERNEL_BOUND(relayout, BLOCK)(struct product p)
{
    SHARED(real, tile, TILE + WIDEST);
    const real beta = beta_of(&p);
    const int wide = (int)p.dim[RELAYOUT_WIDE], tall = TILE >> wide;
    const int64_t across = (p.vectors + (1 << wide) - 1) >> wide, along = (p.rows + tall - 1) / tall;
    for (int64_t number = simt_block_id(); number < across * along; number += simt_grid_size()) {
        const int64_t j = number / across * tall, v = number % across << wide;
        for (int i = simt_thread_id(); p.x && i < TILE; i += BLOCK) {
            const struct place at = place_of(i, p.x_step, wide);
            if (j + at.entry < p.rows && v + at.vector < p.vectors)
                tile[at.vector * (tall + 1) + at.entry] = simt_stream(
                    (const real *)p.x + (j + at.entry) * p.x_step.entry + (v + at.vector) * p.x_step.vector);
        }
        simt_sync();
        for (int i = simt_thread_id(); i < TILE; i += BLOCK) {
            const struct place at = place_of(i, p.y_step, wide);
            if (j + at.entry < p.rows && v + at.vector < p.vectors) {
                real *const y =
                    (real *)p.y + (j + at.entry) * p.y_step.entry + (v + at.vector) * p.y_step.vector;
                if (p.x)
                    store(y, 1, tile[at.vector * (tall + 1) + at.entry], beta);
                else
                    scale_one(y, beta);
            }
        }
        simt_sync();
    }
}

#else
#include "convert/service.h"
#include "gpu/module.h"

heddle_status gpu_relayout_load(const struct device *d, heddle_type value)
{
    struct gpu_function *function;
    return gpu_kernel(d->gpu, &function, "relayout", variant_of(vector_type(value), HEDDLE_I32), "relayout");
}

heddle_status gpu_relayout(const struct device *d, heddle_type value, const struct relayout *r)
{
    struct work w = {.page = "relayout",
                     .device = d,
                     .variant = variant_of(vector_type(value), HEDDLE_I32),
                     .value = value};
    struct product *p = &w.product;
    int wide = 0;
    while (1 << wide < r->vectors && 1 << wide < WIDEST)
        wide++;
    const int64_t tall = TILE >> wide, across = (r->vectors + (1 << wide) - 1) >> wide,
                  tiles = across * ((r->n + tall - 1) / tall);
    *p = (struct product){.rows = r->n, .x = r->from, .y = r->to, .vectors = r->vectors};
    p->x_step = r->from_step;
    p->y_step = r->to_step;
    p->dim[RELAYOUT_WIDE] = wide;
    beta_put(&w, r->beta, r->beta_at);
    if (tiles == 0 || (!r->from && beta_is_one(&w)))
        return HEDDLE_OK;
    return gpu_run(&w, "relayout", gpu_grid(&w, tiles, BLOCK), BLOCK, 0);
}
#endif
