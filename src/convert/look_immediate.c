/* SPDX-License-Identifier: MIT
 *
 * look_immediate.c: the look that serves both immediate products (look.h): how they want a matrix to be cut,
 * and what they are told of it. */
#include "convert/look.h"

/* Row blocks of at most LOOK_WINDOW_MOST rows and entries, as many as the device holds at once, or up to
 * ROUNDS times as many where each has still WINDOW_LEAST.  The capacity has room for a last row that is
 * not much longer than others; a tile holds it.  Measured on an H200: more rounds, and blocks of 128
 * threads, are 1 to 3 % slower; a round that is not full costs as much as one that is. */
#define WINDOW_LEAST (3 * LOOK_THREADS)
#define ROUNDS 4
#define WHOLE_PIECES 2 /* of a row that is not cut */
struct row_cut look_cut(const struct work *w)
{
    const struct product *p = &w->product;
    const int64_t held = LOOK_RESIDENT * gpu_info_of(w->device->gpu)->multiprocessors, all = p->nnz + p->rows;
    const int64_t fit = all / (held * WINDOW_LEAST), rounds = fit < 1 ? 1 : fit < ROUNDS ? fit : ROUNDS;
    const int64_t even = all / (rounds * held), share = even + even / 32 + 1; /* not one block too many */
    const int64_t window = share < WINDOW_LEAST     ? WINDOW_LEAST
                         : share < LOOK_WINDOW_MOST ? share
                                                    : LOOK_WINDOW_MOST;
    const int64_t slack = p->rows ? 2 * (p->nnz / p->rows) : 0;
    return (struct row_cut){.window = window,
                            .whole = WHOLE_PIECES * window,
                            .piece = window,
                            .threads = LOOK_THREADS,
                            .capacity = window + (slack < 32           ? 32
                                                  : slack < window / 4 ? slack
                                                                       : window / 4),
                            .columns = 1};
}

int64_t look_held(const struct work *w)
{
    return look_bytes(w, look_cut(w));
}

static int64_t byte_of(enum columns what, int64_t part, int64_t all)
{
    return (all > 0 ? 255 * part / all : 0) << 8 * what;
}

heddle_status look_prepare(struct work *w)
{
    struct looked looked = {{0}, 0};
    const struct row_cut cut = look_cut(w);
    heddle_status status = gpu_look(&looked, w, cut);
    const int64_t *result = looked.result;
    int64_t *fact = w->product.fact;
    fact[LOOK_BLOCKS] = result[LOOKED_BLOCKS];
    fact[LOOK_TILE] = cut.capacity;
    fact[LOOK_PIECE] = cut.piece;
    fact[LOOK_LONGEST] = result[LOOKED_LONGEST];
    fact[LOOK_BAD] = result[LOOKED_BAD];
    fact[LOOK_COLUMNS] = byte_of(COLUMNS_CACHED, result[LOOKED_CACHED], result[LOOKED_ENTRIES]) |
                         byte_of(COLUMNS_CLOSE, result[LOOKED_CLOSE], result[LOOKED_ENTRIES]) |
                         byte_of(COLUMNS_ALIKE, result[LOOKED_ALIKE], result[LOOKED_ROWS]) |
                         byte_of(COLUMNS_NEXT, result[LOOKED_NEXT], result[LOOKED_ROWS]) |
                         result[LOOKED_CROWDED] << 8 * COLUMNS_CROWDED;
    fact[LOOK_HOT] = result[LOOKED_HOT] >= 0 ? looked.hot_at : 0;
    return status;
}

double look_share(const struct work *w, enum columns what)
{
    const int64_t bits = w->product.fact[LOOK_COLUMNS] >> 8 * what;
    return what == COLUMNS_CROWDED ? (double)(bits & 0xffff) / 65536 : (double)(bits & 0xff) / 255;
}

int64_t look_at_once(const struct work *w)
{
    return 5 * (int64_t)gpu_info_of(w->device->gpu)->multiprocessors;
}

int64_t look_together(const struct work *w)
{
    const int64_t blocks = w->product.fact[LOOK_BLOCKS];
    return blocks == 0 ? 1 : TOGETHER(blocks, look_at_once(w), TOGETHER_MOST(vector_size(w->value)));
}

heddle_status look_refused(void)
{
    return fail(HEDDLE_BAD_MATRIX,
                "the offsets of the rows do not ascend from 0 to the number of entries: heddle_check tells "
                "where");
}
