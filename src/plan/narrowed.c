/* SPDX-License-Identifier: MIT
 *
 * A matrix with the same values in fewer bytes, which stands beside A while a plan is chosen.  Whether
 * there is one is asked first, and memory taken then: of most matrices one of the first values says no. */
#include "convert/convert.h"
#include "plan/run.h"

heddle_status narrowed_new(struct narrowed *n, const struct device *device, const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    const heddle_type value = view_value(A);
    const void *val = A->format == HEDDLE_COO ? A->coo.val : A->csr.val;
    const double start = device_clock(device);
    heddle_type narrower;
    int exact = 0;
    *n = (struct narrowed){.view = *A};
    for (int i = 0; !exact && (narrower = narrower_type(value, i)) != HEDDLE_TYPE_DEFAULT; i++)
        TRY(device_values_narrow(device, &exact, NULL, narrower, val, view_nnz(A)));
    if (exact) {
        n->bytes = view_nnz(A) * (int64_t)type_size(narrower);
        TRY(device_alloc(device, &n->val, n->bytes));
        TRY(device_values_narrow(device, &exact, n->val, narrower, val, view_nnz(A)));
        n->view.csr.value = n->view.coo.value = narrower;
        n->view.csr.val = n->view.coo.val = n->val;
    }
done:
    if (status != HEDDLE_OK)
        narrowed_free(n, device);
    n->ms = device_clock(device) - start;
    return status;
}

void narrowed_free(struct narrowed *n, const struct device *device)
{
    device_free(device, n->val);
    *n = (struct narrowed){0};
}
