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
