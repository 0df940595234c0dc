/* SPDX-License-Identifier: MIT
 *
 * cpu_page.h: what the device halves of CPU pages share.  They are compiled once per variant and
 * instruction set, with `elem`, `real`, `off`, VARIANT_NAME, REAL_NAME and ISA_NAME defined; where
 * kernels.def says cpu_real, once for all variants with one type of numbers: then VARIANT_NAME is
 * REAL_NAME, and there is no `off`. */
#ifndef RUN_CPU_PAGE_H
#define RUN_CPU_PAGE_H

#include <string.h>

#include "base/thread.h"
#include "matrix/number.h"
#include "run/product.h"

typedef int32_t idx;

#define CPU_PASTE(name, variant, isa) name##__##variant##__##isa
#define CPU_JOIN(name, variant, isa) CPU_PASTE(name, variant, isa)
#define CPU_NAME(name) CPU_JOIN(name, VARIANT_NAME, ISA_NAME)
#define CPU_REAL_NAME(name) CPU_JOIN(name, REAL_NAME, ISA_NAME)

/* CPU_KERNEL(cpu_csr)(const struct product *p, const struct team *team) { ... } defines the device half. */
#define CPU_KERNEL(name) void CPU_NAME(name)

#define RESTRICT __restrict__

static inline real scalar(const unsigned char bytes[SCALAR_BYTES])
{
    real value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* y = alpha sum + beta y, where beta = 0 means that y is not read: it may hold anything. */
static inline void store(real *y, real alpha, real sum, real beta)
{
    *y = beta == 0 ? times(alpha, sum) : times(alpha, sum) + times(beta, *y);
}

/* What an entry with this value brings to a sum: its value, conjugated if the product says so, times x. */
static inline real term(const struct product *p, elem v, real x)
{
    return times(IS_COMPLEX && p->conjugate ? conjugate(widen(v)) : widen(v), x);
}

static inline void scale(real *y, real beta)
{
    *y = beta == 0 ? 0 : times(beta, *y);
}

#ifdef off
/* Where the path through row ends and entries, taken one by one in the order of storage, has made `steps`
 * steps: the number of row ends behind it (steps - result is the number of entries).  A row's entries come
 * before its end. */
static inline int64_t path_row(const off *row_ptr, int64_t rows, int64_t steps)
{
    int64_t low = 0, high = rows < steps ? rows : steps;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)row_ptr[middle + 1] + middle + 1 <= steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#endif

/* What a part found for a row that an earlier part has begun, or will not finish itself; a cache line of
 * its own, which is CARRY_BYTES of workspace. */
struct carry {
    int64_t row; /* -1: nothing */
    real sum;
    char padding[64 - sizeof(int64_t) - sizeof(real)];
};

#endif
