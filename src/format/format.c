/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "format/format.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/text.h"

#define FORMAT(name) extern const struct format name##_format;
#include "format/formats.def"
#undef FORMAT

static const struct format *const formats[] = {
#define FORMAT(name) &name##_format,
#include "format/formats.def"
#undef FORMAT
};

const struct format *format_at(enum format_id id)
{
    return formats[id];
}

int format_by_name(const char *name)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return i;
    return -1;
}

void options_initial(int64_t value[OPTIONS_MOST], const struct option *table)
{
    for (int i = 0; table && table[i].name; i++)
        value[i] = table[i].initial;
}

heddle_status stored_size(struct stored *s, enum format_id id, const struct source *A, const int64_t *option)
{
    int64_t initial[OPTIONS_MOST] = {0};
    options_initial(initial, formats[id]->options);
    *s = (struct stored){.format = formats[id],
                         .rows = A->csr.rows,
                         .cols = A->csr.cols,
                         .nnz = A->csr.nnz,
                         .value = A->csr.value,
                         .offset = A->csr.offset};
    return formats[id]->size(s, A, option ? option : initial);
}

/* Large arrays on large pages where the system offers them: a product walks through all of an array, and
 * with 4 KB pages a tenth of the time and more goes into address translation.  A hint only, so its result
 * does not matter. */
static void advise_large_pages(void *p, int64_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 4096;
    uintptr_t begin = ((uintptr_t)p + page - 1) / page * page,
              end = ((uintptr_t)p + (uintptr_t)bytes) / page * page;
    if (bytes >= (int64_t)4 << 20)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

heddle_status stored_build(struct stored *s, const struct source *A)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; s->format->array[i]; i++) {
        if (s->borrowed >> i & 1)
            continue;
        s->array[i] = mem_alloc(s->bytes[i], 1);
        TRY(s->array[i] ? HEDDLE_OK : HEDDLE_NO_MEMORY);
        advise_large_pages(s->array[i], s->bytes[i]);
    }
    TRY(s->format->fill(s, A));
done:
    if (status != HEDDLE_OK)
        stored_free(s);
    return status;
}

void stored_free(struct stored *s)
{
    for (int i = 0; i < FORMAT_ARRAYS; i++) {
        if (!(s->borrowed >> i & 1))
            mem_free(s->array[i]);
        s->array[i] = NULL;
    }
}

static int64_t sum_bytes(const struct stored *s, unsigned left_out)
{
    int64_t sum = 0;
    for (int i = 0; i < FORMAT_ARRAYS; i++)
        sum += left_out >> i & 1 ? 0 : s->bytes[i];
    return sum;
}

int64_t stored_bytes(const struct stored *s)
{
    return sum_bytes(s, 0);
}

int64_t stored_owned(const struct stored *s)
{
    return sum_bytes(s, s->borrowed);
}

/* The place of an array by its name; -1 when the format has none. */
static int array_named(const struct format *f, const char *name)
{
    for (int i = 0; i < FORMAT_ARRAYS && f->array[i]; i++)
        if (strcmp(f->array[i], name) == 0)
            return i;
    return -1;
}

/* Columns and values of padding are as large as those of entries. */
int64_t stored_read(const struct stored *s)
{
    int64_t sum = sum_bytes(s, s->format->spare);
    int col = array_named(s->format, "col"), val = array_named(s->format, "val"),
        rest = array_named(s->format, "rest_val");
    int64_t size = (int64_t)type_size(s->value), places = val < 0 ? 0 : s->bytes[val] / size;
    int64_t entries = s->nnz - (rest < 0 ? 0 : s->bytes[rest] / size);
    if (col < 0 || places <= entries)
        return sum;
    double share = (double)(places - entries) / (double)places;
    return sum - (int64_t)(share * (double)(s->bytes[col] + s->bytes[val]));
}

heddle_status padding_allowed(const char *format, const struct csr *A, int64_t positions)
{
    int64_t each = (int64_t)(sizeof(int32_t) + type_size(A->value));
    if (positions / PADDING_RATIO <= A->nnz || positions <= PADDING_FREE / each)
        return HEDDLE_OK;
    char places[NUMBER_TEXT], entries[NUMBER_TEXT], bytes[NUMBER_TEXT];
    return fail(
        HEDDLE_NO_KERNEL,
        "%s would pad %s entries to %s places (%s); the limit is %d times the entries: use a csr kernel",
        format, text_count(entries, A->nnz), text_count(places, positions),
        text_bytes(bytes, (double)positions * (double)each), PADDING_RATIO);
}

void option_spell(char text[OPTION_SPELLED], const struct option *o, int64_t value)
{
    if (o->word)
        snprintf(text, OPTION_SPELLED, "%s", o->word[value]);
    else
        snprintf(text, OPTION_SPELLED, "%lld", (long long)value);
}
