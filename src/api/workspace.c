/* SPDX-License-Identifier: MIT
 *
 * workspace.c: what a handle works in, and in which order.  The products of a handle share its workspace,
 * so they must run one after another, also when the caller changes the stream between them; and a graph
 * that was captured goes on using the addresses that it met, so memory which has become too small stays. */
#include "api/api.h"
#include "base/memory.h"

static const struct gpu_driver *driver(const heddle *h)
{
    return gpu_driver_of(h->device.gpu);
}

/* ---- order ---- */

/* What is captured does not run now: the order of a graph among other work is the caller's. */
static int captured(const heddle *h)
{
    return driver(h)->capturing && driver(h)->capturing(h->device.gpu, h->device.stream);
}

static heddle_status catch_up(heddle *h)
{
    heddle_status status = HEDDLE_OK;
    if (!h->behind || captured(h))
        return HEDDLE_OK;
    TRY(driver(h)->stream_wait(h->device.gpu, h->device.stream, h->left));
    h->behind = 0;
done:
    return status;
}

heddle_status stream_use(heddle *h)
{
    h->used = 1;
    return h->behind ? catch_up(h) : HEDDLE_OK;
}

/* Marks the end of what the handle has given to its stream, and to those before it. */
static heddle_status leave_stream(heddle *h)
{
    heddle_status status = HEDDLE_OK;
    if (!driver(h)->stream_wait || !h->used || captured(h))
        return HEDDLE_OK;
    TRY(catch_up(h));
    if (!h->left)
        TRY(driver(h)->event_new(h->device.gpu, &h->left));
    TRY(driver(h)->event_record(h->device.gpu, h->left, h->device.stream));
    h->behind = 1;
done:
    return status;
}

static heddle_status set_stream(heddle *h, void *stream)
{
    heddle_status status = HEDDLE_OK;
    if (!h->shared)
        return fail(HEDDLE_BAD_ARGUMENT, "a CPU handle has no stream");
    if (stream == h->device.stream)
        return HEDDLE_OK;
    TRY(leave_stream(h));
    h->device.stream = stream;
    h->used = 0;
    TRY(catch_up(h));
done:
    return status;
}

heddle_status heddle_set_stream(heddle *h, void *stream)
{
    RETURN_ALONE(h, set_stream(h, stream));
}

static heddle_status synchronise(heddle *h)
{
    heddle_status status = HEDDLE_OK;
    if (h->behind)
        TRY(catch_up(h));
    TRY(device_sync(&h->device));
    h->used = 0;
done:
    return status;
}

heddle_status heddle_sync(heddle *h)
{
    RETURN_ALONE(h, synchronise(h));
}

/* ---- memory ---- */

/* What has become too small; a CPU has no graphs. */
static heddle_status outgrow(heddle *h, void *p)
{
    heddle_status status = HEDDLE_OK;
    struct outgrown *o = NULL;
    if (!h->shared || !p) {
        device_free(&h->device, p);
        return HEDDLE_OK;
    }
    TRY(NEW(o, 1));
    *o = (struct outgrown){h->outgrown, p};
    h->outgrown = o;
done:
    return status;
}

/* At least twice as much as before where there is memory for it, so that all that is kept is less than
 * what is in use. */
static heddle_status alloc_larger(const heddle *h, void **p, int64_t have, int64_t *bytes)
{
    struct error_text kept;
    error_keep(&kept);
    if (h->shared && have > *bytes - have && device_alloc(&h->device, p, 2 * have) == HEDDLE_OK) {
        *bytes = 2 * have;
        return HEDDLE_OK;
    }
    error_put_back(&kept);
    return device_alloc(&h->device, p, *bytes);
}

/* Grows a room to `bytes`, all of them 0; what was in it is lost. */
static heddle_status grow(heddle *h, void **p, int64_t *have, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    void *larger = NULL;
    if (bytes <= *have)
        return HEDDLE_OK;
    TRY(alloc_larger(h, &larger, *have, &bytes));
    TRY(device_fill(&h->device, larger, 0, bytes));
    TRY(outgrow(h, *p));
    *p = larger;
    *have = bytes;
    larger = NULL;
done:
    device_free(&h->device, larger);
    return status;
}

/* Nothing that goes through the stage can be captured, and every product that does is waited for: the old
 * one goes at once. */
heddle_status stage_reserve(heddle *h, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    void *larger = NULL;
    if (bytes <= h->stage_bytes)
        return HEDDLE_OK;
    TRY(device_alloc(&h->device, &larger, bytes));
    device_free(&h->device, h->stage);
    h->stage = larger;
    h->stage_bytes = bytes;
done:
    return status;
}

heddle_status handle_reserve(heddle *h, const heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    if (!A)
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix is NULL");
    if (h->shared)
        TRY(stream_use(h));
    TRY((h->deterministic ? repeatable_load : immediate_load)(&h->device, &A->view));
    struct room needed = (h->deterministic ? repeatable_room : immediate_room)(&h->device, &A->view);
    TRY(grow(h, &h->room.workspace, &h->room.workspace_bytes, needed.workspace_bytes));
    TRY(grow(h, &h->room.counters, &h->room.counters_bytes, needed.counters_bytes));
    if (h->shared)
        TRY(stage_reserve(h, stage_bytes(&A->view)));
done:
    return status;
}

heddle_status many_reserve(heddle *h, const struct many *m)
{
    heddle_status status = HEDDLE_OK;
    const uint64_t kind = (uint64_t)1 << many_kind(m);
    struct room needed = {0};
    many_room(&needed, m);
    if (h->many & kind && needed.workspace_bytes <= h->room.workspace_bytes &&
        needed.counters_bytes <= h->room.counters_bytes)
        return HEDDLE_OK;
    if (h->shared && captured(h))
        return fail(HEDDLE_NO_WORKSPACE,
                    "the stream is being captured, and the handle is not ready for this product, which needs "
                    "%lld bytes of workspace: call heddle_reserve_mm before",
                    (long long)(needed.workspace_bytes + needed.counters_bytes));
    TRY(many_load(m));
    TRY(grow(h, &h->room.workspace, &h->room.workspace_bytes, needed.workspace_bytes));
    TRY(grow(h, &h->room.counters, &h->room.counters_bytes, needed.counters_bytes));
    h->many |= kind;
done:
    return status;
}

heddle_status heddle_reserve(heddle *h, const heddle_matrix *A)
{
    RETURN_ALONE(h, handle_reserve(h, A));
}

void workspace_free(heddle *h)
{
    for (struct outgrown *o = h->outgrown, *next; o; o = next) {
        next = o->next;
        device_free(&h->device, o->p);
        mem_free(o);
    }
    device_free(&h->device, h->room.workspace);
    device_free(&h->device, h->room.counters);
    device_free(&h->device, h->stage);
    if (h->left)
        driver(h)->event_free(h->device.gpu, h->left);
}
