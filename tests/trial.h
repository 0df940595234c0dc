/* SPDX-License-Identifier: MIT
 *
 * trial.h: one case of the tests of kernels, on a device of either kind: a matrix in a numeric variant, an
 * operation, vectors with guards around y, and the exact result.  Failures name all of it. */
#ifndef TESTS_TRIAL_H
#define TESTS_TRIAL_H

#include "awkward.h"
#include "plan/plan.h"
#include "test.h"

#define GUARD 8   /* entries before and behind y that must survive */
#define SCALARS 6 /* pairs of them, in `scalars` */
#define ALL_VARIANTS ((1u << VARIANT_COUNT) - 1)
/* Without what shares its offsets with one and its numbers with another: unless there is time. */
#define MOST_VARIANTS                                                                                        \
    (trial_slow() ? ALL_VARIANTS                                                                             \
                  : ALL_VARIANTS & ~(1u << VARIANT_c64_o64 | 1u << VARIANT_f16_o64 |                         \
                                     1u << VARIANT_bf16_o64 | 1u << VARIANT_f32v64_o64))
/* Each type once: for what does not depend on types. */
#define TWO_VARIANTS (1u << VARIANT_f64_i32 | 1u << VARIANT_f32_o64)

extern const struct scalars scalars[SCALARS];           /* real ones */
extern const heddle_type trial_types[VARIANT_COUNT][2]; /* of values and of offsets */

struct trial {
    const char *name; /* of the device */
    const char *kernel, *matrix;
    struct device device;
    struct csr A, on_device; /* in host memory, and the same on the device */
    struct view view;        /* of the latter */
    heddle_op op;
    int64_t n_x, n_y;
    void *x, *y;             /* on the device; y with its guards */
    void *x_here, *y0, *got; /* x; y before; y behind a product, with its guards */
    struct exact *exact;     /* of op(A) x */
    /* Worked out when first asked for, for all kernels: y behind exact products with some pairs of scalars,
     * the results of trial_specials, and the matrix in other storages, as CSC and COO on the device. */
    struct trial_want {
        struct scalars s;
        void *y;
    } want[SCALARS + 2];
    struct exact *special[2];
    struct view other[2];
};

/* Name and device of `t` are set, and its kernel will be. */
void trial_new(struct trial *t, const struct awkward *w, int variant, heddle_op op, int exact);
void trial_free(struct trial *t);

/* Pair i of the scalars that go with its type: complex ones where that is. */
struct scalars trial_scalars(const struct trial *t, int i);
/* The last operation that differs from those before: H of real types is T. */
heddle_op trial_last_op(int variant);

/* Where entry i of a vector lies. */
char *trial_at(const struct trial *t, void *p, int64_t i);
int64_t trial_bytes(const struct trial *t); /* of y with its guards */
/* y0 to y, with NaN instead where y must not be read. */
void trial_set_y(struct trial *t, double _Complex beta);
/* How many entries of `got` are out of their bound, or of its guards changed? */
int64_t trial_wrong(struct trial *t, struct scalars s, int exact);

/* Does bound_new give the kernel or a good reason not to?  NULL: a reason. */
struct bound *trial_bind(struct trial *t);
/* One product with a bound kernel: `got` has the result. */
void trial_multiply(struct trial *t, struct bound *b, struct scalars s);

/* ---- matrices by name ---- */

const struct awkward *trial_matrix(const char *name); /* NULL: there is none */
/* One of them here and on the device, with its look. */
struct trial_pair {
    struct csr here;
    struct view there; /* CSR */
};
void trial_pair_new(struct trial_pair *p, const struct device *d, const char *name);
void trial_pair_free(struct trial_pair *p, const struct device *d);
/* Rows of the entries on the device, as a COO view that shares columns and values. */
struct view trial_as_coo(const struct device *d, const struct view *A);

/* Zeroed double precision on the device. */
void *trial_zeros(const struct device *d, int64_t n);
/* What the immediate products with A ask for. */
struct room trial_room_new(const struct device *d, const struct view *A);
void trial_room_free(const struct device *d, struct room *room);
/* y = op(A) x for a view, by the immediate product or a bound kernel: as many entries wrong. */
int64_t trial_wrong_entries(const struct device *d, const struct view *A, const struct csr *here,
                            heddle_op op, struct bound *b);

/* ---- properties of a kernel, each of which takes a trial ---- */

/* The product is right for the first `pairs` of scalars: exactly, or within the error bound. */
void trial_products(struct trial *t, int exact, int pairs);
/* So it is with every value of every option. */
void trial_options(struct trial *t, int pairs);
/* A matrix that is stored by columns, or as coordinates, is the same matrix. */
void trial_other_storage(struct trial *t, int pairs);
/* Three products of a repeatable kernel are bitwise the same. */
void trial_repeatable(struct trial *t);
/* alpha = 0: x and A are not read, even if they are not there. */
void trial_inputs_not_read(struct trial *t);
/* NaN in a value, and Inf and NaN in x, show in exactly the entries of y that touch them: at the first and
 * last place, which padding would read, in the middle and anywhere. */
void trial_specials(struct trial *t);
/* Arrays and x may begin one element off what the allocation gave, and nothing behind them is read. */
void trial_unaligned(struct trial *t, int pairs);

/* Runs `body` on the devices that HEDDLE_TEST_DEVICES names, or on the emulator with both wave widths. */
void trial_on_devices(void (*body)(const struct device *d));

/* With HEDDLE_SLOW_TESTS=1, as `make check-full` sets it, everything meets everything. */
int trial_slow(void);
/* Of two wave widths a matrix or a case number i meets the one of device d, in turns; unless there is
 * time, some kernels alone are asked for, or other devices are named: those are quick. */
int trial_has_turn(int d, int i);
/* Under AddressSanitizer a product takes four times as long.  Which addresses it touches depends neither
 * on scalars nor, but for their size, on types, so there a test may take fewer of these, unless there is
 * time. */
int trial_brief(void);

#endif
