/* SPDX-License-Identifier: MIT
 *
 * The hooks that a page compiled with -fsanitize=thread calls for every load and store.  The build renames
 * the calls from __tsan_NAME to emu_hook_NAME (emu_hooks.syms), so that a real ThreadSanitizer in the same
 * program is not met.  Atomic operations arrive here instead of being compiled, and must be done. */
#include "gpu/emu_global.h"

#define CODE __builtin_return_address(0)

/* Most accesses are to the worker (where am I?), to the stack of the thread and to arrays. */
static inline void accessed(const volatile void *p, int64_t size, enum emu_access_kind kind, const void *code)
{
    struct emu_worker *w = emu_worker_now();
    uintptr_t at = (uintptr_t)p, offset = at - (uintptr_t)w->arena;
    if (offset < (uintptr_t)w->arena_used)
        emu_access(w, (int64_t)offset, size, kind, code);
    else if (w->watch && at - (uintptr_t)w >= sizeof *w &&
             at - (uintptr_t)w->running->stack >= w->running->bytes && p != (const volatile void *)&emu_now)
        emu_global_access(w, at, size, kind, code);
}

void emu_hook_init(void);
void emu_hook_func_entry(void *caller);
void emu_hook_func_exit(void);
void emu_hook_atomic_thread_fence(int order);
void emu_hook_read_range(void *p, size_t bytes);
void emu_hook_write_range(void *p, size_t bytes);

void emu_hook_init(void)
{
}
void emu_hook_func_entry(void *caller)
{
    (void)caller;
}
void emu_hook_func_exit(void)
{
}
void emu_hook_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void emu_hook_read_range(void *p, size_t bytes)
{
    accessed(p, (int64_t)bytes, EMU_READS, CODE);
}
void emu_hook_write_range(void *p, size_t bytes)
{
    accessed(p, (int64_t)bytes, EMU_WRITES, CODE);
}

/* Loads and stores of each size, at their alignment or not. */
#define HOOK(name, size, kind)                                                                               \
    void emu_hook_##name##size(void *p);                                                                     \
    void emu_hook_##name##size(void *p)                                                                      \
    {                                                                                                        \
        accessed(p, size, kind, CODE);                                                                       \
    }
#define HOOKS(size)                                                                                          \
    HOOK(read, size, EMU_READS | EMU_WHOLE)                                                                  \
    HOOK(write, size, EMU_WRITES | EMU_WHOLE)                                                                \
    HOOK(unaligned_read, size, EMU_READS)                                                                    \
    HOOK(unaligned_write, size, EMU_WRITES)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* Atomic operations of 32 and 64 bits, the widths that the dialect has. */
#define CHANGE(bits, type, name, operation)                                                                  \
    type emu_hook_atomic##bits##_##name(volatile type *p, type v, int order);                                \
    type emu_hook_atomic##bits##_##name(volatile type *p, type v, int order)                                 \
    {                                                                                                        \
        (void)order;                                                                                         \
        accessed(p, sizeof *p, EMU_WRITES | EMU_ATOMIC, CODE);                                               \
        return operation(p, v, __ATOMIC_SEQ_CST);                                                            \
    }
#define SWAP(bits, type, name)                                                                               \
    int emu_hook_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v, int order, \
                                                        int failed);                                         \
    int emu_hook_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v, int order, \
                                                        int failed)                                          \
    {                                                                                                        \
        (void)order, (void)failed;                                                                           \
        accessed(p, sizeof *p, EMU_WRITES | EMU_ATOMIC, CODE);                                               \
        return __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }
#define ATOMICS(bits, type)                                                                                  \
    CHANGE(bits, type, exchange, __atomic_exchange_n)                                                        \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                                        \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                                        \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                                        \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                                          \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                                        \
    SWAP(bits, type, strong)                                                                                 \
    SWAP(bits, type, weak)                                                                                   \
    type emu_hook_atomic##bits##_load(const volatile type *p, int order);                                    \
    type emu_hook_atomic##bits##_load(const volatile type *p, int order)                                     \
    {                                                                                                        \
        (void)order;                                                                                         \
        accessed(p, sizeof *p, EMU_READS | EMU_ATOMIC, CODE);                                                \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                         \
    }                                                                                                        \
    void emu_hook_atomic##bits##_store(volatile type *p, type v, int order);                                 \
    void emu_hook_atomic##bits##_store(volatile type *p, type v, int order)                                  \
    {                                                                                                        \
        (void)order;                                                                                         \
        accessed(p, sizeof *p, EMU_WRITES | EMU_ATOMIC, CODE);                                               \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                            \
    }
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
