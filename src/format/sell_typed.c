/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "format/format.h"

#define NARROW_SPAN 65536
#define HEIGHT_MOST 64
#define LONGEST 1024 /* rows this long and longer count as equal in the sort */

/* A window is sorted as a unit; without sorting a window is some slices that happen to be done together. */
#define UNSORTED_WINDOW 512

struct job {
    struct stored *s;
    const struct csr *A;
    int32_t *scratch;    /* `window` rows a thread: the order of the window at hand */
    int64_t window;      /* rows */
    atomic_int moved;    /* did any window change the order of its rows? */
    atomic_int too_long; /* is there a row that 32 bits cannot count? */
};

static inline int64_t length_of(const struct csr *A, int64_t i)
{
    const off *row_ptr = A->row_ptr;
    return (int64_t)row_ptr[i + 1] - row_ptr[i];
}

static int bucket_of(int64_t length)
{
    return length < LONGEST ? LONGEST - (int)length : 0; /* the longest come first */
}

/* order[0..n) = the rows of [first, first+n), longest first, equal ones in their order: a counting sort.
 * Returns whether any row has moved. */
static int sort_window(int32_t *order, const struct csr *A, int64_t first, int64_t n)
{
    int32_t begin[LONGEST + 2] = {0};
    for (int64_t i = 0; i < n; i++)
        begin[bucket_of(length_of(A, first + i)) + 1]++;
    for (int b = 0; b < LONGEST; b++)
        begin[b + 1] += begin[b];
    int moved = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t place = begin[bucket_of(length_of(A, first + i))]++;
        order[place] = (int32_t)(first + i);
        moved |= place != i;
    }
    return moved;
}

/* The order of one window, from first, of n rows; NULL stands for the order of the matrix. */
static void order_window(int32_t *order, const struct job *job, int64_t first, int64_t n, int *moved)
{
    *moved = job->s->dim[SELL_WINDOW] > 1 && sort_window(order, job->A, first, n);
    if (!*moved)
        for (int64_t i = 0; i < n; i++)
            order[i] = (int32_t)(first + i);
}

struct span {
    int32_t low, high;
};

static struct span add_span(struct span s, const int32_t *col, int64_t n)
{
    int32_t low = s.low, high = s.high;
    for (int64_t j = 0; j < n; j++) {
        low = col[j] < low ? col[j] : low;
        high = col[j] > high ? col[j] : high;
    }
    return (struct span){low, high};
}

/* What the slice with these n rows needs: width and column words go to the slice's own place in slice_ptr
 * and col_ptr, where a running sum turns them into offsets later. */
static void plan_slice(struct job *job, int64_t slice, const int32_t *order, int64_t n)
{
    struct stored *s = job->s;
    const off *row_ptr = job->A->row_ptr;
    int64_t height = s->dim[SELL_HEIGHT], longest = 0, shortest = n < height ? 0 : INT64_MAX;
    int32_t *length = (int32_t *)s->array[SELL_LENGTH] + slice * height;
    struct span span = {INT32_MAX, 0};
    for (int64_t r = 0; r < height; r++) {
        int64_t entries = r < n ? length_of(job->A, order[r]) : 0;
        length[r] = (int32_t)entries;
        longest = entries > longest ? entries : longest;
        shortest = entries < shortest ? entries : shortest;
        if (entries > 0)
            span = add_span(span, job->A->col + row_ptr[order[r]], entries);
    }
    if (longest > INT32_MAX)
        atomic_store(&job->too_long, 1);
    int narrow = longest == 0 || (int64_t)span.high - span.low < NARROW_SPAN;
    ((int32_t *)s->array[SELL_BASE])[slice] = !narrow ? -1 : longest == 0 ? 0 : span.low;
    ((int32_t *)s->array[SELL_FULL])[slice] = (int32_t)(shortest > INT32_MAX ? INT32_MAX : shortest);
    ((int64_t *)s->array[SELL_SLICE_PTR])[slice + 1] = longest * height;
    ((int64_t *)s->array[SELL_COL_PTR])[slice + 1] = longest * height * (narrow ? 1 : 2);
}

/* Runs `each` on the slices of every window, windows dealt out in turn. */
static void for_each_slice(struct job *job, const struct team *team,
                           void (*each)(struct job *, int64_t slice, const int32_t *order, int64_t n))
{
    int64_t rows = job->A->rows, window = job->window, height = job->s->dim[SELL_HEIGHT];
    int64_t windows = (rows + window - 1) / window;
    int32_t *order = job->scratch + team->thread * window;
    int64_t end = part_begin(windows, team->thread + 1, team->threads);
    for (int64_t w = part_begin(windows, team->thread, team->threads); w < end; w++) {
        int64_t first = w * window, n = rows - first < window ? rows - first : window;
        int moved;
        order_window(order, job, first, n, &moved);
        if (moved)
            atomic_store(&job->moved, 1);
        for (int64_t r = 0; r < n; r += height)
            each(job, (first + r) / height, order + r, n - r < height ? n - r : height);
    }
}

static void plan_slices(void *argument, const struct team *team)
{
    for_each_slice(argument, team, plan_slice);
}

static heddle_status run(struct job *job, team_work *work)
{
    int threads = threads_default();
    job->window = job->s->dim[SELL_WINDOW] > 1 ? job->s->dim[SELL_WINDOW] : UNSORTED_WINDOW;
    job->scratch = mem_alloc(threads * job->window, sizeof *job->scratch);
    if (!job->scratch)
        return HEDDLE_NO_MEMORY;
    team_run(threads, work, job);
    mem_free(job->scratch);
    return HEDDLE_OK;
}

static heddle_status plan(struct stored *s, const struct csr *A)
{
    struct job job = {.s = s, .A = A};
    int64_t *slice_ptr = s->array[SELL_SLICE_PTR], *col_ptr = s->array[SELL_COL_PTR];
    slice_ptr[0] = col_ptr[0] = 0;
    heddle_status status = run(&job, plan_slices);
    if (status != HEDDLE_OK)
        return status;
    if (atomic_load(&job.too_long))
        return fail(HEDDLE_NO_KERNEL,
                    "sell counts the entries of a row in 32 bits, and one row has more: use a csr kernel");
    for (int64_t i = 0; i < s->dim[SELL_SLICES]; i++) {
        slice_ptr[i + 1] += slice_ptr[i];
        col_ptr[i + 1] += col_ptr[i];
    }
    s->dim[SELL_SORTED] = atomic_load(&job.moved);
    return HEDDLE_OK;
}

/* One slice on its way: the rows it comes from, and where it goes. */
struct fill {
    const int32_t *col[HEIGHT_MOST]; /* of each row */
    const elem *val[HEIGHT_MOST];
    const int32_t *length;
    int64_t height, full, width;
    int32_t base;
};

/* Place by place in the order of the slice: what is written is written in order, and the rows are read
 * side by side. */
static void fill_val(elem *to, const struct fill *f)
{
    int64_t j = 0;
    for (; j < f->full; j++)
        for (int64_t r = 0; r < f->height; r++)
            *to++ = f->val[r][j];
    for (; j < f->width; j++)
        for (int64_t r = 0; r < f->height; r++)
            *to++ = j < f->length[r] ? f->val[r][j] : 0;
}

static void fill_narrow(uint16_t *to, const struct fill *f)
{
    int64_t j = 0;
    for (; j < f->full; j++)
        for (int64_t r = 0; r < f->height; r++)
            *to++ = (uint16_t)(f->col[r][j] - f->base);
    for (; j < f->width; j++)
        for (int64_t r = 0; r < f->height; r++)
            *to++ = (uint16_t)(j < f->length[r] ? f->col[r][j] - f->base : 0);
}

static void fill_wide(uint16_t *to, const struct fill *f)
{
    for (int64_t j = 0; j < f->width; j++)
        for (int64_t r = 0; r < f->height; r++, to += 2) {
            int32_t col = j < f->length[r] ? f->col[r][j] : 0;
            memcpy(to, &col, sizeof col);
        }
}

static void fill_slice(struct job *job, int64_t slice, const int32_t *order, int64_t n)
{
    const struct stored *s = job->s;
    const struct csr *A = job->A;
    const int64_t *slice_ptr = s->array[SELL_SLICE_PTR], *col_ptr = s->array[SELL_COL_PTR];
    struct fill f = {.height = s->dim[SELL_HEIGHT], .full = ((const int32_t *)s->array[SELL_FULL])[slice]};
    f.length = (const int32_t *)s->array[SELL_LENGTH] + slice * f.height;
    f.width = (slice_ptr[slice + 1] - slice_ptr[slice]) / f.height;
    f.base = ((const int32_t *)s->array[SELL_BASE])[slice];
    for (int64_t r = 0; r < n && f.width > 0; r++) {
        f.col[r] = A->col + ((const off *)A->row_ptr)[order[r]];
        f.val[r] = (const elem *)A->val + ((const off *)A->row_ptr)[order[r]];
    }
    fill_val((elem *)s->array[SELL_VAL] + slice_ptr[slice], &f);
    (f.base < 0 ? fill_wide : fill_narrow)((uint16_t *)s->array[SELL_COL] + col_ptr[slice], &f);
    if (s->dim[SELL_SORTED])
        memcpy((int32_t *)s->array[SELL_ROW] + slice * f.height, order, (size_t)n * sizeof *order);
}

static void fill_slices(void *argument, const struct team *team)
{
    for_each_slice(argument, team, fill_slice);
}

static heddle_status fill(struct stored *s, const struct csr *A)
{
    struct job job = {.s = s, .A = A};
    return run(&job, fill_slices);
}

const struct sell_functions TYPED(sell_functions) = {.plan = plan, .fill = fill};
