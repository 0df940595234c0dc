/* SPDX-License-Identifier: MIT */
#include "plan/run.h"

#include "convert/service.h"

#define VARIANT(name, elem, real, off, value, offset) extern const struct run_functions run_functions__##name;
#include "matrix/variants.def"
#undef VARIANT

const struct run_functions *const run_functions[VARIANT_COUNT] = {
#define VARIANT(name, elem, real, off, value, offset) &run_functions__##name,
#include "matrix/variants.def"
#undef VARIANT
};

static heddle_status scale(const struct work *w, void *y, int64_t n, struct scalars s)
{
    if (w->device->kind == DEVICE_gpu)
        return gpu_scale(w->device, w->value, y, n, s.beta, s.beta_at);
    run_functions[w->variant]->scale(y, n, s.beta, w->device->threads);
    return HEDDLE_OK;
}

heddle_status relayout_run(const struct device *device, heddle_type value, const struct relayout *r)
{
    if (device->kind == DEVICE_gpu)
        return gpu_relayout(device, value, r);
    run_functions[variant_of(value, HEDDLE_I32)]->relayout(r, device->threads);
    return HEDDLE_OK;
}

heddle_status product_run(struct work *w, struct scalars s, const void *x, void *y, int *launched)
{
    struct product *p = &w->product;
    int64_t n = p->transposed ? p->cols : p->rows;
    alpha_put(w, s.alpha, s.alpha_at);
    *launched = (s.alpha_at || scalar_get(p->alpha, w->value) != 0) && p->nnz > 0;
    if (!*launched)
        return scale(w, y, n, s);
    beta_put(w, s.beta, s.beta_at);
    p->x = x;
    p->y = y;
    return w->kernel->launch(w);
}
