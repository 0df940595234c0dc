/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static _Thread_local struct error_text last_error;

static const struct {
    const char *name, *text;
} statuses[] = {
    [HEDDLE_OK] = {"HEDDLE_OK", "success"},
    [HEDDLE_BAD_ARGUMENT] = {"HEDDLE_BAD_ARGUMENT", "an argument is not valid"},
    [HEDDLE_BAD_MATRIX] = {"HEDDLE_BAD_MATRIX", "the matrix has an index or offset out of range"},
    [HEDDLE_BAD_FILE] = {"HEDDLE_BAD_FILE", "the file breaks its format"},
    [HEDDLE_FILE_ERROR] = {"HEDDLE_FILE_ERROR", "the file cannot be opened, read or written"},
    [HEDDLE_NO_MEMORY] = {"HEDDLE_NO_MEMORY", "not enough memory"},
    [HEDDLE_NO_DEVICE] = {"HEDDLE_NO_DEVICE", "no such device on this machine"},
    [HEDDLE_NO_KERNEL] = {"HEDDLE_NO_KERNEL", "no kernel fits the request"},
    [HEDDLE_NOT_SUPPORTED] = {"HEDDLE_NOT_SUPPORTED", "this build does not support the request"},
    [HEDDLE_NO_WORKSPACE] = {"HEDDLE_NO_WORKSPACE", "the handle has no workspace for this matrix"},
    [HEDDLE_DEVICE_ERROR] = {"HEDDLE_DEVICE_ERROR", "the device failed"},
    [HEDDLE_INTERNAL] = {"HEDDLE_INTERNAL", "a defect of Heddle"},
};

static int known(heddle_status status)
{
    return (size_t)status < sizeof statuses / sizeof statuses[0];
}

const char *heddle_status_name(heddle_status status)
{
    return known(status) ? statuses[status].name : "HEDDLE_UNKNOWN_STATUS";
}

const char *heddle_status_text(heddle_status status)
{
    return known(status) ? statuses[status].text : "not a status of this version";
}

const char *heddle_last_error(void)
{
    return last_error.text;
}

heddle_status fail(heddle_status status, const char *format, ...)
{
    char text[sizeof last_error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_printable(last_error.text, sizeof last_error.text, text,
                   ""); /* names of files and members may hold anything */
    return status;
}

heddle_status fail_in(heddle_status status, const char *where)
{
    struct error_text inner = last_error;
    return fail(status, "%.400s: %.600s", where, inner.text);
}

void error_keep(struct error_text *kept)
{
    *kept = last_error;
}

void error_put_back(const struct error_text *kept)
{
    last_error = *kept;
}
