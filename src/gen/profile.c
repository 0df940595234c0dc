/* SPDX-License-Identifier: MIT
 *
 * profile.c: how row lengths are found.
 *
 * Rows are ranked by length.  A shape gives each rank a height; lengths are  shift + scale * height,
 * rounded and kept within the bounds.  For a given scale the shift follows from the total, and the
 * deviation grows with the scale, so two nested bisections find both.  Ranks are treated in cells that
 * grow with the rank (the first rows, which are the long ones, stand alone), so that the work does not
 * depend on the number of rows.  What rounding leaves of the total is made up by one entry more or less in
 * some rows.
 */
#include "gen/profile.h"

#include "base/memory.h"

__extension__ typedef __int128 wide; /* sums of squares, and scale * height */

#define CELLS_PER_OCTAVE 128 /* a cell from rank r on holds about r / 128 rows */
#define HEIGHT_MOST ((int64_t)1 << 50)

/* -------------------------------------------------------- the shape --------------------------- */

static int64_t power_of(int64_t log, int64_t exponent_percent) /* 2^(log * exponent) */
{
    return exp2_fixed(log * exponent_percent / 100);
}

/* The height at the given rank; falls as the rank grows. */
static int64_t height_at(const struct profile_wish *w, int64_t rank)
{
    int64_t all = log2_fixed((uint64_t)(2 * w->rows));
    int64_t above = log2_fixed((uint64_t)(2 * rank + 1)) - all; /* log2 of the share of longer rows */
    int64_t under = log2_fixed((uint64_t)(2 * (w->rows - rank) - 1)) - all; /* and of the shorter ones */
    int64_t height;
    switch (w->shape) {
    /* Tukey's lambda distribution with lambda = 0.14 is the normal one to a few per cent */
    case SHAPE_NORMAL:
        return power_of(under, 14) - power_of(above, 14);
    case SHAPE_EXPONENTIAL:
        return -above;
    default:
        height = exp2_fixed(-above * 100 / (w->exponent - 100));
        return height < HEIGHT_MOST ? height : HEIGHT_MOST;
    }
}

static int64_t cell_width(int64_t first, int64_t rows)
{
    int64_t width = 1 + first / CELLS_PER_OCTAVE;
    return first + width <= rows ? width : rows - first;
}

/* Cells for all ranks; two more are kept free: for the split in make_up, and for empty rows. */
static heddle_status cells_new(struct profile *p, const struct profile_wish *w)
{
    heddle_status status = HEDDLE_OK;
    int64_t count = 0;
    for (int64_t first = 0; first < w->rows; first += cell_width(first, w->rows))
        count++;
    TRY(NEW(p->cell, count + 2));
    for (int64_t first = 0; first < w->rows; first += p->cell[p->cells++].count) {
        int64_t width = cell_width(first, w->rows);
        p->cell[p->cells] = (struct profile_cell){first, width, height_at(w, first + width / 2), 0};
    }
done:
    return status;
}

/* -------------------------------------------------------- shift and scale --------------------- */

/* Sets all lengths and returns their total. */
static int64_t set_lengths(struct profile *p, const struct profile_wish *w, wide shift, wide scale)
{
    int64_t total = 0;
    for (int64_t c = 0; c < p->cells; c++) {
        wide exact = (shift + ((scale * p->cell[c].height) >> FRACTION)) / w->multiple;
        wide length = ((exact + ONE / 2) >> FRACTION) * w->multiple;
        length = length < w->shortest ? w->shortest : length > w->most ? w->most : length;
        if (c == 0 && w->longest > 0)
            length = w->longest;
        p->cell[c].length = (int64_t)length;
        total += (int64_t)length * p->cell[c].count;
    }
    return total;
}

/* The largest shift whose total does not exceed nnz, for a given scale. */
static void fit_shift(struct profile *p, const struct profile_wish *w, int64_t scale)
{
    wide top = (wide)scale * p->cell[0].height >> FRACTION;
    wide end = (wide)scale * p->cell[p->cells - 1].height >> FRACTION;
    wide margin = (wide)2 * w->multiple * ONE;
    wide low = (wide)w->shortest * ONE - top - margin;
    wide high = (wide)w->most * ONE - end + margin;
    while (high - low > ONE >> 16) {
        wide middle = low + (high - low) / 2;
        if (set_lengths(p, w, middle, scale) <= w->nnz)
            low = middle;
        else
            high = middle;
    }
    set_lengths(p, w, low, scale);
}

/* A power law starts at the shortest length, and the scale follows from the total. */
static void fit_power(struct profile *p, const struct profile_wish *w)
{
    int64_t low = 0, high = w->most * ONE;
    wide end = p->cell[p->cells - 1].height;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (set_lengths(p, w, (wide)w->shortest * ONE - ((middle * end) >> FRACTION), middle) <= w->nnz)
            low = middle;
        else
            high = middle;
    }
    set_lengths(p, w, (wide)w->shortest * ONE - ((low * end) >> FRACTION), low);
}

/* rows^2 times the variance of the lengths as they are. */
static wide spread_of(const struct profile *p)
{
    wide sum = 0, squares = 0;
    for (int64_t c = 0; c < p->cells; c++) {
        sum += (wide)p->cell[c].length * p->cell[c].count;
        squares += (wide)p->cell[c].length * p->cell[c].length * p->cell[c].count;
    }
    return squares * p->rows - sum * sum;
}

/* Is the scale too large for what is wanted: the deviation or, if that is left free, a tail that reaches
 * the longest? */
static int too_wide(const struct profile *p, const struct profile_wish *w)
{
    if (w->deviation >= 0)
        return spread_of(p) > (wide)w->deviation * w->deviation * w->rows / 100 * w->rows / 100;
    return p->cells < 2 || p->cell[1].length >= w->longest;
}

static void fit(struct profile *p, const struct profile_wish *w)
{
    int64_t low = 0, high = w->most * ONE * 4;
    if (w->shape == SHAPE_POWER && w->deviation < 0) {
        fit_power(p, w);
        return;
    }
    while (high - low > ONE / 256 && high - low > low / 1024) {
        int64_t middle = low + (high - low) / 2;
        fit_shift(p, w, middle);
        if (too_wide(p, w))
            high = middle;
        else
            low = middle;
    }
    fit_shift(p, w, low);
}

/* -------------------------------------------------------- the exact total --------------------- */

/* Cuts cell c after `count` rows. */
static void split(struct profile *p, int64_t c, int64_t count)
{
    for (int64_t k = p->cells++; k > c; k--)
        p->cell[k] = p->cell[k - 1];
    p->cell[c].count = count;
    p->cell[c + 1].first += count;
    p->cell[c + 1].count -= count;
}

/* One entry more or less in row after row until the total is nnz.  It begins with the short rows, the
 * many. */
static void make_up(struct profile *p, const struct profile_wish *w)
{
    int64_t missing = w->nnz, first = w->longest > 0;
    for (int64_t c = 0; c < p->cells; c++)
        missing -= p->cell[c].length * p->cell[c].count;
    while (missing != 0) {
        int64_t before = missing, step = missing > 0 ? 1 : -1;
        for (int64_t c = p->cells; c-- > first && missing != 0;) {
            int64_t length = p->cell[c].length + step;
            if (length < w->shortest || length > w->most)
                continue;
            if (missing * step < p->cell[c].count)
                split(p, c, missing * step);
            p->cell[c].length = length;
            missing -= step * p->cell[c].count;
        }
        if (missing == before)
            return;
    }
}

static heddle_status check_wish(const struct profile_wish *w)
{
    int64_t forced = w->longest > 0;
    if (w->rows == 0 && w->nnz == 0)
        return HEDDLE_OK;
    if (w->rows < 0 || w->nnz < 0 || w->shortest < 0 || w->most < w->shortest || w->longest > w->most)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "row lengths of %lld to %lld with a longest of %lld contradict each other",
                    (long long)w->shortest, (long long)w->most, (long long)w->longest);
    if (w->nnz < (w->rows - forced) * w->shortest + w->longest ||
        w->nnz > (w->rows - forced) * w->most + w->longest)
        return fail(HEDDLE_BAD_ARGUMENT, "%lld entries do not fit %lld rows of %lld to %lld entries%s",
                    (long long)w->nnz, (long long)w->rows, (long long)w->shortest, (long long)w->most,
                    forced ? ", one of them the longest" : "");
    return HEDDLE_OK;
}

heddle_status profile_new(struct profile *p, const struct profile_wish *wish)
{
    heddle_status status = HEDDLE_OK;
    struct profile_wish full = *wish; /* without the empty rows */
    full.rows -= wish->empty;
    *p = (struct profile){.rows = full.rows, .group = wish->group};
    p->order = permutation_for(wish->seed, wish->rows / wish->group);
    TRY(check_wish(&full));
    TRY(cells_new(p, &full));
    if (full.rows > 0) {
        fit(p, &full);
        make_up(p, &full);
    }
    if (wish->empty > 0) /* they come last in the order of lengths */
        p->cell[p->cells++] = (struct profile_cell){.first = full.rows, .count = wish->empty};
done:
    if (status != HEDDLE_OK)
        profile_free(p);
    return status;
}

void profile_free(struct profile *p)
{
    mem_free(p->cell);
    *p = (struct profile){0};
}

/* Whole groups change places; the rows after the last whole group keep theirs. */
int64_t profile_length(const struct profile *p, int64_t row)
{
    int64_t group = row / p->group, rank = row;
    if (group < p->order.n)
        rank = permute(&p->order, group) * p->group + row % p->group;
    int64_t low = 0, high = p->cells - 1; /* cell[low].first <= rank */
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (p->cell[middle].first <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    return p->cell[low].length;
}
