/* SPDX-License-Identifier: MIT
 *
 * emu.h: what a page compiled for the emulator and the emulator (src/gpu/emu*.c) know of each other.
 *
 * A page announces its kernels by rows in the section "emu_kernels", which the linker gathers: linking a
 * page is all that it takes to have it found, in the library and in a test program alike. */
#ifndef SIMT_EMU_H
#define SIMT_EMU_H

#include <stdint.h>

struct emu_facts {
    int32_t bytes;  /* of the argument */
    int32_t most;   /* threads a block */
    int32_t hooked; /* 1: its loads and stores call the hooks of emu_hooks.c */
};

/* Each member is a distance from its own place. */
struct emu_kernel {
    int32_t call; /* void (const void *argument): one thread, which copies the argument, as a launch does,
                   * and runs */
    int32_t facts;
    int32_t name; /* "csr_vector__f64_i32" */
};

static inline const void *emu_at(const int32_t *distance)
{
    return (const char *)distance + *distance;
}

static inline const char *emu_name(const struct emu_kernel *k)
{
    return emu_at(&k->name);
}

static inline const struct emu_facts *emu_facts_of(const struct emu_kernel *k)
{
    return emu_at(&k->facts);
}

static inline void emu_call(const struct emu_kernel *k, const void *argument)
{
    uintptr_t code = (uintptr_t)emu_at(&k->call);
    ((void (*)(const void *))code)(argument);
}

/* The block whose threads this processor runs, and the thread that runs now.  Fibres never change
 * processors. */
struct emu_block_view {
    int64_t id, grid;
    int size;
};
struct emu_thread {
    int thread, lane, wave;
    int width; /* lanes of its wave: pages are compiled once for all widths */
    const struct emu_block_view *block;
    const char *caller; /* site of the last call of a function of collective.h */
};
extern _Thread_local struct emu_thread *emu_now
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum emu_op {
    EMU_SYNC,
    EMU_WAVE_SYNC,
    EMU_SHFL,
    EMU_SHFL_UP,
    EMU_SHFL_DOWN,
    EMU_SHFL_XOR,
    EMU_FOLD,
    EMU_BALLOT,
    EMU_ANY,
    EMU_ALL
};

/* A collective: `site` is "file:line" of the call, the same text for every thread that takes part. */
void emu_sync(const char *site);
void emu_wave_sync(const char *site);
void emu_fence(void);
void emu_after_previous(void);
uint64_t emu_shuffle(const char *site, enum emu_op op, uint64_t bits, int by, int lanes);
uint64_t emu_vote(const char *site, enum emu_op op, int condition);
/* Once all of a group of lanes have come, each with a value of its own, `fold` changes all of these. */
typedef void emu_fold(void *const value[], int lanes);
void emu_together(const char *site, void *value, int lanes, emu_fold *fold);

/* The block's own memory for the declaration that `key` stands for, the same for all of its threads. */
void *emu_shared(const void *key, const char *name, int64_t size, int64_t count);
void *emu_shared_dynamic(int64_t size);

#endif
