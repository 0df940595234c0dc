/* SPDX-License-Identifier: MIT
 *
 * everything: each operation of simt.h once, in kernels that write down what they got.  tests/test_emu.c
 * knows what that must be; the same page is compiled by nvcc and clang, to show that the three dialects
 * have the same words.
 *
 * p.y receives p.rows numbers a thread (int64_t, or real for what is computed in it), p.x gives p.nnz
 * values. */
#ifdef HEDDLE_DEVICE
#include "run/product.h"
#include "simt/collective.h"

DEVICE int64_t *results(struct product p)
{
    return (int64_t *)p.y + simt_global_id() * p.rows;
}

KERNEL_UP_TO(everything_where, 1024)(struct product p)
{
    int64_t *y = results(p);
    y[0] = simt_thread_id();
    y[1] = simt_block_id();
    y[2] = simt_block_size();
    y[3] = simt_grid_size();
    y[4] = simt_global_id();
    y[5] = simt_global_size();
    y[6] = simt_lane();
    y[7] = simt_wave_id();
    y[8] = simt_waves();
    y[9] = WAVE;
    y[10] = (int64_t)simt_lanes_below();
}

/* The four shuffles of one value in groups of p.cols lanes, as each type sees them. */
KERNEL_UP_TO(everything_shuffles, 1024)(struct product p)
{
    int64_t *y = results(p);
    int lanes = (int)p.cols, by = (int)p.nnz;
    int32_t i32 = -1000 - simt_thread_id();
    uint32_t u32 = 4000000000u + (uint32_t)simt_thread_id();
    int64_t i64 = -5000000000 - simt_thread_id();
    uint64_t u64 = 5000000000u + (uint64_t)simt_thread_id();
    float f32 = 0.5f + (float)simt_thread_id();
    double f64 = 0.25 + simt_thread_id();
    y[0] = simt_shfl(i32, by, lanes);
    y[1] = simt_shfl_up(i32, by, lanes);
    y[2] = simt_shfl_down(i32, by, lanes);
    y[3] = simt_shfl_xor(i32, by, lanes);
    y[4] = (int64_t)simt_shfl(u32, by, lanes);
    y[5] = simt_shfl_up(i64, by, lanes);
    y[6] = (int64_t)simt_shfl_down(u64, by, lanes);
    y[7] = (int64_t)(4 * simt_shfl_xor(f32, by, lanes));
    y[8] = (int64_t)(4 * simt_shfl(f64, by, lanes));
    /* Groups may be at different places: this one goes round as often as its number says. */
    int64_t sum = 0;
    for (int i = 0; i <= simt_lane() / lanes; i++)
        sum += simt_shfl(i32, i, lanes);
    y[9] = sum;
}

KERNEL_UP_TO(everything_votes, 1024)(struct product p)
{
    int64_t *y = results(p);
    int third = simt_thread_id() % 3 == 0;
    y[0] = (int64_t)simt_ballot(third);
    y[1] = simt_any(simt_thread_id() == 1);
    y[2] = simt_any(0);
    y[3] = simt_all(simt_thread_id() >= 0);
    y[4] = simt_all(third);
    y[5] = simt_popc(simt_ballot(third) & simt_lanes_below());
    y[6] = simt_ffs((uint64_t)simt_thread_id() << 20);
    y[7] = simt_clz((uint64_t)simt_thread_id());
    simt_wave_sync();
    y[8] = simt_ffs(simt_ballot(simt_lane() >= 5));
}

/* p.array[0]: eight int64_t of global memory, zero before. */
KERNEL_UP_TO(everything_atomics, 1024)(struct product p)
{
    SHARED(int64_t, counter, 8);
    uint64_t *global = (uint64_t *)p.array[0];
    if (simt_thread_id() < 8)
        counter[simt_thread_id()] = 0;
    simt_sync();
    int t = simt_thread_id();
    simt_atomic_add((int32_t *)counter, 1);
    simt_atomic_add((float *)(counter + 1), 0.5f);
    simt_atomic_add((double *)(counter + 2), 0.5);
    simt_atomic_add_cas((real *)(counter + 3), (real)0.25);
    simt_atomic_max(counter + 4, (int64_t)t);
    simt_atomic_min((int32_t *)(counter + 5), -t);
    simt_atomic_or((uint32_t *)(counter + 6), 1u << (t & 31));
    while (simt_atomic_cas((uint32_t *)(counter + 7), (uint32_t)0, (uint32_t)0) != 0)
        ;
    while (simt_atomic_load((int32_t *)counter) < 1) /* one's own */
        ;
    simt_sync();
    if (t == 0) {
        simt_atomic_add(global, (uint64_t) * (int32_t *)counter);
        simt_atomic_add((float *)(global + 1), *(float *)(counter + 1));
        simt_atomic_add((double *)(global + 2), *(double *)(counter + 2));
        simt_atomic_add_cas((real *)(global + 3), *(real *)(counter + 3));
        simt_atomic_max((int64_t *)global + 4, counter[4]);
        simt_atomic_min((int32_t *)(global + 5), *(int32_t *)(counter + 5));
        simt_atomic_or(global + 6, (uint64_t) * (uint32_t *)(counter + 6));
        simt_atomic_exchange((int64_t *)global + 7, (int64_t)1 + simt_grid_size());
    }
}

/* Sums of p.x[t], pairs and fours from any place on, into three sums a thread. */
KERNEL_UP_TO(everything_loads, 1024)(struct product p)
{
    const real *x = (const real *)p.x;
    real *y = (real *)p.y + 3 * simt_global_id();
    int64_t k = simt_global_id();
    real two[2], four[4];
    y[0] = simt_readonly(x + k) + simt_stream(x + k);
    simt_load2(two, x + k);
    y[1] = two[0] + 10 * two[1];
    simt_stream2(two, x + k);
    y[1] += 100 * two[0] + 1000 * two[1];
    simt_load4(four, x + k);
    y[2] = four[0] + 2 * four[1] + 3 * four[2] + 4 * four[3];
    simt_stream4(four, x + k);
    y[2] += 5 * four[0] + 6 * four[1] + 7 * four[2] + 8 * four[3];
    /* The other types that have loads. */
    idx column[4];
    off offset[2];
    simt_load4(column, (const idx *)p.array[0] + k);
    simt_load2(offset, (const off *)p.array[1] + k);
    y[2] += (real)(column[3] + simt_stream((const idx *)p.array[0] + k) + offset[1] +
                   simt_readonly((const off *)p.array[1] + k));
}

/* Waves reduce, scan and scan by segments in groups of p.cols lanes; the block does so too. */
KERNEL_UP_TO(everything_together, 1024)(struct product p)
{
    int64_t *y = results(p);
    int t = simt_thread_id(), lanes = (int)p.cols;
    int64_t total, total_again;
    y[0] = (int64_t)wave_sum((real)t, lanes);
    y[1] = wave_max_int(t, lanes);
    y[2] = wave_scan_long(t, lanes);
    y[3] = (int64_t)wave_scan_before((real)t, lanes);
    y[4] = (int64_t)wave_segment_scan((real)t, t % 5 == 0, lanes);
    y[5] = (int64_t)block_sum((real)t);
    y[6] = block_sum_long(2 * t) + block_sum_long(t);
    y[7] = block_max_int(t == 3 ? 5000 : -t);
    y[8] = block_scan_before_long(t, &total);
    y[9] = total + block_scan_before_long(1, &total_again);
    y[10] = (int64_t)wave_max((real)-t, lanes) + wave_sum_int(1, lanes);
    y[11] = total_again + wave_segment_scan_int(1, 0, lanes) + wave_scan_before_int(1, lanes);
}

/* Dynamic shared memory turns the block's values around. */
KERNEL_BOUND(everything_dynamic, 512)(struct product p)
{
    SHARED_DYNAMIC(real, turn);
    int t = simt_thread_id(), n = simt_block_size();
    const real *x = (const real *)p.x;
    turn[t] = x[simt_global_id()];
    simt_sync();
    ((real *)p.y)[simt_global_id()] = turn[n - 1 - t];
}

/* Where in p.array[0] (ascending) does each of 0, 1, 2, ... stand? */
KERNEL_UP_TO(everything_search, 1024)(struct product p)
{
    int64_t *y = results(p);
    y[0] = search_above((const off *)p.array[0], p.cols, simt_global_id());
}
#endif
