/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, with nothing prepared, for any matrix, in one launch.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014); that the
 *            last of several blocks finishes what they share is an old trick of reductions.
 * Balance    a block owns a group of neighbouring rows, so many that their entries fill its threads at the mean row length: it
 *            finds them without a search.  Short rows are summed by the same few lanes each, where they are read or from
 *            products that are staged in shared memory; a staged row that is long for its lanes is summed by its wave.  A group
 *            that has too many entries for one block is left to scouts.  These are the first blocks of the launch: each looks for
 *            such groups in its share of the row offsets, puts their pieces on a list, and when all have looked they take the
 *            pieces in turn; those within one long row need no tile and no barrier.  A scout that waits in vain for the others
 *            goes on without them, and they without it.  In a small matrix nobody waits: a scout looks for what is cut of its own
 *            share of the entries.  Rows that are cut between pieces are put together by whoever comes last.
 * Memory     val and col are streamed past the caches where they are staged, each once and by whole lines, with up to 8 loads
 *            a thread under way; x is gathered in the order of storage, and has as much of the first-level cache as tiles can spare.
 *            Large matrices are a matter of loads under way: short rows whole, and longer ones by 8 or 16 lanes and without tiles,
 *            where most entries only pass through the second-level cache and x stays there.
 *            While it waits for its offsets, a block sends for those of a group to come (a bulk prefetch into the second-level
 *            cache), so that one waits for memory once, not twice; where rows are very short it sends for its own entries, too.
 * Wins       small matrices, and rows of similar length.
 * Loses      skewed rows, where a block has few entries for all that it does, and against formats that store fewer bytes or
 *            put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */

#include "kernel/weave.h"

#ifdef HEDDLE_DEVICE
#include "kernel/weave_scout.h"

/* ------------------------------------------------------------------ groups ------------------------------------- */

/* Part `at` of an array of `all` entries, n a part, is sent for. */
DEVICE void send_part(const void *array, int size, int64_t at, int64_t n, int64_t all)
{
    const int64_t from = at * n, to = from + n < all ? from + n : all;
    if (from < to)
        simt_send_for((const char *)array + from * size, (to - from) * size);
}

/* What blocks will wait for is sent for, by a block that waits for its own offsets: those of the group that comes when this one has
 * gone, and, where rows are so short that there is little under way, its own entries, about where they should be. */
DEVICE void send_offsets(const struct product *p, int64_t group, const int height)
{
    if (simt_thread_id() == 0)
        send_part(p->array[CSR_ROW_PTR], sizeof(off), group + p->fact[WEAVE_AHEAD], height, p->rows + 1);
}

DEVICE void send_for(const struct product *p, int64_t group, const int height)
{
    const int64_t entries = p->fact[WEAVE_ENTRIES];
    send_offsets(p, group, height);
    if (entries > 0 && simt_thread_id() == WAVE)
        send_part(p->array[CSR_COL], sizeof(idx), group, entries, p->nnz);
    if (entries > 0 && simt_thread_id() == 2 * WAVE)
        send_part(p->array[CSR_VAL], sizeof(real), group, entries, p->nnz);
}

/* Where a group begins and ends, and within it one's own row. */
struct span {
    off first, last, begin, end;
};

/* A group whose products are staged, strip by strip; one strip is usual. */
DEVICE void staged(const struct product *p, real *room, int64_t row, const struct span at, const struct shape s, const int under_way)
{
    const int size = (int)p->fact[WEAVE_TILE];
    real *const tile = simt_held(room);
    real sum = 0;
    if (at.last - at.first > p->fact[WEAVE_LIMIT])
        return;
    SIMT_ROLLED for (off low = at.first, past; low < at.last; low = past)
    {
        const int n = part_from(low, at.last, size);
        stage(p, tile, low, n, simt_thread_id(), s.width, under_way, 0);
        simt_sync();
        sum += row_sum(tile, clipped(at.begin, low, n), clipped(at.end, low, n), s.lanes);
        past = low + n;
        if (past < at.last)
            simt_sync();
    }
    if (simt_thread_id() % s.lanes == 0 && row < p->rows)
        put(p, row, sum);
}

/* `passing`: the caches need not keep offsets. */
DEVICE struct span span_of(const struct product *p, int64_t group, int64_t row, const struct shape s, const int passing)
{
    const struct span at = {offset(p, group * s.height, passing), offset(p, (group + 1) * s.height, passing), offset(p, row, passing),
                            offset(p, row + 1, passing)};
    return at;
}

/* All of them, whatever they are like. */
DEVICE void in_tiles(const struct product *p, real *tile, int64_t group, const struct shape s, const int under_way)
{
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const struct span at = span_of(p, group, row, s, s.lanes == 2 && sizeof(real) == 4);
    send_for(p, group, s.height);
    staged(p, tile, row, at, s, under_way);
}

/* A group whose rows are read directly, a lane each, if all of them are short. */
DEVICE void direct(const struct product *p, real *tile, int64_t group, const struct shape s, const int under_way)
{
    const int64_t row = group * s.height + simt_thread_id();
    struct span at = {0, 0, offset(p, row, 0), offset(p, row + 1, 0)};
    send_for(p, group, s.height);
    if (simt_sync_any(at.end - at.begin > LONG(1))) {
        at.first = offset(p, group * s.height, 0);
        at.last = offset(p, (group + 1) * s.height, 0);
        staged(p, tile, row, at, s, 4);
        return;
    }
    const real sum = share(p, at.begin, (int)(at.end - at.begin), 0, 1, under_way, EACH_FOR_ITSELF);
    if (row < p->rows)
        put(p, row, sum);
}

/* The same with several lanes a row.  Most groups have no more entries than a row may have: then no wave waits for the others.  Small
 * matrices come here, and wait for every instruction ahead of their loads. */
DEVICE void direct_lanes(const struct product *p, real *tile, uint32_t group, const struct shape s, const int under_way)
{
    const uint32_t thread = (uint32_t)simt_thread_id(), row = group * s.height + thread / s.lanes;
    const int lane = (int)(thread % s.lanes), most = LONG(s.lanes) * s.lanes;
    const struct span at = {short_offset(p, group * s.height), short_offset(p, (group + 1) * s.height), short_offset(p, row),
                            short_offset(p, row + 1)};
    if ((group + (uint32_t)p->fact[WEAVE_AHEAD]) * s.height < (uint32_t)p->rows)
        send_offsets(p, group, s.height);
    if (at.last - at.first > most && simt_sync_any(at.end - at.begin > most)) {
        staged(p, tile, row, at, s, 4);
        return;
    }
    const int order = s.lanes < 32 || sizeof(real) == 4 ? TOGETHER : EACH_FOR_ITSELF; /* measured */
    const real sum = lanes_sum(share(p, at.begin, (int)(at.end - at.begin), lane, s.lanes, under_way, order), s.lanes);
    if (lane == 0 && row < (uint32_t)p->rows)
        put(p, row, sum);
}

/* A group whose rows are read directly, however long they are, without a tile, which would take cache from x. */
DEVICE void in_place(const struct product *p, int64_t group, const struct shape s, const int under_way)
{
    const int lane = simt_thread_id() % s.lanes;
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const struct span at = span_of(p, group, row, s, 0);
    const int n = (int)(at.end - at.begin);
    real sum;
    send_for(p, group, s.height);
    if (at.last - at.first > p->fact[WEAVE_LIMIT])
        return;
    if (!SIMT_PASSES || group < p->fact[WEAVE_PASSING])
        sum = share(p, at.begin, n, lane, s.lanes, under_way, EACH_FOR_ITSELF);
    else
        sum = share(p, at.begin, n, lane, s.lanes, under_way, PASSING);
    sum = lanes_sum(sum, s.lanes);
    if (lane == 0 && row < p->rows)
        put(p, row, sum);
}

/* A block a row. */
DEVICE void by_block(const struct product *p, int64_t row, const int width)
{
    const off begin = offset(p, row, 0), end = offset(p, row + 1, 0);
    send_for(p, row, 1);
    if (end - begin > p->fact[WEAVE_LIMIT])
        return;
    const real sum = block_sum(block_share(p, begin, (int)(end - begin), simt_thread_id(), width, 8, 0));
    if (simt_thread_id() == 0)
        put(p, row, sum);
}

/* ------------------------------------------------------------------ ways --------------------------------------- */

/* Blocks of a multiprocessor that has so many threads; fewer where 64-bit offsets take registers. */
#define BLOCKS(threads, width) ((sizeof(off) == 4 ? (threads) : 1024) / (width))

/* Every way is a kernel.  The first blocks are scouts. */
#define WAY(name, blocks, width, lanes, height, tiled, pieces, taken) \
    KERNEL_RESIDENT(name, width, blocks)(struct product p)            \
    {                                                                 \
        SHARED_DYNAMIC(real, tile);                                   \
        const struct shape s = {width, lanes, height, tiled, pieces}; \
        const int64_t group = p.first + simt_block_id();              \
        if (group < 0)                                                \
            scout(&p, tile, s);                                       \
        else                                                          \
            taken;                                                    \
    }

#define EACH(f32, f64) (sizeof(real) == 4 ? (f32) : (f64))
/* Of a piece: as many as there are registers for; elsewhere the same in all ways, for what is alike packs well. */
#define PIECES(f32, f64) (SIMT_FEW_REGISTERS ? EACH(f32, f64) : 4)
#define TILED 1

WAY(csr_weave1, BLOCKS(2048, 256), 256, 1, 256, TILED, PIECES(4, 2), direct(&p, tile, group, s, 4))
WAY(csr_weave1_deep, BLOCKS(EACH(2048, 1280), 256), 256, 1, 256, TILED, 4, direct(&p, tile, group, s, 7))
WAY(csr_weave2, BLOCKS(2048, 256), 256, 2, 128, TILED, PIECES(4, 2), in_tiles(&p, tile, group, s, 4))
WAY(csr_weave4, BLOCKS(1536, 256), 256, 4, 64, TILED, 4, in_tiles(&p, tile, group, s, EACH(8, 6)))
WAY(csr_weave8, BLOCKS(EACH(2048, 1536), 128), 128, 8, 16, TILED, PIECES(3, 4), in_tiles(&p, tile, group, s, 4))
WAY(csr_weave8_direct, BLOCKS(EACH(2048, 1536), 128), 128, 8, 16, TILED, PIECES(3, 4), direct_lanes(&p, tile, (uint32_t)group, s, 4))
WAY(csr_weave8_place, BLOCKS(EACH(2048, 1536), 128), 128, 8, 16, 0, 4, in_place(&p, group, s, 6))
WAY(csr_weave16, BLOCKS(EACH(2048, 1280), 128), 128, 16, 8, 0, 4, in_place(&p, group, s, 6))
WAY(csr_weave32, BLOCKS(2048, 256), 256, 32, 8, TILED, PIECES(4, 2), direct_lanes(&p, tile, (uint32_t)group, s, 4))
WAY(csr_weave_block, BLOCKS(1536, 256), 256, WAVE, 1, TILED, 4, by_block(&p, group, 256))

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
enum where { DIRECTLY, IN_TILES, IN_PLACE };

static const struct way {
    const char *entry;
    int block, height, lanes;
    enum where read;
    /* Shared memory takes cache from x, and more blocks that wait for the same second-level cache only end later.  So a
     * multiprocessor should have this and no more (f32, f64), if so many blocks find room in it; else what the driver thinks.
     * It is a hint: the driver rounds it up to whole blocks, and these to what the multiprocessor can offer.  Scouts, too, take
     * room: so many on a multiprocessor.  Measured on an H200. */
    int kilobytes[2], blocks, scouts;
} ways[] = {
    {NULL, 0, 0, 0, DIRECTLY, {0, 0}, 0, 0},
    {"csr_weave1", 256, 256, 1, DIRECTLY, {32, 64}, 5, 3},
    {"csr_weave1_deep", 256, 256, 1, DIRECTLY, {64, 64}, 5, 2},
    {"csr_weave2", 256, 128, 2, IN_TILES, {64, 64}, 4, 4},
    {"csr_weave4", 256, 64, 4, IN_TILES, {64, 64}, 6, 2},
    {"csr_weave8", 128, 16, 8, IN_TILES, {0, 0}, 0, 2},
    {"csr_weave8_direct", 128, 16, 8, DIRECTLY, {0, 0}, 0, 2},
    {"csr_weave8_place", 128, 16, 8, IN_PLACE, {8, 8}, 0, 2},
    {"csr_weave16", 128, 8, 16, IN_PLACE, {8, 8}, 0, 2},
    {"csr_weave32", 256, 8, 32, DIRECTLY, {0, 0}, 0, 2},
    {"csr_weave_block", 256, 1, 256, IN_TILES, {0, 0}, 0, 1},
};
enum { AUTO, DIRECT_1, DEEP_1, STAGED_2, STAGED_4, STAGED_8, DIRECT_8, IN_PLACE_8, IN_PLACE_16, DIRECT_32, BLOCK };

static const char *const words[] = {"auto", "1", "1deep", "2", "4", "8", "8direct", "8place", "16", "32", "block"};
enum { BY_SIZE, EACH_ALONE, ALL_TOGETHER };
static const char *const manners[] = {"auto", "alone", "together"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {"scouts", 0, WORDS(manners)},
    {0},
};

static const char *const entries[] = {"csr_weave1",        "csr_weave1_deep",  "csr_weave2",  "csr_weave4",  "csr_weave8",
                                      "csr_weave8_direct", "csr_weave8_place", "csr_weave16", "csr_weave32",
                                      "csr_weave_block",   NULL};

/* Entries of small and large matrices. */
#define FEW 8192     /* could be one block's: no scouts, and large tiles, for there are few blocks */
#define SOME 1000000 /* leave room for more scouts, one for every piece, and do not pay for what these take */
#define MANY 6000000 /* do not stay in the second-level cache */
#define LARGE 16000000 /* are a matter of loads under way, not of latency */

#define SHORT_ROWS 4.5 /* entries a row: few can be under way */

/* Which way: the first line with at least as many entries, and fewer a row on average; the last is for all others.  Small matrices
 * are a matter of latency and of enough blocks: many lanes a row, few rows a block.  Measured on an H200. */
static const struct rule {
    int64_t nnz;
    double mean;
    int f32, f64;
} rules[] = {
    {131072, 85, BLOCK, BLOCK},
    {131072, 16, DIRECT_32, DIRECT_32},
    {49152, 11, DIRECT_32, DIRECT_32},
    {131072, 3, DIRECT_8, DIRECT_8},
    {12288, 1, DIRECT_32, DIRECT_32},
    {49152, 1, STAGED_4, STAGED_4},
    {INT64_MAX, 1000, BLOCK, BLOCK},
    {SOME, 300, BLOCK, BLOCK},
    {INT64_MAX, 100, DIRECT_32, DIRECT_32},
    {2000000, 40, DIRECT_32, DIRECT_32},
    {LARGE, 40, STAGED_8, STAGED_8},
    {INT64_MAX, 60, IN_PLACE_16, IN_PLACE_16},
    {INT64_MAX, 40, IN_PLACE_8, IN_PLACE_8},
    {SOME, 30, DIRECT_32, DIRECT_32},
    {262144, 12, STAGED_8, STAGED_8},
    {2000000, 12, STAGED_4, STAGED_4},
    {INT64_MAX, 12, STAGED_2, STAGED_4},
    {SOME, 6, DIRECT_8, DIRECT_8},
    {262144, 5, STAGED_4, STAGED_4},
    {MANY, 8.5, STAGED_2, STAGED_2},
    {MANY, SHORT_ROWS, DIRECT_1, DIRECT_1},
    {INT64_MAX, 7.5, STAGED_2, STAGED_2},
    {INT64_MAX, SHORT_ROWS, DEEP_1, DEEP_1},
    {INT64_MAX, 0, DIRECT_1, DIRECT_1},
};

static const struct way *way_of(const struct work *w)
{
    const struct rule *rule = rules;
    while (rule->mean > 0 && (rule->nnz < w->product.nnz || rule->mean * (double)w->product.rows >= (double)w->product.nnz))
        rule++;
    return &ways[w->option[0] ? w->option[0] : w->value == HEDDLE_F32 ? rule->f32 : rule->f64];
}

static int64_t groups_of(const struct work *w)
{
    const int64_t height = way_of(w)->height;
    return (w->product.rows + height - 1) / height;
}

static int has_short_rows(const struct work *w)
{
    return (double)w->product.nnz < SHORT_ROWS * (double)w->product.rows;
}

/* The edges of each piece: two sums, and a number that takes no more room than one. */
static int64_t workspace(const struct work *w)
{
    return 3 * (PLACES(w->product.nnz) + 1) * (int64_t)type_size(w->value);
}

/* The entries of which a scout takes what is cut, no more than a group may have; or 0: scouts share what they find, as in large matrices,
 * where cut groups may come together.  Ranges end where 32 bits can tell. */
static int64_t range_of(const struct work *w)
{
    const int64_t nnz = w->product.nnz, manner = w->option[1];
    const int alone = way_of(w)->read != IN_PLACE && (manner == EACH_ALONE ? nnz < INT32_MAX / 2 : manner == BY_SIZE && nnz <= SOME);
    return alone ? PIECE : 0;
}

/* Scouts: one for so many entries, but where they wait for each other not more than have room on the device together with others. */
#define ENTRIES_OF_SCOUT 1024
#define SCOUTS_MOST 4
#define SCOUTS_FEW 2 /* where rows are so short that groups want the room */
static int64_t scouts_of(const struct work *w)
{
    const int64_t nnz = w->product.nnz, range = range_of(w);
    const int64_t each = nnz <= SOME ? SCOUTS_MOST : has_short_rows(w) ? SCOUTS_FEW : way_of(w)->scouts;
    const int64_t most = each * gpu_info_of(w->device->gpu)->multiprocessors, enough = nnz / ENTRIES_OF_SCOUT;
    return nnz <= FEW ? 0 : range ? (nnz + range - 1) / range : most < enough ? most : enough;
}

/* What scouts tell, the list, which have gone, and how many pieces of a cut group are done. */
static int64_t counters(const struct work *w)
{
    const int64_t nnz = w->product.nnz;
    return (2 + PLACES(nnz)) * (int64_t)sizeof(int64_t) + (scouts_of(w) + nnz / PIECE + 2) * (int64_t)sizeof(int32_t);
}

/* Are groups staged in strips?  Large matrices with scattered columns live by the first-level cache, and small tiles leave x more. */
#define STRIPS_KILOBYTES 32
static int has_strips(const struct work *w)
{
    return way_of(w) == &ways[STAGED_2] && w->value == HEDDLE_F32 && w->product.nnz > MANY;
}

/* A tile has room for a piece and, where products are always staged, for what the rows of a block hold on average, and a
 * quarter more. */
#define TILE_MOST 3072
static int64_t tile_of(const struct work *w)
{
    if (w->product.nnz <= FEW)
        return w->product.nnz < TILE_MOST ? w->product.nnz : TILE_MOST;
    if (has_strips(w))
        return PIECE;
    const int64_t usual = (w->product.nnz / w->product.rows * way_of(w)->height * 5 / 4 + 63) & ~(int64_t)31;
    return way_of(w)->read != IN_TILES || usual < PIECE ? PIECE : usual > TILE_MOST ? TILE_MOST : usual;
}

/* What one block may take so that the others do not wait for it: a few tiles, or a small share of all, half of it where few lanes
 * take a row whatever its length; but never less than it reads directly without a look at the limit, or, where there are many
 * groups, twice what they have on average.  In small matrices it takes 11 us and more until cut groups are done. */
#define MANY_GROUPS 1024
#define LIMIT_TILES 2
#define LIMIT_TILES_OF_SOME 3 /* in f32 */
#define LIMIT_ROW_OF_SOME 6144 /* that a block reads without any tile */
#define LIMIT_SHARE 8192
static int64_t limit_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t nnz = w->product.nnz, some = nnz <= SOME;
    const int64_t tiles = (some && w->value == HEDDLE_F32 ? LIMIT_TILES_OF_SOME : LIMIT_TILES) * tile_of(w);
    const int64_t usual = some && way->height == 1 ? LIMIT_ROW_OF_SOME : tiles;
    const int64_t share = nnz / (way->read == IN_PLACE ? 2 * LIMIT_SHARE : LIMIT_SHARE), most = usual > share ? usual : share;
    const int64_t groups = groups_of(w), twice = groups < MANY_GROUPS ? 0 : 2 * (nnz / groups);
    const int64_t whole = LONG(way->lanes) * way->block, least = twice > whole ? twice : whole;
    return nnz <= FEW ? FEW : most > least ? most : least;
}

/* Entries of a group that are sent for ahead of time, or 0: where few are under way, and memory has to serve them. */
static int64_t sent_of(const struct work *w)
{
    const int64_t nnz = w->product.nnz, wanted = w->value == HEDDLE_F32 && nnz > MANY && way_of(w)->lanes == 1;
    return wanted && has_short_rows(w) ? (nnz / groups_of(w) + 4) & ~(int64_t)3 : 0;
}

/* Groups that a thread of a scout looks at together: as many as have no more entries than one may have, if all are alike. */
#define SPAN_MOST 16
static int64_t span_of_scout(const struct work *w)
{
    const int64_t span = limit_of(w) * 3 / 4 / (w->product.nnz / groups_of(w) + 1);
    return w->product.nnz <= LARGE || span < 1 ? 1 : span < SPAN_MOST ? span : SPAN_MOST;
}

/* The first group whose entries need not stay in the second-level cache.  Those ahead fill it, and push out what others left there;
 * what comes behind would only push them out again, and x with them. */
static int64_t passing_of(const struct work *w)
{
    const int64_t entry = (int64_t)sizeof(int32_t) + (int64_t)type_size(w->value);
    return gpu_info_of(w->device->gpu)->cache / (entry * (w->product.nnz / groups_of(w) + 1));
}

/* Shared memory that a multiprocessor should have, or 0: what the driver thinks. */
#define OTHER_SHARED 1536 /* of a block, about: a scout's queue, and what the driver keeps */
static int64_t carved_of(const struct work *w, int64_t shared)
{
    const struct way *way = way_of(w);
    const int64_t wanted = 1024 * (int64_t)(has_strips(w) ? STRIPS_KILOBYTES : way->kilobytes[w->value != HEDDLE_F32]);
    return way->blocks * (shared + OTHER_SHARED) <= wanted ? wanted : 0;
}

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t groups = groups_of(w), scouts = scouts_of(w), tile = tile_of(w);
    const int64_t shared = way->read == IN_PLACE ? 0 : tile * (int64_t)type_size(w->value);
    const int64_t threads = UINT32_MAX / way->block, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    int64_t *fact = told.product.fact;
    TRY(gpu_prefer_shared(w, way->entry, carved_of(w, shared)));
    fact[WEAVE_TILE] = tile;
    fact[WEAVE_LIMIT] = limit_of(w);
    fact[WEAVE_SCOUTS] = scouts;
    fact[WEAVE_AHEAD] = (int64_t)info->multiprocessors * (RESIDENT / way->block);
    fact[WEAVE_ENTRIES] = sent_of(w);
    fact[WEAVE_SPAN] = span_of_scout(w);
    fact[WEAVE_PASSING] = passing_of(w);
    fact[WEAVE_RANGE] = range_of(w);
    for (int64_t begin = -scouts; begin < groups; begin += most) { /* scouts come before the first group */
        told.product.first = begin;
        TRY(gpu_run(&told, way->entry, groups - begin < most ? groups - begin : most, way->block, shared));
    }
done:
    return status;
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
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
