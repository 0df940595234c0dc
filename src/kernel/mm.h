/* SPDX-License-Identifier: MIT
 *
 * mm.h: how kernels for several vectors deal out the row blocks of a look (convert/look.h).
 *
 * A block of threads has a row block and a tile of the vectors; where these are fewer than the device holds,
 * a part of the rows.  Lanes lie along the vectors first: `lanes` of them have an entry together, each for
 * its own vectors; these are a slot.  A row has a group of threads with one slot or several, as many as the
 * look would have lanes sum it.  A row that is long for its group is left to the whole block, behind all
 * others. */
#ifndef KERNEL_MM_H
#define KERNEL_MM_H

#include "convert/look.h"

/* Vectors that a launch has at most; more are several launches. */
#define VECTORS_MOST 64

/* product.dim: tiles of the vectors; parts of a row block, as their log2; may Y be written 16 bytes at a
 * time. */
enum { MM_TILES, MM_PARTS, MM_WIDE_Y };

#define BLOCK LOOK_THREADS

/* A row is long for its group if a slot would have more entries than LONG, and more than twice its share
 * of the row block; so many rows of a row block can be. */
#define LONG 32
#define LONG_MOST ((LOOK_WINDOW_MOST + LOOK_WINDOW_MOST / 4) / LONG + 1)

#ifdef HEDDLE_DEVICE

/* What a block of threads has: a row block, and of it a part of the rows (one row is the first part's); the
 * first of its vectors. */
struct lot {
    struct row_block mine, next;
    int part, parts_shift, tile;
};

DEVICE struct lot lot_of(const struct product *p, int width)
{
    const int64_t number = p->first + simt_block_id(), several = number / p->dim[MM_TILES];
    const struct row_block *RESTRICT block =
        (const struct row_block *)p->prepared + (several >> p->dim[MM_PARTS]);
    struct lot l;
    l.mine = block[0];
    l.next = block[1];
    l.parts_shift = (int)p->dim[MM_PARTS];
    l.part = (int)several & ((1 << l.parts_shift) - 1);
    l.tile = (int)(number % p->dim[MM_TILES]) * width;
    return l;
}

/* A thread's place in a group of 1 << shift threads, slot by slot. */
struct place {
    int shift, slots, slot, lane;
};

DEVICE struct place place_in(int shift, const int lanes)
{
    struct place at;
    const int thread = simt_thread_id() & ((1 << shift) - 1);
    at.shift = shift;
    at.slots = (1 << shift) / lanes;
    at.slot = thread / lanes;
    at.lane = thread % lanes;
    return at;
}

/* log2 of the threads of a group: a wave at most, and a slot at least. */
DEVICE int group_shift(const struct lot *l, const int lanes)
{
    int shift = l->mine.work - 1 + l->parts_shift;
    while (1 << shift < lanes)
        shift++;
    while (1 << shift > WAVE)
        shift--;
    return shift;
}

DEVICE int wave_shift(void)
{
    return WAVE == 64 ? 6 : 5;
}

/* A stored value as the product takes it. */
DEVICE real value_of(const struct product *p, elem v)
{
    return IS_COMPLEX && p->conjugate ? conjugate(widen(v)) : widen(v);
}

/* Entries that a group has read, as many as it has lanes, up to four
 * times: each lane has one of each round. */
#define UNDER_WAY 4
#define TAKEN(lanes) ((lanes) < UNDER_WAY ? UNDER_WAY / (lanes) : 1) /* by a lane */
struct handful {
    idx column[UNDER_WAY];
    real value[UNDER_WAY];
    int left; /* from the first of them to the end of the row */
};

DEVICE struct handful take(const struct product *p, int64_t from, int left, struct place at, const int lanes)
{
    const int group = 1 << at.shift, thread = at.slot * lanes + at.lane;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + from + thread;
    const elem *RESTRICT val = (const elem *)p->array[CSR_VAL] + from + thread;
    struct handful e;
    e.left = left;
    for (int r = 0; r < UNDER_WAY; r++) {
        const int is_there = r < TAKEN(lanes) && r * group + thread < left;
        e.column[r] = simt_stream_if(is_there, col + r * group);
        e.value[r] = value_of(p, simt_stream_if(is_there, val + r * group));
    }
    return e;
}

/* The rows of a row block that a group has, every `groups`-th.  While it is at one of them, the first entries
 * of the next are on their way, and of the one behind that the offsets. */
struct walk {
    const off *row_ptr;
    int row, rows, groups; /* counted from the first of the row block */
    off begin, end, next_begin, next_end;
    struct handful first;
};

/* Where a lane reads many entries at once, they would take too many registers: then they are read late. */
#define READS_AHEAD(lanes) ((lanes) >= UNDER_WAY)

DEVICE off offset_of(const struct walk *w, int row)
{
    return simt_readonly(w->row_ptr + (row < w->rows ? row : w->rows));
}

DEVICE struct walk walk_from(const struct product *p, const struct lot *l, struct place at, const int lanes)
{
    struct walk w;
    w.row_ptr = (const off *)p->array[CSR_ROW_PTR] + l->mine.row;
    w.row = (l->part * BLOCK + simt_thread_id()) >> at.shift;
    w.rows = l->next.row - l->mine.row;
    w.groups = BLOCK << l->parts_shift >> at.shift;
    w.begin = offset_of(&w, w.row);
    w.end = offset_of(&w, w.row + 1);
    if (READS_AHEAD(lanes))
        w.first = take(p, w.begin, (int)(w.end - w.begin), at, lanes);
    w.next_begin = offset_of(&w, w.row + w.groups);
    w.next_end = offset_of(&w, w.row + w.groups + 1);
    return w;
}

/* A row that the group has come to, and what is read of it. */
struct met {
    int row, n;
    off from;
    struct handful first;
};

DEVICE struct met walk_on(const struct product *p, struct walk *w, struct place at, const int lanes)
{
    struct met now;
    now.row = w->row;
    now.from = w->begin;
    now.n = (int)(w->end - w->begin);
    now.first = READS_AHEAD(lanes) ? w->first : take(p, now.from, now.n, at, lanes);
    w->row += w->groups;
    w->begin = w->next_begin;
    w->end = w->next_end;
    if (READS_AHEAD(lanes))
        w->first = take(p, w->begin, (int)(w->end - w->begin), at, lanes);
    w->next_begin = offset_of(w, w->row + w->groups);
    w->next_end = offset_of(w, w->row + w->groups + 1);
    return now;
}

DEVICE int longest_for(const struct lot *l, struct place at, const int lanes)
{
    const int all = (int)(l->next.begin - l->mine.begin) >> l->parts_shift, share = 2 * all / (BLOCK / lanes);
    return (share > LONG ? share : LONG) * at.slots;
}

/* The rows that are left to the block, in shared memory. */
struct long_rows {
    int32_t count, row[LONG_MOST]; /* counted from the first of the row block */
};

/* The share of a wave in n entries: where it begins, and how many it has. */
DEVICE int wave_share(int n, int *begin)
{
    const int waves = simt_waves(), share = (n + waves - 1) / waves, from = simt_wave_id() * share;
    *begin = from < n ? from : n;
    return n - *begin < share ? n - *begin : share;
}

#else
#include "kernel/kernel.h"

static inline int64_t mm_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The vectors from `first` on, VECTORS_MOST at most, as a work of their own. */
static inline struct work mm_some(const struct work *w, int64_t first)
{
    struct work some = *w;
    const int64_t size = (int64_t)vector_size(w->value);
    some.product.vectors = mm_smaller(w->product.vectors - first, VECTORS_MOST);
    some.product.x = (const char *)w->product.x + first * w->product.x_step.vector * size;
    some.product.y = (char *)w->product.y + first * w->product.y_step.vector * size;
    return some;
}

/* Launches `entry` for all row blocks and tiles of so many vectors; in so many parts that the device is full,
 * if it holds HELD blocks a multiprocessor, which is about as many as registers allow. */
#define HELD 4
#define PARTS_SHIFT_MOST 4
static inline heddle_status mm_launch(struct work *w, const char *entry, int64_t tile)
{
    const int64_t tiles = (w->product.vectors + tile - 1) / tile, all = w->product.fact[LOOK_BLOCKS] * tiles;
    const int64_t held = (int64_t)gpu_info_of(w->device->gpu)->multiprocessors * HELD;
    int parts_shift = 0;
    while (parts_shift < PARTS_SHIFT_MOST && all << (parts_shift + 1) <= held)
        parts_shift++;
    w->product.dim[MM_TILES] = tiles;
    w->product.dim[MM_PARTS] = parts_shift;
    return gpu_run_blocks(w, (struct launch){entry, all << parts_shift, BLOCK, 0});
}

/* The launch of a page: all vectors, by what launches some of them. */
static inline heddle_status mm_launch_all(const struct work *w, heddle_status (*launch_some)(struct work *))
{
    heddle_status status = HEDDLE_OK;
    if (w->product.fact[LOOK_BAD])
        return look_refused();
    for (int64_t first = 0; first < w->product.vectors; first += VECTORS_MOST) {
        struct work some = mm_some(w, first);
        TRY(launch_some(&some));
    }
done:
    return status;
}

#endif
#endif
