/* SPDX-License-Identifier: MIT
 *
 * cpu_csr_mm_t: the transposed product with several vectors, a cache line of them at a time.
 *
 * Computes   Y = alpha Aᵀ X + beta Y,  A in CSR, any number of vectors, by rows or by columns.
 * Source     the privatisation of cpu_csr_t (scatter.h), with a cache line in the place of a number.
 * Balance    as cpu_csr_t: equal steps along rows and entries.
 * Memory     a tile has as many vectors as fill a cache line, so that an entry adds to one line of a part's
 *            copy of Y, in which they lie side by side.  A is read once for each tile.  Part 0 adds to Y
 *            itself where its vectors lie side by side, too.
 * Wins       no preparation, and no atomics.
 * Loses      many products: a plan transposes once.
 * Order      within a part that of storage, then part by part: bitwise repeatable for the same device
 *            options.
 */
#define LINE_BYTES 64

/* Vectors of a tile, at least as many as are there where they are few: a power of two. */
static int tile_width(long long vectors, int real_bytes)
{
    int width = 1;
    while (width < vectors && 2 * width * real_bytes <= LINE_BYTES)
        width *= 2;
    return width;
}

#ifdef HEDDLE_DEVICE
#include "kernel/cpu/scatter.h"

#define WIDTH_MOST (LINE_BYTES / (int)sizeof(real))
#define INLINE static inline __attribute__((always_inline))

/* A tile on its way: vectors [first, first + count), of which copies have room for `width`. */
struct band {
    int64_t first;
    int count, width;
};

static int is_direct(const struct product *p)
{
    return p->y_step.vector == 1;
}

/* Where a part adds to: Y, or the copy of Y that it has for itself (scatter.h), which has `width` numbers
 * for each of Y's rows. */
static struct target target_of(const struct product *p, const struct band *t, int64_t part)
{
    const int64_t n = p->cols * t->width, copy = part - is_direct(p), copies = p->parts - is_direct(p);
    if (copy < 0)
        return (struct target){(real *)p->y + t->first, 0};
    unsigned char *flags = (unsigned char *)p->workspace;
    return (struct target){(real *)(flags + copies * scatter_flags(n)) + copy * scatter_pages(n) * PAGE,
                           flags + copy * scatter_flags(n)};
}

static real *y_at(const struct product *p, const struct band *t, int64_t row, int v)
{
    return (real *)p->y + row * p->y_step.entry + (t->first + v) * p->y_step.vector;
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
                scale(y_at(p, t, j, v), beta);
    else
        for (int v = 0; v < t->count; v++)
            for (int64_t j = begin; j < end; j++)
                scale(y_at(p, t, j, v), beta);
    for (int64_t part = team->thread; part < p->parts; part += team->threads) {
        const struct target to = target_of(p, t, part);
        if (to.touched)
            memset(to.touched, 0, (size_t)scatter_flags(p->cols * t->width));
    }
}

/* Entries of one row add their value times the row's numbers of X, `x`. */
INLINE void add_entries(real *RESTRICT y, int64_t step, const real *val, const idx *col, int64_t n,
                        const real *RESTRICT x, const int width)
{
    for (int64_t k = 0; k < n; k++) {
        real *RESTRICT to = y + col[k] * step;
        for (int v = 0; v < width; v++)
            to[v] += val[k] * x[v];
    }
}

static void add_row(const struct product *p, const struct band *t, const struct target *to, int64_t k,
                    int64_t end, const real *x)
{
    const idx *col = (const idx *)p->array[CSR_COL] + k;
    const real *val = (const real *)p->array[CSR_VAL] + k;
    const int64_t n = end - k, step = to->touched ? t->width : p->y_step.entry;
    const int width = to->touched ? t->width : t->count;
    if (to->touched)
        for (int64_t i = 0; i < n; i++)
            touch(to, col[i] * step);
    switch (width) {
    case 16:
        add_entries(to->y, step, val, col, n, x, 16 < WIDTH_MOST ? 16 : WIDTH_MOST);
        break;
    case 8:
        add_entries(to->y, step, val, col, n, x, 8 < WIDTH_MOST ? 8 : WIDTH_MOST);
        break;
    case 4:
        add_entries(to->y, step, val, col, n, x, 4);
        break;
    case 2:
        add_entries(to->y, step, val, col, n, x, 2);
        break;
    default:
        add_entries(to->y, step, val, col, n, x, width);
    }
}

/* The numbers of a row of X, times alpha; those that the tile does not have are 0. */
static void load_row(real *x, const struct product *p, const struct band *t, int64_t row)
{
    const real alpha = scalar(p->alpha),
               *from = (const real *)p->x + row * p->x_step.entry + t->first * p->x_step.vector;
    for (int v = 0; v < t->count; v++)
        x[v] = alpha * from[v * p->x_step.vector];
}

static void add_part(const struct product *p, const struct band *t, int64_t part)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const struct target to = target_of(p, t, part);
    const int64_t steps = p->rows + p->nnz, begin = part_begin(steps, part, p->parts),
                  end = part_begin(steps, part + 1, p->parts);
    const int64_t last = path_row(row_ptr, p->rows, end), stop = end - last;
    int64_t row = path_row(row_ptr, p->rows, begin), k = begin - row;
    real x[WIDTH_MOST] = {0};
    for (; row <= last; row++) {
        const int64_t next = row < last ? row_ptr[row + 1] : stop;
        if (k < next) {
            load_row(x, p, t, row);
            add_row(p, t, &to, k, next, x);
        }
        k = next;
    }
}

/* After everything is added: the copies go to Y, page by page, in the order of the parts. */
static void end_band(const struct product *p, const struct band *t, const struct team *team)
{
    const int64_t n = p->cols * t->width, pages = scatter_pages(n), each = PAGE / t->width;
    const int64_t last = part_begin(pages, team->thread + 1, team->threads);
    for (int64_t page = part_begin(pages, team->thread, team->threads); page < last; page++)
        for (int64_t part = is_direct(p); part < p->parts; part++) {
            const struct target from = target_of(p, t, part);
            const int64_t begin = page * each, end = begin + each < p->cols ? begin + each : p->cols;
            for (int64_t j = begin; from.touched[page] && j < end; j++)
                for (int v = 0; v < t->count; v++)
                    *y_at(p, t, j, v) += from.y[j * t->width + v];
        }
}

CPU_KERNEL(cpu_csr_mm_t)(const struct product *p, const struct team *team)
{
    struct band t = {.width = tile_width(p->vectors, sizeof(real))};
    for (; t.first < p->vectors; t.first += t.width) {
        t.count = p->vectors - t.first < t.width ? (int)(p->vectors - t.first) : t.width;
        begin_band(p, &t, team);
        team_barrier(team);
        for (int64_t part = team->thread; part < p->parts; part += team->threads)
            add_part(p, &t, part);
        team_barrier(team);
        end_band(p, &t, team);
        team_barrier(team);
    }
}

#else
#include "kernel/cpu/scatter.h"

static int64_t parts(const struct work *w)
{
    return scatter_parts(w, w->product.cols);
}

/* As if Y's vectors lay apart, where every part has a copy. */
static int64_t workspace(const struct work *w)
{
    const int64_t size = (int64_t)type_size(w->value),
                  n = w->product.cols * tile_width(w->product.vectors, (int)size);
    return w->product.parts * (scatter_flags(n) + scatter_pages(n) * PAGE * size);
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
    .parts = parts,
    .workspace = workspace,
    .launch = cpu_launch,
    .cost = cost_of_additions,
};
#endif
