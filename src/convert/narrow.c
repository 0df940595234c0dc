/* SPDX-License-Identifier: MIT
 *
 * narrow: values in fewer bytes, to the last bit.
 *
 * Computes   f64 as f32, f32 as f16 or bf16, and whether every value is such a number.
 * Balance    the values in turns, among as many threads as the device holds; a thread that meets one that is
 *            not such a number goes.
 * Memory     every value is read once and written once, coalesced.
 * Order      integers: the same every run.
 */
/* product.fact: f32 becomes bf16. */
enum { TO_BF16 };

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

#include "matrix/narrow.h"

/* The bits of a value as those of a narrower one, or -1. */
DEVICE int64_t narrower(const struct product *p, elem v)
{
#if NUMBER_OF(elem) == NUMBER_double
    uint64_t bits;
    (void)p;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return narrow_exactly(bits, F64_EXPONENT, F64_FRACTION, F32_EXPONENT, F32_FRACTION);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return p->fact[TO_BF16] ? narrow_exactly(bits, F32_EXPONENT, F32_FRACTION, BF16_EXPONENT, BF16_FRACTION)
                            : narrow_exactly(bits, F32_EXPONENT, F32_FRACTION, F16_EXPONENT, F16_FRACTION);
#endif
}

#if NUMBER_OF(elem) == NUMBER_double
typedef uint32_t narrow_bits;
#else
typedef uint16_t narrow_bits;
#endif

KERNEL(narrow)(struct product p)
{
    narrow_bits *const to = (narrow_bits *)p.y;
    SIMT_ROLLED
    for (int64_t k = simt_global_id(); k < p.nnz; k += simt_global_size()) {
        const int64_t same = narrower(&p, simt_stream((const elem *)p.x + k));
        if (same < 0) {
            simt_atomic_max((int32_t *)p.workspace, 1);
            return;
        }
        if (to)
            to[k] = (narrow_bits)same;
    }
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
