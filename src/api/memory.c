/* SPDX-License-Identifier: MIT
 *
 * memory.c: what lies on the host and what on the device, and how it gets there.  Everything here happens
 * when matrices are made or inspected, never in a product. */
#include "base/memory.h"
#include "api/api.h"

/* ---- the GPU that handles and matrices share ---- */

struct shared_gpu *gpu_use(struct shared_gpu *shared)
{
    if (shared)
        atomic_fetch_add(&shared->users, 1);
    return shared;
}

void gpu_leave(struct shared_gpu *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    gpu_close(shared->gpu);
    mem_free(shared);
}

uintptr_t alignment_of(const heddle *h, heddle_type type)
{
    return type_size(type) / (is_complex(type) && !h->shared ? 2 : 1);
}

/* ---- matrices ---- */

/* The three arrays of a view with their sizes: what a copy of it has to copy. */
struct pieces {
    void **array[3];
    int64_t bytes[3];
};

static struct pieces pieces_of(struct view *v)
{
    int64_t values = (int64_t)type_size(view_value(v)), nnz = view_nnz(v);
    if (v->format == HEDDLE_COO)
        return (struct pieces){{(void **)&v->coo.row, (void **)&v->coo.col, &v->coo.val},
                               {4 * nnz, 4 * nnz, values * nnz}};
    return (struct pieces){{&v->csr.row_ptr, (void **)&v->csr.col, &v->csr.val},
                           {(v->csr.rows + 1) * (int64_t)type_size(v->csr.offset), 4 * nnz, values * nnz}};
}

void view_free(struct view *v)
{
    csr_free(&v->csr);
    coo_free(&v->coo);
}

heddle_status matrix_place(heddle_matrix *A, heddle *h)
{
    heddle_status status = HEDDLE_OK;
    struct pieces p = pieces_of(&A->view);
    if (!h->shared)
        return HEDDLE_OK;
    A->shared = gpu_use(h->shared);
    A->device = (struct device){.kind = DEVICE_gpu, .gpu = h->shared->gpu};
    for (int i = 0; i < 3; i++)
        if (p.bytes[i] > 0) {
            TRY(device_alloc(&A->device, &A->placed[i], p.bytes[i]));
            TRY(device_copy(&A->device, A->placed[i], *p.array[i], p.bytes[i]));
        }
    TRY(device_sync(&A->device)); /* the caller may free what was copied from */
    for (int i = 0; i < 3; i++)
        *p.array[i] = A->placed[i];
    view_free(&A->owned);
done:
    return status;
}

heddle_status fetch(void **host, const struct device *device, const void *from, int64_t bytes)
{
    *host = mem_alloc(bytes, 1);
    if (!*host)
        return HEDDLE_NO_MEMORY;
    heddle_status status = bytes > 0 ? device_read(device, *host, from, bytes) : HEDDLE_OK;
    if (status != HEDDLE_OK) {
        mem_free(*host);
        *host = NULL;
    }
    return status;
}

heddle_status matrix_on_host(struct view *host, struct view *fetched, const struct device *eyes,
                             const heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    *fetched = (struct view){.format = A->view.format};
    *host = A->view;
    if (A->device.kind == DEVICE_cpu)
        return HEDDLE_OK;
    struct pieces p = pieces_of(host);
    void *arrays[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++)
        TRY(fetch(&arrays[i], eyes, *p.array[i], p.bytes[i]));
    for (int i = 0; i < 3; i++)
        *p.array[i] = arrays[i];
    *fetched = *host;
    return HEDDLE_OK;
done:
    for (int i = 0; i < 3; i++)
        mem_free(arrays[i]);
    return status;
}

/* ---- vectors of the host on their way through the device ---- */

static int64_t rounded(int64_t bytes)
{
    return (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
}

int64_t stage_y(const struct view *A, heddle_op op)
{
    return rounded((op == HEDDLE_N ? view_cols(A) : view_rows(A)) * (int64_t)vector_size(view_value(A)));
}

int64_t stage_bytes(const struct view *A)
{
    return stage_y(A, HEDDLE_N) + stage_y(A, HEDDLE_T) + MEM_ALIGN;
}
