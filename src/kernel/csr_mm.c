/* SPDX-License-Identifier: MIT
 *
 * csr_mm: several vectors at once from plain CSR, for any matrix.
 *
 * Computes   Y = alpha A X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     Heddle.  Lanes along the vectors are how everybody multiplies with a dense matrix (Yang, Buluç
 *            and Owens 2018; GE-SpMM, Huang et al. 2020); row blocks are those of csr_weave.
 * Balance    a block of threads has a row block of the look and a tile of the vectors (mm.h): each row has a
 *            group of lanes, one that is long for it the whole block; a piece of a longer one leaves sums in
 *            the workspace, and whoever comes last adds them up.
 * Memory     a group reads as many entries as it has lanes, whole sectors of col and val, and hands them
 *            round by shuffles.  Where the vectors of an entry lie side by side (by rows) a lane gathers 16
 *            bytes of X; where they lie apart (by columns) it gathers from each of a few, or they are
 *            brought side by side first, whichever moves fewer bytes.  Tiles of one row block run beside each
 *            other, so that A comes from memory once and then from L2.
 * Wins       everywhere against one product after another.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */
#include "kernel/mm.h"

/* Bytes that a lane gathers side by side; vectors that it gathers from where they lie apart. */
#define WIDE_BYTES 16
#define APART(real_bytes) ((real_bytes) >= 32 ? 1 : 32 / (int)(real_bytes))
/* Lanes along the vectors, at most: side by side, and one number each. */
#define LANES_WIDE 16
#define LANES_SINGLE 32

#ifdef HEDDLE_DEVICE

/* How a lane's vectors lie: side by side, aligned, and all or none of them there; or anyhow. */
enum { SIDE_BY_SIDE, ANYHOW };

#define EACH_MOST 8 /* vectors of a lane */
struct sums {
    real v[EACH_MOST];
};

/* 8 or 16 bytes at once. */
struct half {
    real v[sizeof(real) > 8 ? 1 : 8 / sizeof(real)];
} __attribute__((aligned(8)));
struct wide {
    real v[sizeof(real) > 16 ? 1 : 16 / sizeof(real)];
} __attribute__((aligned(16)));

DEVICE void gather(real *to, const real *x, int64_t step, int there, const int each, const int how)
{
    if (how == SIDE_BY_SIDE && each * sizeof(real) == 16) {
        const struct wide w = *(const struct wide *)(const void *)x;
        for (int i = 0; i < each; i++)
            to[i] = w.v[i];
    } else if (how == SIDE_BY_SIDE && each * sizeof(real) == 8) {
        const struct half w = *(const struct half *)(const void *)x;
        for (int i = 0; i < each; i++)
            to[i] = w.v[i];
    } else {
        for (int i = 0; i < each; i++)
            to[i] = i < there ? simt_readonly(x + i * step) : (real)0;
    }
}

/* What a lane multiplies with. */
struct gathered {
    const real *x; /* of its first vector */
    struct steps step;
    int there; /* vectors, from that on */
};

/* Adds `batch` entries, from the q-th of its slot on: all their numbers of X are under way together. */
DEVICE void add_batch(struct sums *sum, const struct handful *e, const struct gathered *from, int q,
                      struct place at, const int batch, const int lanes, const int each, const int how)
{
    const int group = 1 << at.shift;
    real g[UNDER_WAY][EACH_MOST];
    for (int b = 0; b < batch; b++) {
        const int round = lanes < UNDER_WAY ? (q + b) / lanes : 0, i = (q + b) % lanes * at.slots + at.slot;
        const idx column = lanes == 1 ? e->column[round] : simt_shfl(e->column[round], i, group);
        for (int v = 0; v < each; v++)
            g[b][v] = 0;
        if (round * group + i < e->left && from->there > 0)
            gather(g[b], from->x + column * from->step.entry, from->step.vector, from->there, each, how);
    }
    for (int b = 0; b < batch; b++) {
        const int round = lanes < UNDER_WAY ? (q + b) / lanes : 0, i = (q + b) % lanes * at.slots + at.slot;
        const real value = lanes == 1 ? e->value[round] : simt_shfl(e->value[round], i, group);
        for (int v = 0; v < each; v++)
            sum->v[v] += times(value, g[b][v]); /* behind the end both are 0 */
    }
}

/* A thread's share of n entries from `from` on, the first of which are read already, for its vectors from v
 * on.  A group comes here together. */
DEVICE struct sums sum_share(const struct product *p, struct handful e, int64_t from, int n, int64_t v,
                             struct place at, const int lanes, const int each, const int how)
{
    struct gathered x;
    struct sums sum;
    x.x = (const real *)p->x + v * p->x_step.vector;
    x.step = p->x_step;
    x.there = (int)(p->vectors - v);
    for (int i = 0; i < each; i++)
        sum.v[i] = 0;
    SIMT_ROLLED
    for (int k = 0; k < n; k += TAKEN(lanes) << at.shift) {
        if (k > 0)
            e = take(p, from + k, n - k, at, lanes);
        if (lanes > UNDER_WAY) {
            SIMT_ROLLED
            for (int q = 0; q < lanes; q += UNDER_WAY)
                add_batch(&sum, &e, &x, q, at, UNDER_WAY, lanes, each, how);
        } else if (each > 4) {
            add_batch(&sum, &e, &x, 0, at, UNDER_WAY / 2, lanes, each, how);
            add_batch(&sum, &e, &x, UNDER_WAY / 2, at, UNDER_WAY / 2, lanes, each, how);
        } else {
            add_batch(&sum, &e, &x, 0, at, UNDER_WAY, lanes, each, how);
        }
    }
    for (int by = lanes * at.slots / 2; by >= lanes; by /= 2)
        for (int i = 0; i < each; i++)
            sum.v[i] += simt_shfl_xor(sum.v[i], by, 1 << at.shift);
    return sum;
}

/* A group has the sums of a row.  Where its vectors lie apart, slots share the work. */
DEVICE void store_row(const struct product *p, int64_t row, int64_t v, const struct sums *sum,
                      struct place at, const int each, const int how)
{
    real *const y = (real *)p->y + row * p->y_step.entry + v * p->y_step.vector;
    const real alpha = alpha_of(p), beta = beta_of(p);
    if (how == SIDE_BY_SIDE && each * sizeof(real) == 16 && p->dim[MM_WIDE_Y]) {
        if (at.slot == 0 && v < p->vectors) {
            struct wide w;
            if (beta != 0)
                w = *(struct wide *)(void *)y;
            for (int i = 0; i < each; i++)
                store(&w.v[i], alpha, sum->v[i], beta);
            *(struct wide *)(void *)y = w;
        }
        return;
    }
    for (int i = 0; i < each; i++)
        if ((i & (at.slots - 1)) == at.slot && v + i < p->vectors)
            store(y + i * p->y_step.vector, alpha, sum->v[i], beta);
}

/* n entries of one row by all threads of the block; of a tile of `width` vectors, thread v has the sum of the
 * v-th. */
#define TILE_MOST 64
DEVICE real sum_by_block(const struct product *p, int64_t from, int n, int64_t tile, const int lanes,
                         const int each, const int how)
{
    SHARED(real, part, BLOCK / 32 * TILE_MOST);
    const struct place at = place_in(wave_shift(), lanes);
    const int width = lanes * each, thread = simt_thread_id();
    int begin;
    const int mine = wave_share(n, &begin);
    const struct handful first = take(p, from + begin, mine, at, lanes);
    const struct sums sum =
        sum_share(p, first, from + begin, mine, tile + at.lane * each, at, lanes, each, how);
    real all = 0;
    simt_sync();
    for (int i = 0; i < each; i++)
        if (at.slot == 0)
            part[simt_wave_id() * width + at.lane * each + i] = sum.v[i];
    simt_sync();
    SIMT_ROLLED
    for (int w = 0; thread < width && w < simt_waves(); w++)
        all += part[w * width + thread];
    return all;
}

/* Pieces of a row leave their sums in the workspace; whoever comes last adds them up, in the order of their
 * numbers. */
DEVICE void store_piece(const struct product *p, struct row_block mine, int64_t tile, real sum,
                        const int width)
{
    SHARED(int32_t, arrived, 1);
    SHARED(real, part, BLOCK);
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    const int64_t size = p->fact[LOOK_PIECE], piece = -1 - mine.work;
    const int64_t first = piece - (mine.begin - row_ptr[0]) / size;
    const int64_t pieces = (row_ptr[1] - row_ptr[0] + size - 1) / size;
    const int thread = simt_thread_id(), v = thread % width, turn = thread / width, turns = BLOCK / width;
    real *const left = (real *)p->workspace + tile;
    int32_t *const counter = p->counters + first * p->dim[MM_TILES] + tile / width;
    if (thread < width && tile + thread < p->vectors) {
        left[piece * p->vectors + thread] = sum;
        simt_fence();
    }
    simt_sync();
    if (thread == 0)
        *arrived = simt_atomic_add(counter, 1);
    simt_sync();
    if (*arrived != pieces - 1)
        return;
    simt_fence();
    sum = 0;
    SIMT_ROLLED
    for (int64_t i = turn; i < pieces; i += turns)
        sum += tile + v < p->vectors ? left[(first + i) * p->vectors + v] : (real)0;
    part[thread] = sum;
    simt_sync();
    SIMT_ROLLED
    for (int i = 1; turn == 0 && i < turns; i++)
        sum += part[i * width + v];
    if (turn == 0 && tile + v < p->vectors)
        store_sum(p, mine.row * p->y_step.entry + (tile + v) * p->y_step.vector, sum);
    if (thread == 0)
        *counter = 0;
}

DEVICE void several_rows(const struct product *p, const struct lot *l, const int lanes, const int each,
                         const int how)
{
    SHARED(struct long_rows, longs, 1);
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + l->mine.row;
    const struct place at = place_in(group_shift(l, lanes), lanes);
    const int thread = simt_thread_id(), most = longest_for(l, at, lanes);
    const int64_t v = l->tile + at.lane * each;
    if (thread == 0)
        longs->count = 0;
    simt_sync();
    struct walk w = walk_from(p, l, at, lanes);
    SIMT_ROLLED
    while (w.row < w.rows) {
        const struct met now = walk_on(p, &w, at, lanes);
        if (now.n > most) {
            if (at.slot == 0 && at.lane == 0)
                longs->row[simt_atomic_add(&longs->count, 1)] = now.row;
        } else {
            const struct sums sum = sum_share(p, now.first, now.from, now.n, v, at, lanes, each, how);
            store_row(p, l->mine.row + now.row, v, &sum, at, each, how);
        }
    }
    simt_sync();
    SIMT_ROLLED
    for (int i = 0; i < longs->count; i++) {
        const int64_t done = longs->row[i], from = row_ptr[done];
        const real sum = sum_by_block(p, from, (int)(row_ptr[done + 1] - from), l->tile, lanes, each, how);
        if (thread < lanes * each && l->tile + thread < p->vectors)
            store_sum(p, (l->mine.row + done) * p->y_step.entry + (l->tile + thread) * p->y_step.vector, sum);
    }
}

DEVICE void multiply(const struct product *p, const int lanes, const int each, const int how)
{
    const struct lot l = lot_of(p, lanes * each);
    const int64_t v = l.tile + simt_thread_id();
    if (l.mine.work > 0) {
        several_rows(p, &l, lanes, each, how);
        return;
    }
    if (l.part > 0)
        return;
    const real sum =
        sum_by_block(p, l.mine.begin, (int)(l.next.begin - l.mine.begin), l.tile, lanes, each, how);
    if (l.mine.work < ONE_ROW)
        store_piece(p, l.mine, l.tile, sum, lanes * each);
    else if (simt_thread_id() < lanes * each && v < p->vectors)
        store_sum(p, l.mine.row * p->y_step.entry + v * p->y_step.vector, sum);
}

/* A kernel per number of lanes along the vectors and of vectors a lane, so that loads are unrolled. */
#define RESIDENT (sizeof(real) + sizeof(off) == 8 ? 4 : 3)
#define RESIDENT_APART (sizeof(real) + sizeof(off) == 8 ? 3 : 2)
#define SIDE_BY_SIDE_OF(name, lanes)                                                                         \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT)(struct product p)                                                 \
    {                                                                                                        \
        multiply(&p, lanes, sizeof(real) >= WIDE_BYTES ? 1 : WIDE_BYTES / sizeof(real), SIDE_BY_SIDE);       \
    }
SIDE_BY_SIDE_OF(csr_mm_wide1, 1)
SIDE_BY_SIDE_OF(csr_mm_wide2, 2)
SIDE_BY_SIDE_OF(csr_mm_wide4, 4)
SIDE_BY_SIDE_OF(csr_mm_wide8, 8)
SIDE_BY_SIDE_OF(csr_mm_wide16, 16)

KERNEL_RESIDENT(csr_mm_half, BLOCK, RESIDENT)(struct product p)
{
    multiply(&p, 1, sizeof(real) >= 8 ? 1 : 8 / sizeof(real), SIDE_BY_SIDE);
}

#define SINGLE_OF(name, lanes)                                                                               \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT)(struct product p)                                                 \
    {                                                                                                        \
        multiply(&p, lanes, 1, ANYHOW);                                                                      \
    }
SINGLE_OF(csr_mm_single1, 1)
SINGLE_OF(csr_mm_single2, 2)
SINGLE_OF(csr_mm_single4, 4)
SINGLE_OF(csr_mm_single8, 8)
SINGLE_OF(csr_mm_single16, 16)
SINGLE_OF(csr_mm_single32, 32)

#define APART_OF(name, each)                                                                                 \
    KERNEL_RESIDENT(name, BLOCK, RESIDENT_APART)(struct product p)                                           \
    {                                                                                                        \
        multiply(&p, 1, each < APART(sizeof(real)) ? each : APART(sizeof(real)), ANYHOW);                    \
    }
APART_OF(csr_mm_apart2, 2)
APART_OF(csr_mm_apart4, 4)
APART_OF(csr_mm_apart8, 8)

#else
#include "convert/service.h"

/* way=...: one of them where it can be had, for the tests. */
static const char *const words[] = {"auto", "single", "apart", "gathered"};
enum { AUTO, SINGLE, APART_EACH, GATHERED };
static const struct option options[] = {
    {"way", AUTO, WORDS(words)},
    {0},
};

static const char *const entries[] = {
    "csr_mm_wide1",   "csr_mm_wide2",   "csr_mm_wide4",    "csr_mm_wide8",
    "csr_mm_wide16",  "csr_mm_half",    "csr_mm_single1",  "csr_mm_single2",
    "csr_mm_single4", "csr_mm_single8", "csr_mm_single16", "csr_mm_single32",
    "csr_mm_apart2",  "csr_mm_apart4",  "csr_mm_apart8",   NULL};
enum { WIDE_1 = 0, HALF = 5, SINGLE_1 = 6, APART_2 = 12 };

static int64_t rounded(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int64_t pieces_bytes(const struct work *w)
{
    return rounded(look_pieces(w, look_cut(w)) * mm_smaller(w->product.vectors, VECTORS_MOST) *
                   (int64_t)vector_size(w->value));
}

/* Sums of pieces, and X brought side by side where its vectors lie apart. */
static int64_t workspace(const struct work *w)
{
    const int64_t size = (int64_t)vector_size(w->value),
                  vectors = mm_smaller(w->product.vectors, VECTORS_MOST);
    const int64_t copied = w->product.x_step.vector == 1 ? 0 : w->product.cols * vectors * size;
    return pieces_bytes(w) + copied;
}

static int64_t counters(const struct work *w)
{
    return look_pieces(w, look_cut(w)) * mm_smaller(w->product.vectors, VECTORS_MOST) *
           (int64_t)sizeof(int32_t);
}

static int is_aligned(const void *p, struct steps step, int64_t size, int64_t vectors, int64_t to)
{
    return step.vector == 1 && (uintptr_t)p % (uintptr_t)to == 0 && step.entry * size % to == 0 &&
           vectors * size % to == 0;
}

/* Entries with their neighbours in the same sector: along a row, or where lanes have rows, among them. */
static double close_of(const struct work *w)
{
    const double along = look_share(w, COLUMNS_CLOSE), among = look_share(w, COLUMNS_NEXT);
    return along > among ? along : among;
}

/* Vectors lie apart: are fewer bytes moved if they are brought side by side first?  Another launch counts as
 * what is moved meanwhile. */
#define SECTOR 32.
#define LAUNCH_BYTES 1e7
static int should_gather(const struct work *w)
{
    const struct product *p = &w->product;
    const double size = (double)vector_size(w->value), k = (double)p->vectors, nnz = (double)p->nnz;
    const double tiles = (double)((p->vectors + APART(size) - 1) / APART(size)), close = close_of(w);
    const double apart = nnz * (k * (close * size + (1 - close) * SECTOR) + tiles * (size + sizeof(int32_t)));
    const double row = (double)((int64_t)((k * size + SECTOR - 1) / SECTOR)) * SECTOR;
    const double gathered =
        LAUNCH_BYTES + 2 * k * size * (double)p->cols + nnz * (row + size + sizeof(int32_t));
    return w->option[0] == AUTO ? gathered < apart : w->option[0] == GATHERED;
}

static heddle_status gather_first(struct work *w)
{
    struct product *p = &w->product;
    const struct relayout r = {.n = p->cols,
                               .vectors = p->vectors,
                               .from = p->x,
                               .to = (char *)p->workspace + pieces_bytes(w),
                               .from_step = p->x_step,
                               .to_step = {p->vectors, 1}};
    p->x = r.to;
    p->x_step = r.to_step;
    return gpu_relayout(w->device, w->value, &r);
}

/* The power of two that is not below n, up to `most`, as a number of doublings. */
static int doublings(int64_t n, int64_t most)
{
    int i = 0;
    while ((int64_t)1 << i < n && (int64_t)1 << i < most)
        i++;
    return i;
}

static heddle_status launch_some(struct work *w)
{
    heddle_status status = HEDDLE_OK;
    struct product *p = &w->product;
    const int64_t size = (int64_t)vector_size(w->value), vectors = p->vectors;
    if (p->x_step.vector != 1 && vectors > 1 && w->option[0] != SINGLE && should_gather(w))
        TRY(gather_first(w));
    p->dim[MM_WIDE_Y] = is_aligned(p->y, p->y_step, size, vectors, WIDE_BYTES);
    if (is_aligned(p->x, p->x_step, size, vectors, WIDE_BYTES) && w->option[0] != SINGLE) {
        const int64_t each = WIDE_BYTES / size;
        const int i = doublings(vectors / each, LANES_WIDE);
        TRY(mm_launch(w, entries[WIDE_1 + i], each << i));
    } else if (is_aligned(p->x, p->x_step, size, vectors, 8) && vectors * size == 8 &&
               w->option[0] != SINGLE) {
        TRY(mm_launch(w, entries[HALF], vectors));
    } else if (p->x_step.vector == 1 || vectors == 1 || APART(size) == 1 || w->option[0] == SINGLE) {
        const int i = doublings(vectors, LANES_SINGLE);
        TRY(mm_launch(w, entries[SINGLE_1 + i], (int64_t)1 << i));
    } else {
        const int i = doublings(vectors, APART(size));
        TRY(mm_launch(w, entries[APART_2 + i - 1], (int64_t)1 << i));
    }
done:
    return status;
}

static heddle_status launch(const struct work *w)
{
    return mm_launch_all(w, launch_some);
}

const struct kernel csr_mm = {
    .name = "csr_mm",
    .id = KERNEL_csr_mm,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .options = options,
    .many = 1,
    .repeatable = 1,
    .entries = entries,
    .workspace = workspace,
    .counters = counters,
    .held = look_held,
    .prepare = look_prepare,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
