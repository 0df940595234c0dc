/* SPDX-License-Identifier: MIT
 *
 * peer_hipsparse.c: AMD's hipSPARSE, which gives cuSPARSE's interface to rocSPARSE.  Its preparation came
 * with ROCm 5.5. */
#include "bench/peers/generic.h"

static struct generic_calls calls = {.library = "hipsparse"};

static const struct peer_symbol symbols[] = {
#define CALL(member, symbol, optional, arguments) {"hipsparse" #symbol, &calls.member, optional},
    GENERIC_CALLS(CALL)
#undef CALL
        {"hipsparseGetErrorName", &calls.error_name, 1},
    {0}};

static const char *const files[] = {"libhipsparse.so.4", "libhipsparse.so.1", "libhipsparse.so.0",
                                    "libhipsparse.so", NULL};
static const char *const folders[] = {"/opt/rocm/lib", "/opt/rocm/lib64", NULL};

const struct peer_library peer_hipsparse = {.files = files,
                                            .folders = folders,
                                            .symbols = symbols,
                                            .types = "f32 f64 c32 c64",
                                            .calls = &calls,
                                            .open = generic_open,
                                            .close = generic_close,
                                            .bind = generic_bind,
                                            .prepare = generic_prepare,
                                            .run = generic_run,
                                            .release = generic_release};
