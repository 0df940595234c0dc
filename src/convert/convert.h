/* SPDX-License-Identifier: MIT
 *
 * convert.h: what is asked of a matrix before its products, on either kind of device.  Arrays lie in the
 * memory of the device; on a GPU its kernels do the work, on a CPU the functions of src/matrix and
 * src/format. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "format/format.h"
#include "run/device.h"

/* HEDDLE_OK, or HEDDLE_BAD_MATRIX with the first bad position in the text, the same on every device. */
heddle_status device_csr_validate(const struct device *d, const struct csr *A);
heddle_status device_coo_validate(const struct device *d, const struct coo *A);

heddle_status device_row_lengths(const struct device *d, heddle_lengths *lengths, const struct csr *A);

/* values_narrow, whose answer is *exact; `to` and `val` lie on the device. */
heddle_status device_values_narrow(const struct device *d, int *exact, void *to, heddle_type narrower,
                                   const void *val, int64_t n);

/* B is allocated on the device; device_csr_free frees it. */
/* A is sorted by rows. */
heddle_status device_csr_from_coo(const struct device *d, struct csr *B, const struct coo *A);
heddle_status device_csr_transpose(const struct device *d, struct csr *B, const struct csr *A);
/* The same into a B that is there, such as the transpose of A with its values of before. */
heddle_status device_csr_transpose_into(const struct device *d, struct csr *B, const struct csr *A);

/* As stored_size, stored_build and stored_free; HEDDLE_NO_KERNEL for a format that this kind of device
 * does not build.  The arrays are complete in the order of the device's stream. */
heddle_status device_stored_size(const struct device *d, struct stored *s, enum format_id id,
                                 const struct source *A, const int64_t *option);
heddle_status device_stored_build(const struct device *d, struct stored *s, const struct source *A);
/* Fills the arrays of an `s` that was built from a matrix of the same pattern: nothing is allocated but
 * for a while. */
heddle_status device_stored_fill(const struct device *d, struct stored *s, const struct source *A);
/* The same where only values have changed. */
heddle_status device_stored_refill(const struct device *d, struct stored *s, const struct source *A);
/* Gives back what notes hold on the device; they are empty then. */
void device_notes_free(const struct device *d, struct notes *n);
void device_stored_free(const struct device *d, struct stored *s);

#endif
