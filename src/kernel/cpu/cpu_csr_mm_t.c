/* SPDX-License-Identifier: MIT
 *
 * cpu_csr_mm_t: the transposed product with several vectors, a few cache lines of them at a time.
 *
 * Computes   Y = alpha Aᵀ X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     the privatisation of cpu_csr_t (scatter.h), with cache lines in the place of a number.
 * Balance    as cpu_csr_t: equal steps along rows and entries; where copies would take too much memory for
 *            that, threads have different vectors.
 * Memory     a band has as many vectors as fill a cache line, or a few; A is read once for each.  Every part
 *            adds to the columns around its rows in Y itself, and to others in a copy of the band, in which
 *            its vectors lie side by side; to all of them where they lie apart in Y.
 * Wins       no preparation, and no atomics; matrices whose rows touch columns near them, which need hardly
 *            any copies.
 * Loses      many products: a plan transposes once.
 * Order      within a part that of storage, from where its band begins; then part by part: bitwise
 *            repeatable for the same device options.
 */
#include "kernel/cpu/scatter.h"

#define LINE_BYTES 64
#define LINES_MOST 4
/* Copies of a band: so many, and more if they hold at most so many numbers for each entry of the matrix. */
#define COPIES 4
#define COPIED_MOST 4

/* Bands of `width` vectors, a power of two, `lanes` of them at a time, each in `parts`. */
struct cut {
    int width;
    int64_t lanes, parts;
};

/* product.parts is how many threads there should be work for.  Wide bands read A seldom; narrow ones have
 * smaller copies. */
static struct cut bands_for(const struct product *p, int real_bytes)
{
    struct cut c = {.width = LINES_MOST * LINE_BYTES / real_bytes};
    const int64_t shares = p->parts;
    while (c.width > 1 && c.width >= 2 * p->vectors)
        c.width /= 2;
    for (;; c.width /= 2) {
        const int64_t bands = (p->vectors + c.width - 1) / c.width, copy = p->cols * c.width,
                      most = COPIES + COPIED_MOST * p->nnz / (copy > 0 ? copy : 1),
                      parts = most < shares ? most : shares, lanes = (shares + parts - 1) / parts;
        c.lanes = lanes < bands ? lanes : bands;
        c.parts = shares / c.lanes < parts ? shares / c.lanes : parts;
        if (bands * parts >= shares || c.width * real_bytes <= LINE_BYTES)
            return c;
    }
}

#ifdef HEDDLE_DEVICE
#include "kernel/cpu/simd.h"

#define WIDTH_MOST (LINES_MOST * LINE_BYTES / (int)sizeof(real))
#define INLINE static inline __attribute__((always_inline))

/* Vectors [first, first + count): the how manieth band it is of those that are done at a time, and how all
 * are cut. */
struct band {
    int64_t first, lane;
    int count;
    struct cut cut;
};

static struct band band_of(const struct product *p, struct cut c, int64_t first, int64_t lane)
{
    const int64_t at = first + lane * c.width, left = p->vectors - at;
    return (struct band){at, lane, (int)(left < 0 ? 0 : left < c.width ? left : c.width), c};
}

static real *y_at(const struct product *p, int64_t row, int64_t vector)
{
    return (real *)p->y + row * p->y_step.entry + vector * p->y_step.vector;
}

/* Before a part: steps along rows and entries, and the columns that earlier parts own, whose share is that of
 * the rows. */
static int64_t steps_before(const struct product *p, const struct band *t, int64_t part)
{
    return part_begin(p->rows + p->nnz, part, t->cut.parts);
}

static int64_t owned_before(const struct product *p, const struct band *t, int64_t part)
{
    const int64_t row = path_row((const off *)p->array[CSR_ROW_PTR], p->rows, steps_before(p, t, part));
    return part == t->cut.parts ? p->cols
         : row == 0             ? 0
                                : (int64_t)((double)row * ((double)p->cols / (double)p->rows));
}

/* Where a part adds to: Y, for columns [own, own + owned), or its copy, which has `width` numbers for each of
 * Y's rows, and pages as in scatter.h. */
struct destination {
    real *y, *copy;
    int64_t y_step, width, own;
    uint64_t owned;
    unsigned char *touched;
};

static struct destination destination_of(const struct product *p, const struct band *t, int64_t part)
{
    const int64_t n = p->cols * t->cut.width, number = t->lane * t->cut.parts + part;
    const int64_t copy = scatter_pages(n) * PAGE * (int64_t)sizeof(real);
    char *at = (char *)p->workspace + number * (scatter_flags(n) + copy);
    struct destination to = {
        (real *)p->y + t->first, (real *)(void *)(at + scatter_flags(n)), p->y_step.entry, t->cut.width, 0, 0,
        (unsigned char *)at};
    if (p->y_step.vector == 1) {
        to.own = owned_before(p, t, part);
        to.owned = (uint64_t)(owned_before(p, t, part + 1) - to.own);
    }
    return to;
}

INLINE real *place_of(const struct destination *to, int64_t column)
{
    if ((uint64_t)(column - to->own) < to->owned)
        return to->y + column * to->y_step;
    touch(&(struct target){to->copy, to->touched}, column * to->width);
    return to->copy + column * to->width;
}

/* Before anything is added: Y = beta Y, and no page of a copy is touched. */
static void begin_band(const struct product *p, const struct band *t, const struct team *team)
{
    const real beta = scalar(p->beta);
    const int64_t begin = part_begin(p->cols, team->thread, team->threads),
                  end = part_begin(p->cols, team->thread + 1, team->threads);
    if (p->y_step.vector == 1)
        for (int64_t j = begin; j < end; j++)
            for (int v = 0; v < t->count; v++)
                scale(y_at(p, j, t->first + v), beta);
    else
        for (int v = 0; v < t->count; v++)
            for (int64_t j = begin; j < end; j++)
                scale(y_at(p, j, t->first + v), beta);
    for (int64_t part = team->thread; part < t->cut.parts; part += team->threads)
        memset(destination_of(p, t, part).touched, 0, (size_t)scatter_flags(p->cols * t->cut.width));
}

/* Some entries of one row, and the row's numbers of X times alpha. */
struct row_piece {
    const real *val;
    const idx *col;
    int64_t n;
    const real *x;
};

/* Vectors from v on: `eights` times eight of them, or a few. */
INLINE void add_wide(const struct destination *to, const struct row_piece *e, int v, const int eights)
{
    vec factor[WIDTH_MOST / LANES];
    for (int i = 0; i < eights; i++)
        factor[i] = vec_load(e->x + v + i * LANES);
    for (int64_t k = 0; k < e->n; k++) {
        real *y = place_of(to, e->col[k]) + v;
        for (int i = 0; i < eights; i++)
            vec_store(y + i * LANES, vec_fma_by(factor[i], e->val[k], vec_load(y + i * LANES)));
    }
}

INLINE void add_few(const struct destination *to, const struct row_piece *e, int v, const int few)
{
    for (int64_t k = 0; k < e->n; k++) {
        real *y = place_of(to, e->col[k]) + v;
        for (int i = 0; i < few; i++)
            y[i] += e->val[k] * e->x[v + i];
    }
}

/* Returns how many vectors it has added, as many as are done together. */
static int add_to_lines(const struct destination *to, const struct row_piece *e, int v, int left)
{
    const int most = WIDTH_MOST / LANES;
    if (most >= 8 && left >= 8 * LANES)
        return add_wide(to, e, v, most < 8 ? most : 8), 8 * LANES;
    if (left >= 4 * LANES)
        return add_wide(to, e, v, most < 4 ? most : 4), 4 * LANES;
    if (left >= 2 * LANES)
        return add_wide(to, e, v, 2), 2 * LANES;
    if (left >= LANES)
        return add_wide(to, e, v, 1), LANES;
    if (left >= 4)
        return add_few(to, e, v, 4), 4;
    if (left >= 2)
        return add_few(to, e, v, 2), 2;
    return add_few(to, e, v, 1), 1;
}

/* Steps [begin, end) along rows and entries. */
static void add_along(const struct product *p, const struct band *t, const struct destination *to,
                      int64_t begin, int64_t end)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *col = (const idx *)p->array[CSR_COL];
    const real *val = (const real *)p->array[CSR_VAL], alpha = scalar(p->alpha);
    const int64_t last = path_row(row_ptr, p->rows, end), stop = end - last;
    int64_t row = path_row(row_ptr, p->rows, begin), k = begin - row;
    for (; row <= last; row++) {
        const int64_t next = row < last ? row_ptr[row + 1] : stop;
        if (k < next) {
            real x[WIDTH_MOST];
            const real *from = (const real *)p->x + row * p->x_step.entry + t->first * p->x_step.vector;
            const struct row_piece e = {val + k, col + k, next - k, x};
            for (int v = 0; v < t->count; v++)
                x[v] = alpha * from[v * p->x_step.vector];
            for (int v = 0; v < t->count;)
                v += add_to_lines(to, &e, v, t->count - v);
        }
        k = next;
    }
}

/* Bands that are done at a time begin at different rows and go round, so that threads do not write to
 * neighbouring lines of Y at the same time: processors fetch lines in pairs. */
static void add_part(const struct product *p, const struct band *t, int64_t part)
{
    const struct destination to = destination_of(p, t, part);
    const int64_t begin = steps_before(p, t, part), end = steps_before(p, t, part + 1),
                  middle = begin + part_begin(end - begin, t->lane, t->cut.lanes);
    add_along(p, t, &to, middle, end);
    add_along(p, t, &to, begin, middle);
}

/* After everything is added: the copies go to Y, page by page, in the order of the parts. */
static void end_band(const struct product *p, const struct band *t, const struct team *team)
{
    const int64_t width = t->cut.width, pages = scatter_pages(p->cols * width), each = PAGE / width;
    const int64_t begin = part_begin(pages, team->thread, team->threads),
                  end = part_begin(pages, team->thread + 1, team->threads);
    for (int64_t part = 0; part < t->cut.parts; part++) {
        const struct destination from = destination_of(p, t, part);
        for (int64_t page = begin; page < end; page++) {
            const int64_t last = (page + 1) * each < p->cols ? (page + 1) * each : p->cols;
            for (int64_t j = page * each; from.touched[page] && j < last; j++)
                for (int v = 0; v < t->count; v++)
                    *y_at(p, j, t->first + v) += from.copy[j * width + v];
        }
    }
}

CPU_KERNEL(cpu_csr_mm_t)(const struct product *p, const struct team *team)
{
    const struct cut c = bands_for(p, sizeof(real));
    for (int64_t first = 0; first < p->vectors; first += c.lanes * c.width) {
        for (int64_t lane = 0; lane < c.lanes; lane++) {
            const struct band t = band_of(p, c, first, lane);
            begin_band(p, &t, team);
        }
        team_barrier(team);
        for (int64_t share = team->thread; share < c.lanes * c.parts; share += team->threads) {
            const struct band t = band_of(p, c, first, share % c.lanes);
            if (t.count)
                add_part(p, &t, share / c.lanes);
        }
        team_barrier(team);
        for (int64_t lane = 0; lane < c.lanes; lane++) {
            const struct band t = band_of(p, c, first, lane);
            end_band(p, &t, team);
        }
        team_barrier(team);
    }
}

#else

static int64_t workspace(const struct work *w)
{
    const int64_t size = (int64_t)type_size(w->value);
    const struct cut c = bands_for(&w->product, (int)size);
    const int64_t n = w->product.cols * c.width;
    return c.lanes * c.parts * (scatter_flags(n) + scatter_pages(n) * PAGE * size);
}

const struct kernel cpu_csr_mm_t = {
    .name = "cpu_csr_mm_t",
    .id = KERNEL_cpu_csr_mm_t,
    .format = FORMAT_csr,
    .ops = OPS_T,
    .device = DEVICE_cpu,
    .source = "privatised scatter of cache lines",
    .many = 1,
    .repeatable = 1,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost_of_additions,
};
#endif
