/* SPDX-License-Identifier: MIT */
#include "subject/fill.h"

#include <math.h>

#include "base/thread.h"
#include "matrix/matrix.h"

struct vector_fill {
    void *x;
    heddle_type type;
    int64_t n;
    double (*at)(const struct vector_fill *f, int64_t i);
    double value;
    const void *from;
    heddle_type from_type;
};

static double random_at(const struct vector_fill *f, int64_t i)
{
    (void)f;
    uint64_t z = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)(z >> 11) * 0x1p-52 - 1;
}

static double value_of(const struct vector_fill *f, int64_t i)
{
    (void)i;
    return f->value;
}

static double from_at(const struct vector_fill *f, int64_t i)
{
    return value_at(f->from, f->from_type, i);
}

static void work(void *argument, const struct team *team)
{
    const struct vector_fill *f = argument;
    int64_t end = part_begin(f->n, team->thread + 1, team->threads);
    for (int64_t i = part_begin(f->n, team->thread, team->threads); i < end; i++) {
        if (f->type == HEDDLE_F64)
            ((double *)f->x)[i] = f->at(f, i);
        else
            ((float *)f->x)[i] = (float)f->at(f, i);
    }
}

void fill_random(void *x, heddle_type type, int64_t n)
{
    team_run(threads_default(), work, &(struct vector_fill){.x = x, .type = type, .n = n, .at = random_at});
}

void fill_value(void *x, heddle_type type, int64_t n, double value)
{
    team_run(threads_default(), work,
             &(struct vector_fill){.x = x, .type = type, .n = n, .at = value_of, .value = value});
}

void fill_nan(void *x, heddle_type type, int64_t n)
{
    fill_value(x, type, n, NAN);
}

void fill_converted(void *x, heddle_type type, const void *from, heddle_type from_type, int64_t n)
{
    team_run(threads_default(), work,
             &(struct vector_fill){
                 .x = x, .type = type, .n = n, .at = from_at, .from = from, .from_type = from_type});
}
