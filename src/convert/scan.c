/* SPDX-License-Identifier: MIT
 *
 * scan: running sums.
 *
 * Computes   p[i] = p[0] + ... + p[i], in place.
 * Balance    tiles of TILE numbers, a block each; one block sums up the tiles; then every number is told
 *            what stands before its tile.  Blocks never wait for blocks, so these are three launches, or
 *            one where there is one tile.
 * Memory     every number is read and written twice, coalesced.
 * Order      integers: the same every run.
 */
#define BLOCK 256
#define TILE (8 * BLOCK)

#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"
#include "simt/collective.h"

/* Running sums of p[0..n) by the whole block; returns the sum of all. */
DEVICE int64_t scan_by_block(int64_t *p, int64_t n)
{
    int64_t sum = 0;
    for (int64_t first = 0; first < n; first += simt_block_size()) {
        const int64_t i = first + simt_thread_id(), v = i < n ? p[i] : 0;
        int64_t total;
        const int64_t before = block_scan_before_long(v, &total);
        if (i < n)
            p[i] = sum + before + v;
        sum += total;
    }
    return sum;
}

/* The sums go to the workspace. */
KERNEL_BOUND(scan_tiles, BLOCK)(struct product p)
{
    const int64_t tiles = (p.rows + TILE - 1) / TILE;
    for (int64_t tile = simt_block_id(); tile < tiles; tile += simt_grid_size()) {
        const int64_t first = tile * TILE;
        const int64_t sum =
            scan_by_block((int64_t *)p.y + first, p.rows - first < TILE ? p.rows - first : TILE);
        if (simt_thread_id() == 0)
            ((int64_t *)p.workspace)[tile] = sum;
    }
}

KERNEL_BOUND(scan_sums, BLOCK)(struct product p)
{
    scan_by_block((int64_t *)p.workspace, (p.rows + TILE - 1) / TILE);
}

KERNEL(scan_add)(struct product p)
{
    const int64_t *sum = (const int64_t *)p.workspace;
    int64_t *to = (int64_t *)p.y;
    for (int64_t i = TILE + simt_global_id(); i < p.rows; i += simt_global_size())
        to[i] += simt_readonly(sum + i / TILE - 1);
}

#else
#include "convert/service.h"

heddle_status gpu_scan(const struct device *d, int64_t *p, int64_t n)
{
    heddle_status status;
    int64_t tiles = (n + TILE - 1) / TILE;
    struct work w = {.page = "scan", .device = d, .variant = VARIANT_f32_i32, .value = HEDDLE_F32};
    if (n == 0)
        return HEDDLE_OK;
    w.product = (struct product){.rows = n, .y = p};
    TRY(device_alloc(d, &w.product.workspace, tiles * (int64_t)sizeof *p));
    TRY(gpu_run(&w, "scan_tiles", gpu_grid(&w, tiles, BLOCK), BLOCK, 0));
    if (tiles > 1) {
        TRY(gpu_run(&w, "scan_sums", 1, BLOCK, 0));
        TRY(gpu_run_over(&w, "scan_add", n - TILE));
    }
    TRY(device_sync(d));
done:
    device_free(d, w.product.workspace);
    return status;
}
#endif
