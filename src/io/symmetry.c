/* SPDX-License-Identifier: MIT
 *
 * symmetry.c: from the stored triangle to the whole matrix.  An entry and its mirror image stand side by
 * side in the result, so that file order is kept in the sense that every row sees its entries in the order
 * in which the file mentions them.  A first pass counts, a second one writes: the parts are independent. */
#include "base/memory.h"
#include "base/thread.h"
#include "io/market.h"
#include "io/tuning.h"

heddle_status file_value(heddle_type *value, int complex, const struct text_source *s)
{
    if (*value == HEDDLE_TYPE_DEFAULT)
        *value = complex ? HEDDLE_C64 : HEDDLE_F64;
    else if (complex && !is_complex(*value))
        return source_fail(s, HEDDLE_NOT_SUPPORTED, 0,
                           "the matrix is complex: read it as c64 or c32, not as %s", value_name(*value));
    return HEDDLE_OK;
}

#define PARTS 64
#define SMALL 10000 /* entries that one thread handles sooner than it could wake another */

struct mirroring {
    const struct coo *from;
    struct coo *to;
    double sign[2]; /* of the real and the imaginary part of an entry's mirror image */
    int64_t parts;
    int64_t first[PARTS + 1]; /* where the entries of each part go */
};

/* An entry off the diagonal counts twice. */
static void count_part(void *argument, int64_t part)
{
    struct mirroring *m = argument;
    int64_t n = 0;
    for (int64_t k = part_begin(m->from->nnz, part, m->parts);
         k < part_begin(m->from->nnz, part + 1, m->parts); k++)
        n += 1 + (m->from->row[k] != m->from->col[k]);
    m->first[part + 1] = n;
}

static void put(struct coo *A, int64_t k, int32_t row, int32_t col, double _Complex value)
{
    A->row[k] = row;
    A->col[k] = col;
    value_put(A->val, A->value, k, value);
}

static void mirror_part(void *argument, int64_t part)
{
    struct mirroring *m = argument;
    const struct coo *A = m->from;
    int64_t out = m->first[part];
    for (int64_t k = part_begin(m->from->nnz, part, m->parts);
         k < part_begin(m->from->nnz, part + 1, m->parts); k++) {
        double _Complex value = value_at(A->val, A->value, k);
        put(m->to, out++, A->row[k], A->col[k], value);
        if (A->row[k] != A->col[k])
            put(m->to, out++, A->col[k], A->row[k],
                complex_of(m->sign[0] * RE(value), m->sign[1] * IM(value)));
    }
}

heddle_status coo_mirror(struct coo *A, enum symmetry symmetry)
{
    struct coo whole;
    struct mirroring m = {.from = A,
                          .to = &whole,
                          .sign = {symmetry == SYMMETRY_SKEW ? -1 : 1,
                                   symmetry == SYMMETRY_SKEW || symmetry == SYMMETRY_HERMITIAN ? -1 : 1},
                          .parts = A->nnz < SMALL ? 1 : PARTS};
    if (symmetry == SYMMETRY_GENERAL)
        return HEDDLE_OK;
    io_parallel(m.parts, count_part, NULL, &m);
    for (int part = 0; part < m.parts; part++)
        m.first[part + 1] += m.first[part];
    heddle_status status = coo_new(&whole, A->rows, A->cols, m.first[m.parts], A->value);
    if (status != HEDDLE_OK)
        return status;
    io_parallel(m.parts, mirror_part, NULL, &m);
    coo_free(A);
    *A = whole;
    return HEDDLE_OK;
}

heddle_status csr_from_file(struct csr *A, struct coo *coo, enum symmetry symmetry,
                            const struct text_source *s)
{
    heddle_status status = HEDDLE_OK;
    double entry = 4 + (double)type_size(coo->value),
           entries = (double)coo->nnz * (symmetry == SYMMETRY_GENERAL ? 1 : 2);
    TRY(source_affords(s, 4 * (double)(coo->rows + 1) + entries * entry));
    TRY(coo_mirror(coo, symmetry));
    TRY(csr_from_coo(A, coo));
done:
    coo_free(coo);
    return status;
}
