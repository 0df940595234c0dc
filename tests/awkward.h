/* SPDX-License-Identifier: MIT
 *
 * awkward.h: one table of matrices that products go wrong on, each with the bug that it hunts.  Values are
 * small integers, so that any order of summation gives exactly the same result. */
#ifndef TESTS_AWKWARD_H
#define TESTS_AWKWARD_H

#include "kernel/kernel.h"

#define REAL_VARIANTS (VARIANT_f64_o64 + 1) /* the first rows of variants.def: f32 and f64 */
/* For what only moves values: each size of them, and each offset. */
#define MOVED_VARIANTS                                                                                       \
    (1u << VARIANT_f64_i32 | 1u << VARIANT_f32_o64 | 1u << VARIANT_f32_i32 | 1u << VARIANT_c64_o64 |         \
     1u << VARIANT_f16_i32)

struct awkward {
    const char *name, *hunts;
    int64_t rows, cols;
    /* Entries of row i. */
    int64_t (*length)(int64_t i, int64_t rows, int64_t cols);
    /* Column of entry j of row i, out of n; `random` is different for every entry. */
    int64_t (*column)(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random);
};

extern const struct awkward awkward[];
extern const int awkward_count;

/* The matrix, with values -4..4 without 0 (imaginary parts may be); csr_free gives it back. */
heddle_status awkward_make(struct csr *A, const struct awkward *w, heddle_type value, heddle_type offset);

/* The same with values that are not exact: uniform in (-1, 1). */
void awkward_randomise(struct csr *A, uint64_t seed);

/* Per entry of y: the sum of the products in long double (its real part and the other), the sum of their
 * magnitudes, and how many there are.  Written to be obviously right. */
struct exact {
    long double sum, imaginary, magnitude;
    int64_t terms;
};
void awkward_reference(struct exact *y, const struct csr *A, heddle_op op, const void *x);

/* Writes one value of any type. */
void awkward_put(void *p, heddle_type type, int64_t i, double _Complex value);
double _Complex awkward_complex(double re, double im);
/* n entries, integers from -4 to 4 or uniform in (-1, 1), both parts of complex ones; mem_free gives them
 * back. */
void *awkward_vector(int64_t n, heddle_type type, uint64_t seed, int exact);
/* alpha e + beta old; and is `got` a good one?  Small integers must be exact, all else within the error
 * bound. */
struct awkward_scalars {
    double _Complex alpha, beta;
};
double _Complex awkward_want(const struct exact *e, struct awkward_scalars s, double _Complex old);
int awkward_good(double _Complex got, const struct exact *e, struct awkward_scalars s, double _Complex old,
                 heddle_type type, int exact);

/* HEDDLE_TEST_KERNELS="csr_merge csr5": is the kernel one of these?  All are where the variable is not
 * set; a name in it that no kernel has ends the program, which would test nothing. */
int awkward_wants(const char *kernel);

#endif
