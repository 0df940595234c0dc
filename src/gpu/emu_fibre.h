/* SPDX-License-Identifier: MIT
 *
 * emu_fibre.h: stacks that one processor switches between.  The switch saves what the calling convention
 * wants preserved and nothing else; AddressSanitizer is told of it, because it keeps state per stack. */
#ifndef GPU_EMU_FIBRE_H
#define GPU_EMU_FIBRE_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(EMU_UCONTEXT)
#define EMU_UCONTEXT /* the portable fallback; may be forced, for tests */
#endif
#ifdef EMU_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define EMU_ASAN 1
#else
#define EMU_ASAN 0
#define ASAN_POISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))
#endif

struct fibre {
    void *sp;    /* where its registers are saved while it does not run */
    char *stack; /* NULL: the stack that the operating system gave */
    size_t bytes;
    int guarded;        /* the page below the stack may not be touched */
    const void *bottom; /* of the stack, also of the system's; for AddressSanitizer, which keeps `fake` for
                         * each stack */
    void *fake;
#ifdef EMU_UCONTEXT
    ucontext_t context;
#endif
};

typedef void fibre_entry(void *argument);

/* A stack with a page below it that may not be touched, unless there are very many; 0 when there is no
 * memory. */
int fibre_create(struct fibre *f);
void fibre_destroy(struct fibre *f);
/* The next switch to `f` calls entry(argument), which never returns.  What ran on it before is forgotten.
 * `number` staggers the tops of the stacks, which would otherwise all fall into the same few sets of the
 * cache. */
void fibre_prepare(struct fibre *f, int number, fibre_entry *entry, void *argument);
/* Leaves `from`, which goes on behind this call when someone switches back, and goes on with `to`. */
void fibre_switch(struct fibre *from, struct fibre *to);
/* The first thing that an entry does. */
void fibre_entered(void);

#endif
