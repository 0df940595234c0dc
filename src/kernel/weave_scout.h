/* SPDX-License-Identifier: MIT
 *
 * weave_scout.h: what csr_weave does about groups that are too large for one block.  Its first blocks are scouts: they look for such
 * groups, list their pieces, and take them in turn; or, in small matrices, each takes the pieces that begin in a range of its own. */
#ifndef KERNEL_WEAVE_SCOUT_H
#define KERNEL_WEAVE_SCOUT_H

#ifdef HEDDLE_DEVICE
#include "kernel/weave.h"

#define QUEUE 8 /* groups or pieces that a scout keeps in shared memory */

/* ------------------------------------------------------------------ pieces of cut groups ----------------------- */

/* What a piece leaves of rows that are cut: the sums of the one that was open when it began, and of the one that it leaves open, and
 * which of the group that is, or -1 for none. */
enum { OPENED, LEFT };
struct edges {
    real sum[2];
    int32_t left;
};

/* A cut group, or a piece of one, that a scout keeps in shared memory: which it is, where the entries of the group begin and end,
 * where those of the piece begin, and how many they are.  Read anew wherever it is needed, for registers are dear while products
 * are staged. */
struct found {
    off first, last, low;
    int32_t n;
    int32_t group, piece; /* piece: -1 for none; later: how many are to be put together */
    int32_t place;        /* of its first piece on the list; later: is the piece within a row that begins before it? */
    struct edges edges;
};

/* Where row `ahead` of a group begins. */
DEVICE off begin_in(const struct product *p, int32_t group, int ahead, const int height)
{
    const int64_t row = (int64_t)group * height + ahead;
    return simt_again((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE off begin_of(const struct product *p, const struct found *f, int ahead, const int height)
{
    return begin_in(p, simt_fresh(&f->group), ahead, height);
}

DEVICE int32_t pieces_in(const struct found *f)
{
    return parts_between(simt_fresh(&f->first), simt_fresh(&f->last), PIECE);
}

/* The edges of the pieces of a group.  It is longer than a piece: how many pieces the entries before it fill tells it from all
 * others. */
DEVICE struct edges *edges_of(const struct product *p, off first)
{
    return (struct edges *)p->workspace + (int64_t)(first / PIECE) + parts_between(0, first, PIECE);
}

/* Stages a piece of a group, where there are tiles.  Where rows begin is asked for in vain here, so that it is in the cache when they
 * are summed. */
DEVICE void stage_piece(const struct product *p, real *tile, const struct found *f, const struct shape s)
{
    if (!s.tiled)
        return;
    begin_of(p, f, simt_thread_anew() / s.lanes, s.height);
    simt_sync();
    stage(p, tile, simt_fresh(&f->low), simt_fresh(&f->n), simt_thread_anew(), s.width, s.under_way, 1);
    simt_sync();
}

/* A wave finds out where the entries of the group and of the piece are, and whether this lies within a row that begins before it. */
DEVICE void look_up(const struct product *p, struct found *f, const int height)
{
    const int32_t group = f->group;
    const off first = begin_in(p, group, 0, height), last = begin_in(p, group, height, height);
    const off low = part_at(first, f->piece, PIECE);
    const int n = part_from(low, last, PIECE);
    off begin[256 / 32];
    int cut = 0;
    for (int i = 0; i * WAVE < height; i++)
        begin[i] = begin_in(p, group, simt_lane() + i * WAVE < height ? simt_lane() + i * WAVE : height, height);
    for (int i = 0; i * WAVE < height; i++)
        cut |= begin[i] >= low && begin[i] - low < n;
    cut = simt_any(cut);
    if (simt_lane() == 0) {
        f->first = first;
        f->last = last;
        f->low = low;
        f->n = n;
        f->place = !cut;
        f->edges.sum[OPENED] = f->edges.sum[LEFT] = 0;
        f->edges.left = -1;
    }
}

/* The share of a thread in a piece, all of it of one row. */
DEVICE real piece_share(const struct product *p, const struct found *f, const struct shape s)
{
    return block_share(p, simt_fresh(&f->low), simt_fresh(&f->n), simt_thread_anew(), s.width, s.under_way, 1);
}

/* The sum of a wave, in every lane, by little code: there is a copy of it in every way. */
DEVICE real small_sum(real sum)
{
    SIMT_ROLLED for (int by = WAVE / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    return sum;
}

/* Sums the rows of a piece; those that are cut leave their sums at its edges. */
DEVICE void sum_piece(const struct product *p, const real *tile, struct found *f, const struct shape s)
{
    const int thread = simt_thread_anew(), ahead = thread / s.lanes < s.height ? thread / s.lanes : s.height;
    const off low = simt_fresh(&f->low);
    const int n = simt_fresh(&f->n);
    const off begin = begin_of(p, f, ahead, s.height);
    const off end = ahead < s.height ? begin_of(p, f, ahead + 1, s.height) : begin;
    const int from = clipped(begin, low, n), to = clipped(end, low, n);
    const real sum = s.tiled ? row_sum(tile, from, to, s.lanes)
                             : lanes_sum(share(p, low + from, to - from, thread % s.lanes, s.lanes, 2, EACH_FOR_ITSELF), s.lanes);
    const int64_t row = (int64_t)simt_fresh(&f->group) * s.height + ahead;
    if (thread % s.lanes != 0 || ahead == s.height || row >= p->rows)
        return;
    if (from < to && begin < low)
        f->edges.sum[OPENED] = sum;
    else if (from < to && end > low + n) {
        f->edges.sum[LEFT] = sum;
        f->edges.left = ahead;
    } else if (from < to || (simt_fresh(&f->piece) == 0 && begin == end))
        put(p, row, sum);
}

/* Every piece of the group has left its edges: a wave puts the rows that lie in more than one of them together, a lane for each
 * piece.  A row that a piece leaves open has what those behind it opened with, up to the next that leaves one. */
DEVICE void join_few(const struct product *p, const struct found *f, int32_t pieces, const int height)
{
    const struct edges *edges = edges_of(p, f->first) + simt_lane();
    const int is_one = simt_lane() < pieces;
    const int32_t left = is_one ? simt_fresh(&edges->left) : -1;
    const int owner = 63 - simt_clz(simt_ballot(left >= 0) & simt_lanes_below()), from = owner < 0 ? 0 : owner;
    const real begun = simt_shfl(is_one ? simt_fresh(&edges->sum[LEFT]) : 0, from, WAVE);
    real sum = (simt_lane() == owner + 1 ? begun : 0) + (is_one ? simt_fresh(&edges->sum[OPENED]) : 0);
    SIMT_ROLLED for (int by = 1; by < WAVE; by *= 2)
    {
        const real other = simt_shfl_up(sum, by, WAVE);
        sum += simt_lane() - by > owner ? other : 0;
    }
    const int32_t row = simt_shfl(left, from, WAVE);
    if (owner >= 0 && is_one && (left >= 0 || simt_lane() == pieces - 1))
        put(p, (int64_t)f->group * height + row, sum);
}

/* The same where there are more pieces than a wave has lanes: every thread looks at a row, and a wave takes each that is cut; neighbours
 * are of different waves, for long rows come together. */
DEVICE void join(const struct product *p, const struct found *f, const int height, const int width)
{
    const int row = simt_lane() * (width / WAVE) + simt_wave_id(), ahead = row < height ? row : height, next = ahead < height;
    const off first = simt_fresh(&f->first), line = line_at(first);
    const off begin = begin_of(p, f, ahead, height) - line, end = begin_of(p, f, ahead + next, height) - line;
    const int32_t from = (int32_t)(begin / PIECE), to = begin < end ? (int32_t)((end - 1) / PIECE) : from;
    SIMT_ROLLED for (uint64_t todo = simt_ballot(to > from); todo; todo &= todo - 1)
    {
        const int owner = simt_ffs(todo) - 1;
        const int32_t opens = simt_shfl(from, owner, WAVE), closes = simt_shfl(to, owner, WAVE);
        const struct edges *edges = edges_of(p, first);
        real sum = simt_lane() == 0 ? simt_fresh(&edges[opens].sum[LEFT]) : 0;
        SIMT_ROLLED for (int32_t i = opens + 1 + simt_lane(); i <= closes; i += 4 * WAVE)
            for (int k = 0; k < 4; k++)
                sum += i + k * WAVE <= closes ? simt_fresh(&edges[i + k * WAVE].sum[OPENED]) : 0;
        sum = small_sum(sum);
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
#define HAVE_GONE(told) (((told) & 0xffffffff) >= GONE)
#define LISTED(told) ((int32_t)((told) >> 32))

DEVICE int64_t *board(const struct product *p)
{
    return (int64_t *)p->counters;
}

/* The list: a word a place, with the number of the piece in the high half and its group, counted from 1; 0 is nothing yet.  Place i
 * belongs to scout i modulo scouts. */
#define TAKEN -1
DEVICE int64_t *list(const struct product *p)
{
    return board(p) + LIST;
}

/* Which scouts have gone. */
DEVICE int32_t *gone(const struct product *p)
{
    return (int32_t *)(list(p) + PLACES(p->nnz));
}

/* How many pieces are done of a group that begins here. */
DEVICE int32_t *done_of(const struct product *p, off first)
{
    return gone(p) + p->fact[WEAVE_SCOUTS] + parts_between(0, first, PIECE);
}

/* ------------------------------------------------------------------ scouts ------------------------------------- */

/* What a scout keeps in shared memory. */
struct room {
    int64_t told[2];              /* what all have told when it has looked, and when all have */
    int32_t place, apart;         /* the next place of the list, and how far it is to the one behind */
    struct found queue[QUEUE];    /* groups, later pieces */
    real parts[QUEUE * 256 / 32]; /* of pieces within one row, by each wave */
    int32_t seen[3];              /* groups in the queue, their pieces, and their place on the list; of a range: spans, and pieces */
    uint32_t spans[2];            /* of groups, by the first of each, that may have a cut one in the range */
    int32_t left[2];              /* is it the last; places that are not 0 */
};

/* Puts the pieces of the groups in the queue on the list, a group by a wave. */
DEVICE void list_pieces(const struct product *p, const struct found *queue, int queued, int32_t place, const int width)
{
    SIMT_ROLLED for (int i = simt_wave_id(); i < queued; i += width / WAVE)
    {
        const struct found f = queue[i];
        const int32_t pieces = parts_between(f.first, f.last, PIECE);
        SIMT_ROLLED for (int32_t k = simt_lane(); k < pieces; k += WAVE)
            simt_atomic_exchange(list(p) + place + f.place + k, (int64_t)k << 32 | (f.group + 1));
    }
}

DEVICE uint32_t groups_in(const struct product *p, const struct shape s)
{
    return (uint32_t)((p->rows + s.height - 1) / s.height);
}

DEVICE off begin_of_group(const struct product *p, uint32_t group, const struct shape s)
{
    return offset(p, (int64_t)group * s.height, 0);
}

/* A group of each thread: lists those that are cut.  With the last of them, if the queue has room for all, it also tells that this scout
 * has looked, and leaves in `told` what all have told: others need not wait for the list itself. */
DEVICE void look_at(const struct product *p, struct room *r, uint32_t group, int is_last, const struct shape s)
{
    const off first = begin_of_group(p, group, s), last = begin_of_group(p, group + 1, s);
    int cut = last - first > p->fact[WEAVE_LIMIT];
    while (simt_sync_any(cut)) {
        if (simt_thread_id() == 0)
            r->seen[0] = r->seen[1] = 0;
        simt_sync();
        if (cut) {
            const int32_t i = simt_atomic_add(r->seen, 1);
            if (i < QUEUE) {
                struct found *f = r->queue + i;
                f->first = first;
                f->last = last;
                f->group = (int32_t)group;
                f->place = simt_atomic_add(r->seen + 1, parts_between(first, last, PIECE));
                cut = 0;
            }
        }
        simt_sync();
        if (simt_thread_id() == 0) {
            const int looked = is_last && r->seen[0] <= QUEUE;
            const int64_t before = simt_atomic_add(board(p) + TOLD, ((int64_t)r->seen[1] << 32) + looked);
            r->seen[2] = LISTED(before);
            if (looked)
                r->told[0] = before + ((int64_t)r->seen[1] << 32) + 1;
        }
        simt_sync();
        list_pieces(p, r->queue, r->seen[0] < QUEUE ? r->seen[0] : QUEUE, r->seen[2], s.width);
    }
}

/* Looks for cut groups in this scout's share, and lists them.  A thread looks at a span of groups at a time: if all of it has no more
 * entries than a group may have, none of them is cut. */
DEVICE void look(const struct product *p, struct room *r, const struct shape s)
{
    const uint32_t scouts = (uint32_t)p->fact[WEAVE_SCOUTS], span = (uint32_t)p->fact[WEAVE_SPAN];
    const uint32_t groups = groups_in(p, s), step = scouts * s.width * span;
    SIMT_ROLLED for (uint32_t at = simt_block_id() * span; at < groups; at += step)
    {
        const uint32_t group = at + simt_thread_id() * scouts * span;
        if (span > 1 && !simt_sync_any(begin_of_group(p, group + span, s) - begin_of_group(p, group, s) > p->fact[WEAVE_LIMIT]))
            continue;
        SIMT_ROLLED for (uint32_t i = 0; i < span; i++)
            look_at(p, r, group + i, i == span - 1 && at + step >= groups, s);
    }
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

/* A thread fetches what is listed at a place.  It waits for what is listed at its own: who has told of it is about to write it down.
 * Where scouts have gone several may come to a place, and what one of them has taken must not look as if it were still to come. */
DEVICE void fetch(const struct product *p, struct found *f, int32_t place, int64_t told)
{
    const int is_own = !is_open(p, told) && place % (int32_t)p->fact[WEAVE_SCOUTS] == simt_block_id();
    int64_t *word = list(p) + place, listed;
    SIMT_ROLLED do
        listed = simt_fresh(word);
    while (is_own && listed == 0);
    if (listed > 0) {
        if (HAVE_GONE(told) || is_open(p, told))
            listed = simt_atomic_exchange(word, (int64_t)TAKEN);
        else
            simt_atomic_exchange(word, (int64_t)0);
    }
    f->group = (int32_t)listed - 1;
    f->piece = listed > 0 ? (int32_t)(listed >> 32) : -1;
}

/* The pieces of the next QUEUE places, `apart` of each other, come into the queue. */
DEVICE void fetch_some(const struct product *p, struct room *r)
{
    const int t = simt_thread_anew();
    if (t < QUEUE) {
        const int at = r->place + t * r->apart;
        r->queue[t].piece = -1;
        if (at < LISTED(r->told[1]) && is_mine(p, at))
            fetch(p, r->queue + t, at, r->told[1]);
    }
    simt_sync();
    if (t == 0)
        r->place += QUEUE * r->apart;
}

/* Takes the pieces in the queue. */
DEVICE void take(const struct product *p, real *tile, struct room *r, const struct shape s)
{
    struct found *queue = r->queue;
    const int t = simt_thread_anew();
    SIMT_ROLLED for (int i = simt_wave_id(); i < QUEUE; i += s.width / WAVE)
        if (queue[i].piece >= 0)
            look_up(p, queue + i, s.height);
    simt_sync();
    SIMT_ROLLED for (int i = 0; i < QUEUE; i++) /* no barriers: waves need not wait for each other */
        if (simt_fresh(&queue[i].piece) >= 0 && simt_fresh(&queue[i].place)) {
            const real sum = small_sum(piece_share(p, queue + i, s));
            if (simt_lane() == 0)
                r->parts[i * (s.width / WAVE) + simt_wave_id()] = sum;
        }
    SIMT_ROLLED for (int i = 0; i < QUEUE; i++)
        if (simt_fresh(&queue[i].piece) >= 0 && !simt_fresh(&queue[i].place)) {
            stage_piece(p, tile, queue + i, s);
            sum_piece(p, tile, queue + i, s);
        }
    simt_sync();
    if (t < QUEUE && queue[t].piece >= 0) { /* few threads: a fence empties the first-level cache */
        int32_t *done = done_of(p, queue[t].first);
        if (queue[t].place) {
            real sum = 0;
            SIMT_ROLLED for (int i = 0; i < s.width / WAVE; i++)
                sum += r->parts[t * (s.width / WAVE) + i];
            queue[t].edges.sum[OPENED] = sum;
        }
        edges_of(p, queue[t].first)[queue[t].piece] = queue[t].edges;
        simt_fence();
        const int32_t pieces = pieces_in(queue + t);
        queue[t].piece = -1;
        if (simt_atomic_add(done, 1) + 1 == pieces) {
            simt_fence();
            *done = 0;
            queue[t].piece = pieces;
        }
    }
    simt_sync();
    SIMT_ROLLED for (int i = simt_wave_id(); i < QUEUE; i += s.width / WAVE)
        if (queue[i].piece > 0 && queue[i].piece <= WAVE)
            join_few(p, queue + i, queue[i].piece, s.height);
    SIMT_ROLLED for (int i = 0; i < QUEUE; i++)
        if (simt_fresh(&queue[i].piece) > WAVE)
            join(p, queue + i, s.height, s.width);
    simt_sync();
}

/* The last scout that is through leaves the counters as they were. */
DEVICE void leave(const struct product *p, struct room *r, const int width)
{
    const int64_t scouts = p->fact[WEAVE_SCOUTS];
    if (simt_thread_id() == 0) {
        const int64_t told = simt_fresh(board(p) + TOLD);
        r->left[0] = simt_atomic_add(board(p) + THROUGH, (int64_t)1) == scouts - 1;
        r->left[1] = HAVE_GONE(told) ? LISTED(told) : 0;
    }
    simt_sync();
    if (r->left[0]) {
        SIMT_ROLLED for (int i = simt_thread_id(); i < scouts; i += width)
            gone(p)[i] = 0;
        SIMT_ROLLED for (int i = simt_thread_id(); i < r->left[1]; i += width)
            list(p)[i] = 0;
        if (simt_thread_id() == 0)
            board(p)[TOLD] = board(p)[THROUGH] = 0;
    }
}

/* A small matrix: every scout has a range of entries, and takes the pieces that begin there, so that it need not tell the others anything,
 * or wait for them.  A range has no more entries than a group may have: at most two cut groups reach into it, and at most two of the
 * spans of groups that a wave looks at first.  Few are looked at, for all scouts ask for the same offsets at the same time.  Are
 * there pieces?  They are in the queue. */
DEVICE int look_in_range(const struct product *p, struct room *r, const struct shape s)
{
    const off limit = (off)p->fact[WEAVE_LIMIT], range = (off)p->fact[WEAVE_RANGE];
    const off low = simt_block_id() * range, high = low + range;
    const uint32_t span = groups_in(p, s) / WAVE + 1;
    if (simt_thread_id() < QUEUE)
        r->queue[simt_thread_id()].piece = -1;
    if (simt_wave_id() == 0) {
        const uint32_t at = simt_lane() * span;
        const off first = begin_of_group(p, at, s), last = begin_of_group(p, at + span, s);
        const int may_be = last - first > limit && first < high && last > low;
        const uint64_t found = simt_ballot(may_be);
        if (may_be)
            r->spans[simt_popc(found & simt_lanes_below())] = at;
        if (simt_lane() == 0) {
            r->seen[0] = simt_popc(found);
            r->seen[1] = 0;
        }
    }
    simt_sync();
    SIMT_ROLLED for (int i = 0; i < r->seen[0]; i++)
        SIMT_ROLLED for (uint32_t k = simt_thread_id(); k < span; k += s.width)
        {
            const uint32_t group = r->spans[i] + k;
            const off begin = begin_of_group(p, group, s), end = begin_of_group(p, group + 1, s);
            if (end - begin <= limit)
                continue;
            int32_t piece = begin < low ? (int32_t)((low - line_at(begin) + PIECE - 1) / PIECE) : 0;
            SIMT_ROLLED for (; part_at(begin, piece, PIECE) < (end < high ? end : high); piece++)
            {
                struct found *f = r->queue + simt_atomic_add(r->seen + 1, 1);
                f->group = (int32_t)group;
                f->piece = piece;
            }
        }
    simt_sync();
    return r->seen[1] > 0;
}

/* A large matrix: scouts look for cut groups each in its share, tell how many pieces these have, list them, and take them in turn.  Are
 * there pieces? */
DEVICE int look_together(const struct product *p, struct room *r, const struct shape s)
{
    int64_t *told = r->told;
    if (simt_thread_id() == 0)
        told[0] = 0;
    look(p, r, s);
    simt_sync();
    if (simt_thread_id() == 0) {
        if (told[0] == 0)
            told[0] = simt_atomic_add(board(p) + TOLD, (int64_t)1) + 1;
        told[1] = wait_for_others(p, told[0]);
        if (is_over(p, told[0])) /* the last to look */
            board(p)[TOLD] = 0;
        else if (HAVE_GONE(told[1]) || is_open(p, told[1]))
            simt_fence();
        r->place = HAVE_GONE(told[1]) ? 0 : simt_block_id();
        r->apart = HAVE_GONE(told[1]) ? 1 : (int32_t)p->fact[WEAVE_SCOUTS];
    }
    simt_sync();
    return !is_over(p, told[1]);
}

/* A scout looks for groups that are too large for one block, and takes its share of all pieces that were found.  If others have
 * gone it looks after their places, too: they may not have seen what it has listed. */
DEVICE void scout(const struct product *p, real *dynamic, const struct shape s)
{
    SHARED(struct room, only, 1);
    struct room *r = simt_held(only);
    real *const tile = s.tiled ? simt_held(dynamic) : dynamic;
    const int alone = s.tiled && p->fact[WEAVE_RANGE] > 0;
    if (!(alone ? look_in_range(p, r, s) : look_together(p, r, s)))
        return;
    SIMT_ROLLED while (alone || simt_fresh(&r->place) < LISTED(simt_fresh(r->told + 1)))
    {
        if (!alone)
            fetch_some(p, r);
        take(p, tile, r, s);
        if (alone)
            return;
    }
    leave(p, r, s.width);
}

#endif
#endif
