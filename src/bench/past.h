/* SPDX-License-Identifier: MIT
 *
 * past.h: runs that were measured before, read from files of records.  A bench goes on where its file
 * ends, and two files are compared.  Lines of other kinds are passed over, lines that are no records at
 * all are counted. */
#ifndef BENCH_PAST_H
#define BENCH_PAST_H

#include "bench/candidate.h"
#include "bench/measure.h"

struct past_run {
    char *text; /* owned: the line that the strings point into */
    const char *version, *device, *isa, *matrix, *origin, *kernel;
    heddle_type value;
    heddle_op op;
    struct vector_group vectors;
    int threads;
    int verified, skipped;
    struct timing warm, cold; /* repetitions 0: not measured */
    int64_t line;             /* counted over all files */
};

struct past {
    struct past_run *run; /* sorted by what was measured, later lines behind earlier ones */
    int64_t count, capacity;
    char **matrix; /* size matrices: origins that are described; sorted */
    int64_t matrices, matrix_capacity;
    int64_t lines, broken;
    int64_t foreign; /* the first line, from 1, that is no record, nor at the end of the file the beginning
                      * of one; 0: none */
    int64_t whole;   /* bytes of the file up to the end of its last whole line */
};

/* Adds the records of a file.  A last line without its end, which a killed run leaves behind, is passed over.
 * HEDDLE_FILE_ERROR when it cannot be read. */
heddle_status past_read(struct past *p, const char *path);
void past_free(struct past *p);

/* The last run of a matrix (by its origin), kernel, type, operation and number of vectors on a device; NULL
 * when there is none. */
const struct past_run *past_find(const struct past *p, const struct past_run *what);
int past_describes(const struct past *p, const char *origin);

/* By device, origin, type, operation, vectors and kernel: 0 when both measured the same. */
int past_order(const struct past_run *a, const struct past_run *b);

#endif
