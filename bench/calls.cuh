// SPDX-License-Identifier: MIT
//
// calls.cuh: calls of CUDA, cuSPARSE and Heddle that must not fail; a program of bench/ ends where one does.
#ifndef BENCH_CALLS_CUH
#define BENCH_CALLS_CUH

#include <cuda_runtime.h>
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

#define MUST(call, good, why)                                                                                \
    do {                                                                                                     \
        const auto e = (call);                                                                               \
        if (e != (good))                                                                                     \
            stop(#call, why);                                                                                \
    } while (0)
#define CUDA(call) MUST(call, cudaSuccess, cudaGetErrorString(e))
#define SPARSE(call) MUST(call, CUSPARSE_STATUS_SUCCESS, cusparseGetErrorString(e))
#define HEDDLE(call) MUST(call, HEDDLE_OK, heddle_last_error())

#endif
