/* SPDX-License-Identifier: MIT
 *
 * bundle: neighbouring rows with the same columns share them, in slices for waves of lanes.
 *
 * Systems with several unknowns a node have rows in groups with the same columns, in whatever order the nodes
 * are numbered.  A bundle of three such rows needs a column for three values, and x is gathered once for all
 * three.  Four lanes share a bundle, so that few bundles keep many lanes busy; a row that shares with nobody
 * is a bundle of its own, and such a slice a sliced ELL with four lanes a row. */
#include "format/format.h"

static const struct option options[] = {
    {"slice", 32, VALUES(32, 64)},
    {0},
};

static const struct bundle_functions *typed(const struct stored *s)
{
    return bundle_functions[moved_variant(s->value, s->offset)];
}

heddle_status bundle_fits(int64_t longest)
{
    if (longest <= BUNDLE_MOST)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL,
                "bundle counts the entries of a row in 32 bits, and one row has more: use a csr kernel");
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    struct counted c;
    int64_t height = option[0];
    if (A->counted)
        c = *A->counted;
    else
        TRY(typed(s)->inspect(&c, &A->csr, height, NULL));
    TRY(padding_allowed("bundle", &A->csr, c.positions));
    if (c.positions / height > UINT32_MAX || c.words / height > UINT32_MAX)
        TRY(fail(HEDDLE_NO_KERNEL,
                 "bundle counts places of slices in 32 bits, and there are more: use a csr kernel"));
    s->dim[BUNDLE_HEIGHT] = height;
    s->dim[BUNDLE_SLICES] = c.slices;
    s->bytes[BUNDLE_SLICE] = BUNDLE_MEMBERS * c.slices * (int64_t)sizeof(uint32_t);
    s->bytes[BUNDLE_ROW] = 2 * c.slices * (height / BUNDLE_LANES) * (int64_t)sizeof(int32_t);
    s->bytes[BUNDLE_COL] = c.words * (int64_t)sizeof(uint16_t);
    s->bytes[BUNDLE_VAL] = c.positions * (int64_t)type_size(s->value);
done:
    return status;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    struct counted c;
    heddle_status status = typed(s)->inspect(&c, &A->csr, s->dim[BUNDLE_HEIGHT], s);
    if (status == HEDDLE_OK)
        typed(s)->fill(s, &A->csr);
    return status;
}

static heddle_status refill(struct stored *s, const struct source *A)
{
    typed(s)->fill(s, &A->csr);
    return HEDDLE_OK;
}

static void restore(struct csr *A, const struct stored *s)
{
    typed(s)->restore(A, s);
}

const struct format bundle_format = {
    .name = "bundle",
    .array = {"slice", "row", "col", "val"},
    .dim = {"slice", "slices"},
    .options = options,
    .size = size,
    .fill = fill,
    .refill = refill,
    .restore = restore,
};

MOVED_TABLE(bundle_functions);
