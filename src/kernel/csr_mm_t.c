/* SPDX-License-Identifier: MIT
 *
 * csr_mm_t: the transposed product with several vectors from plain CSR, for any matrix.
 *
 * Computes   Y = alpha Aᵀ X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     Heddle; row blocks are those of csr_weft.
 * Balance    a block of threads has a row block of the look and a tile of the vectors (mm.h): each row has a
 *            group of lanes, one that is long for it the whole block.
 * Memory     lanes lie along the vectors, as many as numbers fill a line of 128 bytes, and where there are
 *            more vectors each lane has several, a line apart, so that the additions of an entry go to
 *            neighbours: L2 does about five times as many of those as of such all over Y, and a wave asks
 *            it for whole lines.  Offsets, entries and X of the row that comes next are on their way.
 *            Where the vectors of Y lie apart (by columns), they are added up side by side in the
 *            workspace and brought to Y in the end, which moves their bytes four times more, but each
 *            addition is to a neighbour.
 * Wins       everywhere against one product after another.
 * Loses      against csr_mm of an explicit transpose, which adds nothing in L2.
 * Order      that of arrival: not repeatable.
 */
#include "kernel/mm.h"

/* Vectors of a block of threads, at most, and lanes along them: as many numbers as a line has.  More vectors
 * are several for each lane. */
#define TILE_MOST 32
#define LINE_LANES(real_bytes) (128 / (int)(real_bytes) < TILE_MOST ? 128 / (int)(real_bytes) : TILE_MOST)

#ifdef HEDDLE_DEVICE

/* The numbers of X that a lane has of a row, times alpha: every `lanes`-th vector from its own on. */
#define EACH_MOST 2
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

/* A thread's share of n entries of a row, the first of which are read already.  A group comes here
 * together. */
DEVICE void add_share(const struct product *p, struct handful e, const struct factors *x, int64_t from, int n,
                      int64_t v, struct place at, const int lanes, const int each)
{
    SIMT_ROLLED
    for (int k = 0; k < n; k += TAKEN(lanes) << at.shift) {
        if (k > 0)
            e = take(p, from + k, n - k, at, lanes);
        if (lanes > UNDER_WAY) {
            SIMT_ROLLED
            for (int q = 0; q < lanes && q * at.slots < e.left; q += UNDER_WAY)
                add_some(p, &e, q, v, x, at, lanes, each);
        } else {
            add_some(p, &e, 0, v, x, at, lanes, each);
        }
    }
}

/* All threads of the block share n entries of one row. */
DEVICE void add_by_block(const struct product *p, int64_t row, int64_t from, int n, int64_t tile,
                         const int lanes, const int each)
{
    const struct place at = place_in(wave_shift(), lanes);
    const int64_t v = tile + at.lane;
    int begin;
    const int mine = wave_share(n, &begin);
    const struct handful first = take(p, from + begin, mine, at, lanes);
    const struct factors x = factors_of(p, row, v, lanes, each);
    add_share(p, first, &x, from + begin, mine, v, at, lanes, each);
}

/* X of the next row is on its way, too. */
DEVICE void several_rows(const struct product *p, const struct lot *l, const int lanes, const int each)
{
    SHARED(struct long_rows, longs, 1);
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + l->mine.row;
    const struct place at = place_in(group_shift(l, lanes), lanes);
    const int most = longest_for(l, at, lanes);
    const int64_t v = l->tile + at.lane;
    if (simt_thread_id() == 0)
        longs->count = 0;
    simt_sync();
    struct walk w = walk_from(p, l, at, lanes);
    struct factors ahead = factors_of(p, l->mine.row + (w.row < w.rows ? w.row : 0), v, lanes, each);
    SIMT_ROLLED
    while (w.row < w.rows) {
        const struct met now = walk_on(p, &w, at, lanes);
        const struct factors x = ahead;
        ahead = factors_of(p, l->mine.row + (w.row < w.rows ? w.row : 0), v, lanes, each);
        if (now.n <= most)
            add_share(p, now.first, &x, now.from, now.n, v, at, lanes, each);
        else if (at.slot == 0 && at.lane == 0)
            longs->row[simt_atomic_add(&longs->count, 1)] = now.row;
    }
    simt_sync();
    SIMT_ROLLED
    for (int i = 0; i < longs->count; i++) {
        const int64_t done = longs->row[i], from = row_ptr[done];
        add_by_block(p, l->mine.row + done, from, (int)(row_ptr[done + 1] - from), l->tile, lanes, each);
    }
}

DEVICE void add_all(const struct product *p, const int lanes, const int each)
{
    const struct lot l = lot_of(p, lanes * each);
    if (adds_nothing(alpha_of(p)))
        return;
    if (l.mine.work > 0)
        several_rows(p, &l, lanes, each);
    else if (l.part == 0)
        add_by_block(p, l.mine.row, l.mine.begin, (int)(l.next.begin - l.mine.begin), l.tile, lanes, each);
}

#define RESIDENT (sizeof(real) + sizeof(off) == 8 ? 5 : 3)
#define LANES(tile) ((tile) < LINE_LANES(sizeof(real)) ? (tile) : LINE_LANES(sizeof(real)))
#define TILE_OF(name, tile)                                                                                  \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT)(struct product p)                                                 \
    {                                                                                                        \
        add_all(&p, LANES(tile), (tile) / LANES(tile));                                                      \
    }
TILE_OF(csr_mm_t1, 1)
TILE_OF(csr_mm_t2, 2)
TILE_OF(csr_mm_t4, 4)
TILE_OF(csr_mm_t8, 8)
TILE_OF(csr_mm_t16, 16)
TILE_OF(csr_mm_t32, TILE_MOST)

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
    int64_t tile = 1;
    int entry = 0;
    for (; tile < p->vectors && tile < TILE_MOST; tile *= 2)
        entry++;
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
