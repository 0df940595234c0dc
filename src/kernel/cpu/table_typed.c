/* SPDX-License-Identifier: MIT
 *
 * The second step of the table in table.c: the instruction sets of one variant. */
#include "base/cpu.h"
#include "matrix/variant.h"
#include "run/product.h"

#define ISA_TABLE(isa) NAME_JOIN(TYPED(cpu_kernels), isa)

#define ISA(name, flags) extern cpu_kernel *const ISA_TABLE(name)[];
#include "base/isas.def"
#undef ISA

extern cpu_kernel *const *const TYPED(cpu_kernels)[ISA_COUNT];
cpu_kernel *const *const TYPED(cpu_kernels)[ISA_COUNT] = {
#define ISA(name, flags) ISA_TABLE(name),
#include "base/isas.def"
#undef ISA
};
