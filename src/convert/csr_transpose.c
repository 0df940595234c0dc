/* SPDX-License-Identifier: MIT
 *
 * csr_transpose: the entries of a CSR matrix in the order of their columns, rows ascending within each.
 *
 * Computes   the transpose in CSR: columns and values; its row_ptr follows from the sorted columns
 *            (coo_to_csr).
 * Source     counting sort by eight bits of the column at a time, lowest first: every pass keeps the order
 *            of the one before (Knuth vol. 3, 5.2.5).  The lanes of a wave that have the same digit find
 *            each other by marks in shared memory.
 * Balance    a wave takes a tile of entries in succession, whatever rows and columns look like.
 * Memory     a pass reads columns twice, the rest once, coalesced, and writes everything once, each wave
 *            into up to 256 places that move on; 256 counts a tile are summed up between.  As many passes
 *            as the number of columns has bytes.
 * Order      that of storage within a column, the same as the host's: bit for bit.
 */
enum { TURN_COL, TURN_ROW, TURN_VAL, TURN_TO_COL, TURN_TO_ROW, TURN_TO_VAL }; /* product.array */
enum { TURN_SHIFT, TURN_TILE, TURN_TILES, TURN_CHUNKS };                      /* product.dim */

#define DIGITS 256
#define TURN_BLOCK 128 /* threads, for tiles: each wave has 4 to 6 KiB of shared memory */
#define SCAN_BLOCK 256
#define SCAN_ROUNDS 16
#define CHUNK (SCAN_BLOCK * SCAN_ROUNDS) /* counts that one block sums up */

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* The workspace: a count for each digit and tile, those of a digit together; then one for each chunk of
 * these. */
DEVICE int64_t *counts(const struct product *p)
{
    return (int64_t *)p->workspace;
}
DEVICE int64_t *sums(const struct product *p)
{
    return (int64_t *)p->workspace + p->dim[TURN_TILES] * DIGITS;
}

DEVICE int digit_of(const struct product *p, idx col)
{
    return (int)(col >> p->dim[TURN_SHIFT]) & (DIGITS - 1);
}

DEVICE int64_t tile_end(const struct product *p, int64_t tile)
{
    const int64_t end = (tile + 1) * p->dim[TURN_TILE];
    return end < p->nnz ? end : p->nnz;
}

KERNEL_BOUND(csr_transpose_count, TURN_BLOCK)(struct product p)
{
    SHARED(int32_t, of_block, TURN_BLOCK / WAVE * DIGITS);
    int32_t *count = of_block + simt_wave_id() * DIGITS;
    const idx *col = (const idx *)p.array[TURN_COL];
    for (int64_t tile = simt_global_id() / WAVE; tile < p.dim[TURN_TILES];
         tile += simt_global_size() / WAVE) {
        for (int d = simt_lane(); d < DIGITS; d += WAVE)
            count[d] = 0;
        simt_wave_sync();
        for (int64_t k = tile * p.dim[TURN_TILE] + simt_lane(); k < tile_end(&p, tile); k += WAVE)
            simt_atomic_add(&count[digit_of(&p, simt_readonly(col + k))], 1);
        simt_wave_sync();
        for (int d = simt_lane(); d < DIGITS; d += WAVE)
            counts(&p)[d * p.dim[TURN_TILES] + tile] = count[d];
    }
}

/* -------------------------------------------------------- sums of all counts before each ------ */

KERNEL_BOUND(csr_transpose_sums, SCAN_BLOCK)(struct product p)
{
    const int64_t n = p.dim[TURN_TILES] * DIGITS;
    for (int64_t chunk = simt_block_id(); chunk < p.dim[TURN_CHUNKS]; chunk += simt_grid_size()) {
        int64_t sum = 0;
        for (int i = 0; i < SCAN_ROUNDS; i++) {
            const int64_t k = chunk * CHUNK + i * SCAN_BLOCK + simt_thread_id();
            sum += k < n ? counts(&p)[k] : 0;
        }
        sum = block_sum_long(sum);
        if (simt_thread_id() == 0)
            sums(&p)[chunk] = sum;
    }
}

/* One block goes through `n` numbers, `before` being the sum of what comes ahead of them.  A thread has
 * neighbouring ones, a cache line of them, so that the block has to meet only once a chunk. */
DEVICE void scan_by_block(int64_t *number, int64_t n, int64_t before)
{
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t begin = first + (int64_t)simt_thread_id() * SCAN_ROUNDS;
        const int64_t end = begin + SCAN_ROUNDS < n ? begin + SCAN_ROUNDS : n;
        int64_t own = 0, total;
        for (int64_t k = begin; k < end; k++)
            own += number[k];
        int64_t sum = before + block_scan_before_long(own, &total);
        for (int64_t k = begin; k < end; k++) {
            const int64_t here = number[k];
            number[k] = sum;
            sum += here;
        }
        before += total;
    }
}

/* Launched as one block. */
KERNEL_BOUND(csr_transpose_scan_sums, SCAN_BLOCK)(struct product p)
{
    scan_by_block(sums(&p), p.dim[TURN_CHUNKS], 0);
}

KERNEL_BOUND(csr_transpose_scan, SCAN_BLOCK)(struct product p)
{
    const int64_t n = p.dim[TURN_TILES] * DIGITS;
    for (int64_t chunk = simt_block_id(); chunk < p.dim[TURN_CHUNKS]; chunk += simt_grid_size()) {
        const int64_t left = n - chunk * CHUNK;
        scan_by_block(counts(&p) + chunk * CHUNK, left < CHUNK ? left : CHUNK, sums(&p)[chunk]);
    }
}

/* -------------------------------------------------------- dealing out ------------------------- */

/* What a wave has in shared memory: where the next entry of each digit goes, and who has which digit in a
 * round.  Rounds take turns with two sets of marks, so that one may be cleared while the other fills. */
struct dealer {
    int64_t *place;
    simt_lanes *mark;
    const simt_lanes one, below; /* this lane, and those before it */
};

/* Where this lane's entry goes.  The last lane with a digit clears its mark and moves the place on: others
 * have read both before the second barrier, and read them again only behind the first one of the next
 * round. */
DEVICE int64_t place_of(const struct dealer *s, int digit, int active, int round)
{
    simt_lanes *mark = s->mark + (round & 1) * DIGITS;
    if (active)
        simt_atomic_or(&mark[digit], s->one);
    simt_wave_sync();
    const simt_lanes same = active ? mark[digit] : 0;
    const int64_t first = active ? s->place[digit] : 0;
    simt_wave_sync();
    if (active && same >> simt_lane() == 1) {
        mark[digit] = 0;
        s->place[digit] = first + simt_popc(same);
    }
    return first + simt_popc(same & s->below);
}

DEVICE void deal_tile(const struct product *p, const struct dealer *s, int64_t tile)
{
    const idx *RESTRICT col = (const idx *)p->array[TURN_COL], *RESTRICT row =
                                                                   (const idx *)p->array[TURN_ROW];
    const elem *RESTRICT val = (const elem *)p->array[TURN_VAL];
    idx *RESTRICT to_col = (idx *)p->array[TURN_TO_COL], *RESTRICT to_row = (idx *)p->array[TURN_TO_ROW];
    elem *RESTRICT to_val = (elem *)p->array[TURN_TO_VAL];
    const int64_t begin = tile * p->dim[TURN_TILE], end = tile_end(p, tile);
    int round = 0;
    for (int64_t first = begin; first < end; first += WAVE, round++) {
        const int64_t k = first + simt_lane();
        const int active = k < end;
        const idx c = active ? simt_stream(col + k) : 0, r = active ? simt_stream(row + k) : 0;
        const elem v = active ? simt_stream(val + k) : 0;
        const int64_t to = place_of(s, digit_of(p, c), active, round);
        if (active) {
            to_col[to] = c;
            to_row[to] = r;
            to_val[to] = v;
        }
    }
}

KERNEL_BOUND(csr_transpose_deal, TURN_BLOCK)(struct product p)
{
    SHARED(int64_t, places, TURN_BLOCK / WAVE * DIGITS);
    SHARED(simt_lanes, marks, TURN_BLOCK / WAVE * 2 * DIGITS);
    const struct dealer s = {places + simt_wave_id() * DIGITS, marks + simt_wave_id() * (2 * DIGITS),
                             (simt_lanes)1 << simt_lane(), (simt_lanes)simt_lanes_below()};
    for (int d = simt_lane(); d < 2 * DIGITS; d += WAVE)
        s.mark[d] = 0;
    for (int64_t tile = simt_global_id() / WAVE; tile < p.dim[TURN_TILES];
         tile += simt_global_size() / WAVE) {
        simt_wave_sync();
        for (int d = simt_lane(); d < DIGITS; d += WAVE)
            s.place[d] = counts(&p)[d * p.dim[TURN_TILES] + tile];
        simt_wave_sync();
        deal_tile(&p, &s, tile);
    }
}

#else
#include "convert/service.h"

/* Entries a tile: fewer than this, and counts outweigh entries; more, and the last tile keeps everyone
 * waiting. */
#define TILE_LEAST 512
#define TILE_MOST 8192

/* Two sets of entries: [1] are the result's own arrays and the columns they are sorted by, [0] is for the
 * time between. */
struct entries {
    void *col[2], *row[2], *val[2];
};

static heddle_status entries_new(const struct device *d, struct entries *e, const struct csr *B, int passes)
{
    heddle_status status;
    int64_t bytes = B->nnz * (int64_t)sizeof *B->col;
    *e = (struct entries){.row = {NULL, B->col}, .val = {NULL, B->val}};
    TRY(device_alloc(d, &e->row[0], bytes));
    TRY(device_alloc(d, &e->col[1], bytes));
    if (passes > 1) {
        TRY(device_alloc(d, &e->col[0], bytes));
        TRY(device_alloc(d, &e->val[0], B->nnz * (int64_t)type_size(B->value)));
    }
done:
    return status;
}

static void entries_free(const struct device *d, struct entries *e)
{
    device_free(d, e->row[0]);
    device_free(d, e->val[0]);
    device_free(d, e->col[0]);
    device_free(d, e->col[1]);
}

static void set_sizes(struct work *w)
{
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct product *p = &w->product;
    int64_t tile = p->nnz / (2 * (int64_t)gpu_arch(w->device->gpu)->waves * info->multiprocessors) /
                   info->wave * info->wave;
    tile = tile < TILE_LEAST ? TILE_LEAST : tile > TILE_MOST ? TILE_MOST : tile;
    p->dim[TURN_TILE] = tile;
    p->dim[TURN_TILES] = (p->nnz + tile - 1) / tile;
    p->dim[TURN_CHUNKS] = (p->dim[TURN_TILES] * DIGITS + CHUNK - 1) / CHUNK;
}

static heddle_status run_pass(const struct work *w)
{
    heddle_status status;
    int64_t in_block = TURN_BLOCK / gpu_info_of(w->device->gpu)->wave;
    int64_t tiles = gpu_grid(w, (w->product.dim[TURN_TILES] + in_block - 1) / in_block, TURN_BLOCK),
            chunks = gpu_grid(w, w->product.dim[TURN_CHUNKS], SCAN_BLOCK);
    TRY(gpu_run(w, "csr_transpose_count", tiles, TURN_BLOCK, 0));
    TRY(gpu_run(w, "csr_transpose_sums", chunks, SCAN_BLOCK, 0));
    TRY(gpu_run(w, "csr_transpose_scan_sums", 1, SCAN_BLOCK, 0));
    TRY(gpu_run(w, "csr_transpose_scan", chunks, SCAN_BLOCK, 0));
    TRY(gpu_run(w, "csr_transpose_deal", tiles, TURN_BLOCK, 0));
done:
    return status;
}

/* The last pass ends in the result, so the first begins where that puts it; the rows of A wait in the
 * other set. */
static heddle_status run_passes(struct work *w, struct entries *e, const struct csr *A, int passes)
{
    heddle_status status;
    struct product *p = &w->product;
    int to = passes % 2;
    TRY(gpu_csr_to_coo(w->device, e->row[!to], A));
    p->array[TURN_COL] = A->col;
    p->array[TURN_ROW] = e->row[!to];
    p->array[TURN_VAL] = A->val;
    for (int pass = 0; pass < passes; pass++, to = !to) {
        p->array[TURN_TO_COL] = e->col[to];
        p->array[TURN_TO_ROW] = e->row[to];
        p->array[TURN_TO_VAL] = e->val[to];
        p->dim[TURN_SHIFT] = 8 * pass;
        TRY(run_pass(w));
        for (int i = TURN_COL; i <= TURN_VAL; i++)
            p->array[i] = p->array[i + TURN_TO_COL];
    }
done:
    return status;
}

heddle_status gpu_csr_transpose(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status;
    struct entries e = {0};
    struct work w = work_moving("csr_transpose", d, A);
    int passes = 1;
    w.variant = real_variant(w.variant);
    if (A->nnz == 0)
        return gpu_coo_to_csr(d, B, NULL);
    while (passes < 4 && (A->cols - 1) >> (8 * passes))
        passes++;
    set_sizes(&w);
    TRY(entries_new(d, &e, B, passes));
    TRY(device_alloc(d, &w.product.workspace,
                     (w.product.dim[TURN_TILES] * DIGITS + w.product.dim[TURN_CHUNKS]) *
                         (int64_t)sizeof(int64_t)));
    TRY(run_passes(&w, &e, A, passes));
    TRY(gpu_coo_to_csr(d, B, e.col[1]));
    TRY(device_sync(d));
done:
    device_free(d, w.product.workspace);
    entries_free(d, &e);
    return status;
}
#endif
