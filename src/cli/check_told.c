/* SPDX-License-Identifier: MIT
 *
 * What `heddle check` tells of a matrix, to people and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/checking.h"

void checking_count(struct checking *k)
{
    for (int i = 0; i < k->kernels.count; i++)
        for (int kind = 0; kind < k->kinds; kind++) {
            const struct outcome *o = &k->outcome[i][kind];
            k->skipped += o->skipped;
            k->wrong += o->wrong;
            k->products += o->skipped ? 0 : CASES + 1;
        }
}

static void cell(char text[NUMBER_TEXT], const struct outcome *o)
{
    if (o->skipped)
        snprintf(text, NUMBER_TEXT, DIM "skipped");
    else
        snprintf(text, NUMBER_TEXT, o->wrong ? RED "WRONG %.2g" : GREEN "%.3f", o->error);
}

/* Why a kernel was skipped, each reason once, and everything that is wrong. */
static void tell_reasons(struct checking *k, const char *kernel, const struct outcome *o)
{
    char product[PRODUCT_NAME];
    for (int kind = 0; kind < k->kinds; kind++) {
        int told = 0;
        for (int before = 0; before < kind; before++)
            told |= strcmp(o[kind].text, o[before].text) == 0;
        if (o[kind].text[0] && !told)
            out(k->s, "%s: %s %s %s: %s\n", o[kind].wrong ? "WRONG" : "skipped", kernel,
                type_name(k->kind[kind].type), product_name(product, k->kind[kind].op, k->kind[kind].vectors),
                o[kind].text);
    }
}

/* The kinds from `first` to before `end`, which have the same vectors. */
static void tell_table(struct checking *k, int first, int end)
{
    struct column columns[KIND_TYPES + 2] = {{"kernel", 0, 24}};
    char heads[KIND_TYPES][16];
    struct table t;
    const struct vector_group vectors = k->kind[first].vectors;
    if (vectors_count(vectors) > 1)
        out(k->s, "%d vectors by %s\n", vectors_count(vectors), layout_name(vectors.layout));
    for (int kind = first; kind < end; kind++) {
        snprintf(heads[kind - first], sizeof heads[0], "%s %s", type_name(k->kind[kind].type),
                 op_name(k->kind[kind].op));
        columns[1 + kind - first] = (struct column){heads[kind - first], 1, 8};
    }
    table_begin(&t, columns);
    for (int i = 0; i < k->kernels.count; i++) {
        char cells[KIND_TYPES * NUMBER_TEXT] = "", text[NUMBER_TEXT];
        for (int kind = first; kind < end; kind++) {
            cell(text, &k->outcome[i][kind]);
            snprintf(cells + strlen(cells), sizeof cells - strlen(cells), "\t%s", text);
        }
        table_add(&t, "%s%s", k->kernels.name[i], cells);
    }
    table_end(&t, k->s);
}

void checking_tell_people(struct checking *k, const struct subject *subject)
{
    out(k->s, "%s\n", subject->origin);
    if (k->unread) {
        out(k->s, "skipped: %s\n\n", k->outcome[0][0].text);
        return;
    }
    for (int first = 0, end; first < k->kinds; first = end) {
        for (end = first + 1; end < k->kinds; end++)
            if (vectors_order(k->kind[end].vectors, k->kind[first].vectors) != 0)
                break;
        tell_table(k, first, end);
    }
    for (int i = 0; i < k->kernels.count; i++)
        tell_reasons(k, k->kernels.name[i], k->outcome[i]);
    out(k->s, "\n");
}

void checking_tell_json(struct checking *k, const struct subject *subject)
{
    for (int i = 0; i < k->kernels.count; i++)
        for (int kind = 0; kind < k->kinds; kind++) {
            const struct outcome *o = &k->outcome[i][kind];
            json_object(&k->json, NULL);
            json_string(&k->json, "matrix", subject->name);
            json_string(&k->json, "origin", subject->origin);
            json_string(&k->json, "kernel", k->kernels.name[i]);
            json_string(&k->json, "value", type_name(k->kind[kind].type));
            json_string(&k->json, "op", op_name(k->kind[kind].op));
            json_int(&k->json, "vectors", vectors_count(k->kind[kind].vectors));
            if (vectors_count(k->kind[kind].vectors) > 1)
                json_string(&k->json, "layout", layout_name(k->kind[kind].vectors.layout));
            json_bool(&k->json, "verified", !o->skipped && !o->wrong);
            json_real(&k->json, "error", o->skipped ? NAN : o->error);
            json_string(&k->json, "wrong", o->wrong ? o->text : NULL);
            json_string(&k->json, "skipped", o->skipped ? o->text : NULL);
            json_end_object(&k->json);
        }
}
