/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H
#include "base/cpu.h"
#include "base/text.h"
#include "matrix/matrix.h"
struct device {
    int threads;
    enum isa isa;
};
#endif
