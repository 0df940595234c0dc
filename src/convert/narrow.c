/* SPDX-License-Identifier: MIT
 *
 * narrow: values in fewer bytes, to the last bit.
 *
 * Computes   f64 as f32, f32 as f16 or bf16, and whether every value is such a number.
 * Balance    the values in turns, among as many threads as the device holds; a thread that meets one that is
 *            not such a number goes.
 * Memory     every value is read once and written once, coalesced.
 * Order      values do not depend on each other: the same every run.
 */
/* product.fact: f32 becomes bf16. */
enum { TO_BF16 };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

#include "matrix/narrow.h"

#if NUMBER_OF(elem) == NUMBER_double
/* Puts a value where a narrower one goes, unless there is nowhere; 0: it is no such number. */
DEVICE int put_narrow(const struct product *p, int64_t k, double v)
{
    const float same = (float)v;
    if (p->y)
        ((float *)p->y)[k] = same;
    return same == v;
}
#else
DEVICE int put_narrow(const struct product *p, int64_t k, float v)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    const int32_t same = p->fact[TO_BF16] ? bf16_exactly(bits) : f16_exactly(bits);
    if (p->y)
        ((uint16_t *)p->y)[k] = (uint16_t)same;
    return same >= 0;
}
#endif

KERNEL(narrow)(struct product p)
{
    int differs = 0;
    SIMT_ROLLED
    for (int64_t k = simt_global_id(); k < p.nnz && !differs; k += simt_global_size())
        differs = !put_narrow(&p, k, simt_stream((const elem *)p.x + k));
    if (differs)
        simt_atomic_max((int32_t *)p.workspace, 1);
}

#else
#include "convert/service.h"

heddle_status gpu_narrow(const struct device *d, int *exact, void *to, heddle_type narrower, const void *val,
                         int64_t n)
{
    heddle_status status;
    int32_t differs = 0;
    const heddle_type value = narrower == F32_F64 ? HEDDLE_F64 : HEDDLE_F32;
    struct work w = {.page = "narrow", .device = d, .variant = variant_of(value, HEDDLE_I32), .value = value};
    w.product = (struct product){.nnz = n, .x = val, .y = to};
    w.product.fact[TO_BF16] = narrower == HEDDLE_BF16;
    TRY(device_alloc(d, &w.product.workspace, sizeof differs));
    TRY(device_fill(d, w.product.workspace, 0, sizeof differs));
    TRY(gpu_run_filling(&w, "narrow", n));
    TRY(device_read(d, &differs, w.product.workspace, sizeof differs));
    *exact = !differs;
done:
    device_free(d, w.product.workspace);
    return status;
}
#endif
