/* SPDX-License-Identifier: MIT
 *
 * product.c: the immediate product, and plans. */
#include <inttypes.h>

#include "api/api.h"
#include "base/memory.h"

/* The arguments of a product; everything that can be wrong with them is found here, before y is touched. */
struct call {
    heddle_op op;
    const heddle_matrix *A;
    const void *alpha, *x, *beta;
    void *y;
};

/* Of the type of the vectors of a matrix with such values. */
static double _Complex scalar_of(const void *scalar, heddle_type value, double absent)
{
    return scalar ? value_at(scalar, vector_type(value), 0) : absent;
}

/* Kernels will read it when they run: it must be aligned, and y must not write over it. */
static heddle_status check_scalar(const char *name, const void *scalar, uintptr_t size, const void *y,
                                  int64_t y_count)
{
    if (!scalar)
        return HEDDLE_OK;
    if ((uintptr_t)scalar % size)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is not aligned to its %d bytes", name, (int)size);
    if ((uintptr_t)scalar >= (uintptr_t)y && (uintptr_t)scalar - (uintptr_t)y < (uintptr_t)y_count * size)
        return fail(HEDDLE_BAD_ARGUMENT, "%s lies in y: the product would write over it", name);
    return HEDDLE_OK;
}

heddle_status check_operation(const heddle *h, const heddle_matrix *A, heddle_op op)
{
    heddle_status status = usable(A);
    if (status != HEDDLE_OK)
        return status;
    if (!gpu_same(A->device.gpu, h->device.gpu))
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix lies on another device than the handle's");
    if ((unsigned)op > HEDDLE_H)
        return fail(HEDDLE_BAD_ARGUMENT, "%d is not an operation: HEDDLE_N, HEDDLE_T or HEDDLE_H", (int)op);
    return HEDDLE_OK;
}

/* The numbers, or where they lie on the device. */
heddle_status check_scalars(heddle *h, const heddle_matrix *A, const void *alpha, const void *beta,
                            const void *y, int64_t y_count, struct scalars *s)
{
    heddle_status status = HEDDLE_OK;
    heddle_type type = view_value(&A->view);
    int there = h->scalars == HEDDLE_ON_DEVICE && h->shared;
    *s = (struct scalars){.alpha = scalar_of(there ? NULL : alpha, type, 1),
                          .beta = scalar_of(there ? NULL : beta, type, 0),
                          .alpha_at = there ? alpha : NULL,
                          .beta_at = there ? beta : NULL};
    TRY(check_scalar("alpha", s->alpha_at, vector_size(type), y, y_count));
    TRY(check_scalar("beta", s->beta_at, vector_size(type), y, y_count));
    TRY(h->debug ? matrix_check(h, A) : HEDDLE_OK);
done:
    return status;
}

static heddle_status check_call(heddle *h, const struct call *c, struct scalars *s)
{
    heddle_status status = check_operation(h, c->A, c->op);
    if (status != HEDDLE_OK)
        return status;
    const struct view *v = &c->A->view;
    int64_t rows = view_rows(v), cols = view_cols(v);
    int64_t x_count = c->op == HEDDLE_N ? cols : rows, y_count = c->op == HEDDLE_N ? rows : cols;
    if (!c->x && x_count > 0)
        return fail(HEDDLE_BAD_ARGUMENT, "x is NULL, but has %" PRId64 " entries", x_count);
    if (!c->y && y_count > 0)
        return fail(HEDDLE_BAD_ARGUMENT, "y is NULL, but has %" PRId64 " entries", y_count);
    uintptr_t size = vector_size(view_value(v)), x = (uintptr_t)c->x, y = (uintptr_t)c->y,
              aligned = alignment_of(h, vector_type(view_value(v)));
    if (x_count > 0 && y_count > 0 && x < y + (uintptr_t)y_count * size && y < x + (uintptr_t)x_count * size)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "x and y overlap: the product would read what it has already written");
    if (x % aligned || y % aligned)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is not aligned to its elements of %d bytes",
                    x % aligned ? "x" : "y", (int)aligned);
    return check_scalars(h, c->A, c->alpha, c->beta, c->y, y_count, s);
}

int on_device(const heddle *h, const void *p)
{
    return !p || gpu_driver_of(h->device.gpu)->on_device(h->device.gpu, p);
}

static heddle_status launch_bound(heddle *h, const struct request *m, const void *x, void *y)
{
    heddle_status status;
    bound_use_stream(m->bound, h->device.stream); /* the caller may have changed it since the plan was made */
    bound_conjugate(m->bound, m->op == HEDDLE_H);
    TRY(bound_use_room(m->bound, &h->room));
    TRY(bound_run(m->bound, m->scalars, x, y));
done:
    return status;
}

static heddle_status launch(heddle *h, const struct request *m, const void *x, void *y)
{
    heddle_status status =
        m->bound ? launch_bound(h, m, x, y)
                 : (h->deterministic ? repeatable_run : immediate_run)(
                       &h->device, &m->A->view, m->op, m->scalars, x, y, &h->room, &h->last_kernel);
    return status == HEDDLE_NO_WORKSPACE && h->is_lent ? workspace_refused(h) : status;
}

heddle_status on_host(const char *name, const void *p, int64_t bytes)
{
    if (mem_readable(p, bytes))
        return HEDDLE_OK;
    return fail(HEDDLE_BAD_ARGUMENT,
                "%s (%p, %" PRId64 " bytes) is memory neither of the device nor of the host", name, p, bytes);
}

/* x and y of the host go through the device; the call then waits for the result. */
static heddle_status launch_staged(heddle *h, const struct request *m)
{
    heddle_status status = HEDDLE_OK;
    const struct view *v = &m->A->view;
    int64_t size = (int64_t)vector_size(view_value(v)), rows = view_rows(v) * size,
            cols = view_cols(v) * size;
    int64_t x_bytes = m->op == HEDDLE_N ? cols : rows, y_bytes = m->op == HEDDLE_N ? rows : cols;
    const void *x = m->x;
    void *y = m->y;
    if (h->is_lent)
        return stage_refused();
    if (h->stage_bytes < stage_bytes(v))
        return fail(HEDDLE_NO_WORKSPACE,
                    "the handle has no room to stage x and y of this matrix: call heddle_reserve once");
    if (!on_device(h, x)) {
        TRY(on_host("x", x, x_bytes));
        TRY(device_copy(&h->device, h->stage, m->x, x_bytes));
        x = h->stage;
    }
    if (!on_device(h, y)) {
        TRY(on_host("y", y, y_bytes));
        y = (char *)h->stage + stage_y(v, m->op);
        if (m->scalars.beta_at || m->scalars.beta != 0)
            TRY(device_copy(&h->device, y, m->y, y_bytes));
    }
    TRY(launch(h, m, x, y));
    if (y != m->y)
        TRY(device_copy(&h->device, m->y, y, y_bytes));
    TRY(device_sync(&h->device));
done:
    return status;
}

/* A kernel that follows a pointer of the host takes the device with it. */
static heddle_status scalar_there(const heddle *h, const char *name, const void *scalar)
{
    if (on_device(h, scalar))
        return HEDDLE_OK;
    return fail(HEDDLE_BAD_ARGUMENT,
                "%s (%p) is not memory of the device, where heddle_set_scalars has put scalars", name,
                scalar);
}

heddle_status scalars_there(const heddle *h, struct scalars s)
{
    heddle_status status = HEDDLE_OK;
    TRY(scalar_there(h, "alpha", s.alpha_at));
    TRY(scalar_there(h, "beta", s.beta_at));
done:
    return status;
}

heddle_status multiply(heddle *h, const struct request *m)
{
    void *before;
    if (!h->shared)
        return launch(h, m, m->x, m->y);
    heddle_status status = gpu_hold(h->device.gpu, &before); /* once, and not for each of the calls below */
    if (status != HEDDLE_OK)
        return status;
    TRY(scalars_there(h, m->scalars));
    TRY(stream_use(h));
    if (on_device(h, m->x) && on_device(h, m->y))
        TRY(launch(h, m, m->x, m->y));
    else
        TRY(launch_staged(h, m));
done:
    gpu_let_go(h->device.gpu, before);
    return status;
}

/* By the plan's kernel, or (NULL) by the immediate one. */
static heddle_status product(heddle *h, const struct call *c, struct bound *bound)
{
    struct scalars s;
    heddle_status status = check_call(h, c, &s);
    return status == HEDDLE_OK ? multiply(h, &(struct request){c->A, c->op, bound, s, c->x, c->y}) : status;
}

heddle_status heddle_mv(heddle *h, heddle_op op, const void *alpha, const heddle_matrix *A, const void *x,
                        const void *beta, void *y)
{
    RETURN_ALONE(h, product(h, &(struct call){op, A, alpha, x, beta, y}, NULL));
}

/* What was measured with memory of its own works in that of the handle from now on. */
static heddle_status plan_lend(heddle_plan *p)
{
    heddle_status status = HEDDLE_OK;
    for (int op = 0; op < 2; op++)
        if (p->bound[op]) {
            bound_lend(p->bound[op]);
            struct room needed = bound_room(p->bound[op]);
            p->desc[op].bytes -= needed.workspace_bytes + needed.counters_bytes;
            TRY(workspace_claim(p->h, needed));
        }
done:
    return status;
}

static heddle_status plan_create(heddle_plan **out, heddle *h, const heddle_matrix *A,
                                 const heddle_plan_options *given)
{
    heddle_status status = HEDDLE_OK;
    heddle_plan *p = NULL;
    heddle_plan_options options = given ? *given : (heddle_plan_options){0};
    struct error_text kept;
    error_keep(&kept);
    if (options.ops & ~(HEDDLE_PLAN_N | HEDDLE_PLAN_T))
        return fail(HEDDLE_BAD_ARGUMENT, "ops is %d: HEDDLE_PLAN_N, HEDDLE_PLAN_T or both", options.ops);
    if (options.expected_products < 0 || options.memory_limit < -1)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is negative",
                    options.expected_products < 0 ? "expected_products" : "memory_limit");
    if ((int)options.cache < HEDDLE_CACHE_UNKNOWN || options.cache > HEDDLE_CACHE_WARM)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "cache is %d: HEDDLE_CACHE_UNKNOWN, HEDDLE_CACHE_COLD or HEDDLE_CACHE_WARM",
                    (int)options.cache);
    options.ops = options.ops ? options.ops : HEDDLE_PLAN_N;
    options.expected_products = options.expected_products ? options.expected_products : 1000;
    TRY(matrix_check(h, A)); /* a preparation follows every index */
    if (h->shared)
        TRY(stream_use(h));
    TRY(NEW_ZEROED(p, 1));
    p->h = h;
    p->A = A;
    p->val = A->view.format == HEDDLE_COO ? A->view.coo.val : A->view.csr.val;
    p->fixed = options.values_fixed != 0;
    p->deterministic = options.deterministic != 0;
    p->limit = options.memory_limit > 0 ? options.memory_limit : options.memory_limit < 0 ? 0 : INT64_MAX;
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
        if (options.ops & (op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T))
            TRY(plan_choose(&p->bound[op], &p->desc[op], &h->device, &A->view, (heddle_op)op, &options));
    if (h->is_lent)
        TRY(plan_lend(p));
    *out = p;
    p = NULL;
    error_put_back(&kept); /* kernels that were tried and given up are nobody's error */
done:
    heddle_plan_free(p);
    return status;
}

heddle_status heddle_plan_create(heddle_plan **p, heddle *h, const heddle_matrix *A,
                                 const heddle_plan_options *opt)
{
    if (!p)
        return fail(HEDDLE_BAD_ARGUMENT, "the plan's pointer is NULL");
    *p = NULL;
    RETURN_ALONE(h, plan_create(p, h, A, opt));
}

void heddle_plan_free(heddle_plan *p)
{
    if (!p)
        return;
    bound_free(p->bound[0]);
    bound_free(p->bound[1]);
    device_free(&p->h->device, p->values);
    for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
        if (p->h->last_kernel == p->desc[op].kernel)
            p->h->last_kernel = ""; /* its name goes with the plan */
    mem_free(p);
}

heddle_status plan_op(const heddle_plan *p, heddle_op op, int *number)
{
    *number = op == HEDDLE_N ? 0 : 1;
    if ((unsigned)op <= HEDDLE_H && !p->bound[*number])
        return fail(HEDDLE_BAD_ARGUMENT, "the plan was not made for %s: name it in the plan's ops",
                    op == HEDDLE_N ? "N" : "T");
    return HEDDLE_OK;
}

static heddle_status plan_product(heddle_plan *p, const struct call *c)
{
    heddle_status status = HEDDLE_OK;
    int number;
    TRY(plan_op(p, c->op, &number));
    TRY(product(p->h, c, p->bound[number]));
    p->h->last_kernel = p->desc[number].kernel;
done:
    return status;
}

heddle_status no_plan(void)
{
    return fail(HEDDLE_BAD_ARGUMENT, "the plan is NULL");
}

heddle_status heddle_plan_mv(heddle_plan *p, heddle_op op, const void *alpha, const void *x, const void *beta,
                             void *y)
{
    if (!p)
        return no_plan();
    RETURN_ALONE(p->h, plan_product(p, &(struct call){op, p->A, alpha, x, beta, y}));
}

/* ---- new values ---- */

static heddle_status check_values(const heddle *h, const struct view *A, const void *val)
{
    size_t size = alignment_of(h, view_value(A));
    if (!val && view_nnz(A) > 0)
        return fail(HEDDLE_BAD_ARGUMENT, "val is NULL, but has %" PRId64 " entries", view_nnz(A));
    if ((uintptr_t)val % size)
        return fail(HEDDLE_BAD_ARGUMENT, "val is not aligned to its elements of %d bytes", (int)size);
    return HEDDLE_OK;
}

/* Are the values that products with A read a copy of Heddle's own?  A's arrays on a GPU are placed there,
 * if not borrowed. */
static int owns_values(const heddle_matrix *A, const void *own)
{
    for (int i = 0; i < 3; i++)
        if (A->placed[i] == own)
            return 1;
    return A->owned.csr.val == own || A->owned.coo.val == own;
}

static heddle_status matrix_values(heddle *h, heddle_matrix *A, const void *val)
{
    heddle_status status = usable(A);
    if (status != HEDDLE_OK)
        return status;
    void *own = A->view.format == HEDDLE_COO ? A->view.coo.val : A->view.csr.val;
    int64_t bytes = view_nnz(&A->view) * (int64_t)type_size(view_value(&A->view));
    TRY(check_values(h, &A->view, val));
    if (!gpu_same(A->device.gpu, h->device.gpu))
        TRY(fail(HEDDLE_BAD_ARGUMENT, "the matrix lies on another device than the handle's"));
    if (bytes == 0)
        return HEDDLE_OK;
    if (!owns_values(A, own))
        TRY(fail(HEDDLE_BAD_ARGUMENT, "the values of the matrix are %s: products read them there",
                 A->path ? "those of a mapped file" : "borrowed, change them in place"));
    if (h->shared) {
        TRY(stream_use(h));
        if (!on_device(h, val))
            TRY(on_host("val", val, bytes));
    }
    TRY(device_copy(&h->device, own, val, bytes));
    TRY(device_sync(&h->device)); /* the caller may change his */
done:
    return status;
}

heddle_status heddle_update_values(heddle *h, heddle_matrix *A, const void *val)
{
    RETURN_ALONE(h, matrix_values(h, A, val));
}

/* Which operation's kernel multiplies with the caller's values as they are; -1: none does. */
static int refers(const heddle_plan *p)
{
    for (int op = 0; op < 2; op++)
        if (p->bound[op] && bound_refers(p->bound[op]))
            return op;
    return -1;
}

/* Values of the host to the device, where they stay if products read them there. */
static heddle_status values_stage(heddle_plan *p, const void *val, int64_t bytes)
{
    heddle_status status;
    int op = refers(p);
    TRY(on_host("val", val, bytes));
    if (!p->values) {
        if (op >= 0 && p->desc[op].bytes > p->limit - bytes)
            TRY(fail(HEDDLE_NO_MEMORY,
                     "%s would hold %" PRId64 " bytes of values beyond the matrix, %" PRId64
                     " are allowed: give them on the device",
                     p->desc[op].kernel, bytes, p->limit));
        TRY(device_alloc(&p->h->device, &p->values, bytes));
        if (op >= 0)
            p->desc[op].bytes += bytes;
    }
    TRY(device_copy(&p->h->device, p->values, val, bytes));
    TRY(device_sync(&p->h->device)); /* the caller may change them */
done:
    return status;
}

static heddle_status values_set(heddle_plan *p, void *val)
{
    heddle_status status = HEDDLE_OK;
    struct view A = p->A->view;
    A.csr.val = A.coo.val = val;
    p->val = val;
    for (int op = 0; op < 2; op++)
        if (p->bound[op]) {
            bound_use_stream(p->bound[op], p->h->device.stream);
            TRY(bound_update(p->bound[op], &A));
        }
done:
    return status;
}

static heddle_status update_values(heddle_plan *p, const void *val)
{
    heddle_status status = HEDDLE_OK;
    int64_t size = (int64_t)type_size(view_value(&p->A->view)), nnz = view_nnz(&p->A->view);
    if (p->fixed)
        return fail(HEDDLE_BAD_ARGUMENT, "the plan was made for values that never change (values_fixed)");
    TRY(check_values(p->h, &p->A->view, val));
    if (nnz == 0)
        return HEDDLE_OK;
    if (p->h->shared)
        TRY(stream_use(p->h));
    int stages = p->h->shared && !on_device(p->h, val);
    if (stages)
        TRY(values_stage(p, val, nnz * size));
    TRY(values_set(p, stages ? p->values : (void *)(uintptr_t)val));
    if (p->values && (!stages || refers(p) < 0)) { /* nobody reads it any more */
        TRY(device_sync(&p->h->device));
        device_free(&p->h->device, p->values);
        p->values = NULL;
        p->val = stages ? NULL : val;
        if (refers(p) >= 0)
            p->desc[refers(p)].bytes -= nnz * size;
    }
done:
    return status;
}

heddle_status heddle_plan_update_values(heddle_plan *p, const void *val)
{
    if (!p)
        return no_plan();
    RETURN_ALONE(p->h, update_values(p, val));
}

static heddle_status plan_info(const heddle_plan *p, heddle_op op, heddle_plan_desc *desc)
{
    int number;
    heddle_status status = plan_op(p, op, &number);
    if (status != HEDDLE_OK)
        return status;
    if (!desc || (unsigned)op > HEDDLE_H)
        return fail(HEDDLE_BAD_ARGUMENT, "%s", desc ? "not an operation" : "desc is NULL");
    *desc = p->desc[number];
    return HEDDLE_OK;
}

heddle_status heddle_plan_info(const heddle_plan *p, heddle_op op, heddle_plan_desc *desc)
{
    if (!p)
        return no_plan();
    RETURN_ALONE(p->h, plan_info(p, op, desc));
}
