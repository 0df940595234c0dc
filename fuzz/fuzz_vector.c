/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_source s;
    void *x;
    int64_t n, live = mem_live();
    fuzz_tune(data, size);
    if (source_memory(&s, "fuzz.txt", data, (int64_t)size) == HEDDLE_OK) {
        if (vector_read_source(&x, &n, size % 2 ? HEDDLE_F32 : HEDDLE_F64, &s) == HEDDLE_OK) {
            fuzz_require(n >= 0, "a length is not negative");
            mem_free(x);
        }
        source_close(&s);
    }
    fuzz_require(mem_live() == live, "nothing leaks");
    return 0;
}
