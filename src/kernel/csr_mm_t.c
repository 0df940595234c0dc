/* SPDX-License-Identifier: MIT
 *
 * csr_mm_t: the transposed product with several vectors from plain CSR, for any matrix.
 *
 * Computes   Y = alpha Aᵀ X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     Heddle; row blocks are those of csr_weft.
 * Balance    a block of threads has a row block of the look and a tile of the vectors (mm.h): each row has a
 *            group of lanes, one that is long for it the whole block.
 * Memory     a lane has a vector, so that the additions of an entry go to neighbours: L2 does about five
 *            times as many of those as of such all over Y.  Where the vectors of Y lie apart (by columns),
 *            they are added up side by side in the workspace and brought to Y in the end, which moves
 *            their bytes four times more, but each addition is to a neighbour.
 * Wins       everywhere against one product after another.
 * Loses      against csr_mm of an explicit transpose, which adds nothing in L2.
 * Order      that of arrival: not repeatable.
 */
#include "kernel/mm.h"

#define LANES_MOST 32

#ifdef HEDDLE_DEVICE

/* Adds some of them, from the q-th of its slot on, to a vector whose number of X is x. */
DEVICE void add_some(const struct product *p, const struct handful *e, int q, int64_t v, real x,
                     struct place at, const int lanes)
{
    const int group = 1 << at.shift;
    for (int b = 0; b < UNDER_WAY; b++) {
        const int round = lanes < UNDER_WAY ? b / lanes : 0, i = (q + b) % lanes * at.slots + at.slot;
        const idx column = lanes == 1 ? e->column[round] : simt_shfl(e->column[round], i, group);
        const real value = lanes == 1 ? e->value[round] : simt_shfl(e->value[round], i, group);
        if (round * group + i < e->left && v < p->vectors)
            simt_atomic_add((real *)p->y + column * p->y_step.entry + v, times(value, x));
    }
}

/* A thread's share of n entries of a row.  A group comes here together. */
DEVICE void add_share(const struct product *p, int64_t from, int n, int64_t v, real x, struct place at,
                      const int lanes)
{
    SIMT_ROLLED
    for (int k = 0; k < n; k += TAKEN(lanes) << at.shift) {
        const struct handful e = take(p, from + k, n - k, at, lanes);
        if (lanes > UNDER_WAY) {
            SIMT_ROLLED
            for (int q = 0; q < lanes; q += UNDER_WAY)
                add_some(p, &e, q, v, x, at, lanes);
        } else {
            add_some(p, &e, 0, v, x, at, lanes);
        }
    }
}

DEVICE real factor(const struct product *p, int64_t row, int64_t v)
{
    if (v >= p->vectors)
        return 0;
    return times(alpha_of(p),
                 simt_readonly((const real *)p->x + row * p->x_step.entry + v * p->x_step.vector));
}

/* All threads of the block share n entries of one row. */
DEVICE void add_by_block(const struct product *p, int64_t row, int64_t from, int n, int64_t tile,
                         const int lanes)
{
    const struct place at = place_in(wave_shift(), lanes);
    int begin;
    const int mine = wave_share(n, &begin);
    add_share(p, from + begin, mine, tile + at.lane, factor(p, row, tile + at.lane), at, lanes);
}

DEVICE void several_rows(const struct product *p, struct row_block mine, struct row_block next, int64_t tile,
                         const int lanes)
{
    SHARED(struct long_rows, longs, 1);
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    const struct place at = place_in(group_shift(mine, lanes), lanes);
    const int rows = next.row - mine.row, groups = BLOCK >> at.shift;
    const int64_t v = tile + at.lane;
    if (simt_thread_id() == 0)
        longs->count = 0;
    simt_sync();
    SIMT_ROLLED
    for (int row = simt_thread_id() >> at.shift; row < rows; row += groups) {
        const off begin = simt_readonly(row_ptr + row);
        const int n = (int)(simt_readonly(row_ptr + row + 1) - begin);
        if (n <= LONG * at.slots)
            add_share(p, begin, n, v, n > 0 ? factor(p, mine.row + row, v) : (real)0, at, lanes);
        else if (at.slot == 0 && at.lane == 0)
            longs->row[simt_atomic_add(&longs->count, 1)] = row;
    }
    simt_sync();
    SIMT_ROLLED
    for (int i = 0; i < longs->count; i++) {
        const int64_t row = longs->row[i], from = row_ptr[row];
        add_by_block(p, mine.row + row, from, (int)(row_ptr[row + 1] - from), tile, lanes);
    }
}

DEVICE void add_all(const struct product *p, const int lanes)
{
    const int64_t number = p->first + simt_block_id(), tile = number % p->dim[MM_TILES] * lanes;
    const struct row_block *RESTRICT block =
        (const struct row_block *)p->prepared + number / p->dim[MM_TILES];
    const struct row_block mine = block[0], next = block[1];
    if (adds_nothing(alpha_of(p)))
        return;
    if (mine.work > 0)
        several_rows(p, mine, next, tile, lanes);
    else
        add_by_block(p, mine.row, mine.begin, (int)(next.begin - mine.begin), tile, lanes);
}

#define RESIDENT (sizeof(real) + sizeof(off) == 8 ? 5 : 4)
#define LANES_OF(name, lanes)                                                                                \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT)(struct product p)                                                 \
    {                                                                                                        \
        add_all(&p, lanes);                                                                                  \
    }
LANES_OF(csr_mm_t1, 1)
LANES_OF(csr_mm_t2, 2)
LANES_OF(csr_mm_t4, 4)
LANES_OF(csr_mm_t8, 8)
LANES_OF(csr_mm_t16, 16)
LANES_OF(csr_mm_t32, 32)

#else
#include "convert/service.h"

static const char *const entries[] = {"csr_mm_t1",  "csr_mm_t2",  "csr_mm_t4", "csr_mm_t8",
                                      "csr_mm_t16", "csr_mm_t32", NULL};

/* Y side by side, where its vectors lie apart. */
static int64_t workspace(const struct work *w)
{
    const struct product *p = &w->product;
    return p->y_step.vector == 1
             ? 0
             : p->cols * mm_smaller(p->vectors, VECTORS_MOST) * (int64_t)vector_size(w->value);
}

static struct relayout scaling(const struct work *w)
{
    const struct product *p = &w->product;
    return (struct relayout){.n = p->cols,
                             .vectors = p->vectors,
                             .to = p->y,
                             .to_step = p->y_step,
                             .beta = scalar_get(p->beta, w->value),
                             .beta_at = beta_at(w)};
}

static heddle_status launch_some(struct work *w)
{
    heddle_status status = HEDDLE_OK;
    struct product *p = &w->product;
    struct relayout before = scaling(w), behind = before;
    const int is_apart = p->y_step.vector != 1;
    int i = 0;
    while (1 << i < p->vectors && 1 << i < LANES_MOST)
        i++;
    if (is_apart) {
        p->y = p->workspace;
        p->y_step = (struct steps){p->vectors, 1};
        before = (struct relayout){.n = p->cols, .vectors = p->vectors, .to = p->y, .to_step = p->y_step};
    }
    TRY(gpu_relayout(w->device, w->value, &before));
    TRY(mm_launch(w, entries[i], (int64_t)1 << i));
    if (is_apart) {
        behind.from = p->y;
        behind.from_step = p->y_step;
        TRY(gpu_relayout(w->device, w->value, &behind));
    }
done:
    return status;
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    if (w->product.fact[LOOK_BAD])
        return look_refused();
    for (int64_t first = 0; first < w->product.vectors; first += VECTORS_MOST) {
        struct work some = mm_some(w, first);
        TRY(launch_some(&some));
    }
done:
    return status;
}

const struct kernel csr_mm_t = {
    .name = "csr_mm_t",
    .id = KERNEL_csr_mm_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .many = 1,
    .repeatable = 0,
    .entries = entries,
    .workspace = workspace,
    .held = look_held,
    .prepare = look_prepare,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
