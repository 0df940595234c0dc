/* SPDX-License-Identifier: MIT
 *
 * many.c: products with several vectors, immediate and planned. */
#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"

/* X or Y as the caller gives it: `runs` runs of `length` numbers that lie side by side, one every `ld`. */
struct side {
    const char *name;
    char *at;
    int64_t entries, runs, length, ld; /* entries: of a vector */
    int64_t size;                      /* bytes of a number */
    struct steps step;
};

/* The arguments; everything that can be wrong with them is found before Y is touched. */
struct mm_call {
    heddle_op op;
    const heddle_matrix *A;
    const void *alpha, *beta;
    int64_t vectors;
    heddle_layout layout;
    const void *x;
    void *y;
    int64_t ldx, ldy;
};

static int64_t numbers(const struct side *s)
{
    return s->runs * s->length;
}

/* Bytes from the first number to behind the last. */
static int64_t span(const struct side *s)
{
    return numbers(s) == 0 ? 0 : ((s->runs - 1) * s->ld + s->length) * s->size;
}

static struct side side_of(const char *name, const void *at, const struct mm_call *c, int64_t entries,
                           int64_t ld)
{
    const int by_rows = c->layout == HEDDLE_ROW_MAJOR;
    struct side s = {.name = name, .at = (char *)(uintptr_t)at, .entries = entries};
    s.runs = by_rows ? entries : c->vectors;
    s.length = by_rows ? c->vectors : entries;
    s.ld = ld ? ld : s.length > 0 ? s.length : 1;
    s.size = (int64_t)vector_size(view_value(&c->A->view));
    s.step = (struct steps){by_rows ? s.ld : 1, by_rows ? 1 : s.ld};
    return s;
}

static heddle_status check_side(const struct side *s)
{
    const char *ld = s->name[0] == 'X' ? "ldx" : "ldy", *run = s->step.vector == 1 ? "row" : "column";
    if (s->ld < s->length)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is %" PRId64 ", but a %s of %s has %" PRId64 " numbers", ld,
                    s->ld, run, s->name, s->length);
    if (s->runs > 0 && s->ld > (INT64_MAX / s->size - s->length) / s->runs)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is %" PRId64 ": %s would reach beyond any memory", ld, s->ld,
                    s->name);
    if (!s->at && numbers(s) > 0)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is NULL, but has %" PRId64 " numbers", s->name, numbers(s));
    if ((uintptr_t)s->at % (uintptr_t)s->size)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is not aligned to its elements of %d bytes", s->name,
                    (int)s->size);
    return HEDDLE_OK;
}

/* Do they share a number?  Runs at the same distance may lie between each other. */
static int overlap(const struct side *x, const struct side *y)
{
    const uintptr_t a = (uintptr_t)x->at, b = (uintptr_t)y->at;
    if (numbers(x) == 0 || numbers(y) == 0 || a >= b + (uintptr_t)span(y) || b >= a + (uintptr_t)span(x))
        return 0;
    const int64_t apart = (int64_t)(b - a) / x->size % x->ld, from_x = apart < 0 ? apart + x->ld : apart;
    return x->ld != y->ld || from_x < x->length || from_x + y->length > x->ld;
}

static heddle_status check_call(heddle *h, const struct mm_call *c, struct side *x, struct side *y,
                                struct scalars *s)
{
    heddle_status status = HEDDLE_OK;
    TRY(check_operation(h, c->A, c->op));
    if (c->vectors < 0)
        return fail(HEDDLE_BAD_ARGUMENT, "the number of vectors is %" PRId64, c->vectors);
    if (c->layout != HEDDLE_COLUMN_MAJOR && c->layout != HEDDLE_ROW_MAJOR)
        return fail(HEDDLE_BAD_ARGUMENT, "%d is not a layout: HEDDLE_COLUMN_MAJOR or HEDDLE_ROW_MAJOR",
                    (int)c->layout);
    const int64_t rows = view_rows(&c->A->view), cols = view_cols(&c->A->view);
    *x = side_of("X", c->x, c, c->op == HEDDLE_N ? cols : rows, c->ldx);
    *y = side_of("Y", c->y, c, c->op == HEDDLE_N ? rows : cols, c->ldy);
    TRY(check_side(x));
    TRY(check_side(y));
    if (overlap(x, y))
        return fail(HEDDLE_BAD_ARGUMENT,
                    "X and Y overlap: the product would read what it has already written");
    TRY(check_scalars(h, c->A, c->alpha, c->beta, y->at, span(y) / y->size, s));
done:
    return status;
}

static heddle_status run(heddle *h, struct many *m, struct scalars s, const struct side *x,
                         const struct side *y)
{
    heddle_status status = HEDDLE_OK;
    m->x = x->at;
    m->y = y->at;
    m->x_step = x->step;
    m->y_step = y->step;
    TRY(many_reserve(h, m));
    TRY(many_run(m, s, &h->room, &h->last_kernel));
done:
    return status;
}

/* ---- vectors of the host on their way through a GPU ---- */

static struct side packed(const struct side *s, void *at)
{
    struct side p = *s;
    p.at = at;
    p.ld = s->length;
    p.step = s->step.vector == 1 ? (struct steps){p.ld, 1} : (struct steps){1, p.ld};
    return p;
}

static void copy_runs(const struct side *to, const struct side *from)
{
    for (int64_t i = 0; i < from->runs; i++)
        memcpy(to->at + i * to->ld * to->size, from->at + i * from->ld * from->size,
               (size_t)(from->length * from->size));
}

/* Without what lies between the runs, which belongs to others.  `here` is the host's room for it, NULL where
 * there is nothing between them. */
static heddle_status send(heddle *h, const struct side *there, const struct side *from, void *here)
{
    if (here)
        copy_runs(&(struct side){.at = here, .ld = from->length, .size = from->size}, from);
    return device_copy(&h->device, there->at, here ? here : from->at, numbers(from) * from->size);
}

struct staging {
    int stages;        /* it lies on the host */
    void *here;        /* the host's room, if there is need for one */
    struct side there; /* where the kernels find it */
};

static heddle_status stage(heddle *h, struct staging *t, const struct side *s, int64_t at)
{
    heddle_status status = HEDDLE_OK;
    t->there = *s;
    if (!t->stages)
        return HEDDLE_OK;
    TRY(on_host(s->name, s->at, span(s)));
    t->there = packed(s, (char *)h->stage + at);
    if (s->ld != s->length && s->runs > 1)
        TRY((t->here = mem_alloc(numbers(s), (size_t)s->size)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
done:
    return status;
}

static int64_t rounded(int64_t bytes)
{
    return (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
}

static heddle_status run_staged(heddle *h, struct many *m, struct scalars s, const struct side *x,
                                const struct side *y)
{
    heddle_status status = HEDDLE_OK;
    const int64_t x_bytes = rounded(numbers(x) * x->size), y_bytes = numbers(y) * y->size;
    struct staging tx = {.stages = !on_device(h, x->at)}, ty = {.stages = !on_device(h, y->at)};
    TRY(stage_reserve(h, x_bytes + y_bytes));
    TRY(stage(h, &tx, x, 0));
    TRY(stage(h, &ty, y, x_bytes));
    if (tx.stages)
        TRY(send(h, &tx.there, x, tx.here));
    if (ty.stages && (s.beta != 0 || s.beta_at))
        TRY(send(h, &ty.there, y, ty.here));
    TRY(run(h, m, s, &tx.there, &ty.there));
    if (ty.stages)
        TRY(device_copy(&h->device, ty.here ? ty.here : y->at, ty.there.at, y_bytes));
    TRY(device_sync(&h->device));
    if (ty.here) {
        const struct side got = packed(y, ty.here);
        copy_runs(y, &got);
    }
done:
    mem_free(tx.here);
    mem_free(ty.here);
    return status;
}

/* ---- products ---- */

static heddle_status multiply_many(heddle *h, struct many *m, struct scalars s, const struct side *x,
                                   const struct side *y)
{
    void *before;
    if (!h->shared)
        return run(h, m, s, x, y);
    heddle_status status = gpu_hold(h->device.gpu, &before);
    if (status != HEDDLE_OK)
        return status;
    TRY(scalars_there(h, s));
    TRY(stream_use(h));
    TRY((on_device(h, x->at) && on_device(h, y->at) ? run : run_staged)(h, m, s, x, y));
done:
    gpu_let_go(h->device.gpu, before);
    return status;
}

heddle_status multiply_bound(heddle *h, const struct request *r, int64_t vectors, heddle_layout layout)
{
    const struct mm_call c = {.A = r->A, .vectors = vectors, .layout = layout};
    const int64_t rows = view_rows(&r->A->view), cols = view_cols(&r->A->view);
    const struct side x = side_of("X", r->x, &c, r->op == HEDDLE_N ? cols : rows, 0),
                      y = side_of("Y", r->y, &c, r->op == HEDDLE_N ? rows : cols, 0);
    struct many m = {.device = &h->device, .op = r->op, .bound = r->bound, .vectors = vectors};
    bound_use_stream(r->bound, h->device.stream);
    return numbers(&y) == 0 ? HEDDLE_OK : multiply_many(h, &m, r->scalars, &x, &y);
}

/* By the plan, or (NULL) at once.  One vector whose numbers lie side by side is heddle_mv's. */
static heddle_status product(heddle *h, const struct mm_call *c, heddle_plan *p)
{
    heddle_status status = HEDDLE_OK;
    struct scalars s;
    struct side x, y;
    struct view A;
    int number = 0;
    if (p)
        TRY(plan_op(p, c->op, &number));
    TRY(check_call(h, c, &x, &y, &s));
    if (numbers(&y) == 0)
        return HEDDLE_OK;
    struct bound *bound = p ? p->bound[number] : NULL;
    if (bound)
        bound_use_stream(bound, h->device.stream);
    if (c->vectors == 1 && (x.step.entry == 1 || x.entries == 1) && (y.step.entry == 1 || y.entries == 1)) {
        TRY(multiply(h, &(struct request){c->A, c->op, bound, s, c->x, c->y}));
    } else {
        A = c->A->view;
        if (p)
            A.csr.val = A.coo.val = (void *)(uintptr_t)p->val;
        struct many m = {.device = &h->device,
                         .A = p && !p->val && view_nnz(&A) > 0 ? NULL : &A,
                         .op = c->op,
                         .bound = bound,
                         .repeatable = h->deterministic || (p && p->deterministic),
                         .vectors = c->vectors};
        h->last_kernel = p ? p->desc[number].kernel : h->last_kernel;
        return multiply_many(h, &m, s, &x, &y);
    }
    if (p)
        h->last_kernel = p->desc[number].kernel;
done:
    return status;
}

heddle_status heddle_mm(heddle *h, heddle_op op, const void *alpha, const heddle_matrix *A, int64_t vectors,
                        heddle_layout layout, const void *X, int64_t ldx, const void *beta, void *Y,
                        int64_t ldy)
{
    RETURN_ALONE(h, product(h, &(struct mm_call){op, A, alpha, beta, vectors, layout, X, Y, ldx, ldy}, NULL));
}

heddle_status heddle_plan_mm(heddle_plan *p, heddle_op op, const void *alpha, int64_t vectors,
                             heddle_layout layout, const void *X, int64_t ldx, const void *beta, void *Y,
                             int64_t ldy)
{
    if (!p)
        return no_plan();
    RETURN_ALONE(p->h,
                 product(p->h, &(struct mm_call){op, p->A, alpha, beta, vectors, layout, X, Y, ldx, ldy}, p));
}

/* ---- reserve ---- */

static heddle_status reserve(heddle *h, const heddle_matrix *A, int64_t vectors)
{
    heddle_status status = HEDDLE_OK;
    const struct steps by_columns = {1, 2}, by_rows = {2, 1};
    if (vectors < 0)
        return fail(HEDDLE_BAD_ARGUMENT, "the number of vectors is %" PRId64, vectors);
    heddle_status refused = HEDDLE_OK; /* by memory that is lent: what all need is found out */
    TRY(handle_reserve(h, A));
    for (int i = 0; vectors > 0 && i < 4; i++) {
        const struct steps step = i & 1 ? by_rows : by_columns;
        status = many_reserve(h, &(struct many){.device = &h->device,
                                                .A = &A->view,
                                                .op = i & 2 ? HEDDLE_T : HEDDLE_N,
                                                .repeatable = h->deterministic,
                                                .vectors = vectors,
                                                .x_step = step,
                                                .y_step = step});
        refused = status == HEDDLE_OK ? refused : status;
        TRY(status == HEDDLE_NO_WORKSPACE ? HEDDLE_OK : status);
    }
    TRY(refused);
    if (h->shared && !h->is_lent)
        TRY(stage_reserve(h, vectors * stage_bytes(&A->view)));
done:
    return status;
}

heddle_status heddle_reserve_mm(heddle *h, const heddle_matrix *A, int64_t vectors)
{
    RETURN_ALONE(h, reserve(h, A, vectors));
}
