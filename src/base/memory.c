/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* process_vm_readv */
#include "base/memory.h"

#include "base/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/uio.h>
#include <unistd.h>
#endif

static atomic_llong countdown = -1; /* < 0: no failure is planned */
static atomic_llong live;

/* True exactly once, for the allocation that a test has chosen to fail. */
static int fails_by_plan(void)
{
    if (atomic_load(&countdown) < 0)
        return 0;
    return atomic_fetch_sub(&countdown, 1) == 0;
}

void *mem_alloc(int64_t count, size_t size)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2) {
        fail(HEDDLE_NO_MEMORY, "a request for %lld items of %zu bytes exceeds the address space",
             (long long)count, size);
        return NULL;
    }
    void *p = NULL; /* not a byte more than asked for, so that AddressSanitizer sees who takes it */
    if (fails_by_plan() || posix_memalign(&p, MEM_ALIGN, bytes > 0 ? bytes : 1) != 0) {
        fail(HEDDLE_NO_MEMORY, "cannot allocate %s", text_bytes((char[NUMBER_TEXT]){0}, (double)bytes));
        return NULL;
    }
    atomic_fetch_add(&live, 1);
    return p;
}

void *mem_zeroed(int64_t count, size_t size)
{
    void *p = mem_alloc(count, size);
    if (p)
        memset(p, 0, (size_t)count * size);
    return p;
}

void *mem_resize(void *p, int64_t old_count, int64_t new_count, size_t size)
{
    void *q = mem_alloc(new_count, size);
    if (!q)
        return NULL;
    int64_t kept = old_count < new_count ? old_count : new_count;
    if (p && kept > 0)
        memcpy(q, p, (size_t)kept * size);
    mem_free(p);
    return q;
}

void mem_free(void *p)
{
    if (!p)
        return;
    atomic_fetch_sub(&live, 1);
    free(p);
}

void mem_fail_after(int64_t n)
{
    atomic_store(&countdown, n);
}

int64_t mem_live(void)
{
    return atomic_load(&live);
}

#ifdef __linux__
/* The kernel copies for us and reports what would be a signal otherwise.  Where that is forbidden it says
 * so. */
static int readable_at(uintptr_t at)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)at, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

int mem_readable(const void *p, int64_t bytes)
{
    uintptr_t first = (uintptr_t)p;
    return bytes <= 0 || (readable_at(first) && readable_at(first + (uintptr_t)bytes - 1));
}
#else
int mem_readable(const void *p, int64_t bytes)
{
    (void)p, (void)bytes;
    return 1;
}
#endif
