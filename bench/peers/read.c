/* SPDX-License-Identifier: MIT
 *
 * The machine's own read bandwidth: all threads sum a buffer far larger than the caches, eight vectors at a time. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef double vector __attribute__((vector_size(32)));

/* GB/s, the best of several rounds over `bytes`. */
double peer_read(int64_t bytes, int threads)
{
    int64_t count = bytes / (int64_t)sizeof(vector) / 8 * 8;
    vector *data = aligned_alloc(64, (size_t)count * sizeof *data);
    double best = 0, total = 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < count; i++)
        data[i] = (vector){1, 1, 1, 1};
    for (int round = 0; round < 12; round++) {
        double begin = omp_get_wtime();
#pragma omp parallel num_threads(threads) reduction(+ : total)
        {
            vector sum[8] = {{0}};
            int64_t from = count / 8 * omp_get_thread_num() / threads * 8;
            int64_t to = count / 8 * (omp_get_thread_num() + 1) / threads * 8;
            for (int64_t i = from; i < to; i += 8)
                for (int k = 0; k < 8; k++)
                    sum[k] += data[i + k];
            for (int k = 0; k < 8; k++)
                total += sum[k][0] + sum[k][1] + sum[k][2] + sum[k][3];
        }
        double rate = (double)count * sizeof(vector) / (omp_get_wtime() - begin) / 1e9;
        best = rate > best ? rate : best;
    }
    free(data);
    return total > 0 ? best : 0;
}
