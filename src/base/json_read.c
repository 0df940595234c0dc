/* SPDX-License-Identifier: MIT */
#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEPTH_MOST 64 /* of arrays and objects in each other */

struct reader {
    struct json_tree *t;
    char *begin, *at;
    int depth;
};

static heddle_status wrong(const struct reader *r, const char *what)
{
    return fail(HEDDLE_BAD_FILE, "column %lld: %s", (long long)(r->at - r->begin) + 1, what);
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

static heddle_status add(struct json_tree *t, int64_t *index)
{
    if (t->count == t->capacity) {
        int64_t capacity = t->capacity ? 2 * t->capacity : 256;
        struct json_value *value = mem_resize(t->value, t->count, capacity, sizeof *value);
        if (!value)
            return HEDDLE_NO_MEMORY;
        t->value = value;
        t->capacity = capacity;
    }
    *index = t->count++;
    t->value[*index] = (struct json_value){.next = -1};
    return HEDDLE_OK;
}

/* The four digits at s, or -1. */
static long hex4(const char *s)
{
    long code = 0;
    for (int i = 0; i < 4; i++) {
        int c = s[i];
        int digit = c >= '0' && c <= '9' ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

static char *put_utf8(char *to, long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* \uXXXX, or a pair of them; r->at stands on the u.  A half of a pair becomes the replacement character;
 * so does a zero, which would end the string. */
static heddle_status unicode(struct reader *r, char **to)
{
    long code = hex4(r->at + 1);
    if (code < 0)
        return wrong(r, "\\u is not followed by four hexadecimal digits");
    r->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && r->at[1] == '\\' && r->at[2] == 'u') {
        long low = hex4(r->at + 3);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            r->at += 6;
        }
    }
    *to = put_utf8(*to, code == 0 || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code);
    return HEDDLE_OK;
}

/* r->at stands behind the opening quote; the result is never longer than what is read. */
static heddle_status read_string(struct reader *r, const char **string)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    heddle_status status = HEDDLE_OK;
    char *to = r->at;
    *string = to;
    for (; *r->at != '"'; r->at++) {
        if ((unsigned char)*r->at < 0x20)
            return wrong(r, *r->at ? "a control character in a string" : "the line ends inside a string");
        if (*r->at != '\\') {
            *to++ = *r->at;
            continue;
        }
        const char *known = *++r->at ? strchr(from, *r->at) : NULL;
        if (*r->at == 'u')
            TRY(unicode(r, &to));
        else if (known)
            *to++ = into[known - from];
        else
            TRY(wrong(r, "an unknown escape in a string"));
    }
    r->at++;
    *to = 0;
done:
    return status;
}

static heddle_status read_number(struct reader *r, double *number)
{
    const char *s = r->at + (*r->at == '-');
    char *end;
    if (*s < '0' || *s > '9')
        return wrong(r, "a value is missing or is none of JSON's");
    if (*s == '0' && s[1] >= '0' && s[1] <= '9')
        return wrong(r, "a number begins with 0");
    if (*s == '0' && (s[1] == 'x' || s[1] == 'X'))
        return wrong(r, "a hexadecimal number");
    *number = strtod(r->at, &end);
    r->at = end;
    return HEDDLE_OK;
}

static heddle_status read_word(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return wrong(r, "a value is missing or is none of JSON's");
    r->at += n;
    return HEDDLE_OK;
}

static heddle_status read_value(struct reader *r, int64_t at);

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses an object that has a member twice.  Sorted, because comparing each with all takes minutes for a
 * line of a MB. */
static heddle_status check_keys(struct json_tree *t, const struct json_value *object)
{
    int64_t n = 0;
    if (object->count > t->key_capacity) {
        const char **keys = mem_alloc(2 * object->count, sizeof *keys);
        if (!keys)
            return HEDDLE_NO_MEMORY;
        mem_free((void *)(uintptr_t)t->keys);
        t->keys = keys;
        t->key_capacity = 2 * object->count;
    }
    for (int64_t i = object->count ? object->first : -1; i >= 0; i = t->value[i].next)
        t->keys[n++] = t->value[i].key;
    if (n > 1)
        qsort((void *)(uintptr_t)t->keys, (size_t)n, sizeof *t->keys, by_text);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(t->keys[i - 1], t->keys[i]) == 0)
            return fail(HEDDLE_BAD_FILE, "the member \"%.40s\" stands twice", t->keys[i]);
    return HEDDLE_OK;
}

/* "key": in front of a member. */
static heddle_status read_key(struct reader *r, const char **key)
{
    heddle_status status = HEDDLE_OK;
    if (*r->at != '"')
        return wrong(r, "a member has no name in quotes");
    r->at++;
    TRY(read_string(r, key));
    skip_blanks(r);
    if (*r->at != ':')
        return wrong(r, "a ':' is missing");
    r->at++;
    skip_blanks(r);
done:
    return status;
}

/* The items between brackets; r->at stands behind the opening one. */
static heddle_status read_items(struct reader *r, int64_t parent, char close)
{
    heddle_status status = HEDDLE_OK;
    int64_t last = -1;
    skip_blanks(r);
    if (*r->at == close) {
        r->at++;
        return HEDDLE_OK;
    }
    for (;;) {
        const char *key = NULL;
        int64_t item;
        skip_blanks(r);
        if (close == '}')
            TRY(read_key(r, &key));
        TRY(add(r->t, &item));
        r->t->value[item].key = key ? key : "";
        *(last < 0 ? &r->t->value[parent].first : &r->t->value[last].next) = item;
        last = item;
        TRY(read_value(r, item));
        r->t->value[parent].count++;
        skip_blanks(r);
        if (*r->at == close)
            break;
        if (*r->at != ',')
            TRY(wrong(r, close == '}' ? "a ',' or '}' is missing" : "a ',' or ']' is missing"));
        r->at++;
    }
    r->at++;
    if (close == '}')
        TRY(check_keys(r->t, &r->t->value[parent]));
done:
    return status;
}

static heddle_status read_value(struct reader *r, int64_t at)
{
    heddle_status status = HEDDLE_OK;
    enum json_kind kind = JSON_NUMBER;
    char c = *r->at;
    if (c == '{' || c == '[') {
        if (++r->depth > DEPTH_MOST)
            return wrong(r, "arrays and objects lie too deep in each other");
        r->t->value[at].kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        r->at++;
        TRY(read_items(r, at, c == '{' ? '}' : ']'));
        r->depth--;
        return HEDDLE_OK;
    }
    if (c == '"') {
        kind = JSON_STRING;
        r->at++;
        TRY(read_string(r, &r->t->value[at].string));
    } else if (c == 'n' || c == 't' || c == 'f') {
        kind = c == 'n' ? JSON_NULL : c == 't' ? JSON_TRUE : JSON_FALSE;
        TRY(read_word(r, c == 'n' ? "null" : c == 't' ? "true" : "false"));
    } else {
        TRY(read_number(r, &r->t->value[at].number));
    }
    r->t->value[at].kind = kind;
done:
    return status;
}

heddle_status json_read(struct json_tree *t, char *text)
{
    heddle_status status = HEDDLE_OK;
    struct reader r = {.t = t, .begin = text, .at = text};
    int64_t root;
    t->count = 0;
    TRY(add(t, &root));
    skip_blanks(&r);
    TRY(read_value(&r, root));
    skip_blanks(&r);
    if (*r.at)
        TRY(wrong(&r, "something follows the value"));
done:
    return status;
}

void json_tree_free(struct json_tree *t)
{
    mem_free(t->value);
    mem_free((void *)(uintptr_t)t->keys);
    *t = (struct json_tree){0};
}

const struct json_value *json_member(const struct json_tree *t, const struct json_value *object,
                                     const char *key)
{
    if (!object || object->kind != JSON_OBJECT || object->count == 0)
        return NULL;
    for (int64_t i = object->first; i >= 0; i = t->value[i].next)
        if (strcmp(t->value[i].key, key) == 0)
            return t->value[i].kind == JSON_NULL ? NULL : &t->value[i];
    return NULL;
}

const char *json_member_text(const struct json_tree *t, const struct json_value *object, const char *key)
{
    const struct json_value *v = json_member(t, object, key);
    return v && v->kind == JSON_STRING ? v->string : NULL;
}

double json_member_number(const struct json_tree *t, const struct json_value *object, const char *key,
                          double otherwise)
{
    const struct json_value *v = json_member(t, object, key);
    return v && v->kind == JSON_NUMBER ? v->number : otherwise;
}
