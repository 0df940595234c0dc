/* SPDX-License-Identifier: MIT
 *
 * csr_weave: Heddle's own product from plain CSR, with nothing prepared, for any matrix, in one launch.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Heddle.  Staging the products of a few rows in shared memory is CSR-stream (Greathouse and Daga 2014); that the
 *            last of several blocks finishes what they share is an old trick of reductions.
 * Balance    a block owns a group of neighbouring rows, so many that their entries fill its threads at the mean row length: it
 *            finds them without a search.  Short rows are summed by the same few lanes each, where they are read or from
 *            products that are staged in shared memory; a row that is long for its lanes is summed by its wave.  A group
 *            that has too many entries for one block is left to scouts.  These are the first blocks of the launch: each looks for
 *            such groups in its share of the row offsets, puts their pieces on a list, and when all have looked they take the
 *            pieces in turn.  A scout that waits in vain for the others goes on without them, and they without it.  Rows that
 *            are cut between pieces are put together by whoever comes last.
 * Memory     val and col are streamed past the caches where they are staged, each once and coalesced, with up to 8 loads a
 *            thread under way; x is gathered in the order of storage, and has as much of the first-level cache as tiles can spare.
 * Wins       small matrices, and rows of similar length.
 * Loses      skewed rows, where a block has few entries for all that it does, and against formats that store fewer bytes or
 *            put neighbouring rows side by side, such as sell.
 * Order      fixed per row, whoever comes last: bitwise repeatable.
 */

/* What launch tells the device half in product.fact: the first group of this launch (negative: scouts come first), entries of a
 * tile, entries that a group may have before it is cut, scouts, and where in the workspace the ends of listed groups are. */
enum { WEAVE_BEGIN, WEAVE_TILE, WEAVE_LIMIT, WEAVE_SCOUTS, WEAVE_ENDS };

/* Entries of a piece of a cut group. */
#define PIECE 1024

/* Entries a lane, in rows that are read directly; where there are more, the rows of the block are staged. */
#define LONG(lanes) ((lanes) == 1 ? 8 : 16)

/* Places of the list: a cut group has more than one piece, and at most one that is not full. */
#define PLACES(nnz) (2 * ((nnz) / PIECE) + 2)

#ifdef HEDDLE_DEVICE
#include "kernel/gpu.h"
#include "simt/collective.h"

#define STAGED 32 /* entries a lane, in rows that are staged; more are summed by the wave */
#define QUEUE 8   /* groups or pieces that a scout keeps in shared memory */

/* How a way goes about its work, all of it known to the compiler: threads of a block, lanes of a row, rows of a group. */
struct shape {
    int width, lanes, height;
};

DEVICE off offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE void put(const struct product *p, int64_t row, real sum)
{
    store((real *)p->y + row, scalar(p->alpha), sum, scalar(p->beta));
}

DEVICE real lanes_sum(real sum, const int lanes)
{
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* ------------------------------------------------------------------ tiles -------------------------------------- */

/* The products of n entries that begin at `from`, into the tile, by the `width` threads of the block. */
DEVICE void stage(const struct product *p, real *tile, off from, int n, const int width, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    SIMT_ROLLED for (int k = simt_thread_id(); k < n; k += width * under_way)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = simt_stream_if(k + i * width < n, col + k + i * width);
            v[i] = simt_stream_if(k + i * width < n, val + k + i * width);
        }
        for (int i = 0; i < under_way; i++)
            if (k + i * width < n)
                tile[k + i * width] = v[i] * simt_readonly(x + c[i]);
    }
}

/* Position `at`, counted from `low`, brought to within 0 and n. */
DEVICE int clipped(off at, off low, int n)
{
    return at < low ? 0 : at - low > n ? n : (int)(at - low);
}

/* The sum of entries begin to end of the tile, one's own row, by its lanes; a long row by all lanes of the wave, one such row
 * after another.  The first of the lanes has it in the end. */
DEVICE real row_sum(const real *tile, int begin, int end, const int lanes)
{
    const int lane = simt_thread_id() % lanes, is_long = end - begin > STAGED * lanes;
    real sum = 0;
    for (int k = is_long ? end : begin + lane; k < end; k += lanes)
        sum += tile[k];
    sum = lanes_sum(sum, lanes);
    for (uint64_t todo = simt_ballot(is_long && lane == 0); todo; todo &= todo - 1) {
        const int owner = simt_ffs(todo) - 1, from = simt_shfl(begin, owner, WAVE), to = simt_shfl(end, owner, WAVE);
        real other = 0;
        SIMT_ROLLED for (int k = from + simt_lane(); k < to; k += 2 * WAVE)
            for (int i = 0; i < 2; i++)
                other += k + i * WAVE < to ? tile[k + i * WAVE] : 0;
        other = wave_sum(other, WAVE);
        if (simt_lane() == owner)
            sum = other;
    }
    return sum;
}

/* ------------------------------------------------------------------ groups ------------------------------------- */

/* A group whose products are staged, strip by strip; one strip is usual. */
DEVICE void staged(const struct product *p, real *tile, int64_t group, const struct shape s, const int under_way)
{
    const int size = (int)p->fact[WEAVE_TILE];
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const off first = offset(p, group * s.height), last = offset(p, (group + 1) * s.height);
    const off begin = offset(p, row), end = offset(p, row + 1);
    real sum = 0;
    if (last - first > p->fact[WEAVE_LIMIT])
        return;
    SIMT_ROLLED for (off low = first; low < last; low += size)
    {
        const int n = last - low < size ? (int)(last - low) : size;
        if (low > first)
            simt_sync();
        stage(p, tile, low, n, s.width, under_way);
        simt_sync();
        sum += row_sum(tile, clipped(begin, low, n), clipped(end, low, n), s.lanes);
    }
    if (simt_thread_id() % s.lanes == 0 && row < p->rows)
        put(p, row, sum);
}

/* The share of a lane in a row of n entries that begin at `from`. */
DEVICE real share(const struct product *p, off from, int n, int lane, const int lanes, const int under_way)
{
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + from;
    real sum = 0;
    SIMT_ROLLED for (int k = lane; k < n; k += under_way * lanes)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < under_way; i++) {
            c[i] = k + i * lanes < n ? simt_readonly(col + k + i * lanes) : 0;
            v[i] = k + i * lanes < n ? simt_readonly(val + k + i * lanes) : 0;
        }
        for (int i = 0; i < under_way; i++)
            sum += k + i * lanes < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    return sum;
}

/* A group whose rows are read directly, if all of them are short. */
DEVICE void direct(const struct product *p, real *tile, int64_t group, const struct shape s)
{
    const int lane = simt_thread_id() % s.lanes;
    const int64_t row = group * s.height + simt_thread_id() / s.lanes;
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (simt_sync_any(end - begin > LONG(s.lanes) * s.lanes)) {
        staged(p, tile, group, s, 4);
        return;
    }
    const real sum = lanes_sum(share(p, begin, (int)(end - begin), lane, s.lanes, 4), s.lanes);
    if (lane == 0 && row < p->rows)
        put(p, row, sum);
}

/* A block a row. */
DEVICE void by_block(const struct product *p, int64_t row, const int width)
{
    const off begin = offset(p, row), end = offset(p, row + 1);
    if (end - begin > p->fact[WEAVE_LIMIT])
        return;
    const real *RESTRICT x = (const real *)p->x;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const real *RESTRICT val = (const real *)p->array[CSR_VAL] + begin;
    const int n = (int)(end - begin);
    real sum = 0;
    SIMT_ROLLED for (int k = simt_thread_id(); k < n; k += 8 * width)
    {
        idx c[8];
        real v[8];
        for (int i = 0; i < 8; i++) {
            c[i] = simt_stream_if(k + i * width < n, col + k + i * width);
            v[i] = simt_stream_if(k + i * width < n, val + k + i * width);
        }
        for (int i = 0; i < 8; i++)
            sum += k + i * width < n ? v[i] * simt_readonly(x + c[i]) : 0;
    }
    sum = block_sum(sum);
    if (simt_thread_id() == 0)
        put(p, row, sum);
}

/* ------------------------------------------------------------------ pieces of cut groups ----------------------- */

DEVICE int32_t pieces_of(off entries)
{
    return (int32_t)((entries + PIECE - 1) / PIECE);
}

/* A cut group, or a piece of one, that a scout keeps in shared memory: which it is, and where the entries of the group begin and
 * end.  Read anew wherever it is needed, for registers are dear while products are staged. */
struct found {
    off first, last;
    int32_t group, piece; /* piece: -1 for none */
};

/* Where row `ahead` of the group begins. */
DEVICE off begin_of(const struct product *p, const struct found *f, int ahead, const int height)
{
    const int64_t row = (int64_t)simt_fresh(&f->group) * height + ahead;
    return simt_again((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE int32_t pieces_in(const struct found *f)
{
    return pieces_of(simt_fresh(&f->last) - simt_fresh(&f->first));
}

/* The sums of cut rows, two for each piece: of the row that was open when it began, and of the one that is open at its end.
 * A cut group is longer than a piece: how many pieces the entries before it fill tells it from all others. */
enum { OPENED, LEFT };

DEVICE real *edges_of(const struct product *p, off first)
{
    return (real *)p->workspace + 2 * ((int64_t)(first / PIECE) + pieces_of(first));
}

/* Stages piece i of a group, and returns its entries.  Where rows begin is asked for in vain here, so that it is in the cache when
 * they are summed. */
DEVICE int stage_piece(const struct product *p, real *tile, const struct found *f, int32_t i, const struct shape s)
{
    const off low = simt_fresh(&f->first) + (off)i * PIECE, rest = simt_fresh(&f->last) - low;
    const int n = rest < PIECE ? (int)rest : PIECE;
    begin_of(p, f, simt_thread_id() / s.lanes, s.height);
    simt_sync();
    stage(p, tile, low, n, s.width, 4);
    simt_sync();
    return n;
}

/* Sums the rows of piece i, n entries; those that are cut leave their sums at its edges. */
DEVICE void sum_piece(const struct product *p, const real *tile, const struct found *f, int32_t i, int n, const struct shape s)
{
    const int ahead = simt_thread_id() / s.lanes < s.height ? simt_thread_id() / s.lanes : s.height;
    const off first = simt_fresh(&f->first), low = first + (off)i * PIECE;
    const off begin = begin_of(p, f, ahead, s.height);
    const off end = ahead < s.height ? begin_of(p, f, ahead + 1, s.height) : begin;
    const int from = clipped(begin, low, n), to = clipped(end, low, n);
    const real sum = row_sum(tile, from, to, s.lanes);
    const int64_t row = (int64_t)simt_fresh(&f->group) * s.height + ahead;
    if (simt_thread_id() % s.lanes != 0 || ahead == s.height || row >= p->rows)
        return;
    if (from < to && begin < low)
        edges_of(p, first)[2 * (int64_t)i + OPENED] = sum;
    else if (from < to && end > low + n)
        edges_of(p, first)[2 * (int64_t)i + LEFT] = sum;
    else if (from < to || (i == 0 && begin == end))
        put(p, row, sum);
}

/* Every piece of the group has left its edges: the rows that lie in more than one are put together, each by a wave. */
DEVICE void join(const struct product *p, const struct found *f, const int height)
{
    const int ahead = simt_thread_id() < height ? simt_thread_id() : height, next = ahead < height;
    const off first = simt_fresh(&f->first);
    const off begin = begin_of(p, f, ahead, height) - first, end = begin_of(p, f, ahead + next, height) - first;
    const int32_t from = (int32_t)(begin / PIECE), to = begin < end ? (int32_t)((end - 1) / PIECE) : from;
    SIMT_ROLLED for (uint64_t todo = simt_ballot(to > from); todo; todo &= todo - 1)
    {
        const int owner = simt_ffs(todo) - 1;
        const int32_t opens = simt_shfl(from, owner, WAVE), closes = simt_shfl(to, owner, WAVE);
        const real *edges = edges_of(p, first);
        real sum = simt_lane() == 0 ? simt_fresh(edges + 2 * (int64_t)opens + LEFT) : 0;
        SIMT_ROLLED for (int32_t i = opens + 1 + simt_lane(); i <= closes; i += WAVE)
            sum += simt_fresh(edges + 2 * (int64_t)i + OPENED);
        sum = wave_sum(sum, WAVE);
        if (simt_lane() == owner)
            put(p, (int64_t)simt_fresh(&f->group) * height + ahead, sum);
    }
}

/* ------------------------------------------------------------------ what scouts share -------------------------- */

/* counters begins with a word in which scouts tell how far they are: how many have looked through their share, how many have
 * gone (counted by GONE), and in the high half how many pieces are listed.  Then comes how many scouts are through. */
enum { TOLD, THROUGH, LIST };
#define GONE 65536
#define LOOKED(told) ((told) & (GONE - 1))
#define LISTED(told) ((int32_t)((told) >> 32))

DEVICE int64_t *board(const struct product *p)
{
    return (int64_t *)p->counters;
}

/* The list: a word a place, with the number of the piece in the high half and its group, counted from 1; 0 is nothing.  Place i
 * belongs to scout i modulo scouts. */
DEVICE int64_t *list(const struct product *p)
{
    return board(p) + LIST;
}

/* Where the entries of the group begin and end, for each place: in the workspace, for it need not be 0 again. */
DEVICE off *ends(const struct product *p)
{
    return (off *)((char *)p->workspace + p->fact[WEAVE_ENDS]);
}

/* Which scouts have gone. */
DEVICE int32_t *gone(const struct product *p)
{
    return (int32_t *)(list(p) + PLACES(p->nnz));
}

/* How many pieces are done of a group that begins here. */
DEVICE int32_t *done_of(const struct product *p, off first)
{
    return gone(p) + p->fact[WEAVE_SCOUTS] + pieces_of(first);
}

/* ------------------------------------------------------------------ scouts ------------------------------------- */

/* Puts the pieces of a group on the list. */
DEVICE void list_pieces(const struct product *p, const struct found *f, const int width)
{
    SHARED(int32_t, place, 1);
    const int32_t pieces = pieces_in(f);
    simt_sync();
    if (simt_thread_id() == 0)
        *place = LISTED(simt_atomic_add(board(p) + TOLD, (int64_t)pieces << 32));
    simt_sync();
    SIMT_ROLLED for (int32_t i = simt_thread_id(); i < pieces; i += width)
    {
        ends(p)[2 * (int64_t)(*place + i)] = simt_fresh(&f->first);
        ends(p)[2 * (int64_t)(*place + i) + 1] = simt_fresh(&f->last);
        simt_atomic_exchange(list(p) + *place + i, (int64_t)i << 32 | (simt_fresh(&f->group) + 1));
    }
}

/* Looks for cut groups in this scout's share, and lists them; were there any? */
DEVICE int look(const struct product *p, struct found *queue, const struct shape s)
{
    SHARED(int32_t, queued, 1);
    const int64_t scouts = p->fact[WEAVE_SCOUTS], groups = (p->rows + s.height - 1) / s.height;
    int any = 0;
    SIMT_ROLLED for (int64_t at = simt_block_id(); at < groups; at += scouts * s.width)
    {
        const int64_t group = at + simt_thread_id() * scouts;
        int cut = group < groups && offset(p, (group + 1) * s.height) - offset(p, group * s.height) > p->fact[WEAVE_LIMIT];
        while (simt_sync_any(cut)) {
            any = 1;
            if (simt_thread_id() == 0)
                *queued = 0;
            simt_sync();
            if (cut) {
                const int32_t i = simt_atomic_add(queued, 1);
                if (i < QUEUE) {
                    queue[i].group = (int32_t)group;
                    queue[i].first = offset(p, group * s.height);
                    queue[i].last = offset(p, (group + 1) * s.height);
                    cut = 0;
                }
            }
            simt_sync();
            SIMT_ROLLED for (int i = 0; i < QUEUE && i < simt_fresh(queued); i++)
                list_pieces(p, queue + i, s.width);
        }
    }
    return any;
}

/* Have some scouts not looked yet? */
DEVICE int is_open(const struct product *p, int64_t told)
{
    return told != 0 && LOOKED(told) < p->fact[WEAVE_SCOUTS];
}

/* Have all looked, and nothing is listed?  Their number alone tells so, and soon 0. */
DEVICE int is_over(const struct product *p, int64_t told)
{
    return told == 0 || told == p->fact[WEAVE_SCOUTS];
}

/* A thread of a scout that has looked waits for the others: what they have told.  They may not have come to the device yet, so a
 * scout that has waited for long goes: it marks that it will not look at its places again, and then takes what is there. */
#ifdef SIMT_EMU
#define PATIENCE 65536 /* blocks of the emulator take their time */
#else
#define PATIENCE 256
#endif
DEVICE int64_t wait_for_others(const struct product *p, int64_t told)
{
    SIMT_ROLLED for (int i = 0; i < PATIENCE && is_open(p, told); i++)
        told = simt_fresh(board(p) + TOLD);
    if (!is_open(p, told))
        return told;
    gone(p)[simt_block_id()] = 1;
    simt_fence();
    SIMT_ROLLED while (is_open(p, told))
    {
        const int64_t seen = simt_atomic_cas(board(p) + TOLD, told, told + GONE);
        if (seen == told)
            return told;
        told = seen;
    }
    if (is_over(p, told))
        gone(p)[simt_block_id()] = 0;
    return told;
}

DEVICE int is_mine(const struct product *p, int32_t place)
{
    const int32_t owner = place % (int32_t)p->fact[WEAVE_SCOUTS];
    return owner == simt_block_id() || simt_fresh(gone(p) + owner);
}

/* A thread fetches what is listed at a place, if nobody has.  As long as scouts look, only the word itself can be trusted. */
DEVICE void fetch(const struct product *p, struct found *f, int32_t place, int64_t told, const int height)
{
    const int open = is_open(p, told);
    const off *end = ends(p) + 2 * (int64_t)place, first = open ? 0 : simt_fresh(end), last = open ? 0 : simt_fresh(end + 1);
    const int64_t listed = simt_atomic_exchange(list(p) + place, (int64_t)0), group = listed ? (int32_t)listed - 1 : 0;
    f->group = (int32_t)group;
    f->first = open ? offset(p, group * height) : first;
    f->last = open ? offset(p, (group + 1) * height) : last;
    f->piece = listed ? (int32_t)(listed >> 32) : -1;
}

/* The pieces of the next QUEUE places, `apart` of each other. */
DEVICE void take(const struct product *p, real *tile, struct found *queue, int32_t place, int32_t apart, int64_t told,
                 const struct shape s)
{
    const int t = simt_thread_id(), at = place + t * apart;
    if (t < QUEUE) {
        queue[t].piece = -1;
        if (at < LISTED(told) && is_mine(p, at))
            fetch(p, queue + t, at, told, s.height);
    }
    simt_sync();
    SIMT_ROLLED for (int i = 0; i < QUEUE; i++)
        if (simt_fresh(&queue[i].piece) >= 0) {
            const int n = stage_piece(p, tile, queue + i, simt_fresh(&queue[i].piece), s);
            sum_piece(p, tile, queue + i, simt_fresh(&queue[i].piece), n, s);
        }
    simt_sync();
    if (t < QUEUE && queue[t].piece >= 0) { /* few threads: a fence empties the first-level cache */
        int32_t *done = done_of(p, queue[t].first);
        simt_fence();
        const int last = simt_atomic_add(done, 1) + 1 == pieces_in(queue + t);
        if (last) {
            simt_fence();
            *done = 0;
        }
        queue[t].piece = last ? 0 : -1;
    }
    simt_sync();
    SIMT_ROLLED for (int i = 0; i < QUEUE; i++)
        if (simt_fresh(&queue[i].piece) >= 0)
            join(p, queue + i, s.height);
    simt_sync();
}

/* The last scout that is through leaves the counters as they were. */
DEVICE void leave(const struct product *p, const int width)
{
    SHARED(int32_t, last, 1);
    const int64_t scouts = p->fact[WEAVE_SCOUTS];
    if (simt_thread_id() == 0)
        *last = simt_atomic_add(board(p) + THROUGH, (int64_t)1) == scouts - 1;
    simt_sync();
    if (*last) {
        SIMT_ROLLED for (int i = simt_thread_id(); i < scouts; i += width)
            gone(p)[i] = 0;
        if (simt_thread_id() == 0)
            board(p)[TOLD] = board(p)[THROUGH] = 0;
    }
}

/* A scout looks for groups that are too large for one block, and takes its share of all pieces that were found.  If others have
 * gone before it had listed its own, it looks after their places, too. */
DEVICE void scout(const struct product *p, real *tile, const struct shape s)
{
    SHARED(struct found, queue, QUEUE);
    SHARED(int64_t, told, 2);
    const int any = look(p, queue, s);
    simt_sync();
    if (simt_thread_id() == 0) {
        if (any)
            simt_fence();
        told[0] = simt_atomic_add(board(p) + TOLD, (int64_t)1) + 1;
        told[1] = wait_for_others(p, told[0]);
        if (is_over(p, told[0])) /* the last to look */
            board(p)[TOLD] = 0;
        else if (!is_over(p, told[1]))
            simt_fence();
    }
    simt_sync();
    if (is_over(p, told[1]))
        return;
    const int alone = (told[0] & 0xffffffff) >= GONE, apart = alone ? 1 : (int)p->fact[WEAVE_SCOUTS];
    SIMT_ROLLED for (int32_t place = alone ? 0 : simt_block_id(); place < LISTED(told[1]); place += QUEUE * apart)
        take(p, tile, queue, place, apart, told[1], s);
    leave(p, s.width);
}

/* ------------------------------------------------------------------ ways --------------------------------------- */

/* Blocks of a multiprocessor that has so many threads; fewer where 64-bit offsets take registers. */
#define BLOCKS(threads, width) ((sizeof(off) == 4 ? (threads) : 1024) / (width))

/* Every way is a kernel.  The first blocks are scouts. */
#define WAY(name, blocks, width, lanes, height, taken)                    \
    KERNEL_RESIDENT(name, width, blocks)(struct product p)                \
    {                                                                     \
        SHARED_DYNAMIC(real, tile);                                       \
        const struct shape s = {width, lanes, height};                    \
        const int64_t group = p.fact[WEAVE_BEGIN] + simt_block_id();      \
        if (group < 0)                                                    \
            scout(&p, tile, s);                                           \
        else                                                              \
            taken;                                                        \
    }

WAY(csr_weave1, BLOCKS(2048, 256), 256, 1, 256, direct(&p, tile, group, s))
WAY(csr_weave2, BLOCKS(2048, 256), 256, 2, 128, staged(&p, tile, group, s, 4))
WAY(csr_weave4, BLOCKS(1536, 256), 256, 4, 64, staged(&p, tile, group, s, 8))
#define DEEP (sizeof(real) == 4 ? 4 : 8)
WAY(csr_weave8, BLOCKS(sizeof(real) == 4 ? 2048 : 1536, 128), 128, 8, 16, staged(&p, tile, group, s, DEEP))
WAY(csr_weave8_direct, BLOCKS(2048, 128), 128, 8, 16, direct(&p, tile, group, s))
WAY(csr_weave32, BLOCKS(2048, 128), 128, 32, 4, direct(&p, tile, group, s))
WAY(csr_weave_block, BLOCKS(1536, 256), 256, WAVE, 1, by_block(&p, group, 256))

#else
#include "kernel/kernel.h"

/* The ways through the kernel; `way` picks one, and auto the one for the mean row length. */
enum where { DIRECTLY, IN_TILES };

static const struct way {
    const char *entry;
    int block, height, lanes;
    enum where read;
    /* Shared memory takes cache from x, and more blocks that wait for the same second-level cache only end later.  So a
     * multiprocessor should have this and no more, if so many blocks find room in it; else what the driver thinks.  Scouts, too,
     * take room: so many on a multiprocessor.  Measured on an H200. */
    int kilobytes, blocks, scouts;
} ways[] = {
    {NULL, 0, 0, 0, DIRECTLY, 0, 0, 0},
    {"csr_weave1", 256, 256, 1, DIRECTLY, 32, 6, 2},
    {"csr_weave2", 256, 128, 2, IN_TILES, 64, 4, 4},
    {"csr_weave4", 256, 64, 4, IN_TILES, 64, 6, 2},
    {"csr_weave8", 128, 16, 8, IN_TILES, 0, 0, 2},
    {"csr_weave8_direct", 128, 16, 8, DIRECTLY, 0, 0, 2},
    {"csr_weave32", 128, 4, 32, DIRECTLY, 0, 0, 2},
    {"csr_weave_block", 256, 1, 256, IN_TILES, 0, 0, 1},
};
enum { AUTO, DIRECT_1, STAGED_2, STAGED_4, STAGED_8, DIRECT_8, DIRECT_32, BLOCK };

static const char *const words[] = {"auto", "1", "2", "4", "8", "8direct", "32", "block"};
static const struct option options[] = {
    {"way", 0, WORDS(words)},
    {0},
};

static const char *const entries[] = {"csr_weave1",        "csr_weave2",  "csr_weave4",      "csr_weave8",
                                      "csr_weave8_direct", "csr_weave32", "csr_weave_block", NULL};

/* Which way: the first line with at least as many entries, and fewer a row on average; the last is for all others.  Small matrices
 * are a matter of latency and of enough blocks: many lanes a row, few rows a block.  Measured on an H200. */
static const struct rule {
    int64_t nnz;
    double mean;
    int f32, f64;
} rules[] = {
    {131072, 85, BLOCK, BLOCK},
    {131072, 16, DIRECT_32, DIRECT_32},
    {131072, 3, DIRECT_8, DIRECT_8},
    {131072, 1, STAGED_4, STAGED_4},
    {INT64_MAX, 1000, BLOCK, BLOCK},
    {INT64_MAX, 100, DIRECT_32, DIRECT_32},
    {2000000, 40, DIRECT_32, DIRECT_32},
    {INT64_MAX, 40, STAGED_8, STAGED_8},
    {1000000, 30, DIRECT_32, DIRECT_32},
    {262144, 12, STAGED_8, STAGED_8},
    {2000000, 12, STAGED_4, STAGED_4},
    {INT64_MAX, 12, STAGED_2, STAGED_4},
    {262144, 5, STAGED_4, STAGED_4},
    {INT64_MAX, 7.5, STAGED_2, STAGED_2},
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

/* So few entries that a block could take all of them: no scouts, and large tiles, for there are few blocks. */
#define FEW 8192

/* Two sums for each piece, and the ends of its group for each place of the list. */
static int64_t sums_of(const struct work *w)
{
    return 2 * (PLACES(w->product.nnz) + 1) * (int64_t)type_size(w->value);
}

static int64_t workspace(const struct work *w)
{
    return sums_of(w) + 2 * PLACES(w->product.nnz) * (int64_t)sizeof(int64_t);
}

/* Scouts: one for so many entries, but not more than have room on the device together with others. */
#define ENTRIES_OF_SCOUT 1024
static int64_t scouts_of(const struct work *w)
{
    const int64_t most = (int64_t)way_of(w)->scouts * gpu_info_of(w->device->gpu)->multiprocessors;
    const int64_t enough = w->product.nnz <= FEW ? 0 : w->product.nnz / ENTRIES_OF_SCOUT;
    return most < enough ? most : enough;
}

/* What scouts tell, the list, which have gone, and how many pieces of a cut group are done. */
static int64_t counters(const struct work *w)
{
    const int64_t nnz = w->product.nnz;
    return (2 + PLACES(nnz)) * (int64_t)sizeof(int64_t) + (scouts_of(w) + nnz / PIECE + 2) * (int64_t)sizeof(int32_t);
}

/* A tile has room for a piece and, where products are always staged, for what the rows of a block hold on average, and a
 * quarter more. */
#define TILE_MOST 3072
static int64_t tile_of(const struct work *w)
{
    if (w->product.nnz <= FEW)
        return w->product.nnz < TILE_MOST ? w->product.nnz : TILE_MOST;
    const int64_t usual = (w->product.nnz / w->product.rows * way_of(w)->height * 5 / 4 + 63) & ~(int64_t)31;
    return way_of(w)->read == DIRECTLY || usual < PIECE ? PIECE : usual > TILE_MOST ? TILE_MOST : usual;
}

/* What one block may take so that the others do not wait for it: a few tiles, or a small share of all; but never less than
 * it reads directly without a look at the limit. */
#define LIMIT_TILES 2
#define LIMIT_SHARE 8192
static int64_t limit_of(const struct work *w)
{
    const struct way *way = way_of(w);
    const int64_t tiles = LIMIT_TILES * tile_of(w), share = w->product.nnz / LIMIT_SHARE, least = LONG(way->lanes) * way->block;
    const int64_t most = tiles > share ? tiles : share;
    return w->product.nnz <= FEW ? FEW : most > least ? most : least;
}

#define OTHER_SHARED 1536 /* of a block: a scout's queue, and what the driver keeps */

static heddle_status launch(const struct work *w)
{
    heddle_status status = HEDDLE_OK;
    const struct way *way = way_of(w);
    const struct gpu_info *info = gpu_info_of(w->device->gpu);
    struct work told = *w;
    const int64_t groups = groups_of(w), scouts = scouts_of(w), tile = tile_of(w);
    const int64_t threads = UINT32_MAX / way->block, most = info->grid < threads ? info->grid : threads; /* AMD: 32 bits */
    int64_t *fact = told.product.fact;
    const int64_t shared = tile * (int64_t)type_size(w->value), wanted = way->kilobytes * 1024;
    TRY(gpu_prefer_shared(w, way->entry, way->blocks * (shared + OTHER_SHARED) <= wanted ? wanted : 0));
    fact[WEAVE_TILE] = tile;
    fact[WEAVE_LIMIT] = limit_of(w);
    fact[WEAVE_SCOUTS] = scouts;
    fact[WEAVE_ENDS] = sums_of(w);
    for (int64_t begin = -scouts; begin < groups; begin += most) { /* scouts come before the first group */
        fact[WEAVE_BEGIN] = begin;
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
