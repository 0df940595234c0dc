/* SPDX-License-Identifier: MIT
 *
 * sell: one thread a row of a sliced, sorted ELL.
 *
 * Computes   y = alpha A x + beta y,  A in SELL (src/format/sell.c).
 * Source     SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop 2014; the 16-bit columns are Heddle's
 *            own.  A slice is as high as a wave is wide (slice=0), so that a wave reads whole lines.
 * Balance    a row is a thread's work; rows of a slice are of like length, as windows are sorted.  Where a
 *            few rows of a wave are far longer than the others, the wave does the rest of each of them
 *            together.
 * Memory     val and col are read once, coalesced and streamed, 4 or 8 entries of a row under way at a
 *            time: 6 bytes an entry in single and 10 in double precision where the columns of a slice span
 *            less than 65,536.  Padding is not read, but shares its sectors with what is.  Lengths are
 *            read only in slices whose rows differ; x is gathered.
 * Wins       rows of like length in any window, banded matrices most of all: fewer bytes than CSR can have.
 * Loses      power-law rows (padding, and one thread a row), fewer rows than the GPU has threads.
 * Order      that of storage, the rests of long rows in a fixed tree: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* At most so many entries of a row are under way in a thread; `loads`, a constant in every kernel, says
 * how many are. */
#define LOADS_MOST 8

/* A lane on its way along its row: the entries that come next are `height` apart. */
struct row {
    const elem *val;
    const real *x;       /* from the slice's base on */
    const uint16_t *col; /* two words an entry in a wide slice */
    int height;
    real sum;
};

DEVICE idx column(const struct row *r, int k, const int wide)
{
    return wide ? simt_stream((const idx *)r->col + k * r->height) : (idx)simt_stream(r->col + k * r->height);
}

/* As many of the next n entries as are a multiple of `loads`.  Loads first, then gathers and sums: so they
 * overlap. */
DEVICE void add_whole(const struct product *p, struct row *r, int n, const int wide, const int loads)
{
    SIMT_ROLLED
    for (; n >= loads; n -= loads) {
        idx c[LOADS_MOST];
        elem v[LOADS_MOST];
        for (int k = 0; k < loads; k++) {
            c[k] = column(r, k, wide);
            v[k] = simt_stream(r->val + k * r->height);
        }
        for (int k = 0; k < loads; k++)
            r->sum += term(p, v[k], simt_readonly(r->x + c[k]));
        r->val += loads * r->height;
        r->col += (wide ? 2 : 1) * loads * r->height;
    }
}

/* The next n entries, fewer than `loads`, together as well: what is not there is 0. */
DEVICE void add_last(const struct product *p, struct row *r, const int n, const int wide, const int loads)
{
    idx c[LOADS_MOST] = {0};
    elem v[LOADS_MOST] = {0};
    real x[LOADS_MOST] = {0};
    for (int k = 0; k < loads - 1; k++)
        if (k < n) {
            c[k] = column(r, k, wide);
            v[k] = simt_stream(r->val + k * r->height);
        }
    for (int k = 0; k < loads - 1; k++)
        if (k < n)
            x[k] = simt_readonly(r->x + c[k]);
    for (int k = 0; k < loads - 1; k++)
        r->sum += term(p, v[k], x[k]);
}

/* Entries [from, end) of the row at `place`, by the whole wave; they are a slice's height apart, so every
 * lane reads a sector of its own. */
DEVICE real sum_together(const struct product *p, int64_t place, int from, int end)
{
    const int64_t height = p->dim[SELL_HEIGHT], slice = place / height, at = place % height;
    const int32_t base = simt_readonly((const int32_t *)p->array[SELL_BASE] + slice);
    const elem *val = (const elem *)p->array[SELL_VAL] +
                      simt_readonly((const int64_t *)p->array[SELL_SLICE_PTR] + slice) + at;
    const int64_t words = simt_readonly((const int64_t *)p->array[SELL_COL_PTR] + slice);
    const uint16_t *col = (const uint16_t *)p->array[SELL_COL] + words;
    const real *x = (const real *)p->x;
    real sum = 0;
    SIMT_ROLLED
    for (int64_t j = from + simt_lane(); j < end; j += WAVE) {
        const int64_t k = at + j * height;
        const idx c = base < 0 ? simt_readonly((const idx *)col + k) : base + simt_readonly(col + k);
        sum += term(p, simt_readonly(val + j * height), simt_readonly(x + c));
    }
    return wave_sum(sum, WAVE);
}

/* So many entries a row may have more than the row a quarter down its wave (rows are sorted) before the
 * others help. */
#define HELPED 64

/* The row at a place.  What every row of the slice has (a multiple of `loads` of it) needs no length,
 * which may still be on its way while it is done; `*end` is where the thread stops, `*n` how long the row
 * is. */
DEVICE real sum_row(const struct product *p, int64_t place, int *end, int32_t *n, const int loads)
{
    const int shift = simt_ffs((uint64_t)p->dim[SELL_HEIGHT]) - 1;
    const int64_t slice = place >> shift;
    const int at = (int)(place & ((1 << shift) - 1));
    int32_t base = 0, full = 0;
    struct row r = {0, (const real *)p->x, 0, 1 << shift, 0};
    if (place < p->rows) {
        const int64_t *slice_ptr = (const int64_t *)p->array[SELL_SLICE_PTR] + slice;
        const int64_t begin = simt_readonly(slice_ptr), behind = simt_readonly(slice_ptr + 1);
        base = simt_readonly((const int32_t *)p->array[SELL_BASE] + slice);
        full = simt_readonly((const int32_t *)p->array[SELL_FULL] + slice);
        r.val = (const elem *)p->array[SELL_VAL] + begin + at;
        r.col = (const uint16_t *)p->array[SELL_COL] +
                simt_readonly((const int64_t *)p->array[SELL_COL_PTR] + slice) + (base < 0 ? 2 * at : at);
        r.x += base < 0 ? 0 : base;
        *n = (int64_t)full << shift == behind - begin
               ? full
               : simt_readonly((const int32_t *)p->array[SELL_LENGTH] + place);
    }
    if (base < 0)
        add_whole(p, &r, full, 1, loads);
    else
        add_whole(p, &r, full, 0, loads);
    const int32_t usual = simt_shfl(*n, WAVE / 4, WAVE), whole = full / loads * loads;
    *end = *n - HELPED <= usual ? *n : usual + HELPED > whole ? usual + HELPED : whole;
    if (base < 0) {
        add_whole(p, &r, *end - whole, 1, loads);
        add_last(p, &r, (*end - whole) % loads, 1, loads);
    } else {
        add_whole(p, &r, *end - whole, 0, loads);
        add_last(p, &r, (*end - whole) % loads, 0, loads);
    }
    return r.sum;
}

/* The loop is the wave's: a lane behind the last row has an empty one. */
DEVICE void multiply(const struct product *p, const int loads)
{
    for (int64_t first = simt_global_id() - simt_lane(); first < p->rows; first += simt_global_size()) {
        const int64_t place = first + simt_lane();
        int32_t n = 0, end;
        real sum = sum_row(p, place, &end, &n, loads);
        for (uint64_t many = simt_ballot(end < n); many; many &= many - 1) {
            const int owner = simt_ffs(many) - 1;
            const real rest =
                sum_together(p, first + owner, simt_shfl(end, owner, WAVE), simt_shfl(n, owner, WAVE));
            sum += simt_lane() == owner ? rest : 0;
        }
        if (place < p->rows) {
            const int64_t to =
                p->dim[SELL_SORTED] ? simt_readonly((const int32_t *)p->array[SELL_ROW] + place) : place;
            store_sum(p, to, sum);
        }
    }
}

/* Bound: for blocks of any size nvcc saves registers, and in f64 loads wait for each other. */
KERNEL_BOUND(sell4, SIMT_USUAL_BLOCK)(struct product p)
{
    multiply(&p, 4);
}
KERNEL_BOUND(sell8, SIMT_USUAL_BLOCK)(struct product p)
{
    multiply(&p, 8);
}

#else
#include "kernel/kernel.h"

/* The options of the format, where slice=0 is the width of a wave (convert.c), and how many loads are
 * under way. */
enum { SLICE, WINDOW, LOADS };
static const struct option options[] = {
    [SLICE] = {"slice", 0, VALUES(0, 32, 64)},
    [WINDOW] = {"window", 512, VALUES(1, 512, 4096)},
    [LOADS] = {"loads", 8, VALUES(4, 8)},
    {0},
};

static const char *const entries[] = {"sell4", "sell8", NULL};

static heddle_status launch(const struct work *w)
{
    return gpu_run_over(w, entries[w->option[LOADS] == 8], w->product.rows);
}

/* Padding is not read, and lengths only where rows differ; both are left in, as sectors come whole. */
const struct kernel sell = {
    .name = "sell",
    .id = KERNEL_sell,
    .format = FORMAT_sell,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "SELL-C-sigma (Kreutzer et al. 2014), 16-bit columns",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
