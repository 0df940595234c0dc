/* SPDX-License-Identifier: MIT
 *
 * workspace.c: what a handle works in, and in which order.  The products of a handle share its workspace,
 * so they must run one after another, also when the caller changes the stream between them; and a graph
 * that was captured goes on using the addresses that it met, so memory which has become too small stays.
 * The workspace is the handle's own or lent by the caller. */
#include <inttypes.h>

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
    gpu_many_streams();
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

/* Grows a workspace to `bytes`, all of them 0; what was in it is lost. */
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

heddle_status stage_refused(void)
{
    return fail(HEDDLE_NO_WORKSPACE, "vectors of the host need memory on the device, which a handle with a "
                                     "workspace of the caller's does not take: give them there");
}

/* Nothing that goes through the stage can be captured, and every product that does is waited for: the old
 * one goes at once. */
heddle_status stage_reserve(heddle *h, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    void *larger = NULL;
    if (h->is_lent)
        return stage_refused();
    if (bytes <= h->stage_bytes)
        return HEDDLE_OK;
    TRY(device_alloc(&h->device, &larger, bytes));
    device_free(&h->device, h->stage);
    h->stage = larger;
    h->stage_bytes = bytes;
done:
    return status;
}

/* ---- the caller's memory ---- */

#define ROOM_ALIGN 64 /* as product.h promises it */

static int64_t rounded(int64_t bytes)
{
    return (bytes + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
}

static int64_t room_bytes(const struct room *r)
{
    return rounded(r->workspace_bytes) + rounded(r->counters_bytes);
}

/* Workspaces from the beginning on, counters up to the end.  So what is workspace of one product is never a
 * counter of another, which must stay 0, and what a graph knows of either stays what it is when the room
 * grows. */
static void lay_out(heddle *h)
{
    if (room_bytes(&h->needed) > h->lent_bytes)
        return;
    h->room = h->needed;
    h->room.workspace = h->lent;
    h->room.counters = h->lent + h->lent_bytes / ROOM_ALIGN * ROOM_ALIGN - rounded(h->needed.counters_bytes);
}

heddle_status workspace_refused(const heddle *h)
{
    if (room_bytes(&h->needed) > h->lent_bytes)
        return fail(HEDDLE_NO_WORKSPACE,
                    "products of this handle need %" PRId64 " bytes of workspace, and %" PRId64 " were set",
                    room_bytes(&h->needed), h->lent_bytes);
    return fail(HEDDLE_NO_WORKSPACE, "the handle was not made ready for this matrix: call heddle_reserve");
}

heddle_status workspace_claim(heddle *h, struct room needed)
{
    heddle_status status = HEDDLE_OK;
    struct room *most = &h->needed;
    if (needed.workspace_bytes > most->workspace_bytes)
        most->workspace_bytes = needed.workspace_bytes;
    if (needed.counters_bytes > most->counters_bytes)
        most->counters_bytes = needed.counters_bytes;
    if (h->is_lent) {
        lay_out(h);
        return HEDDLE_OK;
    }
    TRY(grow(h, &h->room.workspace, &h->room.workspace_bytes, most->workspace_bytes));
    TRY(grow(h, &h->room.counters, &h->room.counters_bytes, most->counters_bytes));
done:
    return status;
}

static heddle_status check_lent(const heddle *h, const void *p, int64_t bytes)
{
    if (bytes < 0 || !p != (bytes == 0))
        return fail(HEDDLE_BAD_ARGUMENT, "a workspace at %p of %" PRId64 " bytes", p, bytes);
    if ((uintptr_t)p % ROOM_ALIGN)
        return fail(HEDDLE_BAD_ARGUMENT, "the workspace is not aligned to %d bytes", ROOM_ALIGN);
    if (h->shared && bytes > 0 && !(on_device(h, p) && on_device(h, (const char *)p + bytes - 1)))
        return fail(HEDDLE_BAD_ARGUMENT, "the workspace (%p, %" PRId64 " bytes) is not memory of the device",
                    p, bytes);
    if (h->shared && bytes > 0 && captured(h))
        return fail(HEDDLE_BAD_ARGUMENT, "a workspace is set to zero first, which must not be captured");
    if (bytes > 0 && bytes < room_bytes(&h->needed))
        return fail(HEDDLE_NO_WORKSPACE,
                    "products of this handle need %" PRId64 " bytes of workspace, not %" PRId64,
                    room_bytes(&h->needed), bytes);
    return HEDDLE_OK;
}

/* The stage goes with the handle's own room: memory for vectors of the host is not lent. */
static heddle_status lend(heddle *h, void *p, int64_t bytes)
{
    heddle_status status;
    TRY(check_lent(h, p, bytes));
    if (h->shared)
        TRY(stream_use(h));
    TRY(device_fill(&h->device, p, 0, bytes));
    if (!h->is_lent)
        h->own = h->room;
    device_free(&h->device, h->stage);
    h->stage = NULL;
    h->stage_bytes = 0;
    h->room = (struct room){0};
    h->is_lent = 1;
    h->lent = p;
    h->lent_bytes = bytes;
    lay_out(h);
done:
    return status;
}

static heddle_status set_workspace(heddle *h, void *p, int64_t bytes)
{
    if (p || bytes != HEDDLE_OWN_WORKSPACE)
        return lend(h, p, bytes);
    if (!h->is_lent)
        return HEDDLE_OK;
    h->is_lent = 0;
    h->lent = NULL;
    h->lent_bytes = 0;
    h->room = h->own;
    h->own = (struct room){0};
    if (h->shared) {
        heddle_status status = stream_use(h);
        if (status != HEDDLE_OK)
            return status;
    }
    return workspace_claim(h, h->needed);
}

heddle_status heddle_set_workspace(heddle *h, void *workspace, int64_t bytes)
{
    RETURN_ALONE(h, set_workspace(h, workspace, bytes));
}

static heddle_status workspace_bytes(const heddle *h, int64_t *bytes)
{
    if (!bytes)
        return fail(HEDDLE_BAD_ARGUMENT, "bytes is NULL");
    *bytes = room_bytes(&h->needed);
    return HEDDLE_OK;
}

heddle_status heddle_workspace_bytes(heddle *h, int64_t *bytes)
{
    RETURN_ALONE(h, workspace_bytes(h, bytes));
}

/* ---- all that a matrix needs ---- */

static struct room room_for(const heddle *h, const heddle_matrix *A)
{
    return (h->deterministic ? repeatable_room : immediate_room)(&h->device, &A->view);
}

heddle_status handle_reserve(heddle *h, const heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    if (!A)
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix is NULL");
    if (h->shared)
        TRY(stream_use(h));
    TRY((h->deterministic ? repeatable_load : immediate_load)(&h->device, &A->view));
    TRY(workspace_claim(h, room_for(h, A)));
    if (h->shared && !h->is_lent)
        TRY(stage_reserve(h, stage_bytes(&A->view)));
done:
    return status;
}

static int is_served(const heddle *h, const struct room *needed)
{
    return needed->workspace_bytes <= h->room.workspace_bytes &&
           needed->counters_bytes <= h->room.counters_bytes;
}

heddle_status many_reserve(heddle *h, const struct many *m)
{
    heddle_status status = HEDDLE_OK;
    const uint64_t kind = (uint64_t)1 << many_kind(m);
    struct room needed = {0};
    many_room(&needed, m);
    if (h->many & kind && is_served(h, &needed))
        return HEDDLE_OK;
    if (h->shared && captured(h))
        return fail(HEDDLE_NO_WORKSPACE,
                    "the stream is being captured, and the handle is not ready for this product, which needs "
                    "%lld bytes of workspace: call heddle_reserve_mm before",
                    (long long)(needed.workspace_bytes + needed.counters_bytes));
    TRY(many_load(m));
    TRY(workspace_claim(h, needed));
    TRY(is_served(h, &needed) ? HEDDLE_OK : workspace_refused(h));
    h->many |= kind;
done:
    return status;
}

/* A matrix can be created whatever was lent, since nobody knows before what it needs. */
static heddle_status reserve(heddle *h, const heddle_matrix *A)
{
    heddle_status status = handle_reserve(h, A);
    if (status != HEDDLE_OK)
        return status;
    struct room needed = room_for(h, A);
    return is_served(h, &needed) ? HEDDLE_OK : workspace_refused(h);
}

heddle_status heddle_reserve(heddle *h, const heddle_matrix *A)
{
    RETURN_ALONE(h, reserve(h, A));
}

void workspace_free(heddle *h)
{
    const struct room *own = h->is_lent ? &h->own : &h->room;
    for (struct outgrown *o = h->outgrown, *next; o; o = next) {
        next = o->next;
        device_free(&h->device, o->p);
        mem_free(o);
    }
    device_free(&h->device, own->workspace);
    device_free(&h->device, own->counters);
    device_free(&h->device, h->stage);
    if (h->left)
        driver(h)->event_free(h->device.gpu, h->left);
}
