/* SPDX-License-Identifier: MIT
 *
 * scale: y = beta y, which is all there is to do where alpha is 0 or the matrix has no entries.
 *
 * Computes   y = beta y; zeros, without reading y, when beta = 0.
 * Balance    the entries in turns, among as many threads as the device holds.
 * Memory     y is read (unless beta = 0) and written once, coalesced.
 * Order      bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

KERNEL(scale)(struct product p)
{
    scale_all((real *)p.y, p.rows, beta_of(&p));
}

#else
#include "convert/service.h"
#include "gpu/module.h"

/* Offsets play no part, so the variant with the narrow ones serves both. */
heddle_status gpu_scale_load(const struct device *d, heddle_type value)
{
    struct gpu_function *function;
    return d->kind == DEVICE_cpu
             ? HEDDLE_OK
             : gpu_kernel(d->gpu, &function, "scale", variant_of(vector_type(value), HEDDLE_I32), "scale");
}

heddle_status gpu_scale(const struct device *d, heddle_type value, void *y, int64_t n, double _Complex beta,
                        const void *beta_at)
{
    struct work w = {
        .page = "scale", .device = d, .variant = variant_of(vector_type(value), HEDDLE_I32), .value = value};
    w.product = (struct product){.rows = n, .y = y};
    beta_put(&w, beta, beta_at);
    return beta_is_one(&w) ? HEDDLE_OK : gpu_run_filling(&w, "scale", n);
}
#endif
