/* SPDX-License-Identifier: MIT */
#include "bench/candidate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "subject/choice.h"

/* Nothing but a place to work in, which heddle_mv then has. */
static heddle_status new_auto(struct candidate *c, const char *name)
{
    heddle_status status = HEDDLE_OK;
    struct choice choice;
    TRY(choice_options(name, &choice));
    c->deterministic = choice.deterministic;
    if (!c->deterministic)
        return HEDDLE_OK;
    struct room all = repeatable_room(&c->h->device, &c->A->view),
                usual = immediate_room(&c->h->device, &c->A->view);
    TRY(heddle_set_deterministic(c->h, 1));
    TRY(heddle_reserve(c->h, c->A));
    c->bytes = all.workspace_bytes + all.counters_bytes - usual.workspace_bytes - usual.counters_bytes;
done:
    heddle_set_deterministic(c->h, 0);
    return status;
}

static heddle_status new_plan(struct candidate *c, const char *name)
{
    heddle_status status = HEDDLE_OK;
    heddle_plan_desc desc;
    heddle_plan_options options = {.ops = c->op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T};
    struct choice choice;
    TRY(choice_options(name, &choice));
    options.deterministic = choice.deterministic;
    options.cache = choice.cache;
    options.values_fixed = c->fixed = choice.values_fixed;
    TRY(heddle_plan_create(&c->plan, c->h, c->A, &options));
    TRY(heddle_plan_info(c->plan, c->op, &desc));
    snprintf(c->ran, sizeof c->ran, "%s", desc.kernel);
    snprintf(c->format, sizeof c->format, "%s", desc.format);
    c->value = desc.value;
    c->transposed = desc.transposed;
    c->repeatable = desc.deterministic;
    c->bytes = desc.bytes;
    c->prepare_ms = desc.prepare_ms;
    c->break_even = desc.break_even;
    c->plan_ms = desc.plan_ms;
    struct bound_info info;
    bound_describe(c->plan->bound[c->op != HEDDLE_N], &info);
    c->read = (double)info.read;
done:
    return status;
}

static heddle_status new_bound(struct candidate *c, const char *name)
{
    struct bound_info info;
    heddle_status status = bound_new(&c->bound, &c->h->device, name, &c->A->view, c->op);
    if (status != HEDDLE_OK)
        return status;
    bound_describe(c->bound, &info);
    snprintf(c->ran, sizeof c->ran, "%s", info.kernel);
    snprintf(c->format, sizeof c->format, "%s", info.format);
    c->transposed = info.transposed;
    c->repeatable = info.repeatable;
    c->bytes = info.bytes;
    c->convert_ms = info.convert_ms;
    c->prepare_ms = info.prepare_ms;
    c->read = (double)info.read;
    c->fixed = format_at((enum format_id)format_by_name(info.format))->valued;
    return HEDDLE_OK;
}

/* The bytes of the arrays that a library is given; what it makes of them for itself, as those of CPUs do,
 * nobody tells. */
static double peer_reads(const struct peer *p)
{
    double entries = (double)p->A.nnz * (double)(sizeof(int32_t) + type_size(p->A.value));
    int as_given = p->row->library == PEER_LIBRARY_eigen || p->row->library == PEER_LIBRARY_scipy;
    if (strcmp(peer_library_devices(p->row->library), "cpu") == 0 && !as_given)
        return NAN;
    if (p->row->format == PEER_csr)
        return (double)csr_bytes(&p->A);
    /* sell: without padding; coo: and rows */
    return p->row->format == PEER_bsr ? fmin(entries, (double)p->arrays.bytes) : entries;
}

static heddle_status new_peer(struct candidate *c, const char *name)
{
    static const char *const formats[] = {
        [PEER_csr] = "csr", [PEER_coo] = "coo", [PEER_sell] = "sell", [PEER_bsr] = "bsr"};
    heddle_status status = HEDDLE_OK;
    if (c->A->view.format != HEDDLE_CSR)
        return fail(HEDDLE_NOT_SUPPORTED, "peers are measured on CSR matrices");
    TRY(peer_new(&c->peer, &c->h->device, &c->A->view.csr, c->op, c->vectors, name));
    snprintf(c->ran, sizeof c->ran, "%s", name);
    snprintf(c->format, sizeof c->format, "%s", formats[c->peer->row->format]);
    c->repeatable = 0; /* not known */
    c->bytes = c->peer->arrays.bytes + c->peer->workspace_bytes;
    c->convert_ms = c->peer->convert_ms;
    c->prepare_ms = c->peer->prepare_ms;
    c->read = peer_reads(c->peer);
done:
    return status;
}

heddle_status candidate_new(struct candidate *c, heddle *h, const heddle_matrix *A, heddle_op op,
                            struct vector_group vectors, const char *name)
{
    heddle_status status = HEDDLE_OK;
    *c = (struct candidate){.h = h, .A = A, .op = op, .vectors = vectors, .format = "csr", .repeatable = 1};
    c->value = value_type(view_value(&A->view));
    snprintf(c->name, sizeof c->name, "%s", name);
    if (A->view.format == HEDDLE_CSR)
        c->read = (double)csr_bytes(&A->view.csr);
    if (choice_is(name, "plan"))
        status = new_plan(c, name);
    else if (peer_is_name(name))
        status = new_peer(c, name);
    else
        status = choice_is(name, "auto") ? new_auto(c, name) : new_bound(c, name);
    if (status != HEDDLE_OK)
        candidate_free(c);
    return status;
}

void candidate_free(struct candidate *c)
{
    heddle_plan_free(c->plan);
    bound_free(c->bound);
    peer_free(c->peer);
    *c = (struct candidate){0};
}

heddle_status candidate_use(struct candidate *c, const heddle_matrix *A)
{
    c->A = A;
    if (c->bound)
        return bound_update(c->bound, &A->view);
    if (c->plan)
        return heddle_plan_update_values(c->plan, A->view.csr.val);
    if (!c->peer)
        return HEDDLE_OK;
    peer_free(c->peer);
    return peer_new(&c->peer, &c->h->device, &A->view.csr, c->op, c->vectors, c->name);
}

/* What Heddle chose, told by the product itself. */
static void learn(struct candidate *c)
{
    const char *last = heddle_last_kernel(c->h);
    const struct kernel *kernel = kernel_by_name(last);
    c->learnt = 1;
    if (!last[0] || strcmp(last, c->ran) == 0)
        return;
    snprintf(c->ran, sizeof c->ran, "%s", last);
    c->repeatable = !kernel || kernel->repeatable;
}

static heddle_status run_several(struct candidate *c, struct scalars s, const void *a, const void *x,
                                 const void *b, void *y)
{
    const int count = vectors_count(c->vectors);
    const heddle_layout layout = c->vectors.layout;
    if (c->plan)
        return heddle_plan_mm(c->plan, c->op, a, count, layout, x, 0, b, y, 0);
    if (!c->bound)
        return heddle_mm(c->h, c->op, a, c->A, count, layout, x, 0, b, y, 0);
    c->h->last_kernel = ""; /* stays so where it goes one by one */
    return multiply_bound(c->h, &(struct request){c->A, c->op, c->bound, s, x, y}, count, layout);
}

heddle_status candidate_run(struct candidate *c, struct scalars s, const void *x, void *y)
{
    const heddle_type vector = vector_type(view_value(&c->A->view));
    const int several = vectors_count(c->vectors) > 1;
    heddle_status status;
    c64 a, b; /* room for any type */
    value_put(&a, vector, 0, s.alpha);
    value_put(&b, vector, 0, s.beta);
    if (c->peer)
        return peer_run(c->peer, s, x, y);
    c->h->deterministic = c->deterministic; /* the handle is everybody's */
    if (several)
        status = run_several(c, s, &a, x, &b, y);
    else if (c->bound)
        status = multiply(c->h, &(struct request){c->A, c->op, c->bound, s, x, y});
    else if (c->plan)
        status = heddle_plan_mv(c->plan, c->op, &a, x, &b, y);
    else
        status = heddle_mv(c->h, c->op, &a, c->A, x, &b, y);
    c->h->deterministic = 0;
    if (status == HEDDLE_OK && !c->learnt && (several || (!c->bound && !c->plan)))
        learn(c);
    return status;
}

heddle_status candidate_check(const char *name)
{
    return peer_is_name(name) ? peer_check(name) : choice_check(name);
}

/* Adds one name, once. */
static heddle_status add(struct candidate_list *list, const char *name, size_t size)
{
    if (size >= CANDIDATE_NAME)
        return fail(HEDDLE_BAD_ARGUMENT, "the kernel '%.20s...' is longer than %d characters", name,
                    CANDIDATE_NAME - 1);
    if (list->count == CANDIDATES_MOST)
        return fail(HEDDLE_BAD_ARGUMENT, "more than %d kernels are asked for", CANDIDATES_MOST);
    char *item = list->name[list->count];
    memcpy(item, name, size);
    item[size] = 0;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->name[i], item) == 0)
            return HEDDLE_OK;
    heddle_status status = candidate_check(item);
    list->count += status == HEDDLE_OK;
    return status;
}

static heddle_status add_every(struct candidate_list *list, const char *device)
{
    heddle_status status = HEDDLE_OK;
    heddle_kernel_desc desc;
    TRY(add(list, "auto", strlen("auto")));
    TRY(add(list, "plan", strlen("plan")));
    for (int i = 0; i < heddle_kernel_count(); i++) {
        TRY(heddle_kernel_info(i, &desc));
        if (strcmp(desc.device, device) == 0)
            TRY(add(list, desc.name, strlen(desc.name)));
    }
done:
    return status;
}

/* The end of the name that begins at `text`: the first comma that no key=value follows. */
static const char *name_end(const char *text)
{
    const char *end = text + strcspn(text, ",");
    while (*end) {
        size_t next = strcspn(end + 1, ",:=");
        if (end[1 + next] != '=')
            break;
        end += 1 + strcspn(end + 1, ",");
    }
    return end;
}

heddle_status candidates_add(struct candidate_list *list, const char *text, const char *device)
{
    heddle_status status = HEDDLE_OK;
    for (;;) {
        const char *end = name_end(text);
        if (end - text == 3 && strncmp(text, "all", 3) == 0)
            TRY(add_every(list, device));
        else
            TRY(add(list, text, (size_t)(end - text)));
        if (!*end)
            break;
        text = end + 1;
    }
done:
    return status;
}

/* Every algorithm of a library, and without its preparation where that can be left out.  Where the device
 * cannot have it, the first one is enough to say so. */
static heddle_status add_library(struct candidate_list *list, int library, const char *driver,
                                 enum peer_vectors vectors)
{
    heddle_status status = HEDDLE_OK;
    char name[CANDIDATE_NAME];
    for (const struct peer_row *r = peer_rows; r->name; r++)
        for (int without = 0; without <= r->preprocess && (int)r->library == library && vectors & r->vectors;
             without++) {
            int size = snprintf(name, sizeof name, "%s:%s%s", peer_library_name(r->library), r->name,
                                without ? ":preprocess=0" : "");
            TRY(add(list, name, (size_t)size));
            if (!peer_suits((enum peer_library_id)library, driver))
                goto done;
        }
done:
    return status;
}

/* One word of --peer, `size` bytes long. */
static heddle_status add_peer(struct candidate_list *list, const char *word, size_t size, const char *driver,
                              enum peer_vectors vectors)
{
    heddle_status status = HEDDLE_OK;
    int all = size == 3 && strncmp(word, "all", 3) == 0;
    int found = 0;
    for (int i = 0; i < PEER_LIBRARIES; i++) {
        const char *name = peer_library_name((enum peer_library_id)i);
        if (all ? strcmp(peer_library_devices((enum peer_library_id)i), driver) == 0
                : strlen(name) == size && strncmp(name, word, size) == 0) {
            TRY(add_library(list, i, driver, vectors));
            found = 1;
        }
    }
    if (!found && !all) {
        char name[CANDIDATE_NAME];
        snprintf(name, sizeof name, "%.*s", (int)size, word);
        TRY(peer_check(name));
        TRY(add(list, word, size));
    }
done:
    return status;
}

heddle_status candidates_add_peers(struct candidate_list *list, const char *text, const char *driver,
                                   enum peer_vectors vectors)
{
    heddle_status status = HEDDLE_OK;
    for (;;) {
        const char *end = name_end(text);
        TRY(add_peer(list, text, (size_t)(end - text), driver, vectors));
        if (!*end)
            break;
        text = end + 1;
    }
done:
    return status;
}
