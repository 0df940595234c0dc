/* SPDX-License-Identifier: MIT
 *
 * json_read.h: reads one JSON value into a flat array.  Strings are unescaped where they stand, so that
 * the text must be the caller's to change and must outlive the tree; the array is used again by the next
 * call. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/status.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    const char *key;    /* in an object, else NULL */
    const char *string; /* of a JSON_STRING */
    double number;      /* of a JSON_NUMBER */
    int64_t count;      /* items of an array or members of an object */
    int64_t first;      /* its first item, where count > 0 */
    int64_t next;       /* the item behind this one in the same array or object, -1 for the last */
};

struct json_tree {
    struct json_value *value; /* value[0] is the outermost */
    int64_t count, capacity;
    const char **keys; /* size key_capacity: of the object that was read last, sorted */
    int64_t key_capacity;
};

/* HEDDLE_BAD_FILE with the column and what is wrong there.  A member that stands twice in an object is
 * wrong. */
heddle_status json_read(struct json_tree *t, char *text);
void json_tree_free(struct json_tree *t);

/* A member of an object, or NULL when there is none or `object` is NULL or something else; a null counts
 * as none. */
const struct json_value *json_member(const struct json_tree *t, const struct json_value *object,
                                     const char *key);
/* The same for members of a kind: a text or NULL, a number or `otherwise`. */
const char *json_member_text(const struct json_tree *t, const struct json_value *object, const char *key);
double json_member_number(const struct json_tree *t, const struct json_value *object, const char *key,
                          double otherwise);

#endif
