/* SPDX-License-Identifier: MIT
 *
 * csr_vector: a group of lanes a row.
 *
 * Computes   y = alpha A x + beta y,  A in CSR.
 * Source     Bell and Garland 2009; CRS(vector) in ellpack-r-2011.  There the group is a whole wave
 *            (lanes=32, or 64 on AMD); the option gives it 2 to 64 lanes, and lanes=0, the default, the
 *            number that suits the mean row length and fills the device.
 * Balance    one row is the unit of work: a group waits for its row, a wave for the longest row of its
 *            groups.  A very long row delays the whole grid.
 * Memory     the lanes of a group read neighbouring val and col, and the groups of a wave neighbouring
 *            rows: coalesced.  A small group comes back for the rest of a cache sector, so val and col are
 *            not streamed past the caches; x is gathered.
 * Wins       rows of similar length, at least about as long as the group.
 * Loses      rows much shorter than the group (idle lanes), power-law rows.
 * Order      fixed tree per row, for the same number of lanes: bitwise repeatable.
 */
#ifdef HEDDLE_DEVICE
#include "run/gpu_page.h"

/* All lanes of a wave stay to the end, a row behind the last being empty.  So the shuffles always have the
 * whole wave, which costs NVIDIA GPUs less than waiting for the lanes of a group; an exchange with a lane
 * that is less than `lanes` away, a power of two, does not leave the group. */
DEVICE void row_of_group(const struct product *p, const int lanes)
{
    const off *RESTRICT row_ptr = (const off *)p->array[CSR_ROW_PTR];
    const idx *RESTRICT col = (const idx *)p->array[CSR_COL];
    const real *RESTRICT val = (const real *)p->array[CSR_VAL];
    const real *RESTRICT x = (const real *)p->x;
    const int lane = simt_lane() % lanes;
    const int64_t row = p->first + (int64_t)((uint64_t)simt_global_id() / (unsigned)lanes);
    real sum = 0;
    if (row < p->rows) {
        const off begin = simt_readonly(row_ptr + row), end = simt_readonly(row_ptr + row + 1);
        const idx *RESTRICT c = col + begin + lane;
        const real *RESTRICT v = val + begin + lane;
        for (off left = end - begin - lane; left > 0; left -= lanes) {
            sum += simt_readonly(v) * simt_readonly(x + simt_readonly(c));
            c += lanes;
            v += lanes;
        }
    }
    for (int by = lanes / 2; by > 0; by /= 2)
        sum += simt_shfl_xor(sum, by, WAVE);
    if (lane == 0 && row < p->rows)
        store_sum(p, row, sum);
}

/* A kernel per width, so that the tree is unrolled. */
KERNEL(csr_vector2)(struct product p)
{
    row_of_group(&p, 2);
}
KERNEL(csr_vector4)(struct product p)
{
    row_of_group(&p, 4);
}
KERNEL(csr_vector8)(struct product p)
{
    row_of_group(&p, 8);
}
KERNEL(csr_vector16)(struct product p)
{
    row_of_group(&p, 16);
}
KERNEL(csr_vector32)(struct product p)
{
    row_of_group(&p, 32);
}
/* Where a wave has only 32 lanes, `applies` keeps everyone from asking for this one. */
KERNEL(csr_vector64)(struct product p)
{
    row_of_group(&p, WAVE);
}

#else
#include "kernel/kernel.h"

static const struct option options[] = {
    {"lanes", 0, VALUES(0, 2, 4, 8, 16, 32, 64)},
    {0},
};

static const char *const entries[] = {"csr_vector2",  "csr_vector4",  "csr_vector8", "csr_vector16",
                                      "csr_vector32", "csr_vector64", NULL};

/* Automatic: the smallest group that is through the mean row in ROUNDS rounds.  Fewer lanes idle at the
 * end of a row, and each has several loads under way.  Measured on an H200: of 2 to 32 lanes, 2 to 4 are
 * best for 22 entries a row, 8 to 16 for 80. Lanes that would stay away altogether cost nothing, so a
 * small matrix takes larger groups and fewer rounds: 16 lanes are best for 13,514 rows of 25 entries, 8 to
 * 16 for 1521 rows of 5. */
#define ROUNDS 8
static int64_t lanes_of(const struct work *w)
{
    const int64_t rows = w->product.rows, mean = w->product.nnz / rows,
                  wave = gpu_info_of(w->device->gpu)->wave;
    int64_t lanes = 2;
    if (w->option[0])
        return w->option[0];
    while (lanes < wave &&
           (lanes * ROUNDS < mean || (lanes < 2 * mean && 2 * lanes * rows <= gpu_threads(w->device->gpu))))
        lanes *= 2;
    return lanes;
}

static heddle_status applies(const struct work *w)
{
    int wave = gpu_info_of(w->device->gpu)->wave;
    if (w->option[0] > wave)
        return fail(HEDDLE_NO_KERNEL, "csr_vector: lanes=%lld, but a wave of this device has %d",
                    (long long)w->option[0], wave);
    return HEDDLE_OK;
}

static heddle_status launch(const struct work *w)
{
    int64_t lanes = lanes_of(w);
    int entry = 0;
    while (2 << entry < lanes)
        entry++;
    return gpu_run_rows(w, entries[entry], lanes);
}

const struct kernel csr_vector = {
    .name = "csr_vector",
    .id = KERNEL_csr_vector,
    .format = FORMAT_csr,
    .ops = OPS_N,
    .device = DEVICE_gpu,
    .source = "Bell and Garland 2009; CRS(vector) in ellpack-r-2011",
    .options = options,
    .repeatable = 1,
    .entries = entries,
    .applies = applies,
    .launch = launch,
    .cost = cost_of_streams,
};
#endif
