/* SPDX-License-Identifier: MIT
 *
 * sell: sliced ELL with sorted windows (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop 2014), with
 * columns in 16 bits wherever a slice spans less than 65,536 of them.
 *
 * Sorting rows by length within a window keeps the rows of a slice alike, so padding nearly vanishes; the
 * window bounds how far a row moves, so x and y keep their locality.  The sort is stable, and a matrix
 * whose rows are alike is not permuted at all.  The 16-bit columns are what makes the format pay on
 * matrices of even rows: 10 bytes an entry instead of 12 in double, 6 instead of 8 in single precision. */
#include <string.h>

#include "base/memory.h"
#include "format/format.h"

static const struct option options[] = {
    {"slice", 8, VALUES(8, 16, 32, 64)},
    {"window", 512, VALUES(1, 64, 512, 4096, 32768)},
    {0},
};

static const struct sell_functions *typed(const struct stored *s)
{
    return sell_functions[moved_variant(s->value, s->offset)];
}

static int64_t round_up(int64_t n, int64_t step)
{
    return (n + step - 1) / step * step;
}

/* The sizes of the big arrays come out of the small ones, so those are made here, once, and thrown away. */
static heddle_status count(struct counted *c, const struct stored *s, const struct source *A)
{
    heddle_status status = HEDDLE_OK;
    int64_t slices = s->dim[SELL_SLICES];
    struct stored small = *s;
    for (int i = SELL_SLICE_PTR; i <= SELL_LENGTH; i++) {
        small.array[i] = mem_alloc(s->bytes[i], 1);
        TRY(small.array[i] ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    }
    TRY(typed(s)->plan(&small, &A->csr));
    *c = (struct counted){.positions = ((int64_t *)small.array[SELL_SLICE_PTR])[slices],
                          .words = ((int64_t *)small.array[SELL_COL_PTR])[slices],
                          .sorted = small.dim[SELL_SORTED]};
done:
    stored_free(&small);
    return status;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    struct counted c;
    int64_t height = option[0], window = round_up(option[1], height),
            slices = round_up(s->rows, height) / height;
    s->dim[SELL_HEIGHT] = height;
    s->dim[SELL_WINDOW] = option[1] == 1 ? 1 : window;
    s->dim[SELL_SLICES] = slices;
    s->bytes[SELL_SLICE_PTR] = s->bytes[SELL_COL_PTR] = (slices + 1) * (int64_t)sizeof(int64_t);
    s->bytes[SELL_BASE] = s->bytes[SELL_FULL] = slices * (int64_t)sizeof(int32_t);
    s->bytes[SELL_LENGTH] = slices * height * (int64_t)sizeof(int32_t);
    if (A->counted)
        c = *A->counted;
    else
        TRY(count(&c, s, A));
    TRY(padding_allowed("sell", &A->csr, c.positions));
    s->dim[SELL_SORTED] = c.sorted;
    s->bytes[SELL_ROW] = c.sorted ? s->rows * (int64_t)sizeof(int32_t) : 0;
    s->bytes[SELL_COL] = c.words * (int64_t)sizeof(uint16_t);
    s->bytes[SELL_VAL] = c.positions * (int64_t)type_size(s->value);
done:
    return status;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    heddle_status status = typed(s)->plan(s, &A->csr);
    return status == HEDDLE_OK ? typed(s)->fill(s, &A->csr) : status;
}

const struct format sell_format = {
    .name = "sell",
    .array = {"slice_ptr", "col_ptr", "base", "full", "length", "row", "col", "val"},
    .dim = {"slice", "window", "slices", "sorted"},
    .options = options,
    .spare = 1u << SELL_LENGTH, /* read in uneven slices alone */
    .size = size,
    .fill = fill,
};

MOVED_TABLE(sell_functions);
