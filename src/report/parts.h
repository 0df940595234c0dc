/* SPDX-License-Identifier: MIT
 *
 * parts.h: the files that pages are made of, inside the command; cmake/heddle-report.cmake puts them
 * there. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include <stddef.h>

struct report_part {
    const char *begin; /* a zero follows the last byte */
    size_t size;
};

/* "template", "style", "script", "drawing" or "licence"; a name that is not known has size 0. */
struct report_part report_part(const char *name);

#endif
