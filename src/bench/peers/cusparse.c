/* SPDX-License-Identifier: MIT
 *
 * peer_cusparse.c: NVIDIA's cuSPARSE, from CUDA 11 on.  SpMVOp came with CUDA 13.1 and took these
 * arguments from its first update (12.7.3) to CUDA 13.2; from 13.3 on it asks for an algorithm as well.
 * 16-bit values go with an x of 16 bits and a y of f32 there (its table of mixed precisions): x is rounded
 * before.  What it does not have, in whichever version, it says itself. */
#include "bench/peers/generic.h"

static struct generic_calls calls = {.library = "cusparse", .op_oldest = 12703, .op_newest = 12799};

static const struct peer_symbol symbols[] = {
#define CALL(member, symbol, optional, arguments) {"cusparse" #symbol, &calls.member, optional},
    GENERIC_CALLS(CALL)
#undef CALL
        {"cusparseGetErrorName", &calls.error_name, 1},
    {0}};

static const char *const files[] = {"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so", NULL};
static const char *const folders[] = {"/usr/local/cuda/lib64", "/opt/cuda/lib64", "/usr/lib/cuda/lib64",
                                      NULL};

const struct peer_library peer_cusparse = {.files = files,
                                           .folders = folders,
                                           .symbols = symbols,
                                           .types = "f32 f64 c32 c64 f16 bf16 f32v64",
                                           .calls = &calls,
                                           .open = generic_open,
                                           .close = generic_close,
                                           .suits = generic_suits,
                                           .bind = generic_bind,
                                           .prepare = generic_prepare,
                                           .run = generic_run,
                                           .release = generic_release};
