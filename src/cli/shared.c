/* SPDX-License-Identifier: MIT
 *
 * What several commands do in the same way. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "subject/describe.h"

heddle_status one_subject(struct subject_list *list, const char *text)
{
    heddle_status status = subjects_add(list, text);
    if (status == HEDDLE_OK && list->count != 1)
        status = fail(HEDDLE_BAD_ARGUMENT, "%s stands for %lld matrices; name one of them, such as %s", text,
                      (long long)list->count, list->item[0].origin);
    return status;
}

/* Which of the names `text` is. */
static heddle_status choice_among(const char *option, const char *text, const char *const *names, int *index)
{
    struct text known = {0};
    for (*index = 0; names[*index]; ++*index)
        if (strcmp(names[*index], text) == 0)
            return HEDDLE_OK;
    for (int i = 0; names[i]; i++)
        text_add(&known, "%s%s", i > 0 ? " or " : "", names[i]);
    fail(HEDDLE_BAD_ARGUMENT, "--%s %s: it takes %s", option, text,
         known.failed ? "another value" : known.data);
    text_free(&known);
    return HEDDLE_BAD_ARGUMENT;
}

heddle_status type_choice(const char *text, heddle_type *type)
{
    const char *names[TYPES_MOST + 1] = {0};
    int index = 0;
    for (int i = 0; i < TYPES_MOST; i++)
        names[i] = type_name(types_known[i]);
    heddle_status status = choice_among("type", text, names, &index);
    *type = status == HEDDLE_OK ? types_known[index] : HEDDLE_F64;
    return status;
}

heddle_status op_choice(const char *text, heddle_op *op)
{
    static const char *const names[] = {"N", "T", "H", NULL};
    int index = 0;
    heddle_status status = choice_among("op", text, names, &index);
    *op = (heddle_op)(index < 3 ? index : 0);
    return status;
}

heddle_status each_word(const char *text, heddle_status (*visit)(void *argument, const char *word),
                        void *argument)
{
    char word[SPEC_TEXT];
    for (;;) {
        size_t size = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)size, text);
        heddle_status status = visit(argument, word);
        if (status != HEDDLE_OK || !text[size])
            return status;
        text += size + 1;
    }
}

/* Where the words of --vectors and --layout go. */
struct vectors_words {
    struct vector_group *list;
    int most, *count;
    unsigned layouts; /* a bit for each */
};

static heddle_status add_layout(void *argument, const char *word)
{
    static const char *const names[] = {[HEDDLE_COLUMN_MAJOR] = "columns", [HEDDLE_ROW_MAJOR] = "rows", NULL};
    int index = 0;
    heddle_status status = choice_among("layout", word, names, &index);
    if (status == HEDDLE_OK)
        ((struct vectors_words *)argument)->layouts |= 1u << index;
    return status;
}

static heddle_status add_vectors(const struct vectors_words *w, struct vector_group v)
{
    for (int i = 0; i < *w->count; i++)
        if (vectors_order(w->list[i], v) == 0)
            return HEDDLE_OK;
    if (*w->count == w->most)
        return fail(HEDDLE_BAD_ARGUMENT, "--vectors: more than %d numbers and layouts", w->most);
    w->list[(*w->count)++] = v;
    return HEDDLE_OK;
}

static heddle_status add_group(void *argument, const char *word)
{
    heddle_status status = HEDDLE_OK;
    static const heddle_layout order[] = {HEDDLE_ROW_MAJOR, HEDDLE_COLUMN_MAJOR};
    const struct vectors_words *w = argument;
    int64_t number = 0;
    if (parse_int(word, &number) != HEDDLE_OK || number < 1 || number > VECTORS_MOST)
        return fail(HEDDLE_BAD_ARGUMENT, "--vectors %s: it takes numbers from 1 to %d", word, VECTORS_MOST);
    for (int i = 0; i < 2; i++)
        if (w->layouts >> order[i] & 1)
            TRY(add_vectors(w, (struct vector_group){(int)number, order[i]}));
done:
    return status;
}

heddle_status vectors_choice(const struct words *numbers, const struct words *layouts, const char *preset,
                             struct vector_group *list, int most, int *count)
{
    heddle_status status = HEDDLE_OK;
    struct vectors_words w = {.list = list, .most = most, .count = count};
    *count = 0;
    for (int i = 0; i < layouts->count; i++)
        TRY(each_word(layouts->item[i], add_layout, &w));
    if (layouts->count == 0)
        TRY(each_word(preset, add_layout, &w));
    for (int i = 0; i < numbers->count; i++)
        TRY(each_word(numbers->item[i], add_group, &w));
    if (layouts->count && !numbers->count)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "--layout is of several vectors: --vectors 8"));
done:
    return status;
}

void told_written(struct session *s, const char *path, const struct csr *A, double ms)
{
    char rows[NUMBER_TEXT], cols[NUMBER_TEXT], nnz[NUMBER_TEXT], bytes[NUMBER_TEXT];
    struct stat info;
    if (s->quiet || stat(path, &info) != 0)
        return;
    out(s, "%s: %s x %s, %s nonzeros, %s in %.2f s\n", path, text_count(rows, A->rows),
        text_count(cols, A->cols), text_count(nnz, A->nnz), text_bytes(bytes, (double)info.st_size),
        ms / 1000);
}
