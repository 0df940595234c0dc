/* SPDX-License-Identifier: MIT
 *
 * csr_weft: Heddle's own transposed product from plain CSR, with nothing prepared, for any matrix.
 *
 * Computes   y = alpha Aᵀ x + beta y,  A in CSR.
 * Source     Heddle.  Additions into a copy in shared memory, flushed at the end, are an old trick of histograms.
 * Balance    a block owns a chunk of neighbouring rows, with one to four thousand entries at the mean row length: it finds
 *            them without a search.  A lane (short rows), a wave or the block (long ones) takes a row.  Where rows are uneven, or
 *            few in all, or their columns have no order or are crowded, a block shares out their entries instead, and searches
 *            for the row of each.  A chunk with too many entries is only listed, and the first few blocks share the list.
 * Memory     val and col are read once; where a block shares out entries, by whole lines.  What limits this product is additions
 *            to y in the second-level cache: on an H200 about 95 billion a second to places all over y, 470 where the lanes of a
 *            wave add to neighbours, but one in 1.8 ns within one line of 128 bytes.  So additions are put together first, in four ways:
 *            a lane takes the same place of several neighbouring rows and adds up those of one column (unknowns of a node,
 *            dense rows); a block keeps a window of y in shared memory around the columns that its rows are about,
 *            and adds it to y at its end; the lines of y that a large share of all entries goes to (dense columns)
 *            have copies in the shared memory of every block; and columns that are popular without crowding lines (graphs) have
 *            places there, the first that comes to each.
 *            A first small kernel scales y.  Beside that it looks at some rows (which of these pays?), finds the crowded lines
 *            from a sample of all columns, and lists the chunks that are too large.
 * Wins       columns that repeat within a chunk, dense and popular columns, regular rows.
 * Loses      small matrices with a few long rows; columns without any order, where every entry is an addition in the second-level
 *            cache, here as elsewhere.
 * Order      that of arrival: not repeatable.
 */

#include "kernel/weft/weft.h"

#ifdef HEDDLE_DEVICE
#include "kernel/weft/weft_add.h"

/* Two blocks find out about the columns, the others list large chunks and scale y. */
KERNEL_BOUND(csr_weft_ready, READY)(struct product p)
{
    const int64_t todo = p.fact[WEFT_DO];
    simt_let_next();
    if (simt_block_id() == 0) {
        if (todo & WEFT_SAMPLE)
            find_crowded(&p);
        else if (simt_thread_id() == 0)
            found_of(&p)->lines = found_of(&p)->hoards = 0;
    } else if (simt_block_id() == 1) {
        if (todo & WEFT_LOOK)
            find_kind(&p, LONG_WINDOW);
        else if (simt_thread_id() == 0)
            found_of(&p)->kind = ALIKE;
    } else {
        const int64_t first = (int64_t)(simt_block_id() - 2) * READY + simt_thread_id();
        const int64_t step = (int64_t)(simt_grid_size() - 2) * READY;
        const real beta = scalar(p.beta);
        real *y = (real *)p.y;
        if (todo & WEFT_SCALE)
            SIMT_ROLLED for (int64_t i = first; i < p.cols; i += step)
                y[i] = beta == 0 ? 0 : beta * y[i];
        if (todo & WEFT_LIST)
            SIMT_ROLLED for (int64_t i = first; (i - simt_lane()) * p.fact[WEFT_HEIGHT] < p.rows; i += step)
                list_large(&p, i);
    }
}

/* Blocks on a multiprocessor: as many as do not make the compiler spill; fewer where 64-bit offsets take registers. */
#define EACH(f32, f64) (sizeof(off) == 8 ? 4 : sizeof(real) == 4 ? (f32) : (f64))

/* Short rows, short columns. */
KERNEL_RESIDENT(csr_weft1, BLOCK, EACH(6, 5))(struct product p)
{
    SHARED(real, near, NEARBY(0));
    SHARED(int32_t, table, 2 * KEYS);
    SHARED(struct rows, room, 1);
    struct sink to = {(real *)p.y, near, 0, 0, 0, 0, 0, 0};
    const struct chunk c = own_chunk(&p);
    if (does_pieces(&p))
        learn_lines(&p, &to);
    else if (by_lane(&p, &to, &c) || (to.lines == 0 && by_entries(&p, &to, &c, room, -1, 0)))
        return;
    entries_and(LINES, &p, &to, room, table);
}

/* Short rows, long columns, which are met again and again, or f64, whose additions are dear.  Where lines are crowded there is no
 * window; what is needed then lies in its place, for shared memory takes cache from rows. */
struct instead {
    struct rows room;
    int32_t table[2 * KEYS];
};
#define INSTEAD (NEARBY(0) + (int)((sizeof(struct instead) + sizeof(real) - 1) / sizeof(real)))
KERNEL_RESIDENT(csr_weft1_near, BLOCK, EACH(6, 5))(struct product p)
{
    SHARED(real, near, INSTEAD > SHORT_WINDOW ? INSTEAD : SHORT_WINDOW);
    struct instead *other = (struct instead *)(void *)(near + NEARBY(0));
    simt_after_previous();
    struct sink to = {(real *)p.y, near, 0, 0, 0, simt_readonly(&found_of(&p)->lines), 0, 0};
    if (!does_pieces(&p)) {
        if (is_idle(&p))
            return;
        begin_window(&p, &to, BY_LANE_NEAR); /* meanwhile it is learned whether lines are crowded */
    }
    if (does_pieces(&p) || to.lines > 0)
        entries_and(LINES, &p, &to, &other->room, other->table);
    else
        some_chunks(&p, &to, BY_LANE_NEAR, 0);
}

/* Long rows.  Where neighbours are alike crowded lines are no concern: their columns are added up first.  The hoard has its columns
 * behind its sums, in the place of the window. */
KERNEL_RESIDENT(csr_weft32, BLOCK, EACH(5, 4))(struct product p)
{
    SHARED(real, near, NEARBY(LONG_WINDOW));
    SHARED(int32_t, table, 2 * KEYS);
    SHARED(struct rows, room, 1);
    const struct chunk c = own_chunk(&p);
    simt_after_previous();
    const int kind = simt_readonly(&found_of(&p)->kind), hoards = simt_readonly(&found_of(&p)->hoards);
    const int lines = kind == ALIKE ? 0 : simt_readonly(&found_of(&p)->lines);
    struct sink to = {(real *)p.y, near, LONG_WINDOW, 0, 0, lines, 0, 0};
    if (kind == SCATTERED && hoards)
        entries_and(HOARD, &p, &to, room, (int32_t *)(void *)(near + HOARD_SIZE));
    else if (does_pieces(&p) || (kind == SCATTERED && lines > 0))
        entries_and(LINES, &p, &to, room, table);
    else if (kind == NEAR)
        near_chunks(&p, &to, table);
    else if (kind == ALIKE)
        one_chunk(&p, &to, &c, BY_WAVE, DEEP);
    else
        by_entries(&p, &to, &c, room, -1, 0);
}

/* Rows of hundreds of entries are taken for alike. */
KERNEL_RESIDENT(csr_weft256, BLOCK, 2)(struct product p)
{
    const struct chunk c = own_chunk(&p);
    struct sink to = {(real *)p.y, 0, 0, 0, 0, 0, 0, 0};
    simt_after_previous();
    if (does_pieces(&p))
        pieces(&p, &to, DEEP);
    else
        one_chunk(&p, &to, &c, BY_BLOCK, DEEP);
}

/* What goes ahead of few entries, about which nothing is found out. */
KERNEL_BOUND(csr_weft_scale, BLOCK)(struct product p)
{
    simt_let_next();
    scale_all((real *)p.y, p.cols, scalar(p.beta));
}

/* Entry by entry: few entries, which are a matter of latency, so that all is read before y is waited for; and rows that are not for a
 * lane, where nothing better is known. */
KERNEL_RESIDENT(csr_weft_entries, BLOCK, EACH(6, 5))(struct product p)
{
    SHARED(real, near, NEARBY(0));
    SHARED(int32_t, table, 2 * KEYS);
    SHARED(struct rows, room, 1);
    struct sink to = {(real *)p.y, near, 0, 0, 0, 0, 0, 0};
    const int found = (p.fact[WEFT_DO] & WEFT_LIST) != 0, soon = comes_soon(&p);
    const struct chunk c = rows_of(&p, does_pieces(&p) ? 0 : number_of(&p), 1);
    if (found && !soon)
        learn_lines(&p, &to);
    if (!does_pieces(&p) && to.lines == 0 && by_entries(&p, &to, &c, room, -1, found && soon ? ASK : 0))
        return;
    entries_and(LINES, &p, &to, room, table);
}

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
static const struct way {
    const char *entry;
    int pass;        /* rows that a block takes at once */
    int entries;     /* that a chunk has at the mean row length, if that is more than a pass */
    int together[2]; /* entries of a block that has something to set up: f32, f64 */
    int even;        /* times the mean row length: a row of more is not even */
} ways[] = {
    {NULL, 0, 0, {0, 0}, 0},
    {"csr_weft1", 256, 1024, {2048, 2048}, 2},
    {"csr_weft1_near", 256, 4096, {4096, 4096}, 2},
    {"csr_weft32", 24, 4096, {16384, 8192}, 8},
    {"csr_weft256", 8, 1, {1, 1}, 1},
    {"csr_weft_entries", 1, 1024, {4096, 4096}, 1},
    {"csr_weft_entries", 1, 1024, {1, 1}, 1},
};
enum { AUTO, SHORT, SHORT_NEAR, LONG, DENSE, ENTRIES, FEW };

#define PASSES_MOST 16 /* 32 can be put off */

static const char *const way_words[] = {"auto", "1", "1near", "32", "256", "entries", "few"};
static const char *const sample_words[] = {"auto", "always"};
static const struct option options[] = {
    {"way", 0, WORDS(way_words)},
    {"sample", 0, WORDS(sample_words)},
    {0},
};

static const char *const entries[] = {"csr_weft1",        "csr_weft1_near", "csr_weft32",     "csr_weft256",
                                      "csr_weft_entries", "csr_weft_ready", "csr_weft_scale", NULL};

static double mean_of(const struct work *w)
{
    return (double)w->product.nnz / (double)w->product.rows;
}

/* Entries of a matrix: few are a matter of latency; of several, long rows are better shared out, for there is no time to find out
 * what they are like; of some, those that are not quite short; and many. */
#define FEW_ENTRIES 300000
#define SEVERAL_ENTRIES 600000
#define SOME_ENTRIES 2000000
#define MANY_ENTRIES 16000000
#define FEW_LEAST 256 /* of a block */

/* Entries of a column on average, from which it is long: it pays to have a window.  Of few entries those of a column may be more before
 * they stand in each other's way.  In f64, additions are dearer, and a window pays sooner, if the matrix is large. */
#define LONG_COLUMNS 16
#define LONG_COLUMNS_F64 6
#define LONGER_COLUMNS 128

/* Entries of a row on average, from which it is dense, or too long for a lane: sooner where there are so many that it pays to find out
 * what rows are like; of stencils it has fewer.  Dense rows need enough blocks, unless they go into pieces anyway. */
#define DENSE_ROWS 300
#define VERY_DENSE_ROWS 4096
#define LONG_ROWS 16
#define LONG_ROWS_OF_MANY 12
#define STENCIL_ROWS 8
#define SHORT_ROWS 3

/* Columns have several entries on average: else nothing can be put together, but for dense ones. */
static int is_repeated(const struct work *w)
{
    return w->product.nnz / 4 > w->product.cols;
}

static const struct way *way_of(const struct work *w)
{
    const double mean = mean_of(w);
    const int64_t nnz = w->product.nnz, cols = w->product.cols, blocks = gpu_info_of(w->device->gpu)->multiprocessors;
    const int dear = w->value == HEDDLE_F64 && nnz > MANY_ENTRIES;
    if (w->option[0])
        return &ways[w->option[0]];
    if (nnz <= FEW_ENTRIES && nnz / LONGER_COLUMNS <= cols)
        return &ways[FEW];
    if (mean > DENSE_ROWS && (w->product.rows / ways[DENSE].pass >= blocks || mean > VERY_DENSE_ROWS))
        return &ways[DENSE];
    if (mean > DENSE_ROWS) /* so few rows that no column is crowded by several entries */
        return &ways[nnz <= SEVERAL_ENTRIES ? FEW : ENTRIES];
    if (!is_repeated(w))
        return &ways[mean > LONG_ROWS || (dear && mean < SHORT_ROWS) ? ENTRIES : SHORT];
    if (mean > (nnz > SOME_ENTRIES ? LONG_ROWS_OF_MANY : LONG_ROWS))
        return &ways[nnz <= SEVERAL_ENTRIES ? ENTRIES : LONG];
    if (nnz / (dear && mean < STENCIL_ROWS ? LONG_COLUMNS_F64 : LONG_COLUMNS) > cols)
        return &ways[SHORT_NEAR];
    return &ways[mean > STENCIL_ROWS && nnz <= SOME_ENTRIES ? ENTRIES : SHORT];
}

/* Rows of a chunk: a small matrix has smaller ones, down to a thousand entries, so that they go round; few entries are dealt
 * out to as many blocks as can run at once. */
static int64_t height_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t share = w->product.nnz / (8 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors);
    if (way == &ways[FEW] || way == &ways[ENTRIES]) {
        const int64_t each = 4 * share < FEW_LEAST ? FEW_LEAST : 4 * share < way->entries ? 4 * share : way->entries;
        const double rows = (double)each / mean_of(w);
        return rows < 1 ? 1 : rows > WEFT_ROWS ? WEFT_ROWS : (int64_t)rows;
    }
    const int64_t wanted = share < 1024 ? 1024 : share, filled = wanted < way->entries ? wanted : way->entries;
    const double passes = (double)filled / mean_of(w) / way->pass + 0.5;
    const double most = way->pass == 256 ? WEFT_ROWS / 256 : PASSES_MOST; /* short ones may be taken entry by entry */
    return way->pass * (int64_t)(passes < 1 ? 1 : passes > most ? most : passes);
}

static int64_t chunks_of(const struct work *w)
{
    const int64_t height = height_of(w);
    return (w->product.rows + height - 1) / height;
}

/* Chunks of a block that has something to set up: so few that there are eight blocks for every multiprocessor. */
static int64_t merged_of(const struct work *w)
{
    const int64_t most = chunks_of(w) / (8 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors);
    const double together = way_of(w)->together[w->value == HEDDLE_F64];
    const int64_t wanted = (int64_t)(together / mean_of(w) / (double)height_of(w) + 0.5);
    const int64_t merged = wanted < most ? wanted : most;
    return merged < 1 ? 1 : merged;
}

/* What is too much for one block goes into pieces for waves or blocks, a million at most, but enough for all of them. */
static int64_t piece_of(const struct work *w)
{
    const int64_t least = w->product.nnz >> 20, waves = 16 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors;
    const int64_t share = w->product.nnz / waves, usual = share < 256 ? 256 : share < 1024 ? share : 1024;
    return ((least > usual ? least : usual) + 31) & ~(int64_t)31; /* lines */
}

/* What a chunk may have, of what it has on average: of some entries more, for the list is as long in coming as they are. */
#define LIMIT_TIMES(nnz) ((nnz) <= SOME_ENTRIES ? 3 : 2)
#define LIMIT_LEAST 2 /* pieces */
#define LIMIT_DENSE 32768
static int64_t limit_of(const struct work *w)
{
    const double times = LIMIT_TIMES(w->product.nnz) * mean_of(w) * (double)height_of(w);
    const int64_t share = w->product.nnz / 512, capped = share > INT32_MAX / 2 ? INT32_MAX / 2 : share;
    const int64_t most = capped < LIMIT_DENSE ? LIMIT_DENSE : capped, wanted = times < (double)most ? (int64_t)times : most;
    return wanted > LIMIT_LEAST * piece_of(w) ? wanted : LIMIT_LEAST * piece_of(w);
}

/* A chunk on the list has more entries than a piece, so that its pieces are at most twice its share. */
static int64_t workspace(const struct work *w)
{
    return WEFT_HEAD + (2 * (w->product.nnz / piece_of(w)) + 2) * 8;
}

static int64_t counters(const struct work *w)
{
    (void)w;
    return WEFT_COUNTERS * (int64_t)sizeof(int32_t);
}

#define EVEN_LEAST 8

/* Do crowded lines matter?  Not where rows are dense and added up first, where columns are long, and one window has many, and of few
 * entries, which are done before it is found out what they are like. */
static int is_sampled(const struct work *w)
{
    const struct way *way = way_of(w);
    const int many = way == &ways[SHORT_NEAR] && w->product.nnz / LONG_COLUMNS > w->product.cols;
    return way != &ways[DENSE] && (w->option[1] || (w->product.nnz > FEW_ENTRIES && !many));
}

/* A line of y is crowded that has so many samples, or 1 of 340 entries in f32, and twice what is its due: beyond 1 of 170 everything
 * else waits for it.  In f64 copies are dearer.  And it has to be worth it: 4,000 additions to a line take 7 us. */
#define OFTEN(value) ((value) == HEDDLE_F32 ? 6 : 9)
#define OFTEN_IN_ALL 4000
static int64_t often_of(const struct work *w)
{
    const int64_t line = 128 / (int64_t)type_size(w->value), due = WEFT_SAMPLES * line / w->product.cols;
    const int64_t worth = w->option[1] ? 0 : WEFT_SAMPLES * (int64_t)OFTEN_IN_ALL / w->product.nnz; /* who asks gets them anyway */
    const int64_t least = OFTEN(w->value) + 2 * due, most = 4 * least;
    return (most > worth ? most : worth) << 32 | (least > worth ? least : worth) << 8;
}

static int64_t to_do(const struct work *w)
{
    const struct way *way = way_of(w);
    const int found = is_sampled(w);
    const int scaled = scalar_get(w->product.beta, w->value) != 1;
    if (way == &ways[FEW])
        return scaled ? WEFT_SCALE : 0;
    return WEFT_LIST | (found ? WEFT_SAMPLE | often_of(w) : 0) | (found && way == &ways[LONG] ? WEFT_LOOK : 0) |
           (scaled ? WEFT_SCALE : 0) | (is_repeated(w) ? WEFT_REPEATED : 0);
}

/* What goes ahead of the product: as many blocks as have something to do and fit on the device. */
static struct launch first_of(const struct work *w)
{
    const int64_t fit = 2048 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors, cols = w->product.cols;
    if (way_of(w) == &ways[FEW]) {
        const int64_t wanted = cols / 2048 + 1, most = fit / 256; /* few: the product begins when the last of them has */
        return (struct launch){"csr_weft_scale", wanted < most ? wanted : most, 256};
    }
    const int64_t chunks = chunks_of(w), items = chunks > cols / 2 ? chunks : cols / 2;
    const int64_t wanted = (items + 1023) / 1024, most = fit / 1024;
    return (struct launch){"csr_weft_ready", 2 + (wanted < most ? wanted : most), 1024};
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    int64_t *fact = told.product.fact;
    const int64_t threads = UINT32_MAX / 256, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    const int64_t chunks = chunks_of(w), even = (int64_t)(mean_of(w) * way->even);
    fact[WEFT_HEIGHT] = height_of(w);
    fact[WEFT_MERGED] = merged_of(w);
    fact[WEFT_LIMIT] = limit_of(w);
    fact[WEFT_PIECE] = piece_of(w);
    fact[WEFT_EVEN] = even < EVEN_LEAST ? EVEN_LEAST : even;
    fact[WEFT_DO] = to_do(w);
    if (!(fact[WEFT_DO] & WEFT_LIST))
        fact[WEFT_LIMIT] = INT32_MAX; /* nobody would do what is left */
    fact[WEFT_BLOCKS] = fact[WEFT_DO] & WEFT_LIST && w->product.nnz > fact[WEFT_LIMIT] ? 2 * (int64_t)info->multiprocessors : 0;
    for (int64_t begin = 0, here; begin < chunks; begin += here) {
        here = chunks - begin < most - fact[WEFT_BLOCKS] ? chunks - begin : most - fact[WEFT_BLOCKS];
        fact[WEFT_BEGIN] = begin;
        if (begin == 0 && fact[WEFT_DO] != 0)
            TRY(gpu_run_pair(&told, first_of(&told), (struct launch){way->entry, fact[WEFT_BLOCKS] + here, 256}));
        else
            TRY(gpu_run(&told, way->entry, fact[WEFT_BLOCKS] + here, 256, 0));
    }
done:
    return status;
}

const struct kernel csr_weft = {
    .name = "csr_weft",
    .id = KERNEL_csr_weft,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_gpu,
    .source = "Heddle",
    .options = options,
    .repeatable = 0,
    .entries = entries,
    .workspace = workspace,
    .counters = counters,
    .launch = launch,
    .cost = cost_of_additions,
};
#endif
