/* SPDX-License-Identifier: MIT
 *
 * A system that fails on request, in front of libc (LD_PRELOAD).  HEDDLE_FAULT says how:
 *
 *   count           nothing fails; at the end 'BYTES CALLS' goes to the file that HEDDLE_FAULT_LOG names
 *   kill-byte:N     SIGKILL when N bytes were written to regular files, the last of them for real
 *   kill-call:N     SIGKILL before the N-th call that changes the file system
 *   term-byte:N     SIGTERM there, and the process goes on as its handler pleases
 *   full-byte:N     the disk is full after N bytes, for good
 *   memory:N        no allocation of N bytes and more
 *
 * Only files that the program itself writes count, by write(2): what libc's streams write passes by. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_llong bytes, calls;
static long long limit = -1;
static enum { FAULT_NONE, FAULT_COUNT, KILL_BYTE, KILL_CALL, TERM_BYTE, FULL_BYTE, MEMORY } fault;

__attribute__((constructor)) static void choose(void)
{
    static const char *const names[] = {
        "", "count", "kill-byte:", "kill-call:", "term-byte:", "full-byte:", "memory:"};
    const char *text = getenv("HEDDLE_FAULT");
    for (int i = FAULT_COUNT; text && i <= MEMORY; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0) {
            limit = atoll(text + strlen(names[i]));
            fault = i;
        }
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("HEDDLE_FAULT_LOG");
    FILE *log = fault == FAULT_COUNT && path ? fopen(path, "w") : NULL;
    if (log) {
        fprintf(log, "%lld %lld\n", (long long)bytes, (long long)calls);
        fclose(log);
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void called(void)
{
    if (atomic_fetch_add(&calls, 1) + 1 == limit && fault == KILL_CALL)
        raise(SIGKILL);
}

ssize_t write(int file, const void *data, size_t size)
{
    struct stat info;
    if (fault == FAULT_NONE || fault == MEMORY || fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return REAL(write)(file, data, size);
    called();
    long long before = bytes, room = limit - before;
    int reached = (fault == KILL_BYTE || fault == TERM_BYTE || fault == FULL_BYTE) && room >= 0 &&
                  (long long)size > room;
    if (fault == FULL_BYTE && room == 0) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t n = REAL(write)(file, data, reached ? (size_t)room : size);
    bytes += n > 0 ? n : 0;
    if (reached && fault == KILL_BYTE)
        raise(SIGKILL);
    if (reached && fault == TERM_BYTE) {
        limit = -1; /* once */
        raise(SIGTERM);
    }
    return n;
}

/* open(2) is variadic: the mode counts only where a file may be created. */
static int open_with(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode)
{
    if (flags & O_CREAT)
        called();
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_with(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_with(REAL(open64), path, flags, mode);
}

int rename(const char *from, const char *to)
{
    called();
    return REAL(rename)(from, to);
}

int unlink(const char *path)
{
    called();
    return REAL(unlink)(path);
}

int fsync(int file)
{
    called();
    return REAL(fsync)(file);
}

int ftruncate(int file, off_t size)
{
    called();
    return REAL(ftruncate)(file, size);
}

int ftruncate64(int file, off64_t size)
{
    called();
    return REAL(ftruncate64)(file, size);
}

/* A small machine, so that what heddle bench compares with, reading more than the caches hold, takes no
 * time. */
long sysconf(int name)
{
    return fault != FAULT_NONE && name == _SC_PHYS_PAGES ? (64L << 20) / REAL(sysconf)(_SC_PAGESIZE)
                                                         : REAL(sysconf)(name);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    if (fault == MEMORY && (long long)size >= limit)
        return ENOMEM;
    return REAL(posix_memalign)(p, alignment, size);
}
