/* SPDX-License-Identifier: MIT
 *
 * fuzz.h: a fuzz target is one function that hands any bytes to a reader.  What it may do is fail with a
 * text, or succeed with a matrix that is valid; sanitizers watch the rest. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "io/io.h"
#include "io/read.h"
#include "io/tuning.h"

/* Small blocks meet many boundaries; little memory keeps matrices with billions of rows away. */
static inline void fuzz_tune(const uint8_t *data, size_t size)
{
    io_tuning.block = 512 + (size > 0 ? data[size - 1] : 0) * 16;
    io_tuning.chunk = 16 + (size > 1 ? data[size / 2] : 0);
    io_tuning.memory = 64 << 20;
    io_tuning.threads = 1;
}

static inline void fuzz_require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "broken promise: %s (%s)\n", what, heddle_last_error());
        abort();
    }
}

/* Reads the bytes as a matrix text called `name`. */
static inline void fuzz_text(const char *name, const uint8_t *data, size_t size)
{
    struct text_source s;
    struct csr A;
    int64_t live = mem_live();
    fuzz_tune(data, size);
    if (source_memory(&s, name, data, (int64_t)size) == HEDDLE_OK) {
        if (read_text(&A, &s, size % 2 ? HEDDLE_F32 : 0) == HEDDLE_OK) {
            fuzz_require(csr_validate(&A) == HEDDLE_OK, "an accepted matrix is valid");
            csr_free(&A);
        }
        source_close(&s);
    }
    fuzz_require(mem_live() == live, "nothing leaks");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
