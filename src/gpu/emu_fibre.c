/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "gpu/emu_fibre.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Kernels keep little on the stack; AddressSanitizer's red zones make frames several times larger. */
#define STACK_BYTES ((size_t)(EMU_ASAN ? 256 : 64) * 1024)
#define STAGGER_BYTES 192
#define STAGGER_STEPS 20
/* A guard splits a mapping, and Linux allows a process 65,530 of them: many handles with blocks of 1024
 * threads each would take them all.  Stacks beyond these do without, and lie together in one mapping. */
#define MOST_GUARDED 8192
static atomic_int guarded;

#ifndef EMU_UCONTEXT
/* emu_swap(&from, to): pushes the preserved registers, leaves the stack pointer in from, takes `to` as the
 * new one and pops.  emu_enter stands where a new fibre "returns" to: entry and argument wait in two
 * preserved registers. */
void emu_swap(void **from, void *to) __attribute__((visibility("hidden")));
void emu_enter(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n"
        ".globl emu_swap\n.hidden emu_swap\n.type emu_swap, @function\n"
        "emu_swap:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size emu_swap, . - emu_swap\n"
        ".globl emu_enter\n.hidden emu_enter\n.type emu_enter, @function\n"
        "emu_enter:\n"
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        ".size emu_enter, . - emu_enter\n");
/* r15 r14 r13 r12 rbx rbp and the return address; two words more, and emu_enter finds the stack at a
 * multiple of 16. */
enum { FRAME_WORDS = 9, FRAME_ARGUMENT = 2, FRAME_ENTRY = 3, FRAME_RETURN = 6 };
#else
__asm__(".text\n.p2align 4\n"
        ".globl emu_swap\n.hidden emu_swap\n.type emu_swap, %function\n"
        "emu_swap:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x2, sp\n    str x2, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size emu_swap, . - emu_swap\n"
        ".globl emu_enter\n.hidden emu_enter\n.type emu_enter, %function\n"
        "emu_enter:\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        ".size emu_enter, . - emu_enter\n");
enum { FRAME_WORDS = 20, FRAME_ARGUMENT = 1, FRAME_ENTRY = 0, FRAME_RETURN = 11 };
#endif
#endif

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int fibre_create(struct fibre *f)
{
    size_t page = page_bytes();
    char *p = mmap(NULL, page + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 0;
    *f = (struct fibre){.stack = p + page, .bytes = STACK_BYTES, .bottom = p + page};
    f->guarded = atomic_fetch_add(&guarded, 1) < MOST_GUARDED && mprotect(p, page, PROT_NONE) == 0;
    if (!f->guarded) {
        atomic_fetch_sub(&guarded, 1);
#ifdef MADV_NOHUGEPAGE
        (void)madvise(p, page + STACK_BYTES, MADV_NOHUGEPAGE); /* a stack touches a few pages, not 2 MB */
#endif
    }
    return 1;
}

void fibre_destroy(struct fibre *f)
{
    size_t page = page_bytes();
    ASAN_UNPOISON_MEMORY_REGION(f->stack, f->bytes);
    munmap(f->stack - page, page + f->bytes);
    if (f->guarded)
        atomic_fetch_sub(&guarded, 1);
}

#ifdef EMU_UCONTEXT
/* makecontext passes int arguments only: a pointer travels as two halves. */
static void enter(unsigned entry_low, unsigned entry_high, unsigned argument_low, unsigned argument_high)
{
    fibre_entry *entry = (fibre_entry *)(uintptr_t)((uint64_t)entry_high << 32 | entry_low);
    entry((void *)(uintptr_t)((uint64_t)argument_high << 32 | argument_low));
}
#endif

void fibre_prepare(struct fibre *f, int number, fibre_entry *entry, void *argument)
{
    char *top = f->stack + f->bytes - (size_t)(number % STAGGER_STEPS) * STAGGER_BYTES;
    ASAN_UNPOISON_MEMORY_REGION(f->stack, f->bytes);
    f->fake = NULL;
#ifdef EMU_UCONTEXT
    uint64_t e = (uintptr_t)entry, a = (uintptr_t)argument;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = (size_t)(top - f->stack);
    makecontext(&f->context, (void (*)(void))enter, 4, (unsigned)e, (unsigned)(e >> 32), (unsigned)a,
                (unsigned)(a >> 32));
#else
    void **frame = (void **)(void *)top - FRAME_WORDS;
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = NULL;
    frame[FRAME_ENTRY] = (void *)(uintptr_t)entry;
    frame[FRAME_ARGUMENT] = argument;
    frame[FRAME_RETURN] = (void *)(uintptr_t)emu_enter;
    f->sp = frame;
#endif
}

#if EMU_ASAN
static _Thread_local struct fibre *left; /* who made the switch that brought us here */

/* Where the system's own stack lies is learnt when it is left for the first time.  `left` may be another
 * thread's than before the switch (emu_block.c). */
__attribute__((noinline)) static void arrived(void *fake)
{
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (!left->stack) {
        left->bottom = bottom;
        left->bytes = bytes;
    }
}
#endif

void fibre_entered(void)
{
#if EMU_ASAN
    arrived(NULL);
#endif
}

void fibre_switch(struct fibre *from, struct fibre *to)
{
#if EMU_ASAN
    left = from;
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bytes);
#endif
#ifdef EMU_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    emu_swap(&from->sp, to->sp);
#endif
#if EMU_ASAN
    arrived(from->fake);
#endif
}
