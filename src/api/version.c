/* SPDX-License-Identifier: MIT
 *
 * version.c: what this library is and what was built into it. */
#include <pthread.h>
#include <stdio.h>

#include "base/cpu.h"
#include "io/io.h"

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "other"
#endif

const char *heddle_version(void)
{
    return HEDDLE_VERSION_TEXT;
}

static char info[768];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void describe(void)
{
    char isas[128] = "", variants[128] = "";
    int used = 0;
    for (int i = 0; i < ISA_COUNT; i++)
        used +=
            snprintf(isas + used, sizeof isas - (size_t)used, "%s%s", i ? " " : "", isa_name((enum isa)i));
    used = 0;
    for (int i = 0; i < VARIANT_COUNT; i++)
        used += snprintf(variants + used, sizeof variants - (size_t)used, "%s%s", i ? " " : "",
                         variant_name((enum variant)i));
    snprintf(info, sizeof info,
             "compiler: %s %s\narchitecture: %s\nthreads: own pool\nfiles: %s\n"
             "instruction sets: %s\nvariants: %s\ndrivers: cpu cuda hip emu\n",
#if defined(__clang__)
             "clang", __clang_version__,
#else
             "gcc", __VERSION__,
#endif
             ARCHITECTURE, io_features(), isas, variants);
}

const char *heddle_build_info(void)
{
    pthread_once(&once, describe);
    return info;
}
