/* SPDX-License-Identifier: MIT */
#include "gen/options.h"

#include <string.h>

/* Digits, perhaps a point and one or two more digits; everything else is left to parse_int ("1e3", "4k"). */
static heddle_status parse_hundredths(const char *text, int64_t *value)
{
    size_t whole = strspn(text, "0123456789");
    if (text[whole] == '.' && whole > 0 && whole < 12) {
        const char *decimals = text + whole + 1;
        size_t count = strspn(decimals, "0123456789");
        if (count < 1 || count > 2 || decimals[count])
            return fail(HEDDLE_BAD_ARGUMENT, "'%s' has other than one or two decimals", text);
        int64_t sum = 0;
        for (size_t i = 0; i < whole; i++)
            sum = 10 * sum + (text[i] - '0');
        sum = 10 * sum + (decimals[0] - '0');
        *value = 10 * sum + (count == 2 ? decimals[1] - '0' : 0);
        return HEDDLE_OK;
    }
    int64_t n = 0;
    heddle_status status = parse_int(text, &n);
    if (status == HEDDLE_OK && __builtin_mul_overflow(n, (int64_t)100, value))
        return fail(HEDDLE_BAD_ARGUMENT, "'%s' is too large", text);
    return status;
}

heddle_status spec_hundredths(struct spec *spec, const char *key, int64_t low, int64_t high, int64_t *value)
{
    const char *text = spec_text(spec, key);
    int64_t n = 0;
    if (!text)
        return HEDDLE_OK;
    if (parse_hundredths(text, &n) != HEDDLE_OK)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is not a number with at most two decimals", spec->name,
                    key, text);
    if (n < low || n > high)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is outside %lld.%02d..%lld.%02d", spec->name, key, text,
                    (long long)(low / 100), (int)(low % 100), (long long)(high / 100), (int)(high % 100));
    *value = n;
    return HEDDLE_OK;
}

heddle_status spec_choice(struct spec *spec, const char *key, const char *words, int64_t *choice)
{
    const char *text = spec_text(spec, key);
    size_t size = text ? strlen(text) : 0;
    int64_t place = 0;
    if (!text)
        return HEDDLE_OK;
    for (const char *word = words; *word; place++) {
        size_t length = strcspn(word, "|");
        if (length == size && memcmp(word, text, size) == 0) {
            *choice = place;
            return HEDDLE_OK;
        }
        word += length + (word[length] == '|');
    }
    return fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is not one of %s", spec->name, key, text, words);
}

heddle_status options_size(struct options *o, struct spec *spec, int64_t least, int64_t most)
{
    heddle_status status = HEDDLE_OK;
    o->seed = 1;
    TRY(spec_int(spec, "n", least, most, &o->n));
    TRY(spec_int(spec, "seed", 0, INT64_MAX, &o->seed));
done:
    return status;
}

/* Entries: as given, or rows * mean, where the default mean gives way to a small number of columns. */
static heddle_status options_nnz(struct options *o, struct spec *spec)
{
    heddle_status status = HEDDLE_OK;
    int64_t most = o->cols * 100;
    int free_mean = !spec_text(spec, "mean");
    o->nnz_given = !free_mean || spec_text(spec, "nnz");
    if (spec_text(spec, "nnz") && !free_mean)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: give nnz or mean, not both", spec->name);
    if (free_mean && o->mean > most)
        o->mean = most;
    TRY(spec_hundredths(spec, "mean", 0, most, &o->mean));
    o->nnz = o->rows * o->mean / 100;
    TRY(spec_int(spec, "nnz", 0, o->rows * o->cols, &o->nnz));
done:
    return status;
}

heddle_status options_read(struct options *o, struct spec *spec)
{
    heddle_status status = HEDDLE_OK;
    TRY(options_size(o, spec, 0, SIZE_MOST));
    o->rows = o->n;
    TRY(spec_int(spec, "rows", 0, SIZE_MOST, &o->rows));
    o->cols = !o->narrow ? o->rows : o->rows == 0 ? 0 : 1 + (o->rows - 1) / o->narrow;
    TRY(spec_int(spec, "cols", o->rows > 0, SIZE_MOST, &o->cols));
    TRY(options_nnz(o, spec));
    o->deviation = -1;
    TRY(spec_hundredths(spec, "deviation", 0, SIZE_MOST, &o->deviation));
    TRY(spec_int(spec, "longest", 1, o->cols, &o->longest));
    int free_shortest = !spec_text(spec, "shortest");
    TRY(spec_int(spec, "shortest", 0, o->longest ? o->longest : o->cols, &o->shortest));
    if (free_shortest && (o->rows == 0 || o->shortest * o->rows > o->nnz))
        o->shortest = 0;
    o->run = o->run ? o->run : 1;
    TRY(spec_int(spec, "run", 1, SIZE_MOST, &o->run));
done:
    return status;
}

heddle_status options_square(const struct options *o, const struct spec *spec)
{
    if (o->cols == o->rows)
        return HEDDLE_OK;
    return fail(HEDDLE_BAD_ARGUMENT, "%s: the matrix is square, but rows=%lld and cols=%lld", spec->name,
                (long long)o->rows, (long long)o->cols);
}

/* A bell that would be cut at the shortest length by more than its tail gives way to the exponential
 * shape. */
struct profile_wish options_wish(const struct options *o)
{
    int64_t mean = o->rows > 0 ? o->nnz / o->rows : 0;
    int skewed = o->deviation > 55 * (mean - o->shortest);
    return (struct profile_wish){
        .rows = o->rows,
        .nnz = o->nnz,
        .shortest = o->shortest,
        .most = o->longest > 0 ? o->longest : o->cols,
        .longest = o->longest,
        .deviation = o->deviation,
        .shape = skewed ? SHAPE_EXPONENTIAL : SHAPE_NORMAL,
        .multiple = 1,
        .group = o->run,
        .seed = hash1((uint64_t)o->seed, -1),
    };
}

heddle_status options_empty(struct profile_wish *w, const struct options *o, struct spec *spec)
{
    int64_t percent = 0;
    heddle_status status = spec_int(spec, "empty", 0, 99, &percent);
    w->empty = o->rows * percent / 100;
    int64_t full = o->rows - w->empty;
    if (w->empty == 0)
        return status;
    if (w->shortest == 0) /* rows that are not meant to be empty */
        w->shortest = w->nnz >= full;
    if (!o->nnz_given && w->nnz > full * w->most)
        w->nnz = full * w->most;
    return status;
}
