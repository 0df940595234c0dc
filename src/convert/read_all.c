/* SPDX-License-Identifier: MIT
 *
 * read_all: reads a buffer once, as fast as the memory gives it away, and does nothing else.  What
 * products are measured against: the floor of a product is its bytes over this bandwidth.
 *
 * Computes   nothing: a sum that is written only if it has a value that the buffer's contents rule out.
 * Balance    a grid that fills the device, each thread in strides of the grid.
 * Memory     coalesced streaming loads of four words, two of them in flight a thread.
 * Order      no result.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* rows: groups of four `real`; x: the buffer; y: one number that is never written. */
KERNEL(read_all)(struct product p)
{
    const real *x = (const real *)p.x;
    int64_t step = simt_global_size(), i = simt_global_id();
    real a[4], b[4], sum = 0;
    for (; i + step < p.rows; i += 2 * step) {
        simt_stream4(a, x + 4 * i);
        simt_stream4(b, x + 4 * (i + step));
        sum += a[0] + a[1] + a[2] + a[3] + b[0] + b[1] + b[2] + b[3];
    }
    if (i < p.rows) {
        simt_stream4(a, x + 4 * i);
        sum += a[0] + a[1] + a[2] + a[3];
    }
    if (sum == (real)-1)
        *(real *)p.y = sum;
}

#else
#include "convert/service.h"

#define BLOCK 256
#define BLOCKS_EACH 16 /* a multiprocessor: as many threads as any of them holds, twice over */

heddle_status gpu_read_all(const struct device *d, void *buffer, int64_t bytes)
{
    struct work w = {
        .page = "read_all", .device = d, .variant = variant_of(HEDDLE_F32, HEDDLE_I32), .value = HEDDLE_F32};
    int64_t groups = bytes / 16, most = (int64_t)gpu_info_of(d->gpu)->multiprocessors * BLOCKS_EACH;
    int64_t blocks = (groups + BLOCK - 1) / BLOCK;
    w.product = (struct product){.rows = groups, .x = buffer, .y = buffer};
    return gpu_run(&w, "read_all", blocks < 1 ? 1 : blocks < most ? blocks : most, BLOCK, 0);
}
#endif
