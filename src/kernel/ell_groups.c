/* SPDX-License-Identifier: MIT
 *
 * ell_groups: several threads a row of a padded matrix, where rows are few and wide.
 *
 * Computes   y = alpha A x + beta y,  A in ELL.
 * Source     ginkgo-race-2020 Alg. 4; how many threads a row has is Alg. 5 (groups=0) or the option.
 *            There partial sums meet by atomic additions, here in shared memory and, where several blocks
 *            share a row, in the workspace.
 * Balance    a block of 512 threads has `groups` groups: thread t of each takes the same row, entries g, g
 *            + groups, ... belong to group g.  With 16 groups a row may be shared by several blocks, so
 *            that few rows still fill the GPU.
 * Memory     neighbouring threads read neighbouring rows, as in ell: coalesced and streamed, unlike lanes
 *            that share a row.  A thread stops at the first padding that it meets.
 * Wins       short and wide matrices: fewer rows than the GPU has threads.
 * Loses      where ell does: padding.  With enough rows to fill the GPU it is ell.
 * Order      partial sums in a fixed order: bitwise repeatable, for the same GPU and options.
 */
#define BLOCK 512
#define GROUPS_MOST 16

/* What Alg. 5 decides, in product.fact. */
enum { GROUPS, BLOCKS /* that share a row */ };

#ifdef HEDDLE_DEVICE
#include "kernel/ell.h"

/* Block b does part b % blocks of a tile of rows.  Threads count for more than the last registers do. */
KERNEL_RESIDENT(ell_groups, BLOCK, sizeof(real) == 4 ? 3 : 2)(struct product p)
{
    SHARED(real, partial, BLOCK);
    const int groups = (int)p.fact[GROUPS], blocks = (int)p.fact[BLOCKS], height = BLOCK / groups;
    const int t = simt_thread_id(), group = t / height;
    const int64_t tiles = (p.rows + height - 1) / height;
    for (int64_t b = simt_block_id(); b < tiles * blocks; b += simt_grid_size()) {
        const int part = (int)(b % blocks);
        const int64_t i = b / blocks * height + t % height;
        real sum = i < p.rows ? ell_sum(&p, i, part * groups + group, blocks * groups) : 0;
        if (groups > 1) {
            partial[t] = sum;
            simt_sync();
            for (int g = 1; group == 0 && g < groups; g++)
                sum += partial[g * height + t];
            simt_sync();
        }
        if (group == 0 && i < p.rows) {
            if (blocks > 1)
                ((real *)p.workspace)[part * p.rows + i] = sum;
            else
                store_sum(&p, i, sum);
        }
    }
}

/* The blocks that share a row have left their sums in the workspace. */
KERNEL(ell_groups_sum)(struct product p)
{
    const real *partial = (const real *)p.workspace;
    simt_after_previous();
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        real sum = 0;
        for (int64_t part = 0; part < p.fact[BLOCKS]; part++)
            sum += simt_readonly(partial + part * p.rows + i);
        store_sum(&p, i, sum);
    }
}

#else
#include "kernel/kernel.h"

static const struct option options[] = {
    {"groups", 0, VALUES(0, 1, 2, 4, 8, 16)},
    {0},
};

static const char *const entries[] = {"ell_groups", "ell_groups_sum", NULL};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Alg. 5: one thread a row unless a row is wide in comparison with the number of rows. */
#define WIDE_ROWS 100
static int64_t groups_of(const struct work *w)
{
    int64_t groups = 1, width = w->product.dim[ELL_WIDTH];
    if (w->option[0])
        return w->option[0];
    while (WIDE_ROWS * width > w->product.rows && groups < GROUPS_MOST && groups < width)
        groups *= 2;
    return groups;
}

static int64_t blocks_of(const struct work *w)
{
    int64_t width = w->product.dim[ELL_WIDTH], waves;
    if (w->option[0] || w->product.rows == 0 || groups_of(w) < GROUPS_MOST)
        return 1;
    waves = (int64_t)gpu_info_of(w->device->gpu)->multiprocessors * gpu_arch(w->device->gpu)->waves;
    int64_t blocks = least(width / GROUPS_MOST, waves / w->product.rows);
    return blocks > 1 ? blocks : 1;
}

static int64_t workspace(const struct work *w)
{
    int64_t blocks = blocks_of(w);
    return blocks > 1 ? blocks * w->product.rows * (int64_t)type_size(w->value) : 0;
}

static heddle_status launch(const struct work *w)
{
    struct work told = *w;
    int64_t groups = groups_of(w), blocks = blocks_of(w), height = BLOCK / groups;
    told.product.fact[GROUPS] = groups;
    told.product.fact[BLOCKS] = blocks;
    int64_t grid = (w->product.rows + height - 1) / height * blocks;
    return gpu_run_pair(&told, (struct launch){"ell_groups", gpu_grid(w, grid, BLOCK), BLOCK, 0},
                        gpu_over(w, "ell_groups_sum", blocks > 1 ? w->product.rows : 0));
}

const struct kernel ell_groups = {
    .name = "ell_groups",
    .id = KERNEL_ell_groups,
    .format = FORMAT_ell,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "ginkgo-race-2020 Alg. 4 and 5",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .workspace = workspace,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
