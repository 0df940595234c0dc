/* SPDX-License-Identifier: MIT
 *
 * tmplv: templates with values.  Rows that have the same list of (column - row) and the same values, bit by
 * bit, store neither: constant coefficients on a grid, patterns of ones.  A matrix with it is known by its
 * values, which must not change. */
#include "format/format.h"

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    return tmpl_size(s, A, option, 1);
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    return tmpl_fill(s, A, 1);
}

static void restore(struct csr *A, const struct stored *s)
{
    tmpl_functions[moved_variant(s->value, s->offset)]->restore(A, s, 1);
}

const struct format tmplv_format = {
    .name = "tmplv",
    .array = {"slice", "row", "offset", "val", "rest_row", "rest_ptr", "rest_col", "rest_val"},
    .dim = {"slice", "slices", "rest", "entries"},
    .options = tmpl_options,
    .valued = 1,
    .size = size,
    .fill = fill,
    .restore = restore,
};
