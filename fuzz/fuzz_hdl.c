/* SPDX-License-Identifier: MIT
 *
 * The bytes as a .hdl file; once as they are, and once with checksums put right, since no fuzzer guesses
 * those. */
#define _GNU_SOURCE /* memfd_create */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/checksum.h"
#include "io/hdl.h"

static void fuzz_file(const void *data, size_t size)
{
    struct file_matrix F;
    char path[64];
    int file = memfd_create("fuzz.hdl", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && write(file, data, size) == (ssize_t)size && file_read(&F, path, 0) == HEDDLE_OK) {
        if (file_matrix_check(&F, path) == HEDDLE_OK)
            fuzz_require(csr_validate(&F.csr) == HEDDLE_OK, "a checked matrix is valid");
        file_matrix_free(&F);
        if (file_read(&F, path, HEDDLE_F32) == HEDDLE_OK)
            file_matrix_free(&F);
    }
    if (file >= 0)
        close(file);
}

/* Makes the sections that the header names, as far as they lie inside, agree with its checksum. */
static void put_right(char *data, size_t size)
{
    struct hdl_header h;
    memcpy(&h, data, sizeof h);
    memcpy(h.magic, HDL_MAGIC, HDL_MAGIC_SIZE);
    h.version = HDL_VERSION;
    h.order = HDL_ORDER;
    h.file_size = (int64_t)size;
    h.contents = 0;
    for (int i = 0; i < 3; i++) {
        int64_t at = h.section[i].at, n = h.section[i].size;
        if (at >= 0 && n >= 0 && at <= (int64_t)size && n <= (int64_t)size - at)
            checksum(&h.contents, h.contents, data + at, n);
    }
    h.checksum = checksum_small(HDL_VERSION, &h, (int64_t)offsetof(struct hdl_header, checksum));
    memcpy(data, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = mem_live();
    fuzz_tune(data, size);
    fuzz_file(data, size);
    if (size >= sizeof(struct hdl_header)) {
        char *copy = malloc(size);
        if (copy) {
            memcpy(copy, data, size);
            put_right(copy, size);
            fuzz_file(copy, size);
        }
        free(copy);
    }
    fuzz_require(mem_live() == live, "nothing leaks");
    return 0;
}
