/* SPDX-License-Identifier: MIT
 *
 * csr_hola_t: csr_hola for the transposed product, by atomic additions.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR.
 * Source     hola-spmv-2017 Alg. 7.  hola.h says how rows are found.  sort=1 is the paper's way: a thread
 *            has npt consecutive entries, sorts them by column, and adds; entries of one column that meet
 *            in it are added up first.  sort=0 gives neighbouring lanes neighbouring entries instead,
 *            whose columns are often neighbours too, and an addition of a wave then touches fewer sectors
 *            of y.  cas=1 adds by compare-and-swap loops.
 * Balance    npt entries a thread, whatever the rows are.
 * Memory     val and col are read once, coalesced.  alpha x is read once a row and block, in order, and
 *            kept in shared memory.  Every entry is an addition to y in L2.  One kernel scales y and finds
 *            the block starts.
 * Wins       skewed rows, long rows; the first few products with Aᵀ: no preparation, no second copy of A.
 * Loses      columns with many entries, whose additions queue up; many products: a plan transposes once.
 * Order      that of arrival: not repeatable.
 */
#include "kernel/hola.h"
#ifdef HEDDLE_DEVICE

KERNEL(csr_hola_t_deal)(struct product p)
{
    hola_deal(&p, 0);
    if (beta_of(&p) != 1)
        scale_all((real *)p.y, p.cols, beta_of(&p));
}

DEVICE void add(real *y, real v, const int cas)
{
    if (cas)
        simt_atomic_add_cas(y, v);
    else
        simt_atomic_add(y, v);
}

/* Entries wave_begin + npt lane and those behind. */
DEVICE void read_consecutive(idx *c, real *v, const struct product *p, int64_t wave_begin, const int npt)
{
    if (read_fours(c, v, p, wave_begin, npt) && npt == 8) {
        turn_idx(c);
        turn_real(v);
    }
}

/* alpha x of every row with entries here, by rank. */
DEVICE void read_factors(real *factor, const struct product *p, const struct share *b, uint32_t mask,
                         const int npt)
{
    const real *RESTRICT x = (const real *)p->x;
    const real alpha = alpha_of(p);
    if (b->searches) {
        int row = b->first, rank = (int)(b->ranked[simt_thread_id()] >> 8);
        for (; mask; mask &= mask - 1, rank++) {
            row = share_row_of(b, row, simt_thread_id() * npt + simt_ffs(mask) - 1);
            factor[rank] = alpha * simt_readonly(x + row);
        }
    } else {
        for (int i = simt_thread_id(); i <= b->last - b->first; i += simt_block_size()) {
            const int rank = share_rank_of_row(b, i, npt);
            if (rank >= 0)
                factor[rank] = alpha * simt_readonly(x + b->first + i);
        }
    }
}

/* Makes `factor` and `ranked` ready for the whole block. */
DEVICE void find_factors(real *factor, const struct product *p, struct share *b, const int npt)
{
    const uint32_t mask = share_mask(b, npt);
    const int rank = share_count(b, mask);
    share_borders(b);
    simt_sync();
    share_rank(b, rank, mask);
    if (!b->dense)
        simt_sync();
    read_factors(factor, p, b, mask, npt);
    simt_sync();
}

DEVICE void add_strided(real *y, const struct share *b, const real *factor, const idx *c, const real *v,
                        const int npt, const int cas)
{
    for (int i = 0; i < npt; i++) {
        const int entry = (simt_wave_id() * npt + i) * WAVE + simt_lane();
        if (c[i] != HOLA_ABSENT)
            add(y + c[i], v[i] * factor[share_rank_of(b, entry, npt)], cas);
    }
}

/* Sorted, entries of one column are neighbours, and the absent ones are last. */
DEVICE void add_sorted(real *y, const struct share *b, const real *factor, idx *c, real *v, const int npt,
                       const int cas)
{
    idx unused[HOLA_NPT] = {0};
    for (int i = 0; i < npt; i++)
        if (c[i] != HOLA_ABSENT)
            v[i] *= factor[share_rank_of(b, simt_thread_id() * npt + i, npt)];
    hola_sort(c, v, unused, npt);
    for (int i = 0; i < npt; i++)
        if (i + 1 < npt && c[i] == c[i + 1])
            v[i + 1] += v[i];
        else if (c[i] != HOLA_ABSENT)
            add(y + c[i], v[i], cas);
}

/* A block within one row has one factor, of rank 0. */
DEVICE void set_factor(real *factor, const struct product *p, struct share *b)
{
    b->ranked[simt_thread_id()] = 0;
    if (simt_thread_id() == 0)
        factor[0] = alpha_of(p) * simt_readonly((const real *)p->x + b->first);
    simt_sync();
}

DEVICE void add_part(const struct product *p, const int npt, const int sort, const int cas)
{
    SHARED_DYNAMIC(real, factor);
    SHARED(uint32_t, ends, HOLA_BLOCK * HOLA_NPT / 4);
    SHARED(uint32_t, ranked, HOLA_BLOCK);
    SHARED(int32_t, counts, HOLA_BLOCK / WAVE);
    const int64_t part = p->first + simt_block_id();
    const int64_t wave_begin = (part * simt_block_size() + simt_wave_id() * WAVE) * npt;
    struct share b = {.ends = ends, .ranked = ranked, .counts = counts};
    idx c[HOLA_NPT];
    real v[HOLA_NPT];
    if (sort)
        read_consecutive(c, v, p, wave_begin, npt);
    else
        read_strided(c, v, p, wave_begin, npt);
    share_rows(&b, p, part, simt_block_size() * npt);
    if (adds_nothing(alpha_of(p)))
        return;
    if (b.first == b.last)
        set_factor(factor, p, &b);
    else
        find_factors(factor, p, &b, npt);
    if (sort)
        add_sorted((real *)p->y, &b, factor, c, v, npt, cas);
    else
        add_strided((real *)p->y, &b, factor, c, v, npt, cas);
}

/* A kernel for every combination of options: all of them change what is unrolled. */
#define ADD_PART(name, npt, sort, cas)                                                                       \
    HOLA_KERNEL(name, npt)(struct product p)                                                                 \
    {                                                                                                        \
        add_part(&p, npt, sort, cas);                                                                        \
    }
ADD_PART(csr_hola_t4, 4, 0, 0)
ADD_PART(csr_hola_t4_cas, 4, 0, 1)
ADD_PART(csr_hola_t4_sort, 4, 1, 0)
ADD_PART(csr_hola_t4_sort_cas, 4, 1, 1)
ADD_PART(csr_hola_t8, 8, 0, 0)
ADD_PART(csr_hola_t8_cas, 8, 0, 1)
ADD_PART(csr_hola_t8_sort, 8, 1, 0)
ADD_PART(csr_hola_t8_sort_cas, 8, 1, 1)

#else

static const struct option options[] = {HOLA_OPTIONS, {"cas", 0, VALUES(0, 1)}, {0}};

static const char *const entries[] = {
    "csr_hola_t4",      "csr_hola_t4_sort", "csr_hola_t4_cas",      "csr_hola_t4_sort_cas", "csr_hola_t8",
    "csr_hola_t8_sort", "csr_hola_t8_cas",  "csr_hola_t8_sort_cas", "csr_hola_t_deal",      NULL};

static heddle_status launch(const struct work *w)
{
    const struct product *p = &w->product;
    return hola_launch(w, entries, p->rows > p->cols ? p->rows : p->cols);
}

/* row_ptr is read twice. */
static double cost(const struct work *w, const struct stored *s)
{
    return cost_of_additions(w, s) + (double)s->rows * (double)type_size(s->offset);
}

const struct kernel csr_hola_t = {
    .name = "csr_hola_t",
    .id = KERNEL_csr_hola_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "hola-spmv-2017 Alg. 7",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .parts = hola_parts,
    .workspace = hola_workspace,
    .launch = launch,
    .cost = cost,
};
#endif
