/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/environment.h"

#include <stdlib.h>

const char *environment(const char *name)
{
    return secure_getenv(name);
}
