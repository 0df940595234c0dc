/* SPDX-License-Identifier: MIT
 *
 * Opening must cost the same for any size, so it only looks at the 128 bytes of the header: are they
 * undamaged, do the sections have the sizes that the matrix asks for, do they lie inside the file, in
 * order, aligned?  After that no access through the arrays' own lengths can leave the mapping.  The
 * contents are another matter: row_ptr and col may still hold anything until file_matrix_check has read
 * them. */
#include "io/hdl.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "io/checksum.h"
#include "io/write.h"

_Static_assert(sizeof(struct hdl_header) == 128, "the header has no padding of its own");

static const char *const section_names[3] = {"row_ptr", "col", "val"};

/* Bytes of row_ptr, col and val. */
static void sizes_of(int64_t size[3], const struct csr *A)
{
    size[0] = (A->rows + 1) * (int64_t)type_size(A->offset);
    size[1] = A->nnz * 4;
    size[2] = A->nnz * (int64_t)type_size(A->value);
}

static uint64_t header_sum(const struct hdl_header *h)
{
    return checksum_small(HDL_VERSION, h, (int64_t)offsetof(struct hdl_header, checksum));
}

static int64_t align(int64_t n)
{
    return (n + HDL_ALIGN - 1) / HDL_ALIGN * HDL_ALIGN;
}

/* Is this a header that this version understands, and undamaged? */
static heddle_status check_header(const struct hdl_header *h, const char *path)
{
    if (h->order != HDL_ORDER)
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: .hdl files are little-endian; this one, or this machine, is not", path);
    if (h->version != HDL_VERSION)
        return fail(HEDDLE_NOT_SUPPORTED, "%s: .hdl version %u; this Heddle reads version %d", path,
                    h->version, HDL_VERSION);
    if (h->checksum != header_sum(h))
        return fail(HEDDLE_BAD_FILE, "%s: the header is damaged (its checksum is wrong)", path);
    if (!value_name((heddle_type)h->value) || h->value == F32_F64 ||
        (h->offset != HEDDLE_I32 && h->offset != HEDDLE_I64))
        return fail(HEDDLE_NOT_SUPPORTED, "%s: unknown types %u and %u in the header", path, h->value,
                    h->offset);
    if (h->rows < 0 || h->cols < 0 || h->rows >= INDEX_LIMIT || h->cols >= INDEX_LIMIT || h->nnz < 0 ||
        h->nnz > INT64_MAX / 16 || (h->nnz > 0 && (h->rows == 0 || h->cols == 0)))
        return fail(HEDDLE_BAD_FILE, "%s: impossible sizes in the header: %lld x %lld with %lld entries",
                    path, (long long)h->rows, (long long)h->cols, (long long)h->nnz);
    return HEDDLE_OK;
}

/* Every comparison is arranged so that it cannot overflow, whatever the header says. */
static heddle_status check_sections(const struct hdl_header *h, const struct csr *A, int64_t size,
                                    const char *path)
{
    int64_t expected[3], end = (int64_t)sizeof *h;
    sizes_of(expected, A);
    if (h->file_size != size)
        return fail(HEDDLE_BAD_FILE,
                    "%s: the file has %lld bytes, its header says %lld: it is cut off or was added to", path,
                    (long long)size, (long long)h->file_size);
    for (int i = 0; i < 3; i++) {
        int64_t at = h->section[i].at;
        if (h->section[i].size != expected[i])
            return fail(HEDDLE_BAD_FILE,
                        "%s: section %s has %lld bytes, the sizes of the matrix ask for %lld", path,
                        section_names[i], (long long)h->section[i].size, (long long)expected[i]);
        if (at < end || at % HDL_ALIGN != 0 || at > size || expected[i] > size - at)
            return fail(HEDDLE_BAD_FILE,
                        "%s: section %s at byte %lld lies outside the file, or where it may not", path,
                        section_names[i], (long long)at);
        end = at + expected[i];
    }
    return HEDDLE_OK;
}

heddle_status hdl_open(struct file_matrix *F, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct hdl_header h;
    char *base = F->map;
    if (F->map_size < (int64_t)sizeof h)
        TRY(fail(HEDDLE_BAD_FILE, "%s: the file ends inside its header", path));
    memcpy(&h, base, sizeof h);
    TRY(check_header(&h, path));
    struct csr A = {.rows = h.rows,
                    .cols = h.cols,
                    .nnz = h.nnz,
                    .value = (heddle_type)h.value,
                    .offset = (heddle_type)h.offset};
    TRY(check_sections(&h, &A, F->map_size, path));
    A.row_ptr = base + h.section[0].at;
    A.col = (int32_t *)(void *)(base + h.section[1].at);
    A.val = base + h.section[2].at;
    F->csr = A;
    F->checksum = h.contents;
done:
    return status;
}

/* The checksum of the contents: that of the arrays one after the other, each continuing the one before. */
static heddle_status sum_arrays(uint64_t *sum, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    const void *array[3] = {A->row_ptr, A->col, A->val};
    int64_t size[3];
    sizes_of(size, A);
    *sum = 0;
    for (int i = 0; i < 3; i++)
        TRY(checksum(sum, *sum, array[i], size[i]));
done:
    return status;
}

/* No checksum covers what lies between the sections: it must be zero. */
static int gaps_are_zero(const struct file_matrix *F)
{
    const char *base = F->map;
    struct hdl_header h;
    memcpy(&h, base, sizeof h);
    int64_t end = (int64_t)sizeof h;
    for (int i = 0; i < 3; i++) {
        for (; end < h.section[i].at; end++)
            if (base[end])
                return 0;
        end += h.section[i].size;
    }
    return end == F->map_size;
}

heddle_status file_matrix_check(struct file_matrix *F, const char *path)
{
    heddle_status status = HEDDLE_OK;
    uint64_t sum;
    if (F->checked)
        return HEDDLE_OK;
    TRY(sum_arrays(&sum, &F->csr));
    if (sum != F->checksum || !gaps_are_zero(F))
        return fail(HEDDLE_BAD_FILE, "%s: the contents are damaged (their checksum is wrong)", path);
    status = csr_validate(&F->csr);
    if (status == HEDDLE_BAD_MATRIX)
        return fail_in(HEDDLE_BAD_FILE, path); /* written by something that does not keep the rules */
    F->checked = status == HEDDLE_OK;
done:
    return status;
}

/* Also for a structure that is all zero. */
void file_matrix_free(struct file_matrix *F)
{
    if (!F->mapped)
        csr_free(&F->csr);
    else if (F->copied)
        mem_free(F->map);
    else if (F->map)
        munmap(F->map, (size_t)F->map_size);
    *F = (struct file_matrix){0};
}

/* The arrays go out as they are: what takes time is the checksum, which is parallel, and the disk. */
heddle_status hdl_write(const struct csr *A, struct sink *s)
{
    static const char zeros[HDL_ALIGN];
    heddle_status status = HEDDLE_OK;
    const int32_t none[2] = {0, 0}; /* the row_ptr of a matrix without rows, which need not have one */
    struct csr B = *A;
    if (!B.row_ptr)
        B.row_ptr = (void *)(uintptr_t)none;
    const void *array[3] = {B.row_ptr, B.col, B.val};
    struct hdl_header h = {.magic = HDL_MAGIC,
                           .version = HDL_VERSION,
                           .order = HDL_ORDER,
                           .value = (uint32_t)value_type(A->value),
                           .offset = (uint32_t)A->offset,
                           .rows = A->rows,
                           .cols = A->cols,
                           .nnz = A->nnz};
    int64_t size[3], end = (int64_t)sizeof h;
    sizes_of(size, A);
    for (int i = 0; i < 3; i++) {
        h.section[i].at = align(end);
        h.section[i].size = size[i];
        end = h.section[i].at + size[i];
    }
    h.file_size = end;
    TRY(sum_arrays(&h.contents, &B));
    h.checksum = header_sum(&h);
    TRY(sink_write(s, &h, (int64_t)sizeof h));
    end = (int64_t)sizeof h;
    for (int i = 0; i < 3; i++) {
        TRY(sink_write(s, zeros, h.section[i].at - end));
        TRY(sink_write(s, array[i], size[i]));
        end = h.section[i].at + size[i];
    }
done:
    return status;
}
