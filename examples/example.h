/* SPDX-License-Identifier: MIT
 *
 * example.h: what the examples share, so that each of them shows its algorithm and little else.
 *
 * Everything about Heddle here is must() and matrix_from(); the rest is arithmetic on vectors in host
 * memory.  A handle of a GPU takes such vectors too (it copies them there and back), so each example runs
 * on any device.  A solver that is to be fast on a GPU keeps its vectors there: see cg_graph.cu. */
#ifndef EXAMPLE_INCLUDED
#define EXAMPLE_INCLUDED

#include <heddle.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with Heddle's own words if a call failed.  (A library would pass the status on to its
 * caller instead.) */
static inline void must(heddle_status status)
{
    if (status == HEDDLE_OK)
        return;
    fprintf(stderr, "%s: %s\n", heddle_status_name(status), heddle_last_error());
    exit(2);
}

/* The matrix of a file, or of a family: "cant.mtx", "gen:grid3d:n=100".  `heddle gen --list` lists the
 * families. */
static inline heddle_matrix *matrix_from(heddle *h, const char *source, heddle_type value)
{
    heddle_matrix *A;
    if (strncmp(source, "gen:", 4) == 0)
        must(heddle_generate(&A, h, source + 4, value));
    else
        must(heddle_read(&A, h, source, &(heddle_read_options){.value = value}));
    return A;
}

/* Argument number `which` of the command line, or what is taken without one. */
static inline const char *argument(int argc, char **argv, int which, const char *otherwise)
{
    return argc > which ? argv[which] : otherwise;
}

/* n zeros, to be freed with free(). */
static inline void *zeros(int64_t n, size_t size)
{
    void *v = calloc(n > 0 ? (size_t)n : 1, size);
    if (!v) {
        fprintf(stderr, "there is no memory for a vector of %" PRId64 " numbers\n", n);
        exit(2);
    }
    return v;
}

static inline double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double norm(int64_t n, const double *a)
{
    return sqrt(dot(n, a, a));
}

/* y = y + alpha x */
static inline void add(int64_t n, double alpha, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

/* y = x + beta y */
static inline void add_scaled(int64_t n, const double *x, double beta, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + beta * y[i];
}

#endif
