/* SPDX-License-Identifier: MIT
 *
 * The file is read once, from front to back, as it may be packed or come through a pipe.  Sizes are
 * believed only as far as the file could hold what they announce; lengths and columns are checked while
 * they are read. */
#include "io/petsc.h"

#include <string.h>

#include "base/memory.h"
#include "io/read.h"
#include "io/write.h"

#define CLASS_MATRIX 1211216
#define CLASS_FIRST 1211211 /* objects that PETSc may have put behind the matrix: vectors, index sets, ... */
#define CLASS_LAST 1211299
#define HEADER 4
#define PIECE 4096 /* whole numbers that are taken at a time */

static uint64_t big_endian(const unsigned char *p, int width)
{
    uint64_t n = 0;
    for (int i = 0; i < width; i++)
        n = n << 8 | p[i];
    return n;
}

static void put_big_endian(char *p, uint64_t n, int width)
{
    for (int i = width - 1; i >= 0; i--, n >>= 8)
        p[i] = (char)(unsigned char)n;
}

/* A whole number with its sign. */
static int64_t whole_number(const unsigned char *p, int width)
{
    uint64_t n = big_endian(p, width);
    return width == 4 ? (int64_t)(int32_t)(uint32_t)n : (int64_t)n;
}

static int is_class(int64_t n)
{
    return n >= CLASS_FIRST && n <= CLASS_LAST;
}

/* -------------------------------------------------------- reading ----------------------------- */

heddle_status petsc_begins(struct text_source *s, int *yes)
{
    heddle_status status = HEDDLE_OK;
    unsigned char bytes[8];
    int64_t got;
    *yes = 0;
    if (s->member_left >= 0) /* archives hold texts */
        return HEDDLE_OK;
    TRY(decoder_read(&s->decoder, (char *)bytes, sizeof bytes, &got));
    *yes = (got >= 4 && whole_number(bytes, 4) == CLASS_MATRIX) ||
           (got == 8 && whole_number(bytes, 8) == CLASS_MATRIX);
    status = decoder_start(&s->decoder);
done:
    return status;
}

/* What is being read, and how wide its whole numbers are. */
struct stream {
    struct text_source *source;
    int width;
    unsigned char piece[PIECE * 8];
};

static heddle_status take(struct stream *f, void *out, int64_t bytes, const char *where)
{
    int64_t got;
    heddle_status status = decoder_read(&f->source->decoder, out, bytes, &got);
    if (status == HEDDLE_OK && got < bytes)
        return source_fail(f->source, HEDDLE_BAD_FILE, 0, "the file ends inside the %s", where);
    return status;
}

/* Class id and sizes; the first four bytes tell how wide they are, as no matrix has the class id 0. */
static heddle_status take_header(struct stream *f, struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int64_t size[HEADER];
    TRY(take(f, f->piece, 4, "header"));
    f->width = whole_number(f->piece, 4) == CLASS_MATRIX ? 4 : 8;
    TRY(take(f, f->piece + 4, HEADER * f->width - 4, "header"));
    for (int i = 0; i < HEADER; i++)
        size[i] = whole_number(f->piece + i * f->width, f->width);
    if (size[3] == -1)
        return source_fail(f->source, HEDDLE_NOT_SUPPORTED, 0,
                           "a dense matrix of PETSc; only sparse ones are read");
    if (size[1] < 0 || size[2] < 0 || size[1] >= INDEX_LIMIT || size[2] >= INDEX_LIMIT || size[3] < 0 ||
        size[3] > INT64_MAX / 32 || (size[3] > 0 && (size[1] == 0 || size[2] == 0)))
        return source_fail(f->source, HEDDLE_BAD_FILE, 0,
                           "impossible sizes in the header: %lld x %lld with %lld entries",
                           (long long)size[1], (long long)size[2], (long long)size[3]);
    *A = (struct csr){.rows = size[1], .cols = size[2], .nnz = size[3]};
done:
    return status;
}

/* Could the file hold what its header announces, and the machine? */
static heddle_status check_sizes(const struct stream *f, const struct csr *A)
{
    const struct text_source *s = f->source;
    double least = (double)f->width * (HEADER + (double)A->rows + (double)A->nnz) + 4 * (double)A->nnz;
    if (decoder_plain(&s->decoder) && least > (double)s->input.size)
        return source_fail(
            s, HEDDLE_BAD_FILE, 0, "the file has %lld bytes, and %lld x %lld with %lld entries take more",
            (long long)s->input.size, (long long)A->rows, (long long)A->cols, (long long)A->nnz);
    return source_affords(s, matrix_least(A->rows, A->cols) + 20 * (double)A->nnz);
}

static void set_offset(struct csr *A, int64_t i, int64_t k)
{
    if (A->offset == HEDDLE_I64)
        ((int64_t *)A->row_ptr)[i] = k;
    else
        ((int32_t *)A->row_ptr)[i] = (int32_t)k;
}

static heddle_status take_lengths(struct stream *f, struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int64_t sum = 0, n;
    set_offset(A, 0, 0);
    for (int64_t i = 0; i < A->rows; i += n) {
        n = A->rows - i < PIECE ? A->rows - i : PIECE;
        TRY(take(f, f->piece, n * f->width, "lengths of rows"));
        for (int64_t k = 0; k < n; k++) {
            int64_t length = whole_number(f->piece + k * f->width, f->width);
            if (length < 0 || length > A->nnz - sum)
                return source_fail(f->source, HEDDLE_BAD_FILE, 0,
                                   "row %lld has %lld entries, and %lld are left of %lld", (long long)(i + k),
                                   (long long)length, (long long)(A->nnz - sum), (long long)A->nnz);
            set_offset(A, i + k + 1, sum += length);
        }
    }
    if (sum < A->nnz)
        status =
            source_fail(f->source, HEDDLE_BAD_FILE, 0, "rows have %lld entries in all, the header says %lld",
                        (long long)sum, (long long)A->nnz);
done:
    return status;
}

static heddle_status take_columns(struct stream *f, struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int64_t n;
    for (int64_t k = 0; k < A->nnz; k += n) {
        n = A->nnz - k < PIECE ? A->nnz - k : PIECE;
        TRY(take(f, f->piece, n * f->width, "columns"));
        for (int64_t i = 0; i < n; i++) {
            int64_t col = whole_number(f->piece + i * f->width, f->width);
            if (col < 0 || col >= A->cols)
                return source_fail(f->source, HEDDLE_BAD_FILE, 0,
                                   "entry %lld: column %lld is outside 0..%lld", (long long)(k + i),
                                   (long long)col, (long long)A->cols - 1);
            A->col[k + i] = (int32_t)col;
        }
    }
done:
    return status;
}

/* Bytes of a value, when `got` of 8 nnz bytes could be read and `more` is what follows them: 8 if that is
 * the end or another object; 4 if there is one of these after half of them; 0 if neither. */
static int value_width(const struct stream *f, const unsigned char *raw, int64_t nnz, int64_t got,
                       const unsigned char *more, int64_t following)
{
    if (got == 8 * nnz &&
        (following == 0 || (following >= f->width && is_class(whole_number(more, f->width)))))
        return 8;
    if (got == 4 * nnz || (got >= 4 * nnz + f->width && is_class(whole_number(raw + 4 * nnz, f->width))))
        return 4;
    return 0;
}

/* Backwards, so that values may be widened where they lie. */
static void convert(struct csr *A, const unsigned char *raw, int width)
{
    for (int64_t k = A->nnz - 1; k >= 0; k--) {
        uint64_t bits = big_endian(raw + k * width, width);
        uint32_t narrow = (uint32_t)bits;
        double v;
        float single;
        memcpy(&single, &narrow, sizeof single);
        memcpy(&v, &bits, sizeof v);
        if (width == 4)
            v = (double)single;
        if (A->value == HEDDLE_F64)
            ((double *)A->val)[k] = v;
        else
            ((float *)A->val)[k] = width == 4 ? single : (float)v;
    }
}

static heddle_status take_values(struct stream *f, struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    unsigned char more[8], *own = NULL, *raw = A->val;
    int64_t got, following = 0;
    if (A->nnz == 0)
        return HEDDLE_OK;
    if (A->value != HEDDLE_F64) {
        TRY(NEW(own, 8 * A->nnz));
        raw = own;
    }
    TRY(decoder_read(&f->source->decoder, (char *)raw, 8 * A->nnz, &got));
    if (got == 8 * A->nnz)
        TRY(decoder_read(&f->source->decoder, (char *)more, sizeof more, &following));
    int width = value_width(f, raw, A->nnz, got, more, following);
    if (width > 0)
        convert(A, raw, width);
    else if (got < 8 * A->nnz)
        status = source_fail(f->source, HEDDLE_BAD_FILE, 0, "the file ends inside the values");
    else
        status = source_fail(f->source, HEDDLE_NOT_SUPPORTED, 0,
                             "the values are not single or double precision: a PETSc with "
                             "complex or quadruple numbers wrote the file, or it is damaged");
done:
    mem_free(own);
    return status;
}

heddle_status petsc_read(struct text_source *s, struct csr *A, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct csr size = {0};
    struct stream f = {.source = s};
    *A = (struct csr){0};
    TRY(take_header(&f, &size));
    TRY(check_sizes(&f, &size));
    TRY(csr_new(A, size.rows, size.cols, size.nnz, value ? value : HEDDLE_F64, offset_for(size.nnz)));
    TRY(take_lengths(&f, A));
    TRY(take_columns(&f, A));
    TRY(take_values(&f, A));
done:
    if (status != HEDDLE_OK)
        csr_free(A);
    return status;
}

/* -------------------------------------------------------- writing ----------------------------- */

/* What the formatters below are given. */
struct writing {
    const struct csr *A;
    int width;
};

static int64_t format_lengths(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct writing *w = argument;
    for (int64_t i = first; i < last; i++)
        put_big_endian(out + (i - first) * w->width,
                       (uint64_t)(csr_offset(w->A, i + 1) - csr_offset(w->A, i)), w->width);
    return (last - first) * w->width;
}

static int64_t format_columns(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct writing *w = argument;
    for (int64_t k = first; k < last; k++)
        put_big_endian(out + (k - first) * w->width, (uint64_t)w->A->col[k], w->width);
    return (last - first) * w->width;
}

static int64_t format_values(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct writing *w = argument;
    for (int64_t k = first; k < last; k++) {
        double v = (double)value_at(w->A->val, w->A->value, k);
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        put_big_endian(out + (k - first) * 8, bits, 8);
    }
    return (last - first) * 8;
}

/* Values are always double, as nearly every PETSc is built for. */
static heddle_status write_wide(const struct csr *A, struct sink *s, int width)
{
    heddle_status status = HEDDLE_OK;
    struct writing w = {.A = A, .width = width};
    if (is_complex(A->value))
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: PETSc's files of complex matrices are not written: a .mtx file holds one", s->path);
    const int64_t number[HEADER] = {CLASS_MATRIX, A->rows, A->cols, A->nnz};
    char header[HEADER * 8];
    for (int i = 0; i < HEADER; i++)
        put_big_endian(header + i * width, (uint64_t)number[i], width);
    TRY(sink_write(s, header, HEADER * width));
    TRY(sink_items(s, A->rows, width, format_lengths, &w));
    TRY(sink_items(s, A->nnz, width, format_columns, &w));
    TRY(sink_items(s, A->nnz, 8, format_values, &w));
done:
    return status;
}

heddle_status petsc_write(const struct csr *A, struct sink *s)
{
    if (A->nnz > INT32_MAX)
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: %lld entries are more than a PETSc with 32-bit indices reads; write .petsc64",
                    s->path, (long long)A->nnz);
    return write_wide(A, s, 4);
}

heddle_status petsc64_write(const struct csr *A, struct sink *s)
{
    return write_wide(A, s, 8);
}
