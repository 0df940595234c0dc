/* SPDX-License-Identifier: MIT
 *
 * peer_format.c: the formats of other libraries.  CSR is Heddle's own arrays, COO comes from Heddle's
 * conversion on the device; sliced ELL and BSR, in the shapes that cuSPARSE, hipSPARSE and rocSPARSE
 * describe, are made on the host, once per run. */
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "bench/peers/peer.h"

#define SLICE 32     /* rows of a slice: a warp; rows of a slice then lie side by side in memory */
#define BLOCK_MOST 8 /* the largest block that is tried */
#define SAMPLE ((int64_t)1 << 20) /* entries looked at before a size of block is chosen */
#define PARTS 64

/* ------------------------------------------------------------------ on the device */

static heddle_status as_csr(struct peer *p)
{
    struct peer_arrays *a = &p->arrays;
    *a = (struct peer_arrays){.offset = p->A.offset, .ptr = p->A.row_ptr, .index = p->A.col, .val = p->A.val};
    a->stored = p->A.nnz;
    return HEDDLE_OK;
}

static heddle_status as_coo(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    struct stored s = {0};
    struct source source = {.csr = p->A};
    TRY(device_stored_size(p->device, &s, FORMAT_coo, &source, NULL));
    TRY(device_stored_build(p->device, &s, &source));
    p->arrays = (struct peer_arrays){.offset = HEDDLE_I32,
                                     .row = s.array[COO_ROW],
                                     .index = p->A.col,
                                     .val = p->A.val,
                                     .stored = p->A.nnz,
                                     .bytes = s.bytes[COO_ROW]};
    p->arrays.owned[0] = s.array[COO_ROW];
done:
    return status;
}

/* ------------------------------------------------------------------ by way of the host */

/* Arrays being made on the host; `index` and `val` have room for `indices` and `stored`. */
struct made {
    const struct csr *A; /* on the host */
    int64_t side, count; /* rows of a slice or block; slices, or rows of blocks */
    int64_t *ptr;        /* size count+1: where each begins, in stored places (sell) or in blocks (bsr) */
    int32_t *index;
    char *val;
    int64_t indices, stored;
};

static void made_free(struct made *m)
{
    mem_free(m->ptr);
    mem_free(m->index);
    mem_free(m->val);
}

static heddle_status put(struct peer *p, int slot, void **there, const void *from, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    TRY(device_alloc(p->device, there, bytes));
    p->arrays.owned[slot] = *there;
    p->arrays.bytes += bytes;
    TRY(device_copy(p->device, *there, from, bytes));
    TRY(device_sync(p->device));
done:
    return status;
}

/* Offsets go in 32 bits where they fit. */
static heddle_status upload(struct peer *p, const struct made *m)
{
    heddle_status status = HEDDLE_OK;
    struct peer_arrays *a = &p->arrays;
    int narrow = m->ptr[m->count] < INDEX_LIMIT;
    /* in place: the narrow one never overtakes the wide one */
    if (narrow)
        for (int64_t i = 0; i <= m->count; i++)
            ((int32_t *)m->ptr)[i] = (int32_t)m->ptr[i];
    a->offset = narrow ? HEDDLE_I32 : HEDDLE_I64;
    a->stored = m->stored;
    TRY(put(p, 0, &a->ptr, m->ptr, (m->count + 1) * (narrow ? 4 : 8)));
    TRY(put(p, 1, &a->index, m->index, m->indices * 4));
    TRY(put(p, 2, &a->val, m->val, m->stored * (int64_t)type_size(p->A.value)));
done:
    return status;
}

/* ---- sliced ELL ---- */

static int64_t length(const struct csr *A, int64_t i)
{
    return csr_offset(A, i + 1) - csr_offset(A, i);
}

static void sell_slice(const struct made *m, int64_t s)
{
    const struct csr *A = m->A;
    size_t size = type_size(A->value);
    int64_t width = (m->ptr[s + 1] - m->ptr[s]) / m->side;
    for (int64_t r = 0; r < m->side; r++) {
        int64_t i = s * m->side + r, n = i < A->rows ? length(A, i) : 0,
                k = i < A->rows ? csr_offset(A, i) : 0;
        for (int64_t j = 0; j < width; j++) {
            int64_t at = m->ptr[s] + j * m->side + r;
            m->index[at] = j < n ? A->col[k + j] : -1;
            if (j < n)
                memcpy(m->val + (size_t)at * size, (const char *)A->val + (size_t)(k + j) * size, size);
            else
                memset(m->val + (size_t)at * size, 0, size);
        }
    }
}

static void sell_part(void *argument, int part)
{
    const struct made *m = argument;
    for (int64_t s = part_begin(m->count, part, PARTS); s < part_begin(m->count, part + 1, PARTS); s++)
        sell_slice(m, s);
}

static heddle_status make_sell(struct made *m, const struct csr *A, int64_t side)
{
    heddle_status status = HEDDLE_OK;
    *m = (struct made){.A = A, .side = side, .count = (A->rows + side - 1) / side};
    TRY(NEW(m->ptr, m->count + 1));
    m->ptr[0] = 0;
    for (int64_t s = 0; s < m->count; s++) {
        int64_t longest = 0;
        for (int64_t i = s * side; i < A->rows && i < (s + 1) * side; i++)
            longest = length(A, i) > longest ? length(A, i) : longest;
        m->ptr[s + 1] = m->ptr[s] + longest * side;
    }
    m->indices = m->stored = m->ptr[m->count];
    TRY(padding_allowed("sell", A, m->stored));
    TRY(NEW(m->index, m->indices));
    TRY((m->val = mem_alloc(m->stored, type_size(A->value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    parts_run(PARTS, sell_part, m);
done:
    return status;
}

/* ---- BSR ---- */

/* Blocks in one row of blocks; `seen` (size of a row of blocks, other than `mark` at first) remembers
 * which. */
static int64_t blocks_in(const struct csr *A, int64_t block, int64_t row, int32_t *seen, int32_t mark)
{
    int64_t blocks = 0;
    for (int64_t k = csr_offset(A, row * block); k < csr_offset(A, (row + 1) * block); k++) {
        int32_t *place = &seen[A->col[k] / block];
        blocks += *place != mark;
        *place = mark;
    }
    return blocks;
}

/* The share of a sample's places in blocks that hold entries: 1 is all of them. */
static heddle_status block_share(double *share, const struct csr *A, int64_t block)
{
    heddle_status status = HEDDLE_OK;
    int32_t *seen = NULL;
    int64_t rows = A->rows / block, mean = A->nnz / rows + 1, wanted = SAMPLE / mean + 1, entries = 0,
            blocks = 0;
    int64_t step = rows > wanted ? rows / wanted : 1;
    TRY(NEW(seen, A->cols / block));
    memset(seen, 0xff, (size_t)(A->cols / block) * sizeof *seen);
    for (int64_t r = 0; r < rows; r += step) {
        blocks += blocks_in(A, block, r, seen, (int32_t)r);
        entries += csr_offset(A, (r + 1) * block) - csr_offset(A, r * block);
    }
    *share = blocks ? (double)entries / (double)(blocks * block * block) : 0;
done:
    mem_free(seen);
    return status;
}

/* Bytes of an entry with its part of a column; CSR has 4 + value. */
static double block_cost(double share, int64_t block, heddle_type value)
{
    double places = (double)(block * block);
    return (places * (double)type_size(value) + 4) / (places * share);
}

/* The size of block that stores the matrix in the fewest bytes; it must beat CSR, for else there are no
 * blocks. */
static heddle_status choose_block(int64_t *block, const struct csr *A)
{
    double best = 4 + (double)type_size(A->value);
    *block = 0;
    for (int64_t b = 2; b <= BLOCK_MOST; b++) {
        double share = 0;
        if (A->rows % b || A->cols % b)
            continue;
        heddle_status status = block_share(&share, A, b);
        if (status != HEDDLE_OK)
            return status;
        if (share > 0 && block_cost(share, b, A->value) < best) {
            best = block_cost(share, b, A->value);
            *block = b;
        }
    }
    if (*block == 0)
        return fail(HEDDLE_NO_KERNEL, "the matrix has no blocks: BSR would be larger than CSR");
    return HEDDLE_OK;
}

static void add_value(char *val, int64_t at, const struct csr *A, int64_t k)
{
    value_put(val, A->value, at, value_at(val, A->value, at) + value_at(A->val, A->value, k));
}

/* Blocks of a row in the order in which their first entry comes. */
static void bsr_row(const struct made *m, int64_t row, int32_t *place)
{
    const struct csr *A = m->A;
    int64_t b = m->side, next = m->ptr[row];
    for (int64_t i = row * b; i < (row + 1) * b; i++)
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            int64_t column = A->col[k] / b;
            if (place[column] < 0) {
                m->index[next] = (int32_t)column;
                place[column] = (int32_t)(next++ - m->ptr[row]);
            }
            add_value(m->val, ((m->ptr[row] + place[column]) * b + i % b) * b + A->col[k] % b, A, k);
        }
    for (int64_t k = m->ptr[row]; k < next; k++)
        place[m->index[k]] = -1;
}

static heddle_status make_bsr(struct made *m, const struct csr *A, int64_t block)
{
    heddle_status status = HEDDLE_OK;
    int32_t *seen = NULL;
    *m = (struct made){.A = A, .side = block, .count = A->rows / block};
    TRY(NEW(m->ptr, m->count + 1));
    TRY(NEW(seen, A->cols / block));
    memset(seen, 0xff, (size_t)(A->cols / block) * sizeof *seen);
    m->ptr[0] = 0;
    for (int64_t r = 0; r < m->count; r++)
        m->ptr[r + 1] = m->ptr[r] + blocks_in(A, block, r, seen, (int32_t)r);
    m->indices = m->ptr[m->count];
    m->stored = m->indices * block * block;
    TRY(padding_allowed("bsr", A, m->stored));
    TRY(NEW(m->index, m->indices));
    TRY((m->val = mem_zeroed(m->stored, type_size(A->value))) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    memset(seen, 0xff, (size_t)(A->cols / block) * sizeof *seen);
    for (int64_t r = 0; r < m->count; r++)
        bsr_row(m, r, seen);
done:
    mem_free(seen);
    return status;
}

static heddle_status as_bsr(struct peer *p, struct made *m, const struct csr *here)
{
    heddle_status status = HEDDLE_OK;
    int64_t block = p->block;
    if (block == 0)
        TRY(choose_block(&block, here));
    if (here->rows % block || here->cols % block)
        return fail(HEDDLE_NO_KERNEL, "bsr: blocks of %d do not divide %lld x %lld", (int)block,
                    (long long)here->rows, (long long)here->cols);
    TRY(make_bsr(m, here, block));
    TRY(upload(p, m));
    p->arrays.block = block;
    p->arrays.blocks = m->indices;
done:
    return status;
}

static heddle_status as_sell(struct peer *p, struct made *m, const struct csr *here)
{
    heddle_status status = HEDDLE_OK;
    int64_t slice = p->slice ? p->slice : SLICE;
    TRY(make_sell(m, here, slice));
    TRY(upload(p, m));
    p->arrays.slice = slice;
done:
    return status;
}

heddle_status peer_convert(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    struct csr here = {0};
    struct made made = {0};
    if (p->row->format == PEER_csr)
        return as_csr(p);
    if (p->row->format == PEER_coo)
        return as_coo(p);
    if (p->A.nnz == 0)
        return fail(HEDDLE_NO_KERNEL, "there is nothing to convert in an empty matrix");
    TRY(device_csr_download(p->device, &here, &p->A));
    TRY(p->row->format == PEER_bsr ? as_bsr(p, &made, &here) : as_sell(p, &made, &here));
done:
    made_free(&made);
    csr_free(&here);
    return status;
}
