/* SPDX-License-Identifier: MIT
 *
 * Heddle beside its peers, at the end of a bench: a table of ratios, and the matrices on which a peer
 * wins. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/benching.h"

#define LINE 110 /* letters of a line of matrices */

/* Where a peer wins, by name; of the choice that matters most: Heddle's own ("auto", "plan"), the best, or
 * a lone kernel. */
static heddle_status losses_told(struct session *s, const struct versus *v, const struct versus_row *row)
{
    heddle_status status = HEDDLE_OK;
    struct versus_ratio *list = NULL;
    int64_t count = 0;
    int letters = 0;
    TRY(versus_matrices(v, row, &list, &count));
    for (int64_t i = 0; i < count && list[i].ratio < VERSUS_LEVEL; i++) {
        char item[128];
        int size = snprintf(item, sizeof item, list[i].ratio < 0.1 ? "%.80s %.1g" : "%.80s %.2f",
                            list[i].matrix, list[i].ratio);
        if (i > 0)
            out(s, letters + size > LINE ? ",\n    " : ", ");
        letters = letters + size > LINE ? size : letters + size + 2;
        out(s, "%s", item);
    }
    out(s, "\n");
done:
    mem_free(list);
    return status;
}

static const struct column versus_columns[] = {{"type", 0, 0},     {"op", 0, 0},         {"kernel", 0, 0},
                                               {"matrices", 1, 0}, {"mean", 1, 7},       {"least", 1, 7},
                                               {"most", 1, 7},     {"below 0.97", 1, 0}, {0}};

static int named(const struct versus_row *row, int64_t rows)
{
    return row->below > 0 && (rows <= 4 || strcmp(row->kernel, "auto") == 0 ||
                              strcmp(row->kernel, "plan") == 0 || strcmp(row->kernel, VERSUS_BEST) == 0);
}

heddle_status versus_told(struct session *s, struct versus *v, int cold)
{
    heddle_status status = HEDDLE_OK;
    struct versus_row *rows = NULL;
    struct table table = {0};
    char product[PRODUCT_NAME];
    int64_t count = 0;
    TRY(versus_rows(v, &rows, &count));
    if (count == 0) {
        out(s, "no matrix was verified both by a kernel and by a peer: there is nothing to compare\n");
        goto done;
    }
    out(s, "\nBest peer over kernel, %s; above 1 Heddle is faster; means are geometric\n\n",
        cold ? "cold" : "warm");
    table_begin(&table, versus_columns);
    for (int64_t i = 0; i < count; i++)
        table_add(&table, "%s\t%s\t%s\t%d\t%s%.3f\t%.3f\t%.3f\t%d", type_name(rows[i].value),
                  product_name(product, rows[i].op, rows[i].vectors), rows[i].kernel, rows[i].matrices,
                  rows[i].mean >= 1 ? GREEN : RED, rows[i].mean, rows[i].least, rows[i].most, rows[i].below);
    table_end(&table, s);
    int mixed = 0;
    for (int64_t i = 0; i < count; i++)
        mixed |= rows[i].value == F32_F64;
    if (mixed)
        out(s, "f32v64 is compared with the peers' f64 where they do not have it.\n");
    for (int64_t i = 0; i < count; i++)
        if (named(&rows[i], count)) {
            out(s, "\n%s %s %s is below 0.97 on %d of %d:\n    ", type_name(rows[i].value),
                product_name(product, rows[i].op, rows[i].vectors), rows[i].kernel, rows[i].below,
                rows[i].matrices);
            TRY(losses_told(s, v, &rows[i]));
        }
done:
    table_free(&table);
    mem_free(rows);
    return status;
}
