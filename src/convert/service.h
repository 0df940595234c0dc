/* SPDX-License-Identifier: MIT
 *
 * service.h: what the pages of services.def do, called from host code.  All arrays lie in the memory of
 * the GPU `d`; what must be asked on either kind of device is in convert.h. */
#ifndef CONVERT_SERVICE_H
#define CONVERT_SERVICE_H

#include "run/launch.h"

/* What a page is given that moves the entries of a CSR matrix, whatever they are. */
static inline struct work work_moving(const char *page, const struct device *d, const struct csr *A)
{
    return (struct work){
        .page = page,
        .device = d,
        .variant = moved_variant(A->value, A->offset),
        .value = A->value,
        .product = {.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .array = {A->row_ptr, A->col, A->val}}};
}

/* scale: y = beta y, n entries of a vector for a matrix with such values; beta = 0 writes zeros and reads
 * nothing; beta_at, where that is not NULL, is where beta lies on the device instead.  Does not wait. */
heddle_status gpu_scale(const struct device *d, heddle_type value, void *y, int64_t n, double _Complex beta,
                        const void *beta_at);
/* Finds it ahead, as kernel_load does for kernels; nothing to do for a CPU. */
heddle_status gpu_scale_load(const struct device *d, heddle_type value);

/* relayout: `vectors` vectors of n entries, to = from + beta to; without `from`, to = beta to.  beta = 0
 * reads nothing of `to`; beta_at as above.  Does not wait. */
struct relayout {
    int64_t n, vectors;
    const void *from;
    void *to;
    struct steps from_step, to_step;
    double _Complex beta;
    const void *beta_at;
};
heddle_status gpu_relayout(const struct device *d, heddle_type value, const struct relayout *r);
heddle_status gpu_relayout_load(const struct device *d, heddle_type value);

/* check: as csr_validate and coo_validate, with the same texts.  Waits. */
heddle_status gpu_csr_validate(const struct device *d, const struct csr *A);
heddle_status gpu_coo_validate(const struct device *d, const struct coo *A);

/* read_all: reads a buffer (of zeros, aligned to 16 bytes) once; with 0 bytes it is an empty launch.  Does
 * not wait. */
heddle_status gpu_read_all(const struct device *d, void *buffer, int64_t bytes);

/* narrow: as values_narrow of matrix.h, whose answer is *exact.  Waits. */
heddle_status gpu_narrow(const struct device *d, int *exact, void *to, heddle_type narrower, const void *val,
                         int64_t n);

/* row_lengths: waits. */
heddle_status gpu_row_lengths(const struct device *d, heddle_lengths *lengths, const struct csr *A);

/* scan: p[i] becomes the sum of p[0] to p[i], for n numbers.  Waits. */
heddle_status gpu_scan(const struct device *d, int64_t *p, int64_t n);

/* What the size of a format depends on (format.h); HEDDLE_NO_KERNEL for a matrix that it cannot hold.
 * These wait. */
heddle_status gpu_sell_count(const struct device *d, struct counted *c, const struct csr *A, int64_t height,
                             int64_t window);
heddle_status gpu_hyb_count(const struct device *d, struct counted *c, const struct csr *A,
                            const int64_t *option);
/* Leaves what it has found in *keep, unless that is NULL, for gpu_csr_to_tmpl; gpu_tmpl_forget gives it
 * back, and takes NULL. */
heddle_status gpu_tmpl_count(const struct device *d, struct counted *c, const struct csr *A, int64_t height,
                             int valued, struct templates **keep); /* valued: for tmplv */
void gpu_tmpl_forget(const struct device *d, struct templates *t);
heddle_status gpu_bundle_count(const struct device *d, struct counted *c, const struct csr *A,
                               int64_t height);
heddle_status gpu_csr16_count(const struct device *d, struct counted *c, const struct csr *A);

/* Conversions of a valid matrix; arrays of the result are allocated, nothing is waited for. */
/* row: the row of every entry. */
heddle_status gpu_csr_to_coo(const struct device *d, int32_t *row, const struct csr *A);
/* B's row_ptr from rows that ascend. */
heddle_status gpu_coo_to_csr(const struct device *d, struct csr *B, const int32_t *row);
/* Also ellr. */
heddle_status gpu_csr_to_ell(const struct device *d, struct stored *s, const struct csr *A);
/* csr_transpose: the whole of B; has scratch memory about the size of A, and waits. */
heddle_status gpu_csr_transpose(const struct device *d, struct csr *B, const struct csr *A);
heddle_status gpu_csr_to_csr5(const struct device *d, struct stored *s, const struct csr *A);
/* New values; the pattern is there. */
heddle_status gpu_csr_to_tmpl_values(const struct device *d, struct stored *s, const struct csr *A);
heddle_status gpu_csr_to_bundle_values(const struct device *d, struct stored *s, const struct csr *A);
/* These wait. */
heddle_status gpu_csr_to_bundle(const struct device *d, struct stored *s, const struct csr *A);
heddle_status gpu_csr_to_tmpl(const struct device *d, struct stored *s, const struct csr *A,
                              struct templates *kept); /* NULL: looks for them */
heddle_status gpu_csr_to_sell(const struct device *d, struct stored *s, const struct csr *A);
heddle_status gpu_csr_to_hyb(const struct device *d, struct stored *s, const struct csr *A);
heddle_status gpu_csr_to_csr16(const struct device *d, struct stored *s, const struct csr *A);

#endif
