/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void quoted(struct json *j, const char *value)
{
    text_add(&j->text, "\"");
    for (const char *s = value; *s;) {
        int n = text_letter(s);
        unsigned code = n == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu) : (unsigned char)*s;
        if (n == 0)
            text_add(&j->text, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            text_add(&j->text, "\\%c", *s);
        else if ((n == 1 && code < 0x20) || (n <= 2 && code >= 0x7f && code < 0xa0))
            text_add(&j->text, "\\u%04x", code); /* what a terminal would obey */
        else
            text_add(&j->text, "%.*s", n, s);
        s += n ? n : 1;
    }
    text_add(&j->text, "\"");
}

static void begin(struct json *j, const char *key)
{
    if (j->comma)
        text_add(&j->text, ",");
    if (key) {
        quoted(j, key);
        text_add(&j->text, ":");
    }
    j->comma = 1;
}

static void open_with(struct json *j, const char *key, const char *bracket)
{
    begin(j, key);
    text_add(&j->text, "%s", bracket);
    j->comma = 0;
}

static void close_with(struct json *j, const char *bracket)
{
    text_add(&j->text, "%s", bracket);
    j->comma = 1;
}

void json_object(struct json *j, const char *key)
{
    open_with(j, key, "{");
}

void json_array(struct json *j, const char *key)
{
    open_with(j, key, "[");
}

void json_end_object(struct json *j)
{
    close_with(j, "}");
}

void json_end_array(struct json *j)
{
    close_with(j, "]");
}

void json_string(struct json *j, const char *key, const char *value)
{
    begin(j, key);
    if (value)
        quoted(j, value);
    else
        text_add(&j->text, "null");
}

void json_int(struct json *j, const char *key, int64_t value)
{
    begin(j, key);
    text_add(&j->text, "%lld", (long long)value);
}

void json_real(struct json *j, const char *key, double value)
{
    begin(j, key);
    if (!isfinite(value)) {
        text_add(&j->text, "null");
        return;
    }
    char digits[40];
    for (int precision = 6; precision <= 17; precision++) { /* the fewest digits that give the value back */
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(&j->text, "%s", digits);
}

void json_bool(struct json *j, const char *key, int value)
{
    begin(j, key);
    text_add(&j->text, value ? "true" : "false");
}

void json_free(struct json *j)
{
    text_free(&j->text);
    *j = (struct json){0};
}
