/* SPDX-License-Identifier: MIT
 *
 * csr_fixed_t: the transposed product with nothing prepared, repeatable bit by bit.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR (or  y = alpha A x + beta y,  A in CSC).
 * Source     Heddle's own; fixed.h says how additions in any order give one result (after Demmel and
 *            Nguyen 2015).
 * Balance    TILE entries a block, four in succession a thread, whatever the rows are.  A block finds its
 *            rows by a search in row_ptr, a thread its own among those.
 * Memory     val, col and x are read twice, by two kernels, coalesced.  A term is an atomic maximum and
 *            one (f32) or two (f64) additions of integers in L2; a third kernel reads the sums and stores
 *            y.
 * Wins       a transposed product that must be the same every run, the first few times: a plan transposes
 *            once.
 * Loses      whenever the order does not matter: csr_hola_t reads A once and adds once a term.
 * Order      none is needed: bitwise repeatable.
 */
#include "kernel/fixed.h"

#define BLOCK 256
#define EACH 4
#define TILE (BLOCK * EACH)

#ifdef HEDDLE_DEVICE

/* The row of entry k: the last one in [low, high] that does not begin behind it. */
DEVICE int64_t row_of(const off *row_ptr, int64_t low, int64_t high, int64_t k)
{
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (simt_readonly(row_ptr + middle) <= k)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Entries first to first + EACH, those before `end`. */
DEVICE void read_entries(idx *c, elem *v, const struct product *p, int64_t first, int64_t end)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL];
    if (first + EACH <= end) {
        simt_stream4(c, col + first);
        simt_stream4(v, val + first);
        return;
    }
    for (int i = 0; i < EACH; i++)
        if (first + i < end) {
            c[i] = simt_stream(col + first + i);
            v[i] = simt_stream(val + first + i);
        }
}

/* Every term of the block's tiles goes to fixed_add, or to fixed_note. */
DEVICE void deal_terms(const struct product *p, const int adds)
{
    SHARED(int64_t, border, 2); /* rows of the first and the last entry of the tile */
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const real *RESTRICT x = (const real *)p->x;
    const struct fixed f = fixed_of(p);
    for (int64_t begin = (int64_t)simt_block_id() * TILE; begin < p->nnz;
         begin += (int64_t)simt_grid_size() * TILE) {
        const int64_t end = begin + TILE < p->nnz ? begin + TILE : p->nnz,
                      first = begin + EACH * simt_thread_id();
        idx c[EACH] = {0};
        elem v[EACH] = {0};
        read_entries(c, v, p, first, end);
        simt_sync(); /* the tile before has been read */
        if (simt_thread_id() < 2)
            border[simt_thread_id()] = row_of(row_ptr, 0, p->rows - 1, simt_thread_id() ? end - 1 : begin);
        simt_sync();
        int64_t row = border[0], next = 0; /* of the row behind: its first entry */
        for (int i = 0; i < EACH && first + i < end; i++) {
            if (first + i >= next) {
                row = row_of(row_ptr, row, border[1], first + i);
                next = simt_readonly(row_ptr + row + 1);
            }
            const real product = term(p, v[i], simt_readonly(x + row));
            if (adds)
                fixed_add(&f, c[i], product);
            else
                fixed_note(&f, c[i], product);
        }
    }
}

FIXED_KERNELS(csr_fixed_t)

#else

static const char *const entries[] = {"csr_fixed_t_note", "csr_fixed_t_add", "csr_fixed_t_end", NULL};

static heddle_status launch(const struct work *w)
{
    return fixed_launch(w, entries, (w->product.nnz + TILE - 1) / TILE, BLOCK);
}

const struct kernel csr_fixed_t = {
    .name = "csr_fixed_t",
    .id = KERNEL_csr_fixed_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "Heddle; sums after Demmel and Nguyen 2015",
    .repeatable = 1,
    .entries = entries,
    .counters = fixed_counters,
    .launch = launch,
    .cost = fixed_cost,
};
#endif
