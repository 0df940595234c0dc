/* SPDX-License-Identifier: MIT */
#include "matrix/narrow.h"

#include <stdatomic.h>

#include "base/thread.h"
#include "matrix/matrix.h"

#define PARTS 64

heddle_type narrower_type(heddle_type value, int i)
{
    if (value == HEDDLE_F64 && i == 0)
        return F32_F64;
    if (value == HEDDLE_F32 && i < 2)
        return i == 0 ? HEDDLE_F16 : HEDDLE_BF16;
    return HEDDLE_TYPE_DEFAULT;
}

struct value_narrowing {
    void *to;
    heddle_type narrower;
    const void *val;
    int64_t n;
    atomic_int differs;
};

static int narrow_doubles(const struct value_narrowing *w, int64_t begin, int64_t end)
{
    const double *val = w->val;
    float *to = w->to;
    for (int64_t k = begin; k < end; k++) {
        const float same = (float)val[k];
        if (same != val[k])
            return 0;
        if (to)
            to[k] = same;
    }
    return 1;
}

static int narrow_floats(const struct value_narrowing *w, int64_t begin, int64_t end)
{
    const uint32_t *bits = w->val;
    uint16_t *to = w->to;
    for (int64_t k = begin; k < end; k++) {
        const int32_t same = w->narrower == HEDDLE_F16 ? f16_exactly(bits[k]) : bf16_exactly(bits[k]);
        if (same < 0)
            return 0;
        if (to)
            to[k] = (uint16_t)same;
    }
    return 1;
}

static void narrow_part(void *argument, int part)
{
    struct value_narrowing *w = argument;
    const int64_t begin = part_begin(w->n, part, PARTS), end = part_begin(w->n, part + 1, PARTS);
    if (atomic_load(&w->differs))
        return;
    if (!(w->narrower == F32_F64 ? narrow_doubles : narrow_floats)(w, begin, end))
        atomic_store(&w->differs, 1);
}

int values_narrow(void *to, heddle_type narrower, const void *val, int64_t n)
{
    struct value_narrowing w = {.to = to, .narrower = narrower, .val = val, .n = n};
    parts_run(PARTS, narrow_part, &w);
    return !atomic_load(&w.differs);
}
