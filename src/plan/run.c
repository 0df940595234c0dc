/* SPDX-License-Identifier: MIT */
#include "plan/run.h"

#include <string.h>

#define VARIANT(name, real, off, value, offset) extern const struct run_functions run_functions__##name;
#include "matrix/variants.def"
#undef VARIANT

const struct run_functions *const run_functions[VARIANT_COUNT] = {
#define VARIANT(name, real, off, value, offset) &run_functions__##name,
#include "matrix/variants.def"
#undef VARIANT
};

/* Kernels read their scalars as `real`. */
static void put_scalar(unsigned char bytes[SCALAR_BYTES], heddle_type type, double value)
{
    float single = (float)value;
    if (type == HEDDLE_F64)
        memcpy(bytes, &value, sizeof value);
    else
        memcpy(bytes, &single, sizeof single);
}

heddle_status product_run(struct work *w, struct scalars s, const void *x, void *y, int *launched)
{
    struct product *p = &w->product;
    int64_t n = p->transposed ? p->cols : p->rows;
    double alpha = w->value == HEDDLE_F64 ? s.alpha : (double)(float)s.alpha;
    *launched = alpha != 0 && p->nnz > 0;
    if (!*launched) {
        run_functions[w->variant]->scale(y, n, s.beta, w->device->threads);
        return HEDDLE_OK;
    }
    put_scalar(p->alpha, w->value, s.alpha);
    put_scalar(p->beta, w->value, s.beta);
    p->x = x;
    p->y = y;
    return w->kernel->launch(w);
}
