/* SPDX-License-Identifier: MIT
 *
 * tuning.h: sizes that decide how a file is cut up.  Results never depend on them; tests shrink them so
 * that every boundary is met by a small file, and fuzzers bound the memory.  Not to be changed while a
 * file is being read. */
#ifndef IO_TUNING_H
#define IO_TUNING_H

#include <stdint.h>

struct io_tuning {
    int64_t block;  /* bytes of text that are taken up at a time; two blocks of a compressed file are held */
    int64_t chunk;  /* bytes of a block that one thread parses at a time */
    int64_t items;  /* numbers that one thread formats at a time */
    int64_t memory; /* bytes that a matrix may take before it is refused; 0: what the machine has */
    int threads;    /* 0: threads_default() */
    int large;      /* 1: what is far larger than its file is read, too */
    int xz_program; /* 1: the xz program even where liblzma is built in */
};

extern struct io_tuning io_tuning;

/* Runs work(argument, part) for every part in [0, parts), parts in any order on any thread.  `first`, when
 * not NULL, is run by the calling thread before it takes parts: it overlaps with the work of the others. */
void io_parallel(int64_t parts, void (*work)(void *argument, int64_t part), void (*first)(void *argument),
                 void *argument);

/* Not 0 if `bytes` are more than the machine (or io_tuning.memory) has.  Systems that overcommit grant
 * such requests and end the process when it uses them: asking first turns that into an error with a text. */
int io_too_large(double bytes);

#endif
