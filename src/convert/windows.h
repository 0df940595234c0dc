/* SPDX-License-Identifier: MIT
 *
 * windows.h: what conversions share that put rows in order within windows, csr_to_tmpl and csr_to_bundle.
 *
 * A block of threads has a window.  It sorts 32-bit keys of its rows, and cuts what is sorted into slices.
 * Where those go depends on the windows before, so that there are two kernels: one counts what each window
 * takes (a tally), and behind the sums over all windows another writes.
 *
 * A page names, before it includes this:
 *
 *   TALLIES   how many numbers a tally has
 *   TOTALS    which array holds them: of each number one for every window, behind a 0
 *   WINDOWS   which dimension is the number of windows
 */
#ifndef CONVERT_WINDOWS_H
#define CONVERT_WINDOWS_H

#define WINDOW_BLOCK 512 /* threads that sort a window */

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* Row i, and where its entries stand. */
struct row {
    int64_t begin, n;
};
DEVICE struct row row_at(const struct product *p, int64_t i)
{
    const off *row_ptr = (const off *)p->array[CSR_ROW_PTR];
    struct row r;
    r.begin = simt_readonly(row_ptr + i);
    r.n = (int64_t)simt_readonly(row_ptr + i + 1) - r.begin;
    return r;
}

/* Sorts n keys, bitonically: there is room behind them up to the next power of two.  Begins and ends with a
 * barrier. */
DEVICE void sort_keys(uint32_t *key, int n)
{
    int all = 2;
    while (all < n)
        all *= 2;
    for (int i = n + simt_thread_id(); i < all; i += WINDOW_BLOCK)
        key[i] = UINT32_MAX;
    simt_sync();
    SIMT_ROLLED
    for (int size = 2; size <= all; size *= 2) {
        SIMT_ROLLED
        for (int by = size / 2; by > 0; by /= 2) {
            for (int t = simt_thread_id(); t < all / 2; t += WINDOW_BLOCK) {
                const int i = 2 * t - (t & (by - 1));
                const uint32_t a = key[i], b = key[i + by];
                if ((a > b) == ((i & size) == 0)) {
                    key[i] = b;
                    key[i + by] = a;
                }
            }
            simt_sync();
        }
    }
}

/* The first of n sorted keys that is not below `bound`. */
DEVICE int search_key(const uint32_t *key, int n, uint32_t bound)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (key[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a thread, a window or all of them take. */
struct tally {
    int64_t of[TALLIES];
};
DEVICE struct tally tally_none(void)
{
    struct tally none;
    for (int i = 0; i < TALLIES; i++)
        none.of[i] = 0;
    return none;
}

/* Leaves the sum over the threads as what the window takes. */
DEVICE void tally_leave(const struct product *p, int64_t window, struct tally mine)
{
    for (int i = 0; i < TALLIES; i++) {
        const int64_t sum = block_sum_long(mine.of[i]);
        int64_t *total = (int64_t *)p->array[TOTALS] + i * (p->dim[WINDOWS] + 1);
        if (simt_thread_id() == 0)
            total[window + 1] = sum;
        if (simt_thread_id() == 0 && window == 0)
            total[0] = 0;
    }
}

/* Where a thread's share begins: behind all windows before and all threads before. */
DEVICE struct tally tally_before(const struct product *p, int64_t window, struct tally mine)
{
    for (int i = 0; i < TALLIES; i++) {
        int64_t all;
        mine.of[i] = block_scan_before_long(mine.of[i], &all) +
                     simt_readonly((const int64_t *)p->array[TOTALS] + i * (p->dim[WINDOWS] + 1) + window);
    }
    return mine;
}

#else
#include "convert/service.h"

/* Lanes of a row: each takes a few of its entries. */
static inline int64_t lanes_for(const struct device *d, int64_t rows, int64_t entries)
{
    int64_t lanes = 1, wave = gpu_info_of(d->gpu)->wave;
    while (lanes < wave && 4 * lanes * rows < entries)
        lanes *= 2;
    return lanes;
}

static inline heddle_status run_windows(const struct work *w, const char *entry)
{
    return gpu_run(w, entry, gpu_grid(w, w->product.dim[WINDOWS], WINDOW_BLOCK), WINDOW_BLOCK, 0);
}

/* Counts by `entry`, and adds up what windows take; *totals is allocated here.  Waits. */
static inline heddle_status count_windows(struct work *w, const char *entry, int64_t total[TALLIES],
                                          void **totals)
{
    heddle_status status;
    int64_t each = w->product.dim[WINDOWS] + 1;
    TRY(device_alloc(w->device, totals, TALLIES * each * (int64_t)sizeof(int64_t)));
    w->product.array[TOTALS] = *totals;
    TRY(run_windows(w, entry));
    for (int i = 0; i < TALLIES; i++) {
        int64_t *of = (int64_t *)*totals + i * each;
        TRY(gpu_scan(w->device, of, each));
        TRY(device_read(w->device, &total[i], of + each - 1, sizeof total[i]));
    }
done:
    return status;
}
#endif

#endif
