/* SPDX-License-Identifier: MIT
 *
 * scatter.h: how several parts add into one y without atomics and with a fixed order.
 *
 * Part 0 adds to y itself; every other part adds to a private copy of y.  Most parts touch little of y
 * (the columns near their rows), so a copy is not cleared as a whole: it is cut into pages of 4,096
 * entries, a page is zeroed when it is first touched, and a flag a page remembers that.  At the end the
 * touched pages are added to y in the order of the parts.  Memory that nobody touched costs nothing, not
 * even a page of the system's.
 *
 * The number of parts is limited so that all copies together hold at most four times as many entries as
 * the matrix: a short and very wide matrix is done by fewer parts than there are threads. */
#ifndef KERNEL_CPU_SCATTER_H
#define KERNEL_CPU_SCATTER_H

#include <stdint.h>

#define PAGE_SHIFT 12
#define PAGE ((int64_t)1 << PAGE_SHIFT)

static inline int64_t scatter_pages(int64_t n)
{
    return (n + PAGE - 1) >> PAGE_SHIFT;
}
/* Flags of one part, in whole cache lines. */
static inline int64_t scatter_flags(int64_t n)
{
    return (scatter_pages(n) + 63) / 64 * 64;
}

#ifdef HEDDLE_DEVICE
#include "run/cpu_page.h"

/* Where one part adds to. */
struct target {
    real *y;
    unsigned char *touched; /* NULL: y is ready as it is */
};

static inline struct target scatter_target(const struct product *p, int64_t n, int64_t part)
{
    if (part == 0)
        return (struct target){(real *)p->y, 0}; /* one part alone has no workspace */
    unsigned char *flags = (unsigned char *)p->workspace;
    real *copies = (real *)(flags + (p->parts - 1) * scatter_flags(n));
    return (struct target){copies + (part - 1) * scatter_pages(n) * PAGE,
                           flags + (part - 1) * scatter_flags(n)};
}

/* Makes the page of entry j ready. */
static inline void touch(const struct target *to, int64_t j)
{
    int64_t page = j >> PAGE_SHIFT;
    if (__builtin_expect(!to->touched[page], 0)) {
        memset(to->y + page * PAGE, 0, (size_t)PAGE * sizeof(real));
        to->touched[page] = 1;
    }
}

/* Before anything is added: y = beta y, and no page is touched.  All threads must pass a barrier behind
 * it. */
static inline void scatter_begin(const struct product *p, int64_t n, const struct team *team)
{
    real *y = (real *)p->y;
    const real beta = scalar(p->beta);
    int64_t end = part_begin(n, team->thread + 1, team->threads);
    for (int64_t i = part_begin(n, team->thread, team->threads); i < end; i++)
        scale(&y[i], beta);
    for (int64_t part = 1 + team->thread; part < p->parts; part += team->threads)
        memset(scatter_target(p, n, part).touched, 0, (size_t)scatter_flags(n));
}

/* After everything is added, behind a barrier: the copies go to y, page by page. */
static inline void scatter_end(const struct product *p, int64_t n, const struct team *team)
{
    int64_t pages = scatter_pages(n), last = part_begin(pages, team->thread + 1, team->threads);
    for (int64_t page = part_begin(pages, team->thread, team->threads); page < last; page++) {
        int64_t begin = page * PAGE, end = begin + PAGE < n ? begin + PAGE : n;
        for (int64_t part = 1; part < p->parts; part++) {
            struct target from = scatter_target(p, n, part);
            real *RESTRICT y = (real *)p->y;
            if (from.touched[page])
                for (int64_t i = begin; i < end; i++)
                    y[i] += from.y[i];
        }
    }
}

#else
#include "kernel/kernel.h"

#define SCATTER_MEMORY 4 /* entries of all copies, over entries of the matrix */

/* n is the length of y. */
static inline int64_t scatter_parts(const struct work *w, int64_t n)
{
    int64_t most = 1 + SCATTER_MEMORY * w->product.nnz / (n > 0 ? n : 1);
    return w->device->threads < most ? w->device->threads : most;
}

static inline int64_t scatter_workspace(const struct work *w, int64_t n)
{
    int64_t copy = scatter_pages(n) * PAGE * (int64_t)vector_size(w->value);
    return (w->product.parts - 1) * (scatter_flags(n) + copy);
}

#endif
#endif
