/* SPDX-License-Identifier: MIT
 *
 * weft.h: what csr_weft's two halves tell each other, and what its first kernel finds out before anything is added: which lines of y
 * are crowded, whether columns are popular, what those of a chunk are like, and which chunks are too large for one block. */
#ifndef KERNEL_WEFT_WEFT_H
#define KERNEL_WEFT_WEFT_H

/* What launch tells the device half in product.fact: the first chunk of this launch; rows of a chunk; how many chunks a block
 * takes that has something to set up; entries that a chunk may have; of a piece of one that has more; how many blocks do
 * pieces; entries of a row that counts as even; and what ready shall do, with how many samples a line is crowded (from bit 8 on),
 * and with how many it is where too many others are, too (from bit 32 on). */
enum { WEFT_BEGIN, WEFT_HEIGHT, WEFT_MERGED, WEFT_LIMIT, WEFT_PIECE, WEFT_BLOCKS, WEFT_EVEN, WEFT_DO };
enum {
    WEFT_SAMPLE = 1,   /* look for crowded lines */
    WEFT_LOOK = 2,     /* find out what the rows are like */
    WEFT_REPEATED = 4, /* a column has several entries on average */
    WEFT_SCALE = 8,    /* y is not ready as it is */
    WEFT_LIST = 16     /* list large chunks */
};

/* counters: pieces on the list; blocks that are through with it. */
enum { WEFT_LISTED, WEFT_THROUGH, WEFT_COUNTERS };

#define WEFT_LINES 8 /* crowded lines that are looked after, at most */
#define WEFT_HEAD 64 /* bytes: the workspace begins with what ready finds; behind it stands the list */
#define WEFT_SAMPLES 2048 /* of all columns: two a thread of the block that looks for crowded lines */
#define WEFT_ROWS 512 /* of a chunk that is taken entry by entry, at most; a power of two */

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

#define BLOCK 256
#define READY 1024                     /* threads of a block that makes ready */
#define LINE (128 / (int)sizeof(real)) /* entries of y in a cache line */
#define COPIES 4                       /* of a crowded line in a block, so that few lanes meet in one place */
#define KEYS 128
#define LOOKS 16 /* lanes that look at a chunk, each at one row */
#define SHORT_WINDOW 2048
#define LONG_WINDOW 4096

/* What the matrix is like: its columns have no order; those of a chunk are mostly near each other; neighbouring rows have the
 * same ones. */
enum { SCATTERED, NEAR, ALIKE };

struct found {
    int32_t kind, hoards, lines, line[WEFT_LINES]; /* hoards: where columns have no order a hoard serves better than copies of lines */
};

struct listed {
    int32_t chunk, piece;
};

DEVICE struct found *found_of(const struct product *p)
{
    return (struct found *)p->workspace;
}

DEVICE struct listed *list_of(const struct product *p)
{
    return (struct listed *)(void *)((char *)p->workspace + WEFT_HEAD);
}

DEVICE int64_t offset(const struct product *p, int64_t row)
{
    return simt_readonly((const off *)p->array[CSR_ROW_PTR] + (row < p->rows ? row : p->rows));
}

DEVICE uint32_t scrambled(uint32_t key)
{
    return key * 2654435761u;
}

/* Samples are spread evenly over all entries. */
#define PLACES 4096
#define TOO_MANY 24 /* crowded lines: y is small, and hardly has others; then only those with four times as many count */

struct sample {
    int32_t line;
    int at;      /* its place in the table, where it was the first there; else -1 */
    int is_seen; /* was its line there before? */
};

/* Counts a sample.  Where two lines fall on one place, the first counts. */
DEVICE void count_sample(struct sample *s, int32_t *key, int32_t *count)
{
    const int at = (int)(scrambled((uint32_t)s->line) >> 20);
    const int32_t before = simt_atomic_cas(key + at, -1, s->line);
    if (before == -1 || before == s->line)
        simt_atomic_add(count + at, 1);
    s->at = before == -1 ? at : -1;
    s->is_seen = before == s->line;
}

/* Do some columns come much more often than others, though they do not crowd lines?  Then more samples fall on a line which was seen before
 * than chance would have, by a quarter and beyond what a sample may err, and crowded lines have few of these. */
DEVICE int is_skewed(const struct product *p, int32_t seen, int32_t crowded)
{
    const int64_t lines = (int32_t)p->cols / LINE + 1, pairs = WEFT_SAMPLES * (WEFT_SAMPLES / 2);
    return 4 * (seen - 16) * lines > 5 * pairs && 8 * crowded * ((int32_t)p->fact[WEFT_DO] >> 8) < seen;
}

/* Lines of y that many of the sampled columns lie in, first those with very many. */
DEVICE void find_crowded(const struct product *p)
{
    SHARED(int32_t, key, PLACES);
    SHARED(int32_t, count, PLACES);
    SHARED(int32_t, lines, 2); /* with very many of them; others */
    SHARED(int32_t, seen, 1); /* samples of lines that were seen before */
    struct sample mine[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t part = scrambled((uint32_t)(simt_thread_id() + i * READY) + 1);
        const int64_t k = (int64_t)((part * (uint64_t)((p->nnz >> 8) + 1)) >> 24);
        mine[i].line = simt_readonly((const idx *)p->array[CSR_COL] + (k < p->nnz ? k : p->nnz - 1)) / LINE;
    }
    SIMT_ROLLED for (int i = simt_thread_id(); i < PLACES; i += READY)
    {
        key[i] = -1;
        count[i] = 0;
    }
    if (simt_thread_id() == 0)
        lines[0] = lines[1] = *seen = 0;
    simt_sync();
    for (int i = 0; i < 2; i++)
        count_sample(&mine[i], key, count);
    const int repeats = simt_popc(simt_ballot(mine[0].is_seen)) + simt_popc(simt_ballot(mine[1].is_seen));
    if (simt_lane() == 0)
        simt_atomic_add(seen, repeats);
    simt_sync();
    SIMT_ROLLED for (int pass = 0; pass < 2; pass++)
    {
        const int often = pass == 0 ? (int)(p->fact[WEFT_DO] >> 32) : (int)p->fact[WEFT_DO] >> 8;
        for (int i = 0; i < 2; i++)
            if (mine[i].at >= 0 && count[mine[i].at] >= often) {
                const int32_t place = (pass == 0 ? 0 : lines[0]) + simt_atomic_add(lines + pass, 1);
                mine[i].at = -1;
                if (place < WEFT_LINES)
                    found_of(p)->line[place] = mine[i].line;
            }
        simt_sync();
    }
    if (simt_thread_id() == 0) {
        const int32_t all = lines[0] + lines[1], n = all > TOO_MANY ? lines[0] : all;
        found_of(p)->lines = n > WEFT_LINES ? WEFT_LINES : n;
        found_of(p)->hoards = is_skewed(p, *seen, 4 * lines[0] + lines[1]);
    }
}

/* The column in the middle of a row, -1 without any; `below`: the column at the same place of the next row. */
DEVICE idx middle_of(const struct product *p, int64_t row, idx *below)
{
    const int64_t begin = offset(p, row), end = offset(p, row + 1), after = offset(p, row + 2), half = (end - begin) / 2;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    *below = half < after - end ? simt_readonly(col + end + half) : -1;
    return begin < end ? simt_readonly(col + begin + half) : -1;
}

/* How far the columns a quarter of the row before and behind its middle are apart. */
DEVICE idx breadth_of(const struct product *p, int64_t row)
{
    const int64_t begin = offset(p, row), n = offset(p, row + 1) - begin;
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL] + begin;
    const idx breadth = n > 0 ? simt_readonly(col + 3 * n / 4) - simt_readonly(col + n / 4) : 0;
    return breadth < 0 ? -breadth : breadth;
}

/* Groups of lanes look at chunks, a lane at a row, and a chunk votes: alike, if of a third of its rows the next has the same
 * column in the middle; near, if columns repeat, three in eight middles lie close to one of them and have half of their row about them
 * (in rows without any order they all lie in the middle of the matrix), and lanes with a row each would not add to neighbours
 * anyway. */
DEVICE void find_kind(const struct product *p, int window)
{
    SHARED(int32_t, votes, 3);
    const int64_t height = p->fact[WEFT_HEIGHT], groups = READY / LOOKS, group = simt_thread_id() / LOOKS;
    const int64_t first = (int64_t)((int32_t)p->rows / (int32_t)height) * group / groups * height;
    const int64_t rows = first + height < p->rows ? height : p->rows - first;
    idx below;
    if (simt_thread_id() < 3)
        votes[simt_thread_id()] = 0;
    simt_sync();
    const int64_t row = first + rows * (simt_lane() % LOOKS) / LOOKS;
    const idx c = middle_of(p, row, &below), breadth = breadth_of(p, row), other = simt_shfl(c, LOOKS / 2, LOOKS);
    const int close = c >= 0 && other >= 0 && c - other < window / 2 && other - c < window / 2;
    const int near = close && breadth < window && breadth < p->cols / 4;
    const int follows = c < 0 ? 0 : below == c ? 1 << 16 : below == c + 1 ? 1 << 24 : 0;
    const int seen = wave_sum_int((c >= 0) + (near << 8) + follows, LOOKS); /* four sums at once */
    const int some = seen & 255, equal = seen >> 16 & 255, next = seen >> 24;
    const int apart = 8 * (seen >> 8 & 255) < 3 * some || 2 * next >= some || !(p->fact[WEFT_DO] & WEFT_REPEATED);
    if (simt_lane() % LOOKS == 0 && some > 0)
        simt_atomic_add(votes + (3 * equal >= some ? ALIKE : apart ? SCATTERED : NEAR), 1);
    simt_sync();
    if (simt_thread_id() == 0) {
        const int most = votes[NEAR] > votes[SCATTERED] ? NEAR : SCATTERED;
        found_of(p)->kind = votes[ALIKE] > votes[most] ? ALIKE : most;
    }
}

/* A wave lists those of its chunks that are too large, one a lane, all lanes the pieces of one after another. */
DEVICE void list_large(const struct product *p, int64_t chunk)
{
    const int64_t height = p->fact[WEFT_HEIGHT];
    const off first = (off)offset(p, chunk * height), last = (off)offset(p, (chunk + 1) * height);
    SIMT_ROLLED for (uint64_t todo = simt_ballot(last - first > p->fact[WEFT_LIMIT]); todo; todo &= todo - 1)
    {
        const int owner = simt_ffs(todo) - 1;
        const int32_t pieces = simt_shfl(parts_between(first, last, (int)p->fact[WEFT_PIECE]), owner, WAVE);
        const int32_t before = simt_lane() == owner ? simt_atomic_add(p->counters + WEFT_LISTED, pieces) : 0;
        struct listed *list = list_of(p) + simt_shfl(before, owner, WAVE);
        SIMT_ROLLED for (int32_t i = simt_lane(); i < pieces; i += WAVE)
        {
            const struct listed entry = {(int32_t)chunk + owner - simt_lane(), i};
            list[i] = entry;
        }
    }
}

#endif
#endif
