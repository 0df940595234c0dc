/* SPDX-License-Identifier: MIT
 *
 * work.h: one product on its way to a kernel, from the host's side. */
#ifndef RUN_WORK_H
#define RUN_WORK_H

#include "format/format.h"
#include "run/device.h"
#include "run/product.h"

struct kernel;

struct work {
    const struct kernel *kernel; /* NULL on the way to a service (convert/service.h) */
    const char *page;            /* its name */
    const struct device *device;
    enum variant variant;
    heddle_type value;
    int64_t option[OPTIONS_MOST]; /* of the kernel, in the order of its table */
    struct product product;
};

/* Kernels read their scalars as `real`: the type of vectors of a matrix with such values. */
void scalar_put(unsigned char bytes[SCALAR_BYTES], heddle_type value, double _Complex scalar);
double _Complex scalar_get(const unsigned char bytes[SCALAR_BYTES], heddle_type value);
/* alpha or beta of a product: the number, or where kernels find it; NULL: the number. */
void alpha_put(struct work *w, double _Complex alpha, const void *at);
void beta_put(struct work *w, double _Complex beta, const void *at);
const void *beta_at(const struct work *w); /* where beta lies on the device; NULL: it is a number */
/* Is it known that y stays as it is before anything is added to it? */
int beta_is_one(const struct work *w);

#endif
