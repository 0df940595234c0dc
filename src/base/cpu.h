/* SPDX-License-Identifier: MIT
 *
 * cpu.h: what the processor is and can do, asked at run time. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdint.h>

/* Instruction sets that CPU kernels are compiled for, narrowest first.  A library holds those of its own
 * architecture (isas.def); generic is whatever the compiler targets by default, which people know as sse2
 * or neon. */
enum isa {
#define ISA(name, flags) ISA_##name,
#include "base/isas.def"
#undef ISA
    ISA_COUNT
};

struct cpu {
    char model[96];
    int cores;      /* that this process may use */
    int64_t memory; /* bytes */
    int64_t cache;  /* bytes of the last level; 0 when unknown */
    enum isa isa;   /* the widest that processor and library share */
    unsigned isas;  /* bits: all of these; asked once, because a virtual machine takes 2 us to answer */
};

const struct cpu *cpu_this(void);
const char *isa_name(enum isa isa); /* "avx2"; of ISA_generic "sse2" or "neon" */
int isa_by_name(const char *name);  /* -1 when there is none; "generic" is the narrowest on every
                                    * architecture */
int isa_runs(enum isa isa);         /* does this processor have it? */

#endif
