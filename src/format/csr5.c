/* SPDX-License-Identifier: MIT
 *
 * csr5: tiles of equally many entries, each with a short description of where its rows begin (Liu and
 * Vinter 2015, ICS).  Entries stand so that a wave that walks through a tile reads neighbouring ones, and a
 * lane meets those that are neighbours in their row.  Nothing depends on how long the rows are, and
 * nothing is padded but the last tile; the authors leave that one in CSR, which costs a launch of its own.
 *
 * The widest waves have 64 lanes, so a descriptor of 32 bits has room for sigma = 16; the authors go up to
 * 32, with two words. */
#include "format/format.h"
#include "matrix/typed.h"

static const struct option options[] = {
    {"sigma", 0, VALUES(0, 4, 8, 16)},
    {0},
};

/* The rule of the authors has four numbers r, s, t, u: with mean row lengths up to r, sigma is r; then the
 * mean up to s, then s up to t, then u.  Those are theirs for NVIDIA; other devices bring their own.
 * Rounded up to a value of the option. */
static int64_t sigma_of(const struct source *A)
{
    static const int usual[] = {4, 32, 256, 6};
    const int *rule = A->sigma ? A->sigma : usual;
    const int64_t mean = A->csr.rows > 0 ? A->csr.nnz / A->csr.rows : 0;
    const int64_t wanted = mean <= rule[0] ? rule[0]
                         : mean <= rule[1] ? mean
                         : mean <= rule[2] ? rule[1]
                                           : rule[3];
    return wanted <= 4 ? 4 : wanted <= 8 ? 8 : CSR5_SIGMA_MOST;
}

static int64_t empty_rows(const struct source *A)
{
    heddle_lengths lengths;
    if (A->csr.nnz == 0)
        return A->csr.rows;
    if (A->longest)
        return A->empty;
    functions_of(&A->csr)->lengths(&lengths, &A->csr);
    return lengths.empty;
}

static heddle_status size(struct stored *s, const struct source *A, const int64_t *option)
{
    int64_t omega = A->omega ? A->omega : 32, sigma = option[0] ? option[0] : sigma_of(A);
    int64_t tiles = (A->csr.nnz + omega * sigma - 1) / (omega * sigma), places = tiles * omega * sigma,
            empty = empty_rows(A);
    s->dim[CSR5_OMEGA] = omega;
    s->dim[CSR5_SIGMA] = sigma;
    s->dim[CSR5_TILES] = tiles;
    s->dim[CSR5_EMPTY_ROWS] = empty;
    s->bytes[CSR5_TILE_PTR] = (tiles + 1) * (int64_t)sizeof(uint32_t);
    s->bytes[CSR5_DESCRIPTOR] = tiles * omega * (int64_t)sizeof(uint32_t);
    s->bytes[CSR5_EMPTY_OFFSET] = empty ? (s->rows + tiles) * (int64_t)sizeof(int32_t) : 0;
    s->bytes[CSR5_EMPTY] = empty ? (s->rows + 31) / 32 * (int64_t)sizeof(uint32_t) : 0;
    s->bytes[CSR5_COL] = places * (int64_t)sizeof(int32_t);
    s->bytes[CSR5_VAL] = places * (int64_t)type_size(s->value);
    return HEDDLE_OK;
}

static heddle_status fill(struct stored *s, const struct source *A)
{
    csr5_functions[moved_variant(s->value, s->offset)]->fill(s, &A->csr);
    return HEDDLE_OK;
}

const struct format csr5_format = {
    .name = "csr5",
    .array = {"tile_ptr", "descriptor", "empty_offset", "empty", "col", "val"},
    .dim = {"omega", "sigma", "tiles", "empty_rows"},
    .options = options,
    .spare = 1u << CSR5_EMPTY_OFFSET | 1u << CSR5_EMPTY, /* read where tiles have gaps */
    .size = size,
    .fill = fill,
};

MOVED_TABLE(csr5_functions);
