/* SPDX-License-Identifier: MIT
 *
 * kernels.c: what there is to choose from. */
#include "api/api.h"

int heddle_kernel_count(void)
{
    return kernel_count();
}

heddle_status heddle_kernel_info(int number, heddle_kernel_desc *desc)
{
    return kernel_describe(number, desc);
}

static heddle_status format_bytes(const heddle *h, const heddle_matrix *A, const char *format, int64_t *bytes)
{
    heddle_status status = HEDDLE_OK;
    struct source source = {.row = NULL};
    struct csr made = {0};
    struct stored stored = {0};
    TRY(matrix_check(h, A));
    int id = format_by_name(format);
    if (id < 0)
        return fail(HEDDLE_BAD_ARGUMENT, "there is no format '%s'", format);
    TRY(matrix_as_csr(&source.csr, &made, h, A));
    TRY(stored_size(&stored, (enum format_id)id, &source, NULL));
    *bytes = stored_bytes(&stored);
done:
    csr_free(&made);
    return status;
}

heddle_status heddle_format_bytes(heddle *h, const heddle_matrix *A, const char *format, int64_t *bytes)
{
    if (!format || !bytes)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL", format ? "bytes" : "format");
    *bytes = 0;
    RETURN_ALONE(h, format_bytes(h, A, format, bytes));
}
