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

int beta_is_one(const struct work *w)
{
    return !w->product.beta_at && scalar_get(w->product.beta, w->value) == 1;
}
