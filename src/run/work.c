/* SPDX-License-Identifier: MIT */
#include "run/work.h"

#include <string.h>

void scalar_put(unsigned char bytes[SCALAR_BYTES], heddle_type value, double _Complex scalar)
{
    c64 widest = 0; /* room for any type, aligned */
    value_put(&widest, vector_type(value), 0, scalar);
    memcpy(bytes, &widest, SCALAR_BYTES);
}

double _Complex scalar_get(const unsigned char bytes[SCALAR_BYTES], heddle_type value)
{
    c64 widest;
    memcpy(&widest, bytes, SCALAR_BYTES);
    return value_at(&widest, vector_type(value), 0);
}

static void put(struct work *w, unsigned char bytes[SCALAR_BYTES], int32_t flag, double _Complex scalar,
                const void *at)
{
    scalar_put(bytes, w->value, scalar);
    w->product.scalars_at &= ~flag;
    if (at) {
        memcpy(bytes, &at, sizeof at);
        w->product.scalars_at |= flag;
    }
}

void alpha_put(struct work *w, double _Complex alpha, const void *at)
{
    put(w, w->product.alpha, ALPHA_AT, alpha, at);
}

void beta_put(struct work *w, double _Complex beta, const void *at)
{
    put(w, w->product.beta, BETA_AT, beta, at);
}

const void *beta_at(const struct work *w)
{
    const void *at = NULL;
    if (w->product.scalars_at & BETA_AT)
        memcpy(&at, w->product.beta, sizeof at);
    return at;
}

int beta_is_one(const struct work *w)
{
    return !beta_at(w) && scalar_get(w->product.beta, w->value) == 1;
}
