/* SPDX-License-Identifier: MIT
 *
 * json.h: writes one JSON value into a growing text.  Commas are put where they belong; numbers that JSON
 * does not have (NaN, infinities) become null; strings are escaped and invalid UTF-8 bytes are replaced. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

struct json {
    struct text text;
    int comma; /* is a comma due before the next item? */
};

/* `key` is NULL inside an array and for the outermost value. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_end_array(struct json *j);
void json_string(struct json *j, const char *key, const char *value); /* NULL becomes null */
void json_int(struct json *j, const char *key, int64_t value);
void json_real(struct json *j, const char *key, double value); /* as many digits as needed to read it back */
void json_bool(struct json *j, const char *key, int value);
void json_free(struct json *j);

#endif
