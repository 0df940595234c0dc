/* SPDX-License-Identifier: MIT */
#include "verify/references.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Vector i of n numbers of `size` bytes: where it lies, or in `room` where its numbers lie apart. */
static const void *column_of(const void *all, struct vector_group vectors, int i, int64_t n, size_t size,
                             void *room)
{
    const size_t count = (size_t)vectors_count(vectors);
    if (!all || count == 1 || vectors.layout == HEDDLE_COLUMN_MAJOR)
        return all ? (const char *)all + (size_t)i * (size_t)n * size : NULL;
    for (size_t k = 0; k < (size_t)n; k++)
        memcpy((char *)room + k * size, (const char *)all + (k * count + (size_t)i) * size, size);
    return room;
}

heddle_status references_new(struct references *r, const struct equation *p, struct vector_group vectors,
                             reference_maker *make)
{
    heddle_status status = HEDDLE_OK;
    const int count = vectors_count(vectors);
    const int64_t n_x = p->op == HEDDLE_N ? p->A->cols : p->A->rows;
    const int64_t n_y = p->op == HEDDLE_N ? p->A->rows : p->A->cols;
    const size_t size = vector_size(p->A->value);
    struct equation one = *p;
    struct csr turned = {0};
    void *x = NULL;
    *r = (struct references){.vectors = vectors};
    TRY(NEW_ZEROED(r->of, count));
    TRY((x = mem_alloc(n_x, size)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    TRY((r->column = mem_alloc(n_y, size)) ? HEDDLE_OK : HEDDLE_NO_MEMORY);
    if (count > 1 && p->op != HEDDLE_N && !p->transposed) { /* once for all of them */
        TRY(csr_transpose(&turned, p->A));
        one.transposed = &turned;
    }
    for (int i = 0; i < count; i++) {
        one.x = column_of(p->x, vectors, i, n_x, size, x);
        one.y0 = column_of(p->y0, vectors, i, n_y, size, r->column);
        TRY(make(&r->of[i], &one));
    }
done:
    csr_free(&turned);
    mem_free(x);
    if (status != HEDDLE_OK)
        references_free(r);
    return status;
}

void references_free(struct references *r)
{
    for (int i = 0; r->of && i < vectors_count(r->vectors); i++)
        reference_free(&r->of[i]);
    mem_free(r->of);
    mem_free(r->column);
    *r = (struct references){0};
}

void references_judge(struct verdict *v, char text[VERDICT_TEXT], const struct references *r, const void *Y)
{
    const int count = vectors_count(r->vectors);
    char of_one[VERDICT_TEXT];
    for (int i = 0; i < count; i++) {
        struct verdict one;
        const struct reference *expected = &r->of[i];
        reference_judge(&one, expected,
                        column_of(Y, r->vectors, i, expected->n, type_size(expected->type), r->column));
        if (i == 0 || (v->passed && !one.passed)) { /* what follows is of this vector */
            const double error = i == 0 ? 0 : v->error;
            *v = one;
            v->error = fmax(error, one.error);
            verdict_text(of_one, &one, expected);
            if (one.passed || count == 1)
                memcpy(text, of_one, VERDICT_TEXT);
            else
                snprintf(text, VERDICT_TEXT, "vector %d: %.*s", i, VERDICT_TEXT - 24, of_one);
        } else {
            v->error = fmax(v->error, one.error);
        }
    }
}
