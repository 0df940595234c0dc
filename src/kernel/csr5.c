/* SPDX-License-Identifier: MIT
 *
 * csr5: a wave a tile of equally many entries.
 *
 * Computes   y = alpha A x + beta y,  A in CSR5.
 * Source     Liu and Vinter 2015 (ICS).  A lane adds up its sigma entries between the flags of its
 *            descriptor; what it has behind its last flag is joined with the lanes behind it that belong
 *            to the same row, as seg_offset says.  That is a sum of just those lanes, where the authors
 *            take differences of a prefix sum: those cancel, and carry NaN and Inf from row to row.  What
 *            a tile has of a row that began before it is a carry (carry.h), the authors' calibrator.
 * Balance    perfect in entries, whatever the rows look like; empty rows are written by blocks of their
 *            own, from a bit a row.
 * Memory     val and col are read once, coalesced, all of a tile under way at once, and 4 bytes a lane
 *            tell all there is to know of rows.  Sums wait in shared memory, so that y is written
 *            coalesced.  x is gathered.
 * Wins       many products with a matrix of uneven rows: no search, no barrier of the block, no offsets to
 *            read.
 * Loses      few products (the matrix is copied first); even rows, which ELL and its kin take with less ado.
 * Order      fixed trees, for the same sigma: bitwise repeatable.
 */
#include "kernel/carry.h"

#define BLOCK_MOST 128 /* waves need nothing of one another: small blocks leave fewer registers unused */
#define EMPTY_ROUNDS 8 /* rows that a thread looks at for empty ones */

#ifdef HEDDLE_DEVICE

/* So many sums of a wave wait for their way to y at once: more than any tile has whose rows have four
 * entries on average. */
#define WAITING (4 * WAVE)

/* What a tile's first flags stand for. */
struct tile {
    int64_t number;
    int64_t row; /* of the first */
    int gaps;    /* the others follow with gaps */
    int goes_on; /* the first row began in an earlier tile */
};

/* Products of the lane's entries; 0 behind the last entry of the matrix. */
DEVICE void load_entries(const struct product *p, int64_t tile, const int sigma, real *v)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR5_COL] + tile * WAVE * sigma + simt_lane();
    const real *RESTRICT val = (const real *)p->array[CSR5_VAL] + tile * WAVE * sigma + simt_lane();
    const real *RESTRICT x = (const real *)p->x;
    const int64_t left = p->nnz - (tile * WAVE + simt_lane()) * sigma;
    const int count = left < sigma ? (int)left : sigma;
    idx c[CSR5_SIGMA_MOST];
    for (int s = 0; s < sigma; s++) {
        c[s] = simt_stream(col + s * WAVE);
        v[s] = simt_stream(val + s * WAVE);
    }
    for (int s = 0; s < sigma; s++) {
        const real product = v[s] * simt_readonly(x + c[s]);
        v[s] = s < count ? product : 0;
    }
}

/* The sum of flag n goes to its row, or becomes the tile's carry. */
DEVICE void deliver(const struct product *p, const struct tile *t, int n, real sum)
{
    const int32_t *offset = (const int32_t *)p->array[CSR5_EMPTY_OFFSET];
    const int64_t tiles = p->dim[CSR5_TILES];
    if (n == 0 && tiles > 1)
        carry_leave(p, tiles, t->number, t->goes_on ? t->row : -1, sum);
    if (n > 0 || !t->goes_on) {
        const int64_t row = t->row + (t->gaps ? simt_readonly(offset + t->row + t->number + n) : n);
        store_sum(p, row, sum);
    }
}

/* A lane's sums between its flags: *head before the first (or of all), *open behind the last; those that
 * are complete wait in shared memory if their number n is in [from, from + WAITING).  `n` is that of the
 * lane's first flag. */
DEVICE void sum_lane(const real *v, const int sigma, uint32_t flags, int n, int from, real *waiting,
                     real *head, real *open)
{
    int seen = 0;
    *head = *open = 0;
    for (int s = 0; s < sigma; s++) {
        const int flagged = flags >> s & 1, place = n + seen - 1 - from;
        if (flagged && seen > 0 && (uint32_t)place < (uint32_t)WAITING)
            waiting[place] = *open;
        *head = seen == 0 ? *open : *head;
        *open = flagged ? v[s] : *open + v[s];
        seen += flagged;
    }
    *head = seen == 0 ? *open : *head;
}

/* Of a lane's row that is open at its end, what the lanes behind it have: all of `reach` lanes, and the
 * head of one more.  A lane that is `by` away reaches just as far less, so that nothing of another row is
 * ever added. */
DEVICE real sum_behind(real head, int reach)
{
    real sum = simt_shfl_down(head, 1, WAVE);
    sum = simt_lane() == WAVE - 1 ? 0 : sum;
    for (int by = 1; by < WAVE; by *= 2) {
        const real other = simt_shfl_down(sum, by, WAVE);
        sum = by <= reach ? sum + other : sum;
    }
    return sum;
}

/* A tile in which rows begin. */
DEVICE void sum_rows(const struct product *p, const struct tile *t, const real *v, const int sigma,
                     uint32_t descriptor)
{
    SHARED(real, buffer, BLOCK_MOST * 4);
    real *waiting = buffer + simt_wave_id() * WAITING, head, open, behind = 0;
    const uint32_t flags = CSR5_FLAGS(descriptor) | (simt_lane() == 0);
    const int n = CSR5_Y_OFFSET(descriptor), last = n + simt_popc(flags) - 1;
    const int total = simt_shfl(last, WAVE - 1, WAVE) + 1;
    for (int from = 0; from < total; from += WAITING) {
        sum_lane(v, sigma, flags, n, from, waiting, &head, &open);
        if (from == 0)
            behind = sum_behind(head, CSR5_SEG_OFFSET(descriptor));
        if (flags && last >= from && last < from + WAITING)
            waiting[last - from] = open + behind;
        simt_wave_sync();
        for (int i = from + simt_lane(); i < total && i < from + WAITING; i += WAVE)
            deliver(p, t, i, waiting[i - from]);
        simt_wave_sync();
    }
}

DEVICE void do_tile(const struct product *p, int64_t number, const int sigma)
{
    const uint32_t *RESTRICT tile_ptr = (const uint32_t *)p->array[CSR5_TILE_PTR];
    const uint32_t *RESTRICT descriptors = (const uint32_t *)p->array[CSR5_DESCRIPTOR];
    const uint32_t descriptor = simt_readonly(descriptors + number * WAVE + simt_lane());
    const uint32_t begin = simt_readonly(tile_ptr + number),
                   end = simt_readonly(tile_ptr + number + 1) & ~CSR5_GAPS;
    real v[CSR5_SIGMA_MOST];
    struct tile t;
    t.number = number;
    t.row = begin & ~CSR5_GAPS;
    t.gaps = (begin & CSR5_GAPS) != 0;
    load_entries(p, number, sigma, v);
    t.goes_on = !(simt_shfl(descriptor, 0, WAVE) & 1);
    if (t.row != end) {
        sum_rows(p, &t, v, sigma, descriptor);
        return;
    }
    /* The next tile begins in the same row: there is but one. */
    real sum = 0;
    for (int s = 0; s < sigma; s++)
        sum += v[s];
    sum = wave_sum(sum, WAVE);
    if (simt_lane() == 0)
        deliver(p, &t, 0, sum);
}

/* y = beta y in the empty ones of the rows that are a block's share. */
DEVICE void do_empty(const struct product *p, int64_t share)
{
    const uint32_t *RESTRICT empty = (const uint32_t *)p->array[CSR5_EMPTY];
    const real beta = beta_of(p);
    for (int i = 0; i < EMPTY_ROUNDS; i++) {
        const int64_t row = (share * EMPTY_ROUNDS + i) * simt_block_size() + simt_thread_id();
        if (row < p->rows && simt_readonly(empty + row / 32) >> row % 32 & 1)
            scale_one((real *)p->y + row, beta);
    }
}

/* The first blocks do tiles, those behind them, if there are any, empty rows. */
DEVICE void do_shares(const struct product *p, const int sigma)
{
    const int waves = simt_block_size() / WAVE;
    const int64_t tiles = p->dim[CSR5_TILES], for_tiles = (tiles + waves - 1) / waves;
    for (int64_t share = simt_block_id(); share < p->parts; share += simt_grid_size()) {
        const int64_t number = share * waves + simt_wave_id();
        if (share >= for_tiles)
            do_empty(p, share - for_tiles);
        else if (number < tiles)
            do_tile(p, number, sigma);
    }
}

/* As many blocks on a multiprocessor as there are registers for, which nvcc alone may miss by a few. */
#define RESIDENT(sigma) (sizeof(real) == 4 ? ((sigma) > 8 ? 7 : 9) : (sigma) > 8 ? 5 : (sigma) > 4 ? 7 : 9)

KERNEL_RESIDENT(csr5_sigma4, BLOCK_MOST, RESIDENT(4))(struct product p)
{
    do_shares(&p, 4);
}
KERNEL_RESIDENT(csr5_sigma8, BLOCK_MOST, RESIDENT(8))(struct product p)
{
    do_shares(&p, 8);
}
KERNEL_RESIDENT(csr5_sigma16, BLOCK_MOST, RESIDENT(16))(struct product p)
{
    do_shares(&p, 16);
}

KERNEL(csr5_carry)(struct product p)
{
    carry_add(&p, p.dim[CSR5_TILES]);
}

#else
#include <stdio.h>

#include "kernel/kernel.h"

static const char *const entries[] = {"csr5_sigma4", "csr5_sigma8", "csr5_sigma16", "csr5_carry", NULL};

/* Small blocks until every multiprocessor has one: tiles need nothing of one another. */
static int block_of(const struct work *w)
{
    const int64_t waves = BLOCK_MOST / w->product.dim[CSR5_OMEGA];
    return w->product.dim[CSR5_TILES] < waves * gpu_info_of(w->device->gpu)->multiprocessors ? 64
                                                                                             : BLOCK_MOST;
}

static int64_t shares(const struct work *w)
{
    const int64_t *dim = w->product.dim, block = block_of(w), waves = block / dim[CSR5_OMEGA],
                  rows = block * EMPTY_ROUNDS;
    return (dim[CSR5_TILES] + waves - 1) / waves +
           (dim[CSR5_EMPTY_ROWS] ? (w->product.rows + rows - 1) / rows : 0);
}

/* The first tile has no carry, so a single one leaves none. */
static int64_t workspace(const struct work *w)
{
    const int64_t tiles = w->product.dim[CSR5_TILES];
    return tiles > 1 ? CARRIES_BYTES(tiles, type_size(w->value)) : 0;
}

static heddle_status launch(const struct work *w)
{
    const int64_t tiles = w->product.dim[CSR5_TILES];
    const int block = block_of(w);
    char entry[24];
    snprintf(entry, sizeof entry, "csr5_sigma%d", (int)w->product.dim[CSR5_SIGMA]);
    return gpu_run_pair(w, (struct launch){entry, gpu_grid(w, w->product.parts, block), block, 0},
                        gpu_over(w, "csr5_carry", tiles > 1 ? tiles : 0));
}

/* Of the offsets of rows with gaps no more is read than there are rows with entries. */
static double cost(const struct work *w, const struct stored *s)
{
    const int64_t empty = s->dim[CSR5_EMPTY_ROWS], unread = empty ? empty + s->dim[CSR5_TILES] : 0;
    return cost_of_streams(w, s) - (double)unread * sizeof(int32_t) + 2 * (double)workspace(w);
}

const struct kernel csr5 = {
    .name = "csr5",
    .id = KERNEL_csr5,
    .format = FORMAT_csr5,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Liu and Vinter 2015",
    .repeatable = 1,
    .entries = entries,
    .parts = shares,
    .workspace = workspace,
    .launch = launch,
    .cost = cost,
};
#endif
