/* SPDX-License-Identifier: MIT
 *
 * names.h: texts that are kept once and known by their number: 0, 1, 2, ... in the order in which they
 * were added. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "base/status.h"

struct names {
    char **item; /* size count */
    int64_t count, capacity;
    int64_t *slot; /* size slots, a power of two: number + 1, or 0 for an empty one */
    int64_t slots;
};

/* The number of `text`, which is added if it is new. */
heddle_status names_add(struct names *n, const char *text, int64_t *number);
/* The number of `text`, or -1. */
int64_t names_find(const struct names *n, const char *text);
void names_free(struct names *n);

#endif
