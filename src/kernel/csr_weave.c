/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, for any matrix, in one launch.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and
 *            Daga 2014); that the last of several blocks finishes what they share is an old trick of
 *            reductions.
 * Balance    a look at the row offsets (look.c), once a matrix, has cut it into row blocks of about equal
 *            work.  A block of threads reads its own and does what it says:
 *            - several rows: their products are staged in shared memory, a thread taking every BLOCK-th
 *              entry whatever row it belongs to, and a row is then summed by the lanes that suit this row
 *              block; one that is long for them, by its wave;
 *            - one row, by all threads;
 *            - a piece of a long row, likewise; whoever comes last adds the pieces up.  Nobody waits for
 *              anybody.
 *            Where every row is so short that its lanes have done it in two rounds, or all are long and
 *            about as long as each other, there is nothing to balance: then these read it directly, and
 *            nobody needs row blocks.
 * Memory     val and col are streamed past the caches, each once and by whole lines; x is gathered.  A
 *            product waits for memory three times in a row: for the row block (or the offsets, where rows
 *            are read directly), for the entries, and for x; offsets come beside the entries.  While a
 *            block waits for the first, it prefetches the same of one that comes later.
 * Wins       middle-sized and uneven matrices.
 * Loses      against formats that store fewer bytes or put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */
#include "convert/look.h"

/* product.fact[LOOK_OWN]: how many blocks of threads, or rows, ahead of one's own the prefetch goes.  Where
 * rows are read directly, instead of LOOK_PIECE: of how many rows L2 keeps the entries for the next product;
 * those of others only pass through. */
#define WEAVE_AHEAD LOOK_OWN
#define WEAVE_KEPT LOOK_PIECE

/* Threads of a block that has a row block, and how many such a multiprocessor should have registers for. */
#define BLOCK LOOK_THREADS
#define RESIDENT LOOK_RESIDENT
/* The same for blocks whose rows are read directly; 16 lanes have more entries under way. */
#define RESIDENT_ROWS(real_bytes, lanes)                                                                     \
    ((real_bytes) == 4 ? 8 : (real_bytes) == 8 ? ((lanes) == 16 ? 5 : 6) : 3)

/* Entries that a lane has under way. */
#define UNDER_WAY 4
#define STAGED_WAY (sizeof(real) == 16 ? 4 : 8) /* of a row block */
#define DEEP 8                                  /* of a row that one lane has alone */
#define WIDE 6                                  /* of a long row that 16 lanes have */

#ifdef HEDDLE_DEVICE

/* -------------------------------------------------------- rows that are read directly --------- */

/* Rows of a few entries a lane: most are one round.  The prefetch is for the block that comes when this
 * one has gone.  `passing`: bytes count, and not how long a thread waits; not all entries are kept. */
DEVICE void short_rows(const struct product *p, const int lanes, const int under_way, const int passing)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const real *RESTRICT x = (const real *)p->x;
    const int height = SIMT_USUAL_BLOCK / lanes, lane = simt_thread_id() % lanes;
    const uint32_t rows = (uint32_t)p->rows,
                   first = (uint32_t)p->first + (uint32_t)(simt_block_id() * height);
    const uint32_t row = first + (uint32_t)(simt_thread_id() / lanes),
                   ahead = first + (uint32_t)p->fact[WEAVE_AHEAD];
    const off begin = simt_readonly(row_ptr + (row < rows ? row : rows));
    const int n = (int)(simt_readonly(row_ptr + (row < rows ? row + 1 : rows)) - begin) - lane;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin + lane;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + begin + lane;
    real sum = 0;
    if (passing) {
        col = simt_passing_if(first >= (uint32_t)p->fact[WEAVE_KEPT], col);
        val = simt_passing_if(first >= (uint32_t)p->fact[WEAVE_KEPT], val);
    }
    if (simt_thread_id() == 0 && ahead < rows)
        simt_prefetch(row_ptr + ahead,
                      (rows - ahead < (uint32_t)height ? rows - ahead : (uint32_t)height) * sizeof(off));
    SIMT_ROLLED
    for (int k = 0; k < n; k += under_way * lanes) {
        idx c[DEEP];
        elem v[DEEP];
        for (int i = 0; i < under_way; i++) {
            c[i] = k + i * lanes >= n    ? 0
                 : lanes < 16 || passing ? simt_readonly(col + k + i * lanes)
                                         : simt_stream(col + k + i * lanes);
            v[i] = k + i * lanes >= n    ? 0
                 : lanes < 16 || passing ? simt_readonly(val + k + i * lanes)
                                         : simt_stream(val + k + i * lanes);
        }
        for (int i = 0; lanes > 1 && !passing && i < under_way; i++)
            c[i] = simt_with(c[i], v[i]); /* few threads: val should come with col, not behind it */
        for (int i = 0; i < under_way; i++)
            sum += k + i * lanes < n ? term(p, v[i], simt_readonly(x + c[i])) : 0;
    }
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < rows)
        store_sum(p, row, sum);
}

/* A kernel per number of lanes, so that loads are unrolled. */
#define SHORT_ROWS(name, lanes, under_way, passing)                                                          \
    KERNEL_RESIDENT(name, SIMT_USUAL_BLOCK, RESIDENT_ROWS(sizeof(real), lanes))(struct product p)            \
    {                                                                                                        \
        short_rows(&p, lanes, under_way, passing);                                                           \
    }
SHORT_ROWS(csr_weave1, 1, UNDER_WAY, 0)
SHORT_ROWS(csr_weave1_deep, 1, DEEP, 0)
SHORT_ROWS(csr_weave1_passing, 1, UNDER_WAY, 1)
SHORT_ROWS(csr_weave1_deep_passing, 1, DEEP, 1)
SHORT_ROWS(csr_weave2, 2, UNDER_WAY, 0)
SHORT_ROWS(csr_weave4, 4, UNDER_WAY, 0)
SHORT_ROWS(csr_weave8, 8, UNDER_WAY, 0)
SHORT_ROWS(csr_weave16, 16, WIDE, 0)
SHORT_ROWS(csr_weave16_passing, 16, WIDE, 1)
SHORT_ROWS(csr_weave32, 32, UNDER_WAY, 0)

/* -------------------------------------------------------- row blocks -------------------------- */

/* The products of n entries that begin at `from`, into the tile.  In single precision x is read for missing
 * entries, too: each would take one of 7 predicates until its x has come. */
DEVICE void stage(const struct product *p, real *tile, int64_t from, int n)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + from;
    const real *RESTRICT x = (const real *)p->x;
    SIMT_ROLLED
    for (int k = first_entry((off)from, simt_thread_id()); k < n; k += STAGED_WAY * BLOCK) {
        idx c[STAGED_WAY];
        elem v[STAGED_WAY];
        for (int i = 0; i < STAGED_WAY; i++) {
            c[i] = simt_stream_if(has_entry(k, i * BLOCK, n), col + k + i * BLOCK);
            v[i] = simt_stream_if(has_entry(k, i * BLOCK, n), val + k + i * BLOCK);
        }
        real g[STAGED_WAY]; /* all under way before the first is needed */
        for (int i = 0; i < STAGED_WAY; i++)
            g[i] = sizeof(real) == 4 || has_entry(k, i * BLOCK, n) ? simt_readonly(x + c[i]) : 0;
        for (int i = 0; i < STAGED_WAY; i++)
            if (has_entry(k, i * BLOCK, n))
                tile[k + i * BLOCK] = term(p, v[i], g[i]);
    }
}

/* The sum of entries begin to end of the tile, one's own row, by its lanes; a row that is long for them by
 * all lanes of the wave, one such row after another.  The first of the lanes has it in the end. */
#define STAGED 32 /* entries a lane */
DEVICE real row_sum(const real *tile, int begin, int end, int lanes)
{
    const int lane = simt_lane() & (lanes - 1), is_long = end - begin > STAGED * lanes;
    real sum = 0;
    SIMT_ROLLED
    for (int k = is_long ? end : begin + lane; k < end; k += 4 * lanes)
        for (int i = 0; i < 4; i++)
            sum += k + i * lanes < end ? tile[k + i * lanes] : 0;
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    for (uint64_t todo = simt_ballot(is_long && lane == 0); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1, from = simt_shfl(begin, owner, WAVE),
                  to = simt_shfl(end, owner, WAVE);
        real other = 0;
        SIMT_ROLLED
        for (int k = from + simt_lane(); k < to; k += 2 * WAVE)
            for (int i = 0; i < 2; i++)
                other += k + i * WAVE < to ? tile[k + i * WAVE] : 0;
        other = wave_sum(other, WAVE);
        if (simt_lane() == owner)
            sum = other;
    }
    return sum;
}

/* The offsets of the first row of a thread are asked for with its first entries, those of others while
 * sums are stored. */
DEVICE void several_rows(const struct product *p, struct row_block mine, struct row_block next, real *tile)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR] + mine.row;
    const int rows = next.row - mine.row, shift = mine.work - 1, lanes = 1 << shift;
    int row = simt_thread_id() >> shift;
    off begin = simt_readonly(row_ptr + (row < rows ? row : rows)),
        end = simt_readonly(row_ptr + (row < rows ? row + 1 : rows));
    stage(p, tile, mine.begin, (int)(next.begin - mine.begin));
    simt_sync();
    SIMT_ROLLED
    for (int first = simt_wave_id() * WAVE >> shift; first < rows;
         first += BLOCK >> shift) { /* that of the wave */
        const real sum = row_sum(tile, (int)(begin - mine.begin), (int)(end - mine.begin), lanes);
        const int done = row;
        row += BLOCK >> shift;
        begin = simt_readonly(row_ptr + (row < rows ? row : rows));
        end = simt_readonly(row_ptr + (row < rows ? row + 1 : rows));
        if ((simt_lane() & (lanes - 1)) == 0 && done < rows)
            store_sum(p, mine.row + done, sum);
    }
}

/* The share of a thread in n entries of one row. */
DEVICE real share(const struct product *p, int64_t from, int n)
{
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + from;
    const real *RESTRICT x = (const real *)p->x;
    real sum = 0;
    SIMT_ROLLED
    for (int k = first_entry((off)from, simt_thread_id()); k < n; k += STAGED_WAY * BLOCK) {
        idx c[STAGED_WAY];
        elem v[STAGED_WAY];
        for (int i = 0; i < STAGED_WAY; i++) {
            c[i] = simt_stream_if(has_entry(k, i * BLOCK, n), col + k + i * BLOCK);
            v[i] = simt_stream_if(has_entry(k, i * BLOCK, n), val + k + i * BLOCK);
        }
        for (int i = 0; i < STAGED_WAY; i++)
            sum += has_entry(k, i * BLOCK, n) ? term(p, v[i], simt_readonly(x + c[i])) : 0;
    }
    return sum;
}

KERNEL_RESIDENT(csr_weave_blocks, BLOCK, sizeof(real) == 16 ? RESIDENT - 2 : RESIDENT)(struct product p)
{
    SHARED_DYNAMIC(real, room);
    real *const tile = IS_COMPLEX ? room : simt_in_register(room); /* complex numbers need them all */
    const int64_t number = p.first + simt_block_id();
    const struct row_block *RESTRICT block = (const struct row_block *)p.prepared + number;
    const struct row_block mine = block[0], next = block[1];
    if (simt_thread_id() == 0 && number + p.fact[WEAVE_AHEAD] < p.fact[LOOK_BLOCKS])
        simt_prefetch(block + p.fact[WEAVE_AHEAD], sizeof *block);
    if (mine.work > 0)
        several_rows(&p, mine, next, tile);
    else
        store_one_row(&p, mine, block_sum(share(&p, mine.begin, (int)(next.begin - mine.begin))),
                      p.fact[LOOK_PIECE]);
}

#else
#include "kernel/kernel.h"

/* For the tests.  way=blocks: row blocks also where rows are short; way=passing: small matrices as large. */
static const char *const words[] = {"auto", "blocks", "passing"};
enum { BY_LENGTH, IN_BLOCKS, PASSING };
static const struct option options[] = {
    {"way", BY_LENGTH, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1",          "csr_weave1_deep",    "csr_weave2",
                                      "csr_weave4",          "csr_weave8",         "csr_weave16",
                                      "csr_weave32",         "csr_weave1_passing", "csr_weave1_deep_passing",
                                      "csr_weave16_passing", "csr_weave_blocks",   NULL};
enum { ONE_LANE, ONE_LANE_DEEP, TWO_LANES, ONE_LANE_PASSING = 7, SIXTEEN_LANES_PASSING = 9 };

static int64_t workspace(const struct work *w)
{
    return look_pieces(w, look_cut(w)) * (int64_t)vector_size(w->value);
}

static int64_t counters(const struct work *w)
{
    return look_pieces(w, look_cut(w)) * (int64_t)sizeof(int32_t);
}

/* Entries of a row that its lanes have under way at once. */
static int64_t round_of(int lanes)
{
    return (int64_t)lanes * (lanes == 1 ? DEEP : lanes == 16 ? WIDE : UNDER_WAY);
}

/* Threads for rows that are read directly which the device holds. */
static int64_t threads_held(const struct work *w)
{
    const struct gpu *gpu = w->device->gpu;
    const int64_t block = gpu_arch(gpu)->block, multiprocessors = gpu_info_of(gpu)->multiprocessors;
    const int64_t held = RESIDENT_ROWS(vector_size(w->value), 1) * block * multiprocessors,
                  most = gpu_threads(gpu);
    return held < most ? held : most;
}

/* The lanes of a row where rows are read directly, 0: row blocks.  Rows are done in ROUNDS, all of them:
 * - by as many lanes as fill the device, but no more than a row has entries on average; more for the longest,
 *   as long as they do not fill it;
 * - or, in single precision and where the cache holds the matrix, by as many of 8 and 16 as an average row
 *   keeps busy: what is waited for then is latency, of which a row block has more.
 * Or rows are about as long as each other and enough to fill the device: 16 or 32 lanes that have UNDER_WAY
 * entries each read whole lines, as all threads would for a tile, and need no barrier. */
#define ROUNDS 2
#define BUSY 5 / 4 /* entries of an average row for each lane */
#define EVEN 2     /* times the mean */
static int lanes_of(const struct work *w)
{
    const int64_t rows = w->product.rows, nnz = w->product.nnz, longest = w->product.fact[LOOK_LONGEST];
    const int64_t mean = nnz / rows, threads = threads_held(w);
    const int64_t bytes = nnz * (int64_t)(type_size(w->value) + sizeof(int32_t));
    int lanes = 1;
    while (lanes < 32 && 2 * lanes <= mean && 2 * lanes * rows <= threads)
        lanes *= 2;
    while (lanes < 32 && longest > round_of(lanes) && 4 * lanes * rows <= threads)
        lanes *= 2;
    if (longest <= ROUNDS * round_of(lanes))
        return lanes;
    if (vector_size(w->value) == 4 && bytes <= gpu_info_of(w->device->gpu)->cache) {
        lanes = mean >= 16 * BUSY ? 16 : mean >= 8 * BUSY ? 8 : 0;
        if (2 * lanes * rows >= threads && longest <= ROUNDS * round_of(lanes))
            return lanes;
    }
    lanes = mean >= 32 * UNDER_WAY ? 32 : mean >= 16 * UNDER_WAY && vector_size(w->value) <= 8 ? 16 : 0;
    return longest <= EVEN * mean && lanes * rows >= threads ? lanes : 0;
}

/* Should entries pass through L2?  16 lanes a row that fill the device are a matter of bytes alone.  One lane
 * reads a line several times, and where the matrix is much larger than L2 that must keep it meanwhile; what
 * finds room there beside x and y, is best kept for the next product.  Measured on an H200. */
#define MUCH_LARGER 4
static int is_passing(const struct work *w, int lanes, int64_t bytes, int64_t cache)
{
    const int64_t rows = w->product.rows, real_bytes = (int64_t)vector_size(w->value),
                  all = bytes + rows * (real_bytes + (int64_t)sizeof(int32_t)) + w->product.cols * real_bytes;
    if (w->option[0] == PASSING)
        return lanes == 1 || lanes == 16;
    return lanes == 16 ? lanes * rows >= threads_held(w)
         : lanes == 1  ? all > cache / 4 * 3 && bytes <= MUCH_LARGER * cache
                       : 0;
}

/* What others left in L2 stays there while entries pass: where these are much more than it holds, the first
 * of them had better take its place. */
static heddle_status launch_rows(const struct work *w, int lanes)
{
    struct work told = *w;
    const int64_t rows = w->product.rows, nnz = w->product.nnz, cache = gpu_info_of(w->device->gpu)->cache,
                  bytes = nnz * (int64_t)(type_size(w->value) + sizeof(int32_t));
    const int deep = nnz > UNDER_WAY * rows, passing = is_passing(w, lanes, bytes, cache);
    int entry = (passing ? ONE_LANE_PASSING : ONE_LANE) + deep;
    for (int i = lanes; i > 1; i /= 2)
        entry = i == lanes ? TWO_LANES : entry + 1;
    if (passing && lanes == 16)
        entry = SIXTEEN_LANES_PASSING;
    told.product.fact[WEAVE_KEPT] = bytes > MUCH_LARGER * cache ? cache / (bytes / rows + 1) : 0;
    told.product.fact[WEAVE_AHEAD] = gpu_threads(w->device->gpu) / lanes;
    return gpu_run_rows(&told, entries[entry], lanes);
}

static heddle_status launch_blocks(const struct work *w)
{
    struct work told = *w;
    told.product.fact[WEAVE_AHEAD] = (int64_t)gpu_info_of(w->device->gpu)->multiprocessors * RESIDENT;
    return gpu_run_blocks(&told,
                          (struct launch){"csr_weave_blocks", w->product.fact[LOOK_BLOCKS], BLOCK,
                                          w->product.fact[LOOK_TILE] * (int64_t)vector_size(w->value)});
}

static heddle_status launch(const struct work *w)
{
    const int lanes = w->option[0] == IN_BLOCKS ? 0 : lanes_of(w);
    if (w->product.fact[LOOK_BAD])
        return look_refused();
    return lanes > 0 ? launch_rows(w, lanes) : launch_blocks(w);
}

const struct kernel csr_weave = {
    .name = "csr_weave",
    .id = KERNEL_csr_weave,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .options = options,
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
