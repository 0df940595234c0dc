/* SPDX-License-Identifier: MIT
 *
 * csr_hola: the same number of entries a block and a thread, whatever the rows are.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     hola-spmv-2017 (Steinberger, Zayer, Seidel), Alg. 2 to 6.  hola.h says how rows are found and
 *            where that differs.  The paper zeroes all of y first; here only empty rows and rows that
 *            several blocks share are scaled, by the kernel that finds the block starts, and every other
 *            entry of y is written once.  The paper adds what threads have left over to shared memory
 *            atomically unless it is much; shared memory adds floating-point numbers by compare-and-swap
 *            loops today, so here lanes always hand it on by shuffles, in as many steps as the longest row
 *            of the wave asks for: none where every lane ends a row.
 * Balance    npt entries a thread, block times npt a block: a row that is long, or short, or empty makes
 *            no difference.
 * Memory     a wave reads its val and col in fours, coalesced, and turns the products by shuffles so that
 *            each lane has consecutive ones; sort=1 gathers x in the order of a thread's columns.
 *            load=strided reads one entry a lane at a time instead, so that neighbouring lanes gather
 *            neighbouring entries' x, and turns the products in shared memory.  Sums of rows meet in
 *            shared memory and leave for y in order.  row_ptr is read twice, the second time mostly from
 *            the cache; the workspace has a row a block.
 * Wins       skewed rows, and rows of any length where nothing is known about them: no preparation.
 * Loses      small matrices (two launches); even rows, where a kernel that knows them needs no shared memory.
 * Order      fixed within a block; rows that several blocks share are added up atomically, so that those
 *            of three and more blocks, or of two and beta, are not repeatable.
 */
#include "kernel/hola.h"
#ifdef HEDDLE_DEVICE

KERNEL(csr_hola_deal)(struct product p)
{
    hola_deal(&p, (real *)p.y);
}

/* Options that change what is unrolled. */
enum { SORT = 1, STRIDED = 2 };

/* A thread's entries on their way to products. */
struct terms {
    real v[HOLA_NPT], x[HOLA_NPT];
    idx c[HOLA_NPT], place[HOLA_NPT]; /* columns; with sort=1, where an entry stood before */
    int whole;                        /* none is absent, and the wave has them as the option says */
};

/* Alg. 5 up to the products: x is on its way while rows are looked for.  What is absent gives 0 times 0. */
DEVICE void gather(struct terms *t, const struct product *p, const int npt, const int way)
{
    const real *RESTRICT x = (const real *)p->x;
    for (int i = 0; way & SORT && i < npt; i++)
        t->place[i] = i;
    if (t->whole) {
        if (way & SORT)
            hola_sort(t->c, t->v, t->place, npt);
        for (int i = 0; i < npt; i++)
            t->x[i] = simt_readonly(x + t->c[i]);
    } else {
        for (int i = 0; i < npt; i++)
            t->x[i] = t->c[i] != HOLA_ABSENT ? simt_readonly(x + t->c[i]) : 0;
    }
}

/* The products, consecutive ones in every thread.  Strided ones change lanes by the wave's part of `room`. */
DEVICE void multiply(struct terms *t, real *room, const int npt, const int way)
{
    real *own = room + simt_wave_id() * WAVE * npt;
    for (int i = 0; i < npt; i++)
        t->v[i] *= t->x[i];
    if (t->whole && way & SORT)
        hola_sort(t->place, t->v, t->c, npt);
    if (way & STRIDED) {
        for (int i = 0; i < npt; i++)
            own[i * WAVE + simt_lane()] = t->v[i];
        simt_wave_sync();
        for (int i = 0; i < npt; i++)
            t->v[i] = own[simt_lane() * npt + i];
    } else if (t->whole && npt == 8) {
        turn_real(t->v);
    }
}

/* What a thread has behind its last row end, or all of it. */
DEVICE real left_over(const real *v, uint32_t mask, const int npt)
{
    real sum = 0;
    for (int i = 0; i < npt; i++)
        sum = mask >> i & 1 ? 0 : sum + v[i];
    return sum;
}

/* Alg. 6: what the lanes up to one's own have left over, back to the nearest one that ends a row.
 * `covered` are the lanes that have it all: the rows decide how many steps there are. */
DEVICE real add_lanes(real v, uint64_t ending)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - WAVE), up_to = ending & (simt_lanes_below() << 1 | 1);
    const int from = up_to ? 63 - simt_clz(up_to) : 0;
    uint64_t covered = ending | 1;
    for (int by = 1; (covered & all) != all; by *= 2) {
        const real before = simt_shfl_up(v, by, WAVE);
        if (simt_lane() - by >= from)
            v += before;
        covered |= covered << by;
    }
    return v;
}

/* What the waves before this one have left over, back to the nearest one with the end of a row. */
DEVICE real add_waves(const real *tails, const int32_t *counts)
{
    real sum = 0;
    for (int i = simt_wave_id() - 1; i >= 0; i--) {
        sum += tails[i];
        if (counts[i])
            break;
    }
    return sum;
}

/* Sums of the rows that end in the thread go to `sums`; `sum` comes with what others have of the first of
 * them. */
DEVICE void sum_rows(real *sums, int rank, const real *v, real sum, uint32_t mask, const int npt)
{
    for (int i = 0; i < npt; i++) {
        sum += v[i];
        if (mask >> i & 1) {
            sums[rank++] = sum;
            sum = 0;
        }
    }
}

DEVICE void put(const struct product *p, int64_t row, real sum, int shared)
{
    real *y = (real *)p->y;
    const real alpha = alpha_of(p);
    if (!shared)
        store(y + row, alpha, sum, beta_of(p));
    else if (alpha != 0)
        simt_atomic_add(y + row, alpha * sum);
}

/* From shared memory to y in order, a wave at a time as y is aligned; where rows were searched for, each
 * thread writes the rows that end with it. */
DEVICE void put_sums(const struct product *p, const struct share *b, const real *sums, uint32_t mask,
                     const int npt)
{
    if (b->searches) {
        int row = b->first, rank = (int)(b->ranked[simt_thread_id()] >> 8);
        for (; mask; mask &= mask - 1, rank++) {
            row = share_row_of(b, row, simt_thread_id() * npt + simt_ffs(mask) - 1);
            put(p, row, sums[rank], share_is_shared(b, rank));
        }
    } else {
        for (int i = simt_thread_id() - (b->first & (WAVE - 1)); i <= b->last - b->first;
             i += simt_block_size()) {
            const int rank = i < 0 ? -1 : share_rank_of_row(b, i, npt);
            if (rank >= 0)
                put(p, (int64_t)b->first + i, sums[rank], share_is_shared(b, rank));
        }
    }
}

/* Alg. 3. */
DEVICE void multiply_rows(const struct product *p, struct share *b, struct terms *t, real *sums,
                          const int npt, const int way)
{
    SHARED(real, tails, HOLA_BLOCK / WAVE);
    const real *v = t->v;
    const uint32_t mask = share_mask(b, npt);
    multiply(t, sums, npt, way);
    const uint64_t ending = simt_ballot(mask != 0);
    const real so_far = add_lanes(left_over(v, mask, npt), ending), before = simt_shfl_up(so_far, 1, WAVE);
    int rank = share_count(b, mask);
    if (simt_lane() == WAVE - 1)
        tails[simt_wave_id()] = so_far;
    share_borders(b);
    simt_sync();
    rank = share_rank(b, rank, mask);
    real carry = simt_lane() > 0 ? before : 0;
    if (!(ending & simt_lanes_below()))
        carry += add_waves(tails, b->counts);
    sum_rows(sums, rank, v, carry, mask, npt);
    simt_sync();
    put_sums(p, b, sums, mask, npt);
}

/* A block within one row: nothing to find out, and no order to keep. */
DEVICE void multiply_row(const struct product *p, struct share *b, const struct terms *t, const int npt)
{
    real sum = 0;
    share_borders(b);
    for (int i = 0; i < npt; i++)
        sum += t->v[i] * t->x[i];
    sum = block_sum(sum);
    if (simt_thread_id() == 0)
        put(p, b->first, sum, b->before || b->behind);
}

DEVICE void multiply_part(const struct product *p, const int npt, const int way)
{
    SHARED_DYNAMIC(real, sums);
    SHARED(uint32_t, ends, HOLA_BLOCK * HOLA_NPT / 4);
    SHARED(uint32_t, ranked, HOLA_BLOCK);
    SHARED(int32_t, counts, HOLA_BLOCK / WAVE);
    const int64_t part = p->first + simt_block_id();
    const int64_t wave_begin = (part * simt_block_size() + simt_wave_id() * WAVE) * npt;
    struct share b = {.ends = ends, .ranked = ranked, .counts = counts};
    struct terms t;
    t.whole =
        way & STRIDED ? read_strided(t.c, t.v, p, wave_begin, npt) : read_fours(t.c, t.v, p, wave_begin, npt);
    share_rows(&b, p, part, simt_block_size() * npt);
    gather(&t, p, npt, way);
    if (b.first == b.last)
        multiply_row(p, &b, &t, npt);
    else
        multiply_rows(p, &b, &t, sums, npt, way);
}

#define MULTIPLY_PART(name, npt, way)                                                                        \
    HOLA_KERNEL(name, npt)(struct product p)                                                                 \
    {                                                                                                        \
        multiply_part(&p, npt, way);                                                                         \
    }
MULTIPLY_PART(csr_hola4, 4, 0)
MULTIPLY_PART(csr_hola4_sort, 4, SORT)
MULTIPLY_PART(csr_hola4_strided, 4, STRIDED)
MULTIPLY_PART(csr_hola4_strided_sort, 4, STRIDED | SORT)
MULTIPLY_PART(csr_hola8, 8, 0)
MULTIPLY_PART(csr_hola8_sort, 8, SORT)
MULTIPLY_PART(csr_hola8_strided, 8, STRIDED)
MULTIPLY_PART(csr_hola8_strided_sort, 8, STRIDED | SORT)

#else

static const char *const loads[] = {"vector", "strided"};
static const struct option options[] = {HOLA_OPTIONS, {"load", 0, WORDS(loads)}, {0}};

static const char *const entries[] = {
    "csr_hola4",      "csr_hola4_sort",    "csr_hola4_strided",      "csr_hola4_strided_sort", "csr_hola8",
    "csr_hola8_sort", "csr_hola8_strided", "csr_hola8_strided_sort", "csr_hola_deal",          NULL};

static heddle_status launch(const struct work *w)
{
    return hola_launch(w, entries, w->product.rows);
}

/* row_ptr is read twice. */
static double cost(const struct work *w, const struct stored *s)
{
    return cost_of_streams(w, s) + (double)s->rows * (double)type_size(s->offset);
}

const struct kernel csr_hola = {
    .name = "csr_hola",
    .id = KERNEL_csr_hola,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "hola-spmv-2017 Alg. 2 to 6",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .parts = hola_parts,
    .workspace = hola_workspace,
    .launch = launch,
    .cost = cost,
};
#endif
