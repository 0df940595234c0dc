/* SPDX-License-Identifier: MIT
 *
 * convert_typed.c: coordinates to compressed rows and back.
 *
 * from_coo sorts by row without comparing: the entries are first dealt into at most 1024 buckets of
 * neighbouring rows, each thread writing its share of each bucket in one run (the writes stream, and the
 * page table is not thrashed), then each bucket is counted and placed on its own, in cache.  Both steps
 * are linear in nnz + rows whatever the rows look like, keep the order of the source, and give the same
 * result for any number of threads.
 *
 * A transposition is the same thing with row and column exchanged, and a sort is two transpositions. */
#include <string.h>

#include "base/memory.h"
#include "matrix/typed.h"

#define BUCKETS_MOST 1024

struct entry {
    int32_t row, col;
    elem val;
};

struct deal {
    const struct coo *A;
    struct csr *B;
    int shift; /* row >> shift is the bucket */
    int buckets;
    int64_t
        *place; /* size PARTS x buckets: first the count, then the place of a part's entries of a bucket */
    int64_t *begin;      /* size buckets + 1: where a bucket begins */
    struct entry *entry; /* size nnz: the entries by bucket */
};

static void count_part(void *argument, int part)
{
    struct deal *d = argument;
    int64_t *count = d->place + (int64_t)part * d->buckets;
    for (int64_t k = part_begin(d->A->nnz, part, PARTS), end = part_begin(d->A->nnz, part + 1, PARTS);
         k < end; k++)
        count[d->A->row[k] >> d->shift]++;
}

static void deal_part(void *argument, int part)
{
    struct deal *d = argument;
    const elem *val = d->A->val;
    int64_t *place = d->place + (int64_t)part * d->buckets;
    for (int64_t k = part_begin(d->A->nnz, part, PARTS), end = part_begin(d->A->nnz, part + 1, PARTS);
         k < end; k++) {
        int32_t row = d->A->row[k];
        d->entry[place[row >> d->shift]++] = (struct entry){row, d->A->col[k], val[k]};
    }
}

/* Counts the rows of a bucket into row_ptr, turns counts into ends, and fills each row from its end,
 * walking backwards: what is left in row_ptr then is where the row begins, and the order within a row is
 * the source's. */
static void place_bucket(void *argument, int bucket)
{
    struct deal *d = argument;
    off *row_ptr = d->B->row_ptr;
    elem *val = d->B->val;
    int64_t first = (int64_t)bucket << d->shift, last = (int64_t)(bucket + 1) << d->shift;
    last = last < d->B->rows ? last : d->B->rows;
    memset(row_ptr + first, 0, (size_t)(last - first) * sizeof *row_ptr);
    for (int64_t k = d->begin[bucket]; k < d->begin[bucket + 1]; k++)
        row_ptr[d->entry[k].row]++;
    int64_t end = d->begin[bucket];
    for (int64_t i = first; i < last; i++)
        row_ptr[i] = (off)(end += row_ptr[i]);
    for (int64_t k = d->begin[bucket + 1] - 1; k >= d->begin[bucket]; k--) {
        int64_t to = --row_ptr[d->entry[k].row];
        d->B->col[to] = d->entry[k].col;
        val[to] = d->entry[k].val;
    }
}

heddle_status TYPED(from_coo)(struct csr *B, const struct coo *A)
{
    heddle_status status = HEDDLE_OK;
    struct deal d = {.A = A, .B = B};
    while (A->rows >> d.shift > BUCKETS_MOST)
        d.shift++;
    d.buckets = (int)((A->rows + ((int64_t)1 << d.shift) - 1) >> d.shift);
    TRY(NEW_ZEROED(d.place, (int64_t)PARTS * d.buckets));
    TRY(NEW(d.begin, d.buckets + 1));
    TRY(NEW(d.entry, A->nnz));
    parts_run(PARTS, count_part, &d);
    int64_t total = 0;
    for (int b = 0; b < d.buckets; b++) {
        d.begin[b] = total;
        for (int part = 0; part < PARTS; part++) {
            int64_t *place = &d.place[(int64_t)part * d.buckets + b], count = *place;
            *place = total;
            total += count;
        }
    }
    d.begin[d.buckets] = total;
    parts_run(PARTS, deal_part, &d);
    parts_run(d.buckets, place_bucket, &d);
    ((off *)B->row_ptr)[B->rows] = (off)total;
done:
    mem_free(d.place);
    mem_free(d.begin);
    mem_free(d.entry);
    return status;
}

/* ---- sorted by rows already ---- */

struct copy {
    struct csr *B;
    const struct coo *A;
};

/* Copies the part's entries and writes the offsets of the rows that begin in it: all rows after the row of
 * the entry before the part, up to the row of its last entry. */
static void copy_part(void *argument, int part)
{
    const struct copy *c = argument;
    off *row_ptr = c->B->row_ptr;
    int64_t begin = part_begin(c->A->nnz, part, PARTS), end = part_begin(c->A->nnz, part + 1, PARTS);
    if (begin == end)
        return;
    memcpy(c->B->col + begin, c->A->col + begin, (size_t)(end - begin) * sizeof *c->A->col);
    memcpy((elem *)c->B->val + begin, (const elem *)c->A->val + begin, (size_t)(end - begin) * sizeof(elem));
    int64_t next = begin > 0 ? (int64_t)c->A->row[begin - 1] + 1 : 0;
    for (int64_t k = begin; k < end; k++)
        while (next <= c->A->row[k])
            row_ptr[next++] = (off)k;
}

void TYPED(from_sorted)(struct csr *B, const struct coo *A)
{
    struct copy c = {B, A};
    off *row_ptr = B->row_ptr;
    parts_run(PARTS, copy_part, &c);
    for (int64_t i = A->nnz > 0 ? (int64_t)A->row[A->nnz - 1] + 1 : 0; i <= B->rows; i++)
        row_ptr[i] = (off)A->nnz;
}

/* ---- rows of the entries ---- */

struct expansion {
    int32_t *row;
    const struct csr *A;
};

static void expand_part(void *argument, int part)
{
    const struct expansion *e = argument;
    const off *row_ptr = e->A->row_ptr;
    for (int64_t i = part_row(e->A, part), end = part_row(e->A, part + 1); i < end; i++)
        for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++)
            e->row[k] = (int32_t)i;
}

void TYPED(expand_rows)(int32_t *row, const struct csr *A)
{
    parts_run(PARTS, expand_part, &(struct expansion){row, A});
}
