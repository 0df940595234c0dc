/* SPDX-License-Identifier: MIT */
#include "subject/fill.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "matrix/matrix.h"

struct vector_fill {
    void *x;
    heddle_type type;
    int64_t n;
    double _Complex (*at)(const struct vector_fill *f, int64_t i);
    double value;
    const void *from;
    heddle_type from_type;
};

/* In [-1, 1), by splitmix64. */
static double random_of(uint64_t key)
{
    uint64_t z = (key + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)(z >> 11) * 0x1p-52 - 1;
}

#define IMAGINARY UINT64_C(0xa0761d6478bd642f) /* the keys of imaginary parts are far away */

static double _Complex random_at(const struct vector_fill *f, int64_t i)
{
    double _Complex value = random_of((uint64_t)i);
    if (is_complex(f->type))
        IM(value) = random_of((uint64_t)i ^ IMAGINARY);
    return value;
}

static double _Complex value_of(const struct vector_fill *f, int64_t i)
{
    double _Complex value = f->value;
    (void)i;
    if (isnan(f->value))
        IM(value) = f->value;
    return value;
}

static double _Complex from_at(const struct vector_fill *f, int64_t i)
{
    return value_at(f->from, f->from_type, i);
}

/* Equal numbers get equal imaginary parts. */
static double _Complex imaginary_at(const struct vector_fill *f, int64_t i)
{
    double _Complex value = value_at(f->x, f->type, i);
    const double part = RE(value);
    uint64_t bits;
    memcpy(&bits, &part, sizeof bits);
    IM(value) = random_of(bits ^ IMAGINARY);
    return value;
}

/* What remains of a number in f->from_type. */
static double _Complex rounded_at(const struct vector_fill *f, int64_t i)
{
    double _Complex narrow;
    value_put(&narrow, f->from_type, 0, value_at(f->x, f->type, i));
    return value_at(&narrow, f->from_type, 0);
}

static void work(void *argument, const struct team *team)
{
    const struct vector_fill *f = argument;
    int64_t end = part_begin(f->n, team->thread + 1, team->threads);
    for (int64_t i = part_begin(f->n, team->thread, team->threads); i < end; i++)
        value_put(f->x, f->type, i, f->at(f, i));
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

void fill_imaginary(void *x, heddle_type type, int64_t n)
{
    team_run(threads_default(), work,
             &(struct vector_fill){.x = x, .type = type, .n = n, .at = imaginary_at});
}

void fill_rounded(void *x, heddle_type type, heddle_type to, int64_t n)
{
    team_run(threads_default(), work,
             &(struct vector_fill){.x = x, .type = type, .n = n, .at = rounded_at, .from_type = to});
}
