/* SPDX-License-Identifier: MIT
 *
 * fill.h: vectors for products, filled in parallel, so that each thread's part lies near it. */
#ifndef SUBJECT_FILL_H
#define SUBJECT_FILL_H

#include "matrix/variant.h"

/* Numbers in [-1, 1) that depend on their position alone: the same vector on every machine and for any
 * number of threads, for f32 the same rounded.  They use all bits of a double, so that products with them
 * are rounded too.  Complex ones have an imaginary part of its own. */
void fill_random(void *x, heddle_type type, int64_t n);
void fill_nan(void *x, heddle_type type, int64_t n);
void fill_value(void *x, heddle_type type, int64_t n, double value);
/* x (of one type) = from (of another), rounded; a real type takes the real parts. */
void fill_converted(void *x, heddle_type type, const void *from, heddle_type from_type, int64_t n);
/* Complex numbers get imaginary parts in [-1, 1) that depend on their real parts alone: a matrix of few
 * distinct values still has as few. */
void fill_imaginary(void *x, heddle_type type, int64_t n);
/* x with what another type would keep of each number. */
void fill_rounded(void *x, heddle_type type, heddle_type to, int64_t n);

#endif
