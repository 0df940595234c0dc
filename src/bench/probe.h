/* SPDX-License-Identifier: MIT
 *
 * probe.h: what the machine can do at best, measured by the same clock and threads as the products: how
 * fast memory is read, and what starting the threads costs.  The buffer it reads also flushes the caches
 * before cold products. */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include "bench/read.h"
#include "run/device.h"

struct probe {
    struct device device;
    struct stopwatch watch; /* of a GPU */
    void *buffer;           /* of a GPU: `words` words */
    int flushes;            /* so many: each writes another byte */
    int threads;            /* of a CPU, like everything below */
    int64_t words;          /* of the buffer; the GPU's too */
    int64_t part;           /* how many of them the read loop takes, from `first` on */
    int64_t first;
    read_loop *loop;        /* the one at work */
    read_loop *from_memory; /* the fastest over the whole buffer; NULL: not known yet */
    double most_gbs;        /* that probe_read_gbs has found so far; the GPU's too */
    uint64_t *data;         /* size words, each thread's share touched by that thread first */
    uint64_t *sums; /* size threads * 8: where the read loops leave their results, so that they are not
                     * optimised away */
};

heddle_status probe_new(struct probe *p, const struct device *device);
void probe_free(struct probe *p);

/* The most that a loop which only reads gets from memory: over the whole buffer, the best of all passes
 * since probe_new, in the number of streams and prefetches that is fastest here. */
double probe_read_gbs(struct probe *p);
double probe_launch_ms(struct probe *p); /* time of an empty parallel region, or of an empty kernel */
/* The host's time for a bare launch of an empty kernel with the argument of every kernel, which does not
 * wait; NaN on the CPU and on the emulator, where a launch is the run itself (probe_has_calls is 0 there). */
double probe_call_us(struct probe *p);
int probe_has_calls(const struct probe *p);
/* The shortest time to read `bytes` again and again, in the fastest of several loops, with all threads or
 * with one: from the cache that they stay in, or from memory.  What a product that reads as many bytes
 * cannot go below. */
double probe_again_ms(struct probe *p, double bytes);
void probe_flush(struct probe *p); /* writes more than the caches hold: nothing else stays in them */

#endif
