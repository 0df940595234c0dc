/* SPDX-License-Identifier: MIT
 *
 * PTX is packed with its registers counted back from the last new one, so that equal steps are equal text wherever they stand:
 * "%rd" is a new register, "%rd-2" the third last, "%rd7" number 7.  Here they get their numbers. */
#include <stdio.h>
#include <string.h>

#include "gpu/pack.h"

enum { KINDS = 32, KIND_NAME = 16 };

/* The kinds of register that the function has declared so far, "%rd<320>", and how many of each have appeared. */
struct registers {
    int kinds;
    struct {
        char name[KIND_NAME];
        int64_t last;
    } kind[KINDS];
};

/* NULL: no register, but something like %tid. */
static int64_t *last_of(struct registers *r, const char *name, int64_t length, int declares)
{
    for (int i = 0; i < r->kinds; i++)
        if ((int64_t)strlen(r->kind[i].name) == length && memcmp(r->kind[i].name, name, (size_t)length) == 0)
            return &r->kind[i].last;
    if (!declares || r->kinds == KINDS || length >= KIND_NAME)
        return NULL;
    memcpy(r->kind[r->kinds].name, name, (size_t)length);
    return &r->kind[r->kinds++].last;
}

static int is_digit(const char *from, int64_t i, int64_t size)
{
    return i < size && from[i] >= '0' && from[i] <= '9';
}

/* The number of the register whose name ends before `from`, and where that stands; -1: it is written out. */
static int64_t number_of(int64_t *last, const char *from, int64_t *i, int64_t size)
{
    if (is_digit(from, *i, size))
        return -1;
    if (!(*i < size && from[*i] == '-' && is_digit(from, *i + 1, size)))
        return ++*last;
    int64_t back = 0;
    for (++*i; is_digit(from, *i, size) && back < INT32_MAX; ++*i)
        back = back * 10 + (from[*i] - '0');
    return *last > back ? *last - back : 0;
}

struct writer {
    char *to; /* NULL: only counts */
    int64_t made;
};

static void put(struct writer *w, const char *text, int64_t length)
{
    if (w->to)
        memcpy(w->to + w->made, text, (size_t)length);
    w->made += length;
}

int64_t ptx_expand(char *to, const char *from, int64_t size)
{
    struct registers known = {0};
    struct writer w = {to, 0};
    for (int64_t i = 0; i < size;) {
        int64_t begin = i, number = -1;
        char digits[24];
        while (i < size && from[i] != '%')
            i++;
        put(&w, from + begin, i - begin);
        begin = i;
        for (i += i < size; i < size && from[i] >= 'a' && from[i] <= 'z';)
            i++;
        put(&w, from + begin, i - begin);
        int declares = i < size && from[i] == '<';
        int64_t *last = last_of(&known, from + begin, i - begin, declares);
        if (last && declares)
            *last = 0;
        else if (last)
            number = number_of(last, from, &i, size);
        if (number >= 0)
            put(&w, digits, snprintf(digits, sizeof digits, "%lld", (long long)number));
    }
    return w.made;
}
