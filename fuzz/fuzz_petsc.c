/* SPDX-License-Identifier: MIT
 *
 * The bytes as a matrix of PETSc: once as they are, and once with the class id put right, for whole
 * numbers of either width. */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t id[8] = {0, 0, 0, 0, 0x00, 0x12, 0x7b, 0x50};
    fuzz_text("fuzz.petsc", data, size);
    for (size_t from = 0; from <= 4 && size >= 8; from += 4) { /* all eight bytes of it, and the last four */
        uint8_t *copy = malloc(size);
        if (!copy)
            return 0;
        memcpy(copy, data, size);
        memcpy(copy, id + from, 8 - from);
        fuzz_text("fuzz.petsc", copy, size);
        free(copy);
    }
    return 0;
}
