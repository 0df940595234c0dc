/* SPDX-License-Identifier: MIT
 *
 * How a CPU page's device half is found and run.  The table kernel x variant x instruction set is put
 * together in three steps, each of which reads one list: here, compiled per variant and instruction set,
 * the kernels; in table_typed.c, compiled per variant, the instruction sets; below, compiled once, the
 * variants. */
#ifdef HEDDLE_DEVICE
#include "run/cpu_page.h"

/* The build says for each set of matrix/sets.def whether this variant is in it: IN_real is 1 or 0. */
#define IF_PASTE(in, ...) IF_##in(__VA_ARGS__)
#define IF(in, ...) IF_PASTE(in, __VA_ARGS__)
#define KERNEL(name, device, numbers) IF(IN_##numbers, device##_ROW(name))

#define cpu_ROW(name) void CPU_NAME(name)(const struct product *p, const struct team *team);
#define cpu_real_ROW(name) void CPU_REAL_NAME(name)(const struct product *p, const struct team *team);
#define gpu_ROW(name)
#define gpu_real_ROW(name)
#define IF_1(...) __VA_ARGS__
#define IF_0(...)
#include "kernel/kernels.def"
#undef cpu_ROW
#undef cpu_real_ROW
#undef gpu_ROW
#undef gpu_real_ROW
#undef IF_0

/* By kernel_id, so that pages for other devices and other numbers have a row as well. */
#define cpu_ROW(name) CPU_NAME(name),
#define cpu_real_ROW(name) CPU_REAL_NAME(name),
#define gpu_ROW(name) 0,
#define gpu_real_ROW(name) 0,
#define IF_0(...) 0,
cpu_kernel *const CPU_NAME(cpu_kernels)[] = {
#include "kernel/kernels.def"
};

#else
#include "base/thread.h"
#include "kernel/kernel.h"

#define VARIANT(name, elem, real, off, value, offset)                                                        \
    extern cpu_kernel *const *const cpu_kernels__##name[ISA_COUNT];
#include "matrix/variants.def"
#undef VARIANT

static cpu_kernel *const *const *const cpu_kernels[VARIANT_COUNT] = {
#define VARIANT(name, elem, real, off, value, offset) cpu_kernels__##name,
#include "matrix/variants.def"
#undef VARIANT
};

/* A thread costs about as much to wake up as a core needs for this many entries. */
#define ENTRIES_PER_THREAD 4096

struct cpu_call {
    cpu_kernel *kernel;
    const struct product *product;
};

static void run(void *argument, const struct team *team)
{
    const struct cpu_call *call = argument;
    call->kernel(call->product, team);
}

/* The widest instruction set that the device allows and the processor has; the parts do not depend on the
 * threads, so a small product may use fewer without changing its result. */
heddle_status cpu_launch(const struct work *w)
{
    enum isa isa = w->device->isa;
    while (isa > ISA_generic && !isa_runs(isa))
        isa--;
    struct cpu_call call = {cpu_kernels[w->variant][isa][w->kernel->id], &w->product};
    int64_t entries = w->product.nnz + w->product.rows + w->product.cols,
            useful = 1 + entries / ENTRIES_PER_THREAD * w->product.vectors;
    team_run(useful < w->device->threads ? (int)useful : w->device->threads, run, &call);
    return HEDDLE_OK;
}
#endif
