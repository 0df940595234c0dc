/* SPDX-License-Identifier: MIT
 *
 * The immediate product: which kernel can take the arrays as they are, and which of those balances. */
#include <string.h>

#include "base/thread.h"
#include "convert/look.h"
#include "convert/service.h"
#include "plan/run.h"

int64_t view_rows(const struct view *A)
{
    return A->format == HEDDLE_COO ? A->coo.rows : A->format == HEDDLE_CSC ? A->csr.cols : A->csr.rows;
}

int64_t view_cols(const struct view *A)
{
    return A->format == HEDDLE_COO ? A->coo.cols : A->format == HEDDLE_CSC ? A->csr.rows : A->csr.cols;
}

int64_t view_nnz(const struct view *A)
{
    return A->format == HEDDLE_COO ? A->coo.nnz : A->csr.nnz;
}

heddle_type view_value(const struct view *A)
{
    return A->format == HEDDLE_COO ? A->coo.value : A->csr.value;
}

struct source view_source(const struct view *A)
{
    const struct coo *c = &A->coo;
    if (A->format != HEDDLE_COO)
        return (struct source){.csr = A->csr, .notes = A->notes};
    return (struct source){.csr = {.rows = c->rows,
                                   .cols = c->cols,
                                   .nnz = c->nnz,
                                   .value = c->value,
                                   .offset = offset_for(c->nnz),
                                   .col = c->col,
                                   .val = c->val},
                           .row = c->row};
}

/* On a GPU the arrays are out of reach, so these balance whatever they meet. */
static enum kernel_id select_gpu(const struct view *A, int transposed)
{
    return A->format == HEDDLE_COO ? KERNEL_coo_balance : transposed ? KERNEL_csr_weft : KERNEL_csr_weave;
}

/* Offsets of a file that nobody has checked yet may be anything, and are added up here. */
static int64_t bounded_offset(const struct csr *A, int64_t i)
{
    const int64_t at = csr_offset(A, i);
    return at < 0 ? 0 : at < A->nnz ? at : A->nnz;
}

/* Entries and rows before the first row that does not lie wholly within the first `steps` of them: where a
 * part that is made of whole rows really ends. */
static int64_t whole_rows(const struct csr *A, int64_t steps)
{
    int64_t low = 0, high = A->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (bounded_offset(A, middle + 1) + middle + 1 <= steps)
            low = middle + 1;
        else
            high = middle;
    }
    return bounded_offset(A, low) + low;
}

/* Is there a row so long that parts of whole rows cannot be nearly equal?  A few looks at row_ptr tell:
 * only a row that lies across a cut can do harm.  One part may have a quarter more than its share. */
static int needs_merge(const struct device *device, const struct csr *A)
{
    int64_t steps = A->rows + A->nnz, share = steps / device->threads, before = 0;
    for (int part = 1; part <= device->threads; part++) {
        int64_t end = whole_rows(A, part_begin(steps, part, device->threads));
        if (end - before > share + share / 4 + 1)
            return 1;
        before = end;
    }
    return 0;
}

const struct kernel *select_kernel(const struct device *device, const struct view *A, int transposed)
{
    if (device->kind == DEVICE_gpu)
        return kernel_at(select_gpu(A, transposed));
    enum kernel_id id = A->format == HEDDLE_COO      ? KERNEL_cpu_coo
                      : transposed                   ? KERNEL_cpu_csr_t
                      : needs_merge(device, &A->csr) ? KERNEL_cpu_merge
                                                     : KERNEL_cpu_csr;
    return kernel_at(id);
}

const struct kernel *any_kernel(const struct device *device)
{
    return kernel_at(device->kind == DEVICE_gpu ? KERNEL_csr_naive : KERNEL_cpu_csr);
}

heddle_status stored_view(struct stored *s, const struct view *A)
{
    struct source source = view_source(A);
    heddle_status status = stored_size(s, A->format == HEDDLE_COO ? FORMAT_coo : FORMAT_csr, &source, NULL);
    return status == HEDDLE_OK ? stored_build(s, &source) : status;
}

/* Matrices of about the same size hold equally much, so that one may have the memory of another. */
#define LOOK_STEP 4096

heddle_status look_new(struct look *look, const struct device *device, const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    struct stored s;
    *look = (struct look){0};
    if (device->kind == DEVICE_cpu || A->format == HEDDLE_COO || A->csr.nnz == 0)
        return HEDDLE_OK;
    TRY(stored_view(&s, A));
    struct work w = work_for(select_kernel(device, A, 0), device, &s, 0, NULL);
    const double start = device_clock(device);
    look->bytes = (work_held(&w) + LOOK_STEP - 1) / LOOK_STEP * LOOK_STEP;
    TRY(gpu_block_take(device->gpu, &look->prepared, look->bytes));
    w.product.prepared = look->prepared;
    TRY(w.kernel->prepare(&w));
    memcpy(look->fact, w.product.fact, sizeof look->fact);
    look->bad = w.product.fact[LOOK_BAD] != 0;
    look->ms = device_clock(device) - start;
done:
    if (status != HEDDLE_OK)
        look_free(look, device);
    return status;
}

void look_free(struct look *look, const struct device *device)
{
    if (look->prepared)
        gpu_block_give_back(device->gpu, look->prepared, look->bytes);
    *look = (struct look){0};
}

int look_lend(struct work *w, const struct view *A)
{
    const int64_t *option = w->option;
    const struct option *o = kernel_options(w->kernel);
    const struct kernel *usual = select_kernel(w->device, A, (int)w->product.transposed);
    if (!A->look.prepared || w->kernel->prepare != usual->prepare)
        return 0;
    for (int i = 0; o[i].name; i++)
        if (option[i] != o[i].initial)
            return 0;
    w->product.prepared = A->look.prepared;
    memcpy(w->product.fact, A->look.fact, sizeof A->look.fact);
    return 1;
}

/* ---------------------------------------------------- products with the arrays as they are ---- */

static heddle_status immediate_has(const struct kernel *kernel, heddle_type value)
{
    if (kernel_has(kernel, value))
        return HEDDLE_OK;
    return fail(HEDDLE_NOT_SUPPORTED, "%s, which would multiply, has no %s values yet", kernel->name,
                value_name(value));
}

heddle_status arrays_load(const struct device *device, const struct view *A, selector *select)
{
    heddle_status status = HEDDLE_OK;
    struct source source = view_source(A);
    enum variant variant = variant_of(source.csr.value, source.csr.offset);
    if (device->kind == DEVICE_cpu)
        return HEDDLE_OK;
    TRY(gpu_scale_load(device, source.csr.value));
    for (int transposed = 0; transposed <= 1; transposed++) {
        TRY(immediate_has(select(device, A, transposed), source.csr.value));
        TRY(kernel_load(device, select(device, A, transposed), variant));
    }
done:
    return status;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void arrays_room(struct room *room, const struct device *device, const struct view *A, selector *select)
{
    struct stored s;
    if (stored_view(&s, A) != HEDDLE_OK)
        return;
    for (int transposed = 0; transposed <= 1; transposed++) {
        struct work w = work_for(select(device, A, transposed), device, &s, transposed, NULL);
        room->workspace_bytes = larger(room->workspace_bytes, work_workspace(&w));
        room->counters_bytes = larger(room->counters_bytes, work_counters(&w));
    }
}

heddle_status arrays_run(const struct immediate *r, selector *select, const char **ran)
{
    struct stored stored;
    heddle_status status;
    const struct view *A = r->A;
    int transposed = stored_transposed(A, r->op), launched;
    TRY(stored_view(&stored, A));
    int trivial = scalars_drop(r->s) || stored.nnz == 0; /* then not even row_ptr is looked at */
    const struct kernel *kernel = trivial ? any_kernel(r->device) : select(r->device, A, transposed);
    if (!trivial)
        TRY(immediate_has(kernel, stored.value));
    struct work w = work_for(kernel, r->device, &stored, transposed, NULL);
    int64_t workspace = work_workspace(&w), counters = work_counters(&w);
    if (!trivial && (workspace > r->room->workspace_bytes || counters > r->room->counters_bytes))
        return fail(HEDDLE_NO_WORKSPACE,
                    "%s needs %lld bytes of workspace, the handle has %lld: call heddle_reserve%s",
                    kernel->name, (long long)(workspace + counters),
                    (long long)(r->room->workspace_bytes + r->room->counters_bytes),
                    select == select_kernel ? "" : " after heddle_set_deterministic");
    w.product.workspace = r->room->workspace;
    w.product.counters = r->room->counters;
    w.product.conjugate = r->op == HEDDLE_H;
    if (!trivial && kernel->prepare && !look_lend(&w, A))
        return fail(HEDDLE_INTERNAL, "%s multiplies with a matrix that nobody has looked at", kernel->name);
    TRY(product_run(&w, r->s, r->x, r->y, &launched));
    *ran = launched ? kernel->name : "scale";
done:
    return status;
}

heddle_status immediate_load(const struct device *device, const struct view *A)
{
    return arrays_load(device, A, select_kernel);
}

struct room immediate_room(const struct device *device, const struct view *A)
{
    struct room room = {0};
    arrays_room(&room, device, A, select_kernel);
    return room;
}

heddle_status immediate_run(const struct device *device, const struct view *A, heddle_op op, struct scalars s,
                            const void *x, void *y, const struct room *room, const char **ran)
{
    return arrays_run(&(struct immediate){device, A, op, s, x, y, room}, select_kernel, ran);
}
