/* SPDX-License-Identifier: MIT
 *
 * Several vectors at once.  Two ways: a kernel that takes them all, where there is one for the arrays; else
 * one vector after another by the kernel of a single one, to which vectors that lie by rows are brought by
 * columns first, a tile of them at a time. */
#include "base/memory.h"
#include "convert/service.h"
#include "plan/run.h"

const struct kernel *many_kernel(const struct device *device, heddle_type value, enum format_id format,
                                 int transposed)
{
    if (format != FORMAT_csr)
        return NULL;
    const struct kernel *kernel = device->kind == DEVICE_gpu
                                    ? kernel_at(transposed ? KERNEL_csr_mm_t : KERNEL_csr_mm)
                                    : kernel_at(transposed ? KERNEL_cpu_csr_mm_t : KERNEL_cpu_csr_mm);
    return kernel_has(kernel, value) ? kernel : NULL;
}

static heddle_type value_of(const struct many *m)
{
    return m->bound ? bound_work(m->bound)->value : view_value(m->A);
}

/* ---- all at once ---- */

/* With the plan's arrays, or else with A's. */
static int find_work(struct work *w, const struct many *m)
{
    struct stored stored;
    if (m->bound && bound_many(w, m->bound, m->repeatable))
        return 1;
    if (!m->A || stored_view(&stored, m->A) != HEDDLE_OK)
        return 0;
    const int transposed = stored_transposed(m->A, m->op);
    const struct kernel *kernel = many_kernel(
        m->device, view_value(m->A), m->A->format == HEDDLE_COO ? FORMAT_coo : FORMAT_csr, transposed);
    if (!kernel || (m->repeatable && !kernel->repeatable))
        return 0;
    *w = work_for(kernel, m->device, &stored, transposed, NULL);
    return !kernel->prepare || look_lend(w, m->A);
}

/* False: one by one.  A single vector is heddle_mv's in any case, to the last bit. */
static int at_once(struct work *w, const struct many *m)
{
    if (m->vectors == 1 || !find_work(w, m))
        return 0;
    w->product.vectors = m->vectors;
    w->product.conjugate = m->op == HEDDLE_H;
    w->product.x_step = m->x_step;
    w->product.y_step = m->y_step;
    return 1;
}

/* ---- one by one ---- */

/* Vectors that are brought by columns at a time: what lies side by side fills a sector of memory. */
#define TILE 8

/* The tile in the workspace, behind what the kernel works in: X's vectors, then Y's; no bytes for those that
 * lie by columns already. */
struct columns {
    int64_t tile, n_x, n_y, x_at, y_at, bytes;
};

static int64_t rounded(int64_t bytes)
{
    return (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
}

/* Of the kernel of a single vector; a plan's may have its own. */
static struct room one_room(const struct many *m)
{
    if (m->bound)
        return bound_room(m->bound);
    return (m->repeatable ? repeatable_room : immediate_room)(m->device, m->A);
}

static struct columns columns_of(const struct many *m, int64_t behind)
{
    int64_t size = (int64_t)vector_size(value_of(m));
    struct columns c = {.tile = m->vectors < TILE ? m->vectors : TILE, .x_at = rounded(behind)};
    if (m->bound) {
        const struct product *p = &bound_work(m->bound)->product;
        c.n_x = p->transposed ? p->rows : p->cols;
        c.n_y = p->transposed ? p->cols : p->rows;
    } else {
        c.n_x = m->op == HEDDLE_N ? view_cols(m->A) : view_rows(m->A);
        c.n_y = m->op == HEDDLE_N ? view_rows(m->A) : view_cols(m->A);
    }
    c.y_at = c.x_at + (m->x_step.entry == 1 ? 0 : rounded(c.tile * c.n_x * size));
    c.bytes = c.y_at + (m->y_step.entry == 1 ? 0 : rounded(c.tile * c.n_y * size));
    return c;
}

static heddle_status run_one(const struct many *m, struct scalars s, const void *x, void *y,
                             const struct room *room, const char **ran)
{
    if (m->bound) {
        heddle_status status = bound_use_room(m->bound, room);
        bound_conjugate(m->bound, m->op == HEDDLE_H);
        return status == HEDDLE_OK ? bound_run(m->bound, s, x, y) : status;
    }
    return (m->repeatable ? repeatable_run : immediate_run)(m->device, m->A, m->op, s, x, y, room, ran);
}

static heddle_status run_each(const struct many *m, struct scalars s, const struct room *room,
                              const char **ran)
{
    heddle_status status = HEDDLE_OK;
    const int64_t size = (int64_t)vector_size(value_of(m));
    const struct columns c = columns_of(m, one_room(m).workspace_bytes);
    const struct steps by_columns_x = {1, c.n_x}, by_columns_y = {1, c.n_y};
    for (int64_t v = 0; v < m->vectors; v += c.tile) {
        const int64_t count = m->vectors - v < c.tile ? m->vectors - v : c.tile;
        const char *x = (const char *)m->x + v * m->x_step.vector * size;
        char *y = (char *)m->y + v * m->y_step.vector * size, *to = y;
        int64_t x_next = m->x_step.vector, y_next = m->y_step.vector;
        if (m->x_step.entry != 1) {
            char *tile = (char *)room->workspace + c.x_at;
            TRY(relayout_run(m->device, value_of(m),
                             &(struct relayout){c.n_x, count, x, tile, m->x_step, by_columns_x, 0, NULL}));
            x = tile;
            x_next = c.n_x;
        }
        if (m->y_step.entry != 1) {
            to = (char *)room->workspace + c.y_at;
            y_next = c.n_y;
            if (s.beta != 0 || s.beta_at)
                TRY(relayout_run(m->device, value_of(m),
                                 &(struct relayout){c.n_y, count, y, to, m->y_step, by_columns_y, 0, NULL}));
        }
        for (int64_t i = 0; i < count; i++)
            TRY(run_one(m, s, x + i * x_next * size, to + i * y_next * size, room, ran));
        if (to != y)
            TRY(relayout_run(m->device, value_of(m),
                             &(struct relayout){c.n_y, count, to, y, by_columns_y, m->y_step, 0, NULL}));
    }
done:
    return status;
}

/* ---- either ---- */

void many_room(struct room *room, const struct many *m)
{
    struct work w;
    struct room needed = {0};
    if (at_once(&w, m)) {
        needed.workspace_bytes = work_workspace(&w);
        needed.counters_bytes = work_counters(&w);
    } else {
        needed = one_room(m);
        needed.workspace_bytes = columns_of(m, needed.workspace_bytes).bytes;
    }
    if (needed.workspace_bytes > room->workspace_bytes)
        room->workspace_bytes = needed.workspace_bytes;
    if (needed.counters_bytes > room->counters_bytes)
        room->counters_bytes = needed.counters_bytes;
}

int many_kind(const struct many *m)
{
    const struct source source = m->bound ? (struct source){0} : view_source(m->A);
    const enum variant variant =
        m->bound ? bound_work(m->bound)->variant : variant_of(source.csr.value, source.csr.offset);
    return 2 * (int)variant + (m->repeatable != 0);
}
_Static_assert(2 * VARIANT_COUNT <= 64, "many_kind is below 64");

/* For both operations: they are of one kind. */
heddle_status many_load(const struct many *m)
{
    heddle_status status = HEDDLE_OK;
    const enum variant variant = (enum variant)(many_kind(m) / 2);
    if (m->device->kind == DEVICE_cpu)
        return HEDDLE_OK;
    TRY(gpu_relayout_load(m->device, value_of(m)));
    for (int transposed = 0; transposed <= 1; transposed++)
        if (many_kernel(m->device, value_of(m), FORMAT_csr, transposed))
            TRY(kernel_load(m->device, many_kernel(m->device, value_of(m), FORMAT_csr, transposed), variant));
    if (m->repeatable && m->A)
        TRY(repeatable_load(m->device, m->A));
done:
    return status;
}

/* Is Y = beta Y all there is to do, with neither A nor X read? */
static int is_scaling(const struct many *m, struct scalars s)
{
    return scalars_drop(s) || (m->bound ? bound_work(m->bound)->product.nnz : view_nnz(m->A)) == 0;
}

heddle_status many_run(const struct many *m, struct scalars s, const struct room *room, const char **ran)
{
    heddle_status status = HEDDLE_OK;
    struct work w;
    int launched;
    if (is_scaling(m, s)) {
        const struct columns c = columns_of(m, 0);
        *ran = "scale";
        return relayout_run(m->device, value_of(m),
                            &(struct relayout){.n = c.n_y,
                                               .vectors = m->vectors,
                                               .to = m->y,
                                               .to_step = m->y_step,
                                               .beta = s.beta,
                                               .beta_at = s.beta_at});
    }
    if (!at_once(&w, m))
        return run_each(m, s, room, ran);
    w.product.workspace = room->workspace;
    w.product.counters = room->counters;
    *ran = w.kernel->name;
    TRY(product_run(&w, s, m->x, m->y, &launched));
done:
    return status;
}
