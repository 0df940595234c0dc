/* SPDX-License-Identifier: MIT
 *
 * Matrices are written as general coordinates, real or complex, row by row, each value in the fewest
 * digits that give it back.  Entries are cut into pieces of equal number, not into rows: one full row does
 * not keep the other threads waiting. */
#include "io/write.h"

#include "base/text.h"
#include "io/io.h"
#include "io/number.h"

/* "row col value\n", where a complex value is two numbers. */
#define ENTRY_SIZE (11 + 11 + 2 * NUMBER_SIZE)

/* The row that entry k lies in. */
static int64_t row_of(const struct csr *A, int64_t k)
{
    int64_t low = 0, high = A->rows; /* row_ptr[low] <= k < row_ptr[high] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (csr_offset(A, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Entries [first, last); rows without entries are passed over. */
static int64_t format_entries(const void *argument, int64_t first, int64_t last, char *out)
{
    const struct csr *A = argument;
    char *p = out;
    int64_t row = row_of(A, first);
    for (int64_t k = first; k < last; k++) {
        while (csr_offset(A, row + 1) <= k)
            row++;
        p += number_write_int(p, row + 1);
        *p++ = ' ';
        p += number_write_int(p, (int64_t)A->col[k] + 1);
        *p++ = ' ';
        p += value_write(p, A->val, A->value, k);
        *p++ = '\n';
    }
    return p - out;
}

heddle_status market_write(const struct csr *A, struct sink *s)
{
    heddle_status status = HEDDLE_OK;
    TRY(sink_print(s, "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
                   is_complex(A->value) ? "complex" : "real", (long long)A->rows, (long long)A->cols,
                   (long long)A->nnz));
    TRY(sink_items(s, A->nnz, ENTRY_SIZE, format_entries, A));
done:
    return status;
}

static const struct {
    const char *ending;
    heddle_status (*write)(const struct csr *A, struct sink *s);
    int gzip;
} writers[] = {
    {".mtx", market_write, 0},      {".mtx.gz", market_write, 1}, {".rb", boeing_write, 0},
    {".rb.gz", boeing_write, 1},    {".hdl", hdl_write, 0},       {".petsc", petsc_write, 0},
    {".petsc64", petsc64_write, 0},
};

heddle_status file_write(const struct csr *A, const char *path)
{
    struct sink s;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (text_ends(path, writers[i].ending)) {
            heddle_status status = sink_open(&s, path, writers[i].gzip);
            if (status == HEDDLE_OK)
                status = sink_close(&s, writers[i].write(A, &s));
            return status;
        }
    return fail(HEDDLE_NOT_SUPPORTED,
                "%s: no writer for this ending (there are .mtx, .mtx.gz, .rb, .rb.gz, .hdl, "
                ".petsc and .petsc64)",
                path);
}
