/* SPDX-License-Identifier: MIT */
#include "run/work.h"

#include <string.h>

void scalar_put(unsigned char bytes[SCALAR_BYTES], heddle_type type, double value)
{
    float single = (float)value;
    if (type == HEDDLE_F64)
        memcpy(bytes, &value, sizeof value);
    else
        memcpy(bytes, &single, sizeof single);
}

double scalar_get(const unsigned char bytes[SCALAR_BYTES], heddle_type type)
{
    double value;
    float single;
    memcpy(&value, bytes, sizeof value);
    memcpy(&single, bytes, sizeof single);
    return type == HEDDLE_F64 ? value : (double)single;
}

int beta_is_one(const struct work *w)
{
    return !w->product.beta_at && scalar_get(w->product.beta, w->value) == 1;
}
