/* SPDX-License-Identifier: MIT
 *
 * fake.h: driver libraries without a device.  fake_cuda.c and fake_hip.c export what Heddle calls of
 * libcuda.so.1 and libamdhip64.so; memory is malloc's, a module is a text, a launch is written down.  They
 * are built against the vendors' headers where those are installed, so that a wrong prototype does not
 * compile.
 *
 * Scripted by the environment, read at every call:
 *   FAKE_VERSION=N           what the driver says its version is
 *   FAKE_DEVICES=N           how many devices there are (2)
 *   FAKE_MEMORY=BYTES        of each (1e9); larger sums of allocations are out of memory
 *   FAKE_LOADING=US          how long CUDA takes to load a module (0)
 *   FAKE_CAPTURING=1         every stream is being captured
 *   FAKE_FAIL=SYMBOL@N=CODE  the N-th call of SYMBOL from now on (without @N: every one) returns CODE
 * An error of 700 to 719 (but 701) is sticky, as it is on a real device: every later call returns it,
 * until fake_reset.
 *
 * A module is a text "FAKE sm_90 kernel kernel ..." for one architecture, or "PTX kernel ..." for any;
 * "PTX!" does not compile.  Real binaries are taken as they are and have every kernel. */
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>

struct fake_state {
    int64_t memory, pinned, modules, events, contexts, graphs; /* alive */
    int64_t bytes;                                             /* of memory */
    int depth;        /* of this thread's stack of contexts (HIP: its device) */
    int64_t switches; /* of context or device */
    int last_error;   /* what hipGetLastError would say */
    int unordered;    /* launches that need not wait for an earlier one in another stream; since fake_reset */
    void *captured;   /* a stream that is being captured, for the test to set: launches there are not run,
                       * and events are refused */
    struct {
        char kernel[128];
        unsigned grid, block, shared;
        void *stream;
        int64_t argument;            /* its first eight bytes */
        int count, early, in_graphs; /* early: those that need not wait for what was launched before */
        int told;                    /* how often a graph was told what a kernel of it is */
    } launch;
};

/* The tests look these up in the library that they have opened. */
typedef struct fake_state *fake_state_function(void);
typedef void fake_reset_function(void);

#ifdef FAKE_LIBRARY
struct fake_device {
    const char *name, *arch;
};
extern const struct fake_device fake_device; /* of the vendor */

fake_state_function fake_state __attribute__((visibility("default")));
fake_reset_function fake_reset __attribute__((visibility("default")));

/* One call at a time, as many threads as there may be: from here to the end of the function that says so. */
int fake_lock(void);
void fake_unlock(int *locked);
#define LOCKED __attribute__((cleanup(fake_unlock))) int locked = fake_lock()

/* The result that the script or an earlier sticky error prescribes for a call; 0: go on. */
int fake_enter(const char *symbol);
#define PRESCRIBED(symbol)                                                                                   \
    do {                                                                                                     \
        int prescribed = fake_enter(#symbol);                                                                \
        if (prescribed)                                                                                      \
            return prescribed;                                                                               \
    } while (0)
#define ENTER(symbol)                                                                                        \
    LOCKED;                                                                                                  \
    PRESCRIBED(symbol)

int64_t fake_number(const char *variable, int64_t otherwise);
int fake_alloc(void **p, size_t bytes);
int fake_release(void *p);
int fake_memory_left(size_t *left, size_t *all);
int fake_pinned(void **p, size_t bytes);
int fake_release_pinned(void *p);
int fake_copy(void *to, const void *from, size_t bytes);
int fake_fill(void *p, int byte, size_t bytes);
int fake_pointer(void *value, int attribute, const void *p);
int fake_load(void **module, const char *image, unsigned count, const int *options, void **values);
int fake_unload(void *module);
int fake_find(void **function, void *module, const char *name);
int fake_launch(void *function, const unsigned size[3], void *stream, void **arguments);
int fake_event_new(void **event);
int fake_event_free(void *event);
int fake_event_record(void *event, void *stream);
int fake_stream_wait(void *stream, const void *event);
int fake_capturing(const void *stream);
#endif

#endif
