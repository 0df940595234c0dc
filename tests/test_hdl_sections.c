/* SPDX-License-Identifier: MIT
 *
 * A .hdl file whose header is sound and whose sections are not where they may be is refused when it is
 * opened: past the end by any number of bytes, before the header's end, over one another, or of another
 * size than the matrix asks for. */
#include <stddef.h>

#include "io/checksum.h"
#include "io/hdl.h"
#include "test_io.h"

/* The file with a changed header, which has a checksum that fits. */
static heddle_status opens(const char *data, size_t size, const struct hdl_header *changed)
{
    struct file_matrix F;
    struct hdl_header h = *changed;
    char *copy = mem_alloc((int64_t)size, 1);
    h.checksum = checksum_small(HDL_VERSION, &h, (int64_t)offsetof(struct hdl_header, checksum));
    memcpy(copy, data, size);
    memcpy(copy, &h, sizeof h);
    heddle_status status = file_read(&F, bytes_file("s.hdl", copy, size), 0);
    if (status == HEDDLE_OK)
        file_matrix_free(&F);
    mem_free(copy);
    return status;
}

TEST(a_section_outside_of_its_place_is_refused)
{
    static const int64_t far[] = {0, 64, 128, 192, 1 << 20, INT64_MAX - 63, INT64_MIN, -64};
    struct csr A;
    struct hdl_header good;
    size_t size;
    CHECK_OK(some_matrix(&A, 40, 30, HEDDLE_F64));
    CHECK_OK(file_write(&A, test_path("good.hdl")));
    char *data = slurp(test_path("good.hdl"), &size);
    memcpy(&good, data, sizeof good);
    CHECK_OK(opens(data, size, &good));
    for (int i = 0; i < 3; i++) {
        int64_t end = ((int64_t)size + HDL_ALIGN - 1) / HDL_ALIGN * HDL_ALIGN;
        for (int64_t at = end - good.section[i].size / HDL_ALIGN * HDL_ALIGN; at <= end; at += HDL_ALIGN) {
            struct hdl_header h = good;
            h.section[i].at = at; /* its last bytes are past the end, then all of them */
            if (at + h.section[i].size > (int64_t)size)
                CHECK_FAILS(opens(data, size, &h), HEDDLE_BAD_FILE, "lies outside the file");
        }
        for (size_t k = 0; k < sizeof far / sizeof far[0]; k++) {
            struct hdl_header h = good;
            h.section[i].at = far[k] < 1 << 20 && far[k] >= 0 ? end + far[k] : far[k];
            CHECK_FAILS(opens(data, size, &h), HEDDLE_BAD_FILE, "lies outside the file");
        }
        for (int64_t at = 0; i == 0 && at < (int64_t)sizeof good; at += HDL_ALIGN) {
            struct hdl_header h = good;
            h.section[i].at = at;
            CHECK_FAILS(opens(data, size, &h), HEDDLE_BAD_FILE, "where it may not");
        }
        struct hdl_header over = good, odd = good, large = good;
        over.section[i].at = i ? good.section[i - 1].at : 64;
        CHECK_FAILS(opens(data, size, &over), HEDDLE_BAD_FILE, "where it may not");
        odd.section[i].at += 4;
        CHECK_STATUS(opens(data, size, &odd), HEDDLE_BAD_FILE);
        large.section[i].size += 8;
        CHECK_FAILS(opens(data, size, &large), HEDDLE_BAD_FILE, "the sizes of the matrix ask for");
    }
    struct hdl_header longer = good;
    longer.nnz += 1;
    CHECK_STATUS(opens(data, size, &longer), HEDDLE_BAD_FILE);
    longer = good;
    longer.file_size += 64;
    CHECK_STATUS(opens(data, size, &longer), HEDDLE_BAD_FILE);
    mem_free(data);
    csr_free(&A);
}
