/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_SVE
#define HWCAP_SVE (1 << 22)
#endif
#endif

static struct cpu cpu;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const names[] = {
#define ISA(name, flags) #name,
#include "base/isas.def"
#undef ISA
};

/* What the compiler targets by default, as people call it. */
#if defined(__x86_64__)
#define GENERIC "sse2"
#elif defined(__aarch64__)
#define GENERIC "neon"
#else
#define GENERIC "generic"
#endif

const char *isa_name(enum isa isa)
{
    return isa == ISA_generic ? GENERIC : names[isa];
}

int isa_by_name(const char *name)
{
    for (int i = 0; i < ISA_COUNT; i++)
        if (strcmp(names[i], name) == 0 || strcmp(isa_name((enum isa)i), name) == 0)
            return i;
    return -1;
}

#if defined(__x86_64__)
/* Asked of the processor itself: not every compiler's __builtin_cpu_supports knows it. */
static int has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static int processor_has(enum isa isa)
{
#if defined(__x86_64__)
    if (isa == ISA_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2") && has_f16c();
    if (isa == ISA_avx512)
        return processor_has(ISA_avx2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw");
#elif defined(__aarch64__)
    if (isa == ISA_sve)
        return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#endif
    return isa == ISA_generic;
}

/* The text behind "key : " in /proc/cpuinfo. */
static int cpuinfo(const char *key, char *value, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) {
            colon += 1 + strspn(colon + 1, " \t");
            colon[strcspn(colon, "\n")] = 0;
            snprintf(value, size, "%s", colon);
            found = 1;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* x86 has a model name; ARM gives numbers, of which these are common in servers. */
static void find_model(char *model, size_t size)
{
    static const struct {
        const char *part, *name;
    } arm[] = {{"0xd0c", "Neoverse-N1"}, {"0xd40", "Neoverse-V1"}, {"0xd49", "Neoverse-N2"},
               {"0xd4f", "Neoverse-V2"}, {"0xd84", "Neoverse-V3"}, {"0xd8e", "Neoverse-N3"},
               {"0xd08", "Cortex-A72"},  {"0xd0b", "Cortex-A76"}};
    char part[64];
    if (cpuinfo("model name", model, size))
        return;
    snprintf(model, size, "unknown processor");
    if (!cpuinfo("CPU part", part, sizeof part))
        return;
    snprintf(model, size, "ARM part %s", part);
    for (size_t i = 0; i < sizeof arm / sizeof arm[0]; i++)
        if (strcmp(part, arm[i].part) == 0)
            snprintf(model, size, "%s", arm[i].name);
}

/* The largest cache that core 0 sees, from sysfs ("32768K"). */
static int64_t last_level_cache(void)
{
    int64_t most = 0;
    for (int i = 0; i < 8; i++) {
        char path[80];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "r");
        long long size = 0;
        char unit = 0;
        if (!file)
            break;
        if (fscanf(file, "%lld%c", &size, &unit) >= 1) {
            size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
            most = size > most ? size : most;
        }
        fclose(file);
    }
    return most;
}

static void find_out(void)
{
    cpu_set_t set;
    cpu.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    cpu.memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    cpu.cache = last_level_cache();
    find_model(cpu.model, sizeof cpu.model);
    for (int i = 0; i < ISA_COUNT; i++)
        if (processor_has((enum isa)i)) {
            cpu.isa = (enum isa)i;
            cpu.isas |= 1u << i;
        }
}

const struct cpu *cpu_this(void)
{
    pthread_once(&once, find_out);
    return &cpu;
}

int isa_runs(enum isa isa)
{
    return cpu_this()->isas >> isa & 1;
}
