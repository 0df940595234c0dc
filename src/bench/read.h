/* SPDX-License-Identifier: MIT
 *
 * read.h: loops that read memory and do nothing else, in several ways.  Which one is fastest depends on
 * the processor and on the level of the memory that the words lie in: whoever wants to know the most that
 * can be read tries all of them. */
#ifndef BENCH_READ_H
#define BENCH_READ_H

#include "base/cpu.h"

#define READ_LOOPS 8

/* A sum of all words, so that no load can be left out. */
typedef uint64_t read_loop(const uint64_t *data, int64_t words);

/* The loops for an instruction set that the processor has. */
read_loop *const *read_loops(enum isa isa);

#endif
