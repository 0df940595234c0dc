/* SPDX-License-Identifier: MIT
 *
 * memory.h: checked memory.  Every allocation of the library goes through here, so that sizes cannot
 * overflow, a failure always ends in HEDDLE_NO_MEMORY with a text, and tests can make the n-th allocation
 * fail. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/status.h"

#define MEM_ALIGN 64 /* bytes: a cache line, and the widest vector of any instruction set in use */

/* count items of `size` bytes, aligned to MEM_ALIGN; NULL (with the text kept) when it fails.  A count of
 * 0 gives a pointer that can be freed; a negative one fails. */
void *mem_alloc(int64_t count, size_t size);
void *mem_zeroed(int64_t count, size_t size);
/* Grows or shrinks to new_count items, keeping the smaller number of them; on failure `p` stays valid. */
void *mem_resize(void *p, int64_t old_count, int64_t new_count, size_t size);
void mem_free(void *p);

/* 0 when the system knows that the first or the last of these bytes cannot be read, so that a wild pointer
 * of the caller's can end in a text instead of a signal; 1 when they can, or nobody can say. */
int mem_readable(const void *p, int64_t bytes);

/* TRY(NEW(array, n)) allocates and passes the failure on. */
#define NEW(p, count) (((p) = mem_alloc((count), sizeof *(p))) ? HEDDLE_OK : HEDDLE_NO_MEMORY)
#define NEW_ZEROED(p, count) (((p) = mem_zeroed((count), sizeof *(p))) ? HEDDLE_OK : HEDDLE_NO_MEMORY)

/* Tests: the allocation after `n` more successful ones fails, once; -1 switches that off. */
void mem_fail_after(int64_t n);
int64_t mem_live(void); /* allocations not yet freed */

#endif
