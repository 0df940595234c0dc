/* SPDX-License-Identifier: MIT
 *
 * csr_to_csr5: CSR5 from CSR.
 *
 * Computes   the arrays that layout.h describes.
 * Source     the steps of Liu and Vinter 2015: tile_ptr by bisection, flags, their counts, the
 *            transposition.  The offsets of rows with gaps need no scan over the tiles: each tile has a
 *            place of its own (its row plus its number).
 * Balance    a wave a tile, a lane its sigma entries: the same for all, whatever the rows look like.
 * Memory     a lane reads its entries one after another, from the line that it has just read; writes are
 *            coalesced.  The wave looks up the first and the last row of its tile, each lane its first row
 *            between them, and from then on the next row is tried first: row_ptr in caches.
 * Order      bitwise the arrays that src/format makes.
 */
#include "format/layout.h"

/* Behind the arrays of the source stand those of the result; what is filled first is the `y` of a kernel
 * of its own. */
enum { TO_TILE_PTR = CSR_VAL + 1, TO_DESCRIPTOR, TO_EMPTY_OFFSET, TO_COL, TO_VAL };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

KERNEL(csr_to_csr5_empty)(struct product p)
{
    const off *row_ptr = (const off *)p.array[CSR_ROW_PTR];
    uint32_t *empty = (uint32_t *)p.y;
    for (int64_t first = simt_global_id() / WAVE * WAVE; first < p.rows; first += simt_global_size()) {
        const int64_t i = first + simt_lane();
        const uint64_t bits = simt_ballot(i < p.rows && row_ptr[i] == row_ptr[i + 1]);
        if (simt_lane() % 32 == 0 && i < p.rows)
            empty[i / 32] = (uint32_t)(bits >> simt_lane());
    }
}

/* The row of entry k, at least `from` and at most `to`. */
DEVICE int64_t row_at(const off *row_ptr, int64_t from, int64_t to, int64_t k)
{
    return from + search_above(row_ptr + 1 + from, to - from, k);
}

/* The same for the walk through a lane's entries, from `row` to `last`: the next row is tried before all
 * others. */
DEVICE int64_t row_from(const off *row_ptr, int64_t last, int64_t row, int64_t k)
{
    if ((int64_t)row_ptr[row + 1] > k)
        return row;
    if ((int64_t)row_ptr[row + 2] > k)
        return row + 1;
    return row_at(row_ptr, row + 2, last, k);
}

/* A lane's entries, to their places; where none is left, padding. */
DEVICE void put_entries(const struct product *p, int64_t tile, int64_t first, int count)
{
    const int sigma = (int)p->dim[CSR5_SIGMA];
    const idx *col = (const idx *)p->array[CSR_COL];
    const elem *val = (const elem *)p->array[CSR_VAL];
    idx *to_col = (idx *)p->array[TO_COL] + tile * sigma * WAVE + simt_lane();
    elem *to_val = (elem *)p->array[TO_VAL] + tile * sigma * WAVE + simt_lane();
    for (int s = 0; s < sigma; s++) {
        to_col[s * WAVE] = s < count ? col[first + s] : 0;
        to_val[s * WAVE] = s < count ? val[first + s] : 0;
    }
}

/* The flags of a lane; *row is the row of its first entry, and then of its last. */
DEVICE uint32_t find_flags(const off *row_ptr, int64_t last, int64_t *row, int64_t first, int count)
{
    uint32_t flags = 0;
    for (int s = 0; s < count; s++) {
        *row = row_from(row_ptr, last, *row, first + s);
        flags |= (uint32_t)((int64_t)row_ptr[*row] == first + s) << s;
    }
    return flags;
}

DEVICE void describe(const struct product *p, int64_t tile, int64_t first, int count)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const int lane = simt_lane();
    const int64_t first_row = row_at(row_ptr, 0, p->rows, simt_shfl(first, 0, WAVE));
    const int64_t last_row =
        row_at(row_ptr, first_row, p->rows, wave_max_long(count > 0 ? first + count - 1 : 0, WAVE));
    const int64_t begins = row_at(row_ptr, first_row, last_row, first);
    int64_t row = begins;
    const uint32_t flags = find_flags(row_ptr, last_row, &row, first, count);
    const uint32_t counted = flags | (lane == 0);
    const int before = wave_scan_before_int(simt_popc(counted), WAVE);
    const uint64_t flagged = simt_ballot(flags != 0) & ~(simt_lanes_below() | (uint64_t)1 << lane);
    const int next = flagged ? simt_ffs(flagged) - 1 : WAVE;
    ((uint32_t *)p->array[TO_DESCRIPTOR])[tile * WAVE + lane] = CSR5_DESCRIBE(flags, before, next - lane - 1);
    const int total = simt_shfl(before + simt_popc(counted), WAVE - 1, WAVE);
    const int gaps = last_row - first_row + 1 != total;
    if (lane == 0)
        ((uint32_t *)p->array[TO_TILE_PTR])[tile] = (uint32_t)first_row | (gaps ? CSR5_GAPS : 0);
    if (!gaps)
        return;
    row = begins;
    int32_t *offset = (int32_t *)p->array[TO_EMPTY_OFFSET] + first_row + tile + before;
    for (int s = 0; s < count; s++)
        if (counted >> s & 1) {
            row = row_from(row_ptr, last_row, row, first + s);
            *offset++ = (int32_t)(row - first_row);
        }
}

KERNEL(csr_to_csr5)(struct product p)
{
    const int sigma = (int)p.dim[CSR5_SIGMA];
    const int64_t tiles = p.dim[CSR5_TILES];
    if (simt_global_id() == 0)
        ((uint32_t *)p.array[TO_TILE_PTR])[tiles] = (uint32_t)p.rows;
    for (int64_t tile = simt_global_id() / WAVE; tile < tiles; tile += simt_global_size() / WAVE) {
        const int64_t first = (tile * WAVE + simt_lane()) * sigma, left = p.nnz - first;
        const int count = left <= 0 ? 0 : left < sigma ? (int)left : sigma;
        put_entries(&p, tile, first, count);
        describe(&p, tile, first, count);
    }
}

#else
#include "convert/service.h"

heddle_status gpu_csr_to_csr5(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct work w = work_moving("csr_to_csr5", d, A);
    w.product.array[TO_TILE_PTR] = s->array[CSR5_TILE_PTR];
    w.product.array[TO_DESCRIPTOR] = s->array[CSR5_DESCRIPTOR];
    w.product.array[TO_EMPTY_OFFSET] = s->array[CSR5_EMPTY_OFFSET];
    w.product.array[TO_COL] = s->array[CSR5_COL];
    w.product.array[TO_VAL] = s->array[CSR5_VAL];
    w.product.y = s->array[CSR5_EMPTY];
    for (int i = 0; i < FORMAT_DIMS; i++)
        w.product.dim[i] = s->dim[i];
    if (s->dim[CSR5_EMPTY_ROWS] > 0) {
        TRY(device_fill(d, s->array[CSR5_EMPTY_OFFSET], 0, s->bytes[CSR5_EMPTY_OFFSET]));
        TRY(gpu_run_over(&w, "csr_to_csr5_empty", A->rows));
    }
    TRY(gpu_run_over(&w, "csr_to_csr5",
                     s->dim[CSR5_TILES] > 0 ? s->dim[CSR5_TILES] * s->dim[CSR5_OMEGA] : 1));
done:
    return status;
}
#endif
