/* SPDX-License-Identifier: MIT
 *
 * The header is read line by line; then the text is taken block by block:
 *
 *   cut     the block into chunks at line ends;
 *   count   lines and entries of every chunk, in parallel;
 *   place   running sums give each chunk its first line and first entry, and say how much room is needed;
 *   parse   every chunk straight into its place, in parallel, while the next block is decompressed.
 *
 * Nothing is put in order afterwards: entries stand in the order of the file whatever the number of
 * threads, and the first error in file order is the one of the first chunk that has one. */
#include "io/market.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/number.h"
#include "io/read.h"
#include "io/tuning.h"

static const char banner[] = "%%MatrixMarket";

#define WORDS 5 /* of the banner line */
#define WORD_SIZE 24

int market_banner(const char *text, int64_t size)
{
    return size >= (int64_t)sizeof banner - 1 && strncasecmp(text, banner, sizeof banner - 1) == 0;
}

/* Splits a line at blanks into at most `most` words; returns how many there are.  No word of a banner and
 * no number that is allowed has WORD_SIZE characters: what is longer is cut so that it cannot be taken for
 * one, with "..." at its end. */
static int split(char (*word)[WORD_SIZE], int most, const char *p, const char *end)
{
    int n = 0;
    for (;;) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end || *p == '%')
            return n;
        const char *first = p;
        while (p < end && !is_blank(*p))
            p++;
        int cut = p - first >= WORD_SIZE;
        if (n < most)
            snprintf(word[n], WORD_SIZE, "%.*s%s", cut ? WORD_SIZE - 4 : (int)(p - first), first,
                     cut ? "..." : "");
        n++;
    }
}

/* A word that the banner may hold and what it stands for; lists end with NULL. */
struct word_choice {
    const char *word;
    int value;
};

static const struct word_choice formats[] = {{"coordinate", 0}, {"array", 1}, {NULL, 0}};
static const struct word_choice fields[] = {{"real", FIELD_REAL},       {"double", FIELD_REAL},
                                            {"integer", FIELD_INTEGER}, {"pattern", FIELD_PATTERN},
                                            {"complex", FIELD_COMPLEX}, {NULL, 0}};
static const struct word_choice symmetries[] = {{"general", SYMMETRY_GENERAL},
                                                {"symmetric", SYMMETRY_SYMMETRIC},
                                                {"skew-symmetric", SYMMETRY_SKEW},
                                                {"hermitian", SYMMETRY_HERMITIAN},
                                                {NULL, 0}};

/* Looks a word of the banner up, in any case. */
static heddle_status pick(const struct text_source *s, const struct word_choice *list, const char *word,
                          const char *what, int *value)
{
    char known[SOURCE_TEXT] = "", quoted[QUOTE_SIZE];
    for (const struct word_choice *c = list; c->word; c++) {
        if (strcasecmp(word, c->word) == 0) {
            *value = c->value;
            return HEDDLE_OK;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", c == list ? "" : ", ", c->word);
    }
    return source_fail(s, HEDDLE_BAD_FILE, 1, "%s is not a %s of Matrix Market (expected %s)",
                       quote(quoted, word, word + strlen(word)), what, known);
}

/* "%%MatrixMarket matrix FORMAT FIELD SYMMETRY", and the combinations that make no sense. */
static heddle_status read_banner(struct text_source *s, struct market *m)
{
    heddle_status status = HEDDLE_OK;
    const char *line;
    int64_t size;
    char word[WORDS][WORD_SIZE] = {"", "", "", "", ""}, quoted[QUOTE_SIZE];
    int field = 0, symmetry = 0;
    TRY(source_line(s, &line, &size));
    if (!line || !market_banner(line, size))
        return source_fail(s, HEDDLE_BAD_FILE, 1, "the first line does not begin with %s", banner);
    int count = split(word + 1, WORDS - 1, line + sizeof banner - 1, line + size);
    if (count != WORDS - 1)
        return source_fail(s, HEDDLE_BAD_FILE, 1,
                           "the banner has %d words after %s, not 4: matrix, format, field, symmetry", count,
                           banner);
    if (strcasecmp(word[1], "matrix") != 0)
        return source_fail(s, HEDDLE_BAD_FILE, 1, "the file holds a %s, expected a matrix",
                           quote(quoted, word[1], word[1] + strlen(word[1])));
    TRY(pick(s, formats, word[2], "format", &m->array));
    TRY(pick(s, fields, word[3], "field", &field));
    TRY(pick(s, symmetries, word[4], "symmetry", &symmetry));
    m->field = (enum field)field;
    m->symmetry = (enum symmetry)symmetry;
    if (m->symmetry == SYMMETRY_HERMITIAN && m->field != FIELD_COMPLEX)
        m->symmetry = SYMMETRY_SYMMETRIC;
    if (m->field == FIELD_PATTERN && (m->array || m->symmetry == SYMMETRY_SKEW))
        status = source_fail(s, HEDDLE_BAD_FILE, 1, "a pattern has no values, so it cannot be %s",
                             m->array ? "an array" : "skew-symmetric");
done:
    return status;
}

/* A count of the size line. */
static heddle_status read_size(const struct text_source *s, const char *word, const char *what, int64_t limit,
                               int64_t *n)
{
    char quoted[QUOTE_SIZE];
    size_t digits = strspn(word, "0123456789");
    if (digits == 0 || word[digits])
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "expected the number of %s, found %s", what,
                           quote(quoted, word, word + strlen(word)));
    *n = 0;
    for (const char *p = word; *p; p++)
        if (__builtin_mul_overflow(*n, 10, n) || __builtin_add_overflow(*n, *p - '0', n))
            *n = INT64_MAX;
    if (*n >= limit)
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "%s %s are too many: the limit is %lld", word, what,
                           (long long)limit - 1);
    return HEDDLE_OK;
}

/* How many entries an array file stores. */
static int64_t array_stored(const struct market *m)
{
    if (m->symmetry == SYMMETRY_GENERAL)
        return m->rows * m->cols;
    return m->rows * (m->rows + (m->symmetry == SYMMETRY_SKEW ? -1 : 1)) / 2;
}

/* The first line that is neither blank nor a comment. */
static heddle_status read_sizes(struct text_source *s, struct market *m)
{
    heddle_status status = HEDDLE_OK;
    char word[3][WORD_SIZE] = {"", "", ""};
    const char *line;
    int64_t size;
    int count, expected = m->array ? 2 : 3;
    do {
        TRY(source_line(s, &line, &size));
        if (!line)
            return source_fail(s, HEDDLE_BAD_FILE, s->line, "the file ends before the size line");
        count = split(word, 3, line, line + size);
    } while (count == 0);
    if (count != expected)
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "the size line has %d numbers, expected %s", count,
                           m->array ? "2: rows columns" : "3: rows columns entries");
    TRY(read_size(s, word[0], "rows", INDEX_LIMIT, &m->rows));
    TRY(read_size(s, word[1], "columns", INDEX_LIMIT, &m->cols));
    if (m->symmetry != SYMMETRY_GENERAL && m->rows != m->cols)
        return source_fail(s, HEDDLE_BAD_FILE, s->line, "a %lld x %lld matrix cannot be symmetric",
                           (long long)m->rows, (long long)m->cols);
    if (m->array)
        m->stored = array_stored(m);
    else
        TRY(read_size(s, word[2], "entries", (int64_t)1 << 48, &m->stored));
done:
    return status;
}

heddle_status market_header(struct text_source *s, struct market *m)
{
    *m = (struct market){0};
    heddle_status status = read_banner(s, m);
    return status == HEDDLE_OK ? read_sizes(s, m) : status;
}

/* The state of reading the entries. */
struct reading {
    struct text_source *source;
    const struct market *market;
    struct coo *coo;
    int64_t capacity; /* of coo's arrays; coo->nnz of it is in use */
    struct chunk *chunks;
    int64_t count, room; /* chunks in use, and allocated */
};

/* Room for `wanted` entries.  What the size line announces is not believed further than the text bears it
 * out: an entry takes two bytes at least; where the length of the text is unknown, arrays grow with what
 * was found. */
static heddle_status make_room(struct reading *r, int64_t wanted, int64_t left)
{
    struct coo *coo = r->coo;
    if (wanted <= r->capacity && coo->row)
        return HEDDLE_OK;
    int64_t capacity = left >= 0 ? coo->nnz + left / 2 : 2 * wanted;
    capacity = capacity > r->market->stored ? r->market->stored : capacity;
    capacity = capacity < wanted ? wanted : capacity;
    if (source_affords(r->source, (double)capacity *
                                      (double)(2 * sizeof *coo->row + type_size(coo->value))) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    void *row = mem_resize(coo->row, coo->nnz, capacity, sizeof *coo->row);
    coo->row = row ? row : coo->row;
    void *col = row ? mem_resize(coo->col, coo->nnz, capacity, sizeof *coo->col) : NULL;
    coo->col = col ? col : coo->col;
    void *val = col ? mem_resize(coo->val, coo->nnz, capacity, type_size(coo->value)) : NULL;
    coo->val = val ? val : coo->val;
    if (!val)
        return HEDDLE_NO_MEMORY;
    r->capacity = capacity;
    return HEDDLE_OK;
}

/* Cuts the present block at line ends into pieces near io_tuning.chunk. */
static heddle_status cut(struct reading *r)
{
    struct text_source *s = r->source;
    int64_t most = (s->end - s->at) / io_tuning.chunk + 1;
    if (most > r->room) {
        mem_free(r->chunks);
        r->room = 0;
        if (NEW(r->chunks, most) != HEDDLE_OK)
            return HEDDLE_NO_MEMORY;
        r->room = most;
    }
    r->count = 0;
    for (const char *p = s->at; p < s->end;) {
        const char *begin = p;
        p = s->end - p <= io_tuning.chunk ? s->end - 1 : p + io_tuning.chunk - 1;
        p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1;
        r->chunks[r->count++] = (struct chunk){.begin = begin, .end = p};
    }
    return HEDDLE_OK;
}

static void count_part(void *argument, int64_t part)
{
    struct reading *r = argument;
    chunk_count(&r->chunks[part]);
}

static void parse_part(void *argument, int64_t part)
{
    struct reading *r = argument;
    chunk_parse(&r->chunks[part], r->market, r->coo);
}

/* While the others parse: decompression of the next block. */
static void read_ahead(void *argument)
{
    struct reading *r = argument;
    source_ahead(r->source);
}

/* The four steps for one block. */
static heddle_status read_block(struct reading *r)
{
    heddle_status status = HEDDLE_OK;
    struct text_source *s = r->source;
    int64_t left = source_left(s), line = s->line, entry = r->coo->nnz;
    TRY(cut(r));
    io_parallel(r->count, count_part, NULL, r);
    for (int64_t i = 0; i < r->count; i++) {
        r->chunks[i].first_line = line;
        r->chunks[i].first_entry = entry;
        line += r->chunks[i].lines;
        entry += r->chunks[i].entries;
        if (entry > r->market->stored) { /* this chunk has an entry too many, if no error comes before */
            entry = r->market->stored;
            r->count = i + 1;
        }
    }
    TRY(make_room(r, entry, left));
    /* nothing else is left: no need to look */
    io_parallel(r->count, parse_part, left == s->end - s->at ? NULL : read_ahead, r);
    for (int64_t i = 0; i < r->count; i++)
        if (r->chunks[i].error_line > 0)
            TRY(source_fail(s, HEDDLE_BAD_FILE, r->chunks[i].error_line, "%s", r->chunks[i].error));
    r->coo->nnz = entry;
    s->line = line;
    s->at = s->end;
done:
    return status;
}

/* The arrays may be longer than nnz afterwards, at most by the factor 2 of their growth; nobody keeps them
 * for long. */
heddle_status market_read_coo(struct text_source *s, struct market *m, struct coo *coo, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct reading r = {.source = s, .market = m, .coo = coo};
    *coo = (struct coo){.value = value};
    TRY(market_header(s, m));
    TRY(file_value(&coo->value, m->field == FIELD_COMPLEX, s));
    coo->rows = m->rows;
    coo->cols = m->cols;
    TRY(make_room(&r, 0, 0));
    for (;;) {
        TRY(source_block(s));
        if (s->at == s->end)
            break;
        TRY(read_block(&r));
    }
    if (coo->nnz < m->stored)
        TRY(source_fail(s, HEDDLE_BAD_FILE, s->line, "the file ends after %lld of %lld entries",
                        (long long)coo->nnz, (long long)m->stored));
    TRY(source_affords(s, matrix_least(m->rows, m->cols)));
done:
    mem_free(r.chunks);
    if (status != HEDDLE_OK)
        coo_free(coo);
    return status;
}

heddle_status market_read(struct text_source *s, struct csr *A, heddle_type value)
{
    struct market m;
    struct coo coo;
    heddle_status status = market_read_coo(s, &m, &coo, value);
    return status == HEDDLE_OK ? csr_from_file(A, &coo, m.symmetry, s) : status;
}
