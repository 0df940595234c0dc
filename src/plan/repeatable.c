/* SPDX-License-Identifier: MIT
 *
 * The immediate product of a handle that must be deterministic: the usual kernel where its results are
 * repeatable, else another one that takes the arrays as they are, too. */
#include "plan/run.h"

/* CPUs have no kernel that is not repeatable. */
static const struct kernel *select_repeatable(const struct device *device, const struct view *A,
                                              int transposed)
{
    const struct kernel *usual = select_kernel(device, A, transposed);
    if (device->kind == DEVICE_cpu || usual->repeatable)
        return usual;
    return kernel_at(A->format == HEDDLE_COO ? KERNEL_coo_fixed
                     : transposed            ? KERNEL_csr_fixed_t
                                             : KERNEL_csr_merge);
}

/* The handle may stop being deterministic at any time. */
heddle_status repeatable_load(const struct device *device, const struct view *A)
{
    heddle_status status = immediate_load(device, A);
    return status == HEDDLE_OK && view_nnz(A) > 0 ? arrays_load(device, A, select_repeatable) : status;
}

struct room repeatable_room(const struct device *device, const struct view *A)
{
    struct room room = immediate_room(device, A);
    if (view_nnz(A) > 0)
        arrays_room(&room, device, A, select_repeatable);
    return room;
}

heddle_status repeatable_run(const struct device *device, const struct view *A, heddle_op op,
                             struct scalars s, const void *x, void *y, const struct room *room,
                             const char **ran)
{
    return arrays_run(&(struct immediate){device, A, op, s, x, y, room}, select_repeatable, ran);
}
