/* SPDX-License-Identifier: MIT
 *
 * The machine's own read bandwidth: all threads sum a buffer far larger than the caches, eight vectors at
 * a time.  It takes its turns among the contenders, so that it sees the same machine as they do. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

typedef double vector __attribute__((vector_size(32)));

static vector *data;
static int64_t count;

/* A buffer of `bytes`; returns how many of them are read. */
int64_t peer_read_new(int64_t bytes, int threads)
{
    count = bytes / (int64_t)sizeof(vector) / 8 * 8;
    data = aligned_alloc(64, (size_t)count * sizeof *data);
    if (!data)
        return 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < count; i++)
        data[i] = (vector){1, 1, 1, 1};
    return count * (int64_t)sizeof(vector);
}

double peer_read(int threads)
{
    double total = 0;
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
    return total;
}
