/* SPDX-License-Identifier: MIT
 *
 * csr_adaptive: blocks of whole rows, staged in shared memory.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     CSR-adaptive, Greathouse and Daga 2014, as analysed in hola-spmv-2017 section 2.1.  Row
 *            blocks are found once.  There a greedy pass, row after row, packs them; here all are cut at
 *            once (look.c).
 * Balance    a block of threads has one of three kinds of work, about equally much of it (capacity =
 *            threads x npt):
 *            - stream: rows whose number plus entries is at most the capacity; counting rows as well
 *              bounds runs of empty ones.  One lane sums a row, or 2, 4, ... up to a wave, as the lengths
 *              of this very block suggest;
 *            - vector: one row, up to four times the capacity, summed by the whole block;
 *            - long: a piece of a longer row.  Its sum goes to the workspace, and whoever comes last adds
 *              the pieces up.  Nobody waits for anybody.
 * Memory     col and val are streamed, coalesced whatever the rows look like, up to npt of each in flight
 *            a thread, beside the offsets of the rows; x is gathered.  Products go through shared memory,
 *            with a gap every 128 bytes so that rows of 4, 8 or 16 entries do not all begin in the same
 *            bank.  y is written coalesced.  16 bytes a row block are held.
 * Wins       short rows of any mixture of lengths, for the second and later products.
 * Loses      even rows, where one thread a row of a padded format needs neither barrier nor shared memory;
 *            a single product.
 * Order      fixed by the row blocks: bitwise repeatable, for the same options and device.
 */

#include "convert/look.h"

/* What `prepare` tells the kernels: how many row blocks there are, and how many entries one may have. */
enum { BLOCKS, CAPACITY };

#ifdef HEDDLE_DEVICE

/* -------------------------------------------------------- the product ------------------------- */

#define NPT_MOST 8

/* Product k of a block stands here: one place in every 128 bytes (all banks once) stays free. */
DEVICE int slot(int k)
{
    return k + (int)((unsigned)k / (128 / sizeof(real)));
}

DEVICE int at_most(int i, int most)
{
    return i < most ? i : most;
}

/* Products of the entries thread, thread + threads, ... from `begin` on, npt of them.  Behind the end,
 * which must be behind the beginning, the last one is repeated: loads without conditions are all under way
 * at once, col and val before the first x. */
DEVICE void multiply(real *product, const struct product *p, int64_t begin, int entries, const int threads,
                     const int npt)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
    const real *RESTRICT x = (const real *)p->x;
    idx c[NPT_MOST];
    for (int i = 0; i < npt; i++) {
        const int k = at_most(simt_thread_id() + i * threads, entries - 1);
        c[i] = simt_stream(col + k);
        product[i] = simt_stream(val + k);
    }
    for (int i = 0; i < npt; i++)
        product[i] *= simt_readonly(x + c[i]);
}

/* Every thread of the wave stays until the last row of the block is done, as in csr_vector. */
DEVICE void sum_rows(const struct product *p, struct row_block mine, int rows, const real *staged,
                     const uint16_t *offset)
{
    const int shift = mine.work - 1, lanes = 1 << shift, lane = simt_lane() & (lanes - 1);
    for (int first = 0; first < rows; first += simt_block_size() >> shift) {
        const int row = first + (simt_thread_id() >> shift);
        real sum = 0;
        if (row < rows) {
            int k = offset[row] + lane;
            for (int left = (offset[row + 1] - k + lanes - 1) >> shift; left > 0; left--, k += lanes)
                sum += staged[slot(k)];
        }
        for (int by = lanes / 2; by > 0; by /= 2)
            sum += simt_shfl_xor(sum, by, WAVE);
        if (lane == 0 && row < rows)
            store_sum(p, mine.row + row, sum);
    }
}

/* Offsets within a block fit into 16 bits.  The first two of a thread travel with its entries; more are
 * rare. */
DEVICE void stream(const struct product *p, struct row_block mine, struct row_block next, real *staged,
                   const int threads, const int npt)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    uint16_t *offset = (uint16_t *)(staged + slot(threads * npt));
    const int entries = (int)(next.begin - mine.begin), rows = next.row - mine.row, thread = simt_thread_id();
    const off one = simt_readonly(row_ptr + at_most(thread, rows));
    const off two = simt_readonly(row_ptr + at_most(thread + threads, rows));
    if (entries > 0) {
        real product[NPT_MOST];
        multiply(product, p, mine.begin, entries, threads, npt);
        for (int i = 0; i < npt; i++)
            staged[slot(thread) + i * slot(threads)] = product[i];
    }
    if (thread <= rows)
        offset[thread] = (uint16_t)(one - mine.begin);
    if (thread + threads <= rows)
        offset[thread + threads] = (uint16_t)(two - mine.begin);
    for (int i = thread + 2 * threads; i <= rows; i += threads)
        offset[i] = (uint16_t)(simt_readonly(row_ptr + i) - mine.begin);
    simt_sync();
    sum_rows(p, mine, rows, staged, offset);
}

/* A row, or a piece of one, by the whole block. */
DEVICE void one_row(const struct product *p, struct row_block mine, struct row_block next, const int threads,
                    const int npt)
{
    real product[NPT_MOST], sum = 0;
    for (int64_t begin = mine.begin; begin < next.begin; begin += threads * npt) {
        const int64_t left = next.begin - begin;
        const int entries = left < threads * npt ? (int)left : threads * npt;
        multiply(product, p, begin, entries, threads, npt);
        for (int i = 0; i < npt; i++)
            sum += simt_thread_id() + i * threads < entries ? product[i] : 0;
    }
    store_one_row(p, mine, block_sum(sum), p->fact[CAPACITY]);
}

DEVICE void row_blocks(const struct product *p, const int threads, const int npt)
{
    SHARED_DYNAMIC(real, staged);
    const struct row_block *RESTRICT block = (const struct row_block *)p->prepared;
    for (int64_t b = simt_block_id(); b < p->fact[BLOCKS]; b += simt_grid_size()) {
        const struct row_block mine = block[b], next = block[b + 1];
        if (b >= simt_grid_size())
            simt_sync(); /* the block before has been summed */
        if (mine.work > 0)
            stream(p, mine, next, staged, threads, npt);
        else
            one_row(p, mine, next, threads, npt);
    }
}

/* A kernel per shape, so that loads are unrolled and stand at constant distances. */
KERNEL_BOUND(csr_adaptive_128x4, 128)(struct product p)
{
    row_blocks(&p, 128, 4);
}
KERNEL_BOUND(csr_adaptive_128x8, 128)(struct product p)
{
    row_blocks(&p, 128, 8);
}
KERNEL_BOUND(csr_adaptive_256x4, 256)(struct product p)
{
    row_blocks(&p, 256, 4);
}
KERNEL_BOUND(csr_adaptive_256x8, 256)(struct product p)
{
    row_blocks(&p, 256, 8);
}
KERNEL_BOUND(csr_adaptive_512x4, 512)(struct product p)
{
    row_blocks(&p, 512, 4);
}
KERNEL_BOUND(csr_adaptive_512x8, 512)(struct product p)
{
    row_blocks(&p, 512, 8);
}

#else
#include "kernel/kernel.h"

static const struct option options[] = {
    {"threads", 256, VALUES(128, 256, 512)},
    {"npt", 0, VALUES(0, 4, 8)},
    {0},
};
enum { OPTION_THREADS, OPTION_NPT };

static const char *const entries[] = {
    "csr_adaptive_128x4",
    "csr_adaptive_128x8",
    "csr_adaptive_256x4",
    "csr_adaptive_256x8",
    "csr_adaptive_512x4",
    "csr_adaptive_512x8",
    NULL,
};

/* Automatic: 8; on AMD, whose multiprocessors have less shared memory, 4, which with 256 threads is the
 * original's block. */
static int64_t npt_of(const struct work *w)
{
    return w->option[OPTION_NPT] ? w->option[OPTION_NPT] : gpu_arch(w->device->gpu)->amd ? 4 : 8;
}

static int64_t capacity_of(const struct work *w)
{
    return w->option[OPTION_THREADS] * npt_of(w);
}

/* So much smaller than the capacity that the last row of a window, if it is not much longer than others,
 * fits into the block; and smaller where there would be too few blocks for the device. */
#define BLOCKS_EACH 4 /* a multiprocessor */
#define LONG 4        /* capacities of a row that is not cut */
static int64_t window_of(const struct work *w)
{
    const struct product *p = &w->product;
    int64_t capacity = capacity_of(w), slack = p->rows ? 4 * (p->nnz / p->rows) : 0;
    int64_t share = (p->nnz + p->rows) / (BLOCKS_EACH * gpu_info_of(w->device->gpu)->multiprocessors);
    slack = slack < 32 ? 32 : slack > capacity / 4 ? capacity / 4 : slack;
    if (share > capacity - slack)
        return capacity - slack;
    return share > w->option[OPTION_THREADS] ? share : w->option[OPTION_THREADS];
}

static struct row_cut cut_of(const struct work *w)
{
    return (struct row_cut){.window = window_of(w),
                            .capacity = capacity_of(w),
                            .whole = LONG * capacity_of(w),
                            .piece = capacity_of(w),
                            .threads = w->option[OPTION_THREADS],
                            .delays = 1};
}

static int64_t held(const struct work *w)
{
    return look_bytes(w, cut_of(w));
}

static int64_t workspace(const struct work *w)
{
    return look_pieces(w, cut_of(w)) * (int64_t)type_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return look_pieces(w, cut_of(w)) * (int64_t)sizeof(int32_t);
}

static heddle_status prepare(struct work *w)
{
    struct looked looked = {{0}, 0};
    heddle_status status = gpu_look(&looked, w, cut_of(w));
    w->product.fact[BLOCKS] = looked.result[LOOKED_BLOCKS];
    w->product.fact[CAPACITY] = capacity_of(w);
    return status;
}

/* Shared memory: the products with their gaps, and an offset a row. */
static heddle_status launch(const struct work *w)
{
    int64_t threads = w->option[OPTION_THREADS], capacity = capacity_of(w),
            value = (int64_t)type_size(w->value);
    int64_t shared =
        capacity * value + capacity * value / 128 * value + (capacity + 1) * (int64_t)sizeof(uint16_t);
    int entry = (threads == 128 ? 0 : threads == 256 ? 2 : 4) + (npt_of(w) == 8);
    return gpu_run(w, entries[entry], gpu_grid(w, w->product.fact[BLOCKS], threads), (int)threads, shared);
}

static double cost(const struct work *w, const struct stored *s)
{
    return cost_of_streams(w, s) +
           (double)((w->product.nnz + w->product.rows) / window_of(w) * (int64_t)sizeof(struct row_block));
}

const struct kernel csr_adaptive = {
    .name = "csr_adaptive",
    .id = KERNEL_csr_adaptive,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "CSR-adaptive, Greathouse and Daga 2014; hola-spmv-2017 section 2.1",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .workspace = workspace,
    .counters = counters,
    .held = held,
    .prepare = prepare,
    .launch = launch,
    .cost = cost,
};
#endif
