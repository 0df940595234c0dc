/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/thread.h"
#include "format/format.h"
#include "matrix/typed.h"

#define OMEGA_MOST 64

struct job {
    const struct csr *A;
    struct stored *s;
};

/* The row of entry k. */
static int64_t row_of(const struct csr *A, int64_t k)
{
    const off *row_ptr = A->row_ptr;
    int64_t low = 0, high = A->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)row_ptr[middle + 1] <= k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Columns and values of a tile, transposed. */
static void put_entries(const struct job *job, int64_t tile)
{
    const struct stored *s = job->s;
    int64_t omega = s->dim[CSR5_OMEGA], sigma = s->dim[CSR5_SIGMA], begin = tile * omega * sigma;
    const elem *val = job->A->val;
    int32_t *to_col = (int32_t *)s->array[CSR5_COL] + begin;
    elem *to_val = (elem *)s->array[CSR5_VAL] + begin;
    for (int64_t lane = 0; lane < omega; lane++)
        for (int64_t i = 0; i < sigma; i++) {
            int64_t k = begin + lane * sigma + i;
            to_col[i * omega + lane] = k < s->nnz ? job->A->col[k] : 0;
            to_val[i * omega + lane] = k < s->nnz ? val[k] : 0;
        }
}

/* From the flags of the lanes, the first of them as they are, their descriptors. */
static void put_descriptors(uint32_t *descriptor, const uint32_t *flags, int64_t omega)
{
    int y_offset = 0, seg_offset = 0;
    for (int64_t lane = 0; lane < omega; lane++) {
        descriptor[lane] = CSR5_DESCRIBE(flags[lane], y_offset, 0);
        y_offset += __builtin_popcount(flags[lane] | (lane == 0));
    }
    for (int64_t lane = omega - 1; lane >= 0; lane--) {
        descriptor[lane] |= CSR5_DESCRIBE(0, 0, seg_offset);
        seg_offset = flags[lane] ? 0 : seg_offset + 1;
    }
}

/* Goes through the rows that have entries in a tile: flags, and the distances of the rows where they have
 * gaps. */
static void describe(const struct job *job, int64_t tile)
{
    const struct stored *s = job->s;
    const off *row_ptr = job->A->row_ptr;
    int64_t omega = s->dim[CSR5_OMEGA], sigma = s->dim[CSR5_SIGMA], begin = tile * omega * sigma;
    int64_t end = begin + omega * sigma < s->nnz ? begin + omega * sigma : s->nnz;
    int64_t first = row_of(job->A, begin), count = 0, last = first;
    uint32_t flags[OMEGA_MOST] = {0}, *tile_ptr = s->array[CSR5_TILE_PTR];
    int32_t *offset = s->array[CSR5_EMPTY_OFFSET];
    for (int64_t row = first; row < s->rows && (int64_t)row_ptr[row] < end; row++) {
        int64_t place = (int64_t)row_ptr[row] - begin;
        if (row_ptr[row] == row_ptr[row + 1])
            continue;
        if (place >= 0)
            flags[place / sigma] |= (uint32_t)1 << place % sigma;
        count++;
        last = row;
    }
    int gaps = last - first + 1 != count;
    tile_ptr[tile] = (uint32_t)first | (gaps ? CSR5_GAPS : 0);
    put_descriptors((uint32_t *)s->array[CSR5_DESCRIPTOR] + tile * omega, flags, omega);
    int64_t flag = first + tile;
    for (int64_t row = first; gaps && row <= last; row++)
        if (row_ptr[row] != row_ptr[row + 1])
            offset[flag++] = (int32_t)(row - first);
}

static void fill_tiles(void *argument, const struct team *team)
{
    const struct job *job = argument;
    int64_t tiles = job->s->dim[CSR5_TILES], end = part_begin(tiles, team->thread + 1, team->threads);
    for (int64_t tile = part_begin(tiles, team->thread, team->threads); tile < end; tile++) {
        put_entries(job, tile);
        describe(job, tile);
    }
}

static void fill(struct stored *s, const struct csr *A)
{
    struct job job = {.A = A, .s = s};
    const off *row_ptr = A->row_ptr;
    uint32_t *tile_ptr = s->array[CSR5_TILE_PTR], *empty = s->array[CSR5_EMPTY];
    if (s->dim[CSR5_EMPTY_ROWS] > 0) {
        memset(s->array[CSR5_EMPTY_OFFSET], 0, (size_t)s->bytes[CSR5_EMPTY_OFFSET]);
        memset(empty, 0, (size_t)s->bytes[CSR5_EMPTY]);
        for (int64_t i = 0; i < s->rows; i++)
            empty[i / 32] |= (uint32_t)(row_ptr[i] == row_ptr[i + 1]) << i % 32;
    }
    tile_ptr[s->dim[CSR5_TILES]] = (uint32_t)s->rows;
    team_run(threads_default(), fill_tiles, &job);
}

const struct csr5_functions TYPED(csr5_functions) = {.fill = fill};
