/* SPDX-License-Identifier: MIT
 *
 * One kernel bound to one matrix.  The way there: is the operation the kernel's own, or does it take a
 * transpose?  Does the kernel's format borrow A's arrays, or is it built?  Everything else is measured and
 * written down on the way. */
#include "base/memory.h"
#include "convert/convert.h"
#include "convert/service.h"
#include "plan/run.h"

#include <stdio.h>
#include <string.h>

/* What stands between A and the kernel. */
struct route {
    int transposed; /* the operation, relative to what is stored */
    int transpose;  /* A is transposed first; the kernel then does N */
    int from_coo;   /* CSR is made from COO first */
};

struct bound {
    struct device device;
    struct route route;
    struct csr made; /* CSR made from COO, or the transpose; empty when A serves as it is or the format
                      * needs it no more */
    void *values;    /* that A's own stand for, narrowed; NULL: A's serve as they are, or a copy of them */
    struct stored stored;
    struct work work;
    void *workspace, *counters;
    int borrows_look; /* what the kernel derives from the pattern is A's own look */
    int borrows_room; /* workspace and counters are the handle's */
    struct bound_info info;
    struct tries *tries; /* among which it was chosen; NULL: by name */
};

static heddle_status find_route(struct route *r, const struct kernel *kernel, const struct device *device,
                                const struct view *A, heddle_op op)
{
    heddle_status status = kernel_suits(kernel, device, view_value(A));
    if (status != HEDDLE_OK)
        return status;
    int transposed = stored_transposed(A, op), wanted = transposed ? OPS_T : OPS_N;
    *r = (struct route){.transposed = transposed};
    r->transpose = !(kernel->ops & wanted);
    r->from_coo = A->format == HEDDLE_COO && (kernel->format != FORMAT_coo || r->transpose);
    if (r->transpose && !(transposed && kernel->ops & OPS_N))
        return fail(HEDDLE_NO_KERNEL,
                    "%s computes only Aᵀ x of a matrix stored by rows (A x of one stored by columns)",
                    kernel->name);
    return HEDDLE_OK;
}

/* CSR of A, transposed or not, as the route asks; nothing when A serves as it is. */
static heddle_status make_csr(const struct device *d, struct csr *made, const struct route *r,
                              const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    struct csr rows = {0};
    if (r->from_coo)
        TRY(device_csr_from_coo(d, &rows, &A->coo));
    if (r->transpose) {
        TRY(device_csr_transpose(d, made, r->from_coo ? &rows : &A->csr));
    } else {
        *made = rows;
        rows = (struct csr){0};
    }
done:
    device_csr_free(d, &rows);
    return status;
}

static heddle_status view_validate(const struct device *d, const struct view *A)
{
    return A->format == HEDDLE_COO ? device_coo_validate(d, &A->coo) : device_csr_validate(d, &A->csr);
}

static heddle_status convert(struct bound *b, const int64_t *option, const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = &b->device;
    const struct route *r = &b->route;
    struct source source = view_source(A);
    double start = device_clock(d), counted = 0; /* before, and kept */
    if (r->transpose || r->from_coo) {
        TRY(view_validate(d, A));
        TRY(make_csr(d, &b->made, r, A));
        source = (struct source){.csr = b->made};
    }
    if (source.notes && source.notes->of[b->work.kernel->format].known)
        counted = source.notes->of[b->work.kernel->format].ms;
    TRY(device_stored_size(d, &b->stored, b->work.kernel->format, &source, option));
    if (!source.row && (stored_owned(&b->stored) > 0 || b->work.kernel->prepare) && !b->made.row_ptr)
        TRY(device_csr_validate(d, &source.csr));
    TRY(device_stored_build(d, &b->stored, &source));
    TRY(device_sync(d));
    if (b->stored.borrowed == 0)
        device_csr_free(d, &b->made);
    b->info.convert_ms = b->stored.borrowed && !b->made.row_ptr && !stored_owned(&b->stored)
                           ? 0
                           : device_clock(d) - start + counted;
done:
    return status;
}

/* Binaries are loaded here as well, and not at the first product: that may be part of a graph which is
 * being captured. */
static heddle_status prepare(struct bound *b, const int64_t *option, const struct view *A)
{
    heddle_status status;
    const struct route *r = &b->route;
    b->work = work_for(b->work.kernel, &b->device, &b->stored, r->transposed && !r->transpose, option);
    b->borrows_look = !b->made.row_ptr && look_lend(&b->work, A);
    int64_t bytes = work_workspace(&b->work), held = b->borrows_look ? 0 : work_held(&b->work),
            counters = work_counters(&b->work);
    TRY(work_applies(&b->work));
    TRY(kernel_load(&b->device, b->work.kernel, b->work.variant));
    TRY(gpu_scale_load(&b->device, b->work.value));
    if (b->work.kernel->many && b->device.kind == DEVICE_gpu)
        TRY(gpu_relayout_load(&b->device, b->work.value));
    if (bytes > 0)
        TRY(device_alloc(&b->device, &b->workspace, bytes));
    if (counters > 0) {
        TRY(device_alloc(&b->device, &b->counters, counters));
        TRY(device_fill(&b->device, b->counters, 0, counters));
    }
    if (held > 0)
        TRY(device_alloc(&b->device, &b->work.product.prepared, held));
    b->work.product.workspace = b->workspace;
    b->work.product.counters = b->counters;
    if (b->work.kernel->prepare && !b->borrows_look && b->stored.nnz > 0) {
        double start = device_clock(&b->device);
        TRY(b->work.kernel->prepare(&b->work));
        TRY(device_sync(&b->device));
        b->info.prepare_ms = device_clock(&b->device) - start;
    }
    b->info.bytes =
        stored_owned(&b->stored) + bytes + counters + held + (b->made.row_ptr ? csr_bytes(&b->made) : 0);
done:
    return status;
}

heddle_status bound_make(struct bound **result, const struct device *device, const struct kernel *kernel,
                         const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op)
{
    heddle_status status;
    struct bound *b = NULL;
    struct route route;
    *result = NULL;
    TRY(find_route(&route, kernel, device, A, op));
    TRY(NEW_ZEROED(b, 1));
    b->device = *device;
    b->route = route;
    b->work.kernel = kernel;
    TRY(convert(b, option, A));
    TRY(prepare(b, option, A));
    bound_conjugate(b, op == HEDDLE_H);
    kernel_spell(b->info.kernel, sizeof b->info.kernel, kernel, option);
    b->info.format = b->stored.format->name;
    b->info.value = b->stored.value;
    b->info.transposed = route.transpose;
    b->info.repeatable = kernel->repeatable;
    b->info.cost = kernel->cost(&b->work, &b->stored);
    b->info.read = stored_read(&b->stored);
    *result = b;
    b = NULL;
done:
    bound_free(b);
    return status;
}

static struct route turning(const struct view *A)
{
    return (struct route){.transposed = 1, .transpose = 1, .from_coo = A->format == HEDDLE_COO};
}

heddle_status bound_turn(struct csr *turned, const struct device *device, const struct view *A)
{
    heddle_status status;
    struct route r = turning(A);
    TRY(view_validate(device, A));
    TRY(make_csr(device, turned, &r, A));
    TRY(device_sync(device));
done:
    return status;
}

void bound_adopt(struct bound *b, struct csr *turned, const struct view *A, double ms)
{
    b->route = turning(A);
    b->info.transposed = 1;
    b->info.convert_ms += ms;
    if (b->stored.borrowed) {
        b->made = *turned;
        b->info.bytes += csr_bytes(turned);
    } else {
        device_csr_free(&b->device, turned);
    }
    *turned = (struct csr){0};
}

void bound_own_values(struct bound *b, struct narrowed *n)
{
    b->info.prepare_ms += n->ms;
    if (!bound_refers(b))
        return;
    b->values = n->val;
    b->info.bytes += n->bytes;
    n->val = NULL;
}

heddle_status bound_new(struct bound **b, const struct device *device, const char *kernel,
                        const struct view *A, heddle_op op)
{
    const struct kernel *parsed;
    int64_t option[OPTIONS_MOST];
    *b = NULL;
    heddle_status status = kernel_parse(&parsed, option, kernel);
    return status == HEDDLE_OK ? bound_make(b, device, parsed, option, A, op) : status;
}

void bound_free(struct bound *b)
{
    if (!b)
        return;
    device_stored_free(&b->device, &b->stored);
    device_csr_free(&b->device, &b->made);
    device_free(&b->device, b->values);
    device_free(&b->device, b->workspace);
    device_free(&b->device, b->counters);
    if (!b->borrows_look)
        device_free(&b->device, b->work.product.prepared);
    mem_free(b->tries);
    mem_free(b);
}

void bound_keep_tries(struct bound *b, struct tries *tries)
{
    b->tries = tries;
}

const struct tries *bound_tries(const struct bound *b)
{
    return b->tries;
}

heddle_status bound_run(struct bound *b, struct scalars s, const void *x, void *y)
{
    int launched;
    return product_run(&b->work, s, x, y, &launched);
}

/* The values of a CSR that the format borrows, in place. */
static heddle_status remake(struct bound *b, const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = &b->device;
    struct csr rows = {0};
    if (!b->route.transpose)
        return device_copy(d, b->made.val, A->coo.val, A->coo.nnz * (int64_t)type_size(A->coo.value));
    if (b->route.from_coo)
        TRY(device_csr_from_coo(d, &rows, &A->coo));
    TRY(device_csr_transpose_into(d, &b->made, b->route.from_coo ? &rows : &A->csr));
done:
    device_csr_free(d, &rows);
    return status;
}

heddle_status bound_update(struct bound *b, const struct view *A)
{
    heddle_status status = HEDDLE_OK;
    const struct device *d = &b->device;
    struct csr made = {0};
    struct source source = view_source(A);
    if (b->stored.format->valued)
        return fail(HEDDLE_NOT_SUPPORTED, "%s stores what values are, and takes no new ones", b->info.kernel);
    if (b->made.row_ptr) {
        TRY(remake(b, A));
        source = (struct source){.csr = b->made};
    } else if (b->route.transpose || b->route.from_coo) {
        TRY(make_csr(d, &made, &b->route, A));
        source = (struct source){.csr = made};
    }
    TRY(device_stored_refill(d, &b->stored, &source));
    for (int i = 0; i < FORMAT_ARRAYS; i++)
        b->work.product.array[i] = b->stored.array[i];
    if (made.row_ptr)
        TRY(device_sync(d)); /* before it goes */
done:
    device_csr_free(d, &made);
    return status;
}

const struct work *bound_work(const struct bound *b)
{
    return &b->work;
}

int bound_many(struct work *w, const struct bound *b, int repeatable)
{
    const struct kernel *own = b->work.kernel;
    const struct kernel *kernel =
        own->many ? own
                  : many_kernel(&b->device, b->work.value, own->format, (int)b->work.product.transposed);
    if (!kernel || (repeatable && !kernel->repeatable) || kernel->prepare != b->work.kernel->prepare)
        return 0;
    *w = work_for(kernel, &b->device, &b->stored, (int)b->work.product.transposed,
                  own->many ? b->work.option : NULL);
    w->product.prepared = b->work.product.prepared;
    memcpy(w->product.fact, b->work.product.fact, sizeof w->product.fact);
    for (int i = 0; i < FORMAT_ARRAYS; i++)
        w->product.array[i] = b->work.product.array[i];
    return 1;
}

int bound_refers(const struct bound *b)
{
    return b->stored.borrowed && !b->made.row_ptr && !b->values;
}

void bound_conjugate(struct bound *b, int on)
{
    b->work.product.conjugate = on;
}

struct room bound_room(const struct bound *b)
{
    struct room needed = {0};
    if (b->borrows_room) {
        needed.workspace_bytes = work_workspace(&b->work);
        needed.counters_bytes = work_counters(&b->work);
    }
    return needed;
}

void bound_lend(struct bound *b)
{
    device_free(&b->device, b->workspace);
    device_free(&b->device, b->counters);
    b->workspace = b->counters = NULL;
    b->borrows_room = 1;
    b->info.bytes -= bound_room(b).workspace_bytes + bound_room(b).counters_bytes;
}

heddle_status bound_use_room(struct bound *b, const struct room *room)
{
    const struct room needed = bound_room(b);
    if (!b->borrows_room)
        return HEDDLE_OK;
    if (needed.workspace_bytes > room->workspace_bytes || needed.counters_bytes > room->counters_bytes)
        return fail(HEDDLE_NO_WORKSPACE, "%s works in the handle's workspace, which has become too small",
                    b->info.kernel);
    b->work.product.workspace = room->workspace;
    b->work.product.counters = room->counters;
    return HEDDLE_OK;
}

void bound_use_stream(struct bound *b, void *stream)
{
    b->device.stream = stream;
}

void bound_describe(const struct bound *b, struct bound_info *info)
{
    *info = b->info;
}

/* The shape of the transpose, without its arrays. */
static struct source transposed_shape(const struct source *A)
{
    struct source t = {.csr = A->csr};
    t.csr.rows = A->csr.cols;
    t.csr.cols = A->csr.rows;
    return t;
}

heddle_status bound_estimate(struct estimate *e, const struct device *device, const struct kernel *kernel,
                             const int64_t option[OPTIONS_MOST], const struct view *A, heddle_op op,
                             const heddle_lengths *rows)
{
    heddle_status status;
    struct route r;
    struct stored s;
    struct source source = view_source(A);
    *e = (struct estimate){0};
    TRY(find_route(&r, kernel, device, A, op));
    /* How a format would pad the transpose is not known before it is there: it is taken to pad like A,
     * from whose rows the size comes.  Formats that do not pad need only its shape. */
    int by_shape = r.transpose && (kernel->format == FORMAT_csr || kernel->format == FORMAT_coo);
    if (!source.csr.row_ptr && kernel->format != FORMAT_coo && !by_shape && kernel->format != FORMAT_csr)
        return fail(HEDDLE_NO_KERNEL, "%s: its size is not known for a COO matrix", kernel->name);
    if (by_shape)
        source = transposed_shape(&source);
    else if (rows)
        source.longest = rows->longest, source.empty = rows->empty;
    TRY(device_stored_size(device, &s, kernel->format, &source, option));
    struct work w = work_for(kernel, device, &s, r.transposed && !r.transpose, option);
    TRY(work_applies(&w));
    e->cost = predict(&w, &s, r.transpose ? NULL : rows);
    int looked = !r.transpose && !r.from_coo && look_lend(&w, A);
    int64_t beside = work_workspace(&w) + work_counters(&w) + (looked ? 0 : work_held(&w));
    e->turns = r.transpose;
    e->borrows = s.borrowed != 0;
    e->converts = r.from_coo || stored_owned(&s) > 0;
    e->derives = kernel->prepare && !looked;
    int64_t made = r.transpose || r.from_coo ? (s.rows + 1) * (int64_t)type_size(s.offset) +
                                                   s.nnz * (int64_t)(sizeof(int32_t) + type_size(s.value))
                                             : 0;
    e->bytes = stored_owned(&s) + beside + (s.borrowed ? made : 0);
    e->peak = stored_owned(&s) + beside + made;
done:
    return status;
}
