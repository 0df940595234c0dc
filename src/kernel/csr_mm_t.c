/* SPDX-License-Identifier: MIT
 *
 * csr_mm_t: the transposed product with several vectors from plain CSR, for any matrix.
 *
 * Computes   Y = alpha Aᵀ X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     Heddle; row blocks are those of csr_weft.
 * Balance    a block of threads has a row block of the look and a tile of the vectors (mm.h): each row has a
 *            group of lanes, one that is long for it the whole block.
 * Memory     lanes lie along the vectors, as many as numbers fill a sector of L2 (32 bytes), and where
 *            there are more vectors each lane has several, a sector apart, so that the additions of an
 *            entry go to neighbours: L2 does about five times as many of those as of such all over Y.
 *            Where the vectors of Y lie apart (by columns), they are added up side by side in the
 *            workspace and brought to Y in the end, which moves their bytes four times more, but each
 *            addition is to a neighbour.
 * Wins       everywhere against one product after another.
 * Loses      against csr_mm of an explicit transpose, which adds nothing in L2.
 * Order      that of arrival: not repeatable.
 */
#include "kernel/mm.h"

/* Lanes along the vectors: as many numbers as a sector of L2 has.  More vectors are several for each lane. */
#define SECTOR_LANES(real_bytes) ((real_bytes) >= 32 ? 1 : 32 / (int)(real_bytes))
#define TILE_MOST 32

#ifdef HEDDLE_DEVICE

/* The numbers of X that a lane has of a row, times alpha: every `lanes`-th vector from its own on. */
#define EACH_MOST 8
struct factors {
    real of[EACH_MOST];
};

DEVICE struct factors factors_of(const struct product *p, int64_t row, int64_t v, const int lanes,
                                 const int each)
{
    const real alpha = alpha_of(p);
    struct factors x;
    for (int i = 0; i < each; i++)
        x.of[i] = v + i * lanes < p->vectors
                    ? times(alpha, simt_readonly((const real *)p->x + row * p->x_step.entry +
                                                 (v + i * lanes) * p->x_step.vector))
                    : (real)0;
    return x;
}

/* Adds some of them, from the q-th of its slot on. */
DEVICE void add_some(const struct product *p, const struct handful *e, int q, int64_t v,
                     const struct factors *x, struct place at, const int lanes, const int each)
{
    const int group = 1 << at.shift;
    for (int b = 0; b < UNDER_WAY; b++) {
        const int round = lanes < UNDER_WAY ? b / lanes : 0, i = (q + b) % lanes * at.slots + at.slot;
        const idx column = lanes == 1 ? e->column[round] : simt_shfl(e->column[round], i, group);
        const real value = lanes == 1 ? e->value[round] : simt_shfl(e->value[round], i, group);
        real *const y = (real *)p->y + column * p->y_step.entry + v;
        if (round * group + i < e->left)
            for (int j = 0; j < each; j++)
                if (v + j * lanes < p->vectors)
                    simt_atomic_add(y + j * lanes, times(value, x->of[j]));
    }
}

/* A thread's share of n entries of a row.  A group comes here together. */
DEVICE void add_share(const struct product *p, int64_t row, int64_t from, int n, int64_t v, struct place at,
                      const int lanes, const int each)
{
    if (n <= 0)
        return;
    const struct factors x = factors_of(p, row, v, lanes, each);
    SIMT_ROLLED
    for (int k = 0; k < n; k += TAKEN(lanes) << at.shift) {
        const struct handful e = take(p, from + k, n - k, at, lanes);
        if (lanes > UNDER_WAY) {
            SIMT_ROLLED
            for (int q = 0; q < lanes; q += UNDER_WAY)
                add_some(p, &e, q, v, &x, at, lanes, each);
        } else {
            add_some(p, &e, 0, v, &x, at, lanes, each);
        }
    }
}

/* All threads of the block share n entries of one row. */
DEVICE void add_by_block(const struct product *p, int64_t row, int64_t from, int n, int64_t tile,
                         const int lanes, const int each)
{
    const struct place at = place_in(wave_shift(), lanes);
    int begin;
    const int mine = wave_share(n, &begin);
    add_share(p, row, from + begin, mine, tile + at.lane, at, lanes, each);
}

DEVICE void several_rows(const struct product *p, struct row_block mine, struct row_block next, int64_t tile,
                         const int lanes, const int each)
{
    SHARED(struct long_rows, longs, 1);
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    const struct place at = place_in(group_shift(mine, lanes), lanes);
    const int rows = next.row - mine.row, groups = BLOCK >> at.shift;
    const int most = longest_for((int)(next.begin - mine.begin), at, lanes);
    if (simt_thread_id() == 0)
        longs->count = 0;
    simt_sync();
    SIMT_ROLLED
    for (int row = simt_thread_id() >> at.shift; row < rows; row += groups) {
        const off begin = simt_readonly(row_ptr + row);
        const int n = (int)(simt_readonly(row_ptr + row + 1) - begin);
        if (n <= most)
            add_share(p, mine.row + row, begin, n, tile + at.lane, at, lanes, each);
        else if (at.slot == 0 && at.lane == 0)
            longs->row[simt_atomic_add(&longs->count, 1)] = row;
    }
    simt_sync();
    SIMT_ROLLED
    for (int i = 0; i < longs->count; i++) {
        const int64_t row = longs->row[i], from = row_ptr[row];
        add_by_block(p, mine.row + row, from, (int)(row_ptr[row + 1] - from), tile, lanes, each);
    }
}

DEVICE void add_all(const struct product *p, const int lanes, const int each)
{
    const int64_t number = p->first + simt_block_id(), tile = number % p->dim[MM_TILES] * (lanes * each);
    const struct row_block *RESTRICT block =
        (const struct row_block *)p->prepared + number / p->dim[MM_TILES];
    const struct row_block mine = block[0], next = block[1];
    if (adds_nothing(alpha_of(p)))
        return;
    if (mine.work > 0)
        several_rows(p, mine, next, tile, lanes, each);
    else
        add_by_block(p, mine.row, mine.begin, (int)(next.begin - mine.begin), tile, lanes, each);
}

#define RESIDENT (sizeof(real) + sizeof(off) == 8 ? 5 : 3)
#define EACH(wanted) ((wanted)*SECTOR < TILE_MOST ? (wanted) : TILE_MOST / SECTOR)
#define LANES_OF(name, lanes, each)                                                                          \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT)(struct product p)                                                 \
    {                                                                                                        \
        add_all(&p, (lanes) < SECTOR ? (lanes) : SECTOR, each);                                              \
    }
#define SECTOR SECTOR_LANES(sizeof(real))
LANES_OF(csr_mm_t1, 1, 1)
LANES_OF(csr_mm_t2, 2, 1)
LANES_OF(csr_mm_t4, 4, 1)
LANES_OF(csr_mm_t8, 8, 1)
LANES_OF(csr_mm_t_twice, SECTOR, EACH(2))
LANES_OF(csr_mm_t_four, SECTOR, EACH(4))
LANES_OF(csr_mm_t_eight, SECTOR, EACH(8))

#else
#include "convert/service.h"

static const char *const entries[] = {"csr_mm_t1",      "csr_mm_t2",     "csr_mm_t4",      "csr_mm_t8",
                                      "csr_mm_t_twice", "csr_mm_t_four", "csr_mm_t_eight", NULL};
enum { ONE_EACH = 0, SEVERAL_EACH = 3 }; /* the entry of 1 lane; that before two for each */

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
    const int64_t sector = SECTOR_LANES(vector_size(w->value));
    int64_t tile = 1;
    int entry = ONE_EACH;
    for (; tile < p->vectors && tile < TILE_MOST && tile < 8 * sector; tile *= 2)
        entry = tile < sector ? entry + 1 : tile == sector ? SEVERAL_EACH + 1 : entry + 1;
    if (is_apart) {
        p->y = p->workspace;
        p->y_step = (struct steps){p->vectors, 1};
        before = (struct relayout){.n = p->cols, .vectors = p->vectors, .to = p->y, .to_step = p->y_step};
    }
    TRY(gpu_relayout(w->device, w->value, &before));
    TRY(mm_launch(w, entries[entry], tile));
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
    return mm_launch_all(w, launch_some);
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
