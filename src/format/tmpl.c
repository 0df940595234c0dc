/* SPDX-License-Identifier: MIT
 *
 * tmpl: rows that share a template, the list of (column - row), store it once.
 *
 * On grids, lattices and images most rows look alike from their diagonal on, so that a matrix needs no column
 * indices at all: 2 bytes a row say which rows a slice has, 16 bytes a slice the rest.  Rows of one template
 * are gathered within windows, as the reuse of x asks for rows near each other; few are left over, at
 * borders, and go to the rest. */
#include "format/format.h"

const struct option tmpl_options[] = {
    {"slice", 8, VALUES(8, 16, 32, 64)},
    {0},
};

/* Of matrices with so few entries any may have this format. */
#define SMALL 20000

static const struct tmpl_functions *typed(const struct stored *s)
{
    return tmpl_functions[moved_variant(s->value, s->offset)];
}

heddle_status tmpl_few(int64_t distinct, int64_t offsets)
{
    if (distinct > TMPL_DISTINCT)
        return fail(HEDDLE_NO_KERNEL, "rows do not share templates: there are more than %d different ones",
                    TMPL_DISTINCT);
    if (offsets > TMPL_OFFSETS)
        return fail(HEDDLE_NO_KERNEL, "rows share templates, but those have %lld entries; %d is the limit",
                    (long long)offsets, TMPL_OFFSETS);
    return HEDDLE_OK;
}

heddle_status tmpl_covers(const struct csr *A, int64_t rest)
{
    if (A->nnz <= SMALL || rest <= A->nnz / 2)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL,
                "rows do not share templates: only %.0f %% of the entries are in such that do",
                100.0 * (double)(A->nnz - rest) / (double)A->nnz);
}

heddle_status tmpl_size(struct stored *s, const struct source *A, const int64_t *option, int valued)
{
    heddle_status status = HEDDLE_OK;
    struct counted c;
    int64_t height = option[0];
    if (A->counted)
        c = *A->counted;
    else
        TRY(typed(s)->inspect(&c, &A->csr, height, valued, NULL));
    TRY(tmpl_covers(&A->csr, c.rest));
    if (c.positions / height > UINT32_MAX)
        TRY(fail(HEDDLE_NO_KERNEL,
                 "tmpl counts places of slices in 32 bits, and there are more: use a csr kernel"));
    s->dim[TMPL_HEIGHT] = height;
    s->dim[TMPL_SLICES] = c.slices;
    s->dim[TMPL_REST] = c.rest_rows;
    s->dim[TMPL_ENTRIES] = c.rest;
    s->bytes[TMPL_SLICE] = TMPL_MEMBERS * c.slices * (int64_t)sizeof(uint32_t);
    s->bytes[TMPL_ROW] = c.slices * height * (int64_t)sizeof(uint16_t);
    s->bytes[TMPL_OFFSET] = c.offsets * (int64_t)sizeof(int32_t);
    s->bytes[TMPL_VAL] = (valued ? c.offsets : c.positions) * (int64_t)type_size(s->value);
    s->bytes[TMPL_REST_ROW] = c.rest_rows * (int64_t)sizeof(int32_t);
    s->bytes[TMPL_REST_PTR] = (c.rest_rows + 1) * (int64_t)sizeof(int64_t);
    s->bytes[TMPL_REST_COL] = c.rest * (int64_t)sizeof(int32_t);
    s->bytes[TMPL_REST_VAL] = c.rest * (int64_t)type_size(s->value);
done:
    return status;
}

heddle_status tmpl_fill(struct stored *s, const struct source *A, int valued)
{
    struct counted c;
    heddle_status status = typed(s)->inspect(&c, &A->csr, s->dim[TMPL_HEIGHT], valued, s);
    if (status == HEDDLE_OK)
        typed(s)->fill(s, &A->csr, valued);
    return status;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    return tmpl_size(s, A, option, 0);
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    return tmpl_fill(s, A, 0);
}

static heddle_status refill(struct stored *s, const struct source *A)
{
    typed(s)->fill(s, &A->csr, 0);
    return HEDDLE_OK;
}

static void restore(struct csr *A, const struct stored *s)
{
    typed(s)->restore(A, s, 0);
}

const struct format tmpl_format = {
    .name = "tmpl",
    .array = {"slice", "row", "offset", "val", "rest_row", "rest_ptr", "rest_col", "rest_val"},
    .dim = {"slice", "slices", "rest", "entries"},
    .options = tmpl_options,
    .size = size,
    .fill = fill,
    .refill = refill,
    .restore = restore,
};

MOVED_TABLE(tmpl_functions);
