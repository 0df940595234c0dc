/* SPDX-License-Identifier: MIT
 *
 * The immediate product of a handle that must be deterministic: the usual kernel where its results are repeatable, else another
 * one that takes the arrays as they are, too. */
#include "plan/run.h"

/* Instead of the usual kernel; NULL where that will do.  CPUs have none that is not repeatable. */
static const struct kernel *replacement(const struct device *device, const struct view *A, int transposed)
{
    if (device->kind == DEVICE_cpu || select_kernel(device, A, transposed)->repeatable)
        return NULL;
    return kernel_at(A->format == HEDDLE_COO ? KERNEL_coo_fixed : transposed ? KERNEL_csr_fixed_t : KERNEL_csr_merge);
}

/* Its work with A, nothing copied. */
static heddle_status replacement_work(struct work *w, const struct kernel *kernel, const struct device *device,
                                      const struct view *A, int transposed)
{
    heddle_status status;
    struct stored s;
    struct source source = view_source(A);
    TRY(stored_size(&s, kernel->format, &source, NULL));
    TRY(stored_build(&s, &source));
    *w = work_for(kernel, device, &s, transposed, NULL);
done:
    return status;
}

heddle_status repeatable_load(const struct device *device, const struct view *A)
{
    heddle_status status = immediate_load(device, A);
    struct source source = view_source(A);
    for (int transposed = 0; transposed <= 1 && status == HEDDLE_OK && view_nnz(A) > 0; transposed++) {
        const struct kernel *kernel = replacement(device, A, transposed);
        if (kernel)
            status = kernel_load(device, kernel, variant_of(source.csr.value, source.csr.offset));
    }
    return status;
}

struct room repeatable_room(const struct device *device, const struct view *A)
{
    struct room room = immediate_room(device, A);
    struct work w;
    for (int transposed = 0; transposed <= 1 && view_nnz(A) > 0; transposed++) {
        const struct kernel *kernel = replacement(device, A, transposed);
        if (!kernel || replacement_work(&w, kernel, device, A, transposed) != HEDDLE_OK)
            continue;
        if (work_workspace(&w) > room.workspace_bytes)
            room.workspace_bytes = work_workspace(&w);
        if (work_counters(&w) > room.counters_bytes)
            room.counters_bytes = work_counters(&w);
    }
    return room;
}

heddle_status repeatable_run(const struct device *device, const struct view *A, heddle_op op, struct scalars s,
                             const void *x, void *y, const struct room *room, const char **ran)
{
    heddle_status status;
    struct work w;
    int transposed = stored_transposed(A, op), launched;
    const struct kernel *kernel = s.alpha == 0 || view_nnz(A) == 0 ? NULL : replacement(device, A, transposed);
    if (!kernel)
        return immediate_run(device, A, op, s, x, y, room, ran);
    TRY(replacement_work(&w, kernel, device, A, transposed));
    int64_t needed = work_workspace(&w) + work_counters(&w);
    if (work_workspace(&w) > room->workspace_bytes || work_counters(&w) > room->counters_bytes)
        return fail(HEDDLE_NO_WORKSPACE, "%s, which is deterministic, needs %lld bytes of workspace: call heddle_reserve after "
                    "heddle_set_deterministic", kernel->name, (long long)needed);
    w.product.workspace = room->workspace;
    w.product.counters = room->counters;
    TRY(product_run(&w, s, x, y, &launched));
    *ran = launched ? kernel->name : "scale";
done:
    return status;
}
